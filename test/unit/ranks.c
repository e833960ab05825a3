/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "ranks.h"

#include <string.h>

#include "coll_pipering_clock.h"
#include "coll_pipering_engine_steps.h"
#include "ref.h"
#include "tap.h"

#define BORED 300 /* steps in which nothing happens */
#define LEASES 512

/** A buffer, its copy with what it must be in the end, and where its first element stands. */
typedef struct buffer_t {
    char *memory, *wanted, *begin;
    size_t size;
} buffer_t;

/** A call on a rank. */
typedef struct actor_t {
    enum { NEW, RUNNING, OVER } state;
    int error;
    uint64_t key; /* of the data */
    mca_common_irregular_caller_t caller;
    ompi_datatype_t send_type, recv_type;
    mca_coll_pipering_layout_t send, recv;
    int counts[POSING_RANKS], displs[POSING_RANKS];
    bool in_place;
    buffer_t send_buffer, recv_buffer;
    mca_coll_pipering_combine_plan_t combine;
    mca_coll_pipering_pipe_t *pipe[RANKS_PIPES];
    int pipes;
    mca_coll_pipering_clock_t clock;
} actor_t;

/** A run of a problem. */
typedef struct stage_t {
    const ranks_problem_t *problem;
    ompi_datatype_t element; /* of reductions */
    ompi_communicator_t comm[POSING_RANKS];
    actor_t *actor; /* [calls][p] */
    int at[POSING_RANKS]; /* the call that a rank is at */
    unsigned long fails;
    const char *fault;
} stage_t;

static void blame(stage_t *stage, const char *fault)
{
    stage->fault = NULL == stage->fault ? fault : stage->fault;
}

/* ---- the arena, and the clock, of coll_pipering_arena.h and coll_pipering_wire.h ---- */

static struct {
    mca_coll_pipering_neighbour_t neighbour[POSING_RANKS][POSING_RANKS];
    mca_coll_pipering_fifo_t *lease[LEASES];
    double time;
} world;

mca_coll_pipering_neighbour_t *mca_coll_pipering_arena_neighbour(ompi_communicator_t *comm,
                                                                 int rank)
{
    return &world.neighbour[comm->rank][rank];
}

static mca_coll_pipering_fifo_t **find_lease(const mca_coll_pipering_fifo_t *fifo)
{
    for (int i = 0; i < LEASES; i++) {
        if (fifo == world.lease[i]) {
            return &world.lease[i];
        }
    }
    return NULL;
}

mca_coll_pipering_fifo_t *mca_coll_pipering_arena_lease(size_t block_bytes, size_t *size)
{
    mca_coll_pipering_fifo_t **lease = find_lease(NULL);

    while (tap_once_in(3)) {
        *size /= 2;
    }
    if (NULL == lease || tap_once_in(8) || !mca_coll_pipering_fifo_carries(*size, block_bytes)) {
        return NULL;
    }
    *lease = tap_memory(sizeof(**lease) + *size);
    mca_coll_pipering_fifo_clear(*lease);
    return *lease;
}

void mca_coll_pipering_arena_release(const mca_coll_pipering_fifo_t *fifo)
{
    mca_coll_pipering_fifo_t **lease = find_lease(fifo);

    free(*lease);
    *lease = NULL;
}

const mca_common_irregular_segment_t *mca_coll_pipering_arena_segment(void)
{
    static const mca_common_irregular_segment_t segment = 1;
    return &segment;
}

size_t mca_coll_pipering_arena_place(const mca_coll_pipering_fifo_t *fifo)
{
    return (size_t) fifo;
}

void mca_coll_pipering_arena_note(mca_coll_pipering_neighbour_t *neighbour, bool attached)
{
    neighbour->has_mine = attached ? MCA_COLL_PIPERING_ATTACHED : MCA_COLL_PIPERING_UNABLE;
}

mca_coll_pipering_fifo_t *
mca_coll_pipering_arena_attach(mca_coll_pipering_neighbour_t *neighbour,
                               const mca_common_irregular_segment_t *segment, size_t place)
{
    if (!neighbour->tried && NULL != segment) {
        neighbour->tried = true;
        neighbour->segment = tap_once_in(6) ? 0 : *segment;
    }
    return 0 == neighbour->segment ? NULL : (mca_coll_pipering_fifo_t *) place;
}

