/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank makes children in every way there is, with messages in flight: they may do anything but MPI, end as they
 * like, hold nothing of the job once they are another program, and neither the job nor its messages notice. */
/* ranks: 1 2 3 5 */
/* across: children inherit a device's descriptors */
#define _GNU_SOURCE
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../check.h"

enum { BIG = 300000, ROUNDS = 3 };

static unsigned char out[BIG], in[BIG];

static void expect_exit(pid_t child, int code)
{
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code, "status %x; expected exit code %d", status, code);
}

/* The child sees MPI as finished, ruins its copies, and ends. */
static void forked(void (*leave)(int), int code)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int flag = 0;
        MPI_Finalized(&flag);
        memset(in, 0x55, BIG);
        memset(out, 0x55, BIG);
        leave(flag ? code : 99);
    }
    expect_exit(child, code);
}

static void programs(void)
{
    static char *const argv[] = { "true", NULL };
    char line[64] = "";
    extern char **environ;
    pid_t child = -1;
    CHECK_EQ(system("exit 5") >> 8, 5);
    FILE *p = popen("echo words", "r");
    CHECK(p && fgets(line, sizeof line, p) && !strcmp(line, "words\n"), "%s", line);
    pclose(p);
    child = vfork();
    if (child == 0) {
        execv("/bin/true", argv);
        _exit(127);
    }
    expect_exit(child, 0);
    CHECK_EQ(posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ), 0);
    expect_exit(child, 0);
}

/* No other program gets the job's memory or pipe. */
static void nothing_inherited(int before)
{
    char line[512];
    int n = 0;
    FILE *p = popen("ls -l /proc/self/fd", "r");
    while (p && fgets(line, sizeof line, p)) {
        n += strstr(line, " -> ") != NULL;
        CHECK(!strstr(line, "memfd:keel"), "%s", line);
    }
    pclose(p);
    if (getenv("TEST_INHERITS") == NULL) /* libraries of networks open some that programs inherit */
        CHECK(n <= before, "%d descriptors; %d before MPI_Init", n, before);
}

static int descriptors(void)
{
    char line[512];
    int n = 0;
    FILE *p = popen("ls -l /proc/self/fd", "r");
    while (p && fgets(line, sizeof line, p))
        n += strstr(line, " -> ") != NULL;
    pclose(p);
    return n;
}

/* Messages are on their way while children come and go. */
static void in_flight(int round)
{
    MPI_Request r[2];
    int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
    check_fill(out, BIG, (uint64_t)(100 * round + check_rank));
    memset(in, 0, BIG);
    MPI_Irecv(in, BIG, MPI_BYTE, left, round, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, BIG, MPI_BYTE, right, round, MPI_COMM_WORLD, &r[1]);
    forked(_exit, 3);
    forked(exit, 4);
    programs();
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_BYTES(in, BIG, (uint64_t)(100 * round + left));
}

int main(int argc, char **argv)
{
    int before = descriptors(), sum = 0, one = 1;
    forked(_exit, 99); /* before MPI_Init, a child is a process like any other */
    check_init(&argc, &argv);
    nothing_inherited(before);
    for (int round = 0; round < ROUNDS; round++)
        in_flight(round);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, check_size);
    return check_done();
}
