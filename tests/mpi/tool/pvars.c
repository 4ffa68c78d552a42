/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance variables: queries, sessions, handles, and each error that the standard names; before MPI_Init,
 * within, and after MPI_Finalize. */
/* ranks: 1 3 */
#include "tool.h"

enum { MOST = 400 };

struct about {
    char name[100];
    int var_class, readonly, continuous, atomic, bind;
    MPI_Datatype type;
};

static int is_shown(int c)
{
    return c == MPI_T_PVAR_CLASS_STATE || c == MPI_T_PVAR_CLASS_LEVEL || c == MPI_T_PVAR_CLASS_SIZE ||
           c == MPI_T_PVAR_CLASS_PERCENTAGE;
}

static int may_be(int c, MPI_Datatype t)
{
    if (c == MPI_T_PVAR_CLASS_STATE)
        return t == MPI_INT;
    if (c == MPI_T_PVAR_CLASS_PERCENTAGE)
        return t == MPI_DOUBLE;
    return t == MPI_UNSIGNED || t == MPI_UNSIGNED_LONG || t == MPI_UNSIGNED_LONG_LONG ||
           (t == MPI_DOUBLE && c != MPI_T_PVAR_CLASS_COUNTER);
}

static void one(int i, struct about *a)
{
    char desc[500] = "", cut[5] = "xxxx";
    int len = sizeof a->name, desc_len = sizeof desc, cut_len = sizeof cut, verbosity = -1, index = -1;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    OK(MPI_T_pvar_get_info(i, a->name, &len, &verbosity, &a->var_class, &a->type, &names, desc, &desc_len,
                           &a->bind, &a->readonly, &a->continuous, &a->atomic));
    CHECK_EQ(len, strlen(a->name) + 1);
    CHECK_EQ(desc_len, strlen(desc) + 1);
    CHECK(len > 5 && !strncmp(a->name, "keel_", 5) && desc_len > 10, "%s: %s", a->name, desc);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%d",
          verbosity);
    CHECK(a->var_class >= MPI_T_PVAR_CLASS_STATE && a->var_class <= MPI_T_PVAR_CLASS_GENERIC, "%d",
          a->var_class);
    CHECK(may_be(a->var_class, a->type), "%s", a->name);
    CHECK_EQ(names != MPI_T_ENUM_NULL, a->var_class == MPI_T_PVAR_CLASS_STATE, "%s", a->name);
    CHECK(a->bind == MPI_T_BIND_NO_OBJECT || a->bind == MPI_T_BIND_MPI_COMM, "%d", a->bind);
    CHECK_EQ(a->readonly, is_shown(a->var_class), "%s", a->name);
    CHECK_EQ(a->continuous, is_shown(a->var_class), "%s", a->name);
    CHECK_EQ(a->atomic, !is_shown(a->var_class), "%s", a->name);
    OK(MPI_T_pvar_get_index(a->name, a->var_class, &index));
    CHECK_EQ(index, i, "%s", a->name);
    OK(MPI_T_pvar_get_info(i, cut, &cut_len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(cut_len == len && !strcmp(cut, "keel"), "%d %s", cut_len, cut);
}

static void queries(void)
{
    static struct about all[MOST];
    int n = -1, x = -7, classes[MPI_T_PVAR_CLASS_GENERIC + 1] = { 0 };
    OK(MPI_T_pvar_get_num(&n));
    CHECK(n > 20 && n <= MOST, "%d", n);
    for (int i = 0; i < n && i < MOST; i++) {
        one(i, &all[i]);
        classes[all[i].var_class]++;
        for (int j = 0; j < i; j++)
            CHECK(strcmp(all[i].name, all[j].name) || all[i].var_class != all[j].var_class, "%s twice",
                  all[i].name);
    }
    for (int c = MPI_T_PVAR_CLASS_STATE; c < MPI_T_PVAR_CLASS_GENERIC; c++)
        CHECK(classes[c] > 0, "none of class %d", c);
    IS(MPI_T_pvar_get_info(n, NULL, &x, &x, &x, NULL, NULL, NULL, &x, &x, &x, &x, &x),
       MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_pvar_get_info(-1, NULL, &x, &x, &x, NULL, NULL, NULL, &x, &x, &x, &x, &x),
       MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_pvar_get_index("keel_nothing", MPI_T_PVAR_CLASS_LEVEL, &x), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_pvar_get_index("keel_messages_sent", MPI_T_PVAR_CLASS_LEVEL, &x), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_LEVEL, &x), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_get_index("keel_peers", MPI_T_PVAR_CLASS_LEVEL, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(x, -7);
}

/* All that takes a session and a handle. */
static void each(MPI_T_pvar_session s, MPI_T_pvar_handle h, int code)
{
    char buf[64] = "";
    MPI_T_pvar_handle copy = h;
    IS(MPI_T_pvar_start(s, h), code);
    IS(MPI_T_pvar_stop(s, h), code);
    IS(MPI_T_pvar_read(s, h, buf), code);
    IS(MPI_T_pvar_write(s, h, buf), code);
    IS(MPI_T_pvar_reset(s, h), code);
    IS(MPI_T_pvar_readreset(s, h, buf), code);
    IS(MPI_T_pvar_handle_free(s, &copy), code);
    CHECK(copy == h);
}

static void sessions(void)
{
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL, other = MPI_T_PVAR_SESSION_NULL, freed;
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL, gone;
    int count = -1, i = tool_pvar("keel_messages_sent", MPI_T_PVAR_CLASS_COUNTER), n = -1;
    unsigned long long value;
    OK(MPI_T_pvar_get_num(&n));
    OK(MPI_T_pvar_session_create(&s));
    OK(MPI_T_pvar_session_create(&other));
    CHECK(s != MPI_T_PVAR_SESSION_NULL && other != MPI_T_PVAR_SESSION_NULL && s != other);
    IS(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_handle_alloc(MPI_T_PVAR_SESSION_NULL, i, NULL, &h, &count), MPI_T_ERR_INVALID_SESSION);
    IS(MPI_T_pvar_handle_alloc((MPI_T_pvar_session)&i, i, NULL, &h, &count), MPI_T_ERR_INVALID_SESSION);
    IS(MPI_T_pvar_handle_alloc(s, -1, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_pvar_handle_alloc(s, n, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_pvar_handle_alloc(s, i, NULL, NULL, &count), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_handle_alloc(s, i, NULL, &h, NULL), MPI_T_ERR_INVALID);
    CHECK(h == MPI_T_PVAR_HANDLE_NULL && count == -1);
    OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count));
    CHECK(h != MPI_T_PVAR_HANDLE_NULL && h != MPI_T_PVAR_ALL_HANDLES && count == 1);
    each(MPI_T_PVAR_SESSION_NULL, h, MPI_T_ERR_INVALID_SESSION);
    each(other, h, MPI_T_ERR_INVALID_HANDLE);
    each(s, MPI_T_PVAR_HANDLE_NULL, MPI_T_ERR_INVALID_HANDLE);
    each(s, (MPI_T_pvar_handle)&count, MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_pvar_handle_free(s, NULL), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_pvar_read(s, h, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_write(s, h, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_readreset(s, h, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_pvar_write(s, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_pvar_readreset(s, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_pvar_start(MPI_T_PVAR_SESSION_NULL, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    OK(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES)); /* it has none */
    gone = h;
    OK(MPI_T_pvar_handle_free(s, &h));
    CHECK(h == MPI_T_PVAR_HANDLE_NULL);
    each(s, gone, MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count)); /* goes with its session */
    freed = s;
    OK(MPI_T_pvar_session_free(&s));
    CHECK(s == MPI_T_PVAR_SESSION_NULL);
    each(freed, h, MPI_T_ERR_INVALID_SESSION);
    each(other, h, MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_pvar_session_free(&s), MPI_T_ERR_INVALID_SESSION);
    IS(MPI_T_pvar_session_free(&freed), MPI_T_ERR_INVALID_SESSION);
    IS(MPI_T_pvar_session_free(NULL), MPI_T_ERR_INVALID_SESSION);
    OK(MPI_T_pvar_session_free(&other));
}

/* What is only shown can be neither started nor changed, but counts with all handles. */
static void shown(int phase)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    int count, value = -1;
    double share = -1;
    OK(MPI_T_pvar_session_create(&s));
    OK(MPI_T_pvar_handle_alloc(s, tool_pvar("keel_phase", MPI_T_PVAR_CLASS_STATE), NULL, &h, &count));
    IS(MPI_T_pvar_start(s, h), MPI_T_ERR_PVAR_NO_STARTSTOP);
    IS(MPI_T_pvar_stop(s, h), MPI_T_ERR_PVAR_NO_STARTSTOP);
    IS(MPI_T_pvar_write(s, h, &value), MPI_T_ERR_PVAR_NO_WRITE);
    IS(MPI_T_pvar_reset(s, h), MPI_T_ERR_PVAR_NO_WRITE);
    IS(MPI_T_pvar_readreset(s, h, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_read(s, h, &value));
    CHECK_EQ(value, phase);
    OK(MPI_T_pvar_handle_free(s, &h));
    OK(MPI_T_pvar_handle_alloc(s, tool_pvar("keel_unexpected_share", MPI_T_PVAR_CLASS_PERCENTAGE), NULL, &h,
                               &count));
    OK(MPI_T_pvar_read(s, h, &share));
    CHECK(share >= 0 && share <= 1, "%g", share);
    OK(MPI_T_pvar_session_free(&s));
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session left;
    tool_begin();
    queries();
    sessions();
    shown(0);
    check_init(&argc, &argv);
    queries();
    sessions();
    shown(1);
    check_done();
    queries();
    sessions();
    shown(2);
    OK(MPI_T_pvar_session_create(&left)); /* is gone when MPI_T is */
    tool_watch(left, "keel_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    OK(MPI_T_finalize());
    tool_begin();
    IS(MPI_T_pvar_session_free(&left), MPI_T_ERR_INVALID_SESSION);
    OK(MPI_T_finalize());
    return check_failures != 0;
}
