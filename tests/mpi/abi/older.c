/* SPDX-License-Identifier: BSD-3-Clause */
/* Procedures that no other program calls which uses nothing newer: so that programs of other MPIs' headers call each of
 * them, too (parts abi-mpich, abi-openmpi). */
/* ranks: 1 2 3 */
#include <stdlib.h>
#include <unistd.h>
#include "../check.h"

static MPI_Comm ring; /* a Cartesian one */
static int next, before;

/* ---- Handles as integers ---- */

/* MPICH 5's header has each of them as a function, and as a macro that hides it; earlier ones have macros alone. */
#if defined ABI_MPICH && MPI_VERSION >= 5
#define ROUND_TRIP(kind, handle) CHECK((MPI_##kind##_f2c)((MPI_##kind##_c2f)(handle)) == (handle), #kind)
#else
#define ROUND_TRIP(kind, handle) CHECK(MPI_##kind##_f2c(MPI_##kind##_c2f(handle)) == (handle), #kind)
#endif

static void integers(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Message message;
    MPI_Win win;
    MPI_Status status, back;
    MPI_Fint f[64];
    int x = 5, y = 0;
    ROUND_TRIP(Comm, MPI_COMM_WORLD);
    ROUND_TRIP(Comm, MPI_COMM_NULL);
    ROUND_TRIP(Group, MPI_GROUP_EMPTY);
    ROUND_TRIP(Type, MPI_DOUBLE);
    ROUND_TRIP(Op, MPI_SUM);
    ROUND_TRIP(Info, MPI_INFO_NULL);
    ROUND_TRIP(Errhandler, MPI_ERRORS_RETURN);
    ROUND_TRIP(Request, MPI_REQUEST_NULL);
    ROUND_TRIP(Message, MPI_MESSAGE_NULL);
    ROUND_TRIP(Message, MPI_MESSAGE_NO_PROC);
    ROUND_TRIP(Win, MPI_WIN_NULL);
    ROUND_TRIP(File, MPI_FILE_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Op_create((MPI_User_function *)(void (*)(void))abort, 1, &op);
    MPI_Info_create(&info);
    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, comm, &win);
    MPI_Isend(&x, 1, MPI_INT, check_rank, 1, comm, &request);
    MPI_Mprobe(check_rank, 1, comm, &message, MPI_STATUS_IGNORE);
    ROUND_TRIP(Comm, comm);
    ROUND_TRIP(Group, group);
    ROUND_TRIP(Type, type);
    ROUND_TRIP(Op, op);
    ROUND_TRIP(Info, info);
    ROUND_TRIP(Errhandler, handler);
    ROUND_TRIP(Win, win);
    ROUND_TRIP(Request, request);
    ROUND_TRIP(Message, message);
    MPI_Mrecv(&y, 1, MPI_INT, &message, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(MPI_Status_c2f(&status, f), MPI_SUCCESS);
    CHECK_EQ(MPI_Status_f2c(f, &back), MPI_SUCCESS);
    MPI_Get_count(&back, MPI_INT, &x);
    CHECK(back.MPI_SOURCE == check_rank && back.MPI_TAG == 1 && x == 1, "a status of Fortran");
    MPI_Win_free(&win);
    MPI_Errhandler_free(&handler);
    MPI_Info_free(&info);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
}

/* ---- Info ---- */

static void infos(void)
{
    MPI_Info info, copy, used;
    char key[MPI_MAX_INFO_KEY + 1], value[16];
    int n = -1, flag = -1;
    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "22");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "one");
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 1);
    MPI_Info_get_nkeys(copy, &n);
    CHECK_EQ(n, 2);
    MPI_Info_get_nthkey(copy, 1, key);
    CHECK(strcmp(key, "two") == 0, "%s", key);
    MPI_Info_get_valuelen(copy, "two", &n, &flag);
    CHECK(flag == 1 && n == 2, "%d, %d", flag, n);
    MPI_Info_get(copy, "one", 15, value, &flag);
    CHECK(flag == 1 && strcmp(value, "1") == 0, "%s", value);
    MPI_Info_get(copy, "three", 15, value, &flag);
    CHECK_EQ(flag, 0);
    CHECK_EQ(MPI_Comm_set_info(ring, copy), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_get_info(ring, &used), MPI_SUCCESS);
    MPI_Info_free(&used);
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
}

