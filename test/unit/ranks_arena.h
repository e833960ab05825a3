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
 * The arena of coll_pipering_arena.h for ranks of one process (ranks.h): ring buffers in its own
 * memory, which are refused, halved, or not attached to at random.
 */

#ifndef PIPERING_TEST_RANKS_ARENA_H
#define PIPERING_TEST_RANKS_ARENA_H

#include <stdbool.h>

/**
 * Forgets all neighbours, and takes back all ring buffers; false if some were leased still, or in
 * use by senders.
 */
bool ranks_arena_close(void);

#endif
