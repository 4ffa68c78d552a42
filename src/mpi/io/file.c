/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c: files as objects: open, close, delete, their size and what was said of them at the start. */
#include "config.h"
#include "bodies.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "group.h"
#include "io.h"

/* What is known of a file system by its number (statfs(2)). */
enum keeping {
    UNKNOWN,
    HERE,   /* mappings, reads and writes all meet in the same pages */
    RAM,    /* likewise, and there is nothing but these pages */
    FAR,    /* each machine keeps pages */
    STRIPED /* Lustre */
};

static enum keeping keeping_of(int fd)
{
    static const struct {
        uint32_t magic;
        enum keeping keeping;
    } rows[] = {
        { 0xEF53 /* ext2 to ext4 */, HERE }, { 0x58465342 /* xfs */, HERE },  { 0x01021994 /* tmpfs */, RAM },
        { 0x9123683E /* btrfs */, HERE },    { 0xF2F52010 /* f2fs */, HERE }, { 0x6969 /* nfs */, FAR },
        { 0x517B /* smb */, FAR },           { 0xFF534D42 /* cifs */, FAR },  { 0xFE534D42 /* smb2 */, FAR },
        { 0x5346414F /* afs */, FAR },       { 0x01021997 /* 9p */, FAR },
    };
    struct statfs s;
    if (fstatfs(fd, &s))
        return UNKNOWN;
    if (MPIR_Io_is_lustre(&s))
        return STRIPED;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((uint32_t)s.f_type == rows[i].magic)
            return rows[i].keeping;
    return UNKNOWN;
}

static int check_amode(int amode)
{
    const int known = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL |
                      MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
    int access = amode & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
    if (amode & ~known)
        return MPIR_Err(MPI_ERR_AMODE, "amode", "is %#x, with bits that no MPI_MODE_ has", amode);
    if (access == 0 || (access & (access - 1)))
        return MPIR_Err(MPI_ERR_AMODE, "amode",
                        "has %s of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY; expected one",
                        access ? "several" : "none");
    if ((amode & MPI_MODE_RDONLY) && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)))
        return MPIR_Err(MPI_ERR_AMODE, "amode", "has MPI_MODE_RDONLY and MPI_MODE_CREATE or MPI_MODE_EXCL");
    if ((amode & MPI_MODE_RDWR) && (amode & MPI_MODE_SEQUENTIAL))
        return MPIR_Err(MPI_ERR_AMODE, "amode", "has MPI_MODE_RDWR and MPI_MODE_SEQUENTIAL");
    return 0;
}

/* Also for reading where it can be: pieces are written through mappings, which are read. */
static int open_here(MPIR_File *f, int create)
{
    int access = f->amode & MPI_MODE_RDONLY ? O_RDONLY : O_RDWR;
    if (MPIR_Io_make_striped(f, access | create))
        create = 0;
    while ((f->fd = open(f->name, access | create | O_CLOEXEC, 0666)) < 0) {
        if (errno == EACCES && access == O_RDWR && (f->amode & MPI_MODE_WRONLY))
            access = O_WRONLY;
        else if (errno != EINTR)
            return MPIR_Io_errno(errno, f->name, "opening");
    }
    f->readable = access != O_WRONLY;
    enum keeping keeping = keeping_of(f->fd);
    f->refreshed = f->hints.close_to_open == MPIR_FILE_ENABLE ||
                   (f->hints.close_to_open == MPIR_FILE_AUTOMATIC && keeping == FAR);
    if (keeping == STRIPED)
        MPIR_Io_see_stripes(f);
    f->ram = keeping == RAM;
    f->near = (keeping == HERE || f->ram) && !f->refreshed;
    f->mappable = f->near;
    struct stat s;
    if (fstat(f->fd, &s))
        return MPIR_Io_errno(errno, f->name, "opening");
    return S_ISDIR(s.st_mode) ? MPIR_Io_errno(EISDIR, f->name, "opening") : 0;
}

void MPIR_File_release(MPIR_File *f)
{
    if (!MPIR_Object_unref(f))
        return;
    MPIR_Io_shared_close(f);
    if (f->view.etype)
        MPIR_Io_view_drop(&f->view);
    if (f->fd >= 0)
        close(f->fd);
    if (f->comm)
        MPIR_Comm_release(f->comm);
    MPIR_Errhandler_release(f->errhandler);
    free(f->name);
    MPIR_Object_free(f);
}

/* The path behind a prefix with the kind of the file system, which ROMIO, of MPICH and other MPIs, reads.  Which
 * file system it is we ask the system.  Other names with a colon are names of files. */
static const char *path_of(const char *filename)
{
    static const char *const kinds[] = { "ufs",   "nfs", "lustre", "gpfs",  "pvfs2",      "pvfs",
                                         "panfs", "xfs", "testfs", "bgl",   "bglockless", "hfs",
                                         "sfs",   "pfs", "piofs",  "zoidfs" };
    size_t n = strcspn(filename, ":");
    for (size_t i = 0; filename[n] && i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i]) == n && strncasecmp(filename, kinds[i], n) == 0)
            return filename + n + 1;
    return filename;
}

