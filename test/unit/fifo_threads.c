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
 * The ring buffer with its two ends at work at once, under a checker of threads: random
 * runs of random blocks, one behind the other without a pause. The bytes must be right,
 * and all of them handed over by the two counters alone.
 */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "coll_pipering_fifo.h"
#include "tap.h"

#define RUNS 150
#define BLOCKS_MOST 40
#define BUFFERS 30
#define TABLE 8191 /* bytes that blocks are taken from */
#define BLOCK_MOST 2048
#define PATIENCE 100 /* seconds */

typedef mca_coll_pipering_fifo_t fifo_t;
typedef mca_coll_pipering_fifo_run_t run_t;

/** Equal on both ends. */
typedef struct load_t {
    fifo_t *fifo;
    size_t size;
    size_t block[RUNS];
    unsigned ahead[RUNS];
    int blocks[RUNS];
    char table[TABLE + BLOCK_MOST];
} load_t;

typedef struct end_t {
    load_t *load;
    uint64_t patience; /**< the reader gives back once in so many blocks, or when it must */
    bool right;
} end_t;

/* The bytes of a block. */
static const char *content(const load_t *load, int run, int k)
{
    return load->table + ((size_t) run * 1009 + (size_t) k * 127) % TABLE;
}

/* The last block of a run is a short one. */
static size_t length(const load_t *load, int run, int k)
{
    return k + 1 < load->blocks[run] ? load->block[run] : 1 + load->block[run] / 3;
}

static void *write_all(void *argument)
{
    end_t *end = argument;
    load_t *load = end->load;
    uint64_t position = 0;

    for (int i = 0; i < RUNS; i++) {
        run_t run;

        mca_coll_pipering_fifo_start(&run, position, load->size, load->block[i], load->ahead[i]);
        for (int k = 0; k < load->blocks[i]; k++) {
            while (!mca_coll_pipering_fifo_has_room(load->fifo, &run, (uint64_t) k)) {
                sched_yield();
            }
            memcpy(mca_coll_pipering_fifo_place(load->fifo, &run, (uint64_t) k),
                   content(load, i, k), length(load, i, k));
            mca_coll_pipering_fifo_show(load->fifo, &run, (uint64_t) k + 1);
        }
        position = mca_coll_pipering_fifo_behind(&run, (uint64_t) load->blocks[i]);
    }
    return NULL;
}

/* Room is given back late, but before anything is waited for. */
static void await(const end_t *end, run_t *run, int k)
{
    if (mca_coll_pipering_fifo_is_there(end->load->fifo, run, (uint64_t) k)) {
        return;
    }
    mca_coll_pipering_fifo_give_back(end->load->fifo, run, (uint64_t) k);
    while (!mca_coll_pipering_fifo_is_there(end->load->fifo, run, (uint64_t) k)) {
        sched_yield();
    }
}

static void *read_all(void *argument)
{
    end_t *end = argument;
    load_t *load = end->load;
    uint64_t position = 0;

    for (int i = 0; i < RUNS; i++) {
        run_t run;

        mca_coll_pipering_fifo_start(&run, position, load->size, load->block[i], load->ahead[i]);
        for (int k = 0; k < load->blocks[i]; k++) {
            await(end, &run, k);
            end->right = end->right
                         && 0 == memcmp(mca_coll_pipering_fifo_place(load->fifo, &run,
                                                                     (uint64_t) k),
                                        content(load, i, k), length(load, i, k));
            if (0 == (uint64_t) (k + 1) % end->patience || k + 1 == load->blocks[i]) {
                mca_coll_pipering_fifo_give_back(load->fifo, &run, (uint64_t) k + 1);
            }
        }
        position = mca_coll_pipering_fifo_behind(&run, (uint64_t) load->blocks[i]);
    }
    return NULL;
}

static load_t *new_load(void)
{
    load_t *load = tap_memory(sizeof(*load));

    load->size = 64 * (size_t) tap_between(2, 2 * BLOCK_MOST / 64);
    load->fifo = tap_memory(sizeof(fifo_t) + load->size);
    memset(load->fifo, 0, sizeof(fifo_t) + load->size);
    tap_garbage(load->table, sizeof(load->table));
    for (int i = 0; i < RUNS; i++) {
        load->block[i] = 1 + tap_below(load->size / 2 / 64 * 64);
        load->blocks[i] = tap_between(0, BLOCKS_MOST);
        load->ahead[i] = tap_once_in(2) ? 0 : (unsigned) tap_between(2, 6);
    }
    return load;
}

/* Both ends of one buffer; the last run is over on both. */
static bool passes(uint64_t patience)
{
    load_t *load = new_load();
    end_t writer = {load, 1, true}, reader = {load, patience, true};
    pthread_t thread[2];
    bool right;

    pthread_create(&thread[0], NULL, write_all, &writer);
    pthread_create(&thread[1], NULL, read_all, &reader);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    right = reader.right && load->fifo->written == load->fifo->read;
    free(load->fifo);
    free(load);
    return right;
}

int main(void)
{
    tap_tally_t tally = {0, 0};

    tap_start();
    alarm(PATIENCE);
    for (int n = 0; n < BUFFERS; n++) {
        const uint64_t patience = 1 + tap_below(5);

        tap_try(&tally, passes(patience), "buffer %d, room given back once in %" PRIu64
                " blocks", n, patience);
    }
    tally_ok(&tally, BUFFERS, "two threads: the bytes are right and the ends agree");
    return tap_end();
}
