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
 * Open MPI as the phases of coll/mleader, the schedule engine and the pipelines of
 * coll/pipering see it, so that they run here as they are, with ranks in one process: all
 * headers of Open MPI that they include are this one. Messages are copied when they are sent,
 * or when they are received, as a coin has it; what comes from one rank with one tag keeps its
 * order. Each rank may be a thread.
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
#define POSING_TAGS 16

#define BEGIN_C_DECLS
#define END_C_DECLS
#define OMPI_DECLSPEC
#define OPAL_UNLIKELY(condition) (condition)

enum {
    OMPI_SUCCESS = 0,
    OMPI_ERROR = -1,
    OMPI_ERR_OUT_OF_RESOURCE = -2,
    OMPI_ERR_WOULD_BLOCK = -10
};
enum { MPI_SUCCESS = 0, MPI_ERR_TRUNCATE = 15, MPI_ERR_OTHER = 16, MPI_ERR_NO_MEM = 34 };

/* The release of Open MPI that this is. */
#define MCA_COLL_BASE_VERSION_2_4_0

/* ---- what is only declared ---- */

typedef int opal_mutex_t;
typedef int64_t opal_atomic_int64_t;
typedef int opal_hash_table_t;
typedef int mca_common_colltools_directory_t;
typedef int mca_common_colltools_segment_t;
typedef int mca_common_colltools_vars_t;

static inline int mca_common_colltools_mpi_error(int rc)
{
    return rc;
}

static inline void mca_common_colltools_count(opal_atomic_int64_t *counter, uint64_t more)
{
    (void) counter;
    (void) more;
}

static inline void mca_common_colltools_show_help(const char *file, const char *topic, ...)
{
    (void) file;
    (void) topic;
}

/* ---- datatypes ---- */

typedef int opal_datatype_t;

/**
 * A datatype; all members but `size` may be 0: then it is dense. Its elements are pieces of so
 * many bytes, each with a hole behind it.
 */
typedef struct ompi_datatype_t {
    opal_datatype_t super;
    ptrdiff_t size;  /**< bytes of the signature, whole pieces */
    ptrdiff_t piece; /**< 0: one */
    ptrdiff_t hole;
    ptrdiff_t shift; /**< from where an element stands to its first byte */
} ompi_datatype_t;

extern ompi_datatype_t posing_byte;
#define MPI_BYTE (&posing_byte)

static inline ptrdiff_t posing_extent(const ompi_datatype_t *type)
{
    return type->size + type->hole * (0 == type->piece ? 1 : type->size / type->piece);
}

/** Where byte `k` of the signature of many elements is, from where the first one stands. */
static inline ptrdiff_t posing_offset(const ompi_datatype_t *type, size_t k)
{
    const ptrdiff_t at = (ptrdiff_t) k % type->size;

    return (ptrdiff_t) k / type->size * posing_extent(type) + type->shift + at
           + (0 == type->piece ? 0 : at / type->piece * type->hole);
}

static inline int ompi_datatype_type_extent(const ompi_datatype_t *type, ptrdiff_t *extent)
{
    *extent = posing_extent(type);
    return OMPI_SUCCESS;
}

static inline int ompi_datatype_get_true_extent(const ompi_datatype_t *type, ptrdiff_t *true_lb,
                                                ptrdiff_t *extent)
{
    *true_lb = type->shift;
    *extent = posing_extent(type) - type->hole;
    return OMPI_SUCCESS;
}

static inline bool opal_datatype_is_contiguous_memory_layout(const opal_datatype_t *type, int count)
{
    (void) count;
    return 0 == ((const ompi_datatype_t *) type)->hole;
}

static inline size_t mca_common_colltools_span(const ompi_datatype_t *type, size_t count,
                                               ptrdiff_t *gap)
{
    *gap = type->shift;
    return 0 == count ? 0 : count * (size_t) posing_extent(type) - (size_t) type->hole;
}

int ompi_datatype_copy_content_same_ddt(const ompi_datatype_t *type, size_t count, char *to,
                                        char *from);

/** A convertor; `position` counts bytes of the signature. */
typedef struct opal_convertor_t {
    const ompi_datatype_t *type;
    char *memory;
    size_t bytes, position;
    bool send;
} opal_convertor_t;

#define OBJ_CONSTRUCT(object, name) memset(object, 0, sizeof(*(object)))
#define OBJ_DESTRUCT(object) memset(object, 0, sizeof(*(object)))
#define opal_convertor_cleanup(convertor) memset(convertor, 0, sizeof(*(convertor)))

#define mca_common_colltools_packer(convertor, type, count, memory) \
    posing_prepare(convertor, type, count, memory, true)
#define mca_common_colltools_unpacker(convertor, type, count, memory) \
    posing_prepare(convertor, type, count, memory, false)

static inline void posing_prepare(opal_convertor_t *convertor, const ompi_datatype_t *type,
                                  size_t count, const void *memory, bool send)
{
    convertor->type = type;
    convertor->memory = (char *) memory;
    convertor->bytes = count * (size_t) convertor->type->size;
    convertor->position = 0;
    convertor->send = send;
}

/** As in Open MPI: one that sends does not stop within a piece, but before it. */
void opal_convertor_set_position(opal_convertor_t *convertor, size_t *position);

