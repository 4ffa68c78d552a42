/* Debugging (section 8): where the output goes, traces of packets, and the end when an invariant breaks. */
#include "core.h"
#include <stdarg.h>
#include "util/clock.h"

static const char *const kind_name[] = { "?",       "SHORT",      "EAGER", "RTS",  "CTS",     "DATA",
                                         "CANCEL",  "CANCEL_ACK", "XOFF",  "XON",  "SYNC",    "SHARE",
                                         "SHARED",  "START",      "PUT",   "GET",  "GOT",     "ATOMIC",
                                         "FLUSH",   "MEM_ACK",    "WATCH", "DIED", "RTS_KEY", "BYE",
                                         "CTS_KEY", "REFUSED" };
_Static_assert(sizeof kind_name / sizeof *kind_name == PKT_KINDS, "each kind has a name");

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

/* ---- The trace: one who observes.  The other end of the file is the user's, so lines are whole. ---- */

/* "<ns> > 3 RTS context 0 tag 7 source 1 bytes 24": time, direction, peer where known, the head, bytes of body. */
void MPID_Observe_packet(char direction, int32_t grank, const struct dev_head *h, size_t len)
{
    if (MPID_core.trace == NULL)
        return;
    fprintf(MPID_core.trace, "%llu %c %d %s context %u tag %d source %d bytes %zu\n",
            (unsigned long long)ku_clock_ns(), direction, (int)grank,
            kind_name[h->kind < PKT_KINDS ? h->kind : 0], h->context, (int)h->tag, (int)h->source, len);
}

/* "<ns> = 3 MATCHED context 0 tag 7 source 1 bytes 24": the message, and the peer where known. */
void MPID_Matched(const struct MPIR_HANDLE *receive, int32_t source, int32_t tag, int64_t bytes)
{
    if (MPID_core.trace == NULL)
        return;
    fprintf(MPID_core.trace, "%llu = %d MATCHED context %u tag %d source %d bytes %lld\n",
            (unsigned long long)ku_clock_ns(), (int)grank_of(receive->comm, source), receive->context_id,
            (int)tag, (int)source, (long long)bytes);
}

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
    set_file(&MPID_core.trace, name);
    MPID_Need(MPID_NEEDS_OBSERVERS, MPID_core.trace != NULL);
}

void MPID_SetSpaceDebugFlag(int on)
{
    MPID_core.space_on = on != 0;
}

void MPID_SetDebugFlag(int on)
{
    MPID_core.debug_on = on != 0;
}
