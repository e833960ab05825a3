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
 * arrival of an empty answer, with the harness of bench.h, and checks every byte of memory
 * behind each.
 *
 *   sides    send: the sender has the layout, the receiver contiguous data; recv: the other
 *            way round; both
 *   arms     typed: with the datatype; hand: a loop packs before the send and another
 *            unpacks after the receive, where there is a layout; floor: contiguous data of
 *            the same size, without any packing
 *
 * One rank alone:
 *
 *   convertor  one convertor packs (send) or unpacks (recv), fragment by fragment
 *   self       a message to itself, from the layout to contiguous data
 *
 * The receive is posted before the send begins. Variables of the datatype engine are read
 * at start, so a job has one setting. Under valgrind's callgrind each call of a rank alone is a
 * dump of its own.
 */

#include <stdlib.h>
#include <string.h>

#if __has_include(<valgrind/callgrind.h>)
#    include <valgrind/callgrind.h>
#else
#    define CALLGRIND_ZERO_STATS
#    define CALLGRIND_DUMP_STATS_AT(text) (void) (text)
#endif

#include "bench.h"
#include "ddt.h"

enum { TAG_DATA, TAG_DONE };
enum { SENDER, RECEIVER, RANKS };

typedef enum { TYPED, HAND, FLOOR, CONVERTOR, SELF } method_t;

/* Bits: who has the layout. */
enum { SEND = 1, RECV = 2, SIDES = 3 };
static const char *const side_names[SIDES] = {"send", "recv", "both"};

static struct {
    /* options */
    const char *layout_list;
    const char *side_list;
    const char *net;
    const char *engine;
    double fragment;

    char *layouts[BENCH_MAX_WORDS];
    int sides[BENCH_MAX_WORDS]; /* places among the names */
    int side_count;
    int rank;
    ddt_layout_t layout;    /* of the row at hand */
    int side;
    unsigned char *memory;  /* of the layout */
    unsigned char *packed;
    unsigned char *scratch; /* of ddt_check */
    uint64_t seed;
    bool typed;             /* this rank has the layout in its memory for this message */
    MPI_Request request;
    ddt_cost_t cost[BENCH_MAX_ARMS]; /* the least of search and of moving */
} ddt = {.layout_list = "", .side_list = "both", .net = "-", .engine = "-", .fragment = 32768.0};

/* ---- the command line */

static const char own_options[]
    = "  --layouts LIST     layouts (below)\n"
      "  --sides LIST       who has the layout: of send, recv, both [both]\n"
      "  --net, --engine    words for the columns of these names [-]\n"
      "  --fragment BYTES   of a convertor, a multiple of 8     [32K]\n";

static const char arms[]
    = "  typed              with the datatype\n"
      "  hand               packed and unpacked by a loop\n"
      "  floor              contiguous data of the same size\n"
      "  convertor, self    of one rank alone: fragments by one convertor; a message to itself\n";

static const bench_kind_t kinds[] = {{"typed", BENCH_MLEADER, TYPED, NULL, "message"},
                                     {"hand", BENCH_MLEADER, HAND, NULL, "message"},
                                     {"floor", BENCH_MLEADER, FLOOR, NULL, "message"},
                                     {"convertor", BENCH_MLEADER, CONVERTOR, NULL, "alone"},
                                     {"self", BENCH_MLEADER, SELF, NULL, "alone"},
                                     {NULL, BENCH_MLEADER, 0, NULL, NULL}};

static const bench_option_t options[] = {{"--layouts", &ddt.layout_list, NULL, 0.0, NULL},
                                         {"--sides", &ddt.side_list, NULL, 0.0, NULL},
                                         {"--net", &ddt.net, NULL, 0.0, NULL},
                                         {"--engine", &ddt.engine, NULL, 0.0, NULL},
                                         {"--fragment", NULL, &ddt.fragment, 8.0, NULL},
                                         {NULL, NULL, NULL, 0.0, NULL}};

static void print_layouts(FILE *out)
{
    fputs("\nLayouts\n", out);
    ddt_layout_names(out);
}

