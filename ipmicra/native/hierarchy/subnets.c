/* Reading single subnets of a hierarchy file, which may be damaged anywhere behind its header.
 *
 * Three things keep reads inside of its sections:
 *
 * - a row is compared with the number of rows before any column is read at it (`climb_many`); a parent must be smaller
 *   than its child, so that every climb ends, and is then a row too;
 * - codes, organisations and places in pools are compared with the size of the section they lead to;
 * - texts are spans that were compared with the end of their pool.
 *
 * Whatever is not sound makes a function return false, and the caller leaves the subnet to the twin in
 * ipmicra/hierarchy/hierarchy.py, which raises the error that says what is wrong. */

#include "render.h"

#include "../vocabulary.h"

enum { LONGEST_LENGTH = 3, RECORD_HEAD = 4 };

/* Read a text of a pool; return the place behind it, NULL where it does not lie inside. */
static const uint8_t *read_pooled(Span pool, const uint8_t *at, Span *text) {
    size_t length = 0;
    for (int i = 0; i < LONGEST_LENGTH; i++) {
        if (at >= pool.end)
            return NULL;
        uint8_t byte = *at++;
        length |= (size_t)(byte & 0x7F) << 7 * i;
        if (byte < 0x80)
            break;
    }
    if ((size_t)(pool.end - at) < length)
        return NULL;
    *text = span_of(at, at + length);
    return at + length;
}

/* Read a name by its place; 0 stands for none. */
bool read_name(const Registrations *from, uint32_t place, Span *text) {
    *text = span_of(from->names.at, from->names.at);
    return place == 0 || (place < (size_t)span_size(from->names) &&
                          read_pooled(from->names, from->names.at + place, text) != NULL);
}

static inline size_t code_at(Codes codes, size_t row) {
    if (codes.width == 1)
        return ((const uint8_t *)codes.data)[row];
    return codes.width == 2 ? ((const uint16_t *)codes.data)[row] : ((const uint32_t *)codes.data)[row];
}

/* Read first and last address of a row that exists, and whether they are a prefix. */
bool read_bounds(const Registrations *from, size_t row, Described *subnet) {
    if (row < from->rows4) {
        const uint64_t mapped = (uint64_t)0xFFFF << 32;
        subnet->first = (Wide){0, mapped | from->bounds4[row][0]};
        subnet->last = (Wide){0, mapped | from->bounds4[row][1]};
    } else {
        const uint64_t *bounds = from->bounds6[row - from->rows4];
        subnet->first = (Wide){bounds[0], bounds[1]};
        subnet->last = (Wide){bounds[2], bounds[3]};
        if (is_mapped(subnet->first) || is_mapped(subnet->last))
            return false; /* versions of Python print these differently */
    }
    if (!is_at_most(subnet->first, subnet->last))
        return false;
    uint64_t high = subnet->first.high ^ subnet->last.high, low = subnet->first.low ^ subnet->last.low;
    bool is_mask = high == 0 ? (low & (low + 1)) == 0 : low == UINT64_MAX && (high & (high + 1)) == 0;
    bool is_prefix = is_mask && (subnet->first.high & high) == 0 && (subnet->first.low & low) == 0;
    int length = (row < from->rows4 ? 32 : 128) - __builtin_popcountll(high) - __builtin_popcountll(low);
    subnet->prefix = is_prefix ? length : -1;
    return true;
}

static bool read_holder(const Registrations *from, size_t row, Described *subnet) {
    uint32_t number = from->organisation[row];
    subnet->has_organisation = number != 0;
    subnet->handle = subnet->name = span_of(from->names.at, from->names.at);
    if (number == 0)
        return true;
    if (number > from->organisation_count)
        return false;
    size_t place = from->organisation_at[number - 1], size = (size_t)span_size(from->organisations);
    if (place > size || size - place < RECORD_HEAD)
        return false;
    const uint8_t *at = from->organisations.at + place;
    if (at[0] >= EVIDENCE_COUNT || at[1] >= REGISTRY_COUNT)
        return false;
    Span address; /* not printed, but a damaged one is an error */
    at = read_pooled(from->organisations, at + RECORD_HEAD, &subnet->handle);
    at = at == NULL ? NULL : read_pooled(from->organisations, at, &subnet->name);
    return at != NULL && read_pooled(from->organisations, at, &address) != NULL;
}

