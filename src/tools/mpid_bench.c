/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_bench: what the device interface alone costs: half round trips, bandwidth and message rate between ranks 0
 * and 1, with no MPI above it. */
#include <mpid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 8, TAG = 1, CONTROL = 2, WINDOW = 64, MAX_ROWS = 256 };

static const char usage[] =
    "usage: mpiexec -n 2 mpid_bench [--json] [--min BYTES] [--max BYTES] [--ms MS] [--repeat N]\n"
    "                               [--data contig|vector|memory] [--mode blocking|nonblocking]\n"
    "Half round trip, bandwidth and message rate of the ADI between ranks 0 and 1.\n"
    "  --json   one JSON object instead of a table\n"
    "  --min, --max  sizes of payload, doubled from one to the other (default 1 to 4194304; vector: from 8)\n"
    "  --ms     time for each number (default 10)\n"
    "  --repeat measure each number N times and show the best (default 3)\n"
    "  --data   contig: bytes; vector: 8 bytes of every 16; memory: put, get and atomic on the memory of "
    "rank 1 (default all)\n"
    "  --mode   blocking or nonblocking calls (default both)\n"
    "latency: a message and its answer, halved.  bandwidth, rate: 64 messages, then an answer of one byte.\n"
    "memory: latency until a get or an atomic is complete, or a put is done there; bandwidth, rate: 64 at "
    "once.\n";

static struct options {
    bool json;
    int64_t min, max, repeat;
    double seconds;
    const char *data, *mode;
} opt = { .min = 1, .max = 4 << 20, .repeat = 3, .seconds = 0.01 };

/* One kind of message: how `bytes` of payload are sent and received. */
struct kind {
    bool vector, nonblocking;
    struct MPIR_DATATYPE type; /* of one block of 8 bytes in 16 */
    enum { MESSAGE, PUT, GET, ATOMIC } what;
    MPID_Remote there; /* rank 0, for memory: that of rank 1 */
    int64_t bytes;
    char *buf;
};
static const char *const names[] = { "", "put", "get", "atomic" };

struct row {
    const char *data, *mode;
    int64_t bytes;
    double latency_us, bandwidth, rate;
};
static struct row rows[MAX_ROWS];
static int nrows;

static double now(void)
{
    double t;
    MPID_Wtime(&t);
    return t;
}

static void must(int err, const char *what)
{
    char text[400];
    if (!err)
        return;
    snprintf(text, sizeof text, "mpid_bench: %s: %s", what, MPID_Error_text());
    MPID_Abort(NULL, 1, (char *)(uintptr_t) "mpid_bench", text);
}

static void start_send(struct kind *k, int to, MPID_Request r)
{
    int err = 0;
    if (k->vector)
        MPID_IsendDatatype(NULL, k->buf, 1, &k->type, MPID_MyWorldRank, TAG, CONTEXT, to, r, &err);
    else
        MPID_IsendContig(NULL, k->buf, k->bytes, MPID_MyWorldRank, TAG, CONTEXT, to, 0, r, &err);
    must(err, "isend");
}

static void start_recv(struct kind *k, int from, MPID_Request r)
{
    int err = 0;
    if (k->vector)
        MPID_IrecvDatatype(NULL, k->buf, 1, &k->type, from, TAG, CONTEXT, r, &err);
    else
        MPID_IrecvContig(NULL, k->buf, k->bytes, from, TAG, CONTEXT, r, &err);
    must(err, "irecv");
}

static void wait_all(MPIR_SHANDLE *r, int n, bool receives)
{
    int err = 0;
    for (int i = 0; i < n; i++) {
        if (receives)
            MPID_RecvComplete(&r[i], NULL, &err);
        else
            MPID_SendComplete(&r[i], &err);
        must(err, "wait");
    }
}

static void send_one(struct kind *k, int to)
{
    MPIR_SHANDLE r = { .obj.index = KEEL_NO_INDEX };
    int err = 0;
    if (k->nonblocking) {
        start_send(k, to, &r);
        wait_all(&r, 1, false);
    } else if (k->vector) {
        MPID_SendDatatype(NULL, k->buf, 1, &k->type, MPID_MyWorldRank, TAG, CONTEXT, to, &err);
    } else {
        MPID_SendContig(NULL, k->buf, k->bytes, MPID_MyWorldRank, TAG, CONTEXT, to, 0, &err);
    }
    must(err, "send");
}

