/* ranks: 1 3 */
/* A job spawns a child again and again and disconnects from it: neither descriptors nor memory are left over.  With an argument, so often. */
#include "../check.h"
#include <dirent.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__ /* it keeps what was freed for a while */
enum { ROOM = 1 << 18 /* KB */ };
#else
enum { ROOM = 300 };
#endif
enum { TIMES = 60, AFTER = 20 /* times, all that is kept for good is there */ };

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

static long kilobytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long all, resident = 0;
    CHECK(f != NULL && fscanf(f, "%ld %ld", &all, &resident) == 2, "/proc/self/statm");
    fclose(f);
    return resident * 4;
}

static void together(MPI_Comm inter, int high)
{
    MPI_Comm all;
    int n, one = 1, sum = 0;
    MPI_Intercomm_merge(inter, high, &all);
    MPI_Comm_size(all, &n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK_EQ(sum, n);
    MPI_Comm_disconnect(&all);
    MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    MPI_Group group;
    int times = argc > 1 ? atoi(argv[1]) : TIMES, had = 0, has = 0;
    long kept = 0, keeps = 0;
    check_init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        together(parent, 1);
        return check_done();
    }
    for (int i = 0; i < times; i++) {
        CHECK_EQ(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                                MPI_ERRCODES_IGNORE),
                 MPI_SUCCESS);
        MPI_Comm_remote_group(inter, &group); /* it may outlive the connection */
        together(inter, 0);
        CHECK_EQ(MPI_Group_free(&group), MPI_SUCCESS);
        has = descriptors();
        keeps = kilobytes();
        if (i == AFTER) {
            had = has;
            kept = keeps;
        }
    }
    CHECK(has <= had + 2, "%d descriptors after %d times, %d after %d", has, times, had, AFTER);
    CHECK(keeps <= kept + ROOM, "%ld KB after %d times, %ld after %d", keeps, times, kept, AFTER);
    return check_done();
}
