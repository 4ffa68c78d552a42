/* SPDX-License-Identifier: BSD-3-Clause */
/* check_windows.h: the check of the types of one-sided calls; it begins and ends with the library. */
#ifndef MPIR_CHECK_WINDOWS_H
#define MPIR_CHECK_WINDOWS_H

void MPIR_Check_windows_begin(void);
void MPIR_Check_windows_end(void);

#endif
