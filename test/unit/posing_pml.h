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
 * Open MPI's messages as the schedule engine sees them, with several ranks in one process
 * and no threads: all headers of Open MPI that the engine includes are this one.
 *
 * Messages between two ranks are matched in their order. All else happens in a seeded random
 * order, one event at a time: whether a message is copied when it is sent or when it is
 * received, when its data moves, when the requests of both sides are complete.
 *
 * posing.h is another one, for what is built on messages: datatypes, threads, and clocks that
 * see who knows what. Its messages move in one step, and a request fails only where it is
 * posted. Here each step of a request is an event of its own, and requests end with errors of
 * their own, which the schedule engine has to sort out; in one, each half would be idle.
 */

#ifndef PIPERING_TEST_POSING_PML_H
#define PIPERING_TEST_POSING_PML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSING_MOST 150 /* ranks that play */

#define BEGIN_C_DECLS
#define END_C_DECLS
#define OPAL_ENABLE_FT_MPI 0
#define OPAL_ENABLE_HETEROGENEOUS_SUPPORT 0
#define MCA_COLL_BASE_VERSION_2_4_0 0
#define OPAL_UNLIKELY(condition) (condition)

enum {
    OMPI_SUCCESS = 0,
    OMPI_ERROR = -1,
    OMPI_ERR_OUT_OF_RESOURCE = -2,
    OMPI_ERR_NOT_FOUND = -13,
    OMPI_ERR_WOULD_BLOCK = -7,
    MPI_SUCCESS = 0,
    MPI_ERR_TRUNCATE = 15,
    MPI_ERR_OTHER = 16,
    MPI_ERR_NO_MEM = 34
};

/* ---- what is only declared ---- */

typedef int opal_mutex_t;
typedef int64_t opal_atomic_int64_t;
typedef int opal_convertor_t;
typedef struct opal_process_name_t {
    uint32_t jobid, vpid;
} opal_process_name_t;
typedef int mca_base_component_t;
typedef int mca_base_var_enum_value_t;

#define OBJ_CONSTRUCT(object, name) memset(object, 0, sizeof(*(object)))
#define OBJ_DESTRUCT(object) memset(object, 0, sizeof(*(object)))
#define OPAL_THREAD_LOCK(mutex) ((void) (mutex))
#define OPAL_THREAD_UNLOCK(mutex) ((void) (mutex))
#define opal_using_threads() false
#define opal_atomic_rmb()
#define opal_atomic_fetch_add_64(counter, more) (*(counter) += (more))

/* ---- communicators, types and requests ---- */

typedef struct ompi_datatype_t {
    size_t size;
} ompi_datatype_t;

extern ompi_datatype_t posing_byte;
typedef ptrdiff_t MPI_Aint;
#define MPI_BYTE (&posing_byte)

typedef struct ompi_status_public_t {
    int MPI_SOURCE, MPI_ERROR;
    size_t _ucount;
} ompi_status_public_t;

typedef struct posing_world_t posing_world_t;

/** A communicator as one of its ranks has it. */
typedef struct ompi_communicator_t {
    int rank, size;
    char c_name[8];
    posing_world_t *world;
    int refuse, refusal; /**< the post that is refused, counted from 0, and with which error ... */
    int spoil, spoiled;  /**< ... and the one that ends with an error */
    int posts;           /**< so far */
    int errors;          /**< of requests that have been freed */
} ompi_communicator_t;

/** What becomes of a request, told to who posted it. */
typedef enum { POSING_IDLE, POSING_PENDING, POSING_COMPLETE, POSING_FREED } posing_state_t;

typedef struct ompi_request_t {
    ompi_status_public_t req_status;
    ompi_communicator_t *comm;
    posing_state_t state;
    posing_state_t *told; /**< NULL: nobody */
    char *memory;
    size_t bytes;
    int peer, tag;
    bool receive, matched, abandoned;
} ompi_request_t;

extern ompi_request_t posing_no_request;
#define MPI_REQUEST_NULL (&posing_no_request)
#define REQUEST_COMPLETE(request) (POSING_COMPLETE == (request)->state)

enum { MCA_PML_BASE_SEND_STANDARD, MCA_PML_BASE_SEND_SYNCHRONOUS };
#define MCA_PML_CALL(call) posing_##call

int posing_isend(const void *memory, size_t count, ompi_datatype_t *type, int to, int tag, int mode,
                 ompi_communicator_t *comm, ompi_request_t **request);
int posing_irecv(void *memory, size_t count, ompi_datatype_t *type, int from, int tag,
                 ompi_communicator_t *comm, ompi_request_t **request);
int ompi_request_cancel(ompi_request_t *request);
void ompi_request_free(ompi_request_t **request);
void ompi_request_wait_completion(ompi_request_t *request);
void opal_progress(void);

/** The next tag that no other agreement has; the data representation. Both are the program's. */
int ompi_coll_base_nbc_reserve_tags(ompi_communicator_t *comm, int count);
extern uint32_t opal_local_arch;

static inline int ompi_comm_rank(const ompi_communicator_t *comm)
{
    return comm->rank;
}

static inline int ompi_comm_size(const ompi_communicator_t *comm)
{
    return comm->size;
}

#define opal_output(stream, ...) posing_tell(__VA_ARGS__)

/** Counts how often the user is told something. */
#define opal_show_help(file, ...) posing_tell(__VA_ARGS__)
void posing_tell(const char *topic, ...);
extern int posing_told;

/* ---- for who looks on ---- */

/** What a rank asks for. */
typedef struct posing_post_t {
    const void *memory;
    size_t bytes;
    int peer, tag;
    bool receive, synchronous;
} posing_post_t;

/** Called where a rank posts a message; the state that it returns is kept up to date, or NULL. */
typedef posing_state_t *posing_posted_fn_t(ompi_communicator_t *comm, const posing_post_t *post);

/** Called while a rank waits for a request, or, NULL, for anything. */
typedef void posing_idle_fn_t(const ompi_request_t *request);

extern posing_posted_fn_t *posing_posted; /**< may be NULL */
extern posing_idle_fn_t *posing_idle;

/** Makes a communicator, of one world, for each of `size` ranks. */
ompi_communicator_t *posing_open(int size, uint64_t seed);

/** Frees it with all that is under way; how many requests and messages that was. */
int posing_close(ompi_communicator_t *comm);

/** Lets one thing happen, at random; false if nothing can. */
bool posing_event(ompi_communicator_t *comm);

/**
 * Ranks take turns at random, with events between them, until `step` has been true for each, which
 * has no turn any more then; at last all happens that can. False: not all come to their end.
 */
bool posing_play(ompi_communicator_t *comm, bool (*step)(int rank));

/** Whether a message touches memory of this rank, and cannot be withdrawn. */
bool posing_touches(const ompi_communicator_t *comm);

#endif
