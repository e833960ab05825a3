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
 * MPI_Allreduce and MPI_Reduce with MPI_SUM in fixed point, where the user wants sums that do not
 * depend on the order (coll_pipering_plan_fixed_point.h).
 *
 * A sum is two calls of this component, which any algorithm and any module below may serve, since
 * both are exact:
 *
 *     values --> keys    --MPI_Allreduce, MPI_MAX-->      keys of the sums
 *     values, keys --> addends --MPI_Allreduce, addition--> sums --> values
 *                              (or MPI_Reduce)
 *
 * A long vector is cut into slices of the same length, one after the other, which bounds the
 * memory and the counts of these calls; what the last one has too many values are those of the one
 * before. The requests of nonblocking and persistent sums start persistent ones, which have their
 * tags from the call that made them, so that ranks may come to their second phases in different
 * orders.
 */

#include "ompi/mca/coll/pipering/call/coll_pipering_calls.h"

#include "coll_pipering_plan_fixed_point.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/op/op.h"
#include "opal/datatype/opal_datatype_internal.h"

/* Values of a slice at most: 18 MiB of keys and addends of doubles. */
#define SLICE_MOST ((size_t) 1 << 20)

/* ---- which calls ---- */

/* What a type consists of. */
typedef struct {
    mca_coll_pipering_format_t format;
    size_t parts; /* values in an element: a complex number has two */
} anatomy_t;

static bool find_anatomy(const ompi_datatype_t *type, anatomy_t *anatomy)
{
    static const struct {
        int basic;
        anatomy_t anatomy;
    } known[] = {{OPAL_DATATYPE_FLOAT4, {MCA_COLL_PIPERING_BINARY32, 1}},
                 {OPAL_DATATYPE_FLOAT8, {MCA_COLL_PIPERING_BINARY64, 1}},
                 {OPAL_DATATYPE_FLOAT_COMPLEX, {MCA_COLL_PIPERING_BINARY32, 2}},
                 {OPAL_DATATYPE_DOUBLE_COMPLEX, {MCA_COLL_PIPERING_BINARY64, 2}}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        *anatomy = known[i].anatomy;
        if (UINT32_C(1) << known[i].basic == type->super.bdt_used
            && anatomy->parts * mca_coll_pipering_format_sizes(anatomy->format).value
                   == type->super.size) {
            return true;
        }
    }
    return false;
}

/* ---- the type and operation of addends ---- */

static void add_small(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    mca_coll_pipering_fixed_add(MCA_COLL_PIPERING_BINARY32, in, inout, (size_t) *count);
}

static void add_large(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) type;
    mca_coll_pipering_fixed_add(MCA_COLL_PIPERING_BINARY64, in, inout, (size_t) *count);
}

static MPI_User_function *const adders[] = {[MCA_COLL_PIPERING_BINARY32] = add_small,
                                            [MCA_COLL_PIPERING_BINARY64] = add_large};

/* By format. */
struct mca_coll_pipering_addends_t {
    ompi_datatype_t *type[MCA_COLL_PIPERING_FORMATS];
    ompi_op_t *sum[MCA_COLL_PIPERING_FORMATS];
};

static int fill_addends(mca_coll_pipering_addends_t *addends)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; OMPI_SUCCESS == rc && i < MCA_COLL_PIPERING_FORMATS; ++i) {
        const size_t size = mca_coll_pipering_format_sizes((mca_coll_pipering_format_t) i).addend;
        rc = ompi_datatype_create_contiguous((int) (size / sizeof(uint32_t)),
                                             &ompi_mpi_uint32_t.dt, &addends->type[i]);
        if (OMPI_SUCCESS == rc) {
            rc = ompi_datatype_commit(&addends->type[i]);
        }
        addends->sum[i] = MCA_COMMON_COLLTOOLS_OP_CREATE(
            true, (ompi_op_fortran_handler_fn_t *) adders[i]);
        if (OMPI_SUCCESS == rc && NULL == addends->sum[i]) {
            rc = OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    return rc;
}

static int ensure_addends(mca_coll_pipering_module_t *module)
{
    if (NULL != module->addends) {
        return OMPI_SUCCESS;
    }
    mca_coll_pipering_addends_t *addends = calloc(1, sizeof(*addends));
    const int rc = NULL == addends ? OMPI_ERR_OUT_OF_RESOURCE : fill_addends(addends);
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_addends_free(addends);
        return rc;
    }
    module->addends = addends;
    return OMPI_SUCCESS;
}

