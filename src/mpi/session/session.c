/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c: sessions begin and end (12.3.1), each for itself: neither waits for another process, but for what
 * this one has sent.
 *
 * A session that ends has no synchronization to do: when its messages have left this process nobody needs it any
 * more, and that the others have received them is their affair.  What the program has not freed of its
 * communicators goes with it. */
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "bsend.h"
#include "comm.h"
#include "env.h"
#include "mpi_err.h"
#include "partitioned.h"
#include "request.h"
#include "session.h"
#include "util/lock.h"

/* Of the slab of sessions: they may begin and end in several threads at once. */
static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);

static const char level_key[] = "thread_level", kinds_key[] = "mpi_memory_alloc_kinds";
static const struct {
    const char *name;
    int level;
} levels[] = {
    { "MPI_THREAD_SINGLE", MPI_THREAD_SINGLE },
    { "MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED },
    { "MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED },
    { "MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE },
};
enum { LEVELS = sizeof levels / sizeof *levels };

static int read_level(const MPIR_Info *info, int *level)
{
    const char *value = MPIR_Info_value(info, level_key);
    *level = MPIR_LEVEL_ANY;
    if (!value)
        return 0;
    for (int i = 0; i < LEVELS; i++)
        if (!strcmp(value, levels[i].name)) {
            *level = levels[i].level;
            return 0;
        }
    return MPIR_Err(
        MPI_ERR_INFO_VALUE, "info",
        "has thread_level \"%.60s\"; expected MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE", value);
}

static void discard(MPIR_Session *s)
{
    free(s->memory_kinds);
    MPIR_Errhandler_release(s->errhandler);
    ku_lock(&lock);
    MPIR_Object_free(s);
    ku_unlock(&lock);
}

static int session_prepare(const MPIR_Info *info, MPIR_Errhandler *errhandler, MPIR_Session **session)
{
    char room[MPI_MAX_INFO_VAL];
    ku_lock(&lock);
    MPIR_Session *s = MPIR_Object_alloc(MPIR_KIND_SESSION);
    ku_unlock(&lock);
    if (!s)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for one more session");
    s->errhandler = errhandler;
    MPIR_Errhandler_ref(errhandler);
    s->memory_kinds = MPIR_Memory_kinds_answer(MPIR_Memory_kinds_asked(info, room));
    int err = s->memory_kinds ? read_level(info, &s->thread_level) : MPI_ERR_NO_MEM;
    if (!err)
        err = MPIR_Library_enter(NULL, NULL, &s->thread_level);
    if (err)
        discard(s);
    else
        *session = s;
    return err;
}

int MPIR_Session_init(MPIR_Info *info, MPIR_Errhandler *errhandler, MPIR_Session **session)
{
    int err = MPIR_Errhandler_check(MPIR_KIND_SESSION, errhandler);
    if (!err && MPIR_ENV(phase) == MPIR_FORKED)
        err = MPIR_Err(MPI_ERR_OTHER, NULL,
                       "called in a child that a rank made by fork; expected calls by the rank alone");
    if (err)
        return err;
    return session_prepare(info, errhandler, session);
}

int MPIR_Session_finalize(MPIR_Session **session)
{
    MPIR_Session *s = *session;
    int err = MPIR_Bsend_drain(s);
    if (err)
        return err;
    MPIR_Request_drain(s);
    MPIR_Part_fini(s);
    MPIR_Comm_end_session(s);
    MPIR_Bsend_session_free(s);
    MPID_Flush(); /* of all that the process has sent: whose it is nobody can tell there */
    MPIR_Library_leave(s->thread_level);
    discard(s);
    *session = NULL;
    return 0;
}

int MPIR_Session_get_info(MPIR_Session *session, MPIR_Info **info_used)
{
    const char *level = NULL;
    for (int i = 0; i < LEVELS; i++)
        if (levels[i].level == session->thread_level)
            level = levels[i].name;
    int err = MPIR_Info_create(info_used);
    if (err)
        return err;
    err = MPIR_Info_set(*info_used, level_key, level);
    if (!err)
        err = MPIR_Info_set(*info_used, kinds_key, session->memory_kinds);
    if (err)
        MPIR_Info_free(info_used);
    return err;
}
