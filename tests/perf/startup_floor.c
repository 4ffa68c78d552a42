/* SPDX-License-Identifier: BSD-3-Clause */
/* startup_floor: start N copies of a program as fast as one process can, wait for all, and print how long that took.
 *
 *   usage: startup_floor N program [argument ...]
 * Each is a vfork and an exec with the caller's environment and descriptors: nothing is set up, watched or passed
 * on.  With a program that does nothing this is the least that starting a job of N processes costs; with N = 1 it
 * times any command. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0, status, bad = n < 1;
    double start = ms();
    for (int i = 0; i < n; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            execvp(argv[2], argv + 2);
            _exit(127);
        }
        bad |= pid < 0;
    }
    while (wait(&status) > 0)
        bad |= status != 0;
    printf("wall@%d %.6g ms\n", n, ms() - start);
    return bad;
}
