/* SPDX-License-Identifier: BSD-3-Clause */
/* mpid_listen.h: to be told what a process does: calls of MPI, objects, messages, packets, waits, and events of
 * the library.
 *
 * A listener is a table of functions; those that are not NULL are called.  While nobody listens to something, the
 * library does not even look whether somebody does.  A plug-in brings a listener from outside: a shared object
 * that KEEL_LISTENERS names, with the function MPID_listener (at the end).  It includes nothing but this header,
 * which needs none of MPI's.
 *
 * Rules
 *   - The functions of a process are called one at a time, in the thread in which it happens.
 *   - They may not call MPI, nor the ADI, and what they get is theirs until they return.
 *   - Numbers are the library's own: MPI_ANY_SOURCE and the like have the values of the Standard ABI whatever MPI
 *     the program was compiled for, and so do the values of handles (MPI 5.0, "MPI Application Binary Interface").
 *   - Not told: MPI_T_*, what returns no error code (MPI_Wtime, ..._c2f), and what reads a fact that does not
 *     change, without the library's lock (MPI_Comm_rank, MPI_Comm_size, MPI_Initialized, ...). */
#ifndef MPID_LISTEN_H
#define MPID_LISTEN_H

#include <stddef.h>
#include <stdint.h>

#define MPID_LISTEN_VERSION 1

/* ---- Calls ---- */

enum MPID_ARG_WHAT {
    MPID_ARG_OTHER,   /* a function, an array of strings, of triples, ... */
    MPID_ARG_INTEGER, /* an integer of `size` bytes, or several */
    MPID_ARG_RANK,    /* the same, which may be MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ROOT */
    MPID_ARG_TAG,     /* the same, which may be MPI_ANY_TAG */
    MPID_ARG_BUFFER,  /* data of the program, which may be MPI_BOTTOM, MPI_IN_PLACE */
    MPID_ARG_POINTER, /* another address: of an attribute, of a function's state */
    MPID_ARG_STRING,  /* char * */
    MPID_ARG_HANDLE,  /* of an object */
    MPID_ARG_STATUS   /* MPI_Status *, or an array */
};

enum MPID_ARG_ACCESS {
    MPID_ARG_VALUE, /* the argument is the value itself */
    MPID_ARG_IN,    /* it is the address of what the call reads, */
    MPID_ARG_OUT,   /* writes, */
    MPID_ARG_INOUT  /* or both */
};

enum MPID_OBJECT_KIND {
    MPID_OBJECT_NONE,
    MPID_OBJECT_COMM,
    MPID_OBJECT_GROUP,
    MPID_OBJECT_DATATYPE,
    MPID_OBJECT_OP,
    MPID_OBJECT_REQUEST, /* and messages (MPI_Mprobe) */
    MPID_OBJECT_ERRHANDLER,
    MPID_OBJECT_INFO,
    MPID_OBJECT_WIN,
    MPID_OBJECT_FILE,
    MPID_OBJECT_SESSION
};

enum {
    MPID_ARG_NONE = -1, /* no argument */
    MPID_ARG_SIZE = -2, /* as many as the communicator has ranks, of an intercommunicator the remote group; */
    MPID_ARG_LOCAL = -3, /* as many as the local group has; */
    MPID_ARG_NEIGHBORS =
        -4,           /* as many as this process has neighbors to which it sends, or from which it receives */
    MPID_ARG_ONE = -5 /* one */
};

struct MPID_Arg {
    const char *name;     /* as the standard has it */
    const char *type;     /* in C, as Keel's mpi.h has it: "int", "const void *", "MPI_Request[]" */
    uint8_t what, access; /* enum MPID_ARG_WHAT, MPID_ARG_ACCESS */
    uint8_t size;         /* bytes of an integer */
    uint8_t object;       /* of handles: enum MPID_OBJECT_KIND */
    int8_t length; /* of arrays: which argument has the number of elements, or one of the numbers above */
    int8_t count,
        /* of buffers: which arguments have the number of elements and their type; MPID_ARG_NONE: bytes, or it is
         * not said */
        datatype;
};

struct MPID_Procedure {
    const char *name; /* "MPI_Send", "MPI_Send_c" */
    int nargs;
    const struct MPID_Arg *args;
    uint32_t
        number; /* of its kind in this process, from 0 and dense: an index for what a listener keeps a procedure */
};

struct MPID_Call {
    const struct MPID_Procedure *procedure;
    const void *const *
        arg; /* of each argument the address of its value; what is written there when it was entered is kept */
    uint64_t id; /* of the calls of this process, from 1 */
    int depth; /* 0: the program's own; else it is made by a function that another call of the program has called */
};

/* ---- Objects, messages, packets, waits, events ---- */

/* A handle that a call gives to the program, or that is no more: of MPI_Type_free and its like, of a request that
 * is done. */
struct MPID_Object {
    uint32_t kind;   /* enum MPID_OBJECT_KIND */
    uint64_t handle; /* its value in the Standard ABI */
    const char *call;
};

/* A message that is sent or received in this process, blocking or not, also of a collective. */
struct MPID_Transfer {
    uint64_t id;       /* of those that are under way in this process */
    uint32_t context;  /* of the communicator: equal in all its processes */
    int32_t rank, tag; /* of the sender in the communicator, or MPI_ANY_SOURCE; MPI_ANY_TAG */
    int32_t peer;      /* the receiver of what is sent, of the job's ranks; -1: it is a receive */
    int64_t bytes;     /* of the data, or of the room for it; completed: of what has come */
    int error;         /* completed: 0, or an error class */
    int cancelled;
};

