/* MPI_Type_get_envelope and MPI_Type_get_contents give back each constructor's arguments. */
/* ranks: 1 2 */
#include "../check.h"

#define OK(call) CHECK_ERR(call, MPI_SUCCESS)

static int ints[20];
static MPI_Aint addrs[20];
static MPI_Datatype types[20];
static MPI_Count larges[20];

static void expect(int line, MPI_Datatype t, int combiner, int ni, const int *wi, int na, const MPI_Aint *wa,
                   int nt, MPI_Datatype first)
{
    int gi = -1, ga = -1, gt = -1, gc = -1;
    OK(MPI_Type_get_envelope(t, &gi, &ga, &gt, &gc));
    CHECK(gi == ni && ga == na && gt == nt && gc == combiner, "line %d: envelope %d %d %d %d", line, gi, ga,
          gt, gc);
    OK(MPI_Type_get_contents(t, 20, 20, 20, ints, addrs, types));
    for (int i = 0; i < ni; i++)
        CHECK_EQ(ints[i], wi[i], "line %d: integer %d", line, i);
    for (int i = 0; i < na; i++)
        CHECK_EQ(addrs[i], wa[i], "line %d: address %d", line, i);
    if (nt)
        CHECK(types[0] == first, "line %d: the old type", line);
    OK(MPI_Type_free(&t));
}
#define I(...) \
    (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), (int[]) \
    { \
        __VA_ARGS__ \
    }
#define A(...) \
    (int)(sizeof((MPI_Aint[]){ __VA_ARGS__ }) / sizeof(MPI_Aint)), (MPI_Aint[]) \
    { \
        __VA_ARGS__ \
    }
#define NONE 0, NULL
#define EXPECT(...) expect(__LINE__, __VA_ARGS__)

static void try_derived(void)
{
    MPI_Datatype v, c;
    OK(MPI_Type_vector(2, 3, 4, MPI_CHAR, &v));
    OK(MPI_Type_contiguous(7, v, &c));
    OK(MPI_Type_free(&v));
    OK(MPI_Type_get_contents(c, 1, 0, 1, ints, NULL,
                             types)); /* the old type is still known; the handle is ours */
    OK(MPI_Type_free(&c));
    int ni, na, nt, combiner;
    OK(MPI_Type_get_envelope(types[0], &ni, &na, &nt, &combiner));
    CHECK_EQ(combiner, MPI_COMBINER_VECTOR);
    OK(MPI_Type_free(&types[0]));
}

static void try_large(void)
{
    MPI_Datatype t;
    MPI_Count ni = -1, na = -1, nl = -1, nt = -1, big = (MPI_Count)1 << 33, bl[2] = { 1, 2 },
              disp[2] = { 0, 5 };
    int i1, i2, i3, combiner = -1;
    OK(MPI_Type_vector_c(big, 1, 2, MPI_INT, &t));
    OK(MPI_Type_get_envelope_c(t, &ni, &na, &nl, &nt, &combiner));
    CHECK(ni == 0 && na == 0 && nl == 3 && nt == 1 && combiner == MPI_COMBINER_VECTOR, "a large vector");
    OK(MPI_Type_get_contents_c(t, 0, 0, 3, 1, ints, addrs, larges, types));
    CHECK(larges[0] == big && larges[1] == 1 && larges[2] == 2 && types[0] == MPI_INT, "its contents");
    CHECK_ERR(MPI_Type_get_envelope(t, &i1, &i2, &i3, &combiner), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_contents(t, 20, 20, 20, ints, addrs, types), MPI_ERR_TYPE);
    CHECK_ERR(MPI_Type_get_contents_c(t, 0, 0, 2, 1, ints, addrs, larges, types), MPI_ERR_ARG);
    CHECK_SAYS("max_large_counts");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_indexed_c(2, bl, disp, MPI_INT, &t));
    OK(MPI_Type_get_envelope_c(t, &ni, &na, &nl, &nt, &combiner));
    CHECK(ni == 0 && na == 0 && nl == 5 && nt == 1, "indexed with large counts: %lld", (long long)nl);
    OK(MPI_Type_get_contents_c(t, 0, 0, 5, 1, ints, addrs, larges, types));
    CHECK(larges[0] == 2 && larges[2] == 2 && larges[4] == 5, "its contents");
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    MPI_Datatype t;
    int bl[2] = { 3, 1 }, disp[2] = { 4, -2 };
    MPI_Aint hd[2] = { 40, -8 };
    MPI_Datatype both[2] = { MPI_SHORT, MPI_INT };
    check_init(&argc, &argv);
    check_errors_return();
    OK(MPI_Type_dup(MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_DUP, NONE, NONE, 1, MPI_INT);
    OK(MPI_Type_contiguous(5, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_CONTIGUOUS, I(5), NONE, 1, MPI_INT);
    OK(MPI_Type_vector(5, 2, -3, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_VECTOR, I(5, 2, -3), NONE, 1, MPI_INT);
    OK(MPI_Type_create_hvector(5, 2, -30, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_HVECTOR, I(5, 2), A(-30), 1, MPI_INT);
    OK(MPI_Type_indexed(2, bl, disp, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_INDEXED, I(2, 3, 1, 4, -2), NONE, 1, MPI_INT);
    OK(MPI_Type_create_hindexed(2, bl, hd, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_HINDEXED, I(2, 3, 1), A(40, -8), 1, MPI_INT);
    OK(MPI_Type_create_indexed_block(2, 7, disp, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_INDEXED_BLOCK, I(2, 7, 4, -2), NONE, 1, MPI_INT);
    OK(MPI_Type_create_hindexed_block(2, 7, hd, MPI_INT, &t));
    EXPECT(t, MPI_COMBINER_HINDEXED_BLOCK, I(2, 7), A(40, -8), 1, MPI_INT);
    OK(MPI_Type_create_struct(2, bl, hd, both, &t));
    EXPECT(t, MPI_COMBINER_STRUCT, I(2, 3, 1), A(40, -8), 2, MPI_SHORT);
    OK(MPI_Type_create_resized(MPI_INT, -4, 100, &t));
    EXPECT(t, MPI_COMBINER_RESIZED, NONE, A(-4, 100), 1, MPI_INT);
    CHECK_ERR(MPI_Type_get_contents(MPI_INT, 20, 20, 20, ints, addrs, types), MPI_ERR_TYPE);
    CHECK_SAYS("MPI_INT");
    OK(MPI_Type_vector(5, 2, 3, MPI_INT, &t));
    CHECK_ERR(MPI_Type_get_contents(t, 2, 0, 1, ints, addrs, types), MPI_ERR_ARG);
    CHECK_SAYS("max_integers");
    CHECK_ERR(MPI_Type_get_contents(t, 3, 0, 0, ints, addrs, types), MPI_ERR_ARG);
    CHECK_SAYS("max_datatypes");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_create_resized(MPI_INT, -4, 100, &t));
    CHECK_ERR(MPI_Type_get_contents(t, 0, 1, 1, ints, addrs, types), MPI_ERR_ARG);
    CHECK_SAYS("max_addresses");
    OK(MPI_Type_free(&t));
    try_derived();
    try_large();
    return check_done();
}
