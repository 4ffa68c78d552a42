/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi_info: what this Keel is, all that its tool interface MPI_T knows (variables, counters, events, categories),
 * and its devices.
 *
 * It is a program of MPI that never calls MPI_Init: it needs no mpiexec.  The devices it asks for below MPI, by
 * mpid.h. */
#include "config.h"
#include "built.h"
#include <dirent.h>
#include <fnmatch.h>
#include <getopt.h>
#include <limits.h>
#include <mpi.h>
#include <mpid.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/installed.h"
#include "util/json.h"

enum { NAME = 96, DESC = 640, MOST = 64 };

/* DEVICES is not among ALL: opening them loads libraries, and may take a second. */
enum section { CONFIG = 1, CVARS = 2, PVARS = 4, EVENTS = 8, CATEGORIES = 16, ALL = 31, DEVICES = 32 };

static struct {
    int sections;
    bool json, terse;
    char **patterns;
    int npatterns;
} opts;

/* ---- Words ---- */

struct word {
    int value;
    const char *text;
};

static const char *word_of(const struct word *words, int value)
{
    while (words->text && words->value != value)
        words++;
    return words->text ? words->text : "?";
}

static const struct word scopes[] = {
    { MPI_T_SCOPE_CONSTANT, "constant" },     { MPI_T_SCOPE_READONLY, "read-only" },
    { MPI_T_SCOPE_LOCAL, "local" },           { MPI_T_SCOPE_GROUP, "group" },
    { MPI_T_SCOPE_GROUP_EQ, "group, equal" }, { MPI_T_SCOPE_ALL, "all" },
    { MPI_T_SCOPE_ALL_EQ, "all, equal" },     { 0, NULL }
};
static const struct word classes[] = { { MPI_T_PVAR_CLASS_STATE, "state" },
                                       { MPI_T_PVAR_CLASS_LEVEL, "level" },
                                       { MPI_T_PVAR_CLASS_SIZE, "size" },
                                       { MPI_T_PVAR_CLASS_PERCENTAGE, "percentage" },
                                       { MPI_T_PVAR_CLASS_HIGHWATERMARK, "high watermark" },
                                       { MPI_T_PVAR_CLASS_LOWWATERMARK, "low watermark" },
                                       { MPI_T_PVAR_CLASS_COUNTER, "counter" },
                                       { MPI_T_PVAR_CLASS_AGGREGATE, "aggregate" },
                                       { MPI_T_PVAR_CLASS_TIMER, "timer" },
                                       { MPI_T_PVAR_CLASS_GENERIC, "generic" },
                                       { 0, NULL } };
static const struct word verbosities[] = { { MPI_T_VERBOSITY_USER_BASIC, "user" },
                                           { MPI_T_VERBOSITY_TUNER_BASIC, "tuner" },
                                           { MPI_T_VERBOSITY_MPIDEV_BASIC, "developer" },
                                           { 0, NULL } };

static const char *type_name(MPI_Datatype type)
{
    static const struct {
        MPI_Datatype type;
        const char *name;
    } types[] = { { MPI_INT, "int" },         { MPI_COUNT, "MPI_Count" },
                  { MPI_CHAR, "string" },     { MPI_DOUBLE, "double" },
                  { MPI_INT32_T, "int32_t" }, { MPI_UNSIGNED_LONG_LONG, "unsigned long long" },
                  { MPI_INT64_T, "int64_t" } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].name;
    return "?";
}

/* ---- JSON and text ---- */

static void json_field(const char *name, const char *value, bool first)
{
    printf("%s", first ? "" : ", ");
    ku_json_string(stdout, name);
    printf(": ");
    ku_json_string(stdout, value);
}

