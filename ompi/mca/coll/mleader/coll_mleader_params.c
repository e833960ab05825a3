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
 * Variables and performance variables of coll/mleader.
 */

#include "coll_mleader.h"

#include <stdlib.h>
#include <string.h>

#define GIBI ((size_t) 1 << 30)
#define MEBI ((size_t) 1 << 20)

enum { CHOSEN = -1 };

mca_coll_mleader_t mca_coll_mleader;
mca_coll_mleader_counters_t mca_coll_mleader_counters;

static struct {
    mca_coll_mleader_params_t call;
    size_t segment_size;
    char *groups, *backing_directory;
} vars;

static const mca_common_colltools_value_t algorithms[] = {{MCA_COLL_MLEADER_AUTO, "auto"},
                                                          {MCA_COLL_MLEADER_LEADERS, "leaders"},
                                                          {MCA_COLL_MLEADER_OFF, "off"},
                                                          {0, NULL}};

static const mca_common_colltools_value_t aggregations[]
    = {{CHOSEN, "auto"},
       {MCA_COLL_MLEADER_SHM, "shm"},
       {MCA_COLL_MLEADER_GATHER, "gather"},
       {MCA_COLL_MLEADER_GROUP_DOUBLING, "recursive_doubling"},
       {MCA_COLL_MLEADER_GROUP_RING, "ring"},
       {0, NULL}};

static const mca_common_colltools_value_t exchanges[]
    = {{CHOSEN, "auto"},
       {MCA_COMMON_COLLTOOLS_DOUBLING, "recursive_doubling"},
       {MCA_COMMON_COLLTOOLS_BRUCK, "bruck"},
       {MCA_COMMON_COLLTOOLS_RING, "ring"},
       {0, NULL}};

static const mca_common_colltools_value_t scopes[] = {{CHOSEN, "auto"},
                                                      {0, "all"},
                                                      {1, "lanes"},
                                                      {0, NULL}};

static const mca_common_colltools_variable_t variables[] = {
    {.name = "priority", .kind = MCA_COMMON_COLLTOOLS_INT, .storage = &mca_coll_mleader.priority,
     .preset = 47, .most = 100, .level = MCA_COMMON_COLLTOOLS_LEVEL_USE, .once = true,
     .local = true, .zero = "the component is not used",
     .help = "Priority of the component, above pipering (45), han (35) and tuned (30) by default"},
    {.name = "verbose", .kind = MCA_COMMON_COLLTOOLS_INT, .storage = &mca_coll_mleader.verbose,
     .most = 100, .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .local = true, .zero = "silent",
     .help = "1: a line about each call of rank 0; 2 and more: of every rank"},
    {.name = "allgather_algorithm", .kind = MCA_COMMON_COLLTOOLS_CHOICE,
     .storage = &vars.call.algorithm, .values = algorithms, .preset = MCA_COLL_MLEADER_AUTO,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_FORCE,
     .help = "Algorithm of MPI_Allgather: auto (leaders where they pay, else the module below), "
             "leaders (whatever the size), off (always the module below)"},
    {.name = "aggregation", .kind = MCA_COMMON_COLLTOOLS_CHOICE, .storage = &vars.call.aggregation,
     .values = aggregations, .preset = CHOSEN, .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .help = "How contributions come to the leader of a group, and the result to its ranks: shm "
             "(through shared memory), gather, recursive_doubling or ring (messages), auto (shm "
             "where there is a segment)"},
    {.name = "exchange", .kind = MCA_COMMON_COLLTOOLS_CHOICE, .storage = &vars.call.exchange,
     .values = exchanges, .preset = CHOSEN, .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .help = "How leaders exchange: recursive_doubling (bruck where they are no power of two), "
             "bruck, ring, auto (ring for results of 256 KiB and more)"},
    {.name = "scope", .kind = MCA_COMMON_COLLTOOLS_CHOICE, .storage = &vars.call.lanes,
     .values = scopes, .preset = CHOSEN, .level = MCA_COMMON_COLLTOOLS_LEVEL_EXPERT,
     .help = "Which leaders exchange: all (all with all, as in the paper), lanes (the first ones "
             "of all nodes, the second ones ..., so that every byte enters a node once), auto "
             "(lanes where shared memory is in use)"},
    {.name = "segment_size", .kind = MCA_COMMON_COLLTOOLS_SIZE, .unit = "bytes",
     .storage = &vars.segment_size, .preset = 2 * MEBI, .most = GIBI,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .zero = "none is made",
     .help = "Most shared memory for a communicator on each node, rounded down to a multiple of "
             "256, of which it has what its calls need; larger results are moved in slices"},
    {.name = "groups", .kind = MCA_COMMON_COLLTOOLS_STRING, .storage = &vars.groups,
     .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE,
     .help = "Groups of ranks with a leader each: socket, numa or l3 (ranks that share one), a "
             "number of groups on each node, lists of ranks (0-3,4-7), auto (one leader a node, or "
             "one a socket for calls where several pay); read when a communicator is first used"},
    {.name = "backing_directory", .kind = MCA_COMMON_COLLTOOLS_STRING,
     .storage = &vars.backing_directory, .level = MCA_COMMON_COLLTOOLS_LEVEL_TUNE, .once = true,
     .local = true,
     .help = "Directory for shared memory; its files have no name once they are open"},
};

/* ---- performance variables ---- */

