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
 * The functions that MPI calls where calls are recorded: each hands its call on, then says what
 * sizes and types it had. Of nonblocking and persistent calls the time is that of the call which
 * makes the request, as a request may be over at any time.
 */

#include "coll_pipering_why.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/pipering/call/coll_pipering_calls.h"
#include "ompi/mca/topo/base/base.h"

/* ---- sizes and types ---- */

static const char derived[] = "derived", several[] = "several types";

/* What a type is called. MPI's own types have their names as long as MPI runs. */
static const char *name_of(const struct ompi_datatype_t *type)
{
    return 0 != ompi_datatype_is_predefined(type) ? type->name : derived;
}

/* The name of types of which some are called `before`, which may be NULL, and one is `type`. */
static const char *joint_name(const char *before, const struct ompi_datatype_t *type)
{
    const char *name = name_of(type);

    return NULL == before || name == before ? name : several;
}

static bool is_contiguous(struct ompi_datatype_t *type, int count)
{
    return 0 != ompi_datatype_is_contiguous_memory_layout(type, count);
}

static mca_coll_pipering_why_shape_t equal_parts(int count, struct ompi_datatype_t *type,
                                                 int parts)
{
    const uint64_t each = mca_coll_pipering_bytes_of((size_t) count, type);

    return (mca_coll_pipering_why_shape_t){.bytes = each * (uint64_t) parts,
                                           .largest = each,
                                           .contributors = 0 < each ? (uint32_t) parts : 0,
                                           .contiguous = is_contiguous(type, count),
                                           .type = name_of(type)};
}

static mca_coll_pipering_why_shape_t combined(int count, struct ompi_datatype_t *type,
                                              struct ompi_op_t *op)
{
    mca_coll_pipering_why_shape_t shape = equal_parts(count, type, 1);

    shape.order_matters = mca_coll_pipering_order_matters(op, type);
    return shape;
}

/* Parts of one type, or each of its own. */
static mca_coll_pipering_why_shape_t parts(const int *counts, struct ompi_datatype_t *type,
                                           struct ompi_datatype_t *const *types, int count)
{
    mca_coll_pipering_why_shape_t shape = {.contiguous = true,
                                           .type = NULL == types ? name_of(type) : NULL};

    for (int i = 0; i < count; ++i) {
        struct ompi_datatype_t *const of = NULL == types ? type : types[i];
        const uint64_t bytes = mca_coll_pipering_bytes_of((size_t) counts[i], of);
        if (0 < bytes) {
            shape.bytes += bytes;
            shape.largest = bytes > shape.largest ? bytes : shape.largest;
            shape.contributors += 1;
            shape.contiguous = shape.contiguous && is_contiguous(of, counts[i]);
            shape.type = NULL == types ? shape.type : joint_name(shape.type, of);
        }
    }
    return shape;
}

static int neighbors(ompi_communicator_t *comm)
{
    int in = 0, out = 0;

    return OMPI_SUCCESS == mca_topo_base_neighbor_count(comm, &in, &out) ? in : 0;
}

/* ---- what all functions do ---- */

/* Who serves a function, by the place of that in mca_coll_pipering_previous_t. */
static const mca_coll_base_module_t *server(const mca_coll_pipering_previous_t *previous,
                                            size_t place)
{
    return *(mca_coll_base_module_t *const *) ((const char *) previous + place);
}

#define PLACE(member) offsetof(mca_coll_pipering_previous_t, member)

/* Records a call of the function `name` that has ended; below it coll/pipering may not be there. */
static void record(const mca_coll_pipering_why_call_t *call, const char *name, size_t place,
                   ompi_communicator_t *comm, const mca_coll_pipering_why_shape_t *shape)
{
    const mca_coll_pipering_why_module_t *module = call->module;

    mca_coll_pipering_why_record(call, name, comm, server(&module->previous, place),
                                 NULL == module->pipering
                                     ? NULL
                                     : server(&module->pipering->previous, place),
                                 shape);
}

/*
 * The three functions of a collective: of each its name, who it hands its call to, and the module
 * of that. `parameters` and `arguments` are what MPI hands to all of them before the communicator
 * `comm`, each with a comma behind it; `shape` is an expression of these.
 */
