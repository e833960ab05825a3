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
 * The ring buffer between two processes, against a buffer that is a map of lines of 64
 * bytes, each free or taken by a block: all small buffers, strides, places to begin at
 * and bounds, and in each case all ways in which writer and reader can take turns. Then
 * random rows of runs with their bytes.
 */

#include <string.h>

#include "coll_pipering_fifo.h"
#include "tap.h"

#define LINE 64
#define SIZE_MOST 512 /* bytes of a small buffer */
#define RUNS 3
#define BLOCKS_MOST 64 /* of all runs together */

typedef mca_coll_pipering_fifo_run_t run_t;

/* ---- the reference ---- */

/** A row of runs, block by block. */
typedef struct row_t {
    size_t size;
    int runs;
    size_t block[RUNS];
    unsigned ahead[RUNS];
    int blocks[RUNS];
    int total;
    int run_of[BLOCKS_MOST];  /**< run of a block */
    int first[RUNS];          /**< number of its first block */
    uint64_t from;            /**< position that the first run begins at */
    uint64_t at[BLOCKS_MOST]; /**< position of a block: the next one where it does not wrap */
    uint64_t end[BLOCKS_MOST + 1]; /**< [n]: position behind the first n blocks */
} row_t;

static uint64_t lines_of(const row_t *row, int k)
{
    const uint64_t count = (row->block[row->run_of[k]] + LINE - 1) / LINE;

    return ((UINT64_C(1) << count) - 1) << row->at[k] % row->size / LINE;
}

/* Block after block, wherever the next fits without wrapping. */
static void place(row_t *row)
{
    uint64_t position = row->from;

    row->total = 0;
    row->end[0] = position;
    for (int i = 0; i < row->runs; i++) {
        const size_t stride = (row->block[i] + LINE - 1) / LINE * LINE;

        row->first[i] = row->total;
        for (int k = 0; k < row->blocks[i]; k++) {
            if (row->size < position % row->size + stride) {
                position += row->size - position % row->size;
            }
            row->run_of[row->total] = i;
            row->at[row->total] = position;
            position += stride;
            row->end[++row->total] = position;
        }
    }
}

static bool try_row(tap_tally_t *tally, bool pass, const row_t *row, const char *what)
{
    return tap_try(tally, pass, "%s: %zu bytes from %" PRIu64 ", runs of %d x %zu ahead %u, "
                   "%d x %zu ahead %u, %d x %zu ahead %u", what, row->size, row->from,
                   row->blocks[0], row->block[0], row->ahead[0],
                   1 < row->runs ? row->blocks[1] : 0, row->block[1], row->ahead[1],
                   2 < row->runs ? row->blocks[2] : 0, row->block[2], row->ahead[2]);
}

/* ---- the real one ---- */

static void start_run(run_t *run, const row_t *row, int i)
{
    mca_coll_pipering_fifo_start(run, row->end[row->first[i]], row->size, row->block[i],
                                 row->ahead[i]);
}

/* Positions are those of the reference, on whole lines, and blocks do not wrap. */
static bool positions_agree(const row_t *row)
{
    for (int i = 0; i < row->runs; i++) {
        run_t run;

        start_run(&run, row, i);
        if (mca_coll_pipering_fifo_behind(&run, 0) != row->end[row->first[i]]) {
            return false;
        }
        for (int k = 0; k < row->blocks[i]; k++) {
            const int n = row->first[i] + k;
            const uint64_t at = mca_coll_pipering_fifo_at(&run, (uint64_t) k);

            if (at != row->at[n] || 0 != at % LINE || at % row->size + run.stride > row->size
                || mca_coll_pipering_fifo_behind(&run, (uint64_t) k + 1) != row->end[n + 1]) {
                return false;
            }
        }
    }
    return true;
}

/* The writer has written the first `written` blocks, the reader has given back `read`. */
typedef struct state_t {
    mca_coll_pipering_fifo_t fifo;
    int written, read;
} state_t;

static bool may_write(const row_t *row, state_t *state)
{
    const int i = row->run_of[state->written];
    run_t run;

    start_run(&run, row, i);
    return mca_coll_pipering_fifo_has_room(&state->fifo, &run,
                                           (uint64_t) (state->written - row->first[i]));
}

static bool may_read(const row_t *row, state_t *state)
{
    const int i = row->run_of[state->read];
    run_t run;

    start_run(&run, row, i);
    return mca_coll_pipering_fifo_is_there(&state->fifo, &run,
                                           (uint64_t) (state->read - row->first[i]));
}

