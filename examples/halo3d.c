/* SPDX-License-Identifier: BSD-3-Clause */
/* halo3d: diffusion on a periodic box of N x N x N points, split into blocks over a Cartesian grid of ranks.
 *
 * MPI_Dims_create chooses the grid, MPI_Cart_create (reorder = true) places it so that neighbors share a node
 * where they can, MPI_Cart_shift finds the neighbors; faces are subarray types, and each of the two fields has
 * its persistent requests.  In a step every point becomes the mean of its six neighbors, which shrinks a sine
 * wave by a known factor: the program compares with that and exits with 1 if it is off.
 *
 *   mpicc -O2 -o halo3d halo3d.c -lm
 *   mpiexec -n 8 ./halo3d [N [steps]]        default 48 points a side, 50 steps */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIMS = 3, FACES = 2 * DIMS };

struct block {
    MPI_Comm comm;
    int grid[DIMS], at[DIMS];    /* ranks a side, my place */
    int first[DIMS], size[DIMS]; /* my first point, numbers of points */
    int neighbor[FACES];         /* below and above in each dimension */
    double *field[2];            /* each with a halo of one point */
    MPI_Request request[2][2 * FACES];
};

static double *point(const struct block *b, double *u, int x, int y, int z)
{
    return &u[((size_t)x * (b->size[1] + 2) + y) * (b->size[2] + 2) + z];
}

