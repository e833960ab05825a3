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
 *     glue      component, params, module, serve, task, request; gather for allgather and
 *               allgatherv; chain for bcast, reduce, scan, exscan and allreduce; staging
 *     decide    setup (who is where, what links cost), decide (plan of a call)
 *     engine    the one pipeline, and exchanges in few rounds; arena (ring buffers)
 *     plans     pure C: blocks, rounds, order, route, chain, grid, outliers, model
 *
 * A call goes down these floors and nothing calls up. Exchanges of all with all have a
 * way of their own beside them (coll_pipering_alltoall.h).
 */

#ifndef MCA_COLL_PIPERING_H
#define MCA_COLL_PIPERING_H

#include "coll_pipering_compat.h"

#include "coll_pipering_engine.h"
#include "coll_pipering_engine_grid.h"
#include "coll_pipering_staging.h"
#include "coll_pipering_task.h"
#include "coll_pipering_wire.h"
#include "opal/class/opal_list.h"

BEGIN_C_DECLS

/* ---- variables and counters (coll_pipering_params.c) ---- */

typedef enum {
    MCA_COLL_PIPERING_AUTO,
    MCA_COLL_PIPERING_RING,        /**< pipelined; of allreduce: scattered, then gathered */
    MCA_COLL_PIPERING_LINEAR_RING,
    MCA_COLL_PIPERING_OFF,
    MCA_COLL_PIPERING_PIPELINE,    /**< along a chain */
    MCA_COLL_PIPERING_MERGED,      /**< allreduce: there and back along a chain at the same time */
    MCA_COLL_PIPERING_SERIAL,      /**< allreduce: there, then back */
    MCA_COLL_PIPERING_DOUBLING,    /**< in log2 p rounds; dissemination if p is no power of two */
    MCA_COLL_PIPERING_DISSEMINATION
} mca_coll_pipering_algorithm_t;

/** Collectives with a variable of their own. */
typedef enum {
    MCA_COLL_PIPERING_ALLGATHERV,
    MCA_COLL_PIPERING_ALLGATHER,
    MCA_COLL_PIPERING_BCAST,
    MCA_COLL_PIPERING_REDUCE,
    MCA_COLL_PIPERING_SCAN,
    MCA_COLL_PIPERING_EXSCAN,
    MCA_COLL_PIPERING_ALLREDUCE,
    MCA_COLL_PIPERING_COLLECTIVES
} mca_coll_pipering_collective_t;

/** What a call is decided on besides its sizes; must be equal on all ranks. */
typedef struct mca_coll_pipering_params_t {
    int algorithm;   /**< mca_coll_pipering_algorithm_t */
    int block_model; /**< mca_coll_pipering_block_model_t */
    int block_split; /**< mca_coll_pipering_split_t */
    int window;      /**< blocks, 0: chosen from the block size */
    size_t block_size;
    size_t min_total;
    double outlier_fraction;  /**< of the processes, 0 to 1 */
    double outlier_threshold; /**< ratio */
    size_t outlier_min_total; /**< bytes */
    size_t rounds_min_total;  /**< bytes from which exchanges in rounds need no outliers */
    size_t rounds_max_total;  /**< bytes that they may be about */
    size_t rounds_packed;     /**< bytes of a contribution that goes with others there */
    double alpha, beta;             /**< seconds, seconds a byte; 0: learnt */
    double local_alpha, local_beta; /**< the same inside a node; 0: a default */
    size_t ring_buffer_size; /**< bytes, 0: blocks go as messages inside a node too */
    int ring_buffer_blocks;  /**< blocks ahead there, 0: as many as fit */
    bool reorder_nodes;
    bool reorder_empties;
    bool overlap;
    bool reproducible; /**< where order matters nothing measured decides on it */
} mca_coll_pipering_params_t;

