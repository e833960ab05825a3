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
 * Hamiltonian cycles of a mesh, no two of which share a link: one for each closed dimension.
 *
 * A factor (2-factor) is cycles that cover all vertices, such as all lines of a closed dimension.
 * Other links are free. At a square whose sides across are links of one factor, and whose sides
 * down are links of another one or free, these change places: a switch.
 *
 *      p -- q        p    q      where p -- q and r -- s are links of two cycles of a factor,
 *                    |    |      these become one; where they are links of one cycle that goes
 *      r -- s        r    s      both of them in the same direction it stays one, else it
 *                                breaks in two
 *
 * A search switches squares that leave fewer cycles, until each factor is one cycle. Where no
 * square does, one that leaves as many is switched, which may make room for another one.
 *
 * - Closed dimensions: one after the other. Layers of the mesh so far have copies
 *   of its cycles, and the lines across them are a factor more. The first cycle and these lines
 *   span a torus of two dimensions, in which they go along each other's links at some of the
 *   diagonals. That makes them few cycles, or one (Trotter and Erdos), which pass neighbouring
 *   links in the same direction: other copies are joined by these (Foregger; Aubert and
 *   Schneider). If rows and columns were left as they are, and all extents are even, each switch
 *   would change the number of cycles of two factors by one, which leaves a cycle too many where
 *   the number of dimensions is odd.
 * - Open dimensions then: layers have copies, and links across them are free.
 * - Open dimensions alone, an even number of vertices: strips, two vertices wide and as long as
 *   the mesh, are joined.
 * - Open dimensions alone, all extents odd: there is no Hamiltonian cycle, as each step goes from a
 *   vertex whose coordinates have an even sum to one where it is odd or back, and of the even ones
 *   there is one more. Vertex 0 is left out. The rest of its line are teeth of the next strip.
 *
 *      (0)  o--o  o--o
 *           |  |  |  |
 *      o----o  o--o  o
 *      |             |
 *      o----o--o--o--o
 *
 * Cost: O(vertices x dims^2) for each round of a search, some tens; at first use. Limits: beyond a
 * bound of visits there is one cycle less. A mesh of closed and open dimensions has no more cycles
 * than closed dimensions.
 *
 * Almasi et al., section 3.1, Reduce, has one path. A. Kotzig, "Every Cartesian product of two
 * circuits is decomposable into two Hamiltonian circuits", 1973; W. T. Trotter, P. Erdos, "When the
 * Cartesian product of directed cycles is Hamiltonian", Journal of Graph Theory 2, 1978;
 * M. F. Foregger, "Hamiltonian decompositions of products of cycles", Discrete Mathematics 24,
 * 1978; J. Aubert, B. Schneider, "Decomposition de la somme cartesienne d'un cycle et de l'union de
 * deux cycles hamiltoniens en cycles hamiltoniens", ibid. 38, 1982.
 */

#include <string.h>

#include "coll_pipering_plan_mesh.h"

/* Owners of links that are no factor's. */
enum { FREE = MCA_COLL_PIPERING_MESH_DIMS, ABSENT };

/* Visits of vertices in a search: some seconds. */
#define SEARCH_MOST ((size_t) 1 << 27)

/* Links of a mesh. Side 2 dim of a vertex is behind it in a dimension, side 2 dim + 1 ahead. */
typedef struct {
    int n, dims;
    int *beside; /* [n][2 dims] the vertex at each side, -1: none */
    char *owner; /* [n][2 dims] the factor that has the link to it, FREE or ABSENT */
    int count;   /* factors */
    int *cycle;  /* [count][n] by a trace: the first vertex of each one's cycle */
    int *place;  /* [count][n] where it is in this; of a first vertex -1: switched since */
} links_t;

static int beside(const links_t *links, int v, int side)
{
    return links->beside[2 * (size_t) links->dims * (size_t) v + (size_t) side];
}

static char *owner(const links_t *links, int v, int side)
{
    return &links->owner[2 * (size_t) links->dims * (size_t) v + (size_t) side];
}

