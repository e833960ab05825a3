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
 * Component, module and calls of coll/pipering.
 *
 *     glue      component, params, module, request, allgather, allgatherv
 *     decide    setup (who is where, what links cost), decide (plan of a call)
 *     engine    the one pipeline
 *     plans     pure C: blocks, rounds, order, route, model
 *
 * A call goes down these floors and nothing calls up.
 */

#ifndef MCA_COLL_PIPERING_H
#define MCA_COLL_PIPERING_H

#include "coll_pipering_compat.h"

#include "coll_pipering_engine.h"
#include "coll_pipering_probe.h"
#include "opal/class/opal_list.h"

BEGIN_C_DECLS

/* ---- variables and counters (coll_pipering_params.c) ---- */

typedef enum {
    MCA_COLL_PIPERING_AUTO,
    MCA_COLL_PIPERING_RING,
    MCA_COLL_PIPERING_LINEAR_RING,
    MCA_COLL_PIPERING_OFF
} mca_coll_pipering_algorithm_t;

/** What a call is decided on besides its sizes; must be equal on all ranks. */
typedef struct mca_coll_pipering_params_t {
    int algorithm;   /**< mca_coll_pipering_algorithm_t */
    int block_model; /**< mca_coll_pipering_block_model_t */
    int block_split; /**< mca_coll_pipering_split_t */
    int window;      /**< blocks, 0: chosen from the block size */
    size_t block_size;
    size_t min_total;
    double alpha, beta;             /**< seconds, seconds a byte; 0: measured */
    double local_alpha, local_beta; /**< the same inside a node */
    bool reorder_nodes;
    bool reorder_empties;
} mca_coll_pipering_params_t;

/** Why a call went to the module below. */
typedef enum {
    MCA_COLL_PIPERING_TAKEN, /**< it did not */
    MCA_COLL_PIPERING_FALLBACK_OFF,
    MCA_COLL_PIPERING_FALLBACK_SMALL,
    MCA_COLL_PIPERING_FALLBACK_MODEL,
    MCA_COLL_PIPERING_FALLBACK_UNLIKE,
    MCA_COLL_PIPERING_REASONS
} mca_coll_pipering_reason_t;

/** Performance variables; increased atomically. */
typedef struct mca_coll_pipering_counters_t {
    opal_atomic_int64_t calls;
    opal_atomic_int64_t blocks_received, blocks_sent;
    opal_atomic_int64_t bytes_received, bytes_sent, bytes_from_network;
    opal_atomic_int64_t rounds;
    opal_atomic_int64_t plans, probes;
    opal_atomic_int64_t block_size_used;
    opal_atomic_int64_t fallback[MCA_COLL_PIPERING_REASONS];
} mca_coll_pipering_counters_t;

static inline void mca_coll_pipering_count(opal_atomic_int64_t *counter, uint64_t more)
{
    (void) opal_atomic_fetch_add_64(counter, (int64_t) more);
}

int mca_coll_pipering_params_register(void);

/** The variables as they stand for Allgatherv or Allgather, unit-converted and in range. */
mca_coll_pipering_params_t mca_coll_pipering_params_now(bool regular);

const char *mca_coll_pipering_reason_text(mca_coll_pipering_reason_t reason);
const char *mca_coll_pipering_algorithm_text(int algorithm);

/* ---- module ---- */

struct mca_coll_pipering_setup_t;

/** Calls whose plan is kept on a communicator. */
#define MCA_COLL_PIPERING_PLANS 8

typedef struct mca_coll_pipering_previous_t {
    mca_coll_base_module_allgather_fn_t allgather;
    mca_coll_base_module_allgatherv_fn_t allgatherv;
    mca_coll_base_module_iallgather_fn_t iallgather;
    mca_coll_base_module_iallgatherv_fn_t iallgatherv;
    mca_coll_base_module_t *allgather_module, *allgatherv_module;
    mca_coll_base_module_t *iallgather_module, *iallgatherv_module;
} mca_coll_pipering_previous_t;

