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
 * Variables and performance variables: what a user can set and what can be seen.
 *
 * Those that no plan depends on are declared here, the others in decide/coll_pipering_params.c. A
 * value out of range is reported once, when the component is loaded, and the default is used.
 */

#include "coll_pipering.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_registry.h"
#include "ompi/mca/common/colltools/common_colltools_progress.h"

#include <ctype.h>
#include <stdio.h>

mca_coll_pipering_t mca_coll_pipering;

static bool progress_thread;
static char *backing_directory, *mesh, *switches, *machine;

static const mca_common_colltools_value_t barriers[]
    = {{MCA_COLL_PIPERING_AUTO, "auto"},
       {MCA_COLL_PIPERING_MESH_LINES, "mesh_lines"},
       {MCA_COLL_PIPERING_OFF, "off"},
       {0, NULL}};

/* Those that no plan depends on. */
static const mca_common_colltools_variable_t variables[] = {
    {.name = "priority", .kind = MCA_COMMON_COLLTOOLS_INT, .storage = &mca_coll_pipering.priority,
     .preset = 45, .most = 100, .level = MCA_COMMON_COLLTOOLS_LEVEL_USE, .once = true,
     .local = true, .zero = "the component is not used",
     .help = "Priority of the component, above han (35) and tuned (30) by default"},
    {.name = "verbose", .kind = MCA_COMMON_COLLTOOLS_INT,
     .storage = &mca_coll_pipering.process.verbose, .most = 100,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .local = true, .zero = "silent",
     .help = "1: a line about each call of rank 0; 2 and more: of every rank"},
    {.name = "barrier_algorithm", .kind = MCA_COMMON_COLLTOOLS_CHOICE,
     .storage = &mca_coll_pipering.barrier, .values = barriers, .preset = MCA_COLL_PIPERING_AUTO,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_FORCE,
     .help = "Algorithm of MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init where coll_pipering_mesh "
             "is set: auto (the module below), mesh_lines (to all of a line of the mesh, one "
             "dimension after the other; without a mesh: the module below), off (likewise)"},
    {.name = "ring_buffer_budget", .kind = MCA_COMMON_COLLTOOLS_SIZE, .unit = "bytes",
     .storage = &mca_coll_pipering.directory.budget, .most = MCA_COLL_PIPERING_SIZE_MOST,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE,
     .zero = "an eighth of what is free in backing_directory, up to 2 MiB a process",
     .help = "Shared memory that the ring buffers of a job may take on a node; each process has an "
             "equal share, and sends messages where that is used up"},
    {.name = "fixed_point_sum", .kind = MCA_COMMON_COLLTOOLS_SWITCH,
     .storage = &mca_coll_pipering.fixed_point_sum, .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE,
     .help = "MPI_Allreduce and MPI_Reduce add float, double and complex values of these (MPI_SUM) "
             "in fixed point, so that the result depends on the values alone; 2.25 times the bytes "
             "(float: 3.25)"},
    {.name = "progress_thread", .kind = MCA_COMMON_COLLTOOLS_SWITCH, .storage = &progress_thread,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .once = true, .local = true,
     .help = "A thread of each process makes progress while nonblocking calls are under way, so "
             "that they move while the program computes; where the program has asked for "
             "MPI_THREAD_MULTIPLE"},
    {.name = "backing_directory", .kind = MCA_COMMON_COLLTOOLS_STRING,
     .storage = &backing_directory, .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .once = true,
     .local = true,
     .help = "Directory for ring buffers in shared memory, a file for each process that receives "
             "through any"},
    {.name = "mesh", .kind = MCA_COMMON_COLLTOOLS_STRING, .storage = &mesh,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .once = true,
     .help = "Network without a switch: 4x4x2 or 4tx4t (extents, t: a closed dimension; nodes in "
             "the order of their lowest ranks, the last dimension first; or ranks, if there are as "
             "many), @FILE (a line \"extents 4x4t\", then \"HOST 0 3\" for each node), cartesian "
             "(communicators with a Cartesian topology are wired like it); empty: there are "
             "switches"},
    {.name = "switches", .kind = MCA_COMMON_COLLTOOLS_STRING, .storage = &switches,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .once = true, .local = true,
     .help = "Leaf switches of nodes, lines as in Slurm's topology.conf (\"SwitchName=a "
             "Nodes=n[1-16]; SwitchName=b Nodes=n[17-32]\"), or @FILE; empty: what Slurm says "
             "(SLURM_TOPOLOGY_ADDR)"},
    {.name = "machine", .kind = MCA_COMMON_COLLTOOLS_STRING, .storage = &machine,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .once = true, .local = true,
     .help = "File that describes links and processors, as pipering-tune writes it; must say the "
             "same on all nodes. Empty: what adapters say"},
    {.name = "processors", .kind = MCA_COMMON_COLLTOOLS_NUMBER, .unit = "processors",
     .storage = &mca_coll_pipering.process.processors, .most = 1e6,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT, .once = true, .local = true,
     .zero = "those that processes may use",
     .help = "Processors that this node has for the job, where nodes share those of one machine"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Most algorithms that a collective may have, with auto and off. */
#define ALGORITHMS_MOST 16

/* The variable of a collective's algorithm: its values are rows of the registry. */
static void register_algorithm(mca_common_colltools_vars_t *all,
                               mca_coll_pipering_collective_t collective)
{
    static char names[MCA_COLL_PIPERING_COLLECTIVES][32];
    const mca_coll_pipering_collective_row_t *about = mca_coll_pipering_collective_row(collective);
    mca_common_colltools_value_t values[ALGORITHMS_MOST] = {{MCA_COLL_PIPERING_AUTO, "auto"}};
    const char *blocking = about->name[MCA_COLL_PIPERING_BLOCKING];
    const char *nonblocking = about->name[MCA_COLL_PIPERING_NONBLOCKING];
    const char *persistent = about->name[MCA_COLL_PIPERING_PERSISTENT];
    const mca_coll_pipering_row_t *row = NULL;
    char help[2048];
    int count = 1;

    size_t length = (size_t) snprintf(help, sizeof(help),
                                      "Algorithm of MPI_%c%s, MPI_%c%s and MPI_%c%s%s: auto (what "
                                      "the model says, or the module below), ",
                                      toupper(blocking[0]), blocking + 1, toupper(nonblocking[0]),
                                      nonblocking + 1, toupper(persistent[0]), persistent + 1,
                                      MCA_COLL_PIPERING_REDUCE_SCATTER == collective
                                          ? ", and of MPI_Reduce_scatter_block in all forms"
                                          : "");
    while (NULL != (row = mca_coll_pipering_next_row(collective, row))) {
        values[count++] = (mca_common_colltools_value_t){(int) row->algorithm, row->value};
        length += (size_t) snprintf(help + length, sizeof(help) - length, "%s (%s), ", row->value,
                                    row->help);
    }
    values[count++] = (mca_common_colltools_value_t){MCA_COLL_PIPERING_OFF, "off"};
    values[count] = (mca_common_colltools_value_t){0, NULL};
    (void) snprintf(help + length, sizeof(help) - length, "off (always the module below)");
    (void) snprintf(names[collective], sizeof(names[collective]), "%s_algorithm", blocking);
    const mca_common_colltools_variable_t variable
        = {.name = names[collective],
           .kind = MCA_COMMON_COLLTOOLS_CHOICE,
           .storage = &mca_coll_pipering.algorithm[collective],
           .values = values,
           .preset = MCA_COLL_PIPERING_AUTO,
           .level = MCA_COMMON_COLLTOOLS_LEVEL_FORCE,
           .help = help};
    mca_common_colltools_register(all, &variable, 1);
}

/* ---- performance variables ---- */

#define COUNTERS mca_coll_pipering.process.counters

static const mca_common_colltools_pvar_t counters[] = {
    {"calls", "Calls served by this component", &COUNTERS.calls},
    {"blocks_received", "Blocks received", &COUNTERS.blocks_received},
    {"blocks_sent", "Blocks sent", &COUNTERS.blocks_sent},
    {"bytes_received", "Bytes received", &COUNTERS.bytes_received},
    {"bytes_sent", "Bytes sent", &COUNTERS.bytes_sent},
    {"bytes_from_network", "Bytes received from other nodes", &COUNTERS.bytes_from_network},
    {"bytes_shared", "Bytes received through ring buffers in shared memory",
     &COUNTERS.bytes_shared},
    {"bytes_copied", "Bytes that this component copied inside this process",
     &COUNTERS.bytes_copied},
    {"rounds", "Blocks that passed the busiest link of this process", &COUNTERS.rounds},
    {"plans", "Plans made; other calls found theirs made", &COUNTERS.plans},
    {"fixed_point_sums", "Calls whose sums were made in fixed point",
     &COUNTERS.fixed_point_sums},
}, levels[] = {
    {"algorithm_used", "Algorithm of the last call, a value of the variable of its collective",
     &COUNTERS.algorithm_used},
    {"block_size_used", "Block size of the last call, in bytes", &COUNTERS.block_size_used},
    {"predicted_rounds", "Rounds or stages that the last call was predicted to take",
     &COUNTERS.predicted_rounds},
    {"predicted_time", "Time that the last call was predicted to take, in nanoseconds",
     &COUNTERS.predicted_time},
};

static void register_counters(mca_common_colltools_vars_t *all)
{
    mca_common_colltools_pvars(all, MPI_T_PVAR_CLASS_COUNTER, counters, COUNT(counters));
    mca_common_colltools_pvars(all, MPI_T_PVAR_CLASS_LEVEL, levels, COUNT(levels));
    mca_common_colltools_fallbacks(all, mca_coll_pipering_reasons, MCA_COLL_PIPERING_REASONS,
                                   COUNTERS.fallback);
}

void mca_coll_pipering_params_register(mca_common_colltools_vars_t *all)
{
    backing_directory = (char *) mca_common_colltools_default_base();
    mesh = "";
    switches = "";
    machine = MCA_COLL_PIPERING_SITE_MACHINE;
    for (int i = 0; i < MCA_COLL_PIPERING_COLLECTIVES; ++i) {
        if (i == (int) mca_coll_pipering_variable_of((mca_coll_pipering_collective_t) i)) {
            register_algorithm(all, (mca_coll_pipering_collective_t) i);
        }
    }
    mca_common_colltools_register(all, mca_coll_pipering_variables, MCA_COLL_PIPERING_PARAMS);
    mca_common_colltools_register(all, variables, COUNT(variables));
    register_counters(all);
    mca_common_colltools_progress_register(&progress_thread, "coll_pipering_progress_thread");
    mca_coll_pipering.directory.owner = all->owner;
    mca_coll_pipering.directory.base = NULL == backing_directory ? "" : backing_directory;
    mca_coll_pipering.process.mesh = mesh;
    mca_coll_pipering.process.switches = NULL == switches ? "" : switches;
    mca_coll_pipering.process.machine = machine;
}