static int file_begin(MPIR_File **file, const char *filename, int amode, const MPIR_Info *info)
{
    MPIR_Datatype *byte = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    MPIR_File *f = MPIR_Object_alloc(MPIR_KIND_FILE);
    if (!f)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more file");
    *file = f;
    f->fd = -1;
    f->amode = amode;
    f->errhandler = MPIR_File_errhandler;
    MPIR_Errhandler_ref(f->errhandler);
    f->name = strdup(filename);
    MPIR_Io_hints_default(&f->hints);
    int err = MPIR_Io_hints_read(&f->hints, info);
    if (!f->name)
        err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the name of a file");
    else if (strlen(filename) == 0)
        err = MPIR_Err(MPI_ERR_BAD_FILE, "filename", "is empty");
    if (!err)
        err = check_amode(amode);
    return err ? err : MPIR_Io_view_new(f, 0, byte, byte, MPIR_Io_rep("native"), &f->view);
}

static bool on_one_node(const MPIR_Comm *comm)
{
    bool one = true;
    int32_t node = MPID_World()->node;
    for (int32_t i = 0; i < comm->adi.size && one; i++) {
        int32_t g = MPIR_Comm_grank(comm, i);
        one = g < MPID_MyWorldSize && MPID_Node_of(g) == node;
    }
    return one;
}

/* Rank 0 makes the file, if it is to be made; so none of the others finds what another one has made.  err: what
 * this one has met before. */
static int open_all(MPIR_File *f, int err)
{
    int create = (f->amode & MPI_MODE_CREATE ? O_CREAT : 0) | (f->amode & MPI_MODE_EXCL ? O_EXCL : 0);
    bool first = f->comm->adi.rank == 0, first_failed;
    if (!err && first)
        err = open_here(f, create);
    err = MPIR_Io_shared_open(f, err, &first_failed);
    if (!err && !first && !first_failed)
        err = open_here(f, 0);
    f->near = f->near && on_one_node(f->comm);
    return MPIR_Io_agree_hints(f, err, &f->near);
}

/* In a job that goes on without ranks that fail: this one leaves what others may have, or are in a call for. */
static void tell_others(MPIR_File *f)
{
    struct ku_err words = *ku_err_last();
    MPIR_Comm_revoked(&f->comm->adi);
    *ku_err_last() = words;
}

int MPIR_File_open(MPIR_Comm *comm, const char *filename, int amode, MPIR_Info *info, MPIR_File **fh)
{
    MPIR_File *f = NULL;
    int err = MPIR_Comm_check_intra(comm);
    if (err)
        return err;
    err = file_begin(&f, path_of(filename), amode, info);
    struct ku_err words = *ku_err_last();
    MPIR_Comm *own = NULL;
    int made = MPIR_Comm_make(comm, comm->group, f && f->name ? 0 : err, &own);
    if (f)
        f->comm = own;
    if (made) {
        if (f)
            MPIR_File_release(f);
        return made;
    }
    own->no_handle = true;
    if (f)
        own->owner = &f->obj;
    MPIR_Comm_making(comm, own);
    *ku_err_last() = words;
    err = open_all(f, err);
    if (!err && (amode & MPI_MODE_APPEND)) {
        f->position = lseek(f->fd, 0, SEEK_END);
        if (f->position < 0)
            err = MPIR_Io_errno(errno, f->name, "looking for the end of");
        else if (own->adi.rank == 0)
            err = MPIR_Io_shared_set(f, f->position);
        err = MPIR_Io_agree(f, err);
    }
    MPIR_Comm_making(comm, NULL);
    if (err && MPID_Survives())
        tell_others(f);
    if (err)
        MPIR_File_release(f);
    else
        *fh = f;
    return err;
}

/* Some file systems write what was given to them only now, and may find no space for it. */
static int close_here(MPIR_File *f)
{
    int fd = f->fd;
    f->fd = -1;
    return close(fd) && errno != EINTR ? MPIR_Io_errno(errno, f->name, "closing") : 0;
}

/* Without ranks that have failed: the first that lives does it. */
static int close_survived(MPIR_File *f)
{
    int32_t first = 0;
    int err, failed = f->obj.flags & KEEL_OBJ_REVOKED ? 0 : MPIR_Barrier(f->comm);
    if (failed) /* nobody is waited for, as others may not have the file, or be in a call */
        tell_others(f);
    struct ku_err words = *ku_err_last();
    while (first != f->comm->adi.rank && MPID_Lost(MPIR_Comm_grank(f->comm, first), &err))
        first++;
    bool unlinks = f->amode & MPI_MODE_DELETE_ON_CLOSE && first == f->comm->adi.rank;
    if (unlinks && unlink(f->name) && errno != ENOENT) /* another one may have taken itself for the first */
        return MPIR_Io_errno(errno, f->name, "deleting");
    *ku_err_last() = words;
    return failed;
}

