/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "cases.h"

#include "drawn.h"
#include "knob.h"
#include "tap.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FAILURES_SHOWN 5

bool cases_watched;
static uint64_t seed;
static int failures;
static char replay[200]; /* how to have this case again */

static void begin_case(int number)
{
    const char *place = getenv("REPLAY"); /* says which nodes, if any */
    char ranks[32];

    snprintf(ranks, sizeof(ranks), "P=%d", tap_size);
    snprintf(replay, sizeof(replay), "SEED=%llu CASE=%d %s", (unsigned long long) seed, number,
             NULL == place ? ranks : place);
}

static void hangs(int sign)
{
    char text[300];
    int length = snprintf(text, sizeof(text), "# rank %d hangs: %s\n", tap_rank, replay);

    (void) sign;
    if (0 < length && 0 < write(2, text, (size_t) length)) {
        _exit(3);
    }
    _exit(4);
}

void cases_fail(const char *what, const char *fault)
{
    if (failures++ < FAILURES_SHOWN) {
        fprintf(stderr, "# %s: rank %d: %s: %s\n", replay, tap_rank, what, fault);
        fflush(stderr);
    }
}

void cases_begin(int *argc, char ***argv)
{
    seed = (uint64_t) tap_number("SEED", 1);
    tap_begin(argc, argv, 0 < tap_number("THREADS", 0) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    knob_begin();
    signal(SIGALRM, hangs);
}

/* Whether there is time for another case, or a number left, as rank 0 sees it. */
static bool goes_on(int done, int wanted, double until)
{
    int more = done < wanted;

    if (0 < until) {
        more = MPI_Wtime() < until;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return more;
}

int cases_loop(cases_run_t *run)
{
    const int first = (int) tap_number("CASE", -1), patience = (int) tap_number("PATIENCE", 300);
    const int wanted = 0 <= first ? 1 : (int) tap_number("N", 100);
    const double seconds = 0 <= first ? 0 : (double) tap_number("SECONDS", 0);
    const double until = 0 < seconds ? MPI_Wtime() + seconds : 0;
    int done = 0;

    while (goes_on(done, wanted, until)) {
        const int number = (0 <= first ? first : 0) + done++;
        begin_case(number);
        alarm((unsigned) patience);
        run(seed, number);
    }
    alarm(0);
    tap_check(0 == failures, "failed, see above", "%d cases from %d of seed %llu at %d ranks", done,
              0 <= first ? first : 0, (unsigned long long) seed, tap_size);
    return done;
}

int cases_end(void)
{
    drawn_write();
    knob_end();
    return tap_end();
}
