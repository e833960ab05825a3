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
 * The pipelines of Worringer's paper, "Pipelining and Overlapping for MPI Collective Operations",
 * and the cluster that it measures them on.
 *
 * The paper says (section 3): a PIO write of 4 bytes takes 1.5 us; PIO has 170 MB/s and
 * 90% of that with less than 512 bytes, so a transfer takes at most 0.33 us besides its
 * bytes. DMA takes 30 us for 64 bytes, has 250 MB/s, and 90% of that with 128 KB: 30 us
 * and 250 MB/s make it 90% between 64 and 128 KB. t_fc is 5 us (5.3).
 * It does not say what copying and combining take. Combining: about as long as sending
 * (5.1), which is PIO there. Copying: MPI_Scan, which copies besides combining, has 25 to
 * 33% less than MPI_Reduce, which is 330 to 490 MB/s.
 *
 * With that broadcasts of 1 MB are fastest with blocks of 16 KB on 8 ranks and 6 KB on
 * 256, where the paper's figure has about 20 and 4 KB. It must have been drawn with another
 * curve of DMA, which is not given: 14 us and 193 MB/s, found by trying, give 19 and 4
 * KB and the 20% that four times the t_fc cost with blocks of 8 KB.
 */

#ifndef PIPERING_BENCH_STAGED_H
#define PIPERING_BENCH_STAGED_H

#include "coll_pipering_plan.h"

/** The pipelines of the paper, along a chain of P ranks. */
typedef enum {
    STAGED_PCAST,  /**< broadcast, equation (2) */
    STAGED_RPIPE,  /**< reduce, equation (3) */
    STAGED_SCAN,   /**< scan, equation (4) */
    STAGED_SERIAL, /**< allreduce: rpipe, then pcast */
    STAGED_MERGED  /**< allreduce: rpipe and pcast at the same time */
} staged_protocol_t;

/** The costs of a block in the paper's model. */
typedef struct staged_machine_t {
    mca_coll_pipering_link_cost_t first;   /**< of sending from the user's memory, l_PIO */
    mca_coll_pipering_link_cost_t forward; /**< of forwarding a received block, l_DMA */
    double copy;                           /**< seconds a byte that is copied, l_cpy */
    double combine;                        /**< seconds a byte that is combined, l_cmb */
    double flow; /**< seconds to notify the neighbour of a block: t_fc = l_PIO(4) + l_sb */
} staged_machine_t;

typedef struct staged_problem_t {
    staged_protocol_t protocol;
    int ranks; /**< P, at least 2 */
    size_t bytes;
    staged_machine_t machine;
} staged_problem_t;

/** Number of steps of the problem, modelled seconds, and the best block size in bytes. */
uint64_t staged_count(const staged_problem_t *problem, size_t block_size);
double staged_time(const void *problem, size_t block_size);
size_t staged_search(const staged_problem_t *problem);

/** The cluster as the paper's text has it, or as its figure 5 has it. */
staged_machine_t staged_cluster(bool figure);

#endif
