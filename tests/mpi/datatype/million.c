/* SPDX-License-Identifier: BSD-3-Clause */
/* Index lists of a million blocks: made, committed, sent, packed; the time grows with the blocks, not with their
 * square. */
/* ranks: 1 2 */
/* timeout: 120 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

enum { MOST = 1000000 };

static int *lengths, *at, *memory, *back;

/* Irregular: blocks of 1 or 2 ints with gaps of 1 or 2. */
static int describe(int blocks)
{
    unsigned state = 12345;
    int place = 0;
    for (int i = 0; i < blocks; i++) {
        state = state * 1664525u + 1013904223u;
        lengths[i] = 1 + (int)(state >> 20 & 1);
        at[i] = place;
        place += lengths[i] + 1 + (int)(state >> 24 & 1);
    }
    return place;
}

static double once(int blocks)
{
    MPI_Datatype t;
    MPI_Request q;
    MPI_Status s;
    int size = 0, n = 0, peer = check_size - 1 - check_rank, place = 0, ni, na, nt, combiner,
        span = describe(blocks);
    double begin = MPI_Wtime();
    OK(MPI_Type_indexed(blocks, lengths, at, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_size(t, &size));
    int *packed = malloc((size_t)size);
    for (int i = 0; i < span; i++)
        memory[i] = i, back[i] = -1;
    OK(MPI_Irecv(back, 1, t, peer, 0, MPI_COMM_WORLD, &q));
    OK(MPI_Send(memory, 1, t, peer, 0, MPI_COMM_WORLD));
    OK(MPI_Wait(&q, &s));
    OK(MPI_Pack(memory, 1, t, packed, size, &place, MPI_COMM_WORLD));
    OK(MPI_Get_elements(&s, t, &n));
    CHECK_EQ(n, size / 4);
    double took = MPI_Wtime() - begin;
    int k = 0, wrong = 0;
    for (int i = 0; i < blocks; i++)
        for (int j = 0; j < lengths[i] + 1; j++) { /* one into the gap */
            wrong += back[at[i] + j] != (j < lengths[i] ? at[i] + j : -1);
            if (j < lengths[i])
                wrong += packed[k++] != at[i] + j;
        }
    CHECK_EQ(wrong, 0, "of %d blocks", blocks);
    OK(MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner));
    CHECK_EQ(ni, 2 * blocks + 1);
    OK(MPI_Type_free(&t));
    free(packed);
    return took;
}

static void try_linear(void)
{
    double small = 1e9, large = 1e9;
    for (int i = 0; i < 3; i++) {
        double a = once(MOST / 20), b = once(MOST);
        small = a < small ? a : small;
        large = b < large ? b : large;
    }
    CHECK(large < 20 * 15 * (small + 1e-3), "%d blocks %g s, %d blocks %g s", MOST / 20, small, MOST, large);
}

/* Touching blocks are one: the type is as good as a contiguous one, and is sent as quickly. */
static void try_touching(void)
{
    MPI_Datatype t, u;
    MPI_Aint lb, extent;
    int size, place = 0;
    for (int i = 0; i < MOST; i++)
        lengths[i] = 1, at[i] = i;
    OK(MPI_Type_indexed(MOST, lengths, at, MPI_INT, &t));
    OK(MPI_Type_contiguous(3, t, &u));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_commit(&u));
    OK(MPI_Type_size(u, &size));
    CHECK_EQ(size, 3 * 4 * MOST);
    OK(MPI_Type_get_true_extent(t, &lb, &extent));
    CHECK(lb == 0 && extent == 4 * MOST, "true extent %ld", (long)extent);
    for (int i = 0; i < MOST; i++)
        memory[i] = i;
    OK(MPI_Pack(memory, 1, t, back, 4 * MOST, &place, MPI_COMM_WORLD));
    CHECK(memcmp(memory, back, 4 * MOST) == 0, "packed");
    OK(MPI_Type_free(&u));
    OK(MPI_Type_free(&t));
}