static void give(const links_t *links, int v, int side, int factor)
{
    *owner(links, v, side) = (char) factor;
    *owner(links, beside(links, v, side), side ^ 1) = (char) factor;
}

/* ---- cycles of a factor ---- */

/* A walk along a cycle. */
typedef struct {
    int factor, vertex;
    int side; /* where it goes on, -1: the vertex has no link of the factor */
} walk_t;

static int side_of(const links_t *links, int factor, int v, int back)
{
    const char *owners = owner(links, v, 0);
    int side = 2 * links->dims - 1;

    while (0 <= side && (factor != owners[side] || back == side)) {
        --side;
    }
    return side;
}

static walk_t walk_from(const links_t *links, int factor, int v)
{
    return (walk_t){.factor = factor, .vertex = v, .side = side_of(links, factor, v, -1)};
}

static void walk_on(const links_t *links, walk_t *walk)
{
    walk->vertex = beside(links, walk->vertex, walk->side);
    walk->side = side_of(links, walk->factor, walk->vertex, walk->side ^ 1);
}

static int trace_cycle(const links_t *links, int factor, int first)
{
    const size_t begin = (size_t) factor * (size_t) links->n;
    walk_t walk = walk_from(links, factor, first);
    int place = 0;

    if (0 > walk.side || 0 <= links->cycle[begin + (size_t) first]) {
        return 0;
    }
    do {
        links->cycle[begin + (size_t) walk.vertex] = first;
        links->place[begin + (size_t) walk.vertex] = place++;
        walk_on(links, &walk);
    } while (first != walk.vertex);
    return 1;
}

/* Traces all factors; how many cycles they have. */
static int trace(const links_t *links)
{
    int found = 0;

    memset(links->cycle, -1, (size_t) links->count * (size_t) links->n * sizeof(int));
    for (int factor = 0; factor < links->count; ++factor) {
        for (int v = 0; v < links->n; ++v) {
            found += trace_cycle(links, factor, v);
        }
    }
    return found;
}

/* ---- squares ---- */

/* A vertex and the sides of two links, which are those of a square if there is one. */
typedef struct {
    int vertex, across, down;
} spot_t;

/* The corners: p -- q and r -- s go across, p -- r and q -- s down. */
typedef struct {
    int p, q, r, s;
} square_t;

/* A change of the number of cycles that is not known, or none. */
#define UNKNOWN 2

static square_t square_at(const links_t *links, spot_t spot)
{
    const int q = beside(links, spot.vertex, spot.across);

    return (square_t){.p = spot.vertex,
                      .q = q,
                      .r = beside(links, spot.vertex, spot.down),
                      .s = beside(links, q, spot.down)};
}

/* Whether a cycle goes from u to v, which are neighbours in it, and not from v to u. */
static bool goes(const int *place, int u, int v)
{
    const int distance = place[v] - place[u];

    return 1 == distance || distance < -1;
}

/* How many cycles more a factor has if it has p -- r and q -- s in place of p -- q and r -- s. */
static int effect(const links_t *links, int factor, int p, int q, int r, int s)
{
    const int *cycle = links->cycle + (size_t) factor * (size_t) links->n;
    const int *place = links->place + (size_t) factor * (size_t) links->n;

    if (FREE == factor) {
        return 0;
    }
    if (0 > place[cycle[p]] || 0 > place[cycle[r]]) {
        return UNKNOWN;
    }
    if (cycle[p] != cycle[r]) {
        return -1;
    }
    return goes(place, p, q) == goes(place, r, s) ? 0 : 1;
}

static int gain(const links_t *links, spot_t spot)
{
    const int across = *owner(links, spot.vertex, spot.across);
    const int down = *owner(links, spot.vertex, spot.down);

    if (spot.across <= spot.down || across == down || ABSENT == across || ABSENT == down) {
        return UNKNOWN;
    }
    const square_t at = square_at(links, spot);
    return across == *owner(links, at.r, spot.across) && down == *owner(links, at.q, spot.down)
               ? effect(links, across, at.p, at.q, at.r, at.s)
                     + effect(links, down, at.p, at.r, at.q, at.s)
               : UNKNOWN;
}

