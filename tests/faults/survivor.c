/* SPDX-License-Identifier: BSD-3-Clause */
/* survivor.c: what ranks do that go on when others are lost (mpiexec -with-ft ulfm).
 *
 *   survivor lost CALL FIRST LAST N  ranks FIRST to LAST do nothing, and are lost when somebody else ends their host.
 *                                    The others wait in CALL; when that has failed they shrink, add something up,
 *                                    and spawn N (0: none) in place of the lost ones
 *   survivor replace N               rank 1 dies; the others shrink and spawn N in its place, merge, and add
 *                                    something up
 *   survivor mourn                   the same, and the one in its place dies as well
 *   survivor fresh HOW               one that was spawned so
 *
 * Who finds something else than is right says so and ends the job with 9. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wrong(const char *what, int is, int expected)
{
    fprintf(stderr, "%s: %d, expected %d\n", what, is, expected);
    MPI_Abort(MPI_COMM_SELF, 9);
}

static void check(const char *what, int is, int expected)
{
    if (is != expected)
        wrong(what, is, expected);
}

static int class_of(int err)
{
    int c = MPI_SUCCESS;
    if (err)
        MPI_Error_class(err, &c);
    return c;
}

/* Squares of 1 to the size, each member its own. */
static void add_up(const char *what, MPI_Comm comm, int size)
{
    int rank, is, mine, sum = 0, expected = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &is);
    check("members", is, size);
    mine = (rank + 1) * (rank + 1);
    for (int i = 1; i <= size; i++)
        expected += i * i;
    check("the class of the sum's error", class_of(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm)),
          MPI_SUCCESS);
    check("the sum", sum, expected);
    if (rank == 0)
        printf("%s: %d members, right\n", what, size);
    fflush(stdout);
}

static MPI_Comm shrunk(MPI_Comm comm)
{
    MPI_Comm left;
    MPIX_Comm_revoke(comm);
    check("the class of shrink's error", class_of(MPIX_Comm_shrink(comm, &left)), MPI_SUCCESS);
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    return left;
}

/* Those that are left and those that are fresh, the former first. */
static MPI_Comm merged(MPI_Comm inter, int fresh)
{
    MPI_Comm all;
    check("the class of the merge's error", class_of(MPI_Intercomm_merge(inter, fresh, &all)), MPI_SUCCESS);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    return all;
}

static void refill(const char *program, MPI_Comm left, int n, int dies)
{
    char *argv[] = { "fresh", dies ? "dies" : "lives", NULL }, byte;
    int size;
    MPI_Comm inter, all;
    MPI_Comm_size(left, &size);
    check("the class of the spawn's error",
          class_of(MPI_Comm_spawn(program, argv, n, MPI_INFO_NULL, 0, left, &inter, MPI_ERRCODES_IGNORE)),
          MPI_SUCCESS);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    all = merged(inter, 0);
    add_up("all", all, size + n);
    if (dies) {
        check("the class of the error",
              class_of(MPI_Recv(&byte, 1, MPI_CHAR, size, 0, all, MPI_STATUS_IGNORE)), MPIX_ERR_PROC_FAILED);
        add_up("left again", left, size);
    } else {
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&inter);
    }
}

static int wait_in(const char *call, int lost)
{
    enum { BYTES = 64 << 20 };
    char *bytes = calloc(BYTES, 1);
    int err = MPI_SUCCESS, one = 1, sum;
    if (strcmp(call, "recv") == 0)
        err = MPI_Recv(bytes, 1, MPI_CHAR, lost, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(call, "any") == 0)
        err = MPI_Recv(bytes, 1, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(call, "later") == 0) { /* when mpiexec has told of it, too */
        sleep(1);
        err = MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(call, "send") == 0) /* it takes some of it, and no more */
        err = MPI_Send(bytes, BYTES, MPI_CHAR, lost, 0, MPI_COMM_WORLD);
    else
        err = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    free(bytes);
    return class_of(err);
}

static void lost(const char *program, const char *call, int first, int last, int n)
{
    int rank, size, c;
    MPI_Comm left;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == (first == 0 ? last + 1 : 0)) {
        puts("begun");
        fflush(stdout);
    }
    while (rank >= first && rank <= last)
        pause();
    c = wait_in(call, first);
    if (c != MPIX_ERR_PROC_FAILED && c != MPIX_ERR_REVOKED)
        wrong("the class of the error", c, MPIX_ERR_PROC_FAILED);
    left = shrunk(MPI_COMM_WORLD);
    add_up("left", left, size - (last - first + 1));
    if (n > 0)
        refill(program, left, n, 0);
    MPI_Comm_free(&left);
}

static void fresh(const char *how)
{
    MPI_Comm parent, all;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        wrong("a fresh rank without a parent", 0, 1);
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    all = merged(parent, 1);
    int size;
    MPI_Comm_size(all, &size);
    add_up("all", all, size);
    if (strcmp(how, "dies") == 0)
        raise(SIGKILL);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

static void replace(const char *program, int n, int dies)
{
    int rank, size;
    MPI_Comm left;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    left = shrunk(MPI_COMM_WORLD);
    add_up("left", left, size - 1);
    refill(program, left, n, dies);
    MPI_Comm_free(&left);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc == 6 && strcmp(argv[1], "lost") == 0)
        lost(argv[0], argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
    else if (argc == 3 && strcmp(argv[1], "replace") == 0)
        replace(argv[0], atoi(argv[2]), 0);
    else if (argc == 2 && strcmp(argv[1], "mourn") == 0)
        replace(argv[0], 1, 1);
    else if (argc == 3 && strcmp(argv[1], "fresh") == 0)
        fresh(argv[2]);
    else
        wrong("arguments", argc, 6);
    MPI_Finalize();
    return 0;
}
