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
 * MCA variables of common_irregular.h.
 */

#include "common_irregular.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mpi.h"
#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/output.h"
#include "opal/util/show_help.h"

static void complain(mca_common_irregular_vars_t *vars, const char *name, const char *value,
                     const char *range, const char *used)
{
    const size_t length = strlen(vars->complaints);

    (void) snprintf(vars->complaints + length, sizeof(vars->complaints) - length,
                    "\n  coll_%s_%s = %s\n    Legal range:  %s\n    Used instead: %s\n",
                    vars->owner, name, value, range, used);
}

/* FNV-1a */
static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ ((const unsigned char *) bytes)[i]) * UINT32_C(16777619);
    }
    return hash;
}

uint32_t mca_common_irregular_equal_hash(const mca_common_irregular_equal_t *equal, int i)
{
    const int from = i == equal->count ? 0 : i, to = i == equal->count ? i : i + 1;
    uint32_t hash = UINT32_C(2166136261);

    for (int k = from; k < to; ++k) {
        if (0 == equal->of[k].size) {
            const char *text = *(char *const *) equal->of[k].storage;
            hash = NULL == text ? hash : hash_bytes(hash, text, strlen(text) + 1);
        } else {
            hash = hash_bytes(hash, equal->of[k].storage, equal->of[k].size);
        }
    }
    return hash;
}

/* Ranks that a message names. */
#define NAMED_MOST 8

/* Lists the ranks whose variable i differs from rank 0's in `text`; returns their number. */
static int name_ranks(const uint32_t *hashes, int count, int ranks, int i, char *text, size_t size)
{
    size_t length = 0;
    int found = 0;

    for (int r = 1; r < ranks; ++r) {
        if (hashes[(size_t) r * count + i] == hashes[i]) {
            continue;
        }
        if (++found <= NAMED_MOST) {
            length +=
                (size_t) snprintf(text + length, size - length, "%s%d", 1 < found ? ", " : "", r);
        }
    }
    if (NAMED_MOST < found) {
        (void) snprintf(text + length, size - length, " and %d more", found - NAMED_MOST);
    }
    return found;
}

void mca_common_irregular_equal_report(const mca_common_irregular_equal_t *equal, const char *owner,
                                       const char *comm_name, const uint32_t *hashes, int ranks)
{
    char lines[2048] = "", text[16 * NAMED_MOST];

    for (int i = 0; i < equal->count; ++i) {
        const size_t length = strlen(lines);
        if (0 < name_ranks(hashes, equal->count, ranks, i, text, sizeof(text))) {
            (void) snprintf(lines + length, sizeof(lines) - length, "  coll_%s_%s: rank %s\n",
                            owner, equal->of[i].name, text);
        }
    }
    opal_show_help("help-mca-common-irregular.txt", "unequal", true, owner, comm_name, lines);
}

/* Ranks that differ in a variable that is not noted would be found by nobody. */
static void note_equal(mca_common_irregular_vars_t *vars, const char *name, int scope,
                       const void *storage, size_t size)
{
    mca_common_irregular_equal_t *equal = vars->equal;

    if (NULL == equal || MCA_BASE_VAR_SCOPE_ALL_EQ != scope) {
        return;
    }
    if (MCA_COMMON_IRREGULAR_EQUAL_MOST == equal->count) {
        opal_output(0, "coll_%s_%s is not compared between ranks: there is room for %d variables; "
                    "raise MCA_COMMON_IRREGULAR_EQUAL_MOST and rebuild.",
                    vars->owner, name, MCA_COMMON_IRREGULAR_EQUAL_MOST);
        return;
    }
    equal->of[equal->count].name = name;
    equal->of[equal->count].storage = storage;
    equal->of[equal->count].size = size;
    ++equal->count;
}

static size_t size_of(mca_base_var_type_t type)
{
    return MCA_BASE_VAR_TYPE_INT == type      ? sizeof(int)
           : MCA_BASE_VAR_TYPE_BOOL == type   ? sizeof(bool)
           : MCA_BASE_VAR_TYPE_DOUBLE == type ? sizeof(double)
                                              : sizeof(size_t);
}