/** Why a call went to the module below. */
typedef enum {
    MCA_COLL_PIPERING_TAKEN, /**< it did not */
    MCA_COLL_PIPERING_FALLBACK_OFF,
    MCA_COLL_PIPERING_FALLBACK_SMALL,
    MCA_COLL_PIPERING_FALLBACK_EARLY,
    MCA_COLL_PIPERING_FALLBACK_LOCAL,
    MCA_COLL_PIPERING_FALLBACK_MODEL,
    MCA_COLL_PIPERING_FALLBACK_UNLIKE,
    MCA_COLL_PIPERING_FALLBACK_UNEQUAL,
    MCA_COLL_PIPERING_REASONS
} mca_coll_pipering_reason_t;

/** Performance variables. */
typedef struct mca_coll_pipering_counters_t {
    opal_atomic_int64_t fallback[MCA_COLL_PIPERING_REASONS]; /**< the one of small calls first */
    opal_atomic_int64_t calls;
    opal_atomic_int64_t blocks_received, blocks_sent;
    opal_atomic_int64_t bytes_received, bytes_sent, bytes_from_network, bytes_shared;
    opal_atomic_int64_t rounds;
    opal_atomic_int64_t plans, lessons;
    opal_atomic_int64_t block_size_used, predicted_rounds, predicted_time;
} mca_coll_pipering_counters_t;

int mca_coll_pipering_params_register(void);

/** The variables as they stand for a collective, unit-converted and in range. */
mca_coll_pipering_params_t
mca_coll_pipering_params_now(mca_coll_pipering_collective_t collective);

/** What can be said of a call about so many bytes without knowing the communicator. */
mca_coll_pipering_reason_t mca_coll_pipering_judge_size(mca_coll_pipering_collective_t collective,
                                                        size_t total);

const char *mca_coll_pipering_reason_text(mca_coll_pipering_reason_t reason);
const char *mca_coll_pipering_algorithm_text(int algorithm);

/* ---- module ---- */

struct mca_coll_pipering_setup_t;
struct mca_coll_pipering_lessons_t;
struct mca_coll_pipering_samples_t;
struct mca_coll_pipering_wire_t;

/** Calls whose plan is kept on a communicator. */
#define MCA_COLL_PIPERING_PLANS 8

/** The collectives that the module serves: X(name as in Open MPI's structures). */
#define MCA_COLL_PIPERING_EACH(X) \
    X(allgather) X(allgatherv) X(allreduce) X(bcast) X(exscan) X(reduce) X(scan) \
    X(iallgather) X(iallgatherv) X(iallreduce) X(ibcast) X(iexscan) X(ireduce) X(iscan) \
    X(allgather_init) X(allgatherv_init) X(allreduce_init) X(bcast_init) X(exscan_init) \
    X(reduce_init) X(scan_init) \
    X(alltoallv) X(alltoallw) X(ialltoallv) X(ialltoallw) X(alltoallv_init) X(alltoallw_init)

/** Likewise, but others need not serve them: those that want a topology. */
#define MCA_COLL_PIPERING_EACH_NEIGHBOR(X) \
    X(neighbor_alltoallw) X(ineighbor_alltoallw) X(neighbor_alltoallw_init)

/** What served them before. */
typedef struct mca_coll_pipering_previous_t {
#define MCA_COLL_PIPERING_MEMBER(name)                      \
    mca_coll_base_module_##name##_fn_t name;                \
    mca_coll_base_module_t *name##_module;
    MCA_COLL_PIPERING_EACH(MCA_COLL_PIPERING_MEMBER)
    MCA_COLL_PIPERING_EACH_NEIGHBOR(MCA_COLL_PIPERING_MEMBER)
#undef MCA_COLL_PIPERING_MEMBER
} mca_coll_pipering_previous_t;

struct mca_coll_pipering_plan_t;

