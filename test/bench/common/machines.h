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
 * What blocks cost on machines that are not there: a link of given speed as plans see
 * it, and the cluster of Worringer's paper, "Pipelining and Overlapping for MPI
 * Collective Operations".
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

#ifndef PIPERING_BENCH_MACHINES_H
#define PIPERING_BENCH_MACHINES_H

#include "coll_pipering_plan.h"

/* TCP over Ethernet: headers of a block, bytes a packet carries, bytes around them. */
#define MACHINES_ENVELOPE 32
#define MACHINES_PACKET 1448
#define MACHINES_FRAME 66

/* Seconds a byte of so many MB/s. */
#define MACHINES_MB(rate) (1e-6 / (rate))

#define MACHINES_PIO {.alpha = 0.33e-6, .beta = MACHINES_MB(170)}

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

/** The cluster as the paper's text has it, and as its figure 5 has it. */
static inline mca_coll_pipering_machine_t machines_sci(bool figure)
{
    mca_coll_pipering_machine_t machine = {.first = MACHINES_PIO,
                                           .forward = {.alpha = 30e-6, .beta = MACHINES_MB(250)},
                                           .copy = MACHINES_MB(400),
                                           .combine = MACHINES_MB(170),
                                           .flow = 5e-6};

    if (figure) {
        machine.forward.alpha = 14e-6;
        machine.forward.beta = MACHINES_MB(193);
    }
    return machine;
}

#endif
