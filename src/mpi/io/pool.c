/* pool.c: a few threads that access files while the program goes on.
 *
 * They begin with the first job and end when there has been none for a while, so nobody needs to end them.  They take no signals.
 *
 *   QUEUED --> RUN --(MPID_Wake)--> DONE: the thread does not touch the job any more */
#include "config.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include "io.h"
#include "util/lock.h"

enum { QUEUED = 0, RUN, DONE };
enum { THREADS = 4, IDLE_SECONDS = 2 };

_Atomic int MPIR_File_under_way;

static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct io_job *first KU_GUARDED_BY(lock), **last KU_GUARDED_BY(lock) = &first;
static int threads KU_GUARDED_BY(lock), idle KU_GUARDED_BY(lock);

static struct io_job *next_job(void)
{
    struct io_job *j;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    ku_lock(&lock);
    idle++;
    while (!first && pthread_cond_timedwait(&wanted, &lock.mutex, &until) == 0)
        ;
    idle--;
    j = first;
    if (j && (first = j->next) == NULL)
        last = &first;
    if (!j)
        threads--;
    ku_unlock(&lock);
    return j;
}

static void *work(void *arg)
{
    (void)arg;
    for (struct io_job *j; (j = next_job()) != NULL;) {
        j->run(j);
        atomic_fetch_sub(&MPIR_File_under_way, 1);
        atomic_store_explicit(&j->state, RUN, memory_order_release);
        MPID_Wake();
        atomic_store_explicit(&j->state, DONE, memory_order_release);
    }
    return NULL;
}

static bool add_thread(void)
{
    pthread_t t;
    pthread_attr_t attr;
    sigset_t all, old;
    if (pthread_attr_init(&attr))
        return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool added = pthread_create(&t, &attr, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return added;
}

void MPIR_Io_submit(struct io_job *j)
{
    atomic_store(&j->state, QUEUED);
    j->next = NULL;
    ku_lock(&lock);
    if (idle == 0 && threads < THREADS && add_thread())
        threads++;
    bool somebody = threads > 0;
    if (somebody) {
        atomic_fetch_add(&MPIR_File_under_way, 1);
        *last = j;
        last = &j->next;
        pthread_cond_signal(&wanted);
    }
    ku_unlock(&lock);
    if (!somebody) {
        j->run(j);
        atomic_store(&j->state, DONE);
    }
}

bool MPIR_Io_job_done(struct io_job *j)
{
    int state;
    while ((state = atomic_load_explicit(&j->state, memory_order_acquire)) == RUN)
        sched_yield();
    return state == DONE;
}

void MPIR_Io_job_wait(struct io_job *j)
{
    while (!MPIR_Io_job_done(j))
        MPID_DeviceCheck(MPID_BLOCKING);
}
