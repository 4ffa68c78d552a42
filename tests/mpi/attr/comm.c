/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* Attributes of communicators: set, get, delete; what a dup copies; when delete callbacks run. */
#include "check.h"

static int copies, deletes;
static MPI_Comm copied_from, deleted_of;
static void *deleted_value;
static int extra, seen_keyval;

static int copy(MPI_Comm comm, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    copies++;
    copied_from = comm;
    CHECK_EQ(keyval, seen_keyval);
    CHECK(extra_state == &extra, "the extra state");
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int copy_not(MPI_Comm comm, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra_state, (void)in;
    copies++;
    *(void **)out = &extra;
    *flag = 0;
    return MPI_SUCCESS;
}
static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra_state)
{
    deletes++;
    deleted_of = comm;
    deleted_value = value;
    CHECK_EQ(keyval, seen_keyval);
    CHECK(extra_state == &extra, "the extra state");
    return MPI_SUCCESS;
}

static void has(MPI_Comm comm, int keyval, void *expected)
{
    void *value = &extra;
    int flag = -1;
    CHECK_EQ(MPI_Comm_get_attr(comm, keyval, &value, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 1);
    CHECK(value == expected, "%p, not %p", value, expected);
}
static void has_none(MPI_Comm comm, int keyval)
{
    void *value = &extra;
    int flag = -1;
    CHECK_EQ(MPI_Comm_get_attr(comm, keyval, &value, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, 0);
    CHECK(value == &extra, "written although there is none");
}

static void life(MPI_Comm comm)
{
    char a[4];
    int k = MPI_KEYVAL_INVALID;
    MPI_Comm dup, twice;
    CHECK_EQ(MPI_Comm_create_keyval(copy, delete_fn, &k, &extra), MPI_SUCCESS);
    CHECK(k != MPI_KEYVAL_INVALID, " ");
    seen_keyval = k;
    copies = deletes = 0;
    has_none(comm, k);
    CHECK_EQ(MPI_Comm_set_attr(comm, k, a), MPI_SUCCESS);
    has(comm, k, a);
    CHECK_EQ(MPI_Comm_set_attr(comm, k, a + 2), MPI_SUCCESS);
    CHECK_EQ(deletes, 1, "overwritten");
    CHECK(deleted_value == a && deleted_of == comm, " ");
    has(comm, k, a + 2);
    CHECK_EQ(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
    CHECK_EQ(copies, 1);
    CHECK(copied_from == comm, " ");
    has(dup, k, a + 3);
    has(comm, k, a + 2);
    CHECK_EQ(MPI_Comm_delete_attr(dup, k), MPI_SUCCESS);
    CHECK_EQ(deletes, 2);
    CHECK(deleted_value == a + 3 && deleted_of == dup, " ");
    has_none(dup, k);
    CHECK_EQ(MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &twice), MPI_SUCCESS);
    CHECK_EQ(copies, 1, "nothing to copy");
    CHECK_EQ(MPI_Comm_set_attr(dup, k, NULL), MPI_SUCCESS);
    has(dup, k, NULL);
    MPI_Comm old = dup;
    MPI_Comm_free(&dup);
    CHECK_EQ(deletes, 3, "MPI_Comm_free");
    CHECK(deleted_value == NULL && deleted_of == old, " ");
    MPI_Comm_free(&twice);
    CHECK_EQ(deletes, 3);
    CHECK_EQ(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &twice), MPI_SUCCESS);
    CHECK_EQ(copies, 2);
    has(twice, k, a + 3);
    MPI_Comm_free(&twice);
    CHECK_EQ(MPI_Comm_delete_attr(comm, k), MPI_SUCCESS);
    CHECK_EQ(deletes, 5);
    CHECK_EQ(MPI_Comm_delete_attr(comm, k), MPI_SUCCESS);
    CHECK_EQ(deletes, 5, "there was none");
    CHECK_EQ(MPI_Comm_free_keyval(&k), MPI_SUCCESS);
    CHECK_EQ(k, MPI_KEYVAL_INVALID);
}

/* The predefined callbacks, and a copy that is refused; a split copies nothing. */
static void predefined(MPI_Comm comm)
{
    int k[4], x;
    MPI_Comm dup, part;
    CHECK_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k[0], NULL),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &k[1], NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_keyval(copy_not, MPI_COMM_NULL_DELETE_FN, &k[2], NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &k[3], NULL), MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        MPI_Comm_set_attr(comm, k[i], &x + i);
    copies = 0;
    CHECK_EQ(MPI_Comm_dup(comm, &dup), MPI_SUCCESS);
    CHECK_EQ(copies, 1);
    has_none(dup, k[0]);
    has(dup, k[1], &x + 1);
    has_none(dup, k[2]);
    has_none(dup, k[3]);
    MPI_Comm_split(comm, 0, 0, &part);
    for (int i = 0; i < 4; i++)
        has_none(part, k[i]);
    MPI_Comm_free(&part);
    MPI_Comm_free(&dup);
    for (int i = 0; i < 4; i++) {
        MPI_Comm_delete_attr(comm, k[i]);
        CHECK_EQ(MPI_Comm_free_keyval(&k[i]), MPI_SUCCESS);
    }
}

/* The nonblocking dups copy, too. */
static void nonblocking(MPI_Comm comm)
{
    char a[2];
    MPI_Comm dup[2];
    MPI_Request request[2];
    int k;
    MPI_Comm_create_keyval(copy, delete_fn, &k, &extra);
    seen_keyval = k;
    MPI_Comm_set_attr(comm, k, a);
    copies = deletes = 0;
    MPI_Comm_idup(comm, &dup[0], &request[0]);
    MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &dup[1], &request[1]);
    CHECK_EQ(MPI_Waitall(2, request, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(copies, 2);
    for (int i = 0; i < 2; i++) {
        has(dup[i], k, a + 1);
        MPI_Comm_free(&dup[i]);
    }
    MPI_Comm_delete_attr(comm, k);
    CHECK_EQ(deletes, 3);
    MPI_Comm_free_keyval(&k);
}

/* A freed key lives on as long as an attribute has it. */
static void freed_key(void)
{
    int k, kept, x, dummy;
    MPI_Comm a, b;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_create_keyval(copy, delete_fn, &k, &extra);
    seen_keyval = kept = k;
    MPI_Comm_set_attr(a, k, &x);
    CHECK_EQ(MPI_Comm_free_keyval(&k), MPI_SUCCESS);
    has(a, kept, &x);
    copies = deletes = 0;
    MPI_Comm_dup(a, &b);
    CHECK_EQ(copies, 1);
    MPI_Comm_free(&a);
    has(b, kept, (char *)&x + 1);
    CHECK_EQ(MPI_Comm_delete_attr(b, kept), MPI_SUCCESS);
    CHECK_EQ(deletes, 2);
    MPI_Comm_set_errhandler(b, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Comm_get_attr(b, kept, &dummy, &dummy), MPI_ERR_KEYVAL);
    CHECK_SAYS("freed");
    CHECK_ERR(MPI_Comm_set_attr(b, kept, NULL), MPI_ERR_KEYVAL);
    MPI_Comm_free(&b);
    CHECK_EQ(deletes, 2);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    life(MPI_COMM_WORLD);
    life(MPI_COMM_SELF);
    life(dup);
    predefined(dup);
    predefined(MPI_COMM_WORLD);
    nonblocking(dup);
    MPI_Comm_free(&dup);
    freed_key();
    return check_done();
}
