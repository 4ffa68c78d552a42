/* SPDX-License-Identifier: BSD-3-Clause */
/* cvar.c: control variables: the rows of knobs.
 *
 * A knob without `changed` is read when MPI starts: it can be written while MPI does not run, and not now while it
 * does.  One that is read once can be written until it has been read. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { CHARS = 4096 /* of a string, with its end */ };

struct t_cvar {
    struct keel_object obj;
    struct ku_knob *row;
    int chars;
};

static struct ku_knob *cvar_row_of(int index)
{
    const char *area;
    return index >= 0 ? ku_knob_at(index, &area) : NULL;
}

static bool is_text(const struct ku_knob *row)
{
    return row->type == KU_KNOB_STR && !row->choices;
}

static int type_of(const struct ku_knob *row)
{
    if (is_text(row))
        return KEEL_MPI_CHAR;
    return row->type == KU_KNOB_SIZE || row->min < INT_MIN || row->max > INT_MAX ? KEEL_MPI_COUNT
                                                                                 : KEEL_MPI_INT;
}

static int scope_of(const struct ku_knob *row)
{
    static const int scopes[] = { [KU_KNOB_LOCAL] = MPI_T_SCOPE_LOCAL,
                                  [KU_KNOB_EQUAL] = MPI_T_SCOPE_ALL_EQ,
                                  [KU_KNOB_CONST] = MPI_T_SCOPE_CONSTANT };
    return scopes[row->scope];
}

int MPIR_T_cvar_get_num(int *num_cvar)
{
    int n = 0;
    if (!num_cvar)
        return MPI_T_ERR_INVALID;
    while (cvar_row_of(n))
        n++;
    *num_cvar = n;
    return MPI_SUCCESS;
}

/* What the row says, and what a tool and a user must know beside: the variable, the unit, the range, when it may
 * be set. */
static void cvar_describe(const struct ku_knob *row, char *text, size_t cap)
{
    int n = snprintf(text, cap, "%s; KEEL_%s", row->help, row->name);
    if (row->min < row->max && n < (int)cap)
        n += snprintf(text + n, cap - (size_t)n, ", %lld to %lld%s%s", (long long)row->min,
                      (long long)row->max, *row->unit ? " " : "", row->unit);
    if (row->def && n < (int)cap)
        n += snprintf(text + n, cap - (size_t)n, ", default %s", row->def);
    if (n < (int)cap)
        n += snprintf(text + n, cap - (size_t)n, "; %s",
                      row->scope == KU_KNOB_CONST ? "set by the environment alone"
                      : row->once                 ? "set before its first use, as a rule before MPI_Init"
                      : row->changed              ? "set at any time"
                                                  : "set while MPI is not initialized");
    if (row->scope == KU_KNOB_EQUAL && n < (int)cap)
        snprintf(text + n, cap - (size_t)n, ", in all processes to the same value");
}

int MPIR_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPIR_Datatype **datatype,
                         MPIR_T_handle *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    const struct ku_knob *row = cvar_row_of(cvar_index);
    char own[T_NAME_MAX], text[512];
    if (!row)
        return MPI_T_ERR_INVALID_INDEX;
    MPIR_T_name(row->name, own);
    MPIR_T_string(own, name, name_len);
    cvar_describe(row, text, sizeof text);
    MPIR_T_string(text, desc, desc_len);
    t_put(verbosity, MPIR_T_verbosity(row->audience));
    if (datatype)
        *datatype = MPIR_T_type(type_of(row));
    if (enumtype)
        *enumtype = MPIR_T_enum(MPIR_T_knob_names(row));
    t_put(bind, MPI_T_BIND_NO_OBJECT);
    t_put(scope, scope_of(row));
    return MPI_SUCCESS;
}

int MPIR_T_cvar_get_index(const char *name, int *cvar_index)
{
    const struct ku_knob *row;
    if (!name || !cvar_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; (row = cvar_row_of(i)); i++)
        if (MPIR_T_is_named(row->name, name)) {
            *cvar_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- Handles ---- */

int MPIR_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPIR_T_handle *handle, int *count)
{
    struct ku_knob *row = cvar_row_of(cvar_index);
    (void)obj_handle;
    if (!row)
        return MPI_T_ERR_INVALID_INDEX;
    if (!handle || !count)
        return MPI_T_ERR_INVALID;
    struct t_cvar *c = MPIR_T_alloc(T_CVAR);
    if (!c)
        return MPI_T_ERR_MEMORY;
    size_t chars = row->str ? strlen(row->str) + 1 : 1;
    c->row = row;
    c->chars = chars > CHARS && chars < INT_MAX ? (int)chars : CHARS; /* the environment may say more */
    *count = is_text(row) ? c->chars : 1;
    *handle = MPIR_Object_handle(c);
    return MPI_SUCCESS;
}

int MPIR_T_cvar_handle_free(MPIR_T_handle *handle)
{
    struct t_cvar *c = handle ? MPIR_T_object(T_CVAR, *handle) : NULL;
    if (!c)
        return MPI_T_ERR_INVALID_HANDLE;
    MPIR_T_free(c);
    *handle = KEEL_MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int MPIR_T_cvar_read(MPIR_T_handle handle, void *buf)
{
    const struct t_cvar *c = MPIR_T_object(T_CVAR, handle);
    if (!c)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!buf)
        return MPI_T_ERR_INVALID;
    switch (type_of(c->row)) {
    case KEEL_MPI_CHAR:
        snprintf(buf, (size_t)c->chars, "%s", c->row->str ? c->row->str : "");
        break;
    case KEEL_MPI_INT:
        memcpy(buf, &(int){ (int)c->row->num }, sizeof(int));
        break;
    default:
        memcpy(buf, &c->row->num, sizeof(int64_t));
    }
    return MPI_SUCCESS;
}

/* May it be written now?  MPI_SUCCESS, or why not. */
static int may_write(const struct ku_knob *row)
{
    if (row->scope == KU_KNOB_CONST || (row->once && row->is_used))
        return MPI_T_ERR_CVAR_SET_NEVER;
    if (!row->changed && MPIR_ENV(up))
        return MPI_T_ERR_CVAR_SET_NOT_NOW;
    return MPI_SUCCESS;
}

/* The value as the environment would say it; NULL: it is none. */
static const char *text_of(const struct t_cvar *c, const void *buf, char number[24])
{
    const struct ku_knob *row = c->row;
    int64_t value;
    int narrow;
    if (is_text(row))
        return memchr(buf, 0, (size_t)c->chars) ? buf : NULL;
    if (type_of(row) == KEEL_MPI_INT) {
        memcpy(&narrow, buf, sizeof narrow);
        value = narrow;
    } else
        memcpy(&value, buf, sizeof value);
    if (row->choices)
        return value >= 0 && value < row->choices->n ? row->choices->item[value] : NULL;
    snprintf(number, 24, "%lld", (long long)value);
    return number;
}

int MPIR_T_cvar_write(MPIR_T_handle handle, const void *buf)
{
    struct t_cvar *c = MPIR_T_object(T_CVAR, handle);
    char number[24];
    if (!c)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!buf)
        return MPI_T_ERR_INVALID;
    int err = may_write(c->row);
    if (err)
        return err;
    const char *text = text_of(c, buf, number);
    if (!text || !ku_knob_set(c->row, text))
        return MPI_T_ERR_INVALID;
    if (c->row->changed)
        c->row->changed(c->row);
    return MPI_SUCCESS;
}
