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
 * The part of the ranks that a cell is timed on. Pure C.
 *
 * Eight ranks on four nodes, and what takes part with nodes=2, with per_node=1, and with ranks=3:
 *
 *     in blocks        0 1 | 2 3 | 4 5 | 6 7     in turns        0 4 | 1 5 | 2 6 | 3 7
 *     nodes=2          x x   x x                 nodes=2         x x   x x
 *     per_node=1       x     x     x     x       per_node=1      x     x     x     x
 *     ranks=3          x x   x                   ranks=3         x     x     x
 */

#include "kernel_cell.h"

#include <stdio.h>
#include <string.h>

int kernel_part_find(const kernel_problem_t *problem, const int *node, int ranks, bool *member,
                     int *taken, char error[KERNEL_NOTE])
{
    int count = 0, nodes = 0;

    memset(taken, 0, (size_t) ranks * sizeof(*taken));
    for (int i = 0; i < ranks; ++i) {
        nodes = node[i] < nodes ? nodes : node[i] + 1;
        member[i] = (0 == problem->nodes || node[i] < problem->nodes)
                    && (0 == problem->per_node || taken[node[i]] < problem->per_node)
                    && (0 == problem->ranks || count < problem->ranks);
        taken[node[i]] += member[i];
        count += member[i];
    }
    if (problem->nodes > nodes) {
        snprintf(error, KERNEL_NOTE, "nodes=%d is more than the job has: %d", problem->nodes,
                 nodes);
        return 0;
    }
    if (problem->ranks > count) {
        snprintf(error, KERNEL_NOTE, "ranks=%d is more than the job has in that part: %d",
                 problem->ranks, count);
        return 0;
    }
    if (2 > count) {
        snprintf(error, KERNEL_NOTE, "nodes=%d per_node=%d: expected a part of 2 ranks at least",
                 problem->nodes, problem->per_node);
        return 0;
    }
    return count;
}
