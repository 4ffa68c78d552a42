/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian communicators: construction, every inquiry, sub-grids, what is carried over. */
/* ranks: 1 2 3 4 5 8 12 */
#include "../check.h"

enum { MOST = 4 };

struct grid {
    int n, cells, dims[MOST], periods[MOST];
};

static struct grid balanced(int n, int periods)
{
    struct grid g = { .n = n, .cells = check_size };
    MPI_Dims_create(check_size, n, g.dims);
    for (int i = 0; i < n; i++)
        g.periods[i] = periods >> i & 1;
    return g;
}

/* Coordinates of a rank by counting, not by dividing. */
static void count_up(const struct grid *g, int rank, int *coords)
{
    memset(coords, 0, MOST * sizeof *coords);
    for (int r = 0; r < rank; r++)
        for (int i = g->n - 1; i >= 0 && ++coords[i] == g->dims[i]; i--)
            coords[i] = 0;
}

static void check_get(MPI_Comm c, const struct grid *g)
{
    int ndims = -1, status = -1, rank, size = -1, dims[MOST], periods[MOST], coords[MOST], mine[MOST];
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, g->cells);
    CHECK_ERR(MPI_Topo_test(c, &status), MPI_SUCCESS);
    CHECK_EQ(status, MPI_CART);
    CHECK_ERR(MPI_Cartdim_get(c, &ndims), MPI_SUCCESS);
    CHECK_EQ(ndims, g->n);
    memset(dims, 0xab, sizeof dims);
    memset(periods, 0xab, sizeof periods);
    memset(coords, 0xab, sizeof coords);
    CHECK_ERR(MPI_Cart_get(c, MOST, dims, periods, coords), MPI_SUCCESS);
    count_up(g, rank, mine);
    for (int i = 0; i < MOST; i++) {
        CHECK_EQ(dims[i], i < g->n ? g->dims[i] : (int)0xabababab, "dims[%d]", i);
        CHECK_EQ(periods[i], i < g->n ? g->periods[i] : (int)0xabababab, "periods[%d]", i);
        CHECK_EQ(coords[i], i < g->n ? mine[i] : (int)0xabababab, "coords[%d]", i);
    }
}

/* Ranks to coordinates and back, also from outside of the grid where that is allowed. */
static void check_ranks(MPI_Comm c, const struct grid *g)
{
    int size, coords[MOST], expected[MOST], rank;
    MPI_Comm_size(c, &size);
    for (int r = 0; r < size; r++) {
        memset(coords, 0, sizeof coords);
        CHECK_ERR(MPI_Cart_coords(c, r, g->n, coords), MPI_SUCCESS);
        count_up(g, r, expected);
        for (int i = 0; i < g->n; i++)
            CHECK_EQ(coords[i], expected[i], "of rank %d", r);
        rank = -1;
        CHECK_ERR(MPI_Cart_rank(c, coords, &rank), MPI_SUCCESS);
        CHECK_EQ(rank, r);
        for (int i = 0; i < g->n; i++) {
            if (!g->periods[i])
                continue;
            for (int turns = -3; turns <= 3; turns++) {
                int saved = coords[i];
                coords[i] += turns * g->dims[i];
                rank = -1;
                CHECK_ERR(MPI_Cart_rank(c, coords, &rank), MPI_SUCCESS);
                CHECK_EQ(rank, r, "%d turns around dimension %d", turns, i);
                coords[i] = saved;
            }
        }
    }
}

static int shifted(MPI_Comm c, const struct grid *g, const int *coords, int dim, long by)
{
    int at[MOST], rank = -1;
    long x = coords[dim] + by, d = g->dims[dim];
    memcpy(at, coords, sizeof at);
    if (g->periods[dim])
        x = (x % d + d) % d;
    if (x < 0 || x >= d)
        return MPI_PROC_NULL;
    at[dim] = (int)x;
    MPI_Cart_rank(c, at, &rank);
    return rank;
}

