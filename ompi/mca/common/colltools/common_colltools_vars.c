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
 * MCA variables of common_colltools.h.
 */

#include "common_colltools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mpi.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/output.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"

uint32_t mca_common_colltools_equal_hash(const mca_common_colltools_equal_t *equal, int i)
{
    const int from = i == equal->count ? 0 : i, to = i == equal->count ? i : i + 1;
    uint32_t hash = MCA_COMMON_COLLTOOLS_HASH;

    for (int k = from; k < to; ++k) {
        if (0 == equal->of[k].size) {
            const char *text = *(char *const *) equal->of[k].storage;
            hash = NULL == text ? hash : mca_common_colltools_hash(hash, text, strlen(text) + 1);
        } else {
            hash = mca_common_colltools_hash(hash, equal->of[k].storage, equal->of[k].size);
        }
    }
    return hash;
}

/* Ranks that a message names. */
#define NAMED_MOST 8

/* Adds a rank to a list of so many, of which it is the last. */
static void name_rank(int rank, int found, char *text, size_t size)
{
    const size_t length = strlen(text);

    if (NAMED_MOST >= found) {
        (void) snprintf(text + length, size - length, "%s%d", 1 < found ? ", " : "", rank);
    }
}

/* Ends a list of so many ranks. */
static void name_more(int found, char *text, size_t size)
{
    const size_t length = strlen(text);

    if (NAMED_MOST < found) {
        (void) snprintf(text + length, size - length, " and %d more", found - NAMED_MOST);
    }
}

/* Lists the ranks whose variable i differs from rank 0's in `text`; returns their number. */
static int name_ranks(const mca_common_colltools_facts_t *const *of, int ranks,
                      mca_common_colltools_owner_t owner, int i, char *text, size_t size)
{
    const uint32_t first = mca_common_colltools_card_variable(of[0], owner, i);
    int found = 0;

    text[0] = '\0';
    for (int r = 1; r < ranks; ++r) {
        if (first != mca_common_colltools_card_variable(of[r], owner, i)) {
            name_rank(r, ++found, text, size);
        }
    }
    name_more(found, text, size);
    return found;
}

static const char *const owners[MCA_COMMON_COLLTOOLS_OWNERS]
    = {[MCA_COMMON_COLLTOOLS_PIPERING] = "pipering", [MCA_COMMON_COLLTOOLS_MLEADER] = "mleader"};

void mca_common_colltools_equal_report(const mca_common_colltools_equal_t *equal,
                                       mca_common_colltools_owner_t owner, const char *comm_name,
                                       const mca_common_colltools_facts_t *const *of, int ranks)
{
    char lines[2048] = "", text[16 * NAMED_MOST];

    for (int i = 0; i < equal->count; ++i) {
        const size_t length = strlen(lines);
        if (0 < name_ranks(of, ranks, owner, i, text, sizeof(text))) {
            (void) snprintf(lines + length, sizeof(lines) - length, "  coll_%s_%s: rank %s\n",
                            owners[owner], equal->of[i].name, text);
        }
    }
    mca_common_colltools_show_help("help-mca-common-colltools.txt", "unequal", owners[owner],
                                   comm_name, lines);
}

void mca_common_colltools_missing_report(mca_common_colltools_owner_t owner, const char *comm_name,
                                         const mca_common_colltools_facts_t *const *of, int ranks)
{
    char text[16 * NAMED_MOST] = "";
    int found = 0;

    for (int r = 0; r < ranks; ++r) {
        if (NULL == of[r] || 0 == of[r]->variables[owner]) {
            name_rank(r, ++found, text, sizeof(text));
        }
    }
    name_more(found, text, sizeof(text));
    mca_common_colltools_show_help("help-mca-common-colltools.txt", "missing", owners[owner],
                                   comm_name, text);
}