/* ---- Datatypes ---- */

static void types(void)
{
    MPI_Datatype t, r;
    MPI_Aint lb, extent;
    MPI_Count big_lb, big;
    int at[3] = { 0, 4, 9 }, n, sizes[2] = { 4, 6 }, part[2] = { 2, 3 }, starts[2] = { 1, 2 };
    int distribs[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC },
        dargs[2] = { MPI_DISTRIBUTE_DFLT_DARG, 1 }, grid[2] = { 2, 1 };
    int ints, addresses, datatypes, combiner;
    MPI_Status s;
    MPI_Type_create_indexed_block(3, 2, at, MPI_INT, &t);
    MPI_Type_size_x(t, &big);
    CHECK_EQ(big, 24);
    MPI_Type_get_true_extent(t, &lb, &extent);
    CHECK(lb == 0 && extent == 44, "%d, %d", (int)lb, (int)extent);
    MPI_Type_get_true_extent_x(t, &big_lb, &big);
    CHECK(big_lb == 0 && big == 44, "%d, %d", (int)big_lb, (int)big);
    MPI_Type_get_extent_x(t, &big_lb, &big);
    CHECK(big_lb == 0 && big == 44, "%d, %d", (int)big_lb, (int)big);
    MPI_Type_get_envelope(t, &ints, &addresses, &datatypes, &combiner);
    CHECK(combiner == MPI_COMBINER_INDEXED_BLOCK && ints == 5 && addresses == 0 && datatypes == 1,
          "an envelope");
    MPI_Type_create_resized(t, -4, 100, &r);
    MPI_Type_get_extent(r, &lb, &extent);
    CHECK(lb == -4 && extent == 100, "%d, %d", (int)lb, (int)extent);
    MPI_Type_free(&r);
    MPI_Type_free(&t);
    MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_FORTRAN, MPI_SHORT, &t);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, 12);
    MPI_Type_free(&t);
    MPI_Type_create_darray(2, 1, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_DOUBLE, &t);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, 96, "half of 4 x 6");
    MPI_Type_free(&t);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, sizeof(double), &t);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, 8);
    MPI_Pack_size(3, MPI_INT, ring, &n);
    CHECK(n >= 12, "%d", n);
    MPI_Pack_external_size("external32", 3, MPI_LONG, &lb);
    CHECK_EQ(lb, 12, "longs have 4 bytes there");
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &t);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, 8);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &t);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, 8);
    MPI_Type_create_f90_integer(9, &t);
    MPI_Type_size(t, &n);
    CHECK_EQ(n, 4);
    MPI_Status_set_elements_x(&s, MPI_INT, 7);
    MPI_Get_elements_x(&s, MPI_INT, &big);
    CHECK_EQ(big, 7);
}

/* ---- Operations ---- */

static void operations(void)
{
    int a[2] = { 1, 2 }, b[2] = { 10, 20 }, commutes = 0;
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK_EQ(commutes, 1);
    MPI_Reduce_local(a, b, 2, MPI_INT, MPI_SUM);
    CHECK(b[0] == 11 && b[1] == 22, "%d %d", b[0], b[1]);
}

/* ---- Messages ---- */

static void messages(void)
{
    MPI_Request r[4];
    static char room[1000 + MPI_BSEND_OVERHEAD];
    void *base;
    int out = 100 + check_rank, in[2] = { 0 }, n;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Recv_init(&in[0], 1, MPI_INT, before, 1, ring, &r[0]);
    MPI_Recv_init(&in[1], 1, MPI_INT, before, 2, ring, &r[1]);
    MPI_Bsend_init(&out, 1, MPI_INT, next, 1, ring, &r[2]);
    MPI_Rsend_init(&out, 1, MPI_INT, next, 2, ring, &r[3]);
    MPI_Startall(2, r);
    MPI_Barrier(ring);
    MPI_Startall(2, r + 2);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 100 + before && in[1] == 100 + before, "%d %d", in[0], in[1]);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
    MPI_Buffer_detach(&base, &n);
    CHECK_EQ(n, (int)sizeof room);
    MPI_Pcontrol(0);
}

/* ---- Collectives ---- */