static bool prepare(bench_t *bench, char *error)
{
    const int layouts = bench_words(ddt.layout_list, ddt.layouts);

    ddt.rank = bench->world.rank;
    ddt.side_count = bench_choices(ddt.side_list, side_names, SIDES, ddt.sides);
    if (RANKS < bench->world.size || 1 != bench->batch_count || 1 != bench->batches[0]
        || 0 != (size_t) ddt.fragment % 8) {
        snprintf(error, BENCH_ERROR_LENGTH,
                 "expected one or two ranks, batches of one, fragments of a multiple of 8 bytes");
        return false;
    }
    if (0 > layouts || 0 > ddt.side_count) {
        snprintf(error, BENCH_ERROR_LENGTH,
                 "--layouts %s --sides %s: expected layouts, and some of send, recv, both",
                 ddt.layout_list, ddt.side_list);
        return false;
    }
    for (int i = 0; i < layouts; ++i) {
        if (!ddt_layout_create(&ddt.layout, ddt.layouts[i])) {
            snprintf(error, BENCH_ERROR_LENGTH,
                     "there is no layout %s, or no memory for it; see --help", ddt.layouts[i]);
            return false;
        }
        ddt_layout_free(&ddt.layout);
    }
    bench->calls[0] = 1 == bench->world.size ? "alone" : "message";
    bench->rows = layouts * ddt.side_count;
    return true;
}

/* ---- rows */

static bool begin_row(bench_t *bench, int row)
{
    size_t room;

    for (int i = 0; i < bench->arm_count; ++i) {
        ddt.cost[i] = (ddt_cost_t){1e9, 1e9};
    }
    ddt.side = ddt.sides[row % ddt.side_count] + 1;
    if (!ddt_layout_create(&ddt.layout, ddt.layouts[row / ddt.side_count])) {
        return false;
    }
    room = (ddt.layout.bytes + 7) / 8 * 8;
    ddt.memory = malloc(ddt.layout.span);
    ddt.packed = calloc(room, 1);
    ddt.scratch = calloc(room, 2);
    if (NULL == ddt.memory || NULL == ddt.packed || NULL == ddt.scratch) {
        return false;
    }
    memset(ddt.memory, DDT_POISON, ddt.layout.span);
    return true;
}

static void end_row(void)
{
    free(ddt.memory);
    free(ddt.packed);
    free(ddt.scratch);
    ddt_layout_free(&ddt.layout);
}

static void print_row(int row, FILE *out)
{
    fprintf(out, "%s\t%s\t%s\t%zu\t%s\t", ddt.net, ddt.engine, ddt.layout.name, ddt.layout.bytes,
            side_names[ddt.sides[row % ddt.side_count]]);
}

static void print_result(const bench_arm_t *arm, FILE *out)
{
    if (CONVERTOR == arm->kind->way) {
        fprintf(out, "%.9f\t%.9f\t", ddt.cost[arm->index].search, ddt.cost[arm->index].move);
    } else {
        fputs("-\t-\t", out);
    }
}

/* ---- one rank alone */

static bool is_alone(const bench_arm_t *arm)
{
    return CONVERTOR <= arm->kind->way;
}

/* What is sent is in the layout's memory, what is received is packed. */
static void fill_alone(const bench_arm_t *arm)
{
    ddt.typed = SELF != arm->kind->way && 0 == (ddt.side & SEND);
    ddt_fill(ddt.packed, ddt.layout.bytes, ddt.seed);
    if (!ddt.typed) {
        ddt_unpack(&ddt.layout, ddt.memory, ddt.packed);
        memset(ddt.packed, 0, ddt.layout.bytes);
    }
}

