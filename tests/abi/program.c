/* SPDX-License-Identifier: BSD-3-Clause */
/* A program for another MPI's own compiler wrapper and header: what its ABI writes differently, in and out.  Run
 * by mpich.test and openmpi.test on Keel's library; on that MPI's own it says the same.  Prints what was wrong, or
 * "right". */
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields of a status that only the ABI knows. */
#ifdef OPEN_MPI
#define COUNT(s) ((long long)(s)._ucount)
#define CANCELLED(s) ((s)._cancelled)
#else
#define COUNT(s) ((s).count_lo | (long long)((s).count_hi_and_cancelled >> 1) << 32)
#define CANCELLED(s) ((s).count_hi_and_cancelled & 1)
#endif

static int rank, size, wrong, keel; /* keel: it is Keel's library */

#define IS(got, want) is(__LINE__, #got, (long long)(got), (long long)(want))

static void is(int line, const char *what, long long got, long long want)
{
    if (got == want)
        return;
    wrong++;
    printf("rank %d, line %d: %s is %lld; expected %lld\n", rank, line, what, got, want);
}

/* ---- Statuses: fields that programs read, sentinels ---- */

static void statuses(void)
{
    int x = rank, y[3] = { 0 }, n, flag;
    MPI_Status s, all[3];
    MPI_Request r[3];
    MPI_Count big;
    MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 7, y, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &s);
    IS(s.MPI_SOURCE, (rank + size - 1) % size);
    IS(s.MPI_TAG, 7);
    IS(COUNT(s), sizeof x);
    IS(CANCELLED(s), 0);
    MPI_Get_count(&s, MPI_INT, &n);
    IS(n, 1);
    MPI_Get_count(&s, MPI_DOUBLE, &n);
    IS(n, MPI_UNDEFINED);
    MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s);
    IS(s.MPI_SOURCE, MPI_PROC_NULL);
    IS(s.MPI_TAG, MPI_ANY_TAG);
    IS(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD), MPI_SUCCESS);
    r[0] = MPI_REQUEST_NULL;
    MPI_Wait(&r[0], &s);
    IS(s.MPI_SOURCE, MPI_ANY_SOURCE);
    IS(s.MPI_TAG, MPI_ANY_TAG);
    MPI_Irecv(&y[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&y[1], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&x, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[2]);
    MPI_Send(&x, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    MPI_Waitall(3, r, all);
    IS(all[0].MPI_TAG, 1);
    IS(all[1].MPI_SOURCE, rank);
    IS(r[1], MPI_REQUEST_NULL);
    MPI_Irecv(&y[0], 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &s);
    MPI_Test_cancelled(&s, &flag);
    IS(flag, 1);
    IS(CANCELLED(s), 1);
    MPI_Status_set_cancelled(&s, 0);
    MPI_Status_set_elements_x(&s, MPI_BYTE, 0x300000005);
    IS(COUNT(s), 0x300000005);
    IS(CANCELLED(s), 0);
    MPI_Get_elements_x(&s, MPI_BYTE, &big);
    IS(big, 0x300000005);
    MPI_Sendrecv(&x, 1, MPI_INT, rank, 5, y, 3, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(&x, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&y[2], 1, MPI_INT, rank, 6, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    IS(y[2], x);
}

/* ---- Attributes ---- */

static int copied, deleted, refused;
static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    IS(comm, MPI_COMM_WORLD);
    copied += *(int *)extra;
    *(void **)out = in;
    *flag = 1;
    (void)key;
    return MPI_SUCCESS;
}
static int on_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value;
    deleted += *(int *)extra;
    return refused ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static void attributes(void)
{
    int *v, flag, key, dup_key, one = 1, extra = 10, class;
    MPI_Comm comm;
    MPI_Win win;
    void *base;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &v, &flag);
    IS(flag && *v >= 32767, 1);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &v, &flag);
    IS(flag ? *v : MPI_PROC_NULL, MPI_PROC_NULL);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &v, &flag);
    IS(flag ? *v : 0, MPI_ANY_SOURCE);
    MPI_Comm_create_keyval(on_copy, on_delete, &key, &extra);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &one);
    MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    IS(copied, 10);
    v = NULL;
    MPI_Comm_get_attr(comm, dup_key, &v, &flag);
    IS(flag && v == &one, 1);
    refused = 1;
    MPI_Error_class(MPI_Comm_delete_attr(comm, key), &class);
    refused = 0;
