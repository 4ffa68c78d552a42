/* SPDX-License-Identifier: BSD-3-Clause */
/* profile_tables.c: see profile_tables.h: the file that is mapped, and rows of its tables. */
#define _GNU_SOURCE
#include "config.h"
#include "profile_tables.h"
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "calls.h"
#include "mpid.h"
#include "util/clock.h"

struct ku_profiled *MPIR_Profiled;
static struct MPIR_Profiled_proc *procs; /* by their numbers */

uint64_t MPIR_Profiled_mix(uint64_t a, uint64_t b)
{
    uint64_t sum = (a ^ b) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

int MPIR_Profiled_class(uint64_t bytes)
{
    int c = bytes ? 64 - __builtin_clzll(bytes) : 0;
    return c < KU_PROFILED_CLASSES ? c : KU_PROFILED_CLASSES - 1;
}

/* ---- The file ---- */

static void tables_begin(struct ku_profiled *p)
{
    if (p->version == KU_PROFILED_VERSION && p->pid == getpid()) { /* MPI begins again: the sums go on */
        p->ended = 0;
        return;
    }
    memset(p, 0, sizeof *p); /* perhaps of a process that had this rank before */
    p->size = sizeof *p;
    p->rank = MPID_MyWorldRank;
    p->nranks = MPID_MyWorldSize;
    p->node = MPID_World()->node;
    p->pid = getpid();
    p->began = p->last = ku_clock_ns();
    __atomic_store_n(&p->version, KU_PROFILED_VERSION, __ATOMIC_RELEASE);
}

/* A file of so many bytes, all of which are there, so that no page can be missing later; NULL with errno. */
static void *tables_map(const char *folder, const char *name, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int err = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)bytes);
    void *at = err ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    err = err ? err : at == MAP_FAILED ? errno : 0;
    if (fd >= 0)
        close(fd);
    errno = err;
    return err ? NULL : at;
}

bool MPIR_Profiled_open(const char *folder)
{
    char name[32], text[400];
    snprintf(name, sizeof name, KU_PROFILED_RANK, (int)MPID_MyWorldRank);
    struct ku_profiled *p = tables_map(folder, name, sizeof *p);
    procs = p ? calloc(KU_PROFILED_CALLS, sizeof *procs) : NULL;
    if (procs) {
        tables_begin(p);
        MPIR_Profiled = p;
        return true;
    }
    snprintf(text, sizeof text,
             "warning: there is no profile of this rank, as no %zu bytes can be had in %.200s: %s", sizeof *p,
             folder, strerror(errno));
    MPID_Message(text);
    if (p)
        munmap(p, sizeof *p);
    return false;
}

void MPIR_Profiled_close(void)
{
    munmap(MPIR_Profiled, sizeof *MPIR_Profiled);
    MPIR_Profiled = NULL;
    free(procs);
    procs = NULL;
}

/* ---- The board of the host ---- */

static struct ku_profiled_slot *board;

bool MPIR_Profiled_board(const char *folder)
{
    board = tables_map(folder, KU_PROFILED_BOARD, KU_PROFILED_SLOTS * sizeof *board);
    return board != NULL;
}

void MPIR_Profiled_board_close(void)
{
    if (board)
        munmap(board, KU_PROFILED_SLOTS * sizeof *board);
    board = NULL;
}

uint64_t MPIR_Profiled_arrive(const MPIR_Comm *comm, uint64_t now)
{
    struct ku_profiled_comm *c = MPIR_Profiled_comm(comm);
    if (!c || !board)
        return 0;
    uint64_t group = (uint64_t)c->context << 32 | c->use,
             which = MPIR_Profiled_mix(MPIR_Profiled_mix(group, (uint32_t)c->first), c->seq++) | 1;
    struct ku_profiled_slot *s = &board[(which >> 1) % KU_PROFILED_SLOTS];
    uint64_t mine = ku_profiled_came(now, MPID_MyWorldRank), came = atomic_load(&s->came);
    atomic_store(&s->which, which);
    while (came < mine)
        if (atomic_compare_exchange_weak(&s->came, &came, mine)) {
            atomic_store(&s->site, MPIR_Profiled_in()->site);
            break;
        }
    return which;
}

/* Others may not have come yet: those were not waited for. */
void MPIR_Profiled_over(uint64_t which, uint64_t from, uint64_t now)
{
    struct MPIR_Profiled_inside *in = MPIR_Profiled_in();
    struct ku_profiled_slot *s = &board[(which >> 1) % KU_PROFILED_SLOTS];
    uint64_t came = atomic_load(&s->came), when = came >> KU_CAME_RANK_BITS << KU_CAME_STEP_BITS;
    uint32_t site = atomic_load(&s->site);
    int32_t rank = (int32_t)(came & ((1 << KU_CAME_RANK_BITS) - 1));
    if (atomic_load(&s->which) != which || rank == MPID_MyWorldRank || when <= from || when > now)
        return;
    uint64_t late = when - from, known = in->late < now - from ? now - from - in->late : 0;
    late = late < known ? late : known; /* the rest is a message's */
    MPIR_Profiled_waited(in->site, KU_LATE_COLLECTIVE, rank, site, in->id, late);
    in->late += late;
    in->waited = in->waited < late ? late : in->waited;
}

