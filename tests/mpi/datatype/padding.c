/* SPDX-License-Identifier: BSD-3-Clause */
/* A new type's upper bound is never below where an old type's upper bound was put, and no data or padding is lost
 * but by MPI_Type_create_resized: random types of random types, by every constructor.  With an argument it prints
 * their bounds (padding.test). */
/* ranks: 1 */
#include "../check.h"

enum { TYPES = 3, MOST = 4, DEPTH = 3, ROUNDS = 3000 };
enum sort {
    CONTIGUOUS,
    VECTOR,
    HVECTOR,
    INDEXED,
    HINDEXED,
    INDEXED_BLOCK,
    HINDEXED_BLOCK,
    STRUCT,
    SUBARRAY,
    DARRAY,
    DUP,
    SORTS
};
static const char *const sorts[] = { "contiguous",     "vector",   "hvector",
                                     "indexed",        "hindexed", "indexed_block",
                                     "hindexed_block", "struct",   "subarray",
                                     "darray",         "dup" };

static uint64_t state;
static int in_order; /* displacements grow */

static int rnd(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (unsigned)n);
}

struct bounds {
    MPI_Aint lb, ub;
};

static struct bounds bounds_of(MPI_Datatype t)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(t, &lb, &extent);
    return (struct bounds){ lb, lb + extent };
}

/* What a constructor puts where. */
struct made {
    enum sort sort;
    int n, blocks[MOST], displs[MOST];
    MPI_Aint bytes[MOST];
    MPI_Datatype parts[MOST];
    int marked[MOST]; /* the part's bounds are set by an array constructor, here or in a part of it */
    MPI_Datatype type;
};

/* `n` elements of t from `at` on lie below the new type's ub. */
static void inside(const struct made *m, MPI_Datatype t, int n, MPI_Aint at, struct bounds whole, int round)
{
    struct bounds one = bounds_of(t);
    MPI_Aint end = at + (n - 1) * (one.ub - one.lb) + one.ub;
    CHECK(end <= whole.ub, "%s of round %d: ub is %ld; its part's ends at %ld", sorts[m->sort], round,
          (long)whole.ub, (long)end);
    CHECK(at + one.lb >= whole.lb, "%s of round %d: lb is %ld; its part's begins at %ld", sorts[m->sort],
          round, (long)whole.lb, (long)(at + one.lb));
}

static int is_array(const struct made *m)
{
    return m->sort == SUBARRAY || m->sort == DARRAY;
}

/* Are the new type's bounds set by array constructors? */
static int marks(const struct made *m)
{
    int marked = m->marked[0] || is_array(m);
    for (int i = 1; m->sort == STRUCT && i < m->n; i++)
        marked |= m->marked[i];
    return marked;
}

static void check_parts(const struct made *m, int round)
{
    struct bounds whole = bounds_of(m->type), old = bounds_of(m->parts[0]);
    MPI_Aint extent = old.ub - old.lb;
    for (int i = 0; i < m->n; i++)
        switch (m->sort) {
        case VECTOR:
            inside(m, m->parts[0], m->blocks[0], i * m->displs[0] * extent, whole, round);
            break;
        case HVECTOR:
            inside(m, m->parts[0], m->blocks[0], i * m->bytes[0], whole, round);
            break;
        case INDEXED:
            inside(m, m->parts[0], m->blocks[i], m->displs[i] * extent, whole, round);
            break;
        case INDEXED_BLOCK:
            inside(m, m->parts[0], m->blocks[0], m->displs[i] * extent, whole, round);
            break;
        case HINDEXED:
            inside(m, m->parts[0], m->blocks[i], m->bytes[i], whole, round);
            break;
        case HINDEXED_BLOCK:
            inside(m, m->parts[0], m->blocks[0], m->bytes[i], whole, round);
            break;
        case STRUCT: /* bounds that are set tell alone */
            if (m->marked[i] == marks(m))
                inside(m, m->parts[i], m->blocks[i], m->bytes[i], whole, round);
            break;
        case SUBARRAY:
        case DARRAY: /* bounds are those of the whole array, whatever its element's lb */
            CHECK(whole.lb == 0 && whole.ub == (3 + m->n) * 5 * extent, "%s of round %d: lb %ld, ub %ld",
                  sorts[m->sort], round, (long)whole.lb, (long)whole.ub);
            break;
        default:
            inside(m, m->parts[0], m->sort == CONTIGUOUS ? m->n : 1, 0, whole, round);
            break;
        }
}

