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
 * Agreements: all ranks of a communicator combine a value, or collect the values of all, by
 * dissemination.
 *
 *     round 0   to me - 1, from me + 1      3 <- 0 <- 1 <- 2 <- 3      (p = 4)
 *     round 1   to me - 2, from me + 2      0 <-> 2, 1 <-> 3
 *     round k   to me - 2^k, from me + 2^k
 *
 * Cost: ceil(log2 p) messages of each rank, one after the other, of one value each (combine) or
 * of up to 2^k values (collect). Memory: two values for messages, and 160 bytes a round.
 */

#ifndef MCA_COMMON_COLLTOOLS_AGREE_H
#define MCA_COMMON_COLLTOOLS_AGREE_H

#include "ompi_config.h"

#include "ompi/mca/common/colltools/common_colltools_schedule.h"

BEGIN_C_DECLS

/**
 * Merges the value of another rank, `other`, into `value`. Must be commutative, associative and
 * idempotent: a value may be merged more than once.
 */
typedef void mca_common_colltools_merge_fn_t(void *value, const void *other);

/** The state of an agreement on one rank. */
typedef struct mca_common_colltools_agreement_t {
    mca_common_colltools_schedule_t schedule;
    mca_common_colltools_caller_t caller;
    mca_common_colltools_merge_fn_t *merge; /**< NULL: values are collected */
    size_t size;        /**< bytes of a value */
    char *value;        /**< one value, or one of each rank; borrowed */
    char *sent, *other; /**< combination: the value in a send, and in a receive */
    bool begun;
    void *memory; /**< holds the lists of messages, `sent` and `other` */
} mca_common_colltools_agreement_t;

/** Allocates all memory of an agreement on values of `size` bytes. OMPI_ERR_OUT_OF_RESOURCE. */
int mca_common_colltools_agreement_init(mca_common_colltools_agreement_t *agreement,
                                        const mca_common_colltools_caller_t *caller, int tag,
                                        size_t size);

/**
 * Prepares a combination by `merge`: when it is over, *value is the values of all ranks, merged;
 * `value` is borrowed until then, no message touches it. Without `merge` a collection: value[0] is
 * this rank's; when it is over, value[i] is that of rank (me + i) mod p; `value` [p] is borrowed until
 * mca_common_colltools_agreement_fini.
 */
void mca_common_colltools_agreement_prepare(mca_common_colltools_agreement_t *agreement,
                                            mca_common_colltools_merge_fn_t *merge, void *value);

/**
 * Moves a prepared agreement on without waiting; the first call begins it. True: it is over, and
 * agreement->schedule.error is its error.
 */
bool mca_common_colltools_agreement_move(mca_common_colltools_agreement_t *agreement,
                                         int *progress);

/**
 * Frees all memory of an agreement, even if it has failed or not begun. True if a message may
 * still touch `values`, which must then never be freed; its own memory is not freed then.
 */
bool mca_common_colltools_agreement_fini(mca_common_colltools_agreement_t *agreement);

END_C_DECLS

#endif
