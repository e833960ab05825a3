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

#include <stdlib.h>
#include <string.h>

void predict_usage(FILE *out)
{
    (void) fputs(
        "usage: pipering-predict [OPTION...]\n"
        "\n"
        "Predicts what coll/pipering does with a call of a collective, with the plans and the\n"
        "choice of the component itself: algorithm, block size, rounds, order and time.\n"
        "\n"
        "The call:\n"
        "  --collective NAME    allgatherv (default), allgather, bcast, reduce, allreduce, scan,\n"
        "                       exscan; on a mesh also barrier and alltoall\n"
        "  --ranks P            1 to 65536; with --counts: as many as there are counts\n"
        "  --ppn K              ranks of a node (1)\n"
        "  --mesh EXTENTS       nodes are wired as a mesh, such as 4x4 or 8tx8tx8t (t: a closed\n"
        "                       dimension); without --ranks as many nodes as it has vertices\n"
        "  --map core|node      neighbouring ranks are on the same node (core), or on different\n"
        "                       ones\n"
        "  --counts FILE        counts of allgatherv, in elements, one a rank (-: standard input)\n"
        "  --dist NAME          or a distribution of --total, see below; NAME@K is turned by K\n"
        "                       ranks, NAME~SEED has its ranks shuffled\n"
        "  --total BYTES        all contributions together, or the vector, or of alltoall what a\n"
        "                       rank sends; 64K, 1M, 2G are meant as 1024-based\n"
        "  --type NAME          byte, int, float, double; int is combined in any order\n"
        "                       (byte for gathers and bcast, else double)\n"
        "  --root R             of bcast and reduce (0)\n"
        "  --noncommuting       the operation does not commute\n"
        "\n"
        "What is known of machine and component:\n"
        "  --machine FILE       lines \"name = value\" of costs, or the line of verbose output;\n"
        "                       without it the usual ones of Gigabit Ethernet\n"
        "  --cost NAME=VALUE    one of them\n"
        "  --processors N       of a node (if not given, as --machine has for so many ranks)\n"
        "  --below NAME         the modules below: han (Open MPI 5.0's default), tuned, any\n"
        "  --params FILE        variables: lines \"name = value\", or ompi_info --parsable\n"
        "  --set VARIABLE=VALUE one of them, with its full name\n"
        "\n"
        "The answer:\n"
        "  --explain            draw what is chosen, and say where its time goes\n"
        "  --execute yes|no     follow every message through the machine; if not given: where there\n"
        "                       are at most two million\n"
        "  --json               for programs\n"
        "  --help               this text\n"
        "\n"
        "Distributions:\n", out);
    for (const agv_dist_name_t *name = agv_dist_names; NULL != name->name; ++name) {
        (void) fprintf(out, "    %-20s %s\n", name->name, name->meaning);
    }
    (void) fputs("\nCosts of a machine:\n", out);
    predict_list_machine(out);
}

/* ---- values ---- */

static bool to_count(const char *option, const char *value, int least, int most, int *count)
{
    char *end;
    const long number = strtol(value, &end, 10);

    if (end == value || '\0' != *end || least > number || most < number) {
        return predict_refuse("%s %s: expected a whole number, %d to %d", option, value, least,
                              most);
    }
    *count = (int) number;
    return true;
}

/* Bytes with K, M or G behind them. */
static bool to_bytes(const char *option, const char *value, size_t *bytes)
{
    static const char units[] = "KMG";
    char *end;
    double number = strtod(value, &end);
    const char *unit = '\0' == *end ? NULL : strchr(units, *end);

    if (NULL != unit) {
        number *= (double) ((size_t) 1 << (10 * (unit - units + 1)));
        ++end;
    }
    if (end == value || '\0' != *end || !(0 <= number && number <= 1e15)) {
        return predict_refuse("%s %s: expected bytes, such as 8192, 64K, 1M or 2G, up to 1e15",
                              option, value);
    }
    *bytes = (size_t) number;
    return true;
}

static bool to_collective(const char *value, predict_call_t *call)
{
    const int found = predict_find_collective(value);

    call->closed = 0 == strcmp(value, "barrier")    ? PREDICT_BARRIER
                   : 0 == strcmp(value, "alltoall") ? PREDICT_ALLTOALL
                                                    : PREDICT_PLANNED;
    if (0 > found && PREDICT_PLANNED == call->closed) {
        return predict_refuse("--collective %s: expected allgatherv, allgather, bcast, reduce, "
                              "allreduce, scan, exscan, or with --mesh barrier or alltoall", value);
    }
    call->collective = 0 > found ? MCA_COLL_PIPERING_COLLECTIVES
                                 : (mca_coll_pipering_collective_t) found;
    return true;
}

static bool to_either(const char *option, const char *value, const char *no, const char *yes,
                      bool *is)
{
    *is = 0 == strcmp(value, yes);
    return *is || 0 == strcmp(value, no)
           || predict_refuse("%s %s: expected %s or %s", option, value, no, yes);
}

