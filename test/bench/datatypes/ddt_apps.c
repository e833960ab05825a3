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
 * Layouts of applications, as described for DDTBench by Schneider, Gerstenberger and
 * Hoefler ("Micro-applications for communication data access patterns and MPI
 * datatypes"), each with the constructors that paper names, at one middling size:
 *
 *   wrf_x, wrf_y   halos 3 points deep of 2, 3 and 4 dimensional arrays: struct of subarrays
 *   nas_mg_x, y, z faces of a cube of doubles: vector of vectors, vectors
 *   nas_lu_x, y    faces of a cube of 5 doubles a point: vectors
 *   milc_z         a slice of a 4-D lattice of su3 vectors, half of the sites: vector
 *   fft2d          a block of the transpose of a matrix of complex: vector of a vector
 *   lammps_full, lammps_atomic
 *                  properties of some atoms, 7 and 4 arrays: struct of indexed blocks
 *   specfem3d_oc   single floats of a mesh: indexed block
 *   specfem3d_cm   3 floats a point of two meshes: struct of indexed blocks
 */

#include "ddt.h"

#include <stdlib.h>

#define DOUBLE ((ptrdiff_t) sizeof(double))
#define FLOAT ((ptrdiff_t) sizeof(float))

/* Variants: the direction of a face; which properties, or meshes. */
enum { X, Y, Z };
enum { FULL, ATOMIC };
enum { OC, CM };

/* Arrays one after the other in memory, to become a struct. */
typedef struct arrays_t {
    MPI_Datatype type[DDT_MAX_PARTS];
    MPI_Aint displ[DDT_MAX_PARTS];
    int count;
} arrays_t;

static void add_array(arrays_t *arrays, ddt_layout_t *layout, MPI_Datatype type, size_t bytes)
{
    arrays->type[arrays->count] = type;
    arrays->displ[arrays->count++] = (MPI_Aint) layout->span;
    layout->span += (bytes + 63) / 64 * 64;
}

static void make_struct(arrays_t *arrays, ddt_layout_t *layout)
{
    int ones[DDT_MAX_PARTS];

    for (int i = 0; i < arrays->count; ++i) {
        ones[i] = 1;
    }
    MPI_Type_create_struct(arrays->count, ones, arrays->displ, arrays->type, &layout->type);
    for (int i = 0; i < arrays->count; ++i) {
        MPI_Type_free(&arrays->type[i]);
    }
}

/* A box of floats out of an array; dimensions as for MPI_Type_create_subarray. */
static void add_subarray(arrays_t *arrays, ddt_layout_t *layout, int dims, const int *sizes,
                         const int *part, const int *start)
{
    size_t count[DDT_DIMS] = {0};
    ptrdiff_t stride[DDT_DIMS] = {0}, step = FLOAT, offset = (ptrdiff_t) layout->span;
    MPI_Datatype type;

    for (int i = dims - 1; 0 <= i; --i) {
        offset += start[i] * step;
        if (dims - 1 > i) { /* the last dimension is the block */
            count[DDT_DIMS - dims + 1 + i] = (size_t) part[i];
            stride[DDT_DIMS - dims + 1 + i] = step;
        }
        step *= sizes[i];
    }
    ddt_add_box(layout, offset, (size_t) part[dims - 1] * sizeof(float), count, stride);
    MPI_Type_create_subarray(dims, sizes, part, start, MPI_ORDER_C, MPI_FLOAT, &type);
    add_array(arrays, layout, type, (size_t) step);
}

enum { WRF_X = 64, WRF_Y = 64, WRF_Z = 35, WRF_SPECIES = 4, WRF_HALO = 3 };

/* Points are [y][z][x], as in WRF; x: halo at the low end of x, else of y. */
static bool make_wrf(ddt_layout_t *layout, size_t side)
{
    const bool x = X == side;
    const int sizes[] = {WRF_SPECIES, WRF_Y, WRF_Z, WRF_X}, flat[] = {WRF_Y, WRF_X};
    const int width = x ? WRF_HALO : WRF_X - 2 * WRF_HALO;
    const int height = x ? WRF_Y - 2 * WRF_HALO : WRF_HALO;
    const int part[] = {WRF_SPECIES, height, WRF_Z, width}, flat_part[] = {height, width};
    const int start[] = {0, WRF_HALO, 0, WRF_HALO}, flat_start[] = {WRF_HALO, WRF_HALO};
    arrays_t arrays = {.count = 0};

    for (int i = 0; i < 4; ++i) {
        add_subarray(&arrays, layout, 2, flat, flat_part, flat_start);
    }
    for (int i = 0; i < 3; ++i) {
        add_subarray(&arrays, layout, 3, sizes + 1, part + 1, start + 1);
    }
    for (int i = 0; i < 2; ++i) {
        add_subarray(&arrays, layout, 4, sizes, part, start);
    }
    make_struct(&arrays, layout);
    return true;
}

/* A face of the inner points of a cube with a rim; `outer` rows of `inner` blocks. */
static void make_face(ddt_layout_t *layout, int length, int inner, int inner_stride, int outer,
                      int outer_stride, int offset)
{
    MPI_Datatype row;

    MPI_Type_vector(inner, length, inner_stride, MPI_DOUBLE, &row);
    MPI_Type_create_hvector(outer, 1, outer_stride * DOUBLE, row, &layout->type);
    MPI_Type_free(&row);
    row = layout->type;
    MPI_Type_create_struct(1, (int[]){1}, (MPI_Aint[]){offset * DOUBLE}, (MPI_Datatype[]){row},
                           &layout->type);
    MPI_Type_free(&row);
    ddt_add_box(layout, offset * DOUBLE, (size_t) length * sizeof(double),
                (size_t[DDT_DIMS]){0, 0, (size_t) outer, (size_t) inner},
                (ptrdiff_t[DDT_DIMS]){0, 0, outer_stride * DOUBLE, inner_stride * DOUBLE});
}

enum { MG_INNER = 128, MG_ROW = MG_INNER + 2, MG_PLANE = MG_ROW * MG_ROW };

static bool make_mg(ddt_layout_t *layout, size_t side)
{
    make_face(layout, X == side ? 1 : MG_INNER, X == side ? MG_INNER : 1, MG_ROW, MG_INNER,
              Z == side ? MG_ROW : MG_PLANE, MG_PLANE + MG_ROW + 1);
    layout->span = (size_t) MG_PLANE * MG_ROW * sizeof(double);
    return true;
}

enum { LU_POINTS = 64, LU_ROW = 5 * LU_POINTS, LU_PLANE = LU_ROW * LU_POINTS };

static bool make_lu(ddt_layout_t *layout, size_t side)
{
    if (X == side) {
        make_face(layout, 5, LU_POINTS, LU_ROW, LU_POINTS, LU_PLANE, 5);
    } else {
        make_face(layout, LU_ROW, 1, LU_ROW, LU_POINTS, LU_PLANE, LU_ROW);
    }
    layout->span = (size_t) LU_PLANE * LU_POINTS * sizeof(double);
    return true;
}

enum { MILC_SITES = 32, SU3 = 6 };

static bool make_milc_z(ddt_layout_t *layout, size_t size)
{
    const int slice = SU3 * MILC_SITES * MILC_SITES / 2;

    (void) size;
    MPI_Type_vector(MILC_SITES, slice, slice * MILC_SITES, MPI_FLOAT, &layout->type);
    ddt_add_box(layout, 0, (size_t) slice * sizeof(float),
                (size_t[DDT_DIMS]){0, 0, 0, MILC_SITES},
                (ptrdiff_t[DDT_DIMS]){0, 0, 0, slice * MILC_SITES * FLOAT});
    layout->span = (size_t) slice * MILC_SITES * MILC_SITES * sizeof(float);
    return true;
}

enum { FFT_ROWS = 1024, FFT_RANKS = 4, FFT_BLOCK = FFT_ROWS / FFT_RANKS };

static bool make_fft2d(ddt_layout_t *layout, size_t size)
{
    const ptrdiff_t complex = 2 * DOUBLE;
    MPI_Datatype column;

    (void) size;
    MPI_Type_vector(FFT_BLOCK, 2, 2 * FFT_ROWS, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(FFT_BLOCK, 1, complex, column, &layout->type);
    MPI_Type_free(&column);
    ddt_add_box(layout, 0, (size_t) complex, (size_t[DDT_DIMS]){0, 0, FFT_BLOCK, FFT_BLOCK},
                (ptrdiff_t[DDT_DIMS]){0, 0, complex, FFT_ROWS * complex});
    layout->span = (size_t) complex * FFT_ROWS * FFT_BLOCK;
    return true;
}

/* Places in order, with irregular gaps; one of `every` on average. Returns where it ends. */
static int choose(int *displs, size_t count, int every, uint32_t *state)
{
    int at = 0;

    for (size_t i = 0; i < count; ++i) {
        at += (int) (ddt_random(state) % (uint32_t) (2 * every - 1));
        displs[i] = at++;
    }
    return at;
}

/* Some places of an array whose elements are `length` of `type`. */
static void add_places(arrays_t *arrays, ddt_layout_t *layout, MPI_Datatype basic, int length,
                       const int *displs, size_t count, int end)
{
    MPI_Datatype element, type;
    int size;

    MPI_Type_size(basic, &size);
    size *= length;
    MPI_Type_contiguous(length, basic, &element);
    MPI_Type_create_indexed_block((int) count, 1, displs, element, &type);
    MPI_Type_free(&element);
    ddt_add_list(layout, (ptrdiff_t) layout->span, (size_t) size, displs, NULL, (size_t) size,
                 count);
    add_array(arrays, layout, type, (size_t) end * (size_t) size);
}

/* Position, tag, type, mask; with full also image, molecule, charge. */
static bool make_lammps(ddt_layout_t *layout, size_t style)
{
    const int ints = FULL == style ? 5 : 3, doubles = FULL == style ? 1 : 0;
    const size_t atoms = 6000;
    arrays_t arrays = {.count = 0};
    uint32_t state = 1;
    int end;

    layout->displs = malloc(atoms * sizeof(int));
    if (NULL == layout->displs) {
        return false;
    }
    end = choose(layout->displs, atoms, 3, &state);
    add_places(&arrays, layout, MPI_DOUBLE, 3, layout->displs, atoms, end);
    for (int i = 0; i < ints; ++i) {
        add_places(&arrays, layout, MPI_INT, 1, layout->displs, atoms, end);
    }
    for (int i = 0; i < doubles; ++i) {
        add_places(&arrays, layout, MPI_DOUBLE, 1, layout->displs, atoms, end);
    }
    make_struct(&arrays, layout);
    return true;
}

static bool make_specfem(ddt_layout_t *layout, size_t mesh)
{
    const int floats = OC == mesh ? 1 : 3;
    const size_t first = OC == mesh ? 60000 : 40000, second = OC == mesh ? 0 : 4000;
    arrays_t arrays = {.count = 0};
    uint32_t state = 1;
    int end;

    layout->displs = malloc((first + second) * sizeof(int));
    if (NULL == layout->displs) {
        return false;
    }
    end = choose(layout->displs, first, 8, &state);
    add_places(&arrays, layout, MPI_FLOAT, floats, layout->displs, first, end);
    if (0 < second) {
        end = choose(layout->displs + first, second, 8, &state);
        add_places(&arrays, layout, MPI_FLOAT, floats, layout->displs + first, second, end);
    }
    make_struct(&arrays, layout);
    return true;
}

const ddt_kind_t ddt_apps[] = {{"wrf_x", make_wrf, NULL, X},
                               {"wrf_y", make_wrf, NULL, Y},
                               {"nas_mg_x", make_mg, NULL, X},
                               {"nas_mg_y", make_mg, NULL, Y},
                               {"nas_mg_z", make_mg, NULL, Z},
                               {"nas_lu_x", make_lu, NULL, X},
                               {"nas_lu_y", make_lu, NULL, Y},
                               {"milc_z", make_milc_z, NULL, Z},
                               {"fft2d", make_fft2d, NULL, 0},
                               {"lammps_full", make_lammps, NULL, FULL},
                               {"lammps_atomic", make_lammps, NULL, ATOMIC},
                               {"specfem3d_oc", make_specfem, NULL, OC},
                               {"specfem3d_cm", make_specfem, NULL, CM},
                               {NULL, NULL, NULL, 0}};
