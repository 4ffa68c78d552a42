/* SPDX-License-Identifier: BSD-3-Clause */
/* pset.c: sets of processes (12.3.2).  They are what the launcher made of the job, so they never
 * change:
 *
 *   mpi://WORLD        all processes of the job
 *   mpi://SELF         this one
 *   keel://node/K      those of node K, counted from 0
 *   keel://app/K       those of section K of mpiexec's command line (between its ':'s), counted from 0: its MPI_APPNUM
 *
 * A process is told of those it is in, in this order; it may name any of them.  A name is a URI,
 * so letters are the same in either case in its scheme and in its authority, which is all of it
 * but the numbers (RFC 3986, 6.2.2.1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "bodies.h"
#include "mpi_err.h"
#include "mpid.h"
#include "session.h"

enum { NAME = 40, NO_SET = -1 };
static const char node_set[] = "keel://node/", app_set[] = "keel://app/";

/* The number behind a prefix; NO_SET. */
static int32_t pset_number(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    char *end, again[NAME];
    if (strncasecmp(name, prefix, n) != 0 || name[n] < '0' || name[n] > '9')
        return NO_SET;
    long k = strtol(name + n, &end, 10);
    if (*end || k > INT32_MAX)
        return NO_SET;
    snprintf(again, sizeof again, "%s%ld", prefix, k);
    return strcasecmp(again, name) ? NO_SET : (int32_t)k; /* no second spelling */
}

static int node_group(int32_t node, MPIR_Group **group)
{
    const struct MPID_World *w = MPID_World();
    if (node >= w->nodes)
        return 0;
    if (node == w->node)
        return MPIR_Group_new(w->local_size, w->grank_of, group);
    int32_t n = MPID_Node_ranks(node, NULL), *granks = malloc((size_t)n * sizeof *granks + 1);
    if (!granks)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for a group of %d processes", n);
    MPID_Node_ranks(node, granks);
    return MPIR_Group_adopt(n, granks, group);
}

/* The launcher says how many ranks each section has, in order. */
static int app_group(int32_t app, MPIR_Group **group)
{
    const char *sizes = getenv("KEEL_SECTIONS");
    int32_t first = 0;
    if (MPID_World()->appnum < 0)
        return 0;
    if (!sizes)
        return app == 0 ? MPIR_Group_new_range(MPID_MyWorldSize, 0, 1, group) : 0;
    for (int32_t i = 0; *sizes; i++) {
        char *end;
        long n = strtol(sizes, &end, 10);
        if (n < 0 || n > MPID_MyWorldSize - first)
            return 0;
        if (i == app)
            return n > 0 ? MPIR_Group_new_range((int32_t)n, first, 1, group) : 0;
        first += (int32_t)n;
        sizes = end + (*end == ',');
        if (end[0] && end[0] != ',')
            return 0;
    }
    return 0;
}

int MPIR_Pset_group(const char *name, MPIR_Group **group)
{
    *group = NULL;
    if (!strcasecmp(name, "mpi://WORLD"))
        return MPIR_Group_new_range(MPID_MyWorldSize, 0, 1, group);
    if (!strcasecmp(name, "mpi://SELF"))
        return MPIR_Group_new_range(1, MPID_MyWorldRank, 1, group);
    int32_t node = pset_number(name, node_set), app = pset_number(name, app_set);
    if (node != NO_SET)
        return node_group(node, group);
    return app != NO_SET ? app_group(app, group) : 0;
}

/* The n-th set that this process is in; false behind the last. */
static bool nth(int n, char name[NAME])
{
    const struct MPID_World *w = MPID_World();
    switch (n) {
    case 0:
        return snprintf(name, NAME, "mpi://WORLD") > 0;
    case 1:
        return snprintf(name, NAME, "mpi://SELF") > 0;
    case 2:
        return snprintf(name, NAME, "%s%d", node_set, w->node) > 0;
    case 3:
        return w->appnum >= 0 && snprintf(name, NAME, "%s%d", app_set, w->appnum) > 0;
    default:
        return false;
    }
}

static int how_many(void)
{
    char name[NAME];
    int n = 0;
    while (nth(n, name))
        n++;
    return n;
}

int MPIR_Session_get_num_psets(MPIR_Session *session, MPIR_Info *info, int *npset_names)
{
    (void)session, (void)info;
    *npset_names = how_many();
    return 0;
}

int MPIR_Session_get_nth_pset(MPIR_Session *session, MPIR_Info *info, int n, int *pset_len, char *pset_name)
{
    char name[NAME];
    (void)session, (void)info;
    if (n < 0 || !nth(n, name))
        return MPIR_Err(MPI_ERR_ARG, "n", "is %d; expected 0 to %d", n, how_many() - 1);
    if (*pset_len < 0)
        return MPIR_Err(MPI_ERR_ARG, "pset_len", "is %d; expected 0 or more", *pset_len);
    if (*pset_len > 0 && !pset_name)
        return MPIR_Err(MPI_ERR_ARG, "pset_name",
                        "is NULL; expected room for %d characters, as pset_len says", *pset_len);
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", name);
    *pset_len = (int)strlen(name) + 1;
    return 0;
}

/* The group of a set that has to be there. */
static int pset_group_of(const char *name, MPIR_Group **group)
{
    int err = MPIR_Pset_group(name, group);
    if (err || *group)
        return err;
    return MPIR_Err(MPI_ERR_ARG, "pset_name",
                    "is \"%.100s\"; expected the name of a set of processes (MPI_Session_get_nth_pset)",
                    name);
}

int MPIR_Session_get_pset_info(MPIR_Session *session, const char *pset_name, MPIR_Info **info)
{
    MPIR_Group *group;
    char size[16];
    (void)session;
    int err = pset_group_of(pset_name, &group);
    if (err)
        return err;
    snprintf(size, sizeof size, "%d", group->size);
    MPIR_Group_release(group);
    err = MPIR_Info_create(info);
    if (!err)
        err = MPIR_Info_set(*info, "mpi_size", size);
    return err;
}

int MPIR_Group_from_session_pset(MPIR_Session *session, const char *pset_name, MPIR_Group **newgroup)
{
    int err = pset_group_of(pset_name, newgroup);
    if (!err)
        MPIR_Group_derive(*newgroup, session);
    return err;
}
