/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* part: long */
/* args: 10000 */
/* timeout: 600 */
#include "often.c"
