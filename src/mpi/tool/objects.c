/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.c: how many objects of MPI there are now, and whether MPI runs. */
#include "config.h"
#include "mpit.h"
#include "object.h"

#define LIVE(kind, objects, text) \
    { \
        .name = objects, .of = KU_LEVEL, KU_AT(MPIR_slab[MPIR_KIND_##kind].live), .help = text \
    }

static const char *const phase_words[] = { "before MPI_Init", "running", "after MPI_Finalize",
                                           "child of a process that runs MPI" };
static const struct ku_names phases = { "keel_phase", 4, phase_words };

static const struct ku_counter rows[] = {
    { .name = "phase",
      .of = KU_STATE,
      .names = &phases,
      KU_AT(MPIR_env.phase),
      .help = "whether MPI is initialized (the world model)" },
    LIVE(COMM, "comms", "communicators made and not freed"),
    LIVE(GROUP, "groups", "groups made and not freed"),
    LIVE(DATATYPE, "datatypes", "datatypes made and not freed, or still in use"),
    LIVE(OP, "ops", "reduction operations made and not freed"),
    LIVE(REQUEST, "requests", "requests and matched messages that are not complete or not freed"),
    LIVE(ERRHANDLER, "errhandlers", "error handlers made and not freed, or still in use"),
    LIVE(INFO, "infos", "info objects made and not freed"),
    LIVE(SESSION, "sessions", "sessions that have not ended"),
};
static struct ku_counter_table objects = { .rows = rows,
                                           .n = sizeof rows / sizeof *rows,
                                           .area = "mpi.objects" };

__attribute__((constructor)) static void add_rows(void)
{
    ku_counter_add(&objects);
}
