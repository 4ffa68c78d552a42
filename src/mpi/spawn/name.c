/* SPDX-License-Identifier: BSD-3-Clause */
/* name.c: MPI_Publish_name, MPI_Lookup_name, MPI_Unpublish_name: the user's name service (util/publish.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bodies.h"
#include "mpi_err.h"
#include "spawn.h"
#include "util/err.h"
#include "util/publish.h"

enum { SERVICE_MAX = 120 };

static struct published {
    struct published *next;
    struct ku_published *of;
    char name[SERVICE_MAX + 1];
} * all;

static int name_check(const char *service_name)
{
    size_t n = strlen(service_name);
    return n > 0 && n <= SERVICE_MAX ? 0
                                     : MPIR_Err(MPI_ERR_SERVICE, "service_name",
                                                "has %zu characters; expected 1 to %d", n, SERVICE_MAX);
}

static int error_of(int err)
{
    const char *argument = err == EEXIST ? "service_name" : NULL;
    return MPIR_Err(err == ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_SERVICE, argument, "%s", ku_err_last()->text);
}

int MPIR_Publish_name(const char *service_name, MPIR_Info *info, const char *port_name)
{
    (void)info; /* the standard reserves no key */
    int err = name_check(service_name);
    if (err)
        return err;
    struct published *p = calloc(1, sizeof *p);
    if (!p)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory to publish a name");
    err = ku_publish(service_name, port_name, strlen(port_name), &p->of);
    if (err) {
        free(p);
        return error_of(err);
    }
    strcpy(p->name, service_name);
    p->next = all;
    all = p;
    return 0;
}

int MPIR_Lookup_name(const char *service_name, MPIR_Info *info, char *port_name)
{
    char *found;
    size_t len;
    (void)info;
    int err = name_check(service_name);
    if (err)
        return err;
    err = ku_publish_look_up(service_name, &found, &len);
    if (!err && (len == 0 || len >= MPI_MAX_PORT_NAME)) {
        free(found);
        err = ENOENT;
    }
    if (err == ENOENT)
        return MPIR_Err(MPI_ERR_NAME, "service_name", "is \"%.100s\", which nobody has published (in %s)",
                        service_name, ku_publish_folder());
    if (err)
        return error_of(err);
    strcpy(port_name, found);
    free(found);
    return 0;
}

static void take_back(struct published **at)
{
    struct published *p = *at;
    *at = p->next;
    ku_publish_withdraw(p->of);
    free(p);
}

int MPIR_Unpublish_name(const char *service_name, MPIR_Info *info, const char *port_name)
{
    (void)info, (void)port_name;
    int err = name_check(service_name);
    if (err)
        return err;
    for (struct published **at = &all; *at; at = &(*at)->next)
        if (strcmp((*at)->name, service_name) == 0) {
            take_back(at);
            return 0;
        }
    return MPIR_Err(MPI_ERR_SERVICE, "service_name", "is \"%.100s\", which this process has not published",
                    service_name);
}

void MPIR_Names_end(void)
{
    while (all)
        take_back(&all);
}
