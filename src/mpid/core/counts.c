/* SPDX-License-Identifier: BSD-3-Clause */
/* What the core counts and tells of itself (util/counter.h, util/event.h). */
#include "mem.h"

/* ---- Numbers that stand nowhere ---- */

static void add_posted(struct context *c, void *sum)
{
    *(uint64_t *)sum += c->posted.n;
}

static uint64_t posted(void *object)
{
    uint64_t sum = 0;
    (void)object;
    MPID_Contexts_each(add_posted, &sum);
    return sum;
}

static const struct context *context_at(const void *comm, int which)
{
    const struct comm_adi *a = ((const struct MPIR_COMMUNICATOR *)comm)->adi;
    return a != NULL ? a->context[which] : NULL;
}

static uint64_t comm_posted(void *comm)
{
    uint64_t sum = 0;
    for (int i = 0; i < MPID_CONTEXT_IDS; i++)
        sum += context_at(comm, i) != NULL ? context_at(comm, i)->posted.n : 0;
    return sum;
}

static uint64_t comm_unexpected(void *comm)
{
    uint64_t sum = 0;
    for (int i = 0; i < MPID_CONTEXT_IDS; i++)
        sum += context_at(comm, i) != NULL ? context_at(comm, i)->unexp.n : 0;
    return sum;
}

static double unexpected_share(void *object)
{
    double share = 0;
    (void)object;
    if (MPID_core.unexp_limit > 0)
        share = (double)MPID_core.unexp_bytes / (double)MPID_core.unexp_limit;
    return share < 1 ? share : 1;
}

static uint64_t segment_bytes(void *object)
{
    (void)object;
    return MPID_core.up ? MPID_core.job.segment.head->total : 0;
}

static uint64_t shared_blocks(void *object)
{
    (void)object;
    return MPID_core.up ? ku_heap_use(&MPID_core.heap).blocks : 0;
}

static uint64_t shared_pages(void *object)
{
    (void)object;
    return MPID_core.up ? ku_heap_use(&MPID_core.heap).pages : 0;
}

static uint64_t peers_used(void *object)
{
    uint64_t n = 0;
    (void)object;
    for (const struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        n++;
    return n;
}

/* ---- Numbers ---- */

static const struct ku_counter message_rows[] = {
    { .name = "messages_sent",
      .of = KU_COUNT,
      KU_AT(MPID_core.sends),
      .help = "messages begun, of the program and of collectives, by whatever protocol" },
    { .name = "bytes_sent",
      .of = KU_SUM,
      KU_AT(MPID_core.sent_bytes),
      .unit = "bytes",
      .help = "payload of messages to other processes" },
    { .name = "messages_received",
      .of = KU_COUNT,
      KU_AT(MPID_core.received),
      .help = "messages that came from other processes; one by rendezvous counts when it is announced" },
    { .name = "bytes_received",
      .of = KU_SUM,
      KU_AT(MPID_core.received_bytes),
      .unit = "bytes",
      .help = "payload of messages from other processes" },
    { .name = "messages_eager",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.eager),
      .help = "messages sent at once, in one packet behind its head (longer than a short one)" },
    { .name = "messages_rendezvous",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.rndv),
      .help = "messages sent when the receiver was ready: large or synchronous ones" },
    { .name = "memory_puts",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.by_device[MEMOP_PUT]),
      .help = "puts to the memory of other processes by the device's own put" },
    { .name = "memory_gets",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.by_device[MEMOP_GET]),
      .help = "gets from the memory of other processes by the device's own get" },
    { .name = "messages_fetched",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.fetched),
      .help = "long messages that this process's device got from their senders' memory" },
    { .name = "messages_put",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.put),
      .help = "long messages that this process's device put into their receivers' memory" },
    { .name = "memory_atomics",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.by_device[MEMOP_ATOMIC]),
      .help = "updates of the memory of other processes by the device's own atomics" },
    { .name = "messages_self",
      .of = KU_COUNT,
      KU_AT(MPID_core.counts.self),
      .help = "messages of the process to itself" },
    { .name = "bytes_self",
      .of = KU_SUM,
      KU_AT(MPID_core.counts.self_bytes),
      .unit = "bytes",
      .help = "payload of messages of the process to itself" },
    { .name = "rendezvous",
      .of = KU_LEVEL,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.rndvs.live),
      .help = "messages by rendezvous that are under way, to and from this process" },
    { .name = "bytes_coming",
      .of = KU_LEVEL,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.coming),
      .unit = "bytes",
      .help = "of messages by rendezvous that receives have asked for and that are not whole yet" },
    { .name = "bytes_past_cache",
      .of = KU_SUM,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.counts.past_cache),
      .unit = "bytes",
      .help = "of messages, written past the caches of this process's core (see keel_past_cache)" },
    { .name = "peers",
      .of = KU_LEVEL,
      .audience = KU_FOR_TUNERS,
      .tell = peers_used,
      .help = "other processes that messages have been sent to" },
};
static struct ku_counter_table messages = { .rows = message_rows,
                                            .n = sizeof message_rows / sizeof *message_rows,
                                            .area = "mpid.messages" };

