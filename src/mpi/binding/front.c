/* SPDX-License-Identifier: BSD-3-Clause */
/* front.c: the cold half of the generated front ends: what the texts of argument errors are. */
#include "front.h"
#include "topo.h"

#include <inttypes.h>
#include <stdio.h>

static const struct kind_row {
    const char *type, *word, *article, *null;
    int errclass;
    uint32_t null_value;
} kinds[MPIR_KIND_COUNT] = {
    [MPIR_KIND_COMM] = { "MPI_Comm", "communicator", "a", "MPI_COMM_NULL", MPI_ERR_COMM, KEEL_MPI_COMM_NULL },
    [MPIR_KIND_GROUP] = { "MPI_Group", "group", "a", "MPI_GROUP_NULL", MPI_ERR_GROUP, KEEL_MPI_GROUP_NULL },
    [MPIR_KIND_DATATYPE] = { "MPI_Datatype", "datatype", "a", "MPI_DATATYPE_NULL", MPI_ERR_TYPE,
                             KEEL_MPI_DATATYPE_NULL },
    [MPIR_KIND_OP] = { "MPI_Op", "reduction operation", "a", "MPI_OP_NULL", MPI_ERR_OP, KEEL_MPI_OP_NULL },
    [MPIR_KIND_REQUEST] = { "MPI_Request", "request", "a", "MPI_REQUEST_NULL", MPI_ERR_REQUEST,
                            KEEL_MPI_REQUEST_NULL },
    [MPIR_KIND_ERRHANDLER] = { "MPI_Errhandler", "error handler", "an", "MPI_ERRHANDLER_NULL",
                               MPI_ERR_ERRHANDLER, KEEL_MPI_ERRHANDLER_NULL },
    [MPIR_KIND_INFO] = { "MPI_Info", "info object", "an", "MPI_INFO_NULL", MPI_ERR_INFO, KEEL_MPI_INFO_NULL },
    [MPIR_KIND_WIN] = { "MPI_Win", "window", "a", "MPI_WIN_NULL", MPI_ERR_WIN, KEEL_MPI_WIN_NULL },
    [MPIR_KIND_FILE] = { "MPI_File", "file", "a", "MPI_FILE_NULL", MPI_ERR_FILE, KEEL_MPI_FILE_NULL },
    [MPIR_KIND_SESSION] = { "MPI_Session", "session", "a", "MPI_SESSION_NULL", MPI_ERR_SESSION,
                            KEEL_MPI_SESSION_NULL },
};
static const struct kind_row message = { "MPI_Message",      "matched message", "a",
                                         "MPI_MESSAGE_NULL", MPI_ERR_REQUEST,   KEEL_MPI_MESSAGE_NULL };

int MPIR_front_absent(void)
{
    return MPIR_Err(MPI_ERR_UNSUPPORTED_OPERATION, NULL, "this version of Keel MPI does not have it");
}

/* What the last call here was refused for, as it is revoked: the error is its handler's. */
static _Thread_local struct keel_object *revoked __attribute__((tls_model("initial-exec")));

int MPIR_front_fail(struct front_target target, const char *call, int errclass)
{
    struct keel_object *o = target.object, *was_for = revoked;
    revoked = NULL; /* it may be gone by the next error */
    if (!o && errclass == MPID_ERR_REVOKED && was_for)
        target = front_target(o = was_for);
    if (!o || o->gen != target.gen)
        return MPIR_Err_none(call, errclass);
    if (o->kind == MPIR_KIND_COMM)
        return MPIR_Err_comm(target.object, call, errclass);
    if (o->kind == MPIR_KIND_WIN)
        return MPIR_Err_win(target.object, call, errclass);
    if (o->kind == MPIR_KIND_FILE)
        return MPIR_Err_file(target.object, call, errclass);
    if (o->kind == MPIR_KIND_ERRHANDLER)
        return MPIR_Err_given(target.object, call, errclass);
    MPIR_Session *s = o->kind == MPIR_KIND_GROUP ? ((MPIR_Group *)target.object)->session : target.object;
    return s ? MPIR_Err_session(s, call, errclass) : MPIR_Err_none(call, errclass);
}

