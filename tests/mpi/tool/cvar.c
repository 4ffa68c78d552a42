/* SPDX-License-Identifier: BSD-3-Clause */
/* Control variables: queries, names, strings of any length, handles, reading and writing, and each error that the
 * standard names; before MPI_Init, within, and after MPI_Finalize. */
/* ranks: 1 3 */
#include "tool.h"

static int number(void)
{
    int n = -1;
    OK(MPI_T_cvar_get_num(&n));
    CHECK(n > 5, "%d", n);
    return n;
}

static void one(int i)
{
    char name[100] = "", desc[1000] = "", again[100] = "", cut[5] = "xxxx";
    int len = sizeof name, desc_len = sizeof desc, verbosity = -1, bind = -1, scope = -1, index = -1;
    int whole = 0, cut_len = sizeof cut, again_len = sizeof again;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = (MPI_T_enum)&type;
    OK(MPI_T_cvar_get_info(i, name, &len, &verbosity, &type, &names, desc, &desc_len, &bind, &scope));
    CHECK_EQ(len, strlen(name) + 1);
    CHECK_EQ(desc_len, strlen(desc) + 1);
    CHECK(len > 5 && !strncmp(name, "keel_", 5) && desc_len > 10, "%s: %s", name, desc);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%d",
          verbosity);
    CHECK(type == MPI_INT || type == MPI_COUNT || type == MPI_CHAR, "of %s", name);
    CHECK(type == MPI_INT || names == MPI_T_ENUM_NULL, "of %s", name);
    CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
    CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "%d", scope);
    OK(MPI_T_cvar_get_index(name, &index));
    CHECK_EQ(index, i, "of %s", name);
    /* the lengths of strings; NULL for whatever is not asked */
    OK(MPI_T_cvar_get_info(i, NULL, &whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(whole, len);
    OK(MPI_T_cvar_get_info(i, cut, &cut_len, NULL, NULL, NULL, desc, NULL, NULL, NULL));
    CHECK_EQ(cut_len, len);
    CHECK(!strcmp(cut, "keel"), "%s", cut);
    whole = 0;
    OK(MPI_T_cvar_get_info(i, again, &whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(whole, len);
    CHECK_EQ(again[0], 0, "a length of 0 returns no string");
    OK(MPI_T_cvar_get_info(i, again, &again_len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(!strcmp(name, again));
}

static void queries(void)
{
    int n = number(), x = -7;
    for (int i = 0; i < n; i++)
        one(i);
    IS(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
       MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_cvar_get_info(n, NULL, &x, &x, NULL, NULL, NULL, &x, &x, &x), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_cvar_get_index("keel_nothing", &x), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_cvar_get_index("", &x), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_cvar_get_index(NULL, &x), MPI_T_ERR_INVALID);
    IS(MPI_T_cvar_get_index("keel_yields", NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(x, -7);
}

static void handles(void)
{
    int count = -1, value = -1, was = -1, n = number();
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL, freed;
    IS(MPI_T_cvar_handle_alloc(n, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_cvar_handle_alloc(-1, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count), MPI_T_ERR_INVALID);
    IS(MPI_T_cvar_handle_alloc(0, NULL, &h, NULL), MPI_T_ERR_INVALID);
    CHECK(h == MPI_T_CVAR_HANDLE_NULL);
    CHECK_EQ(count, -1);
    OK(MPI_T_cvar_handle_alloc(tool_cvar("keel_yields"), NULL, &h, &count));
    CHECK(h != MPI_T_CVAR_HANDLE_NULL);
    CHECK_EQ(count, 1);
    OK(MPI_T_cvar_read(h, &was));
    value = 33;
    OK(MPI_T_cvar_write(h, &value));
    value = -1;
    OK(MPI_T_cvar_read(h, &value));
    CHECK_EQ(value, 33);
    value = -5; /* out of range: nothing changes */
    IS(MPI_T_cvar_write(h, &value), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(h, &value));
    CHECK_EQ(value, 33);
    OK(MPI_T_cvar_write(h, &was));
    IS(MPI_T_cvar_write(h, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_cvar_read(h, NULL), MPI_T_ERR_INVALID);
    freed = h;
    OK(MPI_T_cvar_handle_free(&h));
    CHECK(h == MPI_T_CVAR_HANDLE_NULL);
    IS(MPI_T_cvar_handle_free(&h), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_cvar_handle_free(&freed), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_cvar_read(freed, &value), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_cvar_write(freed, &value), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_cvar_read((MPI_T_cvar_handle)&value, &value), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &value), MPI_T_ERR_INVALID_HANDLE);
}

/* A string is read whole, with its end, and written so. */
static void strings(int writable)
{
    int count = -1;
    char *text;
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    OK(MPI_T_cvar_handle_alloc(tool_cvar("keel_tcp_host"), NULL, &h, &count));
    CHECK(count > 100, "%d", count);
    text = calloc(1, (size_t)count);
    memset(text, 'x', (size_t)count);
    IS(MPI_T_cvar_write(h, text), writable ? MPI_T_ERR_INVALID : MPI_T_ERR_CVAR_SET_NOT_NOW);
    OK(MPI_T_cvar_read(h, text));
    CHECK(!strcmp(text, ""), "%.20s", text);
    for (int i = 0; i < 2; i++) { /* and back */
        const char *to = i == 0 ? "127.0.0.1" : "";
        strcpy(text, to);
        IS(MPI_T_cvar_write(h, text), writable ? MPI_SUCCESS : MPI_T_ERR_CVAR_SET_NOT_NOW);
        memset(text, 'x', (size_t)count);
        OK(MPI_T_cvar_read(h, text));
        CHECK(!strcmp(text, writable ? to : ""), "%.20s", text);
    }
    OK(MPI_T_cvar_handle_free(&h));
    free(text);
}

/* What has been taken in for good cannot be set any more. */
static void once(int writable)
{
    int count = -1, value = -1;
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    OK(MPI_T_cvar_handle_alloc(tool_cvar("keel_initial_errhandler"), NULL, &h, &count));
    OK(MPI_T_cvar_read(h, &value));
    CHECK_EQ(value, 0);
    IS(MPI_T_cvar_write(h, &value), writable ? MPI_SUCCESS : MPI_T_ERR_CVAR_SET_NEVER);
    value = 3; /* no item of its enumeration */
    IS(MPI_T_cvar_write(h, &value), writable ? MPI_T_ERR_INVALID : MPI_T_ERR_CVAR_SET_NEVER);
    OK(MPI_T_cvar_handle_free(&h));
}

int main(int argc, char **argv)
{
    tool_begin();
    queries();
    handles();
    strings(1);
    once(1);
    check_init(&argc, &argv);
    queries();
    handles();
    strings(0);
    once(0);
    check_done();
    queries();
    handles();
    strings(1);
    once(0);
    OK(MPI_T_finalize());
    return check_failures != 0;
}
