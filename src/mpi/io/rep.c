/* SPDX-License-Identifier: BSD-3-Clause */
/* rep.c: how data are represented in a file: native, internal, external32, and what the program has registered.
 *
 * A type "there" is the same type with its basic types as long as they are in the file: it is made as the program
 * made it, from other basic types.  So what is counted in elements scales, and what is counted in bytes stays
 * (15.5.1). */
#include "config.h"
#include "bodies.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "callback.h"
#include "io.h"

static struct io_rep external32 = { .name = "external32", .how = IO_EXTERNAL32 };
static struct io_rep internal = { .name = "internal", .how = IO_SAME, .next = &external32 };
static struct io_rep native = { .name = "native", .how = IO_SAME, .next = &internal };
static struct io_rep *newest = &native; /* they stay until the process ends */

const struct io_rep *MPIR_Io_rep(const char *name)
{
    for (const struct io_rep *r = newest; r; r = r->next)
        if (!strcmp(r->name, name))
            return r;
    return NULL;
}

int MPIR_Register_datarep(const char *datarep, MPIR_Callback read_conversion_fn,
                          MPIR_Callback write_conversion_fn, MPIR_Callback dtype_file_extent_fn,
                          void *extra_state)
{
    if (MPIR_Io_rep(datarep))
        return MPIR_Err(MPI_ERR_DUP_DATAREP, "datarep", "is \"%.60s\", which is there already", datarep);
    if (strlen(datarep) >= MPI_MAX_DATAREP_STRING)
        return MPIR_Err(MPI_ERR_ARG, "datarep", "is longer than MPI_MAX_DATAREP_STRING - 1 (%d)",
                        MPI_MAX_DATAREP_STRING - 1);
    if (!dtype_file_extent_fn.fn)
        return MPIR_Err(MPI_ERR_ARG, "dtype_file_extent_fn", "is NULL");
    struct io_rep *r = malloc(sizeof *r);
    char *name = strdup(datarep);
    if (!r || !name) {
        free(r);
        free(name);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more representation");
    }
    read_conversion_fn.extra_state = write_conversion_fn.extra_state = dtype_file_extent_fn.extra_state =
        extra_state;
    *r = (struct io_rep){
        name, IO_USER, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, newest
    };
    newest = r;
    return 0;
}

/* ---- Types there ---- */

static int basic_size(const struct io_rep *rep, MPIR_Datatype *type, int64_t *size)
{
    if (rep->how == IO_EXTERNAL32) {
        MPID_Pack_size(1, &type->adi, MPID_MSG_CONVERT, size);
        return *size < 0 ? MPIR_Err(MPI_ERR_TYPE, "datatype", "has %s in it, which external32 does not know",
                                    MPIR_Datatype_name(type))
                         : 0;
    }
    MPI_Aint extent = -1;
    bool claimed = MPIR_Callback_begin();
    int code = rep->extent_fn.abi->call_datarep_extent(&rep->extent_fn, type, &extent);
    MPIR_Callback_end(claimed);
    if (code)
        return MPIR_Err(MPI_ERR_CONVERSION, "dtype_file_extent_fn", "of \"%.60s\" returned %d for %s",
                        rep->name, code, MPIR_Datatype_name(type));
    if (extent == MPI_UNDEFINED)
        return MPIR_Err(MPI_ERR_VALUE_TOO_LARGE, "dtype_file_extent_fn",
                        "of \"%.60s\" said MPI_UNDEFINED for %s", rep->name, MPIR_Datatype_name(type));
    if (extent < 0)
        return MPIR_Err(MPI_ERR_CONVERSION, "dtype_file_extent_fn", "of \"%.60s\" said %lld for %s",
                        rep->name, (long long)extent, MPIR_Datatype_name(type));
    *size = extent;
    return 0;
}

/* Arguments first .. first + n - 1 of how the type was made. */
static int64_t *arguments(const MPIR_Datatype *t, int64_t first, int64_t n)
{
    int64_t *v = malloc((size_t)(n + 1) * sizeof *v);
    for (int64_t i = 0; v && i < n; i++)
        v[i] = MPIR_Datatype_argument(t, first + i);
    return v;
}

