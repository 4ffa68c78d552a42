/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h: files (chapter 15), as other chapters meet them. */
#ifndef MPIR_FILE_H
#define MPIR_FILE_H

#include <stdbool.h>
#include "comm.h"
#include "errhandler.h"
#include "object.h"
#include "type.h"

struct io_rep; /* how data look in the file: src/mpi/io */
struct io_ranges;
struct io_split; /* a split collective that has begun */

/* What a process sees of a file.  Bytes of data are counted as they follow each other in the view, from 0. */
typedef struct MPIR_File_view {
    MPI_Offset disp;
    MPIR_Datatype *etype, *filetype; /* as the program gave them */
    MPIR_Datatype *etype_there,
        *filetype_there; /* the same laid out as in the file; equal to them where data is native */
    const struct io_rep *rep;
    bool overlaps; /* some byte of the file is in the view twice */
    bool tangled;  /* an element of the filetype begins before the end of the one before it */
} MPIR_File_view;

/* A hint that is a choice. */
enum MPIR_FILE_USE { MPIR_FILE_AUTOMATIC = 0, MPIR_FILE_ENABLE, MPIR_FILE_DISABLE };

typedef struct MPIR_File_hints {
    int64_t cb_nodes; /* processes that access the file for the others; 0: chosen */
    int64_t cb_buffer_size, ind_rd_buffer_size;
    int64_t striping_unit, striping_factor; /* 0: not known */
    enum MPIR_FILE_USE cb_read, cb_write;   /* collective buffering */
    enum MPIR_FILE_USE ds_read;             /* data sieving */
    enum MPIR_FILE_USE map_write;           /* pieces are written through a mapping */
    enum MPIR_FILE_USE close_to_open;       /* what others wrote is seen after a refresh only */
} MPIR_File_hints;

/* Nothing in it grows with the number of processes. */
typedef struct MPIR_File {
    struct keel_object obj; /* one reference is the program's; each operation under way has one */
    MPIR_Comm *comm;        /* its own */
    MPIR_Errhandler *errhandler;
    char *name;
    int fd, amode;
    bool readable;  /* by the system, whatever amode says */
    bool refreshed; /* the system may have old pages, until a lock makes it look for newer ones */
    bool ram;       /* it is in memory and nowhere else */
    bool
        mappable; /* the file system keeps one copy of a page for all that map, read or write it; if it is readable */
    bool
        near; /* so it is in all processes, which are on one node: each may as well access the file by itself */
    bool atomic;
    MPIR_File_view view;
    MPI_Offset position; /* the individual pointer, in etypes */
    MPIR_File_hints hints;
    uint32_t accesses;              /* in two phases, so far */
    enum MPIR_FILE_USE together[2]; /* what rank 0's hints say of collective reads and writes */
    struct io_split *split;
    /* The shared pointer (src/mpi/io/shared_pointer.c). */
    void *pointer;          /* where this process can update it by itself; NULL: it cannot */
    uint64_t pointer_block; /* memory of the node that it is in; 0: it is not */
    void *pointer_mine;     /* rank 0: then its memory */
    MPID_Memory pointer_memory;
    MPID_Remote pointer_remote;
    struct io_ranges *ranges; /* locks of atomic mode */
    bool
        ranges_all; /* all processes see them; false: they are of this one, and the file system's are needed too */
} MPIR_File;

void MPIR_File_release(MPIR_File *f);

/* Operations of files that other threads of the library have not completed yet. */
extern _Atomic int MPIR_File_under_way;

/* End those threads; all operations are over, and no other thread begins one.  Without a lock but the device's. */
void MPIR_File_stop(void);

/* The file of a request of handle_type MPIR_IO. */
struct MPIR_HANDLE;
MPIR_File *MPIR_File_of_request(const struct MPIR_HANDLE *request);

#endif