/* The trace of a vertex's cycle does not hold any more. */
static void forget(const links_t *links, int factor, int v)
{
    const size_t begin = (size_t) factor * (size_t) links->n;

    if (FREE != factor) {
        links->place[begin + (size_t) links->cycle[begin + (size_t) v]] = -1;
    }
}

/* A second switch takes back the first one. */
static void switch_links(const links_t *links, spot_t spot)
{
    const int across = *owner(links, spot.vertex, spot.across);
    const int down = *owner(links, spot.vertex, spot.down);
    const square_t at = square_at(links, spot);

    forget(links, across, at.p);
    forget(links, across, at.r);
    forget(links, down, at.p);
    forget(links, down, at.q);
    give(links, at.p, spot.across, down);
    give(links, at.r, spot.across, down);
    give(links, at.p, spot.down, across);
    give(links, at.q, spot.down, across);
}

/* ---- search ---- */

static spot_t spot_of(const links_t *links, size_t number)
{
    const size_t dims = (size_t) links->dims;

    return (spot_t){.vertex = (int) (number / dims / dims),
                    .across = 2 * (int) (number / dims % dims) + 1,
                    .down = 2 * (int) (number % dims) + 1};
}

/* Switches squares that leave fewer cycles, as far as the trace tells; false: there are none. */
static bool join(const links_t *links)
{
    const int sides = 2 * links->dims;
    bool joined = false;

    for (int v = 0; v < links->n; ++v) {
        for (int across = 3; across < sides; across += 2) {
            for (int down = 1; down < across; down += 2) {
                const spot_t spot = {v, across, down};
                if (0 > gain(links, spot)) {
                    switch_links(links, spot);
                    joined = true;
                }
            }
        }
    }
    return joined;
}

/*
 * Switches the next square behind `number` that leaves as many cycles, instead of the one before it
 * if any has been tried since cycles were joined; false: all have been.
 */
static bool try_next(const links_t *links, size_t *number, size_t *tried)
{
    const size_t dims = (size_t) links->dims, spots = (size_t) links->n * dims * dims;

    if (0 < *tried) {
        switch_links(links, spot_of(links, *number));
        (void) trace(links);
    }
    while (spots > (*tried)++) {
        *number = (*number + 1) % spots;
        if (0 == gain(links, spot_of(links, *number))) {
            switch_links(links, spot_of(links, *number));
            return true;
        }
    }
    return false;
}

/* Makes each factor one cycle; false: not found. */
static bool search(const links_t *links)
{
    size_t visits = 0, number = 0, tried = 0;

    while (links->count < trace(links)) {
        visits += (size_t) links->count * (size_t) links->n;
        if (join(links)) {
            tried = 0;
        } else if (SEARCH_MOST < visits || !try_next(links, &number, &tried)) {
            return false;
        }
    }
    return true;
}

/* ---- one dimension after the other ---- */

/* Links of the vertices of a box, which are level with vertex 0 in other dimensions. */
typedef struct {
    links_t links;
    int vertices;
    int *vertex; /* [n] vertex 0 first */
} box_t;

/* Layers of a box with copies of the factors that it has. */
static void copy_layers(box_t *box, int dim, int layers)
{
    const links_t *links = &box->links;

    for (int i = 0, copies = box->vertices * (layers - 1); i < copies; ++i) {
        const int from = box->vertex[i], to = beside(links, from, 2 * dim + 1);
        memcpy(owner(links, to, 0), owner(links, from, 0), 2 * (size_t) links->dims);
        box->vertex[box->vertices++] = to;
    }
}

static int gcd(int a, int b)
{
    return 0 == b ? a : gcd(b, a % b);
}