/* Unread blocks of a run are no more than it is allowed. */
static bool is_within_bound(const row_t *row, const state_t *state)
{
    const int i = row->run_of[state->written];
    int unread = 1;

    for (int k = state->read; k < state->written; k++) {
        unread += row->run_of[k] == i;
    }
    return 0 == row->ahead[i] || unread <= (int) row->ahead[i];
}

/* Nothing that is unread is written over, and one block at least can always be on its way. */
static bool writes_well(const row_t *row, state_t *state, bool *can)
{
    uint64_t taken = 0;

    *can = state->written < row->total && may_write(row, state);
    for (int k = state->read; k < state->written; k++) {
        taken |= lines_of(row, k);
    }
    if (*can) {
        return 0 == (taken & lines_of(row, state->written)) && is_within_bound(row, state);
    }
    return state->written == row->total || state->read < state->written;
}

/* What is shown can be read, and nothing else. */
static bool reads_well(const row_t *row, state_t *state, bool *can)
{
    *can = state->read < row->total && may_read(row, state);
    return *can == (state->read < state->written);
}

/* All states that turns of writer and reader lead to; false if a state is wrong. */
static bool all_turns_are_good(const row_t *row)
{
    static bool reached[BLOCKS_MOST + 1][BLOCKS_MOST + 1];
    state_t state;

    memset(reached, 0, sizeof(reached));
    reached[0][0] = true;
    for (state.written = 0; state.written <= row->total; state.written++) {
        for (state.read = 0; state.read <= state.written; state.read++) {
            bool write, read;

            if (!reached[state.written][state.read]) {
                continue;
            }
            state.fifo.written = row->end[state.written];
            state.fifo.read = row->end[state.read];
            if (!writes_well(row, &state, &write) || !reads_well(row, &state, &read)) {
                return false;
            }
            reached[state.written + write][state.read] = true;
            reached[state.written][state.read + read] = true;
        }
    }
    return reached[row->total][row->total];
}

/* ---- the small cases ---- */

typedef struct tallies_t {
    tap_tally_t positions, turns;
} tallies_t;

static void try_small(tallies_t *tallies, row_t *row)
{
    place(row);
    try_row(&tallies->positions, positions_agree(row), row, "positions");
    try_row(&tallies->turns, all_turns_are_good(row), row, "turns");
}

/* A run of every stride and bound. */
static void try_one_run(tallies_t *tallies, row_t *row)
{
    row->runs = 1;
    for (size_t stride = LINE; stride <= row->size / 2; stride += LINE) {
        for (unsigned ahead = 0; ahead <= SIZE_MOST / LINE + 1; ahead += 0 == ahead ? 2 : 1) {
            row->block[0] = stride - (ahead % 2 ? LINE - 1 : 0);
            row->ahead[0] = ahead;
            row->blocks[0] = 3 * (int) (row->size / stride) + 2;
            try_small(tallies, row);
        }
    }
}

/* Two runs of all strides and lengths up to a lap, the first of which is not over. */
static void try_two_runs(tallies_t *tallies, row_t *row)
{
    const size_t half = row->size / 2;

    row->runs = 2;
    for (row->block[0] = LINE; row->block[0] <= half; row->block[0] += LINE) {
        for (row->block[1] = LINE; row->block[1] <= half; row->block[1] += LINE) {
            for (row->blocks[0] = 0; row->blocks[0] <= (int) (row->size / LINE);
                 row->blocks[0]++) {
                row->blocks[1] = 2 * (int) (row->size / row->block[1]) + 1;
                row->ahead[0] = (unsigned) (row->blocks[0] % 2) * 2;
                row->ahead[1] = (unsigned) (row->blocks[0] % 3 ? 1 + row->blocks[0] % 3 : 0);
                try_small(tallies, row);
            }
        }
    }
}

static void try_small_cases(void)
{
    tallies_t tallies = {{0, 0}, {0, 0}};
    row_t row;

    memset(&row, 0, sizeof(row));
    for (row.size = 128; row.size <= SIZE_MOST; row.size += LINE) {
        for (uint64_t lap = 0; lap <= 1; lap++) {
            for (uint64_t line = 0; line < row.size / LINE; line++) {
                row.from = (lap * 5000000001 + 1) * row.size + line * LINE;
                try_one_run(&tallies, &row);
                try_two_runs(&tallies, &row);
            }
        }
    }
    tally_ok(&tallies.positions, 5000, "blocks lie one behind the other and never wrap");
    tally_ok(&tallies.turns, 5000,
             "nothing unread is written over, and there is always a way on");
}

