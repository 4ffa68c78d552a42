/* SPDX-License-Identifier: BSD-3-Clause */
/* rankfile.h: --rankfile, Open MPI's way to say each rank's host and cores (doc/mpiexec.md, "Cores").
 *
 * The front reads the file and gives each rank its host; what it says of cores goes to the daemons as text (the
 * policy's `list`), for only they know the machines. */
#ifndef RANKFILE_H
#define RANKFILE_H

struct parse;
struct rankfile;

/* The ranks from 0 to the largest of the file. */
int rankfile_size(const struct rankfile *f);
/* All options are read: find the hosts that are named, or refuse what cannot be. */
void rankfile_hosts(struct parse *p);
/* Of this rank, by its number in p->hosts; -1: the file (NULL: none) does not say. */
int rankfile_host(const struct rankfile *f, int rank);

#endif
