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
 * Random cases of all calls: settings of the components, communicators, and a row of calls on
 * these, most of them in flight at once. What ranks must agree on comes from dice that all ranks
 * of a communicator share, types from dice of the rank. Where the component must serve a call, its
 * arrays, types and operation, and communicators, may be gone before it is over, or started.
 *
 * TURNS=1: all calls of a row but one that all begin with are nonblocking, ranks start them one
 * after the other, and the first of these sits in MPI_Recv until all others have their results: a
 * start waits for nobody, and calls go on in any function of MPI.
 *
 * In a rush there is nothing between the calls of a row, windows are small, one rank never waits,
 * and the others sleep now and then.
 *
 * Where buffers may be a device's (device.c), those of reductions that the module below may serve
 * are not, for these read them; STAGED=1: somebody stages them, in blocking calls.
 *
 * PULLS=1: gathers, broadcasts and reductions all by pulls, or between nodes by leaders.
 *
 * THREADS=t: so many threads have rows of their own at the same time. LEADERS=1: gathers through
 * coll/mleader alone, of all variants; SEGMENT says of how many bytes its segments are.
 */

#include "cases.h"
#include "exchange.h"
#include "fold.h"
#include "knob.h"
#include "layout.h"
#include "leading.h"
#include "swap.h"
#include "tap.h"
#include "vanish.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS_AT_MOST 20
#define LONGEST_SLEEP 800 /* microseconds */
#define THREADS_AT_MOST 8
#define TURN 43 /* a tag */
#define WATCHES 3 /* the communicators of a row for calls, and for neighbours */

/* What holds for all rows of a case, equal on all ranks. */
static struct {
    uint64_t seed;
    int number;
    bool component;
    bool mismatch;                      /* types may differ between ranks */
    bool gathers_forced, folds_forced;  /* to be served by the component, whatever the size */
    bool leaders;                       /* by coll/mleader alone */
    bool threaded;                      /* variables stay as they are */
    bool staged;                        /* calls of others take memory of a device, blocking ones */
    bool pulls;                         /* gathers and reductions by these alone */
    bool turns;                         /* ranks start their calls one after the other */
    bool rush;
    size_t block_size;
    int *node; /* of each rank of all, by the lowest one there */
} of;

/* ---- settings ---- */

/*
 * In a rush, and of several threads, the component is to serve all pipelines: in Open MPI's own
 * blocking MPI_Allgatherv threads crash now and then (5.0.7).
 */

/** How calls are forced: communicators of one node pull, or those of several have leaders. */
static int by_pulls(dice_t *dice)
{
    return dice_once_in(dice, 2) ? KNOB_PULLS : KNOB_NODE_LEADERS;
}

/** All folds forced, or each as it comes. */
static void random_folds(dice_t *dice)
{
    static const char *const lines[] = {"bcast", "reduce", "scan", "exscan"};
    static const int of_line[] = {KNOB_PIPELINE, KNOB_ROUNDS, KNOB_AUTO, KNOB_OFF};
    static const int of_bcast[] = {KNOB_PIPELINE, KNOB_MESH_TREES, KNOB_ROUNDS, KNOB_PULLS,
                                   KNOB_NODE_LEADERS};
    static const int of_reduce[] = {KNOB_PIPELINE, KNOB_ROUNDS,    KNOB_ROUNDS, KNOB_PIPELINE,
                                    KNOB_MESH_TREES, KNOB_MESH_PATH, KNOB_PULLS,
                                    KNOB_NODE_LEADERS};
    static const int of_both[] = {KNOB_RING,        KNOB_ROUNDS,     KNOB_MERGED, KNOB_MESH_PATH,
                                  KNOB_MESH_CYCLES, KNOB_MESH_LINES, KNOB_PULLS,
                                  KNOB_NODE_LEADERS, KNOB_AUTO, KNOB_OFF};
    static const int of_scatter[] = {KNOB_PIPELINE, KNOB_RING, KNOB_ROUNDS, KNOB_PULLS,
                                     KNOB_NODE_LEADERS, KNOB_AUTO, KNOB_OFF};
    char name[64];

    of.folds_forced = of.component && (of.rush || of.threaded || !dice_once_in(dice, 3));
    for (int i = 0; i < 4; i++) {
        const int forced = 0 == i   ? of_bcast[dice_roll(dice, 5)]
                           : 1 == i ? of_reduce[dice_roll(dice, 8)]
                                    : of_line[dice_roll(dice, 2)];
        const int algorithm = of.folds_forced ? forced : of_line[dice_roll(dice, 4)];

        snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", lines[i]);
        knob_set(name, of.pulls && 2 > i ? by_pulls(dice) : algorithm);
    }
    const int both = of_both[dice_roll(dice, of.folds_forced ? 8 : 10)];
    knob_set("coll_pipering_allreduce_algorithm", of.pulls ? by_pulls(dice) : both);
    const int scatter = of_scatter[dice_roll(dice, of.folds_forced ? 5 : 7)];
    knob_set("coll_pipering_reduce_scatter_algorithm", of.pulls ? by_pulls(dice) : scatter);
    knob_set("coll_pipering_fixed_point_sum", dice_once_in(dice, 4));
}

