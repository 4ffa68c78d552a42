/* SPDX-License-Identifier: BSD-3-Clause */
/* io_access.c: the calls that read and write: where they begin in the file, and in which form they end.
 *
 * Collective ones may be made together (collective.c).  Others that are nonblocking are made by another thread. */
#include "config.h"
#include "bodies.h"
#include <stdlib.h>
#include <sys/stat.h>
#include "io.h"

enum how { READ = 0, WRITE = 1, AT = 2, OWN = 4, SHARED = 8, ORDERED = 16, ALL = 32 };

/* A call: what it is, and its arguments. */
struct call {
    MPIR_File *f;
    enum how how;
    MPI_Offset offset;
    void *buf;
    int64_t count;
    MPIR_Datatype *type;
};

static struct call call_of(MPIR_File *f, int how, MPI_Offset offset, const void *buf, int64_t count,
                           MPIR_Datatype *type)
{
    return (struct call){ f, (enum how)how, offset, (void *)(uintptr_t)buf, count, type };
}

bool MPIR_Io_split_pending(const MPIR_File *f)
{
    return f->split != NULL;
}

static int io_access_check(const struct call *c)
{
    const MPIR_File *f = c->f;
    if ((c->how & WRITE) && (f->amode & MPI_MODE_RDONLY))
        return MPIR_Err(MPI_ERR_READ_ONLY, NULL, "%s was opened with MPI_MODE_RDONLY", f->name);
    if (!(c->how & WRITE) && (f->amode & MPI_MODE_WRONLY))
        return MPIR_Err(MPI_ERR_ACCESS, NULL, "%s was opened with MPI_MODE_WRONLY", f->name);
    if ((f->amode & MPI_MODE_SEQUENTIAL) && (c->how & (AT | OWN)))
        return MPIR_Err(MPI_ERR_UNSUPPORTED_OPERATION, NULL,
                        "%s was opened with MPI_MODE_SEQUENTIAL; expected the shared file pointer", f->name);
    if ((c->how & AT) && c->offset < 0)
        return MPIR_Err(MPI_ERR_ARG, "offset", "is %lld; expected at least 0", (long long)c->offset);
    if ((c->how & (ALL | ORDERED)) && MPIR_Io_split_pending(f))
        return MPIR_Err(MPI_ERR_REQUEST, NULL,
                        "a split collective of %s is under way; expected its end first", f->name);
    return 0;
}

/* The type, and the bytes of the data, as they are in the file; these are a multiple of the etype. */
static int length_there(const struct call *c, struct io_access *a, int64_t *etypes)
{
    const MPIR_File_view *v = a->view;
    int64_t unit = v->etype_there->adi.size;
    int err = MPIR_Io_type_there(v->rep, c->type, &a->there);
    if (err)
        return err;
    if (__builtin_mul_overflow(a->there->adi.size, c->count, &a->len))
        return MPIR_Err(MPI_ERR_COUNT, "count", "is %lld; so many bytes are in no file", (long long)c->count);
    if (a->len % unit)
        return MPIR_Err(MPI_ERR_TYPE, "datatype",
                        "and count are %lld bytes; expected a multiple of the etype's %lld",
                        (long long)a->len, (long long)unit);
    if (a->len > 0 && v->filetype_there->adi.size == 0)
        return MPIR_Err(MPI_ERR_ARG, "count", "is %lld; the filetype of the view has no data",
                        (long long)c->count);
    *etypes = a->len / unit;
    return 0;
}

/* ---- Where it begins, and where pointers go ---- */

static int io_access_place(const MPIR_File *f, int64_t offset, struct io_access *a)
{
    int64_t end;
    return __builtin_mul_overflow(offset, f->view.etype_there->adi.size, &a->at) ||
                   __builtin_add_overflow(a->at, a->len, &end)
               ? MPIR_Err(MPI_ERR_ARG, "offset", "is %lld; so far goes no file", (long long)offset)
               : 0;
}

/* Of a read that has its place: no more than begins before the end of the file, as that is now, so that a pointer
 * goes as far as what will come.  What is no plain file has no end that can be known. */
