/* SPDX-License-Identifier: BSD-3-Clause */
/* sock.h: TCP sockets over IPv4 and IPv6 that never block, are not inherited by exec, and do not wait to gather bytes;
 * addresses, and which of them belong together. */
#ifndef KU_SOCK_H
#define KU_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address, with the length of its network's prefix; or a network. */
struct ku_sock_addr {
    uint8_t family; /* 4 or 6 */
    uint8_t prefix; /* bits */
    uint16_t port;  /* in host order */
    uint8_t ip[16]; /* of which IPv4 uses four; the others are zero */
};

/* "127.0.0.1:4711", "[fd00::1]:4711" in a buffer of KU_SOCK_TEXT bytes, which is returned. */
enum { KU_SOCK_TEXT = 56 };
const char *ku_sock_text(const struct ku_sock_addr *a, char *buf);

/* "10.0.0.0/8", "fd00::1" (all its bits are the prefix); false: it is neither. */
bool ku_sock_parse(const char *text, size_t len, struct ku_sock_addr *a);

/* Does the address lie in the network that the other one tells, and are they the same address? */
bool ku_sock_within(const struct ku_sock_addr *a, const struct ku_sock_addr *net);
bool ku_sock_same_ip(const struct ku_sock_addr *a, const struct ku_sock_addr *b);

/* The addresses of this host's interfaces that are up, without those that only it or one link knows (loopback,
 * link-local):
 * how many of them list[] has. */
int ku_sock_own(struct ku_sock_addr *list, int most);

/* A number for this host, and this part of its network: equal where loopback reaches the other; 0: not known. */
uint64_t ku_sock_host(void);

/* Listen at the address written in `ip` (port: any), which is told in *at; NULL: at all addresses of both families that
 * this host has, by one socket.  A descriptor, or -1 and errno. */
int ku_sock_listen(const char *ip, struct ku_sock_addr *at);

/* Begin to connect: a descriptor that becomes writable when it is decided (ku_sock_error says how), or -1 and errno. */
int ku_sock_connect(const struct ku_sock_addr *to);

/* Take a connection; from (may be NULL): who it is.  A descriptor, or -1 and errno. */
int ku_sock_accept(int fd, struct ku_sock_addr *from);

/* The error that a socket has come to, 0: none. */
int ku_sock_error(int fd);

/* Bytes that the other side's kernel has not acknowledged, or -1. */
int ku_sock_unsent(int fd);

/* Have the kernel ask the other side, when nothing has come from there for half of so many seconds, and give the
 * connection up (ETIMEDOUT) when nothing has come for all of them.  It asks only while nothing is sent; else see
 * ku_sock_silent. */
void ku_sock_keep_alive(int fd, int seconds);

/* Has the other side's kernel said nothing for so long, not even to what it was sent again?  A process that does
 * not read is not silent: its kernel answers. */
bool ku_sock_silent(int fd, int seconds);

/* Errors after which the same call may succeed a little later. */
bool ku_sock_not_now(int err);

/* Are the bytes equal?  Takes the same time whatever they are. */
bool ku_sock_same(const void *a, const void *b, size_t len);

#endif
