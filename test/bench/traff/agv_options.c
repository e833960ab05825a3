/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The command line of agv. */

#include "agv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char help_options[]
    = "usage: mpirun ... agv [OPTION]...\n"
      "Times MPI_Allgatherv with unequal counts, checks every result, writes TSV lines.\n"
      "\n"
      "  --dist LIST        distributions (below)               [regular]\n"
      "  --total LIST       bytes that all contribute together: 8, 64K, 1M, 8..16M (times 2),\n"
      "                     8..16M*4 (times 4)                  [1M]\n"
      "  --arms LIST        ways to run the call (below)        [stock,pipering]\n"
      "  --comm WHICH       world, permuted:SEED, minuslast     [world]\n"
      "  --type WHICH       int (of bytes where ints do not fit), byte, bytes-list\n"
      "                     (four single bytes in eight)        [int]\n"
      "  --op WHICH         allgatherv, allgather (equal counts only)\n"
      "  --reps N           timed calls of each arm, at least   [7]\n"
      "  --time-budget S    more of them until a row took S seconds\n"
      "  --max-reps N       but no more than these              [200]\n"
      "  --warmup N         calls of each arm before a row      [1]\n"
      "  --idle-ms MS       let the link rest before each call  [20]\n"
      "  --rate RATE        of a link: 12500000 (bytes/s), 100mbit; for the wire limit\n"
      "                     [environment TESTBED_RATE, else none]; nodes in TESTBED_SLOW have\n"
      "                     that of their own\n"
      "  --no-verify        do not check the results (they are checked by default)\n"
      "  --tsv FILE         write the TSV lines there instead of to stdout\n"
      "  --table            print a table for people on stdout\n"
      "  --progress         say on stderr which row is being measured\n"
      "  --trace FILE       sample each rank's network device, see --trace-ms [2]\n"
      "\n";

static const char help_arms[]
    = "arms, each NAME or NAME:VARIABLE=VALUE:VARIABLE=VALUE\n"
      "  stock, stock2 ...  Open MPI without coll/pipering (also istock: nonblocking)\n"
      "  pipering           as a user meets it (also pipering2 ..., iall: nonblocking)\n"
      "  ring, linear, doubling, dissemination, off\n"
      "                     pipering's algorithms forced (also iring)\n"
      "  tunedN             coll/tuned's algorithm N; needs\n"
      "                     --mca coll_tuned_allgatherv_algorithm N on mpirun's command line\n"
      "  mpich              MPICH's way: blocked ring in rank order, one MPI_Sendrecv at a time,\n"
      "                     chunks of 32 KiB or the least contribution (mpich:chunk=BYTES)\n"
      "  A VARIABLE is an MCA variable; coll_pipering_ may be left out, B is block_size.\n"
      "\n"
      "distributions, each NAME, NAME@K (turned by K ranks) or NAME~SEED (ranks shuffled)\n";

static const char help_columns[]
    = "\nTSV columns: dist total p nodes comm type arm reps min_s median_s limit_s frac_min\n"
      "frac_median ratio block rounds verified. Times are of the slowest rank; limit_s is the\n"
      "time the wire needs, max over nodes of what the node lacks, or has, / rate; frac is limit_s /\n"
      "time; ratio is the median of time / time of the first stock arm in the same repetition.\n";

void agv_options_help(FILE *out)
{
    fputs(help_options, out);
    fputs(help_arms, out);
    for (const agv_dist_name_t *dist = agv_dist_names; NULL != dist->name; ++dist) {
        fprintf(out, "  %-18s %s\n", dist->name, dist->meaning);
    }
    fputs(help_columns, out);
}

