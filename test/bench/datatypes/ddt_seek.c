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
 * ddt_seek: one convertor packs or unpacks the fragments of a message in some order, as a
 * PML does whose fragments overtake each other, and what that costs is told apart: the
 * search for places, which opal_convertor_set_position() does, and moving data. Time, and
 * entries of the datatype's description visited in searches, a number that does not vary.
 *
 *   in        0 1 2 3 4 5 6 7
 *   swapped   1 0 3 2 5 4 7 6
 *   rails2    0 2 4 1 6 3 ..    rail r has fragments r, r + 2, ..., and is late by r * 4
 *   rails4    the same with four rails
 *   reverse   7 6 5 4 3 2 1 0
 *   random    any
 *
 * That is the receiver, side recv. A sender, side send, packs in order, and looks ahead
 * before each fragment as btl/tcp does, if the engine has a look-ahead: that is search, too.
 * Segments that it would send as they are cost no packing. Side self is all of a message, by
 * MPI_Sendrecv of contiguous data from the layout: for counting instructions.
 *
 * Open MPI's engine does not count visits. They show in the convertor's stack, before and
 * after a search, as long as the description has no loops: a search backward begins with
 * the first entry. opal/datatype-lookahead counts its own; its index is a visit of all.
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
#    define HAS_LOOKAHEAD 1
#else
#    define HAS_LOOKAHEAD 0
#endif

#if __has_include(<valgrind/callgrind.h>)
#    include <valgrind/callgrind.h>
#else
#    define CALLGRIND_ZERO_STATS
#    define CALLGRIND_DUMP_STATS_AT(text) (void) (text)
#endif

#include "bench.h"
#include "ddt.h"

#define LAG 4 /* fragments */
#define SEGMENTS 15 /* of a BTL's descriptor, besides the header */

static struct {
    const char *layouts;
    const char *orders;
    const char *sides;
    const char *engine;
    const char *tsv;
    double fragment;
    double reps;
    bool help;

    char *layout[BENCH_MAX_WORDS], *order[BENCH_MAX_WORDS];
    int side[BENCH_MAX_WORDS]; /* places in side_names */
    int layout_count, order_count, side_count;
} options = {.layouts = "", .sides = "recv", .orders = "in", .engine = "-", .fragment = 32768.0,
             .reps = 3.0};

static const char *const side_names[] = {"send", "recv", "self"};

/** What the fragments of a message have cost. */
typedef struct cost_t {
    double search; /* seconds */
    double move;
    size_t visits;
} cost_t;

typedef struct seek_t {
    size_t fragment; /* bytes */
    FILE *out;
    bool seeks; /* by second contexts, not like Open MPI's own engine */
    ddt_layout_t layout;
    const opal_datatype_t *type;
    unsigned char *memory;
    unsigned char *packed;
    unsigned char *scratch;
    const char *side;
    const char *order_name;
    size_t *order;          /* fragments, by their arrival */
    size_t fragments;
    uint64_t seed;
    bool good;
} seek_t;

/* ---- orders */

static void order_rails(size_t *order, size_t fragments, size_t rails)
{
    size_t count = 0;

    for (size_t time = 0; count < fragments; ++time) {
        for (size_t rail = 0; rail < rails; ++rail) {
            const size_t fragment = (time - rail * LAG) * rails + rail;
            if (rail * LAG <= time && fragment < fragments) {
                order[count++] = fragment;
            }
        }
    }
}

static void order_random(size_t *order, size_t fragments)
{
    uint32_t state = 7;

    for (size_t i = fragments - 1; 0 < i; --i) {
        const size_t k = (ddt_random(&state) << 16 | ddt_random(&state)) % (i + 1);
        const size_t fragment = order[i];
        order[i] = order[k];
        order[k] = fragment;
    }
}

static bool make_order(seek_t *bench)
{
    const char *name = bench->order_name;
    const size_t n = bench->fragments;
    const bool reverse = 0 == strcmp(name, "reverse");

    for (size_t i = 0; i < n; ++i) {
        bench->order[i] = reverse ? n - 1 - i : i;
    }
    if (0 == strcmp(name, "swapped")) {
        for (size_t i = 0; i + 1 < n; i += 2) {
            bench->order[i] = i + 1;
            bench->order[i + 1] = i;
        }
    } else if (0 == strcmp(name, "rails2") || 0 == strcmp(name, "rails4")) {
        order_rails(bench->order, n, (size_t) (name[5] - '0'));
    } else if (0 == strcmp(name, "random")) {
        order_random(bench->order, n);
    } else {
        return reverse || 0 == strcmp(name, "in");
    }
    return true;
}

/* ---- visits */

static size_t top_entry(const opal_convertor_t *convertor)
{
    return (size_t) convertor->pStack[convertor->stack_pos].index;
}

/* Only a description without loops is walked entry by entry. */
static bool is_flat(const opal_datatype_t *type)
{
    for (size_t i = 0; i < type->opt_desc.used; ++i) {
        if (OPAL_DATATYPE_LOOP == type->opt_desc.desc[i].elem.common.type) {
            return false;
        }
    }
    return true;
}

