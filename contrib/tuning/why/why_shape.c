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
 * Sizes and types of a call, by what MPI says of them.
 */

#include "why.h"

#include <string.h>

/* ---- types ---- */

/* MPI 4 has other names for the functions that take MPI_Count, and 4.1 deprecates these. */
#if 4 > MPI_VERSION
#define PMPI_Type_size_c PMPI_Type_size_x
#define PMPI_Type_get_extent_c PMPI_Type_get_extent_x
#define PMPI_Type_get_true_extent_c PMPI_Type_get_true_extent_x
#endif

static const char derived[] = "derived", several[] = "several types";

typedef struct {
    MPI_Datatype type;
    uint64_t size;
    bool dense;       /* one element has no gaps ... */
    bool dense_array; /* ... nor have several */
    char name[MPI_MAX_OBJECT_NAME];
} about_t;

/*
 * What MPI says of a type. Of one of its own this is remembered until the next; another one may be
 * freed, and its handle come back as that of a new type.
 */
static const about_t *about(MPI_Datatype type)
{
    static __thread about_t known;
    static __thread bool named;
    int integers, addresses, types, combiner, length;
    MPI_Count size, lower, extent, true_lower, true_extent;

    if (named && type == known.type) {
        return &known;
    }
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    PMPI_Type_size_c(type, &size);
    PMPI_Type_get_extent_c(type, &lower, &extent);
    PMPI_Type_get_true_extent_c(type, &true_lower, &true_extent);
    named = MPI_COMBINER_NAMED == combiner;
    known.type = type;
    known.size = 0 < size ? (uint64_t) size : 0;
    known.dense = size == true_extent;
    known.dense_array = known.dense && size == extent;
    if (named) {
        PMPI_Type_get_name(type, known.name, &length);
    } else {
        memcpy(known.name, derived, sizeof(derived));
    }
    return &known;
}

static void set_type(why_shape_t *shape, const char *name)
{
    memset(shape->type, 0, sizeof(shape->type));
    memcpy(shape->type, name, strnlen(name, sizeof(shape->type) - 1));
}

/* ---- calls ---- */

why_shape_t why_equal_parts(MPI_Count count, MPI_Datatype type, int parts)
{
    const about_t *known = about(type);
    const uint64_t each = (uint64_t) count * known->size;
    why_shape_t shape = {.bytes = each * (uint64_t) parts,
                         .largest = each,
                         .contributors = 0 < each ? (uint32_t) parts : 0,
                         .contiguous = 1 < count ? known->dense_array : known->dense};

    set_type(&shape, known->name);
    return shape;
}

/* Whether the result of a type's own operation is rounded. */
static bool is_rounded(const char *name)
{
    return NULL != strstr(name, "FLOAT") || NULL != strstr(name, "DOUBLE")
           || NULL != strstr(name, "REAL") || NULL != strstr(name, "COMPLEX");
}

static bool is_of_mpi(MPI_Op op)
{
    const MPI_Op ops[] = {MPI_MAX,  MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
                          MPI_LOR,  MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); ++i) {
        if (ops[i] == op) {
            return true;
        }
    }
    return false;
}

/* Sums of short integers may saturate, as those of Open MPI's op/avx do. */
why_shape_t why_combined(why_shape_t shape, MPI_Datatype type, MPI_Op op)
{
    const about_t *known = about(type);

    shape.order_matters = !is_of_mpi(op) || is_rounded(known->name)
                          || (MPI_SUM == op && 2 >= known->size);
    return shape;
}

/* The number at a place of an array. */
static MPI_Count count_at(why_counts_t counts, int place)
{
    return sizeof(int) == counts.size ? ((const int *) counts.at)[place]
                                      : ((const MPI_Count *) counts.at)[place];
}

static void add_part(why_shape_t *shape, MPI_Count count, MPI_Datatype type)
{
    const why_shape_t part = why_equal_parts(count, type, 1);

    if (0 < part.bytes) {
        shape->bytes += part.bytes;
        shape->largest = part.bytes > shape->largest ? part.bytes : shape->largest;
        shape->contributors += 1;
        shape->contiguous = shape->contiguous && part.contiguous;
        set_type(shape, '\0' == shape->type[0] || 0 == strcmp(shape->type, part.type)
                            ? part.type
                            : several);
    }
}

why_shape_t why_parts(why_counts_t counts, MPI_Datatype type, MPI_Comm comm)
{
    const about_t known = *about(type);
    const int ranks = why_ranks(comm);
    why_shape_t shape = {.contiguous = true};

    for (int i = 0; i < ranks; ++i) {
        const MPI_Count count = count_at(counts, i);
        const uint64_t bytes = (uint64_t) count * known.size;
        shape.bytes += bytes;
        shape.largest = bytes > shape.largest ? bytes : shape.largest;
        shape.contributors += 0 < bytes;
        shape.contiguous &= 0 == bytes || (1 < count ? known.dense_array : known.dense);
    }
    set_type(&shape, known.name);
    return shape;
}

why_shape_t why_typed_parts(why_counts_t counts, const MPI_Datatype *types,
                            const MPI_Fint *fortran, int parts)
{
    why_shape_t shape = {.contiguous = true};

    for (int i = 0; i < parts; ++i) {
        add_part(&shape, count_at(counts, i),
                 NULL == types ? PMPI_Type_f2c(fortran[i]) : types[i]);
    }
    return shape;
}

why_shape_t why_no_data(void)
{
    return (why_shape_t){.contiguous = true};
}

int why_ranks(MPI_Comm comm)
{
    int ranks;

    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

int why_neighbors(MPI_Comm comm)
{
    int topology, in = 0, out, weighted, rank;

    PMPI_Topo_test(comm, &topology);
    if (MPI_DIST_GRAPH == topology) {
        PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    } else if (MPI_CART == topology) {
        PMPI_Cartdim_get(comm, &in);
        in *= 2;
    } else if (MPI_GRAPH == topology) {
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &in);
    }
    return in;
}