double mca_coll_pipering_now(void)
{
    return world.time += 1e-6;
}

/* True if nothing was leased any more; it is given back in any case. */
static bool close_world(void)
{
    bool empty = true;

    for (int i = 0; i < LEASES; i++) {
        empty &= NULL == world.lease[i];
        free(world.lease[i]);
    }
    memset(&world, 0, sizeof(world));
    return empty;
}

/* ---- problems ---- */

void ranks_open(ranks_problem_t *problem, ranks_operation_t operation, int p, int nodes)
{
    memset(problem, 0, sizeof(*problem));
    problem->operation = operation;
    problem->p = p;
    problem->calls = 1;
    problem->memory = tap_memory((1 + RANKS_RINGS) * mca_coll_pipering_ring_size(p));
    for (int r = 0; r < p; r++) {
        const int other = tap_between(0, nodes - 1);

        problem->node_of[r] = other < r ? problem->node_of[other] : r;
    }
    /* the root alone, unless it is made another ring */
    mca_coll_pipering_ring_bind(&problem->ring, p, problem->memory);
    problem->ring.size = problem->ring.nodes = problem->ring.first[1] = 1;
    problem->ring.rank[0] = problem->ring.position[0] = problem->ring.node[0] = 0;
    problem->ring.first[0] = 0;
    for (int i = 0; i < RANKS_RINGS; i++) {
        mca_coll_pipering_ring_bind(&problem->other[i], p,
                                    (char *) problem->memory
                                        + (size_t) (i + 1) * mca_coll_pipering_ring_size(p));
    }
}

void ranks_roll(ranks_problem_t *problem)
{
    problem->cut.split = tap_once_in(2) ? MCA_COLL_PIPERING_SPLIT_EVEN
                                        : MCA_COLL_PIPERING_SPLIT_FULL;
    problem->cut.block_size = 1 + tap_below(tap_once_in(3) ? 3 : 60);
    problem->window = (unsigned) tap_between(2, 7);
    problem->ahead = tap_once_in(2) ? 0 : (unsigned) tap_between(2, 4);
    problem->ring_buffer_size = tap_once_in(3) ? 0 : (size_t) tap_between(128, 4096);
    problem->overlap = !tap_once_in(4);
    problem->calls = tap_between(1, 3);
}

int ranks_add_pipe(ranks_problem_t *problem)
{
    const int pipe = problem->pipes++, p = problem->p;
    void *memory = tap_memory(mca_coll_pipering_routes_size(p, RANKS_INS, RANKS_OUTS));

    problem->route[pipe] = mca_coll_pipering_routes_bind(memory, p, RANKS_INS, RANKS_OUTS);
    return pipe;
}

void ranks_close(ranks_problem_t *problem)
{
    for (int i = 0; i < problem->pipes; i++) {
        free(problem->route[i]);
    }
    free(problem->memory);
}

const char *ranks_show(const ranks_problem_t *problem)
{
    static char text[400];

    snprintf(text, sizeof(text),
             "p %d, root %d, nodes %.100s, blocks of %zu, window %u, buffers of %zu, %d pipelines, "
             "%d calls, %zu bytes",
             problem->p, problem->root, ref_show_int(problem->node_of, problem->p),
             problem->cut.block_size, problem->window, problem->ring_buffer_size, problem->pipes,
             problem->calls, problem->bytes[0]);
    return text;
}

static bool reduces(const ranks_problem_t *problem)
{
    return RANKS_REDUCE <= problem->operation;
}

static bool is_scan(const ranks_problem_t *problem)
{
    return RANKS_SCAN == problem->operation || RANKS_EXSCAN == problem->operation;
}

/* ---- values ---- */

static uint64_t mix(uint64_t key, int rank, size_t k)
{
    uint64_t x = key + (uint64_t) rank * UINT64_C(0x9e3779b97f4a7c15)
                 + k * UINT64_C(0xd1b54a32d192ed03);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 29);
}

/* An element of a reduction: x -> factor * x + term. One map after the other is one again. */
typedef struct map_t {
    uint32_t factor, term;
} map_t;

/* Those with a factor of 1 commute. */
static map_t map_of(const ranks_problem_t *problem, uint64_t key, int rank, size_t k)
{
    const uint64_t x = mix(key, rank, k);
    return (map_t){problem->commutes ? 1 : (uint32_t) x | 1, (uint32_t) (x >> 32)};
}

