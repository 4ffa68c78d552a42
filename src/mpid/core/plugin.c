/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins: devices in shared objects of their own.
 *
 * Those of the folder KEEL_PLUGIN_DIR ($libdir/keel: each ch_*.so, in the order of their names) come first, then
 * those that KEEL_PLUGINS names.  One that the user has named must be usable; one of the folder that is not is
 * left out, with a warning.
 *
 * A text beside a plug-in of the folder, ch_<name>.dev for ch_<name>.so, has the line "reach node" or "reach any"
 * (dev_ops.reach). With it a plug-in is loaded only when it is to be opened, or one of its variables
 * (KEEL_<NAME>_...) is set.  Each line "card PATTERN" names files of the system that are there where a network
 * card for it is: it may be worth its while, though nobody asks for it.
 *
 * Most jobs need no plug-in, and each of their processes would read the folder: that of the library is looked at
 * only where a device is lacking, or a variable that is set may be one of a plug-in.
 *
 * A plug-in is loaded once and stays as long as the library does: its variables are shown all the time, and
 * MPID_Init may follow MPID_End. */
#include "core.h"
#include <dirent.h>
#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>
#include "util/hush.h"
#include "util/knob.h"

extern char **environ;

struct plugin {
    struct plugin *next;
    void *library;
    keel_device_entry entry;
    struct ku_knob_table knobs;
    uint32_t wanted; /* the round of MPID_Plugins_open that has opened it last */
    char path[];
};

static struct plugin *loaded;
static uint32_t round_no;

__attribute__((format(printf, 2, 3))) static bool refuse(const char *path, const char *why, ...)
{
    char text[160];
    va_list args;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    ku_err_set(MPI_ERR_OTHER, NULL, "the device plug-in %.100s %s", path, text);
    return false;
}

/* Does the table have what every device must have?  Its maker may have known fewer slots, or more. */
static bool is_whole(const char *path, const struct dev_ops *ops)
{
    const size_t least = offsetof(struct dev_ops, wait_fd);
    if (ops == NULL)
        return refuse(path, "has no table of functions");
    if (ops->version != DEV_VERSION)
        return refuse(path, "is of version %u of the device interface; expected %d", ops->version,
                      DEV_VERSION);
    if (ops->size < least)
        return refuse(path, "has a table of %u bytes; expected at least %zu", ops->size, least);
    if (ops->name == NULL || ops->open == NULL || ops->caps == NULL || ops->close == NULL ||
        ops->fini == NULL || ops->peer_init == NULL || ops->peer_stop == NULL || ops->peer_fini == NULL ||
        ops->send_short == NULL || ops->send == NULL || ops->progress == NULL)
        return refuse(path, "lacks an operation that every device has");
    return true;
}

/* The size of dev_ops.knobs as this library knows it, if the plug-in's maker knew it. */
static uint32_t knobs_of(const struct dev_ops *ops)
{
    return ops->size >= offsetof(struct dev_ops, knob_size) + sizeof ops->knob_size ? ops->nknobs : 0;
}

static struct ku_knob row_of(const struct dev_knob *k)
{
    static const enum ku_knob_type type[] = { [DEV_KNOB_INT] = KU_KNOB_INT,
                                              [DEV_KNOB_SIZE] = KU_KNOB_SIZE,
                                              [DEV_KNOB_BOOL] = KU_KNOB_BOOL,
                                              [DEV_KNOB_TEXT] = KU_KNOB_STR };
    return (struct ku_knob){ .name = k->name,
                             .type = type[k->type],
                             .def = k->def,
                             .unit = k->unit != NULL ? k->unit : "",
                             .min = k->min,
                             .max = k->max,
                             .help = k->help != NULL ? k->help : "",
                             .audience = KU_FOR_TUNERS };
}

