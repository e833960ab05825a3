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
 * The ring buffer between two processes. Against a buffer that is a map of lines of 64
 * bytes, each free or taken by a block: all small buffers, strides and bounds, and in each
 * case all ways in which writer and reader can take turns. Then one buffer that is leased to
 * one writer after the other, in all interleavings of single steps, where a writer may give
 * up at any of them. Last random rows of leases with their bytes.
 */

#include <string.h>

#include "coll_pipering_fifo.h"
#include "tap.h"

#define LINE 64
#define SIZE_MOST 512 /* bytes of a small buffer */
#define BLOCKS_MOST 32

typedef mca_coll_pipering_fifo_t fifo_t;
typedef mca_coll_pipering_fifo_run_t run_t;

/* ---- one stream ---- */

/** What a buffer is used for. */
typedef struct use_t {
    size_t size, block;
    int blocks;
} use_t;

static bool try_use(tap_tally_t *tally, bool pass, const use_t *use, const char *what)
{
    return tap_try(tally, pass, "%s: %zu bytes, %d blocks of %zu", what, use->size,
                   use->blocks, use->block);
}

static run_t start_run(const use_t *use)
{
    run_t run;

    mca_coll_pipering_fifo_start(&run, use->size, use->block);
    return run;
}

/* The lines that block k takes; 0: it does not lie on whole lines within the buffer. */
static uint64_t lines_of(const use_t *use, fifo_t *fifo, int k)
{
    const run_t run = start_run(use);
    const size_t from = (size_t) (mca_coll_pipering_fifo_place(fifo, &run, (uint64_t) k)
                                  - fifo->bytes);

    if (0 != from % LINE || use->block > run.stride || from + run.stride > use->size) {
        return 0;
    }
    return ((UINT64_C(1) << run.stride / LINE) - 1) << from / LINE;
}

/* The writer has written the first `written` blocks, the reader has given back `read`. */
typedef struct state_t {
    fifo_t fifo;
    int written, read;
} state_t;

/* Nothing that is unread is written over, and one block at least can always be on its way. */
static bool writes_well(const use_t *use, state_t *state, bool *can)
{
    run_t run = start_run(use);
    uint64_t taken = 0;

    *can = state->written < use->blocks
           && mca_coll_pipering_fifo_has_room(&state->fifo, &run, (uint64_t) state->written);
    for (int k = state->read; k < state->written; k++) {
        taken |= lines_of(use, &state->fifo, k);
    }
    if (*can) {
        const uint64_t lines = lines_of(use, &state->fifo, state->written);

        return 0 != lines && 0 == (taken & lines);
    }
    return state->written == use->blocks || state->read < state->written;
}

/* What is shown can be read, and nothing else. */
static bool reads_well(const use_t *use, state_t *state, bool *can)
{
    run_t run = start_run(use);

    *can = state->read < use->blocks
           && mca_coll_pipering_fifo_is_there(&state->fifo, &run, (uint64_t) state->read);
    return *can == (state->read < state->written);
}

/* All states that turns of writer and reader lead to; false if a state is wrong. */
static bool all_turns_are_good(const use_t *use)
{
    static bool reached[BLOCKS_MOST + 2][BLOCKS_MOST + 2];
    state_t state;

    memset(reached, 0, sizeof(reached));
    reached[0][0] = true;
    for (state.written = 0; state.written <= use->blocks; state.written++) {
        for (state.read = 0; state.read <= state.written; state.read++) {
            bool write, read;

            if (!reached[state.written][state.read]) {
                continue;
            }
            mca_coll_pipering_fifo_clear(&state.fifo);
            mca_coll_pipering_fifo_show(&state.fifo, (uint64_t) state.written);
            mca_coll_pipering_fifo_give_back(&state.fifo, (uint64_t) state.read);
            if (!writes_well(use, &state, &write) || !reads_well(use, &state, &read)) {
                return false;
            }
            reached[state.written + write][state.read] = true;
            reached[state.written][state.read + read] = true;
        }
    }
    return reached[use->blocks][use->blocks];
}

