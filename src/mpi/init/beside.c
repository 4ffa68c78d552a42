/* SPDX-License-Identifier: BSD-3-Clause */
/* beside.c: other MPI libraries in this process (doc/abi.md, "Two libraries in one process").
 *
 * A process may load several: the program is linked to one, a library or an extension module to another.  The
 * run-time loader takes a procedure from the first library in its global scope, so what was linked to another one
 * calls it too, with handles and constants that mean something else there.  Libraries that only one module sees
 * (RTLD_LOCAL) do not meet. */
#define _GNU_SOURCE
#include "config.h"
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include "beside.h"
#include "mpi_err.h"
#include "mpid.h"

enum { MOST = 8 }; /* more MPI libraries in a process are not looked at */

/* The beginnings of their names, and whose ABI they have. */
static const struct {
    const char *name, *abi;
} known[] = {
    { "libmpi_abi.so", "the Standard ABI" },
    { "libmpi.so.12", "MPICH's ABI" },
    { "libmpich.so.12", "MPICH's ABI" },
    { "libmpi.so.", "Open MPI's ABI" }, /* .40, and those before it */
};

struct library {
    char path[512];
    const char *abi;
    void *handle, *init; /* of dlopen; its own PMPI_Init */
};

struct libraries {
    int n;
    struct library l[MOST];
};

static const char *abi_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(name, known[i].name, strlen(known[i].name)) == 0)
            return known[i].abi;
    return NULL;
}

static int beside_look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct libraries *all = arg;
    struct library *l = &all->l[all->n];
    (void)size;
    l->abi = info->dlpi_name ? abi_of(info->dlpi_name) : NULL;
    if (!l->abi || strlen(info->dlpi_name) >= sizeof l->path)
        return 0;
    strcpy(l->path, info->dlpi_name);
    return ++all->n == MOST;
}

/* Those there are; each is to be closed.  The loader's lock is held while it goes through them, so they are opened
 * after that. */
static void beside_find(struct libraries *all)
{
    int n = 0;
    all->n = 0;
    dl_iterate_phdr(beside_look, all);
    for (int i = 0; i < all->n; i++) {
        struct library *l = &all->l[n];
        if (n != i)
            *l = all->l[i];
        l->handle = dlopen(l->path, RTLD_LAZY | RTLD_NOLOAD);
        l->init = l->handle ? dlsym(l->handle, "PMPI_Init") : NULL;
        n += l->init != NULL; /* else it is on its way out */
    }
    all->n = n;
}

static void close_all(struct libraries *all)
{
    for (int i = 0; i < all->n; i++)
        dlclose(all->l[i].handle);
}

/* Has a library that is not this one initialized MPI? */
static bool runs(const struct library *l)
{
    int (*initialized)(int *flag) = NULL;
    void *at = dlsym(l->handle, "PMPI_Initialized");
    int flag = 0;
    memcpy(&initialized, &at, sizeof at);
    return initialized && initialized(&flag) == 0 && flag;
}

static bool same(const struct library *l, const void *address)
{
    Dl_info there, here;
    return dladdr(l->init, &there) && dladdr(address, &here) && there.dli_fbase == here.dli_fbase;
}

int MPIR_Beside_begin(void)
{
    struct libraries all;
    int err = 0;
    beside_find(&all);
    for (int i = 0; i < all.n && !err; i++)
        if (!same(&all.l[i], known) && runs(&all.l[i]))
            err = MPIR_Err(MPI_ERR_OTHER, NULL,
                           "%s (%s) has initialized MPI in this process; expected one MPI library for the "
                           "program and all that it loads",
                           all.l[i].path, all.l[i].abi);
    close_all(&all);
    return err;
}

void MPIR_Beside_tell(void)
{
    struct libraries all;
    char text[2048];
    beside_find(&all);
    void *program = all.n > 1 ? dlopen(NULL, RTLD_LAZY) : NULL;
    const void *first = program ? dlsym(program, "PMPI_Init") : NULL;
    for (int i = 0; first && i < all.n; i++) {
        const struct library *called = NULL;
        for (int k = 0; k < all.n; k++)
            if (same(&all.l[k], first))
                called = &all.l[k];
        if (!called || called == &all.l[i] || called->abi == all.l[i].abi)
            continue;
        snprintf(
            text, sizeof text,
            "this process has two MPI libraries: what was linked to %s (%s) calls %s (%s), where handles and "
            "constants are others. Link the program and its libraries to the same MPI.\n",
            all.l[i].path, all.l[i].abi, called->path, called->abi);
        MPID_Message(text);
    }
    if (program)
        dlclose(program);
    close_all(&all);
}
