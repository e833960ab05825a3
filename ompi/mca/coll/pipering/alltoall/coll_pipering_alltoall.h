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
 * Exchanges of unlike messages with many peers: MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and
 * MPI_Neighbor_alltoallw.
 *
 *     glue      alltoall, alltoallv, alltoallw, neighbor_alltoallw: arguments of MPI into two
 *               sides
 *     serve     alltoall_serve: below, or an exchange; counters
 *     make      alltoall_make: the schedule of an exchange, and all its memory;
 *               alltoall_permuted: the same in packets
 *     steps     alltoall_exchange: copies inside of the process
 *     engine    common_irregular_schedule: moves messages
 *     plans     plan_bins: which messages there are, in which order they start; plan_permuted:
 *               in which order packets do
 *
 * No rank knows all sizes. So whether a call is served rests on parameters alone, and
 * sizes change the order in which a rank starts its messages, never which ones there
 * are: a message is left out if it has no bytes, which both its ends see.
 */

#ifndef MCA_COLL_PIPERING_ALLTOALL_H
#define MCA_COLL_PIPERING_ALLTOALL_H

#include "ompi/mca/coll/pipering/call/coll_pipering.h"

#include "coll_pipering_plan_bins.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_copy.h"
#include "ompi/mca/common/irregular/common_irregular_schedule.h"

BEGIN_C_DECLS

/* ---- variables and counters (coll_pipering_alltoall_params.c) ---- */

typedef enum {
    MCA_COLL_PIPERING_EXCHANGE_AUTO,
    MCA_COLL_PIPERING_EXCHANGE_BINS,
    MCA_COLL_PIPERING_EXCHANGE_ROTATED,     /**< without bins */
    MCA_COLL_PIPERING_EXCHANGE_ORDERED,     /**< by rank */
    MCA_COLL_PIPERING_EXCHANGE_ROUND_ROBIN, /**< one peer at a time, zero bytes too */
    MCA_COLL_PIPERING_EXCHANGE_OFF,
    MCA_COLL_PIPERING_EXCHANGE_PERMUTED     /**< in packets, by visits in a random order */
} mca_coll_pipering_exchange_algorithm_t;

/** Calls with a variable of their own. */
typedef enum {
    MCA_COLL_PIPERING_CALL_ALLTOALL,
    MCA_COLL_PIPERING_CALL_ALLTOALLV,
    MCA_COLL_PIPERING_CALL_ALLTOALLW,
    MCA_COLL_PIPERING_CALL_NEIGHBOR_ALLTOALLW,
    MCA_COLL_PIPERING_EXCHANGE_CALLS
} mca_coll_pipering_exchange_call_t;

typedef struct mca_coll_pipering_exchange_params_t {
    int algorithm;   /**< mca_coll_pipering_exchange_algorithm_t */
    size_t small;    /**< messages of fewer bytes are small */
    size_t window;   /**< messages under way, 0: all ... */
    size_t many, many_window; /**< ... and from `many` messages of a rank on, 0: there are none */
    size_t in_place; /**< bytes of copies that are under way, 0: all */
    size_t packet, visit; /**< permuted: bytes of a packet, packets of a visit ... */
    bool permute;         /**< ... and whether visits are in a random order */
} mca_coll_pipering_exchange_params_t;

/** Bytes from which messages are large in place; elsewhere this is only a default. */
#define MCA_COLL_PIPERING_EXCHANGE_SMALL ((size_t) 4096)

/** Performance variables. */
typedef struct mca_coll_pipering_exchange_counters_t {
    opal_atomic_int64_t calls;
    opal_atomic_int64_t messages_sent, messages_received;
    opal_atomic_int64_t bytes_sent, bytes_received;
    opal_atomic_int64_t zeros_skipped;
    opal_atomic_int64_t small_sent;
} mca_coll_pipering_exchange_counters_t;

extern mca_coll_pipering_exchange_counters_t mca_coll_pipering_exchange_counters;

void mca_coll_pipering_exchange_params_register(mca_common_irregular_vars_t *all);

mca_coll_pipering_exchange_params_t
mca_coll_pipering_exchange_params_now(mca_coll_pipering_exchange_call_t call);

const char *mca_coll_pipering_exchange_algorithm_text(int algorithm);

