/* SPDX-License-Identifier: BSD-3-Clause */
/* removed.c: what MPI 3.0 removed (and MPI_Type_count, which 1.1 did) and has no body of another name. */
#include <limits.h>
#include "type.h"
#include "bodies.h"

int MPIR_Type_extent(MPIR_Datatype *datatype, MPI_Aint *extent)
{
    *extent = datatype->adi.extent;
    return MPI_SUCCESS;
}

int MPIR_Type_lb(MPIR_Datatype *datatype, MPI_Aint *displacement)
{
    *displacement = datatype->adi.lb;
    return MPI_SUCCESS;
}

int MPIR_Type_ub(MPIR_Datatype *datatype, MPI_Aint *displacement)
{
    *displacement = datatype->adi.lb + datatype->adi.extent;
    return MPI_SUCCESS;
}

/* "The number of top-level entries": the count of the constructors that have one. */
int MPIR_Type_count(MPIR_Datatype *datatype, int *count)
{
    switch (datatype->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT: {
        int64_t n = MPIR_Datatype_argument(datatype, 0);
        *count = n > INT_MAX ? MPI_UNDEFINED : (int)n;
        return MPI_SUCCESS;
    }
    }
    *count = 1;
    return MPI_SUCCESS;
}