/*
 * The first cycle in each layer, and the lines of the last factor, go along each other's links at
 * some of the diagonals. At every second one no square could be switched, which is right where
 * there are no other factors, as they are one cycle each then.
 */
static void wind(const links_t *links, int dim, int length, int layers)
{
    const int period = gcd(length, layers);
    walk_t walk = walk_from(links, 0, 0);

    for (int i = 0; i < length && (2 < links->count ? 2 : 1) < period; ++i) {
        int v = walk.vertex;
        const int side = walk.side;
        walk_on(links, &walk);
        for (int layer = 0; layer < layers; ++layer, v = beside(links, v, 2 * dim + 1)) {
            if (0 == (i + layer) % period) {
                give(links, v, side, links->count - 1);
                give(links, v, 2 * dim + 1, 0);
            }
        }
    }
}

/* False: cycles are not found. */
static bool add_dim(box_t *box, int dim, int layers, bool has_cycle)
{
    links_t *links = &box->links;
    const int length = box->vertices, factor = has_cycle ? links->count : FREE;

    copy_layers(box, dim, layers);
    for (int i = 0; i < box->vertices; ++i) {
        if (0 <= beside(links, box->vertex[i], 2 * dim + 1)) {
            give(links, box->vertex[i], 2 * dim + 1, factor);
        }
    }
    links->count += has_cycle;
    if (has_cycle && 1 < links->count) {
        wind(links, dim, length, layers);
    }
    return search(links);
}

/* Whether the extent of a dimension has no divisor with those of other closed ones in common. */
static bool is_alone(const mca_coll_pipering_extents_t *extents, int dim)
{
    int others = 1;

    for (int i = 0; i < extents->dims; ++i) {
        others *= i != dim && extents->closed[i] ? extents->extent[i] : 1;
    }
    return 1 == gcd(extents->extent[dim], others);
}

/*
 * Closed dimensions first; of these such as cannot be wound, while lines are few, then long ones.
 */
static bool comes_before(const mca_coll_pipering_extents_t *extents, int a, int b)
{
    const bool alone = is_alone(extents, a);

    if (extents->closed[a] != extents->closed[b]) {
        return extents->closed[a];
    }
    return alone != is_alone(extents, b) ? alone : extents->extent[a] > extents->extent[b];
}

static int next_dim(const mca_coll_pipering_extents_t *extents, const bool *added)
{
    int next = -1;

    for (int i = 0; i < extents->dims; ++i) {
        if (!added[i] && (0 > next || comes_before(extents, i, next))) {
            next = i;
        }
    }
    return next;
}

static bool add_all(box_t *box, const mca_coll_pipering_extents_t *extents, int count)
{
    bool added[MCA_COLL_PIPERING_MESH_DIMS] = {false}, found = true;

    for (int i = 0; found && i < extents->dims; ++i) {
        const int dim = next_dim(extents, added);
        added[dim] = true;
        found = add_dim(box, dim, extents->extent[dim], box->links.count < count);
    }
    return found;
}

/* ---- strips ---- */

/* Across the shortest even dimension, and along the longest one of the others. */
static void find_strips(const mca_coll_pipering_extents_t *extents, int *across, int *along)
{
    const int *extent = extents->extent;

    for (int i = 0; i < extents->dims; ++i) {
        const bool even = 0 == extent[i] % 2;
        *across = even && (0 > *across || extent[i] < extent[*across]) ? i : *across;
    }
    for (int i = 0; i < extents->dims; ++i) {
        *along = i != *across && (0 > *along || extent[i] > extent[*along]) ? i : *along;
    }
}

