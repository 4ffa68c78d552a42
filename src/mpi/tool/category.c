/* SPDX-License-Identifier: BSD-3-Clause */
/* category.c: categories: the areas that tables of knobs, counters and events name.  "mpid.tcp" lies in "mpid";
 * all lie in the first one, which also has what names no area that is known here. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"
#include <limits.h>
#include <string.h>

static const struct area {
    const char *name, *help;
} areas[] = {
    { "", "everything that Keel has" },
    { "mpi", "the layer of MPI's objects and procedures" },
    { "mpi.objects", "communicators, datatypes, requests and the like" },
    { "mpi.comm", "communicators and their context ids" },
    { "mpi.coll", "collective operations and their algorithms" },
    { "mpi.errors", "error handlers" },
    { "mpid", "the device interface: what moves messages" },
    { "mpid.messages", "messages by protocol: short, eager, rendezvous, to the process itself" },
    { "mpid.matching",
      "queues of receives that wait for messages, and of messages that came before their receives" },
    { "mpid.shmem", "the device ch_shmem: shared memory of a node" },
    { "mpid.tcp", "the device ch_tcp: connections between nodes" },
    { "process", "the process and what it shares with others of its node" },
    { "process.waiting", "polling, yielding and sleeping" },
};

enum { AREAS = sizeof areas / sizeof *areas };

static int index_of(const char *name)
{
    for (int i = 1; name && i < AREAS; i++)
        if (strcmp(areas[i].name, name) == 0)
            return i;
    return 0;
}

/* The area that an area lies in; -1: none. */
static int parent(int index)
{
    const char *dot = strchr(areas[index].name, '.');
    size_t n = dot ? (size_t)(dot - areas[index].name) : 0;
    for (int i = 1; dot && i < AREAS; i++)
        if (strlen(areas[i].name) == n && memcmp(areas[i].name, areas[index].name, n) == 0)
            return i;
    return index ? 0 : -1;
}

/* The category of the row at an index of each register; -1 beyond the last. */
static int of_cvar(int i)
{
    const char *area;
    return ku_knob_at(i, &area) ? index_of(area) : -1;
}

static int of_pvar(int i)
{
    const char *area;
    return ku_counter_at(i, &area) ? index_of(area) : -1;
}

static int of_event(int i)
{
    const char *area;
    return ku_event_at(i, &area) ? index_of(area) : -1;
}

static int of_category(int i) /* the first lies in none */
{
    return i + 1 < AREAS ? parent(i + 1) : -1;
}

/* How many rows a category has; the first `len` go to `indices`, counted from `from`. */
static int members(int category, int (*of)(int), int from, int len, int *indices)
{
    int n = 0;
    for (int i = 0, c; (c = of(i)) >= 0; i++)
        if (c == category) {
            if (n < len)
                indices[n] = i + from;
            n++;
        }
    return n;
}

static int category_list(int category, int (*of)(int), int from, int len, int *indices)
{
    if (category < 0 || category >= AREAS)
        return MPI_T_ERR_INVALID_INDEX;
    if (len < 0 || (len > 0 && !indices))
        return MPI_T_ERR_INVALID;
    members(category, of, from, len, indices);
    return MPI_SUCCESS;
}

static void category_name_of(int index, char name[T_NAME_MAX])
{
    MPIR_T_name(areas[index].name, name);
    if (index == 0)
        name[4] = 0; /* "keel" */
}

int MPIR_T_category_get_num(int *num_cat)
{
    if (!num_cat)
        return MPI_T_ERR_INVALID;
    *num_cat = AREAS;
    return MPI_SUCCESS;
}

int MPIR_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    char own[T_NAME_MAX];
    if (cat_index < 0 || cat_index >= AREAS)
        return MPI_T_ERR_INVALID_INDEX;
    category_name_of(cat_index, own);
    MPIR_T_string(own, name, name_len);
    MPIR_T_string(areas[cat_index].help, desc, desc_len);
    t_put(num_cvars, members(cat_index, of_cvar, 0, 0, NULL));
    t_put(num_pvars, members(cat_index, of_pvar, 0, 0, NULL));
    t_put(num_categories, members(cat_index, of_category, 1, 0, NULL));
    return MPI_SUCCESS;
}

int MPIR_T_category_get_num_events(int cat_index, int *num_events)
{
    if (cat_index < 0 || cat_index >= AREAS)
        return MPI_T_ERR_INVALID_INDEX;
    t_put(num_events, members(cat_index, of_event, 0, 0, NULL));
    return MPI_SUCCESS;
}

int MPIR_T_category_get_index(const char *name, int *cat_index)
{
    char own[T_NAME_MAX];
    if (!name || !cat_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < AREAS; i++) {
        category_name_of(i, own);
        if (strcmp(own, name) == 0) {
            *cat_index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

int MPIR_T_category_get_cvars(int cat_index, int len, int *indices)
{
    return category_list(cat_index, of_cvar, 0, len, indices);
}

int MPIR_T_category_get_pvars(int cat_index, int len, int *indices)
{
    return category_list(cat_index, of_pvar, 0, len, indices);
}

int MPIR_T_category_get_events(int cat_index, int len, int *indices)
{
    return category_list(cat_index, of_event, 0, len, indices);
}

int MPIR_T_category_get_categories(int cat_index, int len, int *indices)
{
    return category_list(cat_index, of_category, 1, len, indices);
}

/* Rows are only added, and each belongs to a category: their number tells that something has changed. */
int MPIR_T_category_changed(int *update_number)
{
    int n = 1;
    if (!update_number)
        return MPI_T_ERR_INVALID;
    for (int i = 0; of_cvar(i) >= 0; i++)
        n++;
    for (int i = 0; of_pvar(i) >= 0; i++)
        n++;
    for (int i = 0; of_event(i) >= 0; i++)
        n++;
    *update_number = n;
    return MPI_SUCCESS;
}
