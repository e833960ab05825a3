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

#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_ways.h"

#include <stdio.h>

/** Most ranks of a call. */
#define PREDICT_RANKS_MOST 65536

/** The machine. */
typedef struct predict_machine_t {
    char name[256]; /**< its file; empty: the usual one */
    mca_coll_pipering_machine_t of;
    double processors; /**< of a node; 0: as many as `of` has for so many ranks */
    int below; /**< the modules below */
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
    int by_node;   /**< neighbouring ranks are on different nodes */
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

/** Whether a call is about a contribution, or a part of the result, of each rank. */
static inline bool predict_has_parts(const predict_call_t *call)
{
    return PREDICT_PLANNED == call->closed
           && (mca_coll_pipering_collective_row(call->collective)->gathers
               || mca_coll_pipering_scatters_result(call->collective));
}

/** All that the command line says. */
typedef struct predict_t {
    predict_call_t call;
    predict_machine_t machine;
    mca_coll_pipering_params_t params; /**< of this collective once the command line is read */
    int algorithm[MCA_COLL_PIPERING_COLLECTIVES];
    bool explain, json, help;
} predict_t;

/** A part of the modelled time of an outcome. */
typedef struct predict_part_t {
    const char *name, *meaning;
    double seconds;
} predict_part_t;
#define PREDICT_PARTS 8

/** What is predicted of one algorithm. */
typedef struct predict_outcome_t {
    const char *algorithm;
    mca_coll_pipering_plan_t *plan; /**< NULL: there is a closed form alone */
    size_t block;                   /**< bytes; 0: there are no blocks */
    uint64_t rounds;
    double seconds;
    predict_part_t part[PREDICT_PARTS];
    int parts;
} predict_outcome_t;

/* Most algorithms of a collective. */
#define PREDICT_OUTCOMES 16

typedef struct predict_outcomes_t {
    predict_outcome_t of[PREDICT_OUTCOMES];
    int count;
    int chosen; /**< of them, by the component or because it is forced; -1: none is */
    bool served;
    const char *reason; /**< of that */
    double limit; /**< seconds in which links can move the data, at least */
} predict_outcomes_t;

/* ---- predict_options.c: all print one sentence and return false if something is wrong ---- */

void predict_usage(FILE *out);
bool predict_parse(predict_t *predict, int argc, char **argv);

/* ---- predict_settings.c ---- */

/** Values that hold unless a user says otherwise. */
void predict_defaults(predict_t *predict);

/** A whole number as Open MPI reads those of variables. */
bool predict_read_number(const char *text, double *number);

/**
 * Sets a variable that plans depend on; another one is refused if it must be one, or left alone.
 */
bool predict_set_variable(predict_t *predict, const char *where, const char *name,
                          const char *value, bool must_be);

/** Lines, or a line, of a machine file. */
bool predict_set_machine(predict_t *predict, const char *where, const char *text);

/** Sets one of some values by its name or number. */
bool predict_set_choice(const mca_common_colltools_value_t *values, const char *where,
                        const char *name, const char *value, int *choice);

/** Read files with `name = value` lines, which an option names. */
bool predict_read_variables(predict_t *predict, const char *option, const char *path);
bool predict_read_machine(predict_t *predict, const char *option, const char *path);

/** Memory, or the end of the program. */
void *predict_memory(size_t bytes);

/** Says what is wrong; false. */
bool predict_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- predict_counts.c ---- */

/** Fills in ranks, nodes, counts and the total of a call; predict_forget frees them. */
bool predict_deal(predict_call_t *call);
void predict_forget(predict_call_t *call);

/** The name of a call, without MPI_. */
const char *predict_call_name(const predict_call_t *call);

/** The name of how its bytes are distributed. */
const char *predict_distribution(const predict_call_t *call);

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

/** Bytes of the call per second, a link's in one direction being 1. */
double predict_links(const predict_t *predict, const predict_outcome_t *outcome);

/* ---- predict_machine.c and predict_plan.c ---- */

/** Plans the call by each algorithm that can serve it; predict_free frees the plans. */
bool predict_run(const predict_t *predict, predict_outcomes_t *outcomes);
void predict_free(predict_outcomes_t *outcomes);

/** Where this call stands; its machine is borrowed. */
mca_coll_pipering_situation_t predict_situation(const predict_t *predict);

/** The costs of links that follow from them, those between nodes as fast as they may be. */
mca_coll_pipering_cost_t predict_cost(const predict_t *predict);

/** Finds where the modelled time of a plan goes. */
void predict_split(const predict_t *predict, double limit, predict_outcome_t *outcome);

/* ---- predict_closed.c ---- */

/** Predicts a call that has no plan. */
bool predict_close(const predict_t *predict, predict_outcomes_t *outcomes);

/* ---- predict_draw.c, predict_print.c ---- */

/** Draws the chain or the trees of a plan; of others nothing. */
void predict_draw(const predict_t *predict, mca_coll_pipering_plan_t *plan);

void predict_print(const predict_t *predict, const predict_outcomes_t *outcomes);
void predict_print_json(const predict_t *predict, const predict_outcomes_t *outcomes);

#endif
