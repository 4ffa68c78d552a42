/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi_fuzz.c: hostile answers for the ranks' side of PMI-1 and PMI-2, and hostile requests for mpiexec's.
 *
 *   pmi_fuzz [N [SEED]]    N conversations, a quarter of each kind: answers and requests as launchers and ranks
 *                          make them, mutated, and mappings of ranks to nodes, whole and mutated
 *   pmi_fuzz - SEED        the one conversation of this seed, as a failure prints it
 *
 * Answers lie in the socket before they are asked for, and then it ends: so nothing can wait.  What must hold:
 * init succeeds with a rank, a size and a node of each rank that are possible; or each call that fails does so
 * with an errno value and a text; values are ended within their room; no descriptor is left.  mpiexec's answers
 * are whole lines and frames, whatever is asked, and it keeps little of what a rank says.  A whole mapping gives
 * each rank the node that it was made for.  Reads and writes out of bounds are AddressSanitizer's (pmi_fuzz.test). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "pmi/channel.h"
#include "pmi/launch/job/launch.h"
#include "pmi/launch/pmserver/offspring.h"
#include "pmi/launch/frames/frame_pack.h"
#include "pmi/launch/pmserver/talk.h"
#include "pmi/server.h"
#include "pmi/words.h"
#include "util/err.h"

#define PROGRAM "pmi_fuzz"
#include "random.h"
#include "memory.h"

enum { RANKS = 4, LONGEST = 1 << 17, CAP = 4096 };

static long taken, refused;

/* What a launcher answers, in the order in which a rank asks. */
static const char *const lines[] = {
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
    "cmd=appnum appnum=0",
    "cmd=universe_size size=8",
    "cmd=my_kvsname kvsname=kvs_1_2_3",
    "cmd=get_result rc=0 msg=success value=%s",
    "cmd=put_result rc=0 msg=success",
    "cmd=barrier_out",
    "cmd=get_result rc=0 msg=success value=12:AbCdEfGh",
    "cmd=finalize_ack",
    NULL,
};
static const char *const frames[] = {
    "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=-1;debugged=FALSE;"
    "pmiverbose=FALSE;",
    "cmd=job-getid-response;rc=0;jobid=12.0;",
    "cmd=info-getjobattr-response;rc=0;found=TRUE;value=8;",
    "cmd=info-getjobattr-response;rc=0;found=TRUE;value=%s;",
    "cmd=kvs-put-response;rc=0;",
    "cmd=kvs-fence-response;rc=0;",
    "cmd=kvs-get-response;rc=0;found=TRUE;value=12:Ab;;Cd=EfGh;",
    "cmd=finalize-response;rc=0;",
    NULL,
};

/* Among them those of Hydra 4.2 and later. */
static const char *const mappings[] = { "(vector,(0,2,2))",          "(vector,(0,1,2),(1,2,1))",
                                        "(vector,(0,1,2),1)",        "(vector,[(0,1,3),1]x2)",
                                        "(vector,[(0,2,1)]x2,0)",    "(vector,0,(1,1,2),2)",
                                        "(vector,[[0]x2,[1]x1]x2,3)" };

static char said[LONGEST];
static size_t len;

static void add(const char *bytes, size_t n)
{
    if (n <= sizeof said - len) {
        memcpy(said + len, bytes, n);
        len += n;
    }
}

static void add_line(const char *text)
{
    add(text, strlen(text));
    add("\n", 1);
}

/* Heads are filled up on either side; now and then one is wrong. */
static void add_frame(const char *text)
{
    char head[16];
    int n = (int)strlen(text) + (random_below(40) == 0 ? (int)random_below(300) - 150 : 0);
    snprintf(head, sizeof head, random_below(2) ? "%6d" : "%-6d", n);
    add(head, PMI_FRAME_HEAD);
    add(text, strlen(text));
}

static void say_all(int version)
{
    len = 0;
    if (version == 2)
        add_line("cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0");
    for (const char *const *text = version == 1 ? lines : frames; *text; text++) {
        if (random_below(60) == 0)
            continue;
        char answer[300];
        const char *value = strstr(*text, "%s");
        snprintf(answer, sizeof answer, "%.*s%s%s", (int)strcspn(*text, "%"), *text,
                 value ? mappings[random_below(sizeof mappings / sizeof *mappings)] : "",
                 value ? value + 2 : "");
        (version == 1 ? add_line : add_frame)(answer);
        if (random_below(60) == 0)
            text--;
    }
}

