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
 * Adapters: what the system says of the links that may carry this process's messages. Nothing is
 * measured.
 */

#ifndef MCA_COLL_PIPERING_ADAPTERS_H
#define MCA_COLL_PIPERING_ADAPTERS_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_machine.h"
#include "ompi/mca/common/colltools/common_colltools_card.h"

BEGIN_C_DECLS

/** Asks the system, with the PML and the BTLs opened but not selected. */
void mca_coll_pipering_adapters_ask(mca_common_colltools_facts_t *facts);

/** Makes *links the slower ones of two; commutative. None (0) are slower than any. */
void mca_coll_pipering_links_merge(mca_common_colltools_links_t *links,
                                   const mca_common_colltools_links_t *other);

/**
 * Whether messages go by adapters that move bytes by themselves where all ranks have some, with the
 * PML selected: equal on ranks whose settings are.
 */
bool mca_coll_pipering_adapters_are_used(void);

/** Whether messages go by pml/ob1, with the PML selected. */
bool mca_coll_pipering_adapters_are_btls(void);

/**
 * The usual machine for links; eager: bytes that their transport sends without asking, 0: usual.
 */
mca_coll_pipering_machine_t
mca_coll_pipering_links_machine(const mca_common_colltools_links_t *links,
                                mca_coll_pipering_transport_t transport, uint32_t eager);

END_C_DECLS

#endif
