/* leaks.h: what the program leaves when it calls MPI_Finalize (KEEL_LEAKS). */
#ifndef MPIR_LEAKS_H
#define MPIR_LEAKS_H

#include <stdbool.h>

/* Show it, if the user wants to know.  All ranks have come to MPI_Finalize, and MPI_COMM_WORLD is still there. */
void MPIR_Leaks_show(void);

/* Does the user want to know?  Then front ends tell which objects they give to the program, and calls take no short ways.  Read when the
 * library comes up (MPIR_Leaks_begin). */
extern bool MPIR_Leaks_wanted __attribute__((visibility("hidden")));
void MPIR_Leaks_begin(void);
/* `call` gives the program a handle of this object. */
void MPIR_Leaks_made(const void *object, const char *call);

#endif
