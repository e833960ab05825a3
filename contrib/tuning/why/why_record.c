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
 * The record of the process: when it begins and ends, what is known of a communicator, and who
 * coll/pipering's performance variables (MPI_T) say has served a call.
 */

#include "why.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* States of coll_pipering_verdict: an algorithm, or a reason such as "small: fewer bytes ...". */
#define STATES_MOST 64

static struct {
    pthread_mutex_t lock;
    int begun;          /* MPI, or sessions of it, that have begun and not ended */
    why_table_t *table; /* NULL: nothing is recorded */
    double opened;      /* seconds, when it was */
    int keyval;         /* of what is known of communicators */
    bool asks;          /* coll/pipering is there and can be asked */
    MPI_T_pvar_session session;
    int verdict, heard; /* its variables */
    char state[STATES_MOST][64];
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

/* Functions of MPI that are on their way in this thread. */
static __thread int depth;

struct why_comm_t {
    uint32_t ranks;
    bool left_out;            /* it has no other ranks, or ranks on two sides */
    bool asked;               /* coll/pipering is on the communicator, and so are handles: */
    MPI_T_pvar_handle verdict; /* on the last call that it has heard of, */
    MPI_T_pvar_handle heard;   /* of so many */
    unsigned long long calls;
};

static double now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* ---- what coll/pipering says ---- */

static bool find_variable(const char *name, int class, int *index)
{
    return MPI_SUCCESS == MPI_T_pvar_get_index(name, class, index);
}

/* The texts of the states of a variable; false: it has none, or too many. */
static bool read_states(int index)
{
    int verbosity, class, bind, readonly, continuous, atomic, states = 0, value;
    int name_length = 0, text_length = 0;
    MPI_Datatype type;
    MPI_T_enum names = MPI_T_ENUM_NULL;

    if (MPI_SUCCESS != MPI_T_pvar_get_info(index, NULL, &name_length, &verbosity, &class, &type,
                                           &names, NULL, &text_length, &bind, &readonly,
                                           &continuous, &atomic)
        || MPI_T_ENUM_NULL == names
        || MPI_SUCCESS != MPI_T_enum_get_info(names, &states, NULL, &name_length)
        || STATES_MOST < states) {
        return false;
    }
    for (int i = 0; i < states; ++i) {
        int length = (int) sizeof(recorder.state[0]);
        char text[sizeof(recorder.state[0])];
        if (MPI_SUCCESS != MPI_T_enum_get_item(names, i, &value, text, &length) || 0 > value
            || STATES_MOST <= value) {
            return false;
        }
        memcpy(recorder.state[value], text, sizeof(text));
    }
    return true;
}

/*
 * The level of threads must be that of MPI: Open MPI 5.0 takes another one for MPI's own. A program
 * of sessions alone has no such level, so coll/pipering is not asked.
 */
static void ask_pipering(void)
{
    int is_there = 0, level, provided;

    (void) PMPI_Initialized(&is_there);
    if (!is_there || MPI_SUCCESS != PMPI_Query_thread(&level)
        || MPI_SUCCESS != MPI_T_init_thread(level, &provided)) {
        return;
    }
    recorder.asks
        = find_variable("coll_pipering_verdict", MPI_T_PVAR_CLASS_STATE, &recorder.verdict)
          && find_variable("coll_pipering_heard", MPI_T_PVAR_CLASS_COUNTER, &recorder.heard)
          && read_states(recorder.verdict)
          && MPI_SUCCESS == MPI_T_pvar_session_create(&recorder.session);
    if (!recorder.asks) {
        (void) MPI_T_finalize();
    }
}

static void stop_asking(void)
{
    if (recorder.asks) {
        recorder.asks = false;
        (void) MPI_T_pvar_session_free(&recorder.session);
        (void) MPI_T_finalize();
    }
}

static const char unasked[] = "unasked: MPI has not come to coll/pipering";

/* The algorithm of coll/pipering that has served a call, or why another module has; static. */
static const char *reason_of(why_comm_t *comm)
{
    unsigned long long calls = 0;
    int state = 0;

    if (!comm->asked || MPI_SUCCESS != MPI_T_pvar_read(recorder.session, comm->heard, &calls)
        || MPI_SUCCESS != MPI_T_pvar_read(recorder.session, comm->verdict, &state) || 0 > state
        || STATES_MOST <= state) {
        return "";
    }
    if (calls == comm->calls && 0 != strncmp("absent: ", recorder.state[state], strlen("absent: "))) {
        return unasked;
    }
    comm->calls = calls;
    return recorder.state[state];
}

/* ---- communicators ---- */

static int forget(MPI_Comm handle, int keyval, void *value, void *extra)
{
    why_comm_t *comm = value;

    (void) handle;
    (void) keyval;
    (void) extra;
    if (comm->asked && recorder.asks) {
        (void) MPI_T_pvar_handle_free(recorder.session, &comm->verdict);
        (void) MPI_T_pvar_handle_free(recorder.session, &comm->heard);
    }
    free(comm);
    return MPI_SUCCESS;
}

/*
 * Open MPI 6.0 takes the address of a handle for the communicator, and reads flags there that say
 * whether it is valid: behind the handle there are zeros, so these say nothing against it.
 */
static bool ask_about(why_comm_t *comm, MPI_Comm handle)
{
    struct {
        MPI_Comm handle;
        char zeros[4096];
    } object = {.handle = handle};
    int count;

    if (MPI_SUCCESS
        != MPI_T_pvar_handle_alloc(recorder.session, recorder.verdict, &object, &comm->verdict,
                                   &count)) {
        return false;
    }
    if (MPI_SUCCESS
        != MPI_T_pvar_handle_alloc(recorder.session, recorder.heard, &object, &comm->heard,
                                   &count)) {
        (void) MPI_T_pvar_handle_free(recorder.session, &comm->verdict);
        return false;
    }
    return true;
}

static why_comm_t *get_to_know(MPI_Comm handle)
{
    why_comm_t *comm = calloc(1, sizeof(*comm));
    int between = 0;

    if (NULL == comm) {
        return NULL;
    }
    PMPI_Comm_test_inter(handle, &between);
    comm->ranks = (uint32_t) why_ranks(handle);
    comm->left_out = between || 2 > comm->ranks;
    comm->asked = recorder.asks && !comm->left_out && ask_about(comm, handle);
    if (MPI_SUCCESS != PMPI_Comm_set_attr(handle, recorder.keyval, comm)) {
        (void) forget(handle, recorder.keyval, comm, NULL);
        return NULL;
    }
    return comm;
}

/* What is known of a communicator; NULL: its calls are not recorded. */
static why_comm_t *comm_of(MPI_Comm handle)
{
    why_comm_t *comm = NULL;
    int found = 0;

    if (NULL == recorder.table || MPI_COMM_NULL == handle
        || MPI_SUCCESS != PMPI_Comm_get_attr(handle, recorder.keyval, &comm, &found)) {
        return NULL;
    }
    comm = found ? comm : get_to_know(handle);
    return NULL == comm || comm->left_out ? NULL : comm;
}

/* ---- begin and end of MPI ---- */

/* FNV-1a, of a name that all processes of a job have and no other job; 0: there is none. */
static uint32_t job_of_environment(void)
{
    const char *parts[] = {getenv("PMIX_NAMESPACE"), getenv("SLURM_JOB_ID"),
                           getenv("SLURM_STEP_ID")};
    const int first = NULL == parts[0] ? 1 : 0, end = NULL == parts[0] ? 3 : 1;
    uint32_t hash = UINT32_C(2166136261);

    if (NULL == parts[first]) {
        return 0;
    }
    for (int i = first; i < end; ++i) {
        for (const char *letter = NULL == parts[i] ? "" : parts[i]; '\0' != *letter; ++letter) {
            hash = (hash ^ (unsigned char) *letter) * UINT32_C(16777619);
        }
    }
    return hash;
}

/* Where the environment does not name the job, as under MPICH's own launcher, rank 0 does. */
static why_owner_t owner(void)
{
    static char host[MPI_MAX_PROCESSOR_NAME], release[MPI_MAX_LIBRARY_VERSION_STRING];
    why_owner_t me = {.job = job_of_environment(), .host = host, .release = release,
                      .began = now(CLOCK_REALTIME)};
    int is_there = 0, rank = 0, ranks = 0, length;

    (void) PMPI_Initialized(&is_there);
    if (is_there) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (0 == me.job) {
            me.job = (uint32_t) (1e6 * me.began) ^ (uint32_t) getpid();
            PMPI_Bcast(&me.job, (int) sizeof(me.job), MPI_BYTE, 0, MPI_COMM_WORLD);
        }
    } else if (NULL != getenv("PMIX_RANK")) {
        rank = atoi(getenv("PMIX_RANK"));
    }
    me.rank = (uint32_t) rank;
    me.world = (uint32_t) ranks;
    PMPI_Get_processor_name(host, &length);
    PMPI_Get_library_version(release, &length);
    release[strcspn(release, ",\n")] = '\0';
    for (char *letter = release; '\0' != *letter; ++letter) {
        *letter = '\t' == *letter ? ' ' : *letter; /* of MPICH */
    }
    return me;
}

