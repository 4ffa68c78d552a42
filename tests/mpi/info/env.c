/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_INFO_ENV and MPI_Info_create_env tell how the program was started. */
/* ranks: 1 3 */
/* args: first second */
#include <limits.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "../check.h"

static void expect(MPI_Info info, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL] = "";
    int flag = 0, len = sizeof text;
    MPI_Info_get_string(info, key, &len, text, &flag);
    CHECK(flag && !strcmp(text, value), "%s is \"%s\"; expected \"%s\"", key, text, value);
}

static void same(MPI_Info a, MPI_Info b)
{
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
    int n = -1, m = -2;
    MPI_Info_get_nkeys(a, &n);
    MPI_Info_get_nkeys(b, &m);
    CHECK_EQ(n, m);
    for (int i = 0; i < n; i++) {
        int flag, len = sizeof value;
        MPI_Info_get_nthkey(a, i, key);
        MPI_Info_get_string(a, key, &len, value, &flag);
        expect(b, key, value);
    }
}

/* This machine, or the list of hosts that mpiexec was given, with this one among them. */
static void expect_host(MPI_Info info, const char *name)
{
    char text[MPI_MAX_INFO_VAL] = "", *save = NULL;
    int flag = 0, len = sizeof text;
    int there = 0;
    MPI_Info_get_string(info, "host", &len, text, &flag);
    for (char *w = strtok_r(text, ",", &save); w; w = strtok_r(NULL, ",", &save))
        there |= !strcmp(w, name);
    CHECK(flag && there, "%s is not the host", name);
}

static void expect_all(MPI_Info info, char **argv, int ranks)
{
    struct utsname machine;
    char text[PATH_MAX];
    expect(info, "command", argv[0]);
    expect(info, "argv", "first second");
    sprintf(text, "%d", ranks);
    expect(info, "maxprocs", text);
    uname(&machine);
    expect(info, "arch", machine.machine);
    expect_host(info, machine.nodename);
    if (getcwd(text, sizeof text) && strlen(text) < MPI_MAX_INFO_VAL)
        expect(info, "wdir", text);
}

/* Other arguments give other values; too long ones are cut. */
static void other_arguments(void)
{
    static char big[3 * MPI_MAX_INFO_VAL];
    char *argv[] = { "other", "x", "y z", NULL }, *longer[] = { "longer", big, "end", NULL };
    char text[MPI_MAX_INFO_VAL];
    int flag = 0, len = sizeof text;
    MPI_Info info;
    MPI_Info_create_env(3, argv, &info);
    expect(info, "command", "other");
    expect(info, "argv", "x y z");
    MPI_Info_free(&info);
    memset(big, 'b', sizeof big - 1);
    MPI_Info_create_env(3, longer, &info);
    expect(info, "command", "longer");
    MPI_Info_get_string(info, "argv", &len, text, &flag);
    CHECK(len >= MPI_MAX_INFO_VAL, "%d", len); /* more where the other MPI's limit is smaller than Keel's */
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    MPI_Info early, late, unknown, copy;
    MPI_Info_create_env(argc, argv, &early);
    check_init(&argc, &argv);
    expect_all(MPI_INFO_ENV, argv, check_size);
    same(MPI_INFO_ENV, early);
    MPI_Info_create_env(argc, argv, &late);
    same(early, late);
    MPI_Info_create_env(0, NULL, &unknown); /* the kernel knows */
    expect_all(unknown, argv, check_size);
    MPI_Info_dup(MPI_INFO_ENV, &copy);
    same(MPI_INFO_ENV, copy);
    MPI_Info_set(copy, "command", "mine");
    expect(MPI_INFO_ENV, "command", argv[0]);
    other_arguments();
    MPI_Info_free(&early);
    MPI_Info_free(&late);
    MPI_Info_free(&unknown);
    MPI_Info_free(&copy);
    return check_done();
}
