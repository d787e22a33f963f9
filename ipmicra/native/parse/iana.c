/* One record of IANA's tables into a sheet: the same values, read by the same code as everywhere. */

#include "sheet.h"

/* Read a record whose cells Python has found and trimmed: CSV with quotes is no hot path. */
void read_iana_record(Sheet *sheet, const Span cells[IANA_CELLS], uint32_t line) {
    Range range = read_range(cells[IANA_PREFIX]);
    if (range.verdict.reason) {
        refuse(sheet, FATE_SKIPPED, range.verdict.reason, line, cells[IANA_RECORD]);
        return;
    }
    unsigned repairs = range.verdict.repairs & ~REPAIR(REASON_LEADING_ZERO); /* the normal form here: 003/8 */
    Facts facts = {.registry = REGISTRY_IANA, .line = line};
    if (!is_empty(cells[IANA_DESIGNATION]))
        facts.holder = EVIDENCE_DESCRIPTION;
    if (!is_empty(cells[IANA_DATE])) {
        facts.date = read_date(cells[IANA_DATE]);
        if (facts.date == 0)
            repairs |= REPAIR(REASON_BAD_DATE);
    }
    Row *row = add_registration(sheet, &range, facts);
    repairs |= add_text(sheet, row, TEXT_NETNAME, cells[IANA_DESIGNATION]);
    repairs |= add_text(sheet, row, TEXT_HOLDER, cells[IANA_DESIGNATION]);
    repairs |= add_text(sheet, row, TEXT_STATUS, cells[IANA_STATUS]);
    accept(sheet, repairs, line, cells[IANA_RECORD]);
}
