/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h: what the programs about sessions share. */
#ifndef SESSION_H
#define SESSION_H

#include "../check.h"

/* A communicator of a session's set of processes, all of which call. */
CHECK_UNUSED static MPI_Comm comm_of(MPI_Session s, const char *set, const char *tag)
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    CHECK_EQ(MPI_Group_from_session_pset(s, set, &group), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
    MPI_Group_free(&group);
    return comm;
}

CHECK_UNUSED static MPI_Session session(void)
{
    MPI_Session s = MPI_SESSION_NULL;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s), MPI_SUCCESS);
    return s;
}

/* The value of a key, in a buffer that the next call overwrites; "" if there is none.  info is freed. */
CHECK_UNUSED static const char *value_of(MPI_Info *info, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    int len = sizeof value, flag = 0;
    value[0] = 0;
    MPI_Info_get_string(*info, key, &len, value, &flag);
    MPI_Info_free(info);
    return value;
}

/* The end of a program that has no world model. */
CHECK_UNUSED static int session_done(void)
{
    return check_failures != 0;
}

#endif
