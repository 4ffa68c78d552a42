/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.c: the buffers of a call that lie in other memory than the host's, while the operation lasts (see stage.h).
 *
 * How long that is, the call tells:
 *
 *   STAGE_CALL      it has no request and no window: until it returns
 *   STAGE_REQUEST   it makes a request: until that is complete; of persistent and partitioned ones again and again
 *   STAGE_WINDOW    it is one-sided: until the call that completes it at the origin
 *   STAGE_FILE      it begins a split collective operation: until the call that ends that
 *
 * Only the bytes of the datatype are copied, in both directions: those between them may be somebody else's. */
#include "config.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "mpi_err.h"
#include "file.h"
#include "mpi_const.h"
#include "staging.h"
#include "topo.h"
#include "win.h"

enum {
    PAGE = 4096,
    LINE = 64,        /* the copy lies in a cache line as the buffer does */
    MAPPED = 1 << 20, /* from so many bytes on a copy is a mapping: pages without data are never there */
    BUCKETS = 4096
};

static struct staged **kept;           /* [BUCKETS]; NULL: nothing has been staged yet */
static int nkept, norphans, nwindowed; /* all; ...; one-sided ones with a request */
static uint64_t numbers;

/* ---- Arguments ---- */

int MPIR_Stage_arg(const struct MPIR_Call *c, const char *name)
{
    const struct MPID_Procedure *p = c->told.procedure;
    int i = p->nargs - 1;
    while (i >= 0 && strcmp(p->args[i].name, name) != 0)
        i--;
    return i;
}

static int64_t integer(const struct MPIR_Call *c, int arg, int64_t index)
{
    return MPIR_Call_host.integer(&c->told, arg, index);
}

void *MPIR_Stage_pointer(const struct MPIR_Call *c, int arg)
{
    void *at;
    memcpy(&at, c->told.arg[arg], sizeof at);
    return at;
}

/* The arguments are variables of the function that tells of the call (gen_calls.py), and none is constant. */
void MPIR_Stage_point(struct MPIR_Call *c, int arg, void *to)
{
    memcpy((void *)(uintptr_t)c->told.arg[arg], &to, sizeof to);
}

static bool is_named(const struct MPIR_Call *c, const char *name)
{
    return strcmp(c->told.procedure->name, name) == 0;
}

static bool ends_in(const struct MPIR_Call *c, const char *end)
{
    size_t n = strlen(c->told.procedure->name), m = strlen(end);
    return n >= m && strcmp(c->told.procedure->name + n - m, end) == 0;
}

static int handle_arg(const struct MPIR_Call *c, enum MPIR_KIND kind, enum MPID_ARG_ACCESS access)
{
    for (int i = 0; i < c->told.procedure->nargs; i++) {
        const struct MPID_Arg *a = &c->told.procedure->args[i];
        if (a->what == MPID_ARG_HANDLE && a->object == kind && a->access == access)
            return i;
    }
    return -1;
}

static uint64_t handle_of(const struct MPIR_Call *c, enum MPIR_KIND kind, enum MPID_ARG_ACCESS access)
{
    int i = handle_arg(c, kind, access);
    return i < 0 ? 0 : MPIR_Call_host.handle(&c->told, i, 0);
}

/* ---- What a buffer has ---- */

static bool is_significant(const struct MPIR_Call *c, int use)
{
    const MPIR_Comm *comm = MPIR_Call_comm(&c->told);
    int arg = MPIR_Stage_arg(c, "root"), root = arg < 0 ? 0 : (int)integer(c, arg, 0);
    bool at_root = comm && (comm->remote_group ? root == MPI_ROOT : comm->adi.rank == root);
    if (use & MPIR_USE_ROOT)
        return at_root;
    if (use & MPIR_USE_LEAF)
        return comm && (!comm->remote_group || root >= 0);
    if (use & MPIR_USE_ANY)
        return root != MPI_PROC_NULL;
    return true;
}

static int64_t blocks_of(const struct MPIR_Call *c, int use, const char *name)
{
    const MPIR_Comm *comm = MPIR_Call_comm(&c->told);
    int in = 0, out = 0;
    if (use & MPIR_USE_MINE && MPIR_Stage_pointer(c, MPIR_Stage_arg(c, "sendbuf")) != MPI_IN_PLACE)
        return 1;
    switch (use & MPIR_USE_BLOCKS) {
    case MPIR_USE_SIZE:
        return comm ? comm->adi.remote_size : 0;
    case MPIR_USE_LOCAL:
        return comm ? comm->adi.size : 0;
    case MPIR_USE_EACH:
        if (!comm || !comm->topo || MPIR_Topo_degrees(comm, &in, &out))
            return 0;
        return name[0] == 's' ? out : in;
    case MPIR_USE_PARTITIONS:
        return integer(c, MPIR_Stage_arg(c, "partitions"), 0);
    }
    return 1;
}