/* ompi_info shows levels up to 3 as those of users, up to 6 of tuning, up to 9 of developers. */
static mca_base_var_info_lvl_t level_of(const mca_common_irregular_vars_t *vars, const char *name)
{
    if (0 == strcmp(name, "priority")) {
        return OPAL_INFO_LVL_2;
    }
    for (const char *const *expert = vars->experts; NULL != *expert; ++expert) {
        if (0 == strcmp(name, *expert)) {
            return OPAL_INFO_LVL_9;
        }
    }
    return NULL == strstr(name, "_algorithm") ? OPAL_INFO_LVL_5 : OPAL_INFO_LVL_6;
}

static void register_var(mca_common_irregular_vars_t *vars, const char *name, const char *help,
                         mca_base_var_type_t type, mca_base_var_enum_t *values, void *storage)
{
    note_equal(vars, name, MCA_BASE_VAR_SCOPE_ALL_EQ, storage, size_of(type));
    (void) mca_base_component_var_register(vars->component, name, help, type, values, 0,
                                           MCA_BASE_VAR_FLAG_SETTABLE, level_of(vars, name),
                                           MCA_BASE_VAR_SCOPE_ALL_EQ, storage);
}

void mca_common_irregular_choice(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, const mca_base_var_enum_value_t *values,
                                 int *storage)
{
    mca_base_var_enum_t *enumeration = NULL;

    (void) mca_base_var_enum_create(name, values, &enumeration);
    register_var(vars, name, help, MCA_BASE_VAR_TYPE_INT, enumeration, storage);
    if (NULL != enumeration) {
        OBJ_RELEASE(enumeration);
    }
}

void mca_common_irregular_switch(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, bool *storage)
{
    register_var(vars, name, help, MCA_BASE_VAR_TYPE_BOOL, NULL, storage);
}

/* Long enough for any help text with its range. */
#define HELP_MOST 1024

/*
 * Makes `text` the help text of a variable that may be 0 to `most`: its last clause tells programs
 * the range, " [0..MOST UNIT; 0: MEANING]". Unit and meaning may be NULL.
 */
static const char *with_range(char text[HELP_MOST], const char *help, double most,
                              const char *unit, const char *zero)
{
    (void) snprintf(text, HELP_MOST, "%s [0..%.15g%s%s%s%s]", help, most, NULL == unit ? "" : " ",
                    NULL == unit ? "" : unit, NULL == zero ? "" : "; 0: ",
                    NULL == zero ? "" : zero);
    return text;
}

static void complain_of_range(mca_common_irregular_vars_t *vars, const char *name,
                              const char *value, double most, double used, const char *meaning)
{
    char range_text[64], used_text[64];

    (void) snprintf(range_text, sizeof(range_text), "0 to %.15g", most);
    (void) snprintf(used_text, sizeof(used_text), "%.15g%s", used, meaning);
    complain(vars, name, value, range_text, used_text);
}

/* Registers a number; messages show its default with the suffix `meaning`. */
static void register_number(mca_common_irregular_vars_t *vars, const char *name, const char *help,
                            double most, const char *meaning, double *storage)
{
    const double preset = *storage;
    char value[64];

    register_var(vars, name, help, MCA_BASE_VAR_TYPE_DOUBLE, NULL, storage);
    if (!(0 <= *storage && most >= *storage)) {
        (void) snprintf(value, sizeof(value), "%.15g", *storage);
        complain_of_range(vars, name, value, most, preset, meaning);
        *storage = preset;
    }
}

void mca_common_irregular_cost(mca_common_irregular_vars_t *vars, const char *name,
                               const char *help, const char *unit, const char *zero,
                               double *storage)
{
    const double most = MCA_COMMON_IRREGULAR_COST_MOST;
    char text[HELP_MOST];

    *storage = 0;
    register_number(vars, name, with_range(text, help, most, unit, zero), most, " (not given)",
                    storage);
}

