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
 * The all-to-all family: MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and MPI_Neighbor_alltoallw. An
 * exchange is one call of the family: each rank sends a message of any size to each of its peers.
 *
 *     MPI calls   alltoall, alltoallv, alltoallw, neighbor_alltoallw: describe the arguments of a
 *                 call as a sending and a receiving side
 *     serve       alltoall_serve: serves the call or returns it to the module below; counters
 *     make        alltoall_make: allocates an exchange and fills in its schedule;
 *                 alltoall_permuted: the same for messages in packets
 *     steps       alltoall_exchange: copies inside the process
 *     engine      common_colltools_schedule: sends and receives the messages of a schedule
 *     plans       plan_bins: order in which messages start; plan_permuted: order of packets
 *
 * A rank knows only the sizes of its own messages, so sizes do not decide which algorithm serves a
 * call; the variables do, which all ranks have in common. (MPI_Alltoall may use its size, which is
 * equal on all ranks.) Sizes decide the order in which a rank starts its messages. Only messages
 * without bytes are left out: both their sender and their receiver see that there are none.
 */

#ifndef MCA_COLL_PIPERING_ALLTOALL_H
#define MCA_COLL_PIPERING_ALLTOALL_H

#include "ompi/mca/coll/pipering/call/coll_pipering.h"

#include "coll_pipering_plan_bins.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_copy.h"
#include "ompi/mca/common/colltools/common_colltools_schedule.h"

BEGIN_C_DECLS

/* ---- variables and counters (coll_pipering_alltoall_params.c) ---- */

/**
 * Algorithms of an exchange, as the variables ..._algorithm name them. Tools may have stored their
 * numbers: none changes, and those that are gone (2, 3, 4) are given to no other one.
 */
typedef enum {
    MCA_COLL_PIPERING_EXCHANGE_AUTO = 0,
    MCA_COLL_PIPERING_EXCHANGE_BINS = 1, /**< small messages first, then large ones */
    MCA_COLL_PIPERING_EXCHANGE_OFF = 5,
    MCA_COLL_PIPERING_EXCHANGE_PERMUTED = 6 /**< in packets, peers in a random order */
} mca_coll_pipering_exchange_algorithm_t;

/** MPI calls that have a variable ..._algorithm. */
typedef enum {
    MCA_COLL_PIPERING_CALL_ALLTOALL,
    MCA_COLL_PIPERING_CALL_ALLTOALLV,
    MCA_COLL_PIPERING_CALL_ALLTOALLW,
    MCA_COLL_PIPERING_CALL_NEIGHBOR_ALLTOALLW,
    MCA_COLL_PIPERING_EXCHANGE_CALLS
} mca_coll_pipering_exchange_call_t;

/** The values of the variables for one call. */
typedef struct mca_coll_pipering_exchange_params_t {
    int algorithm;      /**< mca_coll_pipering_exchange_algorithm_t */
    size_t small;       /**< messages of fewer bytes are small */
    size_t window;      /**< most sends (in place: pairs) under way, 0: a choice */
    size_t in_place;    /**< most bytes of packed messages in place, 0: no limit */
    size_t packet;      /**< permuted: most bytes of a packet */
} mca_coll_pipering_exchange_params_t;

/** Bytes from which on a message is large: fixed in place, the default of `small` elsewhere. */
#define MCA_COLL_PIPERING_EXCHANGE_SMALL ((size_t) 4096)

/** The performance variables alltoall_... */
typedef struct mca_coll_pipering_exchange_counters_t {
    opal_atomic_int64_t calls;
    opal_atomic_int64_t messages_sent, messages_received;
    opal_atomic_int64_t bytes_sent, bytes_received;
    opal_atomic_int64_t zeros_skipped;
    opal_atomic_int64_t small_sent;
} mca_coll_pipering_exchange_counters_t;

extern mca_coll_pipering_exchange_counters_t mca_coll_pipering_exchange_counters;

/** Registers the variables and performance variables of this file. */
void mca_coll_pipering_exchange_params_register(mca_common_colltools_vars_t *all);

/** The values of the variables now, for a call of this kind; each is in its legal range. */
mca_coll_pipering_exchange_params_t
mca_coll_pipering_exchange_params_now(mca_coll_pipering_exchange_call_t call);

/** The name of an algorithm other than OFF in verbose lines; AUTO stands for bins. */
const char *mca_coll_pipering_exchange_algorithm_text(int algorithm);

/** The same of an exchange in place, whatever the algorithm. */
#define MCA_COLL_PIPERING_EXCHANGE_IN_PLACE "pairs"

/* ---- exchanges (coll_pipering_alltoall_make.c, coll_pipering_alltoall_exchange.c) ---- */