static MPIR_Datatype *type_of(const struct MPIR_Call *c, int arg, int64_t index)
{
    return arg < 0 ? NULL : MPIR_Object_of(MPIR_KIND_DATATYPE, MPIR_Call_host.handle(&c->told, arg, index));
}

/* Of a buffer with an array of counts. */
static int blocks_by_counts(const struct MPIR_Call *c, const struct MPID_Arg *a, int use,
                            struct stage_buffer *b)
{
    const struct MPID_Arg *types = &c->told.procedure->args[a->datatype];
    char of_side[] = { a->name[0], 'd', 'i', 's', 'p', 'l', 's', 0 };
    int displs = MPIR_Stage_arg(c, of_side), in = MPIR_Stage_arg(c, "sendbuf");
    const MPIR_Comm *comm = MPIR_Call_comm(&c->told);
    int64_t n = MPIR_Call_host.length(&c->told, a->count), sum = 0;
    displs = displs < 0 ? MPIR_Stage_arg(c, "displs") : displs;
    if (use & MPIR_USE_MINE && comm && MPIR_Stage_pointer(c, in) != MPI_IN_PLACE) {
        b->n = 1;
        b->one =
            (struct MPIR_Data_block){ 0, integer(c, a->count, comm->adi.rank), type_of(c, a->datatype, 0) };
        return 0;
    }
    b->blocks = n > 0 ? malloc((size_t)n * sizeof *b->blocks) : NULL;
    if (n > 0 && !b->blocks)
        return MPIR_Err(MPI_ERR_NO_MEM, a->name, "has %lld blocks, and there is no memory to note them",
                        (long long)n);
    for (int64_t i = 0; i < n; i++) {
        bool apart = types->access != MPID_ARG_VALUE;
        int64_t count = integer(c, a->count, i), at = displs < 0 ? sum : integer(c, displs, i);
        MPIR_Datatype *t = type_of(c, a->datatype, apart ? i : 0);
        sum += count;
        if (count <= 0 || !t)
            continue;
        b->blocks[b->n++] = (struct MPIR_Data_block){ apart ? at : at * t->adi.extent, count, t };
    }
    return 0;
}

/* False: the call does not use it, or says itself what is wrong. */
static bool is_data(const struct MPIR_Data_block *k)
{
    int64_t bytes;
    return k->count > 0 && (!k->type || (k->type->adi.size > 0 && k->type->adi.is_committed)) &&
           !__builtin_mul_overflow(k->count, k->type ? k->type->adi.size : 1, &bytes);
}

/* Where the data of all blocks begin and end. */
static bool span(struct stage_buffer *b)
{
    bool some = false;
    int64_t kept_blocks = 0;
    for (int64_t i = 0; i < b->n; i++) {
        const struct MPIR_Data_block *k = b->blocks ? &b->blocks[i] : &b->one;
        if (!is_data(k))
            continue;
        int64_t extent = k->type ? k->type->adi.extent : 1, first = k->type ? k->type->adi.true_lb : 0,
                bytes = k->type ? k->type->adi.true_extent : 1, last;
        if (__builtin_mul_overflow(k->count - 1, extent, &last) ||
            __builtin_add_overflow(last, k->at + first, &last))
            continue;
        int64_t lo = k->at + first < last ? k->at + first : last,
                hi = (k->at + first < last ? last : k->at + first) + bytes;
        b->lo = !some || lo < b->lo ? lo : b->lo;
        b->hi = !some || hi > b->hi ? hi : b->hi;
        some = true;
        if (b->blocks)
            b->blocks[kept_blocks++] = *k;
    }
    if (b->blocks)
        b->n = kept_blocks;
    return some;
}

