/* SPDX-License-Identifier: BSD-3-Clause */
/* rows_objects.h: rows of misuse.c about attributes, error handlers, info, memory, names, processes. */
#ifndef ROWS_OBJECTS_H
#define ROWS_OBJECTS_H

#include "misuse.h"

/* ---- Attributes, error handlers, info */

static int key_of(int type)
{
    int key;
    if (type)
        MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    else
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    return key;
}
static int attr_freed(void)
{
    int key = key_of(0), kept = key;
    MPI_Comm_free_keyval(&key);
    return MPI_Comm_set_attr(S, kept, a);
}
static int attr_other_kind(void)
{
    return MPI_Comm_set_attr(S, key_of(1), a);
}
static int attr_predefined(void)
{
    return MPI_Comm_set_attr(W, MPI_TAG_UB, a);
}
static int attr_delete_predefined(void)
{
    return MPI_Comm_delete_attr(W, MPI_TAG_UB);
}
static int attr_delete_unset(void)
{
    return MPI_Comm_delete_attr(S, key_of(0));
}
static int attr_invalid(void)
{
    return MPI_Comm_set_attr(S, MPI_KEYVAL_INVALID, a);
}
static int attr_get_invalid(void)
{
    void *v;
    return MPI_Comm_get_attr(S, MPI_KEYVAL_INVALID, &v, a);
}
static int keyval_free_predefined(void)
{
    int key = MPI_TAG_UB;
    return MPI_Comm_free_keyval(&key);
}
static int keyval_free_invalid(void)
{
    int key = MPI_KEYVAL_INVALID;
    return MPI_Comm_free_keyval(&key);
}
static void on_win(MPI_Win *w, int *code, ...)
{
    (void)w, (void)code;
}
static int left_code;
static void on_comm(MPI_Comm *c, int *code, ...)
{
    (void)c;
    *code = left_code;
}
static int handler_other_kind(void)
{
    MPI_Errhandler h;
    MPI_Comm c;
    MPI_Comm_dup(S, &c);
    MPI_Win_create_errhandler(on_win, &h);
    return MPI_Comm_set_errhandler(c, h);
}
static int handler_free_predefined(void)
{
    MPI_Errhandler h = MPI_ERRORS_RETURN;
    return MPI_Errhandler_free(&h);
}
static int handler_null(void)
{
    return MPI_Comm_set_errhandler(S, MPI_ERRHANDLER_NULL);
}
static int handler_mends(void)
{
    MPI_Errhandler h;
    MPI_Comm c;
    MPI_Comm_dup(S, &c);
    MPI_Comm_create_errhandler(on_comm, &h);
    MPI_Comm_set_errhandler(c, h);
    left_code = MPI_SUCCESS;
    return MPI_Send(a, 0, I, 1000, 0, c);
}
static int error_class_unknown(void)
{
    return MPI_Error_class(12345678, a);
}
static int error_string_unknown(void)
{
    char text[MPI_MAX_ERROR_STRING];
    return MPI_Error_string(12345678, text, a);
}
static int add_code_unknown(void)
{
    return MPI_Add_error_code(12345678, a);
}
static int add_string_predefined(void)
{
    return MPI_Add_error_string(MPI_ERR_RANK, "mine");
}
static int remove_class_string(void)
{
#if NEW(41)
    int c;
    MPI_Add_error_class(&c);
    MPI_Add_error_string(c, "x");
    return MPI_Remove_error_class(c);
#else
    return ABSENT;
#endif
}
static int info_long_key(void)
{
    char key[2 * MPI_MAX_INFO_KEY];
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = 0;
    return MPI_Info_set(info(NULL, NULL), key, "v");
}
static int info_empty_key(void)
{
    return MPI_Info_set(info(NULL, NULL), "", "v");
}
static int info_empty_value(void)
{
    return MPI_Info_set(info(NULL, NULL), "k", "");
}
static int info_long_value(void)
{
    static char value[2 * MPI_MAX_INFO_VAL];
    memset(value, 'v', sizeof value - 1);
    return MPI_Info_set(info(NULL, NULL), "k", value);
}
static int info_delete_absent(void)
{
    return MPI_Info_delete(info(NULL, NULL), "k");
}
static int info_nth(void)
{
    char key[MPI_MAX_INFO_KEY];
    return MPI_Info_get_nthkey(info("k", "v"), 3, key);
}
static int info_get_negative(void)
{
    char value[8];
    return MPI_Info_get(info("k", "v"), "k", -1, value, a);
}
static int info_null(void)
{
    return MPI_Info_get_nkeys(MPI_INFO_NULL, a);
}
static int info_free_null(void)
{
    MPI_Info i = MPI_INFO_NULL;
    return MPI_Info_free(&i);
}
static int info_free_env(void)
{
    MPI_Info i = MPI_INFO_ENV;
    return MPI_Info_free(&i);
}
static int info_set_env(void)
{
    return MPI_Info_set(MPI_INFO_ENV, "k", "v");
}
static int hint_value(void)
{
    MPI_Comm c;
    MPI_Comm_dup(S, &c);
    return MPI_Comm_set_info(c, info("mpi_assert_no_any_tag", "perhaps"));
}

/* ---- Memory, names, processes */

static int alloc_negative(void)
{
    void *p;
    return MPI_Alloc_mem(-1, MPI_INFO_NULL, &p);
}
static int free_mem_null(void)
{
    return MPI_Free_mem(NULL);
}
static int alignment(void)
{
    void *p;
    return MPI_Alloc_mem(8, info("mpi_minimum_memory_alignment", "3"), &p);
}
static int unpublished(void)
{
    return MPI_Unpublish_name("nobody-has-published-this", MPI_INFO_NULL, "port");
}
static int lookup_unknown(void)
{
    char port[MPI_MAX_PORT_NAME];
    return MPI_Lookup_name("nobody-has-published-this", MPI_INFO_NULL, port);
}
static int close_unknown(void)
{
    return MPI_Close_port("no-port");
}
static int init_twice(void)
{
    int given;
    return MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &given);
}
static int pset_unknown(void)
{
#if NEW(40)
    MPI_Session s;
    MPI_Group g;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    return MPI_Group_from_session_pset(s, "nobody://here", &g);
#else
    return ABSENT;
#endif
}
static int session_level(void)
{
#if NEW(40)
    MPI_Session s;
    return MPI_Session_init(info("thread_level", "MPI_THREAD_MOST"), MPI_ERRORS_RETURN, &s);
#else
    return ABSENT;
#endif
}

#endif
