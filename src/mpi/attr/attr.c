/* SPDX-License-Identifier: BSD-3-Clause */
/* attr.c: the attributes of an object.
 *
 * A set is a list in the order in which the attributes were set, and a hash table of places in it; what is deleted
 * leaves a hole until the list is made anew.
 *
 * Callbacks may set and delete attributes of the object they are called for, so
 *   1. no pointer into a set outlives a callback: the attribute is looked up again by its key value;
 *   2. an attribute whose delete callback runs can be read, but neither set nor deleted;
 *   3. an object with a callback under way (busy) cannot be freed. */
#include "config.h"
#include <stdlib.h>
#include <string.h>
#include "attr.h"
#include "bodies.h"
#include "callback.h"
#include "comm.h"
#include "mpi_err.h"
#include "keyval.h"
#include "type.h"
#include "win.h"

/* A value that Fortran gave, an integer: C gets its address. */
union cell {
    MPI_Aint aint;
    int integer;
};

struct attr {
    MPIR_Keyval *key; /* referenced; NULL: a hole */
    void *value;      /* C's own; or a union cell */
    enum MPIR_LANGUAGE from;
    bool deleting;
};

/* A value as a language has it. */
struct value {
    void *word;
    enum MPIR_LANGUAGE from;
};

struct set {
    struct attr *list; /* [room], places below `used` have been taken */
    uint32_t *index;   /* [2 * room]: place + 1, 0 for none; a key is found at its hash or behind */
    uint32_t used, room, live;
    int busy;
};

enum {
    FIRST_ROOM = 4,
    MAX_MORE = 1000 /* attributes that the delete callbacks of an object that is freed may set */
};

static void **attr_slot_of(void *object)
{
    if (((struct keel_object *)object)->kind == MPIR_KIND_COMM)
        return &((MPIR_Comm *)object)->attributes;
    if (((struct keel_object *)object)->kind == MPIR_KIND_WIN)
        return &((MPIR_Win *)object)->attributes;
    return &((MPIR_Datatype *)object)->attributes;
}

static struct set *set_of(void *object)
{
    return *attr_slot_of(object);
}

/* ---- The list and its index ---------------------------------------------------------------------------------- */

static uint32_t hash(const struct set *s, const MPIR_Keyval *key)
{
    return key->obj.index * 2654435769u >> 7 & (2 * s->room - 1);
}

static struct attr *attr_find(const struct set *s, const MPIR_Keyval *key)
{
    if (!s || !s->room)
        return NULL;
    for (uint32_t h = hash(s, key); s->index[h]; h = (h + 1) & (2 * s->room - 1))
        if (s->list[s->index[h] - 1].key == key)
            return &s->list[s->index[h] - 1];
    return NULL;
}

static void attr_append(struct set *s, struct attr a)
{
    uint32_t h = hash(s, a.key);
    while (s->index[h])
        h = (h + 1) & (2 * s->room - 1);
    s->list[s->used] = a;
    s->index[h] = ++s->used;
    s->live++;
}

/* The same attributes in a list with room for one more; false without memory. */
static bool reserve(struct set *s)
{
    if (s->used < s->room)
        return true;
    struct set n = { .room = FIRST_ROOM, .busy = s->busy };
    while (n.room < 2 * s->live)
        n.room *= 2;
    n.list = malloc(n.room * sizeof *n.list);
    n.index = calloc(2 * (size_t)n.room, sizeof *n.index);
    if (!n.list || !n.index) {
        free(n.list);
        free(n.index);
        return false;
    }
    for (uint32_t i = 0; i < s->used; i++)
        if (s->list[i].key)
            attr_append(&n, s->list[i]);
    free(s->list);
    free(s->index);
    *s = n;
    return true;
}

/* What a language sees of an attribute (20.3.7): Fortran an integer, C a pointer. */
static void *seen(const struct attr *a, enum MPIR_LANGUAGE by)
{
    const union cell *cell = a->value;
    if (a->from == MPIR_C || by == MPIR_C)
        return a->value;
    return (void *)(a->from == MPIR_FORTRAN_INT ? cell->integer : cell->aint);
}

