/* ranks: 2 3 5 8 */
/* nodes: one, because processes of several nodes do not see what is refused elsewhere but for buffers (refused_buffers.c) */
/* One process has arguments from which nobody can tell what it means (a count, a type, an operation).  On one node the others, which have found
 * nothing wrong, are told who it is instead of waiting; what comes after works. */
#include "check.h"

static MPI_Comm comm;
static int victim, in[8], out[8];

/* A communicator that has been used for a while. */
static void renew(void)
{
    if (comm)
        MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 40; i++)
        MPI_Barrier(comm);
}

static void named(const char *what, int err, int errclass)
{
    char text[MPI_MAX_ERROR_STRING] = "", expected[40];
    int c = -1, len;
    MPI_Error_class(err, &c);
    MPI_Error_string(err, text, &len);
    CHECK(c == errclass, "%s: class %d; expected %d", what, c, errclass);
    snprintf(expected, sizeof expected, "rank %d of the communicator", victim);
    if (check_rank != victim)
        CHECK(strstr(text, expected) != NULL, "%s: \"%s\" does not name rank %d", what, text, victim);
}

#define NAMED(errclass, call) \
    do { \
        renew(); \
        named(#call, call, errclass); \
        CHECK_ERR(MPI_Barrier(comm), MPI_SUCCESS); \
        in[0] = 1; \
        CHECK_ERR(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS); \
        CHECK_EQ(out[0], check_size); \
    } while (0)

static int waited(int err, MPI_Request *r)
{
    return err ? err : MPI_Wait(r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    for (victim = 0; victim < check_size; victim += check_size - 1) {
        int me = check_rank == victim, n = me ? -1 : 1;
        MPI_Datatype t = me ? MPI_DATATYPE_NULL : MPI_INT;
        MPI_Op op = me ? MPI_OP_NULL : MPI_SUM;
        MPI_Request r = MPI_REQUEST_NULL;
        NAMED(MPI_ERR_COUNT, MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm));
        NAMED(MPI_ERR_TYPE, MPI_Allreduce(in, out, 1, t, MPI_SUM, comm));
        NAMED(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, op, comm));
        NAMED(MPI_ERR_TYPE, MPI_Allgather(in, 1, t, out, 1, MPI_INT, comm));
        NAMED(MPI_ERR_COUNT, MPI_Alltoall(in, 1, MPI_INT, out, n, MPI_INT, comm));
        NAMED(MPI_ERR_OP, MPI_Scan(in, out, 1, MPI_INT, op, comm));
        NAMED(MPI_ERR_COUNT, MPI_Bcast(in, n, MPI_INT, victim, comm));
        NAMED(MPI_ERR_TYPE, waited(MPI_Iallreduce(in, out, 1, t, MPI_SUM, comm, &r), &r));
        NAMED(MPI_ERR_COUNT, waited(MPI_Ibcast(in, n, MPI_INT, victim, comm, &r), &r));
    }
    MPI_Comm_free(&comm);
    return check_done();
}
