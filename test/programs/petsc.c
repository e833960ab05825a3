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
 * PETSc itself at the work of Balaji et al., sections 5.4 and 5.5, with its own scatters:
 *
 *   -run laplacian   a 3-D Laplacian by multigrid, 3 levels (DMDA, KSP, PCMG)
 *   -run uneven      a 2-D Laplacian whose rows are unequal parts, by algebraic multigrid, set up
 *                    anew for each solve (Mat, KSP, PCGAMG)
 *   -run permute     a vector into another, a permutation of all (VecScatter)
 *   -run toall       vectors of unequal parts, whole on each rank (VecScatter, allgatherv)
 *
 * -n N is doubles of a rank, of toall and permute; -calls N of a sample;
 * -reps N samples; -work S: seconds that scatters sleep between begin and end. How scatters
 * communicate is PETSc's option -sf_type, of permute and of the Laplacian's vectors. Writes a line
 * of TSV: run what p calls min_s median_s answer verified; times of the slowest rank, for a call or
 * a solve.
 */

#include <petscdmda.h>
#include <petscksp.h>
#include <petscsf.h>

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define MOST 1000 /* samples */

/* With the progress thread, MPI must be able to serve several threads. */
#define THREAD "OMPI_MCA_coll_pipering_progress_thread"

typedef struct job_t {
    PetscMPIInt rank, size;
    PetscInt n, calls, reps;
    PetscReal work;
    double seconds[MOST];
    char answer[128];
    PetscBool good;
    PetscErrorCode (*call)(struct job_t *job); /* what is timed */
    KSP solver;
    Vec from, to;
    VecScatter scatter;
} job_t;

static double value(PetscInt place)
{
    return 0.25 * (double) ((uint32_t) (place + 1) * 2654435761u >> 8);
}

/* An option as it is to be where the command line does not say otherwise. */
static PetscErrorCode otherwise(const char *name, const char *text)
{
    PetscBool given;

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsHasName(NULL, NULL, name, &given));
    if (!given) {
        PetscCall(PetscOptionsSetValue(NULL, name, text));
    }
    PetscFunctionReturn(0);
}

/* ---- time */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static PetscErrorCode take_times(job_t *job)
{
    PetscFunctionBeginUser;
    PetscCall(job->call(job));
    for (PetscInt r = 0; r < job->reps; ++r) {
        double start;

        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        start = MPI_Wtime();
        for (PetscInt i = 0; i < job->calls; ++i) {
            PetscCall(job->call(job));
        }
        job->seconds[r] = (MPI_Wtime() - start) / (double) job->calls;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, job->seconds, (int) job->reps, MPI_DOUBLE, MPI_MAX,
                               PETSC_COMM_WORLD));
    qsort(job->seconds, (size_t) job->reps, sizeof(double), ascending);
    PetscFunctionReturn(0);
}

/* ---- the Laplacian */

