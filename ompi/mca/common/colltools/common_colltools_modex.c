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
 * PMIx, which carries cards (common_colltools_card.h).
 */

#include "ompi/mca/common/colltools/common_colltools_card.h"

#include <string.h>

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include MCA_COMMON_COLLTOOLS_PMIX_HEADER

/*
 * Components that are installed beside Open MPI have a copy of this file each, and cards of their
 * own.
 */
#if !defined(MCA_COMMON_COLLTOOLS_CARD_OWNER)
#    define MCA_COMMON_COLLTOOLS_CARD_OWNER ""
#endif
#define KEY "colltools.card" MCA_COMMON_COLLTOOLS_CARD_OWNER

/* Seconds in which a process of another job answers, if it is there. */
#define PATIENCE 10

#if defined(MCA_COLL_BASE_VERSION_2_0_0)
void mca_common_colltools_card_tell(const char *text)
{
    opal_value_t value;

    if (NULL == opal_pmix.put) {
        return;
    }
    OBJ_CONSTRUCT(&value, opal_value_t);
    value.key = (char *) KEY;
    value.type = OPAL_STRING;
    value.data.string = (char *) text;
    (void) opal_pmix.put(OPAL_PMIX_GLOBAL, &value);
    value.key = value.data.string = NULL; /* borrowed */
    OBJ_DESTRUCT(&value);
}

static char *get(const opal_process_name_t *name, opal_value_t *how)
{
    opal_value_t *value = NULL;
    opal_list_t list;
    char *text = NULL;

    OBJ_CONSTRUCT(&list, opal_list_t);
    opal_list_append(&list, &how->super);
    if (OPAL_SUCCESS == opal_pmix.get(name, KEY, &list, &value) && NULL != value
        && OPAL_STRING == value->type) {
        text = value->data.string;
        value->data.string = NULL;
    }
    if (NULL != value) {
        OBJ_RELEASE(value);
    }
    OPAL_LIST_DESTRUCT(&list);
    return text;
}

char *mca_common_colltools_card_ask(const opal_process_name_t *name, bool own_job, bool *missing)
{
    const bool here = own_job && opal_pmix_collect_all_data; /* at the server of this node */
    opal_value_t *how = NULL == opal_pmix.get ? NULL : OBJ_NEW(opal_value_t);

    *missing = false;
    if (NULL == how) {
        return NULL;
    }
    how->key = strdup(here ? OPAL_PMIX_IMMEDIATE : OPAL_PMIX_TIMEOUT);
    how->type = here ? OPAL_BOOL : OPAL_INT;
    if (here) {
        how->data.flag = true;
    } else {
        how->data.integer = PATIENCE;
    }
    char *text = get(name, how);
    *missing = here && NULL == text;
    return text;
}
#else
void mca_common_colltools_card_tell(const char *text)
{
    pmix_value_t value = {.type = PMIX_STRING, .data.string = (char *) text};

    (void) PMIx_Put(PMIX_GLOBAL, KEY, &value);
}

char *mca_common_colltools_card_ask(const opal_process_name_t *name, bool own_job, bool *missing)
{
    const int patience = PATIENCE;
    pmix_value_t *value = NULL;
    char *text = NULL;
    pmix_proc_t proc;
    pmix_info_t how;

    (void) own_job;
    *missing = false;
    OPAL_PMIX_CONVERT_NAME(&proc, name);
    PMIX_INFO_LOAD(&how, PMIX_TIMEOUT, &patience, PMIX_INT);
    if (PMIX_SUCCESS == PMIx_Get(&proc, KEY, &how, 1, &value) && NULL != value
        && PMIX_STRING == value->type) {
        text = value->data.string;
        value->data.string = NULL;
    }
    if (NULL != value) {
        PMIX_VALUE_RELEASE(value);
    }
    PMIX_INFO_DESTRUCT(&how);
    return text;
}
#endif
