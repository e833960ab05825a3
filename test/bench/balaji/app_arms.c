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
 * Arms of app. Those with MPI_Alltoallw are the same code, told apart by MCA variables and
 * by the components that their communicators may use.
 */

#include "app.h"

#include <string.h>

#define ALGORITHM "alltoallw_algorithm"
#define LOOKAHEAD "opal_datatype_lookahead"

typedef struct kind_t {
    const char *name;
    app_way_t way;
    agv_engine_t engine;
    const char *algorithm; /* NULL: as it is */
    const char *lookahead;
} kind_t;

static const kind_t kinds[] = {{"hand", APP_HAND, AGV_STOCK, NULL, NULL},
                               {"handall", APP_HAND_ALL, AGV_STOCK, NULL, NULL},
                               {"persistent", APP_PERSISTENT, AGV_STOCK, NULL, NULL},
                               {"persistentall", APP_PERSISTENT_ALL, AGV_STOCK, NULL, NULL},
                               {"stock", APP_ALLTOALLW, AGV_STOCK, NULL, NULL},
                               {"baseline", APP_ALLTOALLW, AGV_PIPERING, "round_robin",
                                "research"},
                               {"ours", APP_ALLTOALLW, AGV_PIPERING, "auto", "dual"}};

static const kind_t *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (agv_arm_is_kind(name, kinds[i].name)) {
            return &kinds[i];
        }
    }
    return NULL;
}

static bool set_kind(agv_arm_t *arm, const char *name, char *error, size_t length)
{
    const kind_t *kind = find_kind(name);

    if (NULL == kind) {
        snprintf(error, length, "%s: no such arm, see --help", arm->name);
        return false;
    }
    arm->engine = kind->engine;
    if (NULL == kind->algorithm) {
        return 0 > agv_cvar_open(LOOKAHEAD) || agv_arm_set(arm, LOOKAHEAD, "off", error, length);
    }
    return agv_arm_set(arm, ALGORITHM, kind->algorithm, error, length)
           && agv_arm_set(arm, LOOKAHEAD, kind->lookahead, error, length);
}

static bool parse_word(agv_arm_t *arm, int index, char *word, void *context, char *error,
                       size_t length)
{
    (void) context;
    return 0 == index ? set_kind(arm, word, error, length)
                      : agv_arm_setting(arm, word, error, length);
}

static app_way_t way_of(const agv_arm_t *arm)
{
    const size_t length = strcspn(arm->name, ":");
    char name[AGV_VALUE_LENGTH];

    memcpy(name, arm->name, length);
    name[length] = '\0';
    return find_kind(name)->way;
}

bool app_arm_apply(const app_arm_t *arm, char *error, size_t length)
{
    return agv_cvar_apply(&arm->base, error, length);
}

int app_arms_create(app_arm_t *arms, const char *list, const agv_world_t *world, char *error,
                    size_t length)
{
    agv_arm_t parsed[AGV_MAX_ARMS];
    int count = agv_arms_parse(parsed, list, parse_word, NULL, error, length);

    for (int i = 0; i < count; ++i) {
        arms[i].base = parsed[i];
        arms[i].way = way_of(&parsed[i]);
        if (!app_arm_apply(&arms[i], error, length)) {
            return -1;
        }
        agv_comm_dup(world->base, AGV_STOCK == parsed[i].engine ? AGV_WITHOUT_OURS : "^mleader",
                     &arms[i].base.comm);
    }
    return count;
}