static void insert(size_t at, const char *bytes, size_t n)
{
    if (len + n > sizeof said)
        return;
    memmove(said + at + n, said + at, len - at);
    memcpy(said + at, bytes, n);
    len += n;
}

static void mutate(void)
{
    static const char *const pieces[] = { " ",
                                          ";",
                                          ";;",
                                          "=",
                                          "\n",
                                          "rc=",
                                          "rc=1;",
                                          "-1",
                                          "0",
                                          "999999 ",
                                          "2147483648",
                                          "cmd=",
                                          "value=",
                                          "found=FALSE;",
                                          "(0,0,0)",
                                          "(vector",
                                          ",(0,1,1)",
                                          "[",
                                          "]x2",
                                          ",[(0,1,2),1]x2147483647",
                                          ",3",
                                          "(1,16777217,1)",
                                          "99999999999999999999" };
    char run[3000];
    size_t at = len ? random_below((uint32_t)len) : 0, n;
    switch (random_below(7)) {
    case 0:
        if (len)
            said[at] = (char)random_below(256);
        break;
    case 1:
        if (len)
            said[at] = (char)('0' + random_below(10));
        break;
    case 2:
        n = random_below(20) < (uint32_t)(len - at) ? random_below(20) : 0;
        n = n < len - at ? n : len - at;
        memmove(said + at, said + at + n, len - at - n);
        len -= n;
        break;
    case 3:
        n = random_below(sizeof pieces / sizeof *pieces);
        insert(at, pieces[n], strlen(pieces[n]));
        break;
    case 4:
        n = random_below(sizeof run);
        memset(run, "A0 ;=(["[random_below(7)], sizeof run);
        insert(at, run, n);
        break;
    case 5:
        len = at;
        break;
    default:
        n = random_below(100) < len - at ? random_below(100) : 0;
        n = n < len - at ? n : len - at;
        memcpy(run, said + at, n);
        insert(at, run, n);
    }
}

/* 0, or an error with its reason. */
static bool is_well(int err)
{
    if (err < 0 || (err > 0 && !*ku_err_last()->text))
        fail("an error without a reason");
    return err == 0;
}

static void look_at(const struct pmi_facts *f)
{
    if (f->rank != 1 || f->size != RANKS || f->value_max < 32 || f->value_max >= CAP)
        fail("facts that cannot be");
    for (int i = 0; i < RANKS; i++)
        if (f->node_of[i] < 0 || f->node_of[i] >= RANKS)
            fail("a node that cannot be");
}

static void talk(const struct pmi_server *s)
{
    struct pmi_facts f = { 0 };
    char value[CAP];
    if (!s->is_there())
        fail("the launcher is there");
    if (!is_well(s->init(&f))) {
        if (f.node_of)
            fail("nodes of a job that is none");
        refused++;
        return;
    }
    look_at(&f);
    bool ok = is_well(s->put("keel-key", "12:AbCdEfGh", PMI_REACH_ALL)) && is_well(s->fence());
    memset(value, 'x', sizeof value);
    ok = ok && is_well(s->get(0, "keel-key", value, f.value_max + 1));
    if (ok && !memchr(value, 0, f.value_max + 1))
        fail("a value without an end");
    taken += ok;
    refused += !ok;
    s->fini();
    free(f.node_of);
}

/* ---- requests ---- */

