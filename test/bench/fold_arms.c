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

static bool set_pipering(agv_arm_t *arm, fold_coll_t coll, const char *algorithm, char *error,
                         size_t length)
{
    char name[AGV_VALUE_LENGTH];

    snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", fold_coll_name(coll));
    return agv_arm_set(arm, name, algorithm, error, length);
}

/* No communicator has the component, and those that coll/han makes for itself do
 * not use it either. */
static bool switch_off(agv_arm_t *arm, char *error, size_t length)
{
    for (int coll = 0; coll < FOLD_COLLS; ++coll) {
        if (!set_pipering(arm, (fold_coll_t) coll, OFF, error, length)) {
            return false;
        }
    }
    return agv_arm_set(arm, "coll_pipering_allgather_algorithm", OFF, error, length)
           && agv_arm_set(arm, "coll_pipering_allgatherv_algorithm", OFF, error, length);
}

static bool parse_kind(agv_arm_t *arm, const char *name, fold_coll_t coll, char *error,
                       size_t length)
{
    static const struct {
        const char *name;
        const char *algorithm;
        bool allreduce; /* has it */
        bool others;    /* have it */
    } kinds[] = {{"pipering", "0", true, true},  {"ring", "1", true, false},
                 {"pipeline", "4", false, true}, {"merged", "5", true, false},
                 {"serial", "6", true, false},   {"off", OFF, true, true}};

    if (agv_arm_is_kind(name, "stock")) {
        arm->engine = AGV_STOCK;
        return switch_off(arm, error, length);
    }
    if (0 == strcmp(name, "tuned")) {
        arm->engine = AGV_TUNED;
        return switch_off(arm, error, length);
    }
    if (agv_arm_is_kind(name, "sm")) {
        arm->engine = AGV_SM;
        return switch_off(arm, error, length);
    }
    arm->engine = AGV_PIPERING;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (agv_arm_is_kind(name, kinds[i].name)
            && (FOLD_ALLREDUCE == coll ? kinds[i].allreduce : kinds[i].others)) {
            return set_pipering(arm, coll, kinds[i].algorithm, error, length);
        }
    }
    snprintf(error, length, "%s: no arm of %s, see --help", arm->name, fold_coll_name(coll));
    return false;
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
    return AGV_TUNED == arm->engine ? parse_tuned(arm, index, word, *coll, error, length)
                                    : agv_arm_setting(arm, word, error, length);
}

int fold_arms_create(agv_arm_t *arms, const char *list, fold_coll_t coll,
                     const agv_world_t *world, char *error, size_t length)
{
    static const char *const components[] = {[AGV_STOCK] = "^pipering",
                                             [AGV_PIPERING] = NULL,
                                             [AGV_TUNED] = "^pipering,han",
                                             [AGV_SM] = "sm,^pipering,han"};
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
