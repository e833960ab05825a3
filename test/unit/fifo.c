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
 * The ring buffer between two processes: one buffer that is leased to one writer after the other,
 * in all interleavings of single steps, where either side may give up at any of them. All small
 * buffers and blocks with one writer, random ones with several. (fifo_threads.c moves bytes.)
 */

#include <string.h>

#include "coll_pipering_fifo.h"
#include "tap.h"

#define LINE 64
#define SIZE_MOST 512 /* bytes of a small buffer */
#define BLOCKS_MOST 32

typedef mca_coll_pipering_fifo_t fifo_t;
typedef mca_coll_pipering_fifo_run_t run_t;

/** What a buffer is used for. */
typedef struct use_t {
    size_t size, block;
    int blocks;
} use_t;

static run_t start_run(const use_t *use)
{
    run_t run;

    mca_coll_pipering_fifo_start(&run, use->size, use->block);
    return run;
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
    int leases;
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

/* The first line of the buffer that the block of a side takes, and how many. */
static int lines_of(search_t *search, side_t *side, int *lines)
{
    static fifo_t fifo;
    const use_t *use = &search->chain->use[side->lease];
    const char *place = mca_coll_pipering_fifo_place(&fifo, &side->run, (uint64_t) side->k);
    const size_t from = (size_t) (place - fifo.bytes);

    if (0 != from % LINE || use->block > side->run.stride || from + side->run.stride > use->size) {
        search->fault = "a block does not lie on whole lines of the buffer";
        return *lines = 0;
    }
    *lines = (int) (side->run.stride / LINE);
    return (int) from / LINE;
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
            side->over = mca_coll_pipering_fifo_is_broken(&side->run);
            return side->over;
        }
        side->step = MOVE;
    } else if (MOVE == side->step) {
        int lines, from = lines_of(search, side, &lines);

        while (0 < lines--) {
            world->cell[from++] = content(side);
        }
        side->step = TELL;
    } else {
        mca_coll_pipering_fifo_show(&fifo, (uint64_t) ++side->k);
        store(world, &fifo);
        side->step = LOOK;
        side->over = side->k == use->blocks;
    }
    return true;
}

/* A side gives up between two blocks; the reader then takes no more leases. */
static bool break_side(world_t *world, side_t *side)
{
    fifo_t fifo;

    if (!side->begun || side->over || LOOK != side->step) {
        return false;
    }
    load(&fifo, world);
    mca_coll_pipering_fifo_break(&fifo, side != &world->reader);
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

static void end_lease(const search_t *search, world_t *world)
{
    side_t *side = &world->reader;

    side->begun = false;
    side->over = ++side->lease == search->chain->leases;
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
                end_lease(search, world);
                return true;
            }
            return false;
        }
        side->step = MOVE;
    } else if (MOVE == side->step) {
        int lines, from = lines_of(search, side, &lines);

        while (0 < lines--) {
            if (content(side) != world->cell[from++]) {
                search->fault = "another block is read than was written";
            }
        }
        side->step = TELL;
    } else if (++side->k == search->chain->use[side->lease].blocks) {
        end_lease(search, world); /* the last room is not given back: the lease is over */
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

static bool follow(search_t *search, bool moved, const world_t *next)
{
    if (moved && NULL == search->fault && remember(search, next)) {
        search_from(search, next);
    }
    return moved;
}

/* All that can happen next, and all after that. Nobody waits for ever, if others do not give up. */
static void search_from(search_t *search, const world_t *world)
{
    bool stuck = true, over = world->reader.over;
    world_t next = *world;

    for (int lease = 0; lease < search->chain->leases; lease++) {
        stuck &= !follow(search, step_writer(search, &next, lease), &next);
        next = *world;
        follow(search, break_side(&next, &next.writer[lease]), &next);
        next = *world;
        over &= !world->granted[lease] || world->writer[lease].over;
    }
    stuck &= !follow(search, step_reader(search, &next), &next);
    next = *world;
    follow(search, break_side(&next, &next.reader), &next);
    if (stuck && !over) {
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
    for (int lease = 0; lease < chain->leases; lease++) {
        world.writer[lease].lease = lease;
    }
    search_from(search, &world);
    return NULL == search->fault && 0 == search->ends ? "no end" : search->fault;
}

static void try_chain(tap_tally_t *tally, search_t *search, const chain_t *chain)
{
    const char *fault = search_chain(search, chain);

    tap_try(tally, NULL == fault, "%s: %zu bytes, %d leases, the last of %d blocks of %zu bytes",
            fault, chain->use[0].size, chain->leases, chain->use[chain->leases - 1].blocks,
            chain->use[chain->leases - 1].block);
}

/* A stream of three laps and more in all small buffers; then random rows of leases. */
static void try_leases(void)
{
    search_t search = {.seen = tap_memory(SEEN_MOST * sizeof(world_t)),
                       .used = tap_memory(SEEN_MOST * sizeof(bool))};
    tap_tally_t small = {0, 0}, rows = {0, 0};

    for (size_t size = 2 * LINE; size <= SIZE_MOST; size += LINE) {
        for (size_t block = 1; mca_coll_pipering_fifo_carries(size, block); block++) {
            const int lap = (int) (size / mca_coll_pipering_fifo_stride(block));

            try_chain(&small, &search, &(chain_t){1, {{size, block, 3 * lap + 2}}});
        }
    }
    for (int n = 0; n < 2000; n++) {
        const size_t size = LINE * (size_t) tap_between(2, 6);
        chain_t chain = {.leases = LEASES};

        for (int lease = 0; lease < LEASES; lease++) {
            chain.use[lease] = (use_t){.size = size,
                                       .block = 1 + tap_below(size / 2 / LINE * LINE),
                                       .blocks = tap_between(1, 5)};
        }
        try_chain(&rows, &search, &chain);
    }
    free(search.seen);
    free(search.used);
    tally_ok(&small, 500, "nothing unread is written over, and there is always a way on");
    tally_ok(&rows, 2000, "a buffer goes from writer to writer, whatever comes first");
}

int main(void)
{
    tap_start();
    try_strides();
    try_leases();
    return tap_end();
}
