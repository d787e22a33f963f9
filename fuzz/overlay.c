/* Fuzzing the overlay: zones as a saved state has them, sound or not, and points to look for.
 *
 * Walks end, and end at a zone that exists or say that the tree is not sound. */

#include <math.h>

#include "../ipmicra/native/assign/overlay.h"
#include "input.h"

enum { ZONES = 16, FOUND = 8 };

/* Places lie near each other, so that zones touch; now and then there is none. */
static void take_places(Input *input, double *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)take(input, 1);
        places[i] = byte == 255 ? -INFINITY : byte / 16.0;
    }
}

static void take_zones(Input *input, int32_t *zones, size_t count) {
    for (size_t i = 0; i < count; i++)
        zones[i] = (int32_t)(int8_t)take(input, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Input input = {data, size};
    size_t width = 1 + take(&input, 1) % 3, room = 1 + take(&input, 1) % ZONES;
    double low[ZONES * 3], high[ZONES * 3], cut[ZONES], points[4 * 3];
    int8_t axis[ZONES];
    int32_t child[ZONES], parent[ZONES], owner[ZONES], unused[ZONES], found[FOUND], zone_of[4], path[FOUND];
    int64_t counts[2] = {(int8_t)take(&input, 1), (int8_t)take(&input, 1)};
    for (size_t i = 0; i < ZONES; i++)
        axis[i] = (int8_t)(take(&input, 1) % 5) - 1;
    take_zones(&input, child, ZONES);
    take_places(&input, cut, ZONES);
    take_places(&input, low, ZONES * 3);
    take_places(&input, high, ZONES * 3);
    take_zones(&input, parent, ZONES);
    take_zones(&input, owner, ZONES);
    take_zones(&input, unused, ZONES);
    take_places(&input, points, 4 * 3);
    Zones zones = {low, high, axis, cut, child, parent, owner, unused, counts, room, width};
    int64_t zone = (int64_t)(take(&input, 1) % room);
    for (int is_torus = 0; is_torus <= 1; is_torus++) {
        int64_t count = neighbours_of(&zones, zone, is_torus, found, FOUND);
        for (int64_t i = 0; i < count && i < FOUND; i++)
            if (!is_zone(&zones, found[i]))
                abort();
        int64_t hops = route(&zones, zone, points, is_torus, path, FOUND);
        if (hops > FOUND || (hops > 0 && !is_zone(&zones, path[hops - 1])))
            abort();
    }
    if (loop_cut(&zones, zone).axis >= (int)width)
        abort();
    Joiners joiners = {points, zone_of, 4};
    for (int64_t crawler = 0; crawler < 4; crawler++) {
        int64_t leaf = leaf_of(&zones, points + (size_t)crawler * width);
        if (leaf != NO_ZONE && (!is_zone(&zones, leaf) || axis[leaf] >= 0))
            abort();
        join_one(&zones, joiners, crawler, (int)(crawler & 1), crawler - 1);
    }
    return 0;
}