static const char *const asked_lines[] = {
    "cmd=get_maxes",
    "cmd=get_appnum",
    "cmd=get_universe_size",
    "cmd=get_my_kvsname",
    "cmd=get kvsname=x key=PMI_process_mapping",
    "cmd=put kvsname=x key=a value=b",
    "cmd=barrier_in",
    "cmd=get kvsname=x key=a",
    "cmd=publish_name service=s port=p",
    "cmd=lookup_name service=s",
    "cmd=unpublish_name service=s",
    "mcmd=spawn\nnprocs=1\nexecname=x\ntotspawns=1\nspawnssofar=1\narg1=a\nargcnt=1\npreput_num=1\n"
    "preput_key_0=k\npreput_val_0=v\ninfo_num=1\ninfo_key_0=wdir\ninfo_val_0=/tmp\nendcmd",
    "mcmd=spawn\nnprocs=2\nexecname=x\ntotspawns=2\nspawnssofar=1\nendcmd\n"
    "mcmd=spawn\nnprocs=1\nexecname=y\ntotspawns=2\nspawnssofar=2\nendcmd",
    "cmd=finalize",
    NULL,
};
static const char *const asked_frames[] = {
    "cmd=fullinit;pmirank=1;threaded=FALSE;",
    "cmd=job-getid;",
    "cmd=info-getjobattr;key=universeSize;",
    "cmd=info-getjobattr;key=PMI_process_mapping;",
    "cmd=kvs-put;key=a;value=b;;c;",
    "cmd=kvs-fence;thrid=7;",
    "cmd=kvs-get;jobid=x;srcid=-1;key=a;",
    "cmd=name-publish;name=s;port=p;",
    "cmd=name-lookup;thrid=1;name=s;",
    "cmd=name-unpublish;name=s;",
    "cmd=spawn;ncmds=2;preputcount=1;ppkey0=k;ppval0=v;;w;subcmd=x;maxprocs=2;argc=1;argv0=a;"
    "infokeycount=1;infokey0=wdir;infoval0=/tmp;subcmd=y;maxprocs=1;argc=0;infokeycount=0;",
    "cmd=finalize;",
    NULL,
};

static int versions[RANKS], aborts;

static void see_answer(int rank, const char *bytes, size_t n)
{
    char head[PMI_FRAME_HEAD];
    if (rank < 0 || rank >= RANKS)
        fail("an answer for nobody");
    if (versions[rank] != 2) {
        if (n < 5 || memchr(bytes, '\n', n) != bytes + n - 1 || memcmp(bytes, "cmd=", 4) != 0)
            fail("an answer that is no line");
    } else {
        memcpy(head, bytes, sizeof head);
        if (n < PMI_FRAME_HEAD + 5 || pmi_frame_length(head) != (int32_t)(n - PMI_FRAME_HEAD) ||
            memcmp(bytes + PMI_FRAME_HEAD, "cmd=", 4) != 0 || bytes[n - 1] != PMI_FRAME_END)
            fail("an answer that is no frame");
    }
    if (memchr(bytes, 0, n) || n > 2 * CAP)
        fail("an answer that is none");
    if (versions[rank] == 0) /* it says which one comes next */
        versions[rank] = memmem(bytes, n, "pmi_version=2", 13) ? 2 : 1;
}

static void see_event(int rank, enum talk_event event, int code)
{
    (void)code;
    if (rank < 0 || rank >= RANKS)
        fail("an event of nobody");
    aborts += event == TALK_ABORT;
}

/* ---- other hosts ---- */

/* Ranks 2 and 3 talk to another host's process: what theirs have put comes in a fence, sometimes mutated. */
static bool far, nonsense;
static int named[RANKS];

static void see_fence(const void *bytes, size_t n)
{
    static char news[LONGEST];
    struct unpack u = { bytes, (const char *)bytes + n, false };
    if (!far)
        fail("a fence of one host");
    while (u.at < u.end && !u.wrong) {
        char *key = get_text(&u), *value = get_text(&u);
        if (!key || !value || strlen(key) >= 64 || strlen(value) >= 1024)
            fail("news that are no keys and values");
        free(key);
        free(value);
    }
    struct pack all = { 0 };
    put_bytes(&all, bytes, n);
    for (uint32_t i = random_below(3); i > 0; i--) {
        put_text(&all, "key-of-another");
        put_text(&all, random_below(9) ? "value" : "va\nlue");
    }
    size_t most = all.len < sizeof news ? all.len : sizeof news;
    if (most > 0)
        memcpy(news, all.bytes, most);
    free(all.bytes);
    if (most > 0 && random_below(3) == 0)
        news[random_below((uint32_t)most)] = (char)random_below(256);
    nonsense = !talk_fenced(news, most) || nonsense;
}

