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
 * Rows of algorithms along a mesh: streams of a vector along trees or paths, contributions or
 * chunks of a vector along Hamiltonian cycles, in both directions of each, and short vectors along
 * lines.
 *
 *     mesh_trees    bcast, reduce                as many streams as trees
 *     mesh_path     reduce                       two streams, in opposite directions
 *                   allreduce                    one to the root, and its results back
 *     mesh_cycles   allgather(v), allreduce      a ring, or two after each other, in each direction
 *     mesh_lines    allreduce                    messages in rounds
 *
 * A line has no cycle: its path is its one tree. Values are combined in the order of vertices, so
 * operations must commute; where bits count, the mesh and the root alone set the order.
 *
 * Lines are forced only: where a link carries what it is sent without a multicast, fewer messages
 * were as fast (docs/mesh.md).
 *
 * Almasi et al., sections 3.1 and 3.2.
 */

#include "coll_pipering_mesh.h"

#include "coll_pipering_plan_mesh_lines.h"
#include "coll_pipering_ways.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_chain.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_cost.h"

/* Between nodes, or between ranks of the only node. */
static mca_coll_pipering_cost_t cost_of(const mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_cost_t cost = draft->cost;

    cost.net = 1 < draft->at.nodes ? cost.net : cost.local;
    return cost;
}

static bool spreads_only(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_BCAST == draft->plan->key.collective;
}

/* ---- streams along trees and paths ---- */

/* Block size and modelled time of streams that are routed. */
static void size_streams(mca_coll_pipering_draft_t *draft,
                         const mca_coll_pipering_streams_problem_t *streams)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_set_blocks(draft, mca_coll_pipering_streams_search(streams));
    const size_t block = plan->block_size * plan->key.sizes.unit;
    const size_t blocks = mca_coll_pipering_blocks(plan->total, block);
    plan->time = mca_coll_pipering_streams_time(streams, block);
    plan->rounds = mca_coll_pipering_stages(
        (uint64_t) (streams->passes * (streams->hops + streams->inside)),
        mca_coll_pipering_blocks(blocks, (size_t) streams->streams));
}

/* Whether streams share links, which they do within a vertex only. */
static bool shares_links(const mca_coll_pipering_draft_t *draft)
{
    return draft->at.ways->mesh.vertices < draft->at.ranks;
}

/* Routes one stream of several along a branch. */
static void route_branch(mca_coll_pipering_draft_t *draft, int pipe,
                         const mca_coll_pipering_branch_t *branch, bool collect, int part,
                         int parts)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_route_t *route = &plan->route[pipe];

    if (collect) {
        mca_coll_pipering_route_collect(route, &plan->ring, branch->up, branch->down,
                                        branch->downs, 0);
    } else {
        mca_coll_pipering_route_spread(route, &plan->ring, branch->up, branch->down,
                                       branch->downs);
    }
    mca_coll_pipering_route_part(route, part, parts);
    mca_coll_pipering_route_shift_tags(route, shares_links(draft) ? part : 0);
}

static void decide_mesh_trees(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_mesh_t *mesh = &draft->at.ways->mesh;
    const int trees = mca_coll_pipering_trees_count(&mesh->extents), root = plan->key.root;
    const mca_coll_pipering_streams_problem_t streams
        = {.streams = trees,
           .hops = mca_coll_pipering_trees_depth(&mesh->extents, mesh->vertex_of[root]),
           .inside = mca_coll_pipering_mesh_inside(mesh),
           .passes = 1,
           .bytes = plan->total,
           /* a vertex may have to combine what comes in over all of its links */
           .combine = spreads_only(draft) ? 0
                                          : draft->combine * 2 * mesh->extents.dims / trees,
           .cost = cost_of(draft)};

    mca_coll_pipering_place_alone(plan);
    plan->pipes = trees;
    size_streams(draft, &streams);
}

static bool has_paths(const mca_coll_pipering_draft_t *draft)
{
    return 0 < draft->at.ways->cycle.length;
}