static bool take_knobs(struct plugin *p, const struct dev_ops *ops)
{
    uint32_t n = knobs_of(ops);
    if (n == 0)
        return true;
    if (ops->knob_size < sizeof(struct dev_knob) || ops->knobs == NULL)
        return refuse(p->path, "has variables of %u bytes; expected at least %zu", ops->knob_size,
                      sizeof(struct dev_knob));
    struct ku_knob *rows = calloc(n, sizeof *rows);
    if (rows == NULL)
        return refuse(p->path, "cannot be used: out of memory");
    for (uint32_t i = 0; i < n; i++) {
        struct dev_knob k;
        memcpy(&k, (const char *)ops->knobs + (size_t)i * ops->knob_size, sizeof k);
        bool good = k.name != NULL && k.type <= DEV_KNOB_TEXT;
        if (good)
            rows[i] = row_of(&k);
        if (!good || !ku_knob_sound(&rows[i])) {
            free(rows);
            return refuse(p->path,
                          "has a variable %.40s that is there already, or whose default is no value of it",
                          k.name != NULL ? k.name : "without a name");
        }
    }
    p->knobs = (struct ku_knob_table){ .rows = rows, .n = (int)n, .area = ops->name };
    return true;
}

static struct plugin *find(const char *path)
{
    struct plugin *p = loaded;
    while (p != NULL && strcmp(p->path, path) != 0)
        p = p->next;
    return p;
}

/* A library behind it may start threads as soon as it is loaded (UCX from 1.18 on): they take no signal that is
 * meant for the program. */
static void *load_hushed(const char *path)
{
    sigset_t before;
    void *library;
    ku_hush(&before, 0);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ku_hush_end(&before);
    return library;
}

static bool load_into(struct plugin *p)
{
    p->library = load_hushed(p->path);
    if (p->library != NULL)
        *(void **)&p->entry = dlsym(p->library, KEEL_DEVICE_SYMBOL);
    if (p->entry == NULL)
        refuse(p->path, "cannot be used: %s", dlerror());
    if (p->entry != NULL && is_whole(p->path, p->entry()) && take_knobs(p, p->entry()))
        return true;
    if (p->library != NULL)
        dlclose(p->library);
    return false;
}

/* NULL: it cannot be used; the words are in ku_err_last(). */
static struct plugin *load(const char *path)
{
    struct plugin *p = find(path);
    if (p != NULL)
        return p;
    p = calloc(1, sizeof *p + strlen(path) + 1);
    if (p == NULL) {
        refuse(path, "cannot be used: out of memory");
        return NULL;
    }
    strcpy(p->path, path);
    if (!load_into(p)) {
        free(p);
        return NULL;
    }
    if (p->knobs.n > 0)
        ku_knob_register(&p->knobs);
    p->next = loaded;
    loaded = p;
    return p;
}

__attribute__((destructor)) static void unload(void)
{
    while (loaded != NULL) {
        struct plugin *p = loaded;
        loaded = p->next;
        ku_knob_remove(&p->knobs);
        free(p->knobs.rows);
        dlclose(p->library);
        free(p);
    }
}

/* ---- Which ---- */

static int is_device(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 6 && strncmp(e->d_name, "ch_", 3) == 0 && strcmp(e->d_name + n - 3, ".so") == 0;
}

/* By bytes: the same order whatever the language of the user. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static char *in_folder(const char *folder, const char *name)
{
    size_t n = strlen(folder) + 1 + strlen(name) + 1;
    char *path = malloc(n);
    if (path != NULL)
        snprintf(path, n, "%s/%s", folder, name);
    return path;
}

static int no_memory(void)
{
    return ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the list of device plug-ins");
}

static bool of_folder; /* each() is at those of the folder, not those that the user has named */

/* One that cannot be used is left out: the user may not even know of it. */
static int each_of_folder(const char *folder, int (*fn)(const char *path))
{
    struct dirent **names = NULL;
    int n = folder != NULL && *folder != 0 ? scandir(folder, &names, is_device, by_name) : 0, err = 0;
    for (int i = 0; i < n; i++) {
        char *path = in_folder(folder, names[i]->d_name), text[400];
        if (path == NULL)
            err = no_memory();
        else if (err == 0 && fn(path) != 0 && MPID_core.job.rank == 0) {
            snprintf(text, sizeof text, "warning: %.320s: it is left out", ku_err_last()->text);
            MPID_Message(text);
        }
        free(path);
        free(names[i]);
    }
    free(names);
    return err;
}

static int one_listed(const char *folder, const char *name, int (*fn)(const char *path))
{
    char *path = strchr(name, '/') != NULL ? strdup(name) : in_folder(folder != NULL ? folder : ".", name);
    int err = path != NULL ? fn(path) : no_memory();
    free(path);
    return err;
}

