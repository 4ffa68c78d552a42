/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split_type by hardware, on the simulated machine of the launcher (the ranks that share a package are
 * those that the map puts there), and on whatever machine this is. */
/* ranks: 8 */
/* env: HWLOC_SYNTHETIC=pack:2 numa:1 l3:2 core:2 pu:1 */
/* mpiexec: --bind-to core --map-by core */
/* nodes: one, because ranks are where the map of one machine puts them */
#include "../check.h"

/* Ranks k * n .. k * n + n - 1 of the parent are together. */
static void expect(MPI_Comm c, int n, const char *what)
{
    int size = -1, world[64];
    CHECK(c != MPI_COMM_NULL, "%s", what);
    if (c == MPI_COMM_NULL)
        return;
    MPI_Comm_size(c, &size);
    CHECK_EQ(size, n, "%s", what);
    if (size > 64)
        return;
    MPI_Allgather(&check_rank, 1, MPI_INT, world, 1, MPI_INT, c);
    for (int i = 0; i < size && size == n; i++)
        CHECK_EQ(world[i], check_rank / n * n + i, "%s", what);
}

static MPI_Comm by(int type, const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm c = MPI_COMM_WORLD;
    if (key) {
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &c);
    if (key)
        MPI_Info_free(&info);
    return c;
}

static void guided(void)
{
    static const struct {
        const char *name;
        int n;
    } kinds[] = { { "hwloc://Machine", 8 },  { "hwloc://Package", 4 },  { "hwloc://NUMANode", 4 },
                  { "hwloc://L3Cache", 2 },  { "hwloc://Core", 1 },     { "hwloc://PU", 1 },
                  { "hwloc://numanode", 4 }, { "mpi_shared_memory", 8 } };
    static const int types[] = { MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED };
    for (int t = 0; t < 2; t++) {
        for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            MPI_Comm c = by(types[t], "mpi_hw_resource_type", kinds[i].name);
            expect(c, kinds[i].n, kinds[i].name);
            if (c != MPI_COMM_NULL)
                MPI_Comm_free(&c);
        }
        CHECK(by(types[t], "mpi_hw_resource_type", "hwloc://Rack") == MPI_COMM_NULL);
        CHECK(by(types[t], "somebody_elses", "hwloc://Package") == MPI_COMM_NULL);
        CHECK(by(types[t], NULL, NULL) == MPI_COMM_NULL);
    }
    CHECK(by(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD") == MPI_COMM_NULL);
}

/* From the outside in, until nobody shares anything; the kind is told. */
static void unguided(void)
{
    static const int sizes[] = { 4, 2, 1 };
    static const char *const names[] = { "hwloc://Package", "hwloc://L3Cache", "hwloc://Core" };
    MPI_Comm c[5] = { MPI_COMM_WORLD };
    int n = 0;
    for (; n < 4; n++) {
        MPI_Info info;
        char text[40] = "";
        int len = sizeof text, flag = 0;
        MPI_Info_create(&info);
        c[n + 1] = MPI_COMM_WORLD;
        MPI_Comm_split_type(c[n], MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &c[n + 1]);
        MPI_Info_get_string(info, "mpi_hw_resource_type", &len, text, &flag);
        MPI_Info_free(&info);
        CHECK_EQ(flag, c[n + 1] != MPI_COMM_NULL);
        if (c[n + 1] == MPI_COMM_NULL)
            break;
        CHECK(n < 3);
        if (n >= 3)
            break;
        CHECK(!strcmp(text, names[n]), "step %d: %s", n, text);
        expect(c[n + 1], sizes[n], names[n]);
    }
    CHECK_EQ(n, 3);
    for (int i = n; i > 0; i--)
        MPI_Comm_free(&c[i]);
}

/* Some do not want to be asked; keys count. */
static void some(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    int r = -1, size = -1;
    MPI_Comm_split_type(MPI_COMM_WORLD, check_rank % 4 == 1 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED,
                        -check_rank, MPI_INFO_NULL, &c);
    CHECK_EQ(c == MPI_COMM_NULL, check_rank % 4 == 1);
    if (c != MPI_COMM_NULL) {
        MPI_Comm_rank(c, &r);
        MPI_Comm_size(c, &size);
        CHECK_EQ(size, 3);
        CHECK_EQ(r, check_rank % 4 == 0 ? 2 : 3 - check_rank % 4);
        MPI_Comm_free(&c);
    }
}

static void between(void)
{
    MPI_Comm half, inter, c;
    MPI_Info info;
    int n = -1, m = -1;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 1, &inter);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Package");
    for (int i = 0; i < 2; i++) {
        MPI_Comm_split_type(inter, i ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_COMM_TYPE_HW_GUIDED, 0, info, &c);
        MPI_Comm_size(c, &n);
        MPI_Comm_remote_size(c, &m);
        CHECK_EQ(n, 2);
        CHECK_EQ(m, 2);
        MPI_Comm_free(&c);
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void errors(void)
{
    MPI_Comm c;
    MPI_Info info;
    check_errors_return();
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://Core");
    MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
    CHECK_ERR(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c), MPI_ERR_INFO);
    MPI_Info_delete(info, "mpi_pset_name");
    if (check_rank == 3)
        MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://PU");
    CHECK_ERR(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &c), MPI_ERR_ARG);
    CHECK_SAYS("is not the same in all");
    CHECK_ERR(MPI_Comm_split_type(MPI_COMM_WORLD,
                                  check_rank == 3 ? MPI_COMM_TYPE_SHARED : MPI_COMM_TYPE_HW_UNGUIDED, 0, info,
                                  &c),
              MPI_ERR_ARG);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    guided();
    unguided();
    some();
    between();
    errors();
    return check_done();
}