/* ---- Procedures ---- */

static int8_t proc_arg(const struct MPID_Procedure *p, const char *name)
{
    for (int i = 0; i < p->nargs; i++)
        if (strcmp(p->args[i].name, name) == 0)
            return (int8_t)i;
    return -1;
}

/* What is sent, else what is received. */
static void proc_data(struct MPIR_Profiled_proc *r, const struct MPID_Procedure *p)
{
    for (int pass = 0; pass < 2 && r->count < 0; pass++)
        for (int i = 0; i < p->nargs && r->count < 0; i++) {
            const struct MPID_Arg *a = &p->args[i];
            if (a->what == MPID_ARG_BUFFER && a->count >= 0 && a->datatype >= 0 &&
                p->args[a->count].access == MPID_ARG_VALUE && p->args[a->datatype].access == MPID_ARG_VALUE &&
                (pass > 0 || a->access == MPID_ARG_IN)) {
                r->count = a->count;
                r->type = a->datatype;
            }
        }
}

static bool proc_is(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

static void proc_look(struct MPIR_Profiled_proc *r, const struct MPID_Call *call)
{
    const struct MPID_Procedure *p = call->procedure;
    *r = (struct MPIR_Profiled_proc){ .looked = true, .comm = -1, .count = -1, .type = -1, .request = -1 };
    proc_data(r, p);
    for (int i = 0; i < p->nargs; i++) {
        const struct MPID_Arg *a = &p->args[i];
        bool handle = a->what == MPID_ARG_HANDLE;
        if (handle && a->object == MPID_OBJECT_COMM && a->access == MPID_ARG_VALUE && r->comm < 0)
            r->comm = (int8_t)i;
        if (handle && a->object == MPID_OBJECT_REQUEST && r->request < 0)
            r->request = (int8_t)i;
    }
    r->init = strstr(p->name, "_init") != NULL;
    r->collective = r->comm >= 0 && MPIR_Call_use(call, r->comm) == MPIR_USE_COLLECTIVE;
    r->dest = proc_arg(p, "dest");
    r->tag = proc_arg(p, proc_arg(p, "sendtag") >= 0 ? "sendtag" : "tag");
    r->parts = proc_arg(p, "partitions");
    r->sends = r->dest >= 0 && r->tag >= 0 && r->count >= 0 && r->comm >= 0;
    r->starts = proc_is(p->name, "MPI_Start");
    r->waits = proc_is(p->name, "MPI_Wait") || proc_is(p->name, "MPI_Test");
    r->any = strstr(p->name, "any") != NULL || strstr(p->name, "some") != NULL;
    r->receives = strcmp(p->name, "MPI_Recv") == 0 || strcmp(p->name, "MPI_Recv_c") == 0;
    r->frees = strcmp(p->name, "MPI_Request_free") == 0;
}

const struct MPIR_Profiled_proc *MPIR_Profiled_proc_of(const struct MPID_Call *call)
{
    struct MPIR_Profiled_proc *r =
        call->procedure->number < KU_PROFILED_CALLS ? &procs[call->procedure->number] : NULL;
    if (r && !r->looked) {
        proc_look(r, call);
        snprintf(MPIR_Profiled->call[call->procedure->number].name, sizeof MPIR_Profiled->call[0].name, "%s",
                 call->procedure->name);
    }
    MPIR_Profiled->lost += !r;
    return r;
}

/* ---- Places ---- */

struct looked_up {
    uintptr_t address;
    struct ku_profiled_site *site;
    const char *name;
};

static int module_look(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct looked_up *l = arg;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t in = l->address - (info->dlpi_addr + h->p_vaddr);
        if (h->p_type != PT_LOAD || in >= h->p_memsz)
            continue;
        l->site->offset = in + h->p_offset;
        l->site->linked = in + h->p_vaddr;
        l->name = info->dlpi_name;
        return 1;
    }
    return 0;
}

static uint32_t module_of(const char *name)
{
    char own[sizeof MPIR_Profiled->module[0]] = "";
    if (!*name && readlink("/proc/self/exe", own, sizeof own - 1) > 0)
        name = own;
    for (int i = 0; i < KU_PROFILED_MODULES; i++) {
        char *m = MPIR_Profiled->module[i];
        if (!*m)
            snprintf(m, sizeof own, "%s", name);
        if (strncmp(m, name, sizeof own - 1) == 0)
            return (uint32_t)i + 1;
    }
    return 0;
}

/* The last byte of the call tells its line: it returns to what follows. */
static void site_find(struct ku_profiled_site *s, uint64_t address)
{
    struct looked_up l = { (uintptr_t)address - 1, s, NULL };
    dl_iterate_phdr(module_look, &l);
    s->module = l.name ? module_of(l.name) : 0;
}

