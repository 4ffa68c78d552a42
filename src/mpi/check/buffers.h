/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.h: the check of buffers of sends and receives under way; it begins and ends with the library. */
#ifndef MPIR_BUFFERS_H
#define MPIR_BUFFERS_H

void MPIR_Buffers_begin(void);
void MPIR_Buffers_end(void);

#endif
