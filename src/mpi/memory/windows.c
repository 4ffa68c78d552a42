/* SPDX-License-Identifier: BSD-3-Clause */
/* windows.c: windows whose memory is of another kind than the host's.
 *
 * Such a window has the separate memory model (MPI 5.0, "Memory Model"): its private copy is the program's memory, its
 * public copy lies in the host's, and there is what other processes read and write.  The calls that synchronize the
 * window bring each copy up to date with the other: what is new in the private copy when they begin, what is new in
 * the public one when they end.  `was` tells what is new: all that both copies had the last time. */
#include "config.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "mpi_err.h"
#include "mpi_const.h"
#include "staging.h"
#include "win.h"

enum { PIECE = 64 << 10 };

struct MPIR_Staged_window {
    struct MPIR_Staged_window *next;
    uint64_t handle;
    char *program, *host, *was;
    size_t size;
    const struct MPIR_Memory_kind *kind;
};

static struct MPIR_Staged_window *all;

static void free_window(struct MPIR_Staged_window *w)
{
    if (w->host)
        munmap(w->host, 2 * w->size);
    free(w);
}

static struct MPIR_Staged_window *windows_find(uint64_t handle)
{
    struct MPIR_Staged_window *w = all;
    while (w && w->handle != handle)
        w = w->next;
    return w;
}

/* ---- The two copies ---- */

/* Runs that lie so near to each other go to the device together: what is between them is as it was there.  (Stores
 * to the window's private copy beside updates of the public one are erroneous in the separate model.) */
enum { NEAR = 4 << 10 };

/* What differs between `now` and `was` goes to `to`, and to `was`. */
static int carry(struct MPIR_Staged_window *w, bool to_program, const char *now, size_t from, size_t bytes)
{
    int err = 0;
    for (size_t i = 0, n; i < bytes && !err; i += n) {
        bool same = now[i] == w->was[from + i];
        for (n = 1; i + n < bytes && (now[i + n] == w->was[from + i + n]) == same; n++)
            ;
        if (same)
            continue;
        for (size_t k = i + n; to_program && k < bytes && k - (i + n) < NEAR; k++)
            if (now[k] != w->was[from + k])
                n = k + 1 - i;
        memcpy(w->was + from + i, now + i, n);
        if (to_program)
            err = w->kind->copy(w->program + from + i, now + i, n);
        else
            memcpy(w->host + from + i, now + i, n);
    }
    return err;
}

static int bring(struct MPIR_Staged_window *w, bool to_program)
{
    char *piece = malloc(PIECE);
    int err = piece ? 0 : MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a piece of the window");
    for (size_t from = 0; from < w->size && !err; from += PIECE) {
        size_t bytes = w->size - from < PIECE ? w->size - from : PIECE;
        if (to_program)
            memcpy(piece, w->host + from, bytes); /* others may write there */
        else
            err = w->kind->copy(piece, w->program + from, bytes);
        if (!err && memcmp(piece, w->was + from, bytes) != 0)
            err = carry(w, to_program, piece, from, bytes);
    }
    free(piece);
    return err;
}

/* ---- Calls ---- */

static bool synchronizes(const char *name)
{
    static const char *const names[] = { "fence", "start", "complete",  "post",        "wait",
                                         "test",  "lock",  "unlock",    "lock_all",    "unlock_all",
                                         "sync",  "flush", "flush_all", "flush_local", "flush_local_all",
                                         "free" };
    if (strncmp(name, "MPI_Win_", 8) != 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name + 8, names[i]) == 0)
            return true;
    return false;
}

static uint64_t window_of(const struct MPIR_Call *c)
{
    int arg = MPIR_Stage_arg(c, "win");
    return arg < 0 ? 0 : MPIR_Call_host.handle(&c->told, arg, 0);
}

static bool creates(const struct MPIR_Call *c)
{
    return strncmp(c->told.procedure->name, "MPI_Win_create", 14) == 0 && MPIR_Stage_arg(c, "base") >= 0 &&
           MPIR_Stage_arg(c, "size") >= 0 && MPIR_Stage_arg(c, "disp_unit") >= 0;
}