static void random_gathers(dice_t *dice)
{
    static const size_t sizes[] = {1, 7, 12, 4099, 1 << 30};
    static const int windows[] = {0, 0, 1, 2, 3, 64};
    static const int algorithms[] = {KNOB_RING, KNOB_RING, KNOB_RING, KNOB_RING,
                                     KNOB_ROUNDS, KNOB_ROUNDS, KNOB_ROUNDS,
                                     KNOB_ROUNDS, KNOB_MESH_CYCLES, KNOB_MESH_CYCLES,
                                     KNOB_PULLS, KNOB_PULLS, KNOB_NODE_LEADERS,
                                     KNOB_NODE_LEADERS, KNOB_AUTO, KNOB_OFF};
    static const int leaders[] = {KNOB_AUTO, KNOB_LEADERS, KNOB_LEADERS_OFF};
    knob_setting_t setting = {.name = "fuzz"};
    const int algorithm = algorithms[dice_roll(dice, of.rush || of.threaded ? 14 : 16)];

    setting.algorithm = of.leaders ? KNOB_AUTO : of.pulls ? by_pulls(dice) : algorithm;
    setting.model = dice_roll(dice, 2);
    if (dice_once_in(dice, 2)) {
        int n = dice_roll(dice, 7);

        setting.block_size = n < 5 ? sizes[n] : (size_t) dice_between(dice, 1, 9000);
    }
    setting.window = windows[dice_roll(dice, 6)];
    if (of.rush) {
        setting.block_size = (size_t) (dice_once_in(dice, 2) ? dice_between(dice, 1, 64)
                                                             : dice_between(dice, 64, 2048));
        setting.window = 2;
    }
    setting.alone = dice_once_in(dice, 3);
    of.block_size = setting.block_size;
    of.gathers_forced = of.component && KNOB_AUTO != setting.algorithm
                        && KNOB_OFF != setting.algorithm;
    knob_apply(&setting);
    if (KNOB_AUTO == setting.algorithm) {
        knob_set("coll_mleader_allgather_algorithm", leaders[dice_roll(dice, 3)]);
    }
}

static void random_swaps(dice_t *dice)
{
    enum { AUTO = 0, BINS = 1, PERMUTED = 6 };
    static const int bytes[] = {0, 1, 100, 4096, 1 << 20};
    static const int windows[] = {0, 0, 1, 2, 5};
    static const int algorithms[] = {AUTO, BINS, PERMUTED};
    const int algorithm = algorithms[dice_roll(dice, 3)];

    knob_set("coll_pipering_alltoall_algorithm", AUTO == algorithm ? BINS : algorithm);
    knob_set("coll_pipering_alltoallv_algorithm", algorithm);
    knob_set("coll_pipering_alltoallw_algorithm", algorithm);
    knob_set("coll_pipering_neighbor_alltoallw_algorithm", algorithm % 2);
    knob_set("coll_pipering_alltoall_small", bytes[dice_roll(dice, 5)]);
    knob_set("coll_pipering_alltoall_window", windows[dice_roll(dice, 5)]);
    knob_set("coll_pipering_alltoall_in_place", bytes[dice_roll(dice, 5)]);
}

/**
 * Segments are of communicators to come; the variant is equal on all ranks for calls on the world.
 */
static void random_leaders(dice_t *dice)
{
    static const int segments[] = {0, 256, 8192, 8192, 16384, 65536, 2 << 20};
    const int segment = segments[dice_roll(dice, 7)], variant = dice_roll(dice, LEADING_VARIANTS);

    const long size = tap_number("SEGMENT", segment);

    if (0 < size && 8192 > size && (0 == of.block_size || 16 < of.block_size)) {
        of.block_size = 16; /* about a slice */
    }
    leading_setup((size_t) size);
    leading_use(leading_variant(of.threaded ? variant : 0));
}

static void random_setting(dice_t *dice)
{
    static const int buffers[] = {0, 4096, 8192};
    static double buffer_size = -1;

    if (0 > buffer_size) {
        buffer_size = knob_get("coll_pipering_ring_buffer_size", 0);
    }
    of.rush = dice_once_in(dice, 4);
    random_gathers(dice);
    if (of.leaders) {
        random_leaders(dice);
    } else {
        random_folds(dice);
        random_swaps(dice);
    }
    /* so that what is said of shared memory is said of leaders' */
    knob_set("coll_pipering_ring_buffer_size",
             of.leaders              ? 0
             : dice_once_in(dice, 2) ? buffer_size
                                     : buffers[dice_roll(dice, 3)]);
}

