/* needs.h: which MPI library a program was linked with, and whether the loader finds ours. */
#ifndef NEEDS_H
#define NEEDS_H

#include <stdbool.h>

/* The variable that says for which other ABI a rank gets a library of ours, and its value for none (mpiexec --abi). */
#define NEEDS_ABI "KEEL_ABI"
#define NEEDS_NO_ABI "none"

struct needs {
    char *
        other; /* the library of an MPI that is not installed beside Keel's own: ranks would know nothing of each other */
    const char *replaced; /* the ABI whose library of ours is in the place of `other`; NULL: there is none */
    bool pmi;             /* that library speaks PMI-1 or PMI-2: it is MPICH's, or of its kind */
    bool pmix;            /* it speaks PMIx: it is Open MPI's */
    bool ours;            /* libmpi_abi */
    char *path; /* where the program says that its libraries are (DT_RUNPATH, DT_RPATH); NULL: nowhere */
};

/* What this program asks the loader for; `n` is zeroed before. */
void needs_read(const char *program, struct needs *n);
void needs_free(struct needs *n);

/* What to tell a user whose program ended because the loader did not find libmpi_abi, with this LD_LIBRARY_PATH (NULL: none); NULL: it
 * does not need it, or it is where the loader looks.  To be freed. */
char *needs_lost(const struct needs *n, const char *program, const char *library_path);

/* The folder with the library of this ABI; NULL: there is none.  To be freed. */
char *needs_folder(const char *abi);

/* What to put before LD_LIBRARY_PATH so that a program of another MPI finds our library in the place of that one's: folders with ':'
 * behind each.  abi: what NEEDS_ABI says; NULL, nothing: all folders, unless the program itself needs libmpi_abi.  NULL: nothing.  To be
 * freed. */
char *needs_folders(const struct needs *n, const char *abi);
/* With that value of NEEDS_ABI, does the program get our library in the place of another MPI's? */
bool needs_replaces(const struct needs *n, const char *abi);

#endif
