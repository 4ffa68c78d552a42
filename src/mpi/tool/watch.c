/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c: handles of performance variables: to start, stop, read, write and reset.
 *
 * Invariants
 *   1. What the library counts only grows and is never reset; a handle keeps what the count was when it started or
 *      was reset (`base`), and what it had seen when it stopped (`seen`).  So sessions know nothing of each other.
 *   2. A high or low mark is one for the whole library, of the time since somebody looked.  Whoever looks gives
 *      what it shows to all handles that are started, and begins it anew (share_mark); so a handle has in `seen` the
 *      extreme of its own time alone.
 *   3. What is only shown (states, levels, sizes, shares) is asked for when it is read. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"
#include <string.h>
#include "object.h"

static bool is_mark(const struct ku_counter *row)
{
    return row->of == KU_HIGH || row->of == KU_LOW;
}

struct seen {
    const struct ku_counter *row;
    uint64_t value;
};

static void watch_meet(struct t_pvar *p, uint64_t value)
{
    if (p->row->of == KU_HIGH ? value > p->seen : value < p->seen)
        p->seen = value;
}

static void meet_one(void *obj, void *arg)
{
    struct t_pvar *p = obj;
    const struct seen *s = arg;
    if (p->row == s->row && p->started)
        watch_meet(p, s->value);
}

static void share_mark(const struct ku_counter *row)
{
    struct seen s = { row, ku_counter_mark(row) };
    MPIR_T_each(T_PVAR, meet_one, &s);
}

/* ---- One handle ---- */

static void watch_begin(struct t_pvar *p)
{
    if (MPIR_T_is_shown(p->row) || p->started)
        return;
    if (is_mark(p->row)) {
        uint64_t level;
        share_mark(p->row);
        level = ku_counter_value(p->row, NULL);
        if (p->used)
            watch_meet(p, level);
        else
            p->seen = level;
    } else
        p->base = ku_counter_value(p->row, NULL);
    p->used = p->started = true;
}

static void watchs_end(struct t_pvar *p)
{
    if (!p->started)
        return;
    if (is_mark(p->row))
        share_mark(p->row);
    else
        p->seen += ku_counter_value(p->row, NULL) - p->base;
    p->started = false;
}

static void reset(struct t_pvar *p)
{
    if (is_mark(p->row)) {
        share_mark(p->row);
        p->seen = ku_counter_value(p->row, NULL);
    } else {
        p->seen = 0;
        p->base = ku_counter_value(p->row, NULL);
    }
}

static uint64_t seen_now(const struct t_pvar *p)
{
    if (is_mark(p->row))
        share_mark(p->row);
    return p->seen + (p->started && !is_mark(p->row) ? ku_counter_value(p->row, NULL) - p->base : 0);
}

static int read_to(struct t_pvar *p, void *buf)
{
    int err = MPI_SUCCESS;
    void *object = p->row->per_comm ? MPIR_T_bound(p->bound, &err) : NULL;
    if (err)
        return err;
    if (p->row->of == KU_PERCENT)
        memcpy(buf, &(double){ p->row->share(object) }, sizeof(double));
    else if (p->row->of == KU_TIMER)
        memcpy(buf, &(double){ (double)seen_now(p) * 1e-9 }, sizeof(double));
    else if (p->row->of == KU_STATE)
        memcpy(buf, &(int){ (int)ku_counter_value(p->row, object) }, sizeof(int));
    else
        memcpy(buf, &(uint64_t){ MPIR_T_is_shown(p->row) ? ku_counter_value(p->row, object) : seen_now(p) },
               sizeof(uint64_t));
    return MPI_SUCCESS;
}

static void write_from(struct t_pvar *p, const void *buf)
{
    double seconds;
    reset(p);
    if (p->row->of == KU_TIMER) {
        memcpy(&seconds, buf, sizeof seconds);
        p->seen = seconds > 0 ? (uint64_t)(seconds * 1e9) : 0;
    } else
        memcpy(&p->seen, buf, sizeof p->seen);
}

/* ---- The calls ---- */

/* The session and one handle of it; *err says what is wrong. */
static struct t_pvar *handle_of(MPIR_T_handle session, MPIR_T_handle handle, int *err)
{
    const struct t_session *s = MPIR_T_object(T_SESSION, session);
    struct t_pvar *p = s ? MPIR_T_object(T_PVAR, handle) : NULL;
    *err = !s ? MPI_T_ERR_INVALID_SESSION : !p || p->session != s ? MPI_T_ERR_INVALID_HANDLE : MPI_SUCCESS;
    return *err ? NULL : p;
}