/* The inverse; false without memory. */
static bool attr_keep(struct attr *a, struct value v)
{
    a->from = v.from;
    a->value = v.word;
    if (v.from == MPIR_C)
        return true;
    union cell *cell = calloc(1, sizeof *cell);
    a->value = cell;
    if (cell && v.from == MPIR_FORTRAN_INT)
        cell->integer = (int)(MPI_Aint)v.word;
    else if (cell)
        cell->aint = (MPI_Aint)v.word;
    return cell != NULL;
}

static void drop_value(struct attr *a)
{
    if (a->from != MPIR_C)
        free(a->value);
}

static void remove_attr(struct set *s, struct attr *a)
{
    drop_value(a);
    MPIR_Keyval_release(a->key);
    *a = (struct attr){ .key = NULL };
    s->live--;
    if (s->live == 0) { /* nothing but holes: begin anew */
        memset(s->index, 0, 2 * (size_t)s->room * sizeof *s->index);
        s->used = 0;
    }
}

static struct attr *last(const struct set *s)
{
    for (uint32_t i = s->live ? s->used : 0; i > 0; i--)
        if (s->list[i - 1].key)
            return &s->list[i - 1];
    return NULL;
}

static void destroy(void *object)
{
    struct set *s = set_of(object);
    *attr_slot_of(object) = NULL;
    free(s->list);
    free(s->index);
    free(s);
}

/* ---- Callbacks ----------------------------------------------------------------------------------------------- */

/* A callback's answer as an error code, in words. */
static int attr_answer(const char *which, int code)
{
    int errclass;
    if (code == MPI_SUCCESS)
        return 0;
    int known = MPIR_Error_class(code, &errclass) == MPI_SUCCESS ? code : MPI_ERR_OTHER;
    return MPIR_Err(known, NULL, "the %s callback of a key value returned error code %d", which, code);
}

static int call_copy(MPIR_Keyval *k, void *object, const struct attr *a, struct value *out, int *flag)
{
    *out = (struct value){ seen(a, a->from), a->from };
    *flag = (uintptr_t)k->copy.fn == DUP_FN;
    if ((uintptr_t)k->copy.fn <= DUP_FN)
        return 0;
    *out = (struct value){ NULL, k->copy.abi->language };
    MPIR_Language = MPIR_C;
    bool claimed = MPIR_Callback_begin();
    int code = k->copy.abi->call_copy_attr(&k->copy, k->kind, object, MPIR_Keyval_int(k), seen(a, out->from),
                                           &out->word, flag);
    MPIR_Callback_end(claimed);
    return attr_answer("copy", code);
}

static int call_delete(MPIR_Keyval *k, void *object, const struct attr *a)
{
    if ((uintptr_t)k->delete.fn == NULL_FN)
        return 0;
    MPIR_Language = MPIR_C;
    bool claimed = MPIR_Callback_begin();
    int code = k->delete.abi->call_delete_attr(&k->delete, k->kind, object, MPIR_Keyval_int(k),
                                               seen(a, k->delete.abi->language));
    MPIR_Callback_end(claimed);
    return attr_answer("delete", code);
}

/* If the callback fails the attribute stays. */
static int delete_attr(void *object, struct attr *a)
{
    struct set *s = set_of(object);
    MPIR_Keyval *key = a->key;
    if (a->deleting)
        return MPIR_Err(MPI_ERR_KEYVAL, MPIR_Keyval_arg(key->kind),
                        "names an attribute whose delete callback is running; expected another one");
    a->deleting = true;
    s->busy++;
    int err = call_delete(key, object, a);
    s->busy--;
    a = attr_find(s, key);
    a->deleting = false;
    if (!err)
        remove_attr(s, a);
    return err;
}

static int attr_no_memory(void)
{
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more attribute");
}

static bool
    on_predefined_types; /* some predefined datatype has had an attribute: MPI_Finalize has to look for them */