/* ---- communicators ---- */

/** Calls between two groups are none of the components'. */
static void try_inter(MPI_Comm inter)
{
    int rank, others, mine[2], all[2 * 64], count[64], displ[64];
    MPI_Request request;

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &others);
    for (int i = 0; i < others; i++) {
        count[i] = 1 + i % 2;
        displ[i] = 2 * i;
    }
    mine[0] = mine[1] = rank;
    for (int form = BLOCKING; form <= NONBLOCKING; form++) {
        if (BLOCKING == form) {
            MPI_Allgatherv(mine, 1 + rank % 2, MPI_INT, all, count, displ, MPI_INT, inter);
        } else {
            MPI_Iallgatherv(mine, 1 + rank % 2, MPI_INT, all, count, displ, MPI_INT, inter,
                            &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < others; i++) {
            if (i != all[displ[i]] || i != all[displ[i] + count[i] - 1]) {
                cases_fail("intercommunicator", "wrong");
            }
        }
    }
}

/** The halves of all ranks, the upper one first. */
static MPI_Comm merge_halves(MPI_Comm base)
{
    MPI_Comm half, inter, merged;
    int rank;

    MPI_Comm_rank(base, &rank);
    const bool low = rank < tap_size / 2;
    MPI_Comm_split(base, low, rank, &half);
    MPI_Intercomm_create(half, 0, base, low ? tap_size / 2 : 0, 3, &inter);
    try_inter(inter);
    MPI_Intercomm_merge(inter, low, &merged);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
    return merged;
}

static MPI_Comm random_comm(dice_t *dice, MPI_Comm base, int *color)
{
    MPI_Comm comm;
    int key = tap_rank, kind = dice_roll(dice, 8), colors = 1;
    int *order = tap_memory((size_t) tap_size * sizeof(*order));

    dice_shuffle(dice, order, tap_size);
    *color = 0;
    switch (kind) {
    case 0:
    case 1: /* reversed */
        key = 0 == kind ? tap_rank : -tap_rank;
        break;
    case 2: /* permuted */
        key = order[tap_rank];
        break;
    case 3: /* some ranks stay away */
        key = order[tap_rank];
        *color = key <= tap_size / 2 ? 0 : MPI_UNDEFINED;
        break;
    case 4:
    case 5: /* several, at random */
        colors = dice_between(dice, 1, 3);
        *color = order[tap_rank] % colors;
        key = kind == 5 ? order[tap_rank] : tap_rank;
        break;
    case 6: /* of a node, which no color tells from others */
        MPI_Comm_split_type(base, MPI_COMM_TYPE_SHARED, -tap_rank, MPI_INFO_NULL, &comm);
        free(order);
        *color = tap_rank;
        MPI_Bcast(color, 1, MPI_INT, 0, comm);
        return comm;
    default:
        if (1 < tap_size) {
            free(order);
            return merge_halves(base);
        }
    }
    MPI_Comm_split(base, *color, key, &comm);
    free(order);
    return comm;
}

/* ---- rows ---- */

/** A row of calls; the dice `shared` are equal on all ranks of the communicators. */
typedef struct row_t {
    MPI_Comm base;
    MPI_Comm comm[2], quiet, topology;
    int rank, size;
    int fast;  /* rank that never waits, -1: all do */
    int first; /* rank that starts before all others */
    dice_t shared, own;
    int calls;
    call_t *call[CALLS_AT_MOST];
    form_t form[CALLS_AT_MOST];
    bool served[CALLS_AT_MOST]; /* by the component, in any case */
    bool orphan[CALLS_AT_MOST];
    bool loses; /* if its persistent form is left below; of the last gather */
    MPI_Comm gone;
    uint64_t starts; /* that the pipelines must have served */
    knob_watch_t watch[WATCHES];
    uint32_t place; /* of the ranks */
} row_t;

static MPI_Comm any_comm(row_t *row)
{
    return row->comm[dice_roll(&row->shared, 2)];
}

/** Bytes of a contribution at most, so that small blocks are not too many of them. */
static size_t most_bytes(row_t *row)
{
    const size_t size = (size_t) row->size;
    size_t most = (size_t) 1 << dice_between(&row->shared, 0, of.leaders ? 19 : 16);

    if (of.rush && 0 != of.block_size) {
        most = (of.block_size > 64 ? 20 : 100) * of.block_size;
    } else if (0 != of.block_size && most > of.block_size * 1500 / size) {
        most = of.block_size * 1500 / size;
    }
    return most;
}

/* ---- gathers ---- */

typedef struct plan_t { /* what the ranks of a communicator agree on */
    MPI_Comm comm;
    uint64_t key;
    bool same, in_place;
    int unit;
    int step;   /**< contributions are multiples of so many units */
    int *units; /**< [size] by rank */
} plan_t;

