/* SPDX-License-Identifier: BSD-3-Clause */
/* debugger.c: what a parallel debugger reads of mpiexec: the MPIR Process Acquisition Interface, version 1.0.
 *
 * The debugger finds these symbols in the front process by their names (doc/debugging.md).  Two ways:
 *   it starts mpiexec     it sets MPIR_being_debugged before main goes on, and a breakpoint in MPIR_Breakpoint.
 *                         The ranks wait in MPI_Init until MPIR_Breakpoint returns, whether the debugger has
 *                         attached to them or not.
 *   it attaches to it     the table is complete as soon as MPIR_debug_state is MPIR_DEBUG_SPAWNED. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "pmi/launch/job/launch.h"

#define FOR_DEBUGGERS __attribute__((used, visibility("default")))

enum { MPIR_NULL = 0, MPIR_DEBUG_SPAWNED = 1, MPIR_DEBUG_ABORTING = 2 };

void MPIR_Breakpoint(void);

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

FOR_DEBUGGERS MPIR_PROCDESC *MPIR_proctable;
FOR_DEBUGGERS int MPIR_proctable_size;
FOR_DEBUGGERS volatile int MPIR_debug_state = MPIR_NULL;
FOR_DEBUGGERS volatile int MPIR_being_debugged;
FOR_DEBUGGERS char *MPIR_debug_abort_string;
/* That these exist says: this process is no rank; show main first; ranks that nobody attaches to go on as well;
 * there are no message queues to be shown here. */
FOR_DEBUGGERS int MPIR_i_am_starter, MPIR_force_to_main, MPIR_partial_attach_ok, MPIR_ignore_queues;

FOR_DEBUGGERS __attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("" ::: "memory"); /* a call that no compiler takes away */
}

bool debugger_waits(void)
{
    return MPIR_being_debugged != 0;
}

/* What the process runs; the name on the command line if the kernel does not say. */
static char *executable(pid_t pid, const char *name)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", pid);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return xformat("%s", name);
    path[n] = 0;
    return xformat("%s", path);
}

void debugger_table(const struct launch *l)
{
    MPIR_PROCDESC *table = xalloc((size_t)l->size, sizeof *table);
    int rank = 0;
    for (int a = 0; a < l->napps; a++)
        for (int i = 0; i < l->apps[a].n; i++, rank++) {
            table[rank].host_name = xformat("%s", launch_host(l, rank));
            table[rank].executable_name =
                executable(l->remote && l->node_of[rank] != l->here ? 0 : l->pids[rank], l->apps[a].argv[0]);
            table[rank].pid = l->pids[rank];
        }
    MPIR_proctable = table;
    MPIR_proctable_size = l->size;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    MPIR_Breakpoint();
}

void debugger_failure(int code)
{
    if (!debugger_waits())
        return;
    MPIR_debug_abort_string = xformat("the job ended with exit code %d", code);
    MPIR_debug_state = MPIR_DEBUG_ABORTING;
    MPIR_Breakpoint();
}
