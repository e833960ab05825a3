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
 * Options of the command line.
 */

#include "predict.h"

#include "agv_dist.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct option_t {
    const char *name; /* NULL: a title */
    const char *argument, *help;
    enum { OTHER, FLAG, TEXT, COUNT, CHOICE } kind; /* bool, const char *, int or int */
    size_t offset;                                  /* in predict_t */
    double least, most;                             /* of a count */
    const mca_common_colltools_value_t *values;     /* of a choice */
    bool (*take)(predict_t *predict, const char *name, const char *value); /* of another kind */
} option_t;

/* ---- values ---- */

static bool take_collective(predict_t *predict, const char *name, const char *value)
{
    predict_call_t *call = &predict->call;
    const int found = predict_find_collective(value);

    call->closed = 0 == strcmp(value, "barrier")    ? PREDICT_BARRIER
                   : 0 == strcmp(value, "alltoall") ? PREDICT_ALLTOALL
                                                    : PREDICT_PLANNED;
    if (0 > found && PREDICT_PLANNED == call->closed) {
        return predict_refuse("%s %s: expected allgatherv, allgather, bcast, reduce, allreduce, "
                              "scan, exscan, reduce_scatter, reduce_scatter_block, or with --mesh "
                              "barrier or alltoall", name, value);
    }
    call->collective = 0 > found ? MCA_COLL_PIPERING_COLLECTIVES
                                 : (mca_coll_pipering_collective_t) found;
    return true;
}

static bool take_total(predict_t *predict, const char *name, const char *value)
{
    double bytes;

    if (!predict_read_number(value, &bytes) || 0 > bytes || 1e15 < bytes) {
        return predict_refuse("%s %s: expected bytes, such as 8192, 64K, 1M or 2G, up to 1e15",
                              name, value);
    }
    predict->call.total = (size_t) bytes;
    return true;
}

/* A variable, NAME=VALUE. */
static bool take_variable(predict_t *predict, const char *name, const char *value)
{
    const char *sign = strchr(value, '=');
    char variable[128];

    if (NULL == sign || sizeof(variable) <= (size_t) (sign - value)) {
        return predict_refuse("%s %s: expected NAME=VALUE", name, value);
    }
    memcpy(variable, value, (size_t) (sign - value));
    variable[sign - value] = '\0';
    return predict_set_variable(predict, name, variable, sign + 1, true);
}

static bool take_processors(predict_t *predict, const char *name, const char *value)
{
    char *end;

    predict->machine.processors = strtod(value, &end);
    return ('\0' == *end && 0 < predict->machine.processors && 1e6 >= predict->machine.processors)
           || predict_refuse("%s %s: expected a number above 0, such as 16 or 0.25", name, value);
}

static const mca_common_colltools_value_t maps[] = {{0, "core"}, {1, "node"}, {0, NULL}};
static const mca_common_colltools_value_t modules[] = {{MCA_COLL_PIPERING_BELOW_ANY, "any"},
                                                       {MCA_COLL_PIPERING_BELOW_TUNED, "tuned"},
                                                       {MCA_COLL_PIPERING_BELOW_HAN, "han"},
                                                       {MCA_COLL_PIPERING_BELOW_TUNED_6,
                                                        "tuned-6.0"},
                                                       {MCA_COLL_PIPERING_BELOW_HAN_6, "han-6.0"},
                                                       {0, NULL}};

/* ---- options ---- */

#define AT(member) .offset = offsetof(predict_t, member)
#define NEXT "\n                       "

