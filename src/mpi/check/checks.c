/* SPDX-License-Identifier: BSD-3-Clause */
/* checks.c: which checks there are (checks.h).  A check looks whether any of its kinds is wanted. */
#include "config.h"
#include "checks.h"
#include "buffers.h"
#include "call_data.h"
#include "check_windows.h"
#include "collectives.h"
#include "memory_types.h"
#include "mpid.h"
#include "signatures.h"
#include "tell.h"

/* Where nothing is looked for no memory of the checks is written: that would be pages of each rank. */
static bool begun;

void MPIR_Check_begin(void)
{
    if (!MPIR_Check_tell_begin())
        return;
    begun = true;
    if (MPIR_Check_strict())
        MPID_Need(MPID_NEEDS_STRICT, true);
    MPIR_Buffers_begin();
    MPIR_Signatures_begin();
    MPIR_Collectives_begin();
    MPIR_Check_windows_begin();
    MPIR_Memory_types_begin();
}

void MPIR_Check_end(void)
{
    if (!begun)
        return;
    begun = false;
    MPIR_Memory_types_end();
    MPIR_Check_windows_end();
    MPIR_Collectives_end();
    MPIR_Signatures_end();
    MPIR_Buffers_end();
    MPIR_Call_traits_end();
    MPID_Need(MPID_NEEDS_STRICT, false);
    MPIR_Check_tell_end();
}
