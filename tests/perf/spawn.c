/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a parent takes for MPI_Comm_spawn of N children, for MPI_Comm_disconnect from them, and for a
 * connection of the two groups through a port (MPI_Comm_accept, MPI_Comm_connect, and MPI_Comm_disconnect again),
 * and half a round trip of 8 bytes with the first child: medians, in ms.
 *   spawn N TIMES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

enum { MOST = 1000, CONNECTS = 20, MESSAGES = 1000, BLOCKS = 21 };
static double spawn[MOST], leave[MOST], meet[CONNECTS], message[BLOCKS];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return 1e3 * v[n / 2];
}

static void ping_pong(MPI_Comm inter, int is_child)
{
    double word = 0;
    for (int i = 0; i < MESSAGES; i++) {
        if (!is_child)
            MPI_Send(&word, 1, MPI_DOUBLE, 0, 1, inter);
        MPI_Recv(&word, 1, MPI_DOUBLE, 0, 1, inter, MPI_STATUS_IGNORE);
        if (is_child)
            MPI_Send(&word, 1, MPI_DOUBLE, 0, 1, inter);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter, other;
    char port[MPI_MAX_PORT_NAME] = "", *args[] = { "x", "0", NULL };
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    int n = argc > 2 ? atoi(argv[1]) : 1, times = argc > 2 ? atoi(argv[2]) : 1, meets, rank;
    if (parent != MPI_COMM_NULL) {
        MPI_Bcast(&meets, 1, MPI_INT, 0, parent);
        MPI_Bcast(port, sizeof port, MPI_CHAR, 0, parent);
        for (int i = 0; i < meets; i++) {
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
            MPI_Comm_disconnect(&other);
        }
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        for (int k = 0; k < BLOCKS && meets > 0 && rank == 0; k++)
            ping_pong(parent, 1);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    times = times < MOST ? times : MOST;
    MPI_Open_port(MPI_INFO_NULL, port);
    for (int i = 0; i < times; i++) {
        double t = MPI_Wtime();
        MPI_Comm_spawn(argv[0], args, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        spawn[i] = MPI_Wtime() - t;
        meets = i == times - 1 ? CONNECTS : 0;
        MPI_Bcast(&meets, 1, MPI_INT, MPI_ROOT, inter);
        MPI_Bcast(port, sizeof port, MPI_CHAR, MPI_ROOT, inter);
        for (int k = 0; k < meets; k++) {
            t = MPI_Wtime();
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
            MPI_Comm_disconnect(&other);
            meet[k] = MPI_Wtime() - t;
        }
        for (int k = 0; k < BLOCKS && meets > 0; k++) {
            t = MPI_Wtime();
            ping_pong(inter, 0);
            message[k] = (MPI_Wtime() - t) / (2 * MESSAGES);
        }
        t = MPI_Wtime();
        MPI_Comm_disconnect(&inter);
        leave[i] = MPI_Wtime() - t;
    }
    MPI_Close_port(port);
    printf("spawn %.4f\ndisconnect %.4f\nmeet %.4f\nmessage %.6f\n", median(spawn, times),
           median(leave, times), median(meet, CONNECTS), median(message, BLOCKS));
    MPI_Finalize();
    return 0;
}
