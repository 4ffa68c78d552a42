/* SPDX-License-Identifier: BSD-3-Clause */
/* standin.c: a libcuda.so.1 for tests without a GPU: the functions of the CUDA Driver API that Keel calls, and
 * those that a program needs to have such memory.
 *
 * Its "device memory" is mapped twice: where the program and MPI know it, without any access, so that a
 * processor's touch is a fault; and where only this file reaches it.  STANDIN_FAILS=N: the Nth copy fails, and all
 * after it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_CONTEXT = 201,
    LAUNCH_FAILED = 719
};
enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE = 9, RANGE_START = 11, RANGE_SIZE = 12 };
enum { BLOCKS = 4096, PAGE = 4096 };

static struct block {
    char *at, *inside;
    size_t size, mapped;
    int managed, pooled;
} blocks[BLOCKS];
static int nblocks;
static long ncopies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char the_context;
static _Thread_local void *current;

static struct block *find(uint64_t at)
{
    for (int i = 0; i < nblocks; i++)
        if (blocks[i].at && at >= (uintptr_t)blocks[i].at && at < (uintptr_t)blocks[i].at + blocks[i].size)
            return &blocks[i];
    return NULL;
}

static int alloc(uint64_t *at, size_t size, int managed, int pooled)
{
    size_t mapped = (size + PAGE - 1) / PAGE * PAGE;
    int fd = memfd_create("device", MFD_CLOEXEC), error = OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    if (fd >= 0 && nblocks < BLOCKS && size > 0 && ftruncate(fd, (off_t)mapped) == 0) {
        char *out = mmap(NULL, mapped, managed ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, fd, 0),
             *in = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (out != MAP_FAILED && in != MAP_FAILED) {
            blocks[nblocks++] = (struct block){ out, in, size, mapped, managed, pooled };
            *at = (uintptr_t)out;
            error = SUCCESS;
        }
    }
    pthread_mutex_unlock(&lock);
    if (fd >= 0)
        close(fd);
    return error;
}

int cuMemAlloc_v2(uint64_t *at, size_t size)
{
    return alloc(at, size, 0, 0);
}

int cuMemAllocManaged(uint64_t *at, size_t size, unsigned flags)
{
    (void)flags;
    return alloc(at, size, 1, 0);
}

/* Of a pool: without a context of its own. */
int cuMemAllocAsync(uint64_t *at, size_t size, void *stream)
{
    (void)stream;
    return alloc(at, size, 0, 1);
}

int cuMemFree_v2(uint64_t at)
{
    pthread_mutex_lock(&lock);
    struct block *b = find(at);
    if (b) {
        munmap(b->at, b->mapped);
        munmap(b->inside, b->mapped);
        b->at = NULL;
    }
    pthread_mutex_unlock(&lock);
    return b ? SUCCESS : INVALID_VALUE;
}

int cuPointerGetAttribute(void *value, int attribute, uint64_t at)
{
    int error = SUCCESS;
    pthread_mutex_lock(&lock);
    const struct block *b = find(at);
    if (!b)
        error = INVALID_VALUE;
    else if (attribute == MEMORY_TYPE)
        *(unsigned *)value = 2;
    else if (attribute == IS_MANAGED)
        *(unsigned *)value = (unsigned)b->managed;
    else if (attribute == DEVICE)
        *(int *)value = 0;
    else if (attribute == CONTEXT)
        *(void **)value = b->pooled ? NULL : &the_context;
    else if (attribute == RANGE_START)
        *(uint64_t *)value = (uintptr_t)b->at;
    else if (attribute == RANGE_SIZE)
        *(size_t *)value = b->size;
    else
        error = INVALID_VALUE;
    pthread_mutex_unlock(&lock);
    return error;
}

static char *inside(uint64_t at, size_t bytes, int *error)
{
    const struct block *b = find(at);
    if (b && at + bytes > (uintptr_t)b->at + b->size)
        *error = INVALID_VALUE;
    return b ? b->inside + (at - (uintptr_t)b->at) : (char *)(uintptr_t)at;
}

int cuMemcpy(uint64_t to, uint64_t from, size_t bytes)
{
    int error = current ? SUCCESS : INVALID_CONTEXT;
    pthread_mutex_lock(&lock);
    char *dst = inside(to, bytes, &error), *src = inside(from, bytes, &error);
    if (!error)
        memmove(dst, src, bytes);
    pthread_mutex_unlock(&lock);
    return error;
}

/* A stream: its copies are made when somebody waits for them. */
enum { WAITING = 16 };
struct stream {
    int n;
    struct {
        uint64_t to, from;
        size_t bytes;
    } copy[WAITING];
};

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    *stream = calloc(1, sizeof(struct stream));
    return *stream ? SUCCESS : OUT_OF_MEMORY;
}

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    struct stream *s = stream;
    const char *fails = getenv("STANDIN_FAILS");
    if (!current || !s || s->n == WAITING)
        return current ? INVALID_VALUE : INVALID_CONTEXT;
    if (fails && ++ncopies >= atol(fails))
        return LAUNCH_FAILED;
    s->copy[s->n].to = to;
    s->copy[s->n].from = from;
    s->copy[s->n++].bytes = bytes;
    return SUCCESS;
}

int cuStreamSynchronize(void *stream)
{
    struct stream *s = stream;
    int error = SUCCESS;
    for (int i = 0; i < s->n && !error; i++)
        error = cuMemcpy(s->copy[i].to, s->copy[i].from, s->copy[i].bytes);
    s->n = 0;
    return error;
}

int cuCtxGetCurrent(void **context)
{
    *context = current;
    return SUCCESS;
}

int cuCtxPushCurrent_v2(void *context)
{
    if (current)
        return INVALID_CONTEXT;
    current = context;
    return SUCCESS;
}

int cuCtxPopCurrent_v2(void **context)
{
    *context = current;
    current = NULL;
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = &the_context;
    return device == 0 ? SUCCESS : INVALID_VALUE;
}

int cuGetErrorString(int error, const char **text)
{
    *text = error == LAUNCH_FAILED   ? "unspecified launch failure"
            : error == INVALID_VALUE ? "invalid argument"
                                     : "an error";
    return SUCCESS;
}
