/* Debugging (section 8): where the output goes, traces of packets, and the end when an invariant breaks. */
#include "core.h"
#include <stdarg.h>
#include "util/clock.h"

static const char *const kind_name[PKT_KINDS] = { "?",      "SHORT",      "EAGER", "RTS", "CTS", "DATA",
                                                  "CANCEL", "CANCEL_ACK", "XOFF",  "XON", "SYNC" };

void MPID_Debug(const char *fmt, ...)
{
    va_list ap;
    FILE *f = core.debug != NULL ? core.debug : stderr;
    if (likely(!core.debug_on))
        return;
    fprintf(f, "[%d] ", (int)core.rank);
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
    int n = snprintf(text, sizeof text, "rank %d cannot go on: ", (int)core.rank);
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    va_end(ap);
    pmi_abort(core.up ? &core.job : NULL, MPI_ERR_INTERN, text);
}

/* "<ns> > 3 RTS context 0 tag 7 source 1 24": time, direction, peer where known, the head, bytes of body. */
void MPID_Trace_packet(char direction, int32_t grank, const struct dev_head *h, size_t len)
{
    fprintf(core.trace, "%llu %c %d %s context %u tag %d source %d bytes %zu\n", (unsigned long long)ku_clock_ns(),
            direction, (int)grank, kind_name[h->kind < PKT_KINDS ? h->kind : 0], h->context, (int)h->tag, (int)h->source,
            len);
}

static void retune(void)
{
    for (int32_t i = 0; i < core.npeers; i++)
        if (core.peers[i] != NULL) {
            MPID_Peer_tune(core.peers[i]);
            MPID_Peer_update(core.peers[i]);
        }
}

void MPID_SetPktSize(int bytes)
{
    core.pkt_size = bytes > 0 ? bytes : 0;
    retune();
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
    set_file(&core.debug, name);
    core.debug_on = core.debug != NULL;
}

void MPID_Set_tracefile(char *name)
{
    set_file(&core.trace, name);
    retune();
}

void MPID_SetSpaceDebugFlag(int on)
{
    core.space_on = on != 0;
}

void MPID_SetDebugFlag(int on)
{
    core.debug_on = on != 0;
}
