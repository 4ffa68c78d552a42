/* SPDX-License-Identifier: BSD-3-Clause */
/* inquiry.c: versions, names, the clock (10.1, 10.6). */
#include "config.h"
#include "bodies.h"
#include <stdio.h>
#include <string.h>
#include "env.h"
#include "mpi_err.h"

int MPIR_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return 0;
}

#ifdef __clang__
#define COMPILER __VERSION__ /* begins with its name */
#else
#define COMPILER "gcc " __VERSION__
#endif

int MPIR_Get_library_version(char *version, int *resultlen)
{
    char adi[64] = "";
    MPID_Version_name(adi);
    char abi[64];
    if (&MPIR_Differs)
        snprintf(abi, sizeof abi, "%s's ABI", MPIR_Differs.name);
    else
        snprintf(abi, sizeof abi, "Standard ABI %d.%d", MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Keel MPI %s (MPI %d.%d, %s; %s; compiled by %s)",
             PACKAGE_VERSION, MPI_VERSION, MPI_SUBVERSION, abi, adi, COMPILER);
    *resultlen = (int)strlen(version);
    return 0;
}

int MPIR_Get_processor_name(char *name, int *resultlen)
{
    MPID_Node_name(name, MPI_MAX_PROCESSOR_NAME);
    *resultlen = (int)strlen(name);
    return 0;
}

double MPIR_Wtime(void)
{
    double time;
    MPID_Wtime(&time);
    return time;
}

double MPIR_Wtick(void)
{
    double tick;
    MPID_Wtick(&tick);
    return tick;
}

/* For profiling libraries, which put their own in its place (16.2); nothing here has levels. */
int MPIR_Pcontrol(int level)
{
    (void)level;
    return 0;
}
