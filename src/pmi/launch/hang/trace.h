/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.h: where in its program a rank has crashed, or met the error for which it ends the job. */
#ifndef TRACE_H
#define TRACE_H

#include <sys/types.h>

struct pmi_trace;

/* Lines for people, without a newline at the end; NULL: nothing is known.  The process is alive, and waits.  The
 * first line is about this process alone (the address that it accessed, or nothing), so that reports of several
 * ranks are equal but for it.  To be freed. */
char *trace_text(pid_t pid, const struct pmi_trace *t);

#endif
