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
 * own values of variables; after its warm-up they take turns, in a new random order each time,
 * so that whatever the machine does besides meets all of them.
 *
 * All decisions are made of what ranks have agreed on, so they are equal on all ranks.
 */

#include "kernel.h"
#include "kernel_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_TURNS 50    /* more turns than repetitions are wanted, for missed starts */
#define SPARE_FACTOR 3
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
    kernel_work_t *work; /* its own, or an earlier arm's with an equal problem */
    kernel_work_t own;
    MPI_Comm comm;
    const char *status; /* NULL: it can be timed */
    char note[KERNEL_NOTE];
    double *seconds;    /* [cell->reps] */
    int reps, missed;
    double least, late;
    bool wrong;
    served_t served; /* in the last repetition */
} arm_t;

typedef struct {
    const bench_world_t *world;
    arm_t *arms;
    int count;
    kernel_pace_t pace;
    uint64_t samples; /* so far, for values that differ */
    double begun, now; /* when the first and the last repetition began */
    double announced;
} race_t;

/* ---- before */

/* Tells the reader which cell is at hand, in case that it hangs; `now`: in any case. */
static void announce(race_t *race, const arm_t *arm, bool now)
{
    const double time = kernel_time_now();

    if (0 == race->world->rank && (now || time - race->announced > AT_LEAST_EVERY)) {
        race->announced = time;
        printf("at\t%s\n", arm->cell->id);
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

static const kernel_kind_t *find_kind(const kernel_kind_t *kinds, const char *name)
{
    while (NULL != kinds->name && 0 != strcmp(kinds->name, name)) {
        ++kinds;
    }
    return NULL == kinds->name ? NULL : kinds;
}

static const kernel_kind_t *kind_of(const kernel_problem_t *problem)
{
    const kernel_kind_t *kind;

    if (KERNEL_CALL == problem->kind) {
        return find_kind(kernel_calls, problem->name);
    }
    kind = find_kind(kernel_links, problem->name);
    return NULL == kind ? find_kind(kernel_local, problem->name) : kind;
}

/* Data of its own, or an earlier arm's for the same problem. */
static bool make_work(race_t *race, arm_t *arm, char *error)
{
    const kernel_problem_t *problem = &arm->cell->problem;
    const kernel_kind_t *kind = kind_of(problem);
    bool made;

    for (const arm_t *other = race->arms; other < arm; ++other) {
        if (NULL != other->work && 0 == memcmp(problem, &other->work->problem, sizeof(*problem))) {
            arm->work = other->work;
            return true;
        }
    }
    if (NULL == kind) {
        snprintf(error, KERNEL_NOTE, "%s: there is no such collective or task", problem->name);
        return false;
    }
    arm->own = (kernel_work_t){.kind = kind, .world = race->world, .problem = *problem};
    made = kind->create(&arm->own, error);
    if (agreed(race, made)) {
        arm->work = &arm->own;
        return true;
    }
    if (made) {
        kind->destroy(&arm->own);
        *error = '\0';
    }
    return false;
}

static bool make_samples(arm_t *arm, char *error)
{
    arm->seconds = calloc((size_t) arm->cell->reps, sizeof(double));
    snprintf(error, KERNEL_NOTE, "no memory for the times");
    return NULL != arm->seconds;
}

/* An arm's communicator is made while its variables have their values. */
static void prepare(race_t *race, arm_t *arm)
{
    char error[KERNEL_NOTE] = "";
    bool good = true;

    snprintf(arm->settings.name, sizeof(arm->settings.name), "%s", arm->cell->id);
    if (!kernel_part_same(&arm->cell->problem, &race->arms->cell->problem)) {
        snprintf(error, sizeof(error), "expected the nodes=, per_node= and ranks= of the group's "
                 "first cell");
        good = false;
    }
    good = good && take_settings(arm, error) && bench_cvar_apply(&arm->settings, error)
           && make_samples(arm, error);
    if (!agreed(race, good) || !make_work(race, arm, error)) {
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
    sample = kernel_turn(arm->work, arm->comm, &race->pace, arm->least, ++race->samples,
                         arm->note);
    arm->served = read_served();
    arm->served.pipering -= before.pipering;
    arm->served.alltoall -= before.alltoall;
    arm->served.mleader -= before.mleader;
    arm->wrong = arm->wrong || !sample.right;
    race->begun = 0.0 == race->begun ? sample.start : race->begun;
    race->now = sample.start;
    kernel_time_realign(race->world, sample.error);
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
    kernel_sample_t sample;

    announce(race, arm, false);
    sample = repeat(race, arm);
    if (!sample.met) {
        ++arm->missed;
        return;
    }
    arm->seconds[arm->reps++] = sample.seconds;
    arm->late = fmax(arm->late, sample.late);
    arm->least = 1 == arm->reps ? sample.seconds : fmin(arm->least, sample.seconds);
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

    return 0.0 < budget && race->now - race->begun > budget;
}

/* Until every arm has enough; with no time left, until every arm has any. */
static bool goes_on(const race_t *race, int turn)
{
    bool all = true, any = true;
    int wanted = 0;

    for (int i = 0; i < race->count; ++i) {
        const arm_t *arm = &race->arms[i];

        all = all && full(arm);
        any = any && (out(arm) || 0 < arm->reps);
        wanted = arm->cell->reps > wanted ? arm->cell->reps : wanted;
    }
    return !all && !(any && late(race)) && turn < SPARE_FACTOR * wanted + SPARE_TURNS;
}

static void run(race_t *race)
{
    uint64_t state = race->arms->cell->seed;
    int *order = calloc((size_t) race->count, sizeof(*order));

    if (NULL == order) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int i = 0; i < race->count; ++i) {
        if (!out(&race->arms[i])) {
            warm_up(race, &race->arms[i]);
        }
    }
    race->begun = 0.0;
    for (int turn = 0; goes_on(race, turn); ++turn) {
        kernel_shuffle(order, race->count, &state);
        for (int i = 0; i < race->count; ++i) {
            if (!full(&race->arms[order[i]])) {
                take_turn(race, &race->arms[order[i]]);
            }
        }
    }
    free(order);
}

/* ---- lines */

static void print_note(const char *note)
{
    char line[KERNEL_NOTE];

    snprintf(line, sizeof(line), "%s", note);
    for (char *c = line; '\0' != *c; ++c) {
        *c = '\t' == *c || '\n' == *c || '\r' == *c ? ' ' : *c;
    }
    printf("\tnote=%s", line);
}

void kernel_refuse(const char *id, const char *note)
{
    printf("cell\t%s\trefused\t", '\0' == *id ? "-" : id);
    print_note(note);
    putchar('\n');
    fflush(stdout);
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
    printf("\talgorithm=%s\tblock=%llu\tpredicted=%.9g", name,
           (unsigned long long) arm->served.block, 1e-9 * (double) arm->served.predicted);
}

/* The communicator of the call. */
static void print_world(const bench_world_t *world)
{
    int most = 0;

    for (int node = 0; node < world->nodes; ++node) {
        int own = 0;

        for (int i = 0; i < world->size; ++i) {
            own += node == world->node[i];
        }
        most = own > most ? own : most;
    }
    printf("\tranks=%d\tnodes=%d\tppn=%d", world->size, world->nodes, most);
}

/* Who served the last repetition, as far as this process knows. */
static void print_served(const arm_t *arm)
{
    if (0 < arm->served.mleader) {
        printf("\talgorithm=leaders");
    } else if (0 < arm->served.pipering) {
        print_algorithm(arm);
    } else {
        printf("\talgorithm=%s", 0 < arm->served.alltoall ? "bins" : "below");
    }
}

static void print_arm(const arm_t *arm)
{
    const kernel_work_t *work = arm->work;
    const char *status = NULL != arm->status ? arm->status
                         : arm->wrong        ? "wrong"
                         : 0 == arm->reps    ? "failed"
                                             : "ok";

    printf("cell\t%s\t%s\t", arm->cell->id, status);
    for (int i = 0; i < arm->reps; ++i) {
        printf(0 == i ? "%.9g" : ",%.9g", arm->seconds[i]);
    }
    printf("\tmissed=%d\tlate=%.9g", arm->missed, arm->late);
    if (NULL != work && KERNEL_CALL == work->problem.kind) {
        printf("\tlargest=%zu\tcontributors=%d\tenters=%.0f", work->largest, work->contributors,
               work->enters);
        print_world(work->world);
        print_served(arm);
    }
    print_note(0 == arm->reps && !out(arm) ? "no start was met in time by all ranks" : arm->note);
    putchar('\n');
    fflush(stdout);
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
    for (int i = 0; i < race->count; ++i) {
        if (race->arms[i].work == &race->arms[i].own) {
            race->arms[i].own.kind->destroy(&race->arms[i].own);
        }
    }
    (void) bench_cvar_apply(&initial, error);
    free(race->arms);
}

void kernel_race(const kernel_cell_t *cells, int count, const bench_world_t *world)
{
    race_t race = {.world = world,
                   .arms = calloc((size_t) count, sizeof(arm_t)),
                   .count = count,
                   .announced = -HUGE_VAL};

    if (NULL == race.arms) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int i = 0; i < count; ++i) {
        race.arms[i].cell = &cells[i];
        announce(&race, &race.arms[i], true);
        prepare(&race, &race.arms[i]);
    }
    run(&race);
    for (int i = 0; 0 == world->rank && i < count; ++i) {
        print_arm(&race.arms[i]);
    }
    finish(&race);
}
