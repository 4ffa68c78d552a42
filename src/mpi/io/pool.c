/* pool.c: a few threads that access files while the program goes on.
 *
 * They begin with the first job and end when there has been none for a while, so nobody needs to end them.  They take no signals.
 * Where mpiexec has bound the ranks of the node by itself, a thread may use the cores of all of them: on its rank's core alone it
 * would work when the rank does not.  A thread that is woken does not drive its rank off a core (SCHED_BATCH), which would make the call
 * last as long as the access.
 *
 *   QUEUED --> DONE --> MPID_Wake: the job may be gone by then, and whoever waited for it ends MPI only after the thread has come back
 *   (MPIR_File_settle) */
#include "config.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include "io.h"
#include "util/lock.h"
#include "util/segment.h"

enum { QUEUED = 0, DONE };
enum { THREADS = 4, IDLE_SECONDS = 2 };

_Atomic int MPIR_File_under_way;
static _Atomic int waking; /* threads that are about to call MPID_Wake, or in it */

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
    const struct sched_param none = { 0 };
    (void)arg;
    if (sched_getscheduler(0) == SCHED_OTHER)
        sched_setscheduler(0, SCHED_BATCH, &none);
    for (struct io_job *j; (j = next_job()) != NULL;) {
        j->run(j);
        atomic_fetch_sub(&MPIR_File_under_way, 1);
        atomic_fetch_add(&waking, 1);
        atomic_store_explicit(&j->state, DONE, memory_order_release);
        MPID_Wake();
        atomic_fetch_sub(&waking, 1);
    }
    return NULL;
}

static void add_cpus(cpu_set_t *to, const struct ku_seg_place *p)
{
    for (int c = 0; c < KU_PLACE_CPUS && c < CPU_SETSIZE; c++)
        if (p->set[c / 64] >> c % 64 & 1)
            CPU_SET((size_t)c, to);
}

/* The cores of all ranks of the node; false: the user or the program has said where this rank is to run, or nobody has. */
static bool beyond_own_core(cpu_set_t *all)
{
    const struct MPID_World *w = MPID_World();
    cpu_set_t now, own;
    if (!(w->place->flags & KU_PLACE_BOUND) || (w->place->flags & KU_PLACE_ASKED))
        return false;
    CPU_ZERO(&own);
    CPU_ZERO(all);
    add_cpus(&own, w->place);
    if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &own))
        return false;
    for (int32_t l = 0; l < w->local_size; l++)
        add_cpus(all, w->place - w->local_rank + l);
    return true;
}

static bool create(bool wide, const cpu_set_t *cpus)
{
    pthread_t t;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr))
        return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (wide)
        pthread_attr_setaffinity_np(&attr, sizeof *cpus, cpus);
    bool created = pthread_create(&t, &attr, work, NULL) == 0;
    pthread_attr_destroy(&attr);
    return created;
}

static bool add_thread(void)
{
    sigset_t all, old;
    cpu_set_t cpus;
    bool wide = beyond_own_core(&cpus);
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool added = create(wide, &cpus) || (wide && create(false, NULL));
    pthread_sigmask(SIG_SETMASK, &old, NULL);
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
    return atomic_load_explicit(&j->state, memory_order_acquire) == DONE;
}

void MPIR_File_settle(void)
{
    uint32_t depth = MPID_Thread_suspend(); /* one of them may wait for the lock */
    while (atomic_load(&waking) > 0)
        sched_yield();
    MPID_Thread_resume(depth);
}
