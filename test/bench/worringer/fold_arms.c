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
 * Arms of fold: agv's arms with the algorithms of a reduction or broadcast. What a
 * variable says when an arm's communicator is made and when it is used is the same,
 * so that coll/tuned, which reads its own at the first, finds them.
 */

#include "fold.h"

#include <stdlib.h>
#include <string.h>

#define OFF "3"
#define MLEADER "coll_mleader_"

static bool have_mleader(void)
{
    return 0 <= agv_cvar_open(MLEADER "allgather_algorithm");
}

static bool set_pipering(agv_arm_t *arm, fold_coll_t coll, const char *algorithm, char *error,
                         size_t length)
{
    char name[AGV_VALUE_LENGTH];

    snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", fold_coll_name(coll));
    return agv_arm_set(arm, name, algorithm, error, length);
}

/* Whether or not the arm's communicator has the components, they hand every call down;
 * so do those of the communicators that coll/han makes for itself. */
static bool switch_off(agv_arm_t *arm, char *error, size_t length)
{
    for (int coll = 0; coll < FOLD_COLLS; ++coll) {
        if (!set_pipering(arm, (fold_coll_t) coll, OFF, error, length)) {
            return false;
        }
    }
    return agv_arm_set(arm, "coll_pipering_allgatherv_algorithm", OFF, error, length)
           && (!have_mleader()
               || agv_arm_set(arm, MLEADER "allgather_algorithm", "off", error, length));
}

/* Which collectives have an algorithm. */
static bool applies(const char *collectives, fold_coll_t coll)
{
    return 0 == strcmp(collectives, "all") || 0 == strcmp(collectives, fold_coll_name(coll))
           || (0 == strcmp(collectives, "chains") && FOLD_ALLREDUCE != coll
               && FOLD_ALLGATHER != coll);
}

static bool parse_forced(agv_arm_t *arm, const char *name, fold_coll_t coll, char *error,
                         size_t length)
{
    static const struct {
        const char *name;
        const char *algorithm;
        const char *collectives;
    } kinds[] = {{"pipering", "0", "all"},    {"ring", "1", "allreduce"},
                 {"ring", "1", "allgather"},  {"linear", "2", "allgather"},
                 {"pipeline", "4", "chains"}, {"merged", "5", "allreduce"},
                 {"serial", "6", "allreduce"}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (agv_arm_is_kind(name, kinds[i].name) && applies(kinds[i].collectives, coll)) {
            return set_pipering(arm, coll, kinds[i].algorithm, error, length);
        }
    }
    snprintf(error, length, "%s: no arm of %s, see --help", arm->name, fold_coll_name(coll));
    return false;
}

static bool parse_kind(agv_arm_t *arm, const char *name, fold_coll_t coll, char *error,
                       size_t length)
{
    static const struct {
        const char *name;
        agv_engine_t engine;
    } kinds[] = {{"stock", AGV_STOCK}, {"tuned", AGV_TUNED}, {"sm", AGV_SM}};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (agv_arm_is_kind(name, kinds[i].name)) {
            arm->engine = kinds[i].engine;
            return switch_off(arm, error, length);
        }
    }
    if (agv_arm_is_kind(name, "off")) {
        arm->engine = AGV_MLEADER;
        return switch_off(arm, error, length);
    }
    if (agv_arm_is_kind(name, "mleader") && FOLD_ALLGATHER == coll) {
        arm->engine = AGV_MLEADER;
        if (!have_mleader()) {
            snprintf(error, length, "%s: this Open MPI has no coll/mleader", arm->name);
        }
        return have_mleader();
    }
    arm->engine = AGV_PIPERING;
    return parse_forced(arm, name, coll, error, length);
}

/* VARIABLE=VALUE behind mleader. */
static bool parse_mleader(agv_arm_t *arm, char *setting, char *error, size_t length)
{
    char full[2 * AGV_VALUE_LENGTH];

    for (char *plus = strchr(setting, '+'); NULL != plus; plus = strchr(plus, '+')) {
        *plus = ',';
    }
    snprintf(full, sizeof(full), "%s%s", 0 == strncmp(setting, "coll_", 5) ? "" : MLEADER,
             setting);
    return agv_arm_setting(arm, full, error, length);
}

/* N or seg=BYTES behind tuned. */
static bool parse_tuned(agv_arm_t *arm, int index, const char *word, fold_coll_t coll,
                        char *error, size_t length)
{
    const char *value = 1 == index ? word : word + strlen("seg=");
    char name[AGV_VALUE_LENGTH];

    snprintf(name, sizeof(name), "coll_tuned_%s_algorithm%s", fold_coll_name(coll),
             1 == index ? "" : "_segmentsize");
    if ((1 == index && (0 >= atoi(word) || !agv_arm_is_kind(word, "")))
        || (2 == index && 0 != strncmp(word, "seg=", 4)) || 2 < index) {
        snprintf(error, length, "%s: tuned:N or tuned:N:seg=BYTES is meant", arm->name);
        return false;
    }
    arm->tuned = 1 == index ? atoi(word) : arm->tuned;
    return agv_arm_set(arm, name, value, error, length)
           && (2 == index || agv_arm_set(arm, "coll_tuned_use_dynamic_rules", "1", error, length));
}

static bool parse_word(agv_arm_t *arm, int index, char *word, void *context, char *error,
                       size_t length)
{
    const fold_coll_t *coll = context;

    if (0 == index) {
        return parse_kind(arm, word, *coll, error, length);
    }
    switch (arm->engine) {
    case AGV_TUNED:
        return parse_tuned(arm, index, word, *coll, error, length);
    case AGV_MLEADER:
        return parse_mleader(arm, word, error, length);
    default:
        return agv_arm_setting(arm, word, error, length);
    }
}

int fold_arms_create(agv_arm_t *arms, const char *list, fold_coll_t coll,
                     const agv_world_t *world, char *error, size_t length)
{
    static const char *const components[] = {[AGV_STOCK] = AGV_WITHOUT_OURS,
                                             [AGV_PIPERING] = "^mleader",
                                             [AGV_TUNED] = AGV_WITHOUT_OURS ",han",
                                             [AGV_SM] = "sm," AGV_WITHOUT_OURS ",han",
                                             [AGV_MLEADER] = NULL};
    int count = agv_arms_parse(arms, list, parse_word, &coll, error, length);

    for (int i = 0; i < count; ++i) {
        if (AGV_SM == arms[i].engine && 1 < world->nodes) {
            snprintf(error, length, "%s: all ranks on one node are meant", arms[i].name);
            return -1;
        }
        if (!agv_cvar_apply(&arms[i], error, length)) {
            return -1;
        }
        agv_comm_dup(world->base, components[arms[i].engine], &arms[i].comm);
    }
    return count;
}