/* Points at the walls stand alone, and no other row refers to them. */
static PetscErrorCode set_row(Mat matrix, PetscInt i, PetscInt j, PetscInt k, PetscInt n)
{
    static const PetscInt steps[7][3]
        = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    const PetscScalar h = 1.0 / (PetscScalar) (n - 1);
    MatStencil row = {.i = i, .j = j, .k = k}, columns[7];
    PetscScalar values[7];
    PetscInt count = 0;

    PetscFunctionBeginUser;
    for (int s = 0; s < 7; ++s) {
        const MatStencil there
            = {.i = i + steps[s][0], .j = j + steps[s][1], .k = k + steps[s][2]};
        const PetscBool inside = (PetscBool) (0 < there.i && there.i < n - 1 && 0 < there.j
                                              && there.j < n - 1 && 0 < there.k
                                              && there.k < n - 1);

        if (0 == s || (inside && 0 < i && i < n - 1 && 0 < j && j < n - 1 && 0 < k && k < n - 1)) {
            columns[count] = there;
            values[count++] = 0 == s ? 6.0 * h : -h;
        }
    }
    PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns, values, INSERT_VALUES));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_matrix(KSP solver, Mat ignored, Mat matrix, void *context)
{
    DM grid;
    PetscInt n, x, y, z, nx, ny, nz;

    PetscFunctionBeginUser;
    (void) ignored;
    (void) context;
    PetscCall(KSPGetDM(solver, &grid));
    PetscCall(DMDAGetInfo(grid, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                          NULL, NULL));
    PetscCall(DMDAGetCorners(grid, &x, &y, &z, &nx, &ny, &nz));
    for (PetscInt k = z; k < z + nz; ++k) {
        for (PetscInt j = y; j < y + ny; ++j) {
            for (PetscInt i = x; i < x + nx; ++i) {
                PetscCall(set_row(matrix, i, j, k, n));
            }
        }
    }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_given(KSP solver, Vec given, void *context)
{
    DM grid;
    PetscInt n, x, y, z, nx, ny, nz;
    PetscScalar ***f;

    PetscFunctionBeginUser;
    (void) context;
    PetscCall(KSPGetDM(solver, &grid));
    PetscCall(DMDAGetInfo(grid, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                          NULL, NULL));
    PetscCall(DMDAGetCorners(grid, &x, &y, &z, &nx, &ny, &nz));
    PetscCall(DMDAVecGetArray(grid, given, &f));
    for (PetscInt k = z; k < z + nz; ++k) {
        for (PetscInt j = y; j < y + ny; ++j) {
            for (PetscInt i = x; i < x + nx; ++i) {
                const PetscBool inside = (PetscBool) (0 < i && i < n - 1 && 0 < j && j < n - 1
                                                      && 0 < k && k < n - 1);

                f[k][j][i] = inside ? (PetscScalar) (1 + (i + 2 * j + 3 * k) % 7) / (n - 1.0)
                                          / (n - 1.0) / (n - 1.0)
                                    : 0.0;
            }
        }
    }
    PetscCall(DMDAVecRestoreArray(grid, given, &f));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(job_t *job)
{
    PetscFunctionBeginUser;
    PetscCall(KSPSolve(job->solver, NULL, NULL));
    PetscFunctionReturn(0);
}

/* Cycles without random numbers or factors, so that any number of ranks does the same. */
static PetscErrorCode choose_solver(void)
{
    static const char *const chosen[][2] = {{"-ksp_type", "richardson"},
                                            {"-ksp_rtol", "1e-8"},
                                            {"-pc_type", "mg"},
                                            {"-pc_mg_levels", "3"},
                                            {"-mg_levels_ksp_type", "richardson"},
                                            {"-mg_levels_ksp_richardson_scale", "0.857"},
                                            {"-mg_levels_ksp_max_it", "2"},
                                            {"-mg_levels_pc_type", "jacobi"},
                                            {"-mg_coarse_ksp_type", "chebyshev"},
                                            {"-mg_coarse_ksp_chebyshev_eigenvalues", "0.007,2"},
                                            {"-mg_coarse_ksp_max_it", "32"},
                                            {"-mg_coarse_ksp_norm_type", "none"},
                                            {"-mg_coarse_pc_type", "jacobi"}};

    PetscFunctionBeginUser;
    for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); ++i) {
        PetscCall(otherwise(chosen[i][0], chosen[i][1]));
    }
    PetscFunctionReturn(0);
}

/* The solver's own is of its preconditioner, where it has one at all. */
static PetscErrorCode find_residual(KSP solver, Vec solution, PetscReal *residual)
{
    Mat matrix;
    Vec given, rest;

    PetscFunctionBeginUser;
    PetscCall(KSPGetOperators(solver, &matrix, NULL));
    PetscCall(KSPGetRhs(solver, &given));
    PetscCall(VecDuplicate(given, &rest));
    PetscCall(MatMult(matrix, solution, rest));
    PetscCall(VecAYPX(rest, -1.0, given));
    PetscCall(VecNorm(rest, NORM_2, residual));
    PetscCall(VecDestroy(&rest));
    PetscFunctionReturn(0);
}

static PetscErrorCode run_laplacian(job_t *job)
{
    PetscInt points = 101, cycles;
    PetscReal residual, norm;
    KSPConvergedReason reason;
    Vec solution;
    DM grid;

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-points", &points, NULL));
    PetscCall(choose_solver());
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                           DMDA_STENCIL_STAR, points, points, points, PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &grid));
    PetscCall(DMSetFromOptions(grid));
    PetscCall(DMSetUp(grid));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &job->solver));
    PetscCall(KSPSetDM(job->solver, grid));
    PetscCall(KSPSetComputeOperators(job->solver, make_matrix, NULL));
    PetscCall(KSPSetComputeRHS(job->solver, make_given, NULL));
    PetscCall(KSPSetFromOptions(job->solver));
    job->call = solve;
    PetscCall(take_times(job));
    PetscCall(KSPGetIterationNumber(job->solver, &cycles));
    PetscCall(KSPGetConvergedReason(job->solver, &reason));
    PetscCall(KSPGetSolution(job->solver, &solution));
    PetscCall(VecNorm(solution, NORM_2, &norm));
    PetscCall(find_residual(job->solver, solution, &residual));
    job->good = (PetscBool) (0 < reason);
    snprintf(job->answer, sizeof(job->answer), "%d,%.10e,%.10e", (int) cycles, (double) residual,
             (double) norm);
    PetscCall(KSPDestroy(&job->solver));
    PetscCall(DMDestroy(&grid));
    PetscFunctionReturn(0);
}

/* ---- the uneven Laplacian */

