/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: set, get in all its forms, delete, order, dup, free. */
/* ranks: 1 3 */
#include "../check.h"

static void expect(MPI_Info info, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL];
    int flag = -1, len = sizeof text, n = -1;
    MPI_Info_get_string(info, key, &len, text, &flag);
    CHECK_EQ(flag, value != NULL, "%s", key);
    if (value && flag) {
        CHECK(!strcmp(text, value), "%s is \"%s\"", key, text);
        CHECK_EQ(len, strlen(value) + 1);
    }
    flag = -1;
    MPI_Info_get_valuelen(info, key, &n, &flag);
    CHECK_EQ(flag, value != NULL);
    CHECK_EQ(n, value ? (int)strlen(value) : -1, "%s", key);
}

static void expect_key(MPI_Info info, int n, const char *key)
{
    char text[MPI_MAX_INFO_KEY] = "";
    MPI_Info_get_nthkey(info, n, text);
    CHECK(!strcmp(text, key), "key %d is %s; expected %s", n, text, key);
}

static int nkeys(MPI_Info info)
{
    int n = -1;
    MPI_Info_get_nkeys(info, &n);
    return n;
}

static void pairs(void)
{
    MPI_Info info = MPI_INFO_NULL, copy = MPI_INFO_NULL;
    MPI_Info_create(&info);
    CHECK(info != MPI_INFO_NULL);
    CHECK_EQ(nkeys(info), 0);
    expect(info, "a", NULL);
    MPI_Info_set(info, "a", "1");
    MPI_Info_set(info, "b", "two");
    MPI_Info_set(info, "c", "");
    MPI_Info_set(info, " a ", " with spaces ");
    MPI_Info_set(info, "A", "capital");
    CHECK_EQ(nkeys(info), 5);
    expect(info, "a", "1");
    expect(info, "b", "two");
    expect(info, "c", "");
    expect(info, " a ", " with spaces ");
    expect(info, "A", "capital");
    expect(info, "B", NULL);
    MPI_Info_set(info, "a", "a longer value than before"); /* in its place */
    expect_key(info, 0, "a");
    expect_key(info, 4, "A");
    CHECK_EQ(nkeys(info), 5);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "b");
    CHECK_EQ(nkeys(info), 4);
    expect(info, "b", NULL);
    expect_key(info, 0, "a");
    expect_key(info, 1, "c");
    expect_key(info, 2, " a ");
    expect_key(info, 3, "A");
    MPI_Info_set(copy, "a", "other");
    expect(info, "a", "a longer value than before");
    CHECK_EQ(nkeys(copy), 5);
    expect(copy, "b", "two");
    for (int i = 0; i < 5; i++)
        expect_key(copy, i, (const char *[]){ "a", "b", "c", " a ", "A" }[i]);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
    expect(copy, "A", "capital");
    MPI_Info_free(&copy);
    CHECK(copy == MPI_INFO_NULL);
}

/* MPI_Info_get_string cuts to the buffer, MPI_Info_get to one character less than the buffer. */
static void cut(void)
{
    MPI_Info info;
    char text[16];
    int flag, len;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "abcdef");
    for (int size = 0; size < 10; size++) {
        memset(text, '#', sizeof text);
        len = size;
        flag = 0;
        MPI_Info_get_string(info, "key", &len, text, &flag);
        CHECK_EQ(flag, 1);
        CHECK_EQ(len, 7);
        if (size)
            CHECK_EQ(strlen(text), size < 7 ? size - 1 : 6);
        CHECK_EQ(text[size < 7 ? size : 7], '#', "size %d", size);
        memset(text, '#', sizeof text);
        flag = 0;
        MPI_Info_get(info, "key", size, text, &flag);
        CHECK_EQ(flag, 1);
        CHECK_EQ(strlen(text), size < 6 ? size : 6);
        CHECK(!strncmp(text, "abcdef", (size_t)(size < 6 ? size : 6)));
    }
    len = 0;
    MPI_Info_get_string(info, "key", &len, NULL, &flag); /* the length alone */
    CHECK_EQ(len, 7);
    strcpy(text, "unchanged");
    len = sizeof text;
    MPI_Info_get_string(info, "none", &len, text, &flag);
    CHECK_EQ(flag, 0);
    CHECK(!strcmp(text, "unchanged"));
    flag = 1;
    MPI_Info_get(info, "none", 15, text, &flag);
    CHECK_EQ(flag, 0);
    CHECK(!strcmp(text, "unchanged"));
    len = 99;
    MPI_Info_get_valuelen(info, "none", &len, &flag);
    CHECK_EQ(len, 99);
    MPI_Info_free(&info);
}

/* The longest key and value there may be. */
static void longest(void)
{
    static char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL], back[MPI_MAX_INFO_VAL],
        name[MPI_MAX_INFO_KEY];
    MPI_Info info;
    int flag = 0, len = MPI_MAX_INFO_VAL;
    memset(key, 'k', sizeof key - 1);
    memset(value, 'v', sizeof value - 1);
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    MPI_Info_get_string(info, key, &len, back, &flag);
    CHECK_EQ(flag, 1);
    CHECK_EQ(len, MPI_MAX_INFO_VAL);
    CHECK(!strcmp(value, back));
    MPI_Info_get_nthkey(info, 0, name);
    CHECK(!strcmp(key, name));
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    check_init(&argc, &argv);
    pairs();
    cut();
    longest();
    return check_done();
}
