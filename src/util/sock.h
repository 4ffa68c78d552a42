/* sock.h: TCP sockets over IPv4 that never block, are not inherited by exec, and do not wait to gather bytes. */
#ifndef KU_SOCK_H
#define KU_SOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ku_sock_addr {
    uint8_t ip[4];
    uint16_t port; /* in host order */
};

/* "127.0.0.1:4711" in a buffer of KU_SOCK_TEXT bytes, which is returned. */
enum { KU_SOCK_TEXT = 24 };
const char *ku_sock_text(const struct ku_sock_addr *a, char *buf);

/* Listen at the address written in `ip` (port: any), which is told in *at.  A descriptor, or -1 and errno. */
int ku_sock_listen(const char *ip, struct ku_sock_addr *at);

/* Begin to connect: a descriptor that becomes writable when it is decided (ku_sock_error says how), or -1 and errno. */
int ku_sock_connect(const struct ku_sock_addr *to);

/* Take a connection; from (may be NULL): who it is.  A descriptor, or -1 and errno. */
int ku_sock_accept(int fd, struct ku_sock_addr *from);

/* The error that a socket has come to, 0: none. */
int ku_sock_error(int fd);

/* Bytes that the other side's kernel has not acknowledged, or -1. */
int ku_sock_unsent(int fd);

/* Errors after which the same call may succeed a little later. */
bool ku_sock_not_now(int err);

/* Are the bytes equal?  Takes the same time whatever they are. */
bool ku_sock_same(const void *a, const void *b, size_t len);

#endif
