/* SPDX-License-Identifier: BSD-3-Clause */
/* publish.c: see publish.h. */
#define _GNU_SOURCE
#include "publish.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "err.h"
#include "knob.h"

static struct ku_knob rows[] = {
    { .name = "NAMES",
      .type = KU_KNOB_STR,
      .def = "",
      .unit = "",
      .help = "the folder in which names are published (MPI_Publish_name); empty: /tmp/keel-names-UID.  For "
              "jobs on several hosts: one that all of them share" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 1, .area = "mpi.spawn" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

struct ku_published {
    int fd; /* has the lock */
    char path[PATH_MAX];
};

static int refused(const char *what, const char *path)
{
    return ku_err_set(errno, NULL, "%s %s failed: %s", what, path, strerror(errno));
}

const char *ku_publish_folder(void)
{
    static char own[64];
    ku_knob_register(&knobs);
    const char *said = ku_knob_str("NAMES");
    snprintf(own, sizeof own, "/tmp/keel-names-%u", (unsigned)geteuid());
    return said[0] ? said : own;
}

/* Another user's is none. */
static int find_folder(const char *path, bool make)
{
    struct stat st;
    if (make && mkdir(path, 0700) != 0 && errno != EEXIST)
        return refused("making the folder of names", path);
    if (lstat(path, &st) != 0)
        return refused("looking at the folder of names", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return ku_err_set(EPERM, NULL,
                          "%s is not a folder of this user's that nobody else may read; names of ports are "
                          "kept in such a one (KEEL_NAMES)",
                          path);
    return 0;
}

static int path_of(const char *name, bool make, char *path, size_t size)
{
    const char *folder = ku_publish_folder();
    size_t n = strlen(name), at = strlen(folder);
    int err = find_folder(folder, make);
    if (err)
        return err;
    if (n == 0 || n > KU_PUBLISH_NAME)
        return ku_err_set(EINVAL, NULL, "a name has %zu characters; expected 1 to %d", n, KU_PUBLISH_NAME);
    if (at + 2 * n + 32 > size)
        return ku_err_set(ENAMETOOLONG, NULL, "the path of the folder of names is too long");
    memcpy(path, folder, at);
    path[at++] = '/';
    for (size_t i = 0; i < n; i++, at += 2)
        sprintf(path + at, "%02x", (unsigned char)name[i]);
    return 0;
}

/* Open the name; -1: there is none, or its publisher has ended: then it is removed. */
static int open_alive(const char *path)
{
    for (;;) {
        struct stat ours, there;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) /* somebody else has it */
            return fd;
        if (fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino)
            unlink(path);
        close(fd);
    }
}

static int link_to(const char *made, const char *path)
{
    while (link(made, path) != 0) {
        if (errno != EEXIST)
            return refused("making", path);
        int other = open_alive(path);
        if (other >= 0) {
            close(other);
            return ku_err_set(EEXIST, NULL, "is published already");
        }
    }
    return 0;
}

static int write_file(const char *made, const char *path, const void *bytes, size_t n, int *fd)
{
    *fd = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return refused("making", made);
    int err = flock(*fd, LOCK_EX | LOCK_NB) != 0 || write(*fd, bytes, n) != (ssize_t)n
                  ? refused("writing", made)
                  : link_to(made, path);
    unlink(made);
    if (err)
        close(*fd);
    return err;
}

static int publish_publish(struct ku_published *new, const char *name, const void *bytes, size_t len)
{
    static unsigned times;
    char made[PATH_MAX + 64];
    int err = path_of(name, true, new->path, sizeof new->path);
    if (err)
        return err;
    snprintf(made, sizeof made, "%.*s/.%d.%u", (int)(strrchr(new->path, '/') - new->path), new->path,
             (int)getpid(), times++);
    return write_file(made, new->path, bytes, len, &new->fd);
}

int ku_publish(const char *name, const void *bytes, size_t len, struct ku_published **p)
{
    enum { TRIES = 1000 };
    struct ku_published *new = calloc(1, sizeof *new);
    if (!new)
        return ku_err_set(ENOMEM, NULL, "no memory to publish a name");
    int err = publish_publish(new, name, bytes, len);
    /* Whoever takes the last name back removes the folder, before something lies in it again. */
    for (int i = 0; err == ENOENT && i < TRIES; i++)
        err = publish_publish(new, name, bytes, len);
    if (err)
        free(new);
    else
        *p = new;
    return err;
}

void ku_publish_withdraw(struct ku_published *p)
{
    unlink(p->path);
    close(p->fd);
    if (!ku_knob_str("NAMES")[0])
        rmdir(ku_publish_folder()); /* if nobody else has a name there */
    free(p);
}

static int read_all(int fd, char **bytes, size_t *len)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !(*bytes = malloc((size_t)st.st_size + 1)))
        return ku_err_set(ENOMEM, NULL, "no memory for what is published");
    ssize_t n = read(fd, *bytes, (size_t)st.st_size);
    *len = n > 0 ? (size_t)n : 0;
    (*bytes)[*len] = 0;
    return 0;
}

int ku_publish_look_up(const char *name, char **bytes, size_t *len)
{
    char path[PATH_MAX];
    int err = path_of(name, false, path, sizeof path);
    if (err && err != ENOENT)
        return err;
    int fd = err ? -1 : open_alive(path);
    if (fd < 0)
        return ku_err_set(ENOENT, NULL, "nobody has published that name (in %s)", ku_publish_folder());
    err = read_all(fd, bytes, len);
    close(fd);
    return err;
}