/** Convertors may be wanted and requests abandoned; else this ends the program. */
extern bool posing_lenient;

/** Packs whole pieces only. */
size_t mca_common_colltools_pack(opal_convertor_t *packer, char *packed, size_t bytes);
size_t mca_common_colltools_unpack(opal_convertor_t *unpacker, const char *packed, size_t bytes,
                                   bool on_device);

static inline bool mca_common_colltools_on_device(const ompi_datatype_t *type,
                                                  const void *elements)
{
    (void) type;
    (void) elements;
    return false;
}

static inline int mca_common_colltools_copy(void *to, const void *from, size_t bytes,
                                            bool on_device)
{
    (void) on_device;
    memcpy(to, from, bytes);
    return OMPI_SUCCESS;
}

/** An operation: *to = *from and *to, of one element. */
typedef struct ompi_op_t {
    void (*function)(const char *from, char *to);
} ompi_op_t;

void ompi_op_reduce(const ompi_op_t *op, const char *from, char *to, size_t count,
                    const ompi_datatype_t *type);

/* ---- messages ---- */

typedef struct ompi_request_t ompi_request_t;
typedef struct posing_channel_t posing_channel_t;

/** A communicator as one of its ranks has it. */
typedef struct ompi_communicator_t {
    int rank, size;
    const char *c_name;
    posing_channel_t *channel; /**< [size * size * POSING_TAGS] from rank to rank, of all ranks */
    ompi_request_t *posted;    /**< receives that nothing has come for, in their order */
    uint64_t coin;
    unsigned clock[POSING_RANKS]; /**< last moments of ranks that are before the rank's own */
    void *owner;                  /**< of who has opened it */
} ompi_communicator_t;

typedef struct ompi_status_public_t {
    int MPI_SOURCE, MPI_ERROR;
    size_t _ucount;
} ompi_status_public_t;

struct ompi_request_t {
    ompi_status_public_t req_status;
    ompi_communicator_t *comm;
    const void *memory;
    const ompi_datatype_t *type;
    size_t bytes; /**< of the signature */
    bool receive;
    int from, tag;                    /**< of a receive */
    struct posing_message_t *message; /**< of a send, while it waits for its receiver */
    bool done;                        /**< of a send: set by the receiver */
    uint64_t over;                    /**< the moment in which the sender knows that */
    bool touches;                     /**< until it is freed */
    unsigned clock[POSING_RANKS]; /* of the other side */
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
enum { MCA_PML_BASE_SEND_STANDARD, MCA_PML_BASE_SEND_SYNCHRONOUS };
#define MCA_PML_CALL(call) posing_##call

/** `tag` is 0 or, as those of collectives are, below it. */
int posing_isend(const void *memory, size_t count, ompi_datatype_t *type, int to, int tag, int mode,
                 ompi_communicator_t *comm, ompi_request_t **request);
int posing_irecv(void *memory, size_t count, ompi_datatype_t *type, int from, int tag,
                 ompi_communicator_t *comm, ompi_request_t **request);

/**
 * The moment that it is, where messages take time: from each rank to each other one a link carries
 * one message a moment, in their order, and between them what tells senders of synchronous
 * messages in the opposite direction that these have been taken. 0: nothing takes time.
 */
extern uint64_t posing_now;

static inline bool mca_common_colltools_is_over(const ompi_request_t *request)
{
    return __atomic_load_n(&request->done, __ATOMIC_ACQUIRE) && request->over <= posing_now;
}

/** What its rank learns from the message. A request that is not over needs posing_lenient. */
int ompi_request_free(ompi_request_t **request);

void ompi_request_wait_completion(ompi_request_t *request);

static inline int mca_common_colltools_failure(ompi_communicator_t *comm)
{
    (void) comm;
    return OMPI_SUCCESS;
}

static inline bool mca_common_colltools_is_failure(int error)
{
    (void) error;
    return false;
}

typedef struct mca_common_colltools_caller_t {
    const char *owner, *name;
    ompi_communicator_t *comm;
} mca_common_colltools_caller_t;

#define MCA_COMMON_COLLTOOLS_ANY_LENGTH SIZE_MAX

static inline int mca_common_colltools_judge(const mca_common_colltools_caller_t *caller,
                                             const ompi_status_public_t *status, size_t expected)
{
    (void) caller;
    return MPI_SUCCESS != status->MPI_ERROR ? status->MPI_ERROR
           : MCA_COMMON_COLLTOOLS_ANY_LENGTH == expected || expected == status->_ucount
               ? OMPI_SUCCESS
               : MPI_ERR_OTHER;
}

/** With posing_lenient: memory of a message that is sent is copied first. */
bool mca_common_colltools_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel);

/** Takes what has come, and goes on with what else the rank has begun. */
void opal_progress(void);

/* ---- for those who look on ---- */

/**
 * Takes what has come for receives of a rank, or, where nothing takes time, some of it, as its coin
 * has it; how much.
 */
int posing_poll(ompi_communicator_t *comm);

/** Sends until the one that fails, with OMPI_ERR_OUT_OF_RESOURCE; 0: none does. */
extern unsigned long posing_fails;

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