static int steps_of(dice_t *dice, int shape, int rank, int chosen, int most)
{
    switch (shape) {
    case 0: /* regular */
        return most;
    case 1: /* none */
        return 0;
    case 2: /* sparse */
        return dice_once_in(dice, 8) ? most : 0;
    case 3: /* an outlier */
        return rank == chosen ? 8 * most : dice_roll(dice, 2);
    case 4: /* half */
        return rank % 2 ? dice_roll(dice, most + 1) : 0;
    case 5: /* one rank */
        return rank == chosen ? 4 * most : 0;
    default:
        return dice_roll(dice, most + 1);
    }
}

static plan_t random_plan(row_t *row)
{
    static const int steps[] = {1, 1, 2, 3, 4, 6, 12, 24, 60};
    dice_t *dice = &row->shared;
    plan_t plan = {.comm = any_comm(row), .key = dice_word(dice)};
    int shape = dice_roll(dice, 9), chosen = dice_roll(dice, row->size), most;

    plan.same = of.leaders || dice_once_in(dice, 3);
    plan.in_place = dice_once_in(dice, 3);
    plan.unit = dice_roll(dice, LAYOUT_UNITS);
    plan.step = steps[dice_roll(dice, 9)];
    most = (int) (most_bytes(row) / layout_unit_size(plan.unit)) / plan.step + 1;
    plan.units = tap_memory((size_t) row->size * sizeof(int));
    for (int i = 0; i < row->size; i++) {
        plan.units[i] = plan.step
                        * (plan.same ? (1 == shape ? 0 : most)
                                     : steps_of(dice, shape, i, chosen, most));
    }
    return plan;
}

/** The call with random types; NULL if they make blocks overlap, or are none for others. */
static call_t *try_types(const plan_t *plan, const row_t *row, dice_t *dice, bool simple,
                         bool forced)
{
    const bool unlike = of.mismatch && 1 < row->size; /* coll/self loses bytes behind 64 KiB */
    const int mine = plan->units[row->rank];
    int recv_units = simple ? 1 : dice_divisor(dice, plan->step), most = 0;
    int *count = tap_memory((size_t) row->size * sizeof(int));
    exchange_spec_t spec = {.comm = plan->comm, .key = plan->key, .same = plan->same};
    call_t *call = NULL;

    for (int i = 0; i < row->size; i++) {
        most = plan->units[i] > most ? plan->units[i] : most;
    }
    most /= recv_units;
    spec.recv = simple ? layout_unit(plan->unit, 0) : layout_random(dice, plan->unit, recv_units, most);
    for (int i = 0; i < row->size; i++) {
        count[i] = plan->units[i] / recv_units;
    }
    int send_units = 0 == mine ? plan->step : dice_divisor(dice, mine);
    if (!unlike || 200 < send_units) {
        send_units = recv_units;
    }
    spec.count = count;
    spec.send_count = mine / send_units;
    spec.send = unlike ? layout_random(dice, plan->unit, send_units, mine / send_units) : spec.recv;
    spec.in_place = plan->in_place;
    spec.bare = of.component && dice_once_in(dice, 2);
    spec.absolute = dice_once_in(dice, 8) && 1 < row->size; /* both types are others then */
    spec.dice = dice_once_in(dice, 3) ? NULL : dice;
    spec.owned = true;
    /* Open MPI's own MPI_Allgather fails on types of negative extent */
    if (!plan->same || forced || (0 <= spec.recv->extent && 0 <= spec.send->extent)) {
        call = exchange_new(&spec);
    }
    if (NULL == call) {
        if (spec.send != spec.recv) {
            layout_free(spec.send);
        }
        layout_free(spec.recv);
    }
    free(count);
    return call;
}

/** The columns of a matrix that is stored by rows: blocks interleave in memory. */
static call_t *columns(row_t *row)
{
    const int rows = 1 + dice_roll(&row->shared, 60), unit = dice_roll(&row->shared, LAYOUT_UNITS);
    layout_t *cell = layout_unit(unit, 0);
    const MPI_Aint extent = cell->extent;
    exchange_spec_t spec = {.comm = any_comm(row), .key = dice_word(&row->shared),
                            .same = of.leaders || dice_once_in(&row->shared, 2),
                            .in_place = dice_once_in(&row->shared, 3), .send_count = 1,
                            .owned = true};
    int one[64], displ[64];

    spec.recv = layout_resized(0, extent, layout_vector(rows, 1, row->size, cell));
    spec.send = of.mismatch && 1 < row->size ? layout_contiguous(rows, layout_unit(unit, 0))
                                             : spec.recv;
    for (int i = 0; i < row->size; i++) {
        one[i] = 1;
        displ[i] = row->size - 1 - i;
    }
    spec.count = one;
    spec.displ = displ;
    return exchange_new(&spec);
}