static int call_alone(const bench_arm_t *arm)
{
    const bool self = SELF == arm->kind->way;
    ddt_cost_t *least = &ddt.cost[arm->index], cost;
    int rc = MPI_SUCCESS;
    char label[BENCH_VALUE_LENGTH];

    snprintf(label, sizeof(label), "%s %s", ddt.layout.name,
             self ? "self" : side_names[ddt.side - 1]);
    CALLGRIND_ZERO_STATS;
    if (self) {
        rc = MPI_Sendrecv(ddt.memory, 1, ddt.layout.type, 0, 0, ddt.packed, (int) ddt.layout.bytes,
                          MPI_PACKED, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    } else {
        cost = ddt_convert(&ddt.layout, !ddt.typed, ddt.memory, ddt.packed, (size_t) ddt.fragment);
        least->search = cost.search < least->search ? cost.search : least->search;
        least->move = cost.move < least->move ? cost.move : least->move;
    }
    CALLGRIND_DUMP_STATS_AT(label);
    return rc;
}

/* ---- messages */

/* The sender's data, or the receive. */
static void fill(const bench_arm_t *arm, uint64_t sample)
{
    const ddt_layout_t *layout = &ddt.layout;

    ddt.seed = sample;
    if (is_alone(arm)) {
        fill_alone(arm);
        return;
    }
    ddt.typed = FLOOR != arm->kind->way && 0 != (ddt.side & (SENDER == ddt.rank ? SEND : RECV));
    if (SENDER == ddt.rank) {
        ddt_fill(ddt.packed, layout->bytes, sample);
        if (ddt.typed) {
            ddt_unpack(layout, ddt.memory, ddt.packed);
            memset(ddt.packed, 0, layout->bytes);
        }
    } else if (ddt.typed && TYPED == arm->kind->way) {
        MPI_Irecv(ddt.memory, 1, layout->type, SENDER, TAG_DATA, arm->comm, &ddt.request);
    } else {
        MPI_Irecv(ddt.packed, (int) layout->bytes, MPI_PACKED, SENDER, TAG_DATA, arm->comm,
                  &ddt.request);
    }
}

static void send_message(const bench_arm_t *arm)
{
    const ddt_layout_t *layout = &ddt.layout;

    if (ddt.typed && TYPED == arm->kind->way) {
        MPI_Send(ddt.memory, 1, layout->type, RECEIVER, TAG_DATA, arm->comm);
        return;
    }
    if (ddt.typed) {
        ddt_pack(layout, ddt.memory, ddt.packed);
    }
    MPI_Send(ddt.packed, (int) layout->bytes, MPI_PACKED, RECEIVER, TAG_DATA, arm->comm);
}

static int call(const bench_arm_t *arm)
{
    if (is_alone(arm)) {
        return call_alone(arm);
    }
    if (SENDER == ddt.rank) {
        send_message(arm);
        return MPI_Recv(NULL, 0, MPI_BYTE, RECEIVER, TAG_DONE, arm->comm, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&ddt.request, MPI_STATUS_IGNORE);
    if (ddt.typed && HAND == arm->kind->way) {
        ddt_unpack(&ddt.layout, ddt.memory, ddt.packed);
    }
    return MPI_Send(NULL, 0, MPI_BYTE, SENDER, TAG_DONE, arm->comm);
}

static bool is_timed(void)
{
    return SENDER == ddt.rank;
}

static bool verify(const bench_arm_t *arm, char *error)
{
    snprintf(error, BENCH_ERROR_LENGTH, "wrong data");
    if (SENDER == ddt.rank && !is_alone(arm)) {
        return true;
    }
    if (ddt.typed) {
        return ddt_check(&ddt.layout, ddt.memory, ddt.scratch, ddt.seed);
    }
    ddt_fill(ddt.scratch, ddt.layout.bytes, ddt.seed);
    return 0 == memcmp(ddt.packed, ddt.scratch, ddt.layout.bytes);
}

int main(int argc, char **argv)
{
    static const bench_program_t program
        = {.name = "ddt",
           .purpose = "Times messages of a layout between two ranks, checks them.",
           .own_options = own_options,
           .arms = arms,
           .print_names = print_layouts,
           .columns = "net\tengine\tlayout\ttotal\tside",
           .results = "search_s\tmove_s\t",
           .options = options,
           .kinds = kinds,
           .defaults = {.arms = "typed,hand,floor", .batches = "1", .reps = 3.0, .max_reps = 50.0,
                        .budget = 0.5, .warmup = 1.0},
           .prepare = prepare,
           .begin_row = begin_row,
           .end_row = end_row,
           .fill = fill,
           .call = call,
           .is_timed = is_timed,
           .verify = verify,
           .print_row = print_row,
           .print_result = print_result};

    return bench_main(&program, argc, argv);
}