static void wait_for(MPI_Request *r, const char *what)
{
    CHECK(*r != MPI_REQUEST_NULL, "%s: no request", what);
    MPI_Wait(r, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    enum { MOST = 8 };
    int out[MOST], in[MOST], counts[MOST], places[MOST], sum = check_size * (check_size - 1) / 2,
                                                         one = check_rank, all;
    MPI_Request r = MPI_REQUEST_NULL;
    for (int i = 0; i < MOST; i++) {
        out[i] = 10 * check_rank + i;
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Iallgatherv(&one, 1, MPI_INT, in, counts, places, MPI_INT, ring, &r);
    wait_for(&r, "MPI_Iallgatherv");
    CHECK_EQ(in[check_size - 1], check_size - 1);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &r);
    wait_for(&r, "MPI_Ialltoall");
    CHECK_EQ(in[check_size - 1], 10 * (check_size - 1) + check_rank);
    all = -1;
    MPI_Iexscan(&one, &all, 1, MPI_INT, MPI_SUM, ring, &r);
    wait_for(&r, "MPI_Iexscan");
    CHECK_EQ(all, check_rank ? check_rank * (check_rank - 1) / 2 : -1);
    MPI_Igather(&one, 1, MPI_INT, in, 1, MPI_INT, 0, ring, &r);
    wait_for(&r, "MPI_Igather");
    CHECK(check_rank > 0 || in[check_size - 1] == check_size - 1, "gathered");
    MPI_Iscatter(out, 1, MPI_INT, &all, 1, MPI_INT, 0, ring, &r);
    wait_for(&r, "MPI_Iscatter");
    CHECK_EQ(all, check_rank);
    MPI_Ireduce(&one, &all, 1, MPI_INT, MPI_SUM, 0, ring, &r);
    wait_for(&r, "MPI_Ireduce");
    CHECK(check_rank > 0 || all == sum, "reduced");
    MPI_Ireduce_scatter(out, &all, counts, MPI_INT, MPI_SUM, ring, &r);
    wait_for(&r, "MPI_Ireduce_scatter");
    CHECK_EQ(all, 10 * sum + check_size * check_rank);
    MPI_Ireduce_scatter_block(out, &all, 1, MPI_INT, MPI_SUM, ring, &r);
    wait_for(&r, "MPI_Ireduce_scatter_block");
    CHECK_EQ(all, 10 * sum + check_size * check_rank);
}

/* Of a ring: the one before, then the next. */
static void neighbours(void)
{
    int out[2] = { 10 * check_rank, 10 * check_rank + 1 }, in[2], counts[2] = { 1, 1 }, places[2] = { 0, 1 };
    MPI_Aint bytes[2] = { 0, sizeof(int) };
    MPI_Datatype t[2] = { MPI_INT, MPI_INT };
    MPI_Request r = MPI_REQUEST_NULL;
#define GATHERED(what) \
    do { \
        CHECK(in[0] == 10 * before && in[1] == 10 * next, "%s: %d %d", what, in[0], in[1]); \
        in[0] = in[1] = -1; \
    } while (0)
#define EXCHANGED(what) \
    do { \
        CHECK(in[0] == 10 * before + 1 && in[1] == 10 * next, "%s: %d %d", what, in[0], in[1]); \
        in[0] = in[1] = -1; \
    } while (0)
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    GATHERED("allgather");
    MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, ring);
    GATHERED("allgatherv");
    MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring, &r);
    wait_for(&r, "MPI_Ineighbor_allgather");
    GATHERED("Iallgather");
    MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, counts, places, MPI_INT, ring, &r);
    wait_for(&r, "MPI_Ineighbor_allgatherv");
    GATHERED("Iallgatherv");
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    EXCHANGED("alltoall");
    MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, ring);
    EXCHANGED("alltoallv");
    MPI_Neighbor_alltoallw(out, counts, bytes, t, in, counts, bytes, t, ring);
    EXCHANGED("alltoallw");
    MPI_Ineighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, ring, &r);
    wait_for(&r, "MPI_Ineighbor_alltoallv");
    EXCHANGED("Ialltoallv");
    MPI_Ineighbor_alltoallw(out, counts, bytes, t, in, counts, bytes, t, ring, &r);
    wait_for(&r, "MPI_Ineighbor_alltoallw");
    EXCHANGED("Ialltoallw");
}

/* ---- Files ---- */

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *arg)
{
    (void)arg;
    int n;
    MPI_Type_size(type, &n);
    *extent = n;
    return MPI_SUCCESS;
}