#ifdef OPEN_MPI
    if (keel) /* Open MPI says MPI_ERR_OTHER */
#endif
        IS(class, MPI_ERR_TRUNCATE);
    IS(deleted, 10);
    extra = 0;
    MPI_Comm_free(&comm);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, dup_key);
    MPI_Comm_free_keyval(&dup_key);
    IS(dup_key, MPI_KEYVAL_INVALID);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &v, &flag);
    IS(flag ? *v : 0, MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &v, &flag);
    IS(flag && (*v == MPI_WIN_UNIFIED || *v == MPI_WIN_SEPARATE), 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    IS(win, MPI_WIN_NULL);
}

/* ---- Errors ---- */

static int seen;
static void on_error(MPI_Comm *comm, int *code, ...)
{
    IS(*comm, MPI_COMM_WORLD);
    MPI_Error_class(*code, &seen);
}

static void errors(void)
{
    MPI_Errhandler h, mine;
    int class, code, x = 0, len;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &h);
    IS(h, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD), &class);
    IS(class, MPI_ERR_RANK);
    MPI_Error_class(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), &class);
    IS(class, MPI_ERR_TYPE);
    MPI_Error_class(MPI_Comm_size(MPI_COMM_NULL, &x), &class);
    IS(class, MPI_ERR_COMM);
    MPI_Comm_create_errhandler(on_error, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
    MPI_Send(&x, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    IS(seen, MPI_ERR_TAG);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_IO);
    IS(seen, MPI_ERR_IO);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
    IS(mine, MPI_ERRHANDLER_NULL);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "of this program");
    MPI_Error_string(code, text, &len);
    IS(strcmp(text, "of this program"), 0);
    MPI_Error_class(code, &x);
    IS(x, class);
    IS(code > 0 && class > 0, 1);
}

/* ---- Datatypes and operations ---- */

static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    IS(*type, MPI_INT);
    for (int i = 0; i < *len; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void types(void)
{
    int ni, na, nt, combiner, ints[20], two[2] = { 4, 6 }, sub[2] = { 2, 3 }, start[2] = { 1, 1 }, n;
    MPI_Aint as[4];
    MPI_Datatype t, in[4];
    MPI_Op op;
    static const struct {
        MPI_Datatype t;
        int size;
    } sizes[] = { { MPI_CHAR, 1 },
                  { MPI_SHORT, 2 },
                  { MPI_INT, 4 },
                  { MPI_LONG, 8 },
                  { MPI_FLOAT, 4 },
                  { MPI_DOUBLE, 8 },
                  { MPI_LONG_DOUBLE, 16 },
                  { MPI_FLOAT_INT, 8 },
                  { MPI_DOUBLE_INT, 12 },
                  { MPI_2INT, 8 },
                  { MPI_C_BOOL, 1 },
                  { MPI_INT64_T, 8 },
                  { MPI_C_DOUBLE_COMPLEX, 16 },
                  { MPI_AINT, 8 },
                  { MPI_COUNT, 8 },
                  { MPI_INTEGER, 4 },
                  { MPI_DOUBLE_PRECISION, 8 },
                  { MPI_BYTE, 1 },
                  { MPI_UNSIGNED_LONG_LONG, 8 },
                  { MPI_REAL8, 8 } };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        MPI_Type_size(sizes[i].t, &n);
        IS(n, sizes[i].size);
    }
    MPI_Type_create_subarray(2, two, sub, start, MPI_ORDER_FORTRAN, MPI_DOUBLE, &t);
    MPI_Type_commit(&t);
    MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
    IS(combiner, MPI_COMBINER_SUBARRAY);
    MPI_Type_get_contents(t, ni, na, nt, ints, as, in);
    IS(ints[ni - 1], MPI_ORDER_FORTRAN);
    IS(in[0], MPI_DOUBLE);
    MPI_Type_free(&t);
    IS(t, MPI_DATATYPE_NULL);
    int distribs[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE },
        dargs[2] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG };
    int psizes[2] = { size, 1 };
    MPI_Type_create_darray(size, rank, 2, two, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t);
    MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
    IS(combiner, MPI_COMBINER_DARRAY);
    MPI_Type_get_contents(t, ni, na, nt, ints, as, in);
    IS(ints[5], MPI_DISTRIBUTE_BLOCK);
    IS(ints[6], MPI_DISTRIBUTE_NONE);
    IS(ints[7], MPI_DISTRIBUTE_DFLT_DARG);
    IS(ints[ni - 1], MPI_ORDER_C);
    MPI_Type_free(&t);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t);
    MPI_Type_size(t, &n);
    IS(n, 8);
    MPI_Op_create(add, 1, &op);
    int x = rank + 1, sum = 0;
    MPI_Allreduce(&x, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    IS(sum, size * (size + 1) / 2);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    IS(x, size);
    MPI_Op_free(&op);
    IS(op, MPI_OP_NULL);
}