/* Argument i, if that is data which the call uses.  An error class; b->n is 0: it is not. */
static int buffer_of(const struct MPIR_Call *c, int i, struct stage_buffer *b)
{
    const struct MPID_Arg *a = &c->told.procedure->args[i];
    int use = MPIR_Call_use(&c->told, i), err = 0;
    *b = (struct stage_buffer){ .user = MPIR_Stage_pointer(c, i),
                                .writes = a->what == MPID_ARG_BUFFER && a->access != MPID_ARG_IN };
    int target = MPIR_Stage_arg(c, "target_rank");
    if (target >= 0 && integer(c, target, 0) == MPI_PROC_NULL)
        return 0;
    if ((a->what != MPID_ARG_BUFFER && !(use & MPIR_USE_ORIGIN)) || (a->count < 0 && a->datatype < 0) ||
        b->user == MPI_IN_PLACE || !is_significant(c, use))
        return 0;
    if (use & MPIR_USE_ORIGIN &&
        MPIR_Call_host.handle(&c->told, MPIR_Stage_arg(c, "op"), 0) == KEEL_MPI_NO_OP)
        return 0;
    if (a->count >= 0 && c->told.procedure->args[a->count].access != MPID_ARG_VALUE) {
        err = blocks_by_counts(c, a, use, b);
    } else {
        b->n = 1;
        b->one = (struct MPIR_Data_block){ 0, a->count < 0 ? 1 : integer(c, a->count, 0),
                                           type_of(c, a->datatype, 0) };
        if (__builtin_mul_overflow(b->one.count, blocks_of(c, use, a->name), &b->one.count) ||
            (a->datatype >= 0 && !b->one.type))
            b->n = 0;
    }
    if (!err && !(b->n > 0 && span(b))) {
        free(b->blocks);
        b->blocks = NULL;
        b->n = 0;
    }
    return err;
}

void MPIR_Stage_data(const struct MPIR_Call *c, int i, struct MPIR_Data *data)
{
    struct stage_buffer b;
    if (buffer_of(c, i, &b))
        b.n = 0;
    *data = (struct MPIR_Data){ .base = b.user, .n = b.n, .blocks = b.blocks, .one = b.one };
}

/* ---- Copies ---- */

struct mover {
    struct stage_buffer *b;
    int64_t at; /* of the block */
    bool in;
    int err;
};

static int move_bytes(const struct MPIR_Memory_kind *kind, bool in, char *user, char *host, int64_t bytes)
{
    if (kind)
        return kind->copy(in ? host : user, in ? user : host, (size_t)bytes);
    memcpy(in ? host : user, in ? user : host, (size_t)bytes);
    return 0;
}

/* A buffer may be longer than its allocation: memory of several that lie side by side; or a receive that was told
 * of more than there is, of which nothing is moved then. */
static int64_t within(struct stage_buffer *b, char *user, int64_t bytes)
{
    struct MPIR_Memory_block *k = &b->block;
    if (user < k->base || user >= k->base + k->size) {
        struct MPIR_Memory_block next;
        if (MPIR_Memory_at(user, &next) != b->kind)
            return b->writes ? 0 : bytes;
        *k = next;
    }
    return k->base + k->size - user < bytes ? k->base + k->size - user : bytes;
}

static bool move_run(void *arg, int64_t at, int64_t bytes)
{
    struct mover *m = arg;
    char *user = m->b->user + m->at + at, *host = m->b->host + m->at + at;
    struct MPIR_Memory_block block;
    if (m->b->mixed) {
        m->err = move_bytes(MPIR_Memory_at(user, &block), m->in, user, host, bytes);
        return m->err == 0;
    }
    for (int64_t n; bytes > 0 && !m->err && (n = within(m->b, user, bytes)) > 0;
         bytes -= n, user += n, host += n)
        m->err = move_bytes(m->b->kind, m->in, user, host, n);
    return m->err == 0;
}

static int stage_move(struct stage_buffer *b, bool in, int64_t partition, int64_t partitions)
{
    struct mover m = { .b = b, .in = in };
    for (int64_t i = 0; i < b->n && !m.err; i++) {
        const struct MPIR_Data_block *k = b->blocks ? &b->blocks[i] : &b->one;
        bool same = k->type && k->type->adi.extent == 0 && partition < 0; /* all elements are one */
        int64_t bytes = (same ? 1 : k->count) * (k->type ? k->type->adi.size : 1), from = 0;
        if (partition >= 0) {
            bytes /= partitions;
            from = partition * bytes;
        }
        m.at = k->at;
        if (k->type)
            MPID_Layout_runs(&k->type->adi, from, bytes, move_run, &m);
        else
            move_run(&m, from, bytes);
    }
    return m.err;
}

/* The buffer may be a copy itself, of a section of a Fortran array: that one is the first that is read, and the
 * last written. */
static void move_section(struct staged *s, enum MPIR_COPY what, int64_t partition)
{
    const struct MPIR_Data_block *k = &s->buffer[0].one;
    int64_t bytes = partition < 0 ? -1 : k->count / s->partitions * (k->type ? k->type->adi.extent : 1);
    MPIR_Copies_move(s->copies, what, partition < 0 ? 0 : partition * bytes, bytes);
}

