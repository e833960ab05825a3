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
#include "trial.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABORTED 7
#define REQUESTS_AT_MOST 60
#define TAG 5

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT } how_t;

/** A kind of call. */
typedef struct form_t {
    const char *name;
    how_t how;
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
    swap_call_t swap_call;
    bool in_place;
    bool graph;       /**< neighbours in a graph with many edges, else in a ring */
    bool without_0;
} form_t;

static const form_t gathers[] = {
    {.name = "blocking", .how = BLOCKING},
    {.name = "nonblocking", .how = NONBLOCKING},
    {.name = "blocking, strided type", .how = BLOCKING, .strided = true, .again = true},
    {.name = "nonblocking, strided type", .how = NONBLOCKING, .strided = true, .again = true},
    {.name = "in rounds", .how = BLOCKING, .again = true, .algorithm = KNOB_DOUBLING},
    {.name = "in rounds, nonblocking, strided type", .how = NONBLOCKING, .strided = true,
     .algorithm = KNOB_DISSEMINATION},
};

#define FOLD(Name, How, Call) .name = Name, .how = How, .fold = true, .call = Call
static const form_t folds[] = {
    {FOLD("bcast, blocking", BLOCKING, FOLD_BCAST), .at_root = true},
    {FOLD("bcast, persistent", PERSISTENT, FOLD_BCAST), .again = true},
    {FOLD("reduce, nonblocking", NONBLOCKING, FOLD_REDUCE), .at_root = true},
    {FOLD("reduce, blocking", BLOCKING, FOLD_REDUCE), .again = true},
    {FOLD("scan, persistent", PERSISTENT, FOLD_SCAN)},
    {FOLD("scan, blocking", BLOCKING, FOLD_SCAN), .again = true},
    {FOLD("exscan, nonblocking", NONBLOCKING, FOLD_EXSCAN), .again = true},
    {FOLD("allreduce, merged", BLOCKING, FOLD_ALLREDUCE), .algorithm = KNOB_MERGED},
    {FOLD("allreduce, ring", NONBLOCKING, FOLD_ALLREDUCE), .algorithm = KNOB_RING},
};

