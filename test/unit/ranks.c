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

#include "coll_pipering_engine_steps.h"
#include "ranks_arena.h"
#include "ranks_data.h"
#include "ref.h"
#include "tap.h"

#define BORED 300 /* steps in which nothing happens */
#define AGES 100000 /* moments in which not all is done */

/** A call on a rank. */
typedef struct actor_t {
    enum { NEW, RUNNING, OVER } state;
    int error;
    mca_common_colltools_caller_t caller;
    ranks_data_t data;
    mca_coll_pipering_combine_args_t combine;
    mca_coll_pipering_pipe_t *pipe[RANKS_PIPES];
    int pipes;
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
    problem->block_size = 1 + tap_below(tap_once_in(3) ? 3 : 60);
    problem->window = (unsigned) tap_between(2, 10);
    problem->ring_buffer_size = tap_once_in(3) ? 0 : (size_t) tap_between(128, 4096);
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
             problem->block_size, problem->window, problem->ring_buffer_size, problem->pipes,
             problem->calls, problem->bytes[0]);
    return text;
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

static mca_coll_pipering_pipe_args_t plan_of(const stage_t *stage, actor_t *actor, int me, int i)
{
    const ranks_problem_t *problem = stage->problem;
    mca_coll_pipering_pipe_args_t plan = {.caller = &actor->caller,
                                          .bytes = problem->bytes,
                                          .block_size = problem->block_size,
                                          .unit = MCA_COLL_PIPERING_BYTES,
                                          .route = &problem->route[i][me],
                                          .window = problem->window,
                                          .recv = &actor->data.recv,
                                          .collective = (int) problem->operation,
                                          .ring_buffer_size = problem->ring_buffer_size};

    plan.largest = largest_of(problem, plan.route->ring, &plan.contributor);
    if (!ranks_reduces(problem)) {
        plan.send = actor->data.in_place ? NULL : &actor->data.send;
        return plan;
    }
    plan.unit = (mca_coll_pipering_unit_t){.type = (ompi_datatype_t *) &stage->element,
                                           .size = sizeof(ranks_map_t),
                                           .extent = posing_extent(&stage->element)};
    if (0 < stage->element.hole || 0 < stage->element.shift) {
        plan.ring_buffer_size = 0;
    }
    return plan;
}

static mca_coll_pipering_combine_args_t combine_of(const ranks_problem_t *problem,
                                                   const actor_t *actor, int me)
{
    const bool keeps = ranks_is_scan(problem) || problem->scattered || problem->root == me;
    const bool both = RANKS_ALLREDUCE == problem->operation;
    const bool part = RANKS_REDUCE_SCATTER == problem->operation;

    return (mca_coll_pipering_combine_args_t){
        .op = &ranks_op,
        .any_order = problem->commutes && !ranks_is_scan(problem),
        .own = &actor->data.send,
        .result = keeps ? &actor->data.recv : NULL,
        .scratch = (both || keeps) && !part && !actor->data.in_place ? &actor->data.recv : NULL,
        .keep = problem->scattered ? me : 0,
        .in_place = actor->data.in_place,
        .exclusive = RANKS_EXSCAN == problem->operation,
        .part = part};
}

static void add_pipe(stage_t *stage, actor_t *actor, int me)
{
    const ranks_problem_t *problem = stage->problem;
    const int i = actor->pipes, gate = problem->route[i][me].gate;
    mca_coll_pipering_pipe_args_t plan = plan_of(stage, actor, me, i);

    if (plan.route->reduces) {
        const bool exclusive = RANKS_EXSCAN == problem->operation;
        const bool combines = 0 < plan.route->ins && !(0 == plan.route->outs && exclusive);
        const bool receives = !combines && ranks_is_scan(problem)
                              && (exclusive ? 0 < plan.route->ins : !actor->data.in_place);
        actor->combine = combine_of(problem, actor, me);
        plan.send = &actor->data.send;
        plan.recv = receives ? &actor->data.recv : NULL;
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
    const size_t unit = ranks_reduces(stage->problem) ? sizeof(ranks_map_t) : 1;
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
    int steps = 0 < posing_now || tap_once_in(2) ? posing_poll(&stage->comm[me]) : 0;

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

/* Every rank does all that it can, moment by moment. */
static void act_in_time(stage_t *stage)
{
    const int p = stage->problem->p;

    for (posing_now = 1; 0 < count_left(stage) && NULL == stage->fault; ++posing_now) {
        int idle = 0;

        for (int me = 0; idle < p; me = (me + 1) % p) {
            idle = stage->at[me] < stage->problem->calls && step(stage, me) ? 0 : idle + 1;
        }
        if (AGES < posing_now) {
            blame(stage, "nobody goes on");
        }
    }
    *stage->problem->moments = posing_now - 1;
    posing_now = 0;
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
        const bool right = ranks_data_close(&actor->data);

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
    stage.element = (ompi_datatype_t){.size = sizeof(ranks_map_t)};
    if (tap_once_in(2)) {
        stage.element.hole = tap_between(0, 3);
        stage.element.shift = tap_between(0, 5);
    }
    for (int i = 0; i < problem->pipes; i++) {
        for (int r = 0; r < problem->p; r++) {
            mca_coll_pipering_route_measure(&problem->route[i][r], problem->bytes,
                                            problem->block_size, problem->node_of, r);
        }
    }
    posing_open(stage.comm, problem->p, tap_random());
    stage.actor = tap_memory((size_t) actors * sizeof(*stage.actor));
    for (int call = 0; call < problem->calls; call++) {
        const uint64_t key = tap_random();

        for (int r = 0; r < problem->p; r++) {
            actor_t *actor = &stage.actor[call * problem->p + r];

            memset(actor, 0, sizeof(*actor));
            actor->caller = (mca_common_colltools_caller_t){"pipering", "posed", &stage.comm[r]};
            ranks_data_open(&actor->data, problem, &stage.element, r, key);
        }
    }
    if (NULL == problem->moments) {
        act(&stage);
    } else {
        act_in_time(&stage);
    }
    clean_up(&stage);
    check(&stage, 0 < fails);
    const bool empty = posing_close(stage.comm), unleased = ranks_arena_close();
    if (0 == fails && !(empty && unleased)) {
        blame(&stage, empty ? "a ring buffer is leased still" : "messages are left");
    }
    free(stage.actor);
    return stage.fault;
}