typedef struct mca_coll_pipering_module_t {
    mca_coll_base_module_t super;
    struct mca_coll_pipering_lessons_t *lessons; /**< NULL before the first call that could teach */
    mca_coll_pipering_previous_t previous;
    struct mca_coll_pipering_setup_t *setup; /**< NULL before the first call that wants it */
    opal_atomic_int64_t swaps; /**< exchanges in rounds that have begun */
    bool joined;               /**< calls have used ring buffers */
    struct mca_coll_pipering_plan_t *plan[MCA_COLL_PIPERING_PLANS];
    int oldest;        /**< plan that is replaced next */
    opal_mutex_t lock; /**< of the plans */
    bool settled;      /**< a blocking call has waited for the setup, so on all ranks */
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
    int algorithm[MCA_COLL_PIPERING_COLLECTIVES]; /**< variables that small calls read, too, */
    size_t min_total;                             /**< so next to what else these look at */
    mca_coll_pipering_counters_t counters;
    opal_mutex_t lock;    /**< of what follows */
    opal_list_t active;   /**< tasks that want progress */
    mca_coll_pipering_module_t spare; /**< of a communicator that there was no memory for */
    bool opened;
    bool progressing;     /**< someone is in the progress function */
    bool registered;      /**< the progress function is */
    mca_coll_pipering_rates_t rates; /**< what this process has learnt last */
    mca_common_irregular_equal_t equal; /**< variables that must be equal on all ranks */
    mca_common_irregular_directory_t directory; /**< of segments in shared memory */
    mca_coll_pipering_arena_t arena;
} mca_coll_pipering_component_t;

OMPI_DECLSPEC extern mca_coll_pipering_component_t mca_coll_pipering_component;

/** Whether this rank writes the verbose line of a call. */
static inline bool mca_coll_pipering_is_talkative(ompi_communicator_t *comm)
{
    const int verbose = mca_coll_pipering_component.verbose;
    return 1 < verbose || (1 == verbose && 0 == ompi_comm_rank(comm));
}

/** Values of variables for sizes; a larger one counts as 0. */
#define MCA_COLL_PIPERING_SIZE_MOST ((size_t) 1 << 30)

/** Whether a call about `total` bytes is one for the module below because it is small. */
static inline bool mca_coll_pipering_is_small(mca_coll_pipering_collective_t collective,
                                              size_t total)
{
    const mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    return total < component->min_total && MCA_COLL_PIPERING_SIZE_MOST >= component->min_total
           && MCA_COLL_PIPERING_AUTO == component->algorithm[collective];
}

/* ---- setup (coll_pipering_setup.c) ---- */

/** What all ranks of a communicator know alike, once it is ready. */
typedef struct mca_coll_pipering_setup_t mca_coll_pipering_setup_t;

/**
 * Starts the setup of a communicator; local, it only reserves tags. Must be called
 * by all ranks at the same place in their sequence of collective calls.
 */
int mca_coll_pipering_setup_start(mca_coll_pipering_module_t *module, ompi_communicator_t *comm);

/** Moves the setup on without waiting; the number of steps made. */
int mca_coll_pipering_setup_progress(mca_coll_pipering_setup_t *setup);

bool mca_coll_pipering_setup_ready(const mca_coll_pipering_setup_t *setup);

/** OMPI_SUCCESS, or what ended the setup. */
int mca_coll_pipering_setup_error(const mca_coll_pipering_setup_t *setup);

/** TAKEN, or why no call can be served on this communicator: its ranks differ. */
mca_coll_pipering_reason_t mca_coll_pipering_setup_judge(const mca_coll_pipering_setup_t *setup);

/** How many nodes there are. */
int mca_coll_pipering_setup_nodes(const mca_coll_pipering_setup_t *setup);

/** Seconds in which a rank combines a byte of two vectors, all ranks being at it. */
double mca_coll_pipering_setup_combine(const mca_coll_pipering_setup_t *setup);

/** Ranks per processor on the node where there are most of them. */
double mca_coll_pipering_setup_load(const mca_coll_pipering_setup_t *setup);

/** Costs by what is known of rates; those that `params` gives take their place. */
mca_coll_pipering_cost_t mca_coll_pipering_setup_cost(const mca_coll_pipering_setup_t *setup,
                                                      const mca_coll_pipering_rates_t *rates,
                                                      const mca_coll_pipering_params_t *params);

