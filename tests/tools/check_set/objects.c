/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.c: objects that are left, or used after they were freed; requests; arguments. */
#include "set.h"
#include <stdbool.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

static void report(MPI_Comm *of, int *code, ...)
{
    (void)of, (void)code;
}

/* ---- What is left ---- */

WRONG(comm_dup_left, 1)
{
    MPI_Comm twin;
    MPI_Comm_dup(comm, &twin); /* leak-comm: - */
}

RIGHT(comm_dup_freed, 1)
{
    MPI_Comm twin;
    MPI_Comm_dup(comm, &twin);
    MPI_Comm_free(&twin);
}

WRONG(comm_split_left, 1)
{
    MPI_Comm half;
    MPI_Comm_split(comm, rank % 2, rank, &half); /* leak-comm: - */
}

RIGHT(comm_split_disconnected, 1)
{
    MPI_Comm half;
    MPI_Comm_split(comm, rank % 2, rank, &half);
    MPI_Comm_disconnect(&half);
    MPI_Comm_split(comm, MPI_UNDEFINED, rank, &half);
}

WRONG(cart_left, 1)
{
    MPI_Comm grid;
    MPI_Cart_create(comm, 1, &size, (int[]){ 1 }, 0, &grid); /* leak-comm: - */
}

RIGHT(cart_freed, 1)
{
    MPI_Comm grid, line;
    MPI_Cart_create(comm, 1, &size, (int[]){ 1 }, 0, &grid);
    MPI_Cart_sub(grid, (int[]){ 1 }, &line);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&line);
}

WRONG(vector_left, 1)
{
    MPI_Datatype type;
    MPI_Type_vector(3, 1, 2, MPI_INT, &type); /* leak-datatype: - */
}

RIGHT(vector_freed, 1)
{
    MPI_Datatype type, of;
    MPI_Type_vector(3, 1, 2, MPI_INT, &of);
    MPI_Type_contiguous(2, of, &type);
    MPI_Type_free(&of);
    MPI_Type_free(&type);
}

WRONG(type_dup_left, 1)
{
    MPI_Datatype type;
    MPI_Type_dup(column, &type); /* leak-datatype: - */
}

RIGHT(type_dup_freed, 1)
{
    MPI_Datatype type;
    MPI_Type_dup(column, &type);
    MPI_Type_free(&type);
}

WRONG(contents_left, 1)
{
    MPI_Datatype type, of;
    MPI_Type_contiguous(2, column, &type);
    MPI_Type_get_contents(type, 1, 0, 1, (int[1]){ 0 }, NULL, &of); /* leak-datatype: - */
    MPI_Type_free(&type);
}

RIGHT(contents_named, 1)
{
    int n[3];
    MPI_Datatype of;
    MPI_Type_get_contents(column, 3, 0, 1, n, NULL, &of);
}

WRONG(group_left, 1)
{
    MPI_Group group;
    MPI_Comm_group(comm, &group); /* leak-group: - */
}

RIGHT(group_freed, 1)
{
    MPI_Group group, part;
    MPI_Comm_group(comm, &group);
    MPI_Group_incl(group, 0, NULL, &part); /* MPI_GROUP_EMPTY */
    MPI_Group_free(&group);
}

WRONG(group_incl_left, 1)
{
    MPI_Group group, part;
    MPI_Comm_group(comm, &group);
    MPI_Group_incl(group, 1, (int[]){ 0 }, &part); /* leak-group: - */
    MPI_Group_free(&group);
}

RIGHT(group_incl_freed, 1)
{
    MPI_Group group, part;
    MPI_Comm_group(comm, &group);
    MPI_Group_incl(group, 1, (int[]){ 0 }, &part);
    MPI_Group_free(&group);
    MPI_Group_free(&part);
}

WRONG(op_left, 1)
{
    MPI_Op op;
    MPI_Op_create(add, 1, &op); /* leak-op: - */
}

