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
 * Contexts: what the floors below the module know of a communicator and of the process. The
 * component makes that of the process, a module that of its communicator.
 */

#ifndef MCA_COLL_PIPERING_CONTEXT_H
#define MCA_COLL_PIPERING_CONTEXT_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_params.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_below.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_machine.h"
#include "ompi/mca/common/colltools/common_colltools.h"

BEGIN_C_DECLS

struct mca_coll_pipering_plan_t;
struct mca_coll_pipering_setup_t;
struct mca_coll_pipering_wiring_t;

/** Performance variables. */
typedef struct mca_coll_pipering_counters_t {
    opal_atomic_int64_t fallback[MCA_COLL_PIPERING_REASONS]; /**< the one of small calls first */
    opal_atomic_int64_t calls;
    opal_atomic_int64_t blocks_received, blocks_sent;
    opal_atomic_int64_t bytes_received, bytes_sent, bytes_from_network, bytes_shared,
        bytes_copied;
    opal_atomic_int64_t rounds;
    opal_atomic_int64_t plans, fixed_point_sums;
    opal_atomic_int64_t algorithm_used, block_size_used, predicted_rounds, predicted_time;
} mca_coll_pipering_counters_t;

/**
 * Communicators of which what is known is kept, with their plans, for others of the same processes
 * on the same ranks: programs and libraries make these again and again.
 */
#define MCA_COLL_PIPERING_KEPT 4

/** What the communicators of a process share. */
typedef struct mca_coll_pipering_process_t {
    int verbose; /**< 0: silent; 1: rank 0 writes a line about each call; 2: every rank */
    int output;  /**< stream of these lines */
    mca_coll_pipering_counters_t counters;
    mca_common_colltools_equal_t equal; /**< variables that must be equal on all ranks */
    const char *mesh; /**< what the user declares of the machine's wiring, "" or NULL: nothing */
    const char *switches; /**< lines that name leaf switches, or @FILE; "": none */
    const char *machine; /**< the file that describes the machine, "" or NULL: none */
    double processors;   /**< that the user gives a node, 0: those that there are */
    mca_coll_pipering_machine_t given[MCA_COLL_PIPERING_TRANSPORTS]; /**< by that file, if its hash
                                                                          is on the card */
    opal_mutex_t lock; /**< of what follows */
    struct mca_coll_pipering_wiring_t *wiring; /**< what is declared, NULL: not read yet */
    struct mca_coll_pipering_setup_t *kept[MCA_COLL_PIPERING_KEPT]; /**< of communicators, maybe
                                                                         freed */
    int oldest; /**< of these, which is replaced next */
} mca_coll_pipering_process_t;

/** On the last call of a communicator that has come to this component; tools read it. */
typedef struct mca_coll_pipering_verdict_t {
    uint64_t heard;                    /**< calls that have come */
    mca_coll_pipering_reason_t reason; /**< the call is served (TAKEN), or why it is not */
    const char *algorithm;             /**< that serves it; a state of coll_pipering_verdict */
} mca_coll_pipering_verdict_t;

/** What is known of a communicator. */
typedef struct mca_coll_pipering_context_t {
    ompi_communicator_t *comm;
    mca_coll_pipering_process_t *process;
    struct mca_coll_pipering_setup_t *setup; /**< NULL before the first call that wants it; shared
                                                  with other communicators */
    mca_coll_pipering_below_t below; /**< the modules below, as far as this rank knows */
    opal_atomic_int64_t in_rounds; /**< calls of the schedule engine that have begun */
    enum {
        MCA_COLL_PIPERING_JOBS_UNKNOWN,
        MCA_COLL_PIPERING_JOBS_ONE,
        MCA_COLL_PIPERING_JOBS_SEVERAL
    } jobs;      /**< that the ranks are of */
    bool apart;  /**< not all ranks are on one node; known once jobs are */
    bool joined; /**< calls have used ring buffers */
    uint64_t pulled; /**< blocking calls by pulls, or leaders, that have begun */
    mca_coll_pipering_verdict_t verdict;
    opal_mutex_t lock; /**< of what follows */
    struct mca_coll_pipering_plan_t *last; /**< used last by a call with counts, held; or NULL */
    ptrdiff_t last_count; /**< the first of these counts, -1: there is none; a hint, read without
                               the lock */
} mca_coll_pipering_context_t;

/** Says that this component serves a call, and by which algorithm. */
static inline void mca_coll_pipering_note_taken(mca_coll_pipering_context_t *context,
                                                const char *algorithm)
{
    context->verdict.heard += 1;
    context->verdict.reason = MCA_COLL_PIPERING_TAKEN;
    context->verdict.algorithm = algorithm;
}

/** Says why it leaves a call to the module below. */
static inline void mca_coll_pipering_note_left(mca_coll_pipering_context_t *context,
                                               mca_coll_pipering_reason_t reason)
{
    context->verdict.heard += 1;
    context->verdict.reason = reason;
}

/** The hint that a call with counts may be like the one before: its first count is the same. */
static inline ptrdiff_t mca_coll_pipering_last_count(const mca_coll_pipering_context_t *context)
{
    return __atomic_load_n(&context->last_count, __ATOMIC_RELAXED);
}

/** Whether this rank writes the verbose line of a call. */
static inline bool mca_coll_pipering_is_verbose(const mca_coll_pipering_process_t *process,
                                                ompi_communicator_t *comm)
{
    return 1 < process->verbose || (1 == process->verbose && 0 == ompi_comm_rank(comm));
}

END_C_DECLS

#endif
