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
 * Exchanges of doubles between arrays of ranks, laid down once and run often, as a library
 * like PETSc scatters vectors and fills ghost points: for each peer a region of the own
 * array that it gets, and one that it fills. The same exchange is run in several ways:
 *
 *     packed by hand        pack -> isend ... irecv -> unpack, a message a peer
 *     MPI_Alltoallw         a derived type a peer, MPI does the rest
 *
 * Used by the benchmark (app_main.c) and by a test of it.
 */

#ifndef APP_EXCHANGE_H
#define APP_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Some doubles of an array: those of a list, or a box of three dimensions. */
typedef struct app_region_t {
    size_t count;     /**< doubles; 0: none */
    int *index;       /**< [count] places in the array, NULL: a box */
    size_t start;     /**< of a box: place of its first double */
    int size[3];      /**< doubles of a row, rows of a plane, planes */
    size_t stride[2]; /**< doubles from row to row, from plane to plane */
} app_region_t;

/** How an exchange is run. By hand: with requests that are made at each call or persistent
 *  ones. */
typedef enum {
    APP_ALLTOALLW,
    APP_ROUND_ROBIN,    /**< by_hand.h */
    APP_HAND,
    APP_PERSISTENT,
    APP_WAYS
} app_way_t;

typedef struct app_part_t {
    int peer;
    app_region_t send;
    app_region_t recv;
    double *out; /**< packed */
    double *in;
} app_part_t;

typedef struct app_exchange_t {
    int rank;
    int size;
    MPI_Comm comm; /**< of the ways by hand; not owned */
    int parts;
    app_part_t *part;     /**< [parts] the next rank's first, the own one's last */
    double *buffer;       /**< of all parts' out and in */
    MPI_Request *request; /**< [2 * parts] receives, sends */
    MPI_Request *fixed;   /**< [2 * parts] the persistent ones */
    int *counts;          /**< [2 * size] of MPI_Alltoallw: sends, receives */
    int *displs;          /**< [2 * size] */
    MPI_Datatype *types;  /**< [2 * size] */
} app_exchange_t;

/** Scrambles a number: values that differ from place to place and from call to call. */
static inline uint64_t app_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/** In -1..1, a multiple of 2^-30. */
static inline double app_draw(uint64_t x)
{
    return (double) (app_mix(x) >> 33) / 1073741824.0 - 1.0;
}

/* app_region.c */
app_region_t app_region_box(size_t start, const int size[3], const size_t stride[2]);
void app_region_pack(const app_region_t *region, const double *from, double *packed);
void app_region_unpack(const app_region_t *region, const double *packed, double *to);
/** From one region to another of as many doubles; `packed` has room for them. */
void app_region_copy(const app_region_t *source, const double *from, const app_region_t *target,
                     double *to, double *packed);
/** A committed type, to be used at the region's start. */
MPI_Datatype app_region_type(const app_region_t *region);

/* app_exchange.c */
/** Room for as many parts; false: no memory. */
bool app_exchange_begin(app_exchange_t *exchange, MPI_Comm comm, int parts);
/** What a peer, each once and possibly this rank, gets and gives. The exchange frees the
 *  lists. */
void app_exchange_add(app_exchange_t *exchange, int peer, app_region_t send, app_region_t recv);
/** Makes types, buffers and requests when all parts are there; false: no memory. */
bool app_exchange_end(app_exchange_t *exchange);
void app_exchange_free(app_exchange_t *exchange);
/** Collective over the ranks of `comm`, which only MPI_Alltoallw uses; MPI's code. */
int app_exchange_run(const app_exchange_t *exchange, app_way_t way, MPI_Comm comm,
                     const double *from, double *to);

#endif
