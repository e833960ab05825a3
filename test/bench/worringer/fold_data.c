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
 * Buffers of fold and what they must hold. Rank r contributes to element k of a sum
 * a(k) + w(r) b(k), small integers drawn anew for each call, so that a rank that is
 * missing, there twice, or of the last call shows, and what any ranks give together
 * is known from the sum of their weights. A matrix has determinant 1, so that no
 * product loses what was in its factors. What is only moved is drawn for each element;
 * the first one of a rank grows by 1 from call to call of a batch.
 */

#include "agv_dist.h"
#include "fold.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 64
#define FILL 0xa5
#define LARGEST 16

typedef struct matrix_t {
    uint32_t m[4];
} matrix_t;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

bool fold_coll_has_op(fold_coll_t coll)
{
    return FOLD_BCAST != coll && FOLD_ALLGATHER != coll;
}

/* ---- the operation */

static matrix_t product(const matrix_t *a, const matrix_t *b)
{
    const uint32_t *x = a->m, *y = b->m;

    return (matrix_t){{x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3],
                       x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]}};
}

static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const matrix_t *lower = in;
    matrix_t *upper = inout;

    (void) type;
    for (int i = 0; i < *length; ++i) {
        upper[i] = product(&lower[i], &upper[i]);
    }
}

/* ---- what ranks contribute */

static matrix_t contribution(const fold_data_t *data, int rank, size_t k)
{
    const uint64_t h = mix(mix(data->call + (uint64_t) rank * 0x10001) + k);
    const uint32_t a = (uint32_t) h, b = (uint32_t) (h >> 32);

    return (matrix_t){{1 + a * b, a, b, 1}};
}

/* Element k of what a rank sends that others only receive. */
static uint64_t moved(const fold_data_t *data, int rank, size_t k)
{
    const uint64_t sender = FOLD_BCAST == data->problem.coll ? 0 : (uint64_t) rank;

    return mix(mix(data->call + sender * 0x10001) + k) + (0 == k ? data->turn : 0);
}

/* A sum as an element: whole, and within what its type holds without rounding. */
static void put_sum(const fold_data_t *data, uint64_t sum, unsigned char *element)
{
    const double wide = (double) sum;
    const int32_t whole = (int32_t) sum;
    const void *const as[] = {[FOLD_DOUBLE] = &wide, [FOLD_INT] = &whole};

    memcpy(element, as[data->problem.value], data->unit);
}

/* Element k of what `ranks` ranks from `first` on give together; `weight`: their sum. */
static void fold_ranks(const fold_data_t *data, int first, int ranks, uint64_t weight, size_t k,
                       unsigned char *element)
{
    if (!fold_coll_has_op(data->problem.coll)) {
        const uint64_t h = moved(data, first, k);
        memcpy(element, &h, sizeof(h));
    } else if (FOLD_MATRIX == data->problem.value) {
        matrix_t all = contribution(data, first, k);

        for (int r = first + 1; r < first + ranks; ++r) {
            const matrix_t next = contribution(data, r, k);
            all = product(&all, &next);
        }
        memcpy(element, &all, sizeof(all));
    } else {
        const uint64_t h = mix(mix(data->call) + k);
        put_sum(data, (uint64_t) ranks * (h & 255) + weight * (1 + (h >> 8 & 7)), element);
    }
}

static uint64_t weight_of(const fold_data_t *data, int first, int ranks)
{
    uint64_t weight = 0;

    for (int r = first; r < first + ranks; ++r) {
        weight += data->weights[r];
    }
    return weight;
}

/* How many ranks' contributions, from 0 on, this one's result holds; 0: nothing that
 * is defined. What has no operation counts as one. */
static int ranks_in_result(const fold_data_t *data)
{
    switch (data->problem.coll) {
    case FOLD_BCAST:
    case FOLD_ALLGATHER:
        return 1;
    case FOLD_REDUCE:
        return data->rank == data->problem.root ? data->size : 0;
    case FOLD_SCAN:
        return data->rank + 1;
    case FOLD_EXSCAN:
        return data->rank;
    default:
        return data->size;
    }
}

/* ---- buffers */

size_t fold_unit(fold_coll_t coll, fold_value_t value)
{
    static const size_t units[] = {[FOLD_DOUBLE] = sizeof(double),
                                   [FOLD_INT] = sizeof(int32_t),
                                   [FOLD_MATRIX] = sizeof(matrix_t)};

    return fold_coll_has_op(coll) ? units[value] : sizeof(uint64_t);
}

static MPI_Datatype type_of(const fold_problem_t *problem)
{
    if (!fold_coll_has_op(problem->coll)) {
        return MPI_UINT64_T;
    }
    return FOLD_INT == problem->value ? MPI_INT32_T : MPI_DOUBLE;
}

