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
 * Component, module and calls of coll/mleader: MPI_Allgather, MPI_Iallgather and
 * MPI_Allgather_init with several leaders on each node. A call has three phases:
 *
 *     1. aggregation    the leader of a group collects the contributions of its ranks
 *     2. exchange       the leaders of all nodes gather the contributions of all groups
 *     3. distribution   the ranks of a group get the contributions of the other groups
 *
 *     node 0                         node 1
 *     +------------+------------+    +------------+------------+
 *     | L <- 1 2 3 | L <- 5 6 7 |    | L <- 9 a b | L <- d e f |     L: leader of a group
 *     +-|----------+-|----------+    +-|----------+-|----------+
 *       +------------|-----------------+            |                lane 0
 *                    +------------------------------+                lane 1
 *
 * Words: a lane is the leaders of one number, one on each node. Positions number the ranks in the
 * order of their groups. An area holds contributions in the order of positions. A slice is the part
 * of each contribution that the phases move at once: a call has one slice or several. A variant is
 * a choice of algorithms for the phases. The segment is shared memory of a node.
 *
 * Files:
 *
 *     MPI calls   component, params, module, allgather (the three forms), request
 *     decision    decide (variant, slices), topology (groups, made once for a communicator)
 *     phases      call (slices), phases (the schedule of a slice), steps (of this schedule), room
 *                 (memory of its lists), area (copies from and to the user's buffers), segment
 *                 (makes it), shared (order of calls in a segment, counters)
 *     plans       pure C: plan_groups, plan_leaders; turns (of the halves of a segment)
 *
 * Kandalla, Subramoni, Santhanaraman, Koop, Panda, "Designing Multi-Leader-Based Allgather
 * Algorithms for Multi-Core Clusters", section 4.
 */

#ifndef MCA_COLL_MLEADER_H
#define MCA_COLL_MLEADER_H

#include "ompi_config.h"

#include "mpi.h"
#include "coll_mleader_plan.h"
#include "coll_mleader_turns.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/common/colltools/common_colltools_chooser.h"
#include "ompi/mca/common/colltools/common_colltools_exchange.h"
#include "ompi/mca/common/colltools/common_colltools_schedule.h"
#include "opal/datatype/opal_convertor.h"

BEGIN_C_DECLS

/* ---- variables and counters (coll_mleader_params.c) ---- */

/** The values of the variable allgather_algorithm. */
typedef enum {
    MCA_COLL_MLEADER_AUTO,
    MCA_COLL_MLEADER_LEADERS, /**< leaders, whatever the size */
    MCA_COLL_MLEADER_OFF      /**< the module below, always */
} mca_coll_mleader_algorithm_t;

/**
 * Aggregation in a group; with SHM the result is distributed through the segment too, else by
 * messages. After GROUP_DOUBLING and GROUP_RING all ranks of the group have its contributions, so
 * these messages are only those of other groups.
 */
typedef enum {
    MCA_COLL_MLEADER_SHM,            /**< ranks write to the segment */
    MCA_COLL_MLEADER_GATHER,         /**< ranks send messages to their leader */
    MCA_COLL_MLEADER_GROUP_DOUBLING, /**< recursive doubling among the ranks of the group */
    MCA_COLL_MLEADER_GROUP_RING      /**< a ring of the ranks of the group */
} mca_coll_mleader_inside_t;

/** The values of the variables for one call; equal on all ranks. */
typedef struct mca_coll_mleader_params_t {
    int algorithm;      /**< mca_coll_mleader_algorithm_t */
    int aggregation;    /**< mca_coll_mleader_inside_t */
    int exchange;       /**< mca_common_colltools_algorithm_t, -1: auto */
    int lanes;          /**< 0: all leaders exchange with all, 1: in lanes, -1: auto */
} mca_coll_mleader_params_t;

/** Whether leaders serve a call, or why the module below does. */
typedef enum {
    MCA_COLL_MLEADER_TAKEN,
    MCA_COLL_MLEADER_FALLBACK_OFF,
    MCA_COLL_MLEADER_FALLBACK_LARGE,
    MCA_COLL_MLEADER_FALLBACK_MODEL,   /**< others are faster by the model of the module below */
    MCA_COLL_MLEADER_FALLBACK_NEW,     /**< one of the first calls on the communicator */
    MCA_COLL_MLEADER_FALLBACK_EARLY,   /**< nonblocking, before a blocking call made segments */
    MCA_COLL_MLEADER_FALLBACK_LOCAL,   /**< all ranks are on one node */
    MCA_COLL_MLEADER_FALLBACK_ALONE,   /**< each node has one rank */
    MCA_COLL_MLEADER_FALLBACK_UNLIKE,  /**< ranks differ in data representation */
    MCA_COLL_MLEADER_FALLBACK_UNEQUAL, /**< ranks differ in variables */
    MCA_COLL_MLEADER_REASONS
} mca_coll_mleader_reason_t;

/** The performance variables. */
typedef struct mca_coll_mleader_counters_t {
    opal_atomic_int64_t calls_shared, calls_messages; /**< inside a node */
    opal_atomic_int64_t bytes_between, bytes_within; /**< sent in messages between, in, nodes */
    opal_atomic_int64_t messages_between, messages_within;
    opal_atomic_int64_t bytes_copied; /**< read from shared memory */
    opal_atomic_int64_t fallback[MCA_COLL_MLEADER_REASONS];
} mca_coll_mleader_counters_t;

/** Registers all variables and performance variables. */
struct mca_common_colltools_vars_t;
void mca_coll_mleader_params_register(struct mca_common_colltools_vars_t *all);

/** The values of the variables now; each is in its legal range. */
mca_coll_mleader_params_t mca_coll_mleader_params_now(void);

/** The variable groups, as mca_coll_mleader_parse_groups reads it. */
const char *mca_coll_mleader_groups_now(void);

/** The variable segment_size: bytes on each node, a multiple of two lines. */
size_t mca_coll_mleader_segment_size(void);

/** Whether the algorithm is auto and no verbose line is wanted. */
bool mca_coll_mleader_is_left_alone(void);

/** Whether this rank writes the verbose line of a call. */
bool mca_coll_mleader_is_verbose(ompi_communicator_t *comm);
const char *mca_coll_mleader_reason_text(mca_coll_mleader_reason_t reason);

/** What the ranks of a group share, for groups of this kind. */
typedef enum {
    MCA_COLL_MLEADER_CHOSEN, /**< by each call: the node or a socket */
    MCA_COLL_MLEADER_SOCKET,
    MCA_COLL_MLEADER_NUMA,
    MCA_COLL_MLEADER_CACHE,
    MCA_COLL_MLEADER_DOMAINS
} mca_coll_mleader_domain_t;

/**
 * Reads a value of the variable groups into a layout's division, and: a word ("socket") into
 * *domain; a number of groups on each node into its count, at most its ranks; lists of ranks
 * ("0-3,4-7") into list_of [ranks], the number of a rank's list, or -1. False: the value is illegal.
 */
bool mca_coll_mleader_parse_groups(const char *text, mca_coll_mleader_layout_t *layout,
                                   int *list_of, mca_coll_mleader_domain_t *domain);

/* ---- topology (coll_mleader_topology.c) ---- */

/** The groups of a communicator, and the place of this rank in them. */
typedef struct mca_coll_mleader_grouping_t {
    mca_coll_mleader_groups_t groups; /**< in the order of lanes */
    int *lane_first; /**< [lanes][nodes + 1] first positions (mca_coll_mleader_lanes) */
    int node, group; /**< of this rank */
    int largest;     /**< ranks in the largest group */
    int counter;     /**< index in shared->progress of the counter of lane 0; the others follow */
    bool leader;     /**< this rank is one */
} mca_coll_mleader_grouping_t;

/** Most groupings of a communicator, from which each call chooses one. */
#define MCA_COLL_MLEADER_GROUPINGS 2

/** The algorithms of the phases of a call. */
typedef struct mca_coll_mleader_variant_t {
    mca_coll_mleader_inside_t aggregation;
    mca_common_colltools_algorithm_t exchange;
    bool lanes; /**< leaders exchange in lanes, else all with all */
} mca_coll_mleader_variant_t;

/** Whether contributions and results go through the segment of the node, else by messages. */
static inline bool mca_coll_mleader_is_shared(const mca_coll_mleader_variant_t *variant)
{
    return MCA_COLL_MLEADER_SHM == variant->aggregation;
}

/**
 * The entries of a slice's schedule in one half of a room. A later slice of the same length, with
 * its area at the same address, uses them again.
 */
typedef struct mca_coll_mleader_listing_t {
    size_t length; /**< of the slice; 0: nothing is listed */
    const char *area;
    mca_common_colltools_needs_t entries; /**< number in each list */
    uint64_t messages[2], bytes[2];       /**< sent [0]: to other nodes, [1]: within the node */
} mca_coll_mleader_listing_t;

/** Memory for the schedules of slices. Calls with the same parameters use its entries again. */
typedef struct mca_coll_mleader_room_t {
    char *memory; /**< [size] */
    size_t size;
    const mca_coll_mleader_grouping_t *grouping; /**< parameters: of the last call ... */
    mca_coll_mleader_variant_t variant;          /**< ... that used the room */
    size_t slice_size, message_size;
    mca_common_colltools_needs_t most;     /**< entries that fit into each list */
    mca_coll_mleader_listing_t listing[2]; /**< by the half of the segment (coll_mleader_turns.h) */
} mca_coll_mleader_room_t;

/**
 * State that successive calls share: numbers of slices and, if `there`, a segment on each node.
 * Calls take their slices in the same order on all ranks, and move them in this order, one call
 * after the other.
 *
 *     segment   | written [ranks of the node] | progress [lanes] | half 0 | half 1 |
 */
typedef struct mca_coll_mleader_shared_t {
    bool there;                           /**< all nodes have their segments */
    mca_common_colltools_segment_t segment;
    size_t held;                          /**< this rank's share of the segment's bytes */
    mca_coll_mleader_counter_t *written;  /**< by topology->index: set by this rank of the node */
    mca_coll_mleader_counter_t *progress; /**< [topology->lanes] set by the leader in the lane */
    char *half[2];                        /**< slices use them in turns */
    size_t half_size;                     /**< bytes, equal on all nodes */
    uint64_t taken; /**< number of the first slice of the next call */
    uint64_t last;  /**< number behind the slices of the last call that began */
    uint64_t moved; /**< number behind the slices of the last call that ended; atomic */
    int error;      /**< of a failed call: calls that began before it ended fail too */
    bool pending;   /**< a call failed, and a message may still access the segment */
    mca_coll_mleader_room_t room; /**< of blocking calls */
} mca_coll_mleader_shared_t;

/** The nodes and groups of a communicator, and its shared memory. */
typedef struct mca_coll_mleader_topology_t {
    mca_coll_mleader_grouping_t grouping[MCA_COLL_MLEADER_GROUPINGS];
    int groupings;   /**< 1: as the variable says; 2 (auto): by node, by socket */
    int ranks, nodes;
    int lanes;       /**< of all groupings together */
    int *identity;   /**< [ranks + 1] 0, 1, 2, ... */
    int *index;      /**< [ranks] number of a rank on its node */
    int *answers;    /**< [ranks] scratch, so that nobody lacks memory where all have to answer */
    bool alike;      /**< all ranks have the same data representation */
    bool equal;      /**< all ranks have the same variables */
    int here;        /**< ranks of this node */
    int most_here;   /**< ranks of the node with the most ranks */
    int processors;  /**< processors of the node with the fewest processors for each rank ... */
    int crowd;       /**< ... and ranks of this node */
    bool crowded;    /**< some node has more ranks than processors */
    bool joined;     /**< all ranks know whether `shared` has segments */
    bool kept;       /**< calls refer to the topology, so it lives as long as the communicator */
    mca_coll_mleader_shared_t shared; /**< of blocking and nonblocking calls */
    void *memory;    /**< of the arrays */
} mca_coll_mleader_topology_t;

struct mca_coll_mleader_module_t;

/**
 * Makes module->topology by a small MPI_Allgather of the module below, without segments. All ranks
 * of the communicator must call this in the same MPI call. On an error module->topology is NULL.
 */
int mca_coll_mleader_topology_make(struct mca_coll_mleader_module_t *module,
                                   ompi_communicator_t *comm);

/** Frees a topology and its shared memory; NULL: nothing. */
void mca_coll_mleader_topology_free(mca_coll_mleader_topology_t *topology);

/* ---- shared memory (coll_mleader_segment.c, coll_mleader_shared.c) ---- */

/**
 * Makes a segment on each node, with two halves of `half_size` bytes; 0: makes none. `shared` is
 * all zero. All ranks must call this in the same MPI call, since it sends messages and calls an
 * MPI_Allgather of the module below. If a rank cannot have its segment, no rank has one: this is
 * no error, and shared->there is false. On an error nothing is held.
 */
int mca_coll_mleader_shared_make(mca_coll_mleader_shared_t *shared,
                                 const struct mca_coll_mleader_module_t *module,
                                 ompi_communicator_t *comm, size_t half_size);

/** Gives all memory back, except a segment that a message may still access. */
void mca_coll_mleader_shared_free(mca_coll_mleader_shared_t *shared);

/**
 * Takes slices for a call that begins; returns the number of the first one. Its turn comes
 * when all calls that began before it have ended: mca_coll_mleader_shared_is_turn(shared, *turn).
 */
uint64_t mca_coll_mleader_shared_take(mca_coll_mleader_shared_t *shared, uint64_t slices,
                                      uint64_t *turn);

/** Takes the slices of a call that fails before it begins: other ranks take them too. */
void mca_coll_mleader_shared_skip(mca_coll_mleader_shared_t *shared, uint64_t slices);

/** Whether all calls before the one with this `turn` have ended. */
static inline bool mca_coll_mleader_shared_is_turn(const mca_coll_mleader_shared_t *shared,
                                                   uint64_t turn)
{
    return turn == __atomic_load_n(&shared->moved, __ATOMIC_ACQUIRE);
}

/**
 * Ends a call whose slices end before number `end`. If `error` is one, the calls that have begun
 * behind it fail with the same error, shared->error.
 */
void mca_coll_mleader_shared_pass(mca_coll_mleader_shared_t *shared, uint64_t end, int error);

struct mca_coll_mleader_call_t;

/**
 * Polls whether a counter has reached a value: once, or several times for a blocking call. Returns
 * OMPI_SUCCESS, OMPI_ERR_WOULD_BLOCK, or an error with which the call must end.
 */
int mca_coll_mleader_look(const struct mca_coll_mleader_call_t *call,
                          const mca_coll_mleader_counter_t *counter, uint64_t value);

/** Sets a counter; a rank that sees the value sees all that was written before. */
void mca_coll_mleader_set(mca_coll_mleader_counter_t *counter, uint64_t value);

/* ---- module and component ---- */

typedef struct mca_coll_mleader_module_t {
    mca_coll_base_module_t super;
    mca_coll_base_module_allgather_fn_t previous_allgather;
    mca_coll_base_module_t *previous_allgather_module;
    mca_coll_base_module_iallgather_fn_t previous_iallgather;
    mca_coll_base_module_t *previous_iallgather_module;
    mca_coll_base_module_allgather_init_fn_t previous_allgather_init;
    mca_coll_base_module_t *previous_allgather_init_module;
    mca_common_colltools_module_t *chooser; /**< the module below, if it chooses; else NULL */
    mca_coll_mleader_topology_t *topology; /**< NULL: not made yet, or leaders serve no call */
    mca_coll_mleader_reason_t reason; /**< why leaders serve no call on this communicator; TAKEN:
                                           they serve calls, or there is no topology yet */
    int calls;          /**< blocking calls that leaders could have served, until one was */
    bool out_of_memory; /**< every call fails with MPI_ERR_NO_MEM */
} mca_coll_mleader_module_t;

OBJ_CLASS_DECLARATION(mca_coll_mleader_module_t);

/** The module for a communicator, or NULL: none; decided alike on all ranks. */
mca_coll_base_module_t *mca_coll_mleader_comm_query(struct ompi_communicator_t *comm,
                                                    int *priority);

/** Variables and state of the component (coll_mleader_params.c). */
typedef struct mca_coll_mleader_t {
    int priority;
    int verbose;
    int output; /**< stream of the verbose lines */
    mca_coll_mleader_module_t spare; /**< of communicators without memory for a module */
    mca_common_colltools_directory_t directory; /**< of segments */
    opal_mutex_t lock;                          /**< protects the directory */
    mca_coll_mleader_counters_t counters;
    mca_common_colltools_equal_t equal; /**< variables that must be equal on all ranks */
} mca_coll_mleader_t;

extern mca_coll_mleader_t mca_coll_mleader;

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_mleader_component;

/* Functions of the module, with the arguments of Open MPI's interface. */

int mca_coll_mleader_allgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                               void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *base);
int mca_coll_mleader_iallgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *base);
int mca_coll_mleader_allgather_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                    void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *base);

