/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "knob.h"

#include "tap.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS_AT_MOST 256
#define VERDICTS_AT_MOST 64

static MPI_T_pvar_session session;
static struct {
    char name[128];
    MPI_T_pvar_handle handle;
} counter[COUNTERS_AT_MOST];
static int counters;
static bool component, leaders; /* coll/pipering and coll/mleader are there */
static double default_window;
static char verdict[VERDICTS_AT_MOST][80];
static int verdict_value[VERDICTS_AT_MOST], verdicts;

static bool is_ours(const char *name)
{
    return 0 == strncmp(name, "coll_pipering_", 14) || 0 == strncmp(name, "coll_mleader_", 13);
}

static void add_counter(int index)
{
    char name[128];
    int length = sizeof(name), verbosity, class, binding, readonly, continuous, atomic, count;
    int code;
    MPI_Datatype type;
    MPI_T_enum enumeration;

    code = MPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type, &enumeration, NULL,
                               NULL, &binding, &readonly, &continuous, &atomic);
    if (MPI_SUCCESS != code || !is_ours(name) || MPI_UNSIGNED_LONG_LONG != type
        || MPI_T_BIND_NO_OBJECT != binding) {
        return;
    }
    if (COUNTERS_AT_MOST == counters
        || MPI_SUCCESS
               != MPI_T_pvar_handle_alloc(session, index, NULL, &counter[counters].handle,
                                          &count)) {
        tap_bail("%s cannot be read", name);
    }
    if (!continuous) {
        MPI_T_pvar_start(session, counter[counters].handle);
    }
    strcpy(counter[counters].name, name);
    counters++;
}

static void find_verdicts(void)
{
    MPI_T_enum names;
    MPI_Datatype type;
    int index, length = 0, verbosity, class, binding, readonly, continuous, atomic, count = 0, value;

    if (MPI_SUCCESS
            != MPI_T_pvar_get_index("coll_pipering_verdict", MPI_T_PVAR_CLASS_STATE, &index)
        || MPI_SUCCESS
               != MPI_T_pvar_get_info(index, NULL, &length, &verbosity, &class, &type, &names, NULL,
                                      NULL, &binding, &readonly, &continuous, &atomic)) {
        return;
    }
    length = 0;
    MPI_T_enum_get_info(names, &count, NULL, &length);
    for (int i = 0; i < count && i < VERDICTS_AT_MOST; i++) {
        length = sizeof(verdict[0]);
        MPI_T_enum_get_item(names, i, &value, verdict[i], &length);
        verdict_value[verdicts++] = value;
    }
}

bool knob_begin(void)
{
    int level, provided, pvars = 0;

    /* Open MPI takes the level of the last MPI_T_init_thread for that of MPI, too */
    MPI_Query_thread(&level);
    MPI_T_init_thread(level, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&pvars);
    for (int i = 0; i < pvars; i++) {
        add_counter(i);
    }
    component = -1 != knob_get("coll_pipering_priority", -1);
    leaders = -1 != knob_get("coll_mleader_priority", -1);
    default_window = knob_get("coll_pipering_window", 0);
    find_verdicts();
    return component;
}

