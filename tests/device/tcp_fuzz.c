/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_fuzz.c: hostile connections to the listener of ch_tcp, by the structure of what it expects.
 *
 *   tcp_fuzz N [SEED [CORPUS]]     N connections; a line of the corpus is one connection, played first and mutated
 *                                  later
 *
 * Rank 0 is besieged; rank 1 talks with it all the time and checks every byte; rank 2 attacks: as a stranger, and
 * with the secret as ranks 3 to 7, which say hello well and then send what is no frame.  A connection is a list of
 * words, applied in turn to a good hello:
 *   flip:B  set:FIELD:V  seal (prove again)  cut:N  pad:N  junk:N (no hello at all)  again (what was sent last)
 *   slow (byte by byte)  linger (stay silent) frames:N (good ones follow)  bad:FIELD:V (and one whose head has
 *   this)  half:N (and N bytes of a frame)
 * What must hold: an answer comes only to a hello that is as it should be to the last bit, once for each; rank 1
 * loses nothing; no descriptor and no memory is left when the strangers are gone; every full hello that is wrong
 * has its connection closed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ranks.h"
#include "mpid/ch_tcp/frame.h"

extern const struct dev_ops dev_tcp_ops;

enum {
    ERA = 4000 /* connections to one process */,
    FIRST = 3,
    LINES = 4000,
    LINE = 160,
    LINGER = 24,
    GROWTH = 1000 /* KB */
};

static const struct dev_ops *tcp_ops(void)
{
    return &dev_tcp_ops;
}
static const struct subject tcp = { "tcp", tcp_ops, 2, MAX_RANKS, .deaths = true, .connects = true };

static struct {
    char line[LINES][LINE];
    int lines, seeds, next;
    uint64_t random;
    long left;                 /* connections of this era */
    uint64_t entered, refused; /* hellos that were answered, and that were not */
} fuzz;

static uint32_t dice(uint32_t sides)
{
    fuzz.random = fuzz.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(fuzz.random >> 33) % sides;
}

/* ---- rank 0 -------------------------------------------------------------------------------------------------- */

static void (*bed_deliver)(void *core, int32_t peer, const struct dev_head *head, const void *body,
                           size_t len);
static uint64_t (*bed_place)(void *core, int32_t grank, const struct dev_head *head, size_t len);
static void *(*bed_place_at)(void *core, uint64_t ticket);
static void (*bed_placed)(void *core, uint64_t ticket);
static uint8_t *strange;
static long strange_bytes; /* up to a frame of 1 MB, which a connection that lingers may still be reading */
static volatile uint8_t sink;

static void deliver(void *core, int32_t peer, const struct dev_head *head, const void *body, size_t len)
{
    const uint8_t *b = body;
    if (peer == 1)
        bed_deliver(core, peer, head, body, len);
    for (size_t i = 0; i < len; i += 7)
        sink = (uint8_t)(sink + b[i]);
}

static uint64_t place(void *core, int32_t grank, const struct dev_head *head, size_t len)
{
    if (grank == 1)
        return bed_place(core, grank, head, len);
    return len % 3 ? 100 + (uint64_t)len : 0;
}

/* Exactly so many bytes, so that one too many is noticed; sometimes nobody wants them. */
static void *place_at(void *core, uint64_t ticket)
{
    if (ticket <= MAX_RANKS)
        return bed_place_at(core, ticket);
    free(strange);
    strange_bytes = ticket % 5 ? (long)ticket - 100 : 0;
    strange = strange_bytes > 0 ? malloc((size_t)strange_bytes) : NULL;
    return strange;
}

static void placed(void *core, uint64_t ticket)
{
    if (ticket <= MAX_RANKS)
        bed_placed(core, ticket);
}

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* KB that live, but for `strange`, not what the process occupies: AddressSanitizer keeps what was freed apart for
 * a while. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
