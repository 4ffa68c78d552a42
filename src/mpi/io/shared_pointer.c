/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_pointer.c: the shared file pointer: one number of 64 bits that rank 0 makes, updated by one atomic
 * operation.
 *
 * It is in memory that the processes of rank 0's node share: each of them does that by itself.  For others the
 * core does it (MPID_Atomic). Where no memory is left to share it is rank 0's own, and so for all others.
 *
 * Beside it are the locks of atomic mode, if all processes share that memory; otherwise each has some of its own. */
#include "config.h"
#include "bodies.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "io.h"
#include "ranges.h"

struct io_pointer {
    _Alignas(64) int64_t etypes;
    _Atomic int32_t users; /* processes that have it mapped: the last one frees it */
    struct io_ranges ranges;
};

/* What rank 0 tells the others. */
struct told {
    int64_t err;   /* an error class: of opening the file, or of this */
    int64_t amode; /* what the others have to have said, too */
    uint64_t block;
    int64_t key_len; /* 0: nobody needs the key */
    int64_t ranges;  /* all processes see the table of ranges */
};

static bool is_near_first(const MPIR_File *f, int32_t rank)
{
    int32_t first = MPIR_Comm_grank(f->comm, 0), g = MPIR_Comm_grank(f->comm, rank);
    return first < MPID_MyWorldSize && g < MPID_MyWorldSize && MPID_Node_of(g) == MPID_Node_of(first);
}

static int map(MPIR_File *f, uint64_t block)
{
    int err = 0;
    struct io_pointer *p = MPID_Shared_map(NULL, block, &err);
    if (p) {
        f->pointer_block = block;
        f->pointer = &p->etypes;
    }
    return err;
}

/* Rank 0's part; the others come to its memory or use the key. */
static int shared_pointer_make(MPIR_File *f, struct told *t, char *key)
{
    int32_t near = 0;
    int err = 0;
    for (int32_t i = 0; i < f->comm->adi.size; i++)
        near += is_near_first(f, i);
    t->block = near > 1 ? MPID_Shared_alloc(NULL, sizeof(struct io_pointer), &err) : 0;
    if (t->block && map(f, t->block) == 0) {
        atomic_store(&((struct io_pointer *)f->pointer)->users, near);
    } else {
        t->block = 0;
        f->pointer = f->pointer_mine = aligned_alloc(_Alignof(struct io_pointer), sizeof(struct io_pointer));
        if (!f->pointer)
            return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the shared pointer of a file");
        memset(f->pointer, 0, sizeof(struct io_pointer));
    }
    if (f->comm->adi.size == (t->block ? near : 1)) {
        t->ranges = MPIR_Io_ranges_init(&((struct io_pointer *)f->pointer)->ranges) == 0;
        return 0;
    }
    err = 0;
    f->pointer_memory = MPID_Mem_register(f->pointer, sizeof(struct io_pointer), &err);
    t->key_len = f->pointer_memory ? MPID_Mem_key(f->pointer_memory, key, MPID_KEY_MAX) : 0;
    if (!err && t->key_len == 0)
        err = MPIR_Err(MPI_ERR_OTHER, NULL, "rank 0 of the file could not share its file pointer");
    return err;
}

static int shared_pointer_come(MPIR_File *f, const struct told *t, const char *key)
{
    int err = 0;
    if (f->pointer_block)
        return 0;
    f->pointer_remote = MPID_Mem_open(MPIR_Comm_grank(f->comm, 0), key, t->key_len, &err);
    if (!err)
        f->pointer = MPID_Mem_share(f->pointer_remote);
    return err;
}

static int see_ranges(MPIR_File *f, const struct told *t)
{
    f->ranges_all = t->ranges && f->pointer;
    if (f->ranges_all) {
        f->ranges = &((struct io_pointer *)f->pointer)->ranges;
        return 0;
    }
    f->ranges = calloc(1, sizeof *f->ranges);
    if (!f->ranges || MPIR_Io_ranges_init(f->ranges))
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for locks of %.150s", f->name);
    return 0;
}

int MPIR_Io_shared_open(MPIR_File *f, int err, bool *first_failed)
{
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    bool first = f->comm->adi.rank == 0;
    struct told t = { .amode = f->amode };
    char key[MPID_KEY_MAX];
    if (first && !err)
        err = shared_pointer_make(f, &t, key);
    t.err = err;
    struct ku_err words = *ku_err_last();
    int there = f->comm->adi.size > 1 ? MPIR_Bcast(&t, sizeof t, byte, 0, f->comm) : 0;
    if (!there && !t.err && t.key_len)
        there = MPIR_Bcast(key, t.key_len, byte, 0, f->comm);
    *first_failed = t.err != 0;
    if (!there && !first && t.block && is_near_first(f, f->comm->adi.rank))
        there =
            map(f, t.block); /* whatever has happened: the block goes when all who share it have left it */
    if (err) {
        *ku_err_last() = words;
        return err;
    }
    if (there || *first_failed)
        return there;
    if (t.amode != f->amode)
        return MPIR_Io_not_same(f, "amode");
    if (!first)
        there = shared_pointer_come(f, &t, key);
    return there ? there : see_ranges(f, &t);
}

