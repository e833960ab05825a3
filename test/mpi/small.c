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
 * Small calls, from the first one of a communicator on, on all ranks alike, though each rank may
 * describe its data by other types: gathers are served from as many bytes on as the model says, and
 * sums never, but for scans of integers, which have the same bits in any order.
 *
 * The links are slow, so that rounds pay for one contributor of BYTES.
 */

#include "knob.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 4096
#define FEW 8 /* bytes, of which no gather pays */

static uint64_t served(void)
{
    return knob_counter("coll_pipering_calls");
}

static MPI_Datatype of_bytes(int bytes)
{
    MPI_Datatype type;

    TAP_MPI(MPI_Type_contiguous(bytes, MPI_BYTE, &type));
    TAP_MPI(MPI_Type_commit(&type));
    return type;
}

/* Of so many bytes, rank 0's; `way`: with its type, with another one on odd ranks, in place. */
static bool gather(MPI_Comm comm, int bytes, int way)
{
    int *counts = calloc((size_t) tap_size, sizeof(int));
    int *displs = calloc((size_t) tap_size, sizeof(int));
    char *from = malloc((size_t) bytes), *to = malloc((size_t) bytes);
    MPI_Datatype whole = of_bytes(bytes);
    const int mine = 0 == tap_rank ? bytes : 0;
    bool right = true;

    memset(from, 42 + way, (size_t) bytes);
    memset(to, 2 == way && 0 == tap_rank ? 42 + way : 0, (size_t) bytes);
    counts[0] = bytes;
    TAP_MPI(2 == way ? MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, to, counts, displs, MPI_BYTE,
                                      comm)
            : 1 == way && 1 == tap_rank % 2
                ? MPI_Allgatherv(from, mine / bytes, whole, to, counts, displs, MPI_BYTE, comm)
                : MPI_Allgatherv(from, mine, MPI_BYTE, to, counts, displs, MPI_BYTE, comm));
    for (int i = 0; i < bytes; i++) {
        right = right && 42 + way == to[i];
    }
    TAP_MPI(MPI_Type_free(&whole));
    free(to);
    free(from);
    free(displs);
    free(counts);
    return right;
}

static bool broadcast(MPI_Comm comm)
{
    char data[100];

    memset(data, 0 == tap_rank ? 7 : 0, sizeof(data));
    TAP_MPI(MPI_Bcast(data, sizeof(data), MPI_BYTE, 0, comm));
    return 7 == data[0] && 7 == data[sizeof(data) - 1];
}

static bool add(MPI_Comm comm)
{
    double one[16], sum[16];

    for (int i = 0; i < 16; i++) {
        one[i] = 1;
    }
    TAP_MPI(MPI_Allreduce(one, sum, 16, MPI_DOUBLE, MPI_SUM, comm));
    return tap_size == sum[0] && tap_size == sum[15];
}

#define TERMS 200 /* so many bytes that links take longer than processors that ranks share */

/* A scan of integers, or of floating-point values. */
static bool scan(MPI_Comm comm, bool exclusive, bool integers)
{
    const int terms = exclusive ? tap_rank : tap_rank + 1;
    double value[TERMS], sum[TERMS];
    int number[TERMS], numbers[TERMS];
    bool right = true;

    for (int i = 0; i < TERMS; i++) {
        value[i] = number[i] = i;
    }
    const void *from = integers ? (const void *) number : value;
    void *to = integers ? (void *) numbers : sum;
    const MPI_Datatype type = integers ? MPI_INT : MPI_DOUBLE;
    TAP_MPI(exclusive ? MPI_Exscan(from, to, TERMS, type, MPI_SUM, comm)
                      : MPI_Scan(from, to, TERMS, type, MPI_SUM, comm));
    for (int i = 0; i < TERMS && 0 < terms; i++) {
        right = right && terms * i == (integers ? numbers[i] : sum[i]);
    }
    return right;
}

/* The first small call of a communicator is served, behind one of this many bytes (0: none). */
static void test_after(int bytes)
{
    MPI_Comm comm;

    TAP_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    bool right = broadcast(comm) && (0 == bytes || gather(comm, bytes, 0));
    const uint64_t before = served();
    right = gather(comm, BYTES, 1) && right;
    const uint64_t after = served();
    right = gather(comm, FEW, 0) && gather(comm, FEW, 1) && gather(comm, FEW, 2) && right;
    const uint64_t few = served();
    for (int i = 0; i < 20; i++) {
        right = add(comm) && right;
    }
    tap_check(right && before + 1 == after, right ? "it is not" : "wrong data",
              "behind a call of %d bytes one of %d is served", bytes, BYTES);
    tap_check(after == few, "some are", "calls of %d bytes are not", FEW);
    right = scan(comm, false, false) && scan(comm, true, false) && right;
    tap_check(few == served(), "some are", "small sums are not");
    right = scan(comm, false, true) && scan(comm, true, true) && right;
    int *node_of = calloc((size_t) tap_size, sizeof(int));
    if (tap_size > tap_nodes(comm, node_of)) {
        tap_check(right, "wrong data", "small scans of integers are right");
    } else {
        tap_check(right && few + 2 == served(), right ? "they are not" : "wrong data",
                  "small scans of integers are");
    }
    free(node_of);
    TAP_MPI(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    test_after(0);
    test_after(16384);
    knob_end();
    return tap_end();
}
