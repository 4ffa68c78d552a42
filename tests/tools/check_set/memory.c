/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: datatypes that are not those of the memory, as TypeART's runtime knows it (typeart.h). */
#include "set.h"
#include "typeart.h"

static struct particle *particles;
static struct nest *nests;

/* The memory of the case, each of `count` elements. */
static void *is(void *memory, int type, size_t count)
{
    typeart_set(memory, type, count);
    return memory;
}

static void made(size_t count)
{
    particles = is(calloc(1000, sizeof *particles), TYPE_PARTICLE, count);
    nests = is(calloc(1000, sizeof *nests), TYPE_NEST, count);
    is(a, TYPE_INT32, count);
    is(b, TYPE_INT32, count);
    is(d, TYPE_DOUBLE, count);
    is(e, TYPE_DOUBLE, count);
}

static void gone(void)
{
    void *const all[] = { particles, nests, a, b, d, e };
    for (int i = 0; i < 6; i++)
        typeart_set(all[i], 0, 0);
    free(particles);
    free(nests);
}

static MPI_Datatype committed(MPI_Datatype type)
{
    MPI_Type_commit(&type);
    return type;
}

/* An array of struct particle. */
static MPI_Datatype of_particles(MPI_Datatype id)
{
    MPI_Datatype bare, sized;
    MPI_Type_create_struct(3, (int[]){ 3, 1, 1 },
                           (MPI_Aint[]){ offsetof(struct particle, at), offsetof(struct particle, id),
                                         offsetof(struct particle, mass) },
                           (MPI_Datatype[]){ MPI_DOUBLE, id, MPI_FLOAT }, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct particle), &sized);
    MPI_Type_free(&bare);
    return committed(sized);
}

WRONG(int_of_double, 1)
{
    made(100);
    MPI_Isend(d, 10, MPI_INT, next, 1, comm, r); /* memory-type: buf */
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    gone();
}

RIGHT(double_of_double, 1)
{
    made(100);
    MPI_Isend(d + 1, 99, MPI_DOUBLE, next, 1, comm, r);
    MPI_Recv(e, 100, MPI_DOUBLE, prev, 1, comm, no);
    MPI_Wait(r, no);
    gone();
}

WRONG(received_into_double, 1)
{
    made(100);
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Recv(e, 10, MPI_INT, prev, 1, comm, no); /* memory-type: buf */
    MPI_Wait(r, no);
    gone();
}

WRONG(longer_than_its_memory, 1)
{
    made(100);
    MPI_Isend(a, 10, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 101, MPI_INT, prev, 1, comm, no); /* memory-short: buf */
    MPI_Wait(r, no);
    gone();
}

RIGHT(as_long_as_its_memory, 1)
{
    made(100);
    MPI_Isend(a, 100, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    gone();
}

WRONG(bytes_longer_than_their_memory, 1)
{
    made(100);
    MPI_Isend(a, 401, MPI_BYTE, next, 1, comm, r); /* memory-short: buf */
    MPI_Recv(d, 401, MPI_BYTE, prev, 1, comm, no);
    MPI_Wait(r, no);
    gone();
}

RIGHT(bytes_of_anything, 1)
{
    made(100);
    MPI_Isend(particles, 3, MPI_BYTE, next, 1, comm, r);
    MPI_Recv(d, 3, MPI_BYTE, prev, 1, comm, no);
    MPI_Wait(r, no);
    gone();
}

RIGHT(memory_that_is_not_known, 1)
{
    int of_the_stack[4] = { 0 };
    MPI_Isend(of_the_stack, 2, MPI_DOUBLE, next, 1, comm, r);
    MPI_Recv(e, 2, MPI_DOUBLE, prev, 1, comm, no);
    MPI_Wait(r, no);
}

RIGHT(unsigned_of_int, 1)
{
    made(100);
    MPI_Bcast(a, 100, MPI_UNSIGNED, 0, comm);
    gone();
}

WRONG(column_longer_than_its_memory, 1)
{
    made(100);
    MPI_Isend(a + 10, 1, column, next, 1, comm, r); /* memory-short: buf */
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    gone();
}

RIGHT(column_within, 1)
{
    made(100);
    MPI_Isend(a + 9, 1, column, next, 1, comm, r);
    MPI_Recv(b, 10, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    gone();
}

WRONG(struct_with_another_member, 1)
{
    made(100);
    MPI_Datatype type = of_particles(MPI_FLOAT);
    MPI_Bcast(particles, 10, type, 0, comm); /* memory-type: buffer */
    MPI_Type_free(&type);
    gone();
}

RIGHT(struct_with_the_same_members, 1)
{
    made(100);
    MPI_Datatype type = of_particles(MPI_INT);
    MPI_Bcast(particles, 100, type, 0, comm);
    MPI_Bcast(&particles[40], 60, type, 0, comm);
    MPI_Type_free(&type);
    gone();
}

WRONG(one_struct_too_many, 1)
{
    made(100);
    MPI_Datatype type = of_particles(MPI_INT);
    MPI_Bcast(&particles[40], 61, type, 0, comm); /* memory-short: buffer */
    MPI_Type_free(&type);
    gone();
}

RIGHT(first_member_of_a_struct, 1)
{
    made(100);
    MPI_Bcast(particles, 3, MPI_DOUBLE, 0, comm);
    MPI_Bcast(&particles[5].id, 1, MPI_INT, 0, comm);
    gone();
}

WRONG(more_than_the_first_member, 1)
{
    made(100);
    MPI_Bcast(particles, 4, MPI_DOUBLE, 0, comm); /* memory-type: buffer */
    gone();
}

WRONG(second_half_of_a_number, 1)
{
    made(100);
    MPI_Bcast((char *)d + 4, 1, MPI_FLOAT, 0, comm); /* memory-type: buffer */
    gone();
}

WRONG(gap_in_a_struct, 1)
{
    made(100);
    MPI_Bcast(&nests[1].p[1], 2, MPI_INT, 0, comm); /* memory-type: buffer */
    gone();
}

RIGHT(nested_structs, 1)
{
    made(100);
    MPI_Bcast(&nests[1].p[1].d, 1, MPI_DOUBLE, 0, comm);
    MPI_Bcast(nests[2].name, 8, MPI_CHAR, 0, comm);
    gone();
}

WRONG(hindexed_of_another_type, 1)
{
    made(100);
    MPI_Datatype type;
    MPI_Type_create_hindexed(2, (int[]){ 1, 1 }, (MPI_Aint[]){ 8, 100 }, MPI_INT, &type);
    type = committed(type);
    MPI_Bcast(particles, 1, type, 0, comm); /* memory-type: buffer */
    MPI_Type_free(&type);
    gone();
}

RIGHT(hindexed_of_ids, 1)
{
    made(100);
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){ 32 * 7 + 24, 24 }, MPI_INT, &type);
    type = committed(type);
    MPI_Bcast(particles, 1, type, 0, comm);
    MPI_Type_free(&type);
    gone();
}