/** The messages that a rank sends, or receives, in the arguments of its MPI call; borrowed. */
typedef struct mca_coll_pipering_side_t {
    char *buffer;
    size_t count;                  /**< messages */
    mca_common_colltools_array_t counts; /**< [count] elements of each message, or none: `each` */
    size_t each;                   /**< such messages lie one behind the other */
    mca_common_colltools_array_t displs; /**< [count] in extents of `type`, or bytes without it */
    ompi_datatype_t *type;         /**< of all messages, or NULL */
    ompi_datatype_t *const *types; /**< [count] where `type` is NULL */
    const int *peer; /**< [count] rank or MPI_PROC_NULL, or NULL: message i has the peer i */
    bool flipped;    /**< the receives of messages 2k and 2k + 1 start in the opposite order */
} mca_coll_pipering_side_t;

/** Entries of mca_coll_pipering_exchange_t.few: small exchanges allocate nothing. */
#define MCA_COLL_PIPERING_EXCHANGE_FEW_ENTRIES 16

/** A copy inside the process. */
typedef struct mca_coll_pipering_move_t {
    mca_coll_pipering_place_t from, to;
} mca_coll_pipering_move_t;

/** An exchange: a schedule, and the data that its steps copy. */
typedef struct mca_coll_pipering_exchange_t {
    mca_common_colltools_schedule_t schedule;
    mca_common_colltools_caller_t caller;
    int algorithm;
    mca_coll_pipering_bins_t bins; /**< number of sends in each bin */
    bool in_place;
    mca_coll_pipering_move_t *move; /**< not in place: [steps] copies of a rank's message to
                                         itself, and between a message with gaps and `copies` */
    mca_common_colltools_message_t *packed; /**< in place: [steps] messages that steps pack ... */
    mca_coll_pipering_pool_t pool;          /**< ... into the room that this pool gives ... */
    char *copies;                           /**< ... in this buffer of [pool.size] bytes */
    uint32_t given; /**< number of packed messages that have given their room back, in order */
    void *memory;   /**< of all arrays, NULL: they fit into `few` */
    mca_common_colltools_message_t few[MCA_COLL_PIPERING_EXCHANGE_FEW_ENTRIES];
} mca_coll_pipering_exchange_t;

/** The input of an exchange. */
typedef struct mca_coll_pipering_exchange_plan_t {
    const char *name; /**< of the MPI call, for messages to the user */
    mca_coll_pipering_exchange_params_t params;
    mca_coll_pipering_side_t send, recv; /**< send.buffer is MPI_IN_PLACE: only recv is used */
    bool copies_own;        /**< a rank's message to itself is a copy, no message */
    const int *permutation; /**< permuted: [ranks] order of visits, borrowed */
} mca_coll_pipering_exchange_plan_t;

/**
 * Makes an exchange and allocates all of its memory, so that it cannot run out of memory while
 * peers wait for its messages; sends nothing. Afterwards it refers to the buffers and types of the
 * plan, but to no array. On OMPI_ERR_OUT_OF_RESOURCE nothing is held.
 */
int mca_coll_pipering_exchange_init(mca_coll_pipering_exchange_t *exchange,
                                    const mca_coll_pipering_exchange_plan_t *plan,
                                    ompi_communicator_t *comm, int tag);
void mca_coll_pipering_exchange_fini(mca_coll_pipering_exchange_t *exchange);

/**
 * Begins an exchange for the first time, or again after it is over. The caller then drives its
 * schedule by mca_common_colltools_schedule_move or mca_common_colltools_schedule_wait.
 */
void mca_coll_pipering_exchange_begin(mca_coll_pipering_exchange_t *exchange);

/* Steps of the schedule, whose context is the exchange. */

/** Copies move[from]. */
mca_common_colltools_step_fn_t mca_coll_pipering_exchange_copy;

/**
 * Packs packed[from] into the pool and makes the result the buffer of send `to`.
 * OMPI_ERR_WOULD_BLOCK: the pool has no room yet.
 */
mca_common_colltools_step_fn_t mca_coll_pipering_exchange_pack;

/* ---- serving a call (coll_pipering_alltoall_serve.c) ---- */

/** The request of a nonblocking or persistent exchange. */
typedef struct mca_coll_pipering_exchange_request_t {
    mca_common_colltools_task_t super;
    mca_coll_pipering_exchange_t exchange;
    ompi_datatype_t *const *types[2]; /**< copies of the caller's arrays of types: sending side,
                                           receiving side; NULL: there is none */
} mca_coll_pipering_exchange_request_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_exchange_request_t);

/** A call to be served. */
typedef struct mca_coll_pipering_exchange_job_t {
    mca_coll_pipering_exchange_call_t call;
    int error; /**< OMPI_SUCCESS, or why the sides could not be found: the call then fails */
    mca_coll_pipering_exchange_plan_t plan; /**< its sides and copies_own */
} mca_coll_pipering_exchange_job_t;

/**
 * Serves a blocking call to its end; *request becomes that of another form, a nonblocking one being
 * started. Returns an error code of MPI, or OMPI_ERR_NOT_SUPPORTED: the call is for the module
 * below, on all ranks.
 */
int mca_coll_pipering_exchange(mca_coll_pipering_exchange_job_t *job, mca_coll_pipering_form_t form,
                               mca_coll_pipering_module_t *module, ompi_request_t **request);

END_C_DECLS

#endif
