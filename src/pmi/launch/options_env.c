/* options_env.c: the options that shape the ranks' environment. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "needs.h"
#include "options.h"

static void edit_env(struct app *a, char *edit)
{
    a->edits.edit = xgrow(a->edits.edit, (size_t)a->edits.n + 1, sizeof *a->edits.edit);
    a->edits.edit[a->edits.n++] = edit;
}

/* NAME VALUE, or NAME=VALUE. */
static void set_pair(struct parse *p, struct app *a, char **v)
{
    if (!v[0][0] || v[0][0] == '=')
        refuse(p, "%s: \"%s\" is not the name of a variable", p->name, v[0]);
    else if (v[1])
        edit_env(a, xformat("%s=%s", v[0], v[1]));
    else if (strchr(v[0], '='))
        edit_env(a, v[0]);
    else
        refuse(p, "%s is \"%s\"; expected NAME VALUE or NAME=VALUE", p->name, v[0]);
}

void do_env(struct parse *p, char **v)
{
    set_pair(p, &p->app, v);
}

void do_genv(struct parse *p, char **v)
{
    set_pair(p, &p->all, v);
}

/* Who starts a rank reads the variable (start.c), on this and on other hosts. */
void do_abi(struct parse *p, char **v)
{
    char *folder = needs_folder(v[0]);
    bool word = strcmp(v[0], NEEDS_NO_ABI) == 0 || strcmp(v[0], NEEDS_ALWAYS) == 0;
    if (!word && (!v[0][0] || strchr(v[0], '/') || !folder))
        refuse(p, "%s is \"%s\"; expected standard, mpich, openmpi, always or none", p->name, v[0]);
    else
        edit_env(&p->all, xformat(NEEDS_ABI "=%s", v[0]));
    free(folder);
}

/* The library reads the variable (src/mpi/errhan). */
void do_initial_errhandler(struct parse *p, char **v)
{
    if (strcasecmp(v[0], "mpi_errors_are_fatal") != 0 && strcasecmp(v[0], "mpi_errors_abort") != 0 &&
        strcasecmp(v[0], "mpi_errors_return") != 0)
        refuse(p, "%s is \"%s\"; expected mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
               p->name, v[0]);
    else {
        edit_env(&p->app, xformat("KEEL_INITIAL_ERRHANDLER=%s", v[0]));
        said(p, "mpi_initial_errhandler", v[0]);
    }
}

/* The library reads the variable when it starts (src/mpi/init). */
void do_stream_buffering(struct parse *p, char **v)
{
    edit_env(&p->all, xformat("KEEL_STREAM_BUFFERING=%ld", whole_number(p, v[0], 0, 2)));
}

/* -x NAME (ranks have mpiexec's environment anyway) or NAME=VALUE. */
void do_x(struct parse *p, char **v)
{
    if (!v[0][0] || v[0][0] == '=')
        refuse(p, "%s is \"%s\"; expected NAME or NAME=VALUE", p->name, v[0]);
    else if (strchr(v[0], '='))
        edit_env(&p->all, v[0]);
    else if (getenv(v[0]))
        edit_env(&p->all, xformat("%s=%s", v[0], getenv(v[0])));
    else
        say("note: %s %s: there is no such variable in the environment", p->name, v[0]);
}

/* What the ranks would find under this name so far. */
static const char *value_now(const struct parse *p, const char *name)
{
    size_t n = strlen(name);
    for (int i = p->all.edits.n; i-- > 0;) {
        const char *edit = p->all.edits.edit[i];
        if (strncmp(edit, name, n) == 0 && (edit[n] == '=' || !edit[n]))
            return edit[n] ? edit + n + 1 : NULL;
    }
    return getenv(name);
}

/* NAME VALUE or NAME=VALUE, also NAME[c]: c goes between the values instead of ':'. */
static void join(struct parse *p, char **v, bool before)
{
    char *value = v[1] ? v[1] : strchr(v[0], '='), separator = ':';
    char *name = xformat("%.*s", (int)(v[1] ? strlen(v[0]) : strcspn(v[0], "=")), v[0]);
    size_t n = strlen(name);
    if (n > 3 && name[n - 1] == ']' && name[n - 3] == '[') {
        separator = name[n - 2];
        name[n - 3] = '\0';
    }
    if (!*name || strpbrk(name, "=[]"))
        refuse(p, "%s: \"%s\" is not the name of a variable", p->name, name);
    value += !v[1];
    const char *old = value_now(p, name);
    if (!old || !*old)
        edit_env(&p->all, xformat("%s=%s", name, value));
    else
        edit_env(&p->all, xformat("%s=%s%c%s", name, before ? value : old, separator, before ? old : value));
    free(name);
}

void do_prepend(struct parse *p, char **v)
{
    join(p, v, true);
}

void do_append(struct parse *p, char **v)
{
    join(p, v, false);
}

void do_unset(struct parse *p, char **v)
{
    if (!v[0][0] || strchr(v[0], '='))
        refuse(p, "%s: \"%s\" is not the name of a variable", p->name, v[0]);
    else
        edit_env(&p->all, v[0]);
}

/* The rules of the file behind what KEEL_COLL says so far, for the first that fits a call counts. */
void do_coll_tuning(struct parse *p, char **v)
{
    FILE *f = fopen(v[0], "r");
    const char *old = value_now(p, "KEEL_COLL");
    char *line = NULL, *rules = xformat("%s", old ? old : "");
    size_t room = 0;
    if (!f)
        refuse(p, "%s %s: %s", p->name, v[0], strerror(errno));
    for (int at = 1; f && getline(&line, &room, f) >= 0; at++) {
        char *word = line + strspn(line, " \t");
        word[strcspn(word, " \t\r\n#")] = '\0';
        if (*word && (!strchr(word, '=') || strchr(word, ',')))
            refuse(p, "%s %s, line %d: \"%s\"; expected collective:BYTES:RANKS=algorithm", p->name, v[0], at,
                   word);
        else if (*word) {
            char *more = xformat("%s%s%s", rules, *rules ? "," : "", word);
            free(rules);
            rules = more;
        }
    }
    if (f)
        fclose(f);
    edit_env(&p->all, xformat("KEEL_COLL=%s", rules));
    free(line);
    free(rules);
}

static void inherit_list(struct app *a, char **v)
{
    a->inherit = INHERIT_LIST;
    a->inherit_list = v[0];
}

void do_envlist(struct parse *p, char **v)
{
    inherit_list(&p->app, v);
}

void do_genvlist(struct parse *p, char **v)
{
    inherit_list(&p->all, v);
}

void do_envnone(struct parse *p, char **v)
{
    (void)v;
    p->app.inherit = INHERIT_NONE;
}

void do_genvnone(struct parse *p, char **v)
{
    (void)v;
    p->all.inherit = INHERIT_NONE;
}

void do_envall(struct parse *p, char **v)
{
    (void)v;
    p->app.inherit = INHERIT_ALL;
}

void do_genvall(struct parse *p, char **v)
{
    (void)v;
    p->all.inherit = INHERIT_ALL;
}