/* Text below an item, broken at spaces. */
static void paragraph(const char *text)
{
    enum { WIDTH = 96 };
    while (*text) {
        size_t n = strlen(text);
        if (n > WIDTH)
            for (n = WIDTH; n > 0 && text[n] != ' '; n--)
                ;
        if (n == 0)
            n = strcspn(text, " ");
        printf("        %.*s\n", (int)n, text);
        text += n + (text[n] == ' ');
    }
}

/* Does a name contain one of the patterns, or match it as a whole? */
static bool mpi_info_wanted(const char *name)
{
    for (int i = 0; i < opts.npatterns; i++)
        if (strstr(name, opts.patterns[i]) || fnmatch(opts.patterns[i], name, 0) == 0)
            return true;
    return opts.npatterns == 0;
}

/* Between the items of a list. */
static bool item_begun, any_item;
static const char *heading; /* of the list, until its first item; NULL */

static void list_begin(const char *name, const char *title)
{
    static bool sections_begun;
    item_begun = false;
    if (opts.json)
        printf("%s\n  \"%s\": [", sections_begun ? "," : "{", name);
    heading = opts.json || opts.terse ? NULL : title;
    sections_begun = true;
}

static void list_end(void)
{
    if (opts.json)
        printf("%s]", item_begun ? "\n  " : "");
}

static void item(void)
{
    if (opts.json)
        printf("%s\n    { ", item_begun ? "," : "");
    if (heading)
        printf("%s%s\n", any_item ? "\n" : "", heading);
    heading = NULL;
    item_begun = any_item = true;
}

/* All of a kind that MPI_T knows. */
static void print_list(const char *name, const char *title, int (*get_num)(int *), void (*print)(int))
{
    int n = 0;
    get_num(&n);
    list_begin(name, title);
    for (int i = 0; i < n; i++)
        print(i);
    list_end();
}

static void words_of(MPI_T_enum names, char *text, size_t cap)
{
    int num = 0;
    char name[NAME];
    text[0] = 0;
    if (names == MPI_T_ENUM_NULL || MPI_T_enum_get_info(names, &num, NULL, NULL) != MPI_SUCCESS)
        return;
    for (int i = 0; i < num; i++) {
        int value, len = sizeof name;
        size_t n = strlen(text);
        if (MPI_T_enum_get_item(names, i, &value, name, &len) == MPI_SUCCESS)
            snprintf(text + n, cap - n, "%s%s", i ? ", " : "", name);
    }
}

/* ---- What was built ---- */

static void config_line(const char *name, const char *key, const char *value)
{
    item();
    if (opts.json) {
        json_field("name", key, true);
        json_field("value", value, false);
        printf(" }");
    } else
        printf("    %-22s %s\n", name, value);
}

/* The Fortran that was built, and the compilers whose modules are there (mpifort --build-modules). */
static void config_fortran(void)
{
    if (!BUILT_FC[0]) {
        config_line("Fortran compiler", "fc", "none");
        return;
    }
    config_line("Fortran compiler", "fc", BUILT_FC);
    config_line(
        "Fortran kinds", "fortran-kinds",
        "INTEGER 4, LOGICAL 4, REAL 4, DOUBLE PRECISION 8 bytes (others: modules NAME-integer8 and its "
        "like); MPI_ADDRESS_KIND 8, MPI_COUNT_KIND 8, MPI_OFFSET_KIND 8");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/fortran", ku_installed_keeldir());
    DIR *folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char text[PATH_MAX + sizeof e->d_name], key[NAME + sizeof e->d_name];
        if (e->d_name[0] == '.')
            continue;
        snprintf(text, sizeof text, "%s/%s", path, e->d_name);
        snprintf(key, sizeof key, "fortran-modules-%s", e->d_name);
        config_line("Fortran modules", key, text);
    }
    if (folder)
        closedir(folder);
}

