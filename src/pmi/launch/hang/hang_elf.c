/* SPDX-License-Identifier: BSD-3-Clause */
/* hang_elf.c: the function in which a place of an ELF file lies, by its symbol tables: what is left where there
 * are no lines, or no libdw.  Files of this machine's word size; nothing in them is trusted. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "demangle.h"
#include "hang.h"
#include "pmi/launch/job/launch.h"

struct file {
    const unsigned char *at;
    size_t size;
};

/* `n` objects of `size` bytes at `offset`, or NULL if they are not all in the file. */
static const void *part(const struct file *f, uint64_t offset, uint64_t n, uint64_t size)
{
    bool in = offset <= f->size && size > 0 && n <= (f->size - offset) / size && offset % 4 == 0;
    return in ? f->at + offset : NULL;
}

static const ElfW(Ehdr) * head(const struct file *f)
{
    const ElfW(Ehdr) *h = part(f, 0, 1, sizeof *h);
    return h && memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
                   h->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
               ? h
               : NULL;
}

/* The address, as symbols have it, of a place in the file. */
static bool address_of(const struct file *f, uint64_t offset, uint64_t *address)
{
    const ElfW(Ehdr) *h = head(f);
    const ElfW(Phdr) *p = h ? part(f, h->e_phoff, h->e_phnum, sizeof *p) : NULL;
    for (int i = 0; p && i < h->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && offset >= p[i].p_offset && offset - p[i].p_offset < p[i].p_filesz) {
            *address = offset - p[i].p_offset + p[i].p_vaddr;
            return true;
        }
    return false;
}

/* The function of this table that holds the address, or the last one before it that does not say how long it is. */
static const char *find(const struct file *f, const ElfW(Shdr) * table, const ElfW(Shdr) * strings,
                        uint64_t address, uint64_t *in)
{
    uint64_t n = table->sh_size / sizeof(ElfW(Sym));
    const ElfW(Sym) *s = part(f, table->sh_offset, n, sizeof *s);
    const char *names = strings->sh_offset <= f->size && strings->sh_size <= f->size - strings->sh_offset
                            ? (const char *)f->at + strings->sh_offset
                            : NULL;
    const char *best = NULL;
    for (uint64_t i = 0; s && names && i < n; i++) {
        if ((s[i].st_info & 15) != STT_FUNC || s[i].st_shndx == SHN_UNDEF ||
            s[i].st_name >= strings->sh_size || address < s[i].st_value ||
            (s[i].st_size && address - s[i].st_value >= s[i].st_size))
            continue;
        const char *name = names + s[i].st_name;
        if ((best && address - s[i].st_value >= *in) || !*name ||
            strnlen(name, strings->sh_size - s[i].st_name) == strings->sh_size - s[i].st_name)
            continue;
        best = name;
        *in = address - s[i].st_value;
    }
    return best;
}

static char *symbol(const struct file *f, uint64_t offset)
{
    const ElfW(Ehdr) *h = head(f);
    const ElfW(Shdr) *s = h ? part(f, h->e_shoff, h->e_shnum, sizeof *s) : NULL;
    uint64_t address, in = 0;
    const char *name = NULL;
    if (!s || !address_of(f, offset, &address))
        return NULL;
    for (int type = SHT_SYMTAB, i = 0; !name && i < h->e_shnum; i++) {
        if (s[i].sh_type == (ElfW(Word))type && s[i].sh_link < h->e_shnum)
            name = find(f, &s[i], &s[s[i].sh_link], address, &in);
        if (i + 1 == h->e_shnum && type == SHT_SYMTAB && !name) {
            type = SHT_DYNSYM; /* a library keeps this one when it is stripped */
            i = -1;
        }
    }
    char *function = name ? demangle(name) : NULL;
    char *text = name ? xformat("%s+0x%llx", function, (unsigned long long)in) : NULL;
    free(function);
    return text;
}

char *hang_symbol(const char *path, uint64_t offset)
{
    char *text = NULL;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        struct file f = { MAP_FAILED, (size_t)st.st_size };
        f.at = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (f.at != MAP_FAILED) {
            text = symbol(&f, offset);
            munmap((void *)f.at, f.size);
        }
    }
    close(fd);
    return text;
}
