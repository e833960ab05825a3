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
 *
 * What a variable says when an arm's communicator is made and when it is used is the
 * same, so that coll/tuned, which reads its own at the first, finds them.
 */

#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define LOOKAHEAD "opal_datatype_lookahead"

int bench_comm_dup(MPI_Comm comm, const char *components, MPI_Comm *dup)
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

/* ---- settings */

bool bench_arm_set(bench_arm_t *arm, const char *name, const char *value, char *error)
{
    const int cvar = bench_cvar_open(name);

    if (0 > cvar) {
        snprintf(error, BENCH_ERROR_LENGTH, "%s: this Open MPI has no variable %.100s",
                 arm->name, name);
        return false;
    }
    if (BENCH_MAX_SETTINGS == arm->settings) {
        snprintf(error, BENCH_ERROR_LENGTH, "%s: more settings than an arm can have", arm->name);
        return false;
    }
    arm->cvar[arm->settings] = cvar;
    snprintf(arm->value[arm->settings], BENCH_VALUE_LENGTH, "%s", value);
    ++arm->settings;
    return true;
}

/* VARIABLE=VALUE, which is cut there. */
static bool take_setting(bench_arm_t *arm, char *setting, char *error)
{
    char *value = strchr(setting, '='), name[2 * BENCH_VALUE_LENGTH];
    const bool full = 0 == strncmp(setting, "coll_", 5) || 0 == strncmp(setting, "opal_", 5);

    if (NULL == value) {
        snprintf(error, BENCH_ERROR_LENGTH,
                 "%s: expected VARIABLE=VALUE where \"%s\" stands", arm->name, setting);
        return false;
    }
    *value++ = '\0';
    for (char *plus = strchr(value, '+'); NULL != plus; plus = strchr(plus, '+')) {
        *plus = ',';
    }
    snprintf(name, sizeof(name), "%s%s",
             full ? "" : BENCH_MLEADER == arm->kind->engine ? "coll_mleader_" : "coll_pipering_",
             0 == strcmp(setting, "B") ? "block_size" : setting);
    return bench_arm_set(arm, name, value, error);
}

/* N or seg=BYTES behind tuned. */
static bool take_tuned(bench_arm_t *arm, int index, const char *word, const char *call,
                       char *error)
{
    const bool number = 1 == index && 0 < atoi(word)
                        && strlen(word) == strspn(word, "0123456789");
    char name[BENCH_VALUE_LENGTH];

    if (!number && (2 != index || 0 != strncmp(word, "seg=", 4))) {
        snprintf(error, BENCH_ERROR_LENGTH, "%s: expected tuned:N or tuned:N:seg=BYTES",
                 arm->name);
        return false;
    }
    snprintf(name, sizeof(name), "coll_tuned_%s_algorithm%s", call,
             number ? "" : "_segmentsize");
    return bench_arm_set(arm, name, number ? word : word + 4, error)
           && (!number || bench_arm_set(arm, "coll_tuned_use_dynamic_rules", "1", error));
}

/* Whether or not the arm's communicator has our components, they hand every call down; so
 * do those of the communicators that coll/han makes for itself. */
static bool switch_off(bench_arm_t *arm, char *error)
{
    static const char *const ours[] = {"coll_pipering_", "coll_mleader_"};
    char name[BENCH_VALUE_LENGTH];

    for (int i = 0; i < 2; ++i) {
        for (int place = 0; bench_cvar_next(&place, ours[i], "_algorithm", name);) {
            if (!bench_arm_set(arm, name, "off", error)) {
                return false;
            }
        }
    }
    return 0 > bench_cvar_open(LOOKAHEAD) || bench_arm_set(arm, LOOKAHEAD, "off", error);
}

/* ---- kinds */

/* Is the name that of the kind, or with digits behind? */
static bool is_kind(const char *name, const char *kind)
{
    const size_t length = strlen(kind);

    return 0 == strncmp(name, kind, length)
           && strlen(name + length) == strspn(name + length, "0123456789");
}

