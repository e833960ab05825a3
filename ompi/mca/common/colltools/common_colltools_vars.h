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
 * Registration of variables and performance variables; comparison of variables between ranks.
 */

#ifndef MCA_COMMON_COLLTOOLS_VARS_H
#define MCA_COMMON_COLLTOOLS_VARS_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/mca/common/colltools/common_colltools_card.h"
#include "ompi/mca/common/colltools/common_colltools_variable.h"
#include "ompi/communicator/communicator.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/mca.h"
#include "opal/sys/atomic.h"

BEGIN_C_DECLS

/** Variables of a component that must be equal on all ranks, in the order of registration. */
#define MCA_COMMON_COLLTOOLS_EQUAL_MOST 64
typedef struct mca_common_colltools_equal_t {
    int count;
    struct {
        const char *name; /**< without the component's prefix */
        const void *storage;
        size_t size; /**< bytes; 0: a string */
        uint32_t usual; /**< hash of its default */
    } of[MCA_COMMON_COLLTOOLS_EQUAL_MOST];
} mca_common_colltools_equal_t;

/** A hash of the value of variable i, or, if i is `count`, of the values of all variables. */
uint32_t mca_common_colltools_equal_hash(const mca_common_colltools_equal_t *equal, int i);

/**
 * Tells the user which variables of component `owner` differ on which ranks of a communicator; `of`
 * [ranks]: what these say of themselves, all of them with the component.
 */
void mca_common_colltools_equal_report(const mca_common_colltools_equal_t *equal,
                                       mca_common_colltools_owner_t owner, const char *comm_name,
                                       const mca_common_colltools_facts_t *const *of, int ranks);

/** Tells the user which ranks of a communicator do not have the component. */
void mca_common_colltools_missing_report(mca_common_colltools_owner_t owner, const char *comm_name,
                                         const mca_common_colltools_facts_t *const *of, int ranks);

/** The state of a component that registers its variables. */
typedef struct mca_common_colltools_vars_t {
    const mca_base_component_t *component;
    mca_common_colltools_equal_t *equal; /**< gets those that must be equal */
    const char *owner;     /**< of a component, as users know it: "pipering" */
    char complaints[2048]; /**< about what is out of range: one message, since Open MPI shows
                                those of one topic once */
} mca_common_colltools_vars_t;

/**
 * Registers the variables of rows with their defaults. A number out of range is replaced by its
 * default, and noted for mca_common_colltools_complain.
 */
void mca_common_colltools_register(mca_common_colltools_vars_t *vars,
                                   const mca_common_colltools_variable_t *rows, size_t count);

/** Reports the values out of range to the user, if there are any. */
void mca_common_colltools_complain(mca_common_colltools_vars_t *vars);

/** A performance variable. */
typedef struct mca_common_colltools_pvar_t {
    const char *name, *help;
    opal_atomic_int64_t *value;
} mca_common_colltools_pvar_t;

/**
 * Registers performance variables of a class: MPI_T_PVAR_CLASS_COUNTER, which only grow, or
 * MPI_T_PVAR_CLASS_LEVEL, last values.
 */
void mca_common_colltools_pvars(mca_common_colltools_vars_t *vars, int class,
                                const mca_common_colltools_pvar_t *rows, size_t count);

/** Registers a counter fallback_NAME for each of these reasons but the first. */
void mca_common_colltools_fallbacks(mca_common_colltools_vars_t *vars,
                                    const mca_common_colltools_reason_t *reasons, int count,
                                    opal_atomic_int64_t *counters);

static inline void mca_common_colltools_count(opal_atomic_int64_t *counter, uint64_t more)
{
    if (opal_using_threads()) {
        (void) opal_atomic_fetch_add_64(counter, (int64_t) more);
    } else {
        *counter += (int64_t) more;
    }
}

END_C_DECLS

#endif