static map_t compose(map_t left, map_t right)
{
    return (map_t){left.factor * right.factor, left.term + left.factor * right.term};
}

static void combine_maps(const char *from, char *to)
{
    map_t left, right;

    memcpy(&left, from, sizeof(left));
    memcpy(&right, to, sizeof(right));
    right = compose(left, right);
    memcpy(to, &right, sizeof(right));
}

static ompi_op_t map_op = {.function = combine_maps};

/* ---- buffers ---- */

static ompi_datatype_t roll_type(ptrdiff_t size)
{
    const ptrdiff_t piece = tap_between(1, (int) size);
    ompi_datatype_t type = {.size = size, .shift = tap_between(0, 5)};

    if (tap_once_in(2)) {
        type.hole = tap_between(1, 3);
        type.piece = 0 == size % piece ? piece : 0;
    }
    return type;
}

static void open_buffer(buffer_t *buffer, const ompi_datatype_t *type, size_t elements)
{
    const size_t lead = tap_below(40);

    buffer->size = lead + elements * (size_t) posing_extent(type) + (size_t) type->shift;
    buffer->memory = tap_memory(buffer->size);
    tap_garbage(buffer->memory, buffer->size);
    buffer->wanted = tap_memory(buffer->size);
    memcpy(buffer->wanted, buffer->memory, buffer->size);
    buffer->begin = buffer->memory + lead;
}

static bool close_buffer(buffer_t *buffer)
{
    const bool right = NULL == buffer->memory
                       || 0 == memcmp(buffer->memory, buffer->wanted, buffer->size);

    free(buffer->memory);
    free(buffer->wanted);
    return right;
}

/* Byte k of the signature of the elements from there on: where it is, or is wanted. */
static char *byte_at(const buffer_t *buffer, bool wanted, const ompi_datatype_t *type,
                     ptrdiff_t element, size_t k)
{
    return buffer->begin + element * posing_extent(type) + posing_offset(type, k)
           + (wanted ? buffer->wanted - buffer->memory : 0);
}

/* A contribution is there, in which case it is to stay, or is wanted. */
static void put_bytes(const actor_t *actor, const buffer_t *buffer, const ompi_datatype_t *type,
                      ptrdiff_t element, int rank, size_t bytes, bool there)
{
    for (size_t k = 0; k < bytes; k++) {
        const char value = (char) (mix(actor->key, rank, k) >> 40);

        *byte_at(buffer, true, type, element, k) = value;
        if (there) {
            *byte_at(buffer, false, type, element, k) = value;
        }
    }
}

static void put_map(const buffer_t *buffer, const ompi_datatype_t *type, size_t k, map_t map,
                    bool wanted)
{
    char value[sizeof(map)];

    memcpy(value, &map, sizeof(map));
    for (size_t i = 0; i < sizeof(map); i++) {
        *byte_at(buffer, wanted, type, (ptrdiff_t) k, i) = value[i];
    }
}

/* ---- layouts of byte pipelines ---- */

static const int type_sizes[] = {1, 2, 3, 4, 6, 12};

static void open_gather(const ranks_problem_t *problem, actor_t *actor, int me)
{
    ompi_datatype_t *type = &actor->recv_type;
    int next = 0;

    for (int r = 0; r < problem->p; r++) {
        actor->counts[r] = (int) problem->bytes[r] / (int) type->size;
        actor->displs[r] = next + tap_between(0, 2);
        next = actor->displs[r] + actor->counts[r];
    }
    open_buffer(&actor->recv_buffer, type, (size_t) next + 1);
    actor->in_place = tap_once_in(3);
    actor->recv = (mca_coll_pipering_layout_t){.buffer = actor->recv_buffer.begin,
                                               .type = type,
                                               .counts = actor->counts,
                                               .displs = actor->displs};
    for (int r = 0; r < problem->p; r++) {
        put_bytes(actor, &actor->recv_buffer, type, actor->displs[r], r, problem->bytes[r],
                  actor->in_place && r == me);
    }
    if (!actor->in_place) {
        const size_t count = problem->bytes[me] / (size_t) actor->send_type.size;
        open_buffer(&actor->send_buffer, &actor->send_type, count);
        put_bytes(actor, &actor->send_buffer, &actor->send_type, 0, me, problem->bytes[me], true);
        actor->send = (mca_coll_pipering_layout_t){.buffer = actor->send_buffer.begin,
                                                   .type = &actor->send_type,
                                                   .single = true,
                                                   .count = count};
        mca_coll_pipering_layout_init(&actor->send, problem->p);
    }
    mca_coll_pipering_layout_init(&actor->recv, problem->p);
}

