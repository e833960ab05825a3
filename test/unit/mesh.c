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
 * Meshes: extents as text, coordinates, boxes against a search for holes; and for all meshes and
 * tori of up to 6 x 6 x 6 and all roots that trees span all ranks, that neither trees nor paths
 * share an arc, and that paths have one neighbour in, with several ranks a vertex too.
 */

#include <string.h>

#include "coll_pipering_plan_mesh.h"
#include "tap.h"

#define MOST_VERTICES 216
#define MOST_RANKS 800
#define MOST_TREES (2 * MCA_COLL_PIPERING_MESH_DIMS)

/* A mesh of ranks dealt out to its vertices. */
typedef struct {
    mca_coll_pipering_mesh_t mesh;
    void *memory;
    char text[64];
} instance_t;

static mca_coll_pipering_extents_t roll_extents(int dims, int most)
{
    mca_coll_pipering_extents_t extents = {.dims = dims};

    for (int i = 0; i < dims; i++) {
        extents.extent[i] = tap_between(1, most);
        extents.closed[i] = tap_once_in(2);
    }
    return extents;
}

/* ---- text ---- */

static void test_text(void)
{
    static const char *const bad[] = {"",     "x",   "4x",  "x4",   "4xx4",    "4,4", "t4",
                                      "4tt",  "0x4", "-4",  "4x 4", "4x4x",    "4.5", "tx",
                                      "1x1x1x1x1x1x1x1x1", "99999x99999", "16777217"};
    mca_coll_pipering_extents_t extents = {.dims = 77};
    tap_tally_t refused = {0, 0}, same = {0, 0};
    char text[128], again[128];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *fault = mca_coll_pipering_extents_read(&extents, bad[i]);
        tap_try(&refused, NULL != fault && 77 == extents.dims, "\"%s\"", bad[i]);
    }
    tally_ok(&refused, 17, "text that is no mesh is refused, and nothing is set");
    for (int i = 0; i < 500; i++) {
        const mca_coll_pipering_extents_t rolled = roll_extents(tap_between(1, 8), 7);
        mca_coll_pipering_extents_write(&rolled, text, sizeof(text));
        const bool read = NULL == mca_coll_pipering_extents_read(&extents, text);
        mca_coll_pipering_extents_write(&extents, again, sizeof(again));
        tap_try(&same, read && 0 == strcmp(text, again)
                           && mca_coll_pipering_extents_product(&extents)
                                  == mca_coll_pipering_extents_product(&rolled),
                "%s", text);
    }
    tally_ok(&same, 500, "extents are read as they are written");
}

/* ---- coordinates and neighbours ---- */

static void test_coordinates(void)
{
    tap_tally_t order = {0, 0}, steps = {0, 0};

    for (int i = 0; i < 200; i++) {
        const mca_coll_pipering_extents_t extents = roll_extents(tap_between(1, 4), 5);
        const int n = mca_coll_pipering_extents_product(&extents);
        int at[MCA_COLL_PIPERING_MESH_DIMS], next[MCA_COLL_PIPERING_MESH_DIMS];

        for (int v = 0; v < n; v++) {
            mca_coll_pipering_coordinates(&extents, v, at);
            mca_coll_pipering_coordinates(&extents, (v + 1) % n, next);
            const int last = extents.dims - 1;
            tap_try(&order, v == mca_coll_pipering_vertex_at(&extents, at)
                                && next[last] == (at[last] + 1) % extents.extent[last],
                    "vertex %d of %d", v, n);
            for (int dim = 0; dim < extents.dims; dim++) {
                const int to = mca_coll_pipering_neighbour(&extents, v, dim, 1);
                const bool end = at[dim] == extents.extent[dim] - 1;
                tap_try(&steps, end && !extents.closed[dim]
                                    ? -1 == to
                                    : v == mca_coll_pipering_neighbour(&extents, to, dim, -1),
                        "vertex %d of %d, dimension %d", v, n, dim);
            }
        }
    }
    tally_ok(&order, 500, "the last coordinate changes first");
    tally_ok(&steps, 1000, "a step and one back lead to the same vertex, but at open ends");
}

/* ---- boxes ---- */

