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
 * Parallel HDF5 through MPI-IO: columns of a matrix, unequal parts of the ranks, are written by all
 * of them together, and rows, in equal parts, are read again. Every value is compared. Prints the
 * seconds of the slowest rank, "time write S" and "time read S", "answer sum VALUE", and "good".
 */

#include <hdf5.h>
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define ROWS 1024
#define LEAST 32 /* columns of a rank */

static int rank, ranks;

static int value(hsize_t row, hsize_t column)
{
    return (int) ((row * 2654435761u + column * 40503u) & 0xffffff);
}

/* Columns before a rank's: one rank in four has five times as many as the others. */
static hsize_t first_of(int which)
{
    hsize_t columns = 0;

    for (int r = 0; r < which; ++r) {
        columns += 0 == r % 4 ? 5 * LEAST : LEAST;
    }
    return columns;
}

static void want(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "hdf5: rank %d: %s failed\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Part of the matrix, from start on; all ranks together write theirs, or read it. */
static double move(hid_t set, const hsize_t start[2], const hsize_t count[2], int *data,
                   int is_write)
{
    const hid_t file_space = H5Dget_space(set), memory = H5Screate_simple(2, count, NULL);
    const hid_t together = H5Pcreate(H5P_DATASET_XFER);
    double seconds;
    herr_t done;

    want(0 <= H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL), "select");
    want(0 <= H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE), "H5Pset_dxpl_mpio");
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    done = is_write ? H5Dwrite(set, H5T_NATIVE_INT, memory, file_space, together, data)
                    : H5Dread(set, H5T_NATIVE_INT, memory, file_space, together, data);
    seconds = MPI_Wtime() - seconds;
    want(0 <= done, is_write ? "H5Dwrite" : "H5Dread");
    H5Pclose(together);
    H5Sclose(memory);
    H5Sclose(file_space);
    return seconds;
}

static hid_t create_set(hid_t file)
{
    const hsize_t size[2] = {ROWS, first_of(ranks)};
    const hid_t space = H5Screate_simple(2, size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set;

    H5Pset_obj_track_times(how, 0); /* no date, so that files are equal */
    set = H5Dcreate2(file, "matrix", H5T_STD_I32LE, space, H5P_DEFAULT, how, H5P_DEFAULT);
    want(0 <= set, "H5Dcreate2");
    H5Pclose(how);
    H5Sclose(space);
    return set;
}

static hid_t access_by_all(void)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    want(0 <= H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL), "H5Pset_fapl_mpio");
    return access;
}

static double write_file(const char *name)
{
    const hsize_t start[2] = {0, first_of(rank)};
    const hsize_t count[2] = {ROWS, first_of(rank + 1) - first_of(rank)};
    int *data = malloc(count[0] * count[1] * sizeof(int));
    const hid_t access = access_by_all();
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t set;
    double seconds;

    want(0 <= file && NULL != data, "H5Fcreate");
    for (hsize_t i = 0; i < count[0] * count[1]; ++i) {
        data[i] = value(i / count[1], start[1] + i % count[1]);
    }
    set = create_set(file);
    seconds = move(set, start, count, data, 1);
    H5Dclose(set);
    want(0 <= H5Fclose(file), "H5Fclose");
    H5Pclose(access);
    free(data);
    return seconds;
}

/* *sum: of all that a rank has read. */
static double read_file(const char *name, unsigned long long *sum)
{
    const hsize_t start[2] = {(hsize_t) (ROWS * rank / ranks), 0};
    const hsize_t count[2] = {(hsize_t) (ROWS * (rank + 1) / ranks) - start[0], first_of(ranks)};
    int *data = malloc(count[0] * count[1] * sizeof(int));
    const hid_t access = access_by_all(), file = H5Fopen(name, H5F_ACC_RDONLY, access);
    const hid_t set = H5Dopen2(file, "matrix", H5P_DEFAULT);
    double seconds;

    want(0 <= set && NULL != data, "H5Fopen");
    seconds = move(set, start, count, data, 0);
    *sum = 0;
    for (hsize_t i = 0; i < count[0] * count[1]; ++i) {
        want(value(start[0] + i / count[1], i % count[1]) == data[i], "a comparison");
        *sum += (unsigned long long) data[i];
    }
    H5Dclose(set);
    H5Fclose(file);
    H5Pclose(access);
    free(data);
    return seconds;
}

static void say(const char *what, double seconds)
{
    double most;

    MPI_Reduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("time %s %.6f\n", what, most);
    }
}

int main(int argc, char **argv)
{
    unsigned long long sum, total;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    want(2 == argc, "the name of the file, which is to be the only argument,");
    say("write", write_file(argv[1]));
    say("read", read_file(argv[1], &sum));
    MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("answer sum %llu\ngood\n", total);
    }
    MPI_Finalize();
    return 0;
}
