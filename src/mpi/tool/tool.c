/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.c: beginning and end of MPI_T, its handles, and how strings are returned. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "comm.h"
#include "object.h"

int MPIR_T_users;
bool MPIR_T_threaded;

/* ---- Handles ---- */

enum { FIRST = T_CVAR, BYTES = 384 /* of the largest, a registration */ };
_Static_assert(sizeof(struct t_registration) <= BYTES, "a registration fits into its slab");

/* The slabs stay when MPI_T ends: handles of before must be known to be stale afterwards. */
static struct ku_slab slabs[T_KINDS - FIRST];

void *MPIR_T_alloc(enum t_kind kind)
{
    struct ku_slab *s = &slabs[kind - FIRST];
    if (!s->objsize)
        ku_slab_init(s, BYTES, (uint8_t)kind);
    return ku_slab_alloc(s);
}

void MPIR_T_free(void *obj)
{
    ku_slab_free(&slabs[((struct keel_object *)obj)->kind - FIRST], obj);
}

void *MPIR_T_object(enum t_kind kind, MPIR_T_handle handle)
{
    struct ku_slab *s = &slabs[kind - FIRST];
    if (handle >> 48 != MPIR_HANDLE_MARK || (uint32_t)handle >> MPIR_INDEX_BITS != (uint32_t)kind ||
        !s->objsize)
        return NULL;
    struct keel_object *o = ku_slab_at(s, (uint32_t)handle & MPIR_INDEX_MASK);
    return o && (o->gen & 1) && o->gen == (uint16_t)(handle >> 32) ? o : NULL;
}

void MPIR_T_each(enum t_kind kind, void (*fn)(void *obj, void *arg), void *arg)
{
    if (slabs[kind - FIRST].objsize)
        ku_slab_each(&slabs[kind - FIRST], fn, arg);
}

__attribute__((destructor)) static void forget(void)
{
    for (int i = 0; i < T_KINDS - FIRST; i++)
        ku_slab_fini(&slabs[i]);
}

/* ---- Answers ---- */

void MPIR_T_string(const char *text, char *buf, int *len)
{
    if (!len)
        return;
    int whole = (int)strlen(text), n = *len;
    if (buf && n > 0) {
        int fits = whole < n ? whole : n - 1;
        memcpy(buf, text, (size_t)fits);
        buf[fits] = 0;
    }
    *len = whole + 1;
}

void MPIR_T_name(const char *row, char name[T_NAME_MAX])
{
    snprintf(name, T_NAME_MAX, "keel_%s", row);
    for (char *c = name; *c; c++)
        *c = *c == '.' ? '_' : (char)tolower((unsigned char)*c);
}

bool MPIR_T_is_named(const char *row, const char *name)
{
    char own[T_NAME_MAX];
    MPIR_T_name(row, own);
    return strcmp(own, name) == 0;
}

int MPIR_T_verbosity(enum ku_audience audience)
{
    static const int levels[] = { [KU_FOR_USERS] = MPI_T_VERBOSITY_USER_BASIC,
                                  [KU_FOR_TUNERS] = MPI_T_VERBOSITY_TUNER_BASIC,
                                  [KU_FOR_DEVELOPERS] = MPI_T_VERBOSITY_MPIDEV_BASIC };
    return levels[audience];
}

MPIR_Datatype *MPIR_T_type(int value)
{
    return MPIR_Object_predefined(MPIR_KIND_DATATYPE, value);
}

uint64_t MPIR_T_bound_handle(const void *obj_handle)
{
    uintptr_t handle = 0;
    if (obj_handle && &MPIR_Differs)
        return MPIR_Differs.comm(obj_handle);
    if (obj_handle)
        memcpy(&handle, obj_handle, sizeof handle);
    return handle;
}

void *MPIR_T_bound(uint64_t handle, int *err)
{
    void *comm = NULL;
    *err = MPI_T_ERR_INVALID;
    if (!handle)
        return NULL;
    *err = MPI_T_ERR_INVALID_HANDLE;
    if (MPIR_ENV(up))
        comm = MPIR_Object_of(MPIR_KIND_COMM, handle);
    if (comm)
        *err = MPI_SUCCESS;
    return comm;
}

/* ---- Beginning and end ---- */

int MPIR_T_init_thread(int required, int *provided)
{
    if (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED &&
        required != MPI_THREAD_SERIALIZED && required != MPI_THREAD_MULTIPLE)
        return MPI_T_ERR_INVALID;
    MPIR_T_users++;
    MPIR_T_threaded = MPIR_T_threaded || required == MPI_THREAD_MULTIPLE;
    t_put(provided, required);
    return MPI_SUCCESS;
}

static void free_cvar(void *obj, void *arg)
{
    (void)arg;
    MPIR_T_free(obj);
}

int MPIR_T_finalize(void)
{
    if (--MPIR_T_users > 0)
        return MPI_SUCCESS;
    MPIR_T_each(T_CVAR, free_cvar, NULL);
    MPIR_T_pvar_end();
    MPIR_T_event_end();
    return MPI_SUCCESS;
}
