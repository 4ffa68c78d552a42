/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn_link.c: ports and the connections through them (spawn_link.h).
 *
 * A port name is  keel:SECRET:PORT:HOST:ADDRESS,ADDRESS,...  with a secret of 16 bytes and a number for the host,
 * both in hexadecimal, and the addresses at which the port listens.  Who has the name proves that it knows the
 * secret, and so does who answers (util/auth.h).  On the wire:
 *   from who accepts    HELLO: "keelport", a nonce of 32 bytes
 *   from who connects   a nonce of 32 bytes, its proof of 32
 *   from who accepts    its proof
 * What follows is exclusive-ored with bytes that follow from the secret, both nonces and the side that sends: the
 * keys of the jobs, which are among it, are not told to who listens. */
#define _GNU_SOURCE
#include "spawn_link.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "mpi_err.h"
#include "mpid.h"
#include "util/clock.h"
#include "util/knob.h"
#include "util/le.h"
#include "util/sock.h"

enum { HELLO_BYTES = 8 + KU_AUTH_NONCE, REPLY_BYTES = KU_AUTH_NONCE + KU_AUTH_PROOF };
static const char magic[8] = { 'k', 'e', 'e', 'l', 'p', 'o', 'r', 't' };
#define SECOND 1000000000ull
static const uint64_t GREETING_NS = 5 * SECOND, CONNECT_NS = 10 * SECOND;
enum { LOOK_MS = 1 /* how long the devices may wait */ };

static int broken(const char *what)
{
    return MPIR_Err(MPI_ERR_PORT, NULL, "the connection to the other group %s", what);
}

/* Until the socket is ready, or patience ends.  The devices are looked at meanwhile: other processes may need this
 * one's answer before they come. */
static int spawn_link_wait_for(int fd, short events, const struct patience *how)
{
    struct pollfd p = { .fd = fd, .events = events };
    for (;;) {
        bool busy = MPID_DeviceCheck(MPID_NOTBLOCKING) != 0;
        uint32_t depth = MPID_Thread_suspend();
        int n = poll(&p, 1, busy ? 0 : LOOK_MS), err;
        MPID_Thread_resume(depth);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return MPIR_Err(MPI_ERR_OTHER, NULL, "poll failed: %s", strerror(errno));
        if (how && how->gone && (err = how->gone(how->arg)))
            return err;
        if (how && how->until && ku_clock_ns() >= how->until)
            return MPIR_Err(MPI_ERR_PORT, NULL,
                            "nothing has come from the other group in the time that was given");
    }
}

/* ---- bytes ---------------------------------------------------------------------------------------------------- */

static void mask(const struct link *l, uint8_t side, uint64_t at, const uint8_t *from, uint8_t *to, size_t n)
{
    uint8_t pad[KU_AUTH_PROOF];
    for (size_t i = 0; i < n; i++, at++) {
        if (i == 0 || at % sizeof pad == 0) {
            uint64_t text[2] = { ku_le64(side), ku_le64(at / sizeof pad) };
            ku_auth_hmac(l->key, sizeof l->key, text, sizeof text, pad);
        }
        to[i] = from[i] ^ pad[at % sizeof pad];
    }
}