static void find_branch(const mca_coll_pipering_draft_t *draft, int which,
                        mca_coll_pipering_branch_t *branch)
{
    const mca_coll_pipering_ways_t *ways = draft->at.ways;
    const int root = draft->plan->key.root;

    if (MCA_COLL_PIPERING_MESH_PATH == draft->plan->row->algorithm && has_paths(draft)) {
        mca_coll_pipering_mesh_path(branch, &ways->mesh, &ways->cycle, which, root, draft->at.me);
    } else {
        mca_coll_pipering_mesh_tree(branch, &ways->mesh, which, root, draft->at.me);
    }
}

/* An allreduce goes to the root and back. */
static bool goes_back(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_ALLREDUCE == draft->plan->key.collective;
}

/* Along trees or paths. */
static void route_streams(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const int streams = goes_back(draft) ? 1 : plan->pipes;
    mca_coll_pipering_branch_t branch;

    for (int i = 0; i < streams; ++i) {
        find_branch(draft, i, &branch);
        route_branch(draft, i, &branch, !spreads_only(draft), i, streams);
    }
    if (goes_back(draft)) {
        route_branch(draft, 1, &branch, false, 0, 1);
        plan->route[1].gate = 0;
    }
}

/* Both arcs of each link are taken by two paths to the root, or by one there and back. */
static void decide_mesh_path(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_mesh_t *mesh = &draft->at.ways->mesh;
    const int paths = !goes_back(draft) && has_paths(draft) ? 2 : 1;
    const int hops = has_paths(draft)
                         ? mesh->vertices - 1
                         : mca_coll_pipering_trees_depth(&mesh->extents,
                                                         mesh->vertex_of[plan->key.root]);
    const mca_coll_pipering_streams_problem_t streams
        = {.streams = paths,
           .hops = hops,
           .inside = mca_coll_pipering_mesh_inside(mesh),
           .passes = goes_back(draft) ? 2 : 1,
           .bytes = plan->total,
           .combine = draft->combine,
           .cost = cost_of(draft)};

    mca_coll_pipering_place_alone(plan);
    plan->pipes = goes_back(draft) ? 2 : paths;
    size_streams(draft, &streams);
}

/* ---- cycles ---- */

static bool has_cycles(const mca_coll_pipering_draft_t *draft)
{
    return 0 < draft->at.ways->cycles;
}

static bool can_scatter_along_cycles(const mca_coll_pipering_draft_t *draft)
{
    return has_cycles(draft) && mca_coll_pipering_can_scatter(draft);
}

/* Rings along and against each cycle. */
static int count_rings(const mca_coll_pipering_ways_t *ways)
{
    return 2 * ways->cycles;
}

/*
 * Makes a route one with a part of all there is, with tags of its own if it shares links with the
 * routes before it.
 */
static void take_part(mca_coll_pipering_plan_t *plan, int pipe, int part, int parts, bool shares)
{
    mca_coll_pipering_route_t *route = &plan->route[pipe];

    mca_coll_pipering_route_part(route, part, parts);
    if (shares && 0 < pipe) {
        mca_coll_pipering_route_shift_tags(route, plan->route[pipe - 1].tags);
    }
}

static void route_gather_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    for (int i = 0; i < plan->pipes; ++i) {
        mca_coll_pipering_route(&plan->route[i], &draft->at.ways->ring[i], draft->at.me);
        take_part(plan, i, i, plan->pipes, shares_links(draft));
    }
}

/* A part of each chunk along each ring: combined on the way to its rank, then gathered. */
static void route_scatter_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const int rings = plan->pipes / 2;

    for (int i = 0; i < rings; ++i) {
        mca_coll_pipering_route_scatter(&plan->route[2 * i], &draft->at.ways->ring[i],
                                        draft->at.me);
        take_part(plan, 2 * i, i, rings, shares_links(draft));
        mca_coll_pipering_route(&plan->route[2 * i + 1], &draft->at.ways->ring[i], draft->at.me);
        take_part(plan, 2 * i + 1, i, rings, true);
        plan->route[2 * i + 1].gate = 2 * i;
    }
}

/*
 * A ring with its part of the contributions, for the model. The processor of a rank handles
 * blocks of all rings while each link sends those of one.
 */
