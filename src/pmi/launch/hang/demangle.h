/* SPDX-License-Identifier: BSD-3-Clause */
/* demangle.h: a function's name as its programmer wrote it: of C++, Rust and Fortran, from the linker's. */
#ifndef DEMANGLE_H
#define DEMANGLE_H

/* Without the list of a C++ function's parameters.  The name itself where nothing better is known.  To be freed. */
char *demangle(const char *name);

#endif
