/* SPDX-License-Identifier: BSD-3-Clause */
/* lustre.c: stripes of a file of Lustre, which lie on several servers: asked for when the file is made (hints
 * striping_factor and striping_unit), and looked up when it is opened.
 *
 * Nothing of Lustre's is needed to build this: its interface is an ioctl, an attribute and the layout of 32 bytes,
 * each of which is part of what its clients and tools have promised each other since version 1.6. */
#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "io.h"

#define LUSTRE_SUPER_MAGIC 0x0BD00BD0
#define SETSTRIPE _IOW('f', 154, long)
#define WITHOUT_STRIPES (O_NOCTTY | O_ASYNC) /* at open: a new file gets none yet (O_LOV_DELAY_CREATE) */

struct layout {
    uint32_t magic, pattern;
    uint64_t object[2];
    uint32_t unit;
    uint16_t factor, first; /* first: the server of the first stripe; all ones: Lustre's choice */
};
_Static_assert(sizeof(struct layout) == 32, "lov_user_md_v1");
enum { LAYOUT_V1 = 0x0BD10BD0, LAYOUT_V3 = 0x0BD30BD0, LAYOUT_MAX = 64 << 10 };

bool MPIR_Io_is_lustre(const struct statfs *s)
{
    return (uint32_t)s->f_type == LUSTRE_SUPER_MAGIC;
}

static bool folder_is_lustre(const char *name)
{
    struct statfs s;
    char *copy = strdup(name);
    bool is = copy && statfs(dirname(copy), &s) == 0 && MPIR_Io_is_lustre(&s);
    free(copy);
    return is;
}

bool MPIR_Io_make_striped(const MPIR_File *f, int flags)
{
    const MPIR_File_hints *h = &f->hints;
    struct layout l = { .magic = LAYOUT_V1,
                        .unit = (uint32_t)h->striping_unit,
                        .factor = (uint16_t)h->striping_factor,
                        .first = UINT16_MAX };
    if (!(flags & O_CREAT) || (!h->striping_unit && !h->striping_factor) || !folder_is_lustre(f->name))
        return false;
    int fd = open(f->name, flags | O_EXCL | O_CLOEXEC | WITHOUT_STRIPES, 0666);
    if (fd < 0)
        return false;
    ioctl(fd, SETSTRIPE, &l); /* refused: a hint that came to nothing */
    close(fd);
    return true;
}

void MPIR_Io_see_stripes(MPIR_File *f)
{
    struct layout *l = malloc(LAYOUT_MAX); /* a list of the stripes' objects follows it */
    ssize_t n = l ? fgetxattr(f->fd, "lustre.lov", l, LAYOUT_MAX) : -1;
    if (n >= (ssize_t)sizeof *l && (l->magic == LAYOUT_V1 || l->magic == LAYOUT_V3)) {
        f->hints.striping_unit = l->unit;
        f->hints.striping_factor = l->factor;
    }
    free(l);
}
