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
 * Component, module and calls of coll/mleader: MPI_Allgather with leaders, and its nonblocking
 * and persistent forms.
 *
 *     1. aggregate    a group's contributions come to its leader
 *     2. exchange     leaders, of all nodes, gather what all of them have
 *     3. distribute   what a group did not have goes to its ranks
 *
 *     glue        component, params, module, allgather (the three forms), request
 *     decide      decide (variant, slices), topology (groups, once for a communicator)
 *     phases      call (slices), phases (1 to 3, as a schedule), steps (of the schedule), room
 *                 (of its lists), area (where data lies, deliveries), segment (of a node),
 *                 shared (its use: order of slices, counters)
 *     plans       pure C: groups, exchange; turns (of the halves of a segment)
 *
 * Kandalla et al., "Designing Multi-Leader-Based Allgather Algorithms for Multi-Core
 * Clusters".
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
#include "ompi/mca/common/irregular/common_irregular.h"
#include "ompi/mca/common/irregular/common_irregular_exchange.h"
#include "ompi/mca/common/irregular/common_irregular_schedule.h"
#include "opal/datatype/opal_convertor.h"

BEGIN_C_DECLS

/* ---- variables and counters (coll_mleader_params.c) ---- */

typedef enum {
    MCA_COLL_MLEADER_AUTO,
    MCA_COLL_MLEADER_LEADERS, /**< whatever the size */
    MCA_COLL_MLEADER_OFF
} mca_coll_mleader_algorithm_t;

/** How data moves inside a group. */
typedef enum {
    MCA_COLL_MLEADER_SHM,            /**< written to and read from shared memory */
    MCA_COLL_MLEADER_GATHER,         /**< messages: to the leader; from it all there is */
    MCA_COLL_MLEADER_GROUP_DOUBLING, /**< messages: among all; from the leader what is new */
    MCA_COLL_MLEADER_GROUP_RING      /**< likewise */
} mca_coll_mleader_inside_t;

/** What ranks decide on; equal on all of them. */
typedef struct mca_coll_mleader_params_t {
    int algorithm;
    int aggregation;    /**< mca_coll_mleader_inside_t */
    bool shm_out;       /**< distribution through shared memory, else by messages */
    int exchange;       /**< mca_common_irregular_algorithm_t, -1: chosen */
    int lanes;          /**< 0: all leaders exchange all, 1: lanes, -1: chosen */
    size_t large;       /**< bytes of a contribution from which the module below is called */
    size_t ring_from;   /**< bytes of the result from which leaders exchange in a ring */
    size_t scratch;     /**< bytes of private memory that a slice may take */
    size_t message;     /**< bytes that take a leader as long as a message */
} mca_coll_mleader_params_t;

/** What groups are made of, read when a communicator is first used. */
typedef struct mca_coll_mleader_topology_params_t {
    const char *groups;
    int placement; /**< mca_coll_mleader_placement_t */
    size_t segment_size; /**< bytes on each node */
} mca_coll_mleader_topology_params_t;

/** Why a call went to the module below. */
typedef enum {
    MCA_COLL_MLEADER_TAKEN,
    MCA_COLL_MLEADER_FALLBACK_OFF,
    MCA_COLL_MLEADER_FALLBACK_LARGE,
    MCA_COLL_MLEADER_FALLBACK_NEW,    /**< the communicator has hardly been used */
    MCA_COLL_MLEADER_FALLBACK_EARLY,  /**< a nonblocking call, and the communicator is not set up */
    MCA_COLL_MLEADER_FALLBACK_LOCAL,  /**< all ranks are on one node */
    MCA_COLL_MLEADER_FALLBACK_ALONE,  /**< there is one rank a node */
    MCA_COLL_MLEADER_FALLBACK_UNLIKE, /**< ranks differ in data representation ... */
    MCA_COLL_MLEADER_FALLBACK_UNEQUAL, /**< ... or in variables */
    MCA_COLL_MLEADER_REASONS
} mca_coll_mleader_reason_t;

