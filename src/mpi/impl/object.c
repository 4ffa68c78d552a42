/* SPDX-License-Identifier: BSD-3-Clause */
/* object.c: the slabs behind the handles, the table of predefined objects, and the int form of a handle. */
#include "object.h"

#include <stdbool.h>
#include <stddef.h>
#include "comm.h"
#include "errhandler.h"
#include "file.h"
#include "group.h"
#include "info.h"
#include "mpi_const.h"
#include "op.h"
#include "request.h"
#include "session.h"
#include "type.h"
#include "win.h"

#define ROW(k, type) [MPIR_KIND_##k] = { .objsize = (sizeof(type) + 63) & ~(size_t)63, .kind = MPIR_KIND_##k }

/* Complete before main: an empty slab needs no more than its object size, so handles work before MPI_Init. */
struct ku_slab MPIR_slab[MPIR_KIND_COUNT] = {
    ROW(COMM, MPIR_Comm), ROW(GROUP, MPIR_Group),     ROW(DATATYPE, MPIR_Datatype),
    ROW(OP, MPIR_Op),     ROW(REQUEST, MPIR_Request), ROW(ERRHANDLER, MPIR_Errhandler),
    ROW(INFO, MPIR_Info), ROW(WIN, MPIR_Win),         ROW(SESSION, MPIR_Session),
    ROW(FILE, MPIR_File),
};

/* The chapters own the predefined objects; a program that links without a chapter has none of its objects. */
#pragma weak MPIR_Comm_world
#pragma weak MPIR_Comm_self
#pragma weak MPIR_Group_empty
#pragma weak MPIR_Errors_are_fatal
#pragma weak MPIR_Errors_abort
#pragma weak MPIR_Errors_return
#pragma weak MPIR_Errors_throw
#pragma weak MPIR_Info_env
#pragma weak MPIR_Message_no_proc
#pragma weak MPIR_Datatype_predefined
#pragma weak MPIR_Op_predefined

void *MPIR_Object_table[MPIR_PREDEFINED_MAX];

static void *find_predefined(int32_t value)
{
    switch (value) {
    case KEEL_MPI_COMM_WORLD:
        return &MPIR_Comm_world;
    case KEEL_MPI_COMM_SELF:
        return &MPIR_Comm_self;
    case KEEL_MPI_GROUP_EMPTY:
        return &MPIR_Group_empty;
    case KEEL_MPI_ERRORS_ARE_FATAL:
        return &MPIR_Errors_are_fatal;
    case KEEL_MPI_ERRORS_ABORT:
        return &MPIR_Errors_abort;
    case KEEL_MPI_ERRORS_RETURN:
        return &MPIR_Errors_return;
    case MPIR_ERRORS_THROW_EXCEPTIONS:
        return &MPIR_Errors_throw;
    case KEEL_MPI_INFO_ENV:
        return &MPIR_Info_env;
    case KEEL_MPI_MESSAGE_NO_PROC:
        return &MPIR_Message_no_proc;
    }
    if (value > KEEL_MPI_OP_NULL && value < KEEL_MPI_COMM_NULL)
        return MPIR_Op_predefined ? MPIR_Op_predefined(value) : NULL;
    if (value > KEEL_MPI_DATATYPE_NULL && value < MPIR_PREDEFINED_MAX)
        return MPIR_Datatype_predefined ? MPIR_Datatype_predefined(value) : NULL;
    return NULL;
}

/* MPI_COMM_WORLD and MPI_COMM_SELF name something while they stand in the table (comm.h). */
static bool of_world(int32_t value)
{
    return value == KEEL_MPI_COMM_WORLD || value == KEEL_MPI_COMM_SELF;
}

void *MPIR_Object_predefined(enum MPIR_KIND kind, int32_t value)
{
    if (value < 0 || value >= MPIR_PREDEFINED_MAX)
        return NULL;
    struct keel_object *o = __atomic_load_n(&MPIR_Object_table[value], __ATOMIC_RELAXED);
    if (!o && !of_world(value)) {
        o = find_predefined(value);
        if (o &&
            o->self == value) /* a table may answer for a value of its neighbour: keep only what is meant */
            __atomic_store_n(&MPIR_Object_table[value], o, __ATOMIC_RELAXED);
    }
    return o && o->kind == kind && o->self == value ? o : NULL;
}

void *MPIR_Object_fromint(enum MPIR_KIND kind, int32_t value)
{
    if (kind == MPIR_KIND_COMM && of_world(value))
        return find_predefined(value);
    if (value < MPIR_PREDEFINED_MAX)
        return MPIR_Object_predefined(kind, value);
    if ((uint32_t)value >> MPIR_INDEX_BITS != (uint32_t)kind)
        return NULL;
    struct keel_object *o = MPIR_Object_at(kind, (uint32_t)value & MPIR_INDEX_MASK);
    return o && (o->gen & 1) ? o : NULL;
}

/* Of a request the null handle would be legal, so that nobody would hear that it is complete already. */
uint64_t MPIR_Object_handle_of_int(enum MPIR_KIND kind, int32_t value, uint64_t null)
{
    const struct keel_object *o = MPIR_Object_fromint(kind, value);
    if (o)
        return MPIR_Object_handle(o);
    bool named = kind == MPIR_KIND_REQUEST && value >= MPIR_PREDEFINED_MAX &&
                 (uint32_t)value >> MPIR_INDEX_BITS == (uint32_t)kind;
    o = named ? MPIR_Object_at(kind, (uint32_t)value & MPIR_INDEX_MASK) : NULL;
    return o ? MPIR_HANDLE_MARK << 48 | (uint64_t)(uint16_t)(o->gen - 1) << 32 | (uint32_t)value : null;
}

void *MPIR_Object_revoked(enum MPIR_KIND kind, uint64_t handle)
{
    bool world = kind == MPIR_KIND_COMM && handle < MPIR_PREDEFINED_MAX && of_world((int32_t)handle);
    bool may = kind == MPIR_KIND_COMM || kind == MPIR_KIND_WIN || kind == MPIR_KIND_FILE;
    struct keel_object *o = world ? find_predefined((int32_t)handle)
                            : may ? MPIR_Object_made(kind, handle ^ 0x8000ull << 32)
                                  : NULL;
    return o && (o->flags & KEEL_OBJ_REVOKED) ? o : NULL;
}

void MPIR_Object_forget(const struct keel_object *o)
{
    __atomic_store_n(&MPIR_Object_table[o->self], NULL, __ATOMIC_RELAXED);
}
