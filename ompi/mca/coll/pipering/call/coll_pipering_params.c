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
 * All variables but the priority can be written at run time (MPI_T) and are read
 * at every call; they must be equal on all ranks. A value out of range is
 * reported once, when the component is loaded, and the default is used.
 */

#include "ompi/mca/coll/pipering/alltoall/coll_pipering_alltoall.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_registry.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_model.h"
#include "opal/util/show_help.h"

#include <ctype.h>
#include <stdio.h>

static struct {
    int block_model;
    int window;
    size_t block_size;
    size_t rounds_max_total, rounds_packed;
    double processors;
    size_t ring_buffer_size;
    char *backing_directory, *mesh, *machine;
} vars;

/* Variables that only experts of the algorithms need. */
static const char *const experts[]
    = {"alltoall_in_place", "alltoall_small", "alltoall_window", "block_model", "block_size",
       "processors", "ring_buffer_size", "rounds_max_total", "rounds_packed", "window", NULL};

static const mca_base_var_enum_value_t models[]
    = {{MCA_COLL_PIPERING_MODEL_SEARCH, "search"},
       {MCA_COLL_PIPERING_MODEL_EQUATION2, "equation2"},
       {0, NULL}};

static const mca_base_var_enum_value_t barriers[] = {{MCA_COLL_PIPERING_AUTO, "auto"},
                                                     {MCA_COLL_PIPERING_MESH_LINES, "mesh_lines"},
                                                     {MCA_COLL_PIPERING_OFF, "off"},
                                                     {0, NULL}};

static const struct {
    const char *name, *help;
    const mca_base_var_enum_value_t *values;
    int *storage;
    int preset;
} choices[] = {
    {"barrier_algorithm",
     "Algorithm of MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init where coll_pipering_mesh is set: "
     "auto (the module below), mesh_lines (to all of a line of the mesh, one dimension after the "
     "other; without a mesh: the module below), off (likewise)",
     barriers, &mca_coll_pipering_component.barrier, MCA_COLL_PIPERING_AUTO},
    {"block_model",
     "How the block size is chosen: search (least modelled time) or equation2 (closed "
     "form of the paper, corrected); block_size takes the place of both",
     models, &vars.block_model, MCA_COLL_PIPERING_MODEL_SEARCH},
};

static const struct {
    const char *name, *help, *zero;
    size_t *storage;
    size_t most, preset;
} sizes[] = {
    {"block_size", "Size of a block, and of a packet of a permuted exchange",
     "chosen by block_model; packets of 16384",
     &vars.block_size, MCA_COLL_PIPERING_SIZE_MOST, 0},
    {"min_total", "Calls about fewer bytes than this in all go to the module below, unless "
                  "an algorithm is forced",
     "the model alone decides", &mca_coll_pipering_component.min_total,
     MCA_COLL_PIPERING_SIZE_MOST, MCA_COLL_PIPERING_MIN_TOTAL},
    {"rounds_max_total",
     "Calls about more bytes than this in all are never exchanges in rounds, since a rank may need "
     "as much memory",
     "none is", &vars.rounds_max_total, MCA_COLL_PIPERING_SIZE_MOST,
     MCA_COLL_PIPERING_ROUNDS_MAX_TOTAL},
    {"rounds_packed",
     "In an exchange in rounds contributions of up to so many bytes go together, larger ones "
     "alone",
     "each goes alone", &vars.rounds_packed, MCA_COLL_PIPERING_SIZE_MOST,
     MCA_COLL_PIPERING_ROUNDS_PACKED},
    {"ring_buffer_size",
     "Size of a ring buffer in shared memory, rounded down to a multiple of 4096; blocks of up to "
     "half of it fit, larger ones go as messages. Smaller where the budget is small, but not "
     "below 65536",
     "all blocks go as messages", &vars.ring_buffer_size, MCA_COLL_PIPERING_SIZE_MOST,
     MCA_COLL_PIPERING_RING_BUFFER_SIZE},
    {"ring_buffer_budget",
     "Shared memory that the ring buffers of a job may take on a node; each process has an equal "
     "share, and sends messages where that is used up",
     "an eighth of what is free in backing_directory, up to 2 MiB a process",
     &mca_coll_pipering_component.directory.budget, MCA_COLL_PIPERING_SIZE_MOST, 0},
};

static const struct {
    const char *name, *help;
    bool *storage;
    bool preset;
} switches[] = {
    {"fixed_point_sum", "MPI_Allreduce and MPI_Reduce add float, double and complex values of "
                        "these (MPI_SUM) in fixed point, so that the result depends on the values "
                        "alone; 2.25 times the bytes (float: 3.25)",
     &mca_coll_pipering_component.fixed_point_sum, false},
};

