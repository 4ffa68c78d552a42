/* SPDX-License-Identifier: BSD-3-Clause */
/* grower.c: jobs that grow, with any MPI library.
 *   multiple        two programs with arguments are spawned as one job
 *   often N         one child at a time
 *   deep N          children that spawn, N deep
 *   missing         a program that is not there
 *   port            can it open one?
 *   publish NAME, look-up NAME   a job leaves a name for another, until its stdin ends */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void meet(MPI_Comm other, int expected)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    if (sum != expected) {
        printf("the others add up to %d\n", sum);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 9);
    }
    MPI_Comm_disconnect(&other);
}

static void spawn(char *program, char **args)
{
    MPI_Comm children;
    MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    meet(children, 1);
}

static void multiple(char *program)
{
    char *commands[] = { program, program }, *a[] = { "a", "b", NULL }, *c[] = { "c", NULL },
         **args[] = { a, c };
    int n[] = { 2, 1 }, codes[3] = { -1, -1, -1 };
    MPI_Info none[] = { MPI_INFO_NULL, MPI_INFO_NULL };
    MPI_Comm children;
    MPI_Comm_spawn_multiple(2, commands, args, n, none, 0, MPI_COMM_WORLD, &children, codes);
    for (int i = 0; i < 3; i++)
        if (codes[i] != MPI_SUCCESS)
            printf("code %d is %d\n", i, codes[i]);
    meet(children, 3);
}

static int missing(void)
{
    MPI_Comm children;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int err = MPI_Comm_spawn("/nowhere/program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                             &children, MPI_ERRCODES_IGNORE);
    puts(err == MPI_SUCCESS ? "it has been started" : "refused");
    return 0;
}

static void open_port(void)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Open_port(MPI_INFO_NULL, port) == MPI_SUCCESS) {
        puts("a-port");
        MPI_Close_port(port);
    }
}

static void publish(const char *name)
{
    MPI_Publish_name(name, MPI_INFO_NULL, "a-port");
    puts("published");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    MPI_Unpublish_name(name, MPI_INFO_NULL, "a-port");
}

static void look_up(const char *name)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    puts(MPI_Lookup_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS ? port : "nothing");
}

static void deep(char *program, int depth)
{
    char number[16], *args[] = { "deep", number, NULL };
    snprintf(number, sizeof number, "%d", depth - 1);
    if (depth > 0)
        spawn(program, args);
}

static void child(MPI_Comm parent, int argc, char **argv, int rank, int size)
{
    int parents;
    MPI_Comm_remote_size(parent, &parents);
    if (strcmp(argv[1], "deep") == 0) {
        printf("depth %s\n", argv[2]);
        fflush(stdout);
        deep(argv[0], atoi(argv[2]));
    } else if (strcmp(argv[1], "silent") != 0) {
        printf("child %d of %d: %s%s%s\n", rank, size, argv[1], argc > 2 ? " " : "", argc > 2 ? argv[2] : "");
        fflush(stdout);
    }
    meet(parent, parents);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int rank, size;
    char *silent[] = { "silent", NULL };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argc, argv, rank, size);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(argv[1], "multiple") == 0)
        multiple(argv[0]);
    for (int i = 0; strcmp(argv[1], "often") == 0 && i < atoi(argv[2]); i++)
        spawn(argv[0], silent);
    if (strcmp(argv[1], "deep") == 0)
        deep(argv[0], atoi(argv[2]));
    if (strcmp(argv[1], "missing") == 0)
        missing();
    else if (strcmp(argv[1], "port") == 0)
        open_port();
    else if (strcmp(argv[1], "publish") == 0)
        publish(argv[2]);
    else if (strcmp(argv[1], "look-up") == 0)
        look_up(argv[2]);
    else if (rank == 0)
        puts("the parents are content");
    MPI_Finalize();
    return 0;
}