/** Types of no bytes, of which counts say something. */
static call_t *nothing(row_t *row)
{
    exchange_spec_t spec = {.comm = any_comm(row), .same = of.leaders || dice_once_in(&row->shared, 2),
                            .send_count = 3, .owned = true};
    int count[64];

    for (int i = 0; i < row->size; i++) {
        count[i] = spec.same ? 5 : 5 + i;
    }
    spec.count = count;
    spec.send = layout_contiguous(0, layout_unit(3, 0));
    spec.recv = layout_resized(-4, 64, layout_contiguous(0, layout_unit(3, 0)));
    return exchange_new(&spec);
}

static call_t *random_gather(row_t *row)
{
    const bool forced = of.gathers_forced || of.leaders;
    call_t *call = NULL;

    row->loses = false;
    switch (dice_roll(&row->shared, of.component ? 16 : 14)) {
    case 14:
        return nothing(row);
    case 15:
        return columns(row);
    }
    plan_t plan = random_plan(row);
    dice_t types = of.mismatch && 1 < row->size ? row->own : row->shared;
    for (int attempt = 0; NULL == call && attempt < 20; attempt++) {
        call = try_types(&plan, row, &types, 19 == attempt, forced);
    }
    if (NULL == call) {
        tap_bail("no types for case %d", of.number);
    }
    row->own = dice_from(row->own.state, plan.key, 0);
    /* coll/libnbc loses a rank's own bytes behind 64 KiB; in other forms these are put in place */
    for (int i = 0; i < row->size && of.mismatch; i++) {
        row->loses |= 65536 < (size_t) plan.units[i] * layout_unit_size(plan.unit);
    }
    free(plan.units);
    return call;
}

/* ---- other calls ---- */

static call_t *random_fold(row_t *row)
{
    const bool rooted = of.rush && 64 >= of.block_size;
    fold_spec_t spec = {.comm = any_comm(row), .call = FOLD_ANY, .mismatch = of.mismatch,
                        .rooted = rooted, .root = rooted ? row->fast : 0, .most = most_bytes(row),
                        .close = of.staged};

    spec.forced = of.folds_forced && 1 < row->size;
    image_memory.hosted = !spec.forced && !of.staged;
    call_t *call = fold_new(&spec, &row->shared, &row->own);
    image_memory.hosted = false;
    return call;
}

/**
 * Open MPI's own calls are wrong (5.0.7: MPI_Ialltoallw with derived types), also of one process,
 * which the component does not serve (MPI_Alltoallw takes its displacements in extents,
 * MPI_Ialltoallv gives an error, neighbours that are the rank itself are mixed up). With 95
 * hundredths of zeros on 20 ranks the few messages that have elements are listed.
 */
static call_t *random_swap(row_t *row, swap_kind_t kind)
{
    static const int zeros[] = {0, 25, 50, 75, 95, 100};
    const bool neighbors = SWAP_NEIGHBORS == kind;
    const swap_spec_t spec = {.kind = kind,
                              .comm = neighbors ? row->topology : any_comm(row),
                              .quiet = row->quiet,
                              .in_place = dice_once_in(&row->shared, 3) && !neighbors,
                              .zeros = zeros[dice_roll(&row->shared, 6)],
                              .most = most_bytes(row)};

    return swap_new(&spec, dice_word(&row->shared), &row->own);
}

/** Makes a call, and decides on its form; of what Open MPI leaks by itself see cases.h. */
static void prepare(row_t *row, int i)
{
    const bool swaps = of.component && 1 < row->size;
    const int what = dice_roll(&row->shared, swaps ? 3 : 2);
    const bool gather = of.leaders || 0 == what, swap = !gather && 2 == what;
    const swap_kind_t kind = (swap_kind_t) dice_roll(&row->shared, SWAP_KINDS);

    const bool forced = gather ? of.gathers_forced : of.folds_forced;
    /* others than the component's pipelines ask the address alone whether it is a device's */
    image_memory.around = swap || 1 == row->size || !(forced || (of.leaders && of.staged));
    row->call[i] = gather ? random_gather(row) : swap ? random_swap(row, kind) : random_fold(row);
    image_memory.around = false;
    const bool pipelined = !swap && forced && 1 < row->size && call_has_data(row->call[i]);
    row->served[i] = pipelined || swap;
    row->form[i] = of.staged || (of.turns && 0 == i) ? BLOCKING
                   : of.turns                        ? NONBLOCKING
                                                     : (form_t) dice_roll(&row->shared, FORMS);
    if (cases_watched && swap && SWAP_V < kind) {
        row->form[i] = BLOCKING;
    } else if ((cases_watched || (gather && row->loses)) && PERSISTENT == row->form[i]
               && !row->served[i]) {
        row->form[i] = NONBLOCKING;
    }
    row->starts += pipelined ? 1 + (PERSISTENT == row->form[i]) : 0;
    row->orphan[i] = BLOCKING != row->form[i] && row->served[i] && dice_once_in(&row->shared, 3);
}