static void open_bcast(const ranks_problem_t *problem, actor_t *actor, int me)
{
    ompi_datatype_t *type = &actor->recv_type;
    const size_t count = problem->bytes[0] / (size_t) type->size;

    actor->in_place = true;
    open_buffer(&actor->recv_buffer, type, count);
    put_bytes(actor, &actor->recv_buffer, type, 0, 0, problem->bytes[0], problem->root == me);
    actor->recv = (mca_coll_pipering_layout_t){.buffer = actor->recv_buffer.begin,
                                               .type = type,
                                               .single = true,
                                               .count = count};
    mca_coll_pipering_layout_init(&actor->recv, 1);
}

/* ---- layouts of reductions ---- */

static size_t length_of(const ranks_problem_t *problem)
{
    size_t length = 0;

    for (int i = 0; i < problem->ring.size; i++) {
        length += problem->bytes[i];
    }
    return length;
}

/* The combination of ranks [from, to), of which there is one at least. */
static map_t reference(const ranks_problem_t *problem, uint64_t key, int from, int to, size_t k)
{
    map_t map = map_of(problem, key, from, k);

    for (int r = from + 1; r < to; r++) {
        map = compose(map, map_of(problem, key, r, k));
    }
    return map;
}

/* How many ranks' values a rank gets, 0: its buffer stays as it is. */
static int ranks_wanted(const ranks_problem_t *problem, int me)
{
    switch (problem->operation) {
    case RANKS_REDUCE:
        return me == problem->root ? problem->p : 0;
    case RANKS_SCAN:
        return me + 1;
    case RANKS_EXSCAN:
        return me;
    default:
        return problem->p;
    }
}

static mca_coll_pipering_layout_t elements(const ranks_problem_t *problem, char *begin,
                                           ompi_datatype_t *type)
{
    return (mca_coll_pipering_layout_t){.buffer = begin,
                                        .type = type,
                                        .extent = posing_extent(type),
                                        .single = !problem->scattered,
                                        .starts = problem->scattered ? problem->starts : NULL,
                                        .dense = true};
}

static void open_reduction(const ranks_problem_t *problem, actor_t *actor, int me,
                           ompi_datatype_t *type)
{
    const size_t length = length_of(problem);
    const int ranks = ranks_wanted(problem, me);

    actor->in_place = 0 < ranks && tap_once_in(3);
    open_buffer(&actor->recv_buffer, type, length);
    open_buffer(&actor->send_buffer, type, length);
    for (size_t k = 0; k < length; k++) {
        const map_t own = map_of(problem, actor->key, me, k);

        put_map(&actor->send_buffer, type, k, own, false);
        put_map(&actor->send_buffer, type, k, own, true);
        if (actor->in_place) {
            put_map(&actor->recv_buffer, type, k, own, false);
            put_map(&actor->recv_buffer, type, k, own, true);
        }
        if (0 < ranks) {
            put_map(&actor->recv_buffer, type, k, reference(problem, actor->key, 0, ranks, k),
                    true);
        }
    }
    actor->recv = elements(problem, actor->recv_buffer.begin, type);
    actor->send = actor->in_place ? actor->recv
                                  : elements(problem, actor->send_buffer.begin, type);
}

static void open_actor(stage_t *stage, actor_t *actor, int me, uint64_t key)
{
    const ranks_problem_t *problem = stage->problem;

    memset(actor, 0, sizeof(*actor));
    actor->key = key;
    actor->caller = (mca_common_irregular_caller_t){"pipering", "posed", &stage->comm[me]};
    actor->recv_type = roll_type(type_sizes[tap_below(6)]);
    actor->send_type = roll_type(type_sizes[tap_below(6)]);
    if (RANKS_GATHER == problem->operation) {
        open_gather(problem, actor, me);
    } else if (RANKS_BCAST == problem->operation) {
        open_bcast(problem, actor, me);
    } else {
        open_reduction(problem, actor, me, &stage->element);
    }
}

/* ---- pipelines of a call on a rank, as coll_pipering_chain.c and _gather.c make them ---- */

