/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * Sums of small integers: op/avx adds some elements with saturation, the rest as C does.
 *
 * Job: 1
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { COUNT = 200 };

int main(int argc, char **argv)
{
    uint8_t u8[2][COUNT];
    int8_t s8[2][COUNT];
    uint16_t u16[2][COUNT];
    int16_t s16[2][COUNT];
    int wrong[4] = {0};

    MPI_Init(&argc, &argv);
    for (int i = 0; i < COUNT; i++) {
        u8[0][i] = u8[1][i] = 200;
        s8[0][i] = s8[1][i] = 100;
        u16[0][i] = u16[1][i] = 60000;
        s16[0][i] = s16[1][i] = 30000;
    }
    MPI_Reduce_local(u8[0], u8[1], COUNT, MPI_UINT8_T, MPI_SUM);
    MPI_Reduce_local(s8[0], s8[1], COUNT, MPI_INT8_T, MPI_SUM);
    MPI_Reduce_local(u16[0], u16[1], COUNT, MPI_UINT16_T, MPI_SUM);
    MPI_Reduce_local(s16[0], s16[1], COUNT, MPI_INT16_T, MPI_SUM);
    for (int i = 0; i < COUNT; i++) {
        wrong[0] += (uint8_t) 400 != u8[1][i];
        wrong[1] += (int8_t) 200 != s8[1][i];
        wrong[2] += (uint16_t) 120000 != u16[1][i];
        wrong[3] += (int16_t) 60000 != s16[1][i];
    }
    printf("%s: of %d sums %d, %d, %d and %d are saturated (uint8, int8, uint16, int16)\n",
           wrong[0] + wrong[1] + wrong[2] + wrong[3] ? "present" : "mended", COUNT, wrong[0],
           wrong[1], wrong[2], wrong[3]);
    MPI_Finalize();
    return 0;
}