/* Whether a box of these extents from `from` on has exactly the marked vertices. */
static bool is_box(const mca_coll_pipering_extents_t *machine, const char *marked, const int *from,
                   const int *extent)
{
    for (int v = 0; v < mca_coll_pipering_extents_product(machine); v++) {
        int at[MCA_COLL_PIPERING_MESH_DIMS];
        bool inside = true;
        mca_coll_pipering_coordinates(machine, v, at);
        for (int i = 0; i < machine->dims; i++) {
            const int n = machine->extent[i], ahead = at[i] - from[i];
            inside &= (machine->closed[i] ? (ahead + n) % n : ahead) < extent[i] && 0 <= ahead + n
                      && (machine->closed[i] || 0 <= ahead);
        }
        if (inside != (0 != marked[v])) {
            return false;
        }
    }
    return true;
}

/* Looks at all boxes there are; the number of vertices of one that fits, 0: none does. */
static int find_box(const mca_coll_pipering_extents_t *machine, const char *marked)
{
    const int n = mca_coll_pipering_extents_product(machine);

    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            int from[MCA_COLL_PIPERING_MESH_DIMS], extent[MCA_COLL_PIPERING_MESH_DIMS];
            int product = 1;
            mca_coll_pipering_coordinates(machine, a, from);
            mca_coll_pipering_coordinates(machine, b, extent);
            for (int i = 0; i < machine->dims; i++) {
                product *= ++extent[i];
            }
            if (is_box(machine, marked, from, extent)) {
                return product;
            }
        }
    }
    return 0;
}

static void roll_marks(const mca_coll_pipering_extents_t *machine, char *marked)
{
    const int n = mca_coll_pipering_extents_product(machine);
    int from[MCA_COLL_PIPERING_MESH_DIMS], at[MCA_COLL_PIPERING_MESH_DIMS];

    memset(marked, 0, (size_t) n);
    mca_coll_pipering_coordinates(machine, (int) tap_below((uint64_t) n), from);
    mca_coll_pipering_extents_t box = *machine;
    for (int i = 0; i < machine->dims; i++) {
        box.extent[i] = tap_between(1, machine->extent[i]);
    }
    for (int v = 0; v < mca_coll_pipering_extents_product(&box); v++) {
        mca_coll_pipering_coordinates(&box, v, at);
        for (int i = 0; i < machine->dims; i++) {
            at[i] = (at[i] + from[i]) % machine->extent[i];
        }
        marked[mca_coll_pipering_vertex_at(machine, at)] = 1;
    }
    if (tap_once_in(3)) {
        marked[tap_below((uint64_t) n)] ^= 1;
    }
}

/* Ranks in random order at all marked vertices; how many. */
static int deal(const char *marked, int n, int *at)
{
    int p = 0;

    for (int v = 0; v < n; v++) {
        for (int k = marked[v] ? tap_between(1, 3) : 0; 0 < k; k--) {
            const int other = (int) tap_below((uint64_t) p + 1);
            at[p] = p == other ? v : at[other];
            at[other] = v;
            p++;
        }
    }
    return p;
}

static bool is_sound(const mca_coll_pipering_mesh_t *mesh,
                     const mca_coll_pipering_extents_t *machine, const int *at)
{
    for (int i = 0; i < mesh->extents.dims; i++) {
        if (2 + mesh->extents.closed[i] > mesh->extents.extent[i]) {
            return false;
        }
    }
    for (int a = 0; a < mesh->ranks; a++) {
        bool listed = false;
        const int v = mesh->vertex_of[a];
        for (int k = mesh->first[v]; k < mesh->first[v + 1]; k++) {
            listed |= a == mesh->rank[k];
        }
        if (!listed || mesh->rank[mesh->first[v]] > a) {
            return false;
        }
        for (int i = 0; i < mesh->extents.dims; i++) {
            const int w = mca_coll_pipering_neighbour(&mesh->extents, v, i, 1);
            bool joined = 0 > w;
            for (int j = 0; !joined && j < machine->dims; j++) {
                const int b = at[mesh->rank[mesh->first[w]]];
                joined = b == mca_coll_pipering_neighbour(machine, at[a], j, 1);
            }
            if (!joined) {
                return false;
            }
        }
    }
    return true;
}