#define FORMS(parameters, arguments, shape, why_blocking, blocking, blocking_module,              \
              why_nonblocking, nonblocking, nonblocking_module, why_persistent, persistent,       \
              persistent_module)                                                                  \
    static int why_blocking(parameters struct ompi_communicator_t *comm,                          \
                            mca_coll_base_module_t *base)                                         \
    {                                                                                             \
        mca_coll_pipering_why_call_t call = mca_coll_pipering_why_begin(base);                    \
        mca_coll_pipering_previous_t *below = &call.module->previous;                             \
        int rc;                                                                                   \
                                                                                                  \
        MCA_COMMON_IRREGULAR_BELOW(rc, comm, blocking, below->blocking, below->blocking_module,   \
                                   (arguments comm, module_below));                               \
        mca_coll_pipering_why_end(&call);                                                         \
        const mca_coll_pipering_why_shape_t sizes = shape;                                        \
        record(&call, #blocking, PLACE(blocking_module), comm, &sizes);                           \
        return rc;                                                                                \
    }                                                                                             \
                                                                                                  \
    static int why_nonblocking(parameters struct ompi_communicator_t *comm,                       \
                               ompi_request_t **request, mca_coll_base_module_t *base)            \
    {                                                                                             \
        mca_coll_pipering_why_call_t call = mca_coll_pipering_why_begin(base);                    \
        mca_coll_pipering_previous_t *below = &call.module->previous;                             \
        const int rc = below->nonblocking(arguments comm, request, below->nonblocking_module);    \
                                                                                                  \
        mca_coll_pipering_why_end(&call);                                                         \
        const mca_coll_pipering_why_shape_t sizes = shape;                                        \
        record(&call, #nonblocking, PLACE(nonblocking_module), comm, &sizes);                     \
        return rc;                                                                                \
    }                                                                                             \
                                                                                                  \
    static int why_persistent(parameters struct ompi_communicator_t *comm,                        \
                              struct ompi_info_t *info, ompi_request_t **request,                 \
                              mca_coll_base_module_t *base)                                       \
    {                                                                                             \
        mca_coll_pipering_why_call_t call = mca_coll_pipering_why_begin(base);                    \
        mca_coll_pipering_previous_t *below = &call.module->previous;                             \
        const int rc = below->persistent(arguments comm, info, request,                           \
                                         below->persistent_module);                               \
                                                                                                  \
        mca_coll_pipering_why_end(&call);                                                         \
        const mca_coll_pipering_why_shape_t sizes = shape;                                        \
        record(&call, #persistent, PLACE(persistent_module), comm, &sizes);                       \
        return rc;                                                                                \
    }

/* ---- collectives ---- */

#define ALLGATHER_PARAMETERS                                                              \
    const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount, \
    struct ompi_datatype_t *rdtype,
#define ALLGATHER_ARGUMENTS sbuf, scount, sdtype, rbuf, rcount, rdtype,

#define ALLGATHERV_PARAMETERS                                                 \
    const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, \
    const int *rcounts, const int *displs, struct ompi_datatype_t *rdtype,
#define ALLGATHERV_ARGUMENTS sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype,

#define BCAST_PARAMETERS void *buffer, int count, struct ompi_datatype_t *dtype, int root,
#define BCAST_ARGUMENTS buffer, count, dtype, root,

#define REDUCE_PARAMETERS                                                   \
    const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype, \
    struct ompi_op_t *op, int root,
#define REDUCE_ARGUMENTS sbuf, rbuf, count, dtype, op, root,

#define FOLD_PARAMETERS                                                     \
    const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype, \
    struct ompi_op_t *op,
#define FOLD_ARGUMENTS sbuf, rbuf, count, dtype, op,

#define ALLTOALLV_PARAMETERS                                                                  \
    const void *sbuf, const int *scounts, const int *sdispls, struct ompi_datatype_t *sdtype, \
    void *rbuf, const int *rcounts, const int *rdispls, struct ompi_datatype_t *rdtype,
#define ALLTOALLV_ARGUMENTS sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls, rdtype,

#define ALLTOALLW_PARAMETERS                                                \
    const void *sbuf, const int *scounts, const int *sdispls,               \
    struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts, \
    const int *rdispls, struct ompi_datatype_t *const *rdtypes,
#define ALLTOALLW_ARGUMENTS sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes,

#define NEIGHBOR_PARAMETERS                                                 \
    const void *sbuf, const int *scounts, const MPI_Aint *sdispls,          \
    struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts, \
    const MPI_Aint *rdispls, struct ompi_datatype_t *const *rdtypes,
#define NEIGHBOR_ARGUMENTS sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes,

FORMS(ALLGATHER_PARAMETERS, ALLGATHER_ARGUMENTS, equal_parts(rcount, rdtype, ompi_comm_size(comm)),
      why_allgather, allgather, allgather_module,
      why_iallgather, iallgather, iallgather_module,
      why_allgather_init, allgather_init, allgather_init_module)

FORMS(ALLGATHERV_PARAMETERS, ALLGATHERV_ARGUMENTS,
      parts(rcounts, rdtype, NULL, ompi_comm_size(comm)),
      why_allgatherv, allgatherv, allgatherv_module,
      why_iallgatherv, iallgatherv, iallgatherv_module,
      why_allgatherv_init, allgatherv_init, allgatherv_init_module)

FORMS(FOLD_PARAMETERS, FOLD_ARGUMENTS, combined(count, dtype, op),
      why_allreduce, allreduce, allreduce_module,
      why_iallreduce, iallreduce, iallreduce_module,
      why_allreduce_init, allreduce_init, allreduce_init_module)

FORMS(BCAST_PARAMETERS, BCAST_ARGUMENTS, equal_parts(count, dtype, 1),
      why_bcast, bcast, bcast_module,
      why_ibcast, ibcast, ibcast_module,
      why_bcast_init, bcast_init, bcast_init_module)

FORMS(FOLD_PARAMETERS, FOLD_ARGUMENTS, combined(count, dtype, op),
      why_exscan, exscan, exscan_module,
      why_iexscan, iexscan, iexscan_module,
      why_exscan_init, exscan_init, exscan_init_module)

FORMS(REDUCE_PARAMETERS, REDUCE_ARGUMENTS, combined(count, dtype, op),
      why_reduce, reduce, reduce_module,
      why_ireduce, ireduce, ireduce_module,
      why_reduce_init, reduce_init, reduce_init_module)

FORMS(FOLD_PARAMETERS, FOLD_ARGUMENTS, combined(count, dtype, op),
      why_scan, scan, scan_module,
      why_iscan, iscan, iscan_module,
      why_scan_init, scan_init, scan_init_module)

FORMS(ALLGATHER_PARAMETERS, ALLGATHER_ARGUMENTS, equal_parts(rcount, rdtype, ompi_comm_size(comm)),
      why_alltoall, alltoall, alltoall_module,
      why_ialltoall, ialltoall, ialltoall_module,
      why_alltoall_init, alltoall_init, alltoall_init_module)

FORMS(ALLTOALLV_PARAMETERS, ALLTOALLV_ARGUMENTS, parts(rcounts, rdtype, NULL, ompi_comm_size(comm)),
      why_alltoallv, alltoallv, alltoallv_module,
      why_ialltoallv, ialltoallv, ialltoallv_module,
      why_alltoallv_init, alltoallv_init, alltoallv_init_module)

FORMS(ALLTOALLW_PARAMETERS, ALLTOALLW_ARGUMENTS,
      parts(rcounts, NULL, rdtypes, ompi_comm_size(comm)),
      why_alltoallw, alltoallw, alltoallw_module,
      why_ialltoallw, ialltoallw, ialltoallw_module,
      why_alltoallw_init, alltoallw_init, alltoallw_init_module)

FORMS(NEIGHBOR_PARAMETERS, NEIGHBOR_ARGUMENTS, parts(rcounts, NULL, rdtypes, neighbors(comm)),
      why_neighbor_alltoallw, neighbor_alltoallw, neighbor_alltoallw_module,
      why_ineighbor_alltoallw, ineighbor_alltoallw, ineighbor_alltoallw_module,
      why_neighbor_alltoallw_init, neighbor_alltoallw_init, neighbor_alltoallw_init_module)

/* A barrier has no data, so it has no parameters before the communicator. */
FORMS(, , (mca_coll_pipering_why_shape_t){.contiguous = true},
      why_barrier, barrier, barrier_module,
      why_ibarrier, ibarrier, ibarrier_module,
      why_barrier_init, barrier_init, barrier_init_module)

void mca_coll_pipering_why_set_functions(mca_coll_base_module_t *module)
{
    module->coll_allgather = why_allgather;
    module->coll_iallgather = why_iallgather;
    module->coll_allgather_init = why_allgather_init;
    module->coll_allgatherv = why_allgatherv;
    module->coll_iallgatherv = why_iallgatherv;
    module->coll_allgatherv_init = why_allgatherv_init;
    module->coll_allreduce = why_allreduce;
    module->coll_iallreduce = why_iallreduce;
    module->coll_allreduce_init = why_allreduce_init;
    module->coll_bcast = why_bcast;
    module->coll_ibcast = why_ibcast;
    module->coll_bcast_init = why_bcast_init;
    module->coll_exscan = why_exscan;
    module->coll_iexscan = why_iexscan;
    module->coll_exscan_init = why_exscan_init;
    module->coll_reduce = why_reduce;
    module->coll_ireduce = why_ireduce;
    module->coll_reduce_init = why_reduce_init;
    module->coll_scan = why_scan;
    module->coll_iscan = why_iscan;
    module->coll_scan_init = why_scan_init;
    module->coll_alltoall = why_alltoall;
    module->coll_ialltoall = why_ialltoall;
    module->coll_alltoall_init = why_alltoall_init;
    module->coll_alltoallv = why_alltoallv;
    module->coll_ialltoallv = why_ialltoallv;
    module->coll_alltoallv_init = why_alltoallv_init;
    module->coll_alltoallw = why_alltoallw;
    module->coll_ialltoallw = why_ialltoallw;
    module->coll_alltoallw_init = why_alltoallw_init;
    module->coll_neighbor_alltoallw = why_neighbor_alltoallw;
    module->coll_ineighbor_alltoallw = why_ineighbor_alltoallw;
    module->coll_neighbor_alltoallw_init = why_neighbor_alltoallw_init;
    module->coll_barrier = why_barrier;
    module->coll_ibarrier = why_ibarrier;
    module->coll_barrier_init = why_barrier_init;
}
