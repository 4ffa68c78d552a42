/* SPDX-License-Identifier: BSD-3-Clause */
/* params.c: see params.h.  One row a parameter; the options do the rest, with the parameter's name in what they say. */
#define _GNU_SOURCE
#include "params.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "options.h"
#include "hosts.h"

enum kind {
    VALUE,  /* the parameter's value is the option's */
    SWITCH, /* the option is given where the value says yes */
    OFF,    /* the option is given where the value says no */
    HOSTS,  /* a file of hosts, which holds where none is named otherwise */
    IF_NO,  /* nothing here does what yes asks for */
    IF_YES, /* nothing here does what no asks for */
    NOTHING /* Keel does that anyway, or it is about what Keel does not have: in silence */
};

static const struct param {
    const char *names; /* separated by '|' */
    enum kind kind;
    const char *option;
} mca[] = {
    { "plm_rsh_agent|plm_ssh_agent|orte_rsh_agent|pls_rsh_agent", VALUE, "launcher-exec" },
    { "orte_default_hostfile|prte_default_hostfile|orte_hostfile", HOSTS, NULL },
    { "rmaps_base_mapping_policy|rmaps_default_mapping_policy", VALUE, "map-by" },
    { "rmaps_base_ranking_policy|rmaps_default_ranking_policy", VALUE, "rank-by" },
    { "hwloc_base_binding_policy|hwloc_default_binding_policy", VALUE, "bind-to" },
    { "hwloc_base_cpu_set|hwloc_base_cpu_list|hwloc_default_cpu_list|hwloc_base_slot_list", VALUE,
      "cpu-set" },
    { "rmaps_base_cpus_per_rank|rmaps_base_cpus_per_proc", VALUE, "cpus-per-rank" },
    { "rmaps_base_oversubscribe|rmaps_default_oversubscribe", SWITCH, "oversubscribe" },
    { "rmaps_base_no_oversubscribe", SWITCH, "nooversubscribe" },
    { "hwloc_base_use_hwthreads_as_cpus|hwloc_default_use_hwthreads_as_cpus", SWITCH, "use-hwthread-cpus" },
    { "hwloc_base_report_bindings|orte_report_bindings|hwloc_default_report_bindings", SWITCH,
      "report-bindings" },
    { "rmaps_base_display_map|orte_display_map", SWITCH, "display-map" },
    { "orte_tag_output|prte_tag_output", SWITCH, "tag-output" },
    { "orte_timestamp_output|prte_timestamp_output", SWITCH, "timestamp-output" },
    { "orte_merge_stderr_stdout", SWITCH, "merge-stderr-to-stdout" },
    { "orte_output_filename", VALUE, "output-filename" },
    { "btl_tcp_if_include|oob_tcp_if_include|prte_if_include|if_include", VALUE, "iface" },
    { "btl_tcp_if_exclude|oob_tcp_if_exclude|prte_if_exclude|if_exclude", VALUE, "not-iface" },
    { "mpi_yield_when_idle|btl_tcp_disable_family|btl_base_warn_component_unused|btl_base_warn_peer_error|"
      "mpi_warn_on_fork|"
      "mpi_show_handle_leaks|btl_vader_single_copy_mechanism|btl_sm_single_copy_mechanism|"
      "btl_vader_backing_directory|btl_sm_backing_directory|btl_openib_allow_ib|btl_openib_warn_no_device_"
      "params_found|"
      "btl_openib_warn_default_gid_prefix|orte_base_help_aggregate|opal_warn_on_missing_libcuda|"
      "mca_base_component_show_load_errors|mpi_cuda_support|opal_cuda_support|pml_ucx_verbose",
      NOTHING, NULL },
};
static const struct param hydra[] = {
    { "HOST_FILE", HOSTS, NULL },
    { "LAUNCHER|BOOTSTRAP", VALUE, "launcher" },
    { "LAUNCHER_EXEC|BOOTSTRAP_EXEC", VALUE, "launcher-exec" },
    { "RMK", VALUE, "rmk" },
    { "IFACE", VALUE, "iface" },
    { "BINDING", VALUE, "bind-to" },
    { "MAPPING", VALUE, "map-by" },
    { "DEBUG", SWITCH, "verbose" },
    { "TOPOLIB|TOPO_DEBUG|PROXY_RETRY_COUNT|LAUNCHER_SSH_LIMIT|LAUNCHER_SSH_LIMIT_TIME|"
      "LAUNCHER_SSH_ENABLE_WARNINGS|LAUNCHER_AUTOFORK|HOSTNAME_PROPAGATION|DEMUX|CONTROL_FD|BASE_PATH|"
      "HOSTNAME|USER_PROVIDED_BINDING",
      NOTHING, NULL },
};

static const struct param runtime[] = {
    { "donotlaunch|donotspawn", SWITCH, "do-not-launch" },
    { "timeout", VALUE, "timeout" },
    { "fwd-environment", OFF, "genvnone" },
    { "recoverable|autorestart|continuous|report-child-jobs-separately", IF_NO, NULL },
    { "error-nonzero-status|aggregate-help-messages", IF_YES, NULL },
    { "show-progress|notifyerrors|report-state-on-timeout|get-stack-traces", NOTHING, NULL },
};

static const char *hosts_file, *hosts_name; /* the file; what has named it */
static char *meaningless;                   /* names, with commas */
static bool passed_on;                      /* some of them, to those who may know more of them */