/* ---- running ---- */

static void sleep_some(dice_t *dice)
{
    const struct timespec pause = {.tv_nsec = 1000L * dice_roll(dice, LONGEST_SLEEP)};

    nanosleep(&pause, NULL);
}

/** Another operation on the communicator, between the calls. */
static void interlude(row_t *row)
{
    int word = 5, sum = 0;

    switch (of.rush || of.turns ? 2 : dice_roll(&row->shared, 6)) {
    case 0:
        MPI_Barrier(row->comm[0]);
        break;
    case 1:
        MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, row->comm[0]);
        if (5 * row->size != sum) {
            cases_fail("MPI_Allreduce", "wrong");
        }
        break;
    default:
        break;
    }
}

static void check(int code)
{
    if (MPI_SUCCESS != code) {
        cases_fail("call", "gave an error");
    }
}

/* The communicators on which calls are watched. */
static MPI_Comm watched_comm(const row_t *row, int k)
{
    return WATCHES - 1 > k ? row->comm[k] : row->topology;
}

static void watch(row_t *row)
{
    for (int k = 0; k < WATCHES; k++) {
        if (MPI_COMM_NULL != watched_comm(row, k)) {
            knob_watch(watched_comm(row, k), &row->watch[k]);
        }
    }
}

static void unwatch(row_t *row)
{
    for (int k = 0; k < WATCHES; k++) {
        if (MPI_COMM_NULL != watched_comm(row, k)) {
            knob_unwatch(&row->watch[k]);
        }
    }
}

/* What the component says of the last call on a communicator, NULL if none has come to it. */
static const char *verdict_on(row_t *row, MPI_Comm comm)
{
    int k = 0;

    while (comm != watched_comm(row, k)) {
        k++;
    }
    return knob_verdict(&row->watch[k]);
}

/* What coll/mleader has left, of which threads cannot tell whose it was. */
static uint64_t left_by_leaders(void)
{
    return of.threaded ? 0 : knob_counters("coll_mleader_fallback_");
}

/*
 * What serves a call that has been started. MPI_Allgather comes to coll/mleader first, which counts
 * what it leaves; a call without data may come to nobody.
 */
static uint32_t server_of(row_t *row, int i, uint64_t left)
{
    const call_t *call = row->call[i];
    const bool alone = !of.component || 1 == row->size, has_data = call_has_data(call);
    const bool gather = !alone && DRAWN(DRAWN_ALLGATHER) == call->drawn.of[DRAWN_CALL];
    const char *verdict = verdict_on(row, call->comm);

    if (gather && of.threaded) {
        return 0;
    }
    if (gather && has_data && left == left_by_leaders()) {
        verdict = DRAWN_BY_LEADERS;
    } else if (NULL == verdict && !alone && !has_data && PERSISTENT != row->form[i]) {
        verdict = DRAWN_WITHOUT_DATA;
    }
    return drawn_algorithm(&call->drawn, verdict);
}

static void note_drawn(row_t *row, int i, uint64_t left)
{
    drawn_t drawn = row->call[i]->drawn;

    drawn.of[DRAWN_FORM] = DRAWN(row->form[i]);
    drawn.of[DRAWN_PLACE] = row->place;
    drawn.of[DRAWN_ALGORITHM] = server_of(row, i, left);
    drawn_add(&drawn);
}

/* The turn of a rank: it has heard from the one before, and then tells the one behind. */
static void turn(const row_t *row, bool begins)
{
    const int place = (row->rank - row->first + row->size) % row->size;

    if (begins && 0 < place) {
        MPI_Recv(NULL, 0, MPI_BYTE, (row->rank + row->size - 1) % row->size, TURN, row->quiet,
                 MPI_STATUS_IGNORE);
    } else if (!begins && row->size - 1 > place) {
        MPI_Send(NULL, 0, MPI_BYTE, (row->rank + 1) % row->size, TURN, row->quiet);
    }
}

static void start_all(row_t *row)
{
    const bool waits = of.rush && !of.turns && row->rank != row->fast;

    for (int i = 0; i < row->calls; i++) {
        call_t *call = row->call[i];

        if (of.turns && 1 == i) {
            turn(row, true);
        }

        if (of.leaders && !of.threaded) {
            leading_use(leading_variant(dice_roll(&row->shared, LEADING_VARIANTS)));
        }
        if (waits && dice_once_in(&row->own, 3)) {
            sleep_some(&row->own);
        }
        vanish_arguments = row->served[i];
        if (PERSISTENT == row->form[i] && row->served[i] && dice_once_in(&row->shared, 4)) {
            check(call_init(call)); /* and never started */
            MPI_Request_free(&call->request);
        }
        const uint64_t left = left_by_leaders();
        (void) verdict_on(row, call->comm);
        check(call_start(call, row->form[i]));
        vanish_arguments = false;
        note_drawn(row, i, left);
        if (row->orphan[i]) {
            call_orphan(call);
        }
        interlude(row);
        if (waits && dice_once_in(&row->own, 3)) {
            check(call_wait(row->call[dice_roll(&row->own, i + 1)]));
        }
    }
    if (of.turns && 1 < row->calls) {
        turn(row, false);
    }
}

