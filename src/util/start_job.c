/* SPDX-License-Identifier: BSD-3-Clause */
/* start_job.c: see start_job.h. */
#define _GNU_SOURCE
#include "start_job.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "err.h"

extern char **environ;

/* ---- a command line ---- */

/* Words that grow; the strings are its own. */
struct words {
    char **word;
    int n, room;
    bool lacks; /* there was no memory for some */
};

static void start_job_add(struct words *w, const char *text)
{
    if (w->n + 1 >= w->room) {
        int room = w->room ? 2 * w->room : 32;
        char **more = realloc(w->word, (size_t)room * sizeof *more);
        if (!more) {
            w->lacks = true;
            return;
        }
        w->word = more;
        w->room = room;
    }
    char *copy = strdup(text);
    w->lacks = w->lacks || !copy;
    w->word[w->n] = copy;
    w->n += copy != NULL;
    w->word[w->n] = NULL;
}

static void add_two(struct words *w, const char *option, const char *value)
{
    if (!value)
        return;
    start_job_add(w, option);
    start_job_add(w, value);
}

static void free_words(struct words *w)
{
    for (int i = 0; i < w->n; i++)
        free(w->word[i]);
    free(w->word);
}

/* Lines "NAME=VALUE" (Open MPI's key "env"). */
static void add_env(struct words *w, const char *lines)
{
    while (lines && *lines) {
        size_t n = strcspn(lines, "\n");
        char *one = strndup(lines, n);
        if (one && strchr(one, '='))
            add_two(w, "-env", one);
        w->lacks = w->lacks || !one;
        free(one);
        lines += n + (lines[n] == '\n');
    }
}

/* What the keys that the standard reserves, and those of the other implementations, are as options of a section. */
static const struct key {
    const char *name, *option;
} keys[] = {
    { "host", "-host" },
    { "hosts", "-host" },
    { "hostfile", "-hostfile" },
    { "wdir", "-wdir" },
    { "path", "-path" },
    { "soft", "-soft" },
    { "arch", "-arch" },
    { "map_by", "-map-by" },
    { "bind_to", "-bind-to" },
    { "mpi_initial_errhandler", "-initial-errhandler" },
    { "mpi_memory_alloc_kinds", "-memory-alloc-kinds" },
};

static void add_section(struct words *w, const struct ku_command *c)
{
    char number[16];
    snprintf(number, sizeof number, "%d", c->maxprocs);
    add_two(w, "-n", number);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        add_two(w, keys[i].option, c->info(c->of, keys[i].name));
    add_env(w, c->info(c->of, "env"));
    start_job_add(w, c->program);
    for (int i = 0; c->argv && c->argv[i]; i++)
        start_job_add(w, c->argv[i]);
}

/* ---- its surroundings ---- */

static bool is_set(const char *entry, char *const *set)
{
    size_t n = strcspn(entry, "=");
    for (; set && *set; set++)
        if (strncmp(entry, *set, n) == 0 && (*set)[n] == '=')
            return true;
    return false;
}

/* KEEL_JOB is left there: mpiexec tells the launcher of this job that it is part of it. */
static void make_environment(struct words *w, char *const *set)
{
    for (char **e = environ; *e; e++)
        if (strncmp(*e, "PMI", 3) != 0 && strncmp(*e, "HYDI_", 5) != 0 && !is_set(*e, set))
            start_job_add(w, *e);
    for (; set && *set; set++)
        start_job_add(w, *set);
}

static int cannot_start(const char *program, int err)
{
    return ku_err_set(err, NULL, "%s cannot be started: %s (KEEL_MPIEXEC names it)", program, strerror(err));
}

/* A descriptor that stays open across exec, under its number. */
static void start_job_keep(posix_spawn_file_actions_t *files, int fd)
{
    if (fd >= 0)
        posix_spawn_file_actions_adddup2(files, fd, fd);
}

static int start_process(char **argv, char **env, const struct ku_surroundings *s, int socket, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    int err = posix_spawn_file_actions_init(&files);
    if (err)
        return cannot_start(argv[0], err);
    posix_spawnattr_init(&how);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0); /* its stdin is empty */
    if (s->out >= 0)
        posix_spawn_file_actions_adddup2(&files, s->out, 1);
    if (s->err >= 0)
        posix_spawn_file_actions_adddup2(&files, s->err, 2);
    start_job_keep(&files, socket);
    start_job_keep(&files, s->more);
    err = posix_spawn(pid, argv[0], &files, &how, argv, env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (err)
        *pid = 0;
    return err ? cannot_start(argv[0], err) : 0;
}

int ku_spawn(const char *mpiexec, const struct ku_command *c, int n, const struct ku_surroundings *s,
             pid_t *pid, int *alive)
{
    struct words w = { 0 }, env = { 0 };
    char option[32];
    int fds[2], err;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return ku_err_set(errno, NULL, "a socket to the spawned job failed: %s", strerror(errno));
    start_job_add(&w, mpiexec);
    snprintf(option, sizeof option, KU_SPAWN_ARGUMENT "%d", fds[1]);
    start_job_add(&w, option);
    if (s->universe > 0) {
        snprintf(option, sizeof option, "%d", s->universe);
        add_two(&w, "-usize", option);
    }
    for (int i = 0; i < n; i++) {
        if (i > 0)
            start_job_add(&w, ":");
        add_section(&w, &c[i]);
    }
    make_environment(&env, s->set);
    if (env.lacks || w.lacks)
        err = ku_err_set(ENOMEM, NULL, "no memory for the command line of a spawned job");
    else
        err = start_process(w.word, env.word, s, fds[1], pid);
    close(fds[1]);
    *alive = fds[0];
    free_words(&w);
    free_words(&env);
    return err;
}

enum ku_spawned ku_spawn_look(int alive)
{
    char said;
    ssize_t n = recv(alive, &said, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return KU_SPAWN_WAITS;
    return n == 1 && said == KU_SPAWN_SAYS_STARTED ? KU_SPAWN_STARTED : KU_SPAWN_ENDED;
}