static long living(void)
{
    struct mallinfo2 m;
    if (__sanitizer_get_current_allocated_bytes)
        return ((long)__sanitizer_get_current_allocated_bytes() - strange_bytes) / 1024;
    m = mallinfo2();
    return ((long)(m.uordblks + m.hblkhd) - strange_bytes) / 1024;
}

static void opened_with_care(struct rank *r)
{
    rank_prepare(r);
    bed_deliver = r->services.deliver;
    bed_place = r->services.place;
    bed_place_at = r->services.place_at;
    bed_placed = r->services.placed;
    r->services.deliver = deliver;
    r->services.place = place;
    r->services.place_at = place_at;
    r->services.placed = placed;
    rank_open_prepared(r);
}

/* word[0]: the attack is over; word[1]: the strangers of the middle are gone; word[2]: how many have ended;
 * word[3]: 1 is connected. */
static void talk(struct rank *r)
{
    int other = !r->me, fds = 0;
    long middle = 0;
    r->me == 0 ? opened_with_care(r) : rank_open(r);
    while (atomic_load(&r->board->word[0]) == 0 || r->next_in[other] < 20) {
        if (r->next_out[other] < r->next_in[other] + 8)
            r->next_out[other] % 7 == 3 ? rank_send(r, other, 20000 + r->next_out[other] % 30000, 2)
                                        : (void)rank_try_short(r, other, r->next_out[other] % 49);
        rank_pump(r);
        if (r->me == 0 && r->next_in[other] > 0)
            atomic_store(&r->board->word[3], 1);
        if (middle == 0 && atomic_load(&r->board->word[1])) {
            middle = living();
            fds = descriptors();
        }
    }
    atomic_fetch_add(&r->board->word[2], 1);
    while (atomic_load(&r->board->word[2]) < 2)
        rank_pump(r);
    rank_settle(r);
    NEED(r, r->gone_calls[other] == 0, "rank %d is said to be gone", other);
    if (r->me == 0) {
        NEED(r, living() < middle + GROWTH, "%ld KB grew to %ld", middle, living());
        NEED(r, descriptors() <= fds + LINGER + 8, "%d descriptors became %d", fds, descriptors());
    }
    rank_close(r);
    free(strange);
    strange = NULL;
}

/* ---- rank 2: what is sent ------------------------------------------------------------------------------------ */

struct attack {
    struct tcp_hello hello;
    uint8_t rest[40000];
    size_t cut, end;    /* bytes of the hello that are sent; bytes behind it */
    bool sealed, whole; /* it is as it should be; nothing but a hello has come so far */
    bool slow, linger, again;
};

static struct {
    struct tcp_address there;
    uint64_t serial;
    int32_t from;              /* whom it plays */
    bool used[MAX_RANKS];      /* has entered */
    uint64_t heard[MAX_RANKS]; /* the highest serial of its good hellos */
    uint8_t last[sizeof(struct tcp_hello) + 40000];
    size_t last_len;
    int fd[LINGER], lingering;
} us;

static uint8_t *field(struct tcp_hello *h, const char *name, size_t *len)
{
    static const struct {
        const char *name;
        size_t at, len;
    } fields[] = {
#define F(name) { #name, offsetof(struct tcp_hello, name), sizeof((struct tcp_hello *)0)->name }
        F(magic), F(version), F(kind),   F(job_id), F(from),  F(to),
        F(epoch), F(zero),    F(serial), F(nonce),  F(proof),
#undef F
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, name) == 0) {
            *len = fields[i].len;
            return (uint8_t *)h + fields[i].at;
        }
    return NULL;
}

static void seal(struct rank *r, struct attack *a)
{
    struct ku_auth facts = tcp_hello_facts(&a->hello, us.there.nonce);
    ku_auth_prove(r->seg.head->secret, &facts, tcp_hello_role(&a->hello), a->hello.proof);
}