static int each_listed(const char *folder, const char *list, int (*fn)(const char *path))
{
    char *copy = strdup(list != NULL ? list : ""), *save = NULL;
    int err = copy != NULL ? 0 : no_memory();
    for (char *name = copy != NULL ? strtok_r(copy, ",", &save) : NULL; name != NULL && err == 0;
         name = strtok_r(NULL, ",", &save))
        err = one_listed(folder, name, fn);
    free(copy);
    return err;
}

static int each(bool also_of_folder, int (*fn)(const char *path))
{
    const char *folder = ku_knob_str("PLUGIN_DIR"), *list = ku_knob_str("PLUGINS");
    of_folder = true;
    int err = also_of_folder ? each_of_folder(folder, fn) : 0;
    of_folder = false;
    return err == 0 && list != NULL && *list != 0 ? each_listed(folder, list, fn) : err;
}

/* ---- What is known of one without loading it ---- */

/* The name of the device, from a path that ends with ch_<name>.so. */
static void name_of(const char *path, char *name, size_t size)
{
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    snprintf(name, size, "%.*s", (int)(strlen(base) - 6), base + 3);
}

static bool is_there(const char *pattern)
{
    glob_t g;
    bool found = glob(pattern, GLOB_NOSORT, NULL, &g) == 0;
    globfree(&g);
    return found;
}

/* False: there is no text beside it. */
static bool read_about(const char *path, struct plugin_about *about)
{
    char text[PATH_MAX], line[256], what[16], value[200];
    size_t n = strlen(path);
    FILE *f;
    if (n < 3 || n + 2 > sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s.dev", (int)n - 3, path);
    f = fopen(text, "re");
    if (f == NULL)
        return false;
    *about = (struct plugin_about){ 0 };
    name_of(path, about->name, sizeof about->name);
    while (fgets(line, sizeof line, f) != NULL) {
        if (sscanf(line, "%15s %199s", what, value) != 2)
            continue;
        if (strcmp(what, "reach") == 0)
            about->reach = strcmp(value, "node") == 0 ? DEV_REACH_NODE : DEV_REACH_ANY;
        else if (strcmp(what, "card") == 0)
            about->has_card = about->has_card || is_there(value);
    }
    fclose(f);
    return true;
}

/* Has the user set a variable of the device? */
static bool is_tuned(const char *name)
{
    char prefix[64];
    int n = snprintf(prefix, sizeof prefix, "KEEL_%.40s_", name);
    for (int i = 0; i < n; i++)
        prefix[i] = (char)toupper((unsigned char)prefix[i]);
    for (char **e = environ; *e != NULL; e++)
        if (strncmp(*e, prefix, (size_t)n) == 0)
            return true;
    return false;
}

/* ---- What devset.c and the variables ask for ---- */

static void (*open_it)(const struct dev_ops *ops);
static bool (*is_wanted)(const struct plugin_about *about);

static int open_one(const char *path)
{
    struct plugin_about about;
    struct plugin *p;
    if (of_folder && read_about(path, &about) && !is_wanted(&about)) {
        if (is_tuned(about.name))
            load(path); /* its variables are checked; what is wrong with it does not matter here */
        return 0;
    }
    p = load(path);
    if (p == NULL)
        return MPI_ERR_OTHER;
    if (p->wanted != round_no) /* named, and in the folder */
        open_it(p->entry());
    p->wanted = round_no;
    return 0;
}

int MPID_Plugins_open(void (*open)(const struct dev_ops *ops),
                      bool (*wanted)(const struct plugin_about *about), bool may_be_wanted)
{
    open_it = open;
    is_wanted = wanted;
    round_no++;
    return each(may_be_wanted || ku_knob_is_set("PLUGIN_DIR") || !ku_knob_all_known(), open_one);
}

static void (*look_tell)(const char *path, const struct dev_ops *ops);

static int look_at_one(const char *path)
{
    struct plugin *p = load(path);
    look_tell(path, p != NULL ? p->entry() : NULL);
    return 0;
}

void MPID_Plugins_look(void (*tell)(const char *path, const struct dev_ops *ops))
{
    look_tell = tell;
    if (each(true, look_at_one) != 0)
        MPID_Message(ku_err_last()->text);
}

static int know_one(const char *path)
{
    return load(path) != NULL ? 0 : MPI_ERR_OTHER;
}

void MPID_Plugins_know(void)
{
    if (round_no == 0 && each(true, know_one) != 0)
        MPID_Message(ku_err_last()->text);
    round_no += round_no == 0;
}
