/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign.c: were we started as one of several ranks by a launcher that Keel cannot talk to?
 *
 * Then taking ourselves for a job of one would give N jobs of rank 0 of 1, the most puzzling failure there
 * is.  A launcher that started just one rank is no such case: that is a job of one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/err.h"
#include "util/installed.h"
#include "pmi_wire.h"

static const char srun[] = "srun";

/* One row a launcher: all of `marks` are set, and one of `sizes` says more than 1 (none set: we do not know,
 * refuse). */
static const struct launcher {
    const char *name;
    const char *marks[2], *sizes[2];
    const char *remedy; /* "", or how it is to be called so that it offers a protocol */
} launchers[] = {
    { "Open MPI's mpirun", { "OMPI_COMM_WORLD_RANK" }, { "OMPI_COMM_WORLD_SIZE" }, "" },
    { "MVAPICH's launcher", { "MV2_COMM_WORLD_RANK" }, { "MV2_COMM_WORLD_SIZE" }, "" },
    { "IBM's jsrun", { "JSM_NAMESPACE_RANK" }, { "JSM_NAMESPACE_SIZE" }, "" },
    { "Flux", { "FLUX_TASK_RANK" }, { "FLUX_JOB_SIZE" }, "flux run -o pmi=simple, or " },
    { "Cray's aprun", { "ALPS_APP_PE" }, { NULL }, "" },
    { "a PMI launcher (MPICH's or Intel's mpiexec)",
      { "PMI_PORT" },
      { "PMI_SIZE" },
      "it without -pmi-port, or " },
    { "a PMI launcher", { "PMI_RANK", "PMI_SIZE" }, { "PMI_SIZE" }, "" },
    { srun,
      { "SLURM_PROCID", "SLURM_STEP_ID" },
      { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS" },
      "srun --mpi=pmi2, srun --mpi=pmix, or " },
    { "PALS", { "PALS_RANKID" }, { "PALS_SIZE" }, "" },
};

/* The script of sbatch and the shell of salloc run in steps of their own (-5 and -6 as 32 bits), and a
 * program started there by a plain shell is a job of one. */
static bool is_script_step(const struct launcher *l)
{
    const char *step = getenv("SLURM_STEP_ID");
    return l->name == srun && step && (!strcmp(step, "4294967291") || !strcmp(step, "4294967290"));
}

static bool matches(const struct launcher *l)
{
    for (int i = 0; i < 2 && l->marks[i]; i++)
        if (!getenv(l->marks[i]))
            return false;
    if (is_script_step(l))
        return false;
    for (int i = 0; i < 2 && l->sizes[i]; i++)
        if (getenv(l->sizes[i]))
            return atol(getenv(l->sizes[i])) > 1;
    return true;
}

int pmi_foreign_check(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (matches(&launchers[i]))
            return ku_err_set(ENOTSUP, NULL,
                              "this process was started by %s (%s is set), which Keel cannot talk to; use "
                              "%s%s (for a job of one rank: mpiexec -n 1)",
                              launchers[i].name, launchers[i].marks[0], launchers[i].remedy,
                              ku_installed_mpiexec());
    return 0;
}
