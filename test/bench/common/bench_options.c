/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The command line of programs that time calls: options, numbers, lists. */

#include "bench.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 2147483647.0 /* number of a list */

static const char help_options[]
    = "\nOptions of all benchmarks\n"
      "  --arms LIST        ways to run the call, NAME or NAME:VARIABLE=VALUE:VARIABLE=VALUE\n"
      "                     (below)                             [%s]\n"
      "  --batch LIST       calls back to back in each timed sample [%s]\n"
      "  --reps N           timed samples of each arm           [%.0f]\n"
      "  --time-budget S    more of an arm until they took S seconds [%g]\n"
      "  --max-reps N       but no more than these              [%.0f]\n"
      "  --warmup N         samples of each arm before a row    [%.0f]\n"
      "  --idle-ms MS       let the link rest before each sample [%s]\n"
      "  --rate RATE        of a link: 12500000 (bytes/s), 100mbit, none; for the wire limit\n"
      "                     [environment TESTBED_RATE, else none]; nodes in TESTBED_SLOW have\n"
      "                     that of their own\n"
      "  --tsv FILE         write the TSV lines there instead of to stdout\n"
      "  --progress         say on stderr which row is being measured\n"
      "Numbers may end in K, M or G; in lists 8..64K is 8, 16, 32, ... and 8..64K*8 8, 64, ...\n"
      "\n"
      "Arms, which digits may follow (stock2). A VARIABLE is an MCA variable; coll_pipering_ may\n"
      "be left out, behind mleader coll_mleader_; B is block_size; + stands for a comma in a\n"
      "VALUE.\n%s";

static const char help_columns[]
    = "\nA TSV line for each row and arm: what the row is, batch, p, nodes, limit_s (the time the\n"
      "wire needs at least, - if unknown), arm, block and rounds (pipering's B and its engine's\n"
      "rounds in the last call, 0: it did not serve it), counts, verified, times. Counts are of\n"
      "all ranks, for one call: messages of mleader between nodes and within them, bytes that it\n"
      "read from shared memory, changes of process. times are of the slowest rank, in seconds,\n"
      "for one call: that of a batch is divided by its calls. summary.py makes of them the\n"
      "least, the median, and ratios.\n";

void bench_options_help(const bench_program_t *program, FILE *out)
{
    const bench_options_t *defaults = &program->defaults;
    char idle[32] = "20, or 0 without --rate";

    if (0.0 <= defaults->idle) {
        snprintf(idle, sizeof(idle), "%g", defaults->idle);
    }
    fprintf(out, "usage: mpirun ... %s [OPTION]...\n%s\n%s", program->name, program->purpose,
            program->own_options);
    fprintf(out, help_options, defaults->arms, defaults->batches, defaults->reps,
            defaults->budget, defaults->max_reps, defaults->warmup, idle, program->arms);
    if (NULL != program->print_names) {
        program->print_names(out);
    }
    fputs(help_columns, out);
}

/* ---- numbers and lists */

