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
 * The receive is posted before the send begins. Variables of the datatype engine are read
 * at start, so a job has one setting.
 */

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "ddt.h"

enum { TAG_DATA, TAG_DONE };
enum { SENDER, RECEIVER, RANKS };

typedef enum { TYPED, HAND, FLOOR } method_t;

/* Bits: who has the layout. */
enum { SEND = 1, RECV = 2, SIDES = 3 };
static const char *const side_names[SIDES] = {"send", "recv", "both"};

static struct {
    /* options */
    const char *layout_list;
    const char *side_list;
    const char *net;
    const char *engine;

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
} ddt = {.layout_list = "", .side_list = "both", .net = "-", .engine = "-"};

/* ---- the command line */

static const char own_options[]
    = "  --layouts LIST     layouts (below)\n"
      "  --sides LIST       who has the layout: of send, recv, both [both]\n"
      "  --net, --engine    words for the columns of these names [-]\n";

static const char arms[]
    = "  typed              with the datatype\n"
      "  hand               packed and unpacked by a loop\n"
      "  floor              contiguous data of the same size\n";

static const bench_kind_t kinds[] = {{"typed", BENCH_MLEADER, TYPED, NULL, NULL},
                                     {"hand", BENCH_MLEADER, HAND, NULL, NULL},
                                     {"floor", BENCH_MLEADER, FLOOR, NULL, NULL},
                                     {NULL, BENCH_MLEADER, 0, NULL, NULL}};

static const bench_option_t options[] = {{"--layouts", &ddt.layout_list, NULL, 0.0, NULL},
                                         {"--sides", &ddt.side_list, NULL, 0.0, NULL},
                                         {"--net", &ddt.net, NULL, 0.0, NULL},
                                         {"--engine", &ddt.engine, NULL, 0.0, NULL},
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
    if (RANKS != bench->world.size || 1 != bench->batch_count || 1 != bench->batches[0]) {
        snprintf(error, BENCH_ERROR_LENGTH, "expected two ranks and batches of one");
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
    bench->rows = layouts * ddt.side_count;
    return true;
}

/* ---- rows */

static bool begin_row(bench_t *bench, int row)
{
    size_t room;

    (void) bench;
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

/* ---- messages */

/* The sender's data, or the receive. */
static void fill(const bench_arm_t *arm, uint64_t sample)
{
    const ddt_layout_t *layout = &ddt.layout;

    ddt.seed = sample;
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
    (void) arm;
    snprintf(error, BENCH_ERROR_LENGTH, "wrong data");
    if (SENDER == ddt.rank) {
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
           .print_row = print_row};

    return bench_main(&program, argc, argv);
}