int MPIR_File_close(MPIR_File **fh)
{
    MPIR_File *f = *fh;
    int err = 0;
    if (MPIR_Io_split_pending(f))
        return MPIR_Err(MPI_ERR_REQUEST, NULL,
                        "a split collective of %s is under way; expected its end first", f->name);
    if (MPID_Survives())
        err = close_survived(f);
    else
        err = MPIR_Barrier(f->comm); /* nobody uses the shared pointer any more */
    if (!err && !MPID_Survives() && (f->amode & MPI_MODE_DELETE_ON_CLOSE)) {
        if (f->comm->adi.rank == 0 && unlink(f->name))
            err = MPIR_Io_errno(errno, f->name, "deleting");
        err = MPIR_Io_agree(f, err);
    }
    *fh = NULL;
    if (f->obj.refs > 1) {
        if (!(f->obj.flags & KEEL_OBJ_REVOKED)) /* it has been renamed */
            MPIR_Object_rename(f);
    } else {
        int closed = close_here(f);
        err = err ? err : closed;
    }
    MPIR_File_release(f);
    return err;
}

int MPIR_File_delete(const char *filename, MPIR_Info *info)
{
    (void)info;
    const char *path = path_of(filename);
    return unlink(path) ? MPIR_Io_errno(errno, path, "deleting") : 0;
}

/* ---- Size ---- */

static int check_size(const MPIR_File *f, MPI_Offset size)
{
    if (size < 0)
        return MPIR_Err(MPI_ERR_ARG, "size", "is %lld; expected at least 0", (long long)size);
    if (f->amode & MPI_MODE_SEQUENTIAL)
        return MPIR_Err(MPI_ERR_UNSUPPORTED_OPERATION, NULL, "%s was opened with MPI_MODE_SEQUENTIAL",
                        f->name);
    if (f->amode & MPI_MODE_RDONLY)
        return MPIR_Err(MPI_ERR_READ_ONLY, NULL, "%s was opened with MPI_MODE_RDONLY", f->name);
    if (MPIR_Io_split_pending(f))
        return MPIR_Err(MPI_ERR_REQUEST, NULL, "a split collective of %s is under way", f->name);
    return 0;
}

/* Rank 0 does it, when all have come and said the same. */
static int change_size(MPIR_File *f, MPI_Offset size, int (*change)(const MPIR_File *f, int64_t size))
{
    int64_t value = size;
    int err = MPIR_Io_agree(f, check_size(f, size));
    if (!err)
        err = MPIR_Io_same(f, &value, 1, "size");
    if (!err)
        err = MPIR_Io_agree(f, f->comm->adi.rank == 0 ? change(f, size) : 0);
    return err;
}

static int set_size(const MPIR_File *f, int64_t size)
{
    int r;
    while ((r = ftruncate(f->fd, size)) != 0 && errno == EINTR)
        ;
    return r ? MPIR_Io_errno(errno, f->name, "setting the size to %lld of", (long long)size) : 0;
}

static int allocate(const MPIR_File *f, int64_t size)
{
    int error = 0;
    while (size > 0 && (error = posix_fallocate(f->fd, 0, size)) == EINTR)
        ;
    return error ? MPIR_Io_errno(error, f->name, "allocating %lld bytes of", (long long)size) : 0;
}

int MPIR_File_set_size(MPIR_File *fh, MPI_Offset size)
{
    return change_size(fh, size, set_size);
}

int MPIR_File_preallocate(MPIR_File *fh, MPI_Offset size)
{
    return change_size(fh, size, allocate);
}

int MPIR_File_get_size(MPIR_File *fh, MPI_Offset *size)
{
    struct stat s;
    int err = MPIR_Io_refresh(fh);
    if (!err && fstat(fh->fd, &s))
        err = MPIR_Io_errno(errno, fh->name, "asking for the size of");
    if (!err)
        *size = s.st_size;
    return err;
}

int MPIR_File_sync(MPIR_File *fh)
{
    int r = 0, err = 0;
    if (MPIR_Io_split_pending(fh))
        err = MPIR_Err(MPI_ERR_REQUEST, NULL, "a split collective of %s is under way", fh->name);
    while (!err && (r = fsync(fh->fd)) != 0 && errno == EINTR)
        ;
    if (!err && r != 0 && errno != EINVAL && errno != EROFS) /* what has no storage has nothing to do */
        err = MPIR_Io_errno(errno, fh->name, "writing to storage");
    err = MPIR_Io_agree(fh, err);
    return err ? err : MPIR_Io_refresh(fh);
}

/* ---- What was said of it ---- */

int MPIR_File_get_amode(MPIR_File *fh, int *amode)
{
    *amode = fh->amode;
    return 0;
}

int MPIR_File_get_group(MPIR_File *fh, MPIR_Group **group)
{
    return MPIR_Comm_group(fh->comm, group);
}

int MPIR_File_get_atomicity(MPIR_File *fh, int *flag)
{
    *flag = fh->atomic;
    return 0;
}

int MPIR_File_set_atomicity(MPIR_File *fh, int flag)
{
    int64_t value = flag != 0;
    int err = MPIR_Io_same(fh, &value, 1, "flag");
    if (!err)
        fh->atomic = flag != 0;
    return err;
}