/* ---- Communicators, groups, topologies, files ---- */

static void objects(void)
{
    MPI_Comm comm, cart;
    MPI_Group world, group;
    MPI_File fh;
    MPI_Message m;
    int result, here = 0, there, dims[1] = { size }, periods[1] = { 0 }, from, to, amode, x = 5, kind, flag;
    int ranks[2] = { 0, MPI_PROC_NULL }, out[2];
    MPI_Offset at;
    char *dir = getenv("TMPDIR"), name[4096];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_compare(MPI_COMM_WORLD, comm, &result);
    IS(result, MPI_CONGRUENT);
    MPI_Comm_compare(comm, comm, &result);
    IS(result, MPI_IDENT);
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, 2, ranks, group, out);
    IS(out[0], 0);
    IS(out[1], MPI_PROC_NULL);
    MPI_Group_compare(world, MPI_GROUP_EMPTY, &result);
    IS(result, MPI_UNEQUAL);
    MPI_Group_free(&group);
    IS(group, MPI_GROUP_NULL);
    MPI_Group_free(&world);
    MPI_Topo_test(comm, &kind);
    IS(kind, MPI_UNDEFINED);
    MPI_Cart_create(comm, 1, dims, periods, 0, &cart);
    MPI_Topo_test(cart, &kind);
    IS(kind, MPI_CART);
    MPI_Cart_shift(cart, 0, 1, &from, &to);
    IS(from, rank ? rank - 1 : MPI_PROC_NULL);
    IS(to, rank + 1 < size ? rank + 1 : MPI_PROC_NULL);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&comm);
    IS(comm, MPI_COMM_NULL);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    IS(comm == MPI_COMM_NULL, rank == 0);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &rank, MPI_UNWEIGHTED, 1, &rank, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Topo_test(comm, &kind);
    IS(kind, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(comm, &here, &there, &flag);
    IS(flag, 0);
    MPI_Comm_free(&comm);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    IS(m, MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&x, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    IS(m, MPI_MESSAGE_NULL);
    snprintf(name, sizeof name, "%s/abi-%d", dir ? dir : "/tmp", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &fh);
    MPI_File_get_amode(fh, &amode);
    IS(amode, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_write(fh, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(fh, -2, MPI_SEEK_END);
    MPI_File_get_position(fh, &at);
    IS(at, 2);
    IS(MPI_File_f2c(MPI_File_c2f(fh)) == fh, 1);
    MPI_File_close(&fh);
    IS(fh == MPI_FILE_NULL, 1);
    IS(MPI_File_c2f(MPI_FILE_NULL), 0);
}

/* ---- Handles as Fortran has them, and what is no handle ---- */

#define BOTH_WAYS(kind, handle) IS(PMPI_##kind##_f2c(MPI_##kind##_c2f(handle)) == (handle), 1)

static void handles(void)
{
    int class;
    MPI_Comm comm;
    MPI_Datatype type, pair[2] = { MPI_INT, MPI_DOUBLE }, got[2];
    MPI_Group group;
    MPI_Info info;
    MPI_Request none = MPI_REQUEST_NULL, r;
    int one[2] = { 1, 1 }, ni, na, nt, combiner, x = 3, ints[3];
    MPI_Aint at[2] = { 0, 8 }, as[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_create_struct(2, one, at, pair, &type);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &r);
    BOTH_WAYS(Comm, comm);
    BOTH_WAYS(Comm, MPI_COMM_WORLD);
    BOTH_WAYS(Comm, MPI_COMM_SELF);
    BOTH_WAYS(Comm, MPI_COMM_NULL);
    BOTH_WAYS(Type, type);
    BOTH_WAYS(Type, MPI_DOUBLE_COMPLEX);
    BOTH_WAYS(Type, MPI_DATATYPE_NULL);
    BOTH_WAYS(Group, group);
    BOTH_WAYS(Group, MPI_GROUP_EMPTY);
    BOTH_WAYS(Info, info);
    BOTH_WAYS(Info, MPI_INFO_NULL);
    BOTH_WAYS(Request, none);
    BOTH_WAYS(Request, r);
    BOTH_WAYS(Op, MPI_SUM);
    BOTH_WAYS(Op, MPI_OP_NULL);
    BOTH_WAYS(Errhandler, MPI_ERRORS_RETURN);
    BOTH_WAYS(Win, MPI_WIN_NULL);
    BOTH_WAYS(Message, MPI_MESSAGE_NO_PROC);
#ifdef OPEN_MPI
    IS(MPI_Comm_c2f(MPI_COMM_WORLD), 0);
    IS(MPI_Type_c2f(MPI_INTEGER), 7);
    IS(MPI_Type_c2f(MPI_DOUBLE_INT), 49);
    IS(MPI_Op_c2f(MPI_MAX), 1);
    if (keel) { /* it looks before it goes there */
        MPI_Error_class(MPI_Send(&x, 1, (MPI_Datatype)(void *)&x, 0, 0, comm), &class);
        IS(class, MPI_ERR_TYPE);
        MPI_Error_class(MPI_Send(&x, 1, (MPI_Datatype)MPI_COMM_WORLD, 0, 0, comm), &class);
        IS(class, MPI_ERR_TYPE);
        MPI_Error_class(MPI_Barrier((MPI_Comm)NULL), &class);
        IS(class, MPI_ERR_COMM);
    }
#endif
    MPI_Type_get_envelope(type, &ni, &na, &nt, &combiner);
    MPI_Type_get_contents(type, ni, na, nt, ints, as, got);
    IS(got[0], MPI_INT);
    IS(got[1], MPI_DOUBLE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Info_free(&info);
    IS(info, MPI_INFO_NULL);
    MPI_Group_free(&group);
    MPI_Type_free(&type);
    MPI_Comm old = comm;
    MPI_Comm_free(&comm);
    if (keel) {
        MPI_Error_class(MPI_Barrier(old), &class);
        IS(class, MPI_ERR_COMM);
    }
}

/* ---- Functions of types, windows, files and requests ---- */

static MPI_Win the_win;
static MPI_File the_file;
static void on_win_error(MPI_Win *win, int *code, ...)
{
    IS(*win == the_win, 1);
    MPI_Error_class(*code, &seen);
}
static void on_file_error(MPI_File *file, int *code, ...)
{
    IS(*file == the_file, 1);
    MPI_Error_class(*code, &seen);
}
static int on_query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_TAG = 31;
    return MPI_SUCCESS;
}
static int freed;
static int on_free(void *extra)
{
    freed = *(int *)extra;
    return MPI_SUCCESS;
}
static int on_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void functions(void)
{
    int key, null_key, flag, n, word = 17, *v;
    MPI_Datatype type, dup;
    MPI_Errhandler h;
    MPI_Request r;
    MPI_Status s;
    char *dir = getenv("TMPDIR"), name[4096];
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &null_key, NULL);
    MPI_Type_set_attr(type, key, &word);
    MPI_Type_set_attr(type, null_key, &word);
    MPI_Type_dup(type, &dup);
    MPI_Type_get_attr(dup, key, &v, &flag);
    IS(flag && v == &word, 1);
    MPI_Type_get_attr(dup, null_key, &v, &flag);
    IS(flag, 0);
    MPI_Type_free_keyval(&key);
    MPI_Type_free_keyval(&null_key);
    MPI_Type_free(&dup);
    MPI_Type_free(&type);
    MPI_Win_create(&word, sizeof word, sizeof word, MPI_INFO_NULL, MPI_COMM_WORLD, &the_win);
    MPI_Win_create_errhandler(on_win_error, &h);
    MPI_Win_set_errhandler(the_win, h);
    seen = 0;
    MPI_Win_call_errhandler(the_win, MPI_ERR_RMA_SYNC);
    IS(seen, MPI_ERR_RMA_SYNC);
    MPI_Errhandler_free(&h);
    MPI_Win_free(&the_win);
    snprintf(name, sizeof name, "%s/functions-%d", dir ? dir : "/tmp", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &the_file);
    MPI_File_create_errhandler(on_file_error, &h);
    MPI_File_set_errhandler(the_file, h);
    seen = 0;
    MPI_File_call_errhandler(the_file, MPI_ERR_READ_ONLY);
    IS(seen, MPI_ERR_READ_ONLY);
    MPI_Errhandler_free(&h);
    MPI_File_close(&the_file);
    n = 5;
    MPI_Grequest_start(on_query, on_free, on_cancel, &n, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, &s);
    IS(s.MPI_SOURCE, MPI_PROC_NULL);
    IS(s.MPI_TAG, 31);
    IS(freed, 5);
    MPI_Get_count(&s, MPI_INT, &n);
    IS(n, 5);
}

/* ---- MPI_T, whose constants and classes differ, too ---- */

static void tool(void)
{
    int provided, n, verbosity, bind, scope, len = 200, desc = 0, count;
    char name[200];
    MPI_Datatype type;
    MPI_T_enum e;
    MPI_T_pvar_session session;
    IS(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    IS(MPI_T_cvar_get_num(&n), MPI_SUCCESS);
    IS(n > 0, 1);
    IS(MPI_T_cvar_get_info(0, name, &len, &verbosity, &type, &e, NULL, &desc, &bind, &scope), MPI_SUCCESS);
    IS(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, 1);
    IS(bind, MPI_T_BIND_NO_OBJECT);
    IS(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, 1);
    MPI_Type_size(type, &count);
    IS(count > 0, 1);
    n = MPI_T_cvar_get_info(-1, name, &len, &verbosity, &type, &e, NULL, &desc, &bind, &scope);
    IS(keel ? n == MPI_T_ERR_INVALID_INDEX : n != MPI_SUCCESS, 1);
    IS(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    IS(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS); /* of none */
    IS(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    IS(session == MPI_T_PVAR_SESSION_NULL, 1);
    IS(MPI_T_finalize(), MPI_SUCCESS);
}

/* ---- What later headers of this MPI name, in a program of any ---- */

static void class_of(int class, const char *name)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len, got;
    IS(MPI_Error_class(class, &got) == MPI_SUCCESS && got == class, 1);
    IS(MPI_Error_string(class, text, &len), MPI_SUCCESS);
    IS(strstr(text, name) != NULL, 1);
    if (!strstr(text, name))
        printf("class %d is '%s'; expected %s\n", class, text, name);
}

#ifdef OPEN_MPI
#define VARIABLE(symbol, handle) \
    handle = dlsym(RTLD_DEFAULT, #symbol); \
    IS(handle != NULL, 1)

static void later_variables(void)
{
    static const struct {
        const char *symbol;
        int size, integer; /* Fortran's */
    } types[] = { { "ompi_mpi_real2", 2, 28 },
                  { "ompi_mpi_complex4", 4, 73 },
                  { "ompi_mpi_logical16", 16, 77 },
                  { "ompi_mpi_short_float", 2, 74 },
                  { "ompi_mpi_c_short_float_complex", 4, 75 },
                  { "ompi_mpi_cxx_sfltcplex", 4, 76 } };
    MPI_Errhandler abort_it, h;
    int n;
    VARIABLE(ompi_mpi_errors_abort, abort_it);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, abort_it);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &h);
    IS(h, abort_it);
    IS(MPI_Errhandler_c2f(h), 3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        MPI_Datatype t = dlsym(RTLD_DEFAULT, types[i].symbol);
        IS(MPI_Type_size(t, &n) == MPI_SUCCESS ? n : -1, types[i].size);
        IS(MPI_Type_c2f(t), types[i].integer);
        IS(MPI_Type_size(MPI_Type_f2c(types[i].integer), &n) == MPI_SUCCESS ? n : -1, types[i].size);
        MPI_Datatype same = t;
        MPI_Type_commit(&same);
        IS(same, t);
    }
}
#endif

#ifndef OPEN_MPI
static int state[5], gone; /* of operations, and error handlers by object */

static void is_gone(void *extra)
{
    IS(extra >= (void *)state && extra < (void *)(state + 5), 1);
    gone++;
}

static void add_with(void *in, void *inout, MPI_Count n, MPI_Datatype t, void *extra)
{
    IS(t, MPI_INT);
    for (MPI_Count i = 0; i < n; i++)
        ((int *)inout)[i] += ((int *)in)[i] + *(int *)extra;
}

static void error_with(int object, int code, void *extra)
{
    MPI_Error_class(code, (int *)extra);
    seen = object;
}

static void file_error_with(MPI_File object, int code, void *extra)
{
    IS(object == MPI_FILE_NULL, 1);
    MPI_Error_class(code, (int *)extra);
}

#define FUNCTION(name, ...) \
    int (*name)(__VA_ARGS__); \
    *(void **)&name = dlsym(RTLD_DEFAULT, #name); \
    IS(name != NULL, 1)

static void state_of_windows_and_files(void)
{
    FUNCTION(MPIX_Win_create_errhandler_x, void *, void *, void *, MPI_Errhandler *);
    FUNCTION(MPIX_File_create_errhandler_x, void *, void *, void *, MPI_Errhandler *);
    MPI_Errhandler h;
    MPI_Win win;
    int x = 0;
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    IS(MPIX_Win_create_errhandler_x(error_with, is_gone, &state[2], &h), MPI_SUCCESS);
    MPI_Win_set_errhandler(win, h);
    MPI_Win_call_errhandler(win, MPI_ERR_IO);
    IS(state[2], MPI_ERR_IO);
    IS(seen, win);
    MPI_Errhandler_free(&h);
    IS(gone, 2);
    MPI_Win_free(&win);
    IS(gone, 3);
    IS(MPIX_File_create_errhandler_x(file_error_with, is_gone, &state[3], &h), MPI_SUCCESS);
    MPI_File_set_errhandler(MPI_FILE_NULL, h);
    MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SPACE);
    IS(state[3], MPI_ERR_NO_SPACE);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&h);
    IS(gone, 4);
}

static void state_of_sessions(void)
{
    FUNCTION(MPIX_Session_create_errhandler_x, void *, void *, void *, MPI_Errhandler *);
    FUNCTION(MPI_Session_init, MPI_Info, MPI_Errhandler, int *);
    FUNCTION(MPI_Session_call_errhandler, int, int);
    FUNCTION(MPI_Session_finalize, int *);
    MPI_Errhandler h;
    int session;
    IS(MPIX_Session_create_errhandler_x(error_with, is_gone, &state[4], &h), MPI_SUCCESS);
    IS(MPI_Session_init(MPI_INFO_NULL, h, &session), MPI_SUCCESS);
    MPI_Session_call_errhandler(session, MPI_ERR_NAME);
    IS(state[4], MPI_ERR_NAME);
    IS(seen, session);
    MPI_Session_finalize(&session);
    IS(gone, 4);
    MPI_Errhandler_free(&h);
    IS(gone, 5);
}

/* MPICH's functions since 4.3 for operations and error handlers that get a state. */
static void with_state(void)
{
    FUNCTION(MPIX_Op_create_x, void *, void *, int, void *, MPI_Op *);
    FUNCTION(MPIX_Comm_create_errhandler_x, void *, void *, void *, MPI_Errhandler *);
    MPI_Errhandler h;
    MPI_Op op;
    int x = 1, y = 2;
    state[0] = 5;
    IS(MPIX_Op_create_x(add_with, is_gone, 1, &state[0], &op), MPI_SUCCESS);
    MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
    IS(y, 8);
    IS(gone, 0);
    MPI_Op_free(&op);
    IS(gone, 1);
    IS(MPIX_Op_create_x(add_with, NULL, 1, &state[0], &op), MPI_SUCCESS);
    MPI_Op_free(&op);
    IS(MPIX_Op_create_x(NULL, is_gone, 1, &state[0], &op) != MPI_SUCCESS, 1);
    IS(MPIX_Comm_create_errhandler_x(error_with, is_gone, &state[1], &h), MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
    IS(MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD),
       MPI_SUCCESS); /* as in MPICH, whose call has succeeded then */
    IS(state[1], MPI_ERR_RANK);
    IS(seen, MPI_COMM_WORLD);
    MPI_Errhandler_free(&h);
    IS(gone, 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    IS(gone, 2);
    state_of_windows_and_files();
    state_of_sessions();
}
#endif

static void later(void)
{
    if (!keel)
        return;
#ifdef OPEN_MPI
    class_of(74, "MPI_ERR_PROC_ABORTED");
    class_of(75, "MPI_ERR_PROC_FAILED)");
    class_of(76, "MPI_ERR_PROC_FAILED_PENDING");
    class_of(77, "MPI_ERR_REVOKED");
    class_of(78, "MPI_ERR_SESSION");
    class_of(79, "MPI_ERR_VALUE_TOO_LARGE");
    class_of(80, "MPI_ERR_ERRHANDLER");
    class_of(81, "MPI_T_ERR_NOT_ACCESSIBLE");
    class_of(82, "MPI_T_ERR_NOT_SUPPORTED");
    class_of(83, "MPI_ERR_ABI");
    later_variables();
#else
    with_state();
    class_of(75, "MPI_ERR_SESSION");
    class_of(79, "MPI_T_ERR_NOT_ACCESSIBLE");
    class_of(80, "MPI_ERR_ERRHANDLER");
    class_of(81, "MPI_ERR_ABI");
    class_of(101, "MPI_ERR_PROC_FAILED)");
    class_of(102, "MPI_ERR_PROC_FAILED_PENDING");
    class_of(103, "MPI_ERR_REVOKED");
    class_of(107, "MPIX_ERR_TIMEOUT");
#endif
}

/* ---- What only this MPI has ---- */

static void others(void)
{
#ifdef OPEN_MPI
    int MPIX_Query_cuda_support(void), x = rank, sum = -1;
    int (*allreduce_init)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *);
    MPI_Request r;
    IS(MPIX_Query_cuda_support(), 0);
    *(void **)&allreduce_init = dlsym(RTLD_DEFAULT, "MPIX_Allreduce_init"); /* Open MPI 6 has it no longer */
    IS(keel && !allreduce_init, 0);
    if (!allreduce_init)
        return;
    allreduce_init(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int i = 0; i < 2; i++, x++) {
        MPI_Start(&r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        IS(sum, size * (size - 1) / 2 + i * size);
    }
    MPI_Request_free(&r);
#endif
}

int main(int argc, char **argv)
{
    int provided, level, version, subversion, len, all;
    char host[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Query_thread(&level);
    IS(level, provided);
    IS(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, 1);
    MPI_Get_library_version(library, &len);
    keel = strncmp(library, "Keel", 4) == 0;
    MPI_Get_version(&version, &subversion);
    IS(version * 100 + subversion >= MPI_VERSION * 100 + MPI_SUBVERSION,
       1); /* it never has less than its header */
    if (keel)
        IS(version * 100 + subversion, 500);
    MPI_Get_processor_name(host, &len);
    IS(strlen(host), len);
    statuses();
    attributes();
    errors();
    types();
    objects();
    handles();
    functions();
    tool();
    later();
    others();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s of %d\n", all ? "wrong" : "right", size);
    MPI_Finalize();
    return wrong != 0;
}