/* ---- exchanges (coll_pipering_alltoall_make.c, coll_pipering_alltoall_exchange.c) ---- */

/** What a rank sends or receives, as MPI has it; arrays are borrowed. */
typedef struct mca_coll_pipering_side_t {
    char *buffer;
    size_t count; /**< messages */
    const int *counts;             /**< [count], or NULL: each has `each` elements ... */
    int each;                      /**< ... and they lie one behind the other */
    const int *displs;             /**< in extents of `type`, or in bytes if that is NULL */
    const MPI_Aint *byte_displs;   /**< in place of displs, or NULL */
    ompi_datatype_t *type;         /**< of all messages, or NULL */
    ompi_datatype_t *const *types; /**< [count] in place of type */
    const int *peer; /**< [count] whom with, or MPI_PROC_NULL; NULL: message i with rank i */
    bool flipped;    /**< of two messages with one peer, 2k + 1 stands before 2k */
} mca_coll_pipering_side_t;

/** Messages that an exchange has room for in itself. */
#define MCA_COLL_PIPERING_EXCHANGE_ROOM 16

/** A copy inside of the process. */
typedef struct mca_coll_pipering_move_t {
    mca_coll_pipering_place_t from, to;
} mca_coll_pipering_move_t;

/** An exchange on its way: a schedule, and what its steps work on. */
typedef struct mca_coll_pipering_exchange_t {
    mca_common_irregular_schedule_t schedule;
    mca_common_irregular_caller_t caller;
    int algorithm;
    mca_coll_pipering_bins_t bins; /**< of what is sent */
    bool in_place;
    mca_coll_pipering_move_t *move; /**< else: [steps], what a rank has for itself, and what is
                                         packed before it is cut or unpacked after */
    mca_common_irregular_message_t *packed; /**< in place: [steps], the data that steps pack ... */
    mca_coll_pipering_pool_t pool;          /**< ... where there is room ... */
    char *copies;                           /**< ... in [pool.size] bytes */
    uint32_t given; /**< the first so many packed messages have given their room back */
    void *memory;   /**< of all arrays, NULL: they are few, and have room here */
    mca_common_irregular_message_t room[MCA_COLL_PIPERING_EXCHANGE_ROOM];
} mca_coll_pipering_exchange_t;

/** What an exchange is to do. */
typedef struct mca_coll_pipering_exchange_plan_t {
    const char *name;
    mca_coll_pipering_exchange_params_t params;
    mca_coll_pipering_side_t send, recv; /**< send.buffer is MPI_IN_PLACE: only recv counts */
    bool copies_own; /**< what a rank has for itself is no message, but copied */
    const int *permutation; /**< permuted: [ranks], borrowed, or NULL: visits by rank */
} mca_coll_pipering_exchange_plan_t;

/**
 * Makes an exchange and takes all memory it will ever want; nothing is sent yet. On
 * OMPI_ERR_OUT_OF_RESOURCE nothing is held.
 */
int mca_coll_pipering_exchange_init(mca_coll_pipering_exchange_t *exchange,
                                    const mca_coll_pipering_exchange_plan_t *plan,
                                    ompi_communicator_t *comm, int tag);
void mca_coll_pipering_exchange_fini(mca_coll_pipering_exchange_t *exchange);

/** Begins, also again after the end. Then schedule_move, or schedule_wait, of its schedule. */
void mca_coll_pipering_exchange_begin(mca_coll_pipering_exchange_t *exchange);

/* Steps of the schedule, whose context is the exchange. */

/** Makes the copy `move[step]`. */
mca_common_irregular_step_fn_t mca_coll_pipering_exchange_copy;

/** Packs `packed[step]` for `send`; OMPI_ERR_WOULD_BLOCK: there is no room yet. */
mca_common_irregular_step_fn_t mca_coll_pipering_exchange_pack;

/* ---- the way of a call (coll_pipering_alltoall_serve.c) ---- */

/** An exchange that a request stands for. */
typedef struct mca_coll_pipering_exchange_request_t {
    mca_common_irregular_task_t super;
    mca_coll_pipering_exchange_t exchange;
    ompi_datatype_t *const *types[2]; /**< copies of the caller's arrays, sending and receiving;
                                           NULL: there is none */
} mca_coll_pipering_exchange_request_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_exchange_request_t);