/* The largest contribution, and the first rank that has any. */
static size_t largest_of(const ranks_problem_t *problem, const mca_coll_pipering_ring_t *ring,
                         int *some)
{
    size_t largest = 0;

    *some = 0;
    for (int r = ring->size - 1; 0 <= r; r--) {
        largest = problem->bytes[r] > largest ? problem->bytes[r] : largest;
        *some = 0 < problem->bytes[r] ? r : *some;
    }
    return largest;
}

static mca_coll_pipering_pipe_plan_t plan_of(const stage_t *stage, actor_t *actor, int me, int i)
{
    const ranks_problem_t *problem = stage->problem;
    mca_coll_pipering_pipe_plan_t plan = {.caller = &actor->caller,
                                          .bytes = problem->bytes,
                                          .cut = problem->cut,
                                          .unit = MCA_COLL_PIPERING_BYTES,
                                          .route = &problem->route[i][me],
                                          .window = problem->window,
                                          .ahead = problem->ahead,
                                          .overlap = problem->overlap,
                                          .recv = &actor->recv,
                                          .collective = (int) problem->operation,
                                          .ring_buffer_size = problem->ring_buffer_size,
                                          .clock = 0 == i ? &actor->clock : NULL};

    plan.largest = largest_of(problem, plan.route->ring, &plan.some);
    if (!reduces(problem)) {
        plan.send = actor->in_place ? NULL : &actor->send;
        return plan;
    }
    plan.unit = (mca_coll_pipering_unit_t){.type = (ompi_datatype_t *) &stage->element,
                                           .size = sizeof(map_t),
                                           .extent = posing_extent(&stage->element)};
    if (0 < stage->element.hole || 0 < stage->element.shift) {
        plan.ring_buffer_size = 0;
    }
    return plan;
}

static mca_coll_pipering_combine_plan_t combine_of(const ranks_problem_t *problem,
                                                   const actor_t *actor, int me)
{
    const bool keeps = is_scan(problem) || problem->scattered || problem->root == me;
    const bool both = RANKS_ALLREDUCE == problem->operation;

    return (mca_coll_pipering_combine_plan_t){
        .op = &map_op,
        .any_order = problem->commutes && !is_scan(problem),
        .own = &actor->send,
        .result = keeps ? &actor->recv : NULL,
        .scratch = (both || keeps) && !actor->in_place ? &actor->recv : NULL,
        .keep = problem->scattered ? me : 0,
        .in_place = actor->in_place,
        .exclusive = RANKS_EXSCAN == problem->operation};
}

static void add_pipe(stage_t *stage, actor_t *actor, int me)
{
    const ranks_problem_t *problem = stage->problem;
    const int i = actor->pipes, gate = problem->route[i][me].gate;
    mca_coll_pipering_pipe_plan_t plan = plan_of(stage, actor, me, i);

    if (plan.route->reduces) {
        const bool exclusive = RANKS_EXSCAN == problem->operation;
        const bool combines = 0 < plan.route->ins && !(0 == plan.route->outs && exclusive);
        const bool receives = !combines && is_scan(problem)
                              && (exclusive ? 0 < plan.route->ins : !actor->in_place);
        actor->combine = combine_of(problem, actor, me);
        plan.send = &actor->send;
        plan.recv = receives ? &actor->recv : NULL;
        plan.combine = combines ? &actor->combine : NULL;
    }
    plan.gate = 0 > gate ? NULL : actor->pipe[gate];
    if (OMPI_SUCCESS != mca_coll_pipering_pipe_new(&stage->comm[me], &plan, &actor->pipe[i])) {
        blame(stage, "no pipeline");
        return;
    }
    actor->pipes++;
}

static void start(stage_t *stage, actor_t *actor, int me)
{
    actor->state = RUNNING;
    for (int i = 0; i < stage->problem->pipes && NULL == stage->fault; i++) {
        add_pipe(stage, actor, me);
    }
    for (int i = 0; i < actor->pipes; i++) {
        mca_coll_pipering_pipe_await(actor->pipe[i]);
    }
    for (int i = 0; i < actor->pipes; i++) {
        mca_coll_pipering_pipe_grant(actor->pipe[i]);
    }
}