int MPIR_Stage_move(struct staged *s, bool in, int64_t partition)
{
    int err = 0;
    if (in)
        move_section(s, MPIR_COPY_IN, partition);
    for (int i = 0; i < s->n; i++) {
        int now = in || s->buffer[i].writes ? stage_move(&s->buffer[i], in, partition, s->partitions) : 0;
        err = err ? err : now;
    }
    if (!in)
        move_section(s, MPIR_COPY_OUT, partition);
    return err;
}

/* Host memory for the buffer. */
static int make_copy(struct stage_buffer *b, const char *name)
{
    size_t bytes = (size_t)(b->hi - b->lo) + 2 * LINE;
    b->mapped = bytes >= MAPPED ? (bytes + PAGE - 1) / PAGE * PAGE : 0;
    b->memory = !b->mapped ? malloc(bytes)
                           : mmap(NULL, b->mapped, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!b->memory || b->memory == MAP_FAILED) {
        b->memory = NULL;
        return MPIR_Err(MPI_ERR_NO_MEM, name,
                        "is %s memory, and there are no %lld bytes of the host's for a copy", b->kind->name,
                        (long long)(b->hi - b->lo));
    }
    uintptr_t first = (uintptr_t)b->user + (uintptr_t)b->lo,
              at = ((uintptr_t)b->memory + LINE - 1) / LINE * LINE + first % LINE;
    b->host = (char *)(at - (uintptr_t)b->lo);
    return 0;
}

struct search {
    const struct stage_buffer *b;
    int64_t at;
    const struct MPIR_Memory_kind *kind;
};

static bool look_at_run(void *arg, int64_t at, int64_t bytes)
{
    struct search *s = arg;
    struct MPIR_Memory_block block;
    (void)bytes;
    s->kind = MPIR_Memory_at(s->b->user + s->at + at, &block);
    return !s->kind;
}

/* Data at absolute addresses (MPI_BOTTOM) may lie in memory of several kinds; others are of one allocation. */
static bool find_kind(struct stage_buffer *b)
{
    struct search s = { .b = b };
    if ((uintptr_t)b->user >= PAGE) {
        b->kind = MPIR_Memory_at(b->user + b->lo, &b->block);
        if (!b->kind)
            b->kind = MPIR_Memory_at(b->user + b->hi - 1, &b->block);
        return b->kind != NULL;
    }
    for (int64_t i = 0; i < b->n && !s.kind; i++) {
        const struct MPIR_Data_block *k = b->blocks ? &b->blocks[i] : &b->one;
        s.at = k->at;
        if (k->type)
            MPID_Layout_runs(&k->type->adi, 0, k->count * k->type->adi.size, look_at_run, &s);
    }
    b->kind = s.kind;
    b->mixed = s.kind != NULL;
    return b->mixed;
}

static void free_buffer(struct stage_buffer *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        MPIR_Datatype *t = b->blocks ? b->blocks[i].type : b->one.type;
        if (t)
            MPIR_Datatype_release(t);
    }
    free(b->blocks);
    if (b->mapped)
        munmap(b->memory, b->mapped);
    else
        free(b->memory);
}

void MPIR_Stage_free(struct staged *s)
{
    MPIR_Copies_move(s->copies, MPIR_COPY_GONE, 0, -1);
    for (int i = 0; i < s->n; i++)
        free_buffer(&s->buffer[i]);
    free(s->there);
    free(s);
}

/* Note argument i, if it is a buffer that has to be staged. */
static int note_arg(struct MPIR_Call *c, int i)
{
    struct stage_buffer b;
    int err = buffer_of(c, i, &b);
    if (err || b.n == 0)
        return err;
    if (!find_kind(&b)) {
        free(b.blocks);
        return 0;
    }
    if (!kept)
        kept = calloc(BUCKETS, sizeof *kept);
    if (!c->staged && kept)
        c->staged = calloc(1, sizeof *c->staged);
    if (!c->staged) {
        free(b.blocks);
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for the copies of this call's buffers");
    }
    for (int64_t k = 0; k < b.n; k++) { /* the program may free them before the operation is over */
        MPIR_Datatype *t = b.blocks ? b.blocks[k].type : b.one.type;
        if (t)
            MPIR_Object_ref(t);
    }
    b.arg = i;
    c->staged->buffer[c->staged->n++] = b;
    return 0;
}