static void see_name(int rank, enum talk_name what, const char *name, const char *port)
{
    if (rank < 0 || rank >= RANKS || named[rank])
        fail("two names at once");
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ')
            fail("a name that is no text");
    if (!port || strlen(name) >= 64 || strlen(port) >= 1024)
        fail("a name or a port that is too long");
    named[rank] = 1;
    if (random_below(2)) {
        named[rank] = 0;
        talk_named(rank, random_below(2), what == TALK_LOOK_UP && random_below(2) ? "port" : NULL);
    }
}

static bool spawning[RANKS];

static void see_spawn(int rank, struct offspring *o)
{
    if (rank < 0 || rank >= RANKS || spawning[rank])
        fail("two jobs at once");
    if (o->n < 1 || o->n > OFFSPRING_MOST || o->nput % 2 != 0)
        fail("a job without programs");
    for (int i = 0; i < o->n; i++)
        if (!o->command[i].program || o->command[i].maxprocs < 1 || o->command[i].nkeys % 2 != 0)
            fail("a program that cannot be");
    offspring_free(o);
    spawning[rank] = true;
    if (random_below(2)) {
        spawning[rank] = false;
        talk_spawned(rank, random_below(2) ? "why" : NULL);
    }
}

static void ask_all(int version)
{
    len = 0;
    add_line(version == 1 ? "cmd=init pmi_version=1 pmi_subversion=1"
                          : "cmd=init pmi_version=2 pmi_subversion=0");
    for (const char *const *text = version == 1 ? asked_lines : asked_frames; *text; text++) {
        if (random_below(60) == 0)
            continue;
        (version == 1 ? add_line : add_frame)(*text);
        if (random_below(60) == 0)
            text--;
    }
    if (random_below(4) == 0)
        (version == 1 ? add_line : add_frame)(version == 1 ? "cmd=abort exitcode=7"
                                                           : "cmd=abort;isworld=TRUE;msg=x;");
    for (uint32_t i = random_below(4); i > 0; i--)
        mutate();
}

static void requests(void)
{
    static const int32_t node_of[RANKS] = { 0, 0, 1, 1 }, section_of[RANKS] = { 0, 0, 0, 1 };
    far = random_below(2);
    const struct talk_job job = { .size = RANKS,
                                  .universe = 8,
                                  .host = far ? 0 : -1,
                                  .node_of = node_of,
                                  .section_of = section_of,
                                  .id = 12345,
                                  .send = see_answer,
                                  .on = see_event,
                                  .fence = see_fence,
                                  .put = random_below(2) ? "key=value\nother=a=b\n" : NULL,
                                  .name = see_name,
                                  .spawn = see_spawn };
    bool well = true;
    talk_begin(&job);
    nonsense = false;
    memset(versions, 0, sizeof versions);
    memset(named, 0, sizeof named);
    memset(spawning, 0, sizeof spawning);
    for (int rank = 0; rank < (far ? 2 : RANKS) && !nonsense; rank++) {
        ask_all(1 + (int)random_below(2));
        bool goes_on = true;
        for (size_t at = 0, n; at < len && goes_on; at += n) {
            n = 1 + random_below(200);
            n = n < len - at ? n : len - at;
            goes_on = talk_take(rank, said + at, n);
        }
        well = well && goes_on && !nonsense;
        if (named[rank])
            talk_named(rank, false, NULL);
        if (spawning[rank])
            talk_spawned(rank, NULL);
    }
    taken += well;
    refused += !well;
    talk_end();
}

/* ---- mappings ---- */

enum { MAPPED = 64, HOSTS = 9 };

/* The ranks that a whole mapping has been made for: as far as they are wanted. */
struct made {
    int32_t node_of[MAPPED], n;
};

static void made_ranks(struct made *m, int32_t node, int32_t n)
{
    for (; n > 0 && m->n < MAPPED; n--)
        m->node_of[m->n++] = node;
}

static void add_text(const char *fmt, int a, int b, int c)
{
    char text[64];
    add(text, (size_t)snprintf(text, sizeof text, fmt, a, b, c));
}

static void add_items(struct made *m, int depth);

