/* SPDX-License-Identifier: BSD-3-Clause */
/* abi_detect.c: the DT_NEEDED entries of an ELF program of this machine's kind, and which library the loader will
 * find for them.  What is not as expected is taken for "none". */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util.h"
#include "abi_detect.h"
#include "util/installed.h"

#define OURS "libmpi_abi.so.1"

struct image {
    const char *base;
    size_t size;
};

static const void *at(const struct image *m, size_t offset, size_t n)
{
    return offset <= m->size && n <= m->size - offset ? m->base + offset : NULL;
}

static const ElfW(Phdr) * header(const struct image *m, const ElfW(Ehdr) * e, int i)
{
    return at(m, e->e_phoff + (size_t)i * sizeof(ElfW(Phdr)), sizeof(ElfW(Phdr)));
}

/* Where the file holds what will be at this address; the size of the file if nowhere. */
static size_t offset_of(const struct image *m, const ElfW(Ehdr) * e, ElfW(Addr) address)
{
    for (int i = 0; i < e->e_phnum; i++) {
        const ElfW(Phdr) *p = header(m, e, i);
        if (p && p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz)
            return p->p_offset + (address - p->p_vaddr);
    }
    return m->size;
}

/* Who has a libmpi.so is told by its number: MPICH and its kind have 12, Open MPI 3 and later 40 and more. */
static int number_of(const char *library)
{
    static const char plain[] = "libmpi.so.";
    return strncmp(library, plain, sizeof plain - 1) == 0 ? atoi(library + sizeof plain - 1) : -1;
}

static bool speaks_pmi(const char *library)
{
    enum { OF_MPICH = 12 };
    int number = number_of(library);
    return number < 0 || number == OF_MPICH;
}

static bool speaks_pmix(const char *library)
{
    enum { OF_OPEN_MPI = 40 };
    return number_of(library) >= OF_OPEN_MPI;
}

/* The ABIs that there is a folder with a library for (src/mpi/abi).  That of the standard ABI has links to the
 * library itself: there may be anything beside it in its own folder, which is /usr/local/lib perhaps. */
static const char *const abis[] = { "standard", "mpich", "openmpi" };
enum { ABIS = sizeof abis / sizeof *abis };

char *needs_folder(const char *abi)
{
    char *folder = NULL;
    for (int i = 0; i < ABIS; i++)
        if (strcmp(abis[i], abi) == 0)
            folder = xformat("%s/%s", ku_installed_keeldir(), abi);
    if (folder && access(folder, F_OK) != 0) {
        free(folder);
        folder = NULL;
    }
    return folder;
}

/* The ABI for which it is there under this name; NULL: none. */
static const char *substitute(const char *library)
{
    for (int i = 0; i < ABIS; i++) {
        char *folder = needs_folder(abis[i]);
        char *file = xformat("%s/%s", folder ? folder : "", library);
        bool found = folder && access(file, F_OK) == 0;
        free(folder);
        free(file);
        if (found)
            return abis[i];
    }
    return NULL;
}

