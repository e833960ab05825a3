/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The command line of app. */

#include "app.h"

#include <stdlib.h>
#include <string.h>

#define MOST 16

static const char help_options[]
    = "usage: mpirun ... app [OPTION]...\n"
      "Times the vector scatter and the 3-D Laplacian of Balaji et al. with exchanges by hand\n"
      "and by MPI_Alltoallw with derived types, checks every result, writes TSV lines.\n"
      "\n"
      "  --app WHICH        scatter; laplacian: V-cycles; ghosts: the exchanges of its levels\n"
      "                     alone                               [scatter]\n"
      "  --pattern LIST     of the scatter: stride, shuffle, next, halves [all]\n"
      "  --elements LIST    of the scatter: doubles of each rank, as 1K, 1K..64K*8 [4K]\n"
      "  --stencil LIST     star, box (7 and 27 points)         [both]\n"
      "  --points N         in each direction                   [100]\n"
      "  --levels N         of the multigrid                    [3]\n"
      "  --fields LIST      doubles of each point, side by side [1]\n"
      "  --arms LIST        ways to exchange (below)            [hand,stock]\n"
      "  --calls N          scatters, exchanges or V-cycles in each timed sample [1]\n"
      "  --reps N           timed samples of each arm           [7]\n"
      "  --warmup N         samples of each arm before a row    [1]\n"
      "  --seed N           of the patterns                     [1]\n"
      "  --idle-ms MS       let the link rest before each sample [20, or 0 without --rate]\n"
      "  --rate RATE        of a link; nothing but the default of --idle-ms depends on it\n"
      "                     [environment TESTBED_RATE, else none]\n"
      "  --tsv FILE         write the TSV lines there instead of to stdout\n"
      "  --progress         say on stderr which row is being measured\n"
      "\n";

static const char help_arms[]
    = "arms, each NAME or NAME:VARIABLE=VALUE:VARIABLE=VALUE\n"
      "  hand, persistent   packed by hand, a message a peer, parts unpacked as they come; with\n"
      "                     new or with persistent requests\n"
      "  handall, persistentall\n"
      "                     the same, unpacked when all are there\n"
      "  stock              derived types and MPI_Alltoallw of Open MPI without coll/pipering and\n"
      "                     coll/mleader and without look-ahead\n"
      "  baseline           the same with the paper's baseline: round robin, messages of no\n"
      "                     bytes too, look-ahead that searches again\n"
      "  ours               the same with coll/pipering's choice and two contexts of look-ahead\n"
      "  Each may end in digits (stock2). A VARIABLE is an MCA variable; coll_pipering_ may be\n"
      "  left out.\n";

static const char help_columns[]
    = "\nTSV columns: app what size fields p nodes arm reps calls min_s median_s to_hand to_stock\n"
      "residual checksum verified. what is the pattern or stencil, size the elements of each rank\n"
      "or the points in each direction. Times are of the slowest rank, for one call. to_hand\n"
      "(to_stock) is the median of time / time of the first arm by hand (stock) in the same\n"
      "repetition. residual (the largest) and checksum, of the solver after all calls of a\n"
      "sample, have the same bits for all arms and any p.\n";

static const char *const kinds[APP_KINDS] = {"scatter", "ghosts", "laplacian"};

static const char *const stencils[] = {"star", "box"};

void app_options_help(FILE *out)
{
    fputs(help_options, out);
    fputs(help_arms, out);
    fputs(help_columns, out);
}

const char *app_kind_name(app_kind_t kind)
{
    return kinds[kind];
}

const char *app_row_name(const app_row_t *row)
{
    return APP_SCATTER == row->kind ? app_scatter_name(row->pattern) : stencils[row->grid.box];
}

/* Numbers of the words of a list; how many, or -1. */
static int parse_words(const char *list, const char *const *words, int count, int *numbers)
{
    char copy[128];
    char *rest, *word;
    int found = 0, k;

    snprintf(copy, sizeof(copy), "%s", list);
    for (word = strtok_r(copy, ",", &rest); NULL != word; word = strtok_r(NULL, ",", &rest)) {
        for (k = 0; k < count && 0 != strcmp(word, words[k]); ++k) {
            continue;
        }
        if (count == k || MOST == found) {
            return -1;
        }
        numbers[found++] = k;
    }
    return 0 == found ? -1 : found;
}

static int parse_patterns(const app_options_t *options, int *numbers)
{
    const char *names[APP_PATTERNS];

    for (int i = 0; i < APP_PATTERNS; ++i) {
        names[i] = app_scatter_name((app_pattern_t) i);
    }
    return parse_words(options->patterns, names, APP_PATTERNS, numbers);
}

static int parse_sizes(const char *list, size_t *sizes)
{
    int count = agv_options_totals(list, sizes, MOST);

    return MOST < count ? -1 : count;
}

static int scatter_rows(const app_options_t *options, app_row_t *rows)
{
    size_t elements[MOST];
    int patterns[MOST];
    const int count = parse_sizes(options->elements, elements);
    const int all = count * parse_patterns(options, patterns);

    for (int i = 0; NULL != rows && i < all; ++i) {
        memset(&rows[i], 0, sizeof(rows[i]));
        rows[i].kind = APP_SCATTER;
        rows[i].size = elements[i % count];
        rows[i].pattern = (app_pattern_t) patterns[i / count];
        rows[i].seed = (uint64_t) options->seed;
    }
    return all;
}

