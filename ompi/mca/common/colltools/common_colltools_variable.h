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
 * Variables that a user may set, a row for each: all that is said of one is said there. Pure C, so
 * that tools without Open MPI have the same rows; common_colltools_vars.c registers them.
 */

#ifndef MCA_COMMON_COLLTOOLS_VARIABLE_H
#define MCA_COMMON_COLLTOOLS_VARIABLE_H

#include <stdbool.h>
#include <stddef.h>

/** What the value is, and so the type of its storage. */
typedef enum {
    MCA_COMMON_COLLTOOLS_INT,    /**< int, 0 to `most` */
    MCA_COMMON_COLLTOOLS_SIZE,   /**< size_t, 0 to `most`, usually bytes */
    MCA_COMMON_COLLTOOLS_NUMBER, /**< double, 0 to `most` */
    MCA_COMMON_COLLTOOLS_SWITCH, /**< bool */
    MCA_COMMON_COLLTOOLS_CHOICE, /**< int, one of `values` */
    MCA_COMMON_COLLTOOLS_STRING  /**< char *, which may become NULL */
} mca_common_colltools_kind_t;

/** A value of a choice; the last has no name. */
typedef struct mca_common_colltools_value_t {
    int value;
    const char *name;
} mca_common_colltools_value_t;

/** Levels of ompi_info: to use a component or not, to tune, to force an algorithm, for experts. */
#define MCA_COMMON_COLLTOOLS_LEVEL_USE 2
#define MCA_COMMON_COLLTOOLS_LEVEL_TUNE 5
#define MCA_COMMON_COLLTOOLS_LEVEL_FORCE 6
#define MCA_COMMON_COLLTOOLS_LEVEL_EXPERT 9

/** Why a component leaves a call to the module below: a word of variables, and a sentence. */
typedef struct mca_common_colltools_reason_t {
    const char *name, *text;
} mca_common_colltools_reason_t;

typedef struct mca_common_colltools_variable_t {
    const char *name; /**< without the component's prefix */
    mca_common_colltools_kind_t kind;
    int level;
    bool once;  /**< read when the job begins; else it can be set at any time */
    bool local; /**< ranks may differ; else all must have the same value */
    void *storage;
    double preset;    /**< of a string: what its storage has already */
    double most;      /**< of a number */
    const char *unit; /**< of a number, one word, or NULL */
    const char *zero; /**< what 0 means where that is no plain number, or NULL */
    const mca_common_colltools_value_t *values; /**< of a choice */
    const char *help; /**< repeats neither range, unit nor `zero` */
} mca_common_colltools_variable_t;

#endif
