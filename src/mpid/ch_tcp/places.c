/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c: at which addresses this process can be reached, and where it looks for a peer.
 *
 * A process listens at loopback if all ranks are on one node and it meets no other job, else at all its host's
 * addresses (or at KEEL_TCP_HOST), and tells its peers those that KEEL_TCP_NETS lets it use, with their networks.
 * Who connects tries loopback if the host is the same, then the peer's addresses in networks that it is in itself,
 * then the others, to which there may be a route.  An address that is also its own, as those of bridges often are,
 * leads to itself and not to the peer. */
#include "tcp.h"
#include <errno.h>
#include <string.h>
#include "util/err.h"
#include "util/knob.h"

/* ---- which networks -------------------------------------------------------------------------- */

/* The next network of a list: its text is moved on; false: there is none, or (*bad) it is no network. */
static bool next_net(const char **list, struct ku_sock_addr *net, bool * not, bool *bad)
{
    size_t n;
    *list += strspn(*list, ", ");
    *not = **list == '!';
    *list += *not ;
    n = strcspn(*list, ", ");
    if (n == 0)
        return false;
    *bad = !ku_sock_parse(*list, n, net);
    *list += n;
    return !*bad;
}

static bool may_use(const struct ku_sock_addr *a, const char *nets)
{
    struct ku_sock_addr net;
    bool some = false, in = false, not, bad = false;
    while (next_net(&nets, &net, &not, &bad)) {
        bool within = ku_sock_within(a, &net);
        if (not &&within)
            return false;
        some = some || !not ;
        in = in || (!not &&within);
    }
    return in || !some;
}

static bool nets_are_good(const char *nets)
{
    struct ku_sock_addr net;
    bool not, bad = false;
    const char *at = nets;
    while (next_net(&at, &net, &not, &bad))
        ;
    if (bad)
        ku_err_set(1, "KEEL_TCP_NETS",
                   "is %.100s; expected networks such as 10.1.0.0/16,fd00::/8,!10.1.7.0/24", nets);
    return !bad;
}

/* ---- this process ---------------------------------------------------------------------------- */

static void own_addresses(struct dev *d, const char *nets)
{
    struct ku_sock_addr all[64];
    int n = ku_sock_own(all, 64);
    for (int i = 0; i < n && d->nown < TCP_ADDRESSES; i++)
        if (may_use(&all[i], nets))
            d->own[d->nown++] = all[i];
}

static bool cannot_listen(const char *at)
{
    ku_err_set(errno, "KEEL_TCP_HOST",
               "is %.60s, where this process cannot listen: %s; expected an address of this machine", at,
               strerror(errno));
    return false;
}

/* What own_addresses knows of the networks of an address. */
static void with_prefix(const struct dev *d, struct ku_sock_addr *a)
{
    for (int i = 0; i < d->nown; i++)
        if (ku_sock_same_ip(a, &d->own[i]))
            a->prefix = d->own[i].prefix;
}

bool dev_tcp_places(struct dev *d)
{
    const char *host = ku_knob_str("TCP_HOST"), *nets = ku_knob_str("TCP_NETS");
    bool alone = d->world.nodes == 1 && !d->world.others;
    struct ku_sock_addr at;
    uint8_t nonce[KU_AUTH_NONCE];
    if (!nets_are_good(nets))
        return false;
    if (!host[0] && alone)
        host = "127.0.0.1";
    if (!alone)
        own_addresses(d, nets);
    d->listen_fd = ku_sock_listen(host[0] ? host : NULL, &at);
    if (d->listen_fd < 0)
        return cannot_listen(host[0] ? host : "empty (all of this host's)");
    if (!ku_auth_nonce(nonce)) {
        ku_err_set(errno, NULL, "the system has no random bytes: %s", strerror(errno));
        return false;
    }
    if (host[0]) {
        with_prefix(d, &at);
        d->address = tcp_address_prepare(&at, 1, 0, nonce);
        return true;
    }
    d->own[0].port = at.port;
    d->address = tcp_address_prepare(d->own, d->nown, ku_sock_host(), nonce);
    return true;
}

