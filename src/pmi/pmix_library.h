/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_library.h: libpmix, loaded when it is needed and never else. */
#ifndef PMI_PMIX_LIBRARY_H
#define PMI_PMIX_LIBRARY_H

#include <stddef.h>

struct pmi_x_function {
    const char *name;
    void **at; /* where its address goes */
};

/* Load the library and find its functions; 0, or ENOENT, ENOSYS with a text (ku_err_last). */
int pmi_x_library(const struct pmi_x_function *f, size_t n);

#endif
