/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init asks the kernel for little: no exchange with other ranks, no file, no wait; and no library but this one
 * and libc comes with it.  Each rank's calls are counted by its parent, which traces it.
 *
 * What libc makes of one call of ours depends on its version: from 2.41 on sigaction(SIGABRT) is three system
 * calls.  So the rank makes that call by itself first, and what it takes is allowed. */
/* ranks: 1 2 3 5 8 */
/* abi: mpich openmpi, because their library is another one */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../check.h"

enum { MOST = 23 /* 22 on Linux 6 with glibc 2.36, beside sigaction(SIGABRT) */ };

/* What would be an exchange, a look at files, another thread or process, or a wait. */
static const int strange[] = {
    SYS_openat,  SYS_socket, SYS_connect,    SYS_bind,      SYS_sendto,          SYS_recvfrom,
    SYS_sendmsg, SYS_write,  SYS_writev,     SYS_read,      SYS_pread64,         SYS_getdents64,
    SYS_clone,   SYS_execve, SYS_ppoll,      SYS_nanosleep, SYS_clock_nanosleep, SYS_sched_yield,
    SYS_futex,   SYS_statfs, SYS_readlinkat,
#ifdef SYS_open
    SYS_open,    SYS_poll,   SYS_fork,       SYS_vfork,     SYS_epoll_wait,
#endif
};

/* Only a job in the shared memory of one node does without sockets; sanitizers and Valgrind have calls and
 * libraries of their own. */
static int is_plain(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 0;
#endif
    const char *here = getenv("MPI_LOCALNRANKS"), *all = getenv("PMI_SIZE");
    return getenv("KEEL_JOB") && !getenv("KEEL_DEVICES") && !getenv("LD_PRELOAD") && here && all &&
           strcmp(here, all) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Those that connect to other nodes have a library for their proofs. */
static int on_several_nodes(void)
{
    MPI_Comm node;
    int here = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here < check_size;
}

static void check_libraries(void)
{
    int connects = on_several_nodes();
    static const char *const known[] = { "libmpi_abi.so", "libc.so", "libc-", "ld-", "libm.so", "libm-" };
    char line[1024];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        if (!path || !strstr(path, ".so"))
            continue;
        int is_known = connects && strncmp(base_name(path), "libnettle.so", 12) == 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known |= strncmp(base_name(path), known[i], strlen(known[i])) == 0;
        CHECK(is_known, "a library of its own is mapped: %s", path);
    }
    if (maps)
        fclose(maps);
}

/* The rank: its parent counts from one getppid to the next. */
static int be_traced(int *argc, char ***argv)
{
    int traced = ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
    struct sigaction was;
    if (traced)
        raise(SIGSTOP);
    syscall(SYS_getppid);
    sigaction(SIGABRT, NULL, &was);
    syscall(SYS_getppid);
    MPI_Init(argc, argv);
    syscall(SYS_getppid);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
    check_libraries();
    return check_done();
}

/* The number of the call that the child is about to make; -1: it is something else. */
static long call_of(pid_t child)
{
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return -1;
    return (long)info.entry.nr;
}

static void count(pid_t child, int *status)
{
    enum { AT_CALL = SIGTRAP | 0x80 }; /* of PTRACE_O_TRACESYSGOOD, without which no call is told */
    enum { MARKS = 3 };
    int calls[MARKS] = { 0 }, marks = 0, traced = 0;
    while (marks < MARKS && waitpid(child, status, 0) == child && WIFSTOPPED(*status)) {
        int sig = WSTOPSIG(*status);
        long call = sig == AT_CALL ? call_of(child) : -1;
        if (!traced)
            traced = ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD) == 0;
        marks += call == SYS_getppid;
        if (call >= 0 && call != SYS_getppid) {
            calls[marks]++;
            for (size_t i = 0; marks == 2 && i < sizeof strange / sizeof *strange; i++)
                CHECK(call != strange[i], "MPI_Init makes system call %ld", call);
        }
        if (marks == MARKS ||
            ptrace(PTRACE_SYSCALL, child, NULL, sig == AT_CALL || sig == SIGSTOP ? 0 : sig) != 0)
            break;
    }
    if (!traced) /* the kernel does not allow it here */
        return;
    CHECK(marks == MARKS, "the rank was traced, and %d of %d marks were seen", marks, MARKS);
    if (marks == MARKS)
        CHECK(calls[2] <= MOST + calls[1],
              "MPI_Init makes %d system calls; expected at most %d, of which sigaction(SIGABRT) is %d",
              calls[2], MOST + calls[1], calls[1]);
    ptrace(PTRACE_DETACH, child, NULL, 0);
}

int main(int argc, char **argv)
{
    int status = -1;
    if (!is_plain()) {
        check_init(&argc, &argv);
        return check_done();
    }
    pid_t child = fork();
    if (child == 0)
        return be_traced(&argc, &argv);
    count(child, &status);
    if (!WIFEXITED(status))
        waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the rank ended with status %d", status);
    return check_failures > 0;
}
