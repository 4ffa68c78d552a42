/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_kinds.c: which kinds of memory there are besides the host's. */
#include "config.h"
#include <string.h>
#include "mpid.h"
#include "staging.h"

enum { KINDS = 2, PAGE = 4096 };

static const struct MPIR_Memory_kind *kinds[KINDS];
static int nkinds;

/* ---- For tests (KEEL_NEEDS=memory): as if each buffer were of another kind ---- */

static bool find_any(const void *at, struct MPIR_Memory_block *block)
{
    *block = (struct MPIR_Memory_block){ NULL, (size_t)1 << 47 };
    return (uintptr_t)at >= PAGE && (uintptr_t)at >> 47 == 0;
}

static int copy_any(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}

static const struct MPIR_Memory_kind any = {
    .name = "test", .reachable = true, .find = find_any, .copy = copy_any
};

/* ---- All ---- */

void MPIR_Memory_begin(void)
{
    const struct MPIR_Memory_kind *cuda = MPIR_Stage_cuda();
    if (cuda)
        kinds[nkinds++] = cuda;
    if (MPID_Needs_tested() & MPID_NEEDS_DEVICE_MEMORY)
        kinds[nkinds++] = &any;
    MPID_Need(MPID_NEEDS_DEVICE_MEMORY, nkinds > 0);
}

void MPIR_Memory_end(void)
{
    MPIR_Stage_end();
    nkinds = 0;
    MPID_Need(MPID_NEEDS_DEVICE_MEMORY, false);
}

const struct MPIR_Memory_kind *MPIR_Memory_at(const void *at, struct MPIR_Memory_block *block)
{
    for (int i = 0; i < nkinds; i++)
        if (kinds[i]->find(at, block))
            return kinds[i];
    return NULL;
}

bool MPIR_Memory_supports(const char *name)
{
    return strcmp(name, "cuda") == 0 && MPIR_Stage_cuda() != NULL;
}
