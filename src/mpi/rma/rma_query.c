/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_query.c: what a window is asked for: its attributes, name, group, info, and the memory of another process. */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rma.h"
#include "session.h"
#include "stage.h"

void *MPIR_Win_attribute(MPIR_Win *win, int keyval)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        return MPIR_Stage_base(win, win->base);
    case MPI_WIN_SIZE:
        return &win->size;
    case MPI_WIN_DISP_UNIT:
        return &win->unit;
    case MPI_WIN_CREATE_FLAVOR:
        return &win->flavor;
    case MPI_WIN_MODEL:
        return &win->model;
    }
    return NULL;
}

int MPIR_Win_set_name(MPIR_Win *win, const char *win_name)
{
    snprintf(win->name, sizeof win->name, "%s", win_name);
    return 0;
}

int MPIR_Win_get_name(MPIR_Win *win, char *win_name, int *resultlen)
{
    *resultlen = snprintf(win_name, sizeof win->name, "%s", win ? win->name : "MPI_WIN_NULL");
    return 0;
}

int MPIR_Win_get_group(MPIR_Win *win, MPIR_Group **group)
{
    return MPIR_Comm_group(win->comm, group);
}

/* The first part that has any bytes: what MPI_PROC_NULL asks for. */
static const struct rma_target *first_with_memory(const struct rma *r)
{
    for (int32_t i = 0; i < r->members; i++)
        if (r->on_node[i].size > 0)
            return &r->on_node[i];
    return NULL;
}

int MPIR_Win_shared_query(MPIR_Win *win, int rank, MPI_Aint *size, MPI_Count *disp_unit, void *baseptr)
{
    const struct rma *r = win->rma;
    const struct rma_target *t = NULL;
    void *base = NULL;
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return MPIR_Err(MPI_ERR_RMA_FLAVOR, "win",
                        "was made by MPI_Win_create_dynamic; expected a window whose memory is known");
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= win->comm->adi.size))
        return MPIR_Err(MPI_ERR_RANK, "rank", "is %d; expected 0 to %d or MPI_PROC_NULL", rank,
                        win->comm->adi.size - 1);
    if (rank == MPI_PROC_NULL)
        t = first_with_memory(r);
    else
        for (int32_t i = 0; i < r->members; i++)
            if (r->on_node[i].rank == rank)
                t = &r->on_node[i];
    if (t && !t->direct && !t->base) /* not mapped here */
        t = NULL;
    if (t)
        base = t->base;
    *size = t ? t->size : 0;
    *disp_unit = t ? t->unit : 1;
    memcpy(baseptr, &base, sizeof base);
    return 0;
}

/* ---- Info ---------------------------------------------------------------------------------------------------- */

static int set_string(const MPIR_Info *info, const char *key, char **is)
{
    const char *value = MPIR_Info_value(info, key);
    char *copy = value ? strdup(value) : NULL;
    if (value && !copy)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the hints of a window");
    if (copy) {
        free(*is);
        *is = copy;
    }
    return 0;
}

/* A hint whose value cannot be one says nothing. */
static void set_ops(const MPIR_Info *info, bool *same_op)
{
    const char *value = MPIR_Info_value(info, "accumulate_ops");
    if (value && (!strcmp(value, "same_op") || !strcmp(value, "same_op_no_op")))
        *same_op = strcmp(value, "same_op") == 0;
}

int MPIR_Win_set_info(MPIR_Win *win, MPIR_Info *info)
{
    struct rma *r = win->rma;
    const char *kinds = MPIR_Info_value(info, "mpi_assert_memory_alloc_kinds");
    MPIR_Info_bool(info, "no_locks", &r->no_locks, NULL);
    MPIR_Info_bool(info, "same_size", &r->same_size, NULL);
    MPIR_Info_bool(info, "same_disp_unit", &r->same_unit, NULL);
    MPIR_Info_bool(info, "alloc_shared_noncontig", &r->noncontig, NULL); /* nothing is laid out anew */
    MPIR_Info_number(info, "mpi_accumulate_granularity", &r->granularity, NULL);
    set_ops(info, &r->same_op);
    int err = set_string(info, "accumulate_ordering", &r->ordering);
    if (!err && kinds && MPIR_Memory_kinds_all(kinds))
        err = set_string(info, "mpi_assert_memory_alloc_kinds", &r->kinds);
    return err;
}

int MPIR_Win_get_info(MPIR_Win *win, MPIR_Info **info_used)
{
    const struct rma *r = win->rma;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)r->granularity);
    const struct {
        const char *key, *value;
    } rows[] = {
        { "no_locks", r->no_locks ? "true" : "false" },
        { "accumulate_ordering", r->ordering ? r->ordering : "rar,raw,war,waw" },
        { "accumulate_ops", r->same_op ? "same_op" : "same_op_no_op" },
        { "same_size", r->same_size ? "true" : "false" },
        { "same_disp_unit", r->same_unit ? "true" : "false" },
        { "mpi_accumulate_granularity", number },
        { "mpi_assert_memory_alloc_kinds", r->kinds },
        { "alloc_shared_noncontig", win->flavor != MPI_WIN_FLAVOR_SHARED ? NULL
                                    : r->noncontig                       ? "true"
                                                                         : "false" },
    };
    int err = MPIR_Info_create(info_used);
    for (size_t i = 0; !err && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value)
            err = MPIR_Info_set(*info_used, rows[i].key, rows[i].value);
    if (err && *info_used)
        MPIR_Info_free(info_used);
    return err;
}
