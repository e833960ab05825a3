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
 * Plans along a mesh: streams of a vector along trees or paths, and contributions or chunks of a
 * vector along Hamiltonian cycles, in both directions of each.
 *
 *     mesh_trees    bcast, reduce                as many streams as trees
 *     mesh_path     reduce                       two streams, in opposite directions
 *                   allreduce                    one to the root, and its results back
 *     mesh_cycles   allgather(v), allreduce      a ring, or two after each other, in each direction
 *
 * A line has no cycle: its path is its one tree. Values are combined in the order of vertices, so
 * operations must commute; where bits count, the mesh and the root alone set the order.
 *
 * Almasi et al., section 3.1.
 */

#include "coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_chain.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_cost.h"

/* Between nodes, or between ranks of the only node. */
static mca_coll_pipering_cost_t cost_of(const mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_cost_t cost = draft->cost;

    cost.net = 1 < draft->nodes ? cost.net : cost.local;
    return cost;
}

static bool spreads_only(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_BCAST == draft->plan->key.collective;
}

bool mca_coll_pipering_may_reorder(const mca_coll_pipering_draft_t *draft)
{
    return !draft->plan->key.ordered;
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
    return draft->ways->mesh.vertices < draft->ranks;
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

void mca_coll_pipering_route_mesh_trees(mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_branch_t branch;

    for (int i = 0; i < plan->pipes; ++i) {
        mca_coll_pipering_mesh_tree(&branch, &draft->ways->mesh, i, plan->key.root, draft->me);
        route_branch(draft, i, &branch, !spreads_only(draft), i, plan->pipes);
    }
}

void mca_coll_pipering_plan_mesh_trees(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_mesh_t *mesh = &draft->ways->mesh;
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

void mca_coll_pipering_room_for_trees(const mca_coll_pipering_ways_t *ways, int *pipes, int *links)
{
    *pipes = mca_coll_pipering_trees_count(&ways->mesh.extents);
    *links = 2 * ways->mesh.extents.dims + 1;
}

static bool has_paths(const mca_coll_pipering_draft_t *draft)
{
    return 0 < draft->ways->cycle.length;
}

static void find_branch(const mca_coll_pipering_draft_t *draft, int which,
                        mca_coll_pipering_branch_t *branch)
{
    const mca_coll_pipering_ways_t *ways = draft->ways;
    const int root = draft->plan->key.root;

    if (has_paths(draft)) {
        mca_coll_pipering_mesh_path(branch, &ways->mesh, &ways->cycle, which, root, draft->me);
    } else {
        mca_coll_pipering_mesh_tree(branch, &ways->mesh, which, root, draft->me);
    }
}

/* An allreduce goes to the root and back. */
static bool goes_back(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_ALLREDUCE == draft->plan->key.collective;
}

void mca_coll_pipering_route_mesh_path(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const int paths = goes_back(draft) ? 1 : plan->pipes;
    mca_coll_pipering_branch_t branch;

    for (int i = 0; i < paths; ++i) {
        find_branch(draft, i, &branch);
        route_branch(draft, i, &branch, true, i, paths);
    }
    if (goes_back(draft)) {
        route_branch(draft, 1, &branch, false, 0, 1);
        plan->route[1].gate = 0;
    }
}

/* Both arcs of each link are taken by two paths to the root, or by one there and back. */
void mca_coll_pipering_plan_mesh_path(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_mesh_t *mesh = &draft->ways->mesh;
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

/* The neighbours away from the root are the next vertex, that which is on no cycle, and a rank of
 * the own vertex; on a line both neighbours and that rank. */
void mca_coll_pipering_room_for_paths(const mca_coll_pipering_ways_t *ways, int *pipes, int *links)
{
    (void) ways;
    *pipes = 2;
    *links = 3;
}

/* ---- cycles ---- */

bool mca_coll_pipering_has_cycles(const mca_coll_pipering_draft_t *draft)
{
    return 0 < draft->ways->cycles;
}

bool mca_coll_pipering_can_scatter_along_cycles(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_has_cycles(draft) && mca_coll_pipering_can_scatter(draft);
}

/* Rings along and against each cycle. */
static int count_rings(const mca_coll_pipering_ways_t *ways)
{
    return 2 * ways->cycles;
}

void mca_coll_pipering_room_for_cycles(const mca_coll_pipering_ways_t *ways, int *pipes,
                                       int *links)
{
    *pipes = count_rings(ways);
    *links = MCA_COLL_PIPERING_ROUTE_LINKS;
}

void mca_coll_pipering_room_for_cycles_twice(const mca_coll_pipering_ways_t *ways, int *pipes,
                                             int *links)
{
    *pipes = 2 * count_rings(ways);
    *links = MCA_COLL_PIPERING_ROUTE_LINKS;
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

void mca_coll_pipering_route_gather_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    for (int i = 0; i < plan->pipes; ++i) {
        mca_coll_pipering_route(&plan->route[i], &draft->ways->ring[i], draft->me);
        take_part(plan, i, i, plan->pipes, shares_links(draft));
    }
}

/* A part of each chunk along each ring: combined on the way to its rank, then gathered. */
void mca_coll_pipering_route_scatter_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const int rings = plan->pipes / 2;

    for (int i = 0; i < rings; ++i) {
        mca_coll_pipering_route_scatter(&plan->route[2 * i], &draft->ways->ring[i], draft->me);
        take_part(plan, 2 * i, i, rings, shares_links(draft));
        mca_coll_pipering_route(&plan->route[2 * i + 1], &draft->ways->ring[i], draft->me);
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
    const size_t rings = (size_t) count_rings(draft->ways);
    size_t *bytes = plan->starts; /* which a gather has no other use for */

    for (int r = 0; r < draft->ranks; ++r) {
        bytes[r] = mca_coll_pipering_blocks(plan->bytes[r], rings);
    }
    draft->problem.ring = &plan->ring;
    draft->problem.bytes = bytes;
    draft->problem.cost = cost_of(draft);
    if (draft->problem.cost.net.overlap) {
        draft->problem.cost.net.alpha *= (double) rings;
    }
}

void mca_coll_pipering_plan_gather_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t given = mca_coll_pipering_given_block(draft);

    mca_coll_pipering_place(plan, &plan->all);
    plan->ring = draft->ways->ring[0];
    pose_problem(draft);
    plan->block_size = 0 < given ? given
                                     : mca_coll_pipering_bound_block(
                                           draft, mca_coll_pipering_search(&draft->problem));
    plan->window = mca_coll_pipering_choose_window(&plan->key.params, plan->block_size);
    plan->rounds = mca_coll_pipering_model_rounds(&draft->problem, plan->block_size);
    plan->time = mca_coll_pipering_time(&draft->problem, plan->block_size);
    draft->problem.bytes = plan->bytes;
    draft->problem.cost = draft->cost;
    plan->equation2 = mca_coll_pipering_equation2(&draft->problem);
    plan->pipes = count_rings(draft->ways);
}

void mca_coll_pipering_plan_scatter_cycles(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const int rings = count_rings(draft->ways);
    const size_t chunk = mca_coll_pipering_place_chunks(plan, draft->ranks);
    mca_coll_pipering_ring_allreduce_problem_t ring
        = {.ranks = draft->ranks,
           .nodes = draft->ways->mesh.vertices,
           .bytes = mca_coll_pipering_blocks(chunk, (size_t) rings),
           .larger = draft->ranks,
           .combine = draft->combine * rings,
           .cost = cost_of(draft)};

    plan->ring = draft->ways->ring[0];
    if (ring.cost.net.overlap) {
        ring.cost.net.alpha *= rings;
    }
    mca_coll_pipering_set_blocks(draft, mca_coll_pipering_ring_allreduce_search(&ring));
    const size_t block = plan->block_size * plan->key.sizes.unit;
    plan->time = mca_coll_pipering_ring_allreduce_time(&ring, block);
    plan->rounds = 2 * (uint64_t) (draft->ranks - 1) * mca_coll_pipering_blocks(ring.bytes, block);
    plan->pipes = 2 * rings;
}
