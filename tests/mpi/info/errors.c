/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: wrong keys, values, numbers and handles are errors of their classes and change nothing. */
/* ranks: 1 2 */
/* abi: mpich openmpi, because keys and values may be longer than there */
#include "../check.h"

static char long_key[MPI_MAX_INFO_KEY + 1], long_value[MPI_MAX_INFO_VAL + 1];

static void keys_and_values(MPI_Info info)
{
    char text[8];
    int flag = 0, len = sizeof text;
    CHECK_ERR(MPI_Info_set(info, long_key, "v"), MPI_ERR_INFO_KEY);
    CHECK_SAYS("longer than 255");
    CHECK_ERR(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
    CHECK_SAYS("is empty");
    CHECK_ERR(MPI_Info_set(info, "k", long_value), MPI_ERR_INFO_VALUE);
    CHECK_SAYS("1024 characters; expected at most 1023");
    CHECK_ERR(MPI_Info_set(info, "k", NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_set(info, NULL, "v"), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_get_string(info, long_key, &len, text, &flag), MPI_ERR_INFO_KEY);
    CHECK_ERR(MPI_Info_get(info, long_key, 7, text, &flag), MPI_ERR_INFO_KEY);
    CHECK_ERR(MPI_Info_get_valuelen(info, long_key, &len, &flag), MPI_ERR_INFO_KEY);
    CHECK_ERR(MPI_Info_delete(info, long_key), MPI_ERR_INFO_KEY);
    CHECK_ERR(MPI_Info_delete(info, "none"), MPI_ERR_INFO_NOKEY);
    CHECK_SAYS("\"none\"");
}

static void numbers(MPI_Info info)
{
    char text[MPI_MAX_INFO_KEY];
    int flag = 0, len = -1;
    CHECK_ERR(MPI_Info_get_nthkey(info, 1, text), MPI_ERR_ARG);
    CHECK_SAYS("n is 1; expected 0 to 0");
    CHECK_ERR(MPI_Info_get_nthkey(info, -1, text), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_get_nthkey(info, 0, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_get_string(info, "key", &len, text, &flag), MPI_ERR_ARG);
    CHECK_SAYS("buflen is -1");
    len = 5;
    CHECK_ERR(MPI_Info_get_string(info, "key", &len, NULL, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_get(info, "key", -1, text, &flag), MPI_ERR_COUNT);
    CHECK_ERR(MPI_Info_get(info, "key", 5, NULL, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_get_string(info, "key", NULL, text, &flag), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_get_string(info, "key", &len, text, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_get_nkeys(info, NULL), MPI_ERR_ARG);
    CHECK_ERR(MPI_Info_create(NULL), MPI_ERR_ARG);
}

static void handles(void)
{
    MPI_Info info, null = MPI_INFO_NULL, env = MPI_INFO_ENV;
    int n;
    CHECK_ERR(MPI_Info_set(null, "k", "v"), MPI_ERR_INFO);
    CHECK_SAYS("MPI_INFO_NULL");
    CHECK_ERR(MPI_Info_free(&null), MPI_ERR_INFO);
    CHECK_ERR(MPI_Info_dup(null, &info), MPI_ERR_INFO);
    CHECK_ERR(MPI_Info_get_nkeys(null, &n), MPI_ERR_INFO);
    CHECK_ERR(MPI_Info_set(env, "k", "v"), MPI_ERR_INFO);
    CHECK_SAYS("MPI_INFO_ENV");
    CHECK_ERR(MPI_Info_delete(env, "command"), MPI_ERR_INFO);
    CHECK_ERR(MPI_Info_free(&env), MPI_ERR_INFO);
    CHECK(env == MPI_INFO_ENV);
    MPI_Info_create(&info);
    null = info;
    MPI_Info_free(&info);
    CHECK_ERR(MPI_Info_set(null, "k", "v"), MPI_ERR_INFO);
    CHECK_SAYS("was freed");
}

int main(int argc, char **argv)
{
    MPI_Info info;
    int n = -1;
    check_init(&argc, &argv);
    check_errors_return();
    memset(long_key, 'k', sizeof long_key - 1);
    memset(long_value, 'v', sizeof long_value - 1);
    MPI_Info_create(&info);
    CHECK_ERR(MPI_Info_get_nthkey(info, 0, long_value), MPI_ERR_ARG);
    CHECK_SAYS("has no keys");
    MPI_Info_set(info, "key", "value");
    keys_and_values(info);
    numbers(info);
    handles();
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 1);
    MPI_Info_free(&info);
    return check_done();
}
