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
 * The harness of the programs that time calls. Several ways of running a call ("arms") are
 * timed beside each other in one job, in alternating order, and every result that is timed
 * is checked. A program (bench_program_t) brings its options, its data, its call and its
 * columns; all else is here:
 *
 *   bench_main.c       the loop over rows, repetitions and arms; the TSV lines
 *   bench_options.c    the command line, numbers and lists in it
 *   bench_arms.c       the arms: communicators and settings
 *   bench_variables.c  MCA variables and performance variables at run time
 *   bench_world.c      begin and end, ranks and nodes
 *   bench_call.c       what surrounds a timed call, and what it did besides taking time
 *
 * The lines hold the samples as they are. summary.py makes of them the least time, the
 * median, the spread and the ratios, of the samples of one job or of several.
 */

#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_MAX_ARMS 32
#define BENCH_MAX_CALLS 8
#define BENCH_MAX_SETTINGS 32
#define BENCH_MAX_WORDS 64
#define BENCH_MAX_NUMBERS 256
#define BENCH_VALUE_LENGTH 128
#define BENCH_ERROR_LENGTH 512

/** An option with a word or a number, or alone. */
typedef struct bench_option_t {
    const char *name; /**< NULL ends a list of them */
    const char **word;
    double *number;
    double least; /**< of the number */
    bool *flag;
} bench_option_t;

/** What every program takes. */
typedef struct bench_options_t {
    const char *arms;    /**< comma separated */
    const char *batches; /**< calls back to back in a sample, a list of numbers */
    const char *tsv;     /**< file for the TSV lines, NULL: stdout */
    double reps;
    double max_reps; /**< of an arm with time left in its budget */
    double budget;   /**< seconds of an arm in a row, 0: exactly `reps` samples */
    double warmup;
    double idle; /**< milliseconds, negative: 20 if links are shaped */
    double rate; /**< bytes a second, 0: not shaped */
    bool progress;
    bool help;
} bench_options_t;

/** Of most programs. */
#define BENCH_DEFAULTS .batches = "1", .reps = 7.0, .max_reps = 200.0, .warmup = 1.0

/** The communicators and places of one job. */
typedef struct bench_world_t {
    MPI_Comm base;    /**< what the arms' communicators are duplicates of */
    MPI_Comm barrier; /**< for bench_meet only */
    MPI_Comm control; /**< for decisions and sums, without our components */
    int rank;
    int size;
    int nodes;
    int *node;    /**< [size] node of each rank */
    double *slow; /**< [size] bytes a second of the links of each rank's node, if
                   *   TESTBED_SLOW names it, else 0 */
} bench_world_t;

/** Whose collectives an arm uses. Our components hand all calls of the first three down. */
typedef enum {
    BENCH_STOCK,    /**< Open MPI's choice */
    BENCH_TUNED,    /**< coll/tuned, without coll/han */
    BENCH_SM,       /**< coll/sm, and what it lacks from coll/tuned */
    BENCH_PIPERING, /**< without coll/mleader */
    BENCH_MLEADER   /**< with both */
} bench_engine_t;

/** The arms of a name, which digits may follow. */
typedef struct bench_kind_t {
    const char *name; /**< NULL ends a list of them */
    bench_engine_t engine;
    int way;              /**< the program's own distinction */
    const char *settings; /**< VARIABLE=VALUE:..., %s for the call; NULL: none */
    const char *calls;    /**< comma separated, NULL: all */
} bench_kind_t;

typedef struct bench_arm_t {
    char name[BENCH_VALUE_LENGTH]; /**< as it stands on the command line */
    int index;
    const bench_kind_t *kind;
    MPI_Comm comm;
    int settings;
    int cvar[BENCH_MAX_SETTINGS];
    char value[BENCH_MAX_SETTINGS][BENCH_VALUE_LENGTH];
} bench_arm_t;

/** Of one call: messages of mleader between nodes and within them, bytes that it read from
 *  shared memory, changes of process; of all ranks together. */
