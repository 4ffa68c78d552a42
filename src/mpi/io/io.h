/* SPDX-License-Identifier: BSD-3-Clause */
/* io.h: what the parts of the chapter on files share. */
#ifndef IO_H
#define IO_H

#include <stdbool.h>
#include <stdint.h>
#include "abi.h"
#include "mpi_err.h"
#include "file.h"
#include "info.h"
#include "request.h"

/* ---- Errors ---- */

/* Record errno's class and words for the file: "writing 4096 bytes at 8192 of /tmp/x: No space left on device". */
int MPIR_Io_errno(int error, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- Representations of data (rep.c) ---- */

enum io_convert { IO_SAME, IO_EXTERNAL32, IO_USER };
struct io_rep {
    const char *name;
    enum io_convert how;
    MPIR_Callback read_fn, write_fn, extent_fn; /* IO_USER; fn NULL: data is native */
    struct io_rep *next;
};
/* NULL: there is none. */
const struct io_rep *MPIR_Io_rep(const char *name);
/* The datatype as it is laid out in a file of this representation; a reference for the caller. */
int MPIR_Io_type_there(const struct io_rep *rep, MPIR_Datatype *type, MPIR_Datatype **there);
/* The items (basic elements) of a type that are whole in its first bytes in the file. */
struct MPIR_ELEMENTS MPIR_Io_items(const struct io_rep *rep, const MPIR_Datatype *type,
                                   const MPIR_Datatype *there, int64_t bytes);
/* Items [position, position + items) of (buf, count, type); before them are `native` bytes of the program's, and
 * they have native_len. */
struct io_part {
    int64_t position, items, native, native_len;
};
/* The part to its bytes of the file, and back; external32 takes no other than the first. */
int MPIR_Io_to_file(const struct io_rep *rep, const void *buf, int64_t count, MPIR_Datatype *type,
                    const struct io_part *p, void *to, int64_t len);
int MPIR_Io_from_file(const struct io_rep *rep, const void *from, int64_t len, void *buf, int64_t count,
                      MPIR_Datatype *type, const struct io_part *p);

/* ---- Views (view.c) ---- */

int MPIR_Io_view_new(MPIR_File *f, MPI_Offset disp, MPIR_Datatype *etype, MPIR_Datatype *filetype,
                     const struct io_rep *rep, MPIR_File_view *v);
/* The same once more, for an operation that outlives the call. */
MPIR_File_view MPIR_Io_view_ref(const MPIR_File_view *v);
void MPIR_Io_view_drop(MPIR_File_view *v);

/* Byte `s` of the data of a filetype lies so far from the view's displacement. */
int64_t MPIR_Io_place(const struct MPIR_DATATYPE *filetype, int64_t s);
/* The first byte of data in [lo, hi) that lies at `place` or behind it; hi: there is none.  The type has no
 * overlaps. */
int64_t MPIR_Io_find(const struct MPIR_DATATYPE *filetype, int64_t lo, int64_t hi, int64_t place);
/* Elements that hold the first s bytes. */
static inline int64_t io_elements(const struct MPIR_DATATYPE *t, int64_t s)
{
    return t->size ? (s + t->size - 1) / t->size : 0;
}

/* ---- One access of one process (io_engine.c) ---- */

struct io_access {
    const MPIR_File *f;
    const MPIR_File_view *view;
    bool write;
    void *buf;
    int64_t count;
    MPIR_Datatype *type, *there; /* there: as it is in the file; NULL before it is known */
    int64_t at, len;             /* bytes of data in the view, as they are in the file */
    /* afterwards */
    int64_t native; /* bytes of the program's data that were accessed */
    int64_t done;   /* of len */
    int err;
    struct ku_err words;
};
/* Do its data follow one another in the file, each byte once? */
static inline bool io_in_order(const struct io_access *a)
{
    const MPIR_File_view *v = a->view;
    return !v->overlaps && (!v->tangled || a->at + a->len <= v->filetype_there->adi.size);
}
/* Blocks in the kernel; may run in any thread; looks at nothing else than what the access names. */
void MPIR_Io_run(struct io_access *a);

/* Where the file system keeps pages on each machine: see what others have written to storage (NFS asks its server
 * when it gives a lock; a server without locks is no error). */
int MPIR_Io_refresh(const MPIR_File *f);

/* All of the bytes, whatever interrupts; *done: how many there were (fewer: the end of the file).  An errno. */
int MPIR_Io_pread(int fd, void *to, int64_t len, int64_t at, int64_t *done);
int MPIR_Io_pwrite(int fd, const void *from, int64_t len, int64_t at);

/* ---- Work for other threads (pool.c) ---- */

struct io_job {
    void (*run)(struct io_job *job);
    struct io_job *next;
    _Atomic int state;
};
/* Run it in another thread, or here where there can be none. */
void MPIR_Io_submit(struct io_job *job);
/* True: it has run, and the thread does not touch it any more. */
bool MPIR_Io_job_done(struct io_job *job);

/* ---- Access together (collective.c) ---- */

/* All processes of the file see alike whether each is to access it by itself. */
bool MPIR_Io_apart(const MPIR_File *f, const struct io_access *a);

/* Where they are not apart: begin, never blocking.  It goes on whenever the process drives its operations
 * (drive.h).  `a`, and what it names, stays until it is over.  If each had better access the file alone, job is
 * begun then (NULL: the caller does it). */
struct io_together;
struct io_together *MPIR_Io_together_begin(MPIR_File *f, struct io_access *a, struct io_job *job);
/* Over, or *alone: as far as that is concerned.  The result is in the access unless *alone. */
bool MPIR_Io_together_over(const struct io_together *t, bool *alone);
/* The message that it cannot go on without; NULL: none at the moment. */
MPIR_Request *MPIR_Io_together_awaits(struct io_together *t);
/* It is over. */
void MPIR_Io_together_free(struct io_together *t);
/* This process has no part, since it has met err (recorded): tell the others, in the background; nothing if they
 * are apart. */
void MPIR_Io_together_desert(MPIR_File *f, const struct io_access *a, int err);

/* Blocking: begin and wait, or alone; err: what this one has met before (recorded). */
int MPIR_Io_together(MPIR_File *f, struct io_access *a, int err);

/* ---- Agreement (io_agree.c) ---- */

/* An error class and who met it, as one number: the largest is the worst class, of the lowest rank that met it.
 * 0: none. */
int64_t MPIR_Io_verdict(int err, int32_t rank);
/* What another process recorded becomes an error of this one, too, with its words. */
int MPIR_Io_another_met(const MPIR_File *f, int64_t verdict, const struct ku_err *words);
/* The error of all of them: 0, or one that is recorded: a process's own, or the worst that another one has
 * recorded, with its words. */
int MPIR_Io_agree(MPIR_File *f, int err);
/* The same, and f->together, which all have from now on, after a change of hints; and *all: `all` is true in all
 * of them. */
int MPIR_Io_agree_hints(MPIR_File *f, int err, bool *all);
/* Are the values the same in all of them?  MPI_ERR_NOT_SAME, recorded, in all of them. */
int MPIR_Io_same(MPIR_File *f, const int64_t *values, int n, const char *arg);
/* The same error, found otherwise. */
int MPIR_Io_not_same(const MPIR_File *f, const char *arg);

/* ---- The shared pointer (shared_pointer.c) ---- */

/* Collective; err: what this one has met before (recorded).  *first_failed: rank 0 has met something, before or
 * here.  All have said the same amode, unless one returns MPI_ERR_NOT_SAME. */
int MPIR_Io_shared_open(MPIR_File *f, int err, bool *first_failed);
void MPIR_Io_shared_close(MPIR_File *f);
/* Add and tell what it was. */
int MPIR_Io_shared_add(MPIR_File *f, int64_t etypes, int64_t *was);
/* Add if it is *was, and tell what it was. */
int MPIR_Io_shared_move(MPIR_File *f, int64_t etypes, int64_t *was);
int MPIR_Io_shared_set(MPIR_File *f, int64_t etypes);
int MPIR_Io_shared_position(MPIR_File *f, int64_t *etypes);

/* ---- Stripes (lustre.c) ---- */

struct statfs;
bool MPIR_Io_is_lustre(const struct statfs *s);
/* Make the file with the stripes that its hints ask for; true: it is there now, to be opened as others are.
 * False: it is there already, nothing is asked for, or not of Lustre, or it cannot be made: to be opened by these
 * flags. */
bool MPIR_Io_make_striped(const MPIR_File *f, int flags);
/* Set the hints to what an opened file of Lustre has. */
void MPIR_Io_see_stripes(MPIR_File *f);

/* ---- Hints (io_hints.c) ---- */

void MPIR_Io_hints_default(MPIR_File_hints *h);
int MPIR_Io_hints_read(MPIR_File_hints *h, const MPIR_Info *info);

/* A seek: the new position, or an error. */
int MPIR_Io_seek_to(MPIR_File *f, MPI_Offset now, MPI_Offset offset, int whence, MPI_Offset *to);

/* Is a split collective under way? */
bool MPIR_Io_split_pending(const MPIR_File *f);

#endif
