/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/*
 * MPI_Allgatherv_c with more elements in all than an int counts, 3 x 2^31 of one byte: two large
 * contributions of unequal sizes, displacements beyond 2^32, blocking and nonblocking. Buffers are
 * one window of memory, mapped again and again, so the same bytes arrive at addresses a multiple of
 * the window apart, and must be equal there. MPI before 4.0 has no such function.
 */

#define _GNU_SOURCE

#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if 4 <= MPI_VERSION

#define WINDOW ((size_t) 64 << 20)
#define TOTAL ((size_t) 3 << 31)

/* `windows` times the same memory, one behind the other; NULL: it cannot be mapped. */
static char *map_again(size_t windows)
{
    const int file = memfd_create("large_counts", 0);
    char *at = mmap(NULL, windows * WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool good = 0 <= file && MAP_FAILED != at && 0 == ftruncate(file, (off_t) WINDOW);

    for (size_t i = 0; i < windows && good; ++i) {
        good = MAP_FAILED
               != mmap(at + i * WINDOW, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                       0);
    }
    (void) close(file);
    return good ? at : NULL;
}

/* Byte i of the result, in all windows. */
static char pattern(size_t i)
{
    return (char) ((i % WINDOW) * 2654435761u >> 13);
}

static bool is_right(const char *to)
{
    size_t i = 0;

    while (i < WINDOW && pattern(i) == to[i]) {
        ++i;
    }
    return WINDOW == i;
}

static void fill(char *from, size_t begin)
{
    for (size_t i = 0; i < WINDOW; ++i) {
        from[i] = pattern(begin + i);
    }
}

int main(int argc, char **argv)
{
    MPI_Request request;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    const int me = tap_rank, p = tap_size;

    /* the first rank has five sixths, the last one the rest, those between nothing */
    MPI_Count *counts = tap_memory((size_t) p * sizeof(*counts));
    MPI_Aint *displs = tap_memory((size_t) p * sizeof(*displs));
    memset(counts, 0, (size_t) p * sizeof(*counts));
    memset(displs, 0, (size_t) p * sizeof(*displs));
    counts[0] = (MPI_Count) (TOTAL / 6 * 5 / WINDOW * WINDOW);
    counts[p - 1] = (MPI_Count) TOTAL - counts[0];
    displs[p - 1] = (MPI_Aint) counts[0];

    char *from = map_again(TOTAL / WINDOW), *to = map_again(TOTAL / WINDOW);
    const bool mapped = NULL != from && NULL != to;
    if (!tap_check(mapped, "mmap", "3 x 2^31 bytes of addresses")) {
        return tap_end();
    }
    fill(from, (size_t) displs[me]);

    memset(to, 0, WINDOW);
    int rc = MPI_Allgatherv_c(from, counts[me], MPI_BYTE, to, counts, displs, MPI_BYTE,
                              MPI_COMM_WORLD);
    tap_check(MPI_SUCCESS == rc && is_right(to), NULL, "MPI_Allgatherv_c of 3 x 2^31 elements");

    memset(to, 0, WINDOW);
    rc = MPI_Iallgatherv_c(from, counts[me], MPI_BYTE, to, counts, displs, MPI_BYTE,
                           MPI_COMM_WORLD, &request);
    memset(counts, 0, (size_t) p * sizeof(*counts)); /* a call keeps what it needs */
    memset(displs, 0, (size_t) p * sizeof(*displs));
    rc = MPI_SUCCESS == rc ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
    tap_check(MPI_SUCCESS == rc && is_right(to), NULL, "MPI_Iallgatherv_c of them");
    free(displs);
    free(counts);
    return tap_end();
}

#else

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    tap_skip("MPI before 4.0 has no such function", "MPI_Allgatherv_c");
    return tap_end();
}

#endif
