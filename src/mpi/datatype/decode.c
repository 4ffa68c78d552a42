/* SPDX-License-Identifier: BSD-3-Clause */
/* decode.c: how a datatype was made (MPI_Type_get_envelope, MPI_Type_get_contents). */
#include "type.h"
#include "mpi_err.h"
#include "bodies.h"

static int needs_large(const MPIR_Datatype *t)
{
    return MPIR_Err(
        MPI_ERR_TYPE, "datatype",
        "was made with %lld large counts; expected one that was made with none, or the call with _c",
        (long long)t->nc);
}

int MPIR_Type_get_envelope(MPIR_Datatype *datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
                           MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner)
{
    if (num_large_counts)
        *num_large_counts = datatype->nc;
    else if (datatype->nc)
        return needs_large(datatype);
    *num_integers = datatype->ni;
    *num_addresses = datatype->na;
    *num_datatypes = datatype->nt;
    *combiner = datatype->combiner;
    return MPI_SUCCESS;
}

/* An array of `max` entries that `need` are to go into. */
static int check_max(const char *arg, int64_t max, int64_t need, const char *array, const void *p)
{
    if (max >= need && (p || need == 0))
        return MPI_SUCCESS;
    if (max >= need)
        return MPIR_Err(MPI_ERR_ARG, array, "is NULL; expected an array of at least %lld", (long long)need);
    return MPIR_Err(MPI_ERR_ARG, arg, "is %lld; expected at least %lld, as MPI_Type_get_envelope says",
                    (long long)max, (long long)need);
}

int MPIR_Type_get_contents(MPIR_Datatype *datatype, MPI_Count max_integers, MPI_Count max_addresses,
                           MPI_Count max_large_counts, MPI_Count max_datatypes, int *array_of_integers,
                           MPI_Aint *array_of_addresses, MPI_Count *array_of_large_counts,
                           MPIR_Datatype **array_of_datatypes)
{
    int err;
    if (datatype->combiner == MPI_COMBINER_NAMED)
        return MPIR_Err(MPI_ERR_TYPE, "datatype", "is %s; expected a datatype that is not predefined",
                        MPIR_Datatype_name(datatype));
    if (datatype->nc && array_of_large_counts == NULL && max_large_counts == 0)
        return needs_large(datatype);
    if ((err =
             check_max("max_integers", max_integers, datatype->ni, "array_of_integers", array_of_integers)) ||
        (err = check_max("max_addresses", max_addresses, datatype->na, "array_of_addresses",
                         array_of_addresses)) ||
        (err = check_max("max_large_counts", max_large_counts, datatype->nc, "array_of_large_counts",
                         array_of_large_counts)) ||
        (err = check_max("max_datatypes", max_datatypes, datatype->nt, "array_of_datatypes",
                         array_of_datatypes)))
        return err;
    for (int64_t i = 0; i < datatype->ni; i++)
        array_of_integers[i] = datatype->integers[i];
    for (int64_t i = 0; i < datatype->na; i++)
        array_of_addresses[i] = (MPI_Aint)datatype->contents[i];
    for (int64_t i = 0; i < datatype->nc; i++)
        array_of_large_counts[i] = datatype->contents[datatype->na + i];
    for (int64_t i = 0; i < datatype->nt; i++)
        if ((err = MPIR_Datatype_copy(datatype->types[i], &array_of_datatypes[i])) != 0) {
            while (--i >= 0)
                MPIR_Datatype_release(array_of_datatypes[i]);
            return err;
        }
    return MPI_SUCCESS;
}
