/*
 * Copyright (c) 2026 The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/* Open MPI 5.0 and 6.0 install opal/mca/threads/threads.h, which includes a header of this name
 * and declares the function below, but do not install that header. This stands in for it where
 * components are built against an installation; it is the last place searched. */

#ifndef PIPERING_MISSING_THREADS_PTHREADS_THREADS_H
#define PIPERING_MISSING_THREADS_PTHREADS_THREADS_H

#include <sched.h>

static inline void opal_thread_yield(void)
{
    (void) sched_yield();
}

#endif
