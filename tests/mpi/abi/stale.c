/* SPDX-License-Identifier: BSD-3-Clause */
/* A handle that was freed is never taken for one that was made later, however often its place has
 * been used since: info objects, groups, datatypes, operations, error handlers and key values. */
/* ranks: 1 */
#include "check.h"

enum { TIMES = 70000 }; /* more than a generation of 16 bits can count */

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}
static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
}

/* Make and free, and look whether the first one comes again. */
#define AGAIN(type, make, destroy, use, error) \
    do { \
        type first, h; \
        int same = 0, legal = 0; \
        make; \
        first = h; \
        destroy; \
        for (int i = 0; i < TIMES; i++) { \
            make; \
            same += h == first; \
            if (h == first || i % 1000 == 0) { \
                type saved = h; \
                h = first; \
                legal += (use) != (error); \
                h = saved; \
            } \
            destroy; \
        } \
        CHECK_EQ(same, 0, "times the same " #type); \
        CHECK_EQ(legal, 0, "times the old " #type " was legal"); \
    } while (0)

int main(int argc, char **argv)
{
    int n, zero = 0, flag;
    void *value;
    MPI_Group world;
    check_init(&argc, &argv);
    check_errors_return();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    AGAIN(MPI_Info, MPI_Info_create(&h), MPI_Info_free(&h), MPI_Info_get_nkeys(h, &n), MPI_ERR_INFO);
    AGAIN(MPI_Group, MPI_Group_incl(world, 1, &zero, &h), MPI_Group_free(&h), MPI_Group_size(h, &n),
          MPI_ERR_GROUP);
    AGAIN(MPI_Datatype, MPI_Type_contiguous(3, MPI_INT, &h), MPI_Type_free(&h), MPI_Type_size(h, &n),
          MPI_ERR_TYPE);
    AGAIN(MPI_Op, MPI_Op_create(add, 1, &h), MPI_Op_free(&h), MPI_Op_commutative(h, &n), MPI_ERR_OP);
    AGAIN(MPI_Errhandler, MPI_Comm_create_errhandler(on_error, &h), MPI_Errhandler_free(&h),
          MPI_Comm_set_errhandler(MPI_COMM_WORLD, h), MPI_ERR_ERRHANDLER);
    AGAIN(int, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &h, NULL),
          MPI_Comm_free_keyval(&h), MPI_Comm_get_attr(MPI_COMM_WORLD, h, &value, &flag), MPI_ERR_KEYVAL);
    MPI_Group_free(&world);
    return check_done();
}