/** Performance variables. */
typedef struct mca_coll_mleader_counters_t {
    opal_atomic_int64_t calls_shared, calls_messages, calls_mixed;
    opal_atomic_int64_t bytes_between, bytes_within; /**< sent in messages */
    opal_atomic_int64_t messages_between, messages_within;
    opal_atomic_int64_t bytes_copied; /**< to and from shared memory */
    opal_atomic_int64_t fallback[MCA_COLL_MLEADER_REASONS];
} mca_coll_mleader_counters_t;

int mca_coll_mleader_params_register(void);
mca_coll_mleader_params_t mca_coll_mleader_params_now(void);

/** Nobody asks for leaders where they are of no use, or for a line about each call. */
bool mca_coll_mleader_is_left_alone(void);
mca_coll_mleader_topology_params_t mca_coll_mleader_topology_params_now(void);

/** Whether this rank writes the verbose line of a call. */
bool mca_coll_mleader_is_verbose(ompi_communicator_t *comm);
const char *mca_coll_mleader_reason_text(mca_coll_mleader_reason_t reason);

/** Reads what groups are, "socket" or "0-3,4-7"; false: it cannot be understood. */
bool mca_coll_mleader_parse_groups(const char *text, int ranks, const char **domain, int *count,
                                   int *list_of);

/* ---- topology (coll_mleader_topology.c) ---- */

/** Groups, and where this rank is among them. */
typedef struct mca_coll_mleader_grouping_t {
    mca_coll_mleader_groups_t groups; /**< in the order of lanes */
    int *lane_first; /**< [lanes][nodes + 1] positions of the members of a lane */
    int node, group; /**< mine */
    int largest;     /**< ranks in the largest group */
    int counter;     /**< of progress in its first lane; the others' are behind it */
    bool leader;
} mca_coll_mleader_grouping_t;

/** Groupings of a communicator that calls may choose from. */
#define MCA_COLL_MLEADER_GROUPINGS 2

/** The variant that serves a call. */
typedef struct mca_coll_mleader_variant_t {
    mca_coll_mleader_inside_t aggregation;
    bool shm_out;
    mca_common_irregular_algorithm_t exchange;
    bool lanes;
} mca_coll_mleader_variant_t;

/** The lists of a slice, which serve again for the next one of its size in its place. */
typedef struct mca_coll_mleader_listing_t {
    size_t length; /**< of the slice; 0: there is none */
    const char *area;
    mca_common_irregular_needs_t entries; /**< of each list */
    uint64_t messages[2], bytes[2];       /**< sent to other nodes, and within the node */
} mca_coll_mleader_listing_t;

/** Memory for the lists of slices, and the calls that it is laid out for. */
typedef struct mca_coll_mleader_room_t {
    char *memory;
    size_t size;
    const mca_coll_mleader_grouping_t *grouping;
    mca_coll_mleader_variant_t variant;
    size_t slice_size, message_size;
    mca_common_irregular_needs_t most;     /**< entries of each list */
    mca_coll_mleader_listing_t listing[2]; /**< of slices by the half that they lie in */
} mca_coll_mleader_room_t;

/**
 * What calls that follow each other share: the numbers of their slices and, where `there`, a
 * segment on each node. Calls take slices in an order that is the same on all ranks, and
 * move them in this order, one call at a time.
 */
typedef struct mca_coll_mleader_shared_t {
    bool there;                           /**< all nodes have their segment */
    mca_common_irregular_segment_t segment;
    size_t held;                          /**< this rank's part of its bytes */
    mca_coll_mleader_counter_t *written;  /**< by index */
    mca_coll_mleader_counter_t *progress; /**< [lanes] each with a writer of its own */
    char *half[2];                        /**< where slices lie, in turns */
    size_t half_size;                     /**< equal on all nodes */
    uint64_t taken; /**< number of the next slice that a call takes */
    uint64_t last;  /**< behind the slices of the last call that has begun */
    uint64_t moved; /**< behind those of the last call that is over; atomic */
    int error;      /**< of a call, for those that had begun behind it */
    bool pending;   /**< a call failed, and a message may still touch the segment */
    mca_coll_mleader_room_t room; /**< of blocking calls */
} mca_coll_mleader_shared_t;