/* More than 2^31 elements: sizes, elements and statuses without any data. */
static void try_beyond(void)
{
    const MPI_Count big = (MPI_Count)3 << 31;
    MPI_Datatype v, s, types[2];
    MPI_Count size = -1, n = -1, lb = -1, extent = -1, ones[2] = { 1, 1 }, places[2] = { 0, 2 * big * 4 };
    MPI_Status status;
    int small = 0;
    memset(&status, 0, sizeof status);
    OK(MPI_Type_vector_c(big, 1, 2, MPI_INT, &v));
    types[0] = v, types[1] = MPI_DOUBLE;
    OK(MPI_Type_create_struct_c(2, ones, places, types, &s));
    OK(MPI_Type_commit(&s));
    OK(MPI_Type_size_c(s, &size));
    CHECK_EQ(size, 4 * big + 8);
    OK(MPI_Type_size(s, &small));
    CHECK_EQ(small, MPI_UNDEFINED);
    OK(MPI_Type_size_x(s, &size));
    CHECK_EQ(size, 4 * big + 8);
    OK(MPI_Type_get_true_extent_c(s, &lb, &extent));
    CHECK(lb == 0 && extent == 2 * big * 4 + 8, "true extent %lld", (long long)extent);
    OK(MPI_Status_set_elements_x(&status, s, big + 1));
    OK(MPI_Get_elements_c(&status, s, &n));
    CHECK_EQ(n, big + 1);
    OK(MPI_Get_elements_x(&status, s, &n));
    CHECK_EQ(n, big + 1);
    OK(MPI_Get_elements(&status, s, &small));
    CHECK_EQ(small, MPI_UNDEFINED);
    OK(MPI_Get_count(&status, s, &small));
    CHECK_EQ(small, 1);
    OK(MPI_Status_set_elements_c(&status, s, big - 7));
    OK(MPI_Get_elements_c(&status, s, &n));
    CHECK_EQ(n, big - 7);
    OK(MPI_Get_count_c(&status, s, &n));
    CHECK_EQ(n, MPI_UNDEFINED);
    OK(MPI_Pack_size(1, s, MPI_COMM_SELF, &small));
    CHECK_EQ(small, MPI_UNDEFINED);
    OK(MPI_Pack_size_c(3, s, MPI_COMM_SELF, &n));
    CHECK_EQ(n, 3 * size);
    OK(MPI_Pack_external_size_c("external32", 3, s, &n));
    CHECK_EQ(n, 3 * size);
    OK(MPI_Type_free(&v));
    OK(MPI_Type_free(&s));
}

/* A type may be freed while a message uses it. */
static void try_freed(void)
{
    MPI_Datatype t, u;
    MPI_Request q[2];
    int n = 50000, span = describe(n), peer = check_size - 1 - check_rank, wrong = 0;
    OK(MPI_Type_indexed(n, lengths, at, MPI_INT, &t));
    OK(MPI_Type_dup(t, &u));
    CHECK_ERR(MPI_Irecv(back, 1, t, peer, 1, MPI_COMM_WORLD, &q[0]), MPI_ERR_TYPE); /* not committed */
    CHECK_SAYS("commit");
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_commit(&u));
    OK(MPI_Type_commit(&u));
    for (int i = 0; i < span; i++)
        memory[i] = 3 * i, back[i] = -1;
    OK(MPI_Irecv(back, 1, t, peer, 1, MPI_COMM_WORLD, &q[0]));
    OK(MPI_Type_free(&t));
    OK(MPI_Isend(memory, 1, u, peer, 1, MPI_COMM_WORLD, &q[1]));
    OK(MPI_Type_free(&u));
    OK(MPI_Type_vector(7, 3, 5, MPI_CHAR, &t)); /* takes their places */
    OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
    for (int i = 0; i < n; i++)
        wrong += back[at[i]] != 3 * at[i];
    CHECK_EQ(wrong, 0);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    check_errors_return();
    lengths = malloc(MOST * sizeof *lengths);
    at = malloc(MOST * sizeof *at);
    memory = malloc((4 * MOST + 4) * sizeof *memory);
    back = malloc((4 * MOST + 4) * sizeof *back);
    try_linear();
    try_touching();
    try_beyond();
    try_freed();
    free(lengths), free(at), free(memory), free(back);
    return check_done();
}
