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
 * agv: times MPI_Allgatherv with unequal counts, several ways of running it
 * ("arms") beside each other in one job, and checks every result it times.
 *
 *   agv_options.c   the command line
 *   agv_dist.c      who contributes how much (no MPI)
 *   agv_data.c      buffers, their pattern and its check
 *   agv_mpit.c      MCA variables and performance variables at run time
 *   agv_arms.c      the arms: communicators, settings, one call
 *   agv_trace.c     bytes through the network device over time
 *   agv_report.c    statistics, TSV and table
 *   agv_world.c     ranks, nodes, what surrounds a timed call
 *   agv_main.c      the loop over rows, repetitions and arms
 */

#ifndef AGV_H
#define AGV_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "agv_dist.h"

#define AGV_MAX_ARMS 32
#define AGV_MAX_SETTINGS 16
#define AGV_VALUE_LENGTH 128

/** How an element lies in memory. */
typedef enum { AGV_TYPE_AUTO, AGV_TYPE_BYTE, AGV_TYPE_LIST } agv_type_t;

typedef struct agv_options_t {
    const char *dists;  /**< comma separated */
    const char *totals; /**< comma separated, A..B, K and M */
    const char *arms;   /**< comma separated */
    const char *comm;   /**< world, permuted:SEED, minuslast */
    const char *type;
    const char *tsv;    /**< file for the TSV lines, NULL: stdout */
    const char *trace;  /**< file for the trace, NULL: none */
    agv_type_t element;
    int reps;
    int max_reps;
    int warmup;
    double budget;   /**< seconds a row, 0: exactly `reps` repetitions */
    double idle;     /**< seconds */
    double rate;     /**< bytes a second, 0: not shaped */
    double interval; /**< of the trace, seconds */
    bool allgather;
    bool verify;
    bool table;
    bool progress;
    bool help;
} agv_options_t;

/** An option with a word or a number, or alone. */
typedef struct agv_option_t {
    const char *name;
    const char **word;
    double *number;
    double least; /**< of the number */
    bool *flag;
} agv_option_t;

/** The communicators and places of one job. */
typedef struct agv_world_t {
    MPI_Comm base;    /**< what the arms' communicators are duplicates of */
    MPI_Comm barrier; /**< for agv_call_begin only */
    MPI_Comm control; /**< for decisions and sums, never pipering */
    int rank;
    int size;
    int nodes;
    int *node;    /**< [size] node of each rank */
    double *slow; /**< [size] bytes a second of the links of each rank's node, if
                   *   TESTBED_SLOW names it, else 0 */
} agv_world_t;

/** One row: a distribution and a total. */
typedef struct agv_problem_t {
    const char *dist;
    size_t total;
    size_t unit;    /**< bytes of data in an element */
    size_t *bytes;  /**< [size] contributions */
    int *counts;    /**< [size] elements */
    int *displs;    /**< [size] elements */
    double limit;   /**< seconds that the wire needs at least, 0: unknown */
} agv_problem_t;

/** Elements in memory: `unit` bytes of data at gaps[] in every `extent` bytes. */
typedef struct agv_layout_t {
    MPI_Datatype type;
    size_t unit;
    size_t extent;
    size_t gaps[4];
    bool dense;
    bool owned; /**< the type wants freeing */
} agv_layout_t;

typedef struct agv_data_t {
    agv_layout_t layout;
    unsigned char *send;
    unsigned char *recv;
    size_t send_size;
    size_t recv_size; /**< without the guard behind it */
} agv_data_t;

/** Whose collectives an arm uses; AGV_MPICH is of agv alone, the last two of fold. */
typedef enum { AGV_STOCK, AGV_PIPERING, AGV_TUNED, AGV_MPICH, AGV_SM, AGV_MLEADER } agv_engine_t;

/** Of agv_comm_dup: without the components of this project. */
#define AGV_WITHOUT_OURS "^pipering,mleader"

typedef struct agv_arm_t {
    char name[AGV_VALUE_LENGTH];
    agv_engine_t engine;
    bool nonblocking;
    size_t chunk; /**< of AGV_MPICH */
    int tuned;    /**< of AGV_TUNED: the algorithm's number, 0: its own choice */
    MPI_Comm comm;
    int settings;
    int cvar[AGV_MAX_SETTINGS];
    char value[AGV_MAX_SETTINGS][AGV_VALUE_LENGTH];
} agv_arm_t;

/** What a row's timed calls of one arm gave; times are of the slowest rank. */
typedef struct agv_result_t {
    double *seconds; /**< [max_reps] */
    int reps;
    uint64_t block;  /**< B of the last call, 0: not the component's */
    uint64_t rounds; /**< rounds of the last call */
    bool verified;
} agv_result_t;

/** Of an arm's times in a row. */
typedef struct agv_summary_t {
    double least;
    double median;
    double ratio; /**< to the reference, 0: there is none */
} agv_summary_t;

typedef struct agv_report_t {
    FILE *tsv;
    bool table;
    bool checked; /**< results are verified */
    const char *comm;
    const char *type;
} agv_report_t;

