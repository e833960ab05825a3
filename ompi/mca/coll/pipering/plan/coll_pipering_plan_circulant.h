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
 * The circulant schedule of blocks from one root to all members (plan_circulant).
 */

#ifndef MCA_COLL_PIPERING_PLAN_CIRCULANT_H
#define MCA_COLL_PIPERING_PLAN_CIRCULANT_H

/** No block in a round of any phase: the member is the root, or sends to it. */
#define MCA_COLL_PIPERING_CIRCULANT_NONE (-128)

/** Rounds of a phase among `count` members: ceil(log2 count). */
int mca_coll_pipering_circulant_rounds(int count);

/** Members between partners in round k of a phase; k = number of rounds: count. */
int mca_coll_pipering_circulant_skip(int count, int k);

/**
 * The schedule of the member so many places behind the root: for each round of a phase, the block
 * that it receives, relative to the last block of the last phase. O(log^2 count).
 */
void mca_coll_pipering_circulant_receives(int count, int place, signed char *receives);

/** Likewise, the block that it sends. O(log^3 count). */
void mca_coll_pipering_circulant_sends(int count, int place, signed char *sends);

/**
 * The block that an entry of a schedule stands for, of so many, `left` rounds before the last round
 * of all; -1: none.
 */
int mca_coll_pipering_circulant_block(int count, int entry, int blocks, int left);

/**
 * The round in which a member receives a block, of so many, by its receives; as rounds that are
 * left after it.
 */
int mca_coll_pipering_circulant_comes(int count, const signed char *receives, int blocks,
                                      int block);

#endif
