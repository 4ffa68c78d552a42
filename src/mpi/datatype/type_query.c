/* SPDX-License-Identifier: BSD-3-Clause */
/* type_query.c: sizes, bounds, addresses and names. */
#include "config.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "copies.h"
#include "mpi_err.h"
#include "type.h"
#include "bodies.h"

int MPIR_Type_size(MPIR_Datatype *datatype, MPI_Count *size)
{
    *size = datatype->adi.size;
    return MPI_SUCCESS;
}

int MPIR_Type_get_extent(MPIR_Datatype *datatype, MPI_Count *lb, MPI_Count *extent)
{
    *lb = datatype->adi.lb;
    *extent = datatype->adi.extent;
    return MPI_SUCCESS;
}

int MPIR_Type_get_true_extent(MPIR_Datatype *datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    *true_lb = datatype->adi.true_lb;
    *true_extent = datatype->adi.true_extent;
    return MPI_SUCCESS;
}

int MPIR_Type_set_name(MPIR_Datatype *datatype, const char *type_name)
{
    char *name = strndup(type_name, MPI_MAX_OBJECT_NAME - 1);
    if (!name)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the name of a datatype");
    free(datatype->name);
    datatype->name = name;
    return MPI_SUCCESS;
}

int MPIR_Type_get_name(MPIR_Datatype *datatype, char *type_name, int *resultlen)
{
    const char *name = datatype ? MPIR_Datatype_name(datatype) : "MPI_DATATYPE_NULL";
    *resultlen = snprintf(type_name, MPI_MAX_OBJECT_NAME, "%s", name ? name : "");
    return MPI_SUCCESS;
}

int MPIR_Get_address(const void *location, MPI_Aint *address)
{
    *address = (MPI_Aint)location;
    return MPI_SUCCESS;
}

/* Addresses wrap as unsigned numbers do: both are defined for any pair. */
MPI_Aint MPIR_Aint_add(MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_Aint MPIR_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}

int64_t MPIR_Datatype_span(const MPIR_Datatype *t, int64_t count, int64_t *gap)
{
    *gap = 0;
    if (count == 0 || t->adi.size == 0)
        return 0;
    int64_t last = (count - 1) * t->adi.extent;
    *gap = t->adi.true_lb + (last < 0 ? last : 0);
    return t->adi.true_extent + (last < 0 ? -last : last);
}

static bool give_run(void *runs, int64_t at, int64_t bytes)
{
    struct MPIR_Runs *r = runs;
    r->run(r, at, bytes);
    return true;
}

int MPIR_Keel_type_runs(MPIR_Datatype *datatype, void *runs, int *basic)
{
    *basic = (int)datatype->adi.basic;
    MPID_Layout_runs(&datatype->adi, 0, datatype->adi.size, give_run, runs);
    return 0;
}