static void recv_one(struct kind *k, int from)
{
    MPIR_RHANDLE r = { .obj.index = KEEL_NO_INDEX };
    int err = 0;
    if (k->nonblocking) {
        start_recv(k, from, &r);
        wait_all(&r, 1, true);
    } else if (k->vector) {
        MPID_RecvDatatype(NULL, k->buf, 1, &k->type, from, TAG, CONTEXT, NULL, &err);
    } else {
        MPID_RecvContig(NULL, k->buf, k->bytes, from, TAG, CONTEXT, NULL, &err);
    }
    must(err, "recv");
}

static void control_send(int to, void *data, int64_t len)
{
    int err = 0;
    MPID_SendContig(NULL, data, len, MPID_MyWorldRank, CONTROL, CONTEXT, to, 0, &err);
    must(err, "send");
}

static void control_recv(int from, void *data, int64_t len)
{
    int err = 0;
    MPID_RecvContig(NULL, data, len, from, CONTROL, CONTEXT, NULL, &err);
    must(err, "recv");
}

static void ping_pong(struct kind *k, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (MPID_MyWorldRank == 0) {
            send_one(k, 1);
            recv_one(k, 1);
        } else {
            recv_one(k, 0);
            send_one(k, 0);
        }
    }
}

/* n windows of messages from 0 to 1, each answered by a byte. */
static void stream(struct kind *k, int64_t n)
{
    static MPIR_SHANDLE r[WINDOW];
    bool sender = MPID_MyWorldRank == 0;
    char ack = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int w = 0; w < WINDOW; w++) {
            r[w].obj.index = KEEL_NO_INDEX;
            if (k->nonblocking)
                (sender ? start_send : start_recv)(k, !MPID_MyWorldRank, &r[w]);
            else
                (sender ? send_one : recv_one)(k, !MPID_MyWorldRank);
        }
        if (k->nonblocking)
            wait_all(r, WINDOW, !sender);
        (sender ? control_recv : control_send)(!MPID_MyWorldRank, &ack, 1);
    }
}

/* ---- Memory of rank 1, which only waits for the next control message ---- */

static void access_one(struct kind *k, struct MPID_COMPLETION *c)
{
    static const int64_t one = 1;
    int err = 0;
    if (k->what == PUT)
        MPID_Put(k->there, 0, k->buf, k->bytes, c, &err);
    else if (k->what == GET)
        MPID_Get(k->there, 0, k->buf, k->bytes, c, &err);
    else
        MPID_Atomic(k->there, 0, KEEL_ATOMIC_SUM, KEEL_INT64, &one, NULL, k->buf, c, &err);
    must(err, names[k->what]);
}

static void access_end(struct kind *k, struct MPID_COMPLETION *c)
{
    int err = 0;
    if (k->what == PUT)
        MPID_Mem_flush(k->there, c, &err);
    must(err, "flush");
    MPID_Mem_wait(c, &err);
    must(err, names[k->what]);
}

static void one_by_one(struct kind *k, int64_t n)
{
    struct MPID_COMPLETION c = { 0 };
    for (int64_t i = 0; i < n && MPID_MyWorldRank == 0; i++) {
        access_one(k, &c);
        access_end(k, &c);
    }
}

static void many_at_once(struct kind *k, int64_t n)
{
    struct MPID_COMPLETION c = { 0 };
    for (int64_t i = 0; i < n && MPID_MyWorldRank == 0; i++) {
        for (int w = 0; w < WINDOW; w++)
            access_one(k, &c);
        access_end(k, &c);
    }
}

/* Both ranks: run fn often enough to fill the time; seconds a call (rank 0). */
static double measure_once(void (*fn)(struct kind *k, int64_t n), struct kind *k)
{
    int64_t n = 1;
    double t = 0;
    for (;;) {
        t = now();
        fn(k, n);
        t = now() - t;
        if (MPID_MyWorldRank == 0) {
            bool enough = t >= opt.seconds || n > INT64_MAX / 16;
            int64_t want = t > 0 ? (int64_t)((double)n * 1.2 * opt.seconds / t) + 1 : n * 8;
            int64_t next = enough ? 0 : want > n * 8 ? n * 8 : want;
            control_send(1, &next, sizeof next);
            if (enough)
                return t / (double)n;
            n = next;
        } else {
            control_recv(0, &n, sizeof n);
            if (n == 0)
                return 0;
        }
    }
}

