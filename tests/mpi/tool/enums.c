/* SPDX-License-Identifier: BSD-3-Clause */
/* Enumerations: of a control variable, of a state, of the elements of an event. */
/* ranks: 1 2 */
#include "tool.h"

static void look(MPI_T_enum e, const char *expected, int items)
{
    char name[100] = "", item[100] = "";
    int num = -1, len = sizeof name, value = -1, part = 3;
    CHECK(e != MPI_T_ENUM_NULL);
    OK(MPI_T_enum_get_info(e, &num, name, &len));
    CHECK(!strcmp(name, expected), "%s", name);
    CHECK_EQ(len, strlen(expected) + 1);
    CHECK_EQ(num, items, "of %s", name);
    OK(MPI_T_enum_get_info(e, NULL, item, &part));
    CHECK_EQ(strlen(item), 2);
    CHECK_EQ(part, len);
    for (int i = 0; i < num; i++) {
        len = sizeof item;
        value = -1;
        OK(MPI_T_enum_get_item(e, i, &value, item, &len));
        CHECK_EQ(value, i);
        CHECK(len > 1 && len == (int)strlen(item) + 1, "%d", len);
    }
    IS(MPI_T_enum_get_item(e, num, &value, item, &len), MPI_T_ERR_INVALID_INDEX);
    IS(MPI_T_enum_get_item(e, -1, &value, item, &len), MPI_T_ERR_INVALID_INDEX);
}

static void all(void)
{
    MPI_T_enum e = MPI_T_ENUM_NULL;
    char item[100];
    int len = sizeof item, value = -1, index = -1;
    OK(MPI_T_cvar_get_info(tool_cvar("keel_check_args"), NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL));
    look(e, "keel_switch", 2);
    OK(MPI_T_enum_get_item(e, 1, &value, item, &len));
    CHECK(value == 1 && !strcmp(item, "on"), "%d %s", value, item);
    OK(MPI_T_cvar_get_info(tool_cvar("keel_initial_errhandler"), NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL,
                           NULL));
    look(e, "keel_initial_errhandler", 3);
    OK(MPI_T_pvar_get_info(tool_pvar("keel_phase", MPI_T_PVAR_CLASS_STATE), NULL, NULL, NULL, NULL, NULL, &e,
                           NULL, NULL, NULL, NULL, NULL, NULL));
    look(e, "keel_phase", 4);
    OK(MPI_T_event_get_index("keel_slept", &index));
    OK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL));
    look(e, "keel_event_slept", 1);
    OK(MPI_T_cvar_get_info(tool_cvar("keel_yields"), NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL));
    CHECK(e == MPI_T_ENUM_NULL);
    IS(MPI_T_enum_get_info(e, &value, item, &len), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_enum_get_item(e, 0, &value, item, &len), MPI_T_ERR_INVALID_HANDLE);
    IS(MPI_T_enum_get_info((MPI_T_enum)item, &value, item, &len), MPI_T_ERR_INVALID_HANDLE);
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