/* What a pipeline moved is what its route says. */
static bool moved_all(const stage_t *stage, const actor_t *actor, int me, int i)
{
    const mca_coll_pipering_route_t *route = &stage->problem->route[i][me];
    const mca_coll_pipering_traffic_t *traffic = &actor->pipe[i]->traffic;
    const size_t unit = reduces(stage->problem) ? sizeof(map_t) : 1;
    mca_coll_pipering_volume_t in = {0, 0}, out = {0, 0};

    for (int link = 0; link < route->ins; link++) {
        in.blocks += route->in[link].volume.blocks;
        in.bytes += route->in[link].volume.bytes * unit;
    }
    for (int link = 0; link < route->outs; link++) {
        out.blocks += route->out[link].volume.blocks;
        out.bytes += route->out[link].volume.bytes * unit;
    }
    return in.blocks == traffic->blocks_in && in.bytes == traffic->bytes_in
           && out.blocks == traffic->blocks_out && out.bytes == traffic->bytes_out;
}

static void finish(stage_t *stage, actor_t *actor, int me)
{
    for (int i = 0; i < actor->pipes; i++) {
        if (OMPI_SUCCESS == actor->error && !moved_all(stage, actor, me, i)) {
            blame(stage, "other blocks have moved than the routes say");
        }
        if (mca_coll_pipering_pipe_free(actor->pipe[i])) {
            blame(stage, "something is pending");
        }
    }
    actor->pipes = 0;
    actor->state = OVER;
    stage->at[me]++;
}

/* A step of a rank whose call has failed. */
static void give_up(stage_t *stage, actor_t *actor, int me)
{
    bool known = true;

    for (int i = 0; i < actor->pipes; i++) {
        known &= mca_coll_pipering_pipe_give_up(actor->pipe[i], actor->error);
    }
    if (known) {
        finish(stage, actor, me);
    }
}

/* Moves the pipelines of a rank, in any order; what it did. */
static int move(stage_t *stage, actor_t *actor, int me)
{
    const int pipes = actor->pipes, first = tap_between(0, pipes - 1);
    bool done = true;
    int steps = 0;

    for (int n = 0; n < pipes; n++) {
        mca_coll_pipering_pipe_t *pipe = actor->pipe[(first + n) % pipes];

        steps += mca_coll_pipering_pipe_progress(pipe);
        actor->error = OMPI_SUCCESS == actor->error ? pipe->error : actor->error;
    }
    for (int i = 0; i < pipes; i++) {
        done = done && mca_coll_pipering_pipe_done(actor->pipe[i]);
    }
    if (done && OMPI_SUCCESS == actor->error) {
        finish(stage, actor, me);
        steps++;
    }
    return steps;
}

/* ---- the run ---- */

/* A step of a rank; whether anything has happened. */
static bool step(stage_t *stage, int me)
{
    actor_t *actor = &stage->actor[stage->at[me] * stage->problem->p + me];
    int steps = tap_once_in(2) ? posing_poll(&stage->comm[me]) : 0;

    if (NEW == actor->state) {
        start(stage, actor, me);
        return true;
    }
    posing_fails = stage->fails; /* not while grants are sent, which are told of by nothing else */
    if (OMPI_SUCCESS == actor->error) {
        steps += move(stage, actor, me);
    } else {
        give_up(stage, actor, me);
        steps += OVER == actor->state;
    }
    stage->fails = posing_fails;
    posing_fails = 0;
    return 0 < steps;
}

static const actor_t *actor_of(const stage_t *stage, int call, int rank)
{
    return &stage->actor[call * stage->problem->p + rank];
}