static bool applies(const bench_kind_t *kind, const char *call)
{
    char *words[BENCH_MAX_WORDS];
    bool found;
    int count;

    if (NULL == kind->calls) {
        return true;
    }
    count = bench_words(kind->calls, words);
    found = 0 < count && 0 <= bench_find((const char *const *) words, count, call);
    if (0 < count) {
        free(words[0]);
    }
    return found;
}

static bool take_kind(bench_arm_t *arm, const char *name, const bench_kind_t *kind,
                      const char *call, char *error)
{
    char settings[2 * BENCH_VALUE_LENGTH], *rest, *setting;

    while (NULL != kind->name && !(is_kind(name, kind->name) && applies(kind, call))) {
        ++kind;
    }
    if (NULL == kind->name) {
        snprintf(error, BENCH_ERROR_LENGTH, "%s: no arm of %s, see --help", arm->name, call);
        return false;
    }
    arm->kind = kind;
    if (BENCH_SM >= kind->engine && !switch_off(arm, error)) {
        return false;
    }
    snprintf(settings, sizeof(settings), NULL == kind->settings ? "" : kind->settings, call);
    for (setting = strtok_r(settings, ":", &rest); NULL != setting;
         setting = strtok_r(NULL, ":", &rest)) {
        if (!take_setting(arm, setting, error)) {
            return false;
        }
    }
    return true;
}

/* ---- the list */

static bool parse_arm(bench_arm_t *arm, const char *text, const bench_program_t *program,
                      const char *call, char *error)
{
    char copy[BENCH_VALUE_LENGTH];
    char *rest, *word;

    if (strlen(text) >= sizeof(copy)) {
        snprintf(error, BENCH_ERROR_LENGTH, "%.32s...: no arm has a name so long", text);
        return false;
    }
    strcpy(copy, text);
    strcpy(arm->name, text);
    word = strtok_r(copy, ":", &rest);
    if (!take_kind(arm, NULL == word ? "" : word, program->kinds, call, error)) {
        return false;
    }
    for (int i = 1; NULL != (word = strtok_r(NULL, ":", &rest)); ++i) {
        if (!(BENCH_TUNED == arm->kind->engine ? take_tuned(arm, i, word, call, error)
                                               : take_setting(arm, word, error))) {
            return false;
        }
    }
    return true;
}

static bool connect(bench_arm_t *arm, const bench_world_t *world, char *error)
{
    static const char *const components[] = {[BENCH_STOCK] = "^pipering,mleader",
                                             [BENCH_TUNED] = "^pipering,mleader,han",
                                             [BENCH_SM] = "sm,^pipering,mleader,han",
                                             [BENCH_PIPERING] = "^mleader",
                                             [BENCH_MLEADER] = NULL};

    if (BENCH_SM == arm->kind->engine && 1 < world->nodes) {
        snprintf(error, BENCH_ERROR_LENGTH, "%s: expected all ranks on one node", arm->name);
        return false;
    }
    return bench_cvar_apply(arm, error)
           && MPI_SUCCESS == bench_comm_dup(world->base, components[arm->kind->engine],
                                            &arm->comm);
}

int bench_arms_create(bench_arm_t *arms, const bench_program_t *program, const char *list,
                      const char *call, const bench_world_t *world, char *error)
{
    char *words[BENCH_MAX_WORDS];
    const int count = bench_words(list, words);
    bool good = 0 < count && BENCH_MAX_ARMS >= count;

    if (!good) {
        snprintf(error, BENCH_ERROR_LENGTH, "--arms: expected 1 to %d of them", BENCH_MAX_ARMS);
    }
    for (int i = 0; good && i < count; ++i) {
        arms[i] = (bench_arm_t){.index = i, .comm = MPI_COMM_NULL};
        good = parse_arm(&arms[i], words[i], program, call, error)
               && connect(&arms[i], world, error);
    }
    if (0 < count) {
        free(words[0]);
    }
    return good ? count : -1;
}

void bench_arms_free(bench_arm_t *arms, int count)
{
    for (int i = 0; i < count; ++i) {
        MPI_Comm_free(&arms[i].comm);
    }
}
