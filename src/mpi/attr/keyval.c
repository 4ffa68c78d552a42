/* SPDX-License-Identifier: BSD-3-Clause */
/* keyval.c: key values: objects that users know by an int.
 *
 * The int is KEYVAL_MARK | generation << INDEX_BITS | index, so that one that was freed is found
 * out: a place is given up when it has been used GENS times, which makes 2^30 keys in all.  The
 * ABI's own keys are below 1000. */
#include "config.h"
#include "attr.h"
#include "keyval.h"
#include "bodies.h"
#include "mpi_err.h"

enum { INDEX_BITS = 18, GENS = 1 << 12, KEYVAL_MARK = 1 << 30 };

static struct ku_slab keyvals = { .objsize = (sizeof(MPIR_Keyval) + 63) & ~(size_t)63 };

static const char *const kind_words[MPIR_KIND_COUNT] = {
    [MPIR_KIND_COMM] = "communicators", [MPIR_KIND_DATATYPE] = "datatypes", [MPIR_KIND_WIN] = "windows"
};

const char *MPIR_Keyval_arg(enum MPIR_KIND kind)
{
    return kind == MPIR_KIND_COMM ? "comm_keyval" : kind == MPIR_KIND_WIN ? "win_keyval" : "type_keyval";
}

static int generation(const MPIR_Keyval *k)
{
    return (k->obj.gen >> 1) & (GENS - 1); /* it is odd while the object is alive */
}

int MPIR_Keyval_int(const MPIR_Keyval *k)
{
    return KEYVAL_MARK | generation(k) << INDEX_BITS | (int)k->obj.index;
}

void MPIR_Keyval_release(MPIR_Keyval *k)
{
    if (!MPIR_Object_unref(k))
        return;
    if (k->copy.abi && k->copy.abi->gone)
        k->copy.abi->gone(&k->copy);
    if (generation(k) == GENS - 1)
        ku_slab_retire(&keyvals, k);
    else
        ku_slab_free(&keyvals, k);
}

/* The key value, of any kind, or NULL. */
static MPIR_Keyval *keyval_find(int keyval)
{
    if (keyval < KEYVAL_MARK)
        return NULL;
    MPIR_Keyval *k = ku_slab_at(&keyvals, (uint32_t)keyval & ((1u << INDEX_BITS) - 1));
    return k && (k->obj.gen & 1) && MPIR_Keyval_int(k) == keyval ? k : NULL;
}

static int bad(enum MPIR_KIND kind, int keyval)
{
    const char *arg = MPIR_Keyval_arg(kind), *name;
    enum MPIR_KIND of = kind;
    MPIR_Keyval *k = keyval_find(keyval);
    if (keyval == MPI_KEYVAL_INVALID)
        return MPIR_Err(MPI_ERR_KEYVAL, arg, "is MPI_KEYVAL_INVALID; expected a key value for %s",
                        kind_words[kind]);
    if ((name = MPIR_Keyval_predefined(keyval, &of)) && of == kind)
        return MPIR_Err(MPI_ERR_KEYVAL, arg, "is %s, which is MPI's own and never changes", name);
    if (name || k)
        return MPIR_Err(MPI_ERR_KEYVAL, arg, "is a key value for %s; expected one for %s",
                        kind_words[k ? k->kind : of], kind_words[kind]);
    if (keyval >= KEYVAL_MARK && ku_slab_at(&keyvals, (uint32_t)keyval & ((1u << INDEX_BITS) - 1)))
        return MPIR_Err(MPI_ERR_KEYVAL, arg, "is %d, a key value that was freed", keyval);
    return MPIR_Err(MPI_ERR_KEYVAL, arg, "is %d; expected a key value that the program made", keyval);
}

MPIR_Keyval *MPIR_Keyval_of(enum MPIR_KIND kind, int keyval)
{
    MPIR_Keyval *k = keyval_find(keyval);
    if (k && k->kind == kind)
        return k;
    bad(kind, keyval);
    return NULL;
}

int MPIR_Keyval_call_by(int keyval, const struct MPIR_Abi *abi)
{
    MPIR_Keyval *k = keyval_find(keyval);
    if (!k)
        return -1;
    k->copy.abi = k->delete.abi = abi;
    return (int)k->kind;
}

/* ---- Bodies -------------------------------------------------------------------------------------------------- */

static int keyval_create(enum MPIR_KIND kind, MPIR_Callback copy, MPIR_Callback delete, int *keyval)
{
    if ((uintptr_t) delete.fn == DUP_FN)
        return MPIR_Err(MPI_ERR_ARG, NULL, "the delete function is %s; expected a function that deletes",
                        kind == MPIR_KIND_COMM  ? "MPI_COMM_DUP_FN"
                        : kind == MPIR_KIND_WIN ? "MPI_WIN_DUP_FN"
                                                : "MPI_TYPE_DUP_FN");
    MPIR_Keyval *k = ku_slab_alloc(&keyvals);
    if (!k || k->obj.index >> INDEX_BITS) {
        if (k)
            ku_slab_free(&keyvals, k);
        return MPIR_Err(k ? MPI_ERR_OTHER : MPI_ERR_NO_MEM, NULL, "no %s for one more key value",
                        k ? "number" : "memory");
    }
    k->kind = kind;
    k->copy = copy;
    k->delete = delete;
    *keyval = MPIR_Keyval_int(k);
    return 0;
}

/* A second call with a copy of the int does nothing: while attributes have the key it exists, so it may be freed. */
static int keyval_release(enum MPIR_KIND kind, int *keyval)
{
    MPIR_Keyval *k = MPIR_Keyval_of(kind, *keyval);
    if (!k)
        return MPI_ERR_KEYVAL;
    if (!k->freed) {
        k->freed = true;
        MPIR_Keyval_release(k);
    }
    *keyval = MPI_KEYVAL_INVALID;
    return 0;
}

int MPIR_Comm_create_keyval(MPIR_Callback comm_copy_attr_fn, MPIR_Callback comm_delete_attr_fn,
                            int *comm_keyval, void *extra_state)
{
    (void)extra_state; /* it is in the callbacks */
    return keyval_create(MPIR_KIND_COMM, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval);
}

int MPIR_Type_create_keyval(MPIR_Callback type_copy_attr_fn, MPIR_Callback type_delete_attr_fn,
                            int *type_keyval, void *extra_state)
{
    (void)extra_state;
    return keyval_create(MPIR_KIND_DATATYPE, type_copy_attr_fn, type_delete_attr_fn, type_keyval);
}

int MPIR_Win_create_keyval(MPIR_Callback win_copy_attr_fn, MPIR_Callback win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    (void)extra_state;
    return keyval_create(MPIR_KIND_WIN, win_copy_attr_fn, win_delete_attr_fn, win_keyval);
}

int MPIR_Comm_free_keyval(int *comm_keyval)
{
    return keyval_release(MPIR_KIND_COMM, comm_keyval);
}

int MPIR_Type_free_keyval(int *type_keyval)
{
    return keyval_release(MPIR_KIND_DATATYPE, type_keyval);
}

int MPIR_Win_free_keyval(int *win_keyval)
{
    return keyval_release(MPIR_KIND_WIN, win_keyval);
}