RIGHT(op_freed_under_way, 1)
{
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(a, b, 1, MPI_INT, op, comm, r);
    MPI_Op_free(&op);
    MPI_Wait(r, no);
}

WRONG(info_left, 1)
{
    MPI_Info info;
    MPI_Info_dup(MPI_INFO_ENV, &info); /* leak-info: - */
}

RIGHT(info_freed, 1)
{
    MPI_Info info;
    MPI_Info_dup(MPI_INFO_ENV, &info);
    MPI_Info_free(&info);
}

WRONG(comm_info_left, 1)
{
    MPI_Info info;
    MPI_Comm_get_info(comm, &info); /* leak-info: - */
}

RIGHT(comm_info_freed, 1)
{
    MPI_Info info;
    MPI_Comm_get_info(comm, &info);
    MPI_Info_free(&info);
}

WRONG(errhandler_left, 1)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(report, &handler); /* leak-errhandler: - */
}

RIGHT(errhandler_freed, 1)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(report, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
}

WRONG(errhandler_got_and_left, 1)
{
    MPI_Errhandler handler, again;
    MPI_Comm_create_errhandler(report, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Comm_get_errhandler(comm, &again); /* leak-errhandler: - */
}

RIGHT(errhandler_got_and_freed, 1)
{
    MPI_Errhandler again;
    MPI_Comm_get_errhandler(comm, &again);
    MPI_Errhandler_free(&again);
}

WRONG(isend_left, 1)
{
    static int kept[1];                            /* it stays in use */
    MPI_Isend(kept, 1, MPI_INT, next, 1, comm, r); /* leak-request: - */
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
}

RIGHT(isend_freed, 1)
{
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    MPI_Request_free(r);
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_Barrier(comm);
}

WRONG(irecv_left, 1)
{
    static int never[1];
    MPI_Irecv(never, 1, MPI_INT, prev, 1, comm, r); /* leak-request: - */
}

RIGHT(irecv_cancelled, 1)
{
    MPI_Irecv(b, 1, MPI_INT, prev, 1, comm, r);
    MPI_Cancel(r);
    MPI_Wait(r, no);
}

WRONG(ibarrier_left, 1)
{
    MPI_Ibarrier(comm, r); /* leak-request: - */
    MPI_Barrier(MPI_COMM_WORLD);
}

RIGHT(ibarrier_tested, 1)
{
    int done = 0;
    MPI_Ibarrier(comm, r);
    while (!done)
        MPI_Testall(1, r, &done, none);
}

WRONG(send_init_left, 1)
{
    MPI_Send_init(a, 1, MPI_INT, next, 1, comm, r); /* leak-persistent: - */
}

RIGHT(send_init_freed, 1)
{
    MPI_Send_init(a, 1, MPI_INT, next, 1, comm, r);
    MPI_Request_free(r);
}

WRONG(bcast_init_left, 1)
{
    MPI_Bcast_init(a, 1, MPI_INT, 0, comm, MPI_INFO_NULL, r); /* leak-persistent: - */
}

RIGHT(bcast_init_freed, 1)
{
    MPI_Bcast_init(a, 1, MPI_INT, 0, comm, MPI_INFO_NULL, r);
    MPI_Start(r);
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

WRONG(window_left, 1)
{
    MPI_Win win;
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, comm, (void *)&(int *){ NULL }, &win); /* leak-window: - */
}

RIGHT(window_freed, 1)
{
    MPI_Win win;
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, comm, (void *)&(int *){ NULL }, &win);
    MPI_Win_free(&win);
}

/* ---- After it was freed ---- */

WRONG(comm_used_after_free, 1)
{
    MPI_Comm twin, same;
    MPI_Comm_dup(comm, &twin);
    same = twin;
    MPI_Comm_free(&twin);
    MPI_Barrier(same); /* returned-error: comm */
}

WRONG(comm_freed_twice, 1)
{
    MPI_Comm twin, same;
    MPI_Comm_dup(comm, &twin);
    same = twin;
    MPI_Comm_free(&twin);
    MPI_Comm_free(&same); /* returned-error: comm */
}