/** What ranks had learnt of links between nodes on other communicators. */
const mca_coll_pipering_rates_t *
mca_coll_pipering_setup_rates(const mca_coll_pipering_setup_t *setup);

/** What messages between its ranks go by; borrowed. */
struct mca_coll_pipering_wire_t *mca_coll_pipering_setup_wire(mca_coll_pipering_setup_t *setup);

void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup);

/* ---- decide (coll_pipering_decide.c) ---- */

/** What a call is, to those who decide; equal on all ranks. */
typedef struct mca_coll_pipering_key_t {
    mca_coll_pipering_collective_t collective;
    mca_coll_pipering_params_t params;
    unsigned lessons; /**< 1 + those that were over when it was made; 0: it knows of none */
    bool must_take; /**< nobody else can serve the call any more */
    bool wanted;    /**< as a pipeline, since nothing is known of links */
    bool varied;    /**< the block size of the parameters is not the user's: the call teaches */
    bool ordered;   /**< of a reduction: the operation does not commute */
    bool reproducible; /**< likewise: values must be combined in the same order on every run */
    int root;
    size_t unit;    /**< bytes of the signature that must not be cut; 1 for a gather */
    int parts;      /**< p for a gather, else 1 */
    size_t *sizes;  /**< [parts] contributions in units */
} mca_coll_pipering_key_t;

/** All that is decided for a call; an object, kept while in use. */
typedef struct mca_coll_pipering_plan_t {
    opal_object_t super;
    mca_coll_pipering_key_t key;       /**< with sizes of its own */
    mca_coll_pipering_reason_t reason; /**< MCA_COLL_PIPERING_TAKEN: this component serves it */
    int algorithm;                     /**< what serves it */
    size_t total;                      /**< bytes */
    size_t *bytes;                     /**< [ring.size] by rank, in units */
    size_t *starts;                    /**< [ring.size] where they begin, of a scattered vector */
    mca_coll_pipering_ring_t ring;     /**< of a chain: of the root alone */
    mca_coll_pipering_route_t *route; /**< [pipes] */
    int pipes;                        /**< pipelines that the call consists of */
    mca_coll_pipering_cut_t cut; /**< in units */
    unsigned window;
    mca_coll_pipering_ring_t by_node; /**< ranks in the order of nodes, of an exchange in rounds */
    mca_coll_pipering_grid_t grid;
    bool shared;               /**< links inside a node go through ring buffers */
    size_t equation2;          /**< B of the corrected equation (2), of a gather */
    uint64_t rounds;           /**< of the ring of nodes, or stages of the chain */
    mca_coll_pipering_volume_t in, out; /**< of this rank, over all its links; in bytes */
    size_t in_from_network;    /**< bytes */
    double time, rival_time;   /**< modelled seconds */
    void *memory;
    size_t size; /**< bytes of it */
} mca_coll_pipering_plan_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_plan_t);

/**
 * The plan for a call. The setup must be ready. The plan is retained for the caller,
 * `key` is borrowed.
 */
int mca_coll_pipering_plan_get(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                               const mca_coll_pipering_key_t *key,
                               mca_coll_pipering_plan_t **plan);

/** Bytes of a block on average over all contributions. O(p). */
double mca_coll_pipering_plan_length(const mca_coll_pipering_plan_t *plan);

/** What the model says of a plan. */
mca_coll_pipering_forecast_t
mca_coll_pipering_plan_forecast(const mca_coll_pipering_plan_t *plan);

/** It is an exchange in rounds, and no pipeline. */
static inline bool mca_coll_pipering_plan_swaps(const mca_coll_pipering_plan_t *plan)
{
    return MCA_COLL_PIPERING_DOUBLING <= plan->algorithm;
}

/** A plan on its way. */
typedef struct mca_coll_pipering_draft_t {
    mca_coll_pipering_plan_t *plan;
    int *node_of; /**< [p] the lowest rank on the node of each rank */
    int ranks, nodes, me;
    double load;    /**< most ranks per processor */
    double combine; /**< seconds a byte */
    mca_coll_pipering_cost_t cost;
    mca_coll_pipering_problem_t problem; /**< of a gather */
    uint64_t *blocks;                    /**< [p] */
    void *order_scratch;
} mca_coll_pipering_draft_t;