void mca_common_irregular_size(mca_common_irregular_vars_t *vars, const char *name,
                               const char *help, const char *zero, size_t most, size_t *storage)
{
    const size_t preset = *storage;
    char text[HELP_MOST], value[64];

    register_var(vars, name, with_range(text, help, (double) most, "bytes", zero),
                 MCA_BASE_VAR_TYPE_SIZE_T, NULL, storage);
    if (most < *storage) {
        (void) snprintf(value, sizeof(value), "%" PRId64, (int64_t) *storage);
        complain_of_range(vars, name, value, (double) most, (double) preset, "");
        *storage = preset;
    }
}

void mca_common_irregular_int(mca_common_irregular_vars_t *vars, const char *name,
                              const char *help, const char *unit, const char *zero, int flags,
                              int scope, int most, int *storage)
{
    const int preset = *storage;
    char text[HELP_MOST], value[64];

    note_equal(vars, name, scope, storage, sizeof(*storage));
    (void) mca_base_component_var_register(vars->component, name,
                                           with_range(text, help, most, unit, zero),
                                           MCA_BASE_VAR_TYPE_INT, NULL, 0, flags,
                                           level_of(vars, name), scope, storage);
    if (0 > *storage || most < *storage) {
        (void) snprintf(value, sizeof(value), "%d", *storage);
        complain_of_range(vars, name, value, most, preset, "");
        *storage = preset;
    }
}

void mca_common_irregular_string(mca_common_irregular_vars_t *vars, const char *name,
                                 const char *help, int flags, int scope, char **storage)
{
    note_equal(vars, name, scope, storage, 0);
    (void) mca_base_component_var_register(vars->component, name, help, MCA_BASE_VAR_TYPE_STRING,
                                           NULL, 0, flags, level_of(vars, name), scope, storage);
}

/* Shows lines about variables: of each component's own file, since a topic is shown once. */
static void show(const mca_common_irregular_vars_t *vars, const char *topic, const char *lines)
{
    char file[64];

    if ('\0' != lines[0]) {
        (void) snprintf(file, sizeof(file), "help-coll-%s.txt", vars->owner);
        opal_show_help(file, topic, true, lines);
    }
}

/* Internal variables are in no list of ompi_info or MPI_T, but say whether they are set. */
void mca_common_irregular_gone(mca_common_irregular_vars_t *vars, mca_common_irregular_gone_t *gone,
                               size_t count)
{
    char lines[2048] = "";

    for (size_t i = 0; i < count; ++i) {
        const size_t length = strlen(lines);
        gone[i].value = NULL;
        mca_common_irregular_string(vars, gone[i].name, gone[i].instead, MCA_BASE_VAR_FLAG_INTERNAL,
                                    MCA_BASE_VAR_SCOPE_LOCAL, &gone[i].value);
        if (NULL != gone[i].value) {
            (void) snprintf(lines + length, sizeof(lines) - length,
                            "\n  coll_%s_%s = %s\n    In its place: %s\n", vars->owner,
                            gone[i].name, gone[i].value, gone[i].instead);
        }
    }
    show(vars, "gone", lines);
}

void mca_common_irregular_complain(mca_common_irregular_vars_t *vars)
{
    show(vars, "out-of-range", vars->complaints);
    vars->complaints[0] = '\0';
}

static void register_pvar(mca_common_irregular_vars_t *vars, const char *name, const char *help,
                          int class, opal_atomic_int64_t *counter)
{
    (void) mca_base_component_pvar_register(vars->component, name, help, OPAL_INFO_LVL_5, class,
                                            MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL,
                                            MPI_T_BIND_NO_OBJECT,
                                            MCA_BASE_PVAR_FLAG_READONLY
                                                | MCA_BASE_PVAR_FLAG_CONTINUOUS,
                                            NULL, NULL, NULL, (void *) counter);
}

void mca_common_irregular_counter(mca_common_irregular_vars_t *vars, const char *name,
                                  const char *help, opal_atomic_int64_t *counter)
{
    register_pvar(vars, name, help, MPI_T_PVAR_CLASS_COUNTER, counter);
}

void mca_common_irregular_level(mca_common_irregular_vars_t *vars, const char *name,
                                const char *help, opal_atomic_int64_t *counter)
{
    register_pvar(vars, name, help, MPI_T_PVAR_CLASS_LEVEL, counter);
}