WRONG(type_used_after_free, 1)
{
    MPI_Datatype type, same;
    MPI_Type_dup(column, &type);
    same = type;
    MPI_Type_free(&type);
    MPI_Send(a, 1, same, next, 1, comm); /* returned-error: datatype */
}

WRONG(type_freed_twice, 1)
{
    MPI_Datatype type, same;
    MPI_Type_dup(column, &type);
    same = type;
    MPI_Type_free(&type);
    MPI_Type_free(&same); /* returned-error: datatype */
}

WRONG(named_type_freed, 1)
{
    MPI_Datatype type = MPI_INT;
    MPI_Type_free(&type); /* returned-error: datatype */
}

WRONG(op_used_after_free, 1)
{
    MPI_Op op, same;
    MPI_Op_create(add, 1, &op);
    same = op;
    MPI_Op_free(&op);
    MPI_Allreduce(a, b, 1, MPI_INT, same, comm); /* returned-error: op */
}

WRONG(group_used_after_free, 1)
{
    int n;
    MPI_Group group, same;
    MPI_Comm_group(comm, &group);
    same = group;
    MPI_Group_free(&group);
    MPI_Group_size(same, &n); /* returned-error: group */
}

WRONG(info_used_after_free, 1)
{
    MPI_Info info, same;
    MPI_Info_create(&info);
    same = info;
    MPI_Info_free(&info);
    MPI_Info_set(same, "key", "value"); /* returned-error: info */
}

WRONG(errhandler_used_after_free, 1)
{
    MPI_Errhandler handler, same;
    MPI_Comm_create_errhandler(report, &handler);
    same = handler;
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(comm, same); /* returned-error: errhandler */
}

WRONG(window_used_after_free, 1)
{
    MPI_Win win, same;
    MPI_Win_create(b, 1000 * sizeof *b, sizeof *b, MPI_INFO_NULL, comm, &win);
    same = win;
    MPI_Win_free(&win);
    MPI_Win_fence(0, same); /* returned-error: win */
}

WRONG(keyval_used_after_free, 1)
{
    int key, same;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    same = key;
    MPI_Comm_free_keyval(&key);
    MPI_Comm_set_attr(comm, same, a); /* returned-error: comm_keyval */
}

RIGHT(keyval_freed_in_use, 1)
{
    int key, flag;
    void *value;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, a);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    MPI_Comm_free_keyval(&key);
}

static int refuse(MPI_Comm of, int key, void *value, void *now)
{
    (void)of, (void)key, (void)value;
    return *(bool *)now ? MPI_ERR_OTHER : MPI_SUCCESS;
}

WRONG(attribute_that_refuses, 1)
{
    int key;
    bool now = true;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, &now);
    MPI_Comm_set_attr(comm, key, a);
    MPI_Comm_delete_attr(comm, key); /* returned-error: callback */
    now = false;
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
}

/* ---- Requests ---- */

WRONG(waited_twice, 1)
{
    MPI_Request same;
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    same = r[0];
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    MPI_Wait(&same, no); /* returned-error: request */
}

RIGHT(waited_for_nothing, 1)
{
    int done;
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_Wait(r, no);
    MPI_Wait(r, no);
    MPI_Test(r, &done, no);
    MPI_Waitall(4, r, none);
}

WRONG(waited_twice_in_an_array, 1)
{
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    r[1] = r[0];
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_Waitall(2, r, none); /* returned-error: array_of_requests */
}

