/* SPDX-License-Identifier: BSD-3-Clause */
/* pmi1.c: PMI-1, the protocol of MPICH's Hydra.  Each request is a line of words that begins with cmd=, and so is
 * its answer. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "channel.h"
#include "server.h"
#include "util/err.h"
#include "words.h"

enum { LINE = 4096, NAME_MOST = 512 };

static struct {
    char space[NAME_MOST]; /* the key-value space's name */
    char *answer;          /* the last one */
} pmi;

static bool pmi1_is_there(void)
{
    return pmi_channel_is_there(1);
}

static bool pmi1_word(const char *name, char *value, size_t cap)
{
    return pmi_word(pmi.answer, PMI_LINE_END, name, value, cap);
}

static bool pmi1_number(const char *name, int32_t *n)
{
    return pmi_number(pmi.answer, PMI_LINE_END, name, n);
}

/* A request, and the answer that is expected. */
static int pmi1_ask(const char *line, const char *answer)
{
    int32_t rc = 0;
    int err = pmi_channel_say(line, strlen(line));
    if (!err)
        err = pmi_channel_line(&pmi.answer);
    if (err)
        return err;
    if (!pmi_says(pmi.answer, PMI_LINE_END, "cmd", answer))
        return ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected cmd=%s",
                          pmi.answer, answer);
    if (pmi1_number("rc", &rc) && rc != 0)
        return ku_err_set(ENOENT, NULL, "the launcher (PMI-1) refuses \"%.60s\": \"%.100s\"", line,
                          pmi.answer);
    return 0;
}

/* ---- The server's functions ---- */

static int pmi1_learn(struct pmi_facts *f)
{
    char line[LINE], mapping[LINE] = "";
    int32_t values = 0;
    int err = pmi1_ask("cmd=get_maxes\n", "maxes");
    if (err)
        return err;
    if (!pmi1_number("vallen_max", &values) || values < 64)
        return ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected a vallen_max",
                          pmi.answer);
    f->value_max = (size_t)values < LINE / 2 ? (size_t)values - 1 : LINE / 2;
    if (pmi1_ask("cmd=get_appnum\n", "appnum") != 0 || !pmi1_number("appnum", &f->appnum))
        f->appnum = -1;
    if (pmi1_ask("cmd=get_universe_size\n", "universe_size") != 0 || !pmi1_number("size", &f->universe))
        f->universe = -1;
    err = pmi1_ask("cmd=get_my_kvsname\n", "my_kvsname");
    if (err)
        return err;
    if (!pmi1_word("kvsname", pmi.space, sizeof pmi.space))
        return ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected a kvsname",
                          pmi.answer);
    if (f->size == 1)
        return 0;
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=PMI_process_mapping\n", pmi.space);
    err = pmi1_ask(line, "get_result");
    if (!err && !pmi1_word("value", mapping, sizeof mapping))
        err = ku_err_set(EPROTO, NULL, "the launcher (PMI-1) does not tell on which nodes the ranks are");
    return err ? err : pmi_mapping(mapping, f->node_of, f->size);
}

static int pmi1_init(struct pmi_facts *f)
{
    int err = pmi_channel_take(1, f);
    if (!err)
        err = pmi1_ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init");
    if (!err)
        err = pmi1_learn(f);
    if (!err) {
        ku_err_clear(); /* of what it need not tell */
        return 0;
    }
    free(f->node_of);
    f->node_of = NULL;
    return err;
}

static int pmi1_put(const char *key, const char *value, enum pmi_reach reach)
{
    (void)reach; /* all have one space */
    char line[LINE];
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=%s value=%s\n", pmi.space, key, value);
    return pmi1_ask(line, "put_result");
}

static int pmi1_get(int32_t from, const char *key, char *value, size_t cap)
{
    char line[LINE];
    (void)from;
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=%s\n", pmi.space, key);
    int err = pmi1_ask(line, "get_result");
    if (!err && !pmi1_word("value", value, cap))
        err =
            ku_err_set(EPROTO, NULL, "the launcher (PMI-1) answers \"%.100s\"; expected a value", pmi.answer);
    return err;
}

static int fence(void)
{
    return pmi1_ask("cmd=barrier_in\n", "barrier_out");
}

static void pmi1_end(int code, const char *text)
{
    char line[64];
    if (text && *text)
        fprintf(stderr, "%s\n", text);
    snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    if (pmi_channel_is_open())
        pmi_channel_say(line, strlen(line));
}

static void fini(void)
{
    if (pmi_channel_is_open() && pmi1_ask("cmd=finalize\n", "finalize_ack") == 0)
        pmi_channel_close();
}

const struct pmi_server pmi_1 = {
    "PMI-1", pmi1_is_there, pmi1_init, pmi1_put, pmi1_get, fence, pmi1_end, fini
};