struct mca_coll_pipering_plan_t;

typedef struct mca_coll_pipering_module_t {
    mca_coll_base_module_t super;
    mca_coll_pipering_previous_t previous;
    struct mca_coll_pipering_setup_t *setup; /**< NULL before the first call that wants it */
    struct mca_coll_pipering_plan_t *plan[MCA_COLL_PIPERING_PLANS];
    int oldest;        /**< plan that is replaced next */
    opal_mutex_t lock; /**< of the plans */
    bool out_of_memory; /**< all that it can do is say so */
} mca_coll_pipering_module_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_module_t);

mca_coll_base_module_t *mca_coll_pipering_comm_query(struct ompi_communicator_t *comm,
                                                     int *priority);

/* ---- component ---- */

typedef struct mca_coll_pipering_component_t {
    mca_coll_base_component_t super;
    int priority;
    int verbose;
    int output;           /**< stream of the verbose lines */
    opal_mutex_t lock;    /**< of what follows */
    opal_list_t active;   /**< requests that want progress */
    mca_coll_pipering_module_t spare; /**< of a communicator that there was no memory for */
    bool opened;
    bool progressing;     /**< someone is in the progress function */
    bool registered;      /**< the progress function is */
    struct {
        bool known;
        double fields[MCA_COLL_PIPERING_FIELDS];
    } links[2];           /**< what this process has measured (coll_pipering_setup.c) */
    mca_coll_pipering_counters_t counters;
} mca_coll_pipering_component_t;

OMPI_DECLSPEC extern mca_coll_pipering_component_t mca_coll_pipering_component;

/** Whether this rank writes the verbose line of a call. */
static inline bool mca_coll_pipering_is_talkative(ompi_communicator_t *comm)
{
    const int verbose = mca_coll_pipering_component.verbose;
    return 1 < verbose || (1 == verbose && 0 == ompi_comm_rank(comm));
}

/* ---- setup (coll_pipering_setup.c) ---- */

/** What all ranks of a communicator know alike, once it is ready. */
typedef struct mca_coll_pipering_setup_t mca_coll_pipering_setup_t;

/**
 * Starts the setup of a communicator; local, it only reserves tags. Must be called
 * by all ranks at the same place in their sequence of collective calls.
 */
int mca_coll_pipering_setup_start(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                                  const mca_coll_pipering_params_t *params);

/** Moves the setup on without waiting; the number of steps made. */
int mca_coll_pipering_setup_progress(mca_coll_pipering_setup_t *setup);

bool mca_coll_pipering_setup_ready(const mca_coll_pipering_setup_t *setup);

/** OMPI_SUCCESS, or what ended the setup. */
int mca_coll_pipering_setup_error(const mca_coll_pipering_setup_t *setup);

/** All ranks have the same data representation; else nothing can be sent as bytes. */
bool mca_coll_pipering_setup_alike(const mca_coll_pipering_setup_t *setup);

/** [p] the node of each rank, named by its lowest rank. */
const int *mca_coll_pipering_setup_node_of(const mca_coll_pipering_setup_t *setup);

/** Measured costs; those that `params` gives take their place. */
mca_coll_pipering_cost_t mca_coll_pipering_setup_cost(const mca_coll_pipering_setup_t *setup,
                                                      const mca_coll_pipering_params_t *params);

void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup);

/* ---- decide (coll_pipering_decide.c) ---- */

/** All that is decided for the sizes of a call; an object, kept while in use. */
typedef struct mca_coll_pipering_plan_t {
    opal_object_t super;
    mca_coll_pipering_params_t params;
    bool must_take;                    /**< for a call that cannot be left to others */
    mca_coll_pipering_reason_t reason; /**< MCA_COLL_PIPERING_TAKEN: the ring serves it */
    int size;
    size_t *bytes; /**< [size] by rank */
    size_t total;
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_route_t route;
    mca_coll_pipering_cut_t cut;
    unsigned window;
    size_t equation2;          /**< B of the corrected equation (2) */
    uint64_t rounds;           /**< of the ring of nodes */
    mca_coll_pipering_volume_t in, out; /**< of this rank, over all its links */
    size_t in_from_network;    /**< bytes */
    double time, rival_time;   /**< modelled seconds */
    void *memory;
} mca_coll_pipering_plan_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_plan_t);

