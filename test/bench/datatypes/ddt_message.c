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
 * ddt: times messages of a layout between two ranks, from the begin of the send to the
 * arrival of an empty answer, and checks every byte of memory behind each.
 *
 *   sides    send: the sender has the layout, the receiver contiguous data; recv: the other
 *            way round; both
 *   methods  typed: with the datatype; hand: a loop packs before the send and another
 *            unpacks after the receive, where there is a layout; floor: contiguous data of
 *            the same size, without any packing
 *
 * The receive is posted before the send begins. Variables of the datatype engine are read
 * at start, so a job has one setting; methods take turns within it.
 */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "agv.h"
#include "ddt.h"

enum { TAG_GO, TAG_READY, TAG_DATA, TAG_DONE };
enum { SENDER, RECEIVER, RANKS };

typedef enum { TYPED, HAND, FLOOR, METHODS, STOP } method_t;
typedef enum { NOBODY, SEND, RECV, BOTH } side_t;

static const char *const method_name[METHODS] = {"typed", "hand", "floor"};
static const char *const side_name[] = {"nobody", "send", "recv", "both"};

typedef struct options_t {
    const char *layouts;
    const char *sides;
    const char *net;
    const char *arm;
    const char *tsv;
    int min_reps;
    int max_reps;
    double budget;
    bool progress;
} options_t;

typedef struct bench_t {
    options_t options;
    int rank;
    FILE *out;
    ddt_layout_t layout;
    unsigned char *memory;  /* of the layout */
    unsigned char *packed;
    unsigned char *scratch; /* of ddt_check */
    uint64_t seed;
    double *seconds[METHODS];
    int reps[METHODS];
    bool good[METHODS]; /* of the receiver */
} bench_t;

/* Does this rank have the layout in its memory? */
static bool is_typed(const bench_t *bench, side_t side)
{
    return 0 != (side & (SENDER == bench->rank ? SEND : RECV));
}