/** A call; its plan lacks params. */
typedef struct mca_coll_pipering_exchange_job_t {
    mca_coll_pipering_exchange_call_t call;
    int error; /**< why this rank has no plan; its part in the call is to fail */
    mca_coll_pipering_exchange_plan_t plan;
} mca_coll_pipering_exchange_job_t;

/** Serve a call; OMPI_ERR_NOT_SUPPORTED: it is for the module below, on all ranks. */
int mca_coll_pipering_exchange(mca_coll_pipering_exchange_job_t *job, ompi_communicator_t *comm,
                               mca_coll_pipering_module_t *module);
int mca_coll_pipering_iexchange(mca_coll_pipering_exchange_job_t *job, ompi_communicator_t *comm,
                                mca_coll_pipering_module_t *module, ompi_request_t **request);
int mca_coll_pipering_exchange_persistent(mca_coll_pipering_exchange_job_t *job,
                                          ompi_communicator_t *comm,
                                          mca_coll_pipering_module_t *module,
                                          ompi_request_t **request);

/* ---- collectives ---- */

int mca_coll_pipering_alltoall(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                               void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *base);
int mca_coll_pipering_ialltoall(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *base);
int mca_coll_pipering_alltoall_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                    void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *base);

int mca_coll_pipering_alltoallv(const void *sbuf, const int *scounts, const int *sdispls,
                                struct ompi_datatype_t *sdtype, void *rbuf, const int *rcounts,
                                const int *rdispls, struct ompi_datatype_t *rdtype,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *base);
int mca_coll_pipering_ialltoallv(const void *sbuf, const int *scounts, const int *sdispls,
                                 struct ompi_datatype_t *sdtype, void *rbuf, const int *rcounts,
                                 const int *rdispls, struct ompi_datatype_t *rdtype,
                                 struct ompi_communicator_t *comm, ompi_request_t **request,
                                 mca_coll_base_module_t *base);
int mca_coll_pipering_alltoallv_init(const void *sbuf, const int *scounts, const int *sdispls,
                                     struct ompi_datatype_t *sdtype, void *rbuf,
                                     const int *rcounts, const int *rdispls,
                                     struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base);

int mca_coll_pipering_alltoallw(const void *sbuf, const int *scounts, const int *sdispls,
                                struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                const int *rcounts, const int *rdispls,
                                struct ompi_datatype_t *const *rdtypes,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *base);
int mca_coll_pipering_ialltoallw(const void *sbuf, const int *scounts, const int *sdispls,
                                 struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                 const int *rcounts, const int *rdispls,
                                 struct ompi_datatype_t *const *rdtypes,
                                 struct ompi_communicator_t *comm, ompi_request_t **request,
                                 mca_coll_base_module_t *base);
int mca_coll_pipering_alltoallw_init(const void *sbuf, const int *scounts, const int *sdispls,
                                     struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                     const int *rcounts, const int *rdispls,
                                     struct ompi_datatype_t *const *rdtypes,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base);

int mca_coll_pipering_neighbor_alltoallw(const void *sbuf, const int *scounts,
                                         const MPI_Aint *sdispls,
                                         struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                         const int *rcounts, const MPI_Aint *rdispls,
                                         struct ompi_datatype_t *const *rdtypes,
                                         struct ompi_communicator_t *comm,
                                         mca_coll_base_module_t *base);
int mca_coll_pipering_ineighbor_alltoallw(const void *sbuf, const int *scounts,
                                          const MPI_Aint *sdispls,
                                          struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                          const int *rcounts, const MPI_Aint *rdispls,
                                          struct ompi_datatype_t *const *rdtypes,
                                          struct ompi_communicator_t *comm,
                                          ompi_request_t **request,
                                          mca_coll_base_module_t *base);
int mca_coll_pipering_neighbor_alltoallw_init(const void *sbuf, const int *scounts,
                                              const MPI_Aint *sdispls,
                                              struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                              const int *rcounts, const MPI_Aint *rdispls,
                                              struct ompi_datatype_t *const *rdtypes,
                                              struct ompi_communicator_t *comm,
                                              struct ompi_info_t *info, ompi_request_t **request,
                                              mca_coll_base_module_t *base);

END_C_DECLS

#endif