/* A rank waits for blocks of one whose call has failed. */
static bool waits_in_vain(const stage_t *stage, int me)
{
    const actor_t *actor = actor_of(stage, stage->at[me], me);

    for (int i = 0; i < actor->pipes; i++) {
        const mca_coll_pipering_pipe_t *pipe = actor->pipe[i];

        for (int link = 0; link < pipe->ins; link++) {
            const mca_coll_pipering_source_t *source = &pipe->source[link];
            const bool shared = MCA_COLL_PIPERING_CHANNEL_OPEN == source->channel.state;
            const bool awaits = shared ? source->arrived < source->total
                                             && mca_coll_pipering_has_slot(pipe, source,
                                                                           source->arrived)
                                       : source->arrived < source->posted;

            if (awaits && OMPI_SUCCESS != actor_of(stage, stage->at[me], source->peer)->error) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Nothing happens any more. Where a call has failed somewhere, ranks may wait for others to take
 * their blocks, but none that waits for blocks of it must have been left without news.
 */
static void judge_silence(stage_t *stage)
{
    bool failed = false;

    for (int r = 0; r < stage->problem->p; r++) {
        for (int call = 0; call < stage->at[r]; call++) {
            failed |= OMPI_SUCCESS != actor_of(stage, call, r)->error;
        }
    }
    if (!failed) {
        blame(stage, "nobody goes on");
    }
    for (int r = 0; r < stage->problem->p; r++) {
        if (stage->at[r] < stage->problem->calls && waits_in_vain(stage, r)) {
            blame(stage, "a rank waits for one that has failed");
        }
    }
}

/*
 * Whether any rank goes on if all get their turn. A step looks at what has come with probability
 * 1/4, so one in SWEEPS does.
 */
#define SWEEPS 100

static bool wake_all(stage_t *stage)
{
    for (int i = 0; i < SWEEPS * stage->problem->p; i++) {
        const int r = i % stage->problem->p;

        if (stage->at[r] < stage->problem->calls && step(stage, r)) {
            return true;
        }
    }
    return false;
}

static int count_left(const stage_t *stage)
{
    int left = 0;

    for (int r = 0; r < stage->problem->p; r++) {
        left += stage->at[r] < stage->problem->calls;
    }
    return left;
}

/* Takes steps until all ranks are through, or none goes on; one may be slower than others. */
static void act(stage_t *stage)
{
    const int p = stage->problem->p, slow = tap_once_in(2) ? tap_between(0, p - 1) : -1;
    int bored = 0;

    while (0 < count_left(stage)) {
        const int me = tap_between(0, p - 1);

        if (stage->at[me] == stage->problem->calls || (me == slow && !tap_once_in(10))) {
            continue;
        }
        bored = step(stage, me) ? 0 : bored + 1;
        if (BORED < bored) {
            if (!wake_all(stage)) {
                judge_silence(stage);
                return;
            }
            bored = 0;
        }
    }
}

/* Lets go of what a run with a fault has left. */
static void clean_up(stage_t *stage)
{
    for (int i = 0; i < stage->problem->p * stage->problem->calls; i++) {
        actor_t *actor = &stage->actor[i];

        for (int pipe = 0; pipe < actor->pipes; pipe++) {
            (void) mca_coll_pipering_pipe_free(actor->pipe[pipe]);
        }
    }
}

static void check(stage_t *stage, bool may_fail)
{
    bool failed = false;

    for (int i = 0; i < stage->problem->p * stage->problem->calls; i++) {
        actor_t *actor = &stage->actor[i];
        const bool right = close_buffer(&actor->recv_buffer) & close_buffer(&actor->send_buffer);

        if (!right && OVER == actor->state && OMPI_SUCCESS == actor->error) {
            blame(stage, "wrong data");
        }
        failed |= OMPI_SUCCESS != actor->error;
    }
    if (failed && !may_fail) {
        blame(stage, "an error");
    }
}

const char *ranks_run(const ranks_problem_t *problem, unsigned long fails)
{
    stage_t stage = {.problem = problem, .fails = fails};
    const int actors = problem->p * problem->calls;

    posing_lenient = true;
    stage.element = (ompi_datatype_t){.size = sizeof(map_t)};
    if (tap_once_in(2)) {
        stage.element.hole = tap_between(0, 3);
        stage.element.shift = tap_between(0, 5);
    }
    for (int i = 0; i < problem->pipes; i++) {
        for (int r = 0; r < problem->p; r++) {
            mca_coll_pipering_route_measure(&problem->route[i][r], problem->bytes, problem->cut,
                                            problem->node_of, r);
        }
    }
    posing_open(stage.comm, problem->p, tap_random());
    stage.actor = tap_memory((size_t) actors * sizeof(*stage.actor));
    for (int call = 0; call < problem->calls; call++) {
        const uint64_t key = tap_random();

        for (int r = 0; r < problem->p; r++) {
            open_actor(&stage, &stage.actor[call * problem->p + r], r, key);
        }
    }
    act(&stage);
    clean_up(&stage);
    check(&stage, 0 < fails);
    const bool empty = posing_close(stage.comm), unleased = close_world();
    if (0 == fails && !(empty && unleased)) {
        blame(&stage, empty ? "a ring buffer is leased still" : "messages are left");
    }
    free(stage.actor);
    return stage.fault;
}
