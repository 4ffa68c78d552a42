/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: the source, the types and what they say; registrations and callbacks by safety level; reading and
 * copying within the callback and not outside; events that are dropped; handles freed, also within the callback;
 * and each error that the standard names. */
/* ranks: 1 2 3 */
/* abi: mpich openmpi, because what is no constant here is one in MPICH, and a callback type of Open MPI 6 is a pointer */
#include "tool.h"

enum { MOST = 8 };

struct heard {
    int n, freed, dropped, dropped_at; /* dropped_at: n when it was told */
    int32_t source, tag;
    int64_t bytes;
    MPI_Count time, dropped_count;
    MPI_T_event_registration handle, got;
    MPI_T_event_instance instance;
    int frees; /* free the handle in the callback */
};

static int unexpected = -1, place[4]; /* of its elements */

static void freed(MPI_T_event_registration handle, MPI_T_cb_safety safety, void *data)
{
    struct heard *h = data;
    (void)safety;
    h->freed++;
    CHECK(handle == h->handle);
}

static void look(MPI_T_event_instance i, MPI_T_event_registration handle, MPI_T_cb_safety safety, void *data)
{
    struct heard *h = data;
    char buf[64];
    int32_t tag = -1;
    MPI_Count now = -1;
    int source = -7;
    h->n++;
    h->got = handle;
    h->instance = i;
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    memset(buf, 'x', sizeof buf);
    OK(MPI_T_event_copy(i, buf));
    memcpy(&h->source, buf + place[0], sizeof h->source);
    memcpy(&h->tag, buf + place[1], sizeof h->tag);
    memcpy(&h->bytes, buf + place[3], sizeof h->bytes);
    CHECK_EQ(buf[place[3] + 8], 'x', "nothing behind the last element");
    OK(MPI_T_event_read(i, 1, &tag));
    CHECK_EQ(tag, h->tag);
    OK(MPI_T_event_get_timestamp(i, &h->time));
    OK(MPI_T_source_get_timestamp(0, &now));
    CHECK(h->time > 0 && h->time <= now, "%lld, now %lld", (long long)h->time, (long long)now);
    OK(MPI_T_event_get_source(i, &source));
    CHECK_EQ(source, 0);
    IS(MPI_T_event_read(i, 4, buf), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_read(i, -1, buf), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_read(i, 0, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_event_copy(i, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_event_get_timestamp(i, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_event_get_source(i, NULL), MPI_T_ERR_INVALID);
    if (h->frees) {
        OK(MPI_T_event_handle_free(handle, h, freed));
        CHECK_EQ(h->freed, 0, "the callback still runs");
        IS(MPI_T_event_handle_free(handle, h, freed), MPI_T_ERR_INVALID_HANDLE);
    }
}

static void wrong_level(MPI_T_event_instance i, MPI_T_event_registration r, MPI_T_cb_safety s, void *data)
{
    (void)i, (void)r, (void)s, (void)data;
    CHECK(0, "another callback has a lower level that is enough, or no such call may be made here");
}

static void dropped(MPI_Count count, MPI_T_event_registration handle, int source, MPI_T_cb_safety safety,
                    void *data)
{
    struct heard *h = data;
    (void)safety;
    h->dropped++;
    h->dropped_count = count;
    h->dropped_at = h->n;
    CHECK(handle == h->handle);
    CHECK_EQ(source, 0);
}

/* ---- Freed by each other ---- */

static struct heard three[3];

/* Of the first of them that is gone: the others are freed here. */
static void free_others(MPI_T_event_registration handle, MPI_T_cb_safety safety, void *data)
{
    struct heard *h = data;
    (void)safety;
    CHECK(handle == h->handle);
    h->freed++;
    for (int i = 0; h == &three[1] && i < 3; i++)
        if (i != 1)
            OK(MPI_T_event_handle_free(three[i].handle, &three[i], free_others));
}

static void freed_by_another(void)
{
    MPI_T_event_registration again[4];
    int index = -1;
    memset(three, 0, sizeof three);
    OK(MPI_T_event_get_index("keel_unexpected_message", &index));
    for (int i = 0; i < 3; i++)
        OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &three[i].handle));
    OK(MPI_T_event_handle_free(three[1].handle, &three[1], free_others));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(three[i].freed, 1);
    for (int i = 0; i < 4; i++) {
        OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &again[i]));
        for (int k = 0; k < i; k++)
            CHECK(again[i] != again[k], "two registrations have one place");
    }
    for (int i = 0; i < 4; i++)
        OK(MPI_T_event_handle_free(again[i], NULL, NULL));
}

