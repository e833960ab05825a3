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
 * Performance variables that are bound to a communicator: who has served its last call, and how
 * many calls have come to this component. A tool that reads both behind each call of its own knows
 * who has served that; if none has come, a component above this one has.
 */

#include "ompi/mca/coll/pipering/call/coll_pipering.h"
#include "ompi/mca/coll/pipering/alltoall/coll_pipering_alltoall.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_registry.h"

#include <stdio.h>
#include <string.h>

#include "mpi.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var_enum.h"

#define STATES 40
#define TEXT 64
#define ABSENT MCA_COLL_PIPERING_REASONS

/* 0: no call has come; then reasons, by their numbers; ABSENT; then algorithms. */
static mca_base_var_enum_value_t states[STATES + 1];
static int count;

static void add_state(const char *text)
{
    for (int i = ABSENT + 1; i < count; ++i) {
        if (0 == strcmp(text, states[i].string)) {
            return;
        }
    }
    if (STATES > count) {
        states[count] = (mca_base_var_enum_value_t){count, text};
        ++count;
    }
}

static void set_states(void)
{
    static char reason[MCA_COLL_PIPERING_REASONS][TEXT];
    const char *const others[]
        = {MCA_COLL_PIPERING_TEXT_NO_DATA, MCA_COLL_PIPERING_TEXT_FIXED_POINT,
           MCA_COLL_PIPERING_TEXT_LINES,
           mca_coll_pipering_exchange_algorithm_text(MCA_COLL_PIPERING_EXCHANGE_BINS),
           mca_coll_pipering_exchange_algorithm_text(MCA_COLL_PIPERING_EXCHANGE_PERMUTED),
           MCA_COLL_PIPERING_EXCHANGE_IN_PLACE};
    const mca_coll_pipering_row_t *row;

    states[0] = (mca_base_var_enum_value_t){0, "no call"};
    for (int i = MCA_COLL_PIPERING_TAKEN + 1; i < MCA_COLL_PIPERING_REASONS; ++i) {
        const mca_coll_pipering_reason_t of = (mca_coll_pipering_reason_t) i;
        (void) snprintf(reason[i], TEXT, "%s: %s", mca_coll_pipering_reasons[of].name,
                        mca_coll_pipering_reasons[of].text);
        states[i] = (mca_base_var_enum_value_t){i, reason[i]};
    }
    states[ABSENT] = (mca_base_var_enum_value_t){
        ABSENT, "absent: coll/pipering is not on the communicator"};
    count = ABSENT + 1;
    for (int i = 0; i < MCA_COLL_PIPERING_COLLECTIVES; ++i) {
        row = NULL;
        while (NULL != (row = mca_coll_pipering_next_row((mca_coll_pipering_collective_t) i,
                                                         row))) {
            add_state(row->text);
        }
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
        add_state(others[i]);
    }
    states[count] = (mca_base_var_enum_value_t){0, NULL};
}

static const mca_coll_pipering_verdict_t *verdict_on(const void *comm)
{
    const mca_coll_pipering_module_t *module = mca_coll_pipering_module_of(comm);

    return NULL == module ? NULL : &module->context.verdict;
}

static int get_heard(const struct mca_base_pvar_t *variable, void *value, void *comm)
{
    const mca_coll_pipering_verdict_t *verdict = verdict_on(comm);

    (void) variable;
    *(unsigned long long *) value = NULL == verdict ? 0 : verdict->heard;
    return OPAL_SUCCESS;
}

static int state_of(const mca_coll_pipering_verdict_t *verdict)
{
    if (NULL == verdict) {
        return ABSENT;
    }
    if (0 == verdict->heard || MCA_COLL_PIPERING_TAKEN != verdict->reason) {
        return (int) verdict->reason;
    }
    for (int i = ABSENT + 1; i < count; ++i) {
        if (0 == strcmp(verdict->algorithm, states[i].string)) {
            return i;
        }
    }
    return 0;
}

static int get_state(const struct mca_base_pvar_t *variable, void *value, void *comm)
{
    (void) variable;
    *(int *) value = state_of(verdict_on(comm));
    return OPAL_SUCCESS;
}

void mca_coll_pipering_verdict_register(const mca_base_component_t *component)
{
    const mca_base_pvar_flag_t flags = MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS;
    mca_base_var_enum_t *names;

    set_states();
    if (OPAL_SUCCESS != mca_base_var_enum_create("coll_pipering_verdict", states, &names)) {
        return;
    }
    /* without a help text: ompi_info of 5.0 has no room for that and for the names of values */
    (void) mca_base_component_pvar_register(component, "verdict", NULL, OPAL_INFO_LVL_5,
                                            MPI_T_PVAR_CLASS_STATE, MCA_BASE_VAR_TYPE_INT, names,
                                            MPI_T_BIND_MPI_COMM, flags, get_state, NULL, NULL,
                                            NULL);
    (void) mca_base_component_pvar_register(component, "heard",
                                            "Calls of a communicator that have come to this "
                                            "component, served or left",
                                            OPAL_INFO_LVL_5, MPI_T_PVAR_CLASS_COUNTER,
                                            MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
                                            MPI_T_BIND_MPI_COMM, flags, get_heard, NULL, NULL,
                                            NULL);
    OBJ_RELEASE(names);
}
