/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi-ext.h: for programs that include Open MPI's header of extensions: mpi.h declares what there is (MPIX_). */
#ifndef KEEL_MPI_EXT_H
#define KEEL_MPI_EXT_H

#include <mpi.h>

#define OMPI_HAVE_MPI_EXT_FTMPI 1

#endif
