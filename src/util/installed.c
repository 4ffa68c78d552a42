/* SPDX-License-Identifier: BSD-3-Clause */
/* installed.c: see installed.h.
 *
 * The loader knows which file this code is in: a library in the folder of libraries, or in one of another ABI
 * below it; or a command.  As long as that is where it was installed to, which is nearly always, nobody asks the
 * file system, and no memory is needed. */
#define _GNU_SOURCE
#include "installed.h"
#include "config.h"
#include "dirs.h"
#include <link.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char *lib, *bin, *mpiexec, *keel;
} installed = { KEEL_LIBDIR, KEEL_BINDIR, KEEL_BINDIR "/" KEEL_MPIEXEC, KEEL_LIBDIR "/keel" };
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dl_iterate_phdr: *arg becomes the name of the object that this code is in; the program's is empty. */
static int installed_is_here(struct dl_phdr_info *info, size_t size, void *arg)
{
    const ElfW(Addr) here = (ElfW(Addr)) & installed;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && here - (info->dlpi_addr + p->p_vaddr) < p->p_memsz) {
            *(const char **)arg = info->dlpi_name;
            return 1;
        }
    }
    return 0;
}

/* The folder of a file, without those that the libraries of other ABIs have of their own. */
static void to_folder(char *path)
{
    static const char *const below[] = { "/keel/mpich", "/keel/openmpi" };
    char *slash = strrchr(path, '/');
    *(slash ? slash : path) = '\0';
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        size_t n = strlen(path), k = strlen(below[i]);
        if (n > k && strcmp(path + n - k, below[i]) == 0)
            path[n - k] = '\0';
    }
}

/* Are there libraries of ours in a folder? */
static bool has_libraries(const char *folder)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/keel/mpich", folder) < (int)sizeof path && access(path, F_OK) == 0;
}

static bool installed_join(char *to, const char *folder, const char *relative)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, relative);
    return realpath(path, to);
}

static void moved_to(const char *lib, const char *bin)
{
    char *text;
    size_t nlib = strlen(lib) + 1, nbin = strlen(bin) + 1, nkeel = nlib + sizeof "/keel",
           all = nlib + nkeel + 2 * nbin + sizeof "/" KEEL_MPIEXEC;
    if (!(text = malloc(all))) /* what was configured stays */
        return;
    installed.lib = memcpy(text, lib, nlib);
    installed.bin = memcpy(text += nlib, bin, nbin);
    installed.keel = text += nbin;
    sprintf(text, "%s/keel", lib);
    installed.mpiexec = text += nkeel;
    sprintf(text, "%s/" KEEL_MPIEXEC, bin);
}

static void from_command(void)
{
    char bin[PATH_MAX], lib[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", bin, sizeof bin - 1);
    bin[n > 0 ? n : 0] = '\0';
    to_folder(bin);
    if (strcmp(bin, KEEL_BINDIR) != 0 && installed_join(lib, bin, KEEL_LIB_FROM_BIN) && has_libraries(lib))
        moved_to(lib, bin);
}

/* file: as the loader found it, which may be by a link from elsewhere. */
static void from_library(const char *file)
{
    char lib[PATH_MAX], bin[PATH_MAX];
    bool whole = file[0] == '/' && !strstr(file, "/../") && strlen(file) < sizeof lib;
    for (int resolved = !whole; resolved < 2; resolved++) {
        if (!resolved)
            strcpy(lib, file);
        else if (!realpath(file, lib))
            return;
        to_folder(lib);
        if (strcmp(lib, KEEL_LIBDIR) == 0)
            return;
        if (has_libraries(lib)) {
            if (installed_join(bin, lib, KEEL_BIN_FROM_LIB))
                moved_to(lib, bin);
            return;
        }
    }
}

static void installed_find(void)
{
    const char *file = "";
    dl_iterate_phdr(installed_is_here, &file);
    if (file[0])
        from_library(file);
    else
        from_command();
}

const char *ku_installed_libdir(void)
{
    pthread_once(&once, installed_find);
    return installed.lib;
}

const char *ku_installed_bindir(void)
{
    pthread_once(&once, installed_find);
    return installed.bin;
}

const char *ku_installed_mpiexec(void)
{
    pthread_once(&once, installed_find);
    return installed.mpiexec;
}

const char *ku_installed_keeldir(void)
{
    pthread_once(&once, installed_find);
    return installed.keel;
}