WRONG(tested_after_the_wait, 1)
{
    int done;
    MPI_Irecv(b, 1, MPI_INT, prev, 1, comm, r);
    r[1] = r[0];
    MPI_Send(a, 1, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
    MPI_Test(r + 1, &done, no); /* returned-error: request */
}

WRONG(freed_after_the_wait, 1)
{
    MPI_Ibarrier(comm, r);
    r[1] = r[0];
    MPI_Wait(r, no);
    MPI_Request_free(r + 1); /* returned-error: request */
}

WRONG(collective_freed_under_way, 1)
{
    MPI_Ibarrier(comm, r);
    r[1] = r[0];
    MPI_Request_free(r + 1); /* returned-error: request */
    MPI_Wait(r, no);
}

WRONG(cancelled_collective, 1)
{
    MPI_Ibarrier(comm, r);
    MPI_Cancel(r); /* returned-error: request */
    MPI_Wait(r, no);
}

WRONG(started_twice, 1)
{
    MPI_Recv_init(b, 1, MPI_INT, prev, 1, comm, r);
    MPI_Start(r);
    MPI_Start(r); /* returned-error: request */
    MPI_Send(a, 1, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

RIGHT(started_again, 1)
{
    MPI_Recv_init(b, 1, MPI_INT, prev, 1, comm, r);
    for (int i = 0; i < 2; i++) {
        MPI_Start(r);
        MPI_Send(a, 1, MPI_INT, next, 1, comm);
        MPI_Wait(r, no);
    }
    MPI_Wait(r, no); /* inactive */
    MPI_Request_free(r);
}

WRONG(started_though_not_persistent, 1)
{
    MPI_Irecv(b, 1, MPI_INT, prev, 1, comm, r);
    MPI_Start(r); /* returned-error: request */
    MPI_Send(a, 1, MPI_INT, next, 1, comm);
    MPI_Wait(r, no);
}

WRONG(message_received_twice, 1)
{
    MPI_Message m, same;
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    MPI_Mprobe(prev, 1, comm, &m, no);
    same = m;
    MPI_Mrecv(b, 1, MPI_INT, &m, no);
    MPI_Mrecv(b, 1, MPI_INT, &same, no); /* returned-error: message */
    MPI_Wait(r, no);
}

/* ---- Arguments ---- */

WRONG(type_not_committed, 1)
{
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Send(a, 1, type, next, 1, comm); /* returned-error: datatype */
    MPI_Type_free(&type);
}

RIGHT(type_not_committed_in_another, 1)
{
    MPI_Datatype type, whole;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_contiguous(2, type, &whole);
    MPI_Type_commit(&whole);
    MPI_Sendrecv(a, 1, whole, next, 1, b, 1, whole, prev, 1, comm, no);
    MPI_Type_free(&type);
    MPI_Type_free(&whole);
}

WRONG(type_not_committed_in_a_collective, 1)
{
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Bcast(a, 1, type, 0, comm); /* returned-error: datatype */
    MPI_Type_free(&type);
}

WRONG(negative_count, 1)
{
    MPI_Send(a, -1, MPI_INT, next, 1, comm); /* returned-error: count */
}

WRONG(no_such_rank, 1)
{
    MPI_Send(a, 1, MPI_INT, size, 1, comm); /* returned-error: dest */
}

WRONG(any_source_to_send_to, 1)
{
    MPI_Send(a, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm); /* returned-error: dest */
}

WRONG(any_tag_to_send_with, 1)
{
    MPI_Send(a, 1, MPI_INT, next, MPI_ANY_TAG, comm); /* returned-error: tag */
}

WRONG(tag_too_large, 1)
{
    int flag, *most;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    MPI_Send(a, 1, MPI_INT, next, *most < 0x7fffffff ? *most + 1 : -5, comm); /* returned-error: tag */
}

RIGHT(largest_tag, 1)
{
    int flag, *most;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    MPI_Sendrecv(a, 1, MPI_INT, next, *most, b, 1, MPI_INT, prev, *most, comm, no);
}

WRONG(no_communicator, 1)
{
    MPI_Barrier(MPI_COMM_NULL); /* returned-error: comm */
}

WRONG(no_type, 1)
{
    MPI_Send(a, 1, MPI_DATATYPE_NULL, next, 1, comm); /* returned-error: datatype */
}

WRONG(no_such_root, 1)
{
    MPI_Bcast(a, 1, MPI_INT, size, comm); /* returned-error: root */
}

WRONG(op_that_does_not_fit, 1)
{
    MPI_Allreduce(d, e, 1, MPI_DOUBLE, MPI_BAND, comm); /* returned-error: op */
}

RIGHT(op_that_fits, 1)
{
    MPI_Allreduce(a, b, 1, MPI_INT, MPI_BAND, comm);
}

WRONG(op_of_a_derived_type, 1)
{
    MPI_Allreduce(a, b, 1, column, MPI_SUM, comm); /* returned-error: op */
}

WRONG(no_buffer, 1)
{
    MPI_Send(NULL, 1, MPI_INT, next, 1, comm); /* returned-error: buf */
}

WRONG(key_too_long, 1)
{
    char key[MPI_MAX_INFO_KEY + 2];
    MPI_Info info;
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, "value"); /* returned-error: key */
    MPI_Info_free(&info);
}

WRONG(negative_number_of_processes, 1)
{
    MPI_Comm grid;
    MPI_Cart_create(comm, 1, (int[]){ -1 }, (int[]){ 1 }, 0, &grid); /* returned-error: dims */
}

WRONG(no_topology, 1)
{
    int n;
    MPI_Cartdim_get(comm, &n); /* returned-error: comm */
}

WRONG(no_memory_to_pack_into, 1)
{
    int at = 0;
    MPI_Pack(a, 10, MPI_INT, b, 39, &at, comm); /* returned-error: buffer */
}

WRONG(group_of_one_rank_twice, 1)
{
    MPI_Group group, part;
    MPI_Comm_group(comm, &group);
    MPI_Group_incl(group, 2, (int[]){ 0, 0 }, &part); /* returned-error: ranks */
    MPI_Group_free(&group);
}

/* ---- Right ones that look like them ---- */

RIGHT(handle_copied, 1)
{
    MPI_Comm twin, same;
    MPI_Comm_dup(comm, &twin);
    same = twin;
    MPI_Barrier(same);
    MPI_Comm_free(&same);
}

RIGHT(comm_freed_under_way, 1)
{
    MPI_Comm twin;
    MPI_Comm_dup(comm, &twin);
    MPI_Irecv(b, 1, MPI_INT, prev, 1, twin, r);
    MPI_Isend(a, 1, MPI_INT, next, 1, twin, r + 1);
    MPI_Comm_free(&twin);
    MPI_Waitall(2, r, none);
}

RIGHT(group_of_a_freed_communicator, 1)
{
    int n;
    MPI_Comm twin;
    MPI_Group group;
    MPI_Comm_dup(comm, &twin);
    MPI_Comm_group(twin, &group);
    MPI_Comm_free(&twin);
    MPI_Group_size(group, &n);
    MPI_Group_free(&group);
}

RIGHT(nothing_to_free, 1)
{
    MPI_Group group;
    MPI_Comm_split(comm, MPI_UNDEFINED, 0, &(MPI_Comm){ MPI_COMM_NULL });
    MPI_Comm_group(MPI_COMM_SELF, &group);
    MPI_Group_difference(group, group, &(MPI_Group){ MPI_GROUP_NULL });
    MPI_Group_free(&group);
}

RIGHT(request_copied, 1)
{
    MPI_Request same;
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    same = r[0];
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_Wait(&same, no);
    r[0] = MPI_REQUEST_NULL;
}

RIGHT(requests_taken_one_by_one, 1)
{
    int which, n = 0, some[2];
    MPI_Irecv(b, 1, MPI_INT, prev, 1, comm, r);
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r + 1);
    MPI_Waitany(2, r, &which, no);
    while (n != MPI_UNDEFINED)
        MPI_Waitsome(2, r, &n, some, none);
}

RIGHT(status_asked_first, 1)
{
    int done = 0;
    MPI_Irecv(b, 1, MPI_INT, prev, 1, comm, r);
    MPI_Send(a, 1, MPI_INT, next, 1, comm);
    while (!done)
        MPI_Request_get_status(r[0], &done, no);
    MPI_Wait(r, no);
}

RIGHT(persistent_freed_while_active, 1)
{
    MPI_Send_init(a, 1, MPI_INT, next, 1, comm, r);
    MPI_Start(r);
    MPI_Request_free(r);
    MPI_Recv(b, 1, MPI_INT, prev, 1, comm, no);
    MPI_Barrier(comm);
}

RIGHT(never_started, 1)
{
    MPI_Recv_init(b, 1, MPI_INT, prev, 1, comm, r);
    MPI_Wait(r, no);
    MPI_Request_free(r);
}

RIGHT(message_received_once, 1)
{
    int flag = 0;
    MPI_Message m;
    MPI_Isend(a, 1, MPI_INT, next, 1, comm, r);
    while (!flag)
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &m, no);
    MPI_Mrecv(b, 1, MPI_INT, &m, no);
    MPI_Wait(r, no);
}

