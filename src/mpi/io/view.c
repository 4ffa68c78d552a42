/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c: what of a file a process sees, and where in the file its data lie. */
#include "config.h"
#include "bodies.h"
#include <string.h>
#include "io.h"

/* ---- Places ---- */

static bool note_place(void *arg, int64_t at, int64_t bytes)
{
    (void)bytes;
    *(int64_t *)arg = at;
    return false;
}

int64_t MPIR_Io_place(const struct MPIR_DATATYPE *t, int64_t s)
{
    int64_t at = s;
    if (!t->is_contig && t->size)
        MPID_Layout_runs(t, s, 1, note_place, &at);
    return at;
}

int64_t MPIR_Io_find(const struct MPIR_DATATYPE *t, int64_t lo, int64_t hi, int64_t place)
{
    if (t->size == 0)
        return lo;
    if (t->is_contig)
        return place < lo ? lo : place > hi ? hi : place;
    /* One element of the filetype holds it, as elements follow one another; within the first there is nothing to
     * choose. */
    if (hi > t->size && t->extent > 0 && place >= t->true_lb) {
        int64_t first = (place - t->true_lb) / t->extent;
        int64_t from = first > hi / t->size ? hi : first * t->size;
        int64_t to = hi - from > t->size ? from + t->size : hi;
        lo = from > lo ? from : lo;
        hi = to > lo ? to : lo;
    }
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (MPIR_Io_place(t, mid) < place)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- Views ---- */

struct order {
    int64_t start, end; /* of the run before */
    bool falls, overlaps;
};

static bool view_look(void *arg, int64_t at, int64_t bytes)
{
    struct order *o = arg;
    o->falls |= at < o->start;
    o->overlaps |= at < o->end;
    o->start = at;
    o->end = at + bytes;
    return !o->falls;
}

/* Displacements in a filetype may not fall (15.3).  Where its second element begins is the program's affair: in a
 * type with markers of bounds that lie behind data (a block, then a subarray) before the end of the first, which
 * is all that programs then use. */
static int check_order(const MPIR_Datatype *there, MPIR_File_view *v)
{
    const struct MPIR_DATATYPE *t = &there->adi;
    struct order o = { 0 };
    if (t->is_contig || t->size == 0)
        return 0;
    MPID_Layout_runs(t, 0, t->size, view_look, &o);
    v->overlaps = o.overlaps;
    v->tangled = MPIR_Io_place(t, t->size) < o.end;
    return o.falls ? MPIR_Err(MPI_ERR_ARG, "filetype",
                              "has negative or falling displacements; expected that they grow")
                   : 0;
}

/* A filetype without data is that of a process that has no part in what the others write. */
static int check_types(const MPIR_Datatype *etype, const MPIR_Datatype *filetype)
{
    int64_t unit = etype->adi.size, size = filetype->adi.size;
    if (unit == 0)
        return MPIR_Err(MPI_ERR_ARG, "etype", "has no data; expected a type of at least one byte");
    if (size % unit)
        return MPIR_Err(MPI_ERR_ARG, "filetype",
                        "has %lld bytes of data; expected a multiple of the etype's %lld", (long long)size,
                        (long long)unit);
    return 0;
}

int MPIR_Io_view_new(MPIR_File *f, MPI_Offset disp, MPIR_Datatype *etype, MPIR_Datatype *filetype,
                     const struct io_rep *rep, MPIR_File_view *v)
{
    (void)f;
    *v = (MPIR_File_view){ .disp = disp, .rep = rep };
    int err = check_types(etype, filetype);
    if (!err)
        err = MPIR_Io_type_there(rep, etype, &v->etype_there);
    if (!err)
        err = MPIR_Io_type_there(rep, filetype, &v->filetype_there);
    if (!err)
        err = check_types(v->etype_there, v->filetype_there);
    if (!err)
        err = check_order(v->filetype_there, v);
    v->etype = etype;
    v->filetype = filetype;
    MPIR_Object_ref(etype);
    MPIR_Object_ref(filetype);
    if (err)
        MPIR_Io_view_drop(v);
    return err;
}

MPIR_File_view MPIR_Io_view_ref(const MPIR_File_view *v)
{
    MPIR_Object_ref(v->etype);
    MPIR_Object_ref(v->filetype);
    MPIR_Object_ref(v->etype_there);
    MPIR_Object_ref(v->filetype_there);
    return *v;
}

static void view_drop(MPIR_Datatype *t)
{
    if (t)
        MPIR_Datatype_release(t);
}

void MPIR_Io_view_drop(MPIR_File_view *v)
{
    view_drop(v->etype);
    view_drop(v->filetype);
    view_drop(v->etype_there);
    view_drop(v->filetype_there);
    *v = (MPIR_File_view){ 0 };
}

int MPIR_File_set_view(MPIR_File *fh, MPI_Offset disp, MPIR_Datatype *etype, MPIR_Datatype *filetype,
                       const char *datarep, MPIR_Info *info)
{
    MPIR_File_view v = { 0 };
    MPIR_File_hints hints = fh->hints;
    const struct io_rep *rep = MPIR_Io_rep(datarep);
    int err = MPIR_Io_hints_read(&hints, info);
    if (disp == MPI_DISPLACEMENT_CURRENT) {
        int64_t now = 0;
        if (!(fh->amode & MPI_MODE_SEQUENTIAL))
            err = MPIR_Err(MPI_ERR_ARG, "disp",
                           "is MPI_DISPLACEMENT_CURRENT; expected that only with MPI_MODE_SEQUENTIAL");
        else if (!err && (err = MPIR_Barrier(fh->comm)) == 0) /* nobody moves it any more */
            err = MPIR_Io_shared_position(fh, &now);
        const struct MPIR_DATATYPE *t = &fh->view.filetype_there->adi;
        disp = fh->view.disp + MPIR_Io_place(t, now * fh->view.etype_there->adi.size);
    } else if (fh->amode & MPI_MODE_SEQUENTIAL) {
        err =
            MPIR_Err(MPI_ERR_ARG, "disp",
                     "is %lld; expected MPI_DISPLACEMENT_CURRENT with MPI_MODE_SEQUENTIAL", (long long)disp);
    }
    if (!err && disp < 0)
        err = MPIR_Err(MPI_ERR_ARG, "disp", "is %lld; expected at least 0", (long long)disp);
    if (!err && MPIR_Io_split_pending(fh))
        err = MPIR_Err(MPI_ERR_REQUEST, NULL, "a split collective of %s is under way", fh->name);
    if (!err && !rep)
        err = MPIR_Err(MPI_ERR_UNSUPPORTED_DATAREP, "datarep",
                       "is \"%.60s\"; there is no such representation", datarep);
    if (!err)
        err = MPIR_Io_view_new(fh, disp, etype, filetype, rep, &v);
    int64_t facts[2] = { v.etype ? v.etype->adi.extent : 0, rep ? (int64_t)rep->how : 0 };
    int there = MPIR_Io_agree(fh, err);
    if (!there)
        there = MPIR_Io_same(fh, facts, 2, "etype");
    if (!there && fh->comm->adi.rank == 0)
        there = MPIR_Io_shared_set(fh, 0);
    if (there) {
        MPIR_Io_view_drop(&v);
        return there;
    }
    MPIR_Io_view_drop(&fh->view);
    fh->view = v;
    fh->hints = hints;
    fh->position = 0;
    bool all = true;
    return MPIR_Io_agree_hints(fh, 0, &all);
}

int MPIR_File_get_view(MPIR_File *fh, MPI_Offset *disp, MPIR_Datatype **etype, MPIR_Datatype **filetype,
                       char *datarep)
{
    const MPIR_File_view *v = &fh->view;
    *disp = v->disp;
    int err = MPIR_Datatype_copy(v->etype, etype);
    if (!err)
        err = MPIR_Datatype_copy(v->filetype, filetype);
    if (!err)
        strcpy(datarep, v->rep->name);
    return err;
}

int MPIR_File_get_byte_offset(MPIR_File *fh, MPI_Offset offset, MPI_Offset *disp)
{
    int64_t unit = fh->view.etype_there->adi.size, bytes;
    if (fh->amode & MPI_MODE_SEQUENTIAL)
        return MPIR_Err(MPI_ERR_UNSUPPORTED_OPERATION, NULL, "%s was opened with MPI_MODE_SEQUENTIAL",
                        fh->name);
    if (offset < 0 || __builtin_mul_overflow(offset, unit, &bytes))
        return MPIR_Err(MPI_ERR_ARG, "offset", "is %lld; expected a place in a file", (long long)offset);
    *disp = fh->view.disp + MPIR_Io_place(&fh->view.filetype_there->adi, bytes);
    return 0;
}

int MPIR_File_get_type_extent(MPIR_File *fh, MPIR_Datatype *datatype, MPI_Count *extent)
{
    MPIR_Datatype *there;
    int err = MPIR_Io_type_there(fh->view.rep, datatype, &there);
    if (err)
        return err;
    *extent = there->adi.extent;
    MPIR_Datatype_release(there);
    return 0;
}
