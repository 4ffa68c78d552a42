/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_count.c: what ch_tcp counts and tells of its connections. */
#include "device.h"
#include "tcp.h"
#include "util/counter.h"
#include "util/event.h"

static uint32_t open_now;
static uint64_t opened;

static const struct ku_counter rows[] = {
    { .name = "tcp_connections",
      .of = KU_LEVEL,
      KU_AT(open_now),
      .help = "connections of ch_tcp that stand" },
    { .name = "tcp_connections",
      .of = KU_COUNT,
      .audience = KU_FOR_TUNERS,
      KU_AT(opened),
      .help = "connections of ch_tcp that came to stand" },
};
static struct ku_counter_table counts = { .rows = rows, .n = 2, .area = "mpid.tcp" };

enum { OPENED, CLOSED };
static const char *const says[] = { "rank" };
static struct ku_event event_rows[] = {
    [OPENED] = { .name = "tcp_connected",
                 .help = "a connection of ch_tcp to another process stands; rank in MPI_COMM_WORLD",
                 .elements = { "keel_event_tcp_connected", 1, says },
                 .types = "i" },
    [CLOSED] = { .name = "tcp_disconnected",
                 .help = "a connection of ch_tcp to another process has ended; rank in MPI_COMM_WORLD",
                 .elements = { "keel_event_tcp_disconnected", 1, says },
                 .types = "i" },
};
static struct ku_event_table events = { .rows = event_rows, .n = 2, .area = "mpid.tcp" };

__attribute__((constructor)) static void add_rows(void)
{
    ku_counter_add(&counts);
    ku_event_add(&events);
}

void dev_tcp_opened(int32_t grank)
{
    open_now++;
    opened++;
    ku_event_tell(&event_rows[OPENED], (const int64_t[]){ grank });
}

void dev_tcp_closed(int32_t grank)
{
    open_now--;
    ku_event_tell(&event_rows[CLOSED], (const int64_t[]){ grank });
}
