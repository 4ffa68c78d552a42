/* SPDX-License-Identifier: BSD-3-Clause */
/* demangle.c: see demangle.h.
 *
 * C++ and Rust: the C++ library's own function, and c++filt of binutils for the two manglings of Rust, as no
 * library that is everywhere knows them.  Both are found when they are first needed; without them names stay as
 * they are.
 *
 * Fortran: compilers join the names of module and procedure; nothing is encoded in them. */
#define _GNU_SOURCE
#include "demangle.h"
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pmi/launch/base/util.h"

extern char **environ;

/* ---- C++ ---- */

/* As <cxxabi.h> has it; the name is from malloc. */
typedef char *demangler(const char *name, char *to, size_t *size, int *status);

static demangler *cxx_library(void)
{
    static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1" };
    static demangler *found;
    static bool tried;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !found && !tried; i++) {
        void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        found = library ? (demangler *)dlsym(library, "__cxa_demangle") : NULL;
    }
    tried = true;
    return found;
}

/* f(int) const is f.  What stands in the last parentheses may have some of its own. */
static void drop_parameters(char *name)
{
    static const char *const behind[] = { " const", " volatile", " &", " &&" };
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
        size_t m = strlen(behind[i]);
        if (n > m && strcmp(name + n - m, behind[i]) == 0) {
            n -= m;
            i = (size_t)-1;
        }
    }
    int depth = 0;
    for (size_t i = n; i > 0 && name[n - 1] == ')'; i--) {
        depth += (name[i - 1] == ')') - (name[i - 1] == '(');
        if (depth == 0 && i > 1) {
            name[i - 1] = '\0';
            return;
        }
    }
}

static char *of_cxx(const char *name)
{
    int status = -1;
    demangler *library = strncmp(name, "_Z", 2) == 0 ? cxx_library() : NULL;
    char *text = library ? library(name, NULL, NULL, &status) : NULL;
    if (text && status == 0)
        drop_parameters(text);
    return text;
}

/* ---- Rust ---- */

/* _R...: the mangling since 2018's RFC 2603; _ZN...17h and 16 digits and E: the one before, which looks like C++. */
static bool is_rust(const char *name)
{
    size_t n = strlen(name);
    if (name[0] == '_' && name[1] == 'R' && isalnum((unsigned char)name[2]))
        return true;
    if (strncmp(name, "_ZN", 3) != 0 || n < 23 || name[n - 1] != 'E' || strncmp(name + n - 20, "17h", 3) != 0)
        return false;
    return strspn(name + n - 17, "0123456789abcdef") == 16;
}

/* The first line that it writes, within a second; NULL: it has failed. */
static char *first_line(int fd)
{
    enum { LONGEST = 4096 };
    char *text = xalloc(LONGEST + 1, 1);
    double until = now() + 1;
    size_t n = 0;
    for (bool more = true; more && n < LONGEST && !memchr(text, '\n', n);) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t got = now() < until && poll(&p, 1, milliseconds(until - now()) + 1) > 0
                          ? read(fd, text + n, LONGEST - n)
                          : 0;
        more = got > 0 || (got < 0 && errno == EINTR);
        n += got > 0 ? (size_t)got : 0;
    }
    char *end = memchr(text, '\n', n);
    if (end && end > text) {
        *end = '\0';
        return text;
    }
    free(text);
    return NULL;
}

/* The daemon blocks signals, and its own children are to have none of that. */
static pid_t start_filter(char *const *words, int out)
{
    pid_t pid = -1;
    sigset_t none;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawnattr_init(&how) == 0) {
        bool ok = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                  posix_spawn_file_actions_adddup2(&files, out, 1) == 0 &&
                  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) == 0 &&
                  posix_spawnattr_setsigmask(&how, &none) == 0 &&
                  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK) == 0;
        if (!ok || posix_spawnp(&pid, words[0], &files, &how, words, environ) != 0)
            pid = -1;
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* What tells versions of a crate apart is of no use to a reader: crate[c14f87a213e14aa]::f, and
 * f::h0123456789abcdef. */
static void drop_hashes(char *name)
{
    static const char hex[] = "0123456789abcdef";
    enum { SHORTEST = 8, WHOLE = 16 };
    size_t n = strlen(name);
    if (n > WHOLE + 3 && strncmp(name + n - WHOLE - 3, "::h", 3) == 0 &&
        strspn(name + n - WHOLE, hex) == WHOLE)
        name[n - WHOLE - 3] = '\0';
    for (char *at = name; (at = strchr(at, '[')) != NULL;) {
        size_t digits = strspn(at + 1, hex);
        if (digits >= SHORTEST && at[1 + digits] == ']')
            memmove(at, at + digits + 2, strlen(at + digits + 2) + 1);
        else
            at++;
    }
}

static char *of_rust(const char *name)
{
    static bool missing;
    char *copy = xformat("%s", name), *text = NULL;
    char filter[] = "c++filt", end[] = "--", *words[] = { filter, end, copy, NULL };
    int ends[2];
    if (!missing && is_rust(name) && pipe2(ends, O_CLOEXEC) == 0) {
        pid_t pid = start_filter(words, ends[1]);
        close(ends[1]);
        missing = pid < 0;
        text = missing ? NULL : first_line(ends[0]);
        if (text)
            drop_hashes(text);
        close(ends[0]);
        if (!missing)
            kill(pid, SIGKILL);
        while (!missing && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    free(copy);
    return text;
}

/* ---- Fortran ---- */

/* gfortran: __MODULE_MOD_PROCEDURE; Intel's compilers: MODULE_mp_PROCEDURE_. */
static char *of_joined(const char *name)
{
    const char *mod = strncmp(name, "__", 2) == 0 ? strstr(name, "_MOD_") : NULL;
    const char *mp = strstr(name, "_mp_");
    size_t n = strlen(name);
    if (mod && mod > name + 2 && mod[5])
        return xformat("%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
    if (mp && mp > name && name[0] != '_' && mp[4] && name[n - 1] == '_')
        return xformat("%.*s::%.*s", (int)(mp - name), name, (int)(n - 1 - (size_t)(mp + 4 - name)), mp + 4);
    return NULL;
}

/* flang: _Q, and then a capital letter and a name for each of module, submodule, host and procedure. */
static char *of_flang(const char *name)
{
    char *text = NULL;
    if (strcmp(name, "_QQmain") == 0)
        return xformat("main program");
    if (name[0] != '_' || name[1] != 'Q' || !name[2] || !strchr("MSFP", name[2]))
        return NULL;
    for (const char *at = name + 2; *at;) {
        size_t n = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (!strchr("MSFP", *at) || n == 0) {
            free(text);
            return NULL;
        }
        char *longer = xformat("%s%s%.*s", text ? text : "", text ? "::" : "", (int)n, at + 1);
        free(text);
        text = longer;
        at += 1 + n;
    }
    return text;
}

char *demangle(const char *name)
{
    static char *(*const languages[])(const char *) = { of_rust, of_cxx, of_joined, of_flang };
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        char *text = languages[i](name);
        if (text)
            return text;
    }
    return xformat("%s", name);
}
