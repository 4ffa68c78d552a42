/* kernel.h: the loops that copy many small blocks.  Blocks of 1, 2, 4, 8, ... bytes have loops of their own.
 */
#ifndef MPID_KERNEL_H
#define MPID_KERNEL_H

#include <stdint.h>

/* n blocks of `bytes`, ds and ss bytes from one to the next; nothing overlaps. */
void MPID_Kernel_strided(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n, int64_t bytes);

/* n blocks of `bytes` at src + off[i] to consecutive places, and back. */
void MPID_Kernel_gather(char *dst, const char *src, const int64_t *off, int64_t n, int64_t bytes);
void MPID_Kernel_scatter(char *dst, const char *src, const int64_t *off, int64_t n, int64_t bytes);

/* n runs at src + off[i] of start[i + 1] - start[i] bytes to consecutive places, and back. */
void MPID_Kernel_gather_runs(char *dst, const char *src, const int64_t *off, const int64_t *start, int64_t n);
void MPID_Kernel_scatter_runs(char *dst, const char *src, const int64_t *off, const int64_t *start,
                              int64_t n);

#endif