static double mpid_bench_measure(void (*fn)(struct kind *k, int64_t n), struct kind *k)
{
    double best = measure_once(fn, k);
    for (int64_t i = 1; i < opt.repeat; i++) {
        double t = measure_once(fn, k);
        best = t < best ? t : best;
    }
    return best;
}

static void measure_size(struct kind *k, int64_t bytes)
{
    struct MPIR_DATATYPE basic = { 0 };
    double latency, window;
    k->bytes = bytes;
    if (k->vector) {
        memset(&k->type, 0, sizeof k->type);
        must(MPID_Type_basic(&basic, 8, 8, 0), "basic type");
        must(MPID_Type_hvector(&k->type, bytes / 8, 1, 16, &basic), "vector type");
        must(MPID_Type_commit(&k->type), "commit");
    }
    latency = mpid_bench_measure(ping_pong, k) / 2;
    window = mpid_bench_measure(stream, k) / WINDOW;
    rows[nrows++] = (struct row){ k->vector ? "vector" : "contig",
                                  k->nonblocking ? "nonblocking" : "blocking",
                                  bytes,
                                  latency * 1e6,
                                  (double)bytes / window / 1e6,
                                  1 / window / 1e6 };
    if (k->vector)
        MPID_Type_fini(&k->type);
}

static void measure_access(struct kind *k, int64_t bytes)
{
    k->bytes = bytes;
    double latency = mpid_bench_measure(one_by_one, k), window = mpid_bench_measure(many_at_once, k) / WINDOW;
    rows[nrows++] =
        (struct row){ names[k->what],  "nonblocking", bytes, latency * 1e6, (double)bytes / window / 1e6,
                      1 / window / 1e6 };
}

static void print_row(const struct row *r)
{
    printf("%-8s %-12s %9lld %12.3f %15.1f %12.4f\n", r->data, r->mode, (long long)r->bytes, r->latency_us,
           r->bandwidth, r->rate);
    fflush(stdout);
}

static void measure_kind(struct kind *k)
{
    int64_t least = k->vector && opt.min < 8 ? 8 : opt.min;
    for (int64_t bytes = least; bytes <= opt.max && nrows < MAX_ROWS; bytes *= 2) {
        measure_size(k, bytes);
        if (MPID_MyWorldRank == 0 && !opt.json)
            print_row(&rows[nrows - 1]);
    }
}

/* All sizes of put and get, one of atomic. */
static void measure_memory(struct kind *k)
{
    int err = 0;
    unsigned char key[MPID_KEY_MAX];
    int64_t len = 0;
    MPID_Memory own = NULL;
    if (MPID_MyWorldRank == 1) {
        own = MPID_Mem_register(k->buf, opt.max + 8, &err);
        must(err, "register");
        len = MPID_Mem_key(own, key, sizeof key);
        control_send(0, &len, sizeof len);
        control_send(0, key, len);
    } else {
        control_recv(1, &len, sizeof len);
        control_recv(1, key, len);
        k->there = MPID_Mem_open(1, key, len, &err);
        must(err, "open");
    }
    for (k->what = PUT; k->what <= ATOMIC; k->what++)
        for (int64_t bytes = k->what == ATOMIC ? 8 : opt.min; bytes <= opt.max && nrows < MAX_ROWS;
             bytes = k->what == ATOMIC ? INT64_MAX : bytes * 2) {
            measure_access(k, bytes);
            if (MPID_MyWorldRank == 0 && !opt.json)
                print_row(&rows[nrows - 1]);
        }
    if (MPID_MyWorldRank == 0) {
        MPID_Mem_close(k->there);
        control_send(1, &len, sizeof len);
    } else {
        control_recv(0, &len, sizeof len);
        MPID_Mem_unregister(own);
    }
}

