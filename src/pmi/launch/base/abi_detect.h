/* SPDX-License-Identifier: BSD-3-Clause */
/* abi_detect.h: which MPI library a program was linked with, and whether the loader finds ours. */
#ifndef NEEDS_H
#define NEEDS_H

#include <stdbool.h>

/* The variable that says for which ABI a rank gets a library of ours (mpiexec --abi); its value for none; that for
 * all, in the place of another MPI's wherever the loader finds that. */
#define NEEDS_ABI "KEEL_ABI"
#define NEEDS_NO_ABI "none"
#define NEEDS_ALWAYS "always"

struct needs {
    /* the library of an MPI that is not installed beside Keel's own: ranks would know nothing of each other */
    char *other;
    const char *replaced; /* the ABI whose library of ours is in the place of `other`; NULL: there is none */
    bool pmi;             /* that library speaks PMI-1 or PMI-2: it is MPICH's, or of its kind */
    bool pmix;            /* it speaks PMIx: it is Open MPI's */
    bool ours;            /* libmpi_abi */
    char *path; /* where the program says that its libraries are (DT_RUNPATH, DT_RPATH); NULL: nowhere */
    bool rpath; /* by DT_RPATH, which the loader looks at before LD_LIBRARY_PATH */
};

/* What this program asks the loader for; `n` is zeroed before. */
void needs_read(const char *program, struct needs *n);
void needs_free(struct needs *n);

/* Will the loader, with this LD_LIBRARY_PATH, take another MPI's library for libmpi_abi?  That is `other` then. */
void needs_resolve(struct needs *n, const char *program, const char *library_path);

/* What to tell a user whose program ended because the loader did not find libmpi_abi, with this LD_LIBRARY_PATH
 * (NULL: none); NULL: it does not need it, or one is where the loader looks.  To be freed. */
char *needs_lost(const struct needs *n, const char *program, const char *library_path);

/* The folder with the library of this ABI; NULL: there is none.  To be freed. */
char *needs_folder(const char *abi);

/* What to put before LD_LIBRARY_PATH so that the program finds our library, and not another MPI's of the same
 * name: folders with ':' behind each.  abi: what NEEDS_ABI says; NULL, nothing: all folders; for a program of the
 * standard ABI that one's alone, and none if it finds ours by itself.  NULL: nothing.  To be freed. */
char *needs_folders(const struct needs *n, const char *program, const char *abi, const char *library_path);
/* With that value of NEEDS_ABI, does the program get our library in the place of another MPI's? */
bool needs_replaces(const struct needs *n, const char *abi);

/* What the loader is to load first (LD_AUDIT) as LD_LIBRARY_PATH alone does not do: the program has another MPI's
 * folder in DT_RPATH, or the user wants it.  NULL: nothing.  To be freed. */
char *needs_redirector(const struct needs *n, const char *program, const char *abi);

/* Is this file, as a process with that root has mapped it (/proc/PID/root; "": this one's), an MPI library, and
 * Keel's?  A path that leads nowhere there is that of another namespace: nothing is known of it, and it counts as
 * none. */
enum needs_whose { NEEDS_NO_MPI, NEEDS_OURS, NEEDS_ANOTHERS };
enum needs_whose needs_whose(const char *root, const char *path);

#endif