/* The names that MPI libraries have, other than that of the standard ABI. */
static bool is_mpi(const char *library)
{
    static const char *const names[] = { "libmpi.so.",   "libmpich.so.",  "libmpi_cray.so.", "libmpi_gnu",
                                         "libmpi_intel", "libmpi_ibm.so", "libmpi_mt.so.",   "libmpt.so" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(library, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_other(const char *library)
{
    char ours[4096];
    return is_mpi(library) &&
           snprintf(ours, sizeof ours, "%s/%s", ku_installed_libdir(), library) < (int)sizeof ours &&
           access(ours, F_OK) != 0;
}

/* A tree of ours, not only this mpiexec's, has a folder `keel` beside the library of the standard ABI, and those
 * of the others in it. */
enum needs_whose needs_whose(const char *root, const char *path)
{
    static const char standard[] = "libmpi_abi";
    const char *slash = strrchr(path, '/'), *library = slash ? slash + 1 : path;
    bool ours, of_standard = strncmp(library, standard, sizeof standard - 1) == 0;
    if (!of_standard && !is_mpi(library))
        return NEEDS_NO_MPI;
    char *file = xformat("%s%s", root, path),
         *beside = xformat("%s%.*skeel", root, (int)(library - path), path);
    bool found = access(file, F_OK) == 0;
    ours = of_standard ? library[sizeof standard - 1] == '.' && access(beside, F_OK) == 0
                       : strstr(path, "/keel/mpich/") || strstr(path, "/keel/openmpi/");
    free(beside);
    free(file);
    return !found ? NEEDS_NO_MPI : ours ? NEEDS_OURS : NEEDS_ANOTHERS;
}

/* The entries of the program's dynamic section, and where its strings begin. */
struct dynamic {
    const ElfW(Dyn) * entry;
    size_t n, strings;
};

static bool find_dynamic(const struct image *m, struct dynamic *d)
{
    const ElfW(Ehdr) *e = at(m, 0, sizeof *e);
    if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
        e->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        e->e_phentsize != sizeof(ElfW(Phdr)) || e->e_phoff > m->size)
        return false;
    for (int i = 0; i < e->e_phnum && !d->entry; i++) {
        const ElfW(Phdr) *p = header(m, e, i);
        if (p && p->p_type == PT_DYNAMIC && p->p_offset % _Alignof(ElfW(Dyn)) == 0) {
            d->entry = at(m, p->p_offset, p->p_filesz);
            d->n = p->p_filesz / sizeof *d->entry;
        }
    }
    for (size_t i = 0; d->entry && i < d->n; i++)
        if (d->entry[i].d_tag == DT_STRTAB)
            d->strings = offset_of(m, e, d->entry[i].d_un.d_ptr);
    return d->entry != NULL;
}

/* The string that the entry names; NULL: it is not in the file. */
static const char *string_of(const struct image *m, const struct dynamic *d, size_t i)
{
    size_t value = d->entry[i].d_un.d_val;
    const char *s = value < m->size && d->strings < m->size ? at(m, d->strings + value, 1) : NULL;
    return s && memchr(s, '\0', (size_t)(m->base + m->size - s)) ? s : NULL;
}

/* The loader does not look at DT_RPATH where there is a DT_RUNPATH. */
static void take_path(struct needs *n, const char *path, bool rpath)
{
    if (n->path && rpath)
        return;
    free(n->path);
    n->path = xformat("%s", path);
    n->rpath = rpath;
}

static void look(const struct image *m, struct needs *n)
{
    struct dynamic d = { NULL, 0, m->size };
    if (!find_dynamic(m, &d))
        return;
    for (size_t i = 0; i < d.n; i++) {
        ElfW(Sxword) tag = d.entry[i].d_tag;
        const char *s = tag == DT_NEEDED || tag == DT_RUNPATH || tag == DT_RPATH ? string_of(m, &d, i) : NULL;
        if (s && tag != DT_NEEDED)
            take_path(n, s, tag == DT_RPATH);
        else if (s && strcmp(s, OURS) == 0)
            n->ours = true;
        else if (s && !n->other && is_other(s)) {
            n->other = xformat("%s", s);
            n->pmi = speaks_pmi(s);
            n->pmix = speaks_pmix(s);
            n->replaced = substitute(s);
        }
    }
}

void needs_read(const char *program, struct needs *n)
{
    struct stat st;
    struct image m = { MAP_FAILED, 0 };
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        m.size = (size_t)st.st_size;
        m.base = mmap(NULL, m.size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (m.base == MAP_FAILED)
        return;
    look(&m, n);
    munmap((void *)(size_t)m.base, m.size);
}

static bool is_all(const char *abi)
{
    return !abi || !*abi || strcmp(abi, NEEDS_ALWAYS) == 0;
}

static bool finds_ours(const struct needs *n, const char *program, const char *library_path);

char *needs_folders(const struct needs *n, const char *program, const char *abi, const char *library_path)
{
    char *all = NULL;
    if ((!abi || !*abi) && n->ours) {
        if (finds_ours(n, program, library_path))
            return NULL;
        abi = abis[0];
    }
    for (int i = 0; i < ABIS; i++) {
        char *folder = is_all(abi) || strcmp(abi, abis[i]) == 0 ? needs_folder(abis[i]) : NULL;
        if (folder) {
            char *more = xformat("%s%s:", all ? all : "", folder);
            free(all);
            all = more;
        }
        free(folder);
    }
    return all;
}

bool needs_replaces(const struct needs *n, const char *abi)
{
    return n->replaced && (is_all(abi) || strcmp(abi, n->replaced) == 0);
}

void needs_free(struct needs *n)
{
    free(n->other);
    free(n->path);
}

/* ---- where the loader looks ---- */

/* The library in one of these folders, separated by ':'; $ORIGIN is the program's own.  NULL: in none. */
static char *in_path(const char *path, const char *program, const char *library)
{
    static const char origin[] = "$ORIGIN", braces[] = "${ORIGIN}";
    size_t own = strrchr(program, '/') ? (size_t)(strrchr(program, '/') - program) : 0;
    for (const char *at = path; at && *at; at += strcspn(at, ":"), at += *at == ':') {
        const char *rest = at;
        if (strncmp(at, origin, sizeof origin - 1) == 0)
            rest += sizeof origin - 1;
        else if (strncmp(at, braces, sizeof braces - 1) == 0)
            rest += sizeof braces - 1;
        char *file =
            xformat("%.*s%.*s/%s", rest > at ? (int)own : 0, program, (int)strcspn(rest, ":"), rest, library);
        if (access(file, F_OK) == 0)
            return file;
        free(file);
    }
    return NULL;
}

/* Where the loader's list of what lies in the system's folders says that the library is; NULL: it does not have it. */
static char *in_cache(const char *library)
{
    struct stat st;
    char *found = NULL;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        char *cache = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        char *name = xformat("/%s", library);
        char *at = cache != MAP_FAILED ? memmem(cache, (size_t)st.st_size, name, strlen(name) + 1) : NULL;
        char *begin = at;
        while (begin && begin > cache && begin[-1] != '\0')
            begin--;
        if (begin)
            found = xformat("%s", begin);
        if (cache != MAP_FAILED)
            munmap(cache, (size_t)st.st_size);
        free(name);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* The file that the loader takes for the program's libmpi_abi; NULL: it finds none. */
static char *found_library(const struct needs *n, const char *program, const char *library_path)
{
    char *file = n->rpath ? in_path(n->path, program, OURS) : NULL;
    if (!file)
        file = in_path(library_path, program, OURS);
    if (!file && !n->rpath)
        file = in_path(n->path, program, OURS);
    if (!file)
        file = in_cache(OURS);
    return file ? file : in_path("/lib:/usr/lib:/lib64:/usr/lib64", program, OURS);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Another's library may have the same name, another tree's the same version. */
static bool finds_ours(const struct needs *n, const char *program, const char *library_path)
{
    char *own = xformat("%s/%s", ku_installed_libdir(), OURS);
    char *found = found_library(n, program, library_path);
    bool ours = found && same_file(found, own);
    free(own);
    free(found);
    return ours;
}

/* Does DT_RPATH, at which the loader looks before LD_LIBRARY_PATH, hold an MPI library that should be ours? */
static bool path_has_anothers(const struct needs *n, const char *program)
{
    static const char *const names[] = { OURS, "libmpi.so.12", "libmpich.so.12", "libmpi.so.40" };
    bool other = false;
    for (size_t i = 0; n->rpath && i < sizeof names / sizeof *names && !other; i++) {
        const char *abi = i ? substitute(names[i]) : abis[0];
        char *found = abi ? in_path(n->path, program, names[i]) : NULL,
             *folder = abi ? needs_folder(abi) : NULL;
        char *own = xformat("%s/%s", folder ? folder : "", names[i]);
        other = found && folder && !same_file(found, own);
        free(found);
        free(folder);
        free(own);
    }
    return other;
}

char *needs_redirector(const struct needs *n, const char *program, const char *abi)
{
    bool always = abi && strcmp(abi, NEEDS_ALWAYS) == 0, none = abi && strcmp(abi, NEEDS_NO_ABI) == 0;
    if (none || (!always && !path_has_anothers(n, program)))
        return NULL;
    char *file = xformat("%s/redirect.so", ku_installed_keeldir());
    if (access(file, F_OK) == 0)
        return file;
    free(file);
    return NULL;
}

/* Which MPI's it is the file's own name tells (Debian's libmpi_abi_mpich.so.1); else it is served what either
 * speaks. */
void needs_resolve(struct needs *n, const char *program, const char *library_path)
{
    char *found = n->ours && !n->other ? found_library(n, program, library_path) : NULL, real[PATH_MAX];
    if (found && realpath(found, real) && needs_whose("", real) == NEEDS_ANOTHERS) {
        const char *name = strrchr(real, '/');
        n->other = xformat("%s", real);
        n->pmi = !strstr(name, "openmpi");
        n->pmix = !strstr(name, "mpich");
    }
    free(found);
}

char *needs_lost(const struct needs *n, const char *program, const char *library_path)
{
    char *found = n->ours ? found_library(n, program, library_path) : NULL;
    if (!n->ours || found) {
        free(found);
        return NULL;
    }
    return xformat(
        "the loader does not find %s, which lies in %s: link the program with mpicc, or put that folder "
        "into LD_LIBRARY_PATH",
        OURS, ku_installed_libdir());
}
