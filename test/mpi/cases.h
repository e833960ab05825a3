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
 * Random cases. Each draws from dice of its own, made of SEED and its number, so that
 * SEED=s CASE=c replays case c alone.
 */

#ifndef TEST_MPI_CASES_H
#define TEST_MPI_CASES_H

#include <stdbool.h>
#include <stdint.h>

/** Runs a case, on all ranks of MPI_COMM_WORLD. */
typedef void cases_run_t(uint64_t seed, int number);

cases_run_t cases_all; /**< calls of all kinds (fuzzcase.c) */

/**
 * Memory is watched: what Open MPI (5.0.7) leaks by itself is left out. These are the schedules
 * of coll/libnbc's persistent requests, 96 bytes of every MPI_Graph_create, and derived types
 * that stand in the first place alone in the arrays of types of MPI_Ialltoallw and its kin.
 */
extern bool cases_watched;

/** Something is wrong in the case that runs. Local. */
void cases_fail(const char *what, const char *fault);

/**
 * The main function of a program of cases, in pieces: MPI and MPI_T started; cases run, their
 * number; all ended. From the environment
 *
 *     SEED      of all that is random [1]
 *     N         cases [100]; CASE: this one alone
 *     SECONDS   as many cases as fit into these, in place of N
 *     PATIENCE  seconds after which a case hangs [60]
 *     THREADS   MPI is started for several threads
 *     DRAWN     file to whose end it is written what calls were (drawn.h)
 *     REPLAY    what else it takes to have a case again, for the text of a failure
 */
void cases_begin(int *argc, char ***argv);
int cases_loop(cases_run_t *run);
int cases_end(void);

#endif