static const struct ku_counter matching_rows[] = {
    { .name = "posted_receives", .of = KU_LEVEL, .tell = posted, .help = "receives that wait for a message" },
    { .name = "unexpected_messages",
      .of = KU_LEVEL,
      KU_AT(MPID_core.live_msgs),
      .help = "messages kept that came before their receives" },
    { .name = "unexpected_messages",
      .of = KU_HIGH,
      KU_AT(MPID_core.live_msgs),
      .mark = &MPID_core.counts.most_msgs,
      .help = "the most messages kept that came before their receives" },
    { .name = "unexpected_messages",
      .of = KU_LOW,
      .audience = KU_FOR_TUNERS,
      KU_AT(MPID_core.live_msgs),
      .mark = &MPID_core.counts.least_msgs,
      .help = "the fewest messages kept that came before their receives" },
    { .name = "unexpected_messages",
      .of = KU_COUNT,
      KU_AT(MPID_core.counts.unexpected),
      .help = "messages that came before their receives" },
    { .name = "unexpected_bytes",
      .of = KU_LEVEL,
      KU_AT(MPID_core.unexp_bytes),
      .unit = "bytes",
      .help = "memory of messages kept that came before their receives" },
    { .name = "unexpected_bytes",
      .of = KU_HIGH,
      KU_AT(MPID_core.unexp_bytes),
      .mark = &MPID_core.counts.most_bytes,
      .unit = "bytes",
      .help = "the most memory of messages kept that came before their receives" },
    { .name = "unexpected_share",
      .of = KU_PERCENT,
      .audience = KU_FOR_TUNERS,
      .share = unexpected_share,
      .help = "memory of such messages, as a share of what it may be before senders are told to wait" },
    { .name = "comm_posted_receives",
      .of = KU_LEVEL,
      .per_comm = true,
      .tell = comm_posted,
      .help = "receives of a communicator that wait for a message" },
    { .name = "comm_unexpected_messages",
      .of = KU_LEVEL,
      .per_comm = true,
      .tell = comm_unexpected,
      .help = "messages of a communicator kept that came before their receives" },
};
static struct ku_counter_table matching = { .rows = matching_rows,
                                            .n = sizeof matching_rows / sizeof *matching_rows,
                                            .area = "mpid.matching" };

static const struct ku_counter process_rows[] = {
    { .name = "segment",
      .of = KU_SIZE,
      .audience = KU_FOR_TUNERS,
      .tell = segment_bytes,
      .unit = "bytes",
      .help = "addresses of the memory that the job's processes on this node share; most are never used" },
    { .name = "shared_blocks",
      .of = KU_LEVEL,
      .audience = KU_FOR_TUNERS,
      .tell = shared_blocks,
      .unit = "bytes",
      .help = "blocks that the processes of this node have allotted in the memory they share, for "
              "communicators" },
    { .name = "shared_pages",
      .of = KU_LEVEL,
      .audience = KU_FOR_TUNERS,
      .tell = shared_pages,
      .unit = "bytes",
      .help = "memory that the system has given for these blocks" },
    { .name = "contexts",
      .of = KU_LEVEL,
      .audience = KU_FOR_DEVELOPERS,
      KU_AT(MPID_core.ncontexts),
      .help = "contexts that have queues; a communicator has several" },
    { .name = "sleeps",
      .of = KU_COUNT,
      KU_AT(MPID_core.counts.sleeps),
      .help = "times that the process slept until something came" },
    { .name = "time_asleep",
      .of = KU_TIMER,
      KU_AT(MPID_core.counts.asleep),
      .unit = "seconds",
      .help = "time that the process slept until something came" },
};
static struct ku_counter_table process = { .rows = process_rows,
                                           .n = sizeof process_rows / sizeof *process_rows,
                                           .area = "process" };

/* ---- Events ---- */

static const char *const unexpected_says[] = { "source", "tag", "context", "bytes" };
static const char *const rndv_says[] = { "peer", "is_sent", "bytes" };
static const char *const slept_says[] = { "nanoseconds" };
static const char *const gone_says[] = { "rank" };

struct ku_event MPID_events[CORE_EVENTS] = {
    [EVENT_UNEXPECTED] = { .name = "unexpected_message",
                           .help = "a message came before its receive; source is the sender's rank in "
                                   "the communicator, or in the remote group",
                           .elements = { "keel_event_unexpected_message", 4, unexpected_says },
                           .types = "iiin" },
    [EVENT_RNDV_BEGUN] = { .name = "rendezvous_begun",
                           .help = "a message by rendezvous begins; peer is a rank in MPI_COMM_WORLD, "
                                   "is_sent is 1 "
                                   "where it is sent and 0 where it is received",
                           .audience = KU_FOR_TUNERS,
                           .elements = { "keel_event_rendezvous_begun", 3, rndv_says },
                           .types = "iin" },
    [EVENT_RNDV_ENDED] = { .name = "rendezvous_ended",
                           .help = "a message by rendezvous ends, or fails; as rendezvous_begun",
                           .audience = KU_FOR_TUNERS,
                           .elements = { "keel_event_rendezvous_ended", 3, rndv_says },
                           .types = "iin" },
    [EVENT_SLEPT] = { .name = "slept",
                      .help = "the process has slept until something came",
                      .audience = KU_FOR_TUNERS,
                      .elements = { "keel_event_slept", 1, slept_says },
                      .types = "n" },
    [EVENT_GONE] = { .name = "process_lost",
                     .help =
                         "another process has ended or cannot be reached any more; rank in MPI_COMM_WORLD",
                     .elements = { "keel_event_process_lost", 1, gone_says },
                     .types = "i" },
};
static struct ku_event_table events = { .rows = MPID_events, .n = CORE_EVENTS, .area = "mpid" };

__attribute__((constructor)) static void add_rows(void)
{
    ku_counter_add(&messages);
    ku_counter_add(&matching);
    ku_counter_add(&process);
    ku_event_add(&events);
}
