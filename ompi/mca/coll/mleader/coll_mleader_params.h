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
 * Variables and performance variables of coll/mleader.
 */

#ifndef MCA_COLL_MLEADER_PARAMS_H
#define MCA_COLL_MLEADER_PARAMS_H

#include "ompi_config.h"

#include "coll_mleader_plan.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/colltools/common_colltools.h"
#include "ompi/mca/common/colltools/common_colltools_exchange.h"
#include "ompi/mca/common/colltools/common_colltools_variable.h"

BEGIN_C_DECLS

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
    MCA_COLL_MLEADER_FALLBACK_MISSING, /**< some ranks do not have the component */
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

extern mca_coll_mleader_counters_t mca_coll_mleader_counters;

/** Registers all variables and performance variables. */
void mca_coll_mleader_params_register(mca_common_colltools_vars_t *all);

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

/** In words. */
extern const mca_common_colltools_reason_t mca_coll_mleader_reasons[MCA_COLL_MLEADER_REASONS];

/** What the ranks of a group share, for groups of this kind. */
typedef enum {
    MCA_COLL_MLEADER_NODE_OR_SOCKET, /**< as each call chooses */
    MCA_COLL_MLEADER_SOCKET,
    MCA_COLL_MLEADER_NUMA,
    MCA_COLL_MLEADER_CACHE,
    MCA_COLL_MLEADER_DOMAINS
} mca_coll_mleader_domain_t;

/**
 * Reads a value of the variable groups into a layout's division, and: a word ("socket") into
 * *domain; a number of groups on each node into its count, at most its ranks; lists of ranks
 * ("0-3,4-7") into list_of [ranks], the number of a rank's list, or -1. False: the value is
 * illegal.
 */
bool mca_coll_mleader_parse_groups(const char *text, mca_coll_mleader_layout_t *layout,
                                   int *list_of, mca_coll_mleader_domain_t *domain);

END_C_DECLS

#endif
