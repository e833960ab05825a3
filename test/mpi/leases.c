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
 * What ring buffers take of shared memory, and what happens where there is none to be had.
 *
 *   WAY=growth  COMMS communicators, on each of which all ranks are root in turn; after each
 *               one a rank has at most MOST bytes of files made in DIRECTORY. Then messages and a
 *               window in shared memory, which the rest of /dev/shm must have room for.
 *   WAY=leaders COMMS communicators use coll/mleader; the file system of DIRECTORY, which is
 *               this job's alone, has at most MOST bytes in use
 *   WAY=orders  calls under way on two communicators, which ranks start in different orders;
 *               with EXPECT=some there is not room for all of them.
 *   WAY=differ  a variable (VARIABLE, VALUE) is changed on odd ranks once the communicator is
 *               set up: CALL fails on all ranks.
 *   WAY=counts  likewise, but ranks differ in the count of MPI_Bcast
 */

#include "arena.h"
#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define COUNT (1 << 18)
#define LARGE 12000 /* integers of each of few ranks, for which a segment has half a MiB */
#define ORDERS 6 /* calls under way on a communicator */
#define MESSAGES 16
#define MESSAGE (1 << 20)

static int value(int key, int i)
{
    return key * 1000003 + i * 7 + 1;
}

static void fill(int *data, int key)
{
    for (int i = 0; i < COUNT; i++) {
        data[i] = value(key, i);
    }
}

static bool is_filled(const int *data, int key)
{
    for (int i = 0; i < COUNT; i++) {
        if (value(key, i) != data[i]) {
            return false;
        }
    }
    return true;
}

/* Of values that sum up over ranks with the keys `key` on. */
static bool is_sum(const int *data, int key)
{
    for (int i = 0; i < COUNT; i++) {
        unsigned sum = 0;

        for (int r = 0; r < tap_size; r++) {
            sum += (unsigned) value(key + r, i);
        }
        if ((int) sum != data[i]) {
            return false;
        }
    }
    return true;
}

/* ---- growth ---- */

static bool all_roots(MPI_Comm comm, int *a, int *b)
{
    bool right = true;

    for (int root = 0; root < tap_size; root++) {
        fill(a, root + tap_rank);
        TAP_MPI(MPI_Reduce(a, b, COUNT, MPI_INT, MPI_SUM, root, comm));
        right = right && (root != tap_rank || is_sum(b, root));
        fill(a, tap_rank);
        TAP_MPI(MPI_Bcast(a, COUNT, MPI_INT, root, comm));
        right = right && is_filled(a, root);
    }
    return right;
}

