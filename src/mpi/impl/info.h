/* info.h: info objects (bodies in src/mpi/info come later; the handle kind exists already). */
#ifndef MPIR_INFO_H
#define MPIR_INFO_H

#include "object.h"

typedef struct MPIR_Info {
    struct keel_object obj;
    void *pairs;
} MPIR_Info;

#endif
