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
 * ddt_seek: one convertor packs or unpacks the fragments of a message in order, and what that
 * costs is told apart: the search for places and moving data.
 *
 *   recv   unpacks; opal_convertor_set_position() searches
 *   send   packs, and looks ahead before each fragment as btl/tcp does, if the engine has a
 *          look-ahead: that is search, too. Segments that it would send as they are cost no packing
 *   self   all of a message, by MPI_Sendrecv of contiguous data from the layout
 *
 * Under valgrind's callgrind each row is a dump of its own, of the convertor's functions.
 */

#include "opal_config.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/datatype/opal_datatype_internal.h"

#if __has_include("opal/datatype/opal_convertor_lookahead.h")
#    include "opal/datatype/opal_convertor_lookahead.h"
#else
#    define opal_convertor_take_segments(convertor, iov, count, most, bytes) ((void) (most), false)
#endif

#if __has_include(<valgrind/callgrind.h>)
#    include <valgrind/callgrind.h>
#else
#    define CALLGRIND_ZERO_STATS
#    define CALLGRIND_DUMP_STATS_AT(text) (void) (text)
#endif

#include "bench.h"
#include "ddt.h"

#define SEGMENTS 15 /* of a BTL's descriptor, besides the header */

enum { SEND, RECV, SELF, SIDES };

static const char *const side_names[SIDES] = {"send", "recv", "self"};

static struct {
    const char *layouts;
    const char *sides;
    const char *engine;
    const char *tsv;
    double fragment;
    double reps;
    bool help;

    char *layout[BENCH_MAX_WORDS];
    int side[BENCH_MAX_WORDS]; /* places in side_names */
    int layout_count, side_count;
} options = {.layouts = "", .sides = "recv", .engine = "-", .fragment = 32768.0, .reps = 3.0};

/** Seconds that the fragments of a message have cost. */
typedef struct cost_t {
    double search;
    double move;
} cost_t;

typedef struct seek_t {
    size_t fragment; /* bytes */
    FILE *out;
    ddt_layout_t layout;
    const opal_datatype_t *type;
    unsigned char *memory;
    unsigned char *packed;
    unsigned char *scratch;
    int side;
    uint64_t seed;
    bool good;
} seek_t;

/* ---- fragments */

static void prepare(const seek_t *bench, opal_convertor_t *convertor)
{
    if (SEND == bench->side) {
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, bench->type, 1,
                                                 bench->memory, 0, convertor);
    } else {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, bench->type, 1,
                                                 bench->memory, 0, convertor);
    }
}

static size_t size_of_fragment(const seek_t *bench, size_t position)
{
    const size_t left = bench->layout.bytes - position;

    return left < bench->fragment ? left : bench->fragment;
}

/* Packs or unpacks a fragment; its bytes. */
static size_t move_fragment(const seek_t *bench, opal_convertor_t *convertor, size_t position)
{
    struct iovec iov = {.iov_base = bench->packed + position,
                        .iov_len = size_of_fragment(bench, position)};
    size_t bytes = iov.iov_len;
    uint32_t count = 1;

    if (SEND == bench->side) {
        opal_convertor_pack(convertor, &iov, &count, &bytes);
    } else {
        opal_convertor_unpack(convertor, &iov, &count, &bytes);
    }
    return bytes;
}

/* Segments to be sent as they are; 0 bytes: to be packed. */
static size_t look_ahead(const seek_t *bench, opal_convertor_t *convertor, size_t position,
                         struct iovec *iov, uint32_t *count)
{
    const size_t most = size_of_fragment(bench, position);
    size_t bytes = 0;

    *count = SEGMENTS;
    if (0 == opal_convertor_need_buffers(convertor)
        || !opal_convertor_take_segments(convertor, iov, count, most, &bytes)) {
        return 0;
    }
    return bytes;
}

/* As the network would take them; for the check. */
static void copy_segments(unsigned char *packed, const struct iovec *iov, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        memcpy(packed, iov[i].iov_base, iov[i].iov_len);
        packed += iov[i].iov_len;
    }
}

