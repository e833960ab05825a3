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
 * Arms: ways of running the same call in the same job. Each has a duplicate of
 * the communicator to itself, so that nothing one of them caches is seen by
 * another, and its own values of MCA variables.
 */

#include "agv.h"

#include <stdlib.h>
#include <string.h>

#define ALGORITHM "coll_pipering_allgatherv_algorithm"
#define ALLGATHER_ALGORITHM "coll_pipering_allgather_algorithm"
#define MPICH_CHUNK 32768

int agv_comm_dup(MPI_Comm comm, const char *components, MPI_Comm *dup)
{
    MPI_Info info;
    int rc;

    if (NULL == components) {
        return MPI_Comm_dup(comm, dup);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", components);
    rc = MPI_Comm_dup_with_info(comm, info, dup);
    MPI_Info_free(&info);
    return rc;
}

bool agv_arm_set(agv_arm_t *arm, const char *name, const char *value, char *error,
                 size_t length)
{
    char full[2 * AGV_VALUE_LENGTH];
    int cvar;

    if (0 == strcmp(name, "B")) {
        name = "block_size";
    }
    snprintf(full, sizeof(full), "%s%s",
             0 == strncmp(name, "coll_", 5) || 0 == strncmp(name, "opal_", 5) ? ""
                                                                              : "coll_pipering_",
             name);
    cvar = agv_cvar_open(full);
    if (0 > cvar) {
        snprintf(error, length, "%s: this Open MPI has no variable %s", arm->name, full);
        return false;
    }
    if (AGV_MAX_SETTINGS == arm->settings) {
        snprintf(error, length, "%s: more settings than an arm can have", arm->name);
        return false;
    }
    arm->cvar[arm->settings] = cvar;
    snprintf(arm->value[arm->settings], AGV_VALUE_LENGTH, "%s", value);
    ++arm->settings;
    return true;
}

bool agv_arm_setting(agv_arm_t *arm, char *setting, char *error, size_t length)
{
    char *value = strchr(setting, '=');

    if (NULL == value) {
        snprintf(error, length, "%s: VARIABLE=VALUE is meant where \"%s\" stands", arm->name,
                 setting);
        return false;
    }
    *value++ = '\0';
    return agv_arm_set(arm, setting, value, error, length);
}

/* chunk=BYTES behind the name mpich. */
static bool parse_chunk(agv_arm_t *arm, const char *setting, char *error, size_t length)
{
    double chunk = 0 == strncmp(setting, "chunk=", 6) ? agv_options_number(setting + 6) : 0.0;

    arm->chunk = (size_t) chunk;
    if (1.0 > chunk) {
        snprintf(error, length, "%s: takes chunk=BYTES only", arm->name);
        return false;
    }
    return true;
}

bool agv_arm_is_kind(const char *name, const char *kind)
{
    size_t length = strlen(kind);

    return 0 == strncmp(name, kind, length)
           && strlen(name + length) == strspn(name + length, "0123456789");
}

/* coll/tuned reads its forced algorithm from the command line only, but whether
 * it honours that is decided anew for each communicator. */
static bool parse_tuned(agv_arm_t *arm, const char *name, char *error, size_t length)
{
    int cvar = agv_cvar_open("coll_tuned_allgatherv_algorithm");

    arm->engine = AGV_TUNED;
    arm->tuned = atoi(name + strlen("tuned"));
    if (0 > cvar || 0 > agv_cvar_open("coll_tuned_use_dynamic_rules")
        || atoi(agv_cvar_initial(cvar)) != arm->tuned) {
        snprintf(error, length,
                 "%s: start mpirun with --mca coll_tuned_allgatherv_algorithm %d for it",
                 arm->name, arm->tuned);
        return false;
    }
    return true;
}

static bool parse_kind(agv_arm_t *arm, const char *name, char *error, size_t length)
{
    static const struct {
        const char *name;
        agv_engine_t engine;
        bool nonblocking;
        const char *algorithm;
    } kinds[] = {{"stock", AGV_STOCK, false, NULL},      {"istock", AGV_STOCK, true, NULL},
                 {"mpich", AGV_MPICH, false, NULL},      {"pipering", AGV_PIPERING, false, "0"},
                 {"iall", AGV_PIPERING, true, "0"},      {"ring", AGV_PIPERING, false, "1"},
                 {"iring", AGV_PIPERING, true, "1"},     {"linear", AGV_PIPERING, false, "2"},
                 {"doubling", AGV_PIPERING, false, "7"},
                 {"dissemination", AGV_PIPERING, false, "8"}, {"off", AGV_PIPERING, false, "3"}};

    if (agv_arm_is_kind(name, "tuned")) {
        return parse_tuned(arm, name, error, length);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (agv_arm_is_kind(name, kinds[i].name)) {
            arm->engine = kinds[i].engine;
            arm->nonblocking = kinds[i].nonblocking;
            return NULL == kinds[i].algorithm
                   || (agv_arm_set(arm, ALGORITHM, kinds[i].algorithm, error, length)
                       && agv_arm_set(arm, ALLGATHER_ALGORITHM, kinds[i].algorithm, error,
                                      length));
        }
    }
    snprintf(error, length, "%s: no such arm, see --help", arm->name);
    return false;
}

static bool parse_word(agv_arm_t *arm, int index, char *word, void *context, char *error,
                       size_t length)
{
    (void) context;
    if (0 == index) {
        return parse_kind(arm, word, error, length);
    }
    return AGV_MPICH == arm->engine ? parse_chunk(arm, word, error, length)
                                    : agv_arm_setting(arm, word, error, length);
}

static bool parse_arm(agv_arm_t *arm, const char *text, agv_arm_word_t *take, void *context,
                      char *error, size_t length)
{
    char copy[AGV_VALUE_LENGTH];
    char *rest, *word;

    memset(arm, 0, sizeof(*arm));
    arm->comm = MPI_COMM_NULL;
    if (strlen(text) >= sizeof(copy)) {
        snprintf(error, length, "%.32s...: an arm of that length is not understood", text);
        return false;
    }
    strcpy(copy, text);
    strcpy(arm->name, text);
    word = strtok_r(copy, ":", &rest);
    for (int i = 0; 0 == i || NULL != word; ++i) {
        if (!take(arm, i, NULL == word ? copy : word, context, error, length)) {
            return false;
        }
        word = strtok_r(NULL, ":", &rest);
    }
    return true;
}

int agv_arms_parse(agv_arm_t *arms, const char *list, agv_arm_word_t *take, void *context,
                   char *error, size_t length)
{
    char copy[4096];
    char *rest, *word;
    int count = 0;

    snprintf(copy, sizeof(copy), "%s", list);
    for (word = strtok_r(copy, ",", &rest); NULL != word; word = strtok_r(NULL, ",", &rest)) {
        if (AGV_MAX_ARMS == count) {
            snprintf(error, length, "--arms: more than %d arms", AGV_MAX_ARMS);
            return -1;
        }
        if (!parse_arm(&arms[count], word, take, context, error, length)) {
            return -1;
        }
        ++count;
    }
    if (0 == count) {
        snprintf(error, length, "--arms: none is given");
        return -1;
    }
    return count;
}

static void connect_arm(agv_arm_t *arm, const agv_world_t *world)
{
    static const char *without[] = {[AGV_STOCK] = AGV_WITHOUT_OURS,
                                    [AGV_PIPERING] = "^mleader",
                                    [AGV_TUNED] = AGV_WITHOUT_OURS ",han",
                                    [AGV_MPICH] = AGV_WITHOUT_OURS};
    int dynamic = -1;

    if (AGV_TUNED == arm->engine) {
        dynamic = agv_cvar_open("coll_tuned_use_dynamic_rules");
        agv_cvar_write(dynamic, "1");
    }
    agv_comm_dup(world->base, without[arm->engine], &arm->comm);
    if (0 <= dynamic) {
        agv_cvar_write(dynamic, agv_cvar_initial(dynamic));
    }
}

int agv_arms_create(agv_arm_t *arms, const char *list, const agv_world_t *world, char *error,
                    size_t length)
{
    int count = agv_arms_parse(arms, list, parse_word, NULL, error, length);

    for (int i = 0; i < count; ++i) {
        connect_arm(&arms[i], world);
        if (!agv_cvar_apply(&arms[i], error, length)) {
            return -1;
        }
    }
    return count;
}

void agv_arms_free(agv_arm_t *arms, int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&arms[i].comm);
    }
}

