/* SPDX-License-Identifier: BSD-3-Clause */
/* tool_event.c: event types, their one source, and registrations. */
#include "config.h"
#include "mpit.h"
#include "bodies.h"
#include <string.h>
#include "object.h"
#include "util/clock.h"

static struct ku_event *tool_event_row_of(int index)
{
    const char *area;
    return index >= 0 ? ku_event_at(index, &area) : NULL;
}

/* No hints are known, of anything. */
static int no_hints(MPIR_Info **info)
{
    return MPIR_Info_create(info) ? MPI_T_ERR_MEMORY : MPI_SUCCESS;
}

/* ---- The source: the process.  Its events come in the order of one clock. ---- */

int MPIR_T_source_get_num(int *num_sources)
{
    if (!num_sources)
        return MPI_T_ERR_INVALID;
    *num_sources = 1;
    return MPI_SUCCESS;
}

int MPIR_T_source_get_info(int source_index, char *name, int *name_len, char *desc, int *desc_len,
                           int *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPIR_Info **info)
{
    if (source_index != 0)
        return MPI_T_ERR_INVALID_INDEX;
    MPIR_T_string("keel_process", name, name_len);
    MPIR_T_string("the library in this process; nanoseconds of the clock of MPI_Wtime", desc, desc_len);
    t_put(ordering, MPI_T_SOURCE_ORDERED);
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = INT64_MAX;
    return info ? no_hints(info) : MPI_SUCCESS;
}

int MPIR_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    if (source_index != 0)
        return MPI_T_ERR_INVALID_INDEX;
    if (!timestamp)
        return MPI_T_ERR_INVALID;
    *timestamp = (MPI_Count)ku_clock_ns();
    return MPI_SUCCESS;
}

/* ---- Types ---- */

int MPIR_T_event_get_num(int *num_events)
{
    int n = 0;
    if (!num_events)
        return MPI_T_ERR_INVALID;
    while (tool_event_row_of(n))
        n++;
    *num_events = n;
    return MPI_SUCCESS;
}