/* ---- a call (coll_mleader_call.c) ---- */

/** Most messages of a round of the leaders' ring; at least MCA_COMMON_COLLTOOLS_PIECES. */
#define MCA_COLL_MLEADER_MESSAGES 8

/** The state of a call. */
typedef enum {
    MCA_COLL_MLEADER_WAITING, /**< until the calls before it have ended */
    MCA_COLL_MLEADER_MOVING,
    MCA_COLL_MLEADER_OVER
} mca_coll_mleader_state_t;

/** A delivery: a step that copies contributions from an area to the user's buffer. */
typedef struct mca_coll_mleader_delivery_t {
    mca_coll_mleader_counter_t *counter; /**< the step sets it, or waits for it; NULL: none */
    int rounds;                          /**< value of the counter: rounds that are over */
    const char *area;
    mca_common_colltools_range_t piece[MCA_COMMON_COLLTOOLS_PIECES]; /**< positions */
} mca_coll_mleader_delivery_t;

/** A call of MPI_Allgather, and the slice of it that is being moved. */
typedef struct mca_coll_mleader_call_t {
    ompi_communicator_t *comm;
    mca_common_colltools_caller_t caller; /**< for error messages */
    mca_coll_mleader_topology_t *topology;
    mca_coll_mleader_shared_t *memory;
    const mca_coll_mleader_grouping_t *grouping; /**< of the topology */
    mca_coll_mleader_variant_t variant;
    const void *sbuf; /**< the contribution; in place: in rbuf */
    size_t scount;
    ompi_datatype_t *stype;
    char *rbuf;
    size_t rcount;
    ompi_datatype_t *rtype;
    ptrdiff_t stride;  /**< bytes from a contribution to the next in rbuf */
    ptrdiff_t true_lb; /**< of rtype */
    bool in_place;
    bool sdense, rdense;   /**< the contribution is contiguous; each one in rbuf is */
    bool on_device;        /**< a buffer of the user is in memory of a device */
    bool waits;            /**< blocking */
    int tag;
    size_t bytes;          /**< of a contribution */
    size_t slice_size;     /**< most bytes of a contribution in a slice */
    size_t message_size;   /**< most bytes of a message; a contribution's slice fits */
    char *scratch;         /**< private area, or NULL */
    char *packed;          /**< the whole contribution, packed for several slices, or NULL */
    bool pending;          /**< the call failed, and a message may still access its memory */
    mca_coll_mleader_state_t state;
    int error;             /**< once the call is over */
    uint64_t turn;         /**< as mca_coll_mleader_shared_take has it */
    uint64_t slice, end;   /**< number of the slice; number behind the call's last slice */
    size_t offset, length; /**< bytes of each contribution that the slice holds */
    char *area;            /**< where this rank sends from, and receives */
    char *shared;          /**< area in the segment that this rank's group uses, or NULL */
    int gathered;          /**< leader: ranks of its group found to have written, in order */
    mca_common_colltools_schedule_t schedule; /**< of the slice */
    mca_coll_mleader_delivery_t *delivery;    /**< of the steps of the schedule, in `room` */
    mca_coll_mleader_room_t *room;            /**< borrowed */
} mca_coll_mleader_call_t;