/* ---- What there is ---- */

static void source(void)
{
    char name[100] = "", desc[200] = "";
    int n = -1, len = sizeof name, desc_len = sizeof desc;
    MPI_T_source_order order = (MPI_T_source_order)0;
    MPI_Count ticks = -1, most = -1, a = -1, b = -1;
    MPI_Info info = MPI_INFO_NULL;
    OK(MPI_T_source_get_num(&n));
    CHECK_EQ(n, 1);
    OK(MPI_T_source_get_info(0, name, &len, desc, &desc_len, &order, &ticks, &most, &info));
    CHECK(len == (int)strlen(name) + 1 && len > 1 && desc_len == (int)strlen(desc) + 1, "%s: %s", name, desc);
    CHECK_EQ(order, MPI_T_SOURCE_ORDERED);
    CHECK(ticks >= 1000 && most > ticks, "%lld, %lld", (long long)ticks, (long long)most);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_source_get_timestamp(0, &a));
    OK(MPI_T_source_get_timestamp(0, &b));
    CHECK(a > 0 && b >= a, "%lld, %lld", (long long)a, (long long)b);
    IS(MPI_T_source_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_source_get_timestamp(-1, &a), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_source_get_num(NULL), MPI_T_ERR_INVALID);
}

static void one(int i)
{
    char name[100] = "", desc[500] = "";
    int len = sizeof name, desc_len = sizeof desc, verbosity = -1, num = MOST, bind = -1, index = -1, two = 2;
    MPI_Datatype types[MOST], none = MPI_DATATYPE_NULL;
    MPI_Aint at[MOST];
    MPI_T_enum elements = MPI_T_ENUM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    for (int k = 0; k < MOST; k++)
        types[k] = MPI_DATATYPE_NULL;
    OK(MPI_T_event_get_info(i, name, &len, &verbosity, types, at, &num, &elements, &info, desc, &desc_len,
                            &bind));
    CHECK(len == (int)strlen(name) + 1 && !strncmp(name, "keel_", 5) && desc_len == (int)strlen(desc) + 1,
          "%s", name);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, "%d",
          verbosity);
    CHECK(num >= 1 && num <= MOST, "%d of %s", num, name);
    for (int k = 0; k < num && k < MOST; k++) {
        CHECK(types[k] == MPI_INT32_T || types[k] == MPI_INT64_T, "element %d of %s", k, name);
        CHECK(k == 0 ? at[k] == 0 : at[k] > at[k - 1], "element %d of %s at %ld", k, name, (long)at[k]);
    }
    CHECK(types[num] == MPI_DATATYPE_NULL);
    CHECK_EQ(bind, MPI_T_BIND_NO_OBJECT);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
    OK(MPI_T_enum_get_info(elements, &index, NULL, NULL));
    CHECK_EQ(index, num, "its elements have names");
    OK(MPI_T_event_get_index(name, &index));
    CHECK_EQ(index, i);
    two = 0;
    OK(MPI_T_event_get_info(i, NULL, NULL, NULL, &none, NULL, &two, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(two, num, "of %s", name);
    CHECK(none == MPI_DATATYPE_NULL);
    OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
}

static void types(void)
{
    int n = -1, x = -7, num = 4;
    MPI_Aint at[4] = { -1, -1, -1, -1 };
    OK(MPI_T_event_get_num(&n));
    CHECK(n > 3, "%d", n);
    for (int i = 0; i < n; i++)
        one(i);
    IS(MPI_T_event_get_info(n, NULL, NULL, &x, NULL, NULL, &x, NULL, NULL, NULL, NULL, &x),
       MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_get_info(-1, NULL, NULL, &x, NULL, NULL, &x, NULL, NULL, NULL, NULL, &x),
       MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_get_index("keel_nothing", &x), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_event_get_index(NULL, &x), MPI_T_ERR_INVALID);
    IS(MPI_T_event_get_index("keel_slept", NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(x, -7);
    OK(MPI_T_event_get_index("keel_unexpected_message", &unexpected));
    OK(MPI_T_event_get_info(unexpected, NULL, NULL, NULL, NULL, at, &num, NULL, NULL, NULL, NULL, NULL));
    for (int i = 0; i < 4; i++)
        place[i] = (int)at[i];
}

static void errors(void)
{
    MPI_T_event_registration r = NULL, wrong = (MPI_T_event_registration)&r;
    MPI_T_event_instance not_now = (MPI_T_event_instance)&r;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Count time;
    int n = -1;
    OK(MPI_T_event_get_num(&n));
    IS(MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_event_handle_free(wrong, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_handle_set_info(wrong, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_handle_get_info(wrong, &info), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_register_callback(wrong, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, look),
       MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_callback_set_info(wrong, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_callback_get_info(wrong, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_set_dropped_handler(wrong, dropped), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r));
    IS(MPI_T_event_register_callback(r, (MPI_T_cb_safety)1, MPI_INFO_NULL, NULL, look), MPI_T_ERR_INVALID);
    IS(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID);
    IS(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_event_handle_get_info(r, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    IS(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_copy(not_now, &n), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_read(not_now, 0, &n), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_get_timestamp(not_now, &time), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_event_get_source(not_now, &n), MPI_T_ERR_INVALID_HANDLE);
    CHECK(info == MPI_INFO_NULL);
}

/* Info objects of a handle and of a callback: there are no hints, and those given are ignored. */
static void infos(MPI_T_event_registration r, MPI_T_cb_safety safety)
{
    MPI_Info given, got = MPI_INFO_NULL;
    int n = -1;
    MPI_Info_create(&given);
    MPI_Info_set(given, "some_key", "1");
    OK(MPI_T_event_handle_set_info(r, given));
    OK(MPI_T_event_callback_set_info(r, safety, given));
    MPI_Info_free(&given);
    OK(MPI_T_event_handle_get_info(r, &got));
    CHECK(got != MPI_INFO_NULL);
    MPI_Info_get_nkeys(got, &n);
    CHECK_EQ(n, 0);
    MPI_Info_free(&got);
    OK(MPI_T_event_callback_get_info(r, safety, &got));
    CHECK(got != MPI_INFO_NULL);
    MPI_Info_get_nkeys(got, &n);
    CHECK_EQ(n, 0);
    MPI_Info_free(&got);
}

/* ---- What happens ---- */

static MPI_Comm world;

/* A message to this process itself, before its receive. */
static void surprise(int tag, int n)
{
    int data[4] = { 0 };
    MPI_Send(data, n, MPI_INT, check_rank, tag, world);
    MPI_Recv(data, n, MPI_INT, check_rank, tag, world, MPI_STATUS_IGNORE);
}

static void callbacks(void)
{
    struct heard h = { 0 }, second = { 0 };
    MPI_Count before = -1;
    OK(MPI_T_event_handle_alloc(unexpected, NULL, MPI_INFO_NULL, &h.handle));
    OK(MPI_T_event_handle_alloc(unexpected, NULL, MPI_INFO_NULL, &second.handle));
    CHECK(h.handle != second.handle);
    surprise(1, 1); /* nobody listens */
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &h, look));
    infos(h.handle, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
    OK(MPI_T_source_get_timestamp(0, &before));
    surprise(2, 1);
    CHECK_EQ(h.n, 1);
    CHECK(h.got == h.handle);
    CHECK(h.time >= before);
    CHECK_EQ(h.source, check_rank);
    CHECK_EQ(h.tag, 2);
    CHECK_EQ(h.bytes, 4);
    IS(MPI_T_event_copy(h.instance, &before), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_event_register_callback(second.handle, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &second,
                                     look));
    /* the lowest level that is enough; none imposes no limits, which is not enough */
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &h, look));
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &h,
                                     wrong_level));
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &h, wrong_level));
    surprise(3, 2);
    CHECK_EQ(h.n, 2);
    CHECK_EQ(second.n, 1);
    CHECK_EQ(h.bytes, 8);
    /* taken back */
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &h, NULL));
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &h, NULL));
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &h, NULL));
    surprise(4, 1);
    CHECK_EQ(h.n, 2);
    CHECK_EQ(second.n, 2);
    OK(MPI_T_event_handle_free(h.handle, &h, freed));
    CHECK_EQ(h.freed, 1);
    second.frees = 1;
    surprise(5, 1);
    CHECK_EQ(second.n, 3);
    CHECK_EQ(second.freed, 1);
    surprise(6, 1);
    CHECK_EQ(second.n, 3);
    CHECK_EQ(h.n, 2);
}

