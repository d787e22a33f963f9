/* The tree of zones of an overlay: joining, owners, neighbours, routing. */
#ifndef IPMICRA_OVERLAY_H
#define IPMICRA_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_DIMENSIONS = 32 };
enum { DIMENSION_LOOP, MIDDLE_POINT }; /* splitting schemes that this code knows */
enum { NO_ZONE = -1, TOO_DEEP = -2, NO_MEMORY_LEFT = -3 };

/* One entry per zone. `axis` is -1 for a leaf; the halves of an inner zone are at `child` (below the cut) and
 * `child + 1`. `unused` is a stack of pairs given back; `counts` are zones in use so far and pairs on that stack. */
typedef struct {
    double *low;
    double *high;
    int8_t *axis;
    double *cut;
    int32_t *child;
    int32_t *parent;
    int32_t *owner;
    int32_t *unused;
    int64_t *counts;
    size_t room;
    size_t dimensions;
} Zones;

/* A place to cut a zone; axis -1 for none. */
typedef struct {
    int axis;
    double at;
} Cut;

static inline bool is_zone(const Zones *zones, int64_t zone) { return zone >= 0 && (size_t)zone < zones->room; }

int64_t leaf_of(const Zones *zones, const double *point);
int64_t split_zone(Zones *zones, int64_t zone, Cut cut);
Cut loop_cut(const Zones *zones, int64_t zone);
int next_axis(const Zones *zones, int64_t zone);

/* Crawlers that join: where they stand, and the zone of each. */
typedef struct {
    const double *points;
    int32_t *zone_of;
    size_t count;
} Joiners;

bool join_one(Zones *zones, Joiners joiners, int64_t crawler, int scheme, int64_t half);

int64_t neighbours_of(const Zones *zones, int64_t zone, bool is_torus, int32_t *found, size_t room);
int64_t route(const Zones *zones, int64_t start, const double *point, bool is_torus, int32_t *path, size_t room);

#endif