static bool read_codes(const Registrations *from, size_t row, Described *subnet) {
    static const char *const labels[REGISTRY_COUNT] = {"", "afrinic", "apnic", "arin", "lacnic", "ripe", "iana"};
    size_t country = code_at(from->country, row), status = code_at(from->status, row), registry = from->registry[row];
    if (country >= from->country_count || status >= from->status_count || registry >= REGISTRY_COUNT)
        return false;
    unsigned letters = from->countries[country];
    subnet->has_country = letters != 0;
    subnet->country[0] = (uint8_t)(letters >> 8);
    subnet->country[1] = (uint8_t)letters;
    const uint8_t *label = (const uint8_t *)labels[registry];
    subnet->registry = span_of(label, label + strlen(labels[registry]));
    subnet->date = from->date[row];
    return read_name(from, from->statuses[status], &subnet->status);
}

static bool read_geo(const Registrations *from, size_t row, Described *subnet) {
    size_t low = 0, high = from->geo_count;
    subnet->geoloc = subnet->geofeed = subnet->postal = span_of(from->names.at, from->names.at);
    if (from->notes != NULL && !(from->notes[row] & HAS_GEO))
        return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (from->geo_rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == from->geo_count || from->geo_rows[low] != row)
        return true;
    return read_name(from, from->geoloc[low], &subnet->geoloc) &&
           read_name(from, from->geofeed[low], &subnet->geofeed) && read_name(from, from->postal[low], &subnet->postal);
}

/* Read all of a row that exists; return whether the file is sound there. */
bool read_subnet(const Registrations *from, size_t row, unsigned depth, Described *subnet) {
    subnet->depth = depth;
    return read_bounds(from, row, subnet) && read_name(from, from->netname[row], &subnet->netname) &&
           read_holder(from, row, subnet) && read_codes(from, row, subnet) && read_geo(from, row, subnet);
}

/* Note the depth of each row and whether something says where it is: both take a search per row, and one pass over
 * all columns is worth it for a long list. */
void note_rows(const Registrations *from, uint8_t *notes) {
    size_t rows = from->rows4 + from->rows6;
    for (size_t row = 0; row < rows; row++) {
        size_t above = from->parent[row];
        bool is_root = row == 0 || row == from->rows4;
        if (above == row || above > row || (above < from->rows4 && from->rows4 <= row))
            notes[row] = above == row && is_root ? 0 : HAS_NO_LINEAGE;
        else
            notes[row] = notes[above] >= MOST_DEPTH - 1 ? HAS_NO_LINEAGE : notes[above] + 1;
    }
    for (size_t i = 0; i < from->geo_count; i++)
        if (from->geo_rows[i] < rows)
            notes[from->geo_rows[i]] |= HAS_GEO;
}

/* Take one step from the last row of a lineage to its parent; return whether there is more to climb.
 *
 * Where parents are not sound, or too many, the lineage becomes empty. */
static inline bool climb_once(const Registrations *from, Lineage *lineage) {
    size_t row = lineage->rows[lineage->count - 1], above = from->parent[row];
    if (above == row) {
        if (row != 0 && row != from->rows4)
            lineage->count = 0;
        return false;
    }
    if (above > row || (above < from->rows4 && from->rows4 <= row) || lineage->count == MOST_DEPTH) {
        lineage->count = 0;
        return false;
    }
    lineage->rows[lineage->count++] = (uint32_t)above;
    return true;
}

/* Write the rows from each row up to its root; a lineage is empty where the file is not sound.
 *
 * A parent is a wait for memory, and the next one depends on it: so all climb one step before any takes the next. */
void climb_many(const Registrations *from, const uint32_t *rows, size_t count, Lineage *lineages) {
    size_t climbing[CLIMBERS], left = 0;
    for (size_t i = 0; i < count; i++) {
        lineages[i].rows[0] = rows[i];
        lineages[i].count = rows[i] < from->rows4 + from->rows6;
        if (lineages[i].count)
            climbing[left++] = i;
    }
    while (left > 0) {
        size_t still = 0;
        for (size_t i = 0; i < left; i++) {
            climbing[still] = climbing[i];
            still += climb_once(from, &lineages[climbing[i]]);
        }
        left = still;
    }
}
