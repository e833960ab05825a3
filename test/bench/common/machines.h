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
 * What blocks cost on machines that are not there: a link of given speed as plans see it.
 */

#ifndef PIPERING_BENCH_MACHINES_H
#define PIPERING_BENCH_MACHINES_H

#include "coll_pipering_plan.h"

/* TCP over Ethernet: headers of a block, bytes a packet carries, bytes around them. */
#define MACHINES_ENVELOPE 32
#define MACHINES_PACKET 1448
#define MACHINES_FRAME 66

/** A link of TCP; seconds a block, seconds a byte. */
static inline mca_coll_pipering_link_cost_t machines_tcp(double alpha, double beta)
{
    return (mca_coll_pipering_link_cost_t){.alpha = alpha,
                                           .beta = beta,
                                           .latency = alpha,
                                           .envelope = MACHINES_ENVELOPE,
                                           .packet = MACHINES_PACKET,
                                           .frame = MACHINES_FRAME,
                                           .overlap = true};
}

#endif
