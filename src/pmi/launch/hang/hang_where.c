/* SPDX-License-Identifier: BSD-3-Clause */
/* hang_where.c: where in a program an address lies, and the frames of a thread whose registers are known.
 *
 * The process's map tells the file; libdw, if this machine has it, the line; else the file's symbols (hang_elf.c)
 * the function.  It is loaded when first needed: mpiexec starts without it. */
#define _GNU_SOURCE
#include "config.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "demangle.h"
#include "hang.h"
#include "pmi/launch/job/launch.h"
#include "pmi/pmi.h"
#include "util/faults.h"

/* What has been looked up: ranks of one program ask for the same places. */
struct place {
    struct place *next;
    char *file;
    uint64_t offset;
    char *text; /* with the source file's folder */
};
static struct place *places;

/* The file that is mapped at the address, and the place in it. */
static bool mapped(pid_t pid, uint64_t address, char *file, size_t size, uint64_t *offset)
{
    char path[64], line[4096 + 256];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        unsigned long long from, to, at;
        int name = 0;
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &from, &to, &at, &name) < 3 || !name)
            continue;
        line[strcspn(line, "\n")] = '\0';
        found = address >= from && address < to && line[name];
        *offset = address - from + at;
        snprintf(file, size, "%s", line + name);
    }
    if (f)
        fclose(f);
    return found;
}