/* Where two buffers begin at one address their copies do, too: that may be wrong, which the call tells, or right. */
static void unite(struct staged *s)
{
    for (int i = 1; i < s->n; i++)
        for (int k = 0; k < i && !s->buffer[i].first; k++) {
            struct stage_buffer *a = &s->buffer[k], *b = &s->buffer[i];
            if (a->user != b->user || a->first)
                continue;
            a->lo = a->lo < b->lo ? a->lo : b->lo;
            a->hi = a->hi > b->hi ? a->hi : b->hi;
            b->first = a;
        }
}

/* ---- Operations that outlive their call ---- */

static struct staged **bucket(uint64_t of)
{
    static struct staged *none;
    return !kept ? &none : &kept[(of * 0x9e3779b97f4a7c15u) >> 52];
}

static void stage_keep(struct staged *s, enum stage_life life, uint64_t of)
{
    struct staged **b = bucket(of);
    s->life = life;
    s->of = of;
    s->number = ++numbers;
    nwindowed += s->window != 0;
    s->next = *b;
    *b = s;
    nkept++;
}

static void stage_drop(struct staged *s)
{
    struct staged **at = bucket(s->of);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    nkept--;
    norphans -= s->orphan;
    nwindowed -= s->window != 0;
    MPIR_Stage_free(s);
}

static struct staged *stage_find(enum stage_life life, uint64_t of)
{
    struct staged *s = *bucket(of);
    while (s && (s->of != of || s->life != life))
        s = s->next;
    return s;
}

static bool is_over(MPIR_Request *r)
{
    return !r || !MPIR_Request_is_active(r) || atomic_load_explicit(&r->is_complete, memory_order_acquire);
}

/* What has come, without the partitions that the program was told of. */
static int bring_back(struct staged *s)
{
    int err = 0;
    if (!s->there)
        return MPIR_Stage_move(s, false, -1);
    for (int64_t p = 0; p < s->partitions && !err; p++)
        err = s->there[p] ? 0 : MPIR_Stage_move(s, false, p);
    memset(s->there, 0, (size_t)s->partitions);
    return err;
}

/* Is the operation of this request over?  Then it is brought back, and gone if the request is. */
static int stage_settle(struct staged *s)
{
    MPIR_Request *r = MPIR_Object_of(MPIR_KIND_REQUEST, s->of);
    int err = 0;
    if (s->active && is_over(r)) {
        s->active = false;
        err = bring_back(s);
    }
    if (r && s->orphan && !s->active)
        MPIR_Request_release(r);
    if (!r || (s->orphan && !s->active))
        stage_drop(s);
    return err;
}

static void settle_orphans(void)
{
    for (int i = 0; i < BUCKETS && norphans > 0; i++)
        for (struct staged *s = kept[i], *next; s; s = next) {
            next = s->next;
            if (s->orphan && MPIR_Request_is_complete(MPIR_Object_of(MPIR_KIND_REQUEST, s->of)))
                (void)stage_settle(s); /* nobody asks for its error */
        }
}

bool MPIR_Stage_keeps(struct MPIR_HANDLE *request)
{
    struct staged *s = nkept > 0 ? stage_find(STAGE_REQUEST, MPIR_Object_handle(request)) : NULL;
    if (!s || !s->active || is_over(request))
        return false;
    s->orphan = true;
    norphans++;
    return true;
}

bool MPIR_Stage_takes(struct MPIR_HANDLE *request, struct MPIR_Copies *copies)
{
    struct staged *s = nkept > 0 ? stage_find(STAGE_REQUEST, MPIR_Object_handle(request)) : NULL;
    if (!s)
        return false;
    copies->next = s->copies;
    s->copies = copies;
    if (!s->active && MPIR_Request_is_active(request))
        copies->move(copies, MPIR_COPY_OUT, 0, -1);
    return true;
}

static void stage_look_at(struct MPIR_Call *c, uint64_t request, int64_t room)
{
    if (!stage_find(STAGE_REQUEST, request))
        return;
    if (c->nlooked == 0)
        c->looked = room <= (int64_t)(sizeof c->few / sizeof *c->few)
                        ? c->few
                        : malloc((size_t)room * sizeof *c->looked);
    if (c->looked) /* else they are found by a later call */
        c->looked[c->nlooked++] = request;
}

/* The requests among the arguments that have something staged.  (By handle: another thread may be in a call with
 * the same one.) */