static void append(struct attack *a, const void *bytes, size_t n)
{
    if (n > sizeof a->rest - a->end)
        n = sizeof a->rest - a->end;
    memcpy(a->rest + a->end, bytes, n);
    a->end += n;
}

static void frame(struct attack *a, size_t len, const char *bad, long value)
{
    static const uint8_t body[16384];
    struct dev_head head = { .kind = 2, .context = 2, .tag = (uint32_t)len, .source = 7 };
    struct tcp_frame f = tcp_frame_prepare(TCP_PACKET, &head, len);
    if (strcmp(bad, "len") == 0)
        f.len = (uint32_t)value;
    else if (strcmp(bad, "kind") == 0)
        f.kind = (uint16_t)value;
    else if (strcmp(bad, "check") == 0)
        f.check = (uint16_t)value;
    else if (strcmp(bad, "short") == 0)
        f.head.len = (uint8_t)value;
    append(a, &f, sizeof f);
    append(a, body, (len + 7) & ~(size_t)7);
}

static void one_word(struct rank *r, struct attack *a, const char *word)
{
    char name[16] = "";
    long v = 0;
    size_t len = 0;
    uint8_t *f;
    if (sscanf(word, "flip:%ld", &v) == 1)
        ((uint8_t *)&a->hello)[(size_t)v / 8 % sizeof a->hello] ^= (uint8_t)(1 << v % 8);
    else if (sscanf(word, "set:%15[a-z_]:%ld", name, &v) == 2 && (f = field(&a->hello, name, &len)) != NULL)
        memcpy(f, &v, len < sizeof v ? len : sizeof v);
    else if (strcmp(word, "seal") == 0)
        seal(r, a);
    else if (sscanf(word, "cut:%ld", &v) == 1)
        a->cut = (size_t)v % sizeof a->hello;
    else if (sscanf(word, "junk:%ld", &v) == 1)
        memset(&a->hello, (int)v, sizeof a->hello);
    else if (sscanf(word, "pad:%ld", &v) == 1)
        for (long i = 0; i < v % 5000; i++)
            append(a, &i, 1);
    else if (sscanf(word, "frames:%ld", &v) == 1)
        for (long i = 0; i < v % 5; i++)
            frame(a, (size_t)(i * 4001), "", 0);
    else if (sscanf(word, "bad:%15[a-z]:%ld", name, &v) == 2)
        frame(a, 64, name, v);
    else if (sscanf(word, "half:%ld", &v) == 1) {
        frame(a, 16000, "", 0);
        a->end -= (size_t)v % 16000;
    }
    a->slow |= strcmp(word, "slow") == 0;
    a->linger |= strcmp(word, "linger") == 0;
    a->again |= strcmp(word, "again") == 0;
}

/* ---- rank 2: a connection ------------------------------------------------------------------------------------ */

static int dial(struct rank *r)
{
    struct ku_sock_addr at = tcp_address_at(&us.there, 0);
    struct linger now = { .l_onoff = 1 };
    int fd = ku_sock_connect(&at);
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    NEED(r, fd >= 0 && poll(&p, 1, 9000) == 1, "no connection: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now); /* no ports that wait */
    return fd;
}

static void push(int fd, const uint8_t *bytes, size_t n, size_t step)
{
    for (size_t at = 0; at < n;) {
        ssize_t put = send(fd, bytes + at, n - at < step ? n - at : step, MSG_NOSIGNAL | MSG_DONTWAIT);
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        if (put < 0 && errno != EAGAIN)
            return;
        if (put < 0 && poll(&p, 1, 2000) != 1)
            return;
        at += put > 0 ? (size_t)put : 0;
    }
}

/* The bytes that come until the other side hangs up. */
static size_t hear_out(struct rank *r, int fd, const char *line)
{
    size_t got = 0;
    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        uint8_t more[512];
        ssize_t n;
        NEED(r, poll(&p, 1, 20000) == 1, "the connection was not closed: %s", line);
        n = recv(fd, more, sizeof more, MSG_DONTWAIT);
        if (n <= 0)
            return got;
        got += (size_t)n;
    }
}

