/* Look-ups as lines of CSV and JSON. */
#ifndef IPMICRA_RENDER_H
#define IPMICRA_RENDER_H

#include "lookup.h"

/* A column of codes, as narrow as they allow. */
typedef struct {
    const void *data;
    size_t width; /* bytes of a code: 1, 2 or 4 */
} Codes;

/* The sections of a hierarchy file that describe its subnets; see docs/file-format.md. All columns of subnets have
 * rows4 + rows6 numbers. */
typedef struct {
    const uint32_t (*bounds4)[2];
    const uint64_t (*bounds6)[4];
    size_t rows4;
    size_t rows6;
    const uint32_t *parent;
    const uint32_t *organisation;
    const uint32_t *netname;
    Codes country;
    Codes status;
    const uint8_t *registry;
    const uint16_t *date;
    const uint16_t *countries;
    size_t country_count;
    const uint32_t *statuses;
    size_t status_count;
    Span names;
    const uint32_t *organisation_at;
    size_t organisation_count;
    Span organisations;
    const uint32_t *geo_rows;
    const uint32_t *geoloc;
    const uint32_t *geofeed;
    const uint32_t *postal;
    size_t geo_count;
    const uint8_t *notes; /* of each row, see note_rows; NULL if they are not made */
} Registrations;

/* One subnet, as it is in the file; a text that it does not have is empty. */
typedef struct {
    Wide first;
    Wide last;
    Span netname;
    Span handle;
    Span name;
    Span status;
    Span geoloc;
    Span geofeed;
    Span postal; /* address */
    Span registry;
    uint8_t country[2];
    bool has_country;
    bool has_organisation;
    unsigned date;
    int prefix; /* length, -1 if it is none */
    unsigned depth;
} Described;

enum { MOST_DEPTH = 63, CLIMBERS = 64 }; /* rows of a lineage, of which ten are many; lineages that are read at once */

/* The rows from a row up to its root; none where the file is not sound. */
typedef struct {
    uint32_t count;
    uint32_t rows[MOST_DEPTH];
} Lineage;

/* What is noted of a row: its depth, whether it has a geoloc or geofeed, and whether its parents are not sound. */
enum { NOTED_DEPTH = 0x3F, HAS_GEO = 0x40, HAS_NO_LINEAGE = 0x80 };

void note_rows(const Registrations *from, uint8_t *notes);
bool read_bounds(const Registrations *from, size_t row, Described *subnet);
bool read_name(const Registrations *from, uint32_t place, Span *text);
bool read_subnet(const Registrations *from, size_t row, unsigned depth, Described *subnet);
void climb_many(const Registrations *from, const uint32_t *rows, size_t count, Lineage *lineages);

/* Addresses as they were written, with what they mean and the row of their narrowest subnet. */
typedef struct {
    Span text;
    const int64_t (*edges)[2]; /* first byte of each in the text, and the one behind it */
    const Wide *words;
    const uint32_t *rows;
    size_t count;
} Targets;

typedef enum { AS_CSV, AS_JSON } LineForm;

size_t read_lines(Span text, size_t *at, int64_t (*edges)[2], Wide *words, size_t room);
size_t render_lines(const Registrations *from, const Targets *targets, size_t at, LineForm form, uint8_t *out,
                    size_t room, size_t *written);

/* Texts as Arrow keeps them, one behind the other: text i is from edges[i] to edges[i + 1]. */
typedef struct {
    uint8_t *data;
    size_t room;
    int32_t *edges;
} TextColumn;

size_t write_labels(const Registrations *from, const uint32_t *rows, size_t count, size_t at, TextColumn out);
size_t write_names(const Registrations *from, const uint32_t *places, size_t count, size_t at, TextColumn out);

#endif