/* One send of at most a piece; *done: bytes that have gone. */
static int send_some(struct link *l, const uint8_t *out, size_t n, size_t *done)
{
    uint8_t piece[4096];
    size_t want = n - *done < sizeof piece ? n - *done : sizeof piece;
    if (l->masked)
        mask(l, l->mine, l->sent, out + *done, piece, want);
    else
        memcpy(piece, out + *done, want);
    ssize_t went = send(l->fd, piece, want, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (went < 0)
        return ku_sock_not_now(errno) ? 0 : broken("has ended");
    *done += (size_t)went;
    l->sent += (uint64_t)went;
    return 0;
}

static int receive_some(struct link *l, uint8_t *in, size_t n, size_t *done)
{
    ssize_t came = recv(l->fd, in + *done, n - *done, MSG_DONTWAIT);
    if (came == 0 || (came < 0 && !ku_sock_not_now(errno)))
        return broken("has ended");
    if (came < 0)
        return 0;
    if (l->masked)
        mask(l, l->theirs, l->got, in + *done, in + *done, (size_t)came);
    *done += (size_t)came;
    l->got += (uint64_t)came;
    return 0;
}

static int swap_bytes(struct link *l, const void *out, size_t nout, void *in, size_t nin,
                      const struct patience *how)
{
    size_t sent = 0, got = 0;
    int err = 0;
    while (!err && (sent < nout || got < nin)) {
        short events = (short)((sent < nout ? POLLOUT : 0) | (got < nin ? POLLIN : 0));
        err = spawn_link_wait_for(l->fd, events, how);
        if (!err && sent < nout)
            err = send_some(l, out, nout, &sent);
        if (!err && got < nin)
            err = receive_some(l, in, nin, &got);
    }
    return err;
}

int MPIR_Link_swap(struct link *l, const void *out, size_t nout, void *in, size_t nin)
{
    return swap_bytes(l, out, nout, in, nin, NULL);
}

void MPIR_Link_close(struct link *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

/* ---- the greeting --------------------------------------------------------------------------------------------- */

static struct ku_auth facts(const uint8_t *caller_nonce, const uint8_t *called_nonce)
{
    struct ku_auth a = { .purpose = "port wire" };
    memcpy(a.caller_nonce, caller_nonce, sizeof a.caller_nonce);
    memcpy(a.called_nonce, called_nonce, sizeof a.called_nonce);
    return a;
}

static void begin_mask(struct link *l, const uint8_t *secret, const struct ku_auth *a, enum ku_auth_role mine)
{
    ku_auth_hmac(secret, KU_SECRET_BYTES, a, sizeof *a, l->key);
    l->mine = (uint8_t)mine;
    l->theirs = mine == KU_AUTH_CALLER ? KU_AUTH_CALLED : KU_AUTH_CALLER;
    l->sent = l->got = 0;
    l->masked = true;
}

static int no_nonce(void)
{
    return MPIR_Err(MPI_ERR_OTHER, NULL, "the system has no random bytes: %s", strerror(errno));
}

static int greet_caller(struct link *l, const uint8_t *secret, const struct patience *how)
{
    uint8_t hello[HELLO_BYTES], reply[REPLY_BYTES], proof[KU_AUTH_PROOF];
    memcpy(hello, magic, sizeof magic);
    if (!ku_auth_nonce(hello + sizeof magic))
        return no_nonce();
    int err = swap_bytes(l, hello, sizeof hello, reply, sizeof reply, how);
    if (err)
        return err;
    struct ku_auth a = facts(reply, hello + sizeof magic);
    if (!ku_auth_proven(secret, &a, KU_AUTH_CALLER, reply + KU_AUTH_NONCE))
        return broken("is from who does not know the port's secret");
    ku_auth_prove(secret, &a, KU_AUTH_CALLED, proof);
    err = swap_bytes(l, proof, sizeof proof, NULL, 0, how);
    begin_mask(l, secret, &a, KU_AUTH_CALLED);
    return err;
}

static int greet_called(struct link *l, const uint8_t *secret, const struct patience *how)
{
    uint8_t hello[HELLO_BYTES], reply[REPLY_BYTES], proof[KU_AUTH_PROOF];
    int err = swap_bytes(l, NULL, 0, hello, sizeof hello, how);
    if (err)
        return err;
    if (memcmp(hello, magic, sizeof magic) != 0)
        return broken("is to a process that has no port there");
    if (!ku_auth_nonce(reply))
        return no_nonce();
    struct ku_auth a = facts(reply, hello + sizeof magic);
    ku_auth_prove(secret, &a, KU_AUTH_CALLER, reply + KU_AUTH_NONCE);
    err = swap_bytes(l, reply, sizeof reply, proof, sizeof proof, how);
    if (!err && !ku_auth_proven(secret, &a, KU_AUTH_CALLED, proof))
        err = broken("is to a process that does not know the port's secret");
    begin_mask(l, secret, &a, KU_AUTH_CALLER);
    return err;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static void widen(const uint8_t *in_name, uint8_t secret[KU_SECRET_BYTES])
{
    static const char use[] = "keel port";
    ku_auth_hmac(in_name, PORT_SECRET, use, sizeof use, secret);
}

/* Longest name: MPI_MAX_PORT_NAME of the smallest of the ABIs. */
enum { NAME_MAX_BYTES = 255 };

static void write_name(struct port *p, const uint8_t *secret, uint16_t number,
                       const struct ku_sock_addr *only)
{
    struct ku_sock_addr own[PORT_ADDRESSES];
    int n = 1, at;
    if (only)
        own[0] = *only;
    else
        n = ku_sock_own(own, PORT_ADDRESSES);
    at = sprintf(p->name, "keel:");
    for (int i = 0; i < PORT_SECRET; i++)
        at += sprintf(p->name + at, "%02x", secret[i]);
    at += sprintf(p->name + at, ":%u:%016llx:", number, (unsigned long long)ku_sock_host());
    for (int i = 0; i < n; i++) {
        char text[INET6_ADDRSTRLEN];
        inet_ntop(own[i].family == 6 ? AF_INET6 : AF_INET, own[i].ip, text, sizeof text);
        if (at + 1 + (int)strlen(text) > NAME_MAX_BYTES)
            break;
        at += sprintf(p->name + at, "%s%s", i ? "," : "", text);
    }
}

int MPIR_Port_open(struct port *p)
{
    uint8_t nonce[KU_AUTH_NONCE];
    struct ku_sock_addr at;
    int err = MPID_Others_begin();
    const struct ku_knob *row =
        ku_knob_find("TCP_HOST"); /* of ch_tcp, which need not be open, and may be left out */
    const char *host = row ? row->str : "";
    if (err)
        return err;
    if (!ku_auth_nonce(nonce))
        return no_nonce();
    p->fd = ku_sock_listen(host[0] ? host : NULL, &at);
    if (p->fd < 0)
        return MPIR_Err(MPI_ERR_OTHER, NULL, "this process cannot listen for a port: %s", strerror(errno));
    widen(nonce, p->secret);
    write_name(p, nonce, at.port, host[0] ? &at : NULL);
    return 0;
}

void MPIR_Port_close(struct port *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

/* `n` bytes written in hexadecimal; false: they are not. */
static bool read_hex(const char *text, uint8_t *to, int n)
{
    for (int i = 0; i < 2 * n; i++) {
        char c = text[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        to[i / 2] = (uint8_t)(i % 2 ? to[i / 2] | digit : digit << 4);
    }
    return true;
}

struct told {
    uint8_t secret[KU_SECRET_BYTES];
    struct ku_sock_addr at[PORT_ADDRESSES + 1];
    int n;
};

/* What a name tells; false: it is none. */
static bool read_name(const char *name, struct told *t)
{
    uint8_t in_name[PORT_SECRET], host[8];
    unsigned number = 0;
    uint64_t its = 0;
    t->n = 0;
    if (strncmp(name, "keel:", 5) != 0 || !read_hex(name + 5, in_name, PORT_SECRET) ||
        name[5 + 2 * PORT_SECRET] != ':')
        return false;
    widen(in_name, t->secret);
    name += 6 + 2 * PORT_SECRET;
    for (; *name >= '0' && *name <= '9' && number <= 65535; name++)
        number = 10 * number + (unsigned)(*name - '0');
    if (number == 0 || number > 65535 || *name != ':' || !read_hex(name + 1, host, 8) || name[17] != ':')
        return false;
    for (int i = 0; i < 8; i++)
        its = its << 8 | host[i];
    name += 18;
    if (its != 0 && its == ku_sock_host())
        ku_sock_parse("127.0.0.1", 9, &t->at[t->n++]);
    while (*name) {
        size_t len = strcspn(name, ",");
        if (t->n > PORT_ADDRESSES || !ku_sock_parse(name, len, &t->at[t->n]))
            return false;
        t->n++;
        name += len + (name[len] == ',');
    }
    for (int i = 0; i < t->n; i++)
        t->at[i].port = (uint16_t)number;
    return t->n > 0;
}

/* ---- both ends ------------------------------------------------------------------------------------------------ */

static struct patience at_most(const struct patience *how, uint64_t ns)
{
    struct patience p = how ? *how : (struct patience){ 0 };
    uint64_t end = ku_clock_ns() + ns;
    p.until = p.until && p.until < end ? p.until : end;
    return p;
}

int MPIR_Port_accept(struct port *p, const struct patience *how, struct link *l)
{
    for (;;) {
        int err = spawn_link_wait_for(p->fd, POLLIN, how);
        if (err)
            return err;
        *l = (struct link){ .fd = ku_sock_accept(p->fd, NULL) };
        if (l->fd < 0)
            continue;
        struct patience greeting = at_most(how, GREETING_NS);
        err = greet_caller(l, p->secret, &greeting);
        if (!err)
            return 0;
        MPIR_Link_close(l);
        if (how && how->gone && how->gone(how->arg))
            return how->gone(how->arg);
        if (how && how->until && ku_clock_ns() >= how->until)
            return err;
    }
}

static int try_address(const struct ku_sock_addr *at, const struct patience *how, struct link *l, int *why)
{
    struct patience connecting = at_most(how, CONNECT_NS);
    *l = (struct link){ .fd = ku_sock_connect(at) };
    *why = l->fd < 0 ? errno : 0;
    int err = l->fd < 0 ? MPI_ERR_PORT : spawn_link_wait_for(l->fd, POLLOUT, &connecting);
    if (!err && (*why = ku_sock_error(l->fd)) != 0)
        err = MPI_ERR_PORT;
    else if (err && !*why)
        *why = ETIMEDOUT;
    if (err)
        MPIR_Link_close(l);
    return err;
}

int MPIR_Port_connect(const char *port_name, const struct patience *how, struct link *l)
{
    struct told t;
    char where[KU_SOCK_TEXT];
    int why = 0, err = MPI_ERR_PORT;
    l->fd = -1;
    if (!read_name(port_name, &t))
        return MPIR_Err(MPI_ERR_PORT, "port_name",
                        "is \"%.100s\"; expected a name that MPI_Open_port has returned", port_name);
    for (int i = 0; i < t.n && err; i++)
        if ((err = try_address(&t.at[i], how, l, &why)) != 0)
            MPIR_Err(MPI_ERR_PORT, "port_name", "names a port that cannot be reached at %s: %s",
                     ku_sock_text(&t.at[i], where), strerror(why));
    if (!err)
        err = greet_called(l, t.secret, how);
    if (err)
        MPIR_Link_close(l);
    return err;
}
