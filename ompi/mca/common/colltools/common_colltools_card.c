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
 * The text of cards. Pure C, shared with unit tests.
 */

#include "ompi/mca/common/colltools/common_colltools_card.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the text, so that releases of the components can tell each other apart. */
#define VERSION 2

bool mca_common_colltools_card_write(uint64_t host, const mca_common_colltools_facts_t *facts,
                                     char *text)
{
    const int length
        = snprintf(text, MCA_COMMON_COLLTOOLS_CARD_MOST,
                   "%d %" PRIx64 " %" PRIx32 " %" PRIx32 " %" PRIx64 " %" PRIx32 " %" PRIx32
                   " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32
                   " %" PRIx32 " %" PRIx32 " %" PRIx32 "%s",
                   VERSION, host, facts->arch, facts->leaf, facts->processors, facts->below,
                   facts->machine, facts->mesh, facts->eager, facts->tcp.beta, facts->tcp.bound,
                   facts->rdma.beta, facts->rdma.bound, facts->pulls,
                   facts->variables[MCA_COMMON_COLLTOOLS_PIPERING],
                   facts->variables[MCA_COMMON_COLLTOOLS_MLEADER], facts->unusual);

    return 0 < length && MCA_COMMON_COLLTOOLS_CARD_MOST > length;
}

bool mca_common_colltools_card_read(const char *text, uint64_t *host,
                                    mca_common_colltools_facts_t *facts)
{
    int version = 0, end = 0;

    memset(facts, 0, sizeof(*facts));
    if (16 != sscanf(text,
                     "%d %" SCNx64 " %" SCNx32 " %" SCNx32 " %" SCNx64 " %" SCNx32 " %" SCNx32
                     " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNx32
                     " %" SCNx32 " %" SCNx32 " %" SCNx32 "%n",
                     &version, host, &facts->arch, &facts->leaf, &facts->processors, &facts->below,
                     &facts->machine, &facts->mesh, &facts->eager, &facts->tcp.beta,
                     &facts->tcp.bound, &facts->rdma.beta, &facts->rdma.bound,
                     &facts->pulls, &facts->variables[MCA_COMMON_COLLTOOLS_PIPERING],
                     &facts->variables[MCA_COMMON_COLLTOOLS_MLEADER], &end)
        || VERSION != version || 0 == facts->processors
        || MCA_COMMON_COLLTOOLS_CARD_MOST <= strlen(text)) {
        return false;
    }
    (void) strcpy(facts->unusual, text + end);
    return true;
}

uint32_t mca_common_colltools_card_variable(const mca_common_colltools_facts_t *facts,
                                            mca_common_colltools_owner_t owner, int index)
{
    char name[32];

    (void) snprintf(name, sizeof(name), " %d.%d=", (int) owner, index);
    const char *at = strstr(facts->unusual, name);
    return NULL == at ? 0 : (uint32_t) strtoul(at + strlen(name), NULL, 16);
}