static void print_config(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", text[64];
    int major = 0, minor = 0, len;
    list_begin("configuration", "Configuration");
    MPI_Get_library_version(version, &len);
    config_line("library", "library", version);
    MPI_Get_version(&major, &minor);
    snprintf(text, sizeof text, "%d.%d", major, minor);
    config_line("MPI standard", "standard", text);
    MPI_Abi_get_version(&major, &minor);
    snprintf(text, sizeof text, "%d.%d (libmpi_abi.so.1)", major, minor);
    config_line("Standard ABI", "abi", text);
    config_line("devices", "devices", BUILT_DEVICES);
    config_line("thread level", "threads", "MPI_THREAD_MULTIPLE");
    config_line("C compiler", "cc", BUILT_CC);
    config_line("its flags", "cflags", BUILT_CFLAGS);
    config_line("configured with", "configured", BUILT_CONFIGURED);
    config_fortran();
#ifdef HAVE_HWLOC
    config_line("hwloc", "hwloc", "yes (mpiexec: packages, caches, simulated machines)");
#else
    config_line("hwloc", "hwloc", "no (mpiexec: cores and NUMA nodes only)");
#endif
#ifdef HAVE_LIBDW
    config_line("libdw", "libdw", "yes (mpiexec: source lines of ranks that hang)");
#else
    config_line("libdw", "libdw", "no (mpiexec: functions, without lines, of ranks that hang)");
#endif
    config_line("commands", "bindir", ku_installed_bindir());
    config_line("libraries", "libdir", ku_installed_libdir());
    list_end();
}

/* ---- Control variables ---- */

struct cvar {
    char name[NAME], desc[DESC], value[4200], words[400], env[NAME], def[NAME];
    int verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum names;
};

static void read_value(int index, struct cvar *v)
{
    MPI_T_cvar_handle handle;
    int count = 0, number = 0, len = sizeof v->value;
    MPI_Count wide = 0;
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    if (v->type == MPI_CHAR) {
        char *text = calloc(1, (size_t)count + 1);
        if (text && MPI_T_cvar_read(handle, text) == MPI_SUCCESS)
            snprintf(v->value, sizeof v->value, "%s", text);
        free(text);
    } else if (v->type == MPI_INT && MPI_T_cvar_read(handle, &number) == MPI_SUCCESS) {
        if (v->names == MPI_T_ENUM_NULL ||
            MPI_T_enum_get_item(v->names, number, &number, v->value, &len) != MPI_SUCCESS)
            snprintf(v->value, sizeof v->value, "%d", number);
    } else if (v->type == MPI_COUNT && MPI_T_cvar_read(handle, &wide) == MPI_SUCCESS)
        snprintf(v->value, sizeof v->value, "%lld", (long long)wide);
    MPI_T_cvar_handle_free(&handle);
}

/* The variable's name and its default stand in the description, between commas and semicolons. */
static void from_desc(const char *desc, const char *mark, char *text, size_t cap)
{
    const char *at = strstr(desc, mark);
    text[0] = 0;
    if (at)
        snprintf(text, cap, "%.*s", (int)strcspn(at + strlen(mark), ",;"), at + strlen(mark));
}

static bool get_cvar(int index, struct cvar *v)
{
    int len = sizeof v->name, desc_len = sizeof v->desc;
    memset(v, 0, sizeof *v);
    if (MPI_T_cvar_get_info(index, v->name, &len, &v->verbosity, &v->type, &v->names, v->desc, &desc_len,
                            &v->bind, &v->scope) != MPI_SUCCESS ||
        !mpi_info_wanted(v->name))
        return false;
    from_desc(v->desc, "; KEEL_", v->env + 5, sizeof v->env - 5);
    memcpy(v->env, "KEEL_", 5);
    from_desc(v->desc, ", default ", v->def, sizeof v->def);
    words_of(v->names, v->words, sizeof v->words);
    read_value(index, v);
    return true;
}