static void complete_one_by_one(row_t *row, MPI_Request *request)
{
    int order[CALLS_AT_MOST], done;

    dice_shuffle(&row->own, order, row->calls);
    for (int i = 0; i < row->calls; i++) {
        if (dice_once_in(&row->own, 2)) {
            for (done = 0; !done;) {
                MPI_Test(&request[order[i]], &done, MPI_STATUS_IGNORE);
            }
        } else if (dice_once_in(&row->own, 2)) {
            for (done = 0; !done;) {
                MPI_Request_get_status(request[order[i]], &done, MPI_STATUS_IGNORE);
            }
        }
        MPI_Wait(&request[order[i]], MPI_STATUS_IGNORE);
    }
}

static void complete(row_t *row)
{
    MPI_Request request[CALLS_AT_MOST];
    int index[CALLS_AT_MOST], some = 0;

    for (int i = 0; i < row->calls; i++) {
        request[i] = row->call[i]->request;
    }
    switch (dice_roll(&row->own, 5)) {
    case 0:
        MPI_Waitall(row->calls, request, MPI_STATUSES_IGNORE);
        break;
    case 1:
        while (MPI_UNDEFINED != some) {
            MPI_Waitany(row->calls, request, &some, MPI_STATUS_IGNORE);
        }
        break;
    case 2:
        while (MPI_UNDEFINED != some) {
            MPI_Testsome(row->calls, request, &some, index, MPI_STATUSES_IGNORE);
        }
        break;
    case 3:
        while (!some) {
            MPI_Testall(row->calls, request, &some, MPI_STATUSES_IGNORE);
        }
        break;
    default:
        complete_one_by_one(row, request);
    }
    for (int i = 0; i < row->calls; i++) {
        row->call[i]->request = request[i];
    }
}

/* The rank that was first to start has no result before the others, whom it serves meanwhile. */
static void complete_in_turn(row_t *row)
{
    if (of.turns && row->rank == row->first) {
        for (int i = 1; i < row->size; i++) {
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TURN, row->quiet, MPI_STATUS_IGNORE);
        }
    }
    complete(row);
    if (of.turns && row->rank != row->first) {
        MPI_Send(NULL, 0, MPI_BYTE, row->first, TURN, row->quiet);
    }
}

static void judge(call_t *call)
{
    if (!call_right(call)) {
        cases_fail(form_name(call->form), call->fault);
    }
}

/** Persistent calls once more, in another order on each rank. */
static void restart(row_t *row)
{
    int order[CALLS_AT_MOST];

    for (int end = 0; end < 2; end++) {
        dice_shuffle(&row->own, order, row->calls);
        for (int i = 0; i < row->calls; i++) {
            call_t *call = row->call[order[i]];

            if (PERSISTENT != row->form[order[i]]) {
                continue;
            } else if (!end) {
                call_reset(call);
                check(MPI_Start(&call->request));
            } else {
                check(call_wait(call));
                judge(call);
            }
        }
    }
}

/** Wildcards must not see messages of collectives, nor the reverse. */
typedef struct wildcard_t {
    MPI_Request request;
    int word;
} wildcard_t;

static void wildcard_post(wildcard_t *any, const row_t *row)
{
    MPI_Irecv(&any->word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, row->comm[0], &any->request);
}

static void wildcard_end(wildcard_t *any, const row_t *row)
{
    const int from = (row->rank + row->size - 1) % row->size;
    MPI_Status status;

    MPI_Send(&row->rank, 1, MPI_INT, (row->rank + 1) % row->size, 3, row->comm[0]);
    MPI_Wait(&any->request, &status);
    if (from != status.MPI_SOURCE || 3 != status.MPI_TAG || from != any->word) {
        cases_fail("a message to any source and tag", "another one");
    }
}

/** Others come in the place of communicators that are gone. */
static void free_comms(row_t *row)
{
    unwatch(row);
    MPI_Comm_free(&row->comm[0]);
    MPI_Comm_free(&row->comm[1]);
    if (MPI_COMM_NULL != row->topology) {
        MPI_Comm_free(&row->topology);
    }
}