static const option_t options[] = {
    {.help = "The call:"},
    {"--collective", "NAME", "allgatherv (default), allgather, bcast, reduce, allreduce, scan,"
     NEXT "exscan, reduce_scatter, reduce_scatter_block; on a mesh also"
     NEXT "barrier and alltoall", .take = take_collective},
    {"--ranks", "P", "1 to 65536; with --counts: as many as there are counts", COUNT,
     AT(call.ranks), .least = 1, .most = PREDICT_RANKS_MOST},
    {"--ppn", "K", "ranks of a node (1)", COUNT, AT(call.ppn), .least = 1,
     .most = PREDICT_RANKS_MOST},
    {"--mesh", "EXTENTS", "nodes are wired as a mesh, such as 4x4 or 8tx8tx8t (t: a closed"
     NEXT "dimension); without --ranks as many nodes as it has vertices", TEXT, AT(call.mesh)},
    {"--map", "core|node", "neighbouring ranks are on the same node (core), or on different"
     NEXT "ones", CHOICE, AT(call.by_node), .values = maps},
    {"--counts", "FILE", "counts of allgatherv, in elements, one a rank (-: standard input)", TEXT,
     AT(call.counts_file)},
    {"--dist", "NAME", "or a distribution of --total, see below; NAME@K is turned by K"
     NEXT "ranks, NAME~SEED has its ranks shuffled", TEXT, AT(call.dist)},
    {"--total", "BYTES", "all contributions together, or the vector, or of alltoall what a"
     NEXT "rank sends; 64K, 1M, 2G are meant as 1024-based", .take = take_total},
    {"--type", "NAME", "byte, int, float, double; int is combined in any order"
     NEXT "(byte for gathers and bcast, else double)", TEXT, AT(call.type)},
    {"--root", "R", "of bcast and reduce (0)", COUNT, AT(call.root),
     .most = PREDICT_RANKS_MOST - 1},
    {"--noncommuting", "", "the operation does not commute", FLAG, AT(call.ordered)},
    {.help = "What is known of machine and component:"},
    {"--machine", "FILE", "lines \"name = value\" of costs, or the line of verbose output;"
     NEXT "without it the usual ones of Gigabit Ethernet", .take = predict_read_machine},
    {"--cost", "NAME=VALUE", "one of them", .take = predict_set_machine},
    {"--processors", "N", "of a node (if not given, as --machine has for so many ranks)",
     .take = take_processors},
    {"--below", "NAME", "the modules below: han (Open MPI 5.0's default), tuned, han-6.0,"
     NEXT "tuned-6.0, any",
     CHOICE, AT(machine.below), .values = modules},
    {"--params", "FILE", "variables: lines \"name = value\"", .take = predict_read_variables},
    {"--set", "VARIABLE=VALUE", "one of them, with its full name", .take = take_variable},
    {.help = "The answer:"},
    {"--explain", "", "draw the chain or trees that are chosen, and say where the time goes", FLAG,
     AT(explain)},
    {"--json", "", "for programs", FLAG, AT(json)},
    {"--help", "", "this text", FLAG, AT(help)},
};
#define OPTIONS (sizeof(options) / sizeof(options[0]))

void predict_usage(FILE *out)
{
    (void) fputs("usage: pipering-predict [OPTION...]\n"
                 "\n"
                 "Predicts what coll/pipering does with a call of a collective, with the plans and "
                 "the\n"
                 "choice of the component itself: algorithm, block size, rounds, order and time.\n",
                 out);
    for (const option_t *option = options; options + OPTIONS > option; ++option) {
        if (NULL == option->name) {
            (void) fprintf(out, "\n%s\n", option->help);
        } else {
            const int length = (int) strlen(option->name);
            (void) fprintf(out, "  %s %-*s %s\n", option->name, 19 - length, option->argument,
                           option->help);
        }
    }
    (void) fputs("\nDistributions:\n", out);
    for (const agv_dist_name_t *name = agv_dist_names; NULL != name->name; ++name) {
        (void) fprintf(out, "    %-20s %s\n", name->name, name->meaning);
    }
    (void) fputs("\nCosts of a machine:\n", out);
    for (int i = 0; NULL != mca_coll_pipering_machine_name(i); ++i) {
        (void) fprintf(out, "    %-20s %s\n", mca_coll_pipering_machine_name(i),
                       mca_coll_pipering_machine_unit(i));
    }
}

static const option_t *find(const char *name)
{
    for (const option_t *option = options; options + OPTIONS > option; ++option) {
        if (NULL != option->name && 0 == strcmp(name, option->name)) {
            return option;
        }
    }
    return NULL;
}

static bool take(predict_t *predict, const option_t *option, const char *value)
{
    void *place = (char *) predict + option->offset;
    double number;

    switch (option->kind) {
    case FLAG:
        *(bool *) place = true;
        return true;
    case TEXT:
        *(const char **) place = value;
        return true;
    case COUNT:
        if (!predict_read_number(value, &number) || option->least > number
            || option->most < number) {
            return predict_refuse("%s %s: expected a whole number, %.0f to %.0f", option->name,
                                  value, option->least, option->most);
        }
        *(int *) place = (int) number;
        return true;
    case CHOICE:
        return predict_set_choice(option->values, option->name, "the value", value, place);
    default:
        return option->take(predict, option->name, value);
    }
}

bool predict_parse(predict_t *predict, int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        const option_t *option = find(argv[i]);
        if (NULL == option) {
            return predict_refuse("%s is no option; --help lists them", argv[i]);
        }
        if (FLAG != option->kind && ++i == argc) {
            return predict_refuse("%s lacks its value; --help lists options", option->name);
        }
        if (!take(predict, option, argv[i])) {
            return false;
        }
    }
    const int variable = (int) mca_coll_pipering_variable_of(predict->call.collective);
    predict->params = mca_coll_pipering_params_in_range(
        PREDICT_PLANNED == predict->call.closed ? predict->algorithm[variable]
                                                : MCA_COLL_PIPERING_AUTO);
    return true;
}
