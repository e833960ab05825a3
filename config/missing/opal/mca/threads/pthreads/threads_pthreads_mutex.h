/*
 * Copyright (c) 2026 The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/* Open MPI 5.0 and 6.0 install opal/mca/threads/mutex.h, which includes a header of this name, but
 * not that header. This stands in for it where components are built against an installation; it is
 * the last place searched. A mutex of Open MPI has one of POSIX in it, which these functions lock. */

#ifndef PIPERING_MISSING_THREADS_PTHREADS_MUTEX_H
#define PIPERING_MISSING_THREADS_PTHREADS_MUTEX_H

#include <pthread.h>
#include <stdbool.h>

#include "opal/class/opal_object.h"

typedef pthread_mutex_t opal_thread_internal_mutex_t;
typedef pthread_cond_t opal_thread_internal_cond_t;

#define OPAL_THREAD_INTERNAL_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define OPAL_THREAD_INTERNAL_COND_INITIALIZER PTHREAD_COND_INITIALIZER

static inline int opal_thread_internal_mutex_init(opal_thread_internal_mutex_t *mutex,
                                                  bool recursive)
{
    pthread_mutexattr_t attributes;

    int rc = pthread_mutexattr_init(&attributes);
    if (0 == rc) {
        (void) pthread_mutexattr_settype(&attributes, recursive ? PTHREAD_MUTEX_RECURSIVE
                                                                : PTHREAD_MUTEX_DEFAULT);
        rc = pthread_mutex_init(mutex, &attributes);
        (void) pthread_mutexattr_destroy(&attributes);
    }
    return -rc;
}

static inline int opal_thread_internal_mutex_trylock(opal_thread_internal_mutex_t *mutex)
{
    return 0 != pthread_mutex_trylock(mutex);
}

static inline int opal_thread_internal_cond_init(opal_thread_internal_cond_t *cond)
{
    return -pthread_cond_init(cond, NULL);
}

#define opal_thread_internal_mutex_lock(mutex) ((void) pthread_mutex_lock(mutex))
#define opal_thread_internal_mutex_unlock(mutex) ((void) pthread_mutex_unlock(mutex))
#define opal_thread_internal_mutex_destroy(mutex) ((void) pthread_mutex_destroy(mutex))
#define opal_thread_internal_cond_wait(cond, mutex) ((void) pthread_cond_wait(cond, mutex))
#define opal_thread_internal_cond_signal(cond) ((void) pthread_cond_signal(cond))
#define opal_thread_internal_cond_broadcast(cond) ((void) pthread_cond_broadcast(cond))
#define opal_thread_internal_cond_destroy(cond) ((void) pthread_cond_destroy(cond))

#endif