static void drops(void)
{
    struct heard h = { 0 };
    OK(MPI_T_event_handle_alloc(unexpected, NULL, MPI_INFO_NULL, &h.handle));
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &h, wrong_level));
    surprise(1, 1); /* before the handler: not counted */
    OK(MPI_T_event_set_dropped_handler(h.handle, dropped));
    surprise(2, 1);
    surprise(3, 1);
    CHECK_EQ(h.dropped, 0, "no callback of a level that is enough");
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &h, look));
    surprise(4, 1);
    CHECK_EQ(h.dropped, 1);
    CHECK_EQ(h.dropped_count, 2);
    CHECK_EQ(h.dropped_at, 0, "it is told before the next event");
    CHECK_EQ(h.n, 1);
    surprise(5, 1);
    CHECK_EQ(h.dropped, 1);
    CHECK_EQ(h.n, 2);
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &h, NULL));
    surprise(6, 1);
    OK(MPI_T_event_set_dropped_handler(h.handle, NULL)); /* forgets it */
    OK(MPI_T_event_set_dropped_handler(h.handle, dropped));
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &h, look));
    surprise(7, 1);
    CHECK_EQ(h.dropped, 1);
    CHECK_EQ(h.n, 3);
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &h, NULL));
    surprise(8, 1);
    OK(MPI_T_event_set_dropped_handler(h.handle, dropped)); /* counts from here on */
    OK(MPI_T_event_register_callback(h.handle, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, &h, look));
    surprise(9, 1);
    CHECK_EQ(h.dropped, 1);
    CHECK_EQ(h.n, 4);
    OK(MPI_T_event_handle_free(h.handle, &h, NULL));
    surprise(10, 1);
    CHECK_EQ(h.n, 4);
}

