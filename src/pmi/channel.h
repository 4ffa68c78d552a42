/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.h: the socket PMI_FD to a launcher that speaks PMI-1 or PMI-2, from the side of a rank. */
#ifndef PMI_CHANNEL_H
#define PMI_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include "server.h"

/* A launcher offers it, in this version.  One that says nothing of versions (PMI_VERSION) speaks 1; Slurm, 2. */
bool pmi_channel_is_there(int version);

/* Take it: nothing that this process starts shall have it.  The rank and the size come from the environment; node_of is
 * allocated, all 0.  0, or an errno value with a text, as with all that follow. */
int pmi_channel_take(int version, struct pmi_facts *f);
void pmi_channel_close(void);
bool pmi_channel_is_open(void);

int pmi_channel_say(const char *bytes, size_t len);
/* The next line, without its line feed; the text of the next frame (words.h).  Valid until the next call. */
int pmi_channel_line(char **text);
int pmi_channel_frame(char **text);

#endif
