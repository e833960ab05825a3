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
 * What exchanges promise besides the right data: who has no part in one delays nobody; no
 * message for nothing, by the counters; errors go to whom they concern, and the others go
 * on; what is switched off is left to others; a message may have more than 2^31 bytes.
 *
 * That nobody waits for a rank is not told by time: that rank enters the call only after
 * all others have told it that they are through.
 */

#include "knob.h"
#include "swap.h"
#include "tap.h"
#include "usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AUTO = 0, BINS = 1, OFF = 5 };

static const char *const algorithm_name[] = {"auto", "bins"};
static const char *const call_name[] = {"alltoall", "alltoallv", "alltoallw", "neighbor_alltoallw"};

static void choose(swap_kind_t call, int algorithm)
{
    char name[64];

    snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", call_name[call]);
    knob_set(name, algorithm);
}

/* ---- a rank that has no part ---- */

/** Rank 0 has none, and enters the call when it has heard from everyone. */
static void try_late(swap_kind_t kind, bool in_place, int algorithm)
{
    swap_spec_t spec = {.comm = MPI_COMM_WORLD, .kind = kind, .in_place = in_place, .zeros = 40,
                        .most = 2000, .without_0 = true};
    dice_t own = dice_from(1, (uint64_t) kind, (uint64_t) tap_rank);
    const char *name;

    choose(kind, algorithm);
    if (SWAP_NEIGHBORS == kind) {
        spec.comm = swap_topology(MPI_COMM_WORLD, 2, &name);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &spec.quiet);
    call_t *swap = swap_new(&spec, 7, &own);
    for (int i = 1; 0 == tap_rank && i < tap_size; i++) {
        MPI_Recv(NULL, 0, MPI_INT, i, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    TAP_MPI(call_run(swap, BLOCKING));
    if (0 != tap_rank) {
        MPI_Send(NULL, 0, MPI_INT, 0, 7, MPI_COMM_WORLD);
    }
    tap_check(call_right(swap), swap->fault, "%s%s, %s: nobody waits for a rank without a part",
              call_name[kind], in_place ? " in place" : "", algorithm_name[algorithm]);
    call_free(swap);
    MPI_Comm_free(&spec.quiet);
    if (MPI_COMM_WORLD != spec.comm) {
        MPI_Comm_free(&spec.comm);
    }
    choose(kind, AUTO);
}

/* ---- counters ---- */

static uint64_t counted(const char *name)
{
    char full[80];

    snprintf(full, sizeof(full), "coll_pipering_alltoall_%s", name);
    return knob_counter(full);
}

static void try_counters(swap_kind_t call, bool in_place, uint64_t key)
{
    static const char *const names[] = {"calls", "messages_sent", "bytes_sent", "zeros_skipped"};
    dice_t own = dice_from(key, 9, (uint64_t) tap_rank);
    MPI_Comm quiet, comm = MPI_COMM_WORLD;
    const char *name = "all";
    uint64_t before[4], after[4];
    char fault[200] = "wrong data";

    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    if (SWAP_NEIGHBORS == call) {
        comm = swap_topology(MPI_COMM_WORLD, key, &name);
    }
    const swap_spec_t spec = {.comm = comm, .quiet = quiet, .kind = call, .in_place = in_place,
                              .zeros = 50, .most = 20000};
    call_t *swap = swap_new(&spec, key, &own);
    const swap_volume_t volume = swap_volume(swap);
    const uint64_t wanted[4] = {1, (uint64_t) volume.messages, volume.bytes,
                                (uint64_t) volume.zeros};

    bool right = true;
    for (int i = 0; i < 4; i++) {
        before[i] = counted(names[i]);
    }
    TAP_MPI(call_start(swap, BLOCKING));
    for (int i = 0; i < 4; i++) {
        after[i] = counted(names[i]);
        if (wanted[i] != after[i] - before[i]) {
            snprintf(fault, sizeof(fault), "%s: %d, must be %d", names[i],
                     (int) (after[i] - before[i]), (int) wanted[i]);
            right = false;
        }
    }
    right = call_right(swap) && right;
    tap_check(right, fault, "%s%s, %s: a message where there are bytes, and none else",
              call_name[call], in_place ? " in place" : "", name);
    call_free(swap);
    MPI_Comm_free(&quiet);
    if (MPI_COMM_WORLD != comm) {
        MPI_Comm_free(&comm);
    }
}

/**
 * In place, one pair at a time. Ranks whose variables were not the same could come to
 * their pairs in orders by which 0 waits for 2, 2 for 1, and 1 for 0.
 */
static void try_unequal(void)
{
    static const int bytes[3][3] = {{0, 100000, 2000}, {100000, 0, 1000}, {2000, 1000, 0}};
    static const int small[3] = {3000, 0, 1500};
    const size_t p = (size_t) tap_size;
    int *count = tap_memory(p * sizeof(int)), *displ = tap_memory(p * sizeof(int)), over = 0;
    char *in = tap_memory(p * 100000);
    const double end = MPI_Wtime() + 60;
    MPI_Request request;

    for (int i = 0; i < tap_size; i++) {
        count[i] = 3 > i && 3 > tap_rank ? bytes[tap_rank][i] : 0;
        displ[i] = 100000 * i;
    }
    memset(in, 1 + tap_rank, p * 100000);
    knob_set("coll_pipering_alltoall_small", 3 > tap_rank ? small[tap_rank] : 7);
    knob_set("coll_pipering_alltoall_window", 1);
    TAP_MPI(MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_CHAR, in, count, displ, MPI_CHAR,
                           MPI_COMM_WORLD, &request));
    while (!over && MPI_Wtime() < end) {
        MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
    if (!over) {
        tap_bail("in place, variables that are not the same on all ranks: the call hangs");
    }
    for (int i = 0; i < tap_size; i++) {
        over &= 1 + (0 < count[i] ? i : tap_rank) == in[displ[i]];
    }
    tap_check(over, "wrong data", "in place, variables that are not the same on all ranks");
    knob_set("coll_pipering_alltoall_window", 0);
    free(count);
    free(displ);
    free(in);
}

/* ---- left to others ---- */

/** By simple types: with others Open MPI's own MPI_Ialltoallw is wrong (5.0.7). */
static void try_off(swap_kind_t call, form_t form)
{
    dice_t own = dice_from(5, (uint64_t) form, (uint64_t) tap_rank);
    MPI_Comm quiet;

    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    const swap_spec_t spec = {.comm = MPI_COMM_WORLD, .quiet = quiet, .kind = call, .zeros = 30,
                              .most = 500, .plain = true};
    call_t *swap = swap_new(&spec, 5, &own);
    choose(call, OFF);
    const uint64_t calls = counted("calls"), off = knob_counter("coll_pipering_fallback_off");
    TAP_MPI(call_start(swap, form));
    TAP_MPI(call_wait(swap));
    const bool left = counted("calls") == calls
                      && knob_counter("coll_pipering_fallback_off") == off + 1;
    tap_check(call_right(swap) && left, left ? "wrong data" : "it was not left",
              "%s, form %d: left to the module below where it is off", call_name[call],
              (int) form);
    choose(call, AUTO);
    call_free(swap);
    MPI_Comm_free(&quiet);
}

/* ---- errors, size ---- */

/** Rank 1 expects less from rank 0 than that sends; what others send arrives. */
static void try_truncation(int bytes)
{
    const size_t p = (size_t) tap_size;
    int *out = tap_memory(p * sizeof(int)), *in = tap_memory(p * sizeof(int));
    int *displ = tap_memory(p * sizeof(int)), class = MPI_SUCCESS;
    char *from = tap_memory(p * (size_t) bytes), *to = tap_memory(p * (size_t) bytes);
    MPI_Comm comm;
    bool right = true;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < tap_size; i++) {
        out[i] = in[i] = bytes;
        displ[i] = bytes * i;
    }
    memset(from, 1 + tap_rank, p * (size_t) bytes);
    memset(to, 0, p * (size_t) bytes);
    in[0] = 1 == tap_rank ? bytes / 2 : bytes;
    const int code = MPI_Alltoallv(from, out, displ, MPI_CHAR, to, in, displ, MPI_CHAR, comm);
    MPI_Error_class(code, &class);
    for (int i = 0; i < tap_size; i++) {
        right &= (1 == tap_rank && 0 == i) || 1 + i == to[displ[i] + bytes - 1];
    }
    in[0] = bytes;
    right &= MPI_SUCCESS
             == MPI_Alltoallv(from, out, displ, MPI_CHAR, to, in, displ, MPI_CHAR, comm);
    right &= 1 == to[bytes - 1];
    tap_check(right && class == (1 == tap_rank ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "another result",
              "%d bytes where half of them were expected: MPI_ERR_TRUNCATE there alone", bytes);
    MPI_Comm_free(&comm);
    free(out);
    free(in);
    free(displ);
    free(from);
    free(to);
}

/**
 * Communicator and types may go before a call is over, or started, and are gone afterwards.
 * Messages that are on their way still have a communicator; coll/han takes some for good.
 */
static void try_orphans(form_t form)
{
    numbers_t last = {{0}};
    int gone = 0;
    bool right = true;

    for (uint64_t i = 0; i < 20 && !gone; i++) {
        swap_spec_t spec = {.kind = SWAP_W, .most = 200000, .plain = true};
        dice_t own = dice_from(i, 3, (uint64_t) tap_rank);

        MPI_Comm_dup(MPI_COMM_WORLD, &spec.comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &spec.quiet);
        call_t *swap = swap_new(&spec, i, &own);
        TAP_MPI(PERSISTENT == form ? call_init(swap) : call_start(swap, form));
        call_orphan(swap);
        MPI_Comm_free(&spec.comm);
        TAP_MPI(PERSISTENT == form ? MPI_Start(&swap->request) : MPI_SUCCESS);
        TAP_MPI(call_wait(swap));
        right &= call_right(swap);
        call_free(swap);
        MPI_Comm_free(&spec.quiet);
        const numbers_t now = usage_numbers();
        gone = 0 == memcmp(&now, &last, sizeof(now));
        last = now;
        MPI_Allreduce(MPI_IN_PLACE, &gone, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    tap_check(right, "wrong data", "communicator and types freed, %s", form_name(form));
    tap_check(gone, "other numbers", "and gone, %s", form_name(form));
}

/** More than 2^31 bytes from rank 0 to rank 1: the same MiB again and again. */
static void try_large(void)
{
    const size_t chunk = (size_t) 1 << 20, chunks = 2100, p = (size_t) tap_size;
    int *out = tap_memory(p * sizeof(int)), *in = tap_memory(p * sizeof(int));
    int *displ = tap_memory(p * sizeof(int));
    MPI_Datatype piece, again, *from = tap_memory(p * sizeof(*from)), *to
                                                                     = tap_memory(p * sizeof(*to));
    unsigned char *small = tap_memory(chunk), *large = NULL;
    bool right = true;

    MPI_Type_contiguous((int) chunk, MPI_BYTE, &piece);
    MPI_Type_commit(&piece);
    MPI_Type_create_resized(piece, 0, 0, &again);
    MPI_Type_commit(&again);
    for (size_t i = 0; i < p; i++) {
        out[i] = 0 == tap_rank && 1 == i ? (int) chunks : 0;
        in[i] = 1 == tap_rank && 0 == i ? (int) chunks : 0;
        displ[i] = 0;
        from[i] = again;
        to[i] = piece;
    }
    for (size_t i = 0; i < chunk; i++) {
        small[i] = (unsigned char) (i * 7 + i / 4099);
    }
    if (1 == tap_rank) {
        large = mmap(NULL, chunk * chunks, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (MAP_FAILED == large) {
            tap_bail("no memory");
        }
    }
    TAP_MPI(MPI_Alltoallw(small, out, displ, from, large, in, displ, to, MPI_COMM_WORLD));
    for (size_t i = 0; NULL != large && i < chunks; i++) {
        right &= 0 == memcmp(large + i * chunk, small, chunk);
    }
    tap_check(right, "wrong data", "a message of %.1f GB", (double) (chunk * chunks) / 1e9);
    if (NULL != large) {
        munmap(large, chunk * chunks);
    }
    MPI_Type_free(&piece);
    MPI_Type_free(&again);
    free(out);
    free(in);
    free(displ);
    free(from);
    free(to);
    free(small);
}

static void try_all_calls(void)
{
    for (int algorithm = AUTO; algorithm <= BINS; algorithm++) {
        try_late(SWAP_V, false, algorithm);
        try_late(SWAP_W, false, algorithm);
        try_late(SWAP_V, true, algorithm);
        try_late(SWAP_W, true, algorithm);
    }
    try_late(SWAP_NEIGHBORS, false, BINS);
    for (uint64_t key = 0; key < 6; key++) {
        try_counters(SWAP_V, 0 == key % 2, key);
        try_counters(SWAP_W, 0 == key % 2, key);
        try_counters(SWAP_NEIGHBORS, false, key);
    }
    if (4 <= tap_size) {
        try_unequal();
    }
    for (form_t form = BLOCKING; form < FORMS; form++) {
        try_off(SWAP_V, form);
        try_off(SWAP_W, form);
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("coll/pipering is not there");
    }
    try_all_calls();
    /* the next call hangs over some transports, whoever serves it */
    if (NULL == getenv("TRUNCATE") || 0 != strcmp("no", getenv("TRUNCATE"))) {
        try_truncation(100);
        try_truncation(300000);
    }
    try_orphans(NONBLOCKING);
    try_orphans(PERSISTENT);
    if (0 != tap_number("LARGE", 0)) {
        try_large();
    }
    knob_end();
    return tap_end();
}
