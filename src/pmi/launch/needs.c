/* needs.c: the DT_NEEDED entries of an ELF program of this machine's kind.  What is not as expected is taken for "none". */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "needs.h"

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

static bool is_other(const char *library)
{
    static const char *const others[] = { "libmpi.so.", "libmpich.so.", "libmpi_cray.so.", "libmpi_gnu",
                                          "libmpi_intel" };
    char ours[4096];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(library, others[i], strlen(others[i])) == 0)
            return snprintf(ours, sizeof ours, KEEL_LIBDIR "/%s", library) < (int)sizeof ours &&
                   access(ours, F_OK) != 0;
    return false;
}

static bool look(const struct image *m, char *name, size_t cap)
{
    const ElfW(Ehdr) *e = at(m, 0, sizeof *e);
    const ElfW(Dyn) *dyn = NULL;
    size_t n = 0, strings = m->size;
    if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 ||
        e->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        e->e_phentsize != sizeof(ElfW(Phdr)) || e->e_phoff > m->size)
        return false;
    for (int i = 0; i < e->e_phnum && !dyn; i++) {
        const ElfW(Phdr) *p = header(m, e, i);
        if (p && p->p_type == PT_DYNAMIC && p->p_offset % _Alignof(ElfW(Dyn)) == 0) {
            dyn = at(m, p->p_offset, p->p_filesz);
            n = p->p_filesz / sizeof *dyn;
        }
    }
    for (size_t i = 0; dyn && i < n; i++)
        if (dyn[i].d_tag == DT_STRTAB)
            strings = offset_of(m, e, dyn[i].d_un.d_ptr);
    for (size_t i = 0; dyn && i < n; i++) {
        const char *s = dyn[i].d_tag == DT_NEEDED && dyn[i].d_un.d_val < m->size
                            ? at(m, strings + dyn[i].d_un.d_val, 1)
                            : NULL;
        if (s && memchr(s, '\0', (size_t)(m->base + m->size - s)) && is_other(s)) {
            snprintf(name, cap, "%s", s);
            return true;
        }
    }
    return false;
}

bool needs_other_mpi(const char *program, char *name, size_t cap)
{
    struct stat st;
    struct image m = { MAP_FAILED, 0 };
    int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        m.size = (size_t)st.st_size;
        m.base = mmap(NULL, m.size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    if (m.base == MAP_FAILED)
        return false;
    bool found = look(&m, name, cap);
    munmap((void *)(size_t)m.base, m.size);
    return found;
}
