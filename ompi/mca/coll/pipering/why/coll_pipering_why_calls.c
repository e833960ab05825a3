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
 * sizes it had. Of nonblocking and persistent calls the time is that of the call which makes the
 * request, as a request may be over at any time.
 */

#include "coll_pipering_why.h"

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/pipering/call/coll_pipering_calls.h"
#include "ompi/mca/topo/base/base.h"

/* ---- sizes ---- */

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
                                           .contiguous = is_contiguous(type, count)};
}

/* Parts of one type, or each of its own. */
static mca_coll_pipering_why_shape_t parts(const int *counts, struct ompi_datatype_t *type,
                                           struct ompi_datatype_t *const *types, int count)
{
    mca_coll_pipering_why_shape_t shape = {.contiguous = true};

    for (int i = 0; i < count; ++i) {
        struct ompi_datatype_t *const of = NULL == types ? type : types[i];
        const uint64_t bytes = mca_coll_pipering_bytes_of((size_t) counts[i], of);
        if (0 < bytes) {
            shape.bytes += bytes;
            shape.largest = bytes > shape.largest ? bytes : shape.largest;
            shape.contributors += 1;
            shape.contiguous = shape.contiguous && is_contiguous(of, counts[i]);
        }
    }
    return shape;
}

static int neighbors(ompi_communicator_t *comm)
{
    int in = 0, out = 0;

    return OMPI_SUCCESS == mca_topo_base_neighbor_count(comm, &in, &out) ? in : 0;
}

/* ---- functions ---- */

