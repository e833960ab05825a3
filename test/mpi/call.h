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
 * A collective call with its buffers, of which every rank knows what they must hold
 * afterwards: a gather (exchange.h), a fold (fold.h), or an exchange of all with all
 * (swap.h). All are run and judged alike, by what is here.
 */

#ifndef TEST_MPI_CALL_H
#define TEST_MPI_CALL_H

#include "drawn.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if OMPI_MAJOR_VERSION < 5 /* persistent collectives have names of their own there */
#    include <mpi-ext.h>
#    define MPI_Allgather_init MPIX_Allgather_init
#    define MPI_Allgatherv_init MPIX_Allgatherv_init
#    define MPI_Allreduce_init MPIX_Allreduce_init
#    define MPI_Alltoall_init MPIX_Alltoall_init
#    define MPI_Alltoallv_init MPIX_Alltoallv_init
#    define MPI_Alltoallw_init MPIX_Alltoallw_init
#    define MPI_Barrier_init MPIX_Barrier_init
#    define MPI_Bcast_init MPIX_Bcast_init
#    define MPI_Exscan_init MPIX_Exscan_init
#    define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#    define MPI_Reduce_init MPIX_Reduce_init
#    define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#    define MPI_Reduce_scatter_init MPIX_Reduce_scatter_init
#    define MPI_Scan_init MPIX_Scan_init
#endif

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS } form_t;

const char *form_name(form_t form);

/**
 * A collective of MPI in a form; its value is MPI's code. One that is not blocking sets *request.
 */
#define CALL_IN(form, request, Name, Iname, ...)                                      \
    (BLOCKING == (form)      ? MPI_##Name(__VA_ARGS__)                                \
     : NONBLOCKING == (form) ? MPI_##Iname(__VA_ARGS__, request)                      \
                             : MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request))

typedef struct call_t {
    const struct call_class_t *class;
    MPI_Comm comm;
    drawn_t drawn;       /**< call, type and operation */
    form_t form;         /**< it was started in */
    MPI_Request request; /**< MPI_REQUEST_NULL: none */
    char fault[400];     /**< why it is not right */
} call_t;

typedef struct call_class_t {
    int (*issue)(call_t *call, form_t form);  /**< calls MPI, which may set the request */
    void (*reset)(call_t *call);              /**< buffers are what they were before the call */
    bool (*right)(call_t *call);              /**< judges all of them */
    bool (*has_data)(const call_t *call);     /**< on any rank */
    void (*orphan)(call_t *call);             /**< types and operations are freed, others come */
    void (*free)(call_t *call);
} call_class_t;

/** Makes a persistent request; starts a call in any form, a blocking one is over then. */
int call_init(call_t *call);
int call_start(call_t *call, form_t form);

/** The end of a call that has been started; the whole call in a form. MPI's code. */
int call_wait(call_t *call);
int call_run(call_t *call, form_t form);

void call_reset(call_t *call);

/** Judges the memory of this rank; the reason is in call->fault. */
bool call_right(call_t *call);

/** Whether any rank contributes a byte. */
bool call_has_data(const call_t *call);

/** What it was made with is freed while it is under way, or not yet started. */
void call_orphan(call_t *call);

/** Frees it with its request, if it is persistent. NULL: nothing. */
void call_free(call_t *call);

/* ---- buffers ---- */

/** Byte k .. of what a rank contributes. */
void call_pattern(uint64_t key, int rank, size_t k, unsigned char *to, size_t length);

/** A buffer, and what it is before and after the call, with bytes around it. */
typedef struct image_t {
    unsigned char *memory; /**< live */
    unsigned char *before, *after;
    size_t length;
    ptrdiff_t origin; /**< from memory to the address that MPI is given */
} image_t;

/** For bytes low .. high - 1 from that address; before and after are alike so far. */
image_t image_new(uint64_t key, ptrdiff_t low, ptrdiff_t high);
void image_free(image_t *image);
void image_reset(image_t *image);
void *image_address(const image_t *image);

/**
 * A type for MPI_BOTTOM in the place of one for the address, committed; MPI_DATATYPE_NULL where
 * live memory may be a device's, which nobody would find out.
 */
MPI_Datatype image_absolute(const image_t *image, MPI_Datatype type);

/** False: the byte at `place` from the address is another one. */
bool image_right(const image_t *image, ptrdiff_t *place);

/** Where live memory is taken from; malloc, free and memcpy by default. */
typedef struct memory_t {
    bool hosted; /**< what is taken must be the host's */
    bool around; /**< addresses of it may lie beside what is taken, which no call may touch */
    void *(*take)(size_t bytes);
    void (*give)(void *memory);
    void (*copy)(void *to, const void *from, size_t bytes);
} memory_t;

extern memory_t image_memory;

#endif