double agv_options_number(const char *text)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {{"", 1.0},          {"k", 1024.0},       {"m", 1048576.0},
                    {"g", 1073741824.0}, {"kbit", 1e3 / 8.0}, {"mbit", 1e6 / 8.0},
                    {"gbit", 1e9 / 8.0}};
    char *end;
    double number = strtod(text, &end);
    char suffix[8] = "";

    if (0 == strcmp(text, "none")) {
        return 0.0;
    }
    if (end == text || 0.0 > number || strlen(end) >= sizeof(suffix)) {
        return -1.0;
    }
    for (size_t i = 0; '\0' != end[i]; ++i) {
        suffix[i] = (char) tolower((unsigned char) end[i]);
    }
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); ++i) {
        if (0 == strcmp(suffix, suffixes[i].suffix)) {
            return number * suffixes[i].factor;
        }
    }
    return -1.0;
}

/* One item of a list of totals: A, A..B or A..B*F. Returns how many, or -1. */
static int range_totals(char *item, size_t *totals, int room)
{
    char *factor = strchr(item, '*');
    char *dots = strstr(item, "..");
    double step = 2.0, first, last;
    int count = 0;

    if (NULL != factor) {
        *factor = '\0';
        step = agv_options_number(factor + 1);
    }
    if (NULL != dots) {
        *dots = '\0';
    }
    first = agv_options_number(item);
    last = (NULL == dots) ? first : agv_options_number(dots + 2);
    if (1.0 > first || last < first || 2.0 > step || 2147483647.0 < last) {
        return -1;
    }
    for (double total = first; total <= last; total *= step) {
        if (NULL != totals && count < room) {
            totals[count] = (size_t) total;
        }
        ++count;
    }
    return count;
}

int agv_options_totals(const char *list, size_t *totals, int room)
{
    char copy[1024];
    char *rest, *item;
    int count = 0;

    if (strlen(list) >= sizeof(copy)) {
        return -1;
    }
    strcpy(copy, list);
    for (item = strtok_r(copy, ",", &rest); NULL != item; item = strtok_r(NULL, ",", &rest)) {
        int more = range_totals(item, NULL == totals ? NULL : totals + count, room - count);
        if (0 > more) {
            return -1;
        }
        count += more;
    }
    return (0 == count) ? -1 : count;
}

/* argv ends in NULL, so there is a value to look at. */
static bool take_option(const agv_option_t *option, const char *value, char *error, size_t length)
{
    double number = NULL == value ? -1.0 : agv_options_number(value);

    if (NULL != option->flag) {
        *option->flag = true;
        return true;
    }
    if (NULL == value || (NULL != option->number && (option->least > number || 1e12 < number))) {
        snprintf(error, length, "%s: wants a value it can use, see --help", option->name);
        return false;
    }
    if (NULL != option->word) {
        *option->word = value;
    } else {
        *option->number = number;
    }
    return true;
}

bool agv_options_take(const agv_option_t *known, size_t count, int argc, char **argv, char *error,
                      size_t length)
{
    size_t k;

    for (int i = 1; i < argc; ++i) {
        for (k = 0; k < count && 0 != strcmp(argv[i], known[k].name); ++k) {
            continue;
        }
        if (count == k) {
            snprintf(error, length, "%s: no such option, see --help", argv[i]);
            return false;
        }
        if (!take_option(&known[k], argv[i + 1], error, length)) {
            return false;
        }
        i += NULL == known[k].flag;
    }
    return true;
}

static bool parse_type(agv_options_t *options)
{
    static const struct {
        const char *name;
        agv_type_t type;
    } types[] = {
        {"int", AGV_TYPE_AUTO}, {"byte", AGV_TYPE_BYTE}, {"bytes-list", AGV_TYPE_LIST}};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
        if (0 == strcmp(options->type, types[i].name)) {
            options->element = types[i].type;
            return true;
        }
    }
    return false;
}

static bool parse_flag(agv_options_t *options, const char *name)
{
    if (0 == strcmp(name, "--no-verify")) {
        options->verify = false;
    } else if (0 == strcmp(name, "--verify")) {
        options->verify = true;
    } else if (0 == strcmp(name, "--table")) {
        options->table = true;
    } else if (0 == strcmp(name, "--progress")) {
        options->progress = true;
    } else if (0 == strcmp(name, "--help")) {
        options->help = true;
    } else {
        return false;
    }
    return true;
}

