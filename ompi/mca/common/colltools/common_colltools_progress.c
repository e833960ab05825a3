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
 * The progress thread of common_colltools_progress.h.
 */

#include "common_colltools_progress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

#include "common_colltools_compat.h"
#include "common_colltools_help.h"
#include "ompi/communicator/communicator.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/runtime/opal_progress.h"

/*
 * Nanoseconds between two looks: after one that has found something to do; at first, so that a
 * program that waits, maybe for its processor, is seen to do so, and at most, which a message waits
 * for at each rank on its way; where the program looks, whom the thread only disturbs.
 */
#define SOON 20000
#define LATE 200000
#define LATEST 1000000

/*
 * Looks without anything to do after which the thread sleeps: what an event of the first one has
 * brought is worked on in the second.
 */
#define LOOKS 2

static struct {
    pthread_mutex_t lock; /* of the signal */
    pthread_cond_t begun; /* a call begins, or the thread shall end */
    pthread_t thread;
    const bool *variable; /* of the user, ... */
    const char *name;     /* ... and its name */
    bool asked;    /* what it says; so much is known: */
    bool wanted;   /* there shall be a thread */
    int under_way; /* calls */
    bool inside;   /* the thread is in opal_progress, or about to be */
    bool over;     /* it shall not be there any more, ... */
    bool ends;     /* ... and end */
    uint32_t seen; /* times that progress has been looked for, by whomever ... */
    uint32_t made; /* ... and that some has been made */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .begun = PTHREAD_COND_INITIALIZER};

bool mca_common_colltools_progress_on;

#define GET(field) __atomic_load_n(&state.field, __ATOMIC_SEQ_CST)
#define SET(field, value) __atomic_store_n(&state.field, value, __ATOMIC_SEQ_CST)

/* ---- the thread ---- */

static bool is_idle(void)
{
    return 0 == GET(under_way) || GET(over);
}

/* Who ends what progress needs sets `over`, or ends the last call, and then reads `inside`. */
static bool make_progress(void)
{
    bool found = false;
    int looks = 0;

    SET(inside, true);
    while (LOOKS > looks && !is_idle()) {
        const uint32_t made = GET(made);
        looks = 0 < MCA_COMMON_COLLTOOLS_PROGRESS() || GET(made) != made ? 0 : looks + 1;
        found |= 0 == looks;
    }
    SET(inside, false);
    return found;
}

/* Sleeps, and makes progress unless others have done so meanwhile; the time to sleep next. */
static long look(long pause)
{
    const struct timespec time = {.tv_nsec = pause};
    const uint32_t seen = GET(seen);

    (void) nanosleep(&time, NULL);
    if (GET(seen) != seen) {
        return LATEST;
    }
    if (make_progress()) {
        return SOON;
    }
    return LATE / 2 < pause ? LATE : 2 * pause;
}

static void *run(void *unused)
{
    long pause = LATE;

    (void) unused;
    (void) prctl(PR_SET_TIMERSLACK, 1L);
    (void) pthread_mutex_lock(&state.lock);
    while (!state.ends) {
        if (is_idle()) {
            (void) pthread_cond_wait(&state.begun, &state.lock);
            pause = LATE;
            continue;
        }
        (void) pthread_mutex_unlock(&state.lock);
        pause = look(pause);
        (void) pthread_mutex_lock(&state.lock);
    }
    (void) pthread_mutex_unlock(&state.lock);
    return NULL;
}

/* Signals are for the program's own threads. Without a thread calls move as they did before. */
static void start(void)
{
    sigset_t all, before;

    (void) sigfillset(&all);
    if (0 == pthread_sigmask(SIG_SETMASK, &all, &before)) {
        __atomic_store_n(&mca_common_colltools_progress_on,
                         0 == pthread_create(&state.thread, NULL, run, NULL), __ATOMIC_RELEASE);
        (void) pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
}

/* ---- who calls ---- */

void mca_common_colltools_progress_register(const bool *variable, const char *name)
{
    state.variable = variable;
    state.name = name;
}

/* Asks what the variable says, once; the lock is held. */
static void ask(void)
{
    if (NULL != state.variable && *state.variable) {
        if (ompi_mpi_thread_multiple && opal_using_threads()) {
            SET(wanted, true);
        } else {
            mca_common_colltools_show_help("help-mca-common-colltools.txt", "no-thread",
                                           state.name);
        }
    }
    SET(asked, true);
}

bool mca_common_colltools_progress_wanted(void)
{
    if (!GET(asked)) {
        (void) pthread_mutex_lock(&state.lock);
        if (!state.asked) {
            ask();
        }
        (void) pthread_mutex_unlock(&state.lock);
    }
    return GET(wanted);
}

void mca_common_colltools_progress_begin(void)
{
    if (!mca_common_colltools_progress_wanted()) {
        return;
    }
    (void) pthread_mutex_lock(&state.lock);
    if (!mca_common_colltools_progress_on) {
        start();
    }
    if (0 == __atomic_fetch_add(&state.under_way, 1, __ATOMIC_SEQ_CST)) {
        (void) pthread_cond_signal(&state.begun);
    }
    (void) pthread_mutex_unlock(&state.lock);
}

void mca_common_colltools_progress_end(void)
{
    if (GET(wanted)) {
        (void) __atomic_fetch_sub(&state.under_way, 1, __ATOMIC_SEQ_CST);
    }
}

void mca_common_colltools_progress_note(bool made)
{
    (void) __atomic_fetch_add(made ? &state.made : &state.seen, 1, __ATOMIC_RELAXED);
}

void mca_common_colltools_progress_rest(const ompi_communicator_t *comm)
{
    if (&ompi_mpi_comm_world.comm == comm) {
        SET(over, true);
    }
    if (mca_common_colltools_progress_on && 0 == pthread_equal(pthread_self(), state.thread)) {
        while (is_idle() && GET(inside)) {
            (void) sched_yield();
        }
    }
}

void mca_common_colltools_progress_close(void)
{
    if (mca_common_colltools_progress_on) {
        (void) pthread_mutex_lock(&state.lock);
        state.ends = true;
        SET(over, true);
        (void) pthread_cond_signal(&state.begun);
        (void) pthread_mutex_unlock(&state.lock);
        (void) pthread_join(state.thread, NULL);
    }
    state.asked = state.ends = false;
    __atomic_store_n(&mca_common_colltools_progress_on, false, __ATOMIC_RELAXED);
    SET(wanted, false);
    SET(over, false);
    SET(under_way, 0);
}