uint32_t MPIR_Profiled_site(uint64_t address, uint32_t call)
{
    uint64_t h = MPIR_Profiled_mix(address, call);
    address = address ? address : 1; /* nobody knows where */
    for (uint32_t i = 0; i < KU_PROFILED_SITES; i++) {
        uint32_t at = (uint32_t)(h + i) % KU_PROFILED_SITES;
        struct ku_profiled_site *s = &MPIR_Profiled->site[at];
        if (s->address == address && s->call == call)
            return at + 1;
        if (!s->address) {
            s->call = call;
            site_find(s, address);
            s->address = address;
            return at + 1;
        }
    }
    MPIR_Profiled->lost++;
    return 0;
}

/* ---- Communicators ---- */

static int32_t comm_first(const MPIR_Comm *comm)
{
    int32_t remote = MPIR_Comm_grank(comm, 0), local = comm->local ? MPIR_Comm_grank(comm->local, 0) : remote;
    return local < remote ? local : remote;
}

struct ku_profiled_comm *MPIR_Profiled_comm(const MPIR_Comm *comm)
{
    static uint32_t last;
    uint32_t context = comm->adi.context_id, use = comm->context_use;
    struct ku_profiled_comm *c = &MPIR_Profiled->comm[last];
    if (c->size && c->context == context && c->use == use)
        return c;
    for (uint32_t i = 0; i < KU_PROFILED_COMMS; i++) {
        c = &MPIR_Profiled->comm[i];
        if (!c->size) {
            c->context = context;
            c->use = use;
            c->first = comm_first(comm);
            c->size = comm->adi.size;
        } else if (c->context != context || c->use != use) {
            continue;
        }
        snprintf(c->name, sizeof c->name, "%.39s", comm->name);
        last = i;
        return c;
    }
    MPIR_Profiled->lost++;
    return NULL;
}

/* ---- Messages and waits ---- */

static uint32_t device_of(int32_t peer)
{
    const char *name = peer == MPID_MyWorldRank ? "self" : MPID_Device_of(peer);
    for (uint32_t i = 0; name && i < KU_PROFILED_DEVICES; i++) {
        char *d = MPIR_Profiled->device[i];
        if (!*d)
            snprintf(d, sizeof MPIR_Profiled->device[0], "%.15s", name);
        if (strncmp(d, name, sizeof MPIR_Profiled->device[0] - 1) == 0)
            return i + 1;
    }
    return 0;
}

/* Where the table is three quarters full, streams and places are not told apart any more. */
static struct ku_profiled_pair *pair_at(uint32_t site, int32_t peer, uint32_t stream)
{
    static uint32_t used;
    if (used > KU_PROFILED_PAIRS / 4 * 3) {
        site = UINT32_MAX;
        stream = 0;
    }
    uint64_t h = MPIR_Profiled_mix((uint64_t)site << 32 | (uint32_t)peer, stream);
    for (uint32_t i = 0; i < KU_PROFILED_PAIRS; i++) {
        struct ku_profiled_pair *p = &MPIR_Profiled->pair[(h + i) % KU_PROFILED_PAIRS];
        if (p->site == site && p->peer == peer && p->stream == stream)
            return p;
        if (!p->site) {
            *p = (struct ku_profiled_pair){ site, peer, stream, device_of(peer), 0, 0 };
            used++;
            return p;
        }
    }
    return NULL;
}

void MPIR_Profiled_sent(uint32_t site, int32_t peer, uint32_t stream, uint64_t n, uint64_t bytes)
{
    struct ku_profiled_pair *p = pair_at(site ? site : UINT32_MAX, peer, stream);
    MPIR_Profiled->sent[MPIR_Profiled_class(bytes)] += n;
    MPIR_Profiled->lost += !p;
    if (p) {
        p->n += n;
        p->bytes += n * bytes;
    }
}

void MPIR_Profiled_waited(uint32_t site, enum ku_profiled_why why, int32_t peer, uint32_t stream,
                          uint64_t call, uint64_t ns)
{
    uint64_t h = MPIR_Profiled_mix((uint64_t)site << 32 | (uint32_t)peer, (uint64_t)why << 32 | stream);
    site = site ? site : UINT32_MAX;
    for (uint32_t i = 0; i < KU_PROFILED_WAITS; i++) {
        struct ku_profiled_wait *w = &MPIR_Profiled->wait[(h + i) % KU_PROFILED_WAITS];
        if (!w->site)
            *w = (struct ku_profiled_wait){ .site = site, .why = why, .peer = peer, .stream = stream };
        if (w->site != site || w->why != why || w->peer != peer || w->stream != stream)
            continue;
        w->n += w->last != call;
        w->last = call;
        w->ns += ns;
        w->most = w->most < ns ? ns : w->most;
        return;
    }
    MPIR_Profiled->lost++;
}