static void files(void)
{
    char name[64], datarep[MPI_MAX_DATAREP_STRING];
    MPI_File f;
    MPI_Info info;
    MPI_Group group;
    MPI_Offset disp;
    MPI_Aint extent;
    MPI_Datatype etype, filetype;
    int amode, flag, n;
    snprintf(name, sizeof name, "/tmp/keel-older-%ld", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, ring);
    CHECK_EQ(MPI_File_open(ring, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &f),
             MPI_SUCCESS);
    ROUND_TRIP(File, f);
    MPI_File_get_amode(f, &amode);
    CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_get_atomicity(f, &flag);
    CHECK_EQ(flag, 0);
    MPI_File_get_group(f, &group);
    MPI_Group_size(group, &n);
    CHECK_EQ(n, check_size);
    MPI_Group_free(&group);
    MPI_File_get_info(f, &info);
    CHECK_EQ(MPI_File_set_info(f, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_File_set_view(f, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_get_view(f, &disp, &etype, &filetype, datarep);
    CHECK(disp == 16 && etype == MPI_INT && filetype == MPI_INT && strcmp(datarep, "native") == 0, "a view");
    MPI_File_get_type_extent(f, MPI_DOUBLE, &extent);
    CHECK_EQ(extent, 8);
    CHECK_EQ(MPI_File_close(&f), MPI_SUCCESS);
    CHECK_EQ(
        MPI_Register_datarep("keel older", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL),
        MPI_SUCCESS);
}

/* ---- The tool interface: categories ---- */

/* Of a variable that has one. */
static void enumerations(void)
{
    int n = 0, seen = 0;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        char name[256], desc[2048];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, scope, items;
        MPI_Datatype type;
        MPI_T_enum values = MPI_T_ENUM_NULL;
        MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &values, desc, &desc_len, &bind, &scope);
        if (values == MPI_T_ENUM_NULL)
            continue;
        name_len = sizeof name;
        CHECK_EQ(MPI_T_enum_get_info(values, &items, name, &name_len), MPI_SUCCESS);
        CHECK(items > 0, "an enumeration of %d", items);
        seen++;
    }
    if (seen == 0)
        CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, NULL, NULL, NULL) != MPI_SUCCESS, "of no enumeration");
}

static void categories(void)
{
    int n = 0, again = 0, index = -1, provided, name_len, desc_len, cvars, pvars, cats, stamp, list[4096];
    char name[256], desc[1024];
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_category_get_num(&n);
    MPI_T_category_changed(&stamp);
    for (int i = 0; i < n; i++) {
        name_len = sizeof name;
        desc_len = sizeof desc;
        CHECK_EQ(MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &cvars, &pvars, &cats),
                 MPI_SUCCESS);
        CHECK_EQ(MPI_T_category_get_index(name, &index), MPI_SUCCESS);
        CHECK_EQ(index, i);
        CHECK_EQ(MPI_T_category_get_cvars(i, cvars < 4096 ? cvars : 4096, list), MPI_SUCCESS);
        CHECK_EQ(MPI_T_category_get_pvars(i, pvars < 4096 ? pvars : 4096, list), MPI_SUCCESS);
        CHECK_EQ(MPI_T_category_get_categories(i, cats < 4096 ? cats : 4096, list), MPI_SUCCESS);
    }
    MPI_T_category_get_num(&again);
    CHECK_EQ(again, n);
    enumerations();
    MPI_T_finalize();
}

#ifdef MPI_SESSION_NULL /* Open MPI 5 says that it is MPI 3.1 */
static void sessions(void)
{
    MPI_Session session;
    ROUND_TRIP(Session, MPI_SESSION_NULL);
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    ROUND_TRIP(Session, session);
    MPI_Session_finalize(&session);
}
#endif

int main(int argc, char **argv)
{
    int dims[1], periods[1] = { 1 };
    check_init(&argc, &argv);
    dims[0] = check_size;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    MPI_Cart_shift(ring, 0, 1, &before, &next);
    integers();
#ifdef MPI_SESSION_NULL
    sessions();
#endif
    infos();
    types();
    operations();
    messages();
    collectives();
    neighbours();
    files();
    categories();
    MPI_Comm_free(&ring);
    return check_done();
}
