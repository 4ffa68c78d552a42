/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* Datatypes with holes on either side, whose elements the partitions of the other side cut; and elements longer
 * than what travels at once.  The order of the numbers is that of the types. */
#include "check.h"

static int to, from;

/* n numbers at the places that `type` (repeated) tells: check or fill by packing. */
static void fill(void *buf, int count, MPI_Datatype type, int n, int seed)
{
    int *packed = malloc((size_t)n * sizeof *packed), at = 0;
    for (int i = 0; i < n; i++)
        packed[i] = seed + i;
    MPI_Unpack(packed, n * (int)sizeof(int), &at, buf, count, type, MPI_COMM_WORLD);
    free(packed);
}

static void check(const void *buf, int count, MPI_Datatype type, int n, int seed)
{
    int *packed = malloc((size_t)n * sizeof *packed), at = 0;
    MPI_Pack(buf, count, type, packed, n * (int)sizeof(int), &at, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        if (packed[i] != seed + i) {
            CHECK_EQ(packed[i], seed + i, "number %d of %d", i, n);
            break;
        }
    free(packed);
}

struct side {
    MPI_Datatype type;
    int partitions, count;
};

static char *room(struct side s, size_t *bytes)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(s.type, &lb, &extent);
    *bytes = (size_t)s.partitions * (size_t)s.count * (size_t)extent + 64;
    return calloc(*bytes, 1);
}

static void exchange(struct side s, struct side r, int n)
{
    size_t sbytes, rbytes;
    char *out = room(s, &sbytes), *in = room(r, &rbytes);
    MPI_Request req[2];
    MPI_Psend_init(out, s.partitions, s.count, s.type, to, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, r.partitions, r.count, r.type, from, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    for (int round = 0; round < 4; round++) {
        fill(out, s.partitions * s.count, s.type, n, 1000000 * round + 10 * check_rank);
        memset(in, 0x55, rbytes);
        MPI_Startall(2, req);
        if (round == 0)
            MPI_Pready_range(0, s.partitions - 1, req[0]);
        for (int i = s.partitions - 1; round > 0 && i >= 0; i--)
            MPI_Pready(round == 1 ? s.partitions - 1 - i : i, req[0]);
        CHECK_EQ(MPI_Waitall(2, req, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        check(in, r.partitions * r.count, r.type, n, 1000000 * round + 10 * from);
        for (int k = 1; k <= 8; k++)
            CHECK_EQ(in[rbytes - (size_t)k], 0x55, "behind the buffer");
    }
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
    free(out);
    free(in);
}

/* `length` ints of every `stride`, `blocks` times, in one element. */
static MPI_Datatype holes(int blocks, int length, int stride)
{
    MPI_Datatype vector, type;
    MPI_Type_vector(blocks, length, stride, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)sizeof(int) * blocks * stride, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

static void kinds(void)
{
    MPI_Datatype three = holes(3, 1, 2), ten = holes(5, 2, 3), all = holes(900, 1, 3);
    struct side ints = { MPI_INT, 12, 75 };
    exchange((struct side){ three, 12, 25 }, ints, 900);
    exchange(ints, (struct side){ three, 4, 75 }, 900);
    exchange(ints, (struct side){ ten, 5, 18 }, 900);
    exchange((struct side){ three, 5, 60 }, (struct side){ ten, 9, 10 }, 900);
    exchange((struct side){ ten, 9, 10 }, (struct side){ all, 1, 1 }, 900);
    exchange((struct side){ all, 1, 1 }, (struct side){ three, 100, 3 }, 900);
    MPI_Type_free(&three);
    MPI_Type_free(&ten);
    MPI_Type_free(&all);
}

/* Pieces that do not lie in the message of their head, and partitions longer than a piece. */
static void large(void)
{
    enum { N = 1 << 20 };
    MPI_Datatype some = holes(3 * 16, 1, 2), most = holes(N / 2, 1, 2), whole = holes(3 * N, 1, 2);
    struct side ints = { MPI_INT, 3, N };
    exchange(ints, (struct side){ some, 4, N / 64 }, 3 * N);
    exchange(ints, (struct side){ whole, 1, 1 }, 3 * N);
    exchange((struct side){ some, 2, N / 32 }, (struct side){ most, 6, 1 }, 3 * N);
    exchange((struct side){ most, 3, 2 }, ints, 3 * N);
    exchange((struct side){ MPI_INT, 7, N / 4 }, (struct side){ MPI_INT, N / 4, 7 }, 7 * N / 4);
    MPI_Type_free(&some);
    MPI_Type_free(&most);
    MPI_Type_free(&whole);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    to = (check_rank + 1) % check_size;
    from = (check_rank + check_size - 1) % check_size;
    kinds();
    large();
    return check_done();
}
