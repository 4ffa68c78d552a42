/* SPDX-License-Identifier: BSD-3-Clause */
/* limits.c: a library to be loaded before others (LD_PRELOAD), which makes a provider of libfabric one that wants
 * local memory registered, as network cards do, and that has limits: of what is registered, as with `ulimit -l`,
 * and of its completion queue.
 *
 *   MR_LIMIT    bytes that may be registered at once; without it no limit
 *   CQ_LIMIT    after so many completions the queue has been overrun: it gives an error without a context, for
 *               ever (fi_cq(3))
 *   MR_REPORT   a file to which each process adds a line at its end: "registered N refused N left N", the last:
 *               what it has not let go
 *
 * It stands in for fi_getinfo and fi_fabric, and for the operations of what these return. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

struct live {
    struct fi_ops ops;
    struct fi_ops *its;
    size_t len;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t bytes;
static int registered, refused, left;
static struct fi_ops_fabric fabric_ops, *fabric_its;
static struct fi_ops_mr mr_ops, *mr_its;
static struct fi_ops_domain domain_ops, *domain_its;
static struct fi_ops_cq cq_ops, *cq_its;
static size_t completions;
static _Thread_local int
    depth; /* of calls of the library: what it calls itself, for a provider below, stays as it is */

static void *of_library(const char *name)
{
    void *lib = dlopen("libfabric.so.1", RTLD_NOLOAD | RTLD_LAZY);
    void *it = lib != NULL ? dlsym(lib, name) : NULL;
    if (it == NULL) {
        fprintf(stderr, "limits: there is no %s\n", name);
        abort();
    }
    return it;
}

static size_t number(const char *variable)
{
    const char *text = getenv(variable);
    return text != NULL ? strtoull(text, NULL, 0) : SIZE_MAX;
}

static int close_mr(struct fid *fid)
{
    struct live *l = (struct live *)(void *)((char *)fid->ops - offsetof(struct live, ops));
    fid->ops = l->its;
    pthread_mutex_lock(&lock);
    bytes -= l->len;
    left--;
    pthread_mutex_unlock(&lock);
    free(l);
    return fid->ops->close(fid);
}

static int reg(struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset, uint64_t key,
               uint64_t flags, struct fid_mr **mr, void *context)
{
    struct live *l = malloc(sizeof *l);
    int err;
    pthread_mutex_lock(&lock);
    err = l == NULL || len > number("MR_LIMIT") - bytes
              ? -FI_ENOMEM
              : mr_its->reg(fid, buf, len, access, offset, key, flags, mr, context);
    refused += err != 0;
    if (err == 0) {
        registered++;
        left++;
        bytes += len;
        *l = (struct live){ *(*mr)->fid.ops, (*mr)->fid.ops, len };
        l->ops.close = close_mr;
        (*mr)->fid.ops = &l->ops;
    } else
        free(l);
    pthread_mutex_unlock(&lock);
    return err;
}

static ssize_t read_cq(struct fid_cq *cq, void *buf, size_t count)
{
    if (completions >= number("CQ_LIMIT"))
        return -FI_EAVAIL;
    ssize_t n = cq_its->read(cq, buf, count);
    completions += n > 0 ? (size_t)n : 0;
    return n;
}

static ssize_t read_error(struct fid_cq *cq, struct fi_cq_err_entry *e, uint64_t flags)
{
    if (completions < number("CQ_LIMIT"))
        return cq_its->readerr(cq, e, flags);
    *e = (struct fi_cq_err_entry){ .err = FI_EOVERRUN };
    return 1;
}

static int open_cq(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    int err;
    depth++;
    err = domain_its->cq_open(domain, attr, cq, context);
    if (--depth > 0 || err != 0)
        return err;
    cq_its = (*cq)->ops;
    cq_ops = *cq_its;
    cq_ops.read = read_cq;
    cq_ops.readerr = read_error;
    (*cq)->ops = &cq_ops;
    return 0;
}

static int domain_of(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                     void *context)
{
    int err;
    depth++;
    err = fabric_its->domain(fabric, info, domain, context);
    depth--;
    if (err != 0)
        return err;
    mr_its = (*domain)->mr;
    mr_ops = *mr_its;
    mr_ops.reg = reg;
    (*domain)->mr = &mr_ops;
    domain_its = (*domain)->ops;
    domain_ops = *domain_its;
    domain_ops.cq_open = open_cq;
    (*domain)->ops = &domain_ops;
    return 0;
}

__attribute__((visibility("default"))) int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
                                                     void *context);
__attribute__((visibility("default"))) int fi_getinfo(uint32_t version, const char *node, const char *service,
                                                      uint64_t flags, const struct fi_info *hints,
                                                      struct fi_info **info);

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int (*its)(struct fi_fabric_attr * attr, struct fid_fabric * *fabric, void *context);
    int err;
    *(void **)&its = of_library("fi_fabric");
    depth++;
    err = its(attr, fabric, context);
    if (--depth > 0 || err != 0)
        return err;
    fabric_its = (*fabric)->ops;
    fabric_ops = *fabric_its;
    fabric_ops.domain = domain_of;
    (*fabric)->ops = &fabric_ops;
    return 0;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    int (*its)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);
    int err;
    *(void **)&its = of_library("fi_getinfo");
    err = its(version, node, service, flags, hints, info);
    for (struct fi_info *i = err == 0 ? *info : NULL; i != NULL; i = i->next)
        if (i->ep_attr->type == FI_EP_RDM)
            i->domain_attr->mr_mode |= FI_MR_LOCAL;
    return err;
}

__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("MR_REPORT");
    FILE *f = name != NULL && registered + refused > 0 ? fopen(name, "a") : NULL;
    if (f == NULL)
        return;
    fprintf(f, "registered %d refused %d left %d\n", registered, refused, left);
    fclose(f);
}
