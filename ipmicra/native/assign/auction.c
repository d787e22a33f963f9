/* An auction of room on crawlers: sites bid, the lowest bids of a full crawler are displaced and bid again.
 *
 * Bids are in the unit of cost for one unit of load. What a crawler has accepted is a skew heap over the sites
 * themselves (`left`, `right`, NOBODY for nothing), lowest bid on top, so that memory is linear. A site is either on
 * the stack of those that wait or taken, so the stack never needs more room than it had at first. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance.h"

enum { NOBODY = -1 };

/* The state of each site and crawler. */
typedef struct {
    double *bid;
    int64_t *left;
    int64_t *right;
    int64_t *stack;
    int64_t *top;  /* of each crawler */
    double *used;
} Bids;

/* Merge two skew heaps; return the new top. */
static int64_t merge(const Bids *bids, int64_t one, int64_t other) {
    if (one < 0 || other < 0)
        return one < 0 ? other : one;
    if (bids->bid[other] < bids->bid[one]) {
        int64_t swapped = one;
        one = other, other = swapped;
    }
    int64_t top = one;
    for (;;) { /* walk down the right spines; swap the children on the way */
        int64_t down = bids->right[one];
        bids->right[one] = bids->left[one];
        if (down < 0) {
            bids->left[one] = other;
            return top;
        }
        if (bids->bid[other] < bids->bid[down]) {
            int64_t swapped = down;
            down = other, other = swapped;
        }
        bids->left[one] = down;
        one = down;
    }
}

/* Find the cheapest crawler that a site fits, and how much more the second costs; NOBODY if it fits none. */
static int64_t cheapest(const Auction *auction, int64_t site, double *gap) {
    const float *cost = auction->cost + (size_t)site * auction->crawlers;
    double least = INFINITY, second = INFINITY;
    int64_t best = NOBODY;
    for (size_t crawler = 0; crawler < auction->crawlers; crawler++) {
        double value = (double)cost[crawler] + auction->price[crawler];
        if (value < second && auction->load[site] <= auction->room[crawler]) {
            if (value < least) {
                best = (int64_t)crawler;
                second = least;
                least = value;
            } else {
                second = value;
            }
        }
    }
    *gap = second < INFINITY ? second - least : auction->step;
    return best;
}

/* Sell room until nobody waits or the bids are used up; return the number of bids. */
static int64_t sell(const Auction *auction, const Bids *bids, int64_t *taker, size_t count) {
    int64_t made = 0;
    while (count > 0 && made < auction->most_bids) {
        int64_t site = bids->stack[--count];
        double gap;
        int64_t best = cheapest(auction, site, &gap);
        if (best < 0)
            continue;
        made++;
        bids->bid[site] = auction->price[best] + gap + auction->step;
        bids->left[site] = bids->right[site] = NOBODY;
        bids->top[best] = merge(bids, bids->top[best], site);
        taker[site] = best;
        bids->used[best] += auction->load[site];
        while (bids->used[best] > auction->room[best] && bids->top[best] >= 0) {
            int64_t lowest = bids->top[best];
            bids->top[best] = merge(bids, bids->left[lowest], bids->right[lowest]);
            bids->used[best] -= auction->load[lowest];
            taker[lowest] = NOBODY;
            if (bids->bid[lowest] > auction->price[best])
                auction->price[best] = bids->bid[lowest];
            bids->stack[count++] = lowest;
        }
    }
    return made;
}

/* Sell room to the waiting sites, each of which waits once; return the number of bids, -1 where memory ran out, -2
 * for a site that does not exist or waits twice.
 *
 * Writes who got each site (NOBODY for nobody) and raises prices. The result costs at most one `step` per unit of
 * load more than the best if all loads are equal and prices start at 0. */
int64_t hold_auction(Auction auction, const int64_t *waiting, size_t count, int64_t *taker) {
    size_t sites = auction.sites ? auction.sites : 1, crawlers = auction.crawlers ? auction.crawlers : 1;
    Bids bids = {calloc(sites, sizeof(double)),   malloc(sites * sizeof(int64_t)),    malloc(sites * sizeof(int64_t)),
                 malloc(sites * sizeof(int64_t)), malloc(crawlers * sizeof(int64_t)), calloc(crawlers, sizeof(double))};
    int64_t made = -1;
    if (bids.bid && bids.left && bids.right && bids.stack && bids.top && bids.used) {
        memset(bids.top, 0xFF, crawlers * sizeof *bids.top);
        memset(bids.left, 0, sites * sizeof *bids.left);
        made = count <= auction.sites ? 0 : -2;
        for (size_t i = 0; made == 0 && i < count; i++) {
            if (waiting[i] < 0 || (size_t)waiting[i] >= auction.sites || bids.left[waiting[i]]++)
                made = -2;
            bids.stack[i] = waiting[i];
        }
        for (size_t i = 0; i < auction.sites; i++)
            taker[i] = NOBODY;
        if (made == 0)
            made = sell(&auction, &bids, taker, count);
    }
    free(bids.bid);
    free(bids.left);
    free(bids.right);
    free(bids.stack);
    free(bids.top);
    free(bids.used);
    return made;
}
