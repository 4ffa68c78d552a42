/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* nodes: one, because the socket is of loopback */
/* MPI_Comm_join: over a socket that is the program's, which it can use before and after. */
#include "../check.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static int meet_by_tcp(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0), port = 0, other;
    if (check_rank == 0) {
        CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0 &&
              getsockname(fd, (struct sockaddr *)&at, &len) == 0);
        port = at.sin_port;
    }
    MPI_Bcast(&port, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (check_rank != 0) {
        at.sin_port = (in_port_t)port;
        CHECK_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
        return fd;
    }
    other = accept(fd, NULL, NULL);
    close(fd);
    return other;
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    char c = 0;
    int word, size;
    check_init(&argc, &argv);
    int fd = meet_by_tcp();
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_EQ(read(fd, &c, 1), 1);
    CHECK_EQ(c, 'x');
    CHECK_EQ(MPI_Comm_join(fd, &inter), MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &size);
    CHECK_EQ(size, 1);
    MPI_Sendrecv(&check_rank, 1, MPI_INT, 0, 1, &word, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
    CHECK_EQ(word, 1 - check_rank);
    CHECK_EQ(write(fd, "y", 1), 1);
    CHECK_EQ(read(fd, &c, 1), 1);
    CHECK_EQ(c, 'y', "the socket is the program's afterwards");
    close(fd);
    MPI_Comm_disconnect(&inter);
    return check_done();
}