void mca_coll_pipering_addends_free(mca_coll_pipering_addends_t *addends)
{
    for (int i = 0; NULL != addends && i < MCA_COLL_PIPERING_FORMATS; ++i) {
        if (NULL != addends->type[i]) {
            ompi_datatype_destroy(&addends->type[i]);
        }
        if (NULL != addends->sum[i]) {
            OBJ_RELEASE(addends->sum[i]);
        }
    }
    free(addends);
}

bool mca_coll_pipering_adds_addends(const mca_coll_pipering_addends_t *addends, const ompi_op_t *op)
{
    bool adds = false;

    for (int i = 0; NULL != addends && i < MCA_COLL_PIPERING_FORMATS; ++i) {
        adds |= addends->sum[i] == op;
    }
    return adds;
}

/* ---- a sum ---- */

/* A sum on one rank, in slices. */
typedef struct {
    mca_coll_pipering_format_t format;
    mca_coll_pipering_format_sizes_t sizes;
    const char *from; /* values of this rank */
    char *to;         /* where sums are wanted, or NULL */
    size_t count;     /* values */
    size_t slice;     /* values of a slice, too many for the last one */
    size_t done;      /* values whose sums are there */
    char *keys, *addends, *values; /* [slice]; `values` are a copy of the slice's on the host */
    bool on_device;   /* `from` or `to` is */
} sum_t;

static size_t in_slice(const sum_t *sum)
{
    const size_t left = sum->count - sum->done;

    return left < sum->slice ? left : sum->slice;
}

static int make_sum(sum_t *sum, const mca_coll_pipering_reduction_t *reduction,
                    const anatomy_t *anatomy, bool wanted)
{
    const size_t count = (size_t) reduction->count * anatomy->parts;
    const size_t slices = (count + SLICE_MOST - 1) / SLICE_MOST;

    *sum = (sum_t){.format = anatomy->format,
                   .sizes = mca_coll_pipering_format_sizes(anatomy->format),
                   .from = MPI_IN_PLACE == reduction->sbuf ? reduction->rbuf : reduction->sbuf,
                   .to = wanted ? reduction->rbuf : NULL,
                   .count = count,
                   .slice = (count + slices - 1) / slices};
    sum->on_device = mca_common_colltools_on_device(reduction->dtype, sum->from)
                     || (wanted && mca_common_colltools_on_device(reduction->dtype, sum->to));
    sum->addends = malloc(sum->slice
                          * (sum->sizes.addend + sum->sizes.key
                             + (sum->on_device ? sum->sizes.value : 0)));
    if (NULL == sum->addends) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    sum->keys = sum->addends + sum->slice * sum->sizes.addend;
    sum->values = sum->keys + sum->slice * sum->sizes.key;
    return OMPI_SUCCESS;
}

/* The values of a slice as keys. */
static int begin_slice(sum_t *sum)
{
    const char *values = sum->from + sum->done * sum->sizes.value;
    const size_t count = in_slice(sum);

    if (sum->on_device) {
        const int rc = mca_common_colltools_copy(sum->values, values, count * sum->sizes.value,
                                                 true);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        values = sum->values;
    }
    mca_coll_pipering_fixed_keys(sum->format, values, count, sum->keys);
    return OMPI_SUCCESS;
}

/* The values of a slice as addends, by the keys of the sums. */
static void split_slice(sum_t *sum)
{
    const char *values = sum->on_device ? sum->values : sum->from + sum->done * sum->sizes.value;

    mca_coll_pipering_fixed_addends(sum->format, values, sum->keys, in_slice(sum), sum->addends);
}

/* The sums of a slice to the user, where they are wanted. */
static int end_slice(sum_t *sum)
{
    const size_t count = in_slice(sum);
    int rc = OMPI_SUCCESS;

    if (NULL != sum->to) {
        char *const to = sum->to + sum->done * sum->sizes.value;
        mca_coll_pipering_fixed_values(sum->format, sum->addends, sum->keys, count,
                                       sum->on_device ? sum->values : to);
        if (sum->on_device) {
            rc = mca_common_colltools_copy(to, sum->values, count * sum->sizes.value, true);
        }
    }
    sum->done += count;
    return rc;
}