static void print_cvar(int index)
{
    static struct cvar found, *v = &found;
    if (!get_cvar(index, v))
        return;
    item();
    if (opts.json) {
        json_field("name", v->name, true);
        json_field("value", v->value, false);
        json_field("from", getenv(v->env) ? "environment" : "default", false);
        json_field("default", v->def, false);
        json_field("type", type_name(v->type), false);
        json_field("values", v->words, false);
        json_field("scope", word_of(scopes, v->scope), false);
        json_field("for", word_of(verbosities, v->verbosity), false);
        json_field("environment", v->env, false);
        json_field("help", v->desc, false);
        printf(" }");
    } else if (opts.terse)
        printf("%s=%s\n", v->name, v->value);
    else {
        printf("    %s = %s%s\n        %s; %s; for %ss\n", v->name, *v->value ? v->value : "(none)",
               getenv(v->env) ? "   (from the environment)" : "",
               v->names != MPI_T_ENUM_NULL ? v->words : type_name(v->type), word_of(scopes, v->scope),
               word_of(verbosities, v->verbosity));
        paragraph(v->desc);
    }
}

static void print_cvars(void)
{
    print_list("control_variables", "Control variables (set in the environment, or by MPI_T)",
               MPI_T_cvar_get_num, print_cvar);
}

/* ---- Performance variables ---- */

static void print_pvar(int index)
{
    char name[NAME], desc[DESC], words[400];
    int len = sizeof name, desc_len = sizeof desc, verbosity, var_class, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum names;
    if (MPI_T_pvar_get_info(index, name, &len, &verbosity, &var_class, &type, &names, desc, &desc_len, &bind,
                            &readonly, &continuous, &atomic) != MPI_SUCCESS ||
        !mpi_info_wanted(name))
        return;
    words_of(names, words, sizeof words);
    item();
    if (opts.json) {
        json_field("name", name, true);
        json_field("class", word_of(classes, var_class), false);
        json_field("type", type_name(type), false);
        json_field("values", words, false);
        json_field("bound_to", bind == MPI_T_BIND_MPI_COMM ? "communicator" : "", false);
        json_field("for", word_of(verbosities, verbosity), false);
        printf(", \"readonly\": %s, \"continuous\": %s", readonly ? "true" : "false",
               continuous ? "true" : "false");
        json_field("help", desc, false);
        printf(" }");
    } else if (opts.terse)
        printf("%s %s\n", name, word_of(classes, var_class));
    else {
        printf("    %s: %s%s%s\n", name, word_of(classes, var_class), continuous ? "" : ", to be started",
               bind == MPI_T_BIND_MPI_COMM ? ", of a communicator" : "");
        paragraph(desc);
    }
}

static void print_pvars(void)
{
    print_list("performance_variables", "Performance variables (read by MPI_T)", MPI_T_pvar_get_num,
               print_pvar);
}

/* ---- Events ---- */

static void print_event(int index)
{
    char name[NAME], desc[DESC], words[400];
    int len = sizeof name, desc_len = sizeof desc, verbosity, bind, num = MOST;
    MPI_Datatype types[MOST];
    MPI_Aint displs[MOST];
    MPI_T_enum names;
    if (MPI_T_event_get_info(index, name, &len, &verbosity, types, displs, &num, &names, NULL, desc,
                             &desc_len, &bind) != MPI_SUCCESS ||
        !mpi_info_wanted(name))
        return;
    words_of(names, words, sizeof words);
    item();
    if (opts.json) {
        json_field("name", name, true);
        json_field("elements", words, false);
        json_field("for", word_of(verbosities, verbosity), false);
        printf(", \"types\": [");
        for (int i = 0; i < num; i++)
            printf("%s\"%s\"", i ? ", " : "", type_name(types[i]));
        printf("]");
        json_field("help", desc, false);
        printf(" }");
    } else if (opts.terse)
        printf("%s %s\n", name, words);
    else {
        printf("    %s (%s)\n", name, words);
        paragraph(desc);
    }
}

