/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles as integers and back, of predefined and made objects; integers that name nothing; Fortran's names for it. */
/* ranks: 1 2 */
#include <check.h>

/* MPICH's handles are these integers: made ones may be negative, and one that was freed may be another object's. */
#ifdef ABI_MPICH
#define INTEGERS_ARE_KEELS 0
#else
#define INTEGERS_ARE_KEELS 1
#endif

static void made(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Request request;
    int x = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm);
    CHECK(!INTEGERS_ARE_KEELS || MPI_Comm_toint(comm) > 0x1000, "%d may be taken for a predefined handle",
          MPI_Comm_toint(comm));
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(request)) == request);
    int old = MPI_Comm_toint(comm);
    CHECK(!INTEGERS_ARE_KEELS || MPI_Type_fromint(old) == MPI_DATATYPE_NULL,
          "a communicator's integer is a datatype's");
    MPI_Win win;
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, comm, &win);
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    CHECK(!INTEGERS_ARE_KEELS || MPI_Win_toint(win) > 0x1000, "%d may be taken for a predefined handle",
          MPI_Win_toint(win));
    MPI_Win_free(&win);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Group_free(&group);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    CHECK(!INTEGERS_ARE_KEELS || MPI_Comm_fromint(old) == MPI_COMM_NULL,
          "a freed communicator's integer names something");
}

static void sessions(void)
{
    MPI_Session session, other;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    int number = MPI_Session_toint(session), n = 0;
    MPI_Fint fortran = MPI_Session_c2f(session);
    CHECK(number != MPI_Session_toint(other) && fortran != MPI_Session_c2f(other),
          "two sessions have one integer");
    CHECK(MPI_Session_fromint(number) == session);
    CHECK(MPI_Session_f2c(fortran) == session);
    CHECK_ERR(MPI_Session_get_num_psets(MPI_Session_f2c(fortran), MPI_INFO_NULL, &n), MPI_SUCCESS);
    CHECK(n >= 2, "%d sets of processes", n);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    MPI_Session_finalize(&session);
    MPI_Session_finalize(&other);
    CHECK(!INTEGERS_ARE_KEELS || MPI_Session_fromint(number) == MPI_SESSION_NULL,
          "a finalized session's integer names something");
}

static void statuses(void)
{
    MPI_Status s, t;
    MPI_F08_status f08, g08;
    MPI_Fint f[MPI_F_STATUS_SIZE], g[MPI_F_STATUS_SIZE];
    int x = 3, n = -1;
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &request);
    MPI_Send(&x, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    memset(&s, 0, sizeof s);
    memset(&t, 0xff, sizeof t);
    MPI_Wait(&request, &s);
    CHECK_ERR(MPI_Status_c2f(&s, f), MPI_SUCCESS);
    CHECK_EQ(f[MPI_F_SOURCE], 0);
    CHECK_EQ(f[MPI_F_TAG], 9);
    CHECK_ERR(MPI_Status_f2f08(f, &f08), MPI_SUCCESS);
    CHECK_EQ(f08.MPI_TAG, 9);
    CHECK_ERR(MPI_Status_f082f(&f08, g), MPI_SUCCESS);
    CHECK_ERR(MPI_Status_f2c(g, &t), MPI_SUCCESS);
    CHECK_ERR(MPI_Get_count(&t, MPI_INT, &n), MPI_SUCCESS);
    CHECK_EQ(n, 1);
    CHECK_ERR(MPI_Status_c2f08(&t, &g08), MPI_SUCCESS);
    memset(&t, 0xff, sizeof t);
    CHECK_ERR(MPI_Status_f082c(&g08, &t), MPI_SUCCESS);
    CHECK_EQ(t.MPI_TAG, 9);
    CHECK_EQ(memcmp(&s, &t, sizeof s), 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Status_c2f(MPI_STATUS_IGNORE, f), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
#if defined ABI_MPICH || defined ABI_OPENMPI /* not the standard's ABI: with numbers of their own */
    int major = 0, minor = 0;
    CHECK_ERR(MPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
    CHECK_EQ(major, -1);
    CHECK_EQ(minor, -1);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
#else
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_NULL), 0x100);
    CHECK_EQ(MPI_Comm_toint(MPI_COMM_SELF), 0x102);
    CHECK_EQ(MPI_Type_toint(MPI_INT), 0x209);
    CHECK_EQ(MPI_Op_toint(MPI_SUM), 0x21);
    CHECK_EQ(MPI_Group_toint(MPI_GROUP_EMPTY), 0x109);
    CHECK_EQ(MPI_Request_toint(MPI_REQUEST_NULL), 0x180);
    CHECK_EQ(MPI_Errhandler_toint(MPI_ERRORS_RETURN), 0x143);
#endif
#if INTEGERS_ARE_KEELS
    CHECK(MPI_Op_fromint(0x21) == MPI_SUM);
    CHECK(MPI_Group_f2c(0x109) == MPI_GROUP_EMPTY);
    CHECK(MPI_Errhandler_fromint(0x143) == MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_fromint(0x100) == MPI_COMM_NULL);
    CHECK(MPI_Comm_fromint(0x209) == MPI_COMM_NULL, "a datatype's integer");
    CHECK(MPI_Comm_fromint(-5) == MPI_COMM_NULL);
    CHECK(MPI_Comm_fromint(0x7fffffff) == MPI_COMM_NULL);
#endif
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_MAXLOC)) == MPI_MAXLOC);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_ABORT)) == MPI_ERRORS_ABORT);
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NULL)) == MPI_MESSAGE_NULL);
    made();
    sessions();
    statuses();
    return check_done();
}
