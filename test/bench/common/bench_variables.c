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
 * MCA variables as strings, through the tools interface of MPI: what an arm
 * wants is written before its call, everything else goes back to what it was
 * when the job began. Reading a performance variable by name.
 */

#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CVARS 128
#define MAX_PVARS 16

typedef union value_t {
    int i;
    unsigned u;
    long l;
    unsigned long ul;
    unsigned long long ull;
    double d;
    bool b;
    char text[4096];
} value_t;

typedef struct cvar_t {
    char name[BENCH_VALUE_LENGTH];
    char initial[BENCH_VALUE_LENGTH];
    char current[BENCH_VALUE_LENGTH];
    MPI_T_cvar_handle handle;
    MPI_T_enum names;
    MPI_Datatype type;
} cvar_t;

typedef struct pvar_t {
    char name[BENCH_VALUE_LENGTH];
    MPI_T_pvar_handle handle;
    MPI_Datatype type;
    bool found;
} pvar_t;

static cvar_t cvars[MAX_CVARS];
static int cvar_count;
static pvar_t pvars[MAX_PVARS];
static int pvar_count;
static MPI_T_pvar_session session;

void bench_variables_stop(void)
{
    for (int i = 0; i < cvar_count; ++i) {
        MPI_T_cvar_handle_free(&cvars[i].handle);
    }
    for (int i = 0; i < pvar_count; ++i) {
        if (pvars[i].found) {
            MPI_T_pvar_handle_free(session, &pvars[i].handle);
        }
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

static void format(MPI_Datatype type, const value_t *value, char *text)
{
    if (MPI_INT == type) {
        snprintf(text, BENCH_VALUE_LENGTH, "%d", value->i);
    } else if (MPI_UNSIGNED == type) {
        snprintf(text, BENCH_VALUE_LENGTH, "%u", value->u);
    } else if (MPI_LONG == type) {
        snprintf(text, BENCH_VALUE_LENGTH, "%ld", value->l);
    } else if (MPI_UNSIGNED_LONG == type) {
        snprintf(text, BENCH_VALUE_LENGTH, "%lu", value->ul);
    } else if (MPI_UNSIGNED_LONG_LONG == type) {
        snprintf(text, BENCH_VALUE_LENGTH, "%llu", value->ull);
    } else if (MPI_DOUBLE == type) {
        snprintf(text, BENCH_VALUE_LENGTH, "%.17g", value->d);
    } else if (MPI_C_BOOL == type) {
        snprintf(text, BENCH_VALUE_LENGTH, "%d", value->b);
    } else {
        snprintf(text, BENCH_VALUE_LENGTH, "%.*s", BENCH_VALUE_LENGTH - 1, value->text);
    }
}

/* The item of an enumeration with this name, or where that is NULL with this number; false: there is
 * none. */
static bool find_item(MPI_T_enum names, const char *wanted, int *number,
                      char name[BENCH_VALUE_LENGTH])
{
    int count = 0, length = BENCH_VALUE_LENGTH;

    if (MPI_T_ENUM_NULL == names
        || MPI_SUCCESS != MPI_T_enum_get_info(names, &count, name, &length)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        int value;

        length = BENCH_VALUE_LENGTH;
        if (MPI_SUCCESS == MPI_T_enum_get_item(names, i, &value, name, &length)
            && (NULL == wanted ? value == *number : 0 == strcmp(name, wanted))) {
            *number = value;
            return true;
        }
    }
    return false;
}

static bool parse(const cvar_t *cvar, const char *text, value_t *value)
{
    char *end = NULL, name[BENCH_VALUE_LENGTH];
    double real = strtod(text, &end);
    bool number = end != text && '\0' == *end;

    if (MPI_CHAR == cvar->type) {
        snprintf(value->text, sizeof(value->text), "%s", text);
        return true;
    }
    if (!number) {
        real = bench_number(text);
        number = 0.0 <= real;
    }
    if (MPI_INT == cvar->type) {
        value->i = (int) real;
        return number || find_item(cvar->names, text, &value->i, name);
    }
    if (MPI_UNSIGNED == cvar->type) {
        value->u = (unsigned) real;
    } else if (MPI_LONG == cvar->type) {
        value->l = (long) real;
    } else if (MPI_UNSIGNED_LONG == cvar->type) {
        value->ul = (unsigned long) real;
    } else if (MPI_UNSIGNED_LONG_LONG == cvar->type) {
        value->ull = (unsigned long long) real;
    } else if (MPI_DOUBLE == cvar->type) {
        value->d = real;
    } else if (MPI_C_BOOL == cvar->type) {
        value->b = 0.0 != real;
    } else {
        return false;
    }
    return number;
}

int bench_cvar_open(const char *name)
{
    cvar_t *cvar = &cvars[cvar_count];
    int index, verbosity, binding, scope, count;
    int name_length = sizeof(cvar->name), text_length = 0;
    value_t value;

    for (int i = 0; i < cvar_count; ++i) {
        if (0 == strcmp(cvars[i].name, name)) {
            return i;
        }
    }
    if (MAX_CVARS == cvar_count || MPI_SUCCESS != MPI_T_cvar_get_index(name, &index)
        || MPI_SUCCESS
               != MPI_T_cvar_get_info(index, cvar->name, &name_length, &verbosity, &cvar->type,
                                      &cvar->names, NULL, &text_length, &binding, &scope)
        || MPI_SUCCESS != MPI_T_cvar_handle_alloc(index, NULL, &cvar->handle, &count)) {
        return -1;
    }
    memset(&value, 0, sizeof(value));
    if (MPI_CHAR == cvar->type && (int) sizeof(value) < count) {
        return -1;
    }
    MPI_T_cvar_read(cvar->handle, &value);
    format(cvar->type, &value, cvar->initial);
    strcpy(cvar->current, cvar->initial);
    return cvar_count++;
}

const char *bench_cvar_value(int cvar)
{
    return cvars[cvar].initial;
}

bool bench_cvar_name(int cvar, int value, char name[BENCH_VALUE_LENGTH])
{
    return find_item(cvars[cvar].names, NULL, &value, name);
}

bool bench_cvar_next(int *place, const char *begin, const char *end,
                     char name[BENCH_VALUE_LENGTH])
{
    int total = 0, verbosity, binding, scope;

    MPI_T_cvar_get_num(&total);
    for (; *place < total; ++*place) {
        int length = BENCH_VALUE_LENGTH, none = 0;
        MPI_Datatype type;
        MPI_T_enum names;
        size_t tail;

        if (MPI_SUCCESS
                != MPI_T_cvar_get_info(*place, name, &length, &verbosity, &type, &names, NULL,
                                       &none, &binding, &scope)
            || MPI_T_ENUM_NULL == names || 0 != strncmp(name, begin, strlen(begin))
            || strlen(name) < strlen(end)) {
            continue;
        }
        tail = strlen(name) - strlen(end);
        if (0 == strcmp(name + tail, end)) {
            ++*place;
            return true;
        }
    }
    return false;
}

static bool write_cvar(int cvar, const char *text)
{
    value_t value;

    if (0 == strcmp(cvars[cvar].current, text)) {
        return true;
    }
    memset(&value, 0, sizeof(value));
    if (!parse(&cvars[cvar], text, &value)
        || MPI_SUCCESS != MPI_T_cvar_write(cvars[cvar].handle, &value)) {
        return false;
    }
    snprintf(cvars[cvar].current, sizeof(cvars[cvar].current), "%s", text);
    return true;
}

bool bench_cvar_apply(const bench_arm_t *arm, char *error)
{
    for (int i = 0; i < cvar_count; ++i) {
        const char *wanted = cvars[i].initial;

        for (int k = 0; k < arm->settings; ++k) {
            if (i == arm->cvar[k]) {
                wanted = arm->value[k];
            }
        }
        if (!write_cvar(i, wanted)) {
            snprintf(error, BENCH_ERROR_LENGTH,
                     "%s: the variable %s does not take \"%s\" in a running job", arm->name,
                     cvars[i].name, wanted);
            return false;
        }
    }
    return true;
}

/* Finds a performance variable of any class by its name. */
static void open_pvar(pvar_t *pvar, const char *name)
{
    int total = 0, class, verbosity, binding, constant, continuous, atomic, count;

    snprintf(pvar->name, sizeof(pvar->name), "%s", name);
    MPI_T_pvar_get_num(&total);
    for (int i = 0; i < total && !pvar->found; ++i) {
        char found[BENCH_VALUE_LENGTH];
        int length = sizeof(found), none = 0;
        MPI_T_enum names;

        if (MPI_SUCCESS
                != MPI_T_pvar_get_info(i, found, &length, &verbosity, &class, &pvar->type, &names,
                                       NULL, &none, &binding, &constant, &continuous, &atomic)
            || 0 != strcmp(found, name)) {
            continue;
        }
        if (MPI_SUCCESS != MPI_T_pvar_handle_alloc(session, i, NULL, &pvar->handle, &count)) {
            return;
        }
        if (!continuous) {
            MPI_T_pvar_start(session, pvar->handle);
        }
        pvar->found = 1 == count;
    }
}

/* A counter counts from when its handle is made, so this is done at once. */
void bench_variables_start(void)
{
    static const char *const names[] = {"coll_pipering_calls", "coll_pipering_rounds",
                                        "coll_pipering_block_size_used",
                                        "coll_mleader_messages_between",
                                        "coll_mleader_messages_within",
                                        "coll_mleader_bytes_copied",
                                        "coll_mleader_calls_shared",
                                        "coll_mleader_calls_messages",
                                        "coll_pipering_predicted_time",
                                        "coll_pipering_algorithm_used",
                                        "coll_pipering_alltoall_calls"};
    int provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        open_pvar(&pvars[pvar_count++], names[i]);
    }
}

bool bench_pvar_read(const char *name, uint64_t *number)
{
    pvar_t *pvar = NULL;
    value_t value;

    for (int i = 0; i < pvar_count && NULL == pvar; ++i) {
        pvar = (0 == strcmp(pvars[i].name, name)) ? &pvars[i] : NULL;
    }
    memset(&value, 0, sizeof(value));
    if (NULL == pvar || !pvar->found
        || MPI_SUCCESS != MPI_T_pvar_read(session, pvar->handle, &value)) {
        return false;
    }
    *number = (MPI_UNSIGNED == pvar->type || MPI_INT == pvar->type) ? value.u : value.ull;
    return true;
}