/* Parts of the result for each rank; false: there is no memory, or no such distribution. */
static bool cut_parts(fold_data_t *data, const bench_world_t *world)
{
    size_t *bytes = malloc((size_t) data->size * sizeof(*bytes));
    const bool good = NULL != bytes
                      && agv_dist_fill(data->problem.dist, data->size, world->node, data->length,
                                       data->unit, bytes);

    for (int r = 0; good && r < data->size; ++r) {
        data->counts[r] = (int) (bytes[r] / data->unit);
        data->first += r < data->rank ? (size_t) data->counts[r] : 0;
    }
    free(bytes);
    return good;
}

bool fold_data_create(fold_data_t *data, const fold_problem_t *problem,
                      const bench_world_t *world)
{
    memset(data, 0, sizeof(*data));
    data->problem = *problem;
    data->rank = world->rank;
    data->size = world->size;
    data->unit = fold_unit(problem->coll, problem->value);
    data->length = problem->total / data->unit;
    data->type = type_of(problem);
    data->op = MPI_SUM;
    data->owned = sizeof(matrix_t) == data->unit;
    if (data->owned) {
        MPI_Type_contiguous(4, MPI_UINT32_T, &data->type);
        MPI_Type_commit(&data->type);
        MPI_Op_create(multiply, 0, &data->op);
    }
    data->weights = calloc((size_t) data->size, sizeof(*data->weights));
    data->counts = calloc((size_t) data->size, sizeof(*data->counts));
    data->send = malloc(problem->total);
    data->recv_size = problem->total;
    if (FOLD_ALLGATHER == problem->coll) {
        data->recv_size *= (size_t) data->size;
    }
    data->recv = malloc(data->recv_size + GUARD);
    return NULL != data->weights && NULL != data->counts && NULL != data->send
           && NULL != data->recv
           && (FOLD_REDUCE_SCATTER != problem->coll || cut_parts(data, world));
}

void fold_data_free(fold_data_t *data)
{
    if (data->owned) {
        MPI_Type_free(&data->type);
        MPI_Op_free(&data->op);
    }
    free(data->weights);
    free(data->counts);
    free(data->send);
    free(data->recv);
}

void fold_data_fill(fold_data_t *data, uint64_t call)
{
    const bool sends = FOLD_BCAST != data->problem.coll || data->rank == data->problem.root;
    unsigned char *own = FOLD_BCAST == data->problem.coll ? data->recv : data->send;

    data->call = mix(call);
    data->turn = 0;
    for (int r = 0; r < data->size; ++r) {
        data->weights[r] = mix(data->call + (uint64_t) r) & 0xffff;
    }
    memset(data->recv, FILL, data->recv_size + GUARD);
    for (size_t k = 0; sends && k < data->length; ++k) {
        fold_ranks(data, data->rank, 1, data->weights[data->rank], k, own + k * data->unit);
    }
}

int fold_data_call(const fold_data_t *data, MPI_Comm comm)
{
    const int count = (int) data->length, root = data->problem.root;

    switch (data->problem.coll) {
    case FOLD_BCAST:
        return MPI_Bcast(data->recv, count, data->type, root, comm);
    case FOLD_REDUCE:
        return MPI_Reduce(data->send, data->recv, count, data->type, data->op, root, comm);
    case FOLD_SCAN:
        return MPI_Scan(data->send, data->recv, count, data->type, data->op, comm);
    case FOLD_EXSCAN:
        return MPI_Exscan(data->send, data->recv, count, data->type, data->op, comm);
    case FOLD_REDUCE_SCATTER:
        return MPI_Reduce_scatter(data->send, data->recv, data->counts, data->type, data->op, comm);
    case FOLD_ALLGATHER:
        return MPI_Allgather(data->send, count, data->type, data->recv, count, data->type, comm);
    default:
        return MPI_Allreduce(data->send, data->recv, count, data->type, data->op, comm);
    }
}

int fold_data_serial(const fold_data_t *data, MPI_Comm comm)
{
    const int count = (int) data->length;
    const int rc = MPI_Reduce(data->send, data->recv, count, data->type, data->op, 0, comm);

    return MPI_SUCCESS == rc ? MPI_Bcast(data->recv, count, data->type, 0, comm) : rc;
}

int fold_data_met(const fold_data_t *data, bool agree, MPI_Comm comm)
{
    int contiguous = 1;
    const int rc = agree ? MPI_Allreduce(MPI_IN_PLACE, &contiguous, 1, MPI_INT, MPI_BAND, comm)
                         : MPI_Barrier(comm);

    return MPI_SUCCESS == rc ? fold_data_call(data, comm) : rc;
}

/* ---- the wire limit */

