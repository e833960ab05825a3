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
 * Cards: what a process tells all others of itself, by PMIx, before MPI_Init exchanges what
 * processes have told.
 *
 *     components register   the first is opened   PMIx_Commit, fence   a communicator is set up
 *     variables             card: host, links,    PMIx has all cards   its cards are read, once
 *                           variables of all                           a process; no message
 *
 * A card is a line of text. That of a process which has opened neither component is missing.
 *
 * Cost: about 150 bytes a process in what MPI_Init exchanges anyway. Reading one takes PMIx some
 * microseconds, or, where it fetches cards of other nodes from there when they are asked for, as
 * with mpirun of Open MPI 5.0, some hundred. Limits: a variable that MPI_T changes after MPI_Init
 * is not on the card.
 */

#ifndef MCA_COMMON_COLLTOOLS_CARD_H
#define MCA_COMMON_COLLTOOLS_CARD_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "opal/util/proc.h"

BEGIN_C_DECLS

/** Components whose variables are on a card. */
typedef enum {
    MCA_COMMON_COLLTOOLS_PIPERING,
    MCA_COMMON_COLLTOOLS_MLEADER,
    MCA_COMMON_COLLTOOLS_OWNERS
} mca_common_colltools_owner_t;

/** Bytes of a card's text, with its end. */
#define MCA_COMMON_COLLTOOLS_CARD_MOST 2048

/** The links of adapters of one kind: the slowest of them. */
typedef struct mca_common_colltools_links_t {
    uint32_t beta;  /**< picoseconds a byte, 0: the process has none */
    uint32_t bound; /**< 1: the adapter is virtual, bonded or silent: links may be slower */
} mca_common_colltools_links_t;

/**
 * What a process can read of others' buffers, and others of its own: those in memory of the host,
 * since some may be a device's; or any.
 */
#define MCA_COMMON_COLLTOOLS_PULLS_STAGED 1
#define MCA_COMMON_COLLTOOLS_PULLS_ANY 2

/** What a card says besides the host, which most processes of a job have alike. */
typedef struct mca_common_colltools_facts_t {
    uint32_t arch;       /**< data representation */
    uint32_t leaf;       /**< hash of the name of its leaf switch, 0: not known */
    uint64_t processors; /**< millionths of those that processes of the node may use, above 0 */
    uint32_t below;      /**< hash of what decides on the modules of other components */
    uint32_t machine;    /**< hash of the file that describes the machine; 0: none, or a bad one */
    uint32_t mesh;       /**< hash of the file that describes the mesh, likewise */
    uint32_t eager;      /**< bytes that btl/tcp sends without asking, 0: not known */
    uint32_t pulls;      /**< 0: it cannot read memory of others on its node, as far as it knows */
    mca_common_colltools_links_t tcp, rdma;
    uint32_t variables[MCA_COMMON_COLLTOOLS_OWNERS]; /**< hash of all that must be equal; 0: the
                                                          component is not there */
    char unusual[MCA_COMMON_COLLTOOLS_CARD_MOST]; /**< those that are not at their defaults:
                                                       " OWNER.INDEX=HASH" each */
} mca_common_colltools_facts_t;

/** Writes a card; `text` [MCA_COMMON_COLLTOOLS_CARD_MOST]. False: it is too long. */
bool mca_common_colltools_card_write(uint64_t host, const mca_common_colltools_facts_t *facts,
                                     char *text);

/** Reads a card. False: it is of another release of the components, or none. */
bool mca_common_colltools_card_read(const char *text, uint64_t *host,
                                    mca_common_colltools_facts_t *facts);

/** The hash of a variable that must be equal, 0: it is at its default. */
uint32_t mca_common_colltools_card_variable(const mca_common_colltools_facts_t *facts,
                                            mca_common_colltools_owner_t owner, int index);

/** Tells the other processes a card. A process that cannot seems to have no component. */
void mca_common_colltools_card_tell(const char *text);

/**
 * The card of a process, to be freed; NULL: it was not found, for some seconds, or, *missing,
 * surely is nowhere. That is known of `own_job` where PMIx has collected all its cards when
 * MPI_Init is over, as it does with Open MPI 4.1 unless pmix_base_collect_data is 0.
 */
char *mca_common_colltools_card_ask(const opal_process_name_t *name, bool own_job, bool *missing);

END_C_DECLS

#endif