/* ---- a peer ---------------------------------------------------------------------------------- */

/* 1: it is there; 0: not yet; -1: never. */
static int address_of(struct dev_peer *p, struct tcp_address *a)
{
    struct dev *d = p->dev;
    memset(a, 0, sizeof *a);
    size_t n = d->up.address ? d->up.address(d->up.core, p->grank, a, sizeof *a) : DEV_ADDRESS_NEVER;
    if (n == 0)
        return 0;
    return n != DEV_ADDRESS_NEVER && tcp_address_check(a, n) ? 1 : -1;
}

static bool is_own(const struct dev *d, const struct ku_sock_addr *a)
{
    for (int i = 0; i < d->nown; i++)
        if (ku_sock_same_ip(a, &d->own[i]))
            return true;
    return false;
}

static bool is_near(const struct dev *d, const struct ku_sock_addr *a)
{
    for (int i = 0; i < d->nown; i++)
        if (ku_sock_within(&d->own[i], a) && ku_sock_within(a, &d->own[i]))
            return true;
    return false;
}

/* In the order in which they are tried. */
static int places_of(const struct dev *d, const struct tcp_address *a,
                     struct ku_sock_addr list[TCP_ADDRESSES + 1])
{
    int n = 0;
    static const uint8_t not_told[sizeof a->host];
    bool here = memcmp(a->host, d->address.host, sizeof a->host) == 0 &&
                memcmp(a->host, not_told, sizeof a->host) != 0;
    if (here) {
        ku_sock_parse("127.0.0.1", 9, &list[0]);
        list[n++].port = (uint16_t)(a->port[0] << 8 | a->port[1]);
    }
    for (int far = 0; far <= 1; far++)
        for (int i = 0; i < a->n; i++) {
            struct ku_sock_addr at = tcp_address_at(a, i);
            if ((here || a->n == 1 || !is_own(d, &at)) && is_near(d, &at) == !far)
                list[n++] = at;
        }
    return n;
}

int dev_tcp_choose(struct dev_peer *p)
{
    struct ku_sock_addr list[TCP_ADDRESSES + 1];
    struct tcp_address a;
    int known = address_of(p, &a), n;
    if (known <= 0)
        return known == 0 ? -1 : 0;
    n = places_of(p->dev, &a, list);
    if (p->turn >= n)
        p->turn = 0;
    if (n > 0)
        p->where = list[p->turn];
    return n;
}

bool dev_tcp_nonce_of(struct dev_peer *p, uint8_t *nonce)
{
    struct tcp_address a;
    errno = ENOENT;
    if (address_of(p, &a) <= 0)
        return false;
    memcpy(nonce, a.nonce, sizeof a.nonce);
    return true;
}

/* "10.0.0.2:4711: Connection refused; [fd00::2]:4711: ...": as many as there is room for. */
const char *dev_tcp_failures(struct dev_peer *p, char *text, size_t size)
{
    struct ku_sock_addr list[TCP_ADDRESSES + 1];
    struct tcp_address a;
    int n = address_of(p, &a) > 0 ? places_of(p->dev, &a, list) : 0;
    size_t at = 0;
    snprintf(text, size, "it has no address any more");
    for (int i = 0; i < n && at < size; i++) {
        char where[KU_SOCK_TEXT];
        int why = p->failed[i];
        at += (size_t)snprintf(text + at, size - at, "%s%s: %s", i ? "; " : "", ku_sock_text(&list[i], where),
                               why == 0                 ? "not tried"
                               : why == TCP_TURNED_AWAY ? "turns connections away"
                               : why == TCP_NOT_OURS    ? "answers, but is not of this job"
                                                        : strerror(why));
    }
    return text;
}
