/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h: what mpiexec's own daemon and those of other hosts tell each other, beside texts. */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

/* The first that a daemon says; the texts follow: its version, its host's name, the address that it was reached
 * at, and the one that it was reached from ("": not known). */
enum {
    /* Bytes of a host's stdout, or stderr, under way; at the end, when its ranks' pipes are emptied, so many more
     * a rank. */
    OUTPUT_WINDOW = 256 << 10,
    OUTPUT_LAST = 1 << 20,
    TEXT_MOST = 1 << 20 /* of a daemon's own words, in all */,
    STDIN_WINDOW = 64 << 10
};

#endif
