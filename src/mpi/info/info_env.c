/* SPDX-License-Identifier: BSD-3-Clause */
/* info_env.c: MPI_INFO_ENV and MPI_Info_create_env: how this process was started (12.2.2).
 *
 *   command, argv   from argc and argv if they are given, else as the kernel knows them
 *   host, arch      of this machine
 *   wdir            the working directory now
 *   maxprocs        ranks of this section of mpiexec's command line; 1 without a launcher
 *   host, arch, soft, path, mpi_initial_errhandler, mpi_memory_alloc_kinds
 *                   the values of mpiexec's options of these names, where they were given
 *
 * A value that is not known, or longer than a value may be, is left out (argv is cut). */
#define _GNU_SOURCE
#include "config.h"
#include "table.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "bodies.h"
#include "mpi_err.h"
#include "mpid.h"

MPIR_Info MPIR_Info_env = {
    .obj = { .index = KEEL_NO_INDEX,
             .gen = 1,
             .kind = MPIR_KIND_INFO,
             .flags = KEEL_OBJ_PREDEFINED,
             .refs = 1,
             .self = KEEL_MPI_INFO_ENV },
};

static bool info_env_put(MPIR_Info *info, const char *key, const char *value)
{
    return !value || !value[0] || strlen(value) >= MPI_MAX_INFO_VAL || MPIR_Info_put(info, key, value);
}

/* The arguments with spaces between; what does not fit is cut. */
static bool put_argv(MPIR_Info *info, int argc, char *const *argv)
{
    char text[MPI_MAX_INFO_VAL] = "";
    size_t n = 0;
    for (int i = 1; i < argc && argv[i] && n + 1 < sizeof text; i++) {
        snprintf(text + n, sizeof text - n, "%s%s", i > 1 ? " " : "", argv[i]);
        n += strlen(text + n);
    }
    return info_env_put(info, "argv", text);
}

static bool put_command(MPIR_Info *info, int argc, char *const *argv)
{
    return info_env_put(info, "command", argv[0]) && put_argv(info, argc, argv);
}

/* The command line as the kernel has it: the beginning is enough for the longest value.  (Not inline: most
 * processes are spared the pages of this frame.) */
__attribute__((noinline)) static bool put_cmdline(MPIR_Info *info)
{
    enum { ARGS = 512 };
    char text[PATH_MAX + MPI_MAX_INFO_VAL + 1], *argv[ARGS];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), argc = 1;
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return true;
    text[n] = 0;
    argv[0] = text;
    for (char *p = text + strlen(text) + 1; p < text + n && argc < ARGS; p += strlen(p) + 1)
        argv[argc++] = p;
    return put_command(info, argc, argv);
}

/* What mpiexec says of this section: lines "key=value". */
static bool put_section(MPIR_Info *info, const char *lines)
{
    bool done = true;
    while (*lines && done) {
        char line[MPI_MAX_INFO_KEY + MPI_MAX_INFO_VAL];
        size_t n = strcspn(lines, "\n"), key = strcspn(lines, "=\n");
        if (n < sizeof line && key < n) {
            memcpy(line, lines, n);
            line[key] = line[n] = 0;
            done = info_env_put(info, line, line + key + 1);
        }
        lines += n + (lines[n] == '\n');
    }
    return done;
}

/* The lines about this section; one without a launcher. */
static const char *section_lines(void)
{
    return getenv("KEEL_JOB") ? getenv("KEEL_SECTION") : "maxprocs=1";
}

bool MPIR_Info_said(const char *key, char *value, size_t size)
{
    size_t n = strlen(key);
    for (const char *line = section_lines(); line && *line; line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        if (len > n && !strncmp(line, key, n) && line[n] == '=' && len - n - 1 < size) {
            memcpy(value, line + n + 1, len - n - 1);
            value[len - n - 1] = 0;
            return true;
        }
        line += len;
    }
    return false;
}

static bool info_env_fill(MPIR_Info *info, int argc, char *const *argv)
{
    struct utsname machine;
    char wdir[MPI_MAX_INFO_VAL];
    const char *section = section_lines();
    bool done = argc > 0 && argv && argv[0] ? put_command(info, argc, argv) : put_cmdline(info);
    if (done && uname(&machine) == 0)
        done = info_env_put(info, "host", machine.nodename) && info_env_put(info, "arch", machine.machine);
    if (done && getcwd(wdir, sizeof wdir))
        done = info_env_put(info, "wdir", wdir);
    return done && (!section || put_section(info, section));
}

void MPIR_Info_env_init(int argc, char **argv)
{
    MPIR_Info_clear(&MPIR_Info_env);
    info_env_fill(&MPIR_Info_env, argc, argv);
}

/* It stays readable after MPI_Finalize, until the library goes. */
__attribute__((destructor)) static void forget(void)
{
    MPIR_Info_clear(&MPIR_Info_env);
}

int MPIR_Info_create_env(int argc, char **argv, MPIR_Info **info)
{
    int err = MPIR_Info_create(info);
    if (err || info_env_fill(*info, argc, argv))
        return err;
    MPIR_Info_free(info);
    return MPIR_Err(MPI_ERR_NO_MEM, NULL, "no memory for an info object");
}
