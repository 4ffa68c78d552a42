/* SPDX-License-Identifier: BSD-3-Clause */
/* redirect.c: a module for the run-time loader (LD_AUDIT, rtld-audit(7)) that puts Keel's libraries in the place
 * of another MPI's.
 *
 * LD_LIBRARY_PATH, which mpiexec sets, does so for most programs; but a program may carry a path of its own
 * (DT_RPATH), name a library by its whole path, or be started by a script that puts other folders first.  The
 * loader asks this module, before it looks for a library anywhere, what name it shall look for.  mpiexec loads it
 * where it is needed, or where the user says --abi=always.
 *
 * The module lies beside the folders of the ABIs.  It says nothing to the loader but that: no call of the program
 * goes through it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const abis[] = { "standard", "mpich", "openmpi" };
enum { ABIS = sizeof abis / sizeof *abis };

static char folder[PATH_MAX]; /* with '/' behind it; "": not known */
static const char *only;      /* the ABI that the user has chosen; NULL: all */

__attribute__((visibility("default"))) unsigned la_version(unsigned version)
{
    Dl_info self;
    const char *abi = getenv("KEEL_ABI");
    for (int i = 0; abi && i < ABIS; i++)
        if (strcmp(abi, abis[i]) == 0)
            only = abis[i];
    if ((abi && strcmp(abi, "none") == 0) || !dladdr((void *)&la_version, &self) ||
        strlen(self.dli_fname) >= sizeof folder)
        return 0; /* the loader leaves it out */
    strcpy(folder, self.dli_fname);
    char *slash = strrchr(folder, '/');
    *(slash ? slash + 1 : folder) = '\0';
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* The loader keeps the name for as long as it likes; there are a few of them at most. */
static char *ours(const char *library)
{
    char path[PATH_MAX];
    for (int i = 0; i < ABIS; i++)
        if ((!only || only == abis[i]) &&
            snprintf(path, sizeof path, "%s%s/%s", folder, abis[i], library) < (int)sizeof path &&
            access(path, F_OK) == 0)
            return strdup(path);
    return NULL;
}

__attribute__((visibility("default"))) char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *slash = strrchr(name, '/'), *library = slash ? slash + 1 : name;
    (void)cookie;
    bool may_be = strncmp(library, "libmpi", 6) == 0 || strncmp(library, "libopen_mpi", 11) == 0;
    char *found = may_be && flag == LA_SER_ORIG ? ours(library) : NULL;
    return found ? found : (char *)name;
}
