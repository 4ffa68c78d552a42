/* SPDX-License-Identifier: BSD-3-Clause */
/* heat2d: the heat equation u_t = u_xx + u_yy on the unit square, u = 0 on the border, u(x,y,0) = sin(pi x)
 * sin(pi y).
 *
 * Explicit time steps on an (N+2) x (N+2) grid, split into blocks over a grid of ranks; borders are exchanged
 * with nonblocking messages (rows contiguous, columns a vector type).  The analytic solution is exp(-2 pi^2
 * t) sin(pi x) sin(pi y); the program compares with it, draws the field and exits with 1 if it is off.
 *
 *   mpicc -O2 -o heat2d heat2d.c -lm
 *   mpiexec -n 4 ./heat2d [N [steps]]        default 96 points a side, 800 steps */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    int py, px, ry, rx; /* ranks a side, my place */
    int y0, x0, ny, nx; /* my first point (from 0) and numbers of points */
    int north, south, west, east;
    double *u, *next; /* (ny+2) x (nx+2) */
    MPI_Datatype column;
};

static int share(int n, int parts, int i, int *first)
{
    *first = (int)((long)n * i / parts);
    return (int)((long)n * (i + 1) / parts) - *first;
}

static double *at(struct block *b, double *u, int y, int x)
{
    return &u[(size_t)y * (b->nx + 2) + x];
}

static void set_up(struct block *b, int n, int rank, int size)
{
    b->py = (int)sqrt(size);
    while (size % b->py)
        b->py--;
    b->px = size / b->py;
    b->ry = rank / b->px;
    b->rx = rank % b->px;
    b->ny = share(n, b->py, b->ry, &b->y0);
    b->nx = share(n, b->px, b->rx, &b->x0);
    b->north = b->ry > 0 ? rank - b->px : MPI_PROC_NULL;
    b->south = b->ry < b->py - 1 ? rank + b->px : MPI_PROC_NULL;
    b->west = b->rx > 0 ? rank - 1 : MPI_PROC_NULL;
    b->east = b->rx < b->px - 1 ? rank + 1 : MPI_PROC_NULL;
    b->u = calloc((size_t)(b->ny + 2) * (b->nx + 2), sizeof(double));
    b->next = calloc((size_t)(b->ny + 2) * (b->nx + 2), sizeof(double));
    if (!b->u || !b->next) {
        fprintf(stderr, "heat2d: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Type_vector(b->ny, 1, b->nx + 2, MPI_DOUBLE, &b->column);
    MPI_Type_commit(&b->column);
}

static double exact(int n, int y, int x, double t)
{
    double h = 1.0 / (n + 1);
    return exp(-2 * M_PI * M_PI * t) * sin(M_PI * h * (x + 1)) * sin(M_PI * h * (y + 1));
}

static void exchange(struct block *b)
{
    MPI_Request r[8];
    double *u = b->u;
    MPI_Irecv(at(b, u, 0, 1), b->nx, MPI_DOUBLE, b->north, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(at(b, u, b->ny + 1, 1), b->nx, MPI_DOUBLE, b->south, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Irecv(at(b, u, 1, 0), 1, b->column, b->west, 2, MPI_COMM_WORLD, &r[2]);
    MPI_Irecv(at(b, u, 1, b->nx + 1), 1, b->column, b->east, 3, MPI_COMM_WORLD, &r[3]);
    MPI_Isend(at(b, u, b->ny, 1), b->nx, MPI_DOUBLE, b->south, 0, MPI_COMM_WORLD, &r[4]);
    MPI_Isend(at(b, u, 1, 1), b->nx, MPI_DOUBLE, b->north, 1, MPI_COMM_WORLD, &r[5]);
    MPI_Isend(at(b, u, 1, b->nx), 1, b->column, b->east, 2, MPI_COMM_WORLD, &r[6]);
    MPI_Isend(at(b, u, 1, 1), 1, b->column, b->west, 3, MPI_COMM_WORLD, &r[7]);
    MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
}

static void step(struct block *b, double lambda)
{
    exchange(b);
    for (int y = 1; y <= b->ny; y++)
        for (int x = 1; x <= b->nx; x++) {
            double *u = at(b, b->u, y, x);
            *at(b, b->next, y, x) =
                u[0] + lambda * (u[1] + u[-1] + u[b->nx + 2] + u[-(b->nx + 2)] - 4 * u[0]);
        }
    double *t = b->u;
    b->u = b->next;
    b->next = t;
}

/* Rank 0 gets a coarse picture: every rank fills in its cells of it, the rest is 0, and the sum is drawn. */
static void draw(struct block *b, int n, int rank)
{
    enum { ROWS = 20, COLS = 60 };
    static const char shades[] = " .:-=+*#%@";
    double mine[ROWS * COLS] = { 0 }, all[ROWS * COLS], top = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++) {
            int y = (int)((r + 0.5) * n / ROWS) - b->y0, x = (int)((c + 0.5) * n / COLS) - b->x0;
            if (y >= 0 && y < b->ny && x >= 0 && x < b->nx)
                mine[r * COLS + c] = *at(b, b->u, y + 1, x + 1);
        }
    MPI_Reduce(mine, all, ROWS * COLS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank)
        return;
    for (int i = 0; i < ROWS * COLS; i++)
        top = all[i] > top ? all[i] : top;
    for (int r = 0; r < ROWS; r++) {
        char line[COLS + 1];
        for (int c = 0; c < COLS; c++)
            line[c] = shades[(int)(all[r * COLS + c] / (top > 0 ? top : 1) * (sizeof shades - 2))];
        line[COLS] = 0;
        printf("  |%s|\n", line);
    }
}

int main(int argc, char **argv)
{
    struct block b;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = argc > 1 ? atoi(argv[1]) : 96, steps = argc > 2 ? atoi(argv[2]) : 800;
    if (n < size || steps < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: heat2d [N [steps]], N at least the number of ranks\n");
        MPI_Finalize();
        return 2;
    }
    set_up(&b, n, rank, size);
    double h = 1.0 / (n + 1), dt = 0.2 * h * h, t = steps * dt, error = 0, worst, start = MPI_Wtime();
    for (int y = 0; y < b.ny; y++)
        for (int x = 0; x < b.nx; x++)
            *at(&b, b.u, y + 1, x + 1) = exact(n, b.y0 + y, b.x0 + x, 0);
    for (int s = 0; s < steps; s++)
        step(&b, dt / (h * h));
    double seconds = MPI_Wtime() - start;
    for (int y = 0; y < b.ny; y++)
        for (int x = 0; x < b.nx; x++)
            error = fmax(error, fabs(*at(&b, b.u, y + 1, x + 1) - exact(n, b.y0 + y, b.x0 + x, t)));
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    draw(&b, n, rank);
    int bad = !(worst < 2 * h * h);
    if (rank == 0)
        printf("heat2d: %d x %d points, %d steps on %d ranks (%d x %d) in %.3f s; largest error %.2e (limit "
               "%.2e): %s\n",
               n, n, steps, size, b.py, b.px, seconds, worst, 2 * h * h, bad ? "WRONG" : "right");
    MPI_Type_free(&b.column);
    free(b.u);
    free(b.next);
    MPI_Finalize();
    return bad;
}