/* ---- its two phases ---- */

enum { KEYS, ADDENDS, PHASES };

/* What both phases have of the call. */
typedef struct {
    mca_coll_pipering_module_t *module;
    mca_coll_pipering_collective_t collective;
    int root; /* of MPI_Reduce */
} target_t;

static bool is_wanted_here(const target_t *target)
{
    return MCA_COLL_PIPERING_REDUCE != target->collective
           || ompi_comm_rank(target->module->context.comm) == target->root;
}

/* A phase: the keys of the sums, or the addends; with `request` one that is to be started. */
static int reduce(const target_t *target, const sum_t *sum, int phase, ompi_request_t **request)
{
    const mca_coll_pipering_addends_t *addends = target->module->addends;
    const bool keys = KEYS == phase, here = keys || is_wanted_here(target);
    ompi_datatype_t *type = !keys ? addends->type[sum->format]
                            : MCA_COLL_PIPERING_BINARY32 == sum->format ? &ompi_mpi_uint8_t.dt
                                                                        : &ompi_mpi_uint16_t.dt;
    ompi_op_t *op = keys ? &ompi_mpi_op_max.op : addends->sum[sum->format];
    void *values = keys ? (void *) sum->keys : sum->addends, *to = here ? values : NULL;
    const void *from = here ? MPI_IN_PLACE : values;
    const int count = (int) sum->slice, root = target->root;
    ompi_communicator_t *comm = target->module->context.comm;
    mca_coll_base_module_t *base = &target->module->super.super;

    if (keys || MCA_COLL_PIPERING_ALLREDUCE == target->collective) {
        return NULL == request
                   ? base->coll_allreduce(from, to, count, type, op, comm, base)
                   : base->coll_allreduce_init(from, to, count, type, op, comm, MPI_INFO_NULL,
                                               request, base);
    }
    return NULL == request ? base->coll_reduce(from, to, count, type, op, root, comm, base)
                           : base->coll_reduce_init(from, to, count, type, op, root, comm,
                                                    MPI_INFO_NULL, request, base);
}

static int run(const target_t *target, sum_t *sum)
{
    int rc = OMPI_SUCCESS;

    while (OMPI_SUCCESS == rc && sum->done < sum->count) {
        rc = begin_slice(sum);
        if (OMPI_SUCCESS == rc) {
            rc = reduce(target, sum, KEYS, NULL);
        }
        if (OMPI_SUCCESS == rc) {
            split_slice(sum);
            rc = reduce(target, sum, ADDENDS, NULL);
        }
        if (OMPI_SUCCESS == rc) {
            rc = end_slice(sum);
        }
    }
    return rc;
}

/* ---- requests ---- */

/* A sum on its way. */
typedef struct {
    mca_common_colltools_task_t super;
    sum_t sum;
    ompi_request_t *phase[PHASES]; /* persistent */
    int at;                        /* the phase that is under way */
} request_t;

static void construct(request_t *request)
{
    request->sum.addends = NULL;
    request->phase[KEYS] = request->phase[ADDENDS] = NULL;
}

static void destruct(request_t *request)
{
    for (int i = 0; i < PHASES; ++i) {
        if (NULL != request->phase[i]) {
            (void) ompi_request_free(&request->phase[i]);
        }
    }
    free(request->sum.addends);
}

static OBJ_CLASS_INSTANCE(request_t, mca_common_colltools_task_t, construct, destruct);

static int start_phase(request_t *request, int phase)
{
    request->at = phase;
    return request->phase[phase]->req_start(1, &request->phase[phase]);
}

static int start_slice(request_t *request)
{
    const int rc = begin_slice(&request->sum);

    return OMPI_SUCCESS == rc ? start_phase(request, KEYS) : rc;
}

/* A phase that is over gives way to the next one; true: there is none. */
static bool go_on(request_t *request, int *rc)
{
    sum_t *sum = &request->sum;

    if (KEYS == request->at) {
        split_slice(sum);
        *rc = start_phase(request, ADDENDS);
        return false;
    }
    *rc = end_slice(sum);
    if (OMPI_SUCCESS == *rc && sum->done < sum->count) {
        *rc = start_slice(request);
        return false;
    }
    return true;
}

