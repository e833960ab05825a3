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
 * The cells of a group are arms of a race: each has a communicator of its own, new, and its
 * own values of variables; after its warm-up they take turns, in another order each time, so that
 * whatever the machine does besides meets all of them.
 *
 * All decisions are made of what ranks have agreed on, so they are equal on all ranks.
 */

#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_LEAST_EVERY 0.2 /* seconds from which on a line says again which cell is at hand */

/* Counters of this process, to tell who served a call, and what pipering says of its last one. */
typedef struct {
    uint64_t pipering, alltoall, mleader; /* calls */
    uint64_t algorithm;                   /* a value of the variable of the collective */
    uint64_t block;                       /* bytes */
    uint64_t predicted;                   /* nanoseconds */
} served_t;

typedef struct {
    const kernel_cell_t *cell;
    bench_arm_t settings;
    MPI_Comm comm;
    const char *status; /* NULL: it can be timed */
    char note[KERNEL_NOTE];
    double *seconds;    /* [cell->reps] */
    int reps;
    bool wrong;
    served_t served; /* in the last repetition */
} arm_t;

typedef struct {
    const bench_world_t *world;
    kernel_work_t work; /* of all arms */
    bool made;
    arm_t *arms;
    int count;
    uint64_t samples; /* so far, for values that differ */
    double begun;     /* when the first warm-up, or the first turn, began */
    double elapsed;   /* since then, equal on all ranks */
    double announced;
} race_t;

/* ---- before */

/* Tells the reader which cell is at hand, in case that it hangs; `now`: in any case. */
static void announce(race_t *race, const arm_t *arm, bool now)
{
    const double time = MPI_Wtime();

    if (0 == race->world->rank && (now || time - race->announced > AT_LEAST_EVERY)) {
        race->announced = time;
        printf("{\"at\": \"%s\"}\n", arm->cell->id);
        fflush(stdout);
    }
}

static bool agreed(const race_t *race, bool good)
{
    int all = good;

    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, race->world->control);
    return 0 != all;
}

static void refuse(arm_t *arm, const char *note)
{
    arm->status = "refused";
    snprintf(arm->note, sizeof(arm->note), "%.500s", '\0' == *note ? "another rank cannot" : note);
}

/* NAME:VALUE,NAME:VALUE, where + stands for a comma in a value. */
static bool take_settings(arm_t *arm, char *error)
{
    char copy[KERNEL_LINE], *rest, *word;

    snprintf(copy, sizeof(copy), "%s", arm->cell->settings);
    for (word = strtok_r(copy, ",", &rest); NULL != word; word = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(word, ':');

        if (NULL == value) {
            snprintf(error, KERNEL_NOTE, "set=%.60s: expected VARIABLE:VALUE", word);
            return false;
        }
        *value++ = '\0';
        for (char *plus = strchr(value, '+'); NULL != plus; plus = strchr(plus, '+')) {
            *plus = ',';
        }
        if (!bench_arm_set(&arm->settings, word, value, error)) {
            return false;
        }
    }
    return true;
}

/* NULL: there is no such collective or task. */
static const kernel_kind_t *kind_of(const kernel_problem_t *problem)
{
    const kernel_kind_t *kind = KERNEL_CALL == problem->kind ? kernel_calls : kernel_tasks;

    while (NULL != kind->name && 0 != strcmp(kind->name, problem->name)) {
        ++kind;
    }
    return NULL == kind->name ? NULL : kind;
}

/* False and a sentence: the problem of the group cannot be posed. */
static bool make_work(race_t *race, char *error)
{
    const kernel_problem_t *problem = &race->arms->cell->problem;
    const kernel_kind_t *kind = kind_of(problem);

    if (NULL == kind) {
        snprintf(error, KERNEL_NOTE, "%s: there is no such collective or task", problem->name);
        return false;
    }
    race->work = (kernel_work_t){.kind = kind, .world = race->world, .problem = *problem};
    race->made = kind->create(&race->work, error);
    if (agreed(race, race->made)) {
        return true;
    }
    if (race->made) {
        kind->destroy(&race->work);
        *error = '\0';
    }
    race->made = false;
    return false;
}