/* What the sender of a message lets the listeners of its receiver know of it, where a listener there has given it
 * (`note`).  What stands in it is theirs to say; KEEL_CHECK's has this. */
struct MPID_Note {
    uint64_t digest;  /* of the type signature, as MPID_Signature_of tells it (mpid_datatype.h), */
    int64_t numbers;  /* and how many numbers it has */
    uint64_t address; /* where the sender has called, in its process, */
    uint32_t module,
        offset; /* and as a digest of the program or library there, and the place in that; module 0: not known */
    uint32_t call; /* which procedure it has called */
    uint16_t flags, what;
    uint8_t first[8]; /* which basic types the first numbers are of */
};

/* A message has met its receive. */
struct MPID_Match {
    uint32_t context;
    int32_t source, tag; /* in the communicator */
    int32_t peer;        /* of the job's ranks; -1: not known */
    int64_t bytes;
    uint64_t transfer;            /* the id of the receive */
    const struct MPID_Note *note; /* NULL: none has come */
};

/* A note that was sent alone (MPID_Note_alone): the numbers beside it are the listener's own, too. */
struct MPID_Noted {
    uint32_t context;
    int32_t source, tag;
    const struct MPID_Note *note;
};

struct MPID_Packet {
    char direction;   /* '>' to the peer, '<' from it */
    int32_t peer;     /* of the job's ranks; -1: not known */
    const char *kind; /* "SHORT", "EAGER", "RTS", ... */
    uint32_t context;
    int32_t source, tag;
    size_t bytes; /* of its body */
};

/* Nothing has come for a call that waits: it begins to look again and again, and to sleep. */
struct MPID_Waits {
    uint64_t transfer; /* the id of the message that is waited for; 0: something else */
};

/* One of the events that MPI_T shows (mpi_info --events), with the value of each of its elements. */
struct MPID_Happening {
    const char *name;
    int n;
    const char *const *elements;
    const int64_t *values;
};

/* ---- The listener ---- */

struct MPID_Listener {
    uint32_t version, size; /* MPID_LISTEN_VERSION, sizeof(struct MPID_Listener) */
    void *self;             /* the first argument of each function */
    void (*call_entered)(void *self, const struct MPID_Call *call);
    void (*call_left)(void *self, const struct MPID_Call *call,
                      int error); /* 0 or an error class; not told if it does not return */
    void (*object_made)(void *self, const struct MPID_Object *object);
    void (*object_freed)(void *self, const struct MPID_Object *object);
    void (*transfer_begun)(void *self, const struct MPID_Transfer *transfer);
    void (*transfer_completed)(void *self, const struct MPID_Transfer *transfer);
    void (*matched)(void *self, const struct MPID_Match *match);
    void (*packet)(void *self, const struct MPID_Packet *packet);
    void (*wait_begun)(void *self, const struct MPID_Waits *waits);
    void (*wait_ended)(void *self); /* something has come, or the call is left */
    void (*happened)(void *self, const struct MPID_Happening *happening);
    int (*hears)(void *self, const char *event); /* of `happened`: does it want this event?  NULL: all */
    void (*ended)(void *self);                   /* the last: MPI ends in this process in the regular way */
    /* A message is about to begin: what its receiver's listeners are to be told of it; 0: nothing.  Of the first
     * listener that says something. */
    int (*note)(void *self, const struct MPID_Transfer *transfer, struct MPID_Note *note);
    void (*noted)(void *self, const struct MPID_Noted *noted);
};

/* What the library does for a plug-in, which need not be linked with it. */
struct MPID_Listen_host {
    uint32_t version, size; /* MPID_LISTEN_VERSION, sizeof(struct MPID_Listen_host) */
    int rank, nranks;       /* of this process in the job, and how many there are */
    int node;
    uint64_t (*now)(
        void); /* nanoseconds, of a clock that all processes of the node share and that does not jump */
    /* Show a line through mpiexec, those of several ranks that are equal once. */
    void (*message)(const char *text);
    /* The following are of calls; NULL where the program uses the ADI alone.  An integer, of an array the one at
     * `index`. */
    int64_t (*integer)(const struct MPID_Call *call, int arg, int64_t index);
    /* How many elements an array has. */
    int64_t (*length)(const struct MPID_Call *call, int arg);
    /* A handle's value in the Standard ABI. */
    uint64_t (*handle)(const struct MPID_Call *call, int arg, int64_t index);
    /* "name=value", as a person reads it, of what the call writes only when it is left (else its address); returns
     * as snprintf does. */
    int (*text)(const struct MPID_Call *call, int arg, char *text, size_t size);
    /* Where the program has called: "file.c:12 (function)", or the address where that cannot be found; returns as
     * snprintf does. */
    int (*place)(const struct MPID_Call *call, char *text, size_t size);
};

/* The function of a plug-in, called before the program's MPI_Init returns: it fills in the table, of which all is
 * 0 but version and size of the library's own, and keeps `host`.  0: good; else the program ends with the words
 * that it has left in `why`. */
int MPID_listener(const struct MPID_Listen_host *host, struct MPID_Listener *listener, char *why,
                  size_t why_size);

#endif
