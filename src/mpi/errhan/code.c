/* SPDX-License-Identifier: BSD-3-Clause */
/* code.c: error classes and codes that the user adds (10.5.1), and MPI_Error_class.
 *
 * A user's class or code is MPI_ERR_LASTCODE + 1 + its place in the table.  All calls are thread-safe and may
 * come before MPI_Init and after MPI_Finalize; the table goes when the library is unloaded. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include <string.h>
#include "abi.h"
#include "mpi_err.h"
#include "util/lock.h"

enum { FIRST = MPI_ERR_LASTCODE + 1 };

struct code {
    int errclass; /* its class; a class is its own; 0: removed */
    int codes;    /* a class: how many codes belong to it */
    char *text;   /* NULL: none was added */
};

static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);
static struct code *table KU_GUARDED_BY(lock);
static int used KU_GUARDED_BY(lock), room KU_GUARDED_BY(lock); /* table[used - 1] is alive */
static int
    last_used KU_GUARDED_BY(lock) = MPI_ERR_LASTCODE; /* MPI_LASTUSEDCODE's, as the program's ABI has it */

KU_NEEDS(lock) static struct code *find(int errorcode)
{
    int i = errorcode - FIRST;
    return errorcode >= FIRST && i < used && table[i].errclass ? &table[i] : NULL;
}

/* A program may keep the attribute's address: the value there is the one that it knows. */
KU_NEEDS(lock) static void tell_last_used(void)
{
    last_used = MPI_ERR_LASTCODE + used;
    if (&MPIR_Differs)
        last_used = MPIR_Differs.error_out(last_used);
}

/* A new entry; class 0 makes it its own class.  Its value, or -1 without memory. */
KU_NEEDS(lock) static int add(int errclass)
{
    if (used == room) {
        int n = room ? 2 * room : 16;
        struct code *t = n > INT32_MAX - FIRST ? NULL : realloc(table, (size_t)n * sizeof *t);
        if (!t)
            return -1;
        table = t;
        room = n;
    }
    int value = FIRST + used;
    table[used++] = (struct code){ .errclass = errclass ? errclass : value };
    tell_last_used();
    return value;
}

KU_NEEDS(lock) static void trim(void)
{
    while (used && !table[used - 1].errclass)
        used--;
    tell_last_used();
}

static int code_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more error class or code");
}

static int not_users(int class, const char *arg, int value, const char *what)
{
    return MPIR_Err(class, arg, "is %d; expected %s", value, what);
}

static int still_has_text(const char *arg, int value)
{
    return MPIR_Err(MPI_ERR_ARG, arg, "is %d, which still has a string; expected that to be removed first",
                    value);
}

int MPIR_Add_error_class(int *errorclass)
{
    ku_lock(&lock);
    int value = add(0);
    ku_unlock(&lock);
    if (value < 0)
        return code_no_memory();
    *errorclass = value;
    return 0;
}

int MPIR_Remove_error_class(int errorclass)
{
    ku_lock(&lock);
    struct code *c = find(errorclass);
    bool is_class = c && c->errclass == errorclass, has_text = is_class && c->text;
    int codes = is_class ? c->codes : 0;
    if (is_class && !codes && !has_text) {
        *c = (struct code){ 0 };
        trim();
    }
    ku_unlock(&lock);
    if (!is_class)
        return not_users(MPI_ERR_ARG, "errorclass", errorclass, "a class made by MPI_Add_error_class");
    if (codes)
        return MPIR_Err(MPI_ERR_ARG, "errorclass",
                        "is %d, which still has %d error code%s; expected them to be "
                        "removed first",
                        errorclass, codes, codes > 1 ? "s" : "");
    return has_text ? still_has_text("errorclass", errorclass) : 0;
}

int MPIR_Add_error_code(int errorclass, int *errorcode)
{
    ku_lock(&lock);
    struct code *c = find(errorclass);
    bool ok =
        (errorclass != MPI_SUCCESS && MPIR_Err_class_name(errorclass)) || (c && c->errclass == errorclass);
    int value = ok ? add(errorclass) : 0;
    if (value > 0 && find(errorclass))
        find(errorclass)->codes++;
    ku_unlock(&lock);
    if (!ok)
        return not_users(MPI_ERR_ARG, "errorclass", errorclass, "an error class other than MPI_SUCCESS");
    if (value < 0)
        return code_no_memory();
    *errorcode = value;
    return 0;
}

int MPIR_Remove_error_code(int errorcode)
{
    ku_lock(&lock);
    struct code *c = find(errorcode);
    bool is_code = c && c->errclass != errorcode, has_text = is_code && c->text;
    if (is_code && !has_text) {
        if (find(c->errclass))
            find(c->errclass)->codes--;
        *c = (struct code){ 0 };
        trim();
    }
    ku_unlock(&lock);
    if (has_text)
        return still_has_text("errorcode", errorcode);
    return is_code ? 0 : not_users(MPI_ERR_ARG, "errorcode", errorcode, "a code made by MPI_Add_error_code");
}

int MPIR_Add_error_string(int errorcode, const char *string)
{
    size_t len = strlen(string);
    if (len > MPI_MAX_ERROR_STRING)
        return MPIR_Err(MPI_ERR_ARG, "string", "has %zu characters; expected at most %d", len,
                        MPI_MAX_ERROR_STRING);
    char *text = strdup(string);
    if (!text)
        return code_no_memory();
    ku_lock(&lock);
    struct code *c = find(errorcode);
    char *old = c ? c->text : text;
    if (c)
        c->text = text;
    ku_unlock(&lock);
    free(old);
    return c ? 0
             : not_users(MPI_ERR_ARG, "errorcode", errorcode, "a class or code that the program has added");
}

int MPIR_Remove_error_string(int errorcode)
{
    ku_lock(&lock);
    struct code *c = find(errorcode);
    char *old = c ? c->text : NULL;
    if (c)
        c->text = NULL;
    ku_unlock(&lock);
    if (!old)
        return not_users(MPI_ERR_ARG, "errorcode", errorcode, "a class or code with a string");
    free(old);
    return 0;
}

int MPIR_Error_class(int errorcode, int *errorclass)
{
    ku_lock(&lock);
    struct code *c = find(errorcode);
    int errclass = c ? c->errclass : MPIR_Err_class_name(errorcode) ? errorcode : -1;
    ku_unlock(&lock);
    if (errclass < 0)
        return not_users(MPI_ERR_ARG, "errorcode", errorcode, "an error class or code");
    *errorclass = errclass;
    return 0;
}

const char *MPIR_Err_user_text(int errorcode)
{
    ku_lock(&lock);
    struct code *c = find(errorcode);
    const char *text = !c ? NULL : c->text ? c->text : "";
    ku_unlock(&lock);
    return text;
}

int *MPIR_Err_lastusedcode(void)
{
    ku_lock(&lock);
    tell_last_used();
    ku_unlock(&lock);
    return &last_used;
}

/* dlclose leaves nothing behind; nobody uses the library any more. */
__attribute__((destructor)) KU_UNCHECKED static void unload(void)
{
    for (int i = 0; i < used; i++)
        free(table[i].text);
    free(table);
    table = NULL;
    used = room = 0;
}
