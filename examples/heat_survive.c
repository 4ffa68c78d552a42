/* SPDX-License-Identifier: BSD-3-Clause */
/* heat_survive.c: a heat solver that loses ranks and ends with the right field all the same.
 *
 * The heat equation on a square, by explicit time steps; each rank has some rows of the grid.  Every few steps each
 * rank gives a copy of its rows to a partner, half of the ranks away and so on another host where there are several.
 * When ranks fail, those that live take the rows of the last copies, also for the rows of the dead, and go on from
 * there:
 *
 *   without replacements  the rows are divided anew among those that live
 *   --respawn             new processes are spawned in the place of the dead, with their ranks
 *
 * How no member is left behind: the work is done in spans, from one copy to the next, and all members end each span
 * with MPIX_Comm_agree, also those that have met an error.  Who has met one revokes the communicator, so that nobody
 * waits in the span for somebody who has left it.  All learn the same: that all is well with all, and then the new
 * copies count; or that it is not, and then all shrink the communicator and begin again with the last copies that
 * count.  If that fails, because more ranks do, it ends just like any other span.
 *
 * --kill R@S lets rank R (of those at the beginning) kill itself in step S; R@Sc while it makes the next copy after
 * that, R@Sr while it restores rows after that, R@Sj while replacements join after that.  A rank that is named twice
 * has a replacement that dies, too.
 *
 * At the end rank 0 repeats the computation alone and compares all bits: whoever computes a point, does so from the
 * same values in the same order.
 *
 *     mpicc -O2 -o heat_survive heat_survive.c
 *     mpiexec -with-ft ulfm -n 8 ./heat_survive --kill 3@40,0@77             ends with 6 ranks
 *     mpiexec -with-ft ulfm -n 8 ./heat_survive --respawn --kill 3@40,0@77   ends with 8
 *     ... ./heat_survive [--respawn] [--kill LIST] [N [STEPS [EVERY]]]       default 96 200 10: points a side, steps,
 *                                                                            steps from one copy to the next */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KILLS_MOST = 64, RANKS_MOST = 1024, HALO = 1, COPY, RESTORE };

struct kill {
    int name, step;
    char where; /* s: in a step, c: copies are made, r: rows are restored, j: replacements join */
};

/* The rows of one part of the grid, which was divided into as many parts as there were ranks. */
struct copy {
    int part; /* -1: none */
    double *rows;
};

struct checkpoint {
    int step, parts;     /* parts 0: there is none yet */
    struct copy copy[2]; /* of my own part, and of the partner's */
};

struct solver {
    int n, steps, every, respawn, is_new;
    struct kill kill[KILLS_MOST];
    int kills, name; /* name: the rank that I had, or that the process had whose place I have */
    MPI_Comm comm;
    int rank, size, places;
    MPI_Group first_ones;  /* those whose ranks are the names: of the last communicator without gaps */
    int step, first, rows; /* of the n rows of the grid */
    double *u, *next;      /* (rows + 2) x (n + 2) */
    struct checkpoint saved, fresh;
    double *whole; /* rank 0, at the end */
};