enum { BENCH_BETWEEN, BENCH_WITHIN, BENCH_COPIED, BENCH_SWITCHES, BENCH_COUNTS };
#define BENCH_COUNT_NAMES "block\trounds\tbetween\twithin\tcopied\tswitches"

/** Counters of this process. */
typedef struct bench_counters_t {
    uint64_t calls; /**< that pipering served */
    uint64_t rounds;
    double of[BENCH_COUNTS];
} bench_counters_t;

/** What a row's samples of one arm gave; times are of the slowest rank, for one call. */
typedef struct bench_result_t {
    double *seconds; /**< [max_reps] */
    int reps;
    double spent;    /**< seconds on all samples, with what surrounds them */
    uint64_t block;  /**< B of the last call, 0: pipering did not serve it */
    uint64_t rounds; /**< of the last call */
    double count[BENCH_COUNTS]; /**< added up */
    bool verified;
} bench_result_t;

typedef struct bench_t bench_t;

/**
 * A program. Rows are what it times, numbered from 0; those of a call follow each other, as
 * many of each. A program has one row at hand, whose data it keeps itself.
 */
typedef struct bench_program_t {
    const char *name;
    const char *purpose;     /**< a sentence, or some, of the help text */
    const char *own_options; /**< of the help text, as are the arms */
    const char *arms;
    void (*print_names)(FILE *out); /**< of what can be chosen: the help text's last part */
    const char *columns;     /**< of a row, names separated by tabs */
    const char *results;     /**< names of what print_result prints, a tab behind each, or NULL */
    const bench_option_t *options;
    const bench_kind_t *kinds;
    bench_options_t defaults;

    /** Checks the options, without MPI. False and a sentence in `error`: they cannot be used. */
    bool (*check)(char *error);
    /** The communicator that is measured; MPI_COMM_NULL where a rank is not in it. */
    MPI_Comm (*choose_comm)(void);
    /** Knows the world now: sets bench->rows, and bench->calls if there are several. */
    bool (*prepare)(bench_t *bench, char *error);
    /** Makes the data of a row, and sets bench->limit, if one is known. False: no memory. */
    bool (*begin_row)(bench_t *bench, int row);
    void (*end_row)(void);
    /** New values for the sample of this number, 1 and more of a row. */
    void (*fill)(const bench_arm_t *arm, uint64_t sample);
    /** The call that is timed; MPI's code. */
    int (*call)(const bench_arm_t *arm);
    /** Between two calls of a batch; false: the first one's result is wrong. */
    bool (*next)(void);
    /** Is this rank's time a call's? NULL: that of all ranks is. */
    bool (*is_timed)(void);
    /** False and a sentence in `error`: the result is wrong. Collective. */
    bool (*verify)(const bench_arm_t *arm, char *error);
    /** The row's columns, each with a tab behind it. */
    void (*print_row)(int row, FILE *out);
    void (*print_result)(const bench_arm_t *arm, FILE *out);
} bench_program_t;

struct bench_t {
    const bench_program_t *program;
    bench_options_t options;
    bench_world_t world;
    FILE *tsv;
    size_t batches[BENCH_MAX_NUMBERS];
    int batch_count;
    int batch; /**< at hand */
    int rows;
    int row;   /**< at hand */
    const char *calls[BENCH_MAX_CALLS];
    int call_count;
    bench_arm_t arms[BENCH_MAX_CALLS][BENCH_MAX_ARMS];
    int arm_count;
    bench_result_t results[BENCH_MAX_ARMS];
    uint64_t samples;
    double limit; /**< seconds that the wire needs at least for the row, 0: unknown */
    bool good;
};

/* bench_main.c */
/** All of main. */
int bench_main(const bench_program_t *program, int argc, char **argv);

/* bench_options.c: false and a sentence in `error` if the line cannot be used */
bool bench_options_parse(bench_options_t *options, const bench_program_t *program, int argc,
                         char **argv, char *error);
