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
 * No memory: on rank 0 the k-th request for memory that the components make in a
 * call is refused, for k = 1, 2, ... until a call makes fewer. Each call is the
 * first on a communicator of its own, so setup and plan fail as well.
 *
 * Rank 0 has to get an error of class MPI_ERR_NO_MEM, to live on, and to hold nothing
 * any more once the communicator is freed. The others then wait for it for ever, as MPI
 * has it, so each of their calls runs in a thread that is given up. At the end the job
 * is aborted with status ABORTED. SET=0: gathers; 1: broadcasts, reductions and scans;
 * 2: gathers with leaders; 3: exchanges.
 *
 * In some exchanges rank 0 has no part: the others must not miss it, and the next call
 * on the communicator must go well for all.
 *
 * With FATAL=k the k-th request fails under the default error handler: if the
 * job gets past that it says so and ends well, which the script takes for wrong.
 * With CREATION=k it fails while a communicator is made that is then used.
 */

#include "allocator.h"
#include "exchange.h"
#include "fold.h"
#include "knob.h"
#include "leading.h"
#include "swap.h"
#include "tap.h"
#include "usage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABORTED 7
#define REQUESTS_AT_MOST 60
#define TAG 5

/** A kind of call. */
typedef struct kind_t {
    const char *name;
    form_t how;
    bool again; /**< the second call on its communicator, the setup being made */
    bool fold;
    bool strided;     /**< of a gather */
    bool led;         /**< a gather with leaders ... */
    leading_variant_t variant;
    size_t segment_size;
    bool last;        /**< rank 0 is the last one */
    fold_call_t call; /**< of a fold */
    bool at_root;     /**< the root of a fold gets no memory, else another rank */
    int algorithm;    /**< of MPI_Allreduce, of an exchange; of a gather, 0: the ring */
    bool swap;        /**< an exchange ... */
    swap_kind_t swap_kind;
    bool in_place;
    bool graph;       /**< neighbours in a graph with many edges, else in a ring */
    bool without_0;
} kind_t;

static const kind_t gathers[] = {
    {.name = "blocking", .how = BLOCKING},
    {.name = "nonblocking", .how = NONBLOCKING},
    {.name = "blocking, strided type", .how = BLOCKING, .strided = true, .again = true},
    {.name = "nonblocking, strided type", .how = NONBLOCKING, .strided = true, .again = true},
    {.name = "in rounds", .how = BLOCKING, .again = true, .algorithm = KNOB_ROUNDS},
    {.name = "in rounds, nonblocking, strided type", .how = NONBLOCKING, .strided = true,
     .algorithm = KNOB_ROUNDS},
};

#define FOLD(Name, How, Call) .name = Name, .how = How, .fold = true, .call = Call
static const kind_t folds[] = {
    {FOLD("bcast, blocking", BLOCKING, FOLD_BCAST), .at_root = true},
    {FOLD("bcast, persistent", PERSISTENT, FOLD_BCAST), .again = true},
    {FOLD("reduce, nonblocking", NONBLOCKING, FOLD_REDUCE), .at_root = true},
    {FOLD("reduce, blocking", BLOCKING, FOLD_REDUCE), .again = true},
    {FOLD("scan, persistent", PERSISTENT, FOLD_SCAN)},
    {FOLD("scan, blocking", BLOCKING, FOLD_SCAN), .again = true},
    {FOLD("exscan, nonblocking", NONBLOCKING, FOLD_EXSCAN), .again = true},
    {FOLD("allreduce, merged", BLOCKING, FOLD_ALLREDUCE), .algorithm = KNOB_MERGED},
    {FOLD("allreduce, ring", NONBLOCKING, FOLD_ALLREDUCE), .algorithm = KNOB_RING},
    {FOLD("allreduce, rounds", BLOCKING, FOLD_ALLREDUCE), .algorithm = KNOB_ROUNDS},
    {FOLD("reduce_scatter, ring", NONBLOCKING, FOLD_REDUCE_SCATTER), .algorithm = KNOB_RING},
    {FOLD("reduce_scatter, rounds", BLOCKING, FOLD_REDUCE_SCATTER), .algorithm = KNOB_ROUNDS},
};