static void try_small_cases(void)
{
    tap_tally_t turns = {0, 0};
    use_t use;

    for (use.size = 2 * LINE; use.size <= SIZE_MOST; use.size += LINE) {
        for (use.block = 1; (use.block + LINE - 1) / LINE * LINE <= use.size / 2; use.block++) {
            const int lap = (int) (use.size / ((use.block + LINE - 1) / LINE * LINE));

            use.blocks = 3 * lap + 2;
            try_use(&turns, all_turns_are_good(&use), &use, "turns");
        }
    }
    tally_ok(&turns, 500, "nothing unread is written over, and there is always a way on");
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

/* ---- one buffer, leased to one writer after the other ---- */

#define LEASES 3
#define SEEN_MOST (1 << 17) /* states, a power of two */

/** What each lease is for. */
typedef struct chain_t {
    size_t size;
    use_t use[LEASES];
} chain_t;

/** One side of a lease: what it has done of it, a single step after the other. */
typedef struct side_t {
    run_t run;
    int lease; /**< of a writer always the same */
    int k;     /**< block */
    enum { LOOK, MOVE, TELL } step;
    bool begun, over;
} side_t;

/** All there is; places of the buffer hold the number of what was written there last. */
typedef struct world_t {
    uint64_t written, read;
    int cell[SIZE_MOST / LINE];
    bool granted[LEASES];
    side_t writer[LEASES], reader;
} world_t;

typedef struct search_t {
    const chain_t *chain;
    world_t *seen; /**< [SEEN_MOST], those with `used` */
    bool *used;
    uint64_t states, ends;
    const char *fault; /**< NULL: none yet */
} search_t;

static void load(fifo_t *fifo, const world_t *world)
{
    fifo->written = world->written;
    fifo->read = world->read;
}

static void store(world_t *world, const fifo_t *fifo)
{
    world->written = fifo->written;
    world->read = fifo->read;
}

static int cell_of(side_t *side)
{
    static fifo_t fifo;

    return (int) ((mca_coll_pipering_fifo_place(&fifo, &side->run, (uint64_t) side->k)
                   - fifo.bytes)
                  / LINE);
}

static int content(const side_t *side)
{
    return 1 + side->lease * BLOCKS_MOST + side->k;
}

/* A step of a writer: false if it cannot make any. */
static bool step_writer(search_t *search, world_t *world, int lease)
{
    const use_t *use = &search->chain->use[lease];
    side_t *side = &world->writer[lease];
    fifo_t fifo;

    if (!world->granted[lease] || side->over) {
        return false;
    }
    if (!side->begun) {
        side->begun = true;
        side->run = start_run(use);
        return true;
    }
    load(&fifo, world);
    if (LOOK == side->step) {
        if (!mca_coll_pipering_fifo_has_room(&fifo, &side->run, (uint64_t) side->k)) {
            return false;
        }
        side->step = MOVE;
    } else if (MOVE == side->step) {
        world->cell[cell_of(side)] = content(side);
        side->step = TELL;
    } else {
        mca_coll_pipering_fifo_show(&fifo, (uint64_t) ++side->k);
        store(world, &fifo);
        side->step = LOOK;
        side->over = side->k == use->blocks;
    }
    return true;
}

/* A writer gives up between two blocks. */
static bool break_writer(world_t *world, int lease)
{
    side_t *side = &world->writer[lease];
    fifo_t fifo;

    if (!side->begun || side->over || LOOK != side->step) {
        return false;
    }
    load(&fifo, world);
    mca_coll_pipering_fifo_break(&fifo, true);
    store(world, &fifo);
    side->over = true;
    return true;
}

/* The reader clears the buffer, and only then others know that it is theirs. */
static void begin_lease(search_t *search, world_t *world)
{
    side_t *side = &world->reader;
    fifo_t fifo;

    for (int lease = 0; lease < side->lease; lease++) {
        if (!world->writer[lease].over) {
            search->fault = "a buffer is cleared that its writer has not done with";
        }
    }
    mca_coll_pipering_fifo_clear(&fifo);
    store(world, &fifo);
    side->run = start_run(&search->chain->use[side->lease]);
    side->begun = true;
    side->step = LOOK;
    side->k = 0;
    world->granted[side->lease] = true;
}

static void end_lease(world_t *world)
{
    side_t *side = &world->reader;

    side->begun = false;
    side->over = ++side->lease == LEASES;
}

static bool step_reader(search_t *search, world_t *world)
{
    side_t *side = &world->reader;
    fifo_t fifo;

    if (side->over) {
        return false;
    }
    if (!side->begun) {
        begin_lease(search, world);
        return true;
    }
    load(&fifo, world);
    if (LOOK == side->step) {
        if (!mca_coll_pipering_fifo_is_there(&fifo, &side->run, (uint64_t) side->k)) {
            if (mca_coll_pipering_fifo_is_broken(&side->run)) {
                end_lease(world);
                return true;
            }
            return false;
        }
        side->step = MOVE;
    } else if (MOVE == side->step) {
        if (content(side) != world->cell[cell_of(side)]) {
            search->fault = "another block is read than was written";
        }
        side->step = TELL;
    } else if (++side->k == search->chain->use[side->lease].blocks) {
        end_lease(world); /* the last room is not given back: the lease is over */
    } else {
        mca_coll_pipering_fifo_give_back(&fifo, (uint64_t) side->k);
        store(world, &fifo);
        side->step = LOOK;
    }
    return true;
}

/* True if the state is new. */
static bool remember(search_t *search, const world_t *world)
{
    const unsigned char *bytes = (const unsigned char *) world;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < sizeof(*world); i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
    while (search->used[hash % SEEN_MOST]) {
        if (0 == memcmp(&search->seen[hash % SEEN_MOST], world, sizeof(*world))) {
            return false;
        }
        hash++;
    }
    if (SEEN_MOST / 2 < ++search->states) {
        search->fault = "more states than there is room for";
    }
    search->used[hash % SEEN_MOST] = true;
    search->seen[hash % SEEN_MOST] = *world;
    return true;
}

static void search_from(search_t *search, const world_t *world);

static void follow(search_t *search, bool moved, const world_t *next, bool *stuck)
{
    if (moved) {
        *stuck = false;
        if (NULL == search->fault && remember(search, next)) {
            search_from(search, next);
        }
    }
}

/* All that can happen next, and all after that. */
static void search_from(search_t *search, const world_t *world)
{
    bool stuck = true;

    for (int lease = 0; lease < LEASES; lease++) {
        world_t next = *world;
        bool moved = step_writer(search, &next, lease);

        follow(search, moved, &next, &stuck);
        next = *world;
        moved = break_writer(&next, lease);
        follow(search, moved, &next, &stuck);
    }
    world_t next = *world;
    const bool moved = step_reader(search, &next);

    follow(search, moved, &next, &stuck);
    if (stuck && !world->reader.over) {
        search->fault = "nobody can go on";
    }
    search->ends += stuck;
}

static const char *search_chain(search_t *search, const chain_t *chain)
{
    world_t world;

    memset(&world, 0, sizeof(world));
    memset(search->used, 0, SEEN_MOST * sizeof(bool));
    search->chain = chain;
    search->states = search->ends = 0;
    search->fault = NULL;
    for (int lease = 0; lease < LEASES; lease++) {
        world.writer[lease].lease = lease;
    }
    search_from(search, &world);
    return NULL == search->fault && 0 == search->ends ? "no end" : search->fault;
}

static void try_leases(void)
{
    search_t search = {.seen = tap_memory(SEEN_MOST * sizeof(world_t)),
                       .used = tap_memory(SEEN_MOST * sizeof(bool))};
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < 2000; n++) {
        chain_t chain = {.size = LINE * (size_t) tap_between(2, 6)};

        for (int lease = 0; lease < LEASES; lease++) {
            chain.use[lease] = (use_t){.size = chain.size,
                                       .block = 1 + tap_below(chain.size / 2 / LINE * LINE),
                                       .blocks = tap_between(1, 5)};
        }
        const char *fault = search_chain(&search, &chain);
        tap_try(&tally, NULL == fault, "%s: %zu bytes, %d x %zu, %d x %zu, %d x %zu", fault,
                chain.size, chain.use[0].blocks, chain.use[0].block, chain.use[1].blocks,
                chain.use[1].block, chain.use[2].blocks, chain.use[2].block);
    }
    free(search.seen);
    free(search.used);
    tally_ok(&tally, 2000, "a buffer goes from writer to writer, whatever comes first");
}