static int grid_rows(const app_options_t *options, app_row_t *rows)
{
    const int levels = APP_GHOSTS == options->kind ? (int) options->levels : 1;
    size_t fields[MOST];
    int boxes[MOST];
    const int count = parse_sizes(options->fields, fields);
    const int all = count * levels * parse_words(options->stencils, stencils, 2, boxes);

    for (int i = 0; NULL != rows && i < all; ++i) {
        memset(&rows[i], 0, sizeof(rows[i]));
        rows[i].kind = options->kind;
        rows[i].grid.points = (int) options->points;
        rows[i].grid.levels = (int) options->levels;
        rows[i].grid.fields = (int) fields[i / levels % count];
        rows[i].grid.box = 1 == boxes[i / levels / count];
        rows[i].level = i % levels;
        rows[i].size = (size_t) (rows[i].grid.points >> rows[i].level);
    }
    return all;
}

int app_options_rows(const app_options_t *options, app_row_t *rows)
{
    return APP_SCATTER == options->kind ? scatter_rows(options, rows) : grid_rows(options, rows);
}

static bool check_lists(const app_options_t *options, char *error, size_t length)
{
    size_t sizes[MOST];
    int numbers[MOST];

    if (0 > parse_patterns(options, numbers)) {
        snprintf(error, length, "--pattern %s: of stride, shuffle, next, halves is meant",
                 options->patterns);
    } else if (0 > parse_words(options->stencils, stencils, 2, numbers)) {
        snprintf(error, length, "--stencil %s: of star, box is meant", options->stencils);
    } else if (0 > parse_sizes(options->elements, sizes)) {
        snprintf(error, length, "--elements %s: a list like 1K,4K..64K is meant",
                 options->elements);
    } else if (0 > parse_sizes(options->fields, sizes)) {
        snprintf(error, length, "--fields %s: a list like 1,3 is meant", options->fields);
    } else {
        return true;
    }
    return false;
}

static bool check(app_options_t *options, char *error, size_t length)
{
    int kind;

    if (1 != parse_words(options->app, kinds, APP_KINDS, &kind)) {
        snprintf(error, length, "--app %s: one of scatter, ghosts, laplacian is meant",
                 options->app);
        return false;
    }
    options->kind = (app_kind_t) kind;
    if (1024.0 < options->points || APP_LEVELS < options->levels) {
        snprintf(error, length, "at most 1024 --points and %d --levels are meant", APP_LEVELS);
        return false;
    }
    if (0.0 > options->idle) {
        options->idle = 0.0 < options->rate ? 20.0 : 0.0;
    }
    return check_lists(options, error, length);
}

static void defaults(app_options_t *options)
{
    const char *rate = getenv("TESTBED_RATE");

    memset(options, 0, sizeof(*options));
    options->app = "scatter";
    options->patterns = "stride,shuffle,next,halves";
    options->stencils = "star,box";
    options->elements = "4K";
    options->fields = "1";
    options->arms = "hand,stock";
    options->points = 100.0;
    options->levels = 3.0;
    options->calls = 1.0;
    options->reps = 7.0;
    options->warmup = 1.0;
    options->seed = 1.0;
    options->idle = -1.0;
    if (NULL != rate && 0.0 < agv_options_number(rate)) {
        options->rate = agv_options_number(rate);
    }
}

bool app_options_parse(app_options_t *options, int argc, char **argv, char *error, size_t length)
{
    const agv_option_t known[] = {{"--app", &options->app, NULL, 0.0, NULL},
                                  {"--pattern", &options->patterns, NULL, 0.0, NULL},
                                  {"--elements", &options->elements, NULL, 0.0, NULL},
                                  {"--stencil", &options->stencils, NULL, 0.0, NULL},
                                  {"--points", NULL, &options->points, 1.0, NULL},
                                  {"--levels", NULL, &options->levels, 1.0, NULL},
                                  {"--fields", &options->fields, NULL, 0.0, NULL},
                                  {"--arms", &options->arms, NULL, 0.0, NULL},
                                  {"--calls", NULL, &options->calls, 1.0, NULL},
                                  {"--reps", NULL, &options->reps, 1.0, NULL},
                                  {"--warmup", NULL, &options->warmup, 0.0, NULL},
                                  {"--seed", NULL, &options->seed, 0.0, NULL},
                                  {"--idle-ms", NULL, &options->idle, 0.0, NULL},
                                  {"--rate", NULL, &options->rate, 0.0, NULL},
                                  {"--tsv", &options->tsv, NULL, 0.0, NULL},
                                  {"--progress", NULL, NULL, 0.0, &options->progress},
                                  {"--help", NULL, NULL, 0.0, &options->help}};

    defaults(options);
    return agv_options_take(known, sizeof(known) / sizeof(known[0]), argc, argv, error, length)
           && check(options, error, length);
}
