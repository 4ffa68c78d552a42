/* SPDX-License-Identifier: BSD-3-Clause */
/* bind_claim.c: who has bound ranks to which cpus.
 *
 * A claim is a lock on a byte (tier, cpu) of /dev/null: a file that everybody may open for writing, on which
 * nobody else locks such bytes, and which leaves nothing behind: the lock belongs to the open file and goes with
 * the last process that holds it, however that ends.  Jobs in containers with a /dev of their own do not see each
 * other's; there the load is looked at instead (bind.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "bind.h"

static off_t byte_of(int tier, int cpu)
{
    return ((off_t)1 << 40) + ((off_t)tier << 20) + cpu;
}

static bool lock(int fd, int tier, int first, int n)
{
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(tier, first), .l_len = n
    };
    return fcntl(fd, F_OFD_SETLK, &range) == 0;
}

/* Does anybody else hold one of these in a higher tier? */
static bool shared(int fd, int first, int n)
{
    for (int tier = 1; tier < BIND_TIERS; tier++) {
        struct flock range = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte_of(tier, first), .l_len = n
        };
        if (fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK)
            return true;
    }
    return false;
}

/* Lock the cpus from `first` to before `end`; where that fails, find out which are taken. */
static bool claim_range(int fd, int tier, int first, int end, cpu_set_t *taken)
{
    if (lock(fd, tier, first, end - first) && !(tier == 0 && shared(fd, first, end - first)))
        return true;
    for (int c = first; c < end; c++)
        if ((!lock(fd, tier, c, 1) && (errno == EAGAIN || errno == EACCES)) ||
            (tier == 0 && shared(fd, c, 1)))
            CPU_SET((size_t)c, taken);
    return false;
}

bool bind_claim(int tier, const cpu_set_t *cpus, cpu_set_t *taken)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC); /* kept open: it is the claim */
    bool ok = fd >= 0;
    CPU_ZERO(taken);
    for (int c = 0; fd >= 0 && c < CPU_SETSIZE; c++) {
        int end = c;
        while (end < CPU_SETSIZE && CPU_ISSET((size_t)end, cpus))
            end++;
        if (end > c && !claim_range(fd, tier, c, end, taken))
            ok = false;
        c = end > c ? end : c;
    }
    if (fd >= 0 && !ok)
        close(fd);
    return ok;
}