/* A place in the stream of chunks that passes a link, seen from its sender. */
typedef struct cursor_t {
    const agv_problem_t *problem;
    const agv_data_t *data;
    int ranks;
    int owner;     /* whose contribution */
    int left;      /* contributions to come, with this one */
    size_t offset; /* into it, bytes */
} cursor_t;

/* The next chunk, at most `chunk` bytes: none of an empty contribution, which
 * takes a slot nevertheless. Returns its elements and where they are. */
static int next_chunk(cursor_t *cursor, size_t chunk, unsigned char **where)
{
    size_t bytes, unit = cursor->data->layout.unit;

    if (0 == cursor->left) {
        *where = cursor->data->recv;
        return 0;
    }
    bytes = cursor->problem->bytes[cursor->owner] - cursor->offset;
    bytes = bytes < chunk ? bytes : chunk;
    *where = cursor->data->recv
             + ((size_t) cursor->problem->displs[cursor->owner] + cursor->offset / unit)
                   * cursor->data->layout.extent;
    cursor->offset += bytes;
    if (cursor->problem->bytes[cursor->owner] == cursor->offset) {
        cursor->owner = (cursor->owner + cursor->ranks - 1) % cursor->ranks;
        cursor->offset = 0;
        --cursor->left;
    }
    return (int) (bytes / unit);
}