/* Sets the position; what Open MPI's engine visited, judging by the stack. */
static size_t seek(opal_convertor_t *convertor, size_t position)
{
    const bool there = position == convertor->bConverted;
    const bool back = 0 == position || position < convertor->bConverted;
    const size_t begin = back || there ? 0 : top_entry(convertor);

    opal_convertor_set_position(convertor, &position);
    return there || 0 == position ? 0 : top_entry(convertor) - begin + 1;
}

/* ---- fragments */

static void prepare(const seek_t *bench, bool send, opal_convertor_t *convertor)
{
    if (send) {
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

static void unpack_fragment(const seek_t *bench, opal_convertor_t *convertor, size_t position)
{
    struct iovec iov = {.iov_base = bench->packed + position,
                        .iov_len = size_of_fragment(bench, position)};
    size_t bytes = iov.iov_len;
    uint32_t count = 1;

    opal_convertor_unpack(convertor, &iov, &count, &bytes);
}

static size_t pack_fragment(const seek_t *bench, opal_convertor_t *convertor, size_t position)
{
    struct iovec iov = {.iov_base = bench->packed + position,
                        .iov_len = size_of_fragment(bench, position)};
    size_t bytes = iov.iov_len;
    uint32_t count = 1;

    opal_convertor_pack(convertor, &iov, &count, &bytes);
    return bytes;
}

#if HAS_LOOKAHEAD
#    define take_segments opal_convertor_take_segments

static size_t counted_visits(const seek_t *bench)
{
    return bench->type->seek_seen + (0 != bench->type->seek_index ? bench->type->opt_desc.used : 0);
}
#else
static bool take_segments(opal_convertor_t *convertor, struct iovec *iov, uint32_t *count,
                          size_t most, size_t *bytes)
{
    (void) convertor, (void) iov, (void) count, (void) most, (void) bytes;
    return false;
}

static size_t counted_visits(const seek_t *bench)
{
    (void) bench;
    return 0;
}
#endif

/* Segments to be sent as they are; 0 bytes: to be packed. */
static size_t look_ahead(const seek_t *bench, opal_convertor_t *convertor, size_t position,
                         struct iovec *iov, uint32_t *count)
{
    size_t bytes = 0;

    *count = SEGMENTS;
    if (0 == opal_convertor_need_buffers(convertor)) {
        return 0;
    }
    return take_segments(convertor, iov, count, size_of_fragment(bench, position), &bytes)
               ? bytes : 0;
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
            bytes = pack_fragment(bench, convertor, position);
            cost->move += MPI_Wtime() - found;
        }
        if (0 == bytes) {
            break; /* the check will tell */
        }
    }
}

static void receive_fragments(const seek_t *bench, opal_convertor_t *convertor, cost_t *cost)
{
    for (size_t i = 0; i < bench->fragments; ++i) {
        const size_t position = bench->order[i] * bench->fragment;
        const double start = MPI_Wtime();
        double found;

        cost->visits += seek(convertor, position);
        found = MPI_Wtime();
        unpack_fragment(bench, convertor, position);
        cost->search += found - start;
        cost->move += MPI_Wtime() - found;
    }
}