static void *memory(size_t n)
{
    void *p = calloc(n, 1);
    if (!p) {
        fprintf(stderr, "heat_survive: no memory for %zu bytes\n", n);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* ---- The solver ---- */

static int share(int n, int parts, int part, int *first)
{
    *first = (int)((long)n * part / parts);
    return (int)((long)n * (part + 1) / parts) - *first;
}

static double *row(const struct solver *s,
                   int y) /* of the grid; first - 1 and first + rows are the neighbours' */
{
    return s->u + (size_t)(y - s->first + 1) * (size_t)(s->n + 2);
}

static int row_count(const struct solver *s, int rows) /* numbers in so many rows */
{
    return rows * (s->n + 2);
}

static void divide(struct solver *s)
{
    free(s->u);
    free(s->next);
    s->rows = share(s->n, s->size, s->rank, &s->first);
    s->u = memory(sizeof *s->u * (size_t)row_count(s, s->rows + 2));
    s->next = memory(sizeof *s->next * (size_t)row_count(s, s->rows + 2));
}

/* Two hot squares, so that no row is like another one. */
static void initial(struct solver *s)
{
    s->step = 0;
    for (int y = s->first; y < s->first + s->rows; y++)
        for (int x = 0; x < s->n; x++) {
            int hot = 4 * y > s->n && 2 * y < s->n && 3 * x<s->n, warm = 5 * y> 3 * s->n && 2 * x > s->n;
            row(s, y)[x + 1] = hot ? 100.0 + x : warm ? 30.0 + y : 1.0 / (1 + x + y);
        }
}

static void relax(struct solver *s)
{
    size_t width = (size_t)s->n + 2;
    for (int y = 1; y <= s->rows; y++)
        for (int x = 1; x <= s->n; x++) {
            const double *u = s->u + (size_t)y * width + x;
            s->next[(size_t)y * width + x] =
                u[0] + 0.2 * (u[1] + u[-1] + *(u + width) + *(u - width) - 4 * u[0]);
        }
    double *t = s->u;
    s->u = s->next;
    s->next = t;
    s->step++;
}

/* ---- Failures ---- */

static void die_if_told(const struct solver *s, char where)
{
    for (int i = 0; i < s->kills; i++)
        if (s->kill[i].name == s->name) { /* the first one is mine; later ones are for my replacements */
            if (s->kill[i].where == where && s->step >= s->kill[i].step)
                raise(SIGKILL);
            return;
        }
}

/* The end of a span: the same at all members that live. Nonzero: all is well with all. */
static int all_well(MPI_Comm comm, int err)
{
    int flag = err == MPI_SUCCESS;
    if (err)
        MPIX_Comm_revoke(comm);
    return MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag;
}

/* What is not over by an error will not be before the communicator is revoked. Only then the buffers are free. */
static int wait_for(const struct solver *s, int n, MPI_Request *request)
{
    int err = MPI_Waitall(n, request, MPI_STATUSES_IGNORE);
    for (int more = err; more; more = MPI_Waitall(n, request, MPI_STATUSES_IGNORE))
        MPIX_Comm_revoke(s->comm);
    return err;
}

static void no_requests(int n, MPI_Request *request)
{
    for (int i = 0; i < n; i++)
        request[i] = MPI_REQUEST_NULL;
}

/* ---- A span: steps, and then a copy ---- */

static int exchange(const struct solver *s)
{
    MPI_Request r[4];
    int north = s->rank > 0 ? s->rank - 1 : MPI_PROC_NULL, count = row_count(s, 1);
    int south = s->rank < s->size - 1 ? s->rank + 1 : MPI_PROC_NULL, last = s->first + s->rows - 1;
    no_requests(4, r);
    int err = MPI_Irecv(row(s, s->first - 1), count, MPI_DOUBLE, north, HALO, s->comm, &r[0]);
    err |= MPI_Irecv(row(s, last + 1), count, MPI_DOUBLE, south, HALO, s->comm, &r[1]);
    err |= MPI_Isend(row(s, s->first), count, MPI_DOUBLE, north, HALO, s->comm, &r[2]);
    err |= MPI_Isend(row(s, last), count, MPI_DOUBLE, south, HALO, s->comm, &r[3]);
    return err | wait_for(s, 4, r);
}

static int steps(struct solver *s)
{
    int err = 0;
    do {
        die_if_told(s, 's');
        err = exchange(s);
        if (!err)
            relax(s);
    } while (!err && s->step < s->steps && s->step % s->every);
    return err;
}

static void forget(struct checkpoint *c)
{
    for (int i = 0; i < 2; i++) {
        free(c->copy[i].rows);
        c->copy[i] = (struct copy){ -1, NULL };
    }
    c->step = c->parts = 0;
}

/* It does not count before all members have theirs. */
static int make_copies(struct solver *s)
{
    struct checkpoint *c = &s->fresh;
    int first, far = s->size / 2, to = (s->rank + far) % s->size, from = (s->rank + s->size - far) % s->size;
    int count = row_count(s, s->rows), from_count = row_count(s, share(s->n, s->size, from, &first));
    forget(c);
    c->step = s->step;
    c->parts = s->size;
    c->copy[0] = (struct copy){ s->rank, memory(sizeof(double) * (size_t)count) };
    memcpy(c->copy[0].rows, row(s, s->first), sizeof(double) * (size_t)count);
    if (s->size == 1)
        return 0;
    c->copy[1] = (struct copy){ from, memory(sizeof(double) * (size_t)from_count) };
    MPI_Request r[2];
    no_requests(2, r);
    int err = MPI_Isend(c->copy[0].rows, count, MPI_DOUBLE, to, COPY, s->comm, &r[0]);
    die_if_told(s, 'c');
    err |= MPI_Irecv(c->copy[1].rows, from_count, MPI_DOUBLE, from, COPY, s->comm, &r[1]);
    return err | wait_for(s, 2, r);
}

static void copies_count(struct solver *s)
{
    forget(&s->saved);
    s->saved = s->fresh;
    s->fresh = (struct checkpoint){ 0, 0, { { -1, NULL }, { -1, NULL } } };
}

/* ---- Restoring the rows of the last copies ---- */

/* Where each part is kept: at its owner, or else at the partner. */
static int find_parts(struct solver *s, int **keeper, struct checkpoint *last)
{
    const struct checkpoint *c = &s->saved;
    int mine[4] = { c->step, c->parts, c->copy[0].part, c->copy[1].part };
    int *of = memory(sizeof mine * (size_t)s->size);
    int err = MPI_Allgather(mine, 4, MPI_INT, of, 4, MPI_INT, s->comm);
    last->step = last->parts = 0;
    for (int r = 0; r < s->size && !err; r++) /* replacements have none, all others the same */
        if (of[4 * r + 1] > 0) {
            last->step = of[4 * r];
            last->parts = of[4 * r + 1];
        }
    *keeper = memory(sizeof **keeper * (size_t)(last->parts + 1));
    for (int p = 0; p < last->parts; p++) {
        (*keeper)[p] = -1;
        for (int which = 3; which > 1; which--)
            for (int r = 0; r < s->size; r++)
                if (of[4 * r + which] == p)
                    (*keeper)[p] = r;
    }
    free(of);
    return err;
}

/* A part that nobody has: this cannot be survived.  All come to the barrier, so that rank 0 has told why before the
 * first one ends the others. */
static int too_many_lost(const struct solver *s, const struct checkpoint *last, int part)
{
    int first, rows = share(s->n, last->parts, part, &first);
    if (s->rank == 0)
        fprintf(stderr,
                "heat_survive: rows %d to %d are lost: rank %d of %d, which had them in step %d, has failed, "
                "and so has rank %d, which had the copy\n",
                first, first + rows - 1, part, last->parts, last->step,
                (part + last->parts / 2) % last->parts);
    int err = MPI_Barrier(s->comm);
    if (!err)
        MPI_Abort(s->comm, 3);
    return err;
}

/* The rows that part `p` of `parts` and part `q` of `qarts` have in common; how many. */
static int common(int n, int p, int parts, int q, int qarts, int *first)
{
    int a, b, rows = share(n, parts, p, &a), qows = share(n, qarts, q, &b);
    int end = a + rows < b + qows ? a + rows : b + qows;
    *first = a > b ? a : b;
    return end - *first;
}

/* My part `p` of the last copies to those who need rows of it. */
static int send_part(const struct solver *s, int p, const struct checkpoint *last, MPI_Request *request)
{
    const struct copy *c = &s->saved.copy[s->saved.copy[0].part == p ? 0 : 1];
    int begin, first, err = 0;
    share(s->n, last->parts, p, &begin);
    for (int r = 0; r < s->size; r++) {
        int rows = common(s->n, p, last->parts, r, s->size, &first);
        if (rows > 0)
            err |= MPI_Isend(c->rows + row_count(s, first - begin), row_count(s, rows), MPI_DOUBLE, r,
                             RESTORE + p, s->comm, &request[r]);
    }
    return err;
}

static int restore(struct solver *s)
{
    struct checkpoint last;
    int *keeper, first, lost = -1;
    divide(s);
    int err = find_parts(s, &keeper, &last);
    if (s->step < last.step) /* one that is new */
        s->step = last.step;
    die_if_told(s, 'r');
    for (int p = 0; p < last.parts && !err; p++)
        if (keeper[p] < 0)
            lost = p;
    if (err || lost >= 0 || last.parts == 0) {
        free(keeper);
        if (lost >= 0)
            return too_many_lost(s, &last, lost);
        initial(s);
        return err;
    }
    int most = 2 * s->size + last.parts, n = 0;
    MPI_Request *request = memory(sizeof *request * (size_t)most);
    no_requests(most, request);
    for (int p = 0; p < last.parts; p++) {
        int rows = common(s->n, p, last.parts, s->rank, s->size, &first);
        if (rows > 0)
            err |= MPI_Irecv(row(s, first), row_count(s, rows), MPI_DOUBLE, keeper[p], RESTORE + p, s->comm,
                             &request[2 * s->size + p]);
        if (keeper[p] == s->rank)
            err |= send_part(s, p, &last, request + s->size * n++);
    }
    err |= wait_for(s, most, request);
    s->step = last.step;
    free(request);
    free(keeper);
    return err;
}

/* ---- Going on with other members ---- */

static void use(struct solver *s, MPI_Comm comm)
{
    if (s->comm != MPI_COMM_WORLD && s->comm != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm);
    s->comm = comm;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &s->rank);
    MPI_Comm_size(comm, &s->size);
}

/* One without gaps. */
static void use_whole(struct solver *s, MPI_Comm comm)
{
    use(s, comm);
    if (s->first_ones != MPI_GROUP_NULL)
        MPI_Group_free(&s->first_ones);
    MPI_Comm_group(comm, &s->first_ones);
    s->places = s->size;
}

static void end_comm(MPI_Comm *comm)
{
    if (*comm == MPI_COMM_NULL)
        return;
    MPIX_Comm_revoke(*comm); /* nobody waits on it any more */
    MPI_Comm_free(comm);
}

/* Survivors and replacements, with the ranks that the first ones had. */
static MPI_Comm in_order(MPI_Comm all, int name)
{
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    int err = MPI_Comm_split(all, 0, name, &comm);
    if (!all_well(all, err))
        end_comm(&comm);
    return comm;
}

/* The names of those of `before` that are not in `now`; how many. */
static int missing(const struct solver *s, MPI_Group before, MPI_Group now, int *names)
{
    MPI_Group gone;
    int n, ranks[RANKS_MOST];
    MPI_Group_difference(before, now, &gone);
    MPI_Group_size(gone, &n);
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    MPI_Group_translate_ranks(gone, n, ranks, s->first_ones, names);
    if (n > 0)
        MPI_Group_free(&gone);
    return n;
}

static void use_up_kill(struct solver *s, int name)
{
    for (int i = 0; i < s->kills; i++)
        if (s->kill[i].name == name) {
            s->kills--;
            memmove(&s->kill[i], &s->kill[i + 1], sizeof s->kill[0] * (size_t)(s->kills - i));
            return;
        }
}

/* One process for each name; by its arguments it knows all names, and the kills that are left. */
static int spawn(struct solver *s, char *program, MPI_Comm left, int n, const int *names, MPI_Comm *inter)
{
    static char list[RANKS_MOST * 12], kills[KILLS_MOST * 24 + 1], number[3][12];
    char *at = list,
         *args[] = { "--respawn", "--place", list, "--kill", kills, number[0], number[1], number[2], NULL };
    for (int i = 0; i < n; i++)
        at += sprintf(at, "%d,", names[i]);
    kills[0] = 0;
    at = kills;
    for (int i = 0; i < s->kills; i++)
        at += sprintf(at, "%d@%d%c,", s->kill[i].name, s->kill[i].step, s->kill[i].where);
    sprintf(number[0], "%d", s->n);
    sprintf(number[1], "%d", s->steps);
    sprintf(number[2], "%d", s->every);
    return MPI_Comm_spawn(program, args, n, MPI_INFO_NULL, 0, left, inter, MPI_ERRCODES_IGNORE);
}

/* Those that live, with a new process in the place of each that is lost; or nothing, at all of them, because more have
 * failed meanwhile.  Each step ends as a span does, so that nobody waits for one who has not come as far. */
static MPI_Comm replace(struct solver *s, char *program, int n, const int *names)
{
    MPI_Comm left = s->comm, inter = MPI_COMM_NULL, all = MPI_COMM_NULL, comm = MPI_COMM_NULL;
    if (all_well(left, spawn(s, program, left, n, names, &inter))) {
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        die_if_told(s, 'j');
        int err = MPI_Intercomm_merge(inter, 0, &all);
        if (err)
            MPIX_Comm_revoke(inter);
        if (all_well(left, err))
            comm = in_order(all, s->name);
    }
    end_comm(&all);
    end_comm(&inter);
    return comm;
}

/* What a new process does first: the other half of replace. */
static void join(struct solver *s, MPI_Comm parents, const char *names)
{
    MPI_Comm all, comm = MPI_COMM_NULL;
    int place;
    MPI_Comm_rank(MPI_COMM_WORLD, &place);
    for (; place > 0; place--)
        names = strchr(names, ',') + 1;
    s->name = atoi(names);
    s->is_new = 1;
    MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
    if (MPI_Intercomm_merge(parents, 1, &all) == MPI_SUCCESS)
        comm = in_order(all, s->name);
    if (comm == MPI_COMM_NULL)
        exit(0); /* those that live have begun again, with other processes in our places */
    end_comm(&all);
    end_comm(&parents);
    use_whole(s, comm);
}

/* With those that live, and with replacements if there are to be some: until that comes off without a failure. */
static void go_on(struct solver *s, char *program)
{
    int names[RANKS_MOST];
    do {
        MPI_Group before, now;
        MPI_Comm left, whole;
        MPIX_Comm_shrink(s->comm, &left);
        MPI_Comm_group(s->comm, &before);
        MPI_Comm_group(left, &now);
        int n = missing(s, before, now, names);
        for (int i = 0; i < n; i++)
            use_up_kill(s, names[i]);
        n = missing(s, s->first_ones, now, names);
        use(s, left);
        MPI_Group_free(&before);
        MPI_Group_free(&now);
        if (s->respawn && n > 0 && (whole = replace(s, program, n, names)) != MPI_COMM_NULL)
            use_whole(s, whole);
    } while (s->respawn && s->size < s->places);
}

/* ---- The result ---- */

static int collect(struct solver *s, int *new_ones)
{
    int *count = memory(2 * sizeof(int) * (size_t)s->size), *at = count + s->size, first;
    for (int r = 0; r < s->size; r++) {
        count[r] = row_count(s, share(s->n, s->size, r, &first));
        at[r] = row_count(s, first);
    }
    free(s->whole);
    s->whole = s->rank == 0 ? memory(sizeof(double) * (size_t)row_count(s, s->n)) : NULL;
    int err = MPI_Gatherv(row(s, s->first), row_count(s, s->rows), MPI_DOUBLE, s->whole, count, at,
                          MPI_DOUBLE, 0, s->comm);
    if (!err)
        err = MPI_Reduce(&s->is_new, new_ones, 1, MPI_INT, MPI_SUM, 0, s->comm);
    free(count);
    return err;
}

/* The same computed by one alone has the same bits. */
static int check(const struct solver *s, int new_ones)
{
    struct solver alone = { .n = s->n, .steps = s->steps, .size = 1 };
    divide(&alone);
    initial(&alone);
    while (alone.step < alone.steps)
        relax(&alone);
    int wrong = memcmp(row(&alone, 0), s->whole, sizeof(double) * (size_t)row_count(s, s->n)) != 0;
    printf("heat_survive: %d x %d points, %d steps; %d ranks at first, %d at the end, %d of them "
           "replacements: %s\n",
           s->n, s->n, s->steps, s->places, s->size, new_ones, wrong ? "WRONG" : "right");
    free(alone.u);
    free(alone.next);
    return wrong;
}

static int solve(struct solver *s, char *program)
{
    int new_ones = 0;
    for (int again = 1;;) {
        int err = again ? restore(s) : steps(s);
        if (!err)
            err = s->step == s->steps ? collect(s, &new_ones) : make_copies(s);
        again = !all_well(s->comm, err);
        if (again)
            go_on(s, program);
        else if (s->step == s->steps)
            return s->rank == 0 ? check(s, new_ones) : 0;
        else
            copies_count(s);
    }
}

/* ---- The beginning ---- */

static int read_kills(struct solver *s, const char *list)
{
    while (*list) {
        struct kill k = { 0, 0, 's' };
        int used = 0;
        if (s->kills == KILLS_MOST || sscanf(list, "%d@%d%n", &k.name, &k.step, &used) != 2)
            return 0;
        list += used;
        if (*list && strchr("scrj", *list))
            k.where = *list++;
        if (*list && *list++ != ',')
            return 0;
        s->kill[s->kills++] = k;
    }
    return 1;
}

/* Nonzero: they can be used.  *place: a replacement's. */
static int read_arguments(struct solver *s, int argc, char **argv, const char **place)
{
    int *number[] = { &s->n, &s->steps, &s->every }, numbers = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--respawn") == 0)
            s->respawn = 1;
        else if (strcmp(argv[i], "--place") == 0 && i + 1 < argc)
            *place = argv[++i];
        else if (strcmp(argv[i], "--kill") == 0 && i + 1 < argc) {
            if (!read_kills(s, argv[++i]))
                return 0;
        } else if (numbers == 3 || (*number[numbers++] = atoi(argv[i])) < 1)
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct solver s = {
        .n = 96, .steps = 200, .every = 10, .comm = MPI_COMM_NULL, .first_ones = MPI_GROUP_NULL
    };
    const char *place = "";
    MPI_Comm parents;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    forget(&s.saved);
    forget(&s.fresh);
    int good = read_arguments(&s, argc, argv, &place);
    if (parents != MPI_COMM_NULL) {
        join(&s, parents, place);
    } else {
        use_whole(&s, MPI_COMM_WORLD);
        s.name = s.rank;
    }
    if (!good || s.n < s.size || s.size > RANKS_MOST) {
        if (s.rank == 0)
            fprintf(stderr,
                    "usage: heat_survive [--respawn] [--kill RANK@STEP[c|r|j],...] [N [STEPS [EVERY]]], "
                    "N at least the number of ranks, of which there are %d at most\n",
                    RANKS_MOST);
        MPI_Finalize();
        return 2;
    }
    int wrong = solve(&s, argv[0]);
    forget(&s.saved);
    forget(&s.fresh);
    free(s.u);
    free(s.next);
    free(s.whole);
    MPI_Group_free(&s.first_ones);
    if (s.comm != MPI_COMM_WORLD)
        MPI_Comm_free(&s.comm);
    MPI_Finalize();
    return wrong;
}
