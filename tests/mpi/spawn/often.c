/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* A job spawns a child again and again and disconnects from it: neither descriptors nor memory nor processes are
 * left over, in it and in its launcher.  With an argument, so often. */
#include "../check.h"
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__ /* it keeps what was freed for a while */
enum { ROOM = 1 << 18 /* KB */ };
#else
enum { ROOM = 300 };
#endif
enum { TIMES = 60, AFTER = 20 /* times, all that is kept for good is there */ };

/* Of this process, or of the launcher's that is its parent. */
struct kept {
    int descriptors, children;
    long kilobytes;
};

static FILE *open_of(pid_t pid, const char *what)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    return fopen(path, "r");
}

static struct kept look(pid_t pid)
{
    struct kept k = { 0 };
    char path[64];
    long all;
    int child;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(path);
    FILE *memory = open_of(pid, "statm");
    snprintf(path, sizeof path, "task/%d/children", (int)pid);
    FILE *children = open_of(pid, path); /* not in every kernel */
    CHECK(d != NULL && memory != NULL && fscanf(memory, "%ld %ld", &all, &k.kilobytes) == 2, "/proc/%d",
          (int)pid);
    k.kilobytes *= 4;
    while (readdir(d) != NULL)
        k.descriptors++;
    while (children != NULL && fscanf(children, "%d", &child) == 1)
        k.children++;
    if (children != NULL)
        fclose(children);
    fclose(memory);
    closedir(d);
    return k;
}

static void compare(const char *whose, int times, struct kept had, struct kept has)
{
    enum { ENDING = 4 /* jobs that have been disconnected and are about to end */ };
    CHECK(has.descriptors <= had.descriptors + 2 + 2 * ENDING,
          "%s: %d descriptors after %d times, %d after %d", whose, has.descriptors, times, had.descriptors,
          AFTER);
    CHECK(has.children <= had.children + ENDING, "%s: %d children after %d times, %d after %d", whose,
          has.children, times, had.children, AFTER);
    CHECK(has.kilobytes <= had.kilobytes + ROOM, "%s: %ld KB after %d times, %ld after %d", whose,
          has.kilobytes, times, had.kilobytes, AFTER);
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
    int times = argc > 1 ? atoi(argv[1]) : TIMES;
    struct kept had = { 0 }, launcher_had = { 0 };
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
        if (i == AFTER) {
            had = look(getpid());
            launcher_had = look(getppid());
        }
    }
    compare("this process", times, had, look(getpid()));
    compare("its launcher", times, launcher_had, look(getppid()));
    return check_done();
}
