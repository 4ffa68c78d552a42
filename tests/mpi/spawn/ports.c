/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/* MPI_Comm_accept and MPI_Comm_connect: between two jobs, by a published name, several times and in both
 * directions; and within a job. */
#include "../check.h"
#include <unistd.h>

enum { TIMES = 5, CLIENTS = 2 };

static void exchange(MPI_Comm inter, int round)
{
    int others, word = 100 * round + check_rank, sum = 0;
    MPI_Comm_remote_size(inter, &others);
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, others * 100 * round + others * (others - 1) / 2, "round %d", round);
}

static void serve(const char *name)
{
    char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME];
    MPI_Comm inter;
    int root = check_size - 1;
    if (check_rank == root) {
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_EQ(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_EQ(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_SUCCESS);
        CHECK(strcmp(found, port) == 0, "looked up %s", found);
    }
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
        exchange(inter, i);
        MPI_Comm_disconnect(&inter);
    }
    if (check_rank == root) {
        CHECK_EQ(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_SUCCESS);
        CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    }
}

static void call(const char *name)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (check_rank == 0)
        while (MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS)
            usleep(1000);
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
        exchange(inter, i);
        MPI_Comm_disconnect(&inter);
    }
}

/* One half of the job connects to the other. */
static void within(void)
{
    MPI_Comm half, inter;
    char port[MPI_MAX_PORT_NAME] = "";
    int mine = check_rank % 2, sum = 0, others;
    if (check_size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, mine, 0, &half);
    if (check_rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (mine == 0)
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter), MPI_SUCCESS);
    else
        CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter), MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &others);
    MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    int expected = 0;
    for (int i = 1 - mine; i < check_size; i += 2)
        expected += i;
    CHECK_EQ(sum, expected, "of the other half");
    CHECK_EQ(others, (check_size + mine) / 2);
    if (check_rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    char name[64] = "", *args[] = { name, NULL };
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        call(argv[1]);
        return check_done();
    }
    within();
    snprintf(name, sizeof name, "keel test %d/%d", (int)getpid(), check_size);
    MPI_Comm_spawn(argv[0], args, CLIENTS, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&inter);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    serve(name);
    return check_done();
}
