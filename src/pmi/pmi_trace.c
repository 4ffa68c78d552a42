/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi_trace.c: telling the launcher where this process is before it dies of a signal, or ends the job for an error.
 *
 * The process looks at nothing itself: what it could call in a handler of a signal is little, and a crash may have
 * left the heap or the loader locked.  It writes its registers into the launcher's pipe and waits for a moment;
 * the launcher reads the map and the stack of the living process, and finds functions and lines.
 *
 * Then the signal is sent again, with all that came with it, and the default action taken: the exit code and the
 * core file are those that the program would have had.  A handler is installed only where the program has none. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "pmi.h"
#include "pmi_wire.h"
#include "util/faults.h"

enum { STACK_BYTES = 64 << 10, PATIENCE_MS = 1500 };

static const int signals[] = { SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL };
enum { SIGNALS = sizeof signals / sizeof *signals };

static struct {
    struct ku_seg_head *head; /* NULL: nobody is to be told */
    struct ku_seg_call *call;
    struct ku_seg_rank *rank;
    pid_t pid; /* a child that was forked is not the rank */
    _Atomic bool busy;
    bool has_stack; /* the thread that began has our signal stack */
} trace;
/* Common, as MPID_core is: what is seldom touched lies behind all other variables. */
__attribute__((common)) _Alignas(64) char pmi_signal_stack[STACK_BYTES];

#if defined(__x86_64__)
static void take_registers(const ucontext_t *uc, struct pmi_trace *t)
{
    static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                 REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };
    t->nregisters = sizeof order / sizeof *order;
    for (uint32_t i = 0; i < t->nregisters; i++)
        t->registers[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
    t->pc = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
}
#elif defined(__aarch64__)
static void take_registers(const ucontext_t *uc, struct pmi_trace *t)
{
    t->nregisters = 32;
    memcpy(t->registers, uc->uc_mcontext.regs, 31 * sizeof *t->registers);
    t->registers[31] = uc->uc_mcontext.sp;
    t->pc = uc->uc_mcontext.pc;
}
#else
static void take_registers(const ucontext_t *uc, struct pmi_trace *t)
{
    (void)uc, (void)t; /* the signal's address alone is told */
}
#endif

/* Tell, and wait until the launcher has looked.  False: it cannot be told.  Async-signal-safe. */
static bool pmi_trace_tell(enum pmi_record_kind kind, uint32_t value, const void *bytes, size_t len)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    if (trace.head == NULL || getpid() != trace.pid || !pmi_keel_can_send(trace.head) ||
        atomic_exchange(&trace.busy, true))
        return false;
    atomic_store(&trace.call->traced, 0);
    bool told = pmi_keel_send(kind, value, bytes, len);
    if (told)
        for (int ms = 0; ms < PATIENCE_MS && !atomic_load(&trace.call->traced); ms++)
            nanosleep(&moment, NULL);
    atomic_store(&trace.busy, false);
    return told;
}

/* SA_RESETHAND has restored the default action; the signal, blocked here, comes when we return. */
static void on_crash(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    struct pmi_trace t = { .signal = sig, .at_address = info->si_code > 0 && sig != SIGABRT };
    t.address = t.at_address ? (uint64_t)(uintptr_t)info->si_addr : 0;
    take_registers(context, &t);
    pmi_trace_tell(PMI_TRACE, 0, &t, sizeof t);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), sig, info);
    errno = saved;
}

/* A stack that has overflowed is none to run the handler on. */
static void use_signal_stack(void)
{
    stack_t old, ours = { .ss_sp = pmi_signal_stack, .ss_size = sizeof pmi_signal_stack };
    trace.has_stack =
        sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE) && sigaltstack(&ours, NULL) == 0;
}

void pmi_trace_begin(const struct pmi_job *job)
{
    if (strcmp(job->wire, "keel") != 0)
        return;
    trace.head = job->segment.head;
    trace.call = ku_segment_call(&job->segment, (uint32_t)job->local_rank);
    trace.rank = ku_segment_rank(&job->segment, (uint32_t)job->local_rank);
    trace.pid = getpid();
    use_signal_stack();
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction old, ours = { .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND };
        ours.sa_sigaction = on_crash;
        if (sigaction(signals[i], &ours, &old) == 0 &&
            (old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL))
            sigaction(signals[i], &old, NULL); /* the program has one */
    }
}

void pmi_trace_end(void)
{
    stack_t old, none = { .ss_flags = SS_DISABLE };
    struct sigaction now, normal = { .sa_handler = SIG_DFL };
    if (trace.head == NULL)
        return;
    trace.head = NULL;
    for (int i = 0; i < SIGNALS; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
            now.sa_sigaction == on_crash)
            sigaction(signals[i], &normal, NULL);
    if (trace.has_stack && sigaltstack(NULL, &old) == 0 && old.ss_sp == pmi_signal_stack)
        sigaltstack(&none, NULL);
    trace.has_stack = false;
}

void pmi_trace_here(void)
{
    struct pmi_trace t = { 0 };
    ucontext_t uc;
    if (trace.head == NULL || atomic_load(&trace.rank->found_gone) || getcontext(&uc) != 0)
        return;
    take_registers(&uc, &t);
    pmi_trace_tell(PMI_TRACE, 0, &t, sizeof t);
}

static void put_place(FILE *out, uintptr_t address)
{
    Dl_info info;
    if (dladdr((void *)(address - 1), &info) == 0) { /* it is where the call returns to */
        fprintf(out, "0x%llx", (unsigned long long)address);
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
    if (info.dli_sname)
        fprintf(out, "%s+0x%llx in ", info.dli_sname,
                (unsigned long long)(address - (uintptr_t)info.dli_saddr));
    fputs(file, out);
    if (!info.dli_sname)
        fprintf(out, "+0x%llx", (unsigned long long)(address - (uintptr_t)info.dli_fbase));
}

/* The text with its places in words, as far as this process knows them; NULL: no memory.  To be freed. */
static char *pmi_trace_own_places(const char *text)
{
    char *full = NULL;
    size_t bytes;
    FILE *out = open_memstream(&full, &bytes);
    if (!out)
        return NULL;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, PMI_PLACE_BEGIN);
        fwrite(p, 1, n, out);
        p += n;
        if (*p) {
            char *end;
            put_place(out, (uintptr_t)strtoull(p + 1, &end, 16));
            p = end + (*end != 0);
        }
    }
    fclose(out);
    return full;
}

/* No launcher shows it. */
static void pmi_trace_show(enum pmi_text what, char *text)
{
    struct ku_fault_words f;
    if (what != PMI_FAULT)
        fprintf(stderr, "%s\n", text);
    else if (ku_fault_take(text, &f) && !f.said) {
        ku_fault_show(stderr, &f);
        fputc('\n', stderr);
    }
}

void pmi_message_places(struct pmi_job *job, enum pmi_text what, const char *text)
{
    (void)job;
    if (pmi_trace_tell(PMI_MESSAGE, what, text, strlen(text)))
        return;
    char *full = pmi_trace_own_places(text);
    if (full && !pmi_keel_send(PMI_MESSAGE, what, full, strlen(full)))
        pmi_trace_show(what, full);
    free(full);
}

void pmi_message_fault(struct pmi_job *job, const struct ku_fault *fault)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return;
    ku_fault_put(out, fault);
    if (fclose(out) == 0)
        pmi_message_places(job, PMI_FAULT, text);
    free(text);
}

void pmi_fault_times(uint32_t number, int64_t times)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%u %lld", number, (long long)times);
    pmi_keel_send(PMI_MESSAGE, PMI_TIMES, text, (size_t)n);
}