/* agv_options.c: false and a sentence in `error` if the line cannot be used */
bool agv_options_parse(agv_options_t *options, int argc, char **argv, char *error, size_t length);
void agv_options_help(FILE *out);
/** "8", "64K", "16M" or "100mbit" (bytes a second); negative if it is none. */
double agv_options_number(const char *text);
/** Totals of a list in order; their number, or -1. `totals` may be NULL. */
int agv_options_totals(const char *list, size_t *totals, int room);
/** Takes a line of such options only. */
bool agv_options_take(const agv_option_t *known, size_t count, int argc, char **argv, char *error,
                      size_t length);

/* agv_data.c */
void agv_layout_create(agv_layout_t *layout, agv_type_t element, size_t unit);
bool agv_data_create(agv_data_t *data, const agv_problem_t *problem, agv_type_t element, int rank);
void agv_data_free(agv_data_t *data);
void agv_data_fill(agv_data_t *data, const agv_problem_t *problem, int rank, uint64_t call);
/** True if every byte is right; else a sentence in `error`. */
bool agv_data_verify(const agv_data_t *data, const agv_problem_t *problem, int ranks,
                     uint64_t call, char *error, size_t length);

/* agv_mpit.c */
void agv_mpit_start(void);
void agv_mpit_stop(void);
int agv_cvar_open(const char *name); /**< -1: there is none */
const char *agv_cvar_initial(int cvar);
bool agv_cvar_write(int cvar, const char *value);
/** Brings all opened variables to what the arm wants and their initial values otherwise. */
bool agv_cvar_apply(const agv_arm_t *arm, char *error, size_t length);
/** One of calls, rounds, block_size_used of coll_pipering, under its full name. */
bool agv_pvar_read(const char *name, uint64_t *value);

/* agv_arms.c */
/** Takes one of the words between the colons of an arm; the first, 0, is its kind. */
typedef bool agv_arm_word_t(agv_arm_t *arm, int index, char *word, void *context, char *error,
                            size_t length);
/** The arms in `list`, not connected; their number or -1. */
int agv_arms_parse(agv_arm_t *arms, const char *list, agv_arm_word_t *take, void *context,
                   char *error, size_t length);
bool agv_arm_is_kind(const char *name, const char *kind); /**< `kind` and digits? */
bool agv_arm_set(agv_arm_t *arm, const char *name, const char *value, char *error,
                 size_t length);
/** The word VARIABLE=VALUE behind an arm's kind. */
bool agv_arm_setting(agv_arm_t *arm, char *setting, char *error, size_t length);
int agv_arms_create(agv_arm_t *arms, const char *list, const agv_world_t *world, char *error,
                    size_t length);
void agv_arms_free(agv_arm_t *arms, int count);
int agv_arm_call(const agv_arm_t *arm, const agv_problem_t *problem, const agv_data_t *data,
                 bool allgather);
/** A communicator whose collectives come without some components, "^a,b", or from one
 *  before all others, "c,^a,b"; NULL: as Open MPI chooses. */
int agv_comm_dup(MPI_Comm comm, const char *components, MPI_Comm *dup);

/* agv_trace.c */
bool agv_trace_start(const char *file, double interval, int rank);
void agv_trace_call(const char *dist, size_t total, const char *arm, double start, double end);
void agv_trace_stop(void);

/* agv_world.c */
/** A mistake that all ranks find alike: one of them says it. Returns the exit status. */
int agv_refuse(const char *program, int rank, const char *error);
void agv_world_create(agv_world_t *world, MPI_Comm base);
void agv_world_free(agv_world_t *world);
/** Bytes a second of the links of a node, `rate` unless it is slow; 0: not shaped. */
double agv_world_rate(const agv_world_t *world, int node, double rate);
/** Reads the component's counters; the ranks meet, leave the link idle, and meet again. */
void agv_call_begin(const agv_world_t *world, double idle, uint64_t before[2]);
/** What the component says about the call since agv_call_begin. */
void agv_call_end(const agv_world_t *world, agv_result_t *result, const uint64_t before[2]);
/** Slowest rank, largest B, most rounds, all verified. */
void agv_result_combine(agv_result_t *result, MPI_Comm control);
/** A rank without work must not take a core from the others while it waits. */
void agv_wait_for_others(void);
/** Starts MPI and its tools interface; the rank in MPI_COMM_WORLD. */
int agv_begin(int *argc, char ***argv);
/** Ends them, with the others; what main returns on this rank for a code of all of them. */
int agv_end(int rank, int code);

/* agv_report.c */
/** That of the first arm of an engine, NULL: there is none. */
const agv_result_t *agv_first(const agv_arm_t *arms, const agv_result_t *results, int count,
                              agv_engine_t engine);
agv_summary_t agv_summarize(const agv_result_t *result, const agv_result_t *reference);
/** value * scale as text, "-" if there is no value. */
const char *agv_or_none(char *text, size_t length, double value, double scale);
/** The lines above the columns' names: what runs where. */
void agv_report_begin(FILE *tsv, const agv_world_t *world, double rate, const char *program,
                      int argc, char **argv);
void agv_report_header(const agv_report_t *report, const agv_world_t *world, double rate,
                       int argc, char **argv);
void agv_report_row(const agv_report_t *report, const agv_world_t *world,
                    const agv_problem_t *problem, const agv_arm_t *arms,
                    const agv_result_t *results, int count);

#endif
