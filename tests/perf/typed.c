/* typed: half round trips of messages of derived types, one metric a line "kind_payload@2 us us", lower is better.
 *
 *   typed both|one [seconds a metric] [bytes of payload ...]
 * both: the type on both sides; one: on rank 0 only, rank 1 sends and receives bytes.  All kinds describe the same payload;
 * contiguous:KIND is a message of as many bytes.  Run by typed.py. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include "perf.h"

enum { DEPTH = 8 }; /* planes of the box whose face is sent: memory is so many times the payload */

static char *a, *b;
static struct side {
    MPI_Datatype type;
    int count;
} side;

static void ping_pong(long n)
{
    (void)n;
    if (rank == 0) {
        MPI_Send(a, side.count, side.type, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(b, side.count, side.type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(b, side.count, side.type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(a, side.count, side.type, 0, 1, MPI_COMM_WORLD);
    }
}

/* Every other block of `block` bytes. */
static MPI_Datatype every_other(long n, int block)
{
    MPI_Datatype t;
    MPI_Type_vector((int)(n / block), block / 8, block / 4, MPI_DOUBLE, &t);
    return t;
}

/* Runs of 1 to 8 doubles, 1 to 8 doubles apart, in no order that repeats. */
static MPI_Datatype irregular(long n)
{
    int left = (int)(n / 8), k = 0, at = 0;
    int *len = malloc(sizeof *len * (size_t)left), *disp = malloc(sizeof *disp * (size_t)left);
    unsigned seed = 1;
    MPI_Datatype t;
    for (; left > 0; k++) {
        seed = seed * 1103515245u + 12345u;
        len[k] = (int)(seed >> 16 & 7) + 1;
        len[k] = len[k] < left ? len[k] : left;
        disp[k] = at;
        at += len[k] + (int)(seed >> 20 & 7) + 1;
        left -= len[k];
    }
    MPI_Type_indexed(k, len, disp, MPI_DOUBLE, &t);
    free(len);
    free(disp);
    return t;
}

static MPI_Datatype int_and_double(void)
{
    int len[2] = { 1, 1 };
    MPI_Aint disp[2] = { 0, 8 };
    MPI_Datatype of[2] = { MPI_INT, MPI_DOUBLE }, t;
    MPI_Type_create_struct(2, len, disp, of, &t);
    return t;
}

/* A face of a box of doubles: across its middle dimension (rows) or its last one (single doubles). */
static MPI_Datatype face(long n, int across)
{
    int rows = 1, fixed[3], part[3], start[3] = { 0, 0, 0 };
    MPI_Datatype t;
    while ((long)rows * rows * 4 <= n / 8)
        rows *= 2;
    fixed[0] = part[0] = rows;
    fixed[3 - across] = part[3 - across] = (int)(n / 8 / rows);
    fixed[across] = DEPTH;
    part[across] = 1;
    start[across] = 3;
    MPI_Type_create_subarray(3, fixed, part, start, MPI_ORDER_C, MPI_DOUBLE, &t);
    return t;
}

static double half_round_trip(long n)
{
    return time_rounds(ping_pong, n) / 2 * 1e6;
}

/* The bytes just before the type: how fast memory goes from core to core changes on shared machines. */
static void kind(const char *name, long n, MPI_Datatype type, int count, int both)
{
    char beside[64];
    int bytes;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    side = (struct side){ MPI_CHAR, count * bytes };
    sprintf(beside, "contiguous:%s", name);
    report(beside, n, half_round_trip(n), "us");
    if (both || rank == 0)
        side = (struct side){ type, count };
    report(name, n, half_round_trip(n), "us");
    MPI_Type_free(&type);
}

static void all_kinds(long n, int both)
{
    char name[32];
    for (int block = 8; block <= 4096 && block * 2 <= n; block = block == 8 ? 64 : block * 4) {
        sprintf(name, "vector%d", block);
        kind(name, n, every_other(n, block), 1, both);
    }
    kind("irregular", n, irregular(n), 1, both);
    kind("struct", n, int_and_double(), (int)(n / 12), both);
    kind("face_rows", n, face(n, 1), 1, both);
    kind("face_last", n, face(n, 2), 1, both);
}

int main(int argc, char **argv)
{
    long n, most = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    budget = argc > 2 ? atof(argv[2]) : budget;
    for (int i = 3; i < argc; i++)
        most = (n = atol(argv[i])) > most ? n : most;
    a = malloc((size_t)most * DEPTH);
    b = malloc((size_t)most * DEPTH);
    memset(a, 0, (size_t)most * DEPTH);
    memset(b, 0, (size_t)most * DEPTH);
    for (int i = 3; i < argc; i++)
        all_kinds(atol(argv[i]), argc > 1 && strcmp(argv[1], "both") == 0);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