#define WINDOW_MOST 4096
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Most algorithms that a collective may have, with auto and off. */
#define ALGORITHMS_MOST 16

/* The variable of a collective's algorithm: its values are rows of the registry. */
static void register_algorithm(mca_common_irregular_vars_t *all,
                               mca_coll_pipering_collective_t collective)
{
    const mca_coll_pipering_collective_row_t *about = mca_coll_pipering_collective_row(collective);
    mca_base_var_enum_value_t values[ALGORITHMS_MOST] = {{MCA_COLL_PIPERING_AUTO, "auto"}};
    const char *blocking = about->name[MCA_COLL_PIPERING_BLOCKING];
    const char *nonblocking = about->name[MCA_COLL_PIPERING_NONBLOCKING];
    const char *persistent = about->name[MCA_COLL_PIPERING_PERSISTENT];
    int *storage = &mca_coll_pipering_component.algorithm[collective];
    const mca_coll_pipering_row_t *row = NULL;
    char name[64], help[2048];
    int count = 1;

    size_t length = (size_t) snprintf(help, sizeof(help),
                                      "Algorithm of MPI_%c%s, MPI_%c%s and MPI_%c%s: auto (what "
                                      "the model says, or the module below), ",
                                      toupper(blocking[0]), blocking + 1, toupper(nonblocking[0]),
                                      nonblocking + 1, toupper(persistent[0]), persistent + 1);
    while (NULL != (row = mca_coll_pipering_next_row(collective, row))) {
        values[count++] = (mca_base_var_enum_value_t){(int) row->algorithm, row->value};
        length += (size_t) snprintf(help + length, sizeof(help) - length, "%s (%s), ", row->value,
                                    row->help);
    }
    values[count++] = (mca_base_var_enum_value_t){MCA_COLL_PIPERING_OFF, "off"};
    values[count] = (mca_base_var_enum_value_t){0, NULL};
    (void) snprintf(help + length, sizeof(help) - length, "off (always the module below)");
    (void) snprintf(name, sizeof(name), "%s_algorithm", blocking);
    *storage = MCA_COLL_PIPERING_AUTO;
    mca_common_irregular_choice(all, name, help, values, storage);
}

static void register_tables(mca_common_irregular_vars_t *all)
{
    for (int i = 0; i < MCA_COLL_PIPERING_COLLECTIVES; ++i) {
        register_algorithm(all, (mca_coll_pipering_collective_t) i);
    }
    for (size_t i = 0; i < COUNT(choices); ++i) {
        *choices[i].storage = choices[i].preset;
        mca_common_irregular_choice(all, choices[i].name, choices[i].help, choices[i].values,
                                    choices[i].storage);
    }
    for (size_t i = 0; i < COUNT(sizes); ++i) {
        *sizes[i].storage = sizes[i].preset;
        mca_common_irregular_size(all, sizes[i].name, sizes[i].help, sizes[i].zero, sizes[i].most,
                                  sizes[i].storage);
    }
    for (size_t i = 0; i < COUNT(switches); ++i) {
        *switches[i].storage = switches[i].preset;
        mca_common_irregular_switch(all, switches[i].name, switches[i].help, switches[i].storage);
    }
}

static void register_ints(mca_common_irregular_vars_t *all)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    component->priority = 45;
    mca_common_irregular_int(all, "priority",
                             "Priority of the component, above han (35) and tuned (30) by default",
                             NULL, "the component is not used", 0, MCA_BASE_VAR_SCOPE_READONLY,
                             100, &component->priority);
    component->process.verbose = 0;
    mca_common_irregular_int(all, "verbose",
                             "1: a line about each call of rank 0; 2 and more: of every rank", NULL,
                             "silent", MCA_BASE_VAR_FLAG_SETTABLE, MCA_BASE_VAR_SCOPE_LOCAL, 100,
                             &component->process.verbose);
    vars.window = 0;
    mca_common_irregular_int(all, "window",
                             "Blocks that a rank may be ahead of the next one in the ring, and "
                             "receives posted ahead; 1 counts as 2",
                             "blocks", "chosen from the block size",
                             MCA_BASE_VAR_FLAG_SETTABLE, MCA_BASE_VAR_SCOPE_ALL_EQ, WINDOW_MOST,
                             &vars.window);
}