static void test_boxes(void)
{
    tap_tally_t found = {0, 0}, sound = {0, 0};
    char marked[256], text[64];
    int at[768], scratch[8];

    for (int i = 0; i < 1500; i++) {
        const mca_coll_pipering_extents_t machine = roll_extents(tap_between(1, 3), 5);
        const int n = mca_coll_pipering_extents_product(&machine);
        mca_coll_pipering_mesh_t mesh;
        roll_marks(&machine, marked);
        const int p = deal(marked, n, at);
        if (0 == p) {
            continue;
        }
        void *memory = tap_memory(mca_coll_pipering_mesh_size(p));
        mca_coll_pipering_mesh_bind(&mesh, p, memory);
        const bool filled = mca_coll_pipering_mesh_fill(&mesh, &machine, at, scratch);
        const int vertices = find_box(&machine, marked);
        tap_try(&found, filled ? vertices == mesh.vertices : 2 > vertices, "%s, %d ranks, %d",
                mca_coll_pipering_extents_write(&machine, text, sizeof(text)), p, vertices);
        if (filled) {
            tap_try(&sound, is_sound(&mesh, &machine, at), "%s, %d ranks", text, p);
        }
        free(memory);
    }
    tally_ok(&found, 1000, "boxes are found where there are any");
    tally_ok(&sound, 300, "neighbours in a box are neighbours in the machine, ranks are listed");
}

/* ---- trees and paths ---- */

static void open_instance(instance_t *in, const mca_coll_pipering_extents_t *extents, int ranks)
{
    const int n = mca_coll_pipering_extents_product(extents);
    int at[MOST_RANKS], p = 0;
    int scratch[8];

    for (int k = 0; k < ranks; k++) {
        for (int v = 0; v < n; v++) {
            at[p++] = 0 == k % 2 ? v : n - 1 - v;
        }
    }
    in->memory = tap_memory(mca_coll_pipering_mesh_size(p));
    mca_coll_pipering_mesh_bind(&in->mesh, p, in->memory);
    if (!mca_coll_pipering_mesh_fill(&in->mesh, extents, at, scratch)) {
        tap_bail("a whole mesh is no box");
    }
    mca_coll_pipering_extents_write(extents, in->text, sizeof(in->text));
}

/* The dimension and the direction of the arc from one vertex to a neighbour, -1: it is none. */
static int arc_of(const mca_coll_pipering_extents_t *extents, int from, int to)
{
    for (int i = 0; i < extents->dims; i++) {
        for (int side = 0; side < 2; side++) {
            if (to == mca_coll_pipering_neighbour(extents, from, i, side ? 1 : -1)) {
                return 2 * i + side;
            }
        }
    }
    return -1;
}

/* What streams of one kind have taken so far. */
typedef struct {
    char arc[MOST_VERTICES][2 * MCA_COLL_PIPERING_MESH_DIMS];
    int depth; /* hops between vertices of the longest way */
    int joints; /* vertices that have two neighbours on other vertices away from the root */
} taken_t;

/* One stream: links have two ends, all ranks are under the root, arcs of the mesh are free. */
static bool take_stream(const instance_t *in, const mca_coll_pipering_branch_t *branch, int root,
                        bool upward, taken_t *taken)
{
    const mca_coll_pipering_mesh_t *mesh = &in->mesh;
    int depth[MOST_RANKS], queue[MOST_RANKS], count = 1;

    queue[0] = root;
    depth[root] = 0;
    if (-1 != branch[root].up) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        const int rank = queue[i], v = mesh->vertex_of[rank];
        int far = 0;
        for (int k = 0; k < branch[rank].downs; k++) {
            const int down = branch[rank].down[k], w = mesh->vertex_of[down];
            if (rank != branch[down].up || count == mesh->ranks) {
                return false;
            }
            depth[down] = depth[rank] + (v != w);
            taken->depth = depth[down] > taken->depth ? depth[down] : taken->depth;
            queue[count++] = down;
            const int arc = arc_of(&mesh->extents, upward ? w : v, upward ? v : w);
            if (v != w && (0 > arc || 0 != taken->arc[upward ? w : v][arc]++)) {
                return false;
            }
            far += v != w;
        }
        taken->joints += 1 < far;
    }
    return count == mesh->ranks;
}