static void print_events(void)
{
    print_list("events", "Events (callbacks of MPI_T)", MPI_T_event_get_num, print_event);
}

/* ---- Categories ---- */

static void print_category(int index)
{
    char name[NAME], desc[DESC];
    int len = sizeof name, desc_len = sizeof desc, cvars, pvars, categories, events = 0;
    if (MPI_T_category_get_info(index, name, &len, desc, &desc_len, &cvars, &pvars, &categories) !=
            MPI_SUCCESS ||
        MPI_T_category_get_num_events(index, &events) != MPI_SUCCESS || !mpi_info_wanted(name))
        return;
    item();
    if (opts.json) {
        json_field("name", name, true);
        printf(
            ", \"control_variables\": %d, \"performance_variables\": %d, \"events\": %d, \"categories\": %d",
            cvars, pvars, events, categories);
        json_field("help", desc, false);
        printf(" }");
    } else if (opts.terse)
        printf("%s\n", name);
    else {
        printf("    %s: %d control and %d performance variables, %d events, %d categories\n", name, cvars,
               pvars, events, categories);
        paragraph(desc);
    }
}

static void print_categories(void)
{
    print_list("categories", "Categories", MPI_T_category_get_num, print_category);
}

/* ---- Devices ---- */

static const char *reaches(const struct MPID_Device *d)
{
    return strcmp(d->reach, "any") == 0    ? "any node"
           : strcmp(d->reach, "node") == 0 ? "the ranks of its node"
                                           : "its own process";
}

static const char *memory_of_peers(const struct MPID_Device *d)
{
    return !d->has_put ? "none, packets instead" : d->has_atomic ? "put, get, updates" : "put, get";
}

static void device_json(const struct MPID_Device *d)
{
    json_field("name", d->name, true);
    json_field("from", d->from, false);
    printf(", \"opens\": %s, \"left_out\": %s", d->why_not ? "false" : "true",
           d->left_out ? "true" : "false");
    if (d->why_not)
        json_field("why_not", d->why_not, false);
    else {
        json_field("reach", d->reach, false);
        printf(", \"latency_ns\": %u, \"bandwidth_mbs\": %u, \"max_short\": %u, \"max_send\": %u, "
               "\"max_lying\": %u",
               d->latency_ns, d->bandwidth_mbs, d->max_short, d->max_send, d->max_lying);
        printf(", \"put_get\": %s, \"atomic\": %s, \"unaided\": %s", d->has_put ? "true" : "false",
               d->has_atomic ? "true" : "false", d->unaided ? "true" : "false");
        json_field("through", d->through, false);
    }
    printf(" }");
}

static void device_text(const struct MPID_Device *d)
{
    char text[DESC];
    printf("    %s: %s%s\n        %s\n", *d->name ? d->name : "?",
           d->why_not ? "does not open here" : "opens", d->left_out ? "; KEEL_DEVICES leaves it out" : "",
           d->from);
    if (d->why_not) {
        paragraph(d->why_not);
        return;
    }
    snprintf(text, sizeof text,
             "reaches %s; %.2f us, %u MB/s; packets of up to %u bytes at once, %u copied, %u from where they "
             "lie; memory of peers: %s%s%s%s",
             reaches(d), d->latency_ns / 1000.0, d->bandwidth_mbs, d->max_short, d->max_send, d->max_lying,
             memory_of_peers(d), d->has_put && d->unaided ? ", without the peer's processor" : "",
             d->through[0] ? "; through " : "", d->through);
    paragraph(text);
}

static void print_device(const struct MPID_Device *d, void *arg)
{
    (void)arg;
    if (!mpi_info_wanted(d->name))
        return;
    item();
    if (opts.json)
        device_json(d);
    else if (!opts.terse)
        device_text(d);
    else if (d->why_not)
        printf("%s opens=no\n", *d->name ? d->name : d->from);
    else
        printf("%s opens=yes reach=%s latency_ns=%u bandwidth_mbs=%u\n", d->name, d->reach, d->latency_ns,
               d->bandwidth_mbs);
}

