/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_library.c: see pmix_library.h. */
#include "config.h"
#include "pmix_library.h"
#include <dlfcn.h>
#include <errno.h>
#include "util/err.h"

#ifdef HAVE_PMIX
int pmi_x_library(const struct pmi_x_function *f, size_t n)
{
    static const char *const names[] = { "libpmix.so.2", PMIX_LIBDIR "/libpmix.so.2" };
    void *so = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !so; i++)
        so = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return ku_err_set(ENOENT, NULL, "libpmix.so.2 cannot be loaded (%s); install it (Debian: libpmix2)",
                          dlerror());
    for (size_t i = 0; i < n; i++) {
        *f[i].at = dlsym(so, f[i].name);
        if (!*f[i].at)
            return ku_err_set(ENOSYS, NULL, "libpmix.so.2 has no %s", f[i].name);
    }
    return 0;
}
#else
int pmi_x_library(const struct pmi_x_function *f, size_t n)
{
    (void)f, (void)n;
    return ku_err_set(
        ENOSYS, NULL,
        "Keel was not built for PMIx (it takes pmix.h when it is configured, Debian: libpmix-dev)");
}
#endif