/** What is known of a communicator once it is set up. */
typedef struct mca_coll_mleader_topology_t {
    mca_coll_mleader_grouping_t grouping[MCA_COLL_MLEADER_GROUPINGS];
    int groupings; /**< 1: as the user wants; 2: one leader a node, and one a socket */
    int ranks, nodes;
    int lanes;       /**< of all groupings together */
    int *identity;   /**< [ranks + 1] 0, 1, 2 ... */
    int *index;      /**< [ranks] number of a rank on its node */
    bool alike;      /**< all ranks have the same data representation ... */
    bool equal;      /**< ... and the same variables */
    int most_here;   /**< ranks on the fullest node */
    int processors;  /**< of the node where they are fewest for its ranks ... */
    int crowd;       /**< ... and these */
    bool crowded;    /**< there are more ranks than processors on some node */
    bool joined;     /**< `shared` has its segments, or it is agreed that there are none */
    bool kept;       /**< calls refer to it: it stays as long as the communicator */
    mca_coll_mleader_shared_t shared; /**< of blocking and nonblocking calls */
    void *memory;
} mca_coll_mleader_topology_t;

struct mca_coll_mleader_module_t;

/**
 * Makes the topology of a communicator, by a small collective call of the module below.
 * All ranks must come here in the same call. After an error there is no topology.
 */
int mca_coll_mleader_topology_make(struct mca_coll_mleader_module_t *module,
                                   ompi_communicator_t *comm);
void mca_coll_mleader_topology_free(mca_coll_mleader_topology_t *topology);

/* ---- shared memory (coll_mleader_segment.c, coll_mleader_shared.c) ---- */

/**
 * Makes segments with two halves of so many bytes, by another small collective call of the
 * module below; `shared` is all zero. All ranks must come here in the same call. Where one of
 * them cannot have its segment nobody has one. After an error nothing is held.
 */
int mca_coll_mleader_shared_make(mca_coll_mleader_shared_t *shared,
                                 const struct mca_coll_mleader_module_t *module,
                                 ompi_communicator_t *comm, size_t half_size);

/** Gives all back, but a segment that a message may still touch. */
void mca_coll_mleader_shared_free(mca_coll_mleader_shared_t *shared);

/**
 * Takes slices for a call that begins; the number of the first one. It is the call's turn
 * when all those that have begun before are over, with the slices up to *turn.
 */
uint64_t mca_coll_mleader_shared_take(mca_coll_mleader_shared_t *shared, uint64_t slices,
                                      uint64_t *turn);

/** Counts the slices of a call that fails before it begins. */
void mca_coll_mleader_shared_skip(mca_coll_mleader_shared_t *shared, uint64_t slices);

static inline bool mca_coll_mleader_shared_is_turn(const mca_coll_mleader_shared_t *shared,
                                                   uint64_t turn)
{
    return turn == __atomic_load_n(&shared->moved, __ATOMIC_ACQUIRE);
}

/**
 * A call is over, whose last slice is before `end`. After an error those fail, too, that have
 * begun behind it: shared->error is theirs.
 */
void mca_coll_mleader_shared_pass(mca_coll_mleader_shared_t *shared, uint64_t end, int error);

struct mca_coll_mleader_call_t;

/**
 * Looks whether a counter has come to a value, a few times in a call that may wait:
 * OMPI_SUCCESS, OMPI_ERR_WOULD_BLOCK, or the error by which the call must end.
 */
int mca_coll_mleader_look(const struct mca_coll_mleader_call_t *call,
                          const mca_coll_mleader_counter_t *counter, uint64_t value);
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
    mca_coll_mleader_topology_t *topology; /**< NULL before the first call that wants it, and
                                                where leaders are of no use */
    mca_coll_mleader_reason_t reason; /**< why they are not; TAKEN: they are, or it is open */
    int calls;          /**< that it could have served, up to a few */
    bool out_of_memory; /**< all that it can do is say so */
} mca_coll_mleader_module_t;

