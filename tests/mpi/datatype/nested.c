/* SPDX-License-Identifier: BSD-3-Clause */
/* Nested types with blocks of 1 to 3,000 bytes in messages, from a rank to the next: every byte in its place, none
 * touched between them; blocks that overlap may be sent; the types are freed while in use. */
/* ranks: 1 2 3 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

enum { ROOM = 1 << 20, MOST = 1 << 19 };

static char *mem, *packed;
static long *place, n; /* where byte i of the packed form lies in mem */

static void block(long at, long bytes)
{
    for (long i = 0; i < bytes && n < MOST; i++)
        place[n++] = at + i;
}

/* `count` blocks at a distance. */
static void blocks(long at, long count, long bytes, long stride)
{
    for (long i = 0; i < count; i++)
        block(at + i * stride, bytes);
}

static MPI_Datatype vector(long count, long bytes, long stride)
{
    MPI_Datatype t;
    OK(MPI_Type_create_hvector((int)count, (int)bytes, stride, MPI_CHAR, &t));
    return t;
}

static MPI_Datatype vector_of_vectors(long k)
{
    MPI_Datatype inner = vector(3, k, k + 5), t;
    OK(MPI_Type_create_hvector(20, 1, 4 * k + 17, inner, &t));
    OK(MPI_Type_free(&inner));
    for (int i = 0; i < 20; i++)
        blocks(i * (4 * k + 17), 3, k, k + 5);
    return t;
}

/* Structs of {vector, block, vector}, the last one first. */
static MPI_Datatype struct_of_vectors(long k)
{
    int one[3] = { 1, (int)k, 1 };
    MPI_Aint at[3] = { 2, 5 * k + 20, 7 * k + 30 }, extent = 14 * k + 60;
    MPI_Datatype types[3] = { vector(2, k, 2 * k + 1), MPI_CHAR, vector(3, k, 2 * k + 3) }, one_of, t;
    OK(MPI_Type_create_struct(3, one, at, types, &one_of));
    OK(MPI_Type_create_hvector(9, 1, -extent, one_of, &t));
    OK(MPI_Type_free(&types[0]));
    OK(MPI_Type_free(&types[2]));
    OK(MPI_Type_free(&one_of));
    for (int i = 0; i < 9; i++) {
        blocks(at[0] - i * extent, 2, k, 2 * k + 1);
        block(at[1] - i * extent, k);
        blocks(at[2] - i * extent, 3, k, 2 * k + 3);
    }
    return t;
}

/* One and two vectors in turn, at irregular places. */
static MPI_Datatype list_of_vectors(long k)
{
    enum { N = 30 };
    int lengths[N];
    MPI_Aint at[N], next = 0, lb, extent;
    MPI_Datatype inner = vector(2, k, k + 3), t;
    OK(MPI_Type_get_extent(inner, &lb, &extent));
    for (int i = 0; i < N; i++) {
        lengths[i] = 1 + i % 2;
        at[i] = next;
        next += 4 * k + 9 + i * 7 % 11;
        for (int j = 0; j < lengths[i]; j++)
            blocks(at[i] + j * extent, 2, k, k + 3);
    }
    OK(MPI_Type_create_hindexed(N, lengths, at, inner, &t));
    OK(MPI_Type_free(&inner));
    return t;
}

/* To be sent only. */
static MPI_Datatype overlapping(long k)
{
    MPI_Datatype inner = vector(3, k, k / 2), t;
    OK(MPI_Type_create_hvector(25, 1, k / 3 + 1, inner, &t));
    OK(MPI_Type_free(&inner));
    for (int i = 0; i < 25; i++)
        blocks(i * (k / 3 + 1), 3, k, k / 2);
    return t;
}

/* In mem the data of a type may begin below its address: mem + middle is the address. */
static void send_and_receive(MPI_Datatype t, long k, int receive)
{
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size;
    const long middle = ROOM / 2;
    MPI_Datatype again;
    MPI_Request r[2];
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_dup(t, &again));
    check_fill(mem, ROOM, (uint64_t)check_rank);
    OK(MPI_Irecv(packed, MOST, MPI_CHAR, from, 1, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Isend(mem + middle, 1, t, to, 1, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Type_free(&t));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (long i = 0; i < n; i++)
        if ((unsigned char)packed[i] != check_byte((uint64_t)from, (uint64_t)(middle + place[i]))) {
            CHECK(0, "byte %ld of %ld, blocks of %ld", i, n, k);
            break;
        }
    if (receive) {
        check_fill(packed, (size_t)n, 100);
        OK(MPI_Irecv(mem + middle, 1, again, from, 2, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Isend(packed, (int)n, MPI_CHAR, to, 2, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Type_free(&again));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        for (long i = 0; i < n; i++) { /* right, and as it was before */
            CHECK_EQ((unsigned char)mem[middle + place[i]], check_byte(100, (uint64_t)i), "byte %ld", i);
            mem[middle + place[i]] = (char)check_byte((uint64_t)check_rank, (uint64_t)(middle + place[i]));
        }
        CHECK_BYTES(mem, ROOM, (uint64_t)check_rank);
    } else {
        OK(MPI_Type_free(&again));
    }
    n = 0;
}

int main(int argc, char **argv)
{
    static const long sizes[] = { 1, 3, 8, 16, 31, 64, 65, 129, 256, 1000, 3000 };
    check_init(&argc, &argv);
    check_errors_return();
    mem = malloc(ROOM);
    packed = malloc(MOST);
    place = malloc(MOST * sizeof *place);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        send_and_receive(vector_of_vectors(sizes[i]), sizes[i], 1);
        send_and_receive(struct_of_vectors(sizes[i]), sizes[i], 1);
        send_and_receive(list_of_vectors(sizes[i]), sizes[i], 1);
        send_and_receive(overlapping(sizes[i]), sizes[i], 0);
    }
    free(mem);
    free(packed);
    free(place);
    return check_done();
}