/** Decides on a call along a chain (coll_pipering_decide_chain.c). */
void mca_coll_pipering_decide_chain(mca_coll_pipering_draft_t *draft);

/** Decides whether a gather, whose ring is decided on, is an exchange in rounds rather. */
void mca_coll_pipering_decide_rounds(mca_coll_pipering_draft_t *draft);

/**
 * A call is taken if it is not slower than this many times the modelled time of its
 * rivals, which leave out what unpipelined algorithms lose on the way.
 */
#define MCA_COLL_PIPERING_RIVAL_SLACK 1.10

/** Whether a draft with its times is worth it; what is said of one node holds if all are on one. */
mca_coll_pipering_reason_t mca_coll_pipering_judge(const mca_coll_pipering_draft_t *draft,
                                                   bool pays_on_one_node);

/** Bytes of a block where ranks share nothing but memory: what a cache holds many of. */
#define MCA_COLL_PIPERING_LOCAL_BLOCK ((size_t) 32 * 1024)

/** A block size that was found by search, within bounds. */
size_t mca_coll_pipering_bound_block(const mca_coll_pipering_draft_t *draft, size_t bytes);

/** Whether ring buffers can carry blocks of so many bytes; false without any. */
bool mca_coll_pipering_can_share(const mca_coll_pipering_params_t *params, size_t block_bytes);

/** Blocks ahead, for blocks of so many bytes. */
unsigned mca_coll_pipering_choose_window(const mca_coll_pipering_params_t *params,
                                         size_t block_bytes);

/* ---- calls (coll_pipering_request.c) ---- */

struct mca_coll_pipering_request_t;

/** Makes the pipelines of a request whose plan is there. */
typedef int mca_coll_pipering_begin_fn_t(struct mca_coll_pipering_request_t *request);

/** A call on its way. */
typedef struct mca_coll_pipering_request_t {
    mca_coll_pipering_task_t super;
    mca_coll_pipering_module_t *module;
    mca_common_irregular_caller_t caller; /**< its name is NULL: it only sets up */
    mca_coll_pipering_begin_fn_t *begin;
    mca_coll_pipering_key_t key; /**< its sizes are owned */
    mca_coll_pipering_plan_t *plan;
    mca_coll_pipering_layout_t send, recv;
    bool in_place;
    mca_coll_pipering_unit_t unit;            /**< of a reduction */
    mca_coll_pipering_combine_plan_t combine; /**< likewise */
    bool exclusive;                           /**< MPI_Exscan */
    mca_coll_pipering_staging_t staging;      /**< likewise */
    bool running; /**< the setup is behind it */
    int tag;      /**< the first one; of a persistent request for all its starts */
    int pipes;    /**< that have been made */
    mca_coll_pipering_pipe_t *first, *last; /**< of these, in the order of the plan's routes */
    bool swaps; /**< an exchange in rounds in place of pipelines */
    mca_coll_pipering_swap_t swap;
    mca_coll_pipering_clock_t clock;
    struct mca_coll_pipering_samples_t *samples; /**< [3] of a call that teaches, else NULL; owned */
    double began;                                /**< when such a call did, seconds */
    bool telling;                         /**< its pipelines are over, ranks tell what they saw */
} mca_coll_pipering_request_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_request_t);

/**
 * A request for a call `name` (NULL: for the setup alone), to be filled in; NULL: no
 * memory. The sizes of `key` (may be NULL) become the request's, in any case. A
 * persistent one is left to the user to start.
 * When it starts it makes its plan if it has none and the communicator is set up, takes
 * memory, and sends what it can.
 */
mca_coll_pipering_request_t *mca_coll_pipering_request_new(mca_coll_pipering_module_t *module,
                                                           ompi_communicator_t *comm,
                                                           const char *name,
                                                           const mca_coll_pipering_key_t *key,
                                                           bool persistent);

