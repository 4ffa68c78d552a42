/* SPDX-License-Identifier: BSD-3-Clause */
/* Ten thousand keys: set, found, counted off, copied and deleted from the front and the back, in no time. */
/* ranks: 1 2 */
#include "../check.h"

enum { KEYS = 10000 };

static const char *name(char *text, const char *word, int i)
{
    sprintf(text, "%s %d", word, i);
    return text;
}

static void expect(MPI_Info info, int i, int n)
{
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_KEY], got[MPI_MAX_INFO_VAL];
    int flag = 0, len = sizeof got;
    MPI_Info_get_nthkey(info, n, got);
    CHECK(!strcmp(got, name(key, "key", i)), "%d: %s", i, got);
    MPI_Info_get_string(info, key, &len, got, &flag);
    CHECK(flag && !strcmp(got, name(value, "value", i)), "%d: %s", i, got);
}

int main(int argc, char **argv)
{
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_KEY];
    int n = -1;
    check_init(&argc, &argv);
    MPI_Info_create(&info);
    for (int i = 0; i < KEYS; i++)
        MPI_Info_set(info, name(key, "key", i), name(value, "value", i));
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, KEYS);
    for (int i = 0; i < KEYS; i++)
        expect(info, i, i);
    MPI_Info_dup(info, &copy);
    for (int i = 0; i < KEYS; i += 2)
        MPI_Info_delete(info, name(key, "key", i));
    for (int i = 1; i < KEYS; i += 2)
        expect(info, i, i / 2);
    for (int i = KEYS - 1; i > 0; i -= 2)
        MPI_Info_delete(info, name(key, "key", i));
    MPI_Info_get_nkeys(info, &n);
    CHECK_EQ(n, 0);
    MPI_Info_set(info, "again", "1");
    MPI_Info_get_nthkey(info, 0, key);
    CHECK(!strcmp(key, "again"));
    for (int i = 0; i < KEYS; i++)
        expect(copy, i, i);
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    return check_done();
}
