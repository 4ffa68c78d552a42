/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi2.c: PMI-2, the protocol of Slurm's `srun --mpi=pmi2`, which Hydra speaks, too.
 *
 * A line each way names the version; what follows are frames (words.h).  Each request begins with cmd=NAME; its
 * answer with cmd=NAME-response; */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "channel.h"
#include "server.h"
#include "util/err.h"
#include "words.h"

enum {
    FRAME = 4096,
    VALUE_MOST = 1000,  /* PMI2_MAX_VALLEN is 1024 */
    MAPPING = 64 << 10, /* of many nodes with different numbers of ranks */
    JOB_MOST = 256
};

static struct {
    char job[JOB_MOST]; /* its name; the key-value space's, too */
    char *answer;       /* the last one */
} pmi;

static bool pmi2_is_there(void)
{
    return pmi_channel_is_there(2);
}

static bool pmi2_word(const char *name, char *value, size_t cap)
{
    return pmi_word(pmi.answer, PMI_FRAME_END, name, value, cap);
}

static bool pmi2_number(const char *name, int32_t *n)
{
    return pmi_number(pmi.answer, PMI_FRAME_END, name, n);
}

static int nonsense(const char *expected)
{
    return ku_err_set(EPROTO, NULL, "the launcher (PMI-2) answers \"%.100s\"; expected %s", pmi.answer,
                      expected);
}

static int pmi2_say(const char *name, const char *words)
{
    char frame[PMI_FRAME_HEAD + FRAME];
    int len = snprintf(frame + PMI_FRAME_HEAD, FRAME, "cmd=%s;%s", name, words);
    if (len >= FRAME)
        return ku_err_set(EMSGSIZE, NULL, "a request to the launcher (PMI-2) has %d bytes; %d are the most",
                          len, FRAME - 1);
    pmi_frame_head(frame, (size_t)len);
    return pmi_channel_say(frame, PMI_FRAME_HEAD + (size_t)len);
}

/* A request, and its answer. */
static int pmi2_ask(const char *name, const char *words)
{
    char answer[64], why[200] = "";
    int32_t rc;
    int err = pmi2_say(name, words);
    if (!err)
        err = pmi_channel_frame(&pmi.answer);
    if (err)
        return err;
    snprintf(answer, sizeof answer, "%s-response", name);
    if (!pmi_says(pmi.answer, PMI_FRAME_END, "cmd", answer) || !pmi2_number("rc", &rc)) {
        snprintf(why, sizeof why, "cmd=%s;rc=0;", answer);
        return nonsense(why);
    }
    if (rc != 0)
        return ku_err_set(ENOENT, NULL, "the launcher (PMI-2) refuses cmd=%s;%.60s: rc=%d %s", name, words,
                          rc, pmi2_word("errmsg", why, sizeof why) ? why : "");
    return 0;
}

/* ---- The server's functions ---- */

static int say_version(void)
{
    static const char line[] = "cmd=init pmi_version=2 pmi_subversion=0\n";
    int32_t rc = -1, version = 0;
    int err = pmi_channel_say(line, sizeof line - 1);
    if (!err)
        err = pmi_channel_line(&pmi.answer);
    if (err)
        return err;
    if (!pmi_says(pmi.answer, PMI_LINE_END, "cmd", "response_to_init") ||
        !pmi_number(pmi.answer, PMI_LINE_END, "rc", &rc) || rc != 0 ||
        !pmi_number(pmi.answer, PMI_LINE_END, "pmi_version", &version) || version != 2)
        return nonsense("cmd=response_to_init rc=0 pmi_version=2");
    return 0;
}

