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
 * The table of a process for the calls that a program makes: a record for each class of calls
 * that are alike, in a file that is mapped, so that it survives whatever ends the process. Pure C.
 *
 *     file = header, record 0, record 1, ...      contrib/tuning/pipering-why reads it
 *
 * A record's place follows from a hash of its class, so that a call finds it in a few steps. The
 * table never grows: calls of classes that find no free place are counted in the header alone.
 */

#ifndef MCA_COLL_PIPERING_WHY_TABLE_H
#define MCA_COLL_PIPERING_WHY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** First bytes of a file; changes with anything else that is declared here. */
#define MCA_COLL_PIPERING_WHY_MAGIC "pipering-why 2"

/** Places, a power of two; and those that a class may stand in. */
#define MCA_COLL_PIPERING_WHY_PLACES 512
#define MCA_COLL_PIPERING_WHY_PROBES 16

/** Sizes and types of a call, as far as this process knows them. */
typedef struct mca_coll_pipering_why_shape_t {
    uint64_t bytes;        /**< all contributions; of an all-to-all, what this process receives */
    uint64_t largest;      /**< contribution */
    uint32_t contributors; /**< with any bytes */
    bool contiguous;       /**< the types of what this process receives ... */
    const char *type;      /**< ... and their name, borrowed; NULL: there is no data */
    bool order_matters;    /**< values are combined, and the result depends on the order */
} mca_coll_pipering_why_shape_t;

/** What calls of a class have in common. Texts are padded by zeros, so that bytes compare. */
typedef struct mca_coll_pipering_why_class_t {
    char call[24];   /**< the function of MPI without prefix: "iallgatherv" */
    char server[16]; /**< the component that served it */
    char reason[64]; /**< the algorithm, or why coll/pipering did not serve it */
    uint32_t ranks;  /**< of the communicator */
    uint8_t bytes_octave, largest_octave, contributors_octave;
    uint8_t contiguous, order_matters;
    char type[31]; /**< "": there is no data */
} mca_coll_pipering_why_class_t;

typedef struct mca_coll_pipering_why_record_t {
    mca_coll_pipering_why_class_t of;
    uint64_t calls; /**< 0: the place is free */
    uint64_t bytes, largest, contributors; /**< sums */
    uint64_t least, most;                  /**< bytes of a call */
    uint64_t time, shortest, longest;      /**< nanoseconds: sum, and of a call */
    double forecast;    /**< seconds of a call by coll/pipering, modelled; 0: not known */
    double rival;       /**< the same, from below, of what else an MPI library does */
    char algorithm[24]; /**< of that, as a value of the collective's variable */
} mca_coll_pipering_why_record_t;

typedef struct mca_coll_pipering_why_table_t {
    char magic[16];
    uint32_t byte_order; /**< 0x01020304 */
    uint32_t header_size, record_size, places;
    uint32_t job, rank, world; /**< in MPI_COMM_WORLD; `world` ranks */
    uint32_t ended;            /**< 1: the process has reached MPI_Finalize */
    double began;              /**< seconds since 1970 */
    uint64_t elapsed;          /**< nanoseconds from there to the last call */
    uint64_t calls_without, time_without; /**< of classes without a place */
    char host[64], release[64];
    mca_coll_pipering_why_record_t record[MCA_COLL_PIPERING_WHY_PLACES];
} mca_coll_pipering_why_table_t;

/** Who has made a table. Texts are borrowed. */
typedef struct mca_coll_pipering_why_owner_t {
    uint32_t job, rank, world;
    const char *host, *release;
    double began;
} mca_coll_pipering_why_owner_t;

/** Begins a table; its memory is all zeros. */
void mca_coll_pipering_why_table_begin(mca_coll_pipering_why_table_t *table,
                                       const mca_coll_pipering_why_owner_t *owner);

/** The class of a call; longer texts are cut. */
mca_coll_pipering_why_class_t
mca_coll_pipering_why_class(const char *call, const char *server, const char *reason,
                            uint32_t ranks, const mca_coll_pipering_why_shape_t *shape);

/** The record of a class, a free one if it is new; NULL: there is no place for it. */
mca_coll_pipering_why_record_t *
mca_coll_pipering_why_find(mca_coll_pipering_why_table_t *table,
                           const mca_coll_pipering_why_class_t *of);

/** Adds a call of `time` nanoseconds to the record of its class, which may be NULL. */
void mca_coll_pipering_why_add(mca_coll_pipering_why_table_t *table,
                               mca_coll_pipering_why_record_t *record,
                               const mca_coll_pipering_why_class_t *of,
                               const mca_coll_pipering_why_shape_t *shape, uint64_t time);

/** Notes what the model expects of calls of a class: seconds, by `algorithm` and otherwise. */
void mca_coll_pipering_why_foresee(mca_coll_pipering_why_record_t *record, double forecast,
                                   double rival, const char *algorithm);

#endif