/* ---- random rows, with their bytes ---- */

static bool is_filled(const char *bytes, int value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((char) value != bytes[i]) {
            return false;
        }
    }
    return true;
}

/* Turns at random, greedy on either side now and then; each side knows only old news. */
static bool passes_bytes(const use_t *use, fifo_t *fifo)
{
    run_t writer = start_run(use), reader = start_run(use);
    int written = 0, read = 0;

    mca_coll_pipering_fifo_clear(fifo);
    while (read < use->blocks) {
        const int before = written + read;

        for (uint64_t n = tap_below(4); 0 < n && written < use->blocks
             && mca_coll_pipering_fifo_has_room(fifo, &writer, (uint64_t) written); n--) {
            memset(mca_coll_pipering_fifo_place(fifo, &writer, (uint64_t) written), written + 1,
                   use->block);
            mca_coll_pipering_fifo_show(fifo, (uint64_t) ++written);
        }
        for (uint64_t n = tap_below(4); 0 < n && read < use->blocks
             && mca_coll_pipering_fifo_is_there(fifo, &reader, (uint64_t) read); n--) {
            if (!is_filled(mca_coll_pipering_fifo_place(fifo, &reader, (uint64_t) read), read + 1,
                           use->block)) {
                return false;
            }
            mca_coll_pipering_fifo_give_back(fifo, (uint64_t) ++read);
        }
        if (before == written + read && written == read
            && !mca_coll_pipering_fifo_has_room(fifo, &writer, (uint64_t) written)) {
            return false;
        }
    }
    return true;
}