/* NAME=VALUE of a variable. */
static bool to_variable(predict_t *predict, const char *option, const char *text)
{
    const char *sign = strchr(text, '=');
    char name[128];

    if (NULL == sign || sizeof(name) <= (size_t) (sign - text)) {
        return predict_refuse("%s %s: expected NAME=VALUE", option, text);
    }
    memcpy(name, text, (size_t) (sign - text));
    name[sign - text] = '\0';
    return predict_set_variable(predict, option, name, sign + 1);
}

/* The modules below by name. */
static bool to_below(predict_t *predict, const char *value)
{
    static const char *const names[] = {[MCA_COLL_PIPERING_BELOW_ANY] = "any",
                                        [MCA_COLL_PIPERING_BELOW_TUNED] = "tuned",
                                        [MCA_COLL_PIPERING_BELOW_HAN] = "han"};

    for (int i = 0; i < (int) (sizeof(names) / sizeof(names[0])); ++i) {
        if (0 == strcmp(names[i], value)) {
            predict->machine.below = (mca_coll_pipering_below_t) i;
            return true;
        }
    }
    return predict_refuse("--below %s: expected any, tuned or han", value);
}

static bool to_processors(predict_t *predict, const char *value)
{
    char *end;

    predict->machine.processors = strtod(value, &end);
    return ('\0' == *end && 0 < predict->machine.processors && 1e6 >= predict->machine.processors)
           || predict_refuse("--processors %s: expected a number above 0, such as 16 or 0.25",
                             value);
}

/* ---- options ---- */

/* Options without a value. */
static bool take_flag(predict_t *predict, const char *option)
{
    bool *const flags[] = {&predict->explain, &predict->json, &predict->help,
                           &predict->call.ordered};
    static const char *const names[] = {"--explain", "--json", "--help", "--noncommuting"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
        if (0 == strcmp(option, names[i])) {
            *flags[i] = true;
            return true;
        }
    }
    return false;
}

static bool take_call(predict_call_t *call, const char *option, const char *value, bool *known)
{
    *known = true;
    if (0 == strcmp(option, "--collective")) {
        return to_collective(value, call);
    }
    if (0 == strcmp(option, "--ranks")) {
        return to_count(option, value, 1, PREDICT_RANKS_MOST, &call->ranks);
    }
    if (0 == strcmp(option, "--ppn")) {
        return to_count(option, value, 1, PREDICT_RANKS_MOST, &call->ppn);
    }
    if (0 == strcmp(option, "--root")) {
        return to_count(option, value, 0, PREDICT_RANKS_MOST - 1, &call->root);
    }
    if (0 == strcmp(option, "--map")) {
        return to_either(option, value, "core", "node", &call->by_node);
    }
    if (0 == strcmp(option, "--total")) {
        return to_bytes(option, value, &call->total);
    }
    if (0 == strcmp(option, "--dist")) {
        call->dist = value;
    } else if (0 == strcmp(option, "--counts")) {
        call->counts_file = value;
    } else if (0 == strcmp(option, "--mesh")) {
        call->mesh = value;
    } else if (0 == strcmp(option, "--type")) {
        call->type = value;
    } else {
        *known = false;
    }
    return true;
}

static bool take_rest(predict_t *predict, const char *option, const char *value)
{
    bool yes = false;

    if (0 == strcmp(option, "--machine")) {
        return predict_read_machine(predict, value);
    }
    if (0 == strcmp(option, "--params")) {
        return predict_read_variables(predict, value);
    }
    if (0 == strcmp(option, "--set")) {
        return to_variable(predict, option, value);
    }
    if (0 == strcmp(option, "--cost")) {
        return predict_set_machine(predict, option, value);
    }
    if (0 == strcmp(option, "--below")) {
        return to_below(predict, value);
    }
    if (0 == strcmp(option, "--processors")) {
        return to_processors(predict, value);
    }
    if (0 == strcmp(option, "--execute")) {
        if (!to_either(option, value, "no", "yes", &yes)) {
            return false;
        }
        predict->execute = yes;
        return true;
    }
    return predict_refuse("%s is no option; --help lists them", option);
}

static bool take(predict_t *predict, const char *option, const char *value)
{
    bool known;

    if (NULL == value) {
        return predict_refuse("%s is no option, or lacks its value; --help lists them", option);
    }
    return take_call(&predict->call, option, value, &known)
           && (known || take_rest(predict, option, value));
}

/* What params are in a call of the collective. */
static void settle(predict_t *predict)
{
    predict->params = mca_coll_pipering_params_in_range(
        PREDICT_PLANNED == predict->call.closed ? predict->algorithm[predict->call.collective]
                                                : MCA_COLL_PIPERING_AUTO);
}

bool predict_parse(predict_t *predict, int argc, char **argv)
{
    for (int i = 1; i < argc; ++i) {
        if (take_flag(predict, argv[i])) {
            continue;
        }
        if (!take(predict, argv[i], i + 1 < argc ? argv[i + 1] : NULL)) {
            return false;
        }
        ++i;
    }
    settle(predict);
    return true;
}