static void add_item(struct made *m, int depth)
{
    struct made inner = { .n = 0 };
    int kind = (int)random_below(depth < 4 ? 3 : 2), first = (int)random_below(HOSTS - 2);
    int nodes = 1 + (int)random_below(3), times = (int)random_below(4);
    if (kind == 0) {
        add_text("%d", first, 0, 0);
        made_ranks(m, first, 1);
    } else if (kind == 1) {
        add_text("(%d,%d,%d)", first, nodes, times);
        for (int i = 0; i < nodes; i++)
            made_ranks(m, first + i, times);
    } else {
        add_text("[", 0, 0, 0);
        add_items(&inner, depth + 1);
        add_text("]x%d", times, 0, 0);
        for (; times > 0; times--)
            for (int i = 0; i < inner.n; i++)
                made_ranks(m, inner.node_of[i], 1);
    }
}

static void add_items(struct made *m, int depth)
{
    for (uint32_t i = random_below(4); i > 0; i--) {
        add_item(m, depth);
        add_text(",", 0, 0, 0);
    }
    add_item(m, depth);
}

/* Ranks beyond the items begin with them again. */
static void expect_made(const struct made *m, const int32_t *node_of, int32_t size)
{
    int32_t as[HOSTS], nodes = 0;
    memset(as, -1, sizeof as);
    for (int32_t r = 0; r < size; r++) {
        int32_t *to = &as[m->node_of[r % m->n]];
        *to = *to < 0 ? nodes++ : *to;
        if (node_of[r] != *to)
            fail("a rank on another node than the mapping says");
    }
}

static void mapping(void)
{
    struct made made = { .n = 0 };
    static int32_t node_of[MAPPED];
    int32_t size = 2 + (int32_t)random_below(MAPPED - 1);
    bool whole = random_below(2);
    len = 0;
    add_text("(vector,", 0, 0, 0);
    add_items(&made, 0);
    add_text(")", 0, 0, 0);
    for (uint32_t i = whole ? 0 : 1 + random_below(3); i > 0; i--)
        mutate();
    add("", 1);
    said[len - 1] = 0;
    bool well = is_well(pmi_mapping(said, node_of, size));
    if (whole && well != (made.n > 0))
        fail("a mapping is taken for another");
    if (whole && well)
        expect_made(&made, node_of, size);
    for (int32_t r = 0; well && r < size; r++)
        if (node_of[r] < 0 || node_of[r] >= size)
            fail("a node that cannot be");
    taken += well;
    refused += !well;
}

/* ---- all ---- */

static void one(uint64_t number)
{
    int sockets[2], version = (int)(number % 4);
    char fd[16];
    seed = number;
    state = number * 0x9e3779b97f4a7c15u + 1;
    if (version == 0 || version == 3) {
        (version == 0 ? requests : mapping)();
        return;
    }
    say_all(version);
    for (uint32_t i = random_below(4); i > 0; i--)
        mutate();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        fail("no sockets");
    int room = 2 * LONGEST;
    setsockopt(sockets[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (send(sockets[0], said, len, MSG_DONTWAIT) != (ssize_t)len)
        fail("the answers do not fit into the socket");
    shutdown(sockets[0], SHUT_WR);
    snprintf(fd, sizeof fd, "%d", sockets[1]);
    setenv("PMI_FD", fd, 1);
    setenv("PMI_VERSION", version == 1 ? "1" : "2", 1);
    talk(version == 1 ? &pmi_1 : &pmi_2);
    pmi_channel_close();
    close(sockets[0]);
    if (fcntl(sockets[1], F_GETFD) >= 0)
        fail("a descriptor is left");
}

int main(int argc, char **argv)
{
    bool single = argc > 2 && strcmp(argv[1], "-") == 0;
    long n = single ? 1 : argc > 1 ? atol(argv[1]) : 40000;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "4", 1);
    for (long i = 0; i < n; i++)
        one(first + (uint64_t)i);
    printf("%ld conversations: %ld went well, %ld were refused\n", n, taken, refused);
    if (!single && (taken < n / 20 || refused < n / 20)) {
        printf("FAILED: hardly any of one kind\n");
        return 1;
    }
    return 0;
}
