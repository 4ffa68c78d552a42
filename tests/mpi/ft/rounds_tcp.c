/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.c by messages alone. */
/* ranks: 4 8 */
/* mpiexec: -with-ft ulfm -genv KEEL_DEVICES self,tcp */
/* stderr: (?s)\A(mpiexec: ranks? [^\n]*killed by signal 9 \(SIGKILL, Killed\); the job goes on\n)+\Z */
#include "rounds.c"