void MPIR_Io_shared_close(MPIR_File *f)
{
    if (f->pointer_remote)
        MPID_Mem_close(f->pointer_remote);
    if (f->pointer_memory)
        MPID_Mem_unregister(f->pointer_memory);
    if (f->pointer_block) {
        bool last = atomic_fetch_sub(&((struct io_pointer *)f->pointer)->users, 1) == 1;
        MPID_Shared_unmap(NULL, f->pointer_block);
        if (last)
            MPID_Shared_free(NULL, f->pointer_block);
    }
    free(f->pointer_mine);
    if (!f->ranges_all)
        free(f->ranges);
}

static int shared_pointer_update(MPIR_File *f, enum keel_atomic_op op, int64_t operand,
                                 const int64_t *compare, int64_t *was)
{
    int err = 0;
    if (f->pointer) {
        keel_atomic(f->pointer, op, KEEL_INT64, &operand, compare, was);
        return 0;
    }
    struct MPID_COMPLETION done = { 0 };
    MPID_Atomic(f->pointer_remote, 0, op, KEEL_INT64, &operand, compare, was, &done, &err);
    if (!err)
        MPID_Mem_wait(&done, &err);
    return err;
}

int MPIR_Io_shared_add(MPIR_File *f, int64_t etypes, int64_t *was)
{
    return shared_pointer_update(f, KEEL_ATOMIC_SUM, etypes, NULL, was);
}

int MPIR_Io_shared_move(MPIR_File *f, int64_t etypes, int64_t *was)
{
    int64_t from = *was;
    return shared_pointer_update(f, KEEL_ATOMIC_COMPARE_SWAP, from + etypes, &from, was);
}

int MPIR_Io_shared_set(MPIR_File *f, int64_t etypes)
{
    int64_t was;
    return shared_pointer_update(f, KEEL_ATOMIC_REPLACE, etypes, NULL, &was);
}

int MPIR_Io_shared_position(MPIR_File *f, int64_t *etypes)
{
    return shared_pointer_update(f, KEEL_ATOMIC_FETCH, 0, NULL, etypes);
}

/* ---- Seek ---- */

/* The first offset, in etypes, behind the end of the file (15.4.3: the end of the file is where the next etype
 * would begin). */
static int end_of_file(MPIR_File *f, int64_t *etypes)
{
    const MPIR_File_view *v = &f->view;
    MPI_Offset size = 0;
    int err = MPIR_File_get_size(f, &size);
    int64_t unit = v->etype_there->adi.size;
    int64_t bytes =
        err || size <= v->disp ? 0 : MPIR_Io_find(&v->filetype_there->adi, 0, size - v->disp, size - v->disp);
    *etypes = (bytes + unit - 1) / unit;
    return err;
}

int MPIR_Io_seek_to(MPIR_File *f, MPI_Offset now, MPI_Offset offset, int whence, MPI_Offset *to)
{
    int64_t base = 0, place, bytes;
    int err = 0;
    if (whence == MPI_SEEK_CUR)
        base = now;
    else if (whence == MPI_SEEK_END)
        err = end_of_file(f, &base);
    else if (whence != MPI_SEEK_SET)
        err = MPIR_Err(MPI_ERR_ARG, "whence", "is %d; expected MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END",
                       whence);
    if (err)
        return err;
    if (__builtin_add_overflow(base, offset, &place) || place < 0 ||
        __builtin_mul_overflow(place, f->view.etype_there->adi.size, &bytes))
        return MPIR_Err(MPI_ERR_ARG, "offset", "is %lld, which leads from %lld to no place in a file",
                        (long long)offset, (long long)base);
    *to = place;
    return 0;
}

static int check_seek(const MPIR_File *f)
{
    return f->amode & MPI_MODE_SEQUENTIAL ? MPIR_Err(MPI_ERR_UNSUPPORTED_OPERATION, NULL,
                                                     "%s was opened with MPI_MODE_SEQUENTIAL", f->name)
                                          : 0;
}

int MPIR_File_seek(MPIR_File *fh, MPI_Offset offset, int whence)
{
    int err = check_seek(fh);
    return err ? err : MPIR_Io_seek_to(fh, fh->position, offset, whence, &fh->position);
}

int MPIR_File_get_position(MPIR_File *fh, MPI_Offset *offset)
{
    int err = check_seek(fh);
    if (!err)
        *offset = fh->position;
    return err;
}

/* All have come before it moves, and it has moved before any goes on. */
int MPIR_File_seek_shared(MPIR_File *fh, MPI_Offset offset, int whence)
{
    int64_t said[2] = { offset, whence }, now = 0;
    MPI_Offset to = 0;
    int err = MPIR_Io_agree(fh, check_seek(fh));
    if (!err)
        err = MPIR_Io_same(fh, said, 2, "offset or whence");
    if (err)
        return err;
    if (fh->comm->adi.rank == 0) {
        err = MPIR_Io_shared_position(fh, &now);
        if (!err)
            err = MPIR_Io_seek_to(fh, now, offset, whence, &to);
        if (!err)
            err = MPIR_Io_shared_set(fh, to);
    }
    return MPIR_Io_agree(fh, err);
}

int MPIR_File_get_position_shared(MPIR_File *fh, MPI_Offset *offset)
{
    int64_t now = 0;
    int err = check_seek(fh);
    if (!err)
        err = MPIR_Io_shared_position(fh, &now);
    *offset = now;
    return err;
}
