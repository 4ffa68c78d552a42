/* oom.h: was it the kernel that killed a rank, because there was no memory? */
#ifndef OOM_H
#define OOM_H

#include <stdbool.h>

/* Note what the kernel's counters say before the job begins. */
void oom_init(void);

/* A rank of the job was killed by SIGKILL.  *sure: the control group in which mpiexec and its ranks are counts one more
 * process killed for lack of memory than this function has told of.  Else *perhaps: the machine does, in whichever group. */
void oom_was(bool *sure, bool *perhaps);

/* What to say of it; to be freed. */
char *oom_text(bool sure);

#endif