double bench_number(const char *text)
{
    static const struct {
        const char *suffix;
        double factor;
    } suffixes[] = {{"", 1.0},           {"k", 1024.0},       {"m", 1048576.0},
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

int bench_words(const char *list, char *words[BENCH_MAX_WORDS])
{
    char *copy = strdup(list), *rest, *word;
    int count = 0;

    if (NULL == copy) {
        return -1;
    }
    for (word = strtok_r(copy, ",", &rest); NULL != word && BENCH_MAX_WORDS > count;
         word = strtok_r(NULL, ",", &rest)) {
        words[count++] = word;
    }
    if (0 == count || NULL != word) {
        free(copy);
        return -1;
    }
    if (copy != words[0]) {
        memmove(copy, words[0], strlen(words[0]) + 1);
        words[0] = copy;
    }
    return count;
}

/* One item of a list: A, A..B or A..B*F; `count` so far. False: it is none, or too many. */
static bool add_range(char *item, size_t *numbers, int *count)
{
    char *factor = strchr(item, '*');
    char *dots = strstr(item, "..");
    double step = 2.0, first, last;

    if (NULL != factor) {
        *factor = '\0';
        step = bench_number(factor + 1);
    }
    if (NULL != dots) {
        *dots = '\0';
    }
    first = bench_number(item);
    last = (NULL == dots) ? first : bench_number(dots + 2);
    if (1.0 > first || last < first || 2.0 > step || LARGEST < last) {
        return false;
    }
    for (double number = first; number <= last; number *= step) {
        if (BENCH_MAX_NUMBERS == *count) {
            return false;
        }
        numbers[(*count)++] = (size_t) number;
    }
    return true;
}

int bench_numbers(const char *list, size_t numbers[BENCH_MAX_NUMBERS])
{
    char *words[BENCH_MAX_WORDS];
    const int items = bench_words(list, words);
    bool good = 0 < items;
    int count = 0;

    for (int i = 0; good && i < items; ++i) {
        good = add_range(words[i], numbers, &count);
    }
    if (0 < items) {
        free(words[0]);
    }
    return good ? count : -1;
}

int bench_find(const char *const *names, int count, const char *word)
{
    for (int i = 0; i < count; ++i) {
        if (0 == strcmp(names[i], word)) {
            return i;
        }
    }
    return -1;
}

int bench_choices(const char *list, const char *const *names, int count,
                  int choices[BENCH_MAX_WORDS])
{
    char *words[BENCH_MAX_WORDS];
    const int found = bench_words(list, words);
    bool good = 0 < found;

    for (int i = 0; good && i < found; ++i) {
        choices[i] = bench_find(names, count, words[i]);
        good = 0 <= choices[i];
    }
    if (0 < found) {
        free(words[0]);
    }
    return good ? found : -1;
}

/* ---- options */

/* argv ends in NULL, so there is a value to look at. */
static bool take_option(const bench_option_t *option, const char *value, char *error)
{
    double number = NULL == value ? -1.0 : bench_number(value);

    if (NULL != option->flag) {
        *option->flag = true;
        return true;
    }
    if (NULL == value || (NULL != option->number && (option->least > number || 1e12 < number))) {
        snprintf(error, BENCH_ERROR_LENGTH, "%s: expected a value it can use, see --help",
                 option->name);
        return false;
    }
    if (NULL != option->word) {
        *option->word = value;
    } else {
        *option->number = number;
    }
    return true;
}

static const bench_option_t *find_option(const bench_option_t *list, const char *name)
{
    while (NULL != list->name && 0 != strcmp(name, list->name)) {
        ++list;
    }
    return NULL == list->name ? NULL : list;
}

bool bench_options_parse(bench_options_t *options, const bench_program_t *program, int argc,
                         char **argv, char *error)
{
    const char *rate = getenv("TESTBED_RATE");
    const bench_option_t shared[] = {{"--arms", &options->arms, NULL, 0.0, NULL},
                                     {"--batch", &options->batches, NULL, 0.0, NULL},
                                     {"--tsv", &options->tsv, NULL, 0.0, NULL},
                                     {"--reps", NULL, &options->reps, 1.0, NULL},
                                     {"--max-reps", NULL, &options->max_reps, 1.0, NULL},
                                     {"--time-budget", NULL, &options->budget, 0.0, NULL},
                                     {"--warmup", NULL, &options->warmup, 0.0, NULL},
                                     {"--idle-ms", NULL, &options->idle, 0.0, NULL},
                                     {"--rate", NULL, &options->rate, 0.0, NULL},
                                     {"--progress", NULL, NULL, 0.0, &options->progress},
                                     {"--help", NULL, NULL, 0.0, &options->help},
                                     {NULL, NULL, NULL, 0.0, NULL}};

    *options = program->defaults;
    if (NULL != rate && 0.0 < bench_number(rate)) {
        options->rate = bench_number(rate);
    }
    for (int i = 1; i < argc; ++i) {
        const bench_option_t *own = find_option(program->options, argv[i]);
        const bench_option_t *option = NULL == own ? find_option(shared, argv[i]) : own;

        if (NULL == option) {
            snprintf(error, BENCH_ERROR_LENGTH, "%.200s: no such option, see --help", argv[i]);
            return false;
        }
        if (!take_option(option, argv[i + 1], error)) {
            return false;
        }
        i += NULL == option->flag;
    }
    if (0.0 > options->idle) {
        options->idle = 0.0 < options->rate ? 20.0 : 0.0;
    }
    if (options->max_reps < options->reps) {
        options->max_reps = options->reps;
    }
    return NULL == program->check || program->check(error);
}