/* The points of one face: index `layer` of dimension d, all inner points of the others. */
static MPI_Datatype face(const struct block *b, int d, int layer)
{
    int whole[DIMS], part[DIMS], start[DIMS];
    MPI_Datatype type;
    for (int i = 0; i < DIMS; i++) {
        whole[i] = b->size[i] + 2;
        part[i] = i == d ? 1 : b->size[i];
        start[i] = i == d ? layer : 1;
    }
    MPI_Type_create_subarray(DIMS, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* What goes up in dimension d has tag 2 * d + 1, what goes down 2 * d. */
static void prepare(struct block *b, int which)
{
    double *u = b->field[which];
    MPI_Request *r = b->request[which];
    for (int d = 0; d < DIMS; d++)
        for (int up = 0; up < 2; up++) {
            int n = b->size[d], to = b->neighbor[2 * d + up], from = b->neighbor[2 * d + !up];
            MPI_Datatype out = face(b, d, up ? n : 1), in = face(b, d, up ? 0 : n + 1);
            MPI_Send_init(u, 1, out, to, 2 * d + up, b->comm, r++);
            MPI_Recv_init(u, 1, in, from, 2 * d + up, b->comm, r++);
            MPI_Type_free(&out);
            MPI_Type_free(&in);
        }
}

static void set_up(struct block *b, int n)
{
    const int periodic[DIMS] = { 1, 1, 1 };
    int ranks, rank;
    size_t points = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int d = 0; d < DIMS; d++)
        b->grid[d] = 0;
    MPI_Dims_create(ranks, DIMS, b->grid);
    MPI_Cart_create(MPI_COMM_WORLD, DIMS, b->grid, periodic, 1, &b->comm);
    MPI_Comm_rank(b->comm, &rank);
    MPI_Cart_coords(b->comm, rank, DIMS, b->at);
    for (int d = 0; d < DIMS; d++) {
        b->first[d] = (int)((long)n * b->at[d] / b->grid[d]);
        b->size[d] = (int)((long)n * (b->at[d] + 1) / b->grid[d]) - b->first[d];
        points *= (size_t)b->size[d] + 2;
        MPI_Cart_shift(b->comm, d, 1, &b->neighbor[2 * d], &b->neighbor[2 * d + 1]);
    }
    for (int i = 0; i < 2; i++) {
        b->field[i] = calloc(points, sizeof(double));
        if (!b->field[i]) {
            fprintf(stderr, "halo3d: out of memory\n");
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        prepare(b, i);
    }
}

static void tear_down(struct block *b)
{
    for (int i = 0; i < 2; i++) {
        for (int r = 0; r < 2 * FACES; r++)
            MPI_Request_free(&b->request[i][r]);
        free(b->field[i]);
    }
    MPI_Comm_free(&b->comm);
}

static double wave(const struct block *b, int n, int x, int y, int z)
{
    double k = 2 * M_PI / n;
    return sin(k * (b->first[0] + x)) + sin(k * (b->first[1] + y)) + sin(k * (b->first[2] + z));
}

static void step(struct block *b, int from)
{
    MPI_Startall(2 * FACES, b->request[from]);
    MPI_Waitall(2 * FACES, b->request[from], MPI_STATUSES_IGNORE);
    double *u = b->field[from], *next = b->field[!from];
    size_t dy = (size_t)b->size[2] + 2, dx = dy * (size_t)(b->size[1] + 2);
    for (int x = 1; x <= b->size[0]; x++)
        for (int y = 1; y <= b->size[1]; y++)
            for (int z = 1; z <= b->size[2]; z++) {
                double *p = point(b, u, x, y, z);
                *point(b, next, x, y, z) = (p[1] + p[-1] + p[dy] + *(p - dy) + p[dx] + *(p - dx)) / 6;
            }
}

/* How many of the neighbors of all ranks are on other nodes. */
static int far_neighbors(struct block *b)
{
    MPI_Comm node;
    int rank, leader, theirs, far = 0, all = 0;
    MPI_Comm_rank(b->comm, &rank);
    MPI_Comm_split_type(b->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    leader = rank;
    MPI_Bcast(&leader, 1, MPI_INT, 0, node);
    for (int i = 0; i < FACES; i++) {
        MPI_Sendrecv(&leader, 1, MPI_INT, b->neighbor[i ^ 1], i, &theirs, 1, MPI_INT, b->neighbor[i], i,
                     b->comm, MPI_STATUS_IGNORE);
        far += theirs != leader;
    }
    MPI_Reduce(&far, &all, 1, MPI_INT, MPI_SUM, 0, b->comm);
    MPI_Comm_free(&node);
    return all;
}

int main(int argc, char **argv)
{
    struct block b;
    int rank, ranks, n = argc > 1 ? atoi(argv[1]) : 48, steps = argc > 2 ? atoi(argv[2]) : 50;
    double error = 0, worst, start, seconds;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (n < ranks || steps < 1) {
        fprintf(stderr, "usage: halo3d [N [steps]], N at least the number of ranks\n");
        MPI_Finalize();
        return 2;
    }
    set_up(&b, n);
    MPI_Comm_rank(b.comm, &rank); /* not that in MPI_COMM_WORLD: ranks may have been reordered */
    for (int x = 0; x < b.size[0]; x++)
        for (int y = 0; y < b.size[1]; y++)
            for (int z = 0; z < b.size[2]; z++)
                *point(&b, b.field[0], x + 1, y + 1, z + 1) = wave(&b, n, x, y, z);
    start = MPI_Wtime();
    for (int s = 0; s < steps; s++)
        step(&b, s % 2);
    seconds = MPI_Wtime() - start;
    double factor = pow((2 * cos(2 * M_PI / n) + 4) / 6, steps);
    for (int x = 0; x < b.size[0]; x++)
        for (int y = 0; y < b.size[1]; y++)
            for (int z = 0; z < b.size[2]; z++)
                error = fmax(error, fabs(*point(&b, b.field[steps % 2], x + 1, y + 1, z + 1) -
                                         factor * wave(&b, n, x, y, z)));
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, b.comm);
    int bad = !(worst < 1e-12), far = far_neighbors(&b);
    if (rank == 0)
        printf(
            "halo3d: %d^3 points, %d steps on %d ranks (%d x %d x %d) in %.3f s; %d of %d neighbors on other "
            "nodes; largest error %.1e: %s\n",
            n, steps, ranks, b.grid[0], b.grid[1], b.grid[2], seconds, far, FACES * ranks, worst,
            bad ? "WRONG" : "right");
    tear_down(&b);
    MPI_Finalize();
    return bad;
}