static void keep_open(int fd)
{
    int *place = &us.fd[us.lingering++ % LINGER];
    if (*place > 0)
        close(*place);
    *place = fd;
}

/* May who begins with this hello enter?  One that he has cut may still be whole by what follows. */
static bool good(struct rank *r, const struct tcp_hello *h)
{
    bool first;
    r->world.rank = 0;
    if (!tcp_hello_check(h, TCP_HELLO, &r->world) || h->to != 0 || h->epoch != r->world.epoch ||
        h->from < 1 || h->from >= r->size || !tcp_hello_proven(h, r->seg.head->secret, us.there.nonce))
        return false;
    first = h->serial > us.heard[h->from] && !us.used[h->from];
    if (h->serial > us.heard[h->from])
        us.heard[h->from] = h->serial;
    return first;
}

static void connection(struct rank *r, struct attack *a, const char *line)
{
    struct tcp_hello first;
    bool enters, full;
    int fd = dial(r);
    if (!a->again) {
        memcpy(us.last, &a->hello, a->cut);
        memcpy(us.last + a->cut, a->rest, a->end);
        us.last_len = a->cut + a->end;
    }
    full = us.last_len >= sizeof first;
    memcpy(&first, us.last, sizeof first);
    enters = full && good(r, &first);
    push(fd, us.last, us.last_len, a->slow ? 1 + dice(9) : us.last_len);
    if (enters) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        struct tcp_hello answer;
        us.used[first.from] = true;
        NEED(r, poll(&p, 1, 20000) == 1 && recv(fd, &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer,
             "no answer: %s", line);
        fuzz.entered++;
    } else if (full) {
        NEED(r, hear_out(r, fd, line) == 0, "was answered: %s", line);
        fuzz.refused++;
    }
    if (a->linger && !full && !enters)
        keep_open(fd);
    else
        close(fd);
}