/* One rank in four has eight times as much as the others. */
static PetscInt uneven(PetscMPIInt rank, PetscInt n)
{
    return 0 == rank % 4 ? 8 * n : n;
}

static PetscErrorCode solve_anew(job_t *job)
{
    Mat matrix;

    PetscFunctionBeginUser;
    PetscCall(VecDestroy(&job->to));
    PetscCall(VecDuplicate(job->from, &job->to));
    PetscCall(KSPGetOperators(job->solver, &matrix, NULL));
    PetscCall(PetscObjectReference((PetscObject) matrix));
    PetscCall(KSPReset(job->solver));
    PetscCall(KSPSetOperators(job->solver, matrix, matrix));
    PetscCall(MatDestroy(&matrix));
    PetscCall(KSPSolve(job->solver, job->from, job->to));
    PetscFunctionReturn(0);
}

/* Points of lines of a length, one after the other. */
static PetscErrorCode fill_rows(Mat matrix, PetscInt length)
{
    PetscInt first, end, total;

    PetscFunctionBeginUser;
    PetscCall(MatGetSize(matrix, &total, NULL));
    PetscCall(MatGetOwnershipRange(matrix, &first, &end));
    for (PetscInt i = first; i < end; ++i) {
        const PetscInt near[4] = {0 < i % length ? i - 1 : -1,
                                  length - 1 > i % length && total - 1 > i ? i + 1 : -1,
                                  i - length, total > i + length ? i + length : -1};
        const PetscScalar values[4] = {-1.0, -1.0, -1.0, -1.0}, four = 4.0;

        PetscCall(MatSetValues(matrix, 1, &i, 4, near, values, INSERT_VALUES));
        PetscCall(MatSetValues(matrix, 1, &i, 1, &i, &four, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode run_uneven(job_t *job)
{
    const PetscInt own = uneven(job->rank, job->n);
    KSPConvergedReason reason;
    PetscReal norm;
    Mat matrix;

    PetscFunctionBeginUser;
    PetscCall(otherwise("-ksp_type", "cg"));
    PetscCall(otherwise("-ksp_rtol", "1e-8"));
    PetscCall(otherwise("-pc_type", "gamg"));
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, own, own, PETSC_DETERMINE, PETSC_DETERMINE, 5, NULL,
                           4, NULL, &matrix));
    PetscCall(fill_rows(matrix, 128));
    PetscCall(MatCreateVecs(matrix, &job->to, &job->from));
    PetscCall(VecSet(job->from, 1.0));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &job->solver));
    PetscCall(KSPSetOperators(job->solver, matrix, matrix));
    PetscCall(MatDestroy(&matrix));
    PetscCall(KSPSetFromOptions(job->solver));
    job->call = solve_anew;
    PetscCall(take_times(job));
    PetscCall(KSPGetConvergedReason(job->solver, &reason));
    PetscCall(VecNorm(job->to, NORM_2, &norm));
    job->good = (PetscBool) (0 < reason);
    snprintf(job->answer, sizeof(job->answer), "%.10e", (double) norm);
    PetscCall(KSPDestroy(&job->solver));
    PetscCall(VecDestroy(&job->from));
    PetscCall(VecDestroy(&job->to));
    PetscFunctionReturn(0);
}

/* ---- scatters */