/** The number of slices of a call whose variant is chosen. */
static inline uint64_t mca_coll_mleader_slices(const mca_coll_mleader_call_t *call)
{
    return (call->bytes + call->slice_size - 1) / call->slice_size;
}

/** Runs a blocking call with its variant chosen; returns its error. */
int mca_coll_mleader_call_run(mca_coll_mleader_call_t *call);

/** Allocates, and frees, the memory of a call that does not wait, for any number of runs. */
int mca_coll_mleader_call_init(mca_coll_mleader_call_t *call);
void mca_coll_mleader_call_fini(mca_coll_mleader_call_t *call);

/** Begins a run: takes its slices. All ranks begin calls that share memory in the same order. */
void mca_coll_mleader_call_begin(mca_coll_mleader_call_t *call);

/** Moves a run on without waiting; adds to *progress. True: it is over, with call->error. */
bool mca_coll_mleader_call_move(mca_coll_mleader_call_t *call, int *progress);

/* ---- requests (coll_mleader_request.c) ---- */

/**
 * Starts a nonblocking call; copies *call. On an error the call has taken its slices all the same,
 * as it has on the other ranks.
 */
int mca_coll_mleader_request_start(const mca_coll_mleader_call_t *call, ompi_request_t **handle);

/**
 * Makes a persistent request and its segments; copies *call. All ranks must call this in the same
 * MPI call (mca_coll_mleader_shared_make).
 */