static void look_for_requests(struct MPIR_Call *c)
{
    for (int i = 0; i < c->told.procedure->nargs; i++) {
        const struct MPID_Arg *a = &c->told.procedure->args[i];
        if (a->what != MPID_ARG_HANDLE || a->object != MPID_OBJECT_REQUEST || a->access == MPID_ARG_OUT)
            continue;
        int64_t n = MPIR_Call_host.length(&c->told, i);
        for (int64_t k = 0; k < n; k++)
            stage_look_at(c, MPIR_Call_host.handle(&c->told, i, k), n);
        return; /* no procedure has two such arguments */
    }
}

/* MPI_Start: what is sent is read now; of partitions, when they are ready. */
static int begin_again(const struct MPIR_Call *c)
{
    int err = 0;
    for (int64_t i = 0; i < c->nlooked && !err; i++) {
        struct staged *s = stage_find(STAGE_REQUEST, c->looked[i]);
        if (!s->active && (!s->partitions || s->buffer[0].writes))
            err = MPIR_Stage_move(s, true, -1);
    }
    return err;
}

/* MPI_Pready and its like. */
static int make_ready(const struct MPIR_Call *c, struct staged *s)
{
    int low = MPIR_Stage_arg(c, "partition_low"), high = MPIR_Stage_arg(c, "partition_high"),
        list = MPIR_Stage_arg(c, "array_of_partitions");
    int64_t n = 1, first = 0;
    int err = 0;
    if (low >= 0) {
        first = integer(c, low, 0);
        n = integer(c, high, 0) - first + 1;
    } else if (list >= 0) {
        n = integer(c, MPIR_Stage_arg(c, "length"), 0);
    }
    for (int64_t i = 0; i < n && !err; i++) {
        int64_t p = low >= 0    ? first + i
                    : list >= 0 ? integer(c, list, i)
                                : integer(c, MPIR_Stage_arg(c, "partition"), 0);
        if (p >= 0 && p < s->partitions)
            err = MPIR_Stage_move(s, true, p);
    }
    return err;
}

static int arrived(const struct MPIR_Call *c, struct staged *s)
{
    int64_t p = integer(c, MPIR_Stage_arg(c, "partition"), 0);
    if (!integer(c, MPIR_Stage_arg(c, "flag"), 0) || !s->there || p < 0 || p >= s->partitions ||
        s->there[p] || !s->active)
        return 0;
    s->there[p] = 1;
    return MPIR_Stage_move(s, false, p);
}

/* ---- One-sided calls, and split collective ones ---- */

/* Does the call complete, at the origin, what this process has begun in the window?  *all: with all ranks; else
 * with *target. */
static bool completes(const struct MPIR_Call *c, bool *all, int32_t *target)
{
    static const char *const names[] = { "MPI_Win_fence",       "MPI_Win_complete",
                                         "MPI_Win_unlock",      "MPI_Win_unlock_all",
                                         "MPI_Win_flush",       "MPI_Win_flush_all",
                                         "MPI_Win_flush_local", "MPI_Win_flush_local_all",
                                         "MPI_Win_free" };
    int rank = MPIR_Stage_arg(c, "rank");
    *all = rank < 0;
    *target = *all ? -1 : (int32_t)integer(c, rank, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_named(c, names[i]))
            return true;
    return false;
}

