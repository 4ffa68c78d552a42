/* needs.c: the DT_NEEDED entries of an ELF program of this machine's kind, and whether the loader will find our library.  What is not
 * as expected is taken for "none". */
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
#include "launch.h"
#include "needs.h"
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

/* The ABIs that there is a library for (src/mpi/abi). */
static const char *const abis[] = { "mpich", "openmpi" };
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

static bool is_other(const char *library)
{
    static const char *const others[] = { "libmpi.so.", "libmpich.so.", "libmpi_cray.so.", "libmpi_gnu",
                                          "libmpi_intel" };
    char ours[4096];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(library, others[i], strlen(others[i])) == 0)
            return snprintf(ours, sizeof ours, "%s/%s", ku_installed_libdir(), library) < (int)sizeof ours &&
                   access(ours, F_OK) != 0;
    return false;
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

static void look(const struct image *m, struct needs *n)
{
    struct dynamic d = { NULL, 0, m->size };
    if (!find_dynamic(m, &d))
        return;
    for (size_t i = 0; i < d.n; i++) {
        ElfW(Sxword) tag = d.entry[i].d_tag;
        const char *s = tag == DT_NEEDED || tag == DT_RUNPATH || tag == DT_RPATH ? string_of(m, &d, i) : NULL;
        if (s && tag != DT_NEEDED)
            n->path = xformat("%s", s);
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

char *needs_folders(const struct needs *n, const char *abi)
{
    char *all = NULL;
    if (abi && !*abi)
        abi = NULL;
    if (!abi && n->ours)
        return NULL;
    for (int i = 0; i < ABIS; i++) {
        char *folder = !abi || strcmp(abi, abis[i]) == 0 ? needs_folder(abis[i]) : NULL;
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
    return n->replaced && (!abi || !*abi || strcmp(abi, n->replaced) == 0);
}

void needs_free(struct needs *n)
{
    free(n->other);
    free(n->path);
}

/* ---- where the loader looks ---- */

/* Is the library in one of these folders, separated by ':'?  $ORIGIN is the program's own. */
static bool in_path(const char *path, const char *program)
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
            xformat("%.*s%.*s/%s", rest > at ? (int)own : 0, program, (int)strcspn(rest, ":"), rest, OURS);
        bool found = access(file, F_OK) == 0;
        free(file);
        if (found)
            return true;
    }
    return false;
}

/* The loader's list of what lies in the system's folders holds this name. */
static bool in_cache(void)
{
    struct stat st;
    bool found = false;
    int fd = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
        void *cache = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (cache != MAP_FAILED) {
            found = memmem(cache, (size_t)st.st_size, OURS, sizeof OURS) != NULL;
            munmap(cache, (size_t)st.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

char *needs_lost(const struct needs *n, const char *program, const char *library_path)
{
    if (!n->ours || in_path(n->path, program) || in_path(library_path, program) ||
        in_path("/lib:/usr/lib:/lib64:/usr/lib64", program) || in_cache())
        return NULL;
    return xformat(
        "the loader does not find %s, which lies in %s: link the program with mpicc, or put that folder "
        "into LD_LIBRARY_PATH",
        OURS, ku_installed_libdir());
}
