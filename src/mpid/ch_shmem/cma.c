/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "cma.h"
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include "util/err.h"

void dev_shmem_cma_allow(void)
{
#ifdef PR_SET_PTRACER
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* EINVAL without Yama: nothing to ask for */
#endif
}

void dev_shmem_cma_offer(struct shm_cookie *cookie, uint64_t *own, uint64_t value)
{
    *own = value;
    dev_shmem_cma_allow();
    atomic_store_explicit(&cookie->value, value, memory_order_relaxed);
    atomic_store_explicit(&cookie->at, (uint64_t)(uintptr_t)own, memory_order_release);
}

bool dev_shmem_cma_proven(const struct shm_cookie *cookie, int32_t pid)
{
    uint64_t at = atomic_load_explicit(&cookie->at, memory_order_acquire), got;
    return at != 0 && dev_shmem_cma_read(pid, &got, at, sizeof got) == DEV_OK &&
           got == atomic_load_explicit(&cookie->value, memory_order_relaxed);
}

typedef ssize_t transfer(pid_t pid, const struct iovec *local, unsigned long nlocal,
                         const struct iovec *remote, unsigned long nremote, unsigned long flags);

static dev_status cma_move(transfer *fn, const char *what, int32_t pid, char *at, uint64_t remote, size_t len)
{
    while (len > 0) {
        struct iovec l = { at, len }, r = { (void *)(uintptr_t)remote, len };
        ssize_t n = fn(pid, &l, 1, &r, 1, 0);
        if (n <= 0) {
            if (n < 0 && errno == ESRCH)
                return DEV_PEER_GONE;
            if (n == 0 || errno == EFAULT) {
                ku_err_set(errno, "buf", "cannot %s %zu bytes at %#llx of process %d", what, len,
                           (unsigned long long)remote, pid);
                return DEV_ERROR;
            }
            return DEV_NO_SUPPORT;
        }
        at += n;
        remote += (uint64_t)n;
        len -= (size_t)n;
    }
    return DEV_OK;
}

dev_status dev_shmem_cma_read(int32_t pid, void *local, uint64_t remote, size_t len)
{
    return cma_move(process_vm_readv, "read", pid, local, remote, len);
}

dev_status dev_shmem_cma_write(int32_t pid, uint64_t remote, const void *local, size_t len)
{
    return cma_move(process_vm_writev, "write", pid, (char *)(uintptr_t)local, remote, len);
}