/* One leader of one rank, and one with a child; results of 64 KiB and more. */
#define LED .led = true
#define SHM {-1, -1, -1}
#define MESSAGES {1, -1, 0}
static const kind_t leaders[] = {
    {.name = "leaders, by shared memory", LED, .variant = SHM, .segment_size = 8192},
    {.name = "leaders, by messages", LED, .variant = MESSAGES},
    {.name = "leaders, a child", LED, .variant = SHM, .segment_size = 8192, .last = true},
    {.name = "leaders, by shared memory, strided type", LED, .variant = SHM,
     .segment_size = 8192, .strided = true, .again = true},
    {.name = "leaders, by messages, strided type", LED, .variant = MESSAGES, .strided = true,
     .again = true},
    {.name = "leaders, nonblocking", LED, .how = NONBLOCKING, .variant = SHM,
     .segment_size = 8192, .again = true},
    {.name = "leaders, nonblocking, by messages, strided type", LED, .how = NONBLOCKING,
     .variant = MESSAGES, .strided = true, .again = true},
    {.name = "leaders, persistent", LED, .how = PERSISTENT, .variant = SHM,
     .segment_size = 8192},
    {.name = "leaders, persistent, strided type", LED, .how = PERSISTENT, .variant = SHM,
     .segment_size = 8192, .strided = true, .again = true},
};

/* Few messages have room in the request; copies and many messages have not. */
#define PERMUTED 6
#define SWAP(Name, How, Call) .name = Name, .how = How, .swap = true, .swap_kind = Call
static const kind_t swaps[] = {
    {SWAP("alltoallv, in place", BLOCKING, SWAP_V), .in_place = true},
    {SWAP("alltoallv, nonblocking", NONBLOCKING, SWAP_V)},
    {SWAP("neighbors, persistent", PERSISTENT, SWAP_NEIGHBORS), .graph = true},
    {SWAP("alltoallv, in place, persistent", PERSISTENT, SWAP_V), .in_place = true},
    {SWAP("alltoallw, in place", BLOCKING, SWAP_W), .in_place = true},
    {SWAP("alltoallw, in place, nonblocking", NONBLOCKING, SWAP_W), .in_place = true},
    {SWAP("alltoallw, persistent", PERSISTENT, SWAP_W)},
    {SWAP("alltoallv, permuted", BLOCKING, SWAP_V), .algorithm = PERMUTED},
    {SWAP("alltoallw, permuted, nonblocking", NONBLOCKING, SWAP_W), .algorithm = PERMUTED},
    {SWAP("alltoallv, permuted, persistent", PERSISTENT, SWAP_V), .algorithm = PERMUTED},
    {SWAP("neighbors", BLOCKING, SWAP_NEIGHBORS), .graph = true},
    {SWAP("neighbors, nonblocking", NONBLOCKING, SWAP_NEIGHBORS), .graph = true},
    {SWAP("neighbors in a ring", BLOCKING, SWAP_NEIGHBORS)},
    {SWAP("without rank 0: alltoallv, persistent", PERSISTENT, SWAP_V), .without_0 = true},
    {SWAP("without rank 0: alltoallw, nonblocking", NONBLOCKING, SWAP_W), .without_0 = true},
    {SWAP("without rank 0: neighbors", BLOCKING, SWAP_NEIGHBORS), .without_0 = true,
     .graph = true},
    {SWAP("without rank 0: neighbors in a ring", BLOCKING, SWAP_NEIGHBORS), .without_0 = true},
    {SWAP("without rank 0: neighbors in a ring, nonblocking", NONBLOCKING, SWAP_NEIGHBORS),
     .without_0 = true},
    {SWAP("without rank 0: neighbors in a ring, persistent", PERSISTENT, SWAP_NEIGHBORS),
     .without_0 = true},
};