/* How values of a kind are stored; the bytes of a string are where it points. */
static const struct {
    mca_base_var_type_t type;
    size_t size;
} stored[] = {[MCA_COMMON_COLLTOOLS_INT] = {MCA_BASE_VAR_TYPE_INT, sizeof(int)},
              [MCA_COMMON_COLLTOOLS_SIZE] = {MCA_BASE_VAR_TYPE_SIZE_T, sizeof(size_t)},
              [MCA_COMMON_COLLTOOLS_NUMBER] = {MCA_BASE_VAR_TYPE_DOUBLE, sizeof(double)},
              [MCA_COMMON_COLLTOOLS_SWITCH] = {MCA_BASE_VAR_TYPE_BOOL, sizeof(bool)},
              [MCA_COMMON_COLLTOOLS_CHOICE] = {MCA_BASE_VAR_TYPE_INT, sizeof(int)},
              [MCA_COMMON_COLLTOOLS_STRING] = {MCA_BASE_VAR_TYPE_STRING, 0}};

/* Ranks that differ in a variable that is not noted would be found by nobody. */
static void note_equal(mca_common_colltools_vars_t *vars,
                       const mca_common_colltools_variable_t *row)
{
    mca_common_colltools_equal_t *equal = vars->equal;

    if (row->local) {
        return;
    }
    if (MCA_COMMON_COLLTOOLS_EQUAL_MOST == equal->count) {
        opal_output(0, "coll_%s_%s is not compared between ranks: there is room for %d variables; "
                    "raise MCA_COMMON_COLLTOOLS_EQUAL_MOST and rebuild.",
                    vars->owner, row->name, MCA_COMMON_COLLTOOLS_EQUAL_MOST);
        return;
    }
    equal->of[equal->count].name = row->name;
    equal->of[equal->count].storage = row->storage;
    equal->of[equal->count].size = stored[row->kind].size;
    ++equal->count;
    equal->of[equal->count - 1].usual = mca_common_colltools_equal_hash(equal, equal->count - 1);
}

static void set_preset(const mca_common_colltools_variable_t *row)
{
    switch (row->kind) {
    case MCA_COMMON_COLLTOOLS_INT:
    case MCA_COMMON_COLLTOOLS_CHOICE:
        *(int *) row->storage = (int) row->preset;
        break;
    case MCA_COMMON_COLLTOOLS_SIZE:
        *(size_t *) row->storage = (size_t) row->preset;
        break;
    case MCA_COMMON_COLLTOOLS_NUMBER:
        *(double *) row->storage = row->preset;
        break;
    case MCA_COMMON_COLLTOOLS_SWITCH:
        *(bool *) row->storage = 0 < row->preset;
        break;
    case MCA_COMMON_COLLTOOLS_STRING:
        break;
    }
}

static bool is_number(const mca_common_colltools_variable_t *row)
{
    return MCA_COMMON_COLLTOOLS_NUMBER >= row->kind;
}

/*
 * The help text of a number ends with its range, which programs read from ompi_info --parsable:
 * " [0..MOST UNIT; 0: MEANING]".
 */
static void write_help(char *text, size_t size, const mca_common_colltools_variable_t *row)
{
    const int length = snprintf(text, size, "%s", row->help);

    if (is_number(row)) {
        (void) snprintf(text + length, size - (size_t) length, " [0..%.15g%s%s%s%s]", row->most,
                        NULL == row->unit ? "" : " ", NULL == row->unit ? "" : row->unit,
                        NULL == row->zero ? "" : "; 0: ", NULL == row->zero ? "" : row->zero);
    }
}

/* Takes the default in place of a number out of range, and notes that for the user. */
static void keep_in_range(mca_common_colltools_vars_t *vars,
                          const mca_common_colltools_variable_t *row)
{
    const bool is_size = MCA_COMMON_COLLTOOLS_SIZE == row->kind;
    const bool is_int = MCA_COMMON_COLLTOOLS_INT == row->kind;
    const double value = is_size  ? (double) *(size_t *) row->storage
                         : is_int ? *(int *) row->storage
                                  : *(double *) row->storage;
    const size_t length = strlen(vars->complaints);
    char given[64];

    if (0 <= value && row->most >= value) {
        return;
    }
    if (is_size) {
        (void) snprintf(given, sizeof(given), "%" PRId64, (int64_t) *(size_t *) row->storage);
    } else {
        (void) snprintf(given, sizeof(given), "%.15g", value);
    }
    (void) snprintf(vars->complaints + length, sizeof(vars->complaints) - length,
                    "\n  coll_%s_%s = %s\n    Legal range:  0 to %.15g\n"
                    "    Used instead: %.15g%s\n",
                    vars->owner, row->name, given, row->most, row->preset,
                    is_size || is_int ? "" : " (not given)");
    set_preset(row);
}