WRONG(float_backwards, 1)
{
    made(100);
    MPI_Datatype type;
    MPI_Type_create_hvector(3, 1, -8, MPI_FLOAT, &type);
    type = committed(type);
    MPI_Bcast(d + 2, 1, type, 0, comm); /* memory-type: buffer */
    MPI_Type_free(&type);
    gone();
}

RIGHT(backwards, 1)
{
    made(100);
    MPI_Datatype type;
    MPI_Type_create_hvector(3, 1, -8, MPI_DOUBLE, &type);
    type = committed(type);
    MPI_Bcast(d + 2, 1, type, 0, comm);
    MPI_Type_free(&type);
    gone();
}

WRONG(alltoallw_of_another_type, 1)
{
    int n[64], at[64];
    MPI_Datatype types[64], others[64];
    made(1000);
    for (int i = 0; i < size; i++) {
        n[i] = 1, at[i] = 8 * i;
        types[i] = MPI_LONG;
        others[i] = MPI_DOUBLE;
    }
    MPI_Alltoallw(MPI_IN_PLACE, n, at, types, d, n, at, types, comm); /* memory-type: recvbuf */
    MPI_Alltoallw(MPI_IN_PLACE, n, at, types, d, n, at, others, comm);
    gone();
}

RIGHT(alltoallv_within, 1)
{
    int n[64], at[64];
    made(1000);
    for (int i = 0; i < size; i++)
        n[i] = 1, at[i] = 8 * i;
    MPI_Alltoallv(d, n, at, MPI_DOUBLE, e, n, at, MPI_DOUBLE, comm);
    gone();
}

WRONG(allgather_longer_than_its_memory, 2)
{
    made(4);
    MPI_Allgather(a, 4, MPI_INT, b, 4, MPI_INT, comm); /* memory-short: recvbuf */
    gone();
}

RIGHT(allgather_within, 2)
{
    made(400);
    MPI_Allgather(a, 4, MPI_INT, b, 4, MPI_INT, comm);
    gone();
}

WRONG(persistent_of_another_type, 1)
{
    made(100);
    MPI_Send_init(d, 10, MPI_FLOAT, next, 1, comm, r); /* memory-type: buf */
    MPI_Request_free(r);
    gone();
}

WRONG(put_of_another_type, 1)
{
    MPI_Win win;
    made(100);
    MPI_Win_create(b, 400, 4, MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    MPI_Put(d, 10, MPI_INT, next, 0, 10, MPI_INT, win); /* memory-type: origin_addr */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    gone();
}

WRONG(reduction_of_another_type, 1)
{
    made(100);
    MPI_Allreduce(d, e, 10, MPI_FLOAT, MPI_SUM, comm); /* memory-type: any */
    gone();
}

RIGHT(complex_of_complex, 1)
{
    void *c = is(calloc(100, 16), TYPE_COMPLEX, 100);
    MPI_Bcast(c, 100, MPI_C_DOUBLE_COMPLEX, 0, comm);
    MPI_Bcast(c, 200, MPI_DOUBLE, 0, comm);
    typeart_set(c, 0, 0);
    free(c);
}
