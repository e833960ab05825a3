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
 *     file = header, record 0, record 1, ...      pipering_tuning/why_records.py reads it
 *
 * A record's place follows from a hash of its class, so that a call finds it in a few steps. The
 * table never grows: calls of classes that find no free place are counted in the header alone.
 */

#ifndef WHY_TABLE_H
#define WHY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** First bytes of a file; changes with anything else that is declared here. */
#define WHY_MAGIC "pipering-why 4"

/** Places, a power of two; and those that a class may stand in. */
#define WHY_PLACES 512
#define WHY_PROBES 16

/** Sizes and types of a call, as far as this process knows them. */
typedef struct why_shape_t {
    uint64_t bytes;        /**< all contributions; of an all-to-all, what this process receives */
    uint64_t largest;      /**< contribution */
    uint32_t contributors; /**< with any bytes */
    bool contiguous;       /**< the types of what this process receives ... */
    char type[31];         /**< ... and their name; "": there is no data */
    bool order_matters;    /**< values are combined, and the result depends on the order */
} why_shape_t;

/** What calls of a class have in common. Texts are padded by zeros, so that bytes compare. */
typedef struct why_class_t {
    char call[24];   /**< the function of MPI without prefix: "iallgatherv" */
    char reason[64]; /**< the algorithm of coll/pipering, or "NAME: why it did not serve it", or "" */
    uint32_t ranks;  /**< of the communicator */
    uint8_t bytes_octave, largest_octave, contributors_octave;
    uint8_t contiguous, order_matters;
    char type[31]; /**< "": there is no data */
} why_class_t;

typedef struct why_record_t {
    why_class_t of;
    uint64_t calls; /**< 0: the place is free */
    uint64_t bytes, largest, contributors; /**< sums */
    uint64_t least, most;                  /**< bytes of a call */
    uint64_t time, longest;                /**< nanoseconds: sum, and of a call */
} why_record_t;

typedef struct why_table_t {
    char magic[16];
    uint32_t byte_order; /**< 0x01020304 */
    uint32_t job, rank, world; /**< in MPI_COMM_WORLD; `world` ranks */
    uint32_t ended;            /**< 1: the process has reached MPI_Finalize */
    uint32_t places;
    double began;              /**< seconds since 1970 */
    uint64_t elapsed;          /**< nanoseconds from there to the last call */
    uint64_t calls_without, time_without; /**< of classes without a place */
    char host[64], release[64];
    why_record_t record[WHY_PLACES];
} why_table_t;

/** Who has made a table. Texts are borrowed. */
typedef struct why_owner_t {
    uint32_t job, rank, world;
    const char *host, *release;
    double began;
} why_owner_t;

/** Begins a table; its memory is all zeros. */
void why_table_begin(why_table_t *table, const why_owner_t *owner);

/** The class of a call; longer texts are cut. */
why_class_t why_class(const char *call, const char *reason, uint32_t ranks,
                      const why_shape_t *shape);

/** The record of a class, a free one if it is new; NULL: there is no place for it. */
why_record_t *why_find(why_table_t *table, const why_class_t *of);

/** Adds a call of `time` nanoseconds to the record of its class, which may be NULL. */
void why_add(why_table_t *table, why_record_t *record, const why_class_t *of,
             const why_shape_t *shape, uint64_t time);

/* ---- files (why_file.c) ---- */

/** Maps a new file in a directory, which is made if it is not there; NULL: that is reported. */
why_table_t *why_map(const char *directory, const why_owner_t *owner);
void why_unmap(why_table_t *table);

#endif