static void send_fragments(const seek_t *bench, opal_convertor_t *convertor, cost_t *cost)
{
    struct iovec iov[SEGMENTS];
    size_t position = 0, bytes;
    uint32_t count;

    for (; position < bench->layout.bytes; position += bytes) {
        const double start = MPI_Wtime();
        double found;

        bytes = look_ahead(bench, convertor, position, iov, &count);
        found = MPI_Wtime();
        cost->search += found - start;
        if (0 < bytes) {
            copy_segments(bench->packed + position, iov, count);
        } else {
            bytes = move_fragment(bench, convertor, position);
            cost->move += MPI_Wtime() - found;
        }
        if (0 == bytes) {
            break; /* the check will tell */
        }
    }
}

static void receive_fragments(const seek_t *bench, opal_convertor_t *convertor, cost_t *cost)
{
    for (size_t position = 0; position < bench->layout.bytes; position += bench->fragment) {
        const double start = MPI_Wtime();
        size_t place = position;
        double found;

        opal_convertor_set_position(convertor, &place);
        found = MPI_Wtime();
        move_fragment(bench, convertor, position);
        cost->search += found - start;
        cost->move += MPI_Wtime() - found;
    }
}

static cost_t move_message(const seek_t *bench)
{
    cost_t cost = {0.0, 0.0};
    opal_convertor_t convertor;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    prepare(bench, &convertor);
    if (SEND == bench->side) {
        send_fragments(bench, &convertor, &cost);
    } else {
        receive_fragments(bench, &convertor, &cost);
    }
    opal_convertor_cleanup(&convertor);
    OBJ_DESTRUCT(&convertor);
    return cost;
}

