/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Get_hw_resource_info: kinds of resources, and whether this process is restricted to one. */
/* ranks: 1 3 */
#include "../check.h"

int main(int argc, char **argv)
{
    MPI_Info info = MPI_INFO_NULL;
    int n = 0, flag = 0;
    check_init(&argc, &argv);
    MPI_Get_hw_resource_info(&info);
    CHECK(info != MPI_INFO_NULL);
    if (info == MPI_INFO_NULL)
        return check_done();
    MPI_Info_get_nkeys(info, &n);
    CHECK(n >= 1);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY], value[10] = "";
        int len = sizeof value;
        MPI_Comm c = MPI_COMM_WORLD;
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_string(info, key, &len, value, &flag);
        CHECK(flag && (!strcmp(value, "true") || !strcmp(value, "false")), "%s is %s", key, value);
        CHECK(strstr(key, "://") != NULL, "%s", key);
        /* what it is restricted to can be split by */
        MPI_Info type;
        MPI_Info_create(&type);
        MPI_Info_set(type, "mpi_hw_resource_type", key);
        MPI_Comm_split_type(MPI_COMM_SELF, MPI_COMM_TYPE_HW_GUIDED, 0, type, &c);
        CHECK_EQ(c != MPI_COMM_NULL, !strcmp(value, "true"), "%s", key);
        if (c != MPI_COMM_NULL)
            MPI_Comm_free(&c);
        MPI_Info_free(&type);
    }
    char value[10] = "";
    int len = sizeof value;
    MPI_Info_get_string(info, "hwloc://Machine", &len, value, &flag);
    CHECK(flag && !strcmp(value, "true"), "%s", value);
    MPI_Info_free(&info);
    return check_done();
}
