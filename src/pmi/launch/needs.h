/* needs.h: which MPI library a program was linked with, and whether the loader finds ours. */
#ifndef NEEDS_H
#define NEEDS_H

#include <stdbool.h>

struct needs {
    char *
        other; /* the library of an MPI that is not installed beside Keel's own: ranks would know nothing of each other */
    bool pmi;   /* that library speaks PMI-1 or PMI-2: it is MPICH's, or of its kind */
    bool ours;  /* libmpi_abi */
    char *path; /* where the program says that its libraries are (DT_RUNPATH, DT_RPATH); NULL: nowhere */
};

/* What this program asks the loader for; `n` is zeroed before. */
void needs_read(const char *program, struct needs *n);
void needs_free(struct needs *n);

/* What to tell a user whose program ended because the loader did not find libmpi_abi, with this LD_LIBRARY_PATH (NULL: none); NULL: it
 * does not need it, or it is where the loader looks.  To be freed. */
char *needs_lost(const struct needs *n, const char *program, const char *library_path);

#endif
