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
 * Ring buffers of communicators that come and go: ROUNDS of them. They are made in DIRECTORY,
 * where nothing ever has a name; they take no memory once the communicator is freed, and
 * mappings and open files are as many as before.
 */

#include "arena.h"
#include "knob.h"
#include "tap.h"
#include "usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 3000
#define WARM 40 /* rounds before anything is counted */
#define SLACK 4 /* mappings that the C library and Open MPI may need for themselves */

/** The most that there was while no call was under way. */
typedef struct usage_t {
    int names;  /**< in the directory */
    long bytes; /**< of this process, no communicator being alive */
} usage_t;

/* Communicators are made without any of this. */
static void set_calls(int gather, int line)
{
    knob_set("coll_pipering_allgather_algorithm", gather);
    knob_folds(line, KNOB_OFF);
}

/* A gather, a reduction and a broadcast, which together use all links that there can be. */
static bool use(MPI_Comm comm, int n, int *in, int *out)
{
    int size, rank, sum;
    MPI_Request request;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < COUNT; i++) {
        in[i] = rank + i;
    }
    TAP_MPI(MPI_Iallgather(in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm, &request));
    TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int r = 0; r < size; r++) {
        if (r != out[r * COUNT] || r + COUNT - 1 != out[(r + 1) * COUNT - 1]) {
            return false;
        }
    }
    TAP_MPI(MPI_Reduce(in, out, COUNT, MPI_INT, MPI_SUM, n % size, comm));
    TAP_MPI(MPI_Bcast(out, COUNT, MPI_INT, n % size, comm));
    sum = size * (size - 1) / 2;
    return sum == out[0] && sum + size * (COUNT - 1) == out[COUNT - 1];
}

static bool one_round(int n, const char *directory, int *in, int *out, usage_t *worst)
{
    MPI_Comm comm;
    bool right;

    if (0 == n % 2) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -tap_rank, &comm);
    }
    set_calls(KNOB_RING, KNOB_PIPELINE);
    right = use(comm, n, in, out);
    set_calls(KNOB_OFF, KNOB_OFF);
    MPI_Barrier(MPI_COMM_WORLD);
    const bool has_memory = 0 < arena_bytes(directory);
    const int names = usage_entries(directory);
    MPI_Comm_free(&comm);
    const long bytes = arena_bytes(directory);
    worst->names = worst->names > names ? worst->names : names;
    worst->bytes = worst->bytes > bytes ? worst->bytes : bytes;
    return right && has_memory;
}

int main(int argc, char **argv)
{
    const char *directory = getenv("DIRECTORY");
    const int rounds = (int) tap_number("ROUNDS", 200);
    int maps = 0, open = 0, *in, *out;
    usage_t worst = {0, 0};
    bool right = true;
    char fault[100];

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin() || NULL == directory) {
        tap_bail("there is no coll/pipering here, or DIRECTORY is not set");
    }
    set_calls(KNOB_OFF, KNOB_OFF);
    in = tap_memory(COUNT * sizeof(int));
    out = tap_memory((size_t) tap_size * COUNT * sizeof(int));
    for (int n = 0; n < WARM + rounds; n++) {
        if (WARM == n) {
            maps = usage_mappings("");
            open = usage_entries("/proc/self/fd");
        }
        right &= one_round(n, directory, in, out, &worst);
    }
    maps = usage_mappings("") - maps;
    open = usage_entries("/proc/self/fd") - open;
    snprintf(fault, sizeof(fault), "%d mappings, %d open files, %d names, %ld bytes", maps, open,
             worst.names, worst.bytes);
    tap_check(right, "wrong data", "%d communicators: results, with memory", rounds);
    tap_check(0 < knob_counter("coll_pipering_bytes_shared"), "none",
              "%d communicators: bytes went through ring buffers", rounds);
    tap_check(SLACK >= maps && 0 >= open && 0 == worst.names, fault,
              "%d communicators: no mapping, no open file more, never a name", rounds);
    tap_check(0 == worst.bytes, fault, "%d communicators: no memory is kept", rounds);
    free(in);
    free(out);
    knob_end();
    return tap_end();
}