/* Are there ranks on other nodes both before and behind this one? */
static bool is_between(const bench_world_t *world, int rank)
{
    bool before = false, behind = false;

    for (int i = 0; i < world->size; ++i) {
        if (world->node[i] != world->node[rank]) {
            before = before || i < rank;
            behind = behind || i > rank;
        }
    }
    return before && behind;
}

/* Contributions that come from other nodes, for the node that lacks most. */
static int most_lacking(const bench_world_t *world)
{
    int most = 0;

    for (int i = 0; i < world->size; ++i) {
        int lacking = 0;

        for (int k = 0; k < world->size; ++k) {
            lacking += world->node[k] != world->node[i];
        }
        most = lacking > most ? lacking : most;
    }
    return most;
}

/* Bytes of a reduce-scatter that some node must send, or receive. */
static double most_scattered(const fold_data_t *data, const bench_world_t *world)
{
    double most = 0;

    for (int i = 0; i < world->size; ++i) {
        double own = 0;

        for (int k = 0; k < world->size; ++k) {
            own += world->node[k] == world->node[i] ? (double) data->counts[k] : 0;
        }
        const double others = (double) data->length - own;
        most = own > most ? own : most;
        most = others > most ? others : most;
    }
    return most * (double) data->unit;
}

double fold_wire_bytes(const fold_data_t *data, const bench_world_t *world)
{
    const fold_problem_t *problem = &data->problem;
    const double total = (double) problem->total, nodes = world->nodes;
    const bool matrix = FOLD_MATRIX == problem->value;

    if (2 > world->nodes) {
        return 0.0;
    }
    switch (problem->coll) {
    case FOLD_ALLREDUCE:
        return matrix ? 2.0 * total : 2.0 * total * (nodes - 1.0) / nodes;
    case FOLD_ALLGATHER:
        return total * most_lacking(world);
    case FOLD_REDUCE_SCATTER:
        return most_scattered(data, world);
    case FOLD_REDUCE:
        return matrix && is_between(world, problem->root) ? 2.0 * total : total;
    default:
        return total;
    }
}

/* ---- the check */

/* Elements from `from` on of the vector, in a buffer, against those of ranks from `first` on. */
static bool same_from(const fold_data_t *data, size_t from, size_t length, const char *which,
                      const unsigned char *buffer, int first, int ranks, char *error)
{
    const uint64_t weight = weight_of(data, first, ranks);
    unsigned char wanted[LARGEST] = {0};

    for (size_t k = 0; k < length; ++k) {
        fold_ranks(data, first, ranks, weight, from + k, wanted);
        if (0 != memcmp(wanted, buffer + k * data->unit, data->unit)) {
            snprintf(error, BENCH_ERROR_LENGTH, "element %zu of %zu of the %s buffer is wrong", k,
                     length, which);
            return false;
        }
    }
    return true;
}

static bool same(const fold_data_t *data, const char *which, const unsigned char *buffer,
                 int first, int ranks, char *error)
{
    return same_from(data, 0, data->length, which, buffer, first, ranks, error);
}

static bool same_of_all(const fold_data_t *data, char *error)
{
    char which[32];

    for (int r = 0; r < data->size; ++r) {
        snprintf(which, sizeof(which), "receive (rank %d)", r);
        if (!same(data, which, data->recv + (size_t) r * data->problem.total, r, 1,
                  error)) {
            return false;
        }
    }
    return true;
}

bool fold_data_next(fold_data_t *data)
{
    bool good = true;
    uint64_t element;

    for (int r = 0; r < data->size; ++r) {
        memcpy(&element, data->recv + (size_t) r * data->problem.total, sizeof(element));
        good = good && moved(data, r, 0) == element;
    }
    ++data->turn;
    fold_ranks(data, data->rank, 1, 0, 0, data->send);
    return good;
}

bool fold_data_verify(const fold_data_t *data, char *error)
{
    const int ranks = ranks_in_result(data);

    for (size_t i = data->recv_size; i < data->recv_size + GUARD; ++i) {
        if (FILL != data->recv[i]) {
            snprintf(error, BENCH_ERROR_LENGTH, "written behind the end of the receive buffer");
            return false;
        }
    }
    if (FOLD_BCAST != data->problem.coll
        && !same(data, "send", data->send, data->rank, 1, error)) {
        return false;
    }
    if (FOLD_ALLGATHER == data->problem.coll) {
        return same_of_all(data, error);
    }
    if (FOLD_REDUCE_SCATTER == data->problem.coll) {
        return same_from(data, data->first, (size_t) data->counts[data->rank], "receive",
                         data->recv, 0, ranks, error);
    }
    return 0 == ranks || same(data, "receive", data->recv, 0, ranks, error);
}