/* What transports take of /dev/shm when they need it. */
static void burst(void)
{
    char *out = tap_memory((size_t) MESSAGES * MESSAGE);
    char *in = tap_memory((size_t) MESSAGES * MESSAGE);
    MPI_Request request[2 * MESSAGES];

    memset(out, tap_rank, (size_t) MESSAGES * MESSAGE);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Irecv(in + (size_t) i * MESSAGE, MESSAGE, MPI_BYTE,
                  (tap_rank + tap_size - 1) % tap_size, i, MPI_COMM_WORLD, &request[i]);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Isend(out + (size_t) i * MESSAGE, MESSAGE, MPI_BYTE, (tap_rank + 1) % tap_size, i,
                  MPI_COMM_WORLD, &request[MESSAGES + i]);
    }
    TAP_MPI(MPI_Waitall(2 * MESSAGES, request, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
}

static bool window(long bytes)
{
    MPI_Win win;
    char *mine;
    int code;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Win_allocate_shared((MPI_Aint) bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                                   &win);
    if (MPI_SUCCESS == code) {
        memset(mine, 1, (size_t) bytes);
        MPI_Win_free(&win);
    }
    return MPI_SUCCESS == code;
}

static void try_growth(int *a, int *b)
{
    const char *directory = getenv("DIRECTORY");
    const int comms = (int) tap_number("COMMS", 6);
    const long board = arena_bytes(directory); /* of pulls, which stays */
    const long most = tap_number("MOST", 2 << 20), wide = tap_number("WINDOW", 1 << 20);
    MPI_Comm *comm = tap_memory((size_t) comms * sizeof(MPI_Comm));
    bool right = true;
    long held = 0;
    char fault[100];

    for (int c = 0; c < comms; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
        right = all_roots(comm[c], a, b) && right;
        MPI_Barrier(MPI_COMM_WORLD);
        const long now = arena_bytes(directory) - board;
        held = now > held ? now : held;
    }
    snprintf(fault, sizeof(fault), "%ld bytes", held);
    tap_check(right, "wrong data", "%d communicators: results", comms);
    tap_check(0 < held && most >= held, fault,
              "%d communicators: at most %ld bytes a rank", comms, most);
    tap_check(0 < knob_counter("coll_pipering_bytes_shared"), "none", "through ring buffers");
    burst();
    tap_check(window(wide), "error", "a window of %ld bytes a rank", wide);
    for (int c = 0; c < comms; c++) {
        MPI_Comm_free(&comm[c]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    held = arena_bytes(directory);
    snprintf(fault, sizeof(fault), "%ld bytes", held - board);
    tap_check(board == held, fault, "no communicator: no memory");
    free(comm);
}

static long used_of(const char *directory)
{
    struct statvfs about;

    return 0 == statvfs(directory, &about)
               ? (long) ((about.f_blocks - about.f_bfree) * about.f_frsize)
               : -1;
}

/* Its first calls on a communicator are not its own. */
/* Of an integer, then of many, for which segments grow; of an integer again. */
static bool gathers(MPI_Comm comm, int *a, int *b)
{
    bool right = true;

    for (int n = 0; n < 4; n++) {
        const int count = 1 == n % 3 ? LARGE : 1;
        a[0] = a[count - 1] = n * tap_size + tap_rank;
        TAP_MPI(MPI_Allgather(a, count, MPI_INT, b, count, MPI_INT, comm));
        for (int r = 0; r < tap_size; r++) {
            right = right && n * tap_size + r == b[r * count]
                    && n * tap_size + r == b[(r + 1) * count - 1];
        }
    }
    return right;
}

static void try_leaders(int *a, int *b)
{
    const char *directory = getenv("DIRECTORY");
    const int comms = (int) tap_number("COMMS", 30);
    const long most = tap_number("MOST", 2 << 20);
    MPI_Comm *comm = tap_memory((size_t) comms * sizeof(MPI_Comm));
    bool right = true;
    long used = 0;
    char fault[100];

    for (int c = 0; c < comms; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
        right = gathers(comm[c], a, b) && right;
        MPI_Barrier(MPI_COMM_WORLD);
        used = used_of(directory) > used ? used_of(directory) : used;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    snprintf(fault, sizeof(fault), "%ld bytes", used);
    tap_check(right, "wrong data", "leaders, %d communicators: results", comms);
    tap_check(2 << 20 <= used && most >= used, fault,
              "leaders, %d communicators: at most %ld bytes", comms, most);
    for (int c = 0; c < comms; c++) {
        MPI_Comm_free(&comm[c]);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    used = used_of(directory);
    MPI_Barrier(MPI_COMM_WORLD);
    right = gathers(comm[0], a, b);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(fault, sizeof(fault), "%ld bytes, then %ld", used, used_of(directory));
    tap_check(right && used + (LARGE << 4) <= used_of(directory), fault,
              "leaders: a segment again when others are gone");
    MPI_Comm_free(&comm[0]);
    free(comm);
}

/* ---- two communicators ---- */

static void try_orders(void)
{
    const char *expect = getenv("EXPECT");
    const bool some = NULL != expect && 0 == strcmp(expect, "some");
    MPI_Request request[2][ORDERS];
    int *data[2][ORDERS], *sum[2][ORDERS];
    uint64_t mine[2], all[2];
    MPI_Comm comm[2];
    bool right = true;

    for (int c = 0; c < 2; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
        for (int i = 0; i < ORDERS; i++) {
            data[c][i] = tap_memory(COUNT * sizeof(int));
            sum[c][i] = tap_memory(COUNT * sizeof(int));
        }
        MPI_Bcast(data[c][0], COUNT, MPI_INT, 0, comm[c]); /* sets it up */
    }
    knob_folds(KNOB_PIPELINE, KNOB_MERGED);
    for (int n = 0; n < 20; n++) {
        for (int half = 0; half < 2; half++) {
            const int c = (half + tap_rank + n) % 2; /* another one first on every second rank */

            for (int i = 0; i < ORDERS; i++) {
                fill(data[c][i], c + i + tap_rank);
                if (0 == i % 2) {
                    MPI_Iallreduce(data[c][i], sum[c][i], COUNT, MPI_INT, MPI_SUM, comm[c],
                                   &request[c][i]);
                } else {
                    MPI_Ibcast(data[c][i], COUNT, MPI_INT, (i + n) % tap_size, comm[c],
                               &request[c][i]);
                }
            }
        }
        for (int c = 0; c < 2; c++) {
            TAP_MPI(MPI_Waitall(ORDERS, request[c], MPI_STATUSES_IGNORE));
            for (int i = 0; i < ORDERS; i++) {
                right = right
                        && (0 == i % 2 ? is_sum(sum[c][i], c + i)
                                       : is_filled(data[c][i], c + i + (i + n) % tap_size));
            }
        }
    }
    knob_folds(KNOB_PIPELINE, KNOB_OFF);
    mine[0] = knob_counter("coll_pipering_bytes_shared");
    mine[1] = knob_counter("coll_pipering_bytes_received");
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    tap_check(right, "wrong data", "two communicators, in any order: results");
    tap_check(0 < all[0] && (some ? all[0] < all[1] : all[0] == all[1]), "another portion",
              "two communicators: %s goes through ring buffers", some ? "some" : "all");
    for (int c = 0; c < 2; c++) {
        MPI_Comm_free(&comm[c]);
        for (int i = 0; i < ORDERS; i++) {
            free(data[c][i]);
            free(sum[c][i]);
        }
    }
}

/* ---- ranks that differ ---- */

static void change_variable(void)
{
    const char *variable = getenv("VARIABLE");
    char name[100];

    snprintf(name, sizeof(name), "coll_pipering_%s", NULL == variable ? "" : variable);
    if (NULL != variable && 1 == tap_rank % 2) {
        knob_set(name, (double) tap_number("VALUE", 0));
    }
}

/* Of a communicator on which a call has failed nothing is promised: it is not freed. */
static void try_differ(int *a, int *b, int count)
{
    form_t form;
    foldcall_t call = {.call = foldcall_chosen(&form), .send = a, .count = COUNT, .type = MPI_INT,
                       .op = MPI_SUM};
    char fault[100];
    int code;

    call.recv = FOLD_BCAST == call.call ? a : b;
    MPI_Comm_dup(MPI_COMM_WORLD, &call.comm);
    MPI_Comm_set_errhandler(call.comm, MPI_ERRORS_RETURN);
    fill(a, tap_rank);
    knob_folds(KNOB_PIPELINE, KNOB_MERGED);
    TAP_MPI(foldcall(&call, form));
    change_variable();
    call.count = count;
    code = foldcall(&call, form);
    knob_folds(KNOB_PIPELINE, KNOB_OFF);

    snprintf(fault, sizeof(fault), "error code %d", code);
    tap_check(MPI_ERR_OTHER == code, fault, "%s: an error on every rank",
              foldcall_name(call.call));
}

int main(int argc, char **argv)
{
    const char *way = getenv("WAY");

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin() || NULL == way) {
        tap_bail("there is no coll/pipering here, or WAY is not set");
    }
    knob_folds(KNOB_PIPELINE, KNOB_OFF); /* what MPI calls itself is not meant */
    int *a = tap_memory(COUNT * sizeof(int)), *b = tap_memory(COUNT * sizeof(int));
    if (0 == strcmp(way, "growth")) {
        try_growth(a, b);
    } else if (0 == strcmp(way, "leaders")) {
        try_leaders(a, b);
    } else if (0 == strcmp(way, "orders")) {
        try_orders();
    } else {
        try_differ(a, b, COUNT - (0 == strcmp(way, "counts") && 1 == tap_rank % 2));
    }
    free(a);
    free(b);
    knob_end();
    return tap_end();
}
