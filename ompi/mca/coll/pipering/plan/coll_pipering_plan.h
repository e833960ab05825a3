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
 * All plans: orders, routes, rounds, block sizes, costs. A header for each family; this one
 * is for programs that use many of them. Pure C: no MPI, no Open MPI, no hidden allocation, so
 * unit tests and the schedule simulator compile exactly these files.
 *
 * Notation: p ranks contribute m_i bytes each, m in all. A contribution is cut
 * into b_i = ceil(m_i / B) blocks of at most B bytes of the packed signature;
 * b' is the sum of the b_i, z the number of empty contributions. Ranks have
 * ring positions 0..p-1; position x sends to x + 1. The ranks of a node have
 * adjacent positions; node J is the J-th node along the ring.
 *
 * Papers: Traeff, Ripke, Siebert, Balaji, Thakur, Gropp, "A Pipelined Algorithm
 * for Large, Irregular All-gather Problems", sections 2.2 to 2.4; Balaji, Buntinas,
 * Balay, Smith, Thakur, Gropp, "Nonuniformly Communicating Noncontiguous Data", 4.2.1.
 */

#ifndef MCA_COLL_PIPERING_PLAN_H
#define MCA_COLL_PIPERING_PLAN_H

#include "coll_pipering_plan_blocks.h"
#include "coll_pipering_plan_chain.h"
#include "coll_pipering_plan_cost.h"
#include "coll_pipering_plan_grid.h"
#include "coll_pipering_plan_machine.h"
#include "coll_pipering_plan_model.h"
#include "coll_pipering_plan_ring.h"
#include "coll_pipering_plan_route.h"

#endif
