/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/**
 * @file
 * Model: the time of a call with a given block size, and the best block size.
 *
 * A link takes alpha + beta (s + h) for a block of s bytes with h bytes of headers (or
 * less, where handling and sending overlap: a norm of both), C_i for all blocks of member
 * i and c for the largest block of all; a block is forwarded `latency` later. A chain of
 * waits follows one block over the links of an arc, and waits once for every block that
 * the members of the arc do not contribute. So, with the recurrence of plan_rounds, a link
 * is done after
 *
 *     T(B) = sum C_i - c + c M',   M' = max over arcs of the sum of (1 + lag_i - C_i / c)
 *
 * where lag_i is the time, in units of c, that a block takes at member i from one
 * link of the ring to the next. For equal blocks and no latency T is (b' - 1 + M) c.
 * Members are nodes. Inside a node a block takes one local hop a rank, and every rank
 * receives all blocks over its local link, which can set the pace.
 *
 * In a reduce-scatter the part of member i starts at member i + 1 and goes around to member i, as
 * in a gather a contribution of member i + 1 does; no arc's sum changes by such a turn of the ring.
 * Members are ranks, since a part passes all of them. A link then takes the longer of the time of
 * a block and that of combining one, and a block waits for both at each member. Small blocks fill
 * the ring fast but cost an alpha each, large blocks leave links idle while the ring fills, and
 * blocks above the transport's eager bound cost a handshake each.
 *
 * The paper's closed form, equation (2), assumes that rounding adds half a block
 * a rank, which is far off for contributions of very different sizes. So the search
 * evaluates T for candidate sizes: m_max / k and a geometric grid. Equation (2) as printed is
 *
 *     B = sqrt(m alpha / beta / ((p + z)/2 - 1 + floor(z / (p - z)))).
 *
 * It misses a subtraction of z and has a floor instead of a ceiling. Corrected, the
 * denominator is (p - z)/2 - 1 + ceil(z / (p - z)); without empty contributions it is
 * (p - 1)/2, with m - min m_i in place of m.
 *
 * Paper 2.4.
 */

#include <math.h>

#include "coll_pipering_plan_model.h"

/* The members of the ring are nodes, or ranks. */
static bool has_nodes(const mca_coll_pipering_problem_t *problem)
{
    return 1 < problem->ring->nodes && !problem->reduces;
}

static int count_members(const mca_coll_pipering_problem_t *problem)
{
    return has_nodes(problem) ? problem->ring->nodes : problem->ring->size;
}

static int member_at(const mca_coll_pipering_problem_t *problem, int position)
{
    return has_nodes(problem) ? problem->ring->node[position] : position;
}

static int member_ranks(const mca_coll_pipering_problem_t *problem, int member)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;

    return has_nodes(problem) ? ring->first[member + 1] - ring->first[member] : 1;
}

/* A member's link to the next one is inside a node, though there are several. */
static bool is_inside(const mca_coll_pipering_problem_t *problem, int member)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;

    return problem->reduces && 1 < ring->nodes
           && ring->node[member] == ring->node[(member + 1) % ring->size];
}

static const mca_coll_pipering_link_cost_t *
member_link(const mca_coll_pipering_problem_t *problem)
{
    return 1 < problem->ring->nodes ? &problem->cost.net : &problem->cost.local;
}

size_t mca_coll_pipering_model_scratch(int p)
{
    return ((size_t) p + 1) * (sizeof(uint64_t) + 5 * sizeof(double));
}

/* The members of a problem, in the scratch memory. */
typedef struct {
    int count;
    uint64_t *blocks;
    double *time; /* [count] seconds of the blocks of each on a link */
    double *lag;
    double total_bytes, total_time;
    double largest; /* bytes of the largest block of any rank */
    uint64_t total_blocks;
} members_t;

/* Seconds of a link for a contribution. */
static double time_of_bytes(const mca_coll_pipering_problem_t *problem,
                            const mca_coll_pipering_link_cost_t *link, size_t bytes,
                            size_t block_size)
{
    return fmax((double) bytes * problem->combine,
                mca_coll_pipering_stream_time(
                    link, (double) mca_coll_pipering_blocks(bytes, block_size), (double) bytes));
}