static int attr_put(void *object, MPIR_Keyval *key, struct value value)
{
    const struct keel_object *o = object;
    struct set *s = set_of(object);
    if (!s && !(s = *attr_slot_of(object) = calloc(1, sizeof *s)))
        return attr_no_memory();
    MPIR_Object_ref(key); /* before the callback, which may free it */
    struct attr *old = reserve(s) ? attr_find(s, key) : NULL;
    int err = old ? delete_attr(object, old) : 0;
    struct attr a = { .key = key };
    bool kept = !err && attr_keep(&a, value);
    if (!err && (!kept || !reserve(s))) { /* again: the callback may have taken the room */
        if (kept)
            drop_value(&a);
        err = attr_no_memory();
    }
    if (err) {
        MPIR_Keyval_release(key);
        return err;
    }
    attr_append(s, a);
    on_predefined_types |= o->kind == MPIR_KIND_DATATYPE && (o->flags & KEEL_OBJ_PREDEFINED);
    return 0;
}

/* ---- All attributes of an object ----------------------------------------------------------------------------- */

int MPIR_Attr_delete_all(void *object)
{
    struct set *s = set_of(object);
    struct attr *a;
    int err = 0;
    if (!s)
        return 0;
    bool comm = ((struct keel_object *)object)->kind == MPIR_KIND_COMM;
    if (s->busy)
        return MPIR_Err(comm ? MPI_ERR_COMM : MPI_ERR_TYPE, comm ? "comm" : "datatype",
                        "has an attribute whose callback is running; expected to be freed after that");
    uint64_t left = (uint64_t)s->live + MAX_MORE;
    while (!err && (a = last(s)))
        err = left-- ? delete_attr(object, a)
                     : MPIR_Err(MPI_ERR_OTHER, NULL, "delete callbacks set new attributes without end");
    if (!err)
        destroy(object);
    return err;
}

void MPIR_Attr_drop(void *object)
{
    struct ku_err kept = *ku_err_last();
    struct set *s = set_of(object);
    while (s && MPIR_Attr_delete_all(object) != 0)
        remove_attr(s, last(s)); /* it failed, so it is still there */
    *ku_err_last() = kept;
}

void MPIR_Attr_forget(void *object)
{
    struct set *s = set_of(object);
    if (!s)
        return;
    for (uint32_t i = 0; i < s->used; i++)
        if (s->list[i].key)
            remove_attr(s, &s->list[i]);
    destroy(object);
}

/* The key values of a set, referenced; NULL without memory. */
static MPIR_Keyval **keys_of(const struct set *s, uint32_t *n)
{
    MPIR_Keyval **keys = malloc(s->live * sizeof(MPIR_Keyval *));
    *n = 0;
    for (uint32_t i = 0; keys && i < s->used; i++)
        if (s->list[i].key) {
            MPIR_Object_ref(s->list[i].key);
            keys[(*n)++] = s->list[i].key;
        }
    return keys;
}

static int copy_one(void *from, void *to, MPIR_Keyval *key)
{
    struct attr *a = attr_find(set_of(from), key);
    struct value out;
    int flag;
    if (!a) /* an earlier callback deleted it */
        return 0;
    int err = call_copy(key, from, a, &out, &flag);
    return err || !flag ? err : attr_put(to, key, out);
}

int MPIR_Attr_copy_all(void *from, void *to)
{
    struct set *s = set_of(from);
    uint32_t n;
    int err = 0;
    if (!s || !s->live)
        return 0;
    MPIR_Keyval **keys = keys_of(s, &n);
    if (!keys)
        return attr_no_memory();
    s->busy++;
    for (uint32_t i = 0; i < n; i++) {
        if (!err)
            err = copy_one(from, to, keys[i]);
        MPIR_Keyval_release(keys[i]);
    }
    s->busy--;
    free(keys);
    if (err)
        MPIR_Attr_drop(to);
    return err;
}

int MPIR_Attr_finalize(void)
{
    int err = MPIR_Attr_delete_all(&MPIR_Comm_self);
    if (!err)
        err = MPIR_Attr_delete_all(&MPIR_Comm_world);
    for (int i = 0; on_predefined_types && i < MPIR_PREDEFINED_MAX && !err; i++) {
        struct keel_object *o = MPIR_Object_table[i];
        if (o && o->kind == MPIR_KIND_DATATYPE)
            err = MPIR_Attr_delete_all(o);
    }
    return err;
}

/* ---- Bodies -------------------------------------------------------------------------------------------------- */

static int set_attr(enum MPIR_KIND kind, void *object, int keyval, void *value)
{
    struct value v = { value, MPIR_Language };
    MPIR_Keyval *k = MPIR_Keyval_of(kind, keyval);
    return k ? attr_put(object, k, v) : MPI_ERR_KEYVAL;
}

