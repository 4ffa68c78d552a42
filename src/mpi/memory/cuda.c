/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c: memory of NVIDIA's devices, by the driver's library, which the program has loaded: it is never linked, and not
 * looked for on disk.
 *
 * The functions and constants are those of the CUDA Driver API reference manual ("Unified Addressing", "Memory Management",
 * "Context Management"); their names and values are part of the driver's binary interface. */
#include "config.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include "err.h"
#include "mpi_const.h"
#include "staging.h"

typedef int (*attribute_fn)(void *value, int attribute, uint64_t at);
typedef int (*copy_fn)(uint64_t to, uint64_t from, size_t bytes);
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
    push_fn push;
    retain_fn retain;
    text_fn text;
} driver;

static bool find(const void *at, struct MPIR_Memory_block *block)
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

/* Memory of a pool has no context of its own: then it is its device's primary one. */
static void *context_of(const void *at)
{
    void *context = NULL;
    int device = 0;
    if (driver.attribute(&context, CONTEXT, (uintptr_t)at) == 0 && context)
        return context;
    if (driver.attribute(&device, DEVICE, (uintptr_t)at) != 0 || driver.retain(&context, device) != 0)
        return NULL;
    return context;
}

static int copy(void *to, const void *from, size_t bytes)
{
    void *current = NULL, *ours = NULL;
    const char *text = NULL;
    struct MPIR_Memory_block block;
    if (driver.current(&current) != 0 || !current) /* a thread that has not used the device yet */
        ours = context_of(find(from, &block) ? from : to);
    if (ours && driver.push(ours) != 0)
        ours = NULL;
    int error = driver.copy((uintptr_t)to, (uintptr_t)from, bytes);
    if (ours)
        driver.pop(&ours);
    if (error == 0)
        return 0;
    if (!driver.text || driver.text(error, &text) != 0 || !text)
        text = "an error without a text";
    return MPIR_Err(MPI_ERR_OTHER, NULL, "cuMemcpy from %p to %p, %zu bytes: %s (CUDA error %d)", from, to,
                    bytes, text, error);
}

static const struct MPIR_Memory_kind kind = { .name = "cuda", .find = find, .copy = copy };

static bool look_up(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return false;
    driver.attribute = (attribute_fn)dlsym(library, "cuPointerGetAttribute");
    driver.copy = (copy_fn)dlsym(library, "cuMemcpy");
    driver.current = (context_fn)dlsym(library, "cuCtxGetCurrent");
    driver.push = (push_fn)dlsym(library, "cuCtxPushCurrent_v2");
    driver.pop = (context_fn)dlsym(library, "cuCtxPopCurrent_v2");
    driver.retain = (retain_fn)dlsym(library, "cuDevicePrimaryCtxRetain");
    driver.text = (text_fn)dlsym(library, "cuGetErrorString");
    return driver.attribute && driver.copy && driver.current && driver.push && driver.pop && driver.retain;
}

const struct MPIR_Memory_kind *Stage_cuda(void)
{
    static _Atomic bool there;
    if (!atomic_load_explicit(&there, memory_order_acquire) && look_up())
        atomic_store_explicit(&there, true, memory_order_release);
    return atomic_load_explicit(&there, memory_order_acquire) ? &kind : NULL;
}
