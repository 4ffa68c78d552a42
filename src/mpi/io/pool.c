/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c: a few threads that access files while the program goes on.
 *
 * They begin with the first job, and end when there has been none for a while, or with MPI.  They take no signals.
 * Where mpiexec has bound the ranks of the node by itself, a thread may use the cores of all of them: on its
 * rank's core alone it would work when the rank does not.  A thread that is woken does not drive its rank off a
 * core (SCHED_BATCH), which would make the call last as long as the access.
 *
 *   QUEUED --> DONE --> MPID_Wake: the job may be gone by then; MPI is not before the thread has ended
 *   (MPIR_File_stop) */
#include "config.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include "io.h"
#include "util/hush.h"
#include "util/lock.h"
#include "util/segment.h"

enum { QUEUED = 0, DONE };
enum { THREADS = 4, IDLE_SECONDS = 2 };

_Atomic int MPIR_File_under_way;

static struct ku_lock lock = KU_LOCK(KU_LOCK_TABLE);
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct io_job *first KU_GUARDED_BY(lock), **last KU_GUARDED_BY(lock) = &first;
static struct pool_thread {
    pthread_t thread;
    bool lives;
} pool[THREADS] KU_GUARDED_BY(lock);
static int idle KU_GUARDED_BY(lock);
static bool ending KU_GUARDED_BY(lock);

/* NULL: the thread is to end. */
static struct io_job *next_job(struct pool_thread *t)
{
    struct io_job *j;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    ku_lock(&lock);
    idle++;
    while (!first && !ending && pthread_cond_timedwait(&wanted, &lock.mutex, &until) == 0)
        ;
    idle--;
    j = first;
    if (j && (first = j->next) == NULL)
        last = &first;
    if (!j && !ending) { /* nobody waits for its end */
        t->lives = false;
        pthread_detach(t->thread);
    }
    ku_unlock(&lock);
    return j;
}

static void *pool_work(void *arg)
{
    const struct sched_param none = { 0 };
    if (sched_getscheduler(0) == SCHED_OTHER)
        sched_setscheduler(0, SCHED_BATCH, &none);
    for (struct io_job *j; (j = next_job(arg)) != NULL;) {
        j->run(j);
        atomic_fetch_sub(&MPIR_File_under_way, 1);
        atomic_store_explicit(&j->state, DONE, memory_order_release);
        MPID_Wake();
    }
    return NULL;
}

static void add_cpus(cpu_set_t *to, const struct ku_seg_place *p)
{
    for (int c = 0; c < KU_PLACE_CPUS && c < CPU_SETSIZE; c++)
        if (p->set[c / 64] >> c % 64 & 1)
            CPU_SET((size_t)c, to);
}

/* The cores of all ranks of the node; false: the user or the program has said where this rank is to run, or nobody
 * has. */
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

static bool pool_create(struct pool_thread *t, bool wide, const cpu_set_t *cpus)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr))
        return false;
    if (wide)
        pthread_attr_setaffinity_np(&attr, sizeof *cpus, cpus);
    bool created = pthread_create(&t->thread, &attr, pool_work, t) == 0;
    pthread_attr_destroy(&attr);
    return created;
}

/* With the lock, which the thread takes before it looks at its place. */
KU_NEEDS(lock) static void add_thread(struct pool_thread *t)
{
    sigset_t before;
    cpu_set_t cpus;
    bool wide = beyond_own_core(&cpus);
    ku_hush(&before, SIGBUS);
    t->lives = pool_create(t, wide, &cpus) || (wide && pool_create(t, false, NULL));
    ku_hush_end(&before);
}

/* Is there a thread for one more job, or one that will come to it? */
KU_NEEDS(lock) static bool has_threads(void)
{
    struct pool_thread *none = NULL;
    bool some = false;
    for (struct pool_thread *t = pool; t < pool + THREADS; t++) {
        some |= t->lives;
        none = t->lives ? none : t;
    }
    if (idle == 0 && none)
        add_thread(none);
    return some || (none && none->lives);
}

void MPIR_Io_submit(struct io_job *j)
{
    atomic_store(&j->state, QUEUED);
    j->next = NULL;
    ku_lock(&lock);
    bool somebody = has_threads();
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

static void set_ending(bool is)
{
    ku_lock(&lock);
    ending = is;
    pthread_cond_broadcast(&wanted);
    ku_unlock(&lock);
}

/* While they are ending nobody else changes who lives. */
KU_UNCHECKED void MPIR_File_stop(void)
{
    uint32_t depth = MPID_Thread_suspend(); /* one of them may wait for the lock */
    set_ending(true);
    for (struct pool_thread *t = pool; t < pool + THREADS; t++) {
        if (t->lives)
            pthread_join(t->thread, NULL);
        t->lives = false;
    }
    set_ending(false);
    MPID_Thread_resume(depth);
}