/* Where the word after an option goes; NULL if the option takes no word. */
static const char **word_of(agv_options_t *options, const char **op, const char *name)
{
    const struct {
        const char *name;
        const char **word;
    } words[] = {{"--dist", &options->dists},   {"--total", &options->totals},
                 {"--arms", &options->arms},    {"--comm", &options->comm},
                 {"--type", &options->type},    {"--tsv", &options->tsv},
                 {"--trace", &options->trace},  {"--op", op}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); ++i) {
        if (0 == strcmp(name, words[i].name)) {
            return words[i].word;
        }
    }
    return NULL;
}

/* 1: stored; 0: no such option; -1: the word is no number in its range. */
static int parse_number(agv_options_t *options, const char *name, const char *word)
{
    double number = agv_options_number(word);

    if (0 == strcmp(name, "--reps")) {
        options->reps = (int) number;
        return (1.0 <= number && 100000.0 >= number) ? 1 : -1;
    }
    if (0 == strcmp(name, "--max-reps")) {
        options->max_reps = (int) number;
        return (1.0 <= number && 100000.0 >= number) ? 1 : -1;
    }
    if (0 == strcmp(name, "--warmup")) {
        options->warmup = (int) number;
        return (0.0 <= number && 100000.0 >= number) ? 1 : -1;
    }
    if (0 == strcmp(name, "--time-budget")) {
        options->budget = number;
    } else if (0 == strcmp(name, "--idle-ms")) {
        options->idle = number / 1e3;
    } else if (0 == strcmp(name, "--rate")) {
        options->rate = number;
    } else if (0 == strcmp(name, "--trace-ms")) {
        options->interval = number / 1e3;
        return (0.1 <= number) ? 1 : -1;
    } else {
        return 0;
    }
    return (0.0 <= number) ? 1 : -1;
}

static bool check(agv_options_t *options, const char *op, char *error, size_t length)
{
    if (!parse_type(options)) {
        snprintf(error, length, "--type %s: one of int, byte, bytes-list is meant", options->type);
        return false;
    }
    if (0 != strcmp(op, "allgatherv") && 0 != strcmp(op, "allgather")) {
        snprintf(error, length, "--op %s: one of allgatherv, allgather is meant", op);
        return false;
    }
    options->allgather = 0 == strcmp(op, "allgather");
    if (0 > agv_options_totals(options->totals, NULL, 0)) {
        snprintf(error, length, "--total %s: a list like 8,64K,1M..16M below 2 GiB is meant",
                 options->totals);
        return false;
    }
    if (options->max_reps < options->reps) {
        options->max_reps = options->reps;
    }
    return true;
}

static void defaults(agv_options_t *options)
{
    const char *rate = getenv("TESTBED_RATE");

    memset(options, 0, sizeof(*options));
    options->dists = "regular";
    options->totals = "1M";
    options->arms = "stock,pipering";
    options->comm = "world";
    options->type = "int";
    options->reps = 7;
    options->max_reps = 200;
    options->warmup = 1;
    options->idle = 0.020;
    options->interval = 0.002;
    options->verify = true;
    if (NULL != rate && 0.0 < agv_options_number(rate)) {
        options->rate = agv_options_number(rate);
    }
}

bool agv_options_parse(agv_options_t *options, int argc, char **argv, char *error, size_t length)
{
    const char *op = "allgatherv";

    defaults(options);
    for (int i = 1; i < argc; ++i) {
        const char **word = word_of(options, &op, argv[i]);
        int number;

        if (parse_flag(options, argv[i])) {
            continue;
        }
        number = (NULL == word) ? parse_number(options, argv[i], i + 1 < argc ? argv[i + 1] : "")
                                : 0;
        if (NULL == word && 0 == number) {
            snprintf(error, length, "%s: no such option, see --help", argv[i]);
            return false;
        }
        if (i + 1 == argc || 0 > number) {
            snprintf(error, length, "%s: wants a value it can use, see --help", argv[i]);
            return false;
        }
        ++i;
        if (NULL != word) {
            *word = argv[i];
        }
    }
    return check(options, op, error, length);
}
