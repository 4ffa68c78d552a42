/* SPDX-License-Identifier: BSD-3-Clause */
/* timeline.c: what each rank did when, as a trace that a viewer shows (see timeline.h).
 *
 * The file is a sequence of packets of Perfetto's trace format (a protocol buffer, docs of perfetto.dev,
 * "TracePacket", "TrackEvent"): any concatenation of whole packets is a trace.  So each process puts its packets
 * into a buffer and appends the buffer to the one file of its host in one write; nobody gathers, and what was
 * written before a process is killed can be read.
 *
 * A process is a process of the trace, each of its threads a track.  A call is a slice; waiting is a slice within
 * it; a message is an arrow from an instant where its sending begins to one where it meets its receive.  The two
 * ends of the arrow have the same number: a digest of {context, sender, tag, receiver} and of how many such
 * messages there were before, which both sides count. Messages that agree in these do not overtake each other (MPI
 * 5.0, "Semantics of Point-to-Point Communication").
 *
 * Times are differences to the event before (a clock of the sequence), names are told once and then meant by
 * numbers, so that an event takes some 16 bytes. */
#include "config.h"
#include "timeline.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "calls.h"
#include "object.h"
#include "type.h"
#include "util/clock.h"
#include "util/knob.h"

/* Numbers of fields, and values, of the format. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };
enum {
    TRACE_PACKET = 1,
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13, /* 1: all that was told before is void; 2: it needs what was told before */
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60
};
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_INCREMENTAL = 3 };
enum { OWN_CLOCK = 64 /* numbers from here are the sequence's own */, BOOT_CLOCK = 6 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
    EVENT_NOTE = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_FLOW = 47,
    EVENT_FLOW_ENDS = 48
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum { INTERNED_EVENT = 2, INTERNED_NOTE = 3, INTERNED_ID = 1, INTERNED_TEXT = 2 };
enum { NOTE_NAME = 1, NOTE_INT = 4 };

/* Names that are told at the beginning; those of procedures follow, by their numbers. */
enum event_name { NAME_WAITING = 1, NAME_SENT, NAME_MET, NAME_CALLS };
enum note_name { NOTE_BYTES = 1, NOTE_PEER, NOTE_TAG };

enum {
    ROOM = 64 << 10,  /* bytes that wait to be written, */
    FULL = 60 << 10,  /* and are written from here on, or */
    AGE = 1000000000, /* after so many nanoseconds */
    LARGEST = 512     /* bytes of a packet, at most: no name is longer than that allows */
};

static struct {
    int fd;
    bool open, failed;
    uint64_t base;          /* added to this host's clock: what the trace counts from */
    uint64_t last, written; /* clock: of the last event; when the buffer was written last */
    size_t n;
    bool *told; /* by procedure's number: its name */
    uint32_t ntold;
    uint32_t threads; /* that have a track */
    char *bytes;      /* ROOM */
} line;

/* Of this thread, from 1; 0: none yet. */
static _Thread_local uint32_t my_track __attribute__((tls_model("initial-exec")));

/* ---- Bytes ---- */

/* One packet, or a part of one. */
struct bytes {
    size_t n;
    unsigned char at[LARGEST];
};

static void put_varint(struct bytes *b, uint64_t value)
{
    for (; value >= 0x80 && b->n < LARGEST; value >>= 7)
        b->at[b->n++] = (unsigned char)(value | 0x80);
    if (b->n < LARGEST)
        b->at[b->n++] = (unsigned char)value;
}

static void put_number(struct bytes *b, int field, uint64_t value)
{
    put_varint(b, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(b, value);
}

static void put_fixed(struct bytes *b, int field, uint64_t value)
{
    put_varint(b, (uint64_t)field << 3 | WIRE_FIXED64);
    for (int i = 0; i < 8 && b->n < LARGEST; i++)
        b->at[b->n++] = (unsigned char)(value >> 8 * i);
}

static void put_bytes(struct bytes *b, int field, const void *from, size_t n)
{
    put_varint(b, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(b, n);
    n = n < LARGEST - b->n ? n : LARGEST - b->n;
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

static void put_text(struct bytes *b, int field, const char *text)
{
    size_t n = strlen(text), most = LARGEST / 4;
    put_bytes(b, field, text, n < most ? n : most);
}

static void put_part(struct bytes *b, int field, const struct bytes *part)
{
    put_bytes(b, field, part->at, part->n);
}

/* In one write, so that what other processes append does not come in between. */
static void timeline_write(void)
{
    ssize_t n = line.n > 0 && !line.failed ? write(line.fd, line.bytes, line.n) : 0;
    if (n < 0 || (size_t)n < line.n) {
        char text[160];
        if (!line.failed && line.n > 0) {
            snprintf(text, sizeof text, "warning: the trace could not be written as a whole: %s",
                     n < 0 ? strerror(errno) : "no space");
            MPID_Message(text);
            line.failed = true;
        }
    }
    line.n = 0;
    line.written = ku_clock_ns();
}

static void timeline_packet(struct bytes *packet)
{
    struct bytes framed = { .n = 0 };
    put_number(packet, PACKET_SEQUENCE, (uint64_t)MPID_MyWorldRank + 2); /* 1 is the reader's own */
    put_varint(&framed, TRACE_PACKET << 3 | WIRE_BYTES);
    put_varint(&framed, packet->n);
    if (line.n + framed.n + packet->n > ROOM)
        timeline_write();
    memcpy(line.bytes + line.n, framed.at, framed.n);
    memcpy(line.bytes + line.n + framed.n, packet->at, packet->n);
    line.n += framed.n + packet->n;
}

/* ---- What is told once ---- */

static uint64_t uuid(uint32_t thread)
{
    return ((uint64_t)MPID_MyWorldRank + 1) << 20 | thread; /* thread 0: the process */
}

/* The first packet: from here on times are differences to the one before, which are short. */
static void begin_sequence(void)
{
    struct bytes packet = { .n = 0 }, snapshot = { .n = 0 }, defaults = { .n = 0 }, event = { .n = 0 };
    static const struct {
        int id;
        bool incremental;
    } clocks[] = { { OWN_CLOCK, true }, { BOOT_CLOCK, false } };
    line.last = ku_clock_ns();
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct bytes clock = { .n = 0 };
        put_number(&clock, CLOCK_ID, (uint64_t)clocks[i].id);
        put_number(&clock, CLOCK_TIME, line.last + line.base);
        if (clocks[i].incremental)
            put_number(&clock, CLOCK_INCREMENTAL, 1);
        put_part(&snapshot, SNAPSHOT_CLOCK, &clock);
    }
    put_number(&snapshot, SNAPSHOT_PRIMARY, BOOT_CLOCK);
    put_part(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
    put_number(&event, EVENT_TRACK, uuid(1));
    put_part(&defaults, DEFAULTS_EVENT, &event);
    put_number(&defaults, DEFAULTS_CLOCK, OWN_CLOCK);
    put_part(&packet, PACKET_DEFAULTS, &defaults);
    put_number(&packet, PACKET_FLAGS, 1);
    timeline_packet(&packet);
}

static void tell_process(void)
{
    struct bytes packet = { .n = 0 }, track = { .n = 0 }, process = { .n = 0 };
    char host[65] = "", name[100];
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "rank %d on %s", (int)MPID_MyWorldRank, host);
    put_number(&process, PROCESS_PID,
               (uint64_t)MPID_MyWorldRank + 1); /* of processes of a host two may be equal */
    put_text(&process, PROCESS_NAME, name);
    put_number(&track, TRACK_UUID, uuid(0));
    put_part(&track, TRACK_PROCESS, &process);
    put_part(&packet, PACKET_TRACK, &track);
    timeline_packet(&packet);
}

static void tell_thread(void)
{
    struct bytes packet = { .n = 0 }, track = { .n = 0 }, thread = { .n = 0 };
    char name[40];
    my_track = ++line.threads;
    snprintf(name, sizeof name, my_track == 1 ? "main thread" : "thread %u", my_track);
    put_number(&thread, THREAD_PID, (uint64_t)MPID_MyWorldRank + 1);
    put_number(&thread, THREAD_TID, uuid(my_track) & 0x7fffffff);
    put_text(&thread, THREAD_NAME, name);
    put_number(&track, TRACK_UUID, uuid(my_track));
    put_number(&track, TRACK_PARENT, uuid(0));
    put_part(&track, TRACK_THREAD, &thread);
    put_part(&packet, PACKET_TRACK, &track);
    timeline_packet(&packet);
}

static void tell_name(int what, uint64_t id, const char *text)
{
    struct bytes packet = { .n = 0 }, interned = { .n = 0 }, name = { .n = 0 };
    put_number(&name, INTERNED_ID, id);
    put_text(&name, INTERNED_TEXT, text);
    put_part(&interned, what, &name);
    put_part(&packet, PACKET_INTERNED, &interned);
    put_number(&packet, PACKET_FLAGS, 2);
    timeline_packet(&packet);
}

/* Without memory a name is told again each time. */
static uint64_t name_of_call(const struct MPID_Procedure *p)
{
    if (p->number >= line.ntold) {
        uint32_t n = 2 * p->number + 32;
        bool *more = realloc(line.told, n * sizeof *more);
        if (more) {
            memset(more + line.ntold, 0, (n - line.ntold) * sizeof *more);
            line.told = more;
            line.ntold = n;
        }
    }
    if (p->number >= line.ntold || !line.told[p->number]) {
        tell_name(INTERNED_EVENT, NAME_CALLS + p->number, p->name);
        if (p->number < line.ntold)
            line.told[p->number] = true;
    }
    return NAME_CALLS + p->number;
}

/* ---- Events ---- */

struct event {
    int type;
    uint64_t name; /* 0: none */
    uint64_t flow;
    int flow_field; /* 0: no flow */
    int nnotes;
    struct {
        enum note_name name;
        int64_t value;
    } note[3];
};

static void tell_event(const struct event *e)
{
    struct bytes packet = { .n = 0 }, event = { .n = 0 };
    if (!my_track)
        tell_thread();
    uint64_t now = ku_clock_ns();
    put_number(&packet, PACKET_TIMESTAMP, now > line.last ? now - line.last : 0);
    line.last = now > line.last ? now : line.last;
    put_number(&event, EVENT_TYPE, (uint64_t)e->type);
    if (e->name)
        put_number(&event, EVENT_NAME, e->name);
    if (my_track != 1)
        put_number(&event, EVENT_TRACK, uuid(my_track));
    if (e->flow_field)
        put_fixed(&event, e->flow_field, e->flow);
    for (int i = 0; i < e->nnotes; i++) {
        struct bytes note = { .n = 0 };
        put_number(&note, NOTE_NAME, e->note[i].name);
        put_number(&note, NOTE_INT, (uint64_t)e->note[i].value);
        put_part(&event, EVENT_NOTE, &note);
    }
    put_part(&packet, PACKET_EVENT, &event);
    put_number(&packet, PACKET_FLAGS, 2);
    timeline_packet(&packet);
    if (line.n >= FULL || now - line.written > AGE)
        timeline_write();
}

static void timeline_entered(void *self, const struct MPID_Call *call)
{
    (void)self;
    tell_event(&(struct event){ .type = SLICE_BEGIN, .name = name_of_call(call->procedure) });
}

static void timeline_left(void *self, const struct MPID_Call *call, int error)
{
    (void)self, (void)call, (void)error;
    tell_event(&(struct event){ .type = SLICE_END });
}

static void timeline_waits(void *self, const struct MPID_Waits *what)
{
    (void)self, (void)what;
    tell_event(&(struct event){ .type = SLICE_BEGIN, .name = NAME_WAITING });
}

static void timeline_waits_no_more(void *self)
{
    (void)self;
    tell_event(&(struct event){ .type = SLICE_END });
}

/* ---- Messages ---- */

/* How many messages there were of a kind, in a table that doubles. */
struct kind {
    uint32_t context;
    int32_t sender, tag, receiver; /* sender: in the communicator; receiver: of the job's ranks */
};
static struct counted {
    struct kind kind;
    uint64_t n
        [2]; /* that were sent, and that have met their receives: of a process to itself both; 0, 0: not used */
} * counted;
static uint32_t ncounted, room;

static uint64_t digest_of(const struct kind *k, uint64_t n)
{
    uint64_t word[] = { (uint64_t)k->context << 32 | (uint32_t)k->sender,
                        (uint64_t)(uint32_t)k->tag << 32 | (uint32_t)k->receiver, n },
             sum = 0x243f6a8885a308d3u;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        sum = (sum ^ word[i]) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    return sum ? sum : 1;
}

static bool is_used(const struct counted *c)
{
    return c->n[0] + c->n[1] > 0;
}

static struct counted *counted_at(struct counted *table, uint32_t size, const struct kind *k)
{
    uint32_t i = (uint32_t)digest_of(k, 0) & (size - 1);
    while (is_used(&table[i]) && memcmp(&table[i].kind, k, sizeof *k) != 0)
        i = (i + 1) & (size - 1);
    return &table[i];
}

static bool grow_counted(void)
{
    uint32_t size = room ? 2 * room : 256;
    struct counted *more = calloc(size, sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < room; i++)
        if (is_used(&counted[i]))
            *counted_at(more, size, &counted[i].kind) = counted[i];
    free(counted);
    counted = more;
    room = size;
    return true;
}

/* The number of the next message of this kind; 0: there is no memory to count it, and it gets no arrow. */
static uint64_t next_of(const struct kind *k, bool met)
{
    if (2 * ncounted >= room && !grow_counted())
        return 0;
    struct counted *c = counted_at(counted, room, k);
    ncounted += !is_used(c);
    c->kind = *k;
    return digest_of(k, ++c->n[met]);
}

static void tell_message(enum event_name name, int field, const struct kind *k, int32_t peer, int64_t bytes)
{
    uint64_t flow = next_of(k, name == NAME_MET);
    tell_event(
        &(struct event){ .type = INSTANT,
                         .name = name,
                         .flow = flow,
                         .flow_field = flow ? field : 0,
                         .nnotes = 3,
                         .note = { { NOTE_PEER, peer }, { NOTE_TAG, k->tag }, { NOTE_BYTES, bytes } } });
}

static void timeline_sends(void *self, const struct MPID_Transfer *t)
{
    struct kind k = { t->context, t->rank, t->tag, t->peer };
    (void)self;
    if (t->peer >= 0)
        tell_message(NAME_SENT, EVENT_FLOW, &k, t->peer, t->bytes);
}

static void timeline_matched(void *self, const struct MPID_Match *m)
{
    struct kind k = { m->context, m->source, m->tag, MPID_MyWorldRank };
    (void)self;
    tell_message(NAME_MET, EVENT_FLOW_ENDS, &k, m->peer, m->bytes);
}

static const struct MPID_Listener timeline = { .version = MPID_LISTEN_VERSION,
                                               .size = sizeof timeline,
                                               .call_entered = timeline_entered,
                                               .call_left = timeline_left,
                                               .wait_begun = timeline_waits,
                                               .wait_ended = timeline_waits_no_more,
                                               .transfer_begun = timeline_sends,
                                               .matched = timeline_matched };

/* ---- Beginning and end ---- */

/* Is this rank among "0,4-7"?  NULL, "": all are. */
static bool is_among(const char *list, int rank)
{
    if (!list || !*list)
        return true;
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        char *end;
        long first = strtol(at, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (rank >= first && rank <= last)
            return true;
    }
    return false;
}

/* Hosts count from moments of their own: with several of them, since the beginning of 1970, as each host's clock
 * has it. */
static uint64_t timeline_base(void)
{
    struct timespec real;
    if (MPID_World()->nodes <= 1 || clock_gettime(CLOCK_REALTIME, &real) != 0)
        return 0;
    return (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec - ku_clock_ns();
}

static void timeline_open(const char *file)
{
    const char *why = "there is no memory, or there are too many listeners";
    char text[400];
    line.fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (line.fd < 0) {
        why = strerror(errno);
    } else {
        line.bytes = malloc(ROOM);
        line.open = line.bytes && MPID_Listener_add(&timeline) == 0;
        if (line.open)
            return;
        free(line.bytes);
        close(line.fd);
    }
    snprintf(text, sizeof text, "warning: the trace cannot be written to %.200s: %s", file, why);
    MPID_Message(text);
}

void MPIR_Timeline_begin(void)
{
    static const char *const notes[] = { "", "bytes", "peer", "tag" };
    const char *file = ku_knob_str("TRACE");
    if (!file || !*file || !is_among(ku_knob_str("TRACE_RANKS"), MPID_MyWorldRank))
        return;
    timeline_open(file);
    if (!line.open)
        return;
    line.base = timeline_base();
    begin_sequence();
    tell_process();
    tell_name(INTERNED_EVENT, NAME_WAITING, "waiting");
    tell_name(INTERNED_EVENT, NAME_SENT, "message sent");
    tell_name(INTERNED_EVENT, NAME_MET, "message received");
    for (int i = NOTE_BYTES; i <= NOTE_TAG; i++)
        tell_name(INTERNED_NOTE, (uint64_t)i, notes[i]);
    timeline_write();
}

void MPIR_Timeline_end(void)
{
    if (!line.open)
        return;
    MPID_Listener_remove(&timeline);
    timeline_write();
    close(line.fd);
    free(line.told);
    free(line.bytes);
    free(counted);
    counted = NULL;
    ncounted = room = 0;
    line.told = NULL;
    line.ntold = line.threads = 0;
    line.open = line.failed = false;
    my_track = 0;
}