static const struct {
    const kind_t *kind;
    int count;
} sets[] = {
    {gathers, sizeof(gathers) / sizeof(gathers[0])},
    {folds, sizeof(folds) / sizeof(folds[0])},
    {leaders, sizeof(leaders) / sizeof(leaders[0])},
    {swaps, sizeof(swaps) / sizeof(swaps[0])},
};

static int key = 900;
static MPI_Comm quiet; /* for the reference of swaps */

/* ---- a call ---- */

static int led_count(int rank)
{
    (void) rank;
    return 200000;
}

static int gather_count(int rank)
{
    return 3000 + 1000 * rank;
}

static call_t *new_gather(MPI_Comm comm, const kind_t *kind)
{
    return exchange_simple(comm, (uint64_t) key++, kind->led,
                           kind->strided ? layout_vector(2, 1, 3, layout_unit(3, 0))
                                         : layout_unit(3, 0),
                           kind->led ? led_count : gather_count);
}

/* The same of a kind each time. */
static call_t *new_fold(MPI_Comm comm, const kind_t *kind)
{
    const fold_spec_t spec = {.comm = comm,
                              .call = kind->call,
                              .rooted = true,
                              .root = kind->at_root ? tap_size - 1 : 0,
                              .most = 30000,
                              .forced = true};
    dice_t shared = dice_from(21, (uint64_t) (kind - folds), 0), own = shared;

    return fold_new(&spec, &shared, &own);
}

static call_t *new_swap(MPI_Comm comm, const kind_t *kind, bool without_0)
{
    const swap_spec_t spec = {.comm = comm,
                              .quiet = quiet,
                              .kind = kind->swap_kind,
                              .in_place = kind->in_place,
                              .most = 200000,
                              .without_0 = without_0};
    dice_t own = dice_from((uint64_t) key, 0, (uint64_t) tap_rank);

    return swap_new(&spec, (uint64_t) key++, &own);
}

/** A call that is made once, maybe in a thread. */
typedef struct attempt_t {
    call_t *call;
    form_t how;
    int code;
    pthread_t thread;
} attempt_t;

static attempt_t *attempt_new(MPI_Comm comm, const kind_t *kind, bool without_0)
{
    attempt_t *attempt = tap_memory(sizeof(*attempt));

    attempt->how = kind->how;
    attempt->call = kind->fold   ? new_fold(comm, kind)
                    : kind->swap ? new_swap(comm, kind, without_0)
                                 : new_gather(comm, kind);
    return attempt;
}

static void *run(void *argument)
{
    attempt_t *attempt = argument;

    attempt->code = call_run(attempt->call, attempt->how);
    return NULL;
}

/** Whether it has gone well; it is gone then. */
static bool attempt_end(attempt_t *attempt)
{
    const bool right = MPI_SUCCESS == attempt->code && call_right(attempt->call);

    call_free(attempt->call);
    free(attempt);
    return right;
}

/* ---- rank 0 ---- */

static bool is_no_memory(int code, const char *kind, long k)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_SUCCESS, length;

    MPI_Error_class(code, &class);
    if (MPI_ERR_NO_MEM != class) {
        MPI_Error_string(code, text, &length);
        printf("# %s: refused request %ld gives error %d, class %d: %s\n", kind, k, code, class,
               text);
    }
    return MPI_ERR_NO_MEM == class;
}

/** The call with the k-th request refused; true if there was such a request. */
static bool starve(MPI_Comm comm, const kind_t *kind, long k, bool *right)
{
    attempt_t *attempt = attempt_new(comm, kind, kind->without_0);
    long requests;

    allocator_arm(k);
    run(attempt);
    requests = allocator_disarm();
    if (requests >= k) {
        *right &= is_no_memory(attempt->code, kind->name, k);
    }
    *right &= attempt_end(attempt) || requests >= k;
    return requests >= k;
}

