/* SPDX-License-Identifier: BSD-3-Clause */
/* process.c: see process.h. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "process.h"

/* A file of the process, as far as it fits; "" if it cannot be read. */
static void read_file(const char *name, pid_t pid, int thread, char *text, size_t size)
{
    char path[96];
    if (thread)
        snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, thread, name);
    else
        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
}

/* The state in /proc/.../stat: R, S, D, T, t, Z; 0: unknown. */
static char state_of(pid_t pid, int thread)
{
    char stat[1024];
    read_file("stat", pid, thread, stat, sizeof stat);
    const char *end = strrchr(stat, ')');
    return end && end[1] ? end[2] : 0;
}

/* The function of the kernel that it sleeps in; "": not known. */
static void wchan_of(pid_t pid, int thread, char *text, size_t size)
{
    read_file("wchan", pid, thread, text, size);
    if (strcmp(text, "0") == 0)
        text[0] = '\0';
}

bool process_runs(pid_t pid, double *seconds)
{
    char text[128];
    if (state_of(pid, 0) != 'R')
        return false;
    read_file("schedstat", pid, 0, text, sizeof text);
    *seconds = (double)strtoull(text, NULL, 10) * 1e-9;
    return true;
}

void process_words(pid_t pid, char *text, size_t size)
{
    char wchan[128];
    char state = state_of(pid, 0);
    wchan_of(pid, 0, wchan, sizeof wchan);
    if (state == 'R')
        snprintf(text, size, "computing");
    else if (state == 'S' || state == 'D')
        snprintf(text, size, wchan[0] ? "in a system call (%s)" : "in a system call", wchan);
    else if (state == 'T' || state == 't')
        snprintf(text, size, state == 't' ? "stopped by a debugger" : "stopped");
    else
        snprintf(text, size, state == 'Z' ? "ending" : "its process cannot be looked at");
}

/* The handlers that a program may have and yet do nothing by itself: what comes of its own faults, of the terminal
 * and of whoever ends it, and of processor time, of which a sleeper uses none. */
static bool comes_by_itself(int sig)
{
    static const int not [] = { SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,  SIGABRT,   SIGBUS,
                                SIGFPE,  SIGSEGV, SIGPIPE, SIGTERM, SIGCONT,  SIGTSTP,   SIGTTIN,
                                SIGTTOU, SIGXCPU, SIGXFSZ, SIGPROF, SIGWINCH, SIGVTALRM, SIGSYS };
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (sig == not [i])
            return false;
    return sig < 32 || sig >= SIGRTMIN; /* those between are libc's own */
}

static bool has_handler(const char *status)
{
    const char *line = strstr(status, "\nSigCgt:");
    unsigned long long caught = line ? strtoull(line + strlen("\nSigCgt:"), NULL, 16) : ~0ull;
    for (int sig = 1; sig <= 64; sig++)
        if (caught >> (sig - 1) & 1 && comes_by_itself(sig))
            return true;
    return false;
}

/* Does a thread besides the first one do something, or mean to do it soon? */
static bool thread_at_work(pid_t pid)
{
    char path[64], wchan[128];
    bool works = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && !works && (e = readdir(dir)) != NULL;) {
        int thread = atoi(e->d_name);
        if (thread <= 0 || thread == pid)
            continue;
        wchan_of(pid, thread, wchan, sizeof wchan);
        works = state_of(pid, thread) != 'S' || strstr(wchan, "futex") == NULL;
    }
    if (!dir)
        return true;
    closedir(dir);
    return works;
}

bool process_has_others(pid_t pid, bool threads_may_call)
{
    char status[4096];
    read_file("status", pid, 0, status, sizeof status);
    const char *line = strstr(status, "\nThreads:");
    int threads = line ? atoi(line + strlen("\nThreads:")) : 0;
    if (threads < 1 || has_handler(status))
        return true;
    return threads > 1 && (threads_may_call || thread_at_work(pid));
}