/* Most values of a choice, with the end. */
#define VALUES_MOST 24

static mca_base_var_enum_t *enumerate(const mca_common_colltools_variable_t *row)
{
    mca_base_var_enum_value_t values[VALUES_MOST] = {{0, NULL}};
    mca_base_var_enum_t *made = NULL;

    for (int i = 0; VALUES_MOST - 1 > i && NULL != row->values[i].name; ++i) {
        values[i] = (mca_base_var_enum_value_t){row->values[i].value, row->values[i].name};
        values[i + 1] = (mca_base_var_enum_value_t){0, NULL};
    }
    (void) mca_base_var_enum_create(row->name, values, &made);
    return made;
}

void mca_common_colltools_register(mca_common_colltools_vars_t *vars,
                                   const mca_common_colltools_variable_t *rows, size_t count)
{
    char help[2048];

    for (const mca_common_colltools_variable_t *row = rows; rows + count > row; ++row) {
        mca_base_var_enum_t *values
            = MCA_COMMON_COLLTOOLS_CHOICE == row->kind ? enumerate(row) : NULL;
        set_preset(row);
        note_equal(vars, row);
        write_help(help, sizeof(help), row);
        (void) mca_base_component_var_register(
            vars->component, row->name, help, stored[row->kind].type, values, 0,
            row->once ? 0 : MCA_BASE_VAR_FLAG_SETTABLE, (mca_base_var_info_lvl_t) (row->level - 1),
            row->local ? MCA_BASE_VAR_SCOPE_LOCAL : MCA_BASE_VAR_SCOPE_ALL_EQ, row->storage);
        if (NULL != values) {
            OBJ_RELEASE(values);
        }
        if (is_number(row)) {
            keep_in_range(vars, row);
        }
    }
}

/* Of each component's own file, since a topic is shown once. */
void mca_common_colltools_complain(mca_common_colltools_vars_t *vars)
{
    char file[64];

    if ('\0' != vars->complaints[0]) {
        (void) snprintf(file, sizeof(file), "help-coll-%s.txt", vars->owner);
        mca_common_colltools_show_help(file, "out-of-range", vars->complaints);
        vars->complaints[0] = '\0';
    }
}

void mca_common_colltools_pvars(mca_common_colltools_vars_t *vars, int class,
                                const mca_common_colltools_pvar_t *rows, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        (void) mca_base_component_pvar_register(vars->component, rows[i].name, rows[i].help,
                                                OPAL_INFO_LVL_5, class,
                                                MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
                                                MPI_T_BIND_NO_OBJECT,
                                                MCA_BASE_PVAR_FLAG_READONLY
                                                    | MCA_BASE_PVAR_FLAG_CONTINUOUS,
                                                NULL, NULL, NULL, (void *) rows[i].value);
    }
}

void mca_common_colltools_fallbacks(mca_common_colltools_vars_t *vars,
                                    const mca_common_colltools_reason_t *reasons, int count,
                                    opal_atomic_int64_t *counters)
{
    char name[64], help[128];

    for (int i = 1; i < count; ++i) {
        (void) snprintf(name, sizeof(name), "fallback_%s", reasons[i].name);
        (void) snprintf(help, sizeof(help), "Calls left to the module below: %s", reasons[i].text);
        const mca_common_colltools_pvar_t row = {name, help, &counters[i]};
        mca_common_colltools_pvars(vars, MPI_T_PVAR_CLASS_COUNTER, &row, 1);
    }
}