static void try_random_rows(void)
{
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < 5000; n++) {
        const size_t size = LINE * (size_t) tap_between(2, 64);
        fifo_t *fifo = tap_memory(sizeof(*fifo) + size);

        tap_garbage(fifo, sizeof(*fifo) + size);
        for (int lease = 0; lease < LEASES; lease++) {
            const use_t use = {.size = size,
                               .block = 1 + tap_below(size / 2 / LINE * LINE),
                               .blocks = tap_between(0, BLOCKS_MOST)};
            try_use(&tally, passes_bytes(&use, fifo), &use, "bytes");
        }
        free(fifo);
    }
    tally_ok(&tally, 15000, "bytes come through, lease after lease");
}

/* Once broken, a buffer carries nothing more in either direction, whatever was seen before. */
static void try_breaks(void)
{
    const use_t use = {.size = 4 * LINE, .block = LINE, .blocks = BLOCKS_MOST};
    tap_tally_t tally = {0, 0};

    for (int written = 0; written <= 4; written++) {
        for (int read = 0; read <= written; read++) {
            for (int writer = 0; writer < 2; writer++) {
                run_t run = start_run(&use);
                fifo_t fifo;
                bool moves;

                mca_coll_pipering_fifo_clear(&fifo);
                mca_coll_pipering_fifo_show(&fifo, (uint64_t) written);
                mca_coll_pipering_fifo_give_back(&fifo, (uint64_t) read);
                mca_coll_pipering_fifo_break(&fifo, writer);
                moves = writer ? mca_coll_pipering_fifo_is_there(&fifo, &run, (uint64_t) read)
                               : mca_coll_pipering_fifo_has_room(&fifo, &run, 4 + (uint64_t) read);
                tap_try(&tally, !moves && mca_coll_pipering_fifo_is_broken(&run),
                        "written %d, read %d, the %s gives up", written, read,
                        writer ? "writer" : "reader");
                mca_coll_pipering_fifo_clear(&fifo);
                run = start_run(&use);
                tap_try(&tally, mca_coll_pipering_fifo_has_room(&fifo, &run, 0)
                                    && !mca_coll_pipering_fifo_is_there(&fifo, &run, 0),
                        "written %d, read %d, cleared", written, read);
            }
        }
    }
    tally_ok(&tally, 60, "who gives up is noticed, and a buffer is good again when it is cleared");
}

int main(void)
{
    tap_start();
    try_strides();
    try_small_cases();
    try_leases();
    try_breaks();
    try_random_rows();
    return tap_end();
}
