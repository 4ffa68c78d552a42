/* SPDX-License-Identifier: BSD-3-Clause */
/* io_hints.c: the info keys of files, and what they set.
 *
 * The names are the standard's, those of ROMIO and those of Open MPI, which programs pass.  Values that make no
 * sense are passed over, as hints may be (15.2.8). */
#include "config.h"
#include "bodies.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io.h"

enum { BYTES_MAX = 1 << 30 };

/* A key; the keys behind a first one that set the same are its synonyms, which MPI_File_get_info does not show. */
static const struct row {
    const char *key;
    size_t at;
    bool choice, synonym;
    int64_t least, most;
} rows[] = {
    { "cb_nodes", offsetof(MPIR_File_hints, cb_nodes), false, false, 1, INT32_MAX },
    { "num_aggregators", offsetof(MPIR_File_hints, cb_nodes), false, true, 1, INT32_MAX },
    { "cb_buffer_size", offsetof(MPIR_File_hints, cb_buffer_size), false, false, 4096, BYTES_MAX },
    { "bytes_per_agg", offsetof(MPIR_File_hints, cb_buffer_size), false, true, 4096, BYTES_MAX },
    { "ind_rd_buffer_size", offsetof(MPIR_File_hints, ind_rd_buffer_size), false, false, 4096, BYTES_MAX },
    { "striping_factor", offsetof(MPIR_File_hints, striping_factor), false, false, 1, UINT16_MAX - 1 },
    { "striping_unit", offsetof(MPIR_File_hints, striping_unit), false, false, 1, BYTES_MAX },
    { "collective_buffering", offsetof(MPIR_File_hints, cb_read), true, true, 0, 0 },
    { "collective_buffering", offsetof(MPIR_File_hints, cb_write), true, true, 0, 0 },
    { "romio_cb_read", offsetof(MPIR_File_hints, cb_read), true, false, 0, 0 },
    { "romio_cb_write", offsetof(MPIR_File_hints, cb_write), true, false, 0, 0 },
    { "romio_ds_read", offsetof(MPIR_File_hints, ds_read), true, false, 0, 0 },
    { "keel_map_write", offsetof(MPIR_File_hints, map_write), true, false, 0, 0 },
    { "keel_close_to_open", offsetof(MPIR_File_hints, close_to_open), true, false, 0, 0 },
};
enum { ROWS = sizeof rows / sizeof rows[0] };

void MPIR_Io_hints_default(MPIR_File_hints *h)
{
    *h = (MPIR_File_hints){ .cb_buffer_size = 4 << 20, .ind_rd_buffer_size = 4 << 20 };
}

static void read_choice(enum MPIR_FILE_USE *use, const char *value)
{
    if (!strcmp(value, "enable") || !strcmp(value, "true"))
        *use = MPIR_FILE_ENABLE;
    else if (!strcmp(value, "disable") || !strcmp(value, "false"))
        *use = MPIR_FILE_DISABLE;
    else if (!strcmp(value, "automatic"))
        *use = MPIR_FILE_AUTOMATIC;
}

int MPIR_Io_hints_read(MPIR_File_hints *h, const MPIR_Info *info)
{
    for (int i = 0; i < ROWS; i++) {
        const char *value = MPIR_Info_value(info, rows[i].key);
        char *end, *field = (char *)h + rows[i].at;
        if (!value)
            continue;
        if (rows[i].choice) {
            read_choice((enum MPIR_FILE_USE *)field, value);
            continue;
        }
        int64_t number = strtoll(value, &end, 10);
        if (end != value && *end == 0 && number >= rows[i].least && number <= rows[i].most)
            *(int64_t *)field = number;
    }
    return 0;
}

static int io_hints_show(MPIR_Info *info, const struct row *r, const MPIR_File_hints *h)
{
    static const char *const choices[] = { "automatic", "enable", "disable" };
    const char *field = (const char *)h + r->at;
    char number[24];
    if (r->synonym)
        return 0;
    if (r->choice)
        return MPIR_Info_set(info, r->key, choices[*(const enum MPIR_FILE_USE *)field]);
    if (*(const int64_t *)field == 0)
        return 0;
    snprintf(number, sizeof number, "%lld", (long long)*(const int64_t *)field);
    return MPIR_Info_set(info, r->key, number);
}

int MPIR_File_get_info(MPIR_File *fh, MPIR_Info **info_used)
{
    int err = MPIR_Info_create(info_used);
    for (int i = 0; !err && i < ROWS; i++)
        if ((err = io_hints_show(*info_used, &rows[i], &fh->hints)) != 0)
            MPIR_Info_free(info_used);
    return err;
}

int MPIR_File_set_info(MPIR_File *fh, MPIR_Info *info)
{
    bool all = true;
    return MPIR_Io_agree_hints(fh, MPIR_Io_hints_read(&fh->hints, info), &all);
}