struct front_target MPIR_front_given(MPIR_Errhandler *handler, enum MPIR_KIND kind)
{
    bool other = handler && handler->what == MPIR_ERRHANDLER_USER && handler->object_kind != kind;
    return front_target(other ? NULL : handler);
}

MPIR_Datatype *MPIR_front_no_data(bool null, int64_t count, bool nobody, int *err)
{
    if (!null || count != 0 || !nobody)
        return NULL;
    *err = 0;
    ku_err_clear();
    return MPIR_Datatype_predefined(KEEL_MPI_BYTE);
}

int MPIR_front_fail_here(struct front_target target, const char *call, int errclass)
{
    return MPIR_front_fail(target, call, errclass);
}

int MPIR_front_fail_file(struct front_target target, const char *call, int errclass)
{
    struct keel_object *o = target.object;
    if (!o && errclass == MPID_ERR_REVOKED && revoked)
        return MPIR_front_fail(target, call, errclass);
    return o && o->gen == target.gen ? MPIR_Err_file(target.object, call, errclass)
                                     : MPIR_Err_no_file(call, errclass);
}

/* What a value that is no live handle of the wanted kind might be. */
static void front_describe(char *text, size_t size, int kind, const struct kind_row *want, uint64_t handle)
{
    if (handle == want->null_value) {
        snprintf(text, size, "is %s", want->null);
        return;
    }
    if (kind == MPIR_KIND_COMM && (handle == KEEL_MPI_COMM_WORLD || handle == KEEL_MPI_COMM_SELF)) {
        snprintf(text, size, "is %s, which there is from MPI_Init to MPI_Finalize only",
                 handle == KEEL_MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
        return;
    }
    for (int k = 1; k < MPIR_KIND_COUNT; k++) {
        bool null = handle == kinds[k].null_value;
        if (null || (k != kind && MPIR_Object_of((enum MPIR_KIND)k, handle))) {
            snprintf(text, size, "is %s%s %s", null ? kinds[k].null : kinds[k].article, null ? "," : "",
                     null ? "a handle of another kind" : kinds[k].word);
            return;
        }
    }
    uint32_t k = (uint32_t)handle >> MPIR_INDEX_BITS;
    if (handle >> 48 == MPIR_HANDLE_MARK && k == (uint32_t)kind && (handle >> 32 & 1) &&
        MPIR_Object_at((enum MPIR_KIND)kind, (uint32_t)handle & MPIR_INDEX_MASK)) {
        if (MPIR_Object_of((enum MPIR_KIND)kind,
                           handle)) /* alive: a request where a message is wanted or vice versa */
            snprintf(text, size, "is a %s", want == &message ? kinds[MPIR_KIND_REQUEST].word : message.word);
        else if (kind == MPIR_KIND_COMM && MPIR_Object_pending(handle))
            snprintf(text, size,
                     "is %s %s whose making is not complete (MPI_Comm_idup: wait for its request)",
                     want->article, want->word);
        else
            snprintf(text, size, "is %s %s that was freed", want->article, want->word);
        return;
    }
    snprintf(text, size, "is 0x%" PRIx64 ", which is no handle", handle);
}

int MPIR_front_bad_handle(int kind, bool is_message, uint64_t handle, const char *arg, int64_t index)
{
    const struct kind_row *want = is_message ? &message : &kinds[kind];
    char text[120], element[32] = "";
    revoked = MPIR_Object_revoked((enum MPIR_KIND)kind, handle);
    if (revoked)
        return MPIR_Err(MPID_ERR_REVOKED, arg, "has been revoked");
    front_describe(text, sizeof text, kind, want, handle);
    if (index >= 0)
        snprintf(element, sizeof element, "element %" PRId64 " ", index);
    return MPIR_Err(want->errclass, arg, "%s%s; expected %s %s (%s)", element, text, want->article,
                    want->word, want->type);
}

int MPIR_front_no_memory(const char *arg, int64_t n)
{
    return MPIR_Err(MPI_ERR_NO_MEM, arg, "has %" PRId64 " elements; no memory to convert them", n);
}

int MPIR_front_bad_count(int64_t n, const char *arg, const char *call, bool narrow)
{
    if (narrow && n >= INT_MIN && n < -1)
        return MPIR_Err(MPI_ERR_COUNT, arg,
                        "is %" PRId64
                        "; expected 0 or more. It looks like a 64-bit count cut to an int; for counts above "
                        "%d call %s_c",
                        n, INT_MAX, call);
    return MPIR_Err(MPI_ERR_COUNT, arg, "is %" PRId64 "; expected 0 or more", n);
}

int32_t MPIR_front_neighbors(const MPIR_Comm *comm, bool out)
{
    int in_degree, out_degree;
    if (!comm->topo || MPIR_Topo_degrees(comm, &in_degree, &out_degree))
        return 0;
    return out ? out_degree : in_degree;
}

int MPIR_front_check_counts(MPIR_Counts counts, int64_t n, const char *arg, const char *call, bool narrow)
{
    if (n > 0 && !counts.p)
        return MPIR_front_bad_pointer(arg);
    for (int64_t i = 0; i < n; i++)
        if (unlikely(MPIR_counts_get(counts, i) < 0)) {
            char element[64];
            snprintf(element, sizeof element, "%.24s[%" PRId64 "]", arg, i);
            return MPIR_front_bad_count(MPIR_counts_get(counts, i), element, call, narrow);
        }
    return MPI_SUCCESS;
}

int MPIR_front_bad_rank(const MPIR_Comm *comm, int rank, const char *arg, bool any, bool null)
{
    if (any && rank == MPI_ANY_SOURCE)
        return MPIR_Err(MPI_ERR_RANK, arg,
                        "is MPI_ANY_SOURCE, on a communicator with the hint mpi_assert_no_any_source");
    return MPIR_Err(MPI_ERR_RANK, arg, "is %d; expected 0 to %d%s%s", rank, comm->adi.remote_size - 1,
                    any ? ", MPI_ANY_SOURCE" : "", null ? " or MPI_PROC_NULL" : "");
}

int MPIR_front_bad_root(const MPIR_Comm *comm, int root)
{
    return MPIR_Err(MPI_ERR_ROOT, "root", "is %d; expected 0 to %d%s", root, comm->adi.remote_size - 1,
                    comm->remote_group ? ", MPI_ROOT or MPI_PROC_NULL" : "");
}

int MPIR_front_bad_tag(int tag, const char *arg)
{
    if (tag == MPI_ANY_TAG)
        return MPIR_Err(MPI_ERR_TAG, arg,
                        "is MPI_ANY_TAG, which only a receive or probe may use; expected 0 to %d",
                        MPID_TAG_UB);
    return MPIR_Err(MPI_ERR_TAG, arg, "is %d; expected 0 to %d", tag, MPID_TAG_UB);
}

int MPIR_front_bad_tag_any(const MPIR_Comm *comm, int tag, const char *arg)
{
    if (tag == MPI_ANY_TAG && !check_any_tag(comm, tag))
        return MPIR_Err(MPI_ERR_TAG, arg,
                        "is MPI_ANY_TAG, on a communicator with the hint mpi_assert_no_any_tag");
    return MPIR_Err(MPI_ERR_TAG, arg, "is %d; expected 0 to %d or MPI_ANY_TAG", tag, MPID_TAG_UB);
}

int MPIR_front_bad_pointer(const char *arg)
{
    return MPIR_Err(MPI_ERR_ARG, arg, "is NULL; expected an address");
}

int MPIR_front_bad_in_place(const MPIR_Comm *comm, const char *arg)
{
    return MPIR_Err(MPI_ERR_BUFFER, arg, "is MPI_IN_PLACE; expected a buffer: %s",
                    comm->remote_group ? "comm is an intercommunicator" : "only the root may pass it");
}

int MPIR_front_uncommitted(const MPIR_Datatype *t, const char *arg, int64_t index)
{
    const char *name = MPIR_Datatype_name(t);
    char element[32] = "";
    if (index >= 0)
        snprintf(element, sizeof element, "element %" PRId64 " ", index);
    return MPIR_Err(MPI_ERR_TYPE, arg,
                    "%sis%s%s not committed; expected a type passed to MPI_Type_commit before", element,
                    name ? " " : "", name ? name : "");
}

int MPIR_front_check_types(MPIR_Datatype *const *t, int64_t n, const char *arg)
{
    for (int64_t i = 0; i < n; i++)
        if (unlikely(t[i] && !t[i]->adi.is_committed))
            return MPIR_front_uncommitted(t[i], arg, i);
    return MPI_SUCCESS;
}

int MPIR_front_types_of_some(MPIR_Datatype **t, MPIR_Counts counts, int64_t n, const char *arg)
{
    for (int64_t i = 0; i < n; i++) {
        if (likely(t[i] != NULL))
            continue;
        if (!counts.p || MPIR_counts_get(counts, i) != 0)
            return MPIR_front_bad_handle(MPIR_KIND_DATATYPE, false, KEEL_MPI_DATATYPE_NULL, arg, i);
        t[i] = MPIR_Datatype_predefined(KEEL_MPI_BYTE);
    }
    return MPI_SUCCESS;
}

int MPIR_front_low_buffer(const void *buf, int64_t count, const MPIR_Datatype *t, const char *arg)
{
    if (count <= 0 || t->adi.size == 0)
        return MPI_SUCCESS;
    if (buf == MPI_IN_PLACE)
        return MPIR_Err(MPI_ERR_BUFFER, arg, "is MPI_IN_PLACE; expected a buffer");
    int64_t first = (int64_t)(intptr_t)buf + t->adi.true_lb;
    if (first >= FRONT_PAGE)
        return MPI_SUCCESS;
    if (!buf)
        return MPIR_Err(MPI_ERR_BUFFER, arg,
                        "is NULL; expected the address of %" PRId64 " elements of %" PRId64 " bytes", count,
                        t->adi.size);
    return MPIR_Err(MPI_ERR_BUFFER, arg,
                    "is %p, where no buffer can be; expected the address of %" PRId64 " elements", buf,
                    count);
}

/* Where a block begins, what it is of, and how many of those there are. */
static int64_t block_of(const struct front_data *d, int64_t i, MPIR_Datatype **type, int64_t *count)
{
    *type = d->types ? d->types[i] : d->type;
    *count = d->counts.p ? MPIR_counts_get(d->counts, i) : d->count;
    if (!d->displs.p || !*type)
        return 0;
    return MPIR_counts_get(d->displs, i) * (d->types ? 1 : (*type)->adi.extent);
}

int MPIR_front_low_buffers(const void *buf, const struct front_data *data, const char *arg)
{
    for (int64_t i = 0; i < data->n; i++) {
        MPIR_Datatype *type;
        int64_t count, at = block_of(data, i, &type, &count);
        if (!type)
            continue;
        int err = MPIR_front_low_buffer(buf == MPI_IN_PLACE ? buf : (const void *)((intptr_t)buf + at), count,
                                        type, arg);
        if (err)
            return err;
    }
    return MPI_SUCCESS;
}

/* Do the i-th blocks surely share bytes?  Not surely: they are of different types with gaps. */
static bool blocks_meet(const struct front_data *in, const struct front_data *out, int64_t i)
{
    MPIR_Datatype *type[2];
    int64_t count[2], at[2];
    at[0] = block_of(in, in->counts.p ? i : 0, &type[0], &count[0]);
    at[1] = block_of(out, out->counts.p ? i : 0, &type[1], &count[1]);
    for (int k = 0; k < 2; k++)
        if (!type[k] || count[k] <= 0 || type[k]->adi.size == 0)
            return false;
    if (type[0] == type[1] && at[0] == at[1])
        return true;
    return type[0]->adi.is_contig && type[1]->adi.is_contig && at[0] < at[1] + count[1] * type[1]->adi.size &&
           at[1] < at[0] + count[0] * type[0]->adi.size;
}

int MPIR_front_check_apart(const void *buf, const struct front_data *in, const struct front_data *out,
                           const char *in_arg, const char *out_arg, const char *in_place)
{
    int64_t n = in->counts.p && (!out->counts.p || in->n < out->n) ? in->n : out->n;
    if (in->n <= 0 || out->n <= 0 || (uintptr_t)buf < FRONT_PAGE)
        return MPI_SUCCESS;
    for (int64_t i = 0; i < n; i++)
        if (blocks_meet(in, out, i))
            return MPIR_Err(MPI_ERR_BUFFER, in_arg,
                            "is %p, and so is %s; expected buffers that do not overlap%s%s", buf, out_arg,
                            in_place ? ", or MPI_IN_PLACE for " : "", in_place ? in_place : "");
    return MPI_SUCCESS;
}

/* ---- A collective that plays its part mutely ---- */

void *MPIR_front_stand_in(struct front_mute *m, int i, const struct front_data *data)
{
    int64_t low = 0, high = 0;
    int64_t before = 0; /* elements of the blocks before: without displacements they lie one after another */
    for (int64_t k = 0; k < data->n; k++) {
        MPIR_Datatype *type;
        int64_t count, at = block_of(data, data->counts.p ? k : 0, &type, &count);
        if (!type || count <= 0)
            continue;
        at += data->displs.p ? 0 : before * type->adi.extent;
        before += count;
        int64_t last = at + (count - 1) * type->adi.extent, first = at < last ? at : last;
        int64_t end = (at > last ? at : last) + type->adi.true_lb + type->adi.true_extent;
        low = first + type->adi.true_lb < low ? first + type->adi.true_lb : low;
        high = end > high ? end : high;
    }
    m->memory[i] = calloc((size_t)(high - low) + 1, 1);
    m->failed |= m->memory[i] == NULL;
    return (char *)m->memory[i] - low;
}

bool MPIR_front_mute(struct front_mute *m, MPIR_Comm *comm)
{
    if (m->failed || MPIR_Comm_error_ends(comm)) /* then the error is to be seen at once */
        return false;
    *ku_err_last() = m->words;
    m->quick = comm->quick;
    comm->quick = false;
    MPIR_Coll_muted = m->err;
    return true;
}

int MPIR_front_mute_end(struct front_mute *m, MPIR_Comm *comm)
{
    comm->quick |= m->quick && comm->team == MPIR_TEAM_HAS;
    MPIR_Coll_muted = 0;
    for (int i = 0; i < 2; i++)
        free(m->memory[i]);
    *ku_err_last() = m->words;
    return m->err;
}

int MPIR_front_too_large(int64_t value, const char *arg, const char *call)
{
    return MPIR_Err(MPI_ERR_VALUE_TOO_LARGE, arg, "would be %" PRId64 ", more than an int holds; call %s_c",
                    value, call);
}

int *MPIR_front_constants(const int *from, int64_t n, int *small, int (*in)(int))
{
    int none, *p = front_alloc(small, sizeof *p, n, "", &none);
    for (int64_t i = 0; p && i < n; i++)
        p[i] = in(from[i]);
    return p;
}

void MPIR_front_constants_free(const int *p, const int *small)
{
    if (p != small)
        free((void *)(uintptr_t)p);
}

void MPIR_front_cut(char *to, const char *from, int size, int *len)
{
    size_t n = strnlen(from, (size_t)size - 1);
    memcpy(to, from, n);
    to[n] = '\0';
    if (len)
        *len = (int)n;
}
