/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_hints.c: what info says about a communicator (8.4.4), kept until MPI_Comm_get_info asks.
 *
 * Every assertion and wish is false until the user sets it; other keys are ignored, as are values that are neither
 * true nor false, and a list of memory kinds of which one is not supported (12.4.3).  No communicator gets hints
 * from another. */
#include "make.h"
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "mpi_err.h"
#include "session.h"

static const struct {
    const char *key;
    enum MPIR_HINT hint;
} assertions[] = {
    { "mpi_assert_no_any_tag", MPIR_HINT_NO_ANY_TAG },
    { "mpi_assert_no_any_source", MPIR_HINT_NO_ANY_SOURCE },
    { "mpi_assert_exact_length", MPIR_HINT_EXACT_LENGTH },
    { "mpi_assert_allow_overtaking", MPIR_HINT_ALLOW_OVERTAKING },
    { "mpi_assert_strict_persistent_collective_ordering", MPIR_HINT_STRICT_PERSISTENT },
    { "keel_same_bits", MPIR_HINT_SAME_BITS }, /* src/mpi/coll */
};
enum { ASSERTIONS = sizeof assertions / sizeof *assertions };
static const char kinds_key[] = "mpi_assert_memory_alloc_kinds";

/* ---- Reading ------------------------------------------------------------------------------------------------- */

int MPIR_Comm_hints_read(MPIR_Comm_hints *hints, const MPIR_Info *info)
{
    uint32_t asserted = hints->asserted;
    const char *kinds = MPIR_Info_value(info, kinds_key);
    for (int i = 0; i < ASSERTIONS; i++) {
        bool is = false;
        if (!MPIR_Info_bool(info, assertions[i].key, &is, NULL))
            continue;
        asserted &= ~(uint32_t)assertions[i].hint;
        asserted |= is ? (uint32_t)assertions[i].hint : 0;
    }
    if (kinds && MPIR_Memory_kinds_all(kinds)) {
        char *copy = strdup(kinds);
        if (!copy)
            return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the hints of a communicator");
        free(hints->memory_kinds);
        hints->memory_kinds = copy;
    }
    hints->asserted = asserted;
    return 0;
}

void MPIR_Comm_hints_clear(MPIR_Comm_hints *hints)
{
    free(hints->memory_kinds);
    *hints = (MPIR_Comm_hints){ 0 };
}

int MPIR_Comm_set_info(MPIR_Comm *comm, MPIR_Info *info)
{
    return MPIR_Comm_hints_read(&comm->hints, info);
}

/* Of all that is derived from the same session, or from the world model. */
static int put_kinds(const MPIR_Comm *comm, MPIR_Info *info)
{
    char room[MPI_MAX_INFO_VAL];
    if (comm->session)
        return MPIR_Info_set(info, "mpi_memory_alloc_kinds", comm->session->memory_kinds);
    char *kinds = MPIR_Memory_kinds_answer(MPIR_Memory_kinds_asked(NULL, room));
    int err = kinds ? MPIR_Info_set(info, "mpi_memory_alloc_kinds", kinds) : MPI_ERR_NO_MEM;
    free(kinds);
    return err;
}

int MPIR_Comm_get_info(MPIR_Comm *comm, MPIR_Info **info_used)
{
    int err = MPIR_Info_create(info_used);
    if (err)
        return err;
    for (int i = 0; i < ASSERTIONS && !err; i++)
        err = MPIR_Info_set(*info_used, assertions[i].key,
                            comm->hints.asserted & assertions[i].hint ? "true" : "false");
    if (!err)
        err = put_kinds(comm, *info_used);
    if (!err && comm->hints.memory_kinds)
        err = MPIR_Info_set(*info_used, kinds_key, comm->hints.memory_kinds);
    if (err)
        MPIR_Info_free(info_used);
    return err;
}
