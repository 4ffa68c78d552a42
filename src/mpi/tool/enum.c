/* SPDX-License-Identifier: BSD-3-Clause */
/* enum.c: enumerations: the words of knobs, of states, and of the elements of events.  The handle of one is the
 * address of its row, which is looked for among all rows before it is followed. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"

static const char *const switch_words[] = { "off", "on" };
static const struct ku_names switches = { "keel_switch", 2, switch_words };

MPIR_T_handle MPIR_T_enum(const struct ku_names *names)
{
    return (uintptr_t)names;
}

const struct ku_names *MPIR_T_knob_names(const struct ku_knob *row)
{
    return row->type == KU_KNOB_BOOL ? &switches : row->choices;
}

static const struct ku_names *enum_find(MPIR_T_handle handle)
{
    const char *area;
    const struct ku_knob *k;
    const struct ku_counter *c;
    const struct ku_event *e;
    for (int i = 0; handle && (k = ku_knob_at(i, &area)); i++)
        if (MPIR_T_enum(MPIR_T_knob_names(k)) == handle)
            return MPIR_T_knob_names(k);
    for (int i = 0; handle && (c = ku_counter_at(i, &area)); i++)
        if (MPIR_T_enum(c->names) == handle)
            return c->names;
    for (int i = 0; handle && (e = ku_event_at(i, &area)); i++)
        if (MPIR_T_enum(&e->elements) == handle)
            return &e->elements;
    return NULL;
}

int MPIR_T_enum_get_info(MPIR_T_handle enumtype, int *num, char *name, int *name_len)
{
    const struct ku_names *names = enum_find(enumtype);
    if (!names)
        return MPI_T_ERR_INVALID_HANDLE;
    t_put(num, names->n);
    MPIR_T_string(names->name, name, name_len);
    return MPI_SUCCESS;
}

int MPIR_T_enum_get_item(MPIR_T_handle enumtype, int indx, int *value, char *name, int *name_len)
{
    const struct ku_names *names = enum_find(enumtype);
    if (!names)
        return MPI_T_ERR_INVALID_HANDLE;
    if (indx < 0 || indx >= names->n)
        return MPI_T_ERR_INVALID_INDEX;
    t_put(value, indx);
    MPIR_T_string(names->item[indx], name, name_len);
    return MPI_SUCCESS;
}