/* Who stands below coll/pipering; it may not be there. */
#define BELOW(module, name) \
    (NULL == (module)->pipering ? NULL : (module)->pipering->previous.name##_module)

#define RECORD(call, name, shape)                                                         \
    do {                                                                                  \
        mca_coll_pipering_why_end(&(call));                                               \
        const mca_coll_pipering_why_shape_t sizes = shape;                                \
        mca_coll_pipering_why_record(&(call), #name, comm, module->previous.name##_module, \
                                     BELOW(module, name), &sizes);                        \
    } while (0)

/*
 * The three forms of a collective. NAME_PARAMETERS and NAME_ARGUMENTS are what MPI hands to all of
 * them, and end with the communicator `comm`; `shape` is an expression of these.
 */
#define FORMS(name, NAME, shape)                                                                   \
    static int why_##name(NAME##_PARAMETERS, mca_coll_base_module_t *base)                         \
    {                                                                                              \
        mca_coll_pipering_why_module_t *module = (mca_coll_pipering_why_module_t *) base;          \
        mca_coll_pipering_why_call_t call = mca_coll_pipering_why_begin(base);                     \
        int rc;                                                                                    \
                                                                                                   \
        MCA_COMMON_IRREGULAR_BELOW(rc, comm, name, module->previous.name,                          \
                                   module->previous.name##_module,                                 \
                                   (NAME##_ARGUMENTS, module_below));                              \
        RECORD(call, name, shape);                                                                 \
        return rc;                                                                                 \
    }                                                                                              \
                                                                                                   \
    static int why_i##name(NAME##_PARAMETERS, ompi_request_t **request,                            \
                           mca_coll_base_module_t *base)                                           \
    {                                                                                              \
        mca_coll_pipering_why_module_t *module = (mca_coll_pipering_why_module_t *) base;          \
        mca_coll_pipering_why_call_t call = mca_coll_pipering_why_begin(base);                     \
        const int rc = module->previous.i##name(NAME##_ARGUMENTS, request,                         \
                                                module->previous.i##name##_module);                \
                                                                                                   \
        RECORD(call, i##name, shape);                                                              \
        return rc;                                                                                 \
    }                                                                                              \
                                                                                                   \
    static int why_##name##_init(NAME##_PARAMETERS, struct ompi_info_t *info,                      \
                                 ompi_request_t **request, mca_coll_base_module_t *base)           \
    {                                                                                              \
        mca_coll_pipering_why_module_t *module = (mca_coll_pipering_why_module_t *) base;          \
        mca_coll_pipering_why_call_t call = mca_coll_pipering_why_begin(base);                     \
        const int rc = module->previous.name##_init(NAME##_ARGUMENTS, info, request,               \
                                                    module->previous.name##_init_module);          \
                                                                                                   \
        RECORD(call, name##_init, shape);                                                          \
        return rc;                                                                                 \
    }

/* ---- collectives ---- */

#define ALLGATHER_PARAMETERS                                                              \
    const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, int rcount, \
    struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm
#define ALLGATHER_ARGUMENTS sbuf, scount, sdtype, rbuf, rcount, rdtype, comm

#define ALLGATHERV_PARAMETERS                                                 \
    const void *sbuf, int scount, struct ompi_datatype_t *sdtype, void *rbuf, \
    const int *rcounts, const int *displs, struct ompi_datatype_t *rdtype,    \
    struct ompi_communicator_t *comm
#define ALLGATHERV_ARGUMENTS sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, comm

#define BCAST_PARAMETERS                                              \
    void *buffer, int count, struct ompi_datatype_t *dtype, int root, \
    struct ompi_communicator_t *comm
#define BCAST_ARGUMENTS buffer, count, dtype, root, comm

#define REDUCE_PARAMETERS                                                   \
    const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype, \
    struct ompi_op_t *op, int root, struct ompi_communicator_t *comm
#define REDUCE_ARGUMENTS sbuf, rbuf, count, dtype, op, root, comm

#define FOLD_PARAMETERS                                                     \
    const void *sbuf, void *rbuf, int count, struct ompi_datatype_t *dtype, \
    struct ompi_op_t *op, struct ompi_communicator_t *comm
#define FOLD_ARGUMENTS sbuf, rbuf, count, dtype, op, comm

#define ALLTOALLV_PARAMETERS                                                                  \
    const void *sbuf, const int *scounts, const int *sdispls, struct ompi_datatype_t *sdtype, \
    void *rbuf, const int *rcounts, const int *rdispls, struct ompi_datatype_t *rdtype,       \
    struct ompi_communicator_t *comm
#define ALLTOALLV_ARGUMENTS sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls, rdtype, comm

#define ALLTOALLW_PARAMETERS                                                \
    const void *sbuf, const int *scounts, const int *sdispls,               \
    struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts, \
    const int *rdispls, struct ompi_datatype_t *const *rdtypes,             \
    struct ompi_communicator_t *comm
#define ALLTOALLW_ARGUMENTS sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes, comm

#define NEIGHBOR_PARAMETERS                                                 \
    const void *sbuf, const int *scounts, const MPI_Aint *sdispls,          \
    struct ompi_datatype_t *const *sdtypes, void *rbuf, const int *rcounts, \
    const MPI_Aint *rdispls, struct ompi_datatype_t *const *rdtypes,        \
    struct ompi_communicator_t *comm
#define NEIGHBOR_ARGUMENTS sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes, comm

FORMS(allgather, ALLGATHER, equal_parts(rcount, rdtype, ompi_comm_size(comm)))
FORMS(allgatherv, ALLGATHERV, parts(rcounts, rdtype, NULL, ompi_comm_size(comm)))
FORMS(allreduce, FOLD, equal_parts(count, dtype, 1))
FORMS(bcast, BCAST, equal_parts(count, dtype, 1))
FORMS(exscan, FOLD, equal_parts(count, dtype, 1))
FORMS(reduce, REDUCE, equal_parts(count, dtype, 1))
FORMS(scan, FOLD, equal_parts(count, dtype, 1))
FORMS(alltoallv, ALLTOALLV, parts(rcounts, rdtype, NULL, ompi_comm_size(comm)))
FORMS(alltoallw, ALLTOALLW, parts(rcounts, NULL, rdtypes, ompi_comm_size(comm)))
FORMS(neighbor_alltoallw, NEIGHBOR, parts(rcounts, NULL, rdtypes, neighbors(comm)))

#define SET_FORMS(module, name)                              \
    do {                                                     \
        (module)->coll_##name = why_##name;                  \
        (module)->coll_i##name = why_i##name;                \
        (module)->coll_##name##_init = why_##name##_init;    \
    } while (0)

void mca_coll_pipering_why_set_functions(mca_coll_base_module_t *module)
{
    SET_FORMS(module, allgather);
    SET_FORMS(module, allgatherv);
    SET_FORMS(module, allreduce);
    SET_FORMS(module, bcast);
    SET_FORMS(module, exscan);
    SET_FORMS(module, reduce);
    SET_FORMS(module, scan);
    SET_FORMS(module, alltoallv);
    SET_FORMS(module, alltoallw);
    SET_FORMS(module, neighbor_alltoallw);
}
