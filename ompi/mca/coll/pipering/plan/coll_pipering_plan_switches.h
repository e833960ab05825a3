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
 * The leaf switch of a node, by what Slurm says or writes of its network.
 */

#ifndef MCA_COLL_PIPERING_PLAN_SWITCHES_H
#define MCA_COLL_PIPERING_PLAN_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A line that does not hold, said to people. */
#define MCA_COLL_PIPERING_SWITCHES_SAID 256

/**
 * Finds the leaf switch of a host in a text like Slurm's topology.conf, whose lines end with a
 * newline or a semicolon:
 *
 *     SwitchName=leaf1 Nodes=n[01-16],login
 *     SwitchName=spine Switches=leaf[1-4]      # has no nodes
 *
 * Domains of host names do not count. *leaf is a hash of the switch's name, not 0; 0: it names
 * none. False: `said` holds what is wrong, with the number of the line, and is printable.
 * O(length).
 */
bool mca_coll_pipering_switches_find(const char *text, const char *host, uint32_t *leaf,
                                     char said[MCA_COLL_PIPERING_SWITCHES_SAID]);

/**
 * The leaf switch in an address of a node, as Slurm sets SLURM_TOPOLOGY_ADDR ("spine.leaf1.n01")
 * and SLURM_TOPOLOGY_ADDR_PATTERN ("switch.switch.node"): all in front of the node. 0: there is
 * none, or one of them is NULL.
 */
uint32_t mca_coll_pipering_switches_address(const char *address, const char *pattern);

#endif
