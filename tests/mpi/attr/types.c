/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Attributes of datatypes. */
#include "check.h"

static int copies, deletes, extra;
static MPI_Datatype seen;

static int copy(MPI_Datatype type, int keyval, void *extra_state, void *in, void *out, int *flag)
{
    (void)keyval;
    CHECK(extra_state == &extra, " ");
    copies++;
    seen = type;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete_fn(MPI_Datatype type, int keyval, void *value, void *extra_state)
{
    (void)keyval, (void)value;
    CHECK(extra_state == &extra, " ");
    deletes++;
    seen = type;
    return MPI_SUCCESS;
}

static void has(MPI_Datatype type, int keyval, void *expected)
{
    void *value = NULL;
    int flag = -1;
    CHECK_EQ(MPI_Type_get_attr(type, keyval, &value, &flag), MPI_SUCCESS);
    CHECK_EQ(flag, expected != NULL);
    CHECK(value == expected, "%p, not %p", value, expected);
}

static void life(MPI_Datatype type)
{
    char a[8];
    int k = MPI_KEYVAL_INVALID;
    MPI_Datatype dup;
    copies = deletes = 0;
    CHECK_EQ(MPI_Type_create_keyval(copy, delete_fn, &k, &extra), MPI_SUCCESS);
    has(type, k, NULL);
    CHECK_EQ(MPI_Type_set_attr(type, k, a), MPI_SUCCESS);
    has(type, k, a);
    CHECK_EQ(MPI_Type_dup(type, &dup), MPI_SUCCESS);
    CHECK_EQ(copies, 1);
    CHECK(seen == type, " ");
    has(dup, k, a + 1);
    CHECK_EQ(MPI_Type_set_attr(dup, k, a + 5), MPI_SUCCESS);
    CHECK_EQ(deletes, 1);
    has(dup, k, a + 5);
    has(type, k, a);
    MPI_Datatype handle = dup;
    CHECK_EQ(MPI_Type_free(&dup), MPI_SUCCESS);
    CHECK_EQ(deletes, 2);
    CHECK(seen == handle, " ");
    CHECK_EQ(MPI_Type_delete_attr(type, k), MPI_SUCCESS);
    CHECK_EQ(deletes, 3);
    has(type, k, NULL);
    CHECK_EQ(MPI_Type_free_keyval(&k), MPI_SUCCESS);
    CHECK_EQ(k, MPI_KEYVAL_INVALID);
}

static void predefined_functions(void)
{
    int k[2], x;
    MPI_Datatype type, dup;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &k[0], NULL);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &k[1], NULL);
    MPI_Type_set_attr(type, k[0], &x);
    MPI_Type_set_attr(type, k[1], &x);
    MPI_Type_dup(type, &dup);
    has(dup, k[0], NULL);
    has(dup, k[1], &x);
    MPI_Type_free(&type);
    MPI_Type_free(&dup);
    MPI_Type_free_keyval(&k[0]);
    MPI_Type_free_keyval(&k[1]);
}

/* A handle of MPI_Type_get_contents is freed before the user's own: the attributes stay. */
static void contents(void)
{
    int k, x, integers[4];
    MPI_Aint addresses[2];
    MPI_Datatype inner, outer, got;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_fn, &k, &extra);
    MPI_Type_contiguous(2, MPI_INT, &inner);
    MPI_Type_contiguous(2, inner, &outer);
    MPI_Type_set_attr(inner, k, &x);
    deletes = 0;
    MPI_Type_get_contents(outer, 1, 0, 1, integers, addresses, &got);
    MPI_Type_free(&got);
    CHECK_EQ(deletes, 0);
    has(inner, k, &x);
    MPI_Type_free(&inner);
    CHECK_EQ(deletes, 1);
    MPI_Type_free(&outer);
    MPI_Type_free_keyval(&k);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    check_init(&argc, &argv);
    MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &type);
    life(type);
    life(MPI_INT);
    life(MPI_DOUBLE_INT);
    MPI_Type_free(&type);
    predefined_functions();
    contents();
    return check_done();
}