static void try_strides(void)
{
    tap_tally_t tally = {0, 0};

    for (size_t block = 1; block <= 600; block++) {
        const size_t stride = mca_coll_pipering_fifo_stride(block);

        tap_try(&tally, 0 == stride % LINE && stride >= block && stride < block + LINE,
                "stride of %zu", block);
        for (size_t size = 0; size <= 1280; size += LINE) {
            tap_try(&tally, (2 * stride <= size) == mca_coll_pipering_fifo_carries(size, block),
                    "%zu bytes carry blocks of %zu", size, block);
        }
    }
    tally_ok(&tally, 1000, "strides, and what a buffer carries");
}

/* ---- random rows, with their bytes ---- */

/* One side: its run, and the blocks it is through with. */
typedef struct side_t {
    run_t run;
    int now;   /**< run of the row */
    uint64_t k; /**< block of the run */
    int done;  /**< blocks of all runs */
    uint64_t position;
} side_t;

/* Runs in a row, as the engine has them: the next begins where the one before ended. */
static void settle(const row_t *row, side_t *side)
{
    while (side->now < row->runs && side->k == (uint64_t) row->blocks[side->now]) {
        if (0 < side->k) {
            side->position = mca_coll_pipering_fifo_behind(&side->run, side->k);
        }
        side->k = 0;
        if (++side->now < row->runs) {
            mca_coll_pipering_fifo_start(&side->run, side->position, row->size,
                                         row->block[side->now], row->ahead[side->now]);
        }
    }
}

static side_t begin_side(const row_t *row)
{
    side_t side = {.now = 0, .position = row->from};

    mca_coll_pipering_fifo_start(&side.run, row->from, row->size, row->block[0], row->ahead[0]);
    settle(row, &side);
    return side;
}

static bool write_one(const row_t *row, mca_coll_pipering_fifo_t *fifo, side_t *side)
{
    if (side->now == row->runs || !mca_coll_pipering_fifo_has_room(fifo, &side->run, side->k)) {
        return false;
    }
    memset(mca_coll_pipering_fifo_place(fifo, &side->run, side->k), side->done + 1,
           row->block[side->now]);
    mca_coll_pipering_fifo_show(fifo, &side->run, ++side->k);
    side->done++;
    settle(row, side);
    return true;
}

static bool is_filled(const char *bytes, int value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((char) value != bytes[i]) {
            return false;
        }
    }
    return true;
}

static bool read_one(const row_t *row, mca_coll_pipering_fifo_t *fifo, side_t *side, bool *right)
{
    if (side->now == row->runs || !mca_coll_pipering_fifo_is_there(fifo, &side->run, side->k)) {
        return false;
    }
    *right = *right
             && is_filled(mca_coll_pipering_fifo_place(fifo, &side->run, side->k), side->done + 1,
                          row->block[side->now]);
    mca_coll_pipering_fifo_give_back(fifo, &side->run, ++side->k);
    side->done++;
    settle(row, side);
    return true;
}

/* Turns at random, greedy on either side now and then; each side knows only old news. */
static bool passes_bytes(const row_t *row, mca_coll_pipering_fifo_t *fifo)
{
    side_t writer = begin_side(row), reader = begin_side(row);
    bool right = true;

    memset(fifo, 0, sizeof(*fifo));
    fifo->written = fifo->read = row->from;
    while (reader.now < row->runs) {
        bool moved = false;

        for (uint64_t n = tap_below(4); 0 < n; n--) {
            moved |= write_one(row, fifo, &writer);
        }
        for (uint64_t n = tap_below(4); 0 < n; n--) {
            moved |= read_one(row, fifo, &reader, &right);
        }
        if (!moved && !write_one(row, fifo, &writer) && !read_one(row, fifo, &reader, &right)) {
            return false;
        }
    }
    return right && reader.position == writer.position && reader.done == writer.done;
}

static void try_random_rows(void)
{
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < 20000; n++) {
        row_t row = {.size = LINE * (size_t) tap_between(2, 64), .runs = RUNS};
        mca_coll_pipering_fifo_t *fifo = tap_memory(sizeof(*fifo) + row.size);

        row.from = LINE * tap_below(1000000);
        for (int i = 0; i < RUNS; i++) {
            row.block[i] = 1 + tap_below(row.size / 2 / LINE * LINE);
            row.blocks[i] = tap_between(0, BLOCKS_MOST / RUNS);
            row.ahead[i] = tap_once_in(2) ? 0 : (unsigned) tap_between(2, 6);
        }
        try_row(&tally, passes_bytes(&row, fifo), &row, "bytes");
        free(fifo);
    }
    tally_ok(&tally, 20000, "bytes come through, run after run");
}

int main(void)
{
    tap_start();
    try_strides();
    try_small_cases();
    try_random_rows();
    return tap_end();
}
