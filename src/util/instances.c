/* SPDX-License-Identifier: BSD-3-Clause */
/* instances.c: see instances.h.
 *
 * While an image is moved, none lies at its place: what runs then (exchange) touches no variable of the program,
 * calls nothing through its tables, and has all that it needs in registers and on the stack, which no image holds. */
#define _GNU_SOURCE /* mremap, dl_iterate_phdr */
#include "instances.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "service.h"

struct instance {
    ucontext_t context;
    struct instances *all;
    int number, result;
    bool ended;
    char *image;  /* where its pages are while it does not run */
    char *locals; /* what its thread-local variables hold meanwhile */
    char *stack;
};

struct instances {
    int n, left;
    int (*fn)(int number, void *arg);
    void *arg;
    size_t stack_bytes;
    char *from, *locals; /* the image's place; that of the thread-local variables */
    size_t bytes, locals_bytes;
    long (*call)(long number, ...); /* syscall, in libc */
    struct instance caller;         /* the state from which they begin */
    struct instance at[];
};

static struct instance *self; /* in each image: whose it is */

/* ---- Where the image lies ---- */

struct extent {
    uintptr_t from, to, locals;
    size_t locals_bytes;
};

static uintptr_t page_down(uintptr_t at)
{
    return at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t page_up(uintptr_t at)
{
    return page_down(at + (uintptr_t)sysconf(_SC_PAGESIZE) - 1);
}

/* The program itself comes first; what the loader has written and protected since (RELRO) is equal for all. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct extent *e = arg;
    uintptr_t fixed = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W)) {
            e->from = page_down(at);
            e->to = page_up(at + p->p_memsz);
        }
        if (p->p_type == PT_GNU_RELRO)
            fixed = page_down(at + p->p_memsz);
        if (p->p_type == PT_TLS && info->dlpi_tls_data != NULL) {
            e->locals = (uintptr_t)info->dlpi_tls_data;
            e->locals_bytes = p->p_memsz;
        }
    }
    if (fixed > e->from && fixed <= e->to)
        e->from = fixed;
    return 1;
}

/* ---- Turns ---- */

/* Pages [from, from + bytes) go to `to`, whatever was there, by libc's function, which is called by its address. */
static inline __attribute__((always_inline)) bool move_pages(long (*call)(long number, ...), char *from,
                                                             char *to, size_t bytes)
{
    return call(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != -1;
}

/* The image at its place goes to where the next one was kept, by way of a third place. */
static __attribute__((noinline)) void exchange(long (*call)(long number, ...), char *place, char *third,
                                               char *next, size_t bytes)
{
    if (!move_pages(call, place, third, bytes) || !move_pages(call, next, place, bytes))
        __builtin_trap(); /* there is no state to say anything with */
    move_pages(call, third, next, bytes);
}

static void switch_to(struct instance *from, struct instance *to)
{
    struct instances *all = from->all;
    char *third = all->caller.stack;
    memcpy(from->locals, all->locals, all->locals_bytes);
    exchange(all->call, all->from, third, to->image, all->bytes);
    mmap(third, all->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    from->image = to->image;
    to->image = NULL;
    memcpy(all->locals, to->locals, all->locals_bytes);
    swapcontext(&from->context, &to->context);
}

/* NULL: all have ended. */
static struct instance *next_of(const struct instance *i)
{
    struct instances *all = i->all;
    for (int k = 1; k <= all->n; k++) {
        struct instance *next = &all->at[(i->number + k) % all->n];
        if (!next->ended)
            return next;
    }
    return NULL;
}

void ku_instances_aside(void)
{
    struct instance *i = self, *next = i != NULL ? next_of(i) : NULL;
    if (next != NULL && next != i)
        switch_to(i, next);
}

static void aside(void *unused)
{
    (void)unused;
    ku_instances_aside();
}

static void instances_begin(void)
{
    struct instance *i = self;
    struct instances *all = i->all;
    struct instance *next;
    i->result = all->fn(i->number, all->arg);
    i->ended = true;
    all->left--;
    next = next_of(i);
    switch_to(i, next != NULL ? next : &all->caller);
}

/* ---- Making them ---- */

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool is_zero(const char *p, size_t n)
{
    return p[0] == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Pages that hold nothing are not touched. */
static void copy_image(char *to, const char *from, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < bytes; at += page)
        if (!is_zero(from + at, page))
            memcpy(to + at, from + at, page);
}

static bool instances_make(struct instances *all, struct instance *i, int number)
{
    i->all = all;
    i->number = number;
    i->image = map(all->bytes);
    i->locals = malloc(all->locals_bytes + 1);
    i->stack = map(number < 0 ? all->bytes : all->stack_bytes);
    if (i->image == NULL || i->locals == NULL || i->stack == NULL)
        return false;
    self = i;
    copy_image(i->image, all->from, all->bytes);
    memcpy(i->locals, all->locals, all->locals_bytes);
    if (number < 0)
        return true;
    getcontext(&i->context);
    i->context.uc_stack.ss_sp = i->stack;
    i->context.uc_stack.ss_size = all->stack_bytes;
    makecontext(&i->context, instances_begin, 0);
    return true;
}

static void unmake(const struct instances *all, struct instance *i)
{
    if (i->image != NULL)
        munmap(i->image, all->bytes);
    if (i->stack != NULL)
        munmap(i->stack, i->number < 0 ? all->bytes : all->stack_bytes);
    free(i->locals);
}

int ku_instances_run(int n, int (*fn)(int number, void *arg), void *arg, size_t stack_bytes)
{
    static const struct ku_service service = { .aside = aside };
    struct extent e = { 0 };
    struct instances *all = calloc(1, sizeof *all + (size_t)n * sizeof all->at[0]);
    int sum = -1, made = 0;
    dl_iterate_phdr(look_at_program, &e);
    if (!KU_INSTANCES || all == NULL || e.to <= e.from) {
        free(all);
        errno = all == NULL ? ENOMEM : ENOSYS;
        return -1;
    }
    *all = (struct instances){ .n = n, .left = n, .fn = fn, .arg = arg, .stack_bytes = stack_bytes };
    *(void **)&all->call = dlsym(RTLD_NEXT, "syscall");
    all->from = (char *)e.from;
    all->bytes = e.to - e.from;
    all->locals = (char *)e.locals;
    all->locals_bytes = e.locals_bytes;
    ku_service = &service;
    while (made < n && instances_make(all, &all->at[made], made))
        made++;
    ku_service = NULL;
    if (made == n && instances_make(all, &all->caller, -1)) {
        /* The program's own pages are of several kinds, which do not move together: a copy of them takes their
         * place. */
        self = &all->caller;
        char *copy = map(all->bytes);
        if (copy != NULL) {
            copy_image(copy, all->from, all->bytes);
            move_pages(all->call, copy, all->from, all->bytes);
            switch_to(&all->caller, &all->at[0]);
            sum = 0;
            for (int i = 0; i < n; i++)
                sum += all->at[i].result;
        }
    }
    self = NULL;
    for (int i = 0; i < made; i++)
        unmake(all, &all->at[i]);
    unmake(all, &all->caller);
    free(all);
    if (sum < 0)
        errno = ENOMEM;
    return sum;
}
