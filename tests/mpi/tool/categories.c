/* SPDX-License-Identifier: BSD-3-Clause */
/* Categories: names, members, nesting without circles; each variable and event is in one. */
/* ranks: 1 2 */
#include "tool.h"

enum { MOST = 400 };

typedef int get(int, int, int[]);

/* The members of a category: as many as said, each valid and counted once over all categories. */
static void members(int category, int expected, get *of, int limit, int *seen)
{
    int list[MOST + 1], short_list[2] = { -7, -7 };
    for (int i = 0; i <= MOST; i++)
        list[i] = -7;
    OK(of(category, MOST, list));
    for (int i = 0; i < expected; i++) {
        CHECK(list[i] >= 0 && list[i] < limit, "%d", list[i]);
        if (list[i] >= 0 && list[i] < limit)
            seen[list[i]]++;
    }
    CHECK_EQ(list[expected], -7, "nothing is written behind them");
    OK(of(category, 1, short_list));
    CHECK_EQ(short_list[0] == -7, expected == 0);
    CHECK_EQ(short_list[1], -7);
    OK(of(category, 0, NULL));
    IS(of(-1, 1, short_list), MPI_T_ERR_INVALID_INDEX);
    IS(of(limit + MOST, 1, short_list), MPI_T_ERR_INVALID_INDEX);
    IS(of(category, -1, short_list), MPI_T_ERR_INVALID);
    IS(of(category, 1, NULL), MPI_T_ERR_INVALID);
}

static void once(const int *seen, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        CHECK_EQ(seen[i], 1, "%s %d", what, i);
}

static void all(void)
{
    static int cvars[MOST], pvars[MOST], events[MOST], parents[MOST];
    int n = -1, ncvars = 0, npvars = 0, nevents = 0, x = -7, changed = -1, changed_again = -2;
    memset(cvars, 0, sizeof cvars);
    memset(pvars, 0, sizeof pvars);
    memset(events, 0, sizeof events);
    memset(parents, 0, sizeof parents);
    OK(MPI_T_category_changed(&changed));
    OK(MPI_T_category_get_num(&n));
    CHECK(n > 3, "%d", n);
    OK(MPI_T_cvar_get_num(&ncvars));
    OK(MPI_T_pvar_get_num(&npvars));
    OK(MPI_T_event_get_num(&nevents));
    for (int i = 0; i < n; i++) {
        char name[100] = "", desc[300] = "";
        int len = sizeof name, desc_len = sizeof desc, c = -1, p = -1, g = -1, e = -1, index = -1;
        OK(MPI_T_category_get_info(i, name, &len, desc, &desc_len, &c, &p, &g));
        OK(MPI_T_category_get_num_events(i, &e));
        CHECK(len > 1 && len == (int)strlen(name) + 1 && desc_len == (int)strlen(desc) + 1, "%s: %s", name,
              desc);
        OK(MPI_T_category_get_index(name, &index));
        CHECK_EQ(index, i);
        OK(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        members(i, c, MPI_T_category_get_cvars, ncvars, cvars);
        members(i, p, MPI_T_category_get_pvars, npvars, pvars);
        members(i, e, MPI_T_category_get_events, nevents, events);
        members(i, g, MPI_T_category_get_categories, n, parents);
    }
    once(cvars, ncvars, "control variable");
    once(pvars, npvars, "performance variable");
    once(events, nevents, "event");
    CHECK_EQ(parents[0], 0, "the first lies in none, so there is no circle");
    once(parents + 1, n - 1, "category");
    OK(MPI_T_category_changed(&changed_again));
    CHECK_EQ(changed_again, changed);
    IS(MPI_T_category_get_info(n, NULL, NULL, NULL, NULL, &x, &x, &x), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_category_get_num_events(n, &x), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_category_get_index("no category", &x), MPI_T_ERR_INVALID_NAME);
    IS(MPI_T_category_get_index(NULL, &x), MPI_T_ERR_INVALID);
    IS(MPI_T_category_get_num(NULL), MPI_T_ERR_INVALID);
    IS(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID);
    CHECK_EQ(x, -7);
}

int main(int argc, char **argv)
{
    tool_begin();
    all();
    check_init(&argc, &argv);
    all();
    OK(MPI_T_finalize());
    return check_done();
}