int MPIR_T_event_get_index(const char *name, int *event_index)
{
    const struct ku_event *row;
    if (!name || !event_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; (row = tool_event_row_of(i)); i++)
        if (MPIR_T_is_named(row->name, name)) {
            *event_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

static void get_elements(const struct ku_event *row, MPIR_Datatype **types, MPI_Aint *displs, int *num)
{
    for (int i = 0; i < row->elements.n && i < *num; i++) {
        if (types)
            types[i] = MPIR_T_type(row->types[i] == 'i' ? KEEL_MPI_INT32_T : KEEL_MPI_INT64_T);
        if (displs)
            displs[i] = MPIR_T_element_at(row->types, i);
    }
    *num = row->elements.n;
}

int MPIR_T_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                          MPIR_Datatype **array_of_datatypes, MPI_Aint *array_of_displacements,
                          int *num_elements, MPIR_T_handle *enumtype, MPIR_Info **info, char *desc,
                          int *desc_len, int *bind)
{
    const struct ku_event *row = tool_event_row_of(event_index);
    char own[T_NAME_MAX];
    if (!row)
        return MPI_T_ERR_INVALID_INDEX;
    MPIR_T_name(row->name, own);
    MPIR_T_string(own, name, name_len);
    MPIR_T_string(row->help, desc, desc_len);
    t_put(verbosity, MPIR_T_verbosity(row->audience));
    if (num_elements)
        get_elements(row, array_of_datatypes, array_of_displacements, num_elements);
    if (enumtype)
        *enumtype = MPIR_T_enum(&row->elements);
    t_put(bind, MPI_T_BIND_NO_OBJECT);
    return info ? no_hints(info) : MPI_SUCCESS;
}

/* ---- Registrations ---- */

static struct t_registration *registration_of(MPIR_T_handle handle)
{
    struct t_registration *r = MPIR_T_object(T_REGISTRATION, handle);
    return r && !r->freed ? r : NULL;
}

int MPIR_T_event_handle_alloc(int event_index, void *obj_handle, MPIR_Info *info,
                              MPIR_T_handle *event_registration)
{
    struct ku_event *row = tool_event_row_of(event_index);
    (void)obj_handle, (void)info;
    if (!row)
        return MPI_T_ERR_INVALID_INDEX;
    if (!event_registration)
        return MPI_T_ERR_INVALID;
    struct t_registration *r = MPIR_T_alloc(T_REGISTRATION);
    if (!r)
        return MPI_T_ERR_MEMORY;
    r->event = row;
    r->next = MPIR_T_registrations;
    MPIR_T_registrations = r;
    *event_registration = MPIR_Object_handle(r);
    return MPI_SUCCESS;
}

int MPIR_T_event_handle_free(MPIR_T_handle event_registration, void *user_data,
                             MPIR_Callback free_cb_function)
{
    struct t_registration *r = registration_of(event_registration);
    (void)user_data;
    if (!r)
        return MPI_T_ERR_INVALID_HANDLE;
    r->freed = true;
    r->free_call = free_cb_function;
    MPIR_T_hear();
    return MPI_SUCCESS;
}

int MPIR_T_event_handle_set_info(MPIR_T_handle event_registration, MPIR_Info *info)
{
    (void)info;
    return registration_of(event_registration) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int MPIR_T_event_handle_get_info(MPIR_T_handle event_registration, MPIR_Info **info_used)
{
    if (!registration_of(event_registration))
        return MPI_T_ERR_INVALID_HANDLE;
    return info_used ? no_hints(info_used) : MPI_T_ERR_INVALID;
}

int MPIR_T_event_register_callback(MPIR_T_handle event_registration, int cb_safety, MPIR_Info *info,
                                   void *user_data, MPIR_Callback event_cb_function)
{
    struct t_registration *r = registration_of(event_registration);
    int level = MPIR_T_level(cb_safety);
    (void)info, (void)user_data;
    if (!r)
        return MPI_T_ERR_INVALID_HANDLE;
    if (level < 0)
        return MPI_T_ERR_INVALID;
    r->call[level] = event_cb_function;
    MPIR_T_hear();
    return MPI_SUCCESS;
}

/* A callback of that level of the registration: MPI_SUCCESS, or what is wrong. */
static int has_callback(MPIR_T_handle event_registration, int cb_safety)
{
    const struct t_registration *r = registration_of(event_registration);
    int level = MPIR_T_level(cb_safety);
    if (!r)
        return MPI_T_ERR_INVALID_HANDLE;
    return level >= 0 && r->call[level].fn ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int MPIR_T_event_callback_set_info(MPIR_T_handle event_registration, int cb_safety, MPIR_Info *info)
{
    (void)info;
    return has_callback(event_registration, cb_safety);
}

int MPIR_T_event_callback_get_info(MPIR_T_handle event_registration, int cb_safety, MPIR_Info **info_used)
{
    int err = has_callback(event_registration, cb_safety);
    if (err)
        return err;
    return info_used ? no_hints(info_used) : MPI_T_ERR_INVALID;
}

int MPIR_T_event_set_dropped_handler(MPIR_T_handle event_registration, MPIR_Callback dropped_cb_function)
{
    struct t_registration *r = registration_of(event_registration);
    if (!r)
        return MPI_T_ERR_INVALID_HANDLE;
    r->ndropped = 0; /* what is told counts from here on */
    r->dropped = dropped_cb_function;
    return MPI_SUCCESS;
}

/* ---- Instances ---- */

int MPIR_T_event_read(MPIR_T_handle event_instance, int element_index, void *buffer)
{
    const struct t_instance *i = MPIR_T_instance(event_instance);
    if (!i)
        return MPI_T_ERR_INVALID_HANDLE;
    if (element_index < 0 || element_index >= i->event->elements.n)
        return MPI_T_ERR_INVALID_INDEX;
    if (!buffer)
        return MPI_T_ERR_INVALID;
    MPIR_T_element_put(i->event->types[element_index], i->values[element_index], buffer);
    return MPI_SUCCESS;
}

int MPIR_T_event_copy(MPIR_T_handle event_instance, void *buffer)
{
    const struct t_instance *i = MPIR_T_instance(event_instance);
    if (!i)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!buffer)
        return MPI_T_ERR_INVALID;
    for (int e = 0; e < i->event->elements.n; e++)
        MPIR_T_element_put(i->event->types[e], i->values[e],
                           (char *)buffer + MPIR_T_element_at(i->event->types, e));
    return MPI_SUCCESS;
}

int MPIR_T_event_get_timestamp(MPIR_T_handle event_instance, MPI_Count *event_timestamp)
{
    const struct t_instance *i = MPIR_T_instance(event_instance);
    if (!i)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!event_timestamp)
        return MPI_T_ERR_INVALID;
    *event_timestamp = i->time;
    return MPI_SUCCESS;
}

int MPIR_T_event_get_source(MPIR_T_handle event_instance, int *source_index)
{
    if (!MPIR_T_instance(event_instance))
        return MPI_T_ERR_INVALID_HANDLE;
    if (!source_index)
        return MPI_T_ERR_INVALID;
    *source_index = 0;
    return MPI_SUCCESS;
}
