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
 * Test results of an MPI program, in the words of the Test Anything Protocol.
 * Results are written by rank 0 of MPI_COMM_WORLD without numbers; lib.sh
 * numbers them, since one script runs several programs.
 */

#ifndef TEST_MPI_TAP_H
#define TEST_MPI_TAP_H

#include <mpi.h>
#include <stdbool.h>

/**
 * Starts MPI with a thread level, the given one or that of LEVEL in the environment (-1: by
 * MPI_Init), and the test; ends it.
 */
void tap_begin(int *argc, char ***argv, int thread_level);
int tap_end(void);

/**
 * Collective over MPI_COMM_WORLD: the test passes where all ranks say ok. A
 * rank that does not tells why on stderr (`fault` may be NULL).
 */
bool tap_check(bool ok, const char *fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Collective: a test that cannot be made here. */
void tap_skip(const char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** A line of comment by rank 0. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Ends the whole job with a sentence: for what no test can go on after. */
void tap_bail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** An MPI call that must succeed for the test to make sense. */
#define TAP_MPI(call)                                               \
    do {                                                            \
        int tap_code_ = (call);                                     \
        if (MPI_SUCCESS != tap_code_) {                             \
            tap_bail("%s gave error %d", #call, tap_code_);         \
        }                                                           \
    } while (0)

/** Memory or the end of the job. */
void *tap_memory(size_t bytes);

/** A number from the environment. */
long tap_number(const char *name, long otherwise);

/**
 * Collective over `comm`: the lowest rank on the node of each, by processor names and broadcasts;
 * the number of nodes.
 */
int tap_nodes(MPI_Comm comm, int *node_of);

extern int tap_rank; /**< of MPI_COMM_WORLD */
extern int tap_size;

#endif