static void run_calls(row_t *row)
{
    const bool any = dice_once_in(&row->shared, 4);
    bool all_served = true;
    wildcard_t wildcard;

    row->calls = of.rush ? CALLS_AT_MOST : dice_between(&row->shared, 1, 5);
    row->fast = of.rush ? dice_roll(&row->shared, row->size) : -1;
    row->first = of.turns ? dice_roll(&row->shared, row->size) : 0;
    for (int i = 0; i < row->calls; i++) {
        prepare(row, i);
        all_served = all_served && row->served[i];
    }
    if (any) {
        wildcard_post(&wildcard, row);
    }
    start_all(row);
    if (any) {
        wildcard_end(&wildcard, row);
    }
    const bool early = all_served && dice_once_in(&row->shared, 2);
    if (early) {
        free_comms(row);
        MPI_Comm_dup(row->quiet, &row->gone);
    }
    complete_in_turn(row);
    for (int i = 0; i < row->calls; i++) {
        judge(row->call[i]);
    }
    restart(row);
    for (int i = 0; i < row->calls; i++) {
        call_free(row->call[i]);
    }
    if (early) {
        MPI_Comm_free(&row->gone);
    } else {
        free_comms(row);
    }
}

static void make_topology(row_t *row)
{
    uint64_t key = dice_word(&row->shared);
    const char *name;

    while (cases_watched && swap_topology_is_graph(key)) {
        key = dice_word(&row->shared);
    }
    if (1 < row->size && !of.leaders) {
        row->topology = swap_topology(row->comm[0], key, &name);
    }
}

/** By what tap_nodes says of all ranks, without messages. */
static uint32_t place_of(MPI_Comm comm)
{
    MPI_Group all, some;
    int size, rank[64], world[64];

    MPI_Comm_size(comm, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &some);
    for (int i = 0; i < size; i++) {
        rank[i] = i;
    }
    MPI_Group_translate_ranks(some, size, rank, all, world);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    for (int i = 0; i < size; i++) {
        rank[i] = of.node[world[i]];
    }
    return drawn_place(rank, size);
}

/** A row on communicators that are made of `base`; its dice are those of thread `thread`. */
static void run_row(row_t *row, int thread)
{
    const uint64_t number = (uint64_t) (of.number + 1000000 * thread);
    dice_t world = dice_from(of.seed, number, 1);
    int color;

    row->comm[0] = random_comm(&world, row->base, &color);
    row->topology = MPI_COMM_NULL;
    if (MPI_COMM_NULL == row->comm[0]) {
        return;
    }
    row->shared = dice_from(of.seed, number, 1000 + (uint64_t) color);
    row->own = dice_from(of.seed, number, 2000 + (uint64_t) tap_rank);
    MPI_Comm_rank(row->comm[0], &row->rank);
    MPI_Comm_size(row->comm[0], &row->size);
    MPI_Comm_dup(row->comm[0], &row->comm[1]);
    MPI_Comm_dup(row->comm[0], &row->quiet);
    row->place = place_of(row->comm[0]);
    make_topology(row);
    watch(row);
    run_calls(row);
    MPI_Comm_free(&row->quiet);
}

/* ---- cases ---- */

typedef struct worker_t {
    pthread_t thread;
    int number;
    row_t row;
} worker_t;

static void *work(void *argument)
{
    worker_t *worker = argument;

    run_row(&worker->row, worker->number);
    return NULL;
}

static uint64_t run_threads(int threads)
{
    worker_t worker[THREADS_AT_MOST];
    uint64_t starts = 0;

    for (int i = 0; i < threads; i++) {
        worker[i] = (worker_t){.number = i};
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -tap_rank : tap_rank, &worker[i].row.base);
    }
    for (int i = 0; i < threads; i++) {
        pthread_create(&worker[i].thread, NULL, work, &worker[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(worker[i].thread, NULL);
        MPI_Comm_free(&worker[i].row.base);
        starts += worker[i].row.starts;
    }
    return starts;
}

static uint64_t run_one(void)
{
    row_t row = {.base = MPI_COMM_WORLD};

    run_row(&row, 0);
    return row.starts;
}

void cases_all(uint64_t seed, int number)
{
    const int threads = (int) tap_number("THREADS", 0);
    dice_t world = dice_from(seed, (uint64_t) number, 0);
    const uint64_t before = knob_counter("coll_pipering_calls");

    of.seed = seed;
    of.number = number;
    if (NULL == of.node) {
        of.node = tap_memory((size_t) tap_size * sizeof(int));
        (void) tap_nodes(MPI_COMM_WORLD, of.node);
    }
    of.component = 1 < knob_settings_count();
    of.mismatch = of.component || 0 != tap_number("TEST_MISMATCH", 0);
    of.leaders = 0 != tap_number("LEADERS", 0);
    of.turns = 0 != tap_number("TURNS", 0);
    of.pulls = 0 != tap_number("PULLS", 0);
    of.threaded = 0 < threads;
    of.staged = 0 != tap_number("STAGED", 0);
    random_setting(&world);
    const uint64_t starts = of.threaded ? run_threads(threads) : run_one();
    if (knob_counter("coll_pipering_calls") < before + starts) {
        cases_fail("forced calls", "another module has served some");
    }
}