int mca_coll_mleader_request_make(const mca_coll_mleader_call_t *call,
                                  const mca_coll_mleader_params_t *params,
                                  const mca_coll_mleader_module_t *module,
                                  ompi_request_t **handle);

/* ---- the decision (coll_mleader_decide.c) ---- */

/**
 * Judges a call with contributions of `bytes`, on a communicator of which `known` is known. If the
 * algorithm is not auto, leaders serve calls on all communicators on which they can.
 */
mca_coll_mleader_reason_t mca_coll_mleader_judge_call(const mca_coll_mleader_params_t *params,
                                                      size_t bytes,
                                                      mca_coll_mleader_reason_t known);

/** Whether leaders serve calls on a communicator with this topology. */
mca_coll_mleader_reason_t
mca_coll_mleader_judge_topology(const mca_coll_mleader_params_t *params,
                                const mca_coll_mleader_topology_t *topology);

/**
 * Chooses grouping, variant, slice_size and message_size of a call, if a segment has halves of
 * `half_size` bytes; 0: there is no segment.
 */
void mca_coll_mleader_decide(mca_coll_mleader_call_t *call,
                             const mca_coll_mleader_params_t *params, size_t half_size);

/** Bytes of a half that the largest slice of a call needs; 0: its variant uses no segment. */
size_t mca_coll_mleader_half_wanted(const mca_coll_mleader_call_t *call);