/* One leader of one rank, and one with a child; results of 64 KiB and more. */
#define LED .led = true
#define SHM {-1, -1, -1}
#define MESSAGES {1, -1, 0}
static const form_t leaders[] = {
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
#define SWAP(Name, How, Call) .name = Name, .how = How, .swap = true, .swap_call = Call
static const form_t swaps[] = {
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
    const form_t *form;
    int count;
} sets[] = {
    {gathers, sizeof(gathers) / sizeof(gathers[0])},
    {folds, sizeof(folds) / sizeof(folds[0])},
    {leaders, sizeof(leaders) / sizeof(leaders[0])},
    {swaps, sizeof(swaps) / sizeof(swaps[0])},
};

typedef struct call_t {
    how_t how;
    exchange_t *x;
    layout_t *layout; /**< of x */
    fold_t *fold;     /**< NULL: an exchange_t, or a swap */
    swap_t *swap;     /**< likewise */
    int code;
    pthread_t thread;
} call_t;

static int key = 900;
static MPI_Comm quiet; /* for the reference of swaps */

/* ---- a call ---- */

static void set_gather(call_t *call, MPI_Comm comm, const form_t *form)
{
    exchange_spec_t spec = {.comm = comm, .key = (uint64_t) key++};
    int count[8];

    for (int i = 0; i < tap_size; i++) {
        count[i] = form->led ? 200000 : 3000 + 1000 * i;
    }
    call->layout = form->strided ? layout_vector(2, 1, 3, layout_unit(3, 0)) : layout_unit(3, 0);
    spec.same = form->led;
    spec.count = count;
    spec.send_count = count[tap_rank];
    spec.send = spec.recv = call->layout;
    call->x = trial_exchange(&spec);
}

/* The same of a form each time. */
static void set_fold(call_t *call, MPI_Comm comm, const form_t *form)
{
    const fold_spec_t spec = {.comm = comm,
                              .call = form->call,
                              .rooted = true,
                              .root = form->at_root ? tap_size - 1 : 0,
                              .most = 30000,
                              .forced = true};
    dice_t shared = dice_from(21, (uint64_t) (form - folds), 0), own = shared;

    call->fold = fold_new(&spec, &shared, &own);
}

static void set_swap(call_t *call, MPI_Comm comm, const form_t *form, bool without_0)
{
    const swap_spec_t spec = {.comm = comm,
                              .quiet = quiet,
                              .call = form->swap_call,
                              .in_place = form->in_place,
                              .most = 200000,
                              .without_0 = without_0};
    dice_t own = dice_from((uint64_t) key, 0, (uint64_t) tap_rank);

    call->swap = swap_new(&spec, (uint64_t) key++, &own);
}

static call_t *call_new(MPI_Comm comm, const form_t *form, bool without_0)
{
    call_t *call = tap_memory(sizeof(*call));

    memset(call, 0, sizeof(*call));
    call->how = form->how;
    if (form->fold) {
        set_fold(call, comm, form);
    } else if (form->swap) {
        set_swap(call, comm, form, without_0);
    } else {
        set_gather(call, comm, form);
    }
    return call;
}

static void call_free(call_t *call)
{
    if (NULL != call->fold) {
        fold_free(call->fold);
    } else if (NULL != call->swap) {
        swap_free(call->swap);
    } else {
        exchange_free(call->x);
        layout_free(call->layout);
    }
    free(call);
}

static bool call_right(call_t *call)
{
    if (MPI_SUCCESS != call->code) {
        return false;
    }
    if (NULL != call->swap) {
        return swap_right(call->swap);
    }
    return NULL == call->fold ? exchange_right(call->x) : fold_right(call->fold);
}

static int call_start(call_t *call, MPI_Request *request)
{
    int code;

    if (NULL != call->fold) {
        return PERSISTENT == call->how ? fold_start_persistent(call->fold, request)
                                       : fold_start(call->fold, request);
    }
    code = PERSISTENT == call->how ? exchange_init(call->x) : exchange_start(call->x);
    *request = call->x->request;
    return MPI_SUCCESS == code && PERSISTENT == call->how ? MPI_Start(request) : code;
}

static int run_swap(swap_t *swap, how_t how)
{
    const swap_form_t form = BLOCKING == how      ? SWAP_BLOCKING
                             : NONBLOCKING == how ? SWAP_NONBLOCKING
                                                  : SWAP_PERSISTENT;
    int code = swap_start(swap, form);

    if (MPI_SUCCESS == code) {
        code = MPI_Wait(&swap->request, MPI_STATUS_IGNORE);
    }
    if (MPI_REQUEST_NULL != swap->request) {
        MPI_Request_free(&swap->request);
    }
    return code;
}

static void *call_run(void *argument)
{
    call_t *call = argument;
    MPI_Request request = MPI_REQUEST_NULL;

    if (NULL != call->swap) {
        call->code = run_swap(call->swap, call->how);
        return NULL;
    }
    if (BLOCKING == call->how) {
        call->code = NULL == call->fold ? exchange_run(call->x) : fold_run(call->fold);
        return NULL;
    }
    call->code = call_start(call, &request);
    if (MPI_SUCCESS == call->code) {
        call->code = NULL == call->fold ? MPI_Wait(&request, MPI_STATUS_IGNORE)
                                        : fold_wait(call->fold, &request);
    }
    if (NULL != call->x && MPI_REQUEST_NULL != request) {
        MPI_Request_free(&request);
    }
    return NULL;
}

/* ---- rank 0 ---- */

static bool is_no_memory(int code, const char *form, long k)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_SUCCESS, length;

    MPI_Error_class(code, &class);
    if (MPI_ERR_NO_MEM != class) {
        MPI_Error_string(code, text, &length);
        printf("# %s: refused request %ld gives error %d, class %d: %s\n", form, k, code, class,
               text);
    }
    return MPI_ERR_NO_MEM == class;
}

/** The call with the k-th request refused; true if there was such a request. */
static bool starve(MPI_Comm comm, const form_t *form, long k, bool *right)
{
    call_t *call = call_new(comm, form, form->without_0);
    long requests;

    allocator_arm(k);
    call_run(call);
    requests = allocator_disarm();
    if (requests < k) {
        *right &= call_right(call);
    } else {
        *right &= is_no_memory(call->code, form->name, k);
    }
    call_free(call);
    return requests >= k;
}

/* ---- the other ranks ---- */

