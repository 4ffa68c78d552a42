/* SPDX-License-Identifier: BSD-3-Clause */
/* Every procedure of MPI_T but MPI_T_init_thread says so when it is called before MPI_T_init_thread or after the last
 * MPI_T_finalize, and does nothing else; outside MPI_Init and MPI_Finalize as well. */
/* ranks: 1 2 */
#include "tool.h"

static void event_cb(MPI_T_event_instance i, MPI_T_event_registration r, MPI_T_cb_safety s, void *d)
{
    (void)i, (void)r, (void)s, (void)d;
}
static void free_cb(MPI_T_event_registration r, MPI_T_cb_safety s, void *d)
{
    (void)r, (void)s, (void)d;
}
static void dropped_cb(MPI_Count n, MPI_T_event_registration r, int source, MPI_T_cb_safety s, void *d)
{
    (void)n, (void)r, (void)source, (void)s, (void)d;
}

#define NO(call) IS(call, MPI_T_ERR_NOT_INITIALIZED)

static void variables(void)
{
    int n = -7;
    char buf[64] = "";
    MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
    NO(MPI_T_cvar_get_num(&n));
    NO(MPI_T_cvar_get_info(0, buf, &n, &n, NULL, NULL, NULL, NULL, NULL, NULL));
    NO(MPI_T_cvar_get_index("keel_yields", &n));
    NO(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &n));
    NO(MPI_T_cvar_handle_free(&cvar));
    NO(MPI_T_cvar_read(cvar, buf));
    NO(MPI_T_cvar_write(cvar, buf));
    NO(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, buf, &n));
    NO(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, buf, &n));
    NO(MPI_T_pvar_get_num(&n));
    NO(MPI_T_pvar_get_info(0, buf, &n, &n, &n, NULL, NULL, NULL, NULL, &n, &n, &n, &n));
    NO(MPI_T_pvar_get_index("keel_yields", MPI_T_PVAR_CLASS_COUNTER, &n));
    NO(MPI_T_pvar_session_create(&session));
    NO(MPI_T_pvar_session_free(&session));
    NO(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &n));
    NO(MPI_T_pvar_handle_free(session, &pvar));
    NO(MPI_T_pvar_start(session, pvar));
    NO(MPI_T_pvar_stop(session, pvar));
    NO(MPI_T_pvar_read(session, pvar, buf));
    NO(MPI_T_pvar_write(session, pvar, buf));
    NO(MPI_T_pvar_reset(session, pvar));
    NO(MPI_T_pvar_readreset(session, pvar, buf));
    CHECK_EQ(n, -7);
    CHECK(cvar == MPI_T_CVAR_HANDLE_NULL && session == MPI_T_PVAR_SESSION_NULL &&
          pvar == MPI_T_PVAR_HANDLE_NULL);
}

static void categories(void)
{
    int n = -7;
    NO(MPI_T_category_get_num(&n));
    NO(MPI_T_category_get_info(0, NULL, &n, NULL, &n, &n, &n, &n));
    NO(MPI_T_category_get_num_events(0, &n));
    NO(MPI_T_category_get_index("keel", &n));
    NO(MPI_T_category_get_cvars(0, 1, &n));
    NO(MPI_T_category_get_pvars(0, 1, &n));
    NO(MPI_T_category_get_events(0, 1, &n));
    NO(MPI_T_category_get_categories(0, 1, &n));
    NO(MPI_T_category_changed(&n));
    CHECK_EQ(n, -7);
}

static void events(void)
{
    int n = -7;
    char buf[64] = "";
    MPI_Count ticks = -7;
    MPI_Info info = MPI_INFO_NULL;
    MPI_T_event_registration r = NULL;
    MPI_T_event_instance i = NULL;
    MPI_T_source_order order;
    NO(MPI_T_source_get_num(&n));
    NO(MPI_T_source_get_info(0, buf, &n, buf, &n, &order, &ticks, &ticks, &info));
    NO(MPI_T_source_get_timestamp(0, &ticks));
    NO(MPI_T_event_get_num(&n));
    NO(MPI_T_event_get_info(0, buf, &n, &n, NULL, NULL, &n, NULL, &info, buf, &n, &n));
    NO(MPI_T_event_get_index("keel_slept", &n));
    NO(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r));
    NO(MPI_T_event_handle_free(r, NULL, free_cb));
    NO(MPI_T_event_handle_set_info(r, MPI_INFO_NULL));
    NO(MPI_T_event_handle_get_info(r, &info));
    NO(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, event_cb));
    NO(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    NO(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info));
    NO(MPI_T_event_set_dropped_handler(r, dropped_cb));
    NO(MPI_T_event_read(i, 0, buf));
    NO(MPI_T_event_copy(i, buf));
    NO(MPI_T_event_get_timestamp(i, &ticks));
    NO(MPI_T_event_get_source(i, &n));
    CHECK_EQ(n, -7);
    CHECK_EQ(ticks, -7);
    CHECK(r == NULL && info == MPI_INFO_NULL);
}

static void all(void)
{
    variables();
    categories();
    events();
    NO(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    int provided = -1, n = -1;
    all();
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    all();
    check_init(&argc, &argv);
    all();
    IS(MPI_T_init_thread(12345, &provided), MPI_T_ERR_INVALID);
    all();
    OK(MPI_T_init_thread(MPI_THREAD_FUNNELED, &provided));
    CHECK_EQ(provided, MPI_THREAD_FUNNELED);
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided > MPI_THREAD_FUNNELED && provided <= MPI_THREAD_MULTIPLE, "%d", provided);
    OK(MPI_T_finalize());
    OK(MPI_T_cvar_get_num(&n)); /* one use is left */
    CHECK(n > 0);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    OK(MPI_T_finalize());
    all();
    check_done();
    all();
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_num(&n));
    OK(MPI_T_finalize());
    all();
    return check_failures != 0;
}
