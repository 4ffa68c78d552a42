/* needs.h: which MPI library a program was linked with. */
#ifndef NEEDS_H
#define NEEDS_H

#include <stdbool.h>
#include <stddef.h>

/* Does this program ask the loader for the library of an MPI that is not installed beside Keel's own?  Its ranks would
 * know nothing of each other.  name: the library's. */
bool needs_other_mpi(const char *program, char *name, size_t cap);

#endif
