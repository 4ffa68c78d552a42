/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* Attributes, names, groups, info, error handlers, keyvals and shared_query of windows. */
#include "rma.h"

static void attributes(MPI_Win win, void *base, MPI_Aint size, int unit, int flavor)
{
    void *is_base = NULL;
    MPI_Aint *is_size = NULL;
    int *is = NULL, flag = 0;
    CHECK_EQ(MPI_Win_get_attr(win, MPI_WIN_BASE, &is_base, &flag), MPI_SUCCESS);
    CHECK(flag && is_base == base, "base %p, expected %p", is_base, base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &is_size, &flag);
    CHECK(flag && *is_size == size, "size");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &is, &flag);
    CHECK(flag && *is == unit, "unit");
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &is, &flag);
    CHECK(flag && *is == flavor, "flavor");
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &is, &flag);
    CHECK(flag && (*is == MPI_WIN_UNIFIED || *is == MPI_WIN_SEPARATE), "model");
}

static int deleted;
static int on_delete(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static int handled;
static void on_error(MPI_Win *win, int *code, ...)
{
    (void)win;
    MPI_Error_class(*code, &handled);
}

static void objects(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME];
    static int seven = 7; /* the window has it to the end */
    int len, key, *value = NULL, flag, result;
    MPI_Group g, world;
    MPI_Errhandler h, is;
    CHECK_EQ(MPI_Win_get_name(win, name, &len), MPI_SUCCESS);
    CHECK(len == 0 && name[0] == 0, "a new window's name is %s", name);
    MPI_Win_set_name(win, "halo");
    CHECK_ERR(MPI_Win_get_name(MPI_WIN_NULL, name, &len), MPI_SUCCESS);
    CHECK(!strcmp(name, "MPI_WIN_NULL") && len == 12, "\"%s\" %d", name, len);
    MPI_Win_get_name(win, name, &len);
    CHECK(len == 4 && strcmp(name, "halo") == 0, "name %s", name);
    MPI_Win_get_group(win, &g);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(g, world, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_free(&world);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL);
    CHECK_EQ(MPI_Win_set_attr(win, key, &seven), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_get_attr(win, key, &value, &flag), MPI_SUCCESS);
    CHECK(flag && value == &seven, "attribute");
    CHECK_EQ(MPI_Win_delete_attr(win, key), MPI_SUCCESS);
    CHECK_EQ(deleted, 7);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK_EQ(flag, 0);
    MPI_Win_set_attr(win, key, &seven);
    MPI_Win_free_keyval(&key);
    MPI_Win_create_errhandler(on_error, &h);
    CHECK_EQ(MPI_Win_set_errhandler(win, h), MPI_SUCCESS);
    MPI_Win_get_errhandler(win, &is);
    CHECK(is == h, "handler");
    MPI_Errhandler_free(&is);
    MPI_Errhandler_free(&h);
    CHECK_EQ(MPI_Win_call_errhandler(win, MPI_ERR_RMA_CONFLICT), MPI_SUCCESS);
    CHECK_EQ(handled, MPI_ERR_RMA_CONFLICT);
    CHECK_ERR(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    CHECK_EQ(handled, MPI_ERR_RMA_SYNC);
    CHECK_SAYS("[window halo]");
}

static void infos(void)
{
    MPI_Info info, used;
    MPI_Win win;
    char *base, value[100];
    int flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Info_set(info, "accumulate_ops", "same_op");
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "same_size", "true");
    MPI_Info_set(info, "unknown key", "x");
    MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_info(win, &used);
    MPI_Info_get(used, "no_locks", 99, value, &flag);
    CHECK(flag && strcmp(value, "true") == 0, "no_locks");
    MPI_Info_get(used, "accumulate_ordering", 99, value, &flag);
    CHECK(flag && strcmp(value, "none") == 0, "accumulate_ordering");
    MPI_Info_get(used, "accumulate_ops", 99, value, &flag);
    CHECK(flag && strcmp(value, "same_op") == 0, "accumulate_ops");
    MPI_Info_get(used, "unknown key", 99, value, &flag);
    CHECK_EQ(flag, 0);
    MPI_Info_free(&used);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_ERR(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    MPI_Info_set(info, "no_locks", "false");
    CHECK_EQ(MPI_Win_set_info(win, info), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_lock_all(0, win), MPI_SUCCESS);
    MPI_Win_unlock_all(win);
    MPI_Info_set(info, "accumulate_ops", "any");
    MPI_Info_set(info, "same_size", "perhaps");
    CHECK_ERR(MPI_Win_set_info(win, info), MPI_SUCCESS); /* what cannot be a hint says nothing */
    MPI_Win_get_info(win, &used);
    MPI_Info_get(used, "accumulate_ops", 99, value, &flag);
    CHECK(flag && strcmp(value, "same_op") == 0, "accumulate_ops");
    MPI_Info_get(used, "same_size", 99, value, &flag);
    CHECK(flag && strcmp(value, "true") == 0, "same_size");
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

/* What info says of the layout, and that it can be set, though nothing is laid out anew. */
static void said(MPI_Win win, int noncontig)
{
    for (int k = 0; k < 3; k++) {
        char text[8] = "";
        int flag = 0;
        MPI_Info info;
        CHECK_EQ(MPI_Win_get_info(win, &info), MPI_SUCCESS);
        MPI_Info_get(info, "alloc_shared_noncontig", 7, text, &flag);
        CHECK(flag && !strcmp(text, noncontig ? "true" : "false"), "%d: \"%s\"", k, text);
        noncontig = !noncontig;
        MPI_Info_set(info, "alloc_shared_noncontig", noncontig ? "true" : "false");
        CHECK_EQ(MPI_Win_set_info(win, info), MPI_SUCCESS);
        MPI_Info_free(&info);
    }
}

static void shared(int noncontig)
{
    MPI_Win win;
    char *base, *theirs, *before = NULL;
    MPI_Aint size;
    MPI_Info info = MPI_INFO_NULL;
    int unit;
    if (!rma_one_node(MPI_COMM_WORLD)) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK_ERR(MPI_Win_allocate_shared(10, 2, info, MPI_COMM_WORLD, &base, &win), MPI_ERR_RMA_SHARED);
        return;
    }
    if (noncontig) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    MPI_Win_allocate_shared(check_rank == 0 ? 0 : 10 * check_rank, 2, info, MPI_COMM_WORLD, &base, &win);
    for (int i = 0; i < check_size; i++) {
        CHECK_EQ(MPI_Win_shared_query(win, i, &size, &unit, &theirs), MPI_SUCCESS);
        CHECK(size == 10 * i && unit == 2, "rank %d: %ld bytes, unit %d", i, (long)size, unit);
        CHECK((theirs == NULL) == (i == 0 && (noncontig || check_size == 1)), "rank %d: %p", i, theirs);
        CHECK(i != check_rank || theirs == base, "the base");
        CHECK(noncontig || i < 2 || theirs == before + 10 * (i - 1), "rank %d is not behind the one before",
              i);
        before = theirs;
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &theirs);
    CHECK_EQ(size, check_size > 1 ? 10 : 0, "of the first with memory");
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < check_rank; i++)
        base[i] = (char)(check_rank + 40);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int i = 1; i < check_size; i++) {
        MPI_Win_shared_query(win, i, &size, &unit, &theirs);
        CHECK_EQ(theirs[i - 1], i + 40, "of rank %d", i);
    }
    MPI_Win_unlock_all(win);
    said(win, noncontig);
    if (noncontig)
        MPI_Info_free(&info);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    char *base, room[16];
    check_init(&argc, &argv);
    MPI_Win_allocate(32, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    attributes(win, base, 32, 4, MPI_WIN_FLAVOR_ALLOCATE);
    objects(win);
    MPI_Win_free(&win);
    CHECK_EQ(deleted, 14, "by the end of the window");
    MPI_Win_create(room, 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    attributes(win, room, 16, 1, MPI_WIN_FLAVOR_CREATE);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    attributes(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    MPI_Win_free(&win);
    infos();
    shared(0);
    shared(1);
    return check_done();
}