/* Without vertex 0 strips are across the last dimension in which they are not level with it. */
static void lay_strips(const links_t *links, const mca_coll_pipering_extents_t *extents, bool near)
{
    int at[MCA_COLL_PIPERING_MESH_DIMS], across = -1, along = -1;

    if (near) {
        along = 0;
    } else {
        find_strips(extents, &across, &along);
    }
    for (int v = 0; v < links->n; ++v) {
        mca_coll_pipering_coordinates(extents, v, at);
        for (int i = 0; near && i < extents->dims; ++i) {
            across = 0 == i || 0 < at[i] ? i : across;
        }
        const bool end = 0 == at[along] || at[along] == extents->extent[along] - 1;
        const bool tooth = near && 0 == across, toothed = near && 1 == across && 1 == at[1];
        for (int i = 0; i < extents->dims; ++i) {
            const bool odd = 1 == at[i] % 2;
            const bool taken = tooth        ? (0 == i && odd) || (1 == i && 0 < v)
                               : i == along ? !toothed || !odd
                                            : i == across && end && near == odd;
            if (0 <= beside(links, v, 2 * i + 1)) {
                give(links, v, 2 * i + 1, taken ? 0 : FREE);
            }
        }
    }
}

/* ---- any mesh ---- */

int mca_coll_pipering_cycles_count(const mca_coll_pipering_extents_t *extents)
{
    const int closed = mca_coll_pipering_closed(extents);
    const bool even = 0 == mca_coll_pipering_extents_product(extents) % 2;

    return 0 < closed ? closed : 1 < extents->dims && even;
}

size_t mca_coll_pipering_cycles_scratch(const mca_coll_pipering_extents_t *extents)
{
    return (size_t) mca_coll_pipering_extents_product(extents) * (size_t) extents->dims
           * (4 * sizeof(int) + 2);
}

static links_t bind(const mca_coll_pipering_extents_t *extents, int count, void *scratch)
{
    const int n = mca_coll_pipering_extents_product(extents);
    const size_t size = (size_t) n * (size_t) extents->dims;
    int *memory = scratch;
    const links_t links = {.n = n,
                           .dims = extents->dims,
                           .beside = memory,
                           .owner = (char *) (memory + 4 * size),
                           .count = count,
                           .cycle = memory + 2 * size,
                           .place = memory + 3 * size};

    memset(links.owner, ABSENT, 2 * size);
    for (int v = 0; v < n; ++v) {
        for (int i = 0; i < extents->dims; ++i) {
            *memory++ = mca_coll_pipering_neighbour(extents, v, i, -1);
            *memory++ = mca_coll_pipering_neighbour(extents, v, i, 1);
        }
    }
    return links;
}

static void write_cycle(const links_t *links, int factor, int first, int length, int *order)
{
    walk_t walk = walk_from(links, factor, first);

    for (int i = 0; i < length; ++i) {
        order[i] = walk.vertex;
        walk_on(links, &walk);
    }
}

/* Finds one cycle without a closed dimension, or as many as there may be. */
static bool find_cycles(const mca_coll_pipering_extents_t *extents, int count, int *order,
                        void *scratch, links_t *links)
{
    box_t box = {.links = bind(extents, 0, scratch), .vertices = 1, .vertex = order};

    if (0 == mca_coll_pipering_closed(extents)) {
        *links = bind(extents, 1, scratch);
        lay_strips(links, extents, false);
        return search(links);
    }
    order[0] = 0;
    const bool found = add_all(&box, extents, count);
    *links = box.links;
    return found;
}

int mca_coll_pipering_cycles(const mca_coll_pipering_extents_t *extents, int *order, void *scratch)
{
    links_t links;
    int count = mca_coll_pipering_cycles_count(extents);

    while (0 < count && !find_cycles(extents, count, order, scratch, &links)) {
        --count;
    }
    for (int factor = 0; factor < count; ++factor) {
        write_cycle(&links, factor, 0, links.n, order + (size_t) factor * (size_t) links.n);
    }
    return count;
}

bool mca_coll_pipering_near_cycle(const mca_coll_pipering_extents_t *extents, int *order,
                                  void *scratch)
{
    const links_t links = bind(extents, 1, scratch);

    lay_strips(&links, extents, true);
    const bool found = search(&links);
    if (found) {
        write_cycle(&links, 0, 1, links.n - 1, order);
    }
    return found;
}
