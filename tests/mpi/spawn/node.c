/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* Processes of two jobs on one node share memory: messages of all sizes both ways, many at once and more than
 * there is room for; when they are disconnected nothing of it is left. */
#include "spawned.h"
#include <dirent.h>

enum { CHILDREN = 2, TIMES = 3, MANY = 3000, LONGEST = 3 << 20 };

/* Segments of jobs that this process has mapped. */
static int segments(void)
{
    unsigned long inode[64];
    char line[1024];
    int n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    CHECK(f != NULL, "/proc/self/maps");
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned long ino = 0;
        int known = 0;
        if (strstr(line, "/memfd:keel-job") == NULL || sscanf(line, "%*s %*s %*s %*s %lu", &ino) != 1)
            continue;
        for (int i = 0; i < n; i++)
            known |= inode[i] == ino;
        if (!known && n < 64)
            inode[n++] = ino;
    }
    fclose(f);
    return n;
}

static int descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;
    CHECK(d != NULL, "/proc/self/fd");
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

/* All but rank 0: by then they have had time to unmap what they disconnected from. */
static void sleep_in_barrier(void)
{
    if (check_rank == 0)
        usleep(200000);
    MPI_Barrier(MPI_COMM_WORLD);
}

static unsigned char byte_of(int from, int n, int i)
{
    return (unsigned char)(37 * from + 11 * n + i);
}

/* Everybody to everybody of the other group. */
static void sizes(MPI_Comm inter, int others)
{
    static unsigned char out[LONGEST];
    unsigned char *in = malloc((size_t)others * LONGEST);
    MPI_Request req[2 * 16];
    CHECK(in != NULL, "no memory");
    for (int n = 0; n <= LONGEST; n = n < 60 ? n + 7 : n * 3) {
        for (int i = 0; i < n; i++)
            out[i] = byte_of(check_rank, n, i);
        for (int r = 0; r < others; r++) {
            MPI_Irecv(in + (size_t)r * LONGEST, n, MPI_BYTE, r, n, inter, &req[2 * r]);
            MPI_Isend(out, n, MPI_BYTE, r, n, inter, &req[2 * r + 1]);
        }
        CHECK_EQ(MPI_Waitall(2 * others, req, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        for (int r = 0; r < others; r++)
            for (int i = 0; i<n; i += n> 5000 ? 997 : 1)
                CHECK_EQ(in[(size_t)r * LONGEST + (size_t)i], byte_of(r, n, i), "%d bytes from %d at %d", n,
                         r, i);
    }
    free(in);
}

/* Many short messages that nobody takes for a while: their order stays. */
static void many(MPI_Comm inter, int others, int sends)
{
    static int word[MANY];
    MPI_Request req[MANY];
    int got;
    for (int r = 0; r < others; r++) {
        for (int i = 0; i < MANY; i++) {
            word[i] = i;
            if (sends)
                MPI_Isend(&word[i], 1, MPI_INT, r, 4, inter, &req[i]);
        }
        if (sends)
            MPI_Waitall(MANY, req, MPI_STATUSES_IGNORE);
    }
    if (!sends)
        usleep(20000);
    for (int r = 0; r < others && !sends; r++)
        for (int i = 0; i < MANY; i++) {
            MPI_Recv(&got, 1, MPI_INT, r, 4, inter, MPI_STATUS_IGNORE);
            CHECK_EQ(got, i, "message %d of %d", i, r);
        }
}

static void together(MPI_Comm inter, int is_child, int before)
{
    int others;
    MPI_Comm_remote_size(inter, &others);
    CHECK_EQ(segments(), before + may_share(), "segments");
    sizes(inter, others);
    many(inter, others, is_child);
    many(inter, others, !is_child);
    MPI_Barrier(inter);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    int fds = 0;
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        together(parent, 1, 1);
        MPI_Comm_disconnect(&parent);
        CHECK(segments() <= 2, "%d segments after it was disconnected", segments());
        return check_done();
    }
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
        together(inter, 0, 1);
        MPI_Comm_disconnect(&inter);
        CHECK(segments() <= 2, "%d segments after round %d", segments(), i);
        sleep_in_barrier();
        if (check_rank > 0)
            CHECK_EQ(segments(), 1, "segments after a sleep in round %d", i);
        if (i == 0)
            fds = descriptors();
        else
            CHECK(descriptors() <= fds + 2, "%d descriptors after round %d, %d after the first",
                  descriptors(), i, fds);
    }
    return check_done();
}
