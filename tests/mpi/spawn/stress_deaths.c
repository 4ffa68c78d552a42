/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 3 */
/* args: 15 3 1 */
/* exit: 137 */
/* stderr: \A(mpiexec: .* w(as|ere) killed by signal 9.*\n)+\Z */
#include "stress.h"
