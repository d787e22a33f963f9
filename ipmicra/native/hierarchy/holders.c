/* Who holds each subnet: the best handle, maintainer or description that its registration has.
 *
 * Theory of operation
 * -------------------
 * A holder is recognised by a key: the kind of evidence, the registry where handles are local to one, and the text
 * in upper case with runs of blanks made one. Keys are kept in one pool, behind each other, and found by hash. The
 * organisation objects of the dumps are numbered first, the best object of each handle; then the registrations'
 * holders, in a table of their own; in the end each holder's key is looked for among the objects. As with texts,
 * the next rows' keys are made and their slots asked for in batches, and a row with the same evidence as the one
 * before it has the same holder. */

#include "intern.h"

enum { KEY_ROOM = 1024 }; /* a kind, a registry and the longest text, 1000 bytes */

/* Keys by number: they lie behind each other in a pool. */
typedef struct {
    Slots table;
    uint8_t *pool;
    size_t pool_room;
    uint64_t *ends;
    size_t end_room;
} Keys;

static void free_keys(Keys *keys) {
    free(keys->table.slots);
    free(keys->pool);
    free(keys->ends);
}

static Span key_span(const Keys *keys, size_t number) {
    return span_of(keys->pool + (number ? keys->ends[number - 1] : 0), keys->pool + keys->ends[number]);
}

/* Return the slot that holds a key, or the free one where it belongs. */
static size_t find_slot(const Keys *keys, Span key, uint32_t hash) {
    const Slots *table = &keys->table;
    size_t slot = hash & (table->size - 1);
    for (; table->slots[slot] != 0; slot = (slot + 1) & (table->size - 1))
        if (table->slots[slot] >> 32 == hash &&
            same_bytes(key_span(keys, (size_t)(table->slots[slot] & UINT32_MAX) - 1), key))
            break;
    return slot;
}

/* Return the number of a key that is known, -1 for one that is not. */
static int64_t known_number(const Keys *keys, Span key, uint32_t hash) {
    return (int64_t)(keys->table.slots[find_slot(keys, key, hash)] & UINT32_MAX) - 1;
}

/* Add a key that is not known yet; return its number, -1 where memory ran out. */
static int64_t add_key(Keys *keys, Span key, uint32_t hash) {
    size_t number = keys->table.used, size = (size_t)span_size(key);
    uint64_t start = number ? keys->ends[number - 1] : 0;
    if (start + size > keys->pool_room) {
        size_t room = keys->pool_room * 3 / 2 + (1 << 16);
        uint8_t *larger = make_larger(keys->pool, room, 1);
        if (larger == NULL)
            return -1;
        keys->pool = larger;
        keys->pool_room = room;
    }
    if (number == keys->end_room) {
        size_t room = keys->end_room * 3 / 2 + (1 << 12);
        uint64_t *larger = make_larger(keys->ends, room, sizeof *larger);
        if (larger == NULL)
            return -1;
        keys->ends = larger;
        keys->end_room = room;
    }
    memcpy(keys->pool + start, key.at, size);
    keys->ends[number] = start + size;
    return fill_slot(&keys->table, find_slot(keys, key, hash), hash) ? (int64_t)number : -1;
}

/* Return whether a byte counts as nothing at the ends of a description. */
static inline bool is_edge(uint8_t byte) { return is_blank(byte) || byte == ',' || byte == '.' || byte == ';'; }