static void open_record(void)
{
    const char *directory = getenv("PIPERING_WHY");
    const why_owner_t me = owner();

    recorder.table = why_map(NULL == directory || '\0' == directory[0] ? "pipering-calls"
                                                                       : directory, &me);
    if (NULL != recorder.table) {
        recorder.opened = now(CLOCK_MONOTONIC);
        (void) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &recorder.keyval, NULL);
        ask_pipering();
    }
}

static void close_record(void)
{
    if (NULL != recorder.table) {
        (void) PMPI_Comm_free_keyval(&recorder.keyval);
        stop_asking();
        why_unmap(recorder.table);
        recorder.table = NULL;
    }
}

void why_enter(void)
{
    ++depth;
}

void why_leave(void)
{
    --depth;
}

void why_has_begun(void)
{
    if (1 == depth && 1 == ++recorder.begun) {
        open_record();
    }
    --depth;
}

void why_will_end(void)
{
    if (0 == depth && 0 < recorder.begun && 0 == --recorder.begun) {
        close_record();
    }
}

/* ---- calls ---- */

why_call_t why_begin(MPI_Comm comm)
{
    why_call_t call = {.comm = 0 == depth ? comm_of(comm) : NULL};

    ++depth;
    call.began = now(CLOCK_MONOTONIC);
    return call;
}

void why_end(why_call_t *call)
{
    call->ended = now(CLOCK_MONOTONIC);
    --depth;
}

void why_record(const why_call_t *call, const char *name, const why_shape_t *shape)
{
    const char *reason = reason_of(call->comm);

    if (0 == shape->bytes && '\0' != shape->type[0] && unasked == reason) {
        reason = "empty: there is no data"; /* MPI itself has found that nothing is to be done */
    }
    why_class_t of = why_class(name, reason, call->comm->ranks, shape);

    /* such a sum has the same bits in any order */
    of.order_matters = shape->order_matters && 0 != strcmp("fixed-point sum", reason);
    pthread_mutex_lock(&recorder.lock);
    why_add(recorder.table, why_find(recorder.table, &of), &of, shape,
            (uint64_t) (1e9 * (call->ended - call->began)));
    recorder.table->elapsed = (uint64_t) (1e9 * (call->ended - recorder.opened));
    pthread_mutex_unlock(&recorder.lock);
}
