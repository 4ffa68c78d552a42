/* SPDX-License-Identifier: BSD-3-Clause */
/* port.c: ports and what goes through them: MPI_Open_port, MPI_Close_port, MPI_Comm_accept, MPI_Comm_connect,
 * MPI_Comm_join. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include "bodies.h"
#include "mpi_err.h"
#include "info.h"
#include "meet.h"
#include "parent.h"
#include "spawn.h"
#include "util/clock.h"

static struct port *ports; /* that this process has open */

static struct port **port_find(const char *port_name)
{
    struct port **at = &ports;
    while (*at && strcmp((*at)->name, port_name) != 0)
        at = &(*at)->next;
    return at;
}

static int no_port(const char *port_name)
{
    return MPIR_Err(MPI_ERR_PORT, "port_name",
                    "is \"%.100s\"; expected a port that this process has opened (MPI_Open_port)", port_name);
}

int MPIR_Open_port(MPIR_Info *info, char *port_name)
{
    /* The standard reserves ip_port and ip_address for who wants to choose; any port will do here. */
    (void)info;
    struct port *p = calloc(1, sizeof *p);
    if (!p)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a port");
    int err = MPIR_Port_open(p);
    if (err) {
        free(p);
        return err;
    }
    p->next = ports;
    ports = p;
    strcpy(port_name, p->name);
    return 0;
}

int MPIR_Close_port(const char *port_name)
{
    struct port **at = port_find(port_name), *p = *at;
    if (!p)
        return no_port(port_name);
    *at = p->next;
    MPIR_Port_close(p);
    free(p);
    return 0;
}

void MPIR_Spawn_end(void)
{
    MPIR_Comm *parent = MPIR_Comm_parent;
    while (ports)
        MPIR_Close_port(ports->name);
    MPIR_Names_end();
    MPIR_Spawned_end();
    if (parent)
        MPIR_Comm_free(&parent);
}

/* ---- accept and connect --------------------------------------------------------------------------------------- */

struct ends {
    const char *port_name;
    struct patience how;
};

/* Both peers have the key "timeout", in seconds. */
static int read_timeout(const MPIR_Info *info, struct patience *how)
{
    int64_t seconds;
    int err = 0;
    if (MPIR_Info_number(info, "timeout", &seconds, &err) && seconds >= 0 && seconds < INT32_MAX)
        how->until = ku_clock_ns() + (uint64_t)seconds * 1000000000u;
    return err;
}

static int accept_one(struct meeting *m, struct link *l)
{
    struct ends *e = m->arg;
    struct port *p = *port_find(e->port_name);
    return p ? MPIR_Port_accept(p, &e->how, l) : no_port(e->port_name);
}

static int connect_one(struct meeting *m, struct link *l)
{
    struct ends *e = m->arg;
    return MPIR_Port_connect(e->port_name, &e->how, l);
}

static int meet_at(const char *port_name, MPIR_Info *info, int root, MPIR_Comm *comm,
                   int (*reach)(struct meeting *m, struct link *l), MPIR_Comm **newcomm)
{
    struct ends e = { .port_name = port_name };
    struct meeting m = { .reach = reach, .arg = &e };
    int err = MPIR_Comm_check_intra(comm);
    *newcomm = NULL;
    if (err)
        return err;
    if (comm->adi.rank == root)
        err = read_timeout(info, &e.how);
    return MPIR_Meet(comm, root, err, &m, newcomm);
}

int MPIR_Comm_accept(const char *port_name, MPIR_Info *info, int root, MPIR_Comm *comm, MPIR_Comm **newcomm)
{
    return meet_at(port_name, info, root, comm, accept_one, newcomm);
}

int MPIR_Comm_connect(const char *port_name, MPIR_Info *info, int root, MPIR_Comm *comm, MPIR_Comm **newcomm)
{
    return meet_at(port_name, info, root, comm, connect_one, newcomm);
}

/* ---- join ----------------------------------------------------------------------------------------------------- */

static int use_socket(struct meeting *m, struct link *l)
{
    int fd = *(int *)m->arg;
    *l = (struct link){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3) };
    return l->fd >= 0 ? 0 : MPIR_Err(MPI_ERR_ARG, "fd", "is %d; expected a connected stream socket", fd);
}

int MPIR_Comm_join(int fd, MPIR_Comm **intercomm)
{
    struct meeting m = { .reach = use_socket, .arg = &fd };
    return MPIR_Meet(&MPIR_Comm_self, 0, 0, &m, intercomm);
}