#define LARGE(v) ((MPIR_Counts){ (v), 1 })

static int make_subarray(const MPIR_Datatype *t, int64_t *a, MPIR_Datatype *old, MPIR_Datatype **there)
{
    int64_t n = a[0];
    bool large = t->nc > 0;
    const int64_t *of = a + (large ? 2 : 1);
    return MPIR_Type_create_subarray((int)n, LARGE(of), LARGE(of + n), LARGE(of + 2 * n),
                                     (int)(large ? a[1] : a[1 + 3 * n]), old, there, true);
}

static int make_darray(const MPIR_Datatype *t, int64_t *a, MPIR_Datatype *old, MPIR_Datatype **there)
{
    int64_t n = a[2];
    bool large = t->nc > 0;
    const int64_t *gsizes = large ? a + 3 + 3 * n + 1 : a + 3;
    const int32_t *rest = t->integers + 3 + (large ? 0 : n);
    return MPIR_Type_create_darray((int)a[0], (int)a[1], (int)n, LARGE(gsizes), rest, rest + n, rest + 2 * n,
                                   rest[3 * n], old, there, true);
}

/* The type that t is of the types `old`. */
static int remake(MPIR_Datatype *t, MPIR_Datatype **old, MPIR_Datatype **there)
{
    int64_t *a = arguments(t, 0, t->ni + t->na + t->nc), n = a ? a[0] : 0;
    int err;
    if (!a)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a datatype in a file");
    switch (t->combiner) {
    case MPI_COMBINER_DUP:
        err = MPIR_Type_dup(old[0], there);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        err = MPIR_Type_contiguous(n, old[0], there, true);
        break;
    case MPI_COMBINER_VECTOR:
        err = MPIR_Type_vector(n, a[1], a[2], old[0], there, true);
        break;
    case MPI_COMBINER_HVECTOR:
        err = MPIR_Type_create_hvector(n, a[1], a[2], old[0], there, true);
        break;
    case MPI_COMBINER_INDEXED:
        err = MPIR_Type_indexed(n, LARGE(a + 1), LARGE(a + 1 + n), old[0], there, true);
        break;
    case MPI_COMBINER_HINDEXED:
        err = MPIR_Type_create_hindexed(n, LARGE(a + 1), LARGE(a + 1 + n), old[0], there, true);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        err = MPIR_Type_create_indexed_block(n, a[1], LARGE(a + 2), old[0], there, true);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        err = MPIR_Type_create_hindexed_block(n, a[1], LARGE(a + 2), old[0], there, true);
        break;
    case MPI_COMBINER_STRUCT:
        err = MPIR_Type_create_struct(n, LARGE(a + 1), LARGE(a + 1 + n), old, there, true);
        break;
    case MPI_COMBINER_SUBARRAY:
        err = make_subarray(t, a, old[0], there);
        break;
    case MPI_COMBINER_DARRAY:
        err = make_darray(t, a, old[0], there);
        break;
    case MPI_COMBINER_RESIZED:
        err = MPIR_Type_create_resized(old[0], a[0], a[1], there, true);
        break;
    default:
        err = MPIR_Err(MPI_ERR_TYPE, "datatype", "cannot be laid out in a file (combiner %d)", t->combiner);
    }
    free(a);
    return err;
}

static int type_there(const struct io_rep *rep, MPIR_Datatype *t, int depth, MPIR_Datatype **there)
{
    int64_t size = 0;
    if (t->nt == 0) {
        int err = basic_size(rep, t, &size);
        return err ? err : MPIR_Type_contiguous(size, MPIR_Datatype_predefined(KEEL_MPI_BYTE), there, true);
    }
    if (depth > 500)
        return MPIR_Err(MPI_ERR_TYPE, "datatype", "is nested more than 500 deep; expected less in a file");
    MPIR_Datatype **old = calloc((size_t)t->nt, sizeof *old);
    int err = old ? 0 : MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a datatype in a file");
    for (int64_t i = 0; !err && i < t->nt; i++)
        err = type_there(rep, t->types[i], depth + 1, &old[i]);
    if (!err)
        err = remake(t, old, there);
    for (int64_t i = 0; old && i < t->nt; i++)
        if (old[i])
            MPIR_Datatype_release(old[i]);
    free(old);
    return err;
}

