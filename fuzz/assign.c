/* Fuzzing assignments: an auction of room, vertices that move between parts, and pieces that are bound to crawlers.
 *
 * Costs may be any number. No crawler gets more than it has room for, each site at most one crawler; loads of parts
 * are those of their vertices, and nothing moves into a part that is full; the best is one of those that there are. */

#include <math.h>

#include "../ipmicra/native/assign/balance.h"
#include "input.h"

enum { SITES = 12, CRAWLERS = 5, VERTICES = 8, PARTS = 4, EDGES = 12, PIECES = 6, LIVES = 4 };

static void check_auction(Input *input) {
    float cost[SITES * CRAWLERS];
    double load[SITES], room[CRAWLERS], price[CRAWLERS] = {0}, used[CRAWLERS] = {0};
    int64_t waiting[SITES], taker[SITES];
    size_t sites = 1 + take(input, 1) % SITES, crawlers = 1 + take(input, 1) % CRAWLERS, count = 0;
    for (size_t i = 0; i < sites * crawlers; i++) {
        uint32_t bits = (uint32_t)take(input, 1);
        bits = bits < 250 ? 0 : bits << 24 | 0x7FFFFF; /* infinite, no number, negative, huge */
        memcpy(&cost[i], &bits, sizeof bits);
        if (bits == 0)
            cost[i] = (float)take(input, 1) / 4;
    }
    for (size_t i = 0; i < sites; i++)
        load[i] = 0.25 * (double)(1 + take(input, 1) % 32);
    for (size_t i = 0; i < crawlers; i++)
        room[i] = (double)take(input, 1) / 8;
    for (size_t i = 0; i < sites; i++)
        if (take(input, 1) % 4 < 3)
            waiting[count++] = (int64_t)i;
    if (take(input, 1) == 255 && count > 1) /* twice, or nowhere */
        waiting[1] = take(input, 1) % 2 ? waiting[0] : (int64_t)sites;
    Auction auction = {cost, load, room, price, sites, crawlers, 0.125, 500};
    int64_t bids = hold_auction(auction, waiting, count, taker);
    for (size_t i = 0; bids >= 0 && i < sites; i++) {
        if (taker[i] < -1 || taker[i] >= (int64_t)crawlers)
            abort();
        if (taker[i] >= 0)
            used[taker[i]] += load[i];
    }
    for (size_t i = 0; i < crawlers; i++)
        if (used[i] > room[i] + 1e-9)
            abort();
}

static Graph take_graph(Input *input, int64_t *starts, int64_t *ends, double *weights, size_t vertices) {
    starts[0] = 0;
    for (size_t i = 0; i < vertices; i++) {
        int64_t next = starts[i] + (int64_t)(take(input, 1) % 4);
        starts[i + 1] = next < EDGES ? next : EDGES;
    }
    for (size_t i = 0; i < EDGES; i++) {
        ends[i] = (int64_t)(take(input, 1) % (vertices + 8));
        ends[i] = ends[i] < (int64_t)vertices + 7 ? ends[i] % (int64_t)vertices : -1;
        weights[i] = (double)(int8_t)take(input, 1);
    }
    return (Graph){starts, ends, weights};
}

static void check_moves(Input *input) {
    int64_t starts[2][VERTICES + 1], ends[2][EDGES], part[VERTICES];
    double weights[2][EDGES], load[PARTS] = {0}, limit[PARTS], weight[VERTICES], cuts[2], preferences[2], sums[PARTS] = {0};
    size_t vertices = 1 + take(input, 1) % VERTICES, parts = 1 + take(input, 1) % PARTS;
    for (size_t i = 0; i < vertices; i++) {
        part[i] = (int64_t)(take(input, 1) % parts);
        weight[i] = (double)take(input, 1) / 4;
        load[part[i]] += weight[i];
    }
    for (size_t i = 0; i < parts; i++)
        limit[i] = (double)take(input, 1);
    for (int i = 0; i < 2; i++) {
        cuts[i] = (double)take(input, 1);
        preferences[i] = (double)take(input, 1) / 255;
    }
    Moves moves = {.preferences = preferences, .power = 2.0, .part = part, .load = load, .limit = limit,
                   .weight = weight, .cuts = cuts, .vertices = vertices, .parts = parts};
    for (int i = 0; i < 2; i++)
        moves.graphs[i] = take_graph(input, starts[i], ends[i], weights[i], vertices);
    double before[PARTS];
    memcpy(before, load, sizeof before);
    int64_t moved = move_once(moves);
    if (moved > (int64_t)vertices)
        abort();
    for (size_t i = 0; i < vertices; i++) {
        if (part[i] < 0 || part[i] >= (int64_t)parts)
            abort();
        sums[part[i]] += weight[i];
    }
    for (size_t i = 0; i < parts; i++)
        if (fabs(sums[i] - load[i]) > 1e-6 || (load[i] > limit[i] + 1e-6 && load[i] > before[i] + 1e-6))
            abort();
}

/* Any number, most of them small. */
static double take_double(Input *input) {
    uint64_t byte = take(input, 1);
    static const double odd[] = {INFINITY, -INFINITY, NAN, 1e300, -1e300, 1e-300};
    return byte >= 250 ? odd[byte - 250] : (double)(int8_t)byte / 4;
}

static double *take_doubles(Input *input, double *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = take_double(input);
    return out;
}

static int64_t *take_integers(Input *input, int64_t *out, size_t count) {
    for (size_t i = 0; i < count; i++)
        out[i] = (int8_t)take(input, 1);
    return out;
}

static bool is_among(int64_t number, const int64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

static void check_binding(Input *input) {
    double since[CRAWLERS], expected_ms[CRAWLERS * SITES], slope[PIECES], offset[PIECES];
    int64_t lives[LIVES], site[PIECES], pages[PIECES], last[PIECES], many[PIECES];
    size_t sites = take(input, 1) % SITES, crawlers = 1 + take(input, 1) % CRAWLERS, pieces = 1 + take(input, 1) % PIECES;
    Binding binding = {
        .since = take_doubles(input, since, crawlers),
        .lives = take_integers(input, lives, LIVES),
        .expected_ms = take_doubles(input, expected_ms, crawlers * sites),
        .site = take_integers(input, site, pieces),
        .pages = take_integers(input, pages, pieces),
        .slope = take_doubles(input, slope, pieces),
        .offset = take_doubles(input, offset, pieces),
        .last_crawler = take_integers(input, last, pieces),
        .life_count = take(input, 1) % (LIVES + 1),
        .crawlers = crawlers,
        .sites = sites,
        .pieces = pieces,
        .stay = take_double(input),
        .risk = take_double(input),
        .fixed_ms = take_double(input),
        .per_step = take_double(input),
        .per_age = take_double(input),
    };
    double now = take_double(input);
    int64_t crawler = (int64_t)(take(input, 1) % crawlers), piece = (int64_t)(take(input, 1) % pieces), best;
    take_integers(input, many, PIECES);
    best = best_piece(&binding, crawler, many, PIECES, now);
    if (best != -1 && (best < 0 || best >= (int64_t)pieces || !is_among(best, many, PIECES)))
        abort();
    best = best_crawler(&binding, piece, many, PIECES, now);
    if (best != -1 && (best < 0 || best >= (int64_t)crawlers || !is_among(best, many, PIECES)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Input input = {data, size};
    uint64_t which = take(&input, 1) % 4;
    if (which % 2)
        check_auction(&input);
    else if (which)
        check_binding(&input);
    else
        check_moves(&input);
    return 0;
}
