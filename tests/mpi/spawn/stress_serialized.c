/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 */
/* part: long */
/* args: 500 2 1 */
/* exit: 137 */
/* stderr: \A(mpiexec: .* w(as|ere) killed by signal 9.*\n)+\Z */
/* timeout: 600 */
#include "stress.h"
