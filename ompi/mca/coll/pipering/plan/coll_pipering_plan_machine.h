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
 * The machine: what its links and processors cost, as one list of values that a file, a printed
 * line and the choice of algorithms share.
 */

#ifndef MCA_COLL_PIPERING_PLAN_MACHINE_H
#define MCA_COLL_PIPERING_PLAN_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_pipering_plan_cost.h"

/** The values of a machine; their names and units are in coll_pipering_plan_machine.c. */
typedef enum {
    MCA_COLL_PIPERING_NET_ALPHA,
    MCA_COLL_PIPERING_NET_BETA,
    MCA_COLL_PIPERING_NET_BETA_MOST,
    MCA_COLL_PIPERING_NET_LATENCY,
    MCA_COLL_PIPERING_NET_GAP,
    MCA_COLL_PIPERING_NET_OVERLAP,
    MCA_COLL_PIPERING_NET_ENVELOPE,
    MCA_COLL_PIPERING_NET_PACKET,
    MCA_COLL_PIPERING_NET_FRAME,
    MCA_COLL_PIPERING_NET_EAGER,
    MCA_COLL_PIPERING_NET_HANDSHAKE,
    MCA_COLL_PIPERING_NET_COPY,
    MCA_COLL_PIPERING_NET_BOTH,
    MCA_COLL_PIPERING_NET_FAR,
    MCA_COLL_PIPERING_NET_UPLINKS,
    MCA_COLL_PIPERING_LOCAL_ALPHA,
    MCA_COLL_PIPERING_LOCAL_BETA,
    MCA_COLL_PIPERING_LOCAL_LATENCY,
    MCA_COLL_PIPERING_LOCAL_GAP,
    MCA_COLL_PIPERING_LOCAL_OVERLAP,
    MCA_COLL_PIPERING_COMBINE,
    MCA_COLL_PIPERING_LOAD,
    MCA_COLL_PIPERING_MACHINE_VALUES
} mca_coll_pipering_machine_value_t;

/**
 * A machine, in the units of its file: microseconds a message or block, nanoseconds a byte, bytes,
 * ranks. Values of ranks that have a processor each, or, with MCA_COLL_PIPERING_LOAD, that many.
 */
typedef struct mca_coll_pipering_machine_t {
    double value[MCA_COLL_PIPERING_MACHINE_VALUES];
} mca_coll_pipering_machine_t;

/** Transports between nodes that are told apart where nothing else is known. */
typedef enum {
    MCA_COLL_PIPERING_TRANSPORT_RDMA, /**< adapters that move bytes by themselves */
    MCA_COLL_PIPERING_TRANSPORT_TCP,
    MCA_COLL_PIPERING_TRANSPORT_TCP_SHARED, /**< where ranks share processors */
    MCA_COLL_PIPERING_TRANSPORTS
} mca_coll_pipering_transport_t;

/**
 * The usual machine with such a transport, whose links take between `beta` and `beta_most`
 * picoseconds a byte; with equal ones just that.
 */
mca_coll_pipering_machine_t mca_coll_pipering_machine_usual(mca_coll_pipering_transport_t transport,
                                                            uint32_t beta, uint32_t beta_most);

/** A line of a machine file that does not hold, said to people. */
#define MCA_COLL_PIPERING_MACHINE_SAID 512

/**
 * Sets what a text says: "name = value" or "name=value", several of them in a line or each in a
 * line of its own; # begins a comment. A text with net_beta alone states a rate that is known.
 * False: `said` holds what is wrong, with the number of the line, and the machine is half changed.
 */
bool mca_coll_pipering_machine_read(mca_coll_pipering_machine_t *machine, const char *text,
                                    char said[MCA_COLL_PIPERING_MACHINE_SAID]);

/** Writes "name=value name=value ...", which machine_read reads back to the same machine. */
void mca_coll_pipering_machine_write(const mca_coll_pipering_machine_t *machine, char *text,
                                     size_t size);

/** Name of a value, NULL behind the last one; and its unit. */
const char *mca_coll_pipering_machine_name(int value);
const char *mca_coll_pipering_machine_unit(int value);

/** Equal for equal machines, never 0. */
uint32_t mca_coll_pipering_machine_hash(const mca_coll_pipering_machine_t *machine);

/** Whether links may be slower than net_beta says. */
bool mca_coll_pipering_machine_doubted(const mca_coll_pipering_machine_t *machine);

/**
 * Costs in seconds, of links between nodes whose byte takes `beta` nanoseconds. `load` ranks share
 * a processor: more of them than where the machine was measured are a crowd, which leaves the costs
 * of a block as they are (mca_coll_pipering_crowded_time); fewer handle a block the faster.
 */
mca_coll_pipering_cost_t mca_coll_pipering_machine_cost(const mca_coll_pipering_machine_t *machine,
                                                        double beta, double load);

/** Seconds in which a rank combines a byte of two vectors, likewise. */
double mca_coll_pipering_machine_combine(const mca_coll_pipering_machine_t *machine, double load);

#endif
