/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c: MPI_Comm_spawn, MPI_Comm_spawn_multiple, MPI_Comm_get_parent.
 *
 * A spawned job has an mpiexec of its own, which the root starts with the commands as sections of its command
 * line, so whatever mpiexec can do with a program (hosts, cores, working directories) is done for spawned ones,
 * too, and it makes no difference who has started the spawning job.  The root opens a port and leaves its name in
 * KEEL_PARENT; MPI_Init of the children connects to it.
 *
 * That mpiexec has the other end of a socket of the root's as long as it lives (util/start_job.h): so the root
 * learns that nobody will come any more.  When the root has disconnected from all of the job's processes, it tells
 * mpiexec through that socket that the job is independent, and closes it. */
#define _GNU_SOURCE
#include "config.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi.h"
#include "bodies.h"
#include "mpi_err.h"
#include "info.h"
#include "meet.h"
#include "parent.h"
#include "spawn.h"
#include "util/err.h"
#include "util/installed.h"
#include "util/knob.h"
#include "util/start_job.h"

#define PARENT_VARIABLE "KEEL_PARENT"

static struct ku_knob rows[] = {
    { .name = "MPIEXEC", .type = KU_KNOB_STR, .unit = "", .help = "the mpiexec that MPI_Comm_spawn starts" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 1, .area = "mpi.spawn" };

__attribute__((constructor)) static void add_knobs(void)
{
    rows[0].def = ku_installed_mpiexec();
    ku_knob_add(&knobs);
}

/* ---- starting mpiexec ----------------------------------------------------------------------------------------- */

struct command {
    const char *program;
    char **argv; /* MPI_ARGV_NULL: none */
    int maxprocs;
    const MPIR_Info *info;
};

struct spawning {
    int n;
    const struct command *commands;
    struct port port;
    pid_t pid; /* of the process that starts mpiexec, until it has ended; 0 */
    int alive; /* the socket; -1 */
};

static const char *info_value(const void *info, const char *key)
{
    return MPIR_Info_value(info, key);
}

static int spawn_start(struct spawning *s)
{
    char parent[sizeof PARENT_VARIABLE + 1 + MPI_MAX_PORT_NAME];
    char *set[] = { parent, NULL };
    struct ku_surroundings around = {
        .set = set, .out = -1, .err = -1, .more = -1, .universe = MPID_World()->universe_size
    };
    struct ku_command *c = malloc((size_t)s->n * sizeof *c);
    if (!c)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %d commands", s->n);
    for (int i = 0; i < s->n; i++)
        c[i] = (struct ku_command){ s->commands[i].program, s->commands[i].argv, s->commands[i].maxprocs,
                                    info_value, s->commands[i].info };
    snprintf(parent, sizeof parent, PARENT_VARIABLE "=%s", s->port.name);
    ku_knob_register(&knobs);
    int err = ku_spawn(ku_knob_str("MPIEXEC"), c, s->n, &around, &s->pid, &s->alive);
    free(c);
    if (err)
        return MPIR_Err(err == ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_SPAWN, NULL, "%s", ku_err_last()->text);
    return 0;
}

/* Has the job ended before its processes came? */
static int look_at_job(void *arg)
{
    struct spawning *s = arg;
    int status = 0;
    if (s->pid && waitpid(s->pid, &status, WNOHANG) == s->pid)
        s->pid = 0;
    if (ku_spawn_look(s->alive) != KU_SPAWN_ENDED)
        return 0;
    return MPIR_Err(MPI_ERR_SPAWN, NULL,
                    "the job of %s has ended before all its processes called MPI_Init; expected MPI programs "
                    "that can be started "
                    "(mpiexec says why they could not)",
                    s->commands[0].program);
}

static int bring_up(struct meeting *m, struct link *l)
{
    struct spawning *s = m->arg;
    struct patience how = { .gone = look_at_job, .arg = s };
    int err = MPIR_Port_open(&s->port);
    if (err)
        return err;
    err = spawn_start(s);
    if (!err)
        err = MPIR_Port_accept(&s->port, &how, l);
    MPIR_Port_close(&s->port);
    if (s->pid) /* it has nothing left to do but to end */
        waitpid(s->pid, NULL, 0);
    return err;
}

/* ---- jobs that were spawned, as long as this process is connected to them ---- */

static struct spawned {
    struct spawned *next;
    uint64_t job;
    int32_t size;
    int fd; /* to its mpiexec */
} * spawned;

/* False: there is no memory for it, and it will not become independent. */
static bool remember(int fd, const MPIR_Comm *intercomm)
{
    struct MPID_Process p;
    struct spawned *s = malloc(sizeof *s);
    MPID_Process_of(MPIR_Group_grank(intercomm->remote_group, 0), &p);
    if (s) {
        *s = (struct spawned){ spawned, p.job, intercomm->adi.remote_size, fd };
        spawned = s;
    }
    return s != NULL;
}

static bool is_known(const struct spawned *s)
{
    for (int32_t r = 0; r < s->size; r++)
        if (MPID_Process_find(&(struct MPID_Process){ s->job, r }) >= 0)
            return true;
    return false;
}

static void spawn_forget(struct spawned **at)
{
    struct spawned *s = *at;
    *at = s->next;
    close(s->fd);
    free(s);
}

void MPIR_Spawn_parted(void)
{
    for (struct spawned **at = &spawned; *at;)
        if (is_known(*at))
            at = &(*at)->next;
        else {
            const char word = KU_SPAWN_SAYS_FREE;
            send((*at)->fd, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL); /* it may have ended */
            spawn_forget(at);
        }
}

void MPIR_Spawned_end(void)
{
    while (spawned)
        spawn_forget(&spawned);
}

/* ---- the procedures ------------------------------------------------------------------------------------------- */

/* At the root. */
static int spawn_check(const struct command *c, int n)
{
    int64_t all = 0;
    if (n < 1)
        return MPIR_Err(MPI_ERR_COUNT, "count", "is %d; expected at least 1", n);
    for (int i = 0; i < n; i++) {
        if (!c[i].program || !c[i].program[0])
            return MPIR_Err(MPI_ERR_ARG, n > 1 ? "array_of_commands" : "command",
                            "has no name; expected a program");
        if (c[i].maxprocs < 1)
            return MPIR_Err(MPI_ERR_ARG, "maxprocs", "is %d; expected at least 1", c[i].maxprocs);
        all += c[i].maxprocs;
    }
    return all <= INT32_MAX ? 0 : MPIR_Err(MPI_ERR_ARG, "maxprocs", "is too large");
}

static int spawn(const struct command *c, int n, int err, int root, MPIR_Comm *comm, MPIR_Comm **intercomm,
                 int *codes)
{
    struct spawning s = { .n = n, .commands = c, .alive = -1 };
    struct meeting m = { .reach = bring_up, .arg = &s };
    for (int i = 0; !err && comm->adi.rank == root && i < n; i++)
        m.word += c[i].maxprocs;
    err = MPIR_Meet(comm, root, err, &m, intercomm);
    if (s.alive >= 0 && (err || !remember(s.alive, *intercomm)))
        close(s.alive);
    for (int32_t i = 0; codes && i < m.word; i++) {
        int code = err ? err : i < (*intercomm)->adi.remote_size ? MPI_SUCCESS : MPI_ERR_SPAWN;
        codes[i] = &MPIR_Differs ? MPIR_Differs.error_out(code) : code;
    }
    return err;
}

int MPIR_Comm_spawn(const char *command, char **argv, int maxprocs, MPIR_Info *info, int root,
                    MPIR_Comm *comm, MPIR_Comm **intercomm, int *array_of_errcodes)
{
    struct command c = { command, argv, maxprocs, info };
    int err = MPIR_Comm_check_intra(comm);
    *intercomm = NULL;
    if (err)
        return err;
    if (comm->adi.rank == root)
        err = spawn_check(&c, 1);
    return spawn(&c, 1, err, root, comm, intercomm, array_of_errcodes);
}

int MPIR_Comm_spawn_multiple(int count, char **array_of_commands, char ***array_of_argv,
                             const int *array_of_maxprocs, MPIR_Info *const *array_of_info, int root,
                             MPIR_Comm *comm, MPIR_Comm **intercomm, int *array_of_errcodes)
{
    struct command *c = NULL;
    int err = MPIR_Comm_check_intra(comm);
    *intercomm = NULL;
    if (err)
        return err;
    if (comm->adi.rank == root) {
        c = count > 0 ? malloc((size_t)count * sizeof *c) : NULL;
        if (count > 0 && !c)
            err = MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for %d commands", count);
        for (int i = 0; c && i < count; i++)
            c[i] = (struct command){ array_of_commands[i], array_of_argv ? array_of_argv[i] : NULL,
                                     array_of_maxprocs[i], array_of_info ? array_of_info[i] : NULL };
        err = err ? err : spawn_check(c, count);
    }
    err = spawn(c, count, err, root, comm, intercomm, array_of_errcodes);
    free(c);
    return err;
}

/* ---- the children --------------------------------------------------------------------------------------------- */

static int to_parent(struct meeting *m, struct link *l)
{
    return MPIR_Port_connect(m->arg, NULL, l);
}

int MPIR_Parent_meet(void)
{
    char *name = getenv(PARENT_VARIABLE), copy[MPI_MAX_PORT_NAME];
    struct meeting m = { .reach = to_parent, .arg = copy };
    if (!name)
        return 0;
    snprintf(copy, sizeof copy, "%s", name);
    unsetenv(PARENT_VARIABLE); /* programs that this one starts have not been spawned */
    int err = MPIR_Meet(&MPIR_Comm_world, 0, 0, &m, &MPIR_Comm_parent);
    if (!err)
        snprintf(MPIR_Comm_parent->name, sizeof MPIR_Comm_parent->name, "MPI_COMM_PARENT");
    return err;
}

int MPIR_Comm_get_parent(MPIR_Comm **parent)
{
    *parent = MPIR_Comm_parent;
    return 0;
}