static PetscErrorCode scatter(job_t *job)
{
    const struct timespec work = {.tv_sec = (time_t) job->work,
                                  .tv_nsec = (long) (1e9 * (job->work - (time_t) job->work))};

    PetscFunctionBeginUser;
    PetscCall(VecScatterBegin(job->scatter, job->from, job->to, INSERT_VALUES, SCATTER_FORWARD));
    if (0.0 < job->work) {
        nanosleep(&work, NULL);
    }
    PetscCall(VecScatterEnd(job->scatter, job->from, job->to, INSERT_VALUES, SCATTER_FORWARD));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_from(job_t *job, PetscInt count)
{
    PetscInt first, end;
    PetscScalar *x;

    PetscFunctionBeginUser;
    PetscCall(VecCreateMPI(PETSC_COMM_WORLD, count, PETSC_DETERMINE, &job->from));
    PetscCall(VecGetOwnershipRange(job->from, &first, &end));
    PetscCall(VecGetArray(job->from, &x));
    for (PetscInt i = first; i < end; ++i) {
        x[i - first] = value(i);
    }
    PetscCall(VecRestoreArray(job->from, &x));
    PetscFunctionReturn(0);
}

/* Element i of the target is element (i * factor + 1) % total of the source. */
static PetscErrorCode check(job_t *job, PetscInt first, PetscInt factor, PetscInt offset,
                            PetscInt total)
{
    const PetscScalar *y;
    PetscInt count;

    PetscFunctionBeginUser;
    PetscCall(VecGetLocalSize(job->to, &count));
    PetscCall(VecGetArrayRead(job->to, &y));
    for (PetscInt i = 0; i < count; ++i) {
        const PetscInt place
            = (PetscInt) (((int64_t) (first + i) * factor + offset) % (int64_t) total);

        job->good = (PetscBool) (job->good && value(place) == y[i]);
    }
    PetscCall(VecRestoreArrayRead(job->to, &y));
    PetscFunctionReturn(0);
}

static PetscErrorCode finish_scatter(job_t *job)
{
    PetscFunctionBeginUser;
    snprintf(job->answer, sizeof(job->answer), "-");
    PetscCall(VecScatterDestroy(&job->scatter));
    PetscCall(VecDestroy(&job->from));
    PetscCall(VecDestroy(&job->to));
    PetscFunctionReturn(0);
}

static PetscErrorCode run_toall(job_t *job)
{
    PetscInt total;

    PetscFunctionBeginUser;
    PetscCall(make_from(job, uneven(job->rank, job->n)));
    PetscCall(VecGetSize(job->from, &total));
    PetscCall(VecScatterCreateToAll(job->from, &job->scatter, &job->to));
    job->call = scatter;
    PetscCall(take_times(job));
    PetscCall(check(job, 0, 1, 0, total));
    PetscCall(finish_scatter(job));
    PetscFunctionReturn(0);
}

/* By multiplication with a prime, which makes neighbours go far apart. */
static PetscErrorCode run_permute(job_t *job)
{
    const PetscInt total = job->n * job->size;
    const PetscInt factor = 1000003;
    PetscInt first, end, *places;
    IS set;

    PetscFunctionBeginUser;
    PetscCheck(0 != total % factor, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n");
    PetscCall(make_from(job, job->n));
    PetscCall(VecDuplicate(job->from, &job->to));
    PetscCall(VecGetOwnershipRange(job->to, &first, &end));
    PetscCall(PetscMalloc1(job->n, &places));
    for (PetscInt i = first; i < end; ++i) {
        places[i - first] = (PetscInt) (((int64_t) i * factor + 1) % (int64_t) total);
    }
    PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, job->n, places, PETSC_OWN_POINTER, &set));
    PetscCall(VecScatterCreate(job->from, set, job->to, NULL, &job->scatter));
    PetscCall(ISDestroy(&set));
    job->call = scatter;
    PetscCall(take_times(job));
    PetscCall(check(job, first, factor, 1, total));
    PetscCall(finish_scatter(job));
    PetscFunctionReturn(0);
}

/* ---- the line */

static PetscErrorCode print_line(job_t *job, const char *run, const char *what)
{
    const double *s = job->seconds;

    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &job->good, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\t%s\t%d\t%d\t%.9f\t%.9f\t%s\t%s\n", run, what,
                          job->size, (int) job->calls, s[0],
                          (s[(job->reps - 1) / 2] + s[job->reps / 2]) / 2.0, job->answer,
                          job->good ? "yes" : "no"));
    PetscFunctionReturn(0);
}

static PetscErrorCode run_job(job_t *job)
{
    static const struct {
        const char *name;
        PetscErrorCode (*run)(job_t *job);
    } runs[] = {{"laplacian", run_laplacian},
                {"uneven", run_uneven},
                {"permute", run_permute},
                {"toall", run_toall}};
    char name[32] = "laplacian", type[32] = "-";

    PetscFunctionBeginUser;
    PetscCall(PetscOptionsGetString(NULL, NULL, "-run", name, sizeof(name), NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-sf_type", type, sizeof(type), NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &job->n, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-calls", &job->calls, NULL));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-reps", &job->reps, NULL));
    PetscCall(PetscOptionsGetReal(NULL, NULL, "-work", &job->work, NULL));
    if (0.0 < job->work) {
        strcpy(type, NULL == getenv(THREAD) ? "work" : "work_thread");
    }
    PetscCheck(0 < job->n && 0 < job->calls && 0 < job->reps && MOST >= job->reps,
               PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n, -calls or -reps");
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); ++i) {
        if (0 == strcmp(name, runs[i].name)) {
            PetscCall(runs[i].run(job));
            PetscCall(print_line(job, name, type));
            PetscFunctionReturn(0);
        }
    }
    SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "-run %s: there is no such run", name);
}

int main(int argc, char **argv)
{
    static job_t job = {.n = 4096, .calls = 10, .reps = 7, .good = PETSC_TRUE};

    PetscFunctionBeginUser;
    if (NULL != getenv(THREAD)) {
        PETSC_MPI_THREAD_REQUIRED = MPI_THREAD_MULTIPLE;
    }
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &job.rank));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &job.size));
    PetscCall(run_job(&job));
    PetscCall(PetscFinalize());
    return job.good ? 0 : 1;
}