/* ---- the other ranks ---- */

/** The call in a thread; given up if rank 0 says so, and is missed. */
static bool attend(MPI_Comm comm, const kind_t *kind)
{
    attempt_t *attempt = attempt_new(comm, kind, kind->without_0);
    int refused;

    pthread_create(&attempt->thread, NULL, run, attempt);
    MPI_Recv(&refused, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (refused && !kind->without_0) {
        pthread_detach(attempt->thread);
        return true;
    }
    pthread_join(attempt->thread, NULL);
    return attempt_end(attempt);
}

/* ---- both ---- */

static int kept; /* segments that there were before */

/**
 * Nothing is left when the communicator is gone too, but for ring buffers' memory, one a process,
 * and the node's board (of pulls).
 */
static bool holds_nothing(const kind_t *kind, long k)
{
    const int held = allocator_held(), mapped = usage_mappings(USAGE_SEGMENT);
    const bool right = 0 == held && (kind->led ? kept : tap_size + 1) >= mapped;

    if (!right) {
        printf("# %s: request %ld: %d pieces of memory and %d segments are left\n", kind->name, k,
               held, mapped - kept);
    }
    return right;
}

static MPI_Comm connected(MPI_Comm comm, bool graph)
{
    enum { EDGES = 40 };
    const int edges = tap_size * EDGES;
    int *neighbor = tap_memory((size_t) edges * sizeof(int)), periodic = 1;
    int *weight = neighbor;
    MPI_Comm topology;

    for (int i = 0; i < edges; i++) {
        neighbor[i] = i / EDGES;
    }
    if (graph) {
        MPI_Dist_graph_create_adjacent(comm, edges, neighbor, weight, edges, neighbor, weight,
                                       MPI_INFO_NULL, 0, &topology);
    } else {
        MPI_Cart_create(comm, 1, &tap_size, &periodic, 0, &topology);
    }
    MPI_Comm_free(&comm);
    free(neighbor);
    return topology;
}

static MPI_Comm new_comm(const kind_t *kind)
{
    MPI_Comm comm;

    /* rank 0 comes last in folds, where a scan combines */
    MPI_Comm_split(MPI_COMM_WORLD, 0, kind->fold || kind->last ? -tap_rank : tap_rank, &comm);
    if (kind->swap && SWAP_NEIGHBORS == kind->swap_kind) {
        comm = connected(comm, kind->graph);
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/** A call with memory for everyone; of leaders a blocking one, which sets the communicator up. */
static bool plain_right(MPI_Comm comm, const kind_t *kind)
{
    attempt_t *attempt = attempt_new(comm, kind, false);

    attempt->how = kind->led ? BLOCKING : kind->how;
    run(attempt);
    return attempt_end(attempt);
}

/** True if a request was refused, on all ranks. */
static bool step(const kind_t *kind, long k, bool *right)
{
    MPI_Comm comm = new_comm(kind);
    int refused = 0;

    if (kind->again) {
        *right &= plain_right(comm, kind);
    }
    if (0 == tap_rank) {
        refused = starve(comm, kind, k, right);
        for (int i = 1; i < tap_size; i++) {
            MPI_Send(&refused, 1, MPI_INT, i, TAG, MPI_COMM_WORLD);
        }
    } else {
        *right &= attend(comm, kind);
    }
    if (kind->without_0) {
        *right &= plain_right(comm, kind);
    }
    if (0 == tap_rank) {
        /* local in Open MPI: what was half made must come apart */
        MPI_Comm_free(&comm);
        *right &= holds_nothing(kind, k);
    }
    MPI_Bcast(&refused, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return 0 < refused;
}

static void prepare(const kind_t *kind)
{
    if (kind->fold) {
        knob_folds(KNOB_PIPELINE, kind->algorithm);
    } else if (kind->led) {
        leading_setup(kind->segment_size);
        leading_use(kind->variant);
    } else if (kind->swap) {
        knob_set("coll_pipering_alltoallv_algorithm", kind->algorithm);
        knob_set("coll_pipering_alltoallw_algorithm", kind->algorithm);
    } else {
        knob_set("coll_pipering_allgatherv_algorithm",
                 KNOB_AUTO == kind->algorithm ? KNOB_RING : kind->algorithm);
    }
}

/* What a process keeps of its neighbours for good is there after this. */
static bool meet_neighbours(const kind_t *kind)
{
    MPI_Comm comm = new_comm(kind);
    const bool right = plain_right(comm, kind);

    MPI_Comm_free(&comm);
    return right;
}

static void try_form(const kind_t *kind)
{
    long k = 1;

    prepare(kind);
    bool right = kind->swap || meet_neighbours(kind);
    kept = usage_mappings(USAGE_SEGMENT);
    while (k < REQUESTS_AT_MOST && step(kind, k, &right)) {
        k++;
    }
    knob_folds(KNOB_OFF, KNOB_OFF);
    tap_check(right, "see above",
              "%s: each of the requests refused in turn gives MPI_ERR_NO_MEM, and no leak",
              kind->name);
    tap_check((kind->swap || kind->led ? 2 : 3) <= k && k < REQUESTS_AT_MOST, NULL, "%s: %s", kind->name,
              "the component has asked for memory, and the last call has got it");
    tap_note("%s: %ld requests", kind->name, k - 1);
}

static void die_in_call(const kind_t *kind, long k)
{
    attempt_t *attempt = attempt_new(MPI_COMM_WORLD, kind, kind->without_0);

    if (0 == tap_rank) {
        allocator_arm(k);
    }
    run(attempt);
    tap_note("refused request %ld was survived, error %d", k, attempt->code);
    attempt_end(attempt);
}

/** Ranks of one communicator must never go different ways: the job dies or all goes well. */
static void die_in_creation(const kind_t *kind, long k)
{
    MPI_Comm comm;
    attempt_t *attempt;

    if (0 == tap_rank) {
        allocator_arm(k);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (0 == tap_rank && allocator_disarm() < k) {
        tap_note("there was no request %ld", k);
    }
    attempt = attempt_new(comm, kind, kind->without_0);
    run(attempt);
    tap_note("refused request %ld was survived, error %d", k, attempt->code);
    attempt_end(attempt);
    MPI_Comm_free(&comm);
}

/**
 * A process reads the declaration of a mesh once, and keeps it. An exchange that has no memory for
 * that goes on, so it is no request that may be refused.
 */
static void read_mesh(void)
{
    int *none = calloc((size_t) tap_size, sizeof(int));

    MPI_Alltoallv(NULL, none, none, MPI_BYTE, NULL, none, none, MPI_BYTE, quiet);
    free(none);
}

int main(int argc, char **argv)
{
    const kind_t *kind;
    long set, fatal, creation;

    tap_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    set = tap_number("SET", 0);
    kind = &sets[set].kind[tap_number("FORM", 0)];
    fatal = tap_number("FATAL", 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    creation = tap_number("CREATION", 0);
    if (0 < fatal || 0 < creation) {
        prepare(kind);
        0 < fatal ? die_in_call(kind, fatal) : die_in_creation(kind, creation);
        return tap_end();
    }
    /* where Open MPI 4.1 turns with errors of nonblocking collectives */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of MPI_Start, in MPI 4 */
    read_mesh();
    for (int i = 0; i < sets[set].count; i++) {
        try_form(&sets[set].kind[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == tap_rank) {
        MPI_Abort(MPI_COMM_WORLD, ABORTED);
    }
    for (;;) {
        pause();
    }
}
