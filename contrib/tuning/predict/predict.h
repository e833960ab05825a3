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
 * Predictor: what coll/pipering would do with a call, by the plans and the choice of the component
 * itself, without MPI.
 */

#ifndef PIPERING_PREDICT_H
#define PIPERING_PREDICT_H

#include "executor.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_ways.h"

#include <stdio.h>

/** Most ranks of a call. */
#define PREDICT_RANKS_MOST 65536

/** The machine. */
typedef struct predict_machine_t {
    char name[256]; /**< its file; empty: the usual one */
    mca_coll_pipering_machine_t of;
    double processors; /**< of a node; 0: as many as `of` has for so many ranks */
    mca_coll_pipering_below_t below; /**< the modules below */
} predict_machine_t;

/** Calls along a mesh that have no plan (predict_closed.c). */
typedef enum { PREDICT_PLANNED, PREDICT_BARRIER, PREDICT_ALLTOALL } predict_closed_call_t;

/** The call. */
typedef struct predict_call_t {
    mca_coll_pipering_collective_t collective; /**< if it is planned */
    predict_closed_call_t closed;
    const char *dist, *counts_file; /**< NULL: not given */
    size_t total;                   /**< bytes */
    int ranks, ppn, root;
    bool by_node;  /**< neighbouring ranks are on different nodes */
    bool ordered;  /**< the operation does not commute */
    const char *type;
    size_t element; /**< bytes of it */
    bool exact;     /**< the order in which values are combined does not matter */
    int *counts;    /**< [ranks] elements, of a gather */
    int *node_of;   /**< [ranks] the lowest rank on the node of each rank */
    int nodes;
    const char *mesh;                    /**< as --mesh says it, NULL: there are switches */
    mca_coll_pipering_extents_t extents; /**< of it */
    mca_coll_pipering_ways_t *ways;      /**< along it, NULL: there is none */
} predict_call_t;

/** All that the command line says. */
typedef struct predict_t {
    predict_call_t call;
    predict_machine_t machine;
    mca_coll_pipering_params_t params; /**< of this collective once the command line is read */
    int algorithm[MCA_COLL_PIPERING_COLLECTIVES];
    bool explain, json, help;
    int execute; /**< 1: always, 0: never, -1: where there are few messages */
} predict_t;

/** What is predicted of one algorithm. */
typedef struct predict_outcome_t {
    const mca_coll_pipering_row_t *row;
    mca_coll_pipering_plan_t *plan;
    size_t block; /**< bytes; 0: there are no blocks */
    bool executed;
    executor_result_t result;
    double seconds; /**< of this processor, for executing it */
} predict_outcome_t;

/* Most algorithms of a collective. */
#define PREDICT_OUTCOMES 16

typedef struct predict_outcomes_t {
    predict_outcome_t of[PREDICT_OUTCOMES];
    int count;
    int chosen; /**< of them, by the component or because it is forced; -1: none is */
    mca_coll_pipering_reason_t reason; /**< why the module below serves the call */
    double limit; /**< seconds in which links can move the data, at least */
    double seconds; /**< of this processor, for planning */
} predict_outcomes_t;

/** Parts of the modelled time of an outcome. */
typedef struct predict_part_t {
    const char *name, *meaning;
    double seconds;
} predict_part_t;
#define PREDICT_PARTS 8

/** What is predicted by a closed form. */
typedef struct predict_closed_t {
    const char *algorithm, *reason; /**< why it is served, or not */
    bool served;
    int phases;
    double messages;       /**< of a rank */
    double seconds, limit; /**< as modelled; that links take at least */
    char bound[256];       /**< what the limit comes from */
    predict_part_t parts[PREDICT_PARTS];
    int count;
} predict_closed_t;

/* ---- predict_options.c: all print one sentence and return false if something is wrong ---- */

void predict_usage(FILE *out);
bool predict_parse(predict_t *predict, int argc, char **argv);

/* ---- predict_settings.c ---- */

/** Values that hold unless a user says otherwise. */
void predict_defaults(predict_t *predict);

/** A variable of the component that plans depend on. */
bool predict_set_variable(predict_t *predict, const char *where, const char *name,
                          const char *value);

/** Lines, or a line, of a machine file. */
bool predict_set_machine(predict_t *predict, const char *where, const char *text);

/**
 * Reads `name = value` lines; of a file of variables also those of `ompi_info --parsable`, and
 * variables that plans do not depend on, of other components whatever they are called.
 */
bool predict_read_variables(predict_t *predict, const char *path);
bool predict_read_machine(predict_t *predict, const char *path);

/** What costs of the machine are called in its file, with their units. */
void predict_list_machine(FILE *out);

/** Says what is wrong; false. */
bool predict_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- predict_counts.c ---- */

/** Fills in ranks, nodes, counts and the total of a call; predict_forget frees them. */
bool predict_deal(predict_call_t *call);
void predict_forget(predict_call_t *call);

/** The name of a call, without MPI_. */
const char *predict_call_name(const predict_call_t *call);

/** Name of a collective, without MPI_; its value, or -1. */
const char *predict_collective_name(mca_coll_pipering_collective_t collective);
int predict_find_collective(const char *name);

/* ---- predict_mesh.c ---- */

/** Reads the extents of a call's mesh, if it has one; they say how many ranks there are. */
bool predict_size_mesh(predict_call_t *call);

/** Finds what calls go along in the mesh of a call whose ranks are placed, if it has one. */
bool predict_lay_mesh(predict_call_t *call);

/** Whether an outcome goes along the mesh of its call. */
bool predict_goes_along_mesh(const predict_t *predict, const predict_outcome_t *outcome);

/** Links between nodes into a corner, the vertex with the fewest; 1: there are switches. */
int predict_corner_links(const predict_call_t *call);

/** Bytes of the call per second, in links: as executed, or else as modelled. */
double predict_links(const predict_t *predict, const predict_outcome_t *outcome);

/* ---- predict_machine.c and predict_plan.c ---- */

/** Plans the call by each algorithm that can serve it; predict_free frees the plans. */
bool predict_run(const predict_t *predict, predict_outcomes_t *outcomes);
void predict_free(predict_outcomes_t *outcomes);

/** The facts that plans of this call rest on; its machine is borrowed. */
mca_coll_pipering_facts_t predict_facts(const predict_t *predict);

/** The costs of links that follow from them, those between nodes as fast as they may be. */
mca_coll_pipering_cost_t predict_cost(const predict_t *predict);
double predict_combine(const predict_t *predict);

/** Where the modelled time of an outcome goes; how many parts. */
int predict_split(const predict_t *predict, const predict_outcomes_t *outcomes,
                  const predict_outcome_t *outcome, predict_part_t *parts);

/* ---- predict_execute.c ---- */

/** Executes an outcome, if it has few enough messages or must be. */
bool predict_execute(const predict_t *predict, predict_outcome_t *outcome);

/* ---- predict_closed.c ---- */

/** Predicts a call that has no plan, and prints the answer. */
bool predict_close(const predict_t *predict);

/* ---- predict_draw.c, predict_print.c ---- */

/** Draws the ring, chain, trees or rounds of an outcome. */
void predict_draw(const predict_t *predict, const predict_outcome_t *outcome);

/** The beginning of an answer: call, machine and mesh; as JSON, an object without its end. */
void predict_print_head(const predict_t *predict);
void predict_begin_json(const predict_t *predict);

void predict_print(const predict_t *predict, const predict_outcomes_t *outcomes);
void predict_print_json(const predict_t *predict, const predict_outcomes_t *outcomes);

#endif