OBJ_CLASS_DECLARATION(mca_coll_mleader_module_t);

mca_coll_base_module_t *mca_coll_mleader_comm_query(struct ompi_communicator_t *comm,
                                                    int *priority);

typedef struct mca_coll_mleader_component_t {
    mca_coll_base_component_t super;
    int priority;
    int verbose;
    int output; /**< stream of the verbose lines */
    bool opened;
    mca_coll_mleader_module_t spare; /**< of a communicator that there was no memory for */
    mca_common_irregular_directory_t directory; /**< of segments */
    opal_mutex_t lock;                          /**< of the directory */
    mca_coll_mleader_counters_t counters;
    mca_common_irregular_equal_t equal; /**< variables that must be */
} mca_coll_mleader_component_t;

OMPI_DECLSPEC extern mca_coll_mleader_component_t mca_coll_mleader_component;

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

/** Messages that a round may go in, at least the pieces of a range. */
#define MCA_COLL_MLEADER_MESSAGES 8

/** Where a call is. */
typedef enum {
    MCA_COLL_MLEADER_WAITING, /**< for the calls before it */
    MCA_COLL_MLEADER_MOVING,
    MCA_COLL_MLEADER_OVER
} mca_coll_mleader_state_t;

/** A step that brings what a round brought to the user. */
typedef struct mca_coll_mleader_delivery_t {
    mca_coll_mleader_counter_t *counter; /**< to be set, or waited for; NULL: none */
    int rounds;                          /**< its value: so many are over */
    const char *area;
    mca_common_irregular_range_t piece[MCA_COMMON_IRREGULAR_PIECES];
} mca_coll_mleader_delivery_t;

/** A call of MPI_Allgather on its way, and the slice of it that is being moved. */
typedef struct mca_coll_mleader_call_t {
    ompi_communicator_t *comm;
    mca_common_irregular_caller_t caller; /**< for what is said of its messages */
    mca_coll_mleader_topology_t *topology;
    mca_coll_mleader_shared_t *memory;
    const mca_coll_mleader_grouping_t *grouping; /**< of the topology */
    mca_coll_mleader_variant_t variant;
    const void *sbuf; /**< the contribution, wherever it is */
    size_t scount;
    ompi_datatype_t *stype;
    char *rbuf;
    size_t rcount;
    ompi_datatype_t *rtype;
    ptrdiff_t stride;  /**< bytes from a contribution to the next in rbuf */
    ptrdiff_t true_lb; /**< of rtype */
    bool in_place;     /**< the contribution is in rbuf */
    bool sdense, rdense;
    bool on_device;    /**< a buffer of the user is */
    bool waits;        /**< a blocking one */
    int tag;
    size_t bytes;      /**< of a contribution */
    size_t slice_size; /**< most of them that are moved at once */
    size_t message_size; /**< most bytes of a message, at least a contribution's slice */
    char *scratch; /**< private memory for a slice, or NULL */
    char *packed;  /**< the whole contribution, where it is not dense and comes in slices */
    opal_convertor_t *unpackers; /**< [ranks] likewise for what is delivered */
    bool unpacking;              /**< they are prepared */
    bool direct;   /**< the scratch is rbuf */
    bool pending;  /**< the call failed, and a message may still touch its memory */
    mca_coll_mleader_state_t state;
    int error;
    uint64_t turn;       /**< slices behind which it begins */
    uint64_t slice, end; /**< number of the slice, and behind the last one */
    size_t offset, length; /**< of the slice */
    char *area;    /**< what this rank has of the slice, by positions */
    char *shared;  /**< what its group's leader has, in the segment; NULL: nothing is there */
    int gathered;  /**< positions of its group that a leader has found written */
    mca_common_irregular_schedule_t schedule; /**< of the slice */
    mca_coll_mleader_delivery_t *delivery;    /**< of its steps, in the room */
    mca_coll_mleader_room_t *room;            /**< borrowed */
} mca_coll_mleader_call_t;

