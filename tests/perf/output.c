/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests/perf/output.py times: N ranks write LINES lines each.  As "floor", without MPI: N processes write
 * each line by one write(2) into a pipe of their own, and a reader takes what is there every millisecond. */
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINES = 100000 };

static void write_lines(int rank)
{
    char line[64];
    for (int i = 0; i < LINES; i++) {
        int n = snprintf(line, sizeof line, "rank %d line %d\n", rank, i);
        if (write(1, line, (size_t)n) != n)
            _exit(1);
    }
    _exit(0);
}

static int run_floor(int ranks)
{
    static char buf[1 << 16];
    struct pollfd *p = calloc((size_t)ranks, sizeof *p);
    for (int i = 0, fds[2]; i < ranks; i++) {
        if (pipe(fds) != 0)
            return 1;
        if (fork() == 0) {
            dup2(fds[1], 1);
            close(fds[1]);
            write_lines(i);
        }
        close(fds[1]);
        p[i] = (struct pollfd){ .fd = fds[0], .events = POLLIN };
    }
    for (int open = ranks; open > 0; usleep(1000)) {
        poll(p, (nfds_t)ranks, -1);
        for (int i = 0; i < ranks; i++) {
            ssize_t n = p[i].revents ? read(p[i].fd, buf, sizeof buf) : -1;
            if (n > 0 && write(1, buf, (size_t)n) != n)
                return 1;
            if (n == 0) {
                p[i].fd = -1;
                open--;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    if (argc > 2 && strcmp(argv[1], "floor") == 0)
        return run_floor(atoi(argv[2]));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < LINES; i++)
        printf("rank %d line %d\n", rank, i);
    MPI_Finalize();
    return 0;
}