RIGHT(type_committed_late, 1)
{
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_commit(&type);
    MPI_Bcast(a, 1, type, 0, comm);
    MPI_Type_free(&type);
}

RIGHT(type_of_no_elements, 1)
{
    MPI_Datatype type;
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(a, 5, type, next, 1, b, 5, type, prev, 1, comm, no);
    MPI_Type_free(&type);
}

RIGHT(count_of_nothing, 1)
{
    MPI_Sendrecv(NULL, 0, MPI_INT, next, 1, NULL, 0, MPI_INT, prev, 1, comm, no);
    MPI_Bcast(NULL, 0, MPI_INT, 0, comm);
}

RIGHT(nobody_to_send_to, 1)
{
    MPI_Send(a, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
    MPI_Recv(a, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, comm, no);
}

RIGHT(bottom, 1)
{
    MPI_Aint at[2];
    MPI_Datatype both;
    MPI_Get_address(a, &at[0]);
    MPI_Get_address(b, &at[1]);
    MPI_Type_create_hindexed(2, (int[]){ 5, 5 }, at, MPI_INT, &both);
    MPI_Type_commit(&both);
    MPI_Irecv(d, 10, MPI_INT, prev, 1, comm, r);
    MPI_Send(MPI_BOTTOM, 1, both, next, 1, comm);
    MPI_Wait(r, no);
    MPI_Type_free(&both);
}

RIGHT(op_of_the_program, 1)
{
    MPI_Op op;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(a, b, 1, column, op, comm);
    MPI_Op_free(&op);
}

RIGHT(last_root, 1)
{
    MPI_Bcast(a, 1, MPI_INT, size - 1, comm);
}

RIGHT(insignificant_arguments, 1)
{
    bool root = rank == 0;
    MPI_Gather(a, 1, MPI_INT, root ? b : NULL, root ? 1 : -1, root ? MPI_INT : MPI_DATATYPE_NULL, 0, comm);
    MPI_Scatter(root ? a : NULL, root ? 1 : -1, root ? MPI_INT : MPI_DATATYPE_NULL, b, 1, MPI_INT, 0, comm);
}

RIGHT(room_to_pack_into, 1)
{
    int at = 0;
    MPI_Pack(a, 10, MPI_INT, b, 40, &at, comm);
    at = 0;
    MPI_Unpack(b, 40, &at, a, 10, MPI_INT, comm);
}

RIGHT(longest_key, 1)
{
    char key[MPI_MAX_INFO_KEY];
    MPI_Info info;
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, "value");
    MPI_Info_delete(info, key);
    MPI_Info_free(&info);
}

RIGHT(topology_asked_for, 1)
{
    int kind;
    MPI_Topo_test(comm, &kind);
}

RIGHT(handler_of_the_program, 1)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(report, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

RIGHT(buffered_sends_without_a_buffer_of_their_own, 1)
{
    MPI_Bsend(a, 100, MPI_INT, next, 1, comm); /* MPI 5.0: the library finds room */
    MPI_Recv(b, 100, MPI_INT, prev, 1, comm, no);
}