static void pose_problem(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t rings = (size_t) count_rings(draft->at.ways);
    size_t *bytes = plan->starts; /* which a gather has no other use for */

    for (int r = 0; r < draft->at.ranks; ++r) {
        bytes[r] = mca_coll_pipering_blocks(plan->bytes[r], rings);
    }
    draft->problem.ring = &plan->ring;
    draft->problem.bytes = bytes;
    draft->problem.cost = cost_of(draft);
    if (draft->problem.cost.net.overlap) {
        draft->problem.cost.net.alpha *= (double) rings;
    }
}

static void decide_gather_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->ring = draft->at.ways->ring[0];
    pose_problem(draft);
    const size_t given = mca_coll_pipering_given_block(draft);
    (void) mca_coll_pipering_set_blocks(
        draft, 0 < given ? given : mca_coll_pipering_search(&draft->problem));
    plan->rounds = mca_coll_pipering_model_rounds(&draft->problem, plan->block_size);
    plan->time = mca_coll_pipering_time(&draft->problem, plan->block_size);
    draft->problem.bytes = plan->bytes;
    draft->problem.cost = draft->cost;
    plan->equation2 = mca_coll_pipering_equation2(&draft->problem);
    plan->pipes = count_rings(draft->at.ways);
}

static void decide_scatter_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const int rings = count_rings(draft->at.ways);
    const size_t chunk = mca_coll_pipering_place_chunks(plan, draft->at.ranks);
    mca_coll_pipering_ring_allreduce_problem_t ring
        = {.ranks = draft->at.ranks,
           .nodes = draft->at.ways->mesh.vertices,
           .least = draft->at.ranks / draft->at.ways->mesh.vertices,
           .bytes = mca_coll_pipering_blocks(chunk, (size_t) rings),
           .larger = draft->at.ranks,
           .combine = draft->combine * rings,
           .cost = cost_of(draft)};

    plan->ring = draft->at.ways->ring[0];
    if (ring.cost.net.overlap) {
        ring.cost.net.alpha *= rings;
    }
    mca_coll_pipering_set_blocks(draft, mca_coll_pipering_ring_allreduce_search(&ring));
    const size_t block = plan->block_size * plan->key.sizes.unit;
    plan->time = mca_coll_pipering_ring_allreduce_time(&ring, block);
    plan->rounds = 2 * (uint64_t) (draft->at.ranks - 1)
                   * mca_coll_pipering_blocks(ring.bytes, block);
    plan->pipes = 2 * rings;
}

/* ---- lines ---- */

static bool can_go_along_lines(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_can_reorder(draft)
           && MCA_COLL_PIPERING_LINES_MOST >= draft->plan->total
           && mca_coll_pipering_lines_fit(&draft->at.ways->mesh);
}

static mca_coll_pipering_lines_t lines_of(const mca_coll_pipering_draft_t *draft)
{
    return (mca_coll_pipering_lines_t){.mesh = &draft->at.ways->mesh,
                                       .group = MCA_COLL_PIPERING_LINES_GROUP,
                                       .me = draft->at.me};
}

/* By rank 0, so that ranks in groups of other sizes plan alike. */
static void decide_mesh_lines(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    mca_coll_pipering_lines_t lines = lines_of(draft);

    lines.me = 0;
    const mca_coll_pipering_lines_problem_t problem
        = {.lines = &lines,
           .bytes = plan->total,
           .combine = draft->combine,
           .cost = 1 < draft->at.nodes ? draft->cost.net : draft->cost.local};
    mca_coll_pipering_place_alone(plan);
    plan->block_size = plan->largest;
    plan->rounds = (uint64_t) mca_coll_pipering_lines_phases(&lines, phase);
    plan->time = mca_coll_pipering_lines_time(&problem);
}

static void count_lines(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_lines_t lines = lines_of(draft);
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    const int count = mca_coll_pipering_lines_phases(&lines, phase);

    for (int i = 0; i < count; ++i) {
        plan->out += (uint64_t) phase[i].sends;
        plan->in += (uint64_t) phase[i].parts - 1;
        for (int part = 0; part < phase[i].parts; ++part) {
            const int from = mca_coll_pipering_lines_from(&lines, &phase[i], part);
            plan->in_from_network += draft->at.node_of[from] == draft->at.node_of[draft->at.me]
                                         ? 0
                                         : plan->total;
        }
    }
}