struct each {
    const struct t_session *session;
    void (*what)(struct t_pvar *p);
};

static void do_one(void *obj, void *arg)
{
    const struct each *e = arg;
    struct t_pvar *p = obj;
    if (p->session == e->session && !MPIR_T_is_shown(p->row))
        e->what(p);
}

/* Do it to a handle or to all of the session that it can be done to; `no` is what it means that it cannot. */
static int change(MPIR_T_handle session, MPIR_T_handle handle, void (*what)(struct t_pvar *p), int no)
{
    int err;
    if (handle == KEEL_MPI_T_PVAR_ALL_HANDLES) {
        struct each e = { MPIR_T_object(T_SESSION, session), what };
        if (!e.session)
            return MPI_T_ERR_INVALID_SESSION;
        MPIR_T_each(T_PVAR, do_one, &e);
        return MPI_SUCCESS;
    }
    struct t_pvar *p = handle_of(session, handle, &err);
    if (err)
        return err;
    if (MPIR_T_is_shown(p->row))
        return no;
    what(p);
    return MPI_SUCCESS;
}

int MPIR_T_pvar_handle_alloc(MPIR_T_handle session, int pvar_index, void *obj_handle, MPIR_T_handle *handle,
                             int *count)
{
    const char *area;
    struct t_session *s = MPIR_T_object(T_SESSION, session);
    const struct ku_counter *row = pvar_index >= 0 ? ku_counter_at(pvar_index, &area) : NULL;
    int err = MPI_SUCCESS;
    if (!s)
        return MPI_T_ERR_INVALID_SESSION;
    if (!row)
        return MPI_T_ERR_INVALID_INDEX;
    if (!handle || !count)
        return MPI_T_ERR_INVALID;
    if (row->per_comm)
        MPIR_T_bound(MPIR_T_bound_handle(obj_handle), &err);
    if (err)
        return err;
    struct t_pvar *p = MPIR_T_alloc(T_PVAR);
    if (!p)
        return MPI_T_ERR_MEMORY;
    p->session = s;
    p->row = row;
    if (row->per_comm)
        p->bound = MPIR_T_bound_handle(obj_handle);
    if (is_mark(row))
        p->seen = ku_counter_value(row, NULL);
    *handle = MPIR_Object_handle(p);
    *count = 1;
    return MPI_SUCCESS;
}

int MPIR_T_pvar_handle_free(MPIR_T_handle session, MPIR_T_handle *handle)
{
    int err = MPI_T_ERR_INVALID_HANDLE;
    struct t_pvar *p = handle ? handle_of(session, *handle, &err) : NULL;
    if (err)
        return err;
    MPIR_T_free(p);
    *handle = KEEL_MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int MPIR_T_pvar_start(MPIR_T_handle session, MPIR_T_handle handle)
{
    return change(session, handle, watch_begin, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int MPIR_T_pvar_stop(MPIR_T_handle session, MPIR_T_handle handle)
{
    return change(session, handle, watchs_end, MPI_T_ERR_PVAR_NO_STARTSTOP);
}

int MPIR_T_pvar_reset(MPIR_T_handle session, MPIR_T_handle handle)
{
    return change(session, handle, reset, MPI_T_ERR_PVAR_NO_WRITE);
}

int MPIR_T_pvar_read(MPIR_T_handle session, MPIR_T_handle handle, void *buf)
{
    int err;
    struct t_pvar *p = handle_of(session, handle, &err);
    if (err)
        return err;
    return buf ? read_to(p, buf) : MPI_T_ERR_INVALID;
}

int MPIR_T_pvar_write(MPIR_T_handle session, MPIR_T_handle handle, const void *buf)
{
    int err;
    struct t_pvar *p = handle_of(session, handle, &err);
    if (err)
        return err;
    if (!buf)
        return MPI_T_ERR_INVALID;
    if (MPIR_T_is_shown(p->row))
        return MPI_T_ERR_PVAR_NO_WRITE;
    write_from(p, buf);
    return MPI_SUCCESS;
}

int MPIR_T_pvar_readreset(MPIR_T_handle session, MPIR_T_handle handle, void *buf)
{
    int err;
    struct t_pvar *p = handle_of(session, handle, &err);
    if (err)
        return err;
    if (!buf)
        return MPI_T_ERR_INVALID;
    if (MPIR_T_is_shown(p->row))
        return MPI_T_ERR_PVAR_NO_ATOMIC;
    read_to(p, buf);
    reset(p);
    return MPI_SUCCESS;
}
