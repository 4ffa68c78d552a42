/* SPDX-License-Identifier: BSD-3-Clause */
/* pvar.c: performance variables: the rows of counters; and sessions. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"
#include <stdio.h>
#include "object.h"

static const struct ku_counter *pvar_row_of(int index)
{
    const char *area;
    return index >= 0 ? ku_counter_at(index, &area) : NULL;
}

static int class_of(const struct ku_counter *row)
{
    static const int classes[] = {
        [KU_STATE] = MPI_T_PVAR_CLASS_STATE,        [KU_LEVEL] = MPI_T_PVAR_CLASS_LEVEL,
        [KU_SIZE] = MPI_T_PVAR_CLASS_SIZE,          [KU_PERCENT] = MPI_T_PVAR_CLASS_PERCENTAGE,
        [KU_HIGH] = MPI_T_PVAR_CLASS_HIGHWATERMARK, [KU_LOW] = MPI_T_PVAR_CLASS_LOWWATERMARK,
        [KU_COUNT] = MPI_T_PVAR_CLASS_COUNTER,      [KU_SUM] = MPI_T_PVAR_CLASS_AGGREGATE,
        [KU_TIMER] = MPI_T_PVAR_CLASS_TIMER
    };
    return classes[row->of];
}

int MPIR_T_counter_type(const struct ku_counter *row)
{
    if (row->of == KU_STATE)
        return KEEL_MPI_INT;
    return row->of == KU_PERCENT || row->of == KU_TIMER ? KEEL_MPI_DOUBLE : KEEL_MPI_UNSIGNED_LONG_LONG;
}

bool MPIR_T_is_shown(const struct ku_counter *row)
{
    return row->of == KU_STATE || row->of == KU_LEVEL || row->of == KU_SIZE || row->of == KU_PERCENT;
}

int MPIR_T_pvar_get_num(int *num_pvar)
{
    int n = 0;
    if (!num_pvar)
        return MPI_T_ERR_INVALID;
    while (pvar_row_of(n))
        n++;
    *num_pvar = n;
    return MPI_SUCCESS;
}

static void pvar_describe(const struct ku_counter *row, char *text, size_t cap)
{
    bool unit = row->unit && *row->unit;
    snprintf(text, cap, "%s%s%s%s", row->help, unit ? " (" : "", unit ? row->unit : "", unit ? ")" : "");
}

int MPIR_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPIR_Datatype **datatype, MPIR_T_handle *enumtype, char *desc, int *desc_len,
                         int *bind, int *readonly, int *continuous, int *atomic)
{
    const struct ku_counter *row = pvar_row_of(pvar_index);
    char own[T_NAME_MAX], text[320];
    if (!row)
        return MPI_T_ERR_INVALID_INDEX;
    MPIR_T_name(row->name, own);
    MPIR_T_string(own, name, name_len);
    pvar_describe(row, text, sizeof text);
    MPIR_T_string(text, desc, desc_len);
    t_put(verbosity, MPIR_T_verbosity(row->audience));
    t_put(var_class, class_of(row));
    if (datatype)
        *datatype = MPIR_T_type(MPIR_T_counter_type(row));
    if (enumtype)
        *enumtype = MPIR_T_enum(row->names);
    t_put(bind, row->per_comm ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    t_put(readonly, MPIR_T_is_shown(row));
    t_put(continuous, MPIR_T_is_shown(row));
    t_put(atomic, !MPIR_T_is_shown(row));
    return MPI_SUCCESS;
}

int MPIR_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    const struct ku_counter *row;
    if (!name || !pvar_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; (row = pvar_row_of(i)); i++)
        if (class_of(row) == var_class && MPIR_T_is_named(row->name, name)) {
            *pvar_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- Sessions ---- */

int MPIR_T_pvar_session_create(MPIR_T_handle *session)
{
    if (!session)
        return MPI_T_ERR_INVALID;
    struct t_session *s = MPIR_T_alloc(T_SESSION);
    if (!s)
        return MPI_T_ERR_MEMORY;
    *session = MPIR_Object_handle(s);
    return MPI_SUCCESS;
}

static void free_of(void *obj, void *session)
{
    if (!session || ((struct t_pvar *)obj)->session == session)
        MPIR_T_free(obj);
}

int MPIR_T_pvar_session_free(MPIR_T_handle *session)
{
    struct t_session *s = session ? MPIR_T_object(T_SESSION, *session) : NULL;
    if (!s)
        return MPI_T_ERR_INVALID_SESSION;
    MPIR_T_each(T_PVAR, free_of, s);
    MPIR_T_free(s);
    *session = KEEL_MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

static void free_session(void *obj, void *arg)
{
    (void)arg;
    MPIR_T_free(obj);
}

void MPIR_T_pvar_end(void)
{
    MPIR_T_each(T_PVAR, free_of, NULL);
    MPIR_T_each(T_SESSION, free_session, NULL);
}
