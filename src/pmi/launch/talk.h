/* talk.h: the answering side of PMI-1 and PMI-2 (pmi/words.h): what ranks that were linked with another MPI library ask for.  No
 * descriptors, no processes: bytes in, bytes out. */
#ifndef TALK_H
#define TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum talk_event { TALK_INIT, TALK_FINALIZED, TALK_ABORT };

struct talk_job {
    int size, universe;
    const int32_t *node_of, *section_of; /* [size] */
    uint64_t id;
    /* An answer for a rank; it may be the answer to what another one has said. */
    void (*send)(int rank, const char *bytes, size_t len);
    /* code: of TALK_ABORT, which ends the job. */
    void (*on)(int rank, enum talk_event event, int code);
};

/* `job` stays where it is until talk_end. */
void talk_begin(const struct talk_job *job);
void talk_end(void);

/* More of what a rank says.  False: it is nonsense, or too much; nothing more is to be taken from it. */
bool talk_take(int rank, const char *bytes, size_t len);

#endif