static void check_shifts(MPI_Comm c, const struct grid *g)
{
    const int disps[] = { 1, -1, 0, 2, -2, 3, 5, 100, -1000, INT32_MAX, INT32_MIN };
    int rank, source, dest, coords[MOST], token, got;
    MPI_Comm_rank(c, &rank);
    MPI_Cart_coords(c, rank, MOST, coords);
    for (int i = 0; i < g->n; i++)
        for (size_t k = 0; k < sizeof disps / sizeof *disps; k++) {
            source = dest = -99;
            CHECK_ERR(MPI_Cart_shift(c, i, disps[k], &source, &dest), MPI_SUCCESS);
            CHECK_EQ(dest, shifted(c, g, coords, i, disps[k]), "dimension %d by %d", i, disps[k]);
            CHECK_EQ(source, shifted(c, g, coords, i, -(long)disps[k]), "dimension %d by %d", i, disps[k]);
            token = rank;
            got = -7;
            MPI_Sendrecv(&token, 1, MPI_INT, dest, 5, &got, 1, MPI_INT, source, 5, c, MPI_STATUS_IGNORE);
            CHECK_EQ(got, source == MPI_PROC_NULL ? -7 : source);
        }
}

static void check_subs(MPI_Comm c, const struct grid *g)
{
    for (int mask = 0; mask < 1 << g->n; mask++) {
        struct grid s = { .cells = 1 };
        int remain[MOST], rank, coords[MOST], mine[MOST], world, expected;
        MPI_Comm sub = MPI_COMM_NULL;
        for (int i = 0; i < g->n; i++) {
            remain[i] = mask >> i & 1 ? i + 1 : 0;
            if (remain[i]) {
                s.dims[s.n] = g->dims[i];
                s.periods[s.n++] = g->periods[i];
                s.cells *= g->dims[i];
            }
        }
        CHECK_ERR(MPI_Cart_sub(c, remain, &sub), MPI_SUCCESS);
        check_get(sub, &s);
        check_shifts(sub, &s);
        MPI_Comm_rank(c, &rank);
        MPI_Cart_coords(c, rank, MOST, coords);
        for (int r = 0; r < s.cells; r++) { /* whose coordinates differ in what remains only */
            MPI_Cart_coords(sub, r, MOST, mine);
            for (int i = 0, j = 0; i < g->n; i++)
                if (remain[i])
                    coords[i] = mine[j++];
            MPI_Cart_rank(c, coords, &expected);
            world = rank;
            MPI_Bcast(&world, 1, MPI_INT, r, sub);
            CHECK_EQ(world, expected, "rank %d of sub-grid %d", r, mask);
        }
        MPI_Comm_free(&sub);
    }
}

static void check_grid(const struct grid *g)
{
    MPI_Comm c = MPI_COMM_NULL;
    int rank = -1, result = -1;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, g->n, g->dims, g->periods, 0, &c), MPI_SUCCESS);
    MPI_Comm_rank(c, &rank);
    CHECK_EQ(rank, check_rank, "no reordering");
    MPI_Comm_compare(c, MPI_COMM_WORLD, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    check_get(c, g);
    check_ranks(c, g);
    check_shifts(c, g);
    check_subs(c, g);
    MPI_Comm_free(&c);
}

/* A grid of fewer processes: the first ones. */
static void smaller(void)
{
    for (int cells = 1; cells <= check_size; cells++) {
        struct grid g = { .n = 2, .cells = cells, .dims = { cells, 1 }, .periods = { 1, 0 } };
        MPI_Comm c = MPI_COMM_WORLD;
        int rank = -99;
        CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 2, g.dims, g.periods, 0, &c), MPI_SUCCESS);
        CHECK_EQ(c != MPI_COMM_NULL, check_rank < cells, "%d cells", cells);
        CHECK_ERR(MPI_Cart_map(MPI_COMM_WORLD, 2, g.dims, g.periods, &rank), MPI_SUCCESS);
        CHECK_EQ(rank == MPI_UNDEFINED, check_rank >= cells);
        if (c == MPI_COMM_NULL)
            continue;
        check_get(c, &g);
        check_shifts(c, &g);
        MPI_Comm_free(&c);
    }
}