static void print_json(void)
{
    printf("{\"program\": \"mpid_bench\", \"units\": {\"bytes\": \"B\", \"latency\": \"us\", \"bandwidth\": "
           "\"MB/s\", "
           "\"rate\": \"million/s\"},\n \"window\": %d, \"rows\": [\n",
           WINDOW);
    for (int i = 0; i < nrows; i++)
        printf(
            "  {\"data\": \"%s\", \"mode\": \"%s\", \"bytes\": %lld, \"latency\": %.4f, \"bandwidth\": %.4f, "
            "\"rate\": %.5f}%s\n",
            rows[i].data, rows[i].mode, (long long)rows[i].bytes, rows[i].latency_us, rows[i].bandwidth,
            rows[i].rate, i + 1 < nrows ? "," : "");
    printf("]}\n");
}

static bool mpid_bench_wanted(const char *filter, const char *value)
{
    return !filter || !strcmp(filter, value);
}

static void mpid_bench_run(void)
{
    struct kind k = { .buf = calloc((size_t)opt.max + 8, 2) };
    if (!k.buf)
        MPID_Abort(NULL, 1, (char *)(uintptr_t) "mpid_bench",
                   (char *)(uintptr_t) "no memory for the messages");
    if (MPID_MyWorldRank == 0 && !opt.json)
        printf("%-8s %-12s %9s %12s %15s %12s\n", "data", "mode", "bytes", "latency[us]", "bandwidth[MB/s]",
               "rate[M/s]");
    for (int v = 0; v < 2; v++)
        for (int n = 0; n < 2; n++) {
            k.vector = v;
            k.nonblocking = n;
            if (mpid_bench_wanted(opt.data, v ? "vector" : "contig") &&
                mpid_bench_wanted(opt.mode, n ? "nonblocking" : "blocking"))
                measure_kind(&k);
        }
    if (mpid_bench_wanted(opt.data, "memory") && mpid_bench_wanted(opt.mode, "nonblocking"))
        measure_memory(&k);
    if (MPID_MyWorldRank == 0 && opt.json)
        print_json();
    free(k.buf);
}

static bool mpid_bench_number(const char *s, int64_t least, int64_t *v)
{
    char *end;
    *v = s ? strtoll(s, &end, 10) : 0;
    return s && end != s && !*end && *v >= least && *v <= 1ll << 40;
}

static bool one_of(const char *s, const char *a, const char *b, const char **v)
{
    *v = s;
    return s && (!strcmp(s, a) || !strcmp(s, b));
}

/* False: the arguments are wrong. */
static bool parse(int argc, char **argv)
{
    int64_t ms = 10;
    bool good = true;
    for (int i = 1; i < argc && good; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--json")) {
            opt.json = true;
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "--min"))
            good = mpid_bench_number(value, 1, &opt.min);
        else if (!strcmp(argv[i - 1], "--max"))
            good = mpid_bench_number(value, 1, &opt.max);
        else if (!strcmp(argv[i - 1], "--ms"))
            good = mpid_bench_number(value, 1, &ms);
        else if (!strcmp(argv[i - 1], "--repeat"))
            good = mpid_bench_number(value, 1, &opt.repeat);
        else if (!strcmp(argv[i - 1], "--data"))
            good =
                one_of(value, "contig", "vector", &opt.data) || one_of(value, "memory", "memory", &opt.data);
        else if (!strcmp(argv[i - 1], "--mode"))
            good = one_of(value, "blocking", "nonblocking", &opt.mode);
        else
            good = false;
    }
    opt.seconds = (double)ms / 1000;
    return good;
}

int main(int argc, char **argv)
{
    int err = 0;
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(usage, stdout);
        return 0;
    }
    MPID_Init(&argc, &argv, NULL, &err);
    must(err, "init");
    if (!parse(argc, argv))
        MPID_Abort(NULL, 2, (char *)(uintptr_t) "mpid_bench", (char *)(uintptr_t)usage);
    if (MPID_MyWorldSize < 2)
        MPID_Abort(NULL, 2, (char *)(uintptr_t) "mpid_bench",
                   (char *)(uintptr_t) "mpid_bench measures between two ranks; start it with mpiexec -n 2");
    if (MPID_MyWorldRank < 2)
        mpid_bench_run();
    MPID_End();
    return 0;
}