static cost_t move_message(const seek_t *bench, bool send)
{
    cost_t cost = {0.0, 0.0, 0};
    opal_convertor_t convertor;

    OBJ_CONSTRUCT(&convertor, opal_convertor_t);
    prepare(bench, send, &convertor);
    if (send) {
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
    return (cost_t){0.0, MPI_Wtime() - start, 0};
}

static bool check(seek_t *bench, bool send)
{
    if (!send) {
        return ddt_check(&bench->layout, bench->memory, bench->scratch, bench->seed);
    }
    ddt_fill(bench->scratch, bench->layout.bytes, bench->seed);
    return 0 == memcmp(bench->packed, bench->scratch, bench->layout.bytes);
}

/* The message as it is before it is moved. */
static void fill(seek_t *bench, bool send)
{
    ddt_fill(bench->packed, bench->layout.bytes, ++bench->seed);
    if (send) {
        ddt_unpack(&bench->layout, bench->memory, bench->packed);
        memset(bench->packed, 0, bench->layout.bytes);
    } else {
        memset(bench->memory, DDT_POISON, bench->layout.span);
    }
}

/* ---- rows */

static void print_row(const seek_t *bench, const cost_t *cost, bool good)
{
    char visits[32] = "-";

    if (bench->seeks || is_flat(bench->type)) {
        snprintf(visits, sizeof(visits), "%zu", cost->visits);
    }
    fprintf(bench->out, "%s\t%s\t%zu\t%zu\t%zu\t%s\t%s\t%s\t%.9f\t%.9f\t%s\n",
            options.engine, bench->layout.name, bench->layout.bytes,
            bench->type->opt_desc.used, bench->fragment, bench->side,
            bench->order_name, visits, cost->search, cost->move, good ? "yes" : "no");
    fflush(bench->out);
}

/* The least of search and of moving; visits of the first message, which is the dearest:
 * an index of the datatype is made once. */
static bool run_row(seek_t *bench)
{
    const bool self = 0 == strcmp(bench->side, "self");
    const bool send = self || 0 == strcmp(bench->side, "send");
    char label[256];
    cost_t best = {0.0, 0.0, 0};
    bool good = true;

    snprintf(label, sizeof(label), "%s %s %s", bench->layout.name, bench->side,
             bench->order_name);
    for (int i = 0; i < options.reps; ++i) {
        size_t counted;
        cost_t cost;

        fill(bench, send);
        counted = counted_visits(bench);
        CALLGRIND_ZERO_STATS;
        cost = self ? send_self(bench) : move_message(bench, send);
        CALLGRIND_DUMP_STATS_AT(label);
        if (bench->seeks) {
            cost.visits = counted_visits(bench) - counted;
        }
        good = check(bench, send) && good;
        if (0 == i) {
            best = cost;
        }
        best.search = cost.search < best.search ? cost.search : best.search;
        best.move = cost.move < best.move ? cost.move : best.move;
    }
    print_row(bench, &best, good);
    return good;
}

static bool create_buffers(seek_t *bench)
{
    const size_t room = (bench->layout.bytes + 7) / 8 * 8;

    bench->order = malloc(bench->fragments * sizeof(*bench->order));
    bench->memory = calloc(bench->layout.span, 1);
    bench->packed = calloc(room, 1);
    bench->scratch = calloc(room, 2);
    return NULL != bench->order && NULL != bench->memory && NULL != bench->packed
           && NULL != bench->scratch;
}

static void free_buffers(seek_t *bench)
{
    free(bench->order);
    free(bench->memory);
    free(bench->packed);
    free(bench->scratch);
}

/* A datatype of its own for each row, so that none finds what another has left. */
static bool run_layout(seek_t *bench, const char *name)
{
    bool good;

    if (!ddt_layout_create(&bench->layout, name)) {
        return false;
    }
    bench->type = &((ompi_datatype_t *) bench->layout.type)->super;
    bench->fragments = (bench->layout.bytes + bench->fragment - 1) / bench->fragment;
    good = create_buffers(bench) && make_order(bench);
    if (good) {
        bench->good = run_row(bench) && bench->good;
    }
    free_buffers(bench);
    ddt_layout_free(&bench->layout);
    return good;
}

/* All orders, and in each all layouts; false: a name cannot be used. */
static bool run_side(seek_t *bench, const char *side)
{
    static const char *const in_order[] = {"in"};
    const bool recv = 0 == strcmp(side, "recv");
    const char *const *orders = recv ? (const char *const *) options.order : in_order;
    const int order_count = recv ? options.order_count : 1;

    bench->side = side;
    for (int i = 0; i < order_count * options.layout_count; ++i) {
        const char *layout = options.layout[i % options.layout_count];

        bench->order_name = orders[i / options.layout_count];
        if (!run_layout(bench, layout)) {
            fprintf(stderr, "ddt_seek: there is no layout %s or order %s, or no memory for it\n",
                    layout, bench->order_name);
            return false;
        }
    }
    return true;
}

/* ---- the command line */

static void help(void)
{
    fputs("usage: mpirun -np 1 ... ddt_seek --layouts LIST [OPTION]...\n"
          "Moves fragments in some order by one convertor, checks them, writes TSV lines: engine\n"
          "layout bytes entries fragment side order visits search_s move_s verified.\n\n"
          "  --layouts LIST   layouts (below)\n"
          "  --sides LIST     send: pack, always in order; recv: unpack;\n"
          "                   self: a message to itself, in order, too [recv]\n"
          "  --orders LIST    of in, swapped, rails2, rails4, reverse, random [in]\n"
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
                                         {"--orders", &options.orders, NULL, 0.0, NULL},
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
    options.order_count = bench_words(options.orders, options.order);
    options.side_count = bench_choices(options.sides, side_names, 3, options.side);
    snprintf(error, BENCH_ERROR_LENGTH, "expected layouts, sides, orders and fragments of a "
                                        "multiple of 8 bytes, see --help");
    return options.help || (0 < options.layout_count && 0 < options.order_count
                            && 0 < options.side_count && 0 == (size_t) options.fragment % 8);
}

static int run(seek_t *bench)
{
    bool good = true;

    bench->out = NULL == options.tsv ? stdout : fopen(options.tsv, "w");
    if (NULL == bench->out) {
        fprintf(stderr, "ddt_seek: --tsv %s: the file cannot be written\n", options.tsv);
        return 2;
    }
    fputs("#engine\tlayout\tbytes\tentries\tfragment\tside\torder\tvisits\tsearch_s\tmove_s\t"
          "verified\n", bench->out);
    bench->fragment = (size_t) options.fragment;
    bench->good = true;
#if HAS_LOOKAHEAD
    bench->seeks = OPAL_DATATYPE_LOOKAHEAD_DUAL == opal_datatype_lookahead;
#endif
    for (int i = 0; good && i < options.side_count; ++i) {
        good = run_side(bench, side_names[options.side[i]]);
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
