/* SPDX-License-Identifier: BSD-3-Clause */
/* check_places.c: see signatures.h.
 *
 * A program and a library are known by what their file says of itself: the table of its segments, and the notes of
 * the linker, among them the number of the build. */
#define _GNU_SOURCE
#include "config.h"
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include "signatures.h"

/* Where it lies in this process, and what it is. */
struct module {
    uintptr_t address; /* looked for; 0: the digest is */
    uint32_t digest;
    uintptr_t base; /* 0: not found, and so is the digest */
    bool found;
};

static uint32_t place_add(uint32_t sum, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ p[i]) * 0x01000193u;
    return sum;
}

static uint32_t digest_of(const struct dl_phdr_info *info)
{
    uint32_t sum = 0x811c9dc5u;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        sum = place_add(sum, h, sizeof *h);
        if (h->p_type == PT_NOTE)
            sum = place_add(sum, (const void *)(info->dlpi_addr + h->p_vaddr), h->p_memsz);
    }
    return sum != 0 ? sum : 1;
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && address - (info->dlpi_addr + h->p_vaddr) < h->p_memsz)
            return true;
    }
    return false;
}

static int place_look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module *m = arg;
    (void)size;
    if (m->address != 0 && !holds(info, m->address))
        return 0;
    uint32_t digest = digest_of(info);
    if (m->address == 0 && digest != m->digest)
        return 0;
    m->digest = digest;
    m->base = info->dlpi_addr;
    m->found = true;
    return 1;
}

void MPIR_Check_place_of(uint64_t address, uint32_t *module, uint32_t *offset)
{
    enum { PLACES = 256 };
    static struct {
        uint64_t address;
        uint32_t module, offset;
    } last[PLACES];
    uint64_t i = (address ^ address >> 8) % PLACES;
    if (last[i].address != address) {
        struct module m = { .address = (uintptr_t)address };
        if (address != 0)
            dl_iterate_phdr(place_look, &m);
        bool fits = m.found && address - m.base <= UINT32_MAX;
        last[i].address = address;
        last[i].module = fits ? m.digest : 0;
        last[i].offset = fits ? (uint32_t)(address - m.base) : 0;
    }
    *module = last[i].module;
    *offset = last[i].offset;
}

uint64_t MPIR_Check_place_at(uint32_t module, uint32_t offset)
{
    struct module m = { .digest = module };
    if (module != 0)
        dl_iterate_phdr(place_look, &m);
    return m.found ? m.base + offset : 0;
}
