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
 * The ring buffer with its ends at work at once, under a checker of threads: random streams
 * of random blocks, each with one of two writers, to whom the reader grants the buffer as
 * soon as it has read the last block of the stream before. The bytes must be right, and all
 * of them handed over by the two counters and the grant alone.
 */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "coll_pipering_fifo.h"
#include "tap.h"

#define RUNS 150
#define BLOCKS_MOST 40
#define BUFFERS 30
#define WRITERS 2
#define TABLE 8191 /* bytes that blocks are taken from */
#define BLOCK_MOST 2048
#define PATIENCE 500 /* seconds */

typedef mca_coll_pipering_fifo_t fifo_t;
typedef mca_coll_pipering_fifo_run_t run_t;

/** Equal on all ends. */
typedef struct load_t {
    fifo_t *fifo;
    size_t size;
    int granted; /**< streams; in place of a message */
    int writer[RUNS];
    size_t block[RUNS];
    int blocks[RUNS];
    char table[TABLE + BLOCK_MOST];
} load_t;

typedef struct end_t {
    load_t *load;
    int who;           /**< of a writer */
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

static run_t start_run(const load_t *load, int i)
{
    run_t run;

    mca_coll_pipering_fifo_start(&run, load->size, load->block[i]);
    return run;
}

static void write_run(load_t *load, int i)
{
    run_t run = start_run(load, i);

    for (int k = 0; k < load->blocks[i]; k++) {
        while (!mca_coll_pipering_fifo_has_room(load->fifo, &run, (uint64_t) k)) {
            sched_yield();
        }
        memcpy(mca_coll_pipering_fifo_place(load->fifo, &run, (uint64_t) k), content(load, i, k),
               length(load, i, k));
        mca_coll_pipering_fifo_show(load->fifo, (uint64_t) k + 1);
    }
}

static void *write_all(void *argument)
{
    const end_t *end = argument;

    for (int i = 0; i < RUNS; i++) {
        if (end->who != end->load->writer[i]) {
            continue;
        }
        while (i >= __atomic_load_n(&end->load->granted, __ATOMIC_ACQUIRE)) {
            sched_yield();
        }
        write_run(end->load, i);
    }
    return NULL;
}

/* Room is given back late, but before anything is waited for. */
static void await(const end_t *end, run_t *run, int k)
{
    if (mca_coll_pipering_fifo_is_there(end->load->fifo, run, (uint64_t) k)) {
        return;
    }
    mca_coll_pipering_fifo_give_back(end->load->fifo, (uint64_t) k);
    while (!mca_coll_pipering_fifo_is_there(end->load->fifo, run, (uint64_t) k)) {
        sched_yield();
    }
}

static void read_run(end_t *end, int i)
{
    load_t *load = end->load;
    run_t run = start_run(load, i);

    for (int k = 0; k < load->blocks[i]; k++) {
        await(end, &run, k);
        end->right = end->right
                     && 0 == memcmp(mca_coll_pipering_fifo_place(load->fifo, &run, (uint64_t) k),
                                    content(load, i, k), length(load, i, k));
        if (0 == (uint64_t) (k + 1) % end->patience && k + 1 < load->blocks[i]) {
            mca_coll_pipering_fifo_give_back(load->fifo, (uint64_t) k + 1);
        }
    }
}

static void *read_all(void *argument)
{
    end_t *end = argument;

    for (int i = 0; i < RUNS; i++) {
        mca_coll_pipering_fifo_clear(end->load->fifo);
        __atomic_store_n(&end->load->granted, i + 1, __ATOMIC_RELEASE);
        read_run(end, i);
    }
    return NULL;
}

static load_t *new_load(void)
{
    load_t *load = tap_memory(sizeof(*load));

    load->size = 64 * (size_t) tap_between(2, 2 * BLOCK_MOST / 64);
    load->fifo = tap_memory(sizeof(fifo_t) + load->size);
    load->granted = 0;
    tap_garbage(load->fifo, sizeof(fifo_t) + load->size);
    tap_garbage(load->table, sizeof(load->table));
    for (int i = 0; i < RUNS; i++) {
        load->writer[i] = (int) tap_below(WRITERS);
        load->block[i] = 1 + tap_below(load->size / 2 / 64 * 64);
        load->blocks[i] = tap_between(1, BLOCKS_MOST);
    }
    return load;
}

/* All ends of one buffer. */
static bool passes(uint64_t patience)
{
    load_t *load = new_load();
    end_t end[WRITERS + 1];
    pthread_t thread[WRITERS + 1];
    bool right;

    for (int i = 0; i <= WRITERS; i++) {
        end[i] = (end_t){.load = load, .who = i, .patience = patience, .right = true};
        pthread_create(&thread[i], NULL, i < WRITERS ? write_all : read_all, &end[i]);
    }
    for (int i = 0; i <= WRITERS; i++) {
        pthread_join(thread[i], NULL);
    }
    right = end[WRITERS].right;
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
    tally_ok(&tally, BUFFERS, "a reader and two writers: the bytes are right");
    return tap_end();
}