const mca_common_colltools_reason_t mca_coll_mleader_reasons[MCA_COLL_MLEADER_REASONS]
    = {[MCA_COLL_MLEADER_FALLBACK_OFF] = {"off", "switched off"},
       [MCA_COLL_MLEADER_FALLBACK_LARGE] = {"large", "contributions are large"},
       [MCA_COLL_MLEADER_FALLBACK_MODEL] = {"model", "by the model leaders do not pay"},
       [MCA_COLL_MLEADER_FALLBACK_NEW]
       = {"new", "one of the first calls on the communicator"},
       [MCA_COLL_MLEADER_FALLBACK_EARLY]
       = {"early", "nonblocking, before the communicator is set up"},
       [MCA_COLL_MLEADER_FALLBACK_LOCAL] = {"local", "all ranks are on one node"},
       [MCA_COLL_MLEADER_FALLBACK_ALONE] = {"alone", "every rank is alone on its node"},
       [MCA_COLL_MLEADER_FALLBACK_UNLIKE] = {"unlike", "ranks differ in data representation"},
       [MCA_COLL_MLEADER_FALLBACK_UNEQUAL] = {"unequal", "ranks differ in their variables"},
       [MCA_COLL_MLEADER_FALLBACK_MISSING] = {"missing",
                                              "some ranks do not have the component"}};

static void register_counters(mca_common_colltools_vars_t *all)
{
    mca_coll_mleader_counters_t *counters = &mca_coll_mleader_counters;
    const mca_common_colltools_pvar_t rows[]
        = {{"calls_shared", "Calls served through shared memory", &counters->calls_shared},
           {"calls_messages", "Calls served by messages alone", &counters->calls_messages},
           {"messages_between", "Messages sent to other nodes", &counters->messages_between},
           {"bytes_between", "Bytes sent to other nodes", &counters->bytes_between},
           {"messages_within", "Messages sent inside the node", &counters->messages_within},
           {"bytes_within", "Bytes sent in messages inside the node", &counters->bytes_within},
           {"bytes_copied", "Bytes read from shared memory", &counters->bytes_copied}};

    mca_common_colltools_pvars(all, MPI_T_PVAR_CLASS_COUNTER, rows,
                               sizeof(rows) / sizeof(rows[0]));
    mca_common_colltools_fallbacks(all, mca_coll_mleader_reasons, MCA_COLL_MLEADER_REASONS,
                                   counters->fallback);
}

void mca_coll_mleader_params_register(mca_common_colltools_vars_t *all)
{
    vars.groups = "auto";
    vars.backing_directory = (char *) mca_common_colltools_default_base();
    mca_common_colltools_register(all, variables, sizeof(variables) / sizeof(variables[0]));
    register_counters(all);
    mca_coll_mleader.directory.owner = all->owner;
    mca_coll_mleader.directory.base = NULL == vars.backing_directory ? "" : vars.backing_directory;
}

mca_coll_mleader_params_t mca_coll_mleader_params_now(void)
{
    mca_coll_mleader_params_t now = vars.call;

    now.aggregation = CHOSEN == now.aggregation ? MCA_COLL_MLEADER_SHM : now.aggregation;
    return now;
}

const char *mca_coll_mleader_groups_now(void)
{
    return NULL == vars.groups ? "auto" : vars.groups;
}

/* A tool may set a variable to any value at any time. */
size_t mca_coll_mleader_segment_size(void)
{
    return GIBI < vars.segment_size ? 0
                                    : vars.segment_size & ~(size_t) (2 * MCA_COLL_MLEADER_LINE - 1);
}

bool mca_coll_mleader_is_left_alone(void)
{
    return MCA_COLL_MLEADER_AUTO == vars.call.algorithm && 0 >= mca_coll_mleader.verbose;
}

bool mca_coll_mleader_is_verbose(ompi_communicator_t *comm)
{
    const int verbose = mca_coll_mleader.verbose;
    return 1 < verbose || (1 == verbose && 0 == ompi_comm_rank(comm));
}

/* ---- the variable groups ---- */

/* Reads lists of ranks, "0-3,4-7": list_of[rank] becomes the number of the rank's list, or -1. */
static bool parse_list(const char *text, int ranks, int *list_of)
{
    for (int r = 0; r < ranks; ++r) {
        list_of[r] = -1;
    }
    for (int part = 0; part < ranks; ++part) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (end == text || 0 > first) {
            return false;
        }
        if ('-' == *end) {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text || last < first) {
                return false;
            }
        }
        for (long r = first; r <= last && r < ranks; ++r) {
            list_of[r] = part;
        }
        if ('\0' == *end) {
            return true;
        }
        if (',' != *end) {
            return false;
        }
        text = end + 1;
    }
    return true;
}

bool mca_coll_mleader_parse_groups(const char *text, mca_coll_mleader_layout_t *layout,
                                   int *list_of, mca_coll_mleader_domain_t *domain)
{
    static const char *const words[MCA_COLL_MLEADER_DOMAINS] = {"auto", "socket", "numa", "l3"};
    char *end;

    for (int i = 0; i < MCA_COLL_MLEADER_DOMAINS; ++i) {
        if (0 == strcmp(text, words[i])) {
            *domain = (mca_coll_mleader_domain_t) i;
            layout->division = MCA_COLL_MLEADER_BY_DOMAIN;
            return true;
        }
    }
    const long number = strtol(text, &end, 10);
    if (end != text && '\0' == *end) {
        layout->count = (int) (number < layout->ranks ? number : layout->ranks);
        layout->division = MCA_COLL_MLEADER_BY_COUNT;
        return 0 < number;
    }
    layout->division = MCA_COLL_MLEADER_BY_LIST;
    return parse_list(text, layout->ranks, list_of);
}