static int refuse_attached(const struct MPIR_Call *c)
{
    struct MPIR_Memory_block block;
    const struct MPIR_Memory_kind *kind =
        MPIR_Memory_at(MPIR_Stage_pointer(c, MPIR_Stage_arg(c, "base")), &block);
    if (!kind || kind->reachable)
        return 0;
    return MPIR_Err(MPI_ERR_RMA_ATTACH, "base",
                    "is %s memory; expected the host's: only MPI_Win_create makes a window of other memory",
                    kind->name);
}

/* The window that is to be made gets memory of the host. */
static int windows_make(struct MPIR_Call *c)
{
    struct MPIR_Memory_block block;
    int base = MPIR_Stage_arg(c, "base");
    char *program = MPIR_Stage_pointer(c, base);
    int64_t size = MPIR_Call_host.integer(&c->told, MPIR_Stage_arg(c, "size"), 0);
    const struct MPIR_Memory_kind *kind = size > 0 ? MPIR_Memory_at(program, &block) : NULL;
    if (!kind || kind->reachable)
        return 0;
    struct MPIR_Staged_window *w = calloc(1, sizeof *w);
    char *host = w ? mmap(NULL, 2 * (size_t)size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                   : MAP_FAILED;
    if (host == MAP_FAILED) {
        free(w);
        return MPIR_Err(MPI_ERR_NO_MEM, "base",
                        "is %s memory, and there are no 2 * %lld bytes of the host's for copies", kind->name,
                        (long long)size);
    }
    *w = (struct MPIR_Staged_window){
        .program = program, .host = host, .was = host + size, .size = (size_t)size, .kind = kind
    };
    int err = kind->copy(host, program, w->size);
    if (err) {
        free_window(w);
        return err;
    }
    memcpy(w->was, host, w->size);
    MPIR_Stage_point(c, base, host);
    c->made_window = w;
    return 0;
}

int MPIR_Stage_window_enter(struct MPIR_Call *c)
{
    const char *name = c->told.procedure->name;
    if (strncmp(name, "MPI_Win_", 8) != 0)
        return 0;
    if (strcmp(name, "MPI_Win_attach") == 0)
        return refuse_attached(c);
    if (creates(c))
        return windows_make(c);
    struct MPIR_Staged_window *w = all && synchronizes(name) ? windows_find(window_of(c)) : NULL;
    c->synchronized = w ? w->handle : 0;
    c->late = w ? bring(w, false) : 0; /* the others wait in a fence all the same */
    return 0;
}

static void made(struct MPIR_Call *c, int error)
{
    struct MPIR_Staged_window *w = c->made_window;
    MPIR_Win *win = error ? NULL : MPIR_Object_of(MPIR_KIND_WIN, window_of(c));
    c->made_window = NULL;
    MPIR_Stage_point(c, MPIR_Stage_arg(c, "base"), w->program);
    if (!win) {
        free_window(w);
        return;
    }
    win->model = MPI_WIN_SEPARATE;
    w->handle = MPIR_Object_handle(win);
    w->next = all;
    all = w;
}

int MPIR_Stage_window_leave(struct MPIR_Call *c, int error)
{
    if (c->made_window)
        made(c, error);
    struct MPIR_Staged_window *w = c->synchronized ? windows_find(c->synchronized) : NULL;
    c->synchronized = 0;
    if (!w)
        return 0;
    int err = bring(w, true);
    if (!error && strcmp(c->told.procedure->name, "MPI_Win_free") == 0) {
        struct MPIR_Staged_window **at = &all;
        while (*at != w)
            at = &(*at)->next;
        *at = w->next;
        free_window(w);
    }
    return err;
}

void *MPIR_Stage_base(const struct MPIR_Win *win, void *base)
{
    const struct MPIR_Staged_window *w = all ? windows_find(MPIR_Object_handle(win)) : NULL;
    return w ? w->program : base;
}

void MPIR_Stage_windows_end(void)
{
    while (all) {
        struct MPIR_Staged_window *w = all;
        all = w->next;
        free_window(w);
    }
}
