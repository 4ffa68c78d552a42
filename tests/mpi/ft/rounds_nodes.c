/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.c over two nodes. */
/* ranks: 5 8 */
/* mpiexec: -with-ft ulfm -fake-nodes 2 */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "rounds.c"
