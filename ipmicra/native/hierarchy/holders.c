/* Who holds each subnet: the best handle, name, maintainer or description that its registration has.
 *
 * Theory of operation
 * -------------------
 * A holder is recognised by a key: the kind of evidence, the registry where handles are local to one, and the text
 * in upper case with runs of blanks made one. Keys are kept in a pool. The organisation objects of the dumps are
 * numbered first, the best object of each handle; then the registrations' holders, in a pool of their own; in the end
 * each holder's key is looked for among the objects.
 *
 * Registrations name the same few holders by the same texts, and texts have numbers. So for each text is remembered
 * which holder it last stood for, and a key is made only where that was of another kind or registry, or never. */

#include "../memory.h"
#include "../parse/pool.h"
#include "hierarchy.h"

enum { KEY_ROOM = 1024 }; /* a kind, a registry and the longest text, 1000 bytes */

/* Return whether a byte counts as nothing at the ends of a name. */
static inline bool is_edge(uint8_t byte) { return is_blank(byte) || byte == ',' || byte == '.' || byte == ';'; }

/* Write a holder's key; return its size. A text never has more than KEY_ROOM - 2 bytes; more would be cut. */
static size_t put_key(uint8_t key[KEY_ROOM], Span text, unsigned kind, unsigned registry) {
    size_t size = 2;
    bool was_blank = false;
    key[0] = (uint8_t)kind;
    key[1] = kind >= EVIDENCE_OPAQUE ? (uint8_t)registry : 0; /* handles of organisations are known everywhere */
    if (kind == EVIDENCE_DESCRIPTION || kind == EVIDENCE_OWNER) {
        while (!is_empty(text) && is_edge(*text.at))
            text.at++;
        while (!is_empty(text) && is_edge(text.end[-1]))
            text.end--;
    }
    for (; !is_empty(text) && size + 2 <= KEY_ROOM; text.at++) {
        uint8_t byte = *text.at;
        if (!is_blank(byte)) {
            if (was_blank)
                key[size++] = ' ';
            key[size++] = byte >= 'a' && byte <= 'z' ? byte - 32 : byte;
        }
        was_blank = is_blank(byte);
    }
    return size;
}

/* Keep the best object of each handle: best[i] is the row of key i. Returns whether there was memory. */
static bool number_organisations(Pool *keys, const RowTable *rows, const Texts *texts, int64_t *best) {
    uint8_t room[KEY_ROOM];
    for (size_t row = 0; row < rows->count; row++) {
        size_t size = put_key(room, text_of(rows, texts, row, 0), rows->holder[row], rows->registry[row]);
        Span key = span_of(room, room + size);
        uint32_t before = keys->count;
        int64_t number = add_text_to_pool(keys, key, hash_span(key));
        if (number < 0)
            return false;
        if (number > before || is_better(rows, texts, row, (size_t)best[number]))
            best[number] = (int64_t)row;
    }
    return true;
}

/* Number the holders that registrations name, -1 where nothing names one; return whether there was memory.
 *
 * remembered[text] is kind << 40 | registry << 32 | number of its key, 0 before the first. */
static bool number_holders(Pool *keys, const RowTable *rows, const Texts *texts, uint64_t *remembered,
                           int32_t *numbers, uint8_t *kinds) {
    uint8_t room[KEY_ROOM];
    for (size_t row = 0; row < rows->count; row++) {
        uint32_t text = number_of(rows, row, TEXT_HOLDER);
        numbers[row] = -1;
        if (text == 0 || text > texts->count)
            continue;
        uint64_t *last = &remembered[text], facts = (uint64_t)rows->holder[row] << 8 | rows->registry[row];
        if (*last >> 32 != facts) {
            size_t size = put_key(room, text_by_number(texts, text), rows->holder[row], rows->registry[row]);
            Span key = span_of(room, room + size);
            int64_t number = add_text_to_pool(keys, key, hash_span(key));
            if (number < 0)
                return false;
            kinds[number - 1] = rows->holder[row];
            *last = facts << 32 | (uint64_t)number;
        }
        numbers[row] = (int32_t)(*last & UINT32_MAX) - 1;
    }
    return true;
}

/* Number the holders that registrations of both families name, and find the organisation object of each.
 *
 * `numbers`, `kinds` and `objects` have room for as many as there are registrations; objects[i] is -1 where no
 * dump has an object of holder i. Returns the number of holders. */
int64_t name_holders(const RowTable tables[2], const RowTable *organisations, const Texts *texts, int32_t *numbers,
                     uint8_t *kinds, int64_t *objects) {
    Pool known = {0}, named = {0};
    int64_t *best = make_room(organisations->count + 1, sizeof *best);
    uint64_t *remembered = make_zeros(texts->count + 1, sizeof *remembered);
    bool is_done = best != NULL && remembered != NULL && number_organisations(&known, organisations, texts, best) &&
                   number_holders(&named, &tables[0], texts, remembered, numbers, kinds) &&
                   number_holders(&named, &tables[1], texts, remembered, numbers + tables[0].count, kinds);
    for (uint32_t i = 0; is_done && i < named.count; i++) {
        Span key = pool_text(&named, i + 1);
        int64_t number = known_text(&known, key, hash_span(key));
        objects[i] = number < 0 ? -1 : best[number];
    }
    int64_t count = is_done ? (int64_t)named.count : OUT_OF_MEMORY;
    free_pool(&known);
    free_pool(&named);
    free(best);
    free(remembered);
    return count;
}
