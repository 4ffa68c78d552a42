/* SPDX-License-Identifier: BSD-3-Clause */
/* Debugging (section 8): where the output goes, traces of packets, and the end when an invariant breaks. */
#include "core.h"
#include <stdarg.h>
#include "util/clock.h"

void MPID_Debug(const char *fmt, ...)
{
    va_list ap;
    FILE *f = MPID_core.debug != NULL ? MPID_core.debug : stderr;
    if (likely(!MPID_core.debug_on))
        return;
    fprintf(f, "[%d] ", (int)MPID_core.rank);
    va_start(ap, fmt);
    vfprintf(f, fmt, ap);
    va_end(ap);
    fputc('\n', f);
    fflush(f);
}

void MPID_Broken(const char *fmt, ...)
{
    char text[512];
    va_list ap;
    int n = snprintf(text, sizeof text, "rank %d cannot go on: ", (int)MPID_core.rank);
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    va_end(ap);
    pmi_abort(MPID_core.up ? &MPID_core.job : NULL, MPI_ERR_INTERN, text);
}

/* ---- The trace: a listener.  The other end of the file is the user's, so lines are whole. ---- */

/* "<ns> > 3 RTS context 0 tag 7 source 1 bytes 24": time, direction, peer where known, the head, bytes of body. */
static void trace_packet(void *self, const struct MPID_Packet *p)
{
    (void)self;
    fprintf(MPID_core.trace, "%llu %c %d %s context %u tag %d source %d bytes %zu\n",
            (unsigned long long)ku_clock_ns(), p->direction, (int)p->peer, p->kind, p->context, (int)p->tag,
            (int)p->source, p->bytes);
}

/* "<ns> = 3 MATCHED context 0 tag 7 source 1 bytes 24": the message, and the peer where known. */
static void trace_matched(void *self, const struct MPID_Match *m)
{
    (void)self;
    fprintf(MPID_core.trace, "%llu = %d MATCHED context %u tag %d source %d bytes %lld\n",
            (unsigned long long)ku_clock_ns(), (int)m->peer, m->context, (int)m->tag, (int)m->source,
            (long long)m->bytes);
}

static const struct MPID_Listener tracer = {
    .version = MPID_LISTEN_VERSION, .size = sizeof tracer, .packet = trace_packet, .matched = trace_matched
};

void MPID_SetPktSize(int bytes)
{
    MPID_core.pkt_size = bytes > 0 ? bytes : 0;
    MPID_Peers_retune();
}

static void set_file(FILE **f, const char *name)
{
    if (*f != NULL && *f != stderr)
        fclose(*f);
    *f = NULL;
    if (name != NULL && *name != 0)
        *f = strcmp(name, "-") == 0 ? stderr : fopen(name, "w");
    if (*f != NULL)
        setvbuf(*f, NULL, _IOLBF, 0);
}

void MPID_SetDebugFile(char *name)
{
    set_file(&MPID_core.debug, name);
    MPID_core.debug_on = MPID_core.debug != NULL;
}

void MPID_Set_tracefile(char *name)
{
    MPID_Listener_remove(&tracer);
    set_file(&MPID_core.trace, name);
    if (MPID_core.trace != NULL)
        MPID_Listener_add(&tracer);
}

void MPID_SetSpaceDebugFlag(int on)
{
    MPID_core.space_on = on != 0;
}

void MPID_SetDebugFlag(int on)
{
    MPID_core.debug_on = on != 0;
}
