/* SPDX-License-Identifier: BSD-3-Clause */
/* The N-th allocation fails, for all N, while several threads call: each call does what it should, or returns
 * MPI_ERR_NO_MEM, in whichever thread that is; and all works when there is memory again. */
/* ranks: 1 */
/* cflags: -pthread */
/* races: ThreadSanitizer has an allocator of its own */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include "thread.h"

enum { THREADS = 4, MOST = 400, N = 2000 };

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static _Atomic int left = -1; /* allocations before the one that fails; negative: none does */
static _Atomic int failed;

CHECK_UNUSED static int fails(void)
{
    if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0)
        return 0;
    errno = ENOMEM;
    atomic_fetch_add(&failed, 1);
    return 1;
}

#ifndef __SANITIZE_ADDRESS__ /* which has its own malloc: see main */
void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}
#endif

static _Atomic int errors;

static int good(int err, const char *what)
{
    int class = MPI_SUCCESS;
    if (err != MPI_SUCCESS) {
        MPI_Error_class(err, &class);
        THREAD_CHECK(class == MPI_ERR_NO_MEM, "%s: class %d", what, class);
        atomic_fetch_add(&errors, 1);
    }
    return err == MPI_SUCCESS;
}
#define GOOD(call) good(call, #call)

static void to_myself(struct thread *me)
{
    static int out[THREADS][N], in[THREADS][N];
    MPI_Request r[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    if (!GOOD(MPI_Isend(out[me->id], N, MPI_INT, 0, 1, me->comm, &r[0])))
        return;
    if (GOOD(MPI_Irecv(in[me->id], N, MPI_INT, 0, 1, me->comm, &r[1])))
        GOOD(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    else
        MPI_Recv(in[me->id], N, MPI_INT, 0, 1, me->comm, MPI_STATUS_IGNORE);
    GOOD(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
}

static void objects(struct thread *me)
{
    MPI_Comm dup;
    MPI_Datatype type;
    MPI_Info info;
    MPI_Group group, other;
    int rank = 0, sum;
    if (GOOD(MPI_Comm_dup(me->comm, &dup))) {
        GOOD(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup));
        GOOD(MPI_Comm_free(&dup));
    }
    if (GOOD(MPI_Type_indexed(3, (int[]){ 1, 2, 3 }, (int[]){ 0, 4, 8 }, MPI_INT, &type))) {
        GOOD(MPI_Type_commit(&type));
        GOOD(MPI_Type_free(&type));
    }
    if (GOOD(MPI_Info_create(&info))) {
        GOOD(MPI_Info_set(info, "key", "value"));
        GOOD(MPI_Info_free(&info));
    }
    if (GOOD(MPI_Comm_group(me->comm, &group))) {
        if (GOOD(MPI_Group_incl(group, 1, &rank, &other)))
            GOOD(MPI_Group_free(&other));
        GOOD(MPI_Group_free(&group));
    }
}

static void work(struct thread *me)
{
    to_myself(me);
    objects(me);
}

static _Atomic int
    all_there; /* pthread_create may not fail: allocations do once all threads have been made */

static void work_together(struct thread *me)
{
    while (!atomic_load(&all_there))
        sched_yield();
    work(me);
}

int main(int argc, char **argv)
{
    static struct thread t[THREADS];
    int met = 0;
#ifdef __SANITIZE_ADDRESS__
    puts("AddressSanitizer has its own malloc");
    return 77;
#endif
    threads_init(&argc, &argv);
    check_errors_return();
    for (int i = 0; i < THREADS; i++) {
        t[i] = (struct thread){ .id = i, .of = THREADS };
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int n = 0; n < MOST; n++) {
        atomic_store(&failed, 0);
        atomic_store(&errors, 0);
        atomic_store(&all_there, 0);
        for (int i = 0; i < THREADS; i++) {
            t[i].work = work_together;
            pthread_create(&t[i].thread, NULL, threads_main, &t[i]);
        }
        atomic_store(&left, n);
        atomic_store(&all_there, 1);
        for (int i = 0; i < THREADS; i++)
            pthread_join(t[i].thread, NULL);
        atomic_store(&left, -1);
        met += atomic_load(&failed);
    }
    CHECK(met > 50, "%d allocations failed", met);
    atomic_store(&errors, 0);
    for (int i = 0; i < THREADS; i++)
        work(&t[i]);
    CHECK_EQ(atomic_load(&errors), 0, "with memory again");
    CHECK_EQ(atomic_load(&threads_failures), 0);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&t[i].comm);
    return check_done();
}
