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
 * An allocator that fails at will, for the components alone: a program that is
 * linked with it has malloc, calloc, realloc, posix_memalign and free of its own.
 * They hand on to those of the library (or of a checking library that is preloaded),
 * but a request from code of a component may be refused, and what it is given is
 * kept account of until someone frees it: apart from what Open MPI keeps for itself, whose
 * lists of requests and early messages grow with every call that had more than any before.
 */

#ifndef TEST_MPI_ALLOCATOR_H
#define TEST_MPI_ALLOCATOR_H

/**
 * From now on the k-th request of the components by this process fails, 0: none; the
 * account begins. False: there is none of their libraries.
 */
_Bool allocator_arm(long k);

/** Ends that; the number of requests that they made meanwhile. */
long allocator_disarm(void);

/** The bytes of these requests. */
long allocator_bytes(void);

/**
 * Of the memory that they were given meanwhile, pieces and bytes that have not been freed so far.
 */
int allocator_held(void);
long allocator_held_bytes(void);

#endif