static bool is_named(const char *names, const char *name)
{
    for (const char *at = names; *at; at += strcspn(at, "|"), at += *at == '|')
        if (strcspn(at, "|") == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            return true;
    return false;
}

static bool says_no(const char *value)
{
    static const char *const no[] = { "", "0", "false", "no", "off", "f", "n", "disabled" };
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcasecmp(value, no[i]) == 0)
            return true;
    return false;
}

static void add_meaningless(const char *name)
{
    for (const char *at = meaningless; at && *at; at += strcspn(at, ","), at += strspn(at, ", "))
        if (strcspn(at, ",") == strlen(name) && strncmp(at, name, strlen(name)) == 0)
            return;
    char *longer = xformat("%s%s%s", meaningless ? meaningless : "", meaningless ? ", " : "", name);
    free(meaningless);
    meaningless = longer;
}

/* `written`: how the user has written it. */
static void obey(struct parse *p, const struct param *table, size_t n, const char *name, const char *written,
                 char *value)
{
    const struct param *row = NULL;
    for (size_t i = 0; i < n && !row; i++)
        row = is_named(table[i].names, name) ? &table[i] : NULL;
    if (!row || (row->kind == IF_NO && !says_no(value)) || (row->kind == IF_YES && says_no(value))) {
        add_meaningless(written);
    } else if (row->kind == HOSTS) {
        hosts_file = *value ? value : NULL;
        hosts_name = written;
    } else if (row->kind == VALUE || (row->kind == SWITCH && !says_no(value)) ||
               (row->kind == OFF && says_no(value))) {
        option_give(p, row->option, written, row->kind == VALUE ? value : NULL);
    }
}

/* What another launcher tells a process that it has started is no user's word. */
static bool is_of_launcher(void)
{
    return getenv("OMPI_COMM_WORLD_RANK") || getenv("PMIX_NAMESPACE") || getenv("PMIX_RANK") ||
           getenv("PMI_RANK");
}

/* Nor is what Slurm sets in each job for other launchers' sake (23.11 and later: that their srun takes no share of
 * the job). */
static bool is_of_slurm(const char *entry)
{
    static const char *const sets[] = { "OMPI_MCA_plm_slurm_args=--external-launcher",
                                        "PRTE_MCA_plm_slurm_args=--external-launcher",
                                        "HYDRA_LAUNCHER_EXTRA_ARGS=--external-launcher",
                                        "OMPI_MCA_orte_precondition_transports=" };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strncmp(entry, sets[i], strlen(sets[i])) == 0)
            return getenv("SLURM_JOB_ID") != NULL;
    return false;
}

static char *behind(char *entry, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(entry, prefix, n) == 0 && strchr(entry, '=') ? entry + n : NULL;
}

extern char **environ;

void params_environment(struct parse *p)
{
    static const char *const families[] = { "OMPI_MCA_", "PRTE_MCA_", "HYDRA_" };
    enum { FAMILIES = sizeof families / sizeof *families, HYDRA = 2 };
    for (char **e = environ; *e && !is_of_launcher() && !p->stop; e++)
        for (int i = 0; i < FAMILIES; i++) {
            char *rest = behind(*e, families[i]);
            if (!rest || is_of_slurm(*e))
                continue;
            char *written = xformat("%.*s", (int)(strchr(*e, '=') - *e), *e); /* kept, as hosts_name */
            obey(p, i == HYDRA ? hydra : mca,
                 i == HYDRA ? sizeof hydra / sizeof *hydra : sizeof mca / sizeof *mca,
                 written + strlen(families[i]), written, strchr(*e, '=') + 1);
        }
}

void do_mca(struct parse *p, char **v)
{
    const char *option = p->name + strspn(p->name, "-"), *family = strstr(option, "pmix") ? "PMIX" : "OMPI";
    if (strcmp(option, "prtemca") != 0 && strcmp(option, "gprtemca") != 0) {
        env_for_all(p, xformat("%s_MCA_%s=%s", family, v[0], v[1])); /* as their own launcher does */
        passed_on = true;
    }
    obey(p, mca, sizeof mca / sizeof *mca, v[0], xformat("%s %s", p->name, v[0]), v[1]);
}

void do_runtime(struct parse *p, char **v)
{
    char option[sizeof p->name];
    snprintf(option, sizeof option, "%s", p->name); /* option_give changes it */
    for (const char *at = v[0]; *at && !p->stop; at += strcspn(at, ","), at += *at == ',') {
        size_t n = strcspn(at, ","), name = strcspn(at, ",=");
        char *word = xformat("%.*s", (int)name, at);                                          /* kept */
        char *value = name < n ? xformat("%.*s", (int)(n - name - 1), at + name + 1) : "yes"; /* kept */
        for (char *c = word; *c; c++)
            *c = (char)tolower((unsigned char)*c);
        obey(p, runtime, sizeof runtime / sizeof *runtime, word, xformat("%s %s", option, word), value);
    }
}

void params_hosts(struct parse *p)
{
    if (!hosts_file || p->nhosts > 0 || p->rankfile)
        return;
    snprintf(p->name, sizeof p->name, "%s", hosts_name);
    if (strcasecmp(hosts_file, "none") != 0)
        place_file(p, hosts_file);
}

void params_note(void)
{
    if (meaningless)
        say("note: %s: ignored: nothing in Keel goes by that (%s)", meaningless,
            passed_on ? "programs that keep Open MPI's own library get it"
                      : "variables for the ranks: -x NAME=VALUE");
}