void knob_end(void)
{
    for (int i = 0; i < counters; i++) {
        MPI_T_pvar_handle_free(session, &counter[i].handle);
    }
    counters = 0;
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

/** A value of any type that Open MPI's variables have. */
typedef union any_t {
    int as_int;
    unsigned as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    double as_double;
    unsigned char as_bool;
    char space[256];
} any_t;

static any_t any_from(MPI_Datatype type, double value)
{
    any_t any;

    memset(&any, 0, sizeof(any));
    if (MPI_DOUBLE == type) {
        any.as_double = value;
    } else if (MPI_UNSIGNED_LONG == type) {
        any.as_unsigned_long = (unsigned long) value;
    } else if (MPI_UNSIGNED_LONG_LONG == type) {
        any.as_unsigned_long_long = (unsigned long long) value;
    } else if (MPI_UNSIGNED == type) {
        any.as_unsigned = (unsigned) value;
    } else if (MPI_C_BOOL == type) {
        any.as_bool = 0 != value;
    } else {
        any.as_int = (int) value;
    }
    return any;
}

static double any_value(MPI_Datatype type, const any_t *any)
{
    if (MPI_DOUBLE == type) {
        return any->as_double;
    } else if (MPI_UNSIGNED_LONG == type) {
        return (double) any->as_unsigned_long;
    } else if (MPI_UNSIGNED_LONG_LONG == type) {
        return (double) any->as_unsigned_long_long;
    } else if (MPI_UNSIGNED == type) {
        return any->as_unsigned;
    } else if (MPI_C_BOOL == type) {
        return any->as_bool;
    }
    return any->as_int;
}

static bool find_control(const char *name, MPI_T_cvar_handle *handle, MPI_Datatype *type)
{
    int index, length = 0, verbosity, binding, scope, count;
    MPI_T_enum enumeration;

    return MPI_SUCCESS == MPI_T_cvar_get_index(name, &index)
           && MPI_SUCCESS
                  == MPI_T_cvar_get_info(index, NULL, &length, &verbosity, type, &enumeration, NULL,
                                         NULL, &binding, &scope)
           && MPI_SUCCESS == MPI_T_cvar_handle_alloc(index, NULL, handle, &count);
}

/* Whether the component is there whose variable a name is. */
static bool is_there(const char *name)
{
    return 0 == strncmp(name, "coll_mleader_", 13) ? leaders : component;
}

void knob_set(const char *name, double value)
{
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    any_t any, now;
    int code;

    if (!is_there(name)) {
        return;
    }
    if (!find_control(name, &handle, &type)) {
        tap_bail("the test is wrong: there is no variable %s", name);
    }
    any = any_from(type, value);
    memset(&now, 0, sizeof(now));
    code = MPI_T_cvar_write(handle, &any);
    if (MPI_SUCCESS == code) {
        code = MPI_T_cvar_read(handle, &now);
    }
    MPI_T_cvar_handle_free(&handle);
    if (MPI_SUCCESS != code || any_value(type, &any) != any_value(type, &now)) {
        tap_bail("cannot set %s to %g: MPI_T error %d", name, value, code);
    }
}

double knob_get(const char *name, double otherwise)
{
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    any_t any;
    int code;

    if (!find_control(name, &handle, &type)) {
        return otherwise;
    }
    memset(&any, 0, sizeof(any));
    code = MPI_T_cvar_read(handle, &any);
    MPI_T_cvar_handle_free(&handle);
    return MPI_SUCCESS == code ? any_value(type, &any) : otherwise;
}

static uint64_t read_counter(int i)
{
    unsigned long long value = 0;
    const int code = MPI_T_pvar_read(session, counter[i].handle, &value);

    if (MPI_SUCCESS != code) {
        tap_bail("cannot read %s: MPI_T error %d", counter[i].name, code);
    }
    return value;
}

uint64_t knob_counter(const char *name)
{
    for (int i = 0; i < counters; i++) {
        if (0 == strcmp(counter[i].name, name)) {
            return read_counter(i);
        }
    }
    if (is_there(name)) {
        tap_bail("the test is wrong: there is no counter %s", name);
    }
    return 0;
}

/*
 * A variable of a communicator, from now on. Open MPI 6.0.0rc2 takes what is behind the handle for
 * a part of the communicator, so zeros are (docs/upstream/mpit_handle.c).
 */
static void watch_variable(MPI_Comm comm, int class, const char *name, MPI_T_pvar_handle *handle)
{
    struct {
        MPI_Comm handle;
        char zeros[4096];
    } object = {.handle = comm};
    int index, count;

    if (MPI_SUCCESS != MPI_T_pvar_get_index(name, class, &index)
        || MPI_SUCCESS != MPI_T_pvar_handle_alloc(session, index, &object, handle, &count)) {
        tap_bail("%s cannot be read", name);
    }
}

void knob_watch(MPI_Comm comm, knob_watch_t *watch)
{
    watch->seen = 0;
    if (component) {
        watch_variable(comm, MPI_T_PVAR_CLASS_COUNTER, "coll_pipering_heard", &watch->heard);
        watch_variable(comm, MPI_T_PVAR_CLASS_STATE, "coll_pipering_verdict", &watch->verdict);
    }
}

void knob_unwatch(knob_watch_t *watch)
{
    if (component) {
        MPI_T_pvar_handle_free(session, &watch->heard);
        MPI_T_pvar_handle_free(session, &watch->verdict);
    }
}

const char *knob_verdict(knob_watch_t *watch)
{
    unsigned long long heard = 0;
    int state = 0;

    if (!component || MPI_SUCCESS != MPI_T_pvar_read(session, watch->heard, &heard)
        || watch->seen == heard || MPI_SUCCESS != MPI_T_pvar_read(session, watch->verdict, &state)) {
        return NULL;
    }
    watch->seen = heard;
    for (int i = 0; i < verdicts; i++) {
        if (state == verdict_value[i]) {
            return verdict[i];
        }
    }
    tap_bail("coll_pipering_verdict has no name for %d", state);
}

uint64_t knob_counters(const char *start)
{
    uint64_t sum = 0;
    int found = 0;

    for (int i = 0; i < counters; i++) {
        if (0 == strncmp(counter[i].name, start, strlen(start))) {
            sum += read_counter(i);
            found++;
        }
    }
    if (0 == found && is_there(start)) {
        tap_bail("the test is wrong: there are no counters %s...", start);
    }
    return sum;
}

const knob_setting_t knob_settings[] = {
    {"as it is", KNOB_AUTO, KNOB_SEARCH, 0, 0, false},
    {"ring", KNOB_RING, KNOB_SEARCH, 0, 0, false},
    {"ring, 7 bytes", KNOB_RING, KNOB_SEARCH, 7, 0, false},
    {"ring, blocks of 12 bytes, window 1", KNOB_RING, KNOB_SEARCH, 12, 1, false},
    {"ring, 4099 bytes, window 3", KNOB_RING, KNOB_SEARCH, 4099, 3, false},
    {"ring, equation 2", KNOB_RING, KNOB_EQUATION2, 0, 0, false},
    {"ring of whole contributions", KNOB_RING, KNOB_SEARCH, 1 << 30, 0, false},
    {"rounds", KNOB_ROUNDS, KNOB_SEARCH, 0, 0, false},
    {"rounds, blocks of 12 bytes", KNOB_ROUNDS, KNOB_SEARCH, 12, 0, false},
    {"rounds, all alone", KNOB_ROUNDS, KNOB_SEARCH, 0, 0, true},
};

int knob_settings_count(void)
{
    return component ? (int) (sizeof(knob_settings) / sizeof(knob_settings[0])) : 1;
}

/* Whether what would go around a ring, or down a chain, goes along a mesh. */
static bool goes_along_mesh(void)
{
    return NULL != getenv("ALONG_MESH");
}

void knob_ring(int algorithm)
{
    const int forced = KNOB_RING == algorithm && goes_along_mesh() ? KNOB_MESH_CYCLES : algorithm;

    knob_set("coll_pipering_allgatherv_algorithm", forced);
    knob_set("coll_pipering_allgather_algorithm", forced);
}

void knob_apply(const knob_setting_t *setting)
{
    knob_ring(setting->algorithm);
    /* which stands above and would take MPI_Allgather */
    knob_set("coll_mleader_allgather_algorithm",
             KNOB_AUTO == setting->algorithm ? KNOB_AUTO : KNOB_LEADERS_OFF);
    knob_set("coll_pipering_block_model", setting->model);
    knob_set("coll_pipering_block_size", (double) setting->block_size);
    knob_set("coll_pipering_window", 0 == setting->window ? default_window : setting->window);
    knob_set("coll_pipering_rounds_packed", setting->alone ? 1 : KNOB_PACKED);
}

void knob_folds(int line, int allreduce)
{
    const bool mesh = goes_along_mesh();
    const int scatter = KNOB_MERGED == allreduce ? KNOB_PIPELINE : allreduce;

    knob_set("coll_pipering_bcast_algorithm", mesh ? KNOB_MESH_TREES : line);
    knob_set("coll_pipering_reduce_algorithm", mesh ? KNOB_MESH_PATH : line);
    knob_set("coll_pipering_scan_algorithm", line);
    knob_set("coll_pipering_exscan_algorithm", line);
    knob_set("coll_pipering_allreduce_algorithm", mesh ? KNOB_MESH_CYCLES : allreduce);
    knob_set("coll_pipering_reduce_scatter_algorithm", scatter);
}