static void no_dimensions(void)
{
    struct grid g = { .n = 0, .cells = 1 };
    MPI_Comm c = MPI_COMM_WORLD, sub = MPI_COMM_NULL;
    int rank = -1, coords = 77, nothing = 78, source, dest;
    CHECK_ERR(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 1, &c), MPI_SUCCESS);
    CHECK_EQ(c != MPI_COMM_NULL, check_rank == 0);
    CHECK_ERR(MPI_Cart_map(MPI_COMM_WORLD, 0, NULL, NULL, &rank), MPI_SUCCESS);
    CHECK_EQ(rank, check_rank == 0 ? 0 : MPI_UNDEFINED);
    if (c == MPI_COMM_NULL)
        return;
    check_get(c, &g);
    rank = -1;
    CHECK_ERR(MPI_Cart_rank(c, &nothing, &rank), MPI_SUCCESS);
    CHECK_EQ(rank, 0);
    CHECK_ERR(MPI_Cart_coords(c, 0, 1, &coords), MPI_SUCCESS);
    CHECK_EQ(coords, 77);
    CHECK_ERR(MPI_Cart_sub(c, NULL, &sub), MPI_SUCCESS);
    check_get(sub, &g);
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Cart_shift(c, 0, 1, &source, &dest), MPI_ERR_DIMS);
    CHECK_SAYS("comm has none");
    MPI_Comm_free(&sub);
    MPI_Comm_free(&c);
}

static int copies, deletes;
static int count_copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}
static int count_delete(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

/* The topology goes to duplicates, and outlives what they are made from; nothing else has it. */
static void carried_over(void)
{
    struct grid g = balanced(2, 2);
    MPI_Comm c, d[3], none[3];
    MPI_Request request;
    MPI_Group group;
    int status, key, flag;
    void *value;
    MPI_Comm_create_keyval(count_copy, count_delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Cart_create(MPI_COMM_WORLD, 2, g.dims, g.periods, 0, &c);
    CHECK_EQ(copies, 0, "attributes do not propagate to a topology's communicator");
    MPI_Comm_get_attr(c, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(c, key, &key);
    MPI_Comm_dup(c, &d[0]);
    MPI_Comm_dup_with_info(c, MPI_INFO_NULL, &d[1]);
    MPI_Comm_idup(c, &d[2], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(copies, 3);
    MPI_Comm_split(c, 0, 0, &none[0]);
    MPI_Comm_group(c, &group);
    MPI_Comm_create(c, group, &none[1]);
    MPI_Comm_create_group(c, group, 3, &none[2]);
    MPI_Group_free(&group);
    MPI_Comm_free(&c);
    for (int i = 0; i < 3; i++) {
        status = -1;
        MPI_Topo_test(none[i], &status);
        CHECK_EQ(status, MPI_UNDEFINED, "communicator %d made otherwise", i);
        MPI_Comm_free(&none[i]);
        check_get(d[i], &g);
        check_shifts(d[i], &g);
        MPI_Comm_free(&d[i]);
    }
    CHECK_EQ(deletes, 4);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    status = -1;
    MPI_Topo_test(MPI_COMM_WORLD, &status);
    CHECK_EQ(status, MPI_UNDEFINED);
}

/* Ranks of the grid are those of the communicator that it is made from, not of MPI_COMM_WORLD. */
static void of_a_part(void)
{
    MPI_Comm back, c;
    int n, rank;
    const int one = 1;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &back);
    MPI_Comm_size(back, &n);
    MPI_Comm_rank(back, &rank);
    struct grid g = { .n = 1, .cells = n, .dims = { n }, .periods = { 1 } };
    MPI_Cart_create(back, 1, &n, &one, 0, &c);
    check_get(c, &g);
    check_shifts(c, &g);
    int got = -1;
    MPI_Comm_rank(c, &got);
    CHECK_EQ(got, rank);
    MPI_Comm_free(&c);
    MPI_Comm_free(&back);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (int n = 1; n <= MOST; n++)
        for (int periods = 0; periods<1 << n; periods += n> 2 ? 5 : 1) {
            struct grid g = balanced(n, periods);
            check_grid(&g);
        }
    smaller();
    no_dimensions();
    carried_over();
    of_a_part();
    return check_done();
}
