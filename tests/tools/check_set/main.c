/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: runs cases: those of one kind (right, wrong, astray), or the one that is named. */
#include "set.h"
#include <stdio.h>

MPI_Comm comm;
int rank, size, next, prev, *a, *b;
double *d, *e;
MPI_Request r[4];
MPI_Datatype column;
MPI_Status *const no = MPI_STATUS_IGNORE, *const none = MPI_STATUSES_IGNORE;

static struct set_case *first;

/* In the order of their names, which is the same in each rank and for each linker. */
void set_add(struct set_case *c)
{
    struct set_case **at = &first;
    while (*at && strcmp((*at)->name, c->name) < 0)
        at = &(*at)->next;
    c->next = *at;
    *at = c;
}

/* What has come is looked at; requests of collectives that do not fit may never be complete. */
static void look(double seconds)
{
    int flag;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        for (int i = 0; i < 4; i++)
            MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
    }
}

static void run(const struct set_case *c)
{
    if (size < c->ranks)
        return;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 4; i++)
        r[i] = MPI_REQUEST_NULL;
    a = calloc(1000, sizeof *a); /* of each case alone, as operations may be left */
    b = calloc(1000, sizeof *b);
    d = calloc(1000, sizeof *d);
    e = calloc(1000, sizeof *e);
    for (int i = 0; i < 1000; i++)
        d[i] = a[i] = i + 1000 * rank;
    c->run();
    if (c->how == SET_ASTRAY) {
        look(0.01);
        MPI_Barrier(MPI_COMM_WORLD);
        look(0.01);
    } else {
        MPI_Comm_free(&comm);
        free(a);
        free(b);
        free(d);
        free(e);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const char *const names[] = { "right", "wrong", "astray", "ends" };
    enum set_how how = SET_RIGHT;
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        for (const struct set_case *c = first; c; c = c->next)
            printf("%s %s %s %d\n", names[c->how], c->name, c->file, c->ranks);
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    prev = (rank + size - 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_vector(10, 1, 10, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (const struct set_case *c = first; c; c = c->next)
        if (strcmp(argv[1], c->name) == 0 || (c->how != SET_ENDS && strcmp(argv[1], names[c->how]) == 0)) {
            how = c->how;
            run(c);
        }
    MPI_Type_free(&column);
    if (how == SET_ASTRAY)
        MPI_Abort(MPI_COMM_WORLD, 9);
    MPI_Finalize();
    return 0;
}