static bool spans(const instance_t *in, int root)
{
    static mca_coll_pipering_branch_t branch[MOST_RANKS];
    const mca_coll_pipering_mesh_t *mesh = &in->mesh;
    taken_t taken;

    memset(&taken, 0, sizeof(taken));
    for (int which = 0; which < mca_coll_pipering_trees_count(&mesh->extents); which++) {
        for (int r = 0; r < mesh->ranks; r++) {
            mca_coll_pipering_mesh_tree(&branch[r], mesh, which, root, r);
        }
        if (!take_stream(in, branch, root, false, &taken)) {
            return false;
        }
    }
    return taken.depth == mca_coll_pipering_trees_depth(&mesh->extents, mesh->vertex_of[root]);
}

/* A cycle of the mesh, through all vertices or all but the first one; false: there is none. */
static bool find_cycle(const mca_coll_pipering_mesh_t *mesh, mca_coll_pipering_cycle_t *cycle,
                       int *vertex, int *place)
{
    void *scratch = tap_memory(mca_coll_pipering_cycles_scratch(&mesh->extents));
    const int n = mesh->vertices;

    cycle->length = n;
    if (0 == mca_coll_pipering_cycles_count(&mesh->extents)) {
        cycle->length = 1 < mesh->extents.dims
                                && mca_coll_pipering_near_cycle(&mesh->extents, vertex, scratch)
                            ? n - 1
                            : 0;
    } else {
        (void) mca_coll_pipering_cycles(&mesh->extents, vertex, scratch);
    }
    free(scratch);
    memset(place, -1, (size_t) n * sizeof(int));
    for (int i = 0; i < cycle->length; i++) {
        place[vertex[i]] = i;
    }
    cycle->vertex = vertex;
    cycle->place = place;
    return 0 < cycle->length;
}

static bool leads(const instance_t *in, const mca_coll_pipering_cycle_t *cycle, int root)
{
    static mca_coll_pipering_branch_t branch[MOST_RANKS];
    const mca_coll_pipering_mesh_t *mesh = &in->mesh;
    taken_t taken;

    memset(&taken, 0, sizeof(taken));
    for (int which = 0; which < 2; which++) {
        for (int r = 0; r < mesh->ranks; r++) {
            mca_coll_pipering_mesh_path(&branch[r], mesh, cycle, which, root, r);
        }
        if (!take_stream(in, branch, root, true, &taken)) {
            return false;
        }
    }
    return taken.joints <= (cycle->length < mesh->vertices && 0 != mesh->vertex_of[root] ? 2 : 0);
}

static void try_mesh(const mca_coll_pipering_extents_t *extents, int ranks, tap_tally_t *trees,
                     tap_tally_t *paths)
{
    int vertex[MOST_VERTICES * MCA_COLL_PIPERING_MESH_DIMS], place[MOST_VERTICES];
    mca_coll_pipering_cycle_t cycle;
    instance_t in;

    open_instance(&in, extents, ranks);
    const bool round = find_cycle(&in.mesh, &cycle, vertex, place);
    const int every = in.mesh.ranks > 80 ? 23 : 1;
    for (int root = 0; root < in.mesh.ranks; root += every) {
        tap_try(trees, spans(&in, root), "%s, %d ranks each, root %d", in.text, ranks, root);
        if (round) {
            tap_try(paths, leads(&in, &cycle, root), "%s, %d ranks each, root %d", in.text, ranks,
                    root);
        }
    }
    free(in.memory);
}