static void token(int is_sent, int peer, int tag)
{
    int x = 0;
    if (is_sent)
        MPI_Send(&x, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
    else
        MPI_Recv(&x, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One rank after the other, and nobody goes on before all have: what others send would be unexpected messages, too. */
static void in_turn(void)
{
    int last = check_size - 1, next = (check_rank + 1) % check_size,
        before = (check_rank + last) % check_size;
    if (check_rank > 0)
        token(0, before, 60);
    callbacks();
    drops();
    if (check_size == 1)
        return;
    token(1, next, 60);
    token(0, before, check_rank > 0 ? 61 : 60);
    if (check_rank < last)
        token(1, next, 61);
}

/* ---- Other events ---- */

struct counted {
    int n;
    int32_t first;
    int64_t last;
};

static void count(MPI_T_event_instance i, MPI_T_event_registration r, MPI_T_cb_safety s, void *data)
{
    struct counted *c = data;
    (void)r, (void)s;
    c->n++;
    OK(MPI_T_event_read(i, 0, &c->first));
}

static void count_rndv(MPI_T_event_instance i, MPI_T_event_registration r, MPI_T_cb_safety s, void *data)
{
    count(i, r, s, data);
    OK(MPI_T_event_read(i, 2, &((struct counted *)data)->last));
}

static MPI_T_event_registration listen(const char *name, MPI_T_event_cb_function *fn, struct counted *c)
{
    MPI_T_event_registration r = NULL;
    int index = -1;
    OK(MPI_T_event_get_index(name, &index));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, c, fn));
    return r;
}

static void others(void)
{
    static char out[1 << 20], in[1 << 20];
    struct counted begun = { 0 }, ended = { 0 }, coll = { 0 };
    MPI_T_event_registration a = listen("keel_rendezvous_begun", count_rndv, &begun),
                             b = listen("keel_rendezvous_ended", count_rndv, &ended),
                             c = listen("keel_collective_begun", count, &coll);
    int to = (check_rank + 1) % check_size, from = (check_rank + check_size - 1) % check_size, one = 1,
        all = 0;
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, to, 1, in, sizeof in, MPI_CHAR, from, 1, world,
                 MPI_STATUS_IGNORE);
    if (check_size > 1) {
        CHECK_EQ(begun.n, 2, "one sent, one received");
        CHECK_EQ(ended.n, 2);
        CHECK_EQ(begun.last, sizeof out);
        CHECK_EQ(ended.last, sizeof out);
        CHECK(ended.first == to || ended.first == from, "%d", (int)ended.first);
    }
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, world);
    CHECK_EQ(coll.n, check_size > 1);
    OK(MPI_T_event_handle_free(a, NULL, NULL));
    OK(MPI_T_event_handle_free(b, NULL, NULL));
    OK(MPI_T_event_handle_free(c, NULL, NULL));
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, world);
    CHECK_EQ(coll.n, check_size > 1);
}

int main(int argc, char **argv)
{
    struct counted left = { 0 };
    tool_begin();
    source();
    types();
    errors();
    check_init(&argc, &argv);
    source();
    types();
    errors();
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    in_turn();
    freed_by_another();
    others();
    listen("keel_unexpected_message", count, &left); /* is gone when MPI_T is */
    OK(MPI_T_finalize());
    surprise(9, 1);
    CHECK_EQ(left.n, 0);
    MPI_Comm_free(&world);
    return check_done();
}