/* Write a holder's key; return its size. A text never has more than KEY_ROOM - 2 bytes; more would be cut. */
static size_t put_key(uint8_t key[KEY_ROOM], Span text, unsigned kind, unsigned registry) {
    size_t size = 2;
    bool was_blank = false;
    key[0] = (uint8_t)kind;
    key[1] = kind >= HOLDER_OPAQUE ? (uint8_t)registry : 0;
    if (kind == EVIDENCE_DESCRIPTION) {
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
static bool number_organisations(Keys *keys, const RowTable *rows, Span text, int64_t *best) {
    uint8_t room[KEY_ROOM];
    for (size_t row = 0; row < rows->count; row++) {
        size_t size = put_key(room, text_of(rows, text, row, 0), rows->holder[row], rows->registry[row]);
        Span key = span_of(room, room + size);
        uint32_t hash = hash_span(key);
        int64_t number = known_number(keys, key, hash);
        if (number < 0) {
            number = add_key(keys, key, hash);
            if (number < 0)
                return false;
            best[number] = (int64_t)row;
        } else if (is_better(rows, text, row, (size_t)best[number])) {
            best[number] = (int64_t)row;
        }
    }
    return true;
}

/* The best evidence of a registration. */
typedef struct {
    Span text;
    unsigned kind; /* EVIDENCE_NONE: nothing names a holder */
    unsigned registry;
} Evidence;

static inline Evidence evidence_of(const RowTable *rows, Span text, size_t row) {
    const uint16_t *lengths = rows->lengths + rows->texts * row;
    size_t column = lengths[FIELD_HANDLE] ? FIELD_HANDLE : lengths[FIELD_MAINTAINER] ? FIELD_MAINTAINER : FIELD_DESCR;
    unsigned kind = lengths[FIELD_HANDLE]       ? rows->holder[row]
                    : lengths[FIELD_MAINTAINER] ? EVIDENCE_MAINTAINER
                    : lengths[FIELD_DESCR]      ? EVIDENCE_DESCRIPTION
                                                : EVIDENCE_NONE;
    return (Evidence){text_of(rows, text, row, column), kind, rows->registry[row]};
}

static inline bool is_same_evidence(const Evidence *one, const Evidence *other) {
    return one->kind == other->kind && one->registry == other->registry && same_bytes(one->text, other->text);
}

/* Keys of the next rows, made before their turn. */
typedef struct {
    Evidence evidence[BATCH];
    bool is_repeated[BATCH];
    uint8_t keys[BATCH][KEY_ROOM];
    size_t sizes[BATCH];
    uint32_t hashes[BATCH];
} KeyBatch;

static void make_batch(KeyBatch *batch, const Slots *table, const RowTable *rows, Span text, size_t row, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Evidence *evidence = &batch->evidence[i];
        *evidence = evidence_of(rows, text, row + i);
        batch->is_repeated[i] = i > 0 && is_same_evidence(evidence, evidence - 1);
        if (evidence->kind == EVIDENCE_NONE || batch->is_repeated[i])
            continue;
        batch->sizes[i] = put_key(batch->keys[i], evidence->text, evidence->kind, evidence->registry);
        batch->hashes[i] = hash_span(span_of(batch->keys[i], batch->keys[i] + batch->sizes[i]));
        prefetch_slot(table, batch->hashes[i]);
    }
}

/* Number the holders that registrations name, -1 where nothing names one; return whether there was memory. */
static bool number_holders(Keys *keys, KeyBatch *batch, const RowTable *rows, Span text, int32_t *numbers,
                           uint8_t *kinds) {
    for (size_t row = 0; row < rows->count; row += BATCH) {
        size_t count = rows->count - row < BATCH ? rows->count - row : BATCH;
        make_batch(batch, &keys->table, rows, text, row, count);
        for (size_t i = 0; i < count; i++) {
            if (batch->is_repeated[i]) {
                numbers[row + i] = numbers[row + i - 1];
                continue;
            }
            numbers[row + i] = -1;
            if (batch->evidence[i].kind == EVIDENCE_NONE)
                continue;
            Span key = span_of(batch->keys[i], batch->keys[i] + batch->sizes[i]);
            int64_t number = known_number(keys, key, batch->hashes[i]);
            if (number < 0) {
                number = add_key(keys, key, batch->hashes[i]);
                if (number < 0)
                    return false;
                kinds[number] = (uint8_t)batch->evidence[i].kind;
            }
            numbers[row + i] = (int32_t)number;
        }
    }
    return true;
}

/* Number the holders that registrations of both families name, and find the organisation object of each.
 *
 * `numbers`, `kinds` and `objects` have room for as many as there are registrations; objects[i] is -1 where no
 * dump has an object of holder i. Returns the number of holders. */
int64_t name_holders(const RowTable tables[2], const RowTable *organisations, Span text, int32_t *numbers,
                     uint8_t *kinds, int64_t *objects) {
    Keys known = {0}, named = {0};
    KeyBatch *batch = malloc(sizeof *batch);
    int64_t *best = make_room(organisations->count + 1, sizeof *best);
    bool is_done = batch != NULL && best != NULL && make_slots(&known.table, 0) && make_slots(&named.table, 0) &&
                   number_organisations(&known, organisations, text, best) &&
                   number_holders(&named, batch, &tables[0], text, numbers, kinds) &&
                   number_holders(&named, batch, &tables[1], text, numbers + tables[0].count, kinds);
    for (size_t i = 0; is_done && i < named.table.used; i++) {
        Span key = key_span(&named, i);
        int64_t number = known_number(&known, key, hash_span(key));
        objects[i] = number < 0 ? -1 : best[number];
    }
    int64_t count = is_done ? (int64_t)named.table.used : OUT_OF_MEMORY;
    free_keys(&known);
    free_keys(&named);
    free(batch);
    free(best);
    return count;
}