static double send_one(bench_t *bench, side_t side, method_t method)
{
    const ddt_layout_t *layout = &bench->layout;
    const bool typed = is_typed(bench, side) && FLOOR != method;
    int go[2] = {(int) method, (int) ++bench->seed};
    double start;

    ddt_fill(bench->packed, layout->bytes, bench->seed);
    if (typed) {
        ddt_unpack(layout, bench->memory, bench->packed);
        memset(bench->packed, 0, layout->bytes);
    }
    MPI_Send(go, 2, MPI_INT, RECEIVER, TAG_GO, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, RECEIVER, TAG_READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    start = MPI_Wtime();
    if (typed && TYPED == method) {
        MPI_Send(bench->memory, 1, layout->type, RECEIVER, TAG_DATA, MPI_COMM_WORLD);
    } else {
        if (typed) {
            ddt_pack(layout, bench->memory, bench->packed);
        }
        MPI_Send(bench->packed, (int) layout->bytes, MPI_PACKED, RECEIVER, TAG_DATA,
                 MPI_COMM_WORLD);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, RECEIVER, TAG_DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return MPI_Wtime() - start;
}

static bool check_packed(bench_t *bench)
{
    const size_t bytes = bench->layout.bytes;

    ddt_fill(bench->scratch, bytes, bench->seed);
    return 0 == memcmp(bench->packed, bench->scratch, bytes);
}

/* Receives one message; false: there are no more in this row. */
static bool receive_one(bench_t *bench, side_t side)
{
    const ddt_layout_t *layout = &bench->layout;
    MPI_Request request;
    bool typed;
    int go[2];

    MPI_Recv(go, 2, MPI_INT, SENDER, TAG_GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (STOP == (method_t) go[0]) {
        return false;
    }
    bench->seed = (uint64_t) go[1];
    typed = is_typed(bench, side) && FLOOR != (method_t) go[0];
    if (typed && TYPED == (method_t) go[0]) {
        MPI_Irecv(bench->memory, 1, layout->type, SENDER, TAG_DATA, MPI_COMM_WORLD, &request);
    } else {
        MPI_Irecv(bench->packed, (int) layout->bytes, MPI_PACKED, SENDER, TAG_DATA,
                  MPI_COMM_WORLD, &request);
    }
    MPI_Send(NULL, 0, MPI_BYTE, SENDER, TAG_READY, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (typed && HAND == (method_t) go[0]) {
        ddt_unpack(layout, bench->memory, bench->packed);
    }
    MPI_Send(NULL, 0, MPI_BYTE, SENDER, TAG_DONE, MPI_COMM_WORLD);
    if (!(typed ? ddt_check(layout, bench->memory, bench->scratch, bench->seed)
                : check_packed(bench))) {
        bench->good[go[0]] = false;
    }
    return true;
}

/* At least `min_reps` of a method, more as long as it has time. */
static bool wants_more(const bench_t *bench, method_t method, double spent)
{
    const options_t *options = &bench->options;
    const int reps = bench->reps[method];

    return reps < options->min_reps || (reps < options->max_reps && spent < options->budget);
}

/* The methods take turns, every second time in reverse. The first sample of each is a
 * warm-up, if it is not so dear that it counts. */
static void send_all(bench_t *bench, side_t side)
{
    double spent[METHODS] = {0.0};
    int stop[2] = {STOP, 0}, left = METHODS;

    for (int m = 0; m < METHODS; ++m) {
        bench->seconds[m][0] = send_one(bench, side, (method_t) m);
        bench->reps[m] = bench->seconds[m][0] < bench->options.budget ? 0 : 1;
    }
    for (int round = 0; 0 < left; ++round) {
        left = 0;
        for (int i = 0; i < METHODS; ++i) {
            const method_t m = (method_t) (0 == round % 2 ? i : METHODS - 1 - i);
            if (wants_more(bench, m, spent[m])) {
                const double start = MPI_Wtime();
                bench->seconds[m][bench->reps[m]++] = send_one(bench, side, m);
                spent[m] += MPI_Wtime() - start;
                ++left;
            }
        }
    }
    MPI_Send(stop, 2, MPI_INT, RECEIVER, TAG_GO, MPI_COMM_WORLD);
}

static void print_row(bench_t *bench, const char *side)
{
    for (int m = 0; m < METHODS; ++m) {
        const agv_result_t result = {.seconds = bench->seconds[m], .reps = bench->reps[m]};
        const agv_summary_t summary = agv_summarize(&result, NULL);

        fprintf(bench->out, "%s\t%s\t%s\t%zu\t%s\t%s\t%d\t%.9f\t%.9f\t%s\n", bench->options.net,
                bench->options.arm, bench->layout.name, bench->layout.bytes, side,
                method_name[m], bench->reps[m], summary.least, summary.median,
                bench->good[m] ? "yes" : "no");
    }
    fflush(bench->out);
}

static bool create_buffers(bench_t *bench)
{
    const size_t room = (bench->layout.bytes + 7) / 8 * 8;

    bench->memory = malloc(bench->layout.span);
    bench->packed = calloc(room, 1);
    bench->scratch = calloc(room, 2);
    if (NULL == bench->memory || NULL == bench->packed || NULL == bench->scratch) {
        return false;
    }
    memset(bench->memory, DDT_POISON, bench->layout.span);
    return true;
}

static void free_buffers(bench_t *bench)
{
    free(bench->memory);
    free(bench->packed);
    free(bench->scratch);
}

static side_t side_of(const char *name)
{
    side_t side = BOTH;

    while (NOBODY != side && 0 != strcmp(name, side_name[side])) {
        --side;
    }
    return side;
}

static void run_row(bench_t *bench, side_t side)
{
    for (int m = 0; m < METHODS; ++m) {
        bench->good[m] = true;
    }
    if (SENDER == bench->rank) {
        if (bench->options.progress) {
            fprintf(stderr, "[%s/%s] %s, %s\n", bench->options.net, bench->options.arm,
                    bench->layout.name, side_name[side]);
        }
        send_all(bench, side);
    } else {
        while (receive_one(bench, side)) {
            continue;
        }
    }
    MPI_Bcast(bench->good, sizeof(bench->good), MPI_BYTE, RECEIVER, MPI_COMM_WORLD);
    if (SENDER == bench->rank) {
        print_row(bench, side_name[side]);
    }
}

/* What is done with each word of a list; false: the word cannot be used. */
typedef bool word_t(bench_t *bench, const char *word);

static bool each_word(bench_t *bench, const char *list, word_t *use, char *error, size_t length)
{
    char *copy = strdup(list), *rest, *word;
    bool good = true;

    for (word = strtok_r(copy, ",", &rest); good && NULL != word;
         word = strtok_r(NULL, ",", &rest)) {
        good = use(bench, word);
        if (!good) {
            snprintf(error, length, "there is no %s, or no memory for it; see --help", word);
        }
    }
    free(copy);
    return good;
}

static bool check_layout(bench_t *bench, const char *word)
{
    const bool good = ddt_layout_create(&bench->layout, word);

    if (good) {
        ddt_layout_free(&bench->layout);
    }
    return good;
}

static bool check_side(bench_t *bench, const char *word)
{
    (void) bench;
    return NOBODY != side_of(word);
}

static bool run_side(bench_t *bench, const char *word)
{
    run_row(bench, side_of(word));
    return true;
}

static bool run_layout(bench_t *bench, const char *word)
{
    bool good = ddt_layout_create(&bench->layout, word);

    if (good) {
        good = create_buffers(bench)
               && each_word(bench, bench->options.sides, run_side, NULL, 0);
        free_buffers(bench);
        ddt_layout_free(&bench->layout);
    }
    return good;
}

static const struct option known[] = {{"layouts", 1, NULL, 'l'}, {"sides", 1, NULL, 's'},
                                      {"net", 1, NULL, 'n'},     {"arm", 1, NULL, 'a'},
                                      {"tsv", 1, NULL, 't'},     {"min-reps", 1, NULL, 'r'},
                                      {"max-reps", 1, NULL, 'R'}, {"budget", 1, NULL, 'b'},
                                      {"progress", 0, NULL, 'p'}, {"help", 0, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static void help(FILE *out)
{
    fputs("usage: mpirun -np 2 ... ddt --layouts LIST [OPTION]...\n"
          "Times messages of a layout between two ranks, checks them, writes TSV lines: net\n"
          "arm layout bytes side method reps min_s median_s verified.\n\n"
          "  --layouts LIST   layouts (below)\n"
          "  --sides LIST     who has the layout: of send, recv, both [both]\n"
          "  --min-reps N     samples of each method at least [3]\n"
          "  --max-reps N     ... and at most [50]\n"
          "  --budget S       seconds for the samples of a method beyond the least [0.5]\n"
          "  --net, --arm     words for the first columns [-]\n"
          "  --tsv FILE       write there instead of to stdout\n"
          "  --progress       say on stderr what is measured\n\n"
          "layouts:\n", out);
    ddt_layout_names(out);
}

/* 1: go on, 0: help was wanted, -1: wrong. */
static int parse(options_t *options, int argc, char **argv, char *error, size_t length)
{
    int letter;

    *options = (options_t){.layouts = "", .sides = "both", .net = "-", .arm = "-",
                           .min_reps = 3, .max_reps = 50, .budget = 0.5};
    opterr = 0;
    while (-1 != (letter = getopt_long(argc, argv, "", known, NULL))) {
        switch (letter) {
        case 'l': options->layouts = optarg; break;
        case 's': options->sides = optarg; break;
        case 'n': options->net = optarg; break;
        case 'a': options->arm = optarg; break;
        case 't': options->tsv = optarg; break;
        case 'r': options->min_reps = (int) agv_options_number(optarg); break;
        case 'R': options->max_reps = (int) agv_options_number(optarg); break;
        case 'b': options->budget = agv_options_number(optarg); break;
        case 'p': options->progress = true; break;
        case 'h': return 0;
        default:
            snprintf(error, length, "%s: no such option, see --help", argv[optind - 1]);
            return -1;
        }
    }
    if ('\0' == *options->layouts || 1 > options->min_reps || 0.0 > options->budget
        || options->min_reps > options->max_reps || 100000 < options->max_reps) {
        snprintf(error, length, "layouts and numbers that make sense are wanted, see --help");
        return -1;
    }
    return 1;
}

static int run(bench_t *bench, char *error, size_t length)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (RANKS != size) {
        snprintf(error, length, "two ranks are meant");
        return 2;
    }
    if (!each_word(bench, bench->options.layouts, check_layout, error, length)
        || !each_word(bench, bench->options.sides, check_side, error, length)) {
        return 2;
    }
    bench->out = NULL == bench->options.tsv || SENDER != bench->rank
                     ? stdout : fopen(bench->options.tsv, "w");
    if (NULL == bench->out) {
        fprintf(stderr, "ddt: --tsv %s: the file cannot be written\n", bench->options.tsv);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int m = 0; m < METHODS; ++m) {
        bench->seconds[m] = calloc((size_t) bench->options.max_reps, sizeof(double));
    }
    if (!each_word(bench, bench->options.layouts, run_layout, error, length)) {
        fprintf(stderr, "ddt: %s\n", error);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int m = 0; m < METHODS; ++m) {
        free(bench->seconds[m]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static bench_t bench;
    char error[256] = "";
    int code;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &bench.rank);
    code = parse(&bench.options, argc, argv, error, sizeof(error));
    if (0 == code && 0 == bench.rank) {
        help(stdout);
    }
    code = 0 > code ? 2 : 0 == code ? 0 : run(&bench, error, sizeof(error));
    if ('\0' != *error) {
        code = agv_refuse("ddt", bench.rank, error);
    }
    MPI_Finalize();
    /* all ranks agree, and mpirun of Open MPI 5.0.7 may crash when several say so */
    return 0 == bench.rank ? code : 0;
}
