/* name.c: MPI_Publish_name, MPI_Lookup_name, MPI_Unpublish_name.
 *
 * The name service is a folder of the user's (KEEL_NAMES), which nobody else can read: the port names in it hold secrets.  A name is a
 * file there, whose name is the service name in hexadecimal, and whose text is the port name.  The process that has published it holds a lock on
 * the file: so a name whose publisher has ended, however it did, is known to be stale, and the next process that meets it removes it.
 * Nothing runs for it, and the folder is empty when nobody publishes anything.
 *
 * A publisher makes the file under another name, locks it, and links it to its place: who finds it there finds it whole. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "bodies.h"
#include "err.h"
#include "spawn.h"
#include "util/knob.h"

enum { SERVICE_MAX = 120 /* characters: a file's name has two for each */ };

static struct ku_knob rows[] = {
    { .name = "NAMES",
      .type = KU_KNOB_STR,
      .def = "",
      .unit = "",
      .help = "the folder in which MPI_Publish_name leaves names; empty: /tmp/keel-names-UID.  For jobs on "
              "several "
              "hosts: one that all of them share" },
};
static struct ku_knob_table knobs = { .rows = rows, .n = 1, .area = "mpi.spawn" };

__attribute__((constructor)) static void add_knobs(void)
{
    ku_knob_add(&knobs);
}

static struct published {
    struct published *next;
    int fd; /* has the lock */
    char path[PATH_MAX];
} * all;

static int refused(const char *what, const char *path)
{
    return MPIR_Err(MPI_ERR_SERVICE, NULL, "%s %s failed: %s", what, path, strerror(errno));
}

/* The folder, made if it is not there.  Another user's is none. */
static int folder(char *path, size_t size)
{
    struct stat st;
    ku_knob_register(&knobs);
    const char *said = ku_knob_str("NAMES");
    if (said[0])
        snprintf(path, size, "%s", said);
    else
        snprintf(path, size, "/tmp/keel-names-%u", (unsigned)geteuid());
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return refused("making the folder of names", path);
    if (lstat(path, &st) != 0)
        return refused("looking at the folder of names", path);
    if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0)
        return MPIR_Err(MPI_ERR_SERVICE, NULL,
                        "%s is not a folder of this user's that nobody else may read; names of ports are "
                        "kept in such a one "
                        "(KEEL_NAMES)",
                        path);
    return 0;
}

static int path_of(const char *service_name, char *path, size_t size)
{
    size_t n = strlen(service_name), at;
    int err = folder(path, size);
    if (err)
        return err;
    if (n == 0 || n > SERVICE_MAX)
        return MPIR_Err(MPI_ERR_SERVICE, "service_name", "has %zu characters; expected 1 to %d", n,
                        SERVICE_MAX);
    at = strlen(path);
    if (at + 2 * n + 32 > size)
        return MPIR_Err(MPI_ERR_SERVICE, NULL, "the path of the folder of names is too long");
    path[at++] = '/';
    for (size_t i = 0; i < n; i++, at += 2)
        sprintf(path + at, "%02x", (unsigned char)service_name[i]);
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

static int write_file(const char *made, const char *path, const char *port_name, int *fd)
{
    size_t n = strlen(port_name);
    *fd = open(made, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return refused("making", made);
    int err = 0;
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0 || write(*fd, port_name, n) != (ssize_t)n)
        err = refused("writing", made);
    for (bool again = true; !err && again;) {
        again = false;
        if (link(made, path) == 0)
            break;
        if (errno != EEXIST) {
            err = refused("making", path);
            break;
        }
        int other = open_alive(path);
        again = other < 0;
        if (other >= 0)
            close(other);
        if (!again)
            err = MPIR_Err(MPI_ERR_SERVICE, "service_name", "is published already");
    }
    unlink(made);
    if (err)
        close(*fd);
    return err;
}

int MPIR_Publish_name(const char *service_name, MPIR_Info *info, const char *port_name)
{
    static unsigned times;
    struct published *p = calloc(1, sizeof *p);
    char made[PATH_MAX + 64];
    (void)info; /* the standard reserves no key */
    if (!p)
        return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory to publish a name");
    int err = path_of(service_name, p->path, sizeof p->path);
    if (!err) {
        snprintf(made, sizeof made, "%.*s/.%d.%u", (int)(strrchr(p->path, '/') - p->path), p->path,
                 (int)getpid(), times++);
        err = write_file(made, p->path, port_name, &p->fd);
    }
    if (err) {
        free(p);
        return err;
    }
    p->next = all;
    all = p;
    return 0;
}

int MPIR_Lookup_name(const char *service_name, MPIR_Info *info, char *port_name)
{
    char path[PATH_MAX];
    (void)info;
    int err = path_of(service_name, path, sizeof path);
    if (err)
        return err;
    int fd = open_alive(path);
    ssize_t n = fd >= 0 ? read(fd, port_name, MPI_MAX_PORT_NAME - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n > 0) {
        port_name[n] = 0;
        return 0;
    }
    return MPIR_Err(MPI_ERR_NAME, "service_name", "is \"%.100s\", which nobody has published (in %.*s)",
                    service_name, (int)(strrchr(path, '/') - path), path);
}

static void take_back(struct published **at)
{
    struct published *p = *at;
    char *end = strrchr(p->path, '/');
    *at = p->next;
    unlink(p->path);
    close(p->fd);
    *end = 0;
    if (!ku_knob_str("NAMES")[0])
        rmdir(p->path); /* if nobody else has a name there */
    free(p);
}

int MPIR_Unpublish_name(const char *service_name, MPIR_Info *info, const char *port_name)
{
    char path[PATH_MAX];
    (void)info, (void)port_name;
    int err = path_of(service_name, path, sizeof path);
    if (err)
        return err;
    for (struct published **at = &all; *at; at = &(*at)->next)
        if (strcmp((*at)->path, path) == 0) {
            take_back(at);
            return 0;
        }
    return MPIR_Err(MPI_ERR_SERVICE, "service_name", "is \"%.100s\", which this process has not published",
                    service_name);
}

void MPIR_Names_end(void)
{
    while (all)
        take_back(&all);
}