/* An arm's communicator is made while its variables have their values. */
static void prepare(race_t *race, arm_t *arm)
{
    char error[KERNEL_NOTE] = "";
    bool good = true;

    snprintf(arm->settings.name, sizeof(arm->settings.name), "%s", arm->cell->id);
    if (0 != memcmp(&arm->cell->problem, &race->work.problem, sizeof(race->work.problem))) {
        snprintf(error, sizeof(error), "expected the call or task of the group's first cell");
        good = false;
    }
    good = good && take_settings(arm, error) && bench_cvar_apply(&arm->settings, error);
    arm->seconds = kernel_alloc((size_t) arm->cell->reps, sizeof(double));
    if (!agreed(race, good)) {
        refuse(arm, error);
        return;
    }
    (void) bench_comm_dup(race->world->base, NULL, &arm->comm);
}

/* ---- repetitions */

static uint64_t read_count(const char *name)
{
    uint64_t value;

    return bench_pvar_read(name, &value) ? value : 0;
}

static served_t read_served(void)
{
    return (served_t){.pipering = read_count("coll_pipering_calls"),
                      .alltoall = read_count("coll_pipering_alltoall_calls"),
                      .mleader = read_count("coll_mleader_calls_shared")
                                 + read_count("coll_mleader_calls_messages"),
                      .algorithm = read_count("coll_pipering_algorithm_used"),
                      .block = read_count("coll_pipering_block_size_used"),
                      .predicted = read_count("coll_pipering_predicted_time")};
}

static kernel_sample_t repeat(race_t *race, arm_t *arm)
{
    const served_t before = read_served();
    char error[KERNEL_NOTE];
    kernel_sample_t sample;

    (void) bench_cvar_apply(&arm->settings, error);
    sample = kernel_turn(&race->work, arm->comm, race->begun, ++race->samples, arm->note);
    arm->served = read_served();
    arm->served.pipering -= before.pipering;
    arm->served.alltoall -= before.alltoall;
    arm->served.mleader -= before.mleader;
    arm->wrong = arm->wrong || !sample.right;
    race->elapsed = sample.elapsed;
    return sample;
}

static void warm_up(race_t *race, arm_t *arm)
{
    announce(race, arm, true);
    for (int i = 0; i < arm->cell->warmup && !arm->wrong; ++i) {
        (void) repeat(race, arm);
        announce(race, arm, false);
    }
}

static void take_turn(race_t *race, arm_t *arm)
{
    announce(race, arm, false);
    arm->seconds[arm->reps++] = repeat(race, arm).seconds;
}

/* ---- how long */

static bool out(const arm_t *arm)
{
    return NULL != arm->status || arm->wrong;
}

/* Has the arm as many repetitions as it needs? */
static bool full(const arm_t *arm)
{
    return out(arm) || arm->cell->reps <= arm->reps;
}

/* Is the time for the group used up? */
static bool late(const race_t *race)
{
    const double budget = race->arms->cell->budget;

    return 0.0 < budget && race->elapsed > budget;
}

/* Until every arm has enough; with no time left, until every arm has any. */
static bool goes_on(const race_t *race)
{
    bool all = true, any = true;

    for (int i = 0; i < race->count; ++i) {
        all = all && full(&race->arms[i]);
        any = any && (out(&race->arms[i]) || 0 < race->arms[i].reps);
    }
    return !all && !(any && late(race));
}

static void run(race_t *race)
{
    for (int i = 0; i < race->count; ++i) {
        if (!out(&race->arms[i])) {
            warm_up(race, &race->arms[i]);
        }
    }
    race->begun = MPI_Wtime();
    race->elapsed = 0.0;
    for (int turn = 0; goes_on(race); ++turn) {
        for (int i = 0; i < race->count; ++i) {
            arm_t *arm = &race->arms[kernel_order(turn, i, race->count)];

            if (!full(arm)) {
                take_turn(race, arm);
            }
        }
    }
}

