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
 * Random blocking calls, each described as pipering-predict takes it:
 *
 *     predicted CALLS SEED DIRECTORY
 *
 * Before a call, rank 0 writes a line "call:" with the options of pipering-predict to standard
 * error, where the component's verbose lines go too; counts are in files of the directory.
 */

#include "dice.h"
#include "foldcall.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1024 * 1024)

static dice_t dice;
static char *in, *out;
static int *count, *displ;

/* Sizes of all octaves from 4 KiB on, no two alike. */
static int some_elements(int size)
{
    const int octave = 4096 << dice_roll(&dice, 8);

    return (octave + dice_roll(&dice, octave)) / size;
}

static void describe(int call, const char *options)
{
    if (0 == tap_rank) {
        fprintf(stderr, "call: %d %s\n", call, options);
    }
}

/* Equal, random, falling, or one large contribution. */
static int share_of(int kind, int r, int mean)
{
    switch (kind) {
    case 0:
        return mean;
    case 1:
        return dice_roll(&dice, 2 * mean);
    case 2:
        return mean * tap_size / (2 + r);
    default:
        return 0 == r ? mean * (tap_size - 1) : mean / 16;
    }
}

static void gather(int call, const char *directory)
{
    const int kind = dice_roll(&dice, 4), mean = 1 + some_elements(tap_size);
    char options[1024], path[900];
    FILE *file = NULL;

    snprintf(path, sizeof(path), "%s/counts-%d", directory, call);
    snprintf(options, sizeof(options), "--collective allgatherv --counts %s", path);
    if (0 == tap_rank) {
        file = fopen(path, "w");
        if (NULL == file) {
            tap_bail("the directory for counts cannot be written");
        }
    }
    for (int r = 0, at = 0; r < tap_size; at += count[r++]) {
        count[r] = share_of(kind, r, mean);
        displ[r] = at;
        if (NULL != file) {
            fprintf(file, "%d\n", count[r]);
        }
    }
    if (NULL != file) {
        fclose(file);
    }
    describe(call, options);
    TAP_MPI(MPI_Allgatherv(in, count[tap_rank], MPI_BYTE, out, count, displ, MPI_BYTE,
                           MPI_COMM_WORLD));
}

static void reduction(int call, int which)
{
    static const char *const names[] = {"reduce", "scan", "exscan", "allreduce"};
    static const fold_call_t calls[] = {FOLD_REDUCE, FOLD_SCAN, FOLD_EXSCAN, FOLD_ALLREDUCE};
    const bool exact = dice_once_in(&dice, 2);
    const MPI_Datatype type = exact ? MPI_INT : MPI_DOUBLE;
    const int size = exact ? 4 : 8, elements = some_elements(size);
    const int root = 0 == which ? dice_roll(&dice, tap_size) : 0;
    char options[256];

    snprintf(options, sizeof(options), "--collective %s --type %s --total %d --root %d",
             names[which], exact ? "int" : "double", elements * size, root);
    describe(call, options);
    TAP_MPI(foldcall(&(foldcall_t){calls[which], in, out, elements, type, MPI_SUM, root,
                                   MPI_COMM_WORLD, NULL, NULL},
                     BLOCKING));
}

static void broadcast(int call)
{
    const int bytes = some_elements(1), root = dice_roll(&dice, tap_size);
    char options[256];

    snprintf(options, sizeof(options), "--collective bcast --total %d --root %d", bytes, root);
    describe(call, options);
    TAP_MPI(MPI_Bcast(out, bytes, MPI_BYTE, root, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (4 > argc) {
        tap_bail("expected CALLS SEED DIRECTORY");
    }
    const int calls = atoi(argv[1]);
    dice = dice_from((uint64_t) atoi(argv[2]), 0, 0);
    in = tap_memory(4 * MOST);
    out = tap_memory(4 * MOST);
    count = tap_memory((size_t) tap_size * sizeof(int));
    displ = tap_memory((size_t) tap_size * sizeof(int));
    memset(in, 0, 4 * MOST);
    memset(out, 0, 4 * MOST);
    TAP_MPI(MPI_Bcast(in, 16384, MPI_BYTE, 0, MPI_COMM_WORLD)); /* which sets up, for small calls */
    for (int call = 0; call < calls; ++call) {
        const int which = dice_roll(&dice, 8);
        if (3 > which) {
            gather(call, argv[3]);
        } else if (7 > which) {
            reduction(call, which - 3);
        } else {
            broadcast(call);
        }
    }
    free(displ);
    free(count);
    free(out);
    free(in);
    tap_check(true, "", "calls were made");
    return tap_end();
}
