/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_Comm_spawn_multiple: one MPI_COMM_WORLD of several programs, arguments and info of each; the keys that the
 * standard reserves. */
#include "../check.h"
#include <unistd.h>

static void child(MPI_Comm parent, int argc, char **argv)
{
    int *appnum = NULL, flag = 0, first = 0, word;
    char where[4096], *var = getenv("KEEL_TEST_WORD");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
    CHECK(flag, "no MPI_APPNUM");
    CHECK_EQ(check_size, 3);
    CHECK_EQ(*appnum, check_rank == 0 ? 0 : 1, "section of rank %d", check_rank);
    CHECK(getcwd(where, sizeof where) != NULL);
    if (*appnum == 0) {
        CHECK_EQ(argc, 3);
        CHECK(argc == 3 && strcmp(argv[1], "first") == 0 && strcmp(argv[2], "") == 0, "arguments");
        CHECK(strcmp(where, "/") == 0, "in %s", where);
        CHECK(var == NULL, "a variable of the other section");
    } else {
        CHECK_EQ(argc, 1);
        CHECK(var != NULL && strcmp(var, "a b") == 0, "variable %s", var ? var : "(none)");
    }
    CHECK(getenv("KEEL_PARENT") == NULL, "KEEL_PARENT is passed on");
    MPI_Errhandler h;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &h);
    CHECK((h == MPI_ERRORS_RETURN) == (*appnum == 1), "initial error handler of section %d", *appnum);
    MPI_Bcast(&first, 1, MPI_INT, 0, parent);
    CHECK_EQ(first, 99);
    word = check_rank;
    MPI_Gather(&word, 1, MPI_INT, NULL, 0, MPI_INT, 0, parent);
    MPI_Comm_free(&parent);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argc, argv);
        return check_done();
    }
    char here[4096], *base = strrchr(argv[0], '/');
    snprintf(here, sizeof here, "%.*s", (int)(base ? base - argv[0] : 0), argv[0]);
    char *commands[] = { argv[0], base ? base + 1 : argv[0] }, *one[] = { "first", "", NULL },
         **args[] = { one, MPI_ARGV_NULL };
    int procs[] = { 1, 5 }, errs[6], n = 0, ninety = 99, words[3] = { 0 };
    MPI_Info info[2];
    MPI_Info_create(&info[0]);
    MPI_Info_set(info[0], "wdir", "/");
    MPI_Info_set(info[0], "host", "localhost");
    MPI_Info_create(&info[1]);
    MPI_Info_set(info[1], "path", here);
    MPI_Info_set(info[1], "soft", "2,7:100:8");
    MPI_Info_set(info[1], "env", "KEEL_TEST_WORD=a b\n");
    MPI_Info_set(info[1], "mpi_initial_errhandler", "mpi_errors_return");
    MPI_Info_set(info[1], "host", "localhost");
    if (check_rank == 0)
        CHECK_EQ(MPI_Comm_spawn_multiple(2, commands, args, procs, info, 0, MPI_COMM_WORLD, &inter, errs),
                 MPI_SUCCESS);
    else
        CHECK_EQ(MPI_Comm_spawn_multiple(-1, NULL, NULL, NULL, NULL, 0, MPI_COMM_WORLD, &inter, errs),
                 MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &n);
    CHECK_EQ(n, 3, "softly");
    MPI_Bcast(&ninety, 1, MPI_INT, check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Gather(NULL, 0, MPI_INT, words, 1, MPI_INT, check_rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    for (int i = 0; i < 3 && check_rank == 0; i++)
        CHECK_EQ(words[i], i);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(errs[i], i < 3 ? MPI_SUCCESS : MPI_ERR_SPAWN, "code %d", i);
    MPI_Info_free(&info[0]);
    MPI_Info_free(&info[1]);
    MPI_Comm_free(&inter);
    return check_done();
}