/**
 * Adds a pipeline to a request that begins, for the next route of its plan; `plan` with unit,
 * layouts and combine, the rest is filled in.
 */
int mca_coll_pipering_request_add(mca_coll_pipering_request_t *request,
                                  mca_coll_pipering_pipe_plan_t plan);

/**
 * Gives a request its tags, as many as its plan needs, or without one its collective may
 * need. All ranks must come here in the same call, whatever becomes of it on one of them,
 * where MPI has their calls in order: starts of persistent requests are in none.
 */
void mca_coll_pipering_request_take_tags(mca_coll_pipering_request_t *request);

/**
 * A request, prepared, keeps what the user may free once the call has returned: communicator,
 * types and operation are held, counts and displacements copied. OMPI_ERR_OUT_OF_RESOURCE:
 * nothing is held.
 */
int mca_coll_pipering_request_keep(mca_coll_pipering_request_t *request);

/**
 * The call is to teach what links between nodes cost: before it starts, on all ranks.
 * OMPI_ERR_OUT_OF_RESOURCE: no memory.
 */
int mca_coll_pipering_request_teach(mca_coll_pipering_request_t *request);

/** Makes the request's exchange in rounds. */
int mca_coll_pipering_request_swap(mca_coll_pipering_request_t *request);

/**
 * Says in `plan` whether links inside the node of the request's next pipeline may go through
 * ring buffers (coll_pipering_share.c).
 */
void mca_coll_pipering_request_share(mca_coll_pipering_request_t *request,
                                     mca_coll_pipering_pipe_plan_t *plan);

/* ---- the way of a call (coll_pipering_serve.c) ---- */

/** A call as all families have it in common. */
typedef struct mca_coll_pipering_call_t {
    const char *name;
    mca_coll_pipering_collective_t collective;
    size_t total;     /**< bytes that it is about, equal on all ranks */
    bool order_matters; /**< the result depends on the order in which values are combined */
    const void *what; /**< the call as its family knows it */
    /** Fills in a key but for params, must_take and reproducible; its sizes are malloc'ed. */
    int (*key_of)(const void *what, ompi_communicator_t *comm, mca_coll_pipering_key_t *key);
    /** Fills in layouts, `begin` and the like. */
    void (*prepare)(const void *what, mca_coll_pipering_request_t *request);
} mca_coll_pipering_call_t;

/** The error of this component that MPI knows: no memory is no internal error. */
static inline int mca_coll_pipering_mpi_error(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : rc;
}

/** Counts a call that is left to the module below, and says so if it is to be said. */
void mca_coll_pipering_tell_fallback(const char *name, size_t total, ompi_communicator_t *comm,
                                     mca_coll_pipering_reason_t reason);

/** Serves a blocking call. OMPI_ERR_NOT_SUPPORTED: it is for the module below, on all ranks. */
int mca_coll_pipering_serve(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                            mca_coll_pipering_module_t *module);

/** Starts a nonblocking call, likewise. */
int mca_coll_pipering_iserve(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                             mca_coll_pipering_module_t *module, ompi_request_t **request);

/** Makes a persistent request, likewise; its plan is made at the first start. */
int mca_coll_pipering_serve_later(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                                  mca_coll_pipering_module_t *module, ompi_request_t **request);

/* ---- collectives ---- */

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

/**
 * Serve such a call, as mca_coll_pipering_serve and _iserve (coll_pipering_gather.c). One that is
 * for the module below is safe for it then: where types differ this rank's contribution is put
 * in place, and the call is one with MPI_IN_PLACE.
 */
int mca_coll_pipering_gather(mca_coll_pipering_gather_t *call, struct ompi_communicator_t *comm,
                             mca_coll_pipering_module_t *module);
int mca_coll_pipering_igather(mca_coll_pipering_gather_t *call, struct ompi_communicator_t *comm,
                              mca_coll_pipering_module_t *module, ompi_request_t **request);