static members_t find_members(const mca_coll_pipering_problem_t *problem, size_t block_size)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;
    members_t members = {.count = count_members(problem),
                         .blocks = problem->scratch};

    members.time = (double *) (members.blocks + ring->size + 1);
    members.lag = members.time + ring->size + 1;
    for (int j = 0; j < members.count; ++j) {
        members.blocks[j] = 0;
        members.time[j] = 0;
    }
    size_t m = 0;
    uint64_t b = 0;  /* of m bytes; equal contributions in a row are cut once */
    double time = 0; /* likewise */
    for (int x = 0; x < ring->size; ++x) {
        if (m != problem->bytes[ring->rank[x]]) {
            m = problem->bytes[ring->rank[x]];
            b = mca_coll_pipering_blocks(m, block_size);
            time = time_of_bytes(problem, member_link(problem), m, block_size);
            members.largest = 0 == b ? members.largest
                                     : fmax(members.largest, (double) m / (double) b);
        }
        members.blocks[member_at(problem, x)] += b;
        members.time[member_at(problem, x)] += time;
        members.total_blocks += b;
        members.total_bytes += (double) m;
        members.total_time += time;
    }
    return members;
}

uint64_t mca_coll_pipering_model_rounds(const mca_coll_pipering_problem_t *problem,
                                        size_t block_size)
{
    const members_t members = find_members(problem, block_size);

    return mca_coll_pipering_rounds(members.blocks, members.count);
}

/*
 * The time if a link inside a node sets the pace: the link into the last rank of a node
 * carries all bytes but this rank's own. The arcs consist of ranks, end at the last rank of
 * a node and leave out the largest contribution. `across` and `hop` are the seconds that
 * the largest block takes to the next node and to the next rank of the same node.
 */
static double inner_time(const mca_coll_pipering_problem_t *problem, size_t block_size,
                         double across, double hop)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;
    double work = 0, best = -HUGE_VAL, running = 0;
    int cut = 0;

    for (int x = 0; x < ring->size; ++x) {
        cut = problem->bytes[ring->rank[x]] > problem->bytes[ring->rank[cut]] ? x : cut;
    }
    size_t m = 0;
    double own = 0; /* seconds of m bytes */
    for (int i = 0; i < ring->size; ++i) {
        const int x = (cut + i) % ring->size, node = ring->node[x];
        if (m != problem->bytes[ring->rank[x]]) {
            m = problem->bytes[ring->rank[x]];
            own = time_of_bytes(problem, &problem->cost.local, m, block_size);
        }
        const bool last = ring->first[node + 1] == x + 1;
        if (0 < i && last && 1 < member_ranks(problem, node)) {
            best = running - own > best ? running - own : best;
        }
        if (0 < i) {
            running += (last ? across : hop) - own;
            running = running > 0 ? running : 0;
        }
        work += own;
    }
    return work + best + problem->cost.local.latency;
}

/* Seconds of the processors of all ranks: each block passes all of them. */
static double work_of(const mca_coll_pipering_problem_t *problem, const members_t *members)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;
    const double links = ring->size - 1;
    const double across = 2 > ring->nodes     ? 0
                          : problem->reduces ? ring->nodes * links / ring->size
                                             : ring->nodes - 1;

    return mca_coll_pipering_links_work(&problem->cost, across, links - across,
                                        (double) members->total_blocks, members->total_bytes,
                                        links * members->total_bytes * problem->combine);
}

double mca_coll_pipering_time(const void *call, size_t block_size)
{
    const mca_coll_pipering_problem_t *problem = call;
    const mca_coll_pipering_ring_t *ring = problem->ring;
    const mca_coll_pipering_link_cost_t *link = member_link(problem), *local = &problem->cost.local;
    const members_t members = find_members(problem, block_size);
    const double combined = members.largest * problem->combine;
    const double largest = fmax(mca_coll_pipering_stream_time(link, 1, members.largest), combined);
    const double hop = mca_coll_pipering_stream_time(local, 1, members.largest) + local->latency;

    if (0 == members.total_blocks || 2 > ring->size) {
        return 0;
    }
    for (int j = 0; j < members.count; ++j) {
        members.lag[j] = ((is_inside(problem, j)
                               ? hop - largest
                               : link->latency + (member_ranks(problem, j) - 1) * hop)
                          + combined)
                         / largest;
        members.time[j] /= largest; /* from here on in this unit */
    }
    const double delay = mca_coll_pipering_delay(members.blocks, members.time, members.lag,
                                                 members.count);
    const double outer = members.total_time + (delay - 1) * largest;
    const double inner = has_nodes(problem) && members.count < ring->size
                             ? inner_time(problem, block_size, largest + link->latency, hop)
                             : 0;
    return mca_coll_pipering_crowded_time(&problem->cost, inner > outer ? inner : outer,
                                          work_of(problem, &members), ring->size);
}

