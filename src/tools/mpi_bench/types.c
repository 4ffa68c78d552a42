/* SPDX-License-Identifier: BSD-3-Clause */
/* Half round trips of messages of derived types, each beside a contiguous message of as many bytes, taken just
 * before: how fast memory goes from core to core may change on shared machines. Bytes are those of the payload. */
#include <stdlib.h>
#include <string.h>
#include "bench.h"

enum {
    TAG = 1,
    DEPTH_OF_BOX = 8
}; /* planes of the box whose face is sent: memory is so many times the payload */

static struct side {
    MPI_Datatype type;
    int count;
} side;

static void ping_pong(long n)
{
    (void)n;
    if (rank == 0) {
        MPI_Send(a, side.count, side.type, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(b, side.count, side.type, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(b, side.count, side.type, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(a, side.count, side.type, 0, TAG, MPI_COMM_WORLD);
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
    fixed[across] = DEPTH_OF_BOX;
    part[across] = 1;
    start[across] = 3;
    MPI_Type_create_subarray(3, fixed, part, start, MPI_ORDER_C, MPI_DOUBLE, &t);
    return t;
}

static void types_measure(const struct test *t, long n, MPI_Datatype type, int count)
{
    char beside[64] = "contiguous:";
    int bytes;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    side = (struct side){ MPI_CHAR, count * bytes };
    point(t, strcat(beside, t->name), n);
    if (!one_side || rank == 0)
        side = (struct side){ type, count };
    point(t, t->name, n);
    MPI_Type_free(&type);
}

/* The number at the end of the name is the length of a block. */
static void vector(const struct test *t, long n)
{
    int block = atoi(t->name + strlen("vector"));
    types_measure(t, n, every_other(n, block), 1);
}
static void types_list(const struct test *t, long n)
{
    types_measure(t, n, irregular(n), 1);
}
static void structs(const struct test *t, long n)
{
    types_measure(t, n, int_and_double(), (int)(n / 12));
}
static void face_rows(const struct test *t, long n)
{
    types_measure(t, n, face(n, 1), 1);
}
static void face_last(const struct test *t, long n)
{
    types_measure(t, n, face(n, 2), 1);
}

static size_t room(long n)
{
    return (size_t)n * DEPTH_OF_BOX;
}

#define ROW(name_, least_, run_, about_) \
    .group = "types", .name = name_, .unit = "us", .least = least_, .least_ranks = 2, .room = room, \
    .round = ping_pong, .run = run_, .value = half_microseconds, .about = about_
static const struct test rows[] = {
    { ROW("vector8", 16, vector, "every other double") },
    { ROW("vector64", 128, vector, "every other 64 bytes") },
    { ROW("vector256", 512, vector, "every other 256 bytes") },
    { ROW("vector1024", 2048, vector, "every other 1024 bytes") },
    { ROW("vector4096", 8192, vector, "every other 4096 bytes") },
    { ROW("irregular", 64, types_list, "MPI_Type_indexed: 1 to 8 doubles, gaps of 1 to 8") },
    { ROW("face_rows", 64, face_rows, "MPI_Type_create_subarray: a face of a box, of whole rows") },
    { ROW("face_last", 64, face_last, "a face of a box, of single doubles") },
    { ROW("struct", 64, structs, "an int and a double, with the hole between them") },
};
const struct table type_tests = { rows, sizeof rows / sizeof *rows };