int MPIR_Io_type_there(const struct io_rep *rep, MPIR_Datatype *type, MPIR_Datatype **there)
{
    if (rep->how == IO_SAME) {
        MPIR_Object_ref(type);
        *there = type;
        return 0;
    }
    int err = type_there(rep, type, 0, there);
    if (!err && (err = MPIR_Type_commit(there)) != 0)
        MPIR_Datatype_release(*there);
    if (err)
        *there = NULL;
    return err;
}

/* ---- Conversion ---- */

/* Where the two parts of a pair lie in external32 is known; in the program's representation, what it says a pair
 * takes. */
struct MPIR_ELEMENTS MPIR_Io_items(const struct io_rep *rep, const MPIR_Datatype *type,
                                   const MPIR_Datatype *there, int64_t bytes)
{
    return MPIR_Datatype_elements(type, there, bytes, rep->how != IO_USER);
}

static int call_user(const struct io_rep *rep, const MPIR_Callback *fn, const char *arg, void *buf,
                     MPIR_Datatype *type, const struct io_part *p, void *file)
{
    if (fn->convention != MPIR_CALL_LARGE && p->items > INT_MAX)
        return MPIR_Err(MPI_ERR_VALUE_TOO_LARGE, "count", "is %lld, which the %s of \"%.60s\" cannot take",
                        (long long)p->items, arg, rep->name);
    bool claimed = MPIR_Callback_begin();
    int code = fn->abi->call_datarep_convert(fn, buf, type, p->items, file, p->position);
    MPIR_Callback_end(claimed);
    return code ? MPIR_Err(MPI_ERR_CONVERSION, arg, "of \"%.60s\" returned %d", rep->name, code) : 0;
}

/* A user's function may be left out where the data are native (15.5.3). */
static bool is_plain(const MPIR_Callback *fn)
{
    return fn->fn == NULL;
}

static int check_plain(const struct io_rep *rep, const char *arg, const struct io_part *p, int64_t len)
{
    return p->native_len == len
               ? 0
               : MPIR_Err(MPI_ERR_CONVERSION, arg,
                          "of \"%.60s\" is left out, but the data take %lld bytes in the file "
                          "and %lld in memory; expected as many",
                          rep->name, (long long)len, (long long)p->native_len);
}

int MPIR_Io_to_file(const struct io_rep *rep, const void *buf, int64_t count, MPIR_Datatype *type,
                    const struct io_part *p, void *to, int64_t len)
{
    int err = 0;
    int64_t position = 0;
    if (rep->how == IO_EXTERNAL32)
        MPID_Pack(buf, count, &type->adi, to, len, &position, NULL, 0, MPID_MSGFORM_EXTERNAL32,
                  MPID_MSG_CONVERT, &err);
    else if (!is_plain(&rep->write_fn))
        err = call_user(rep, &rep->write_fn, "write_conversion_fn", (void *)(uintptr_t)buf, type, p, to);
    else if ((err = check_plain(rep, "write_conversion_fn", p, len)) == 0)
        MPID_Layout_pack(&type->adi, buf, count, p->native, to, len);
    return err;
}

int MPIR_Io_from_file(const struct io_rep *rep, const void *from, int64_t len, void *buf, int64_t count,
                      MPIR_Datatype *type, const struct io_part *p)
{
    int err = 0;
    int64_t in = 0, out = 0;
    if (rep->how == IO_EXTERNAL32)
        MPID_Unpack(from, len, MPID_MSGFORM_EXTERNAL32, &in, buf, count, &type->adi, &out, NULL, 0, &err);
    else if (!is_plain(&rep->read_fn))
        err = call_user(rep, &rep->read_fn, "read_conversion_fn", buf, type, p, (void *)(uintptr_t)from);
    else if ((err = check_plain(rep, "read_conversion_fn", p, len)) == 0)
        MPID_Layout_unpack(&type->adi, buf, count, p->native, from, len);
    return err;
}