static void register_directory(mca_common_irregular_vars_t *all)
{
    mca_common_irregular_directory_t *directory = &mca_coll_pipering_component.directory;

    vars.backing_directory = (char *) mca_common_irregular_default_base();
    mca_common_irregular_string(all, "backing_directory",
                                "Directory for ring buffers in shared memory, a file for each "
                                "process that receives through any",
                                0, MCA_BASE_VAR_SCOPE_LOCAL, &vars.backing_directory);
    directory->owner = all->owner;
    directory->base = NULL == vars.backing_directory ? "" : vars.backing_directory;
}

/* Not one of those that can be set at any time: what it declares is read once. */
static void register_mesh(mca_common_irregular_vars_t *all)
{
    vars.mesh = "";
    mca_common_irregular_string(all, "mesh",
                                "Network without a switch: 4x4x2 or 4tx4t (extents, t: a closed "
                                "dimension; nodes in the order of their lowest ranks, the last "
                                "dimension first; or ranks, if there are as many), @FILE (a line "
                                "\"extents 4x4t\", then \"HOST 0 3\" for each node), cartesian "
                                "(communicators with a Cartesian topology are wired like it); "
                                "empty: there are switches",
                                0, MCA_BASE_VAR_SCOPE_ALL_EQ, &vars.mesh);
    mca_coll_pipering_component.process.mesh = vars.mesh;
}

/* Read once, by the first call of a job that wants to know what links cost. */
static void register_machine(mca_common_irregular_vars_t *all)
{
    mca_coll_pipering_process_t *process = &mca_coll_pipering_component.process;

    vars.machine = "";
    mca_common_irregular_string(all, "machine",
                                "File that describes links and processors, as pipering-tune writes "
                                "it; must say the same on all nodes. Empty: what adapters say",
                                0, MCA_BASE_VAR_SCOPE_LOCAL, &vars.machine);
    process->machine = vars.machine;
    vars.processors = 0;
    mca_common_irregular_equal_t *equal = all->equal;
    all->equal = NULL; /* nodes may differ */
    mca_common_irregular_cost(all, "processors",
                              "Processors that this node has for the job, where nodes share those "
                              "of one machine", "processors", "those that processes may use",
                              &vars.processors);
    all->equal = equal;
    process->processors = vars.processors;
}

/* ---- variables that are gone ---- */

#define OUTLIERS "the model weighs rounds for each call, by the sizes of all contributions"

static mca_common_irregular_gone_t gone[] = {
    {"alltoall_many", "coll_pipering_alltoall_window", NULL},
    {"alltoall_many_window", "coll_pipering_alltoall_window", NULL},
    {"alltoall_permute", "permuted exchanges always meet ranks in a random order", NULL},
    {"alltoall_visit", "permuted exchanges always send two packets a visit", NULL},
    {"alpha", "net_alpha in the file of coll_pipering_machine", NULL},
    {"beta", "net_beta in the file of coll_pipering_machine", NULL},
    {"block_split", "blocks of a contribution always have the same size, within a byte", NULL},
    {"local_alpha", "local_alpha in the file of coll_pipering_machine", NULL},
    {"local_beta", "local_beta in the file of coll_pipering_machine", NULL},
    {"mesh_barrier", "MPI_Barrier before the call", NULL},
    {"mesh_decision", "the bytes of a call always decide whether it goes along a mesh", NULL},
    {"mesh_packet", "coll_pipering_block_size", NULL},
    {"outlier_fraction", OUTLIERS, NULL},
    {"outlier_min_total", OUTLIERS, NULL},
    {"outlier_threshold", OUTLIERS, NULL},
    {"overlap", "a block is always combined while the one before is sent", NULL},
    {"reorder_empties", "ranks without data are always placed so that a ring takes fewest rounds",
     NULL},
    {"reorder_nodes", "the ranks of a node are always kept together", NULL},
    {"reproducible",
     "floating-point sums always have the same bits for the same arguments, mapping, machine file "
     "and variables (docs/tuning.md)",
     NULL},
    {"ring_buffer", "coll_pipering_ring_buffer_size, 0 for false", NULL},
    {"ring_buffer_blocks", "coll_pipering_ring_buffer_size", NULL},
    {"rounds_min_total", OUTLIERS, NULL},
    {"why", "the library of contrib/tuning/why, which needs no component (docs/tools.md)", NULL},
};

/* ---- performance variables ---- */