static void make(struct made *m)
{
    int gsizes[2] = { 3 + m->n, 5 }, subsizes[2] = { m->n, 2 }, starts[2] = { 1, 2 };
    int distribs[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC },
        dargs[2] = { MPI_DISTRIBUTE_DFLT_DARG, 1 };
    int psizes[2] = { 2, 1 };
    MPI_Datatype old = m->parts[0];
    switch (m->sort) {
    case CONTIGUOUS:
        MPI_Type_contiguous(m->n, old, &m->type);
        break;
    case VECTOR:
        MPI_Type_vector(m->n, m->blocks[0], m->displs[0], old, &m->type);
        break;
    case HVECTOR:
        MPI_Type_create_hvector(m->n, m->blocks[0], m->bytes[0], old, &m->type);
        break;
    case INDEXED:
        MPI_Type_indexed(m->n, m->blocks, m->displs, old, &m->type);
        break;
    case HINDEXED:
        MPI_Type_create_hindexed(m->n, m->blocks, m->bytes, old, &m->type);
        break;
    case INDEXED_BLOCK:
        MPI_Type_create_indexed_block(m->n, m->blocks[0], m->displs, old, &m->type);
        break;
    case HINDEXED_BLOCK:
        MPI_Type_create_hindexed_block(m->n, m->blocks[0], m->bytes, old, &m->type);
        break;
    case STRUCT:
        MPI_Type_create_struct(m->n, m->blocks, m->bytes, m->parts, &m->type);
        break;
    case SUBARRAY:
        MPI_Type_create_subarray(2, gsizes, subsizes, starts, MPI_ORDER_C, old, &m->type);
        break;
    case DARRAY:
        MPI_Type_create_darray(2, 1, 2, gsizes, distribs, dargs, psizes, MPI_ORDER_FORTRAN, old, &m->type);
        break;
    default:
        MPI_Type_dup(old, &m->type);
        break;
    }
}

/* A struct's parts may be any of those there are. */
static struct made pick(const MPI_Datatype *types, const int *marked, int last, int nsorts)
{
    struct made m = { .sort = rnd(nsorts), .n = 1 + rnd(MOST) };
    for (int i = 0; i < MOST; i++) {
        m.blocks[i] = 1 + rnd(3);
        m.displs[i] = rnd(12) + (in_order && i ? m.displs[i - 1] : 0);
        m.bytes[i] = rnd(200) + (in_order && i ? m.bytes[i - 1] : 0);
        int part = i && last && rnd(2) ? rnd(last) : last;
        m.parts[i] = types[part];
        m.marked[i] = marked[part];
    }
    return m;
}

static void print(const struct made *m, int round)
{
    struct bounds b = bounds_of(m->type);
    MPI_Aint true_lb, true_extent;
    MPI_Type_get_true_extent(m->type, &true_lb, &true_extent);
    printf("%d: %s of %d: lb %ld, ub %ld, data from %ld to %ld\n", round, sorts[m->sort], m->n, (long)b.lb,
           (long)b.ub, (long)true_lb, (long)(true_lb + true_extent));
}

static void try_round(int round, int nsorts, int prints)
{
    const MPI_Datatype basic[] = { MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT };
    MPI_Datatype types[TYPES], made[TYPES * DEPTH];
    int nmade = 0, marked[TYPES] = { 0 };
    state = (uint64_t)round;
    rnd(2);
    for (int k = 0; k < TYPES; k++) {
        types[k] = basic[rnd(5)];
        for (int depth = 1 + rnd(DEPTH); depth > 0; depth--) {
            struct made m = pick(types, marked, k, nsorts);
            make(&m);
            check_parts(&m, round);
            if (prints)
                print(&m, round);
            types[k] = made[nmade++] = m.type;
            marked[k] = marks(&m);
        }
    }
    while (nmade > 0)
        MPI_Type_free(&made[--nmade]);
}

/* A vector of vectors whose strides are no multiples of the element. */
static void try_strides(void)
{
    MPI_Datatype t, u;
    MPI_Type_create_hvector(3, 4, 25, MPI_INT, &t);
    MPI_Type_create_hvector(2, 3, 273, t, &u);
    CHECK_EQ(bounds_of(t).ub, 68);
    CHECK_EQ(bounds_of(u).ub, 480);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    if (argc == 1)
        try_strides();
    in_order = argc > 1;
    for (int round = 1; round <= (argc > 1 ? 300 : ROUNDS); round++)
        try_round(round, argc > 1 ? SUBARRAY : SORTS, argc > 1);
    return check_done();
}
