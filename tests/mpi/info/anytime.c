/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects before MPI_Init and after MPI_Finalize, in several threads at once, whatever the level of thread
 * support. */
/* ranks: 1 3 */
/* cflags: -pthread */
#include <pthread.h>
#include "../check.h"

enum { THREADS = 4, ROUNDS = 300 };

static MPI_Info shared;

/* Objects of its own, and pairs of its own in an object of all. */
static void *work(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Info info, copy;
        char key[32], value[32], got[32] = "";
        int flag = 0, len = sizeof got, n = -1;
        sprintf(key, "key %d of %d", i % 50, me);
        sprintf(value, "value %d", i);
        MPI_Info_create(&info);
        MPI_Info_set(info, key, value);
        MPI_Info_dup(info, &copy);
        MPI_Info_free(&info);
        MPI_Info_get_nkeys(copy, &n);
        CHECK_EQ(n, 1);
        MPI_Info_get_string(copy, key, &len, got, &flag);
        CHECK(flag && !strcmp(got, value), "%s", got);
        MPI_Info_free(&copy);
        MPI_Info_set(shared, key, value);
        len = sizeof got;
        MPI_Info_get_string(shared, key, &len, got, &flag);
        CHECK(flag && !strcmp(got, value), "%s", got);
        if (i % 3 == 0)
            MPI_Info_delete(shared, key);
    }
    return NULL;
}

static void all_threads(void)
{
    pthread_t t[THREADS];
    MPI_Info_create(&shared);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    MPI_Info_free(&shared);
}

int main(int argc, char **argv)
{
    MPI_Info old, env;
    int n = -1;
    MPI_Info_create(&old);
    MPI_Info_set(old, "set", "before");
    all_threads();
    check_init(&argc, &argv);
    all_threads();
    MPI_Finalize();
    all_threads();
    MPI_Info_get_nkeys(old, &n); /* made before MPI_Init, and still there */
    CHECK_EQ(n, 1);
    CHECK(MPI_Info_fromint(MPI_Info_toint(old)) == old);
    MPI_Info_free(&old);
    MPI_Info_create_env(argc, argv, &env);
    MPI_Info_get_nkeys(env, &n);
    CHECK(n >= 3);
    MPI_Info_free(&env);
    return check_failures != 0;
}