void bench_options_help(const bench_program_t *program, FILE *out);
/** "8", "64K", "16M" or "100mbit" (bytes a second); negative if it is none. */
double bench_number(const char *text);
/** Numbers of a list like 8,64K,1M..16M*4 in order; how many, or -1: it is no such list. */
int bench_numbers(const char *list, size_t numbers[BENCH_MAX_NUMBERS]);
/** Cuts a list at its commas, in a copy that words[0] begins (free it); how many, -1: too
 *  many or none. */
int bench_words(const char *list, char *words[BENCH_MAX_WORDS]);
/** Where the word stands among the names, -1: nowhere. */
int bench_find(const char *const *names, int count, const char *word);
/** The places of a list's words among the names; how many, or -1. */
int bench_choices(const char *list, const char *const *names, int count,
                  int choices[BENCH_MAX_WORDS]);

/* bench_variables.c */
void bench_variables_start(void);
void bench_variables_stop(void);
int bench_cvar_open(const char *name); /**< -1: there is none */
const char *bench_cvar_value(int cvar); /**< when the job began */
/** The name of a value of an enumeration; false: the variable has no such value. */
bool bench_cvar_name(int cvar, int value, char name[BENCH_VALUE_LENGTH]);
/** The first variable of named values from `place` on whose name begins and ends so; `place` goes
 *  behind it. False: there is none. */
bool bench_cvar_next(int *place, const char *begin, const char *end,
                     char name[BENCH_VALUE_LENGTH]);
/** Brings all opened variables to what the arm wants and their initial values otherwise. */
bool bench_cvar_apply(const bench_arm_t *arm, char *error);
/** A performance variable of ours, under its full name. */
bool bench_pvar_read(const char *name, uint64_t *value);

/* bench_arms.c */
/** The arms of a list for a call, connected; their number or -1. */
int bench_arms_create(bench_arm_t *arms, const bench_program_t *program, const char *list,
                      const char *call, const bench_world_t *world, char *error);
void bench_arms_free(bench_arm_t *arms, int count);
/** One more variable of an arm. False and a sentence in `error`: there is no such variable. */
bool bench_arm_set(bench_arm_t *arm, const char *name, const char *value, char *error);
/** A communicator whose collectives come without some components, "^a,b", or from one
 *  before all others, "c,^a,b"; NULL: as Open MPI chooses. */
int bench_comm_dup(MPI_Comm comm, const char *components, MPI_Comm *dup);

/* bench_world.c */
/** Starts MPI and its tools interface; the rank in MPI_COMM_WORLD. */
int bench_begin(int *argc, char ***argv);
/** Ends them, with the others; what main returns on this rank for a code of all of them. */
int bench_end(int rank, int code);
/** A mistake that all ranks find alike: one of them says it. Returns the exit status. */
int bench_refuse(const char *program, int rank, const char *error);
void bench_world_create(bench_world_t *world, MPI_Comm base);
void bench_world_free(bench_world_t *world);
/** A barrier by dissemination. */
void bench_meet(const bench_world_t *world);
/** Bytes a second of the links of a node, `rate` unless it is slow; 0: not shaped. */
double bench_world_rate(const bench_world_t *world, int node, double rate);

/* bench_call.c */
/** The ranks meet, leave the link idle for milliseconds, and meet again. */
void bench_call_begin(const bench_world_t *world, double idle, bench_counters_t *before);
/** They meet again; what was counted for `calls` calls goes to the result. */
void bench_call_end(const bench_world_t *world, const bench_counters_t *before, int calls,
                    bench_result_t *result);
/** Slowest rank, largest B, most rounds, all counts, all verified. */
void bench_result_combine(bench_result_t *result, MPI_Comm control);
/** The columns BENCH_COUNT_NAMES. */
void bench_result_print_counts(const bench_result_t *result, FILE *out);

#endif
