/* Readers of single values: numbers, addresses, ranges, dates, countries. */
#ifndef IPMICRA_VALUES_H
#define IPMICRA_VALUES_H

#include "bytes.h"

typedef struct {
    uint64_t high;
    uint64_t low;
} Wide;

/* What one to four octets say. */
typedef struct {
    uint32_t value;
    int octets; /* 0: the text is no address */
    bool is_too_large;
    bool has_leading_zero;
} Octets;

/* What reading a range gives: a reason to skip the record (0 for none) and bits of repairs. */
typedef struct {
    unsigned reason;
    unsigned repairs;
} Verdict;

int64_t read_number(Span *span, int longest);
Octets read_octets(Span *span);
bool read_ipv6(Span *span, Wide *address);
Verdict read_range4(Span span, uint32_t range[2]);
Verdict read_range6(Span span, Wide range[2]);
Verdict read_length6(Span span, Wide address, Wide range[2]);
unsigned read_date(Span span);
unsigned read_country(Span span);
Span read_geofeed(Span span);
unsigned read_source(Span span, unsigned fallback);
bool is_registry_maintainer(Span span);

/* Return the bit by which a repair is noted. */
#define REPAIR(reason) (1u << (reason))

#endif