static const char *base(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

#ifdef HAVE_LIBDW
#include <elfutils/libdwfl.h>

static struct {
    bool tried, usable;
    __typeof__(dwfl_begin) *begin;
    __typeof__(dwfl_end) *end;
    __typeof__(dwfl_linux_proc_report) *report;
    __typeof__(dwfl_report_end) *report_end;
    __typeof__(dwfl_addrmodule) *addrmodule;
    __typeof__(dwfl_module_addrname) *addrname;
    __typeof__(dwfl_module_getsrc) *getsrc;
    __typeof__(dwfl_lineinfo) *lineinfo;
    __typeof__(dwfl_linux_proc_find_elf) *find_elf;
    __typeof__(dwfl_standard_find_debuginfo) *find_debuginfo;
    __typeof__(dwfl_offline_section_address) *section_address;
    __typeof__(dwfl_report_offline) *report_offline;
    __typeof__(dwfl_module_getelf) *getelf;
    __typeof__(dwfl_attach_state) *attach;
    __typeof__(dwfl_getthread_frames) *frames;
    __typeof__(dwfl_frame_pc) *frame_pc;
    __typeof__(dwfl_thread_state_registers) *registers;
    __typeof__(dwfl_thread_state_register_pc) *register_pc;
} dw;

static bool load(void)
{
    void *lib = dw.tried ? NULL : dlopen("libdw.so.1", RTLD_NOW);
    dw.tried = true;
    if (!lib)
        return dw.usable;
    unsetenv("DEBUGINFOD_URLS"); /* nothing is fetched from a network */
#define FIND(field, symbol) ((dw.field = (__typeof__(dw.field))dlsym(lib, #symbol)) != NULL)
    dw.usable = FIND(begin, dwfl_begin) && FIND(end, dwfl_end) && FIND(report, dwfl_linux_proc_report) &&
                FIND(report_end, dwfl_report_end) && FIND(addrmodule, dwfl_addrmodule) &&
                FIND(addrname, dwfl_module_addrname) && FIND(getsrc, dwfl_module_getsrc) &&
                FIND(lineinfo, dwfl_lineinfo) && FIND(find_elf, dwfl_linux_proc_find_elf) &&
                FIND(find_debuginfo, dwfl_standard_find_debuginfo) &&
                FIND(section_address, dwfl_offline_section_address) &&
                FIND(report_offline, dwfl_report_offline) && FIND(getelf, dwfl_module_getelf) &&
                FIND(attach, dwfl_attach_state) && FIND(frames, dwfl_getthread_frames) &&
                FIND(frame_pc, dwfl_frame_pc) && FIND(registers, dwfl_thread_state_registers) &&
                FIND(register_pc, dwfl_thread_state_register_pc);
#undef FIND
    return dw.usable;
}

static char *describe(Dwfl *dwfl, uint64_t address)
{
    Dwfl_Module *module = dw.addrmodule(dwfl, address);
    const char *name = module ? dw.addrname(module, address) : NULL, *source = NULL;
    Dwfl_Line *line = module ? dw.getsrc(module, address) : NULL;
    int number = 0;
    if (line)
        source = dw.lineinfo(line, NULL, &number, NULL, NULL, NULL);
    if (source && name) {
        char *function = demangle(name), *text = xformat("%s:%d (%s)", source, number, function);
        free(function);
        return text;
    }
    if (source)
        return xformat("%s:%d", source, number);
    return NULL;
}

/* The process as libdw sees it; NULL: not at all. */
static Dwfl *open_process(pid_t pid)
{
    static char *paths;
    static Dwfl_Callbacks callbacks = { .debuginfo_path = &paths };
    if (!load())
        return NULL;
    callbacks.find_elf = dw.find_elf;
    callbacks.find_debuginfo = dw.find_debuginfo;
    Dwfl *dwfl = dw.begin(&callbacks);
    if (dwfl && dw.report(dwfl, pid) == 0 && dw.report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    if (dwfl)
        dw.end(dwfl);
    return NULL;
}

static char *by_libdw(pid_t pid, uint64_t address)
{
    Dwfl *dwfl = open_process(pid);
    char *text = dwfl ? describe(dwfl, address) : NULL;
    if (dwfl)
        dw.end(dwfl);
    return text;
}

/* The file without a process; of a file all that is asked for is asked at once, so one stays open. */
static char *by_libdw_in(const char *file, uint64_t linked)
{
    static char *paths, *open_file;
    static Dwfl *dwfl;
    static GElf_Addr bias;
    static Dwfl_Callbacks callbacks = { .debuginfo_path = &paths };
    if (!load())
        return NULL;
    if (!open_file || strcmp(open_file, file) != 0) {
        callbacks.section_address = dw.section_address;
        callbacks.find_debuginfo = dw.find_debuginfo;
        free(open_file);
        open_file = xformat("%s", file);
        if (dwfl)
            dw.end(dwfl);
        dwfl = dw.begin(&callbacks);
        Dwfl_Module *module = dwfl ? dw.report_offline(dwfl, file, file, -1) : NULL;
        if (dwfl && (!module || dw.report_end(dwfl, NULL, NULL) != 0 || !dw.getelf(module, &bias))) {
            dw.end(dwfl);
            dwfl = NULL;
        }
    }
    return dwfl ? describe(dwfl, linked + bias) : NULL;
}

/* ---- frames ---- */

struct walk {
    const struct pmi_trace *t;
    pid_t pid;
    int memory; /* /proc/PID/mem */
    uint64_t *address;
    int n, max;
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
    struct walk *w = arg;
    (void)dwfl;
    if (*thread_arg)
        return 0;
    *thread_arg = w;
    return w->pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
    (void)dwfl, (void)tid;
    *thread_arg = arg;
    return true;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *word, void *arg)
{
    const struct walk *w = arg;
    (void)dwfl;
    return pread(w->memory, word, sizeof *word, (off_t)at) == sizeof *word;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct walk *w = arg;
    dw.register_pc(thread, w->t->pc);
    return dw.registers(thread, 0, w->t->nregisters, w->t->registers);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
    struct walk *w = arg;
    Dwarf_Addr pc;
    if (!dw.frame_pc(frame, &pc, NULL) || w->n == w->max)
        return DWARF_CB_ABORT;
    w->address[w->n++] = pc;
    return DWARF_CB_OK;
}

static int walk_frames(pid_t pid, const struct pmi_trace *t, uint64_t *address, int max)
{
    static const Dwfl_Thread_Callbacks callbacks = { .next_thread = next_thread,
                                                     .get_thread = get_thread,
                                                     .memory_read = read_word,
                                                     .set_initial_registers = set_registers };
    struct walk w = { t, pid, -1, address, 0, max };
    char path[64];
    Dwfl *dwfl = open_process(pid);
    if (!dwfl)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    w.memory = open(path, O_RDONLY | O_CLOEXEC);
    if (w.memory >= 0 && dw.attach(dwfl, NULL, pid, &callbacks, &w))
        dw.frames(dwfl, pid, take_frame, &w);
    dw.end(dwfl);
    if (w.memory >= 0)
        close(w.memory);
    return w.n;
}
#else
static int walk_frames(pid_t pid, const struct pmi_trace *t, uint64_t *address, int max)
{
    (void)pid, (void)t, (void)address, (void)max;
    return 0;
}

static char *by_libdw(pid_t pid, uint64_t address)
{
    (void)pid, (void)address;
    return NULL;
}

static char *by_libdw_in(const char *file, uint64_t linked)
{
    (void)file, (void)linked;
    return NULL;
}
#endif

static const struct place *place_known(const char *file, uint64_t offset)
{
    const struct place *p = places;
    while (p && (p->offset != offset || strcmp(p->file, file) != 0))
        p = p->next;
    return p;
}

/* `text`: as libdw has it; NULL: it does not know. */
static const struct place *place_add(const char *file, uint64_t offset, char *text)
{
    struct place *p = xalloc(1, sizeof *p);
    *p = (struct place){ places, xformat("%s", file), offset, text };
    char *symbol = p->text ? NULL : hang_symbol(file, offset);
    if (symbol)
        p->text = xformat("%s in %s", symbol, base(file));
    if (!p->text)
        p->text = xformat("%s+0x%llx", base(file), (unsigned long long)offset);
    free(symbol);
    return places = p;
}

char *hang_where(pid_t pid, uint64_t address, bool folder)
{
    char file[4096];
    uint64_t offset;
    address--; /* it is where the call returns to: perhaps the next line */
    if (!mapped(pid, address, file, sizeof file, &offset))
        return NULL;
    const struct place *p = place_known(file, offset);
    p = p ? p : place_add(file, offset, by_libdw(pid, address));
    return xformat("%s", folder ? p->text : ku_place_name(p->text));
}

char *hang_where_in(const char *file, uint64_t offset, uint64_t linked)
{
    const struct place *p = place_known(file, offset);
    p = p ? p : place_add(file, offset, by_libdw_in(file, linked));
    return xformat("%s", p->text);
}

char *hang_places(pid_t pid, const struct ku_seg_call *call)
{
    char *text = call->caller ? hang_where(pid, call->caller, false) : NULL;
    for (int i = 0; i < call->nthreads && i < KU_CALL_THREADS; i++) {
        char *where = call->thread[i].caller ? hang_where(pid, call->thread[i].caller, false) : NULL;
        char *both = xformat("%s\n%s", text ? text : "", where ? where : "");
        free(text);
        free(where);
        text = both;
    }
    return text;
}

char *hang_module(pid_t pid, uint64_t address)
{
    char file[4096];
    uint64_t offset;
    return mapped(pid, address, file, sizeof file, &offset) ? xformat("%s", base(file)) : NULL;
}

int hang_frames(pid_t pid, const struct pmi_trace *t, uint64_t *address, int max)
{
    int n = t->nregisters > 0 && t->nregisters <= PMI_TRACE_REGISTERS ? walk_frames(pid, t, address, max) : 0;
    if (n == 0 && t->pc) {
        address[0] = t->pc;
        n = 1;
    }
    return n;
}