static const char *const reason_names[MCA_COLL_PIPERING_REASONS]
    = {[MCA_COLL_PIPERING_FALLBACK_OFF] = "off",
       [MCA_COLL_PIPERING_FALLBACK_SMALL] = "small",
       [MCA_COLL_PIPERING_FALLBACK_EARLY] = "early",
       [MCA_COLL_PIPERING_FALLBACK_LOCAL] = "local",
       [MCA_COLL_PIPERING_FALLBACK_MODEL] = "model",
       [MCA_COLL_PIPERING_FALLBACK_UNLIKE] = "unlike",
       [MCA_COLL_PIPERING_FALLBACK_UNEQUAL] = "unequal",
       [MCA_COLL_PIPERING_FALLBACK_SHORT] = "short",
       [MCA_COLL_PIPERING_FALLBACK_UNCHOSEN] = "unchosen",
       [MCA_COLL_PIPERING_FALLBACK_MESHLESS] = "meshless"};

const char *mca_coll_pipering_reason_name(mca_coll_pipering_reason_t reason)
{
    return reason_names[reason];
}

#define COUNTERS mca_coll_pipering_component.process.counters

static const struct {
    const char *name, *help;
    opal_atomic_int64_t *storage;
} counters[] = {
    {"calls", "Calls served by this component", &COUNTERS.calls},
    {"blocks_received", "Blocks received", &COUNTERS.blocks_received},
    {"blocks_sent", "Blocks sent", &COUNTERS.blocks_sent},
    {"bytes_received", "Bytes received", &COUNTERS.bytes_received},
    {"bytes_sent", "Bytes sent", &COUNTERS.bytes_sent},
    {"bytes_from_network", "Bytes received from other nodes", &COUNTERS.bytes_from_network},
    {"bytes_shared", "Bytes received through ring buffers in shared memory",
     &COUNTERS.bytes_shared},
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

static void register_counters(mca_common_irregular_vars_t *all)
{
    char name[64], help[128];

    for (size_t i = 0; i < COUNT(counters); ++i) {
        mca_common_irregular_counter(all, counters[i].name, counters[i].help, counters[i].storage);
    }
    for (size_t i = 0; i < COUNT(levels); ++i) {
        mca_common_irregular_level(all, levels[i].name, levels[i].help, levels[i].storage);
    }
    for (int i = MCA_COLL_PIPERING_TAKEN + 1; i < MCA_COLL_PIPERING_REASONS; ++i) {
        snprintf(name, sizeof(name), "fallback_%s", reason_names[i]);
        snprintf(help, sizeof(help), "Calls left to the module below: %s",
                 mca_coll_pipering_reason_text((mca_coll_pipering_reason_t) i));
        mca_common_irregular_counter(all, name, help, &COUNTERS.fallback[i]);
    }
}

int mca_coll_pipering_params_register(void)
{
    mca_common_irregular_vars_t all
        = {.component = &mca_coll_pipering_component.super.collm_version,
           .equal = &mca_coll_pipering_component.process.equal,
           .owner = "pipering",
           .experts = experts};

    all.equal->count = 0;

    register_ints(&all);
    register_tables(&all);
    register_directory(&all);
    register_mesh(&all);
    register_machine(&all);
    mca_common_irregular_gone(&all, gone, COUNT(gone));
    register_counters(&all);
    mca_coll_pipering_verdict_register(all.component);
    mca_coll_pipering_exchange_params_register(&all);
    mca_common_irregular_complain(&all);
    return OMPI_SUCCESS;
}

/* A tool may have written anything since the variables were registered. */
static size_t in_range(size_t value, size_t most, size_t otherwise)
{
    return value <= most ? value : otherwise;
}

static size_t size_of(size_t value)
{
    return in_range(value, MCA_COLL_PIPERING_SIZE_MOST, 0);
}

/* Whole pages. */
static size_t ring_buffer_size(void)
{
    const size_t size = in_range(vars.ring_buffer_size, MCA_COLL_PIPERING_SIZE_MOST,
                                 MCA_COLL_PIPERING_RING_BUFFER_SIZE);

    return size & ~(size_t) 4095;
}

size_t mca_coll_pipering_block_size(void)
{
    return size_of(vars.block_size);
}

mca_coll_pipering_params_t
mca_coll_pipering_params_now(mca_coll_pipering_collective_t collective)
{
    return (mca_coll_pipering_params_t){
        .algorithm = mca_coll_pipering_component.algorithm[collective],
        .block_model = vars.block_model,
        .window = (int) in_range((size_t) vars.window, WINDOW_MOST, 0),
        .block_size = size_of(vars.block_size),
        .min_total = size_of(mca_coll_pipering_component.min_total),
        .rounds_max_total = size_of(vars.rounds_max_total),
        .rounds_packed = size_of(vars.rounds_packed),
        .ring_buffer_size = ring_buffer_size(),
    };
}