/* ---- lines */

void kernel_print(const char *key, const char *text)
{
    printf(", \"%s\": \"", key);
    for (const char *c = text; '\0' != *c; ++c) {
        putchar('"' == *c || '\\' == *c ? '\'' : (unsigned char) *c < ' ' ? ' ' : *c);
    }
    putchar('"');
}

static void print_end(const char *id, const char *status, const char *note)
{
    kernel_print("cell", id);
    kernel_print("status", status);
    kernel_print("note", note);
    printf("}\n");
    fflush(stdout);
}

void kernel_refuse(const char *id, const char *note)
{
    printf("{\"seconds\": []");
    print_end(id, "refused", note);
}

/* The name of pipering's algorithm. */
static void print_algorithm(const arm_t *arm)
{
    char name[BENCH_VALUE_LENGTH];
    int cvar;

    snprintf(name, sizeof(name), "coll_pipering_%.60s_algorithm", arm->cell->problem.name);
    cvar = bench_cvar_open(name);
    if (0 > cvar || !bench_cvar_name(cvar, (int) arm->served.algorithm, name)) {
        snprintf(name, sizeof(name), "pipering");
    }
    kernel_print("algorithm", name);
    printf(", \"block\": %llu, \"predicted\": %.9g", (unsigned long long) arm->served.block,
           1e-9 * (double) arm->served.predicted);
}

/* Who served the last repetition, as far as this process knows. */
static void print_served(const arm_t *arm)
{
    if (0 < arm->served.mleader) {
        kernel_print("algorithm", "leaders");
    } else if (0 < arm->served.pipering) {
        print_algorithm(arm);
    } else {
        kernel_print("algorithm", 0 < arm->served.alltoall ? "bins" : "below");
    }
}

static void print_arm(const race_t *race, const arm_t *arm)
{
    const char *status = NULL != arm->status ? arm->status : arm->wrong ? "wrong" : "ok";

    printf("{\"seconds\": [");
    for (int i = 0; i < arm->reps; ++i) {
        printf(0 == i ? "%.9g" : ", %.9g", arm->seconds[i]);
    }
    putchar(']');
    if (race->made && KERNEL_CALL == race->work.problem.kind) {
        print_served(arm);
    }
    print_end(arm->cell->id, status, arm->note);
}

/* ---- all of it */

static void finish(race_t *race)
{
    static const bench_arm_t initial = {.name = "initial values"};
    char error[BENCH_ERROR_LENGTH];

    for (int i = 0; i < race->count; ++i) {
        arm_t *arm = &race->arms[i];

        if (NULL == arm->status) {
            MPI_Comm_free(&arm->comm);
        }
        free(arm->seconds);
    }
    if (race->made) {
        race->work.kind->destroy(&race->work);
    }
    (void) bench_cvar_apply(&initial, error);
    free(race->arms);
}

void kernel_race(const kernel_cell_t *cells, int count, const bench_world_t *world)
{
    race_t race = {.world = world,
                   .arms = kernel_alloc((size_t) count, sizeof(arm_t)),
                   .count = count,
                   .announced = -HUGE_VAL};
    char error[KERNEL_NOTE] = "";

    for (int i = 0; i < count; ++i) {
        race.arms[i].cell = &cells[i];
    }
    announce(&race, race.arms, true);
    (void) make_work(&race, error);
    for (int i = 0; i < count; ++i) {
        announce(&race, &race.arms[i], true);
        if (race.made) {
            prepare(&race, &race.arms[i]);
        } else {
            refuse(&race.arms[i], error);
        }
    }
    run(&race);
    for (int i = 0; 0 == world->rank && i < count; ++i) {
        print_arm(&race, &race.arms[i]);
    }
    finish(&race);
}