static bool advance(mca_common_colltools_task_t *task, int *steps, int *rc)
{
    request_t *request = (request_t *) task;
    ompi_request_t *phase = request->phase[request->at];

    *rc = OMPI_SUCCESS;
    if (!REQUEST_COMPLETE(phase)) {
        return false;
    }
    opal_atomic_rmb();
    phase->req_state = OMPI_REQUEST_INACTIVE;
    *rc = phase->req_status.MPI_ERROR;
    ++*steps;
    const bool over = OMPI_SUCCESS != *rc || go_on(request, rc);
    return over || OMPI_SUCCESS != *rc;
}

static int start(mca_common_colltools_task_t *task)
{
    request_t *request = (request_t *) task;

    request->sum.done = 0;
    const int rc = start_slice(request);
    if (OMPI_SUCCESS == rc) {
        mca_common_colltools_task_activate(task);
    }
    return rc;
}

static const mca_common_colltools_task_kind_t request_kind = {.start = start, .advance = advance};

static int fill_request(request_t *request, const mca_coll_pipering_reduction_t *reduction,
                        const anatomy_t *anatomy, const target_t *target)
{
    int rc = make_sum(&request->sum, reduction, anatomy, is_wanted_here(target));

    if (OMPI_SUCCESS == rc) {
        rc = reduce(target, &request->sum, KEYS, &request->phase[KEYS]);
    }
    if (OMPI_SUCCESS == rc) {
        rc = reduce(target, &request->sum, ADDENDS, &request->phase[ADDENDS]);
    }
    return OMPI_SUCCESS == rc ? mca_common_colltools_task_keep(&request->super, 0) : rc;
}

static int make_request(const mca_coll_pipering_reduction_t *reduction, const anatomy_t *anatomy,
                        const target_t *target, mca_coll_pipering_form_t form,
                        ompi_request_t **handle)
{
    request_t *request = OBJ_NEW(request_t);

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_common_colltools_task_init(&request->super, &request_kind, target->module->context.comm,
                                   MCA_COLL_PIPERING_PERSISTENT == form);
    const int rc = fill_request(request, reduction, anatomy, target);
    return mca_common_colltools_task_hand_out(&request->super, rc, handle);
}

/* ---- all forms ---- */

/* Ranks that differ in their variables make ordinary sums. */
static int agree(mca_coll_pipering_context_t *context)
{
    const int rc = mca_coll_pipering_set_up(context);

    return OMPI_SUCCESS != rc                                   ? rc
           : MCA_COLL_PIPERING_TAKEN == context->setup->reason ? OMPI_SUCCESS
                                                                : OMPI_ERR_NOT_SUPPORTED;
}

static int serve(const mca_coll_pipering_reduction_t *reduction, const anatomy_t *anatomy,
                 const target_t *target, mca_coll_pipering_form_t form, ompi_request_t **request)
{
    sum_t sum;
    int rc = agree(&target->module->context);

    if (OMPI_SUCCESS == rc) {
        rc = ensure_addends(target->module);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (MCA_COLL_PIPERING_BLOCKING != form) {
        return make_request(reduction, anatomy, target, form, request);
    }
    rc = make_sum(&sum, reduction, anatomy, is_wanted_here(target));
    if (OMPI_SUCCESS == rc) {
        rc = run(target, &sum);
        free(sum.addends);
    }
    return rc;
}

int mca_coll_pipering_fixed_sum(const mca_coll_pipering_reduction_t *reduction,
                                mca_coll_pipering_collective_t collective,
                                mca_coll_pipering_form_t form, mca_coll_pipering_module_t *module,
                                ompi_request_t **request)
{
    const target_t target = {.module = module, .collective = collective, .root = reduction->root};
    anatomy_t anatomy;

    if (&ompi_mpi_op_sum.op != reduction->op || 0 == reduction->count
        || MCA_COMMON_COLLTOOLS_HETEROGENEOUS || !find_anatomy(reduction->dtype, &anatomy)) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    const int rc = serve(reduction, &anatomy, &target, form, request);
    if (OMPI_SUCCESS == rc) {
        mca_common_colltools_count(
            &mca_coll_pipering.process.counters.fixed_point_sums, 1);
        mca_coll_pipering_note_taken(&module->context, MCA_COLL_PIPERING_TEXT_FIXED_POINT);
    }
    return OMPI_ERR_NOT_SUPPORTED == rc ? rc : mca_common_colltools_mpi_error(rc);
}