void mca_coll_pipering_mesh_room(const mca_coll_pipering_ways_t *ways, int *pipes, int *links)
{
    const int trees = mca_coll_pipering_trees_count(&ways->mesh.extents);
    const int rings = 2 * count_rings(ways); /* there and back */

    *pipes = 2 < trees ? trees : 2;
    *pipes = *pipes < rings ? rings : *pipes;
    *links = 2 * ways->mesh.extents.dims + 1;
}

/* ---- rows ---- */

#define CYCLES                                                              \
    .algorithm = MCA_COLL_PIPERING_MESH_CYCLES, .value = "mesh_cycles",     \
    .text = "cycles of a mesh", .along_mesh = true

/* Of each gather. */
#define GATHER_CYCLES                                                       \
    CYCLES,                                                                 \
    .help = "parts along each Hamiltonian cycle of a mesh, both ways; without one: ring", \
    .instead = MCA_COLL_PIPERING_RING,                                      \
    .decide = decide_gather_cycles, .route = route_gather_cycles, .can = has_cycles

/* Of a broadcast and a reduction. */
#define TREES                                                               \
    .algorithm = MCA_COLL_PIPERING_MESH_TREES, .value = "mesh_trees",       \
    .text = "trees of a mesh", .instead = MCA_COLL_PIPERING_PIPELINE,       \
    .along_mesh = true,                                                     \
    .decide = decide_mesh_trees, .route = route_streams

/*
 * Of a reduction, and of one to all. The neighbours away from the root are the next vertex, that
 * which is on no cycle, and a rank of the own vertex; on a line both neighbours and that rank.
 */
#define PATH                                                                \
    .algorithm = MCA_COLL_PIPERING_MESH_PATH, .value = "mesh_path",         \
    .along_mesh = true,                                                     \
    .decide = decide_mesh_path, .route = route_streams, .can = mca_coll_pipering_can_reorder

const mca_coll_pipering_row_t mca_coll_pipering_mesh_rows[MCA_COLL_PIPERING_MESH_ROWS] = {
    {.collective = MCA_COLL_PIPERING_ALLGATHERV, GATHER_CYCLES},
    {.collective = MCA_COLL_PIPERING_ALLGATHER, GATHER_CYCLES},
    {.collective = MCA_COLL_PIPERING_BCAST,
     TREES,
     .help = "parts down spanning trees of a mesh that share no link; without one: pipeline"},
    {.collective = MCA_COLL_PIPERING_REDUCE,
     PATH,
     .help = "halves along a Hamiltonian cycle of a mesh, one each way; without one, or with an "
             "operation that does not commute: pipeline",
     .text = "paths of a mesh",
     .instead = MCA_COLL_PIPERING_PIPELINE},
    {.collective = MCA_COLL_PIPERING_REDUCE,
     TREES,
     .help = "parts up spanning trees of a mesh that share no link; likewise",
     .can = mca_coll_pipering_can_reorder},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE,
     PATH,
     .help = "along a Hamiltonian path of a mesh to its root, and back; without one, or with an "
             "operation that does not commute: merged",
     .text = "path of a mesh, there and back",
     .instead = MCA_COLL_PIPERING_MERGED},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE,
     CYCLES,
     .help = "parts of a reduce-scatter, then an allgather, along each Hamiltonian cycle of a "
             "mesh, both ways; likewise",
     .instead = MCA_COLL_PIPERING_MERGED,
     .scatters = true,
     .decide = decide_scatter_cycles,
     .route = route_scatter_cycles,
     .can = can_scatter_along_cycles},
    {.collective = MCA_COLL_PIPERING_ALLREDUCE,
     .algorithm = MCA_COLL_PIPERING_MESH_LINES,
     .value = "mesh_lines",
     .help = "up to 64 KiB to all of a line of a mesh, one dimension after the other; likewise",
     .text = MCA_COLL_PIPERING_TEXT_LINES,
     .instead = MCA_COLL_PIPERING_MERGED,
     .forced = true,
     .along_mesh = true,
     .decide = decide_mesh_lines,
     .volumes = count_lines,
     .can = can_go_along_lines},
};