/* MPI's own attributes are like those of MPI_ATTR_PUT: C gets an int's address, Fortran the int. */
static void *predefined_seen(int keyval)
{
    const int *value = MPIR_Keyval_predefined_value(keyval);
    return MPIR_Language == MPIR_C || !value ? (void *)value : (void *)(MPI_Aint)*value;
}

static int get_attr(enum MPIR_KIND kind, void *object, int keyval, void *attribute_val, int *flag)
{
    enum MPIR_KIND of;
    void *value = NULL;
    if (MPIR_Keyval_predefined(keyval, &of) && of == kind) {
        *flag = MPIR_Keyval_predefined_value(keyval) != NULL;
        value = predefined_seen(keyval);
    } else {
        MPIR_Keyval *k = MPIR_Keyval_of(kind, keyval);
        if (!k)
            return MPI_ERR_KEYVAL;
        const struct attr *a = attr_find(set_of(object), k);
        *flag = a != NULL;
        value = a ? seen(a, MPIR_Language) : NULL;
    }
    if (*flag)
        memcpy(attribute_val, &value, sizeof value); /* it is declared as what the program likes */
    return 0;
}

/* Deleting what is not there is no error, as elsewhere. */
static int remove_by_key(enum MPIR_KIND kind, void *object, int keyval)
{
    MPIR_Keyval *k = MPIR_Keyval_of(kind, keyval);
    if (!k)
        return MPI_ERR_KEYVAL;
    struct attr *a = attr_find(set_of(object), k);
    return a ? delete_attr(object, a) : 0;
}

int MPIR_Comm_set_attr(MPIR_Comm *comm, int comm_keyval, void *attribute_val)
{
    return set_attr(MPIR_KIND_COMM, comm, comm_keyval, attribute_val);
}

int MPIR_Comm_get_attr(MPIR_Comm *comm, int comm_keyval, void *attribute_val, int *flag)
{
    enum MPIR_KIND of;
    if (comm->session && comm_keyval != MPI_TAG_UB && MPIR_Keyval_predefined(comm_keyval, &of)) {
        *flag = 0; /* they are of the world model (10.1.2) */
        return 0;
    }
    return get_attr(MPIR_KIND_COMM, comm, comm_keyval, attribute_val, flag);
}

int MPIR_Comm_delete_attr(MPIR_Comm *comm, int comm_keyval)
{
    return remove_by_key(MPIR_KIND_COMM, comm, comm_keyval);
}

int MPIR_Type_set_attr(MPIR_Datatype *datatype, int type_keyval, void *attribute_val)
{
    return set_attr(MPIR_KIND_DATATYPE, datatype, type_keyval, attribute_val);
}

int MPIR_Type_get_attr(MPIR_Datatype *datatype, int type_keyval, void *attribute_val, int *flag)
{
    return get_attr(MPIR_KIND_DATATYPE, datatype, type_keyval, attribute_val, flag);
}

int MPIR_Type_delete_attr(MPIR_Datatype *datatype, int type_keyval)
{
    return remove_by_key(MPIR_KIND_DATATYPE, datatype, type_keyval);
}

int MPIR_Win_set_attr(MPIR_Win *win, int win_keyval, void *attribute_val)
{
    return set_attr(MPIR_KIND_WIN, win, win_keyval, attribute_val);
}

int MPIR_Win_get_attr(MPIR_Win *win, int win_keyval, void *attribute_val, int *flag)
{
    void *value = MPIR_Win_attribute(win, win_keyval);
    if (!value && win_keyval != MPI_WIN_BASE)
        return get_attr(MPIR_KIND_WIN, win, win_keyval, attribute_val, flag);
    if (MPIR_Language != MPIR_C && win_keyval != MPI_WIN_BASE) /* Fortran gets the numbers themselves */
        value = (void *)(win_keyval == MPI_WIN_SIZE ? *(const MPI_Aint *)value : *(const int *)value);
    memcpy(attribute_val, &value, sizeof value);
    *flag = 1;
    return 0;
}

int MPIR_Win_delete_attr(MPIR_Win *win, int win_keyval)
{
    return remove_by_key(MPIR_KIND_WIN, win, win_keyval);
}
