/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The applications as cases: made, filled, run, asked for what came out. */

#include "app.h"

#include <string.h>

bool app_case_create(app_case_t *now, const app_row_t *row, const agv_world_t *world)
{
    memset(now, 0, sizeof(*now));
    now->row = *row;
    return APP_SCATTER == row->kind
               ? app_scatter_create(&now->scatter, world->control, row->pattern, row->size,
                                    row->seed)
               : app_multigrid_create(&now->multigrid, world->control, &row->grid);
}

void app_case_free(app_case_t *now)
{
    if (APP_SCATTER == now->row.kind) {
        app_scatter_free(&now->scatter);
    } else {
        app_multigrid_free(&now->multigrid);
    }
}

void app_case_fill(app_case_t *now, uint64_t call)
{
    now->call = call;
    switch (now->row.kind) {
    case APP_SCATTER:
        app_scatter_fill(&now->scatter, call);
        break;
    case APP_GHOSTS:
        app_ghosts_fill(&now->multigrid, now->row.level, call);
        break;
    default:
        app_multigrid_start(&now->multigrid);
        break;
    }
}

void app_case_run(app_case_t *now, const app_arm_t *arm)
{
    const MPI_Comm comm = arm->base.comm;
    int rc = MPI_SUCCESS;

    switch (now->row.kind) {
    case APP_SCATTER:
        rc = app_scatter_run(&now->scatter, arm->way, comm);
        break;
    case APP_GHOSTS:
        rc = app_ghosts_run(&now->multigrid, now->row.level, arm->way, comm);
        break;
    default:
        app_multigrid_cycle(&now->multigrid, arm->way, comm);
        break;
    }
    if (MPI_SUCCESS != rc) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

app_answer_t app_case_answer(app_case_t *now, const app_arm_t *arm, const agv_world_t *world)
{
    app_answer_t answer = {true, 0.0, 0};

    switch (now->row.kind) {
    case APP_SCATTER:
        answer.right = app_scatter_verify(&now->scatter);
        break;
    case APP_GHOSTS:
        answer.right = app_ghosts_verify(&now->multigrid, now->row.level, now->call);
        break;
    default:
        answer.checksum = app_multigrid_checksum(&now->multigrid);
        answer.residual = app_multigrid_residual(&now->multigrid, arm->way, arm->base.comm);
        break;
    }
    MPI_Allreduce(MPI_IN_PLACE, &answer.right, 1, MPI_C_BOOL, MPI_LAND, world->control);
    MPI_Allreduce(MPI_IN_PLACE, &answer.residual, 1, MPI_DOUBLE, MPI_MAX, world->control);
    MPI_Allreduce(MPI_IN_PLACE, &answer.checksum, 1, MPI_UINT64_T, MPI_SUM, world->control);
    return answer;
}