/** Slices of a call whose variant is chosen. */
static inline uint64_t mca_coll_mleader_slices(const mca_coll_mleader_call_t *call)
{
    return (call->bytes + call->slice_size - 1) / call->slice_size;
}

/** Runs a call that waits; MPI's error. */
int mca_coll_mleader_call_run(mca_coll_mleader_call_t *call);

/* A call that does not wait: all its memory, which may be used for many runs ... */
int mca_coll_mleader_call_init(mca_coll_mleader_call_t *call);
void mca_coll_mleader_call_fini(mca_coll_mleader_call_t *call);

/** ... a run, which takes its slices in the order of calls ... */
void mca_coll_mleader_call_begin(mca_coll_mleader_call_t *call);

/** ... and moves on without waiting; adds steps to *progress. True: it is over, see call->error. */
bool mca_coll_mleader_call_move(mca_coll_mleader_call_t *call, int *progress);

/* ---- requests (coll_mleader_request.c) ---- */

/** Starts a nonblocking call, which is copied; on an error its slices count all the same. */
int mca_coll_mleader_request_start(const mca_coll_mleader_call_t *call, ompi_request_t **handle);

/**
 * Makes a persistent request of a call, which is copied, and its shared memory: all ranks come
 * here in the same call.
 */
int mca_coll_mleader_request_make(const mca_coll_mleader_call_t *call,
                                  const mca_coll_mleader_params_t *params,
                                  const mca_coll_mleader_module_t *module,
                                  ompi_request_t **handle);

/* ---- which variant (coll_mleader_decide.c) ---- */

/** Whether a call with so many bytes in each contribution is left to the module below. */
mca_coll_mleader_reason_t mca_coll_mleader_judge_size(const mca_coll_mleader_params_t *params,
                                                      size_t bytes);
mca_coll_mleader_reason_t
mca_coll_mleader_judge_topology(const mca_coll_mleader_params_t *params,
                                const mca_coll_mleader_topology_t *topology);

/** Chooses grouping, variant and slices for halves of so many bytes, 0: without shared memory. */
void mca_coll_mleader_decide(mca_coll_mleader_call_t *call,
                             const mca_coll_mleader_params_t *params, size_t half_size);

/** Bytes of a half that the call fills, 0: it does without. */
size_t mca_coll_mleader_half_wanted(const mca_coll_mleader_call_t *call);

/** The verbose line about a call. */
void mca_coll_mleader_report(const mca_coll_mleader_call_t *call);

/* ---- where data lies (coll_mleader_area.c) ---- */

/** Memory for slices of types that are not dense. */
int mca_coll_mleader_area_init(mca_coll_mleader_call_t *call);
void mca_coll_mleader_area_fini(mca_coll_mleader_call_t *call);

/** Makes ready for the slices of a run of the call, and the end of that. */
int mca_coll_mleader_area_begin(mca_coll_mleader_call_t *call);
void mca_coll_mleader_area_end(mca_coll_mleader_call_t *call);

/** Puts this rank's part of the slice where it stands in an area. */
int mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area);

/** Brings positions [from, to) from an area to the user's buffer. */
int mca_coll_mleader_deliver(mca_coll_mleader_call_t *call, const char *area, int from, int to);

/* ---- phases (coll_mleader_room.c, coll_mleader_phases.c) ---- */

/** Makes room for the lists of any slice of the call. OMPI_ERR_OUT_OF_RESOURCE. */
int mca_coll_mleader_room_take(const mca_coll_mleader_call_t *call);

/** Lists the slice in the room: call->schedule can begin. */
void mca_coll_mleader_room_list(mca_coll_mleader_call_t *call);

/** Most entries of each list, whatever this rank does in the call. */
mca_common_irregular_needs_t mca_coll_mleader_most_entries(const mca_coll_mleader_call_t *call);

/** Lists the slice, and counts what it sends. */
void mca_coll_mleader_list(mca_coll_mleader_call_t *call, mca_coll_mleader_listing_t *listing);

END_C_DECLS

#endif