/* MPICH's blocked ring: rank order, each slot sends one chunk and takes one in,
 * the next slot begins when both are done. */
static int call_mpich(const agv_arm_t *arm, const agv_problem_t *problem, const agv_data_t *data)
{
    int rank, ranks, rc;
    size_t chunk = arm->chunk, unit = data->layout.unit;

    MPI_Comm_rank(arm->comm, &rank);
    MPI_Comm_size(arm->comm, &ranks);
    if (0 == chunk) {
        chunk = problem->bytes[0];
        for (int i = 1; i < ranks; ++i) {
            chunk = problem->bytes[i] < chunk ? problem->bytes[i] : chunk;
        }
        chunk = chunk < MPICH_CHUNK ? MPICH_CHUNK : chunk;
    }
    chunk = chunk < unit ? unit : chunk - chunk % unit;
    int before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
    cursor_t out = {problem, data, ranks, rank, ranks - 1, 0};
    cursor_t in = {problem, data, ranks, before, ranks - 1, 0};

    rc = MPI_Sendrecv(data->send, problem->counts[rank], data->layout.type, rank, 1,
                      data->recv + (size_t) problem->displs[rank] * data->layout.extent,
                      problem->counts[rank], data->layout.type, rank, 1, arm->comm,
                      MPI_STATUS_IGNORE);
    while (MPI_SUCCESS == rc && (0 < out.left || 0 < in.left)) {
        unsigned char *from, *to;
        int sent = next_chunk(&out, chunk, &from);
        int taken = next_chunk(&in, chunk, &to);

        rc = MPI_Sendrecv(from, sent, data->layout.type, 0 < sent ? behind : MPI_PROC_NULL, 2, to,
                          taken, data->layout.type, 0 < taken ? before : MPI_PROC_NULL, 2,
                          arm->comm, MPI_STATUS_IGNORE);
    }
    return rc;
}

static int call_nonblocking(const agv_arm_t *arm, const agv_problem_t *problem,
                            const agv_data_t *data, int count, bool allgather)
{
    MPI_Request request;
    int rc;

    if (allgather) {
        rc = MPI_Iallgather(data->send, count, data->layout.type, data->recv, count,
                            data->layout.type, arm->comm, &request);
    } else {
        rc = MPI_Iallgatherv(data->send, count, data->layout.type, data->recv, problem->counts,
                             problem->displs, data->layout.type, arm->comm, &request);
    }
    return (MPI_SUCCESS == rc) ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

int agv_arm_call(const agv_arm_t *arm, const agv_problem_t *problem, const agv_data_t *data,
                 bool allgather)
{
    int count = (int) (data->send_size / data->layout.extent);

    if (AGV_MPICH == arm->engine) {
        return call_mpich(arm, problem, data);
    }
    if (arm->nonblocking) {
        return call_nonblocking(arm, problem, data, count, allgather);
    }
    if (allgather) {
        return MPI_Allgather(data->send, count, data->layout.type, data->recv, count,
                             data->layout.type, arm->comm);
    }
    return MPI_Allgatherv(data->send, count, data->layout.type, data->recv, problem->counts,
                          problem->displs, data->layout.type, arm->comm);
}