/* What another thread has begun meanwhile is not meant. */
static int settle_window(struct MPIR_Call *c)
{
    int32_t target;
    bool all;
    int err = 0, now = 0;
    if (!completes(c, &all, &target))
        return 0;
    struct staged *mine = NULL; /* in the order of the calls */
    for (struct staged **at = bucket(c->window), *s; (s = *at);) {
        if (s->life != STAGE_WINDOW || s->of != c->window || s->number > c->number ||
            (!all && s->target != target)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        nkept--;
        s->next = mine;
        mine = s;
    }
    for (struct staged *s = mine, *next; s; s = next) {
        next = s->next;
        now = MPIR_Stage_move(s, false, -1);
        err = err ? err : now;
        MPIR_Stage_free(s);
    }
    for (int i = 0; i < BUCKETS && nwindowed > 0; i++)
        for (struct staged *s = kept[i]; s; s = s->next) {
            if (s->window != c->window || !s->active || s->number > c->number ||
                (!all && s->target != target))
                continue;
            s->active = false;
            now = MPIR_Stage_move(s, false, -1);
            err = err ? err : now;
        }
    return err;
}

/* MPI_File_..._end: its buffer is the one of the call that began it. */
static void find_split(struct MPIR_Call *c)
{
    int buf = MPIR_Stage_arg(c, "buf");
    uint64_t file = handle_of(c, MPIR_KIND_FILE, MPID_ARG_VALUE);
    struct staged *s = buf < 0 ? NULL : stage_find(STAGE_FILE, file);
    if (!s)
        return;
    MPIR_Stage_point(c, buf, s->buffer[0].host);
    c->file = file;
}

static int end_split(struct MPIR_Call *c)
{
    struct staged *s = stage_find(STAGE_FILE, c->file);
    if (!s)
        return 0;
    MPIR_Stage_point(c, MPIR_Stage_arg(c, "buf"), s->buffer[0].user);
    int err = MPIR_Stage_move(s, false, -1);
    stage_drop(s);
    return err;
}

/* ---- Calls ---- */

static int stage_all(struct MPIR_Call *c)
{
    int err = 0;
    for (int i = 0; i < c->told.procedure->nargs && !err; i++)
        err = note_arg(c, i);
    if (!c->staged || err)
        return err;
    unite(c->staged);
    for (int i = 0; i < c->staged->n && !err; i++) {
        struct stage_buffer *b = &c->staged->buffer[i];
        if (b->first)
            b->host = b->first->host;
        else
            err = make_copy(b, c->told.procedure->args[b->arg].name);
        if (!err)
            MPIR_Stage_point(c, b->arg, b->host);
    }
    bool begins = !ends_in(c, "_init") && !ends_in(c, "_init_c");
    if (!err && begins)
        err = MPIR_Stage_move(c->staged, true, -1);
    return err;
}

/* The call is not made. */
static void undo(struct MPIR_Call *c)
{
    if (c->looked != c->few)
        free(c->looked);
    if (c->staged)
        MPIR_Stage_free(c->staged);
    (void)MPIR_Stage_window_leave(c, MPI_ERR_OTHER);
}

/* Does the call wait for this request, which the program has let go of? */
static bool waits_for(const struct MPIR_Call *c, const MPIR_Request *r)
{
    if (is_named(c, "MPI_Finalize"))
        return true;
    const MPIR_Comm *comm = (const MPIR_Comm *)r->comm;
    if (is_named(c, "MPI_Comm_disconnect"))
        return comm && MPIR_Object_handle(comm) == handle_of(c, MPIR_KIND_COMM, MPID_ARG_INOUT);
    return comm && comm->session && is_named(c, "MPI_Session_finalize") &&
           MPIR_Object_handle(comm->session) == handle_of(c, MPIR_KIND_SESSION, MPID_ARG_INOUT);
}

static bool waits_for_some(const struct MPIR_Call *c)
{
    for (int i = 0; i < BUCKETS && norphans > 0; i++)
        for (const struct staged *s = kept[i]; s; s = s->next)
            if (s->orphan && waits_for(c, MPIR_Object_of(MPIR_KIND_REQUEST, s->of)))
                return true;
    return false;
}

/* An attached buffer is written by each call that sends from it, whenever that is. */
static int refuse_attached(const struct MPIR_Call *c)
{
    struct MPIR_Memory_block block;
    int buffer = MPIR_Stage_arg(c, "buffer");
    const struct MPIR_Memory_kind *kind = buffer >= 0 && strstr(c->told.procedure->name, "attach")
                                              ? MPIR_Memory_at(MPIR_Stage_pointer(c, buffer), &block)
                                              : NULL;
    if (!kind || kind->reachable)
        return 0;
    return MPIR_Err(MPI_ERR_BUFFER, "buffer",
                    "is %s memory; expected the host's, for messages that wait to be sent", kind->name);
}

static int enter_kept(struct MPIR_Call *c)
{
    int err = 0;
    look_for_requests(c);
    c->window = handle_of(c, MPIR_KIND_WIN,
                          strstr(c->told.procedure->name, "_free") ? MPID_ARG_INOUT : MPID_ARG_VALUE);
    if (ends_in(c, "_end"))
        find_split(c);
    if (c->nlooked > 0 && (is_named(c, "MPI_Start") || is_named(c, "MPI_Startall")))
        err = begin_again(c);
    if (c->nlooked > 0 && strncmp(c->told.procedure->name, "MPI_Pready", 10) == 0)
        err = make_ready(c, stage_find(STAGE_REQUEST, c->looked[0]));
    return err;
}

int MPIR_Stage_enter(struct MPIR_Call *c)
{
    c->staged = NULL;
    c->looked = c->few;
    c->nlooked = 0;
    c->window = c->synchronized = c->file = 0;
    c->number = numbers;
    c->late = 0;
    c->made_window = NULL;
    if (norphans > 0)
        settle_orphans();
    while (norphans > 0 && waits_for_some(c)) {
        MPID_DeviceCheck(MPID_BLOCKING);
        settle_orphans();
    }
    int err = nkept > 0 ? enter_kept(c) : 0;
    if (!err)
        err = refuse_attached(c);
    if (!err)
        err = MPIR_Stage_window_enter(c);
    if (!err)
        err = stage_all(c);
    if (err)
        undo(c);
    return err;
}

/* The call has begun an operation that goes on: what it staged stays. */
static void outlive(struct MPIR_Call *c, enum stage_life life, uint64_t of)
{
    struct staged *s = c->staged;
    int partitions = MPIR_Stage_arg(c, "partitions"), target = MPIR_Stage_arg(c, "target_rank");
    s->active = true;
    s->target = target < 0 ? -1 : (int32_t)integer(c, target, 0);
    if (life == STAGE_REQUEST) {
        const MPIR_Request *r = MPIR_Object_of(MPIR_KIND_REQUEST, of);
        s->active = !r || MPIR_Request_is_active(r);
        s->window = handle_of(c, MPIR_KIND_WIN, MPID_ARG_VALUE);
    }
    if (partitions >= 0) {
        s->partitions = integer(c, partitions, 0);
        s->there = s->buffer[0].writes ? calloc((size_t)s->partitions, 1) : NULL;
    }
    stage_keep(s, life, of);
    c->staged = NULL;
    if (life == STAGE_REQUEST && s->active)
        (void)stage_settle(s);
}

static int leave_staged(struct MPIR_Call *c, int error)
{
    uint64_t request = handle_of(c, MPIR_KIND_REQUEST, MPID_ARG_OUT),
             window = handle_of(c, MPIR_KIND_WIN, MPID_ARG_VALUE),
             file = handle_of(c, MPIR_KIND_FILE, MPID_ARG_VALUE);
    bool makes = handle_arg(c, MPIR_KIND_REQUEST, MPID_ARG_OUT) >= 0,
         begins = strstr(c->told.procedure->name, "_begin") != NULL;
    int err = 0;
    for (int i = 0; i < c->staged->n; i++)
        MPIR_Stage_point(c, c->staged->buffer[i].arg, c->staged->buffer[i].user);
    if (!error && makes && request >= MPIR_PREDEFINED_MAX) {
        outlive(c, STAGE_REQUEST, request);
        return 0;
    }
    if (!error && !makes && window) {
        outlive(c, STAGE_WINDOW, window);
        return 0;
    }
    if (!error && file && begins) {
        outlive(c, STAGE_FILE, file);
        return 0;
    }
    if (!makes && !window && !begins)
        err = MPIR_Stage_move(c->staged, false, -1);
    MPIR_Stage_free(c->staged);
    c->staged = NULL;
    return err;
}

static int leave_looked(struct MPIR_Call *c, int error)
{
    bool starts = is_named(c, "MPI_Start") || is_named(c, "MPI_Startall"), asks = is_named(c, "MPI_Parrived");
    int err = 0, now;
    for (int64_t i = 0; i < c->nlooked; i++) {
        struct staged *s = stage_find(STAGE_REQUEST, c->looked[i]);
        if (!s)
            continue;
        if (starts) /* some may have been, where another could not */
            s->active |= MPIR_Request_is_active(MPIR_Object_of(MPIR_KIND_REQUEST, s->of));
        now = asks && !error ? arrived(c, s) : starts ? 0 : stage_settle(s);
        err = err ? err : now;
    }
    if (c->looked != c->few)
        free(c->looked);
    return err;
}

int MPIR_Stage_leave(struct MPIR_Call *c, int error)
{
    int err = c->nlooked > 0 ? leave_looked(c, error) : 0, now = c->staged ? leave_staged(c, error) : 0;
    err = err ? err : now;
    now = c->file ? end_split(c) : 0;
    err = err ? err : now;
    now = c->window && !error ? settle_window(c) : 0;
    err = err ? err : now;
    if (norphans > 0) /* this call may say that theirs have come */
        settle_orphans();
    now = MPIR_Stage_window_leave(c, error);
    err = err ? err : now ? now : c->late;
    return error ? error : err;
}

/* ---- The library ends ---- */

/* What the program has left active may still be written to: it stays. */
void MPIR_Stage_end(void)
{
    for (int i = 0; i < BUCKETS && nkept > 0; i++)
        for (struct staged *s = kept[i], *next; s; s = next) {
            next = s->next;
            if (s->active) {
                kept[i] = next;
                nkept--;
            } else {
                stage_drop(s);
            }
        }
    norphans = 0;
    free(kept);
    kept = NULL;
    MPIR_Stage_windows_end();
}