/** Writes the verbose line about a call, if one is wanted. */
void mca_coll_mleader_report(const mca_coll_mleader_call_t *call);

/* ---- areas and the user's buffers (coll_mleader_area.c) ---- */

/** Packs the whole contribution: a packer does not stop within an element, where a slice may end. */
int mca_coll_mleader_pack(const mca_coll_mleader_call_t *call, char *to);

/** Copies the slice of this rank's contribution to its position in an area. */
int mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area);

/** Copies the slices at positions [from, to) from an area to the user's buffer. */
int mca_coll_mleader_deliver(mca_coll_mleader_call_t *call, const char *area, int from, int to);

/* ---- phases (coll_mleader_room.c, coll_mleader_phases.c) ---- */

/** Makes call->room large enough for the schedule of any slice, or OMPI_ERR_OUT_OF_RESOURCE. */
int mca_coll_mleader_room_take(mca_coll_mleader_call_t *call);

/** Fills in call->schedule for the slice; it can begin then. */
void mca_coll_mleader_room_list(mca_coll_mleader_call_t *call);

/**
 * Adds the entries of the slice to call->schedule, or only counts them, if its lists have no memory;
 * counts messages and bytes sent.
 */
void mca_coll_mleader_list(mca_coll_mleader_call_t *call, mca_coll_mleader_listing_t *listing);

END_C_DECLS

#endif
