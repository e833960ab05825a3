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
 * Open MPI as calls of coll/mleader and the schedule engine see it, so that they run here as
 * they are, with ranks in one process: all headers of Open MPI that they include are this
 * one. Messages are copied when they are sent, or when they are received, as a coin has it.
 * Those between two ranks must be received in the order in which they are sent, whatever
 * their tags.
 *
 * A vector clock in each rank counts what it has done and what it knows of others, from
 * messages alone: of a message the receiver learns what the sender knew when it was sent,
 * and of one that was copied late the sender what the receiver knew when it was ready.
 */

#ifndef PIPERING_TEST_POSING_H
#define PIPERING_TEST_POSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define POSING_RANKS 16

#define BEGIN_C_DECLS
#define END_C_DECLS
#define OMPI_DECLSPEC

#define OPAL_UNLIKELY(condition) (condition)

enum {
    OMPI_SUCCESS = 0,
    OMPI_ERROR = -1,
    OMPI_ERR_OUT_OF_RESOURCE = -2,
    OMPI_ERR_WOULD_BLOCK = -10,
    MPI_ERR_NO_MEM = 34
};

/* ---- what is only declared ---- */

typedef int opal_mutex_t;
typedef int64_t opal_atomic_int64_t;
typedef int mca_coll_base_module_t;
typedef int mca_coll_base_component_t;
typedef int mca_coll_base_module_allgather_fn_t;
typedef int mca_coll_base_module_iallgather_fn_t;
typedef int mca_coll_base_module_allgather_init_fn_t;
typedef int mca_common_irregular_directory_t;
typedef int mca_common_irregular_segment_t;

#define OBJ_CLASS_DECLARATION(name) extern int name##_is_a_class

struct ompi_info_t;

static inline int mca_common_irregular_mpi_error(int rc)
{
    return rc;
}

static inline void mca_common_irregular_count(opal_atomic_int64_t *counter, uint64_t more)
{
    (void) counter;
    (void) more;
}

/* ---- datatypes, all dense ---- */

typedef int opal_datatype_t;

typedef struct ompi_datatype_t {
    opal_datatype_t super;
    ptrdiff_t size;
} ompi_datatype_t;

extern ompi_datatype_t posing_byte;
#define MPI_BYTE (&posing_byte)

static inline void ompi_datatype_get_true_extent(ompi_datatype_t *type, ptrdiff_t *true_lb,
                                                 ptrdiff_t *extent)
{
    *true_lb = 0;
    *extent = type->size;
}

typedef int opal_convertor_t;

#define ompi_mpi_local_convertor NULL
#define OBJ_CONSTRUCT(object, name) (*(object) = 0)
#define OBJ_DESTRUCT(object) (*(object) = 0)

#define opal_convertor_copy_and_prepare_for_send(from, type, count, memory, flags, convertor) \
    ((void) (type), (void) (memory), *(convertor) = (int) (count) + (flags))
#define opal_convertor_copy_and_prepare_for_recv opal_convertor_copy_and_prepare_for_send

/** End the program, for no convertor should be wanted. */
size_t mca_common_irregular_pack(opal_convertor_t *packer, char *packed, size_t bytes,
                                 bool on_device);
size_t mca_common_irregular_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device);

static inline int mca_common_irregular_copy(void *to, const void *from, size_t bytes,
                                            bool on_device)
{
    (void) on_device;
    memcpy(to, from, bytes);
    return OMPI_SUCCESS;
}

/* ---- messages ---- */

typedef struct ompi_request_t ompi_request_t;
typedef struct posing_channel_t posing_channel_t;

/** A communicator as one of its ranks has it. */
typedef struct ompi_communicator_t {
    int rank, size;
    posing_channel_t *channel; /**< [size * size] from a rank to a rank, of all ranks */
    ompi_request_t *posted;    /**< receives that nothing has come for, in their order */
    uint64_t coin;
    unsigned clock[POSING_RANKS]; /**< last moments of ranks that are before the rank's own */
    void *owner;                  /**< of who has opened it */
} ompi_communicator_t;

typedef struct ompi_status_public_t {
    size_t _ucount;
} ompi_status_public_t;

/** A message as its sender has it, or its receiver. */
struct ompi_request_t {
    ompi_status_public_t req_status;
    ompi_communicator_t *comm;
    const void *memory;
    size_t bytes;
    int peer, tag;
    bool receive;
    bool done;    /**< of a send: set by the receiver */
    bool touches; /**< until it is freed */
    unsigned clock[POSING_RANKS]; /**< of the other side */
    unsigned posted[POSING_RANKS];
    ompi_request_t *next;
};

/** Makes the communicator of `size` ranks. */
void posing_open(ompi_communicator_t *comm, int size, uint64_t seed);

/** Frees it; false where messages are left. */
bool posing_close(ompi_communicator_t *comm);

static inline int ompi_comm_rank(const ompi_communicator_t *comm)
{
    return comm->rank;
}

extern ompi_request_t *const posing_no_request;
#define MPI_REQUEST_NULL posing_no_request
#define MCA_COLL_BASE_TAG_ALLGATHER 0
#define MCA_PML_BASE_SEND_STANDARD 0
#define MCA_PML_BASE_SEND_SYNCHRONOUS 1
#define MCA_PML_CALL(call) posing_##call

int posing_isend(const void *memory, size_t bytes, ompi_datatype_t *type, int to, int tag, int mode,
                 ompi_communicator_t *comm, ompi_request_t **request);
int posing_irecv(void *memory, size_t bytes, ompi_datatype_t *type, int from, int tag,
                 ompi_communicator_t *comm, ompi_request_t **request);
static inline int mca_common_irregular_failure(ompi_communicator_t *comm)
{
    (void) comm;
    return OMPI_SUCCESS;
}

typedef struct mca_common_irregular_caller_t {
    ompi_communicator_t *comm;
} mca_common_irregular_caller_t;

#define MCA_COMMON_IRREGULAR_ANY_LENGTH SIZE_MAX

static inline bool mca_common_irregular_is_over(ompi_request_t *request)
{
    return __atomic_load_n(&request->done, __ATOMIC_ACQUIRE);
}

static inline int mca_common_irregular_judge(const mca_common_irregular_caller_t *caller,
                                             const ompi_status_public_t *status, size_t expected)
{
    (void) caller;
    return MCA_COMMON_IRREGULAR_ANY_LENGTH == expected || status->_ucount == expected
               ? OMPI_SUCCESS
               : OMPI_ERROR;
}

bool mca_common_irregular_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel);
void ompi_request_wait_completion(ompi_request_t *request);

/** What its rank learns from the message. */
void ompi_request_free(ompi_request_t **request);

/** Takes what has come, and goes on with what else the rank has begun. */
void opal_progress(void);

/* ---- for those who look on ---- */

/** The rank that runs, in this thread. */
extern __thread ompi_communicator_t *posing_me;

/** Called where a rank has nothing to do but to wait. */
extern void (*posing_idle)(void);

/** If not NULL: called where Open MPI makes progress. */
extern void (*posing_progress)(ompi_communicator_t *comm);

/** If not NULL: called where a message begins, and ends, to read or to write memory. */
typedef void posing_touch_fn_t(ompi_communicator_t *comm, const void *memory, size_t bytes,
                               bool write, bool begin);
extern posing_touch_fn_t *posing_touch;

/** A rank learns what a clock knows; a rank's next moment begins. */
void posing_learn(ompi_communicator_t *comm, const unsigned *clock);
void posing_tick(ompi_communicator_t *comm);

#endif