int mca_coll_pipering_gather_later(const mca_coll_pipering_gather_t *call,
                                   struct ompi_communicator_t *comm,
                                   mca_coll_pipering_module_t *module, ompi_request_t **request);

/** A call along a chain; buffers as MPI has them, of MPI_Bcast rbuf alone. */
typedef struct mca_coll_pipering_chain_call_t {
    const char *name;
    mca_coll_pipering_collective_t collective;
    const void *sbuf;
    void *rbuf;
    int count;
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op; /**< NULL: MPI_Bcast */
    int root;
} mca_coll_pipering_chain_call_t;

/** Serve such a call, likewise (coll_pipering_chain.c). */
int mca_coll_pipering_chain_serve(const mca_coll_pipering_chain_call_t *call,
                                  struct ompi_communicator_t *comm,
                                  mca_coll_pipering_module_t *module);
int mca_coll_pipering_chain_iserve(const mca_coll_pipering_chain_call_t *call,
                                   struct ompi_communicator_t *comm,
                                   mca_coll_pipering_module_t *module, ompi_request_t **request);
int mca_coll_pipering_chain_later(const mca_coll_pipering_chain_call_t *call,
                                  struct ompi_communicator_t *comm,
                                  mca_coll_pipering_module_t *module, ompi_request_t **request);

int mca_coll_pipering_bcast(void *buffer, int count, struct ompi_datatype_t *dtype, int root,
                            struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_pipering_ibcast(void *buffer, int count, struct ompi_datatype_t *dtype, int root,
                             struct ompi_communicator_t *comm, ompi_request_t **request,
                             mca_coll_base_module_t *module);
int mca_coll_pipering_reduce(const void *sbuf, void *rbuf, int count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                             struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_pipering_ireduce(const void *sbuf, void *rbuf, int count,
                              struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                              struct ompi_communicator_t *comm, ompi_request_t **request,
                              mca_coll_base_module_t *module);
int mca_coll_pipering_scan(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
                           struct ompi_op_t *op, struct ompi_communicator_t *comm,
                           mca_coll_base_module_t *module);
int mca_coll_pipering_iscan(const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype,
                            struct ompi_op_t *op, struct ompi_communicator_t *comm,
                            ompi_request_t **request, mca_coll_base_module_t *module);
int mca_coll_pipering_exscan(const void *sbuf, void *rbuf, int count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                             struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_pipering_iexscan(const void *sbuf, void *rbuf, int count,
                              struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                              struct ompi_communicator_t *comm, ompi_request_t **request,
                              mca_coll_base_module_t *module);
int mca_coll_pipering_allreduce(const void *sbuf, void *rbuf, int count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *module);
int mca_coll_pipering_iallreduce(const void *sbuf, void *rbuf, int count,
                                 struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                 struct ompi_communicator_t *comm, ompi_request_t **request,
                                 mca_coll_base_module_t *module);

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

/** Persistent calls (coll_pipering_persistent.c). */
int mca_coll_pipering_allgather_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                     void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base);
int mca_coll_pipering_allgatherv_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                      void *rbuf, const int *rcounts, const int *displs,
                                      struct ompi_datatype_t *rdtype,
                                      struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                      ompi_request_t **request, mca_coll_base_module_t *base);
int mca_coll_pipering_bcast_init(void *buffer, int count, struct ompi_datatype_t *dtype, int root,
                                 struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                 ompi_request_t **request, mca_coll_base_module_t *base);
int mca_coll_pipering_reduce_init(const void *sbuf, void *rbuf, int count,
                                  struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                                  struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *base);
int mca_coll_pipering_scan_init(const void *sbuf, void *rbuf, int count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                ompi_request_t **request, mca_coll_base_module_t *base);
int mca_coll_pipering_exscan_init(const void *sbuf, void *rbuf, int count,
                                  struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                  struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *base);
int mca_coll_pipering_allreduce_init(const void *sbuf, void *rbuf, int count,
                                     struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base);

END_C_DECLS

#endif