static void play(struct rank *r, const char *line)
{
    static struct attack a;
    char words[LINE], *save = NULL;
    uint8_t nonce[KU_AUTH_NONCE];
    for (size_t i = 0; i < sizeof nonce; i++)
        nonce[i] = (uint8_t)dice(256);
    us.from = us.from + 1 < r->size ? us.from + 1 : FIRST;
    r->world.rank = us.from;
    a = (struct attack){ .cut = sizeof a.hello };
    a.hello = tcp_hello_prepare(TCP_HELLO, &r->world, 0, ++us.serial, nonce, us.there.nonce);
    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok_r(words, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
        one_word(r, &a, w);
    connection(r, &a, line);
}

/* ---- what is tried ------------------------------------------------------------------------------------------- */

static void a_word(char *to, size_t size)
{
    static const char *const fields[] = { "magic", "version", "kind",   "job_id", "from", "to",
                                          "epoch", "zero",    "serial", "nonce",  "proof" };
    static const char *const heads[] = { "len", "kind", "check", "short" };
    static const long values[] = {
        0, 1, 2, 3, 7, 8, 255, 65535, 1048576, 1048577, 2147483647, -1, 4294967295
    };
    long v = dice(3) ? values[dice(13)] : (long)dice(1u << 30);
    switch (dice(13)) {
    case 0:
    case 1:
    case 2:
        snprintf(to, size, "flip:%u", dice(8 * sizeof(struct tcp_hello)));
        break;
    case 3:
        snprintf(to, size, "set:%s:%ld", fields[dice(11)], v);
        break;
    case 4:
        snprintf(to, size, "set:%s:%ld seal", fields[dice(11)], v);
        break;
    case 5:
        snprintf(to, size, "cut:%u", dice(sizeof(struct tcp_hello)));
        break;
    case 6:
        snprintf(to, size, "pad:%u", dice(5000));
        break;
    case 7:
        snprintf(to, size, "frames:%u", dice(5));
        break;
    case 8:
        snprintf(to, size, "bad:%s:%ld", heads[dice(4)], v);
        break;
    case 9:
        snprintf(to, size, "half:%u", dice(16000));
        break;
    case 10:
        snprintf(to, size, "%s", dice(2) ? "slow" : "again");
        break;
    case 11:
        snprintf(to, size, "linger cut:%u", dice(sizeof(struct tcp_hello)));
        break;
    default:
        snprintf(to, size, "junk:%u", dice(256));
    }
}

/* A line of the corpus, with words taken away and added. */
static const char *next_line(char *made, size_t size)
{
    size_t at = 0;
    char copy[LINE], *save = NULL;
    if (fuzz.next < fuzz.seeds)
        return fuzz.line[fuzz.next++];
    made[0] = '\0';
    snprintf(copy, sizeof copy, "%s", fuzz.seeds ? fuzz.line[dice((uint32_t)fuzz.seeds)] : "");
    for (char *w = strtok_r(copy, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
        if (dice(4))
            at += (size_t)snprintf(made + at, at < size ? size - at : 0, "%s ", w);
    for (uint32_t n = dice(3); at + 64 < size; n--) {
        char word[64];
        a_word(word, sizeof word);
        at += (size_t)snprintf(made + at, size - at, "%s ", word);
        if (n == 0)
            break;
    }
    return made;
}

static void attack(struct rank *r)
{
    struct card *c = &r->board->card[0];
    char made[LINE];
    while (atomic_load(&c->epoch) == 0)
        usleep(1000);
    memcpy(&us.there, c->bytes, c->len);
    NEED(r, tcp_address_check(&us.there, c->len) && !ku_auth_ready(), "address");
    rank_prepare(r);
    while (atomic_load(&r->board->word[3]) == 0)
        usleep(1000);
    us.used[1] = true; /* it is connected: as that rank nobody else can be */
    us.from = FIRST - 1;
    for (long i = 0; i < fuzz.left; i++) {
        play(r, next_line(made, sizeof made));
        if (i == fuzz.left / 4)
            atomic_store(&r->board->word[1], 1);
    }
    for (int i = 0; i < LINGER; i++)
        if (us.fd[i] > 0)
            close(us.fd[i]);
    atomic_store(&r->board->word[1], 1);
    atomic_store(&r->board->word[0], 1);
    NEED(r, fuzz.left < ERA || (fuzz.entered > 0 && fuzz.refused > 100), "%lu entered, %lu refused",
         (unsigned long)fuzz.entered, (unsigned long)fuzz.refused);
}

static void all(struct rank *r)
{
    if (r->me < 2)
        talk(r);
    else if (r->me == 2)
        attack(r);
}

static void read_corpus(const char *path)
{
    FILE *f = path ? fopen(path, "r") : NULL;
    while (f && fuzz.lines < LINES && fgets(fuzz.line[fuzz.lines], LINE, f))
        fuzz.lines += fuzz.line[fuzz.lines][0] != '#';
    fuzz.seeds = fuzz.lines;
    if (f)
        fclose(f);
    else if (path)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : ERA;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const char *folder = getenv("TOP_SRCDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/device/tcp_fuzz.corpus", folder ? folder : ".");
    read_corpus(argc > 3 ? argv[3] : folder ? path : NULL);
    for (long era = 0; n > 0; era++, n -= ERA) {
        fuzz.left = n < ERA ? n : ERA;
        fuzz.random = seed * 1000003 + (uint64_t)era;
        fuzz.next = era ? fuzz.seeds : 0;
        if (ranks_run(&tcp, MAX_RANKS, false, all)) {
            fprintf(stderr, "tcp_fuzz: seed %llu, era %ld\n", (unsigned long long)seed, era);
            return 1;
        }
    }
    return 0;
}
