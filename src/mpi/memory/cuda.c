/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c: memory of NVIDIA's devices, by the driver's library, which the program has loaded: it is never linked,
 * and not looked for on disk.
 *
 * The functions and constants are those of the CUDA Driver API reference manual ("Unified Addressing", "Memory
 * Management", "Stream Management", "Context Management"); their names and values are part of the driver's binary
 * interface. */
#include "config.h"
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include "mpi_err.h"
#include "mpi_const.h"
#include "staging.h"

typedef int (*attribute_fn)(void *value, int attribute, uint64_t at);
typedef int (*copy_fn)(uint64_t to, uint64_t from, size_t bytes, void *stream);
typedef int (*create_fn)(void **stream, unsigned flags);
typedef int (*context_fn)(void **context);
typedef int (*push_fn)(void *context);
typedef int (*retain_fn)(void **context, int device);
typedef int (*text_fn)(int error, const char **text);

enum { CONTEXT = 1, MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE = 9, RANGE_START = 11, RANGE_SIZE = 12 };
enum { TYPE_DEVICE = 2 };

static struct {
    attribute_fn attribute;
    copy_fn copy;
    context_fn current, pop;
    push_fn push, synchronize;
    create_fn create;
    retain_fn retain;
    text_fn text;
} driver;

static bool cuda_find(const void *at, struct MPIR_Memory_block *block)
{
    uint64_t address = (uintptr_t)at, start = address;
    size_t size = 1;
    unsigned type = 0, managed = 0;
    if (driver.attribute(&type, MEMORY_TYPE, address) != 0 || type != TYPE_DEVICE)
        return false;
    if (driver.attribute(&managed, IS_MANAGED, address) == 0 && managed)
        return false; /* the processor reaches it */
    if (driver.attribute(&start, RANGE_START, address) != 0 ||
        driver.attribute(&size, RANGE_SIZE, address) != 0) {
        start = address;
        size = 1;
    }
    *block = (struct MPIR_Memory_block){ (char *)(uintptr_t)start, size };
    return true;
}

/* Of a device, had once and kept; of memory of a pool, which has no context of its own. */
static void *primary_context(int device)
{
    enum { DEVICES = 64 };
    static void *contexts[DEVICES];
    if (device < 0 || device >= DEVICES)
        return NULL;
    if (!contexts[device] && driver.retain(&contexts[device], device) != 0)
        contexts[device] = NULL;
    return contexts[device];
}

static void *context_of(const void *at)
{
    void *context = NULL;
    int device = 0;
    if (driver.attribute(&context, CONTEXT, (uintptr_t)at) == 0 && context)
        return context;
    return driver.attribute(&device, DEVICE, (uintptr_t)at) == 0 ? primary_context(device) : NULL;
}

/* Of the thread's context, a stream that waits for no other: cuMemcpy would wait for the program's kernels, and
 * from the host's memory it may return before the device has the data. */
static int stream_of(void *context, void **stream)
{
    enum { CONTEXTS = 64, NON_BLOCKING = 1 };
    static struct {
        void *context, *stream;
    } known[CONTEXTS];
    static int n;
    for (int i = 0; i < n; i++)
        if (known[i].context == context)
            return *stream = known[i].stream, 0;
    int error = driver.create(stream, NON_BLOCKING);
    if (!error && n < CONTEXTS) {
        known[n].context = context;
        known[n++].stream = *stream;
    }
    return error;
}

static int copy_by(void *context, void *to, const void *from, size_t bytes)
{
    void *stream = NULL;
    int error = stream_of(context, &stream);
    if (!error)
        error = driver.copy((uintptr_t)to, (uintptr_t)from, bytes, stream);
    return error ? error : driver.synchronize(stream);
}

static int cuda_copy(void *to, const void *from, size_t bytes)
{
    void *current = NULL, *ours = NULL;
    const char *text = NULL;
    struct MPIR_Memory_block block;
    if (driver.current(&current) != 0 || !current) /* a thread that has not used the device yet */
        ours = context_of(cuda_find(from, &block) ? from : to);
    if (ours && driver.push(ours) != 0)
        ours = NULL;
    int error = copy_by(ours ? ours : current, to, from, bytes);
    if (ours)
        driver.pop(&ours);
    if (error == 0)
        return 0;
    if (!driver.text || driver.text(error, &text) != 0 || !text)
        text = "an error without a text";
    return MPIR_Err(MPI_ERR_OTHER, NULL, "cuMemcpyAsync from %p to %p, %zu bytes: %s (CUDA error %d)", from,
                    to, bytes, text, error);
}

static const struct MPIR_Memory_kind kind = { .name = "cuda", .find = cuda_find, .copy = cuda_copy };

/* Is this loaded object the driver?  (dlopen would search folders for it where it is not there: system calls in
 * each MPI_Init.) */
static int is_driver(struct dl_phdr_info *object, size_t size, void *path)
{
    const char *slash = strrchr(object->dlpi_name, '/'), *base = slash ? slash + 1 : object->dlpi_name;
    (void)size;
    if (strncmp(base, "libcuda.so", 10) != 0)
        return 0;
    *(const char **)path = object->dlpi_name;
    return 1;
}

static bool look_up(void)
{
    const char *path = NULL;
    void *library = dl_iterate_phdr(is_driver, &path) ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!library)
        return false;
    driver.attribute = (attribute_fn)dlsym(library, "cuPointerGetAttribute");
    driver.copy = (copy_fn)dlsym(library, "cuMemcpyAsync");
    driver.create = (create_fn)dlsym(library, "cuStreamCreate");
    driver.synchronize = (push_fn)dlsym(library, "cuStreamSynchronize");
    driver.current = (context_fn)dlsym(library, "cuCtxGetCurrent");
    driver.push = (push_fn)dlsym(library, "cuCtxPushCurrent_v2");
    driver.pop = (context_fn)dlsym(library, "cuCtxPopCurrent_v2");
    driver.retain = (retain_fn)dlsym(library, "cuDevicePrimaryCtxRetain");
    driver.text = (text_fn)dlsym(library, "cuGetErrorString");
    return driver.attribute && driver.copy && driver.create && driver.synchronize && driver.current &&
           driver.push && driver.pop && driver.retain;
}

const struct MPIR_Memory_kind *MPIR_Stage_cuda(void)
{
    static _Atomic bool there;
    if (!atomic_load_explicit(&there, memory_order_acquire) && look_up())
        atomic_store_explicit(&there, true, memory_order_release);
    return atomic_load_explicit(&there, memory_order_acquire) ? &kind : NULL;
}