static void end_with_file(struct io_access *a, int64_t *etypes)
{
    const MPIR_File_view *v = a->view;
    int64_t unit = v->etype_there->adi.size;
    struct stat st;
    if (a->len == 0 || !io_in_order(a) || fstat(a->f->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    int64_t end = MPIR_Io_find(&v->filetype_there->adi, a->at, a->at + a->len, st.st_size - v->disp);
    *etypes = (end - a->at + unit - 1) / unit;
    a->len = *etypes * unit;
}

/* Ordered: behind those before. */
static int place_ordered(MPIR_File *f, int64_t etypes, int err, int64_t *offset)
{
    MPIR_Datatype *word = MPIR_Datatype_predefined(KEEL_MPI_INT64_T);
    MPIR_Op *sum = MPIR_Object_predefined(MPIR_KIND_OP, KEEL_MPI_SUM);
    struct ku_err words = *ku_err_last();
    int last = f->comm->adi.size - 1;
    int64_t mine = err ? 0 : etypes, before = 0, base[2] = { 0 };
    int there = MPIR_Exscan(&mine, &before, 1, word, sum, f->comm);
    if (f->comm->adi.rank == 0)
        before = 0;
    if (!there && f->comm->adi.rank == last)
        base[1] = MPIR_Io_shared_add(f, before + mine, &base[0]);
    if (!there)
        there = MPIR_Bcast(base, 2, word, last, f->comm);
    *offset = base[0] + before;
    if (err)
        *ku_err_last() = words;
    else if (base[1] && !there)
        there = MPIR_Err((int)base[1], NULL, "the shared file pointer of %s could not be moved", f->name);
    return err ? err : there;
}

/* The shared pointer.  A read moves it to the end of the file at most, and is of what lies before: so reads of
 * several processes that meet the end leave it there. */
static int place_shared(MPIR_File *f, struct io_access *a, int64_t etypes)
{
    int64_t at = 0, len = a->len, some, was;
    if (a->write) {
        int err = MPIR_Io_shared_add(f, etypes, &at);
        return err ? err : io_access_place(f, at, a);
    }
    int err = MPIR_Io_shared_position(f, &at);
    for (bool moved = false; !err && !moved; at = was) {
        a->len = len;
        some = etypes;
        was = at;
        err = io_access_place(f, at, a);
        if (!err) {
            end_with_file(a, &some);
            err = MPIR_Io_shared_move(f, some, &was);
        }
        moved = was == at;
    }
    return err;
}

/* The individual one.  A call that returns before its access is over moves it as far as what will come; one that
 * waits, when it is over. */
static int place_own(MPIR_File *f, struct io_access *a, int64_t etypes, bool later)
{
    int err = io_access_place(f, f->position, a);
    if (!err && later && !a->write)
        end_with_file(a, &etypes);
    if (!err)
        f->position += etypes;
    return err;
}

/* Less was there, or could be written, than was asked for. */
static void correct_own(MPIR_File *f, const struct io_access *a)
{
    int64_t unit = a->view->etype_there->adi.size;
    if (f->position == (a->at + a->len) / unit) /* no other thread has moved it since */
        f->position = (a->at + a->done + unit - 1) / unit;
}

static void drop_there(struct io_access *a)
{
    if (a->there)
        MPIR_Datatype_release(a->there);
    a->there = NULL;
}

/* The access that the call asks for; pointers move.  later: it will be over when another call says so.  The access
 * has a reference of its type there, also if there is an error. */
static int io_access_prepare(const struct call *c, struct io_access *a, bool later)
{
    MPIR_File *f = c->f;
    int64_t etypes = 0, offset = 0;
    int err = io_access_check(c);
    *a = (struct io_access){
        .f = f, .view = &f->view, .write = c->how & WRITE, .buf = c->buf, .count = c->count, .type = c->type
    };
    if (!err)
        err = length_there(c, a, &etypes);
    if (c->how & ORDERED)
        err = place_ordered(f, etypes, err, &offset);
    if (!err && (c->how & SHARED))
        err = place_shared(f, a, etypes);
    else if (!err && (c->how & OWN))
        err = place_own(f, a, etypes, later);
    else if (!err)
        err = io_access_place(f, c->how & ORDERED ? offset : c->offset, a);
    if (err)
        a->len = 0;
    return err;
}

static void fill_status(MPIR_Status *s, int64_t bytes)
{
    if (s)
        *s = (MPIR_Status){
            .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = s->MPI_ERROR, .count = bytes
        };
}

static int io_access_ended(const struct io_access *a, MPIR_Status *status)
{
    fill_status(status, a->native);
    if (a->err)
        *ku_err_last() = a->words;
    return a->err;
}

static int blocking(struct call c, MPIR_Status *status)
{
    struct io_access a;
    int err = io_access_prepare(&c, &a, false);
    if (c.how & ALL)
        err = MPIR_Io_together(c.f, &a, err);
    else if (!err)
        MPIR_Io_run(&a);
    if (!err && (c.how & OWN) && a.done < a.len)
        correct_own(c.f, &a);
    drop_there(&a);
    return err ? err : io_access_ended(&a, status);
}

/* ---- By another thread ---- */

struct later {
    struct MPIR_Closure closure;
    struct io_job job;
    struct io_access a;
    MPIR_File *f;
    MPIR_File_view view;
    struct io_together *together; /* NULL: it is not collective, or each makes it for itself */
};

static void run_later(struct io_job *j)
{
    MPIR_Io_run(&((struct later *)((char *)j - offsetof(struct later, job)))->a);
}

/* What it needs stays, whatever the program does with file, view and datatype. */
static struct later *io_access_keep(const struct io_access *a)
{
    struct later *l = calloc(1, sizeof *l);
    if (!l) {
        MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more access to a file");
        return NULL;
    }
    l->f = (MPIR_File *)(uintptr_t)a->f;
    l->view = MPIR_Io_view_ref(a->view);
    l->a = *a;
    l->a.view = &l->view;
    MPIR_Object_ref(l->f);
    MPIR_Object_ref(a->type);
    MPIR_Object_ref(a->there);
    l->job.run = run_later;
    return l;
}

static void begin_later(struct later *l, bool collective)
{
    if (l->view.rep->how == IO_USER) { /* the program's functions run where it calls */
        MPIR_Io_run(&l->a);
        l->a.len = 0;
    }
    if (collective && !MPIR_Io_apart(l->f, &l->a))
        l->together = MPIR_Io_together_begin(l->f, &l->a, &l->job);
    else
        MPIR_Io_submit(&l->job);
}

/* The access of a call, not begun yet.  NULL: *err (recorded); if it is collective the others know. */
static struct later *later_of(const struct call *c, int *err)
{
    struct io_access a;
    *err = io_access_prepare(c, &a, true);
    struct later *l = *err ? NULL : io_access_keep(&a);
    if (!l) {
        *err = *err ? *err : MPI_ERR_NO_MEM;
        if (c->how & ALL)
            MPIR_Io_together_desert(c->f, &a, *err);
    }
    drop_there(&a); /* l has another */
    return l;
}

static bool later_over(struct later *l)
{
    bool alone = true;
    if (l->together && !MPIR_Io_together_over(l->together, &alone))
        return false;
    return !alone || MPIR_Io_job_done(&l->job);
}

static void free_later(struct later *l)
{
    if (l->together)
        MPIR_Io_together_free(l->together);
    MPIR_Datatype_release(l->a.type);
    drop_there(&l->a);
    MPIR_Io_view_drop(&l->view);
    MPIR_File_release(l->f);
    free(l);
}

static void request_poll(MPIR_Request *r)
{
    struct later *l = r->aux;
    if (!later_over(l))
        return;
    fill_status(&r->s, l->a.native);
    r->errval = l->a.err;
    atomic_store_explicit(&r->is_complete, 1, memory_order_release);
}

static void request_free(MPIR_Request *r)
{
    free_later(r->aux);
}

static void request_explain(const MPIR_Request *r)
{
    *ku_err_last() = ((const struct later *)r->aux)->a.words;
}

MPIR_File *MPIR_File_of_request(const MPIR_Request *r)
{
    return ((const struct later *)r->aux)->f;
}

static const char *request_parts(MPIR_Request *r, void (*add)(MPIR_Request *message, void *arg), void *arg)
{
    const struct later *l = r->aux;
    MPIR_Request *message = l->together ? MPIR_Io_together_awaits(l->together) : NULL;
    if (message)
        add(message, arg);
    return l->together ? "a collective access to a file" : "an access to a file";
}

static const struct MPIR_Request_ops request_ops = {
    .poll = request_poll, .free = request_free, .explain = request_explain, .parts = request_parts
};

static int nonblocking(struct call c, MPIR_Request **request)
{
    int err;
    struct later *l = later_of(&c, &err);
    MPIR_Request *r = l ? MPIR_Request_alloc(NULL) : NULL;
    if (!r) {
        if (l && (c.how & ALL))
            MPIR_Io_together_desert(c.f, &l->a, MPI_ERR_NO_MEM);
        if (l)
            free_later(l);
        return err ? err : MPI_ERR_NO_MEM;
    }
    l->closure.ops = &request_ops;
    r->handle_type = MPIR_IO;
    r->aux = l;
    *request = r;
    begin_later(l, c.how & ALL);
    return 0;
}

/* ---- Split collectives: one at a time for each file ---- */

struct io_split {
    enum how how;
    struct later *later;
};

static int split_begin(struct call c)
{
    int err;
    struct later *l = later_of(&c, &err);
    struct io_split *s = l ? malloc(sizeof *s) : NULL;
    if (l && !s) {
        err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more access to a file");
        if (c.how & ALL)
            MPIR_Io_together_desert(c.f, &l->a, err);
        free_later(l);
    }
    if (!s)
        return err;
    *s = (struct io_split){ c.how, l };
    c.f->split = s;
    begin_later(l, c.how & ALL);
    return 0;
}

static int split_end(MPIR_File *f, int how, MPIR_Status *status)
{
    struct io_split *s = f->split;
    if (!s || s->how != (enum how)how)
        return MPIR_Err(MPI_ERR_REQUEST, NULL,
                        "%s split collective of %s is under way; expected that which this call ends",
                        s ? "another" : "no", f->name);
    while (!later_over(s->later))
        MPID_DeviceCheck(MPID_BLOCKING);
    int err = io_access_ended(&s->later->a, status);
    f->split = NULL;
    free_later(s->later);
    free(s);
    return err;
}

/* ---- The calls ---- */

int MPIR_File_read(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype, MPIR_Status *status)
{
    return blocking(call_of(fh, READ | OWN, 0, buf, count, datatype), status);
}

int MPIR_File_iread(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                    MPIR_Request **request)
{
    return nonblocking(call_of(fh, READ | OWN, 0, buf, count, datatype), request);
}

int MPIR_File_read_at(MPIR_File *fh, MPI_Offset offset, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                      MPIR_Status *status)
{
    return blocking(call_of(fh, READ | AT, offset, buf, count, datatype), status);
}

int MPIR_File_iread_at(MPIR_File *fh, MPI_Offset offset, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                       MPIR_Request **request)
{
    return nonblocking(call_of(fh, READ | AT, offset, buf, count, datatype), request);
}

int MPIR_File_read_shared(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                          MPIR_Status *status)
{
    return blocking(call_of(fh, READ | SHARED, 0, buf, count, datatype), status);
}

int MPIR_File_iread_shared(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                           MPIR_Request **request)
{
    return nonblocking(call_of(fh, READ | SHARED, 0, buf, count, datatype), request);
}

int MPIR_File_read_all(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                       MPIR_Status *status)
{
    return blocking(call_of(fh, READ | OWN | ALL, 0, buf, count, datatype), status);
}

int MPIR_File_iread_all(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                        MPIR_Request **request)
{
    return nonblocking(call_of(fh, READ | OWN | ALL, 0, buf, count, datatype), request);
}

int MPIR_File_read_all_begin(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype)
{
    return split_begin(call_of(fh, READ | OWN | ALL, 0, buf, count, datatype));
}

int MPIR_File_read_all_end(MPIR_File *fh, void *buf, MPIR_Status *status)
{
    (void)buf;
    return split_end(fh, READ | OWN | ALL, status);
}

int MPIR_File_read_at_all(MPIR_File *fh, MPI_Offset offset, void *buf, MPI_Count count,
                          MPIR_Datatype *datatype, MPIR_Status *status)
{
    return blocking(call_of(fh, READ | AT | ALL, offset, buf, count, datatype), status);
}

int MPIR_File_iread_at_all(MPIR_File *fh, MPI_Offset offset, void *buf, MPI_Count count,
                           MPIR_Datatype *datatype, MPIR_Request **request)
{
    return nonblocking(call_of(fh, READ | AT | ALL, offset, buf, count, datatype), request);
}

int MPIR_File_read_at_all_begin(MPIR_File *fh, MPI_Offset offset, void *buf, MPI_Count count,
                                MPIR_Datatype *datatype)
{
    return split_begin(call_of(fh, READ | AT | ALL, offset, buf, count, datatype));
}

int MPIR_File_read_at_all_end(MPIR_File *fh, void *buf, MPIR_Status *status)
{
    (void)buf;
    return split_end(fh, READ | AT | ALL, status);
}

int MPIR_File_read_ordered(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype,
                           MPIR_Status *status)
{
    return blocking(call_of(fh, READ | ORDERED, 0, buf, count, datatype), status);
}

int MPIR_File_read_ordered_begin(MPIR_File *fh, void *buf, MPI_Count count, MPIR_Datatype *datatype)
{
    return split_begin(call_of(fh, READ | ORDERED, 0, buf, count, datatype));
}

int MPIR_File_read_ordered_end(MPIR_File *fh, void *buf, MPIR_Status *status)
{
    (void)buf;
    return split_end(fh, READ | ORDERED, status);
}

int MPIR_File_write(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype,
                    MPIR_Status *status)
{
    return blocking(call_of(fh, WRITE | OWN, 0, buf, count, datatype), status);
}

int MPIR_File_iwrite(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype,
                     MPIR_Request **request)
{
    return nonblocking(call_of(fh, WRITE | OWN, 0, buf, count, datatype), request);
}

int MPIR_File_write_at(MPIR_File *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                       MPIR_Datatype *datatype, MPIR_Status *status)
{
    return blocking(call_of(fh, WRITE | AT, offset, buf, count, datatype), status);
}

int MPIR_File_iwrite_at(MPIR_File *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                        MPIR_Datatype *datatype, MPIR_Request **request)
{
    return nonblocking(call_of(fh, WRITE | AT, offset, buf, count, datatype), request);
}

int MPIR_File_write_shared(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype,
                           MPIR_Status *status)
{
    return blocking(call_of(fh, WRITE | SHARED, 0, buf, count, datatype), status);
}

int MPIR_File_iwrite_shared(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype,
                            MPIR_Request **request)
{
    return nonblocking(call_of(fh, WRITE | SHARED, 0, buf, count, datatype), request);
}

int MPIR_File_write_all(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype,
                        MPIR_Status *status)
{
    return blocking(call_of(fh, WRITE | OWN | ALL, 0, buf, count, datatype), status);
}

int MPIR_File_iwrite_all(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype,
                         MPIR_Request **request)
{
    return nonblocking(call_of(fh, WRITE | OWN | ALL, 0, buf, count, datatype), request);
}

int MPIR_File_write_all_begin(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype)
{
    return split_begin(call_of(fh, WRITE | OWN | ALL, 0, buf, count, datatype));
}

int MPIR_File_write_all_end(MPIR_File *fh, const void *buf, MPIR_Status *status)
{
    (void)buf;
    return split_end(fh, WRITE | OWN | ALL, status);
}

int MPIR_File_write_at_all(MPIR_File *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                           MPIR_Datatype *datatype, MPIR_Status *status)
{
    return blocking(call_of(fh, WRITE | AT | ALL, offset, buf, count, datatype), status);
}

int MPIR_File_iwrite_at_all(MPIR_File *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                            MPIR_Datatype *datatype, MPIR_Request **request)
{
    return nonblocking(call_of(fh, WRITE | AT | ALL, offset, buf, count, datatype), request);
}

int MPIR_File_write_at_all_begin(MPIR_File *fh, MPI_Offset offset, const void *buf, MPI_Count count,
                                 MPIR_Datatype *datatype)
{
    return split_begin(call_of(fh, WRITE | AT | ALL, offset, buf, count, datatype));
}

int MPIR_File_write_at_all_end(MPIR_File *fh, const void *buf, MPIR_Status *status)
{
    (void)buf;
    return split_end(fh, WRITE | AT | ALL, status);
}

int MPIR_File_write_ordered(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype,
                            MPIR_Status *status)
{
    return blocking(call_of(fh, WRITE | ORDERED, 0, buf, count, datatype), status);
}

int MPIR_File_write_ordered_begin(MPIR_File *fh, const void *buf, MPI_Count count, MPIR_Datatype *datatype)
{
    return split_begin(call_of(fh, WRITE | ORDERED, 0, buf, count, datatype));
}

int MPIR_File_write_ordered_end(MPIR_File *fh, const void *buf, MPIR_Status *status)
{
    (void)buf;
    return split_end(fh, WRITE | ORDERED, status);
}