static cost_t send_self(const seek_t *bench)
{
    const double start = MPI_Wtime();

    MPI_Sendrecv(bench->memory, 1, bench->layout.type, 0, 0, bench->packed,
                 (int) bench->layout.bytes, MPI_PACKED, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return (cost_t){0.0, MPI_Wtime() - start};
}

static bool check(seek_t *bench)
{
    if (RECV == bench->side) {
        return ddt_check(&bench->layout, bench->memory, bench->scratch, bench->seed);
    }
    ddt_fill(bench->scratch, bench->layout.bytes, bench->seed);
    return 0 == memcmp(bench->packed, bench->scratch, bench->layout.bytes);
}

/* The message as it is before it is moved. */
static void fill(seek_t *bench)
{
    ddt_fill(bench->packed, bench->layout.bytes, ++bench->seed);
    if (RECV == bench->side) {
        memset(bench->memory, DDT_POISON, bench->layout.span);
    } else {
        ddt_unpack(&bench->layout, bench->memory, bench->packed);
        memset(bench->packed, 0, bench->layout.bytes);
    }
}

/* ---- rows */

/* The least of search and of moving. */
static void run_row(seek_t *bench)
{
    char label[256];
    cost_t best = {1e9, 1e9};
    bool good = true;

    snprintf(label, sizeof(label), "%s %s", bench->layout.name, side_names[bench->side]);
    for (int i = 0; i < options.reps; ++i) {
        cost_t cost;

        fill(bench);
        CALLGRIND_ZERO_STATS;
        cost = SELF == bench->side ? send_self(bench) : move_message(bench);
        CALLGRIND_DUMP_STATS_AT(label);
        good = check(bench) && good;
        best.search = cost.search < best.search ? cost.search : best.search;
        best.move = cost.move < best.move ? cost.move : best.move;
    }
    fprintf(bench->out, "%s\t%s\t%zu\t%zu\t%s\t%.9f\t%.9f\t%s\n", options.engine,
            bench->layout.name, bench->layout.bytes, bench->fragment, side_names[bench->side],
            best.search, best.move, good ? "yes" : "no");
    fflush(bench->out);
    bench->good = good && bench->good;
}

/* A datatype of its own for each row, so that none finds what another has left. */
static bool run_layout(seek_t *bench, const char *name)
{
    bool created = ddt_layout_create(&bench->layout, name);

    if (created) {
        const size_t room = (bench->layout.bytes + 7) / 8 * 8;

        bench->type = &((ompi_datatype_t *) bench->layout.type)->super;
        bench->memory = calloc(bench->layout.span, 1);
        bench->packed = calloc(room, 1);
        bench->scratch = calloc(room, 2);
        created = NULL != bench->memory && NULL != bench->packed && NULL != bench->scratch;
        if (created) {
            run_row(bench);
        }
        free(bench->memory);
        free(bench->packed);
        free(bench->scratch);
        ddt_layout_free(&bench->layout);
    }
    if (!created) {
        fprintf(stderr, "ddt_seek: there is no layout %s, or no memory for it\n", name);
    }
    return created;
}

/* ---- the command line */

static void help(void)
{
    fputs("usage: mpirun -np 1 ... ddt_seek --layouts LIST [OPTION]...\n"
          "Moves fragments by one convertor, checks them, writes TSV lines: engine layout bytes\n"
          "fragment side search_s move_s verified.\n\n"
          "  --layouts LIST   layouts (below)\n"
          "  --sides LIST     send: pack; recv: unpack; self: a message to itself [recv]\n"
          "  --fragment BYTES of a fragment, a multiple of 8 [32K]\n"
          "  --reps N         messages of each; times are the least [3]\n"
          "  --engine NAME    word for the first column [-]\n"
          "  --tsv FILE       write there instead of to stdout\n\n"
          "layouts:\n", stdout);
    ddt_layout_names(stdout);
}

static bool parse(int argc, char **argv, char *error)
{
    static const bench_option_t own[] = {{"--layouts", &options.layouts, NULL, 0.0, NULL},
                                         {"--sides", &options.sides, NULL, 0.0, NULL},
                                         {"--engine", &options.engine, NULL, 0.0, NULL},
                                         {"--tsv", &options.tsv, NULL, 0.0, NULL},
                                         {"--fragment", NULL, &options.fragment, 8.0, NULL},
                                         {"--reps", NULL, &options.reps, 1.0, NULL},
                                         {"--help", NULL, NULL, 0.0, &options.help},
                                         {NULL, NULL, NULL, 0.0, NULL}};
    static const bench_option_t *const known[] = {own, NULL};

    if (!bench_options_take(known, argc, argv, error)) {
        return false;
    }
    options.layout_count = bench_words(options.layouts, options.layout);
    options.side_count = bench_choices(options.sides, side_names, SIDES, options.side);
    snprintf(error, BENCH_ERROR_LENGTH, "expected layouts, sides, and fragments of a multiple of 8 "
                                        "bytes, see --help");
    return options.help || (0 < options.layout_count && 0 < options.side_count
                            && 0 == (size_t) options.fragment % 8);
}

static int run(seek_t *bench)
{
    bool good = true;

    bench->out = NULL == options.tsv ? stdout : fopen(options.tsv, "w");
    if (NULL == bench->out) {
        fprintf(stderr, "ddt_seek: --tsv %s: the file cannot be written\n", options.tsv);
        return 2;
    }
    fputs("#engine\tlayout\tbytes\tfragment\tside\tsearch_s\tmove_s\tverified\n", bench->out);
    bench->fragment = (size_t) options.fragment;
    bench->good = true;
    for (int i = 0; good && i < options.side_count * options.layout_count; ++i) {
        bench->side = options.side[i / options.layout_count];
        good = run_layout(bench, options.layout[i % options.layout_count]);
    }
    fclose(bench->out);
    return !good ? 2 : bench->good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static seek_t bench;
    char error[BENCH_ERROR_LENGTH];
    int code = 0;

    MPI_Init(&argc, &argv);
    if (!parse(argc, argv, error)) {
        code = bench_refuse("ddt_seek", 0, error);
    } else if (options.help) {
        help();
    } else {
        code = run(&bench);
    }
    MPI_Finalize();
    return code;
}
