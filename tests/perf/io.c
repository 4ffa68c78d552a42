/* SPDX-License-Identifier: BSD-3-Clause */
/* io.c: how fast a library reads and writes a file; with any MPI.  io FILE: a line "what value unit" each.
 *   contiguous_*       1 MiB a call, each rank its own part; "bare" is pwrite and pread
 *   view_BYTES_*       pieces of so many bytes of the ranks lie between each other; independent, and together
 *   append             records of 1 KiB at the shared pointer of an empty file, a second
 *   overlap            part of a nonblocking write that computing beside it hides
 *   open_close         microseconds */
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALL = 1 << 20, CALLS = 32, VIEW = 4 << 20, TIMES = 5 };
static int rank, size;
static const char *name;
static char *buf;

static void show(const char *what, double value, const char *unit)
{
    if (rank == 0)
        printf("%s %.3f %s\n", what, value, unit);
}

static double latest(double t)
{
    double all;
    MPI_Allreduce(&t, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static double now(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static void contiguous(void)
{
    MPI_File f;
    double best[4] = { 1e9, 1e9, 1e9, 1e9 };
    int fd = open(name, O_RDWR | O_CREAT, 0666);
    MPI_File_open(MPI_COMM_WORLD, (char *)name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f);
    for (int k = 0; k < TIMES; k++)
        for (int turn = 0; turn < 4; turn++) {
            int what = (turn + k) % 4; /* who comes first is slower */
            double t = now();
            for (int i = 0; i < CALLS; i++) {
                MPI_Offset at = ((MPI_Offset)rank * CALLS + i) * CALL;
                if (what == 0)
                    MPI_File_write_at(f, at, buf, CALL, MPI_BYTE, MPI_STATUS_IGNORE);
                else if (what == 1 && pwrite(fd, buf, CALL, at) != CALL)
                    abort();
                else if (what == 2)
                    MPI_File_read_at(f, at, buf, CALL, MPI_BYTE, MPI_STATUS_IGNORE);
                else if (what == 3 && pread(fd, buf, CALL, at) != CALL)
                    abort();
            }
            t = latest(MPI_Wtime() - t);
            best[what] = t < best[what] ? t : best[what];
        }
    close(fd);
    MPI_File_close(&f);
    double mb = (double)size * CALLS * CALL / 1e6;
    show("contiguous_write", mb / best[0], "MB/s");
    show("contiguous_bare_write", mb / best[1], "MB/s");
    show("contiguous_read", mb / best[2], "MB/s");
    show("contiguous_bare_read", mb / best[3], "MB/s");
}

static void views(int piece)
{
    MPI_File f;
    MPI_Datatype t, ft;
    char what[64];
    double best[4] = { 1e9, 1e9, 1e9, 1e9 };
    int bytes = piece < 64 ? VIEW / 4 : VIEW;
    MPI_Type_vector(1, piece, piece, MPI_BYTE, &t);
    MPI_Type_create_resized(t, 0, (MPI_Aint)piece * size, &ft);
    MPI_Type_commit(&ft);
    MPI_File_open(MPI_COMM_WORLD, (char *)name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, (MPI_Offset)rank * piece, MPI_BYTE, ft, "native", MPI_INFO_NULL);
    for (int k = 0; k < TIMES; k++)
        for (int w = 0; w < 4; w++) {
            double s = now();
            if (w == 0)
                MPI_File_write_at(f, 0, buf, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            else if (w == 1)
                MPI_File_read_at(f, 0, buf, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            else if (w == 2)
                MPI_File_write_at_all(f, 0, buf, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            else
                MPI_File_read_at_all(f, 0, buf, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            s = latest(MPI_Wtime() - s);
            best[w] = s < best[w] ? s : best[w];
        }
    MPI_File_close(&f);
    static const char *const names[] = { "write", "read", "write_all", "read_all" };
    for (int w = 0; w < 4; w++) {
        snprintf(what, sizeof what, "view_%d_%s", piece, names[w]);
        show(what, (double)size * bytes / 1e6 / best[w], "MB/s");
    }
    MPI_Type_free(&t);
    MPI_Type_free(&ft);
}

static void append(void)
{
    MPI_File f;
    enum { RECORDS = 1000 };
    MPI_File_open(MPI_COMM_WORLD, (char *)name, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f);
    double best = 1e9;
    for (int k = 0; k < TIMES; k++) {
        MPI_File_set_size(f, 0);
        MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
        double t = now();
        for (int i = 0; i < RECORDS; i++)
            MPI_File_write_shared(f, buf, 1024, MPI_BYTE, MPI_STATUS_IGNORE);
        t = latest(MPI_Wtime() - t);
        best = t < best ? t : best;
    }
    MPI_File_close(&f);
    show("append", (double)size * RECORDS / best, "1/s");
}

static volatile double sink;

static void compute(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++)
        x = x * 1.0000001 + 1e-9;
    sink = x;
}

/* Rank 0 alone: the other core is for the write. */
static void overlap(void)
{
    MPI_File f;
    MPI_Request r;
    double write = 1e9, both = 1e9, work = 1e9;
    long n = 1000000;
    if (rank > 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        return;
    }
    MPI_File_open(MPI_COMM_SELF, (char *)name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f);
    for (int k = 0; k < 2 * TIMES; k++) {
        double t = MPI_Wtime();
        MPI_File_iwrite_at(f, 0, buf, CALLS * CALL, MPI_BYTE, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        t = MPI_Wtime() - t;
        write = t < write ? t : write;
    }
    double t = MPI_Wtime();
    compute(n);
    n = (long)((double)n * write / (MPI_Wtime() - t));
    for (int k = 0; k < 2 * TIMES; k++) {
        t = MPI_Wtime();
        compute(n);
        t = MPI_Wtime() - t;
        work = t < work ? t : work;
        t = MPI_Wtime();
        MPI_File_iwrite_at(f, 0, buf, CALLS * CALL, MPI_BYTE, &r);
        compute(n);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        t = MPI_Wtime() - t;
        both = t < both ? t : both;
    }
    MPI_File_close(&f);
    double shorter = write < work ? write : work;
    show("overlap", (write + work - both) / shorter, "part");
    MPI_Barrier(MPI_COMM_WORLD);
}

static void open_close(void)
{
    MPI_File f;
    double best = 1e9;
    for (int k = 0; k < 4 * TIMES; k++) {
        double t = now();
        MPI_File_open(MPI_COMM_WORLD, (char *)name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f);
        MPI_File_close(&f);
        t = latest(MPI_Wtime() - t);
        best = t < best ? t : best;
    }
    show("open_close", best * 1e6, "us");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    name = argc > 1 ? argv[1] : "io.data";
    buf = malloc((size_t)CALLS * CALL);
    memset(buf, 1, (size_t)CALLS * CALL);
    contiguous();
    views(8);
    views(64);
    views(4096);
    append();
    overlap();
    open_close();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
    MPI_Finalize();
    return 0;
}