/**
 * The plan for contributions of `bytes` [p]. The setup must be ready. The plan is
 * retained for the caller. `must_take`: nobody else can serve the call any more.
 */
int mca_coll_pipering_plan_get(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                               const mca_coll_pipering_params_t *params, const size_t *bytes,
                               bool must_take, mca_coll_pipering_plan_t **plan);

/* ---- calls (coll_pipering_request.c) ---- */

/** A call on its way: what MPI_Wait waits for. */
typedef struct mca_coll_pipering_request_t {
    ompi_coll_base_nbc_request_t super;
    ompi_communicator_t *comm;
    mca_coll_pipering_module_t *module;
    const char *name; /**< of the call, for the verbose line; NULL: only sets up */
    mca_coll_pipering_params_t params;
    size_t *bytes; /**< [p] contributions, owned */
    mca_coll_pipering_plan_t *plan;
    mca_coll_pipering_layout_t send, recv;
    bool in_place;
    bool nonblocking;
    bool running; /**< the setup is behind it */
    int tag;
    mca_coll_pipering_pipe_t pipe;
} mca_coll_pipering_request_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_request_t);

/** A request for a call `name` (NULL: for the setup alone), to be filled in; NULL: no memory. */
mca_coll_pipering_request_t *mca_coll_pipering_request_new(mca_coll_pipering_module_t *module,
                                                           ompi_communicator_t *comm,
                                                           const char *name);

/**
 * Starts a request: makes its plan if it has none and the communicator is set
 * up, takes memory, and sends what it can. On an error the request is gone; a
 * later error stands in its status.
 */
int mca_coll_pipering_request_start(mca_coll_pipering_request_t *request);

/** Waits for a started request, frees it, and returns its error. */
int mca_coll_pipering_request_wait(mca_coll_pipering_request_t *request);

/** Stops the progress of requests; none is active. */
void mca_coll_pipering_request_finalize(void);

/* ---- collectives (one file each; what they share in coll_pipering_gather.c) ---- */

/** A call of the Allgather family, counts and displacements as MPI has them. */
typedef struct mca_coll_pipering_gather_t {
    const char *name;
    const void *sbuf;
    int scount;
    struct ompi_datatype_t *sdtype;
    void *rbuf;
    const int *rcounts; /**< NULL: rcount of each rank */
    const int *displs;  /**< NULL: one after the other */
    int rcount;
    struct ompi_datatype_t *rdtype;
} mca_coll_pipering_gather_t;

/** The error of this component that MPI knows: no memory is no internal error. */
static inline int mca_coll_pipering_mpi_error(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : rc;
}

/** Serves a blocking call. OMPI_ERR_NOT_SUPPORTED: it is for the module below, on all ranks. */
int mca_coll_pipering_gather(const mca_coll_pipering_gather_t *call,
                             struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module);

/** Starts a nonblocking call, likewise. */
int mca_coll_pipering_igather(const mca_coll_pipering_gather_t *call,
                              struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module,
                              ompi_request_t **request);

int mca_coll_pipering_allgatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                 void *rbuf, const int *rcounts, const int *displs,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 mca_coll_base_module_t *module);

int mca_coll_pipering_iallgatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                  void *rbuf, const int *rcounts, const int *displs,
                                  struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                  ompi_request_t **request, mca_coll_base_module_t *module);

int mca_coll_pipering_allgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *module);

int mca_coll_pipering_iallgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                 void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                 struct ompi_communicator_t *comm, ompi_request_t **request,
                                 mca_coll_base_module_t *module);

END_C_DECLS

#endif