static bool print_devices(void)
{
    int err = 0;
    list_begin("devices", "Devices, each opened here by itself");
    MPID_Devices(print_device, NULL, &err);
    list_end();
    if (err != 0)
        fprintf(stderr, "mpi_info: devices: %s\n", MPID_Error_text());
    return err == 0;
}

/* ---- The command ---- */

static const char usage[] =
    "usage: mpi_info [option]... [pattern]...\n"
    "What this Keel MPI is, and the variables, counters and events of its tool "
    "interface; with patterns (part of a name,\n"
    "or with * and ?) only what they name.\n"
    "  -a, --all           everything (so it is without any of the following)\n"
    "  -c, --config        what was built, and where it is installed\n"
    "  -v, --cvars         control variables: what KEEL_... variables set\n"
    "  -p, --pvars         performance variables: what is counted\n"
    "  -e, --events        events that a tool may listen to\n"
    "  -g, --categories    how these are grouped\n"
    "  -d, --devices       which devices open here, or why not, and what they cost (not "
    "part of -a)\n"
    "  -t, --terse         a line each, for scripts (alias --parsable)\n"
    "  -j, --json          as JSON\n"
    "  -V, --version       the version\n"
    "  -h, --help          this text\n";

static void print_version(void)
{
    int major = 0, minor = 0;
    MPI_Get_version(&major, &minor);
    printf("Keel MPI %s (MPI %d.%d)\n", PACKAGE_VERSION, major, minor);
}

/* Returns the exit code, or -1: go on. */
static int parse(int argc, char **argv)
{
    static const struct option longs[] = {
        { "all", no_argument, NULL, 'a' },
        { "config", no_argument, NULL, 'c' },
        { "cvars", no_argument, NULL, 'v' },
        { "pvars", no_argument, NULL, 'p' },
        { "events", no_argument, NULL, 'e' },
        { "categories", no_argument, NULL, 'g' },
        { "devices", no_argument, NULL, 'd' },
        { "terse", no_argument, NULL, 't' },
        { "parsable", no_argument, NULL, 't' },
        { "json", no_argument, NULL, 'j' },
        { "version", no_argument, NULL, 'V' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    static const char letters[] = "cvpegd";
    for (int o; (o = getopt_long(argc, argv, "acvpegdtjVh", longs, NULL)) != -1;) {
        const char *section = strchr(letters, o);
        if (section)
            opts.sections |= 1 << (section - letters);
        else if (o == 'a')
            opts.sections |= ALL;
        else if (o == 't')
            opts.terse = true;
        else if (o == 'j')
            opts.json = true;
        else if (o == 'V') {
            print_version();
            return 0;
        } else {
            fputs(usage, o == 'h' ? stdout : stderr);
            return o == 'h' ? 0 : 2;
        }
    }
    opts.patterns = argv + optind;
    opts.npatterns = argc - optind;
    if (!opts.sections)
        opts.sections = opts.npatterns ? ALL & ~CONFIG : ALL;
    return -1;
}

int main(int argc, char **argv)
{
    static void (*const print[])(void) = { print_config, print_cvars, print_pvars, print_events,
                                           print_categories };
    int provided, code = parse(argc, argv);
    bool good = true;
    if (code >= 0)
        return code;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        fprintf(stderr, "mpi_info: MPI_T_init_thread failed\n");
        return 1;
    }
    for (int i = 0; i < 5; i++)
        if (opts.sections & 1 << i)
            print[i]();
    if (opts.sections & DEVICES)
        good = print_devices();
    if (opts.json)
        printf("\n}\n");
    MPI_T_finalize();
    if (!any_item)
        fprintf(stderr, "mpi_info: nothing there has such a name\n");
    return fflush(stdout) == 0 && any_item && good ? 0 : 1;
}
