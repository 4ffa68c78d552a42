/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* stderr: .* */
/* What spawning, ports and names refuse: in all processes that take part, and they go on. */
#include "../check.h"

/* Who does not know the port's secret is sent away, and who does gets in after that. */
static void wrong_secret(void)
{
    MPI_Comm inter;
    char port[MPI_MAX_PORT_NAME] = "", name[MPI_MAX_PORT_NAME];
    if (check_rank == 0)
        CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (check_rank == 0) {
        CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
        MPI_Close_port(port);
    } else {
        memcpy(name, port, sizeof name);
        name[7] = name[7] == '0' ? '1' : '0';
        CHECK_ERR(MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT);
        CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_SUCCESS);
    }
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    MPI_Comm inter = MPI_COMM_WORLD, other = MPI_COMM_NULL;
    int errs[2] = { -1, -1 };
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Info info;
    check_init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_ERR(
        MPI_Comm_spawn("/nowhere/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, errs),
        MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL, "a handle is left");
    CHECK_EQ(errs[0], MPI_ERR_SPAWN);
    CHECK_EQ(errs[1], MPI_ERR_SPAWN);
    CHECK_ERR(MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, errs),
              MPI_ERR_SPAWN); /* no MPI program */
    CHECK_ERR(
        MPI_Comm_spawn("", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
        MPI_ERR_ARG);
    CHECK_ERR(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                             MPI_ERRCODES_IGNORE),
              MPI_ERR_ARG);
    CHECK_ERR(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, check_size, MPI_COMM_WORLD, &inter,
                             MPI_ERRCODES_IGNORE),
              MPI_ERR_ROOT);
    MPI_Info_create(&info);
    MPI_Info_set(info, "wdir", "/nowhere");
    CHECK_ERR(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
              MPI_ERR_SPAWN);
    MPI_Info_set(info, "wdir", "/");
    MPI_Info_set(info, "host", "no.such.host.invalid"); /* none of this makes mpiexec's exit code */
    CHECK_ERR(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
              MPI_ERR_SPAWN);
    MPI_Info_free(&info);

    CHECK_ERR(MPI_Comm_connect("a port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    CHECK_ERR(MPI_Comm_accept("a port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    CHECK_ERR(MPI_Close_port("a port"), MPI_ERR_PORT);
    CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK(strlen(port) < 256, "the name has %zu characters", strlen(port));
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "1");
    if (check_rank == 0)
        CHECK_ERR(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT); /* nobody comes */
    MPI_Info_set(info, "timeout", "soon");
    CHECK_ERR(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &inter), MPI_ERR_INFO_VALUE);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    CHECK_ERR(MPI_Close_port(port), MPI_ERR_PORT);
    CHECK_ERR(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT); /* closed */
    if (check_size > 1) {
        wrong_secret();
        MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - check_rank, 3, &other);
        CHECK_ERR(MPI_Comm_accept(port, MPI_INFO_NULL, 0, other, &inter), MPI_ERR_COMM);
        MPI_Comm_free(&other);
    }

    CHECK_ERR(MPI_Lookup_name("nothing of this name", MPI_INFO_NULL, port), MPI_ERR_NAME);
    CHECK_ERR(MPI_Unpublish_name("nothing of this name", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_ERR(MPI_Publish_name("", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
    CHECK_ERR(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
    return check_done();
}
