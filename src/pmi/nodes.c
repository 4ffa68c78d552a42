/* nodes.c: on which node each rank is, as launchers tell it. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "server.h"
#include "util/err.h"

static bool take_number(const char **at, char end, int32_t *n)
{
    char *stop;
    long value = strtol(*at, &stop, 10);
    if (stop == *at || *stop != end || value < 0 || value > INT32_MAX)
        return false;
    *n = (int32_t)value;
    *at = stop + 1;
    return true;
}

/* The blocks are gone through again and again, until each rank has its node. */
static bool map(const char *blocks, int32_t *node_of, int32_t size)
{
    for (int32_t rank = 0; rank < size;) {
        const char *at = blocks;
        int32_t before = rank;
        while (*at == ',' && at[1] == '(') {
            int32_t first, nodes, each;
            at += 2;
            if (!take_number(&at, ',', &first) || !take_number(&at, ',', &nodes) ||
                !take_number(&at, ')', &each) || first > INT32_MAX - nodes)
                return false;
            for (int32_t n = 0; n < nodes && each > 0 && rank < size; n++)
                for (int32_t i = 0; i < each && rank < size; i++)
                    node_of[rank++] = first + n;
        }
        if (strcmp(at, ")") != 0 || rank == before)
            return false;
    }
    return true;
}

enum { NODE_MOST = 1 << 24 };

int pmi_renumber(int32_t *node_of, int32_t size)
{
    int32_t nodes = 0, most = 0;
    for (int32_t r = 0; r < size; r++)
        most = node_of[r] > most ? node_of[r] : most;
    int32_t *as = most <= NODE_MOST ? malloc(((size_t)most + 1) * sizeof *as) : NULL;
    if (!as)
        return ku_err_set(most <= NODE_MOST ? ENOMEM : EPROTO, NULL,
                          "a rank's node has the number %d: too many", most);
    for (int32_t n = 0; n <= most; n++)
        as[n] = -1;
    for (int32_t r = 0; r < size; r++) {
        int32_t *to = &as[node_of[r]];
        if (*to < 0)
            *to = nodes++;
        node_of[r] = *to;
    }
    free(as);
    return 0;
}

int pmi_mapping(const char *mapping, int32_t *node_of, int32_t size)
{
    static const char vector[] = "(vector";
    for (int32_t r = 0; r < size; r++)
        node_of[r] = 0;
    if (size == 1)
        return 0;
    if (strncmp(mapping, vector, sizeof vector - 1) != 0 || !map(mapping + sizeof vector - 1, node_of, size))
        return ku_err_set(
            EPROTO, NULL,
            "the launcher says that the ranks' nodes are \"%.100s\"; expected (vector,(0,2,4)) or the like",
            mapping);
    return pmi_renumber(node_of, size);
}