/* All meshes of up to three dimensions; the number of ways to close dimensions is 2 to the dims. */
static void test_streams(void)
{
    tap_tally_t trees = {0, 0}, paths = {0, 0};

    for (int code = 0; code < 6 * 6 * 6 * 8; code++) {
        const int extent[] = {1 + code % 6, 1 + code / 6 % 6, 1 + code / 36 % 6};
        mca_coll_pipering_extents_t extents = {.dims = 0};
        bool right = true;
        for (int i = 0; i < 3; i++) {
            const bool closed = 0 != (code / 216 >> i) % 2;
            right &= !closed || 2 < extent[i];
            if (1 < extent[i]) {
                extents.closed[extents.dims] = closed;
                extents.extent[extents.dims++] = extent[i];
            }
        }
        /* dimensions of one vertex come first only, so that each mesh is tried once */
        right &= (1 < extent[1] || 1 == extent[0]) && 1 < extent[2];
        if (right) {
            const int n = mca_coll_pipering_extents_product(&extents);
            try_mesh(&extents, 1, &trees, &paths);
            if (n <= 30) {
                try_mesh(&extents, tap_between(2, 4), &trees, &paths);
            }
        }
    }
    for (int i = 0; i < 30; i++) {
        mca_coll_pipering_extents_t extents = {.dims = 4};
        for (int k = 0; k < extents.dims; k++) {
            extents.extent[k] = tap_between(2, 3);
            extents.closed[k] = 2 < extents.extent[k] && tap_once_in(2);
        }
        try_mesh(&extents, 1, &trees, &paths);
    }
    tally_ok(&trees, 10000, "trees span all ranks, share no arc, are as deep as the model says");
    tally_ok(&paths, 10000, "paths pass all ranks, share no arc, have one neighbour in, or two");
}

/* ---- rings ---- */

static void test_rings(void)
{
    const mca_coll_pipering_extents_t extents = {.dims = 2, .extent = {4, 3}, .closed = {true}};
    int vertex[12 * MCA_COLL_PIPERING_MESH_DIMS], place[12], wrong = 0;
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_cycle_t cycle;
    instance_t in;

    open_instance(&in, &extents, 3);
    (void) find_cycle(&in.mesh, &cycle, vertex, place);
    void *memory = tap_memory(mca_coll_pipering_ring_size(in.mesh.ranks));
    mca_coll_pipering_ring_bind(&ring, in.mesh.ranks, memory);
    for (int against = 0; against < 2; against++) {
        mca_coll_pipering_mesh_ring(&ring, &in.mesh, vertex, against);
        for (int x = 0; x < ring.size; x++) {
            const int v = in.mesh.vertex_of[ring.rank[x]];
            wrong += x != ring.position[ring.rank[x]] || ring.node[x] != x / 3
                     || v != vertex[against ? 11 - x / 3 : x / 3];
        }
        for (int j = 0; j <= 12; j++) {
            wrong += 3 * j != ring.first[j];
        }
    }
    is(wrong, 0, "a ring goes along a cycle, or against it, the ranks of a vertex together");
    free(memory);
    free(in.memory);
}

/* ---- the model ---- */

static void test_model(void)
{
    const mca_coll_pipering_link_cost_t link = {.alpha = 5e-6, .beta = 8e-9, .latency = 20e-6,
                                                .overlap = true, .gap = 1e-6};
    mca_coll_pipering_streams_problem_t problem = {.streams = 1, .hops = 6, .passes = 1,
                                                   .bytes = 1 << 24,
                                                   .cost = {.net = link, .local = link}};
    const size_t one_block = mca_coll_pipering_streams_search(&problem);
    const double one = mca_coll_pipering_streams_time(&problem, one_block);

    problem.streams = 4;
    const double four = mca_coll_pipering_streams_time(&problem,
                                                       mca_coll_pipering_streams_search(&problem));
    ok(one >= (1 << 24) * link.beta && 3.5 * four < one && 4.01 * four > one,
       "four streams take about a fourth of the time of one: %g s, %g s", four, one);
    problem.combine = 1e-6;
    ok((1 << 24) * 1e-6 <= mca_coll_pipering_streams_time(&problem, one_block),
       "unless what ranks combine takes longer");
    problem.bytes = 0;
    ok(0 == mca_coll_pipering_streams_time(&problem, 1), "no bytes take no time");
}

int main(void)
{
    tap_start();
    alarm(300);
    test_text();
    test_coordinates();
    test_boxes();
    test_streams();
    test_rings();
    test_model();
    return tap_end();
}