/* Seconds in which a block passes the links between nodes, but for those of the first one. */
static double hops_time(const mca_coll_pipering_problem_t *problem)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;
    const mca_coll_pipering_link_cost_t *link = member_link(problem);
    const int links = (1 < ring->nodes ? ring->nodes : ring->size) - 1;

    return links * link->latency + (links - 1) * link->alpha;
}

/*
 * With blocks of up to so many bytes, the links between nodes carry what all members have but one,
 * and what the largest has passes all others.
 */
static double least_with(const mca_coll_pipering_problem_t *problem, size_t block_size)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;
    const members_t members = find_members(problem, block_size);
    double most = 0, least = HUGE_VAL;

    for (int j = 0; j < members.count; ++j) {
        most = mca_coll_pipering_larger(most, members.time[j]);
        least = members.time[j] < least ? members.time[j] : least;
    }
    const bool inside = 1 < ring->nodes && ring->nodes < members.count;
    const double carried = members.total_time - (inside ? most : least)
                           + member_link(problem)->latency;
    const double passed = most + hops_time(problem);
    return mca_coll_pipering_crowded_time(&problem->cost, mca_coll_pipering_larger(carried, passed),
                                          work_of(problem, &members), ring->size);
}

double mca_coll_pipering_least_time(const mca_coll_pipering_problem_t *problem, double enough)
{
    const double hops = hops_time(problem), eager = member_link(problem)->eager;

    if (enough < hops) {
        return hops;
    }
    const double any = least_with(problem, SIZE_MAX);

    return 0 < eager ? fmin(any, least_with(problem, (size_t) eager)) : any;
}

static double equation2_denominator(double p, double z)
{
    return 0 == z ? (p - 1) / 2 : (p - z) / 2 - 1 + ceil(z / (p - z));
}

size_t mca_coll_pipering_equation2(const mca_coll_pipering_problem_t *problem)
{
    const mca_coll_pipering_link_cost_t *link = member_link(problem);
    size_t total = 0, largest = 0, least = SIZE_MAX;
    int z = 0;

    for (int r = 0; r < problem->ring->size; ++r) {
        const size_t m = problem->bytes[r];
        total += m;
        largest = m > largest ? m : largest;
        least = m < least ? m : least;
        z += 0 == m;
    }
    if (0 == total) {
        return 1;
    }

    const double below = equation2_denominator(problem->ring->size, z);
    if (least == largest || 0 >= below) {
        return largest;
    }

    const double m = (double) (total - least);
    const double size = sqrt(m * link->alpha / link->beta / below);

    return size < 1 ? 1 : size < (double) largest ? (size_t) size : largest;
}

/*
 * Eager contributions are cut only where this gains more than this factor: the model does not
 * know how much longer ranks wait for their processors with more blocks.
 */
#define WORTH_CUTTING 1.1

size_t mca_coll_pipering_search(const mca_coll_pipering_problem_t *problem)
{
    const mca_coll_pipering_link_cost_t *link = member_link(problem);
    size_t largest = 0;
    double total = 0;

    for (int r = 0; r < problem->ring->size; ++r) {
        const size_t m = problem->bytes[r];
        largest = m > largest ? m : largest;
        total += (double) m;
    }
    if (0 == largest) {
        return 1;
    }
    const size_t best = mca_coll_pipering_search_size(mca_coll_pipering_time, problem, link,
                                                      problem->cost.local.eager, largest,
                                                      sqrt(total * link->alpha / link->beta
                                                           / count_members(problem)));

    return (double) largest <= link->eager && MCA_COLL_PIPERING_LARGE > (double) largest
                   && mca_coll_pipering_time(problem, largest)
                          <= WORTH_CUTTING * mca_coll_pipering_time(problem, best)
               ? largest
               : best;
}