static int pmi2_begin(struct pmi_facts *f)
{
    char words[JOB_MOST + 64];
    const char *job = getenv("PMI_JOBID"); /* Slurm wants to be told */
    int32_t rank = -1, size = -1;
    snprintf(words, sizeof words, "%s%.200s%spmirank=%d;threaded=FALSE;", job ? "pmijobid=" : "",
             job ? job : "", job ? ";" : "", f->rank);
    int err = pmi2_ask("fullinit", words);
    if (err)
        return err;
    if (!pmi2_number("rank", &rank) || !pmi2_number("size", &size) || rank != f->rank || size != f->size) {
        snprintf(words, sizeof words, "rank=%d;size=%d; as PMI_RANK and PMI_SIZE say", f->rank, f->size);
        return nonsense(words);
    }
    if (!pmi2_number("appnum", &f->appnum))
        f->appnum = -1;
    err = pmi2_ask("job-getid", "");
    if (!err && (!pmi2_word("jobid", pmi.job, sizeof pmi.job) || strchr(pmi.job, PMI_FRAME_END)))
        err = nonsense("a jobid");
    return err;
}

/* What the launcher knows of the job; false: it does not know that. */
static bool fact(const char *key, char *value, size_t cap)
{
    char words[128];
    snprintf(words, sizeof words, "key=%s;", key);
    return pmi2_ask("info-getjobattr", words) == 0 && pmi_says(pmi.answer, PMI_FRAME_END, "found", "TRUE") &&
           pmi2_word("value", value, cap);
}

static int pmi2_learn(struct pmi_facts *f)
{
    char number[16];
    f->value_max = VALUE_MOST;
    f->universe = fact("universeSize", number, sizeof number) ? atoi(number) : -1;
    if (f->size == 1)
        return 0;
    char *mapping = malloc(MAPPING);
    int err =
        !mapping ? ku_err_set(ENOMEM, NULL, "no memory to learn of the ranks' nodes")
        : !fact("PMI_process_mapping", mapping, MAPPING)
            ? ku_err_set(EPROTO, NULL, "the launcher (PMI-2) does not tell on which nodes the ranks are")
            : pmi_mapping(mapping, f->node_of, f->size);
    free(mapping);
    return err;
}

static int pmi2_init(struct pmi_facts *f)
{
    int err = pmi_channel_take(2, f);
    if (!err)
        err = say_version();
    if (!err)
        err = pmi2_begin(f);
    if (!err)
        err = pmi2_learn(f);
    if (!err) {
        ku_err_clear(); /* of what it need not tell */
        return 0;
    }
    pmi_channel_close();
    free(f->node_of);
    f->node_of = NULL;
    return err;
}

static int pmi2_put(const char *key, const char *value, enum pmi_reach reach)
{
    (void)reach; /* all have one space */
    char words[FRAME];
    snprintf(words, sizeof words, "key=%s;value=%s;", key, value);
    return pmi2_ask("kvs-put", words);
}

static int pmi2_get(int32_t from, const char *key, char *value, size_t cap)
{
    char words[FRAME];
    (void)from; /* keys name it */
    snprintf(words, sizeof words, "jobid=%s;srcid=-1;key=%s;", pmi.job, key);
    int err = pmi2_ask("kvs-get", words);
    if (!err && (!pmi_says(pmi.answer, PMI_FRAME_END, "found", "TRUE") || !pmi2_word("value", value, cap)))
        err = ku_err_set(EPROTO, NULL, "the launcher (PMI-2) answers \"%.100s\"; expected a value for %s",
                         pmi.answer, key);
    return err;
}

static int fence(void)
{
    return pmi2_ask("kvs-fence", "");
}

/* The protocol has no place for the code: it is that of this process.  The text goes to stderr: Slurm would not
 * show it, and takes what is behind a ';' for words. */
static void pmi2_end(int code, const char *text)
{
    char words[64];
    if (text && *text)
        fprintf(stderr, "%s\n", text);
    snprintf(words, sizeof words, "isworld=TRUE;msg=code %d;", code);
    if (pmi_channel_is_open())
        pmi2_say("abort", words);
}

static void fini(void)
{
    if (pmi_channel_is_open() && pmi2_ask("finalize", "") == 0)
        pmi_channel_close();
}

const struct pmi_server pmi_2 = {
    "PMI-2", pmi2_is_there, pmi2_init, pmi2_put, pmi2_get, fence, pmi2_end, fini
};