/** The call in a thread; given up if rank 0 says so, and is missed. */
static bool attend(MPI_Comm comm, const form_t *form)
{
    call_t *call = call_new(comm, form, form->without_0);
    int refused;
    bool right;

    pthread_create(&call->thread, NULL, call_run, call);
    MPI_Recv(&refused, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (refused && !form->without_0) {
        pthread_detach(call->thread);
        return true;
    }
    pthread_join(call->thread, NULL);
    right = call_right(call);
    call_free(call);
    return right;
}

/* ---- both ---- */

/** Nothing is left when the communicator is gone too. */
static bool holds_nothing(const form_t *form, long k)
{
    const int held = allocator_held(), mapped = leading_mappings(LEADING_SEGMENT);
    const bool right = 0 == held && 0 == mapped;

    if (!right) {
        printf("# %s: request %ld: %d pieces of memory and %d segments are left\n", form->name, k,
               held, mapped);
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

static MPI_Comm new_comm(const form_t *form)
{
    MPI_Comm comm;

    /* rank 0 comes last in folds, where a scan combines */
    MPI_Comm_split(MPI_COMM_WORLD, 0, form->fold || form->last ? -tap_rank : tap_rank, &comm);
    if (form->swap && SWAP_NEIGHBORS == form->swap_call) {
        comm = connected(comm, form->graph);
    }
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

/** A call with memory for everyone; of leaders a blocking one, which sets the communicator up. */
static bool plain_right(MPI_Comm comm, const form_t *form)
{
    call_t *call = call_new(comm, form, false);

    call->how = form->led ? BLOCKING : form->how;
    call_run(call);
    const bool right = call_right(call);
    call_free(call);
    return right;
}

/** True if a request was refused, on all ranks. */
static bool step(const form_t *form, long k, bool *right)
{
    MPI_Comm comm = new_comm(form);
    int refused = 0;

    if (form->again) {
        *right &= plain_right(comm, form);
    }
    if (0 == tap_rank) {
        refused = starve(comm, form, k, right);
        for (int i = 1; i < tap_size; i++) {
            MPI_Send(&refused, 1, MPI_INT, i, TAG, MPI_COMM_WORLD);
        }
    } else {
        *right &= attend(comm, form);
    }
    if (form->without_0) {
        *right &= plain_right(comm, form);
    }
    if (0 == tap_rank) {
        /* local in Open MPI: what was half made must come apart */
        MPI_Comm_free(&comm);
        *right &= holds_nothing(form, k);
    }
    MPI_Bcast(&refused, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return 0 < refused;
}

static void prepare(const form_t *form)
{
    if (form->fold) {
        knob_folds(KNOB_PIPELINE, form->algorithm);
    } else if (form->led) {
        leading_setup(form->segment_size);
        leading_use(form->variant);
    } else if (form->swap) {
        knob_set("coll_pipering_alltoallv_algorithm", form->algorithm);
        knob_set("coll_pipering_alltoallw_algorithm", form->algorithm);
    } else {
        knob_set("coll_pipering_allgatherv_algorithm",
                 KNOB_AUTO == form->algorithm ? KNOB_RING : form->algorithm);
    }
}

/* What a process keeps of its neighbours for good is there after this. */
static bool meet_neighbours(const form_t *form)
{
    MPI_Comm comm = new_comm(form);
    const bool right = plain_right(comm, form);

    MPI_Comm_free(&comm);
    return right;
}

static void try_form(const form_t *form)
{
    long k = 1;

    prepare(form);
    bool right = form->swap || meet_neighbours(form);
    while (k < REQUESTS_AT_MOST && step(form, k, &right)) {
        k++;
    }
    knob_folds(KNOB_OFF, KNOB_OFF);
    tap_check(right, "see above",
              "%s: each of the requests refused in turn gives MPI_ERR_NO_MEM, and no leak",
              form->name);
    tap_check((form->swap || form->led ? 2 : 3) <= k && k < REQUESTS_AT_MOST, NULL, "%s: %s",
              form->name, "the component has asked for memory, and the last call has got it");
    tap_note("%s: %ld requests", form->name, k - 1);
}

static void die_in_call(const form_t *form, long k)
{
    call_t *call = call_new(MPI_COMM_WORLD, form, form->without_0);

    if (0 == tap_rank) {
        allocator_arm(k);
    }
    call_run(call);
    tap_note("refused request %ld was survived, error %d", k, call->code);
    call_free(call);
}

/** Ranks of one communicator must never go different ways: the job dies or all goes well. */
static void die_in_creation(const form_t *form, long k)
{
    MPI_Comm comm;
    call_t *call;

    if (0 == tap_rank) {
        allocator_arm(k);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (0 == tap_rank && allocator_disarm() < k) {
        tap_note("there was no request %ld", k);
    }
    call = call_new(comm, form, form->without_0);
    call_run(call);
    tap_note("refused request %ld was survived, error %d", k, call->code);
    call_free(call);
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
    const form_t *form;
    long set, fatal, creation;

    tap_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    set = tap_number("SET", 0);
    form = &sets[set].form[tap_number("FORM", 0)];
    fatal = tap_number("FATAL", 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    creation = tap_number("CREATION", 0);
    if (0 < fatal || 0 < creation) {
        prepare(form);
        0 < fatal ? die_in_call(form, fatal) : die_in_creation(form, creation);
        return tap_end();
    }
    /* where Open MPI 4.1 turns with errors of nonblocking collectives */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of MPI_Start, in MPI 4 */
    read_mesh();
    for (int i = 0; i < sets[set].count; i++) {
        try_form(&sets[set].form[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == tap_rank) {
        MPI_Abort(MPI_COMM_WORLD, ABORTED);
    }
    for (;;) {
        pause();
    }
}
