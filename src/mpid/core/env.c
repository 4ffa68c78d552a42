/* SPDX-License-Identifier: BSD-3-Clause */
/* Beginning, end, and what a process may ask of its surroundings. */
#include "config.h"
#include "core.h"
#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
#include "util/clock.h"
#include "util/installed.h"
#include "util/knob.h"

/* Common: it lies behind all other variables, since its last member is large and seldom touched, and what stood
 * behind that would take a page of its own. */
__attribute__((common)) struct core MPID_core;
int MPID_MyWorldSize = 1, MPID_MyWorldRank;

static void set_unexpected(const struct ku_knob *row)
{
    MPID_core.unexp_limit = row->num << 20;
}

static void set_eager(const struct ku_knob *row)
{
    MPID_core.pkt_size = (int)row->num;
    MPID_Peers_retune();
}

static struct ku_knob rows[] = {
    { .name = "DEVICES",
      .type = KU_KNOB_STR,
      .unit = "",
      .help = "devices that may be used, by name; unset: all" },
    { .name = "DEVICE_COSTS",
      .type = KU_KNOB_STR,
      .unit = "ns",
      .audience = KU_FOR_TUNERS,
      .help = "what messages of a few bytes are taken to cost over a device, instead of what it says, with "
              "commas: NAME=NS. Of the "
              "devices that reach a peer the cheapest is used" },
    { .name = "SHOW_DEVICES",
      .type = KU_KNOB_BOOL,
      .def = "0",
      .unit = "",
      .help =
          "rank 0 says on stderr which device reaches its node and which other nodes, and why others were "
          "passed over" },
    { .name = "SURVIVE",
      .type = KU_KNOB_BOOL,
      .def = "0",
      .unit = "",
      .audience = KU_FOR_DEVELOPERS,
      .help = "the job goes on without ranks that fail, as mpiexec -with-ft sets it: errors of peers that "
              "are lost "
              "are of class MPIX_ERR_PROC_FAILED" },
    { .name = "PLUGINS",
      .type = KU_KNOB_STR,
      .unit = "",
      .help = "device plug-ins to load besides those of the folder (KEEL_PLUGIN_DIR), with commas: paths, or "
              "names of "
              "files there" },
    { .name = "PLUGIN_DIR",
      .type = KU_KNOB_STR,
      .unit = "",
      .help = "the folder of device plug-ins: each ch_*.so there, in the order of the names" },
    { .name = "HOOKS",
      .type = KU_KNOB_STR,
      .unit = "",
      .audience = KU_FOR_DEVELOPERS,
      .help = "what is done to the packets of each device, for tests, with commas: stats (count, show at the "
              "end), delay:us=N "
              "(deliver each so much later), late:percent=N (some looks later), refuse:percent=N, "
              "queue:percent=N (of sends), "
              "gone:after=N (packets sent to a peer, which then counts as lost)" },
    { .name = "NEEDS",
      .type = KU_KNOB_STR,
      .unit = "",
      .audience = KU_FOR_DEVELOPERS,
      .help =
          "what the process is to do as if somebody needed it, with commas, which closes the short ways "
          "of messages and calls; for tests: "
          "threads (calls may come from several), types (no message loses its datatype), observers (of "
          "packets and messages), calls "
          "(each call is seen whole), listened (listeners are told of calls), memory (buffers are not in the "
          "host's memory), all; strict (standard sends wait for their receives); with @RANK behind it: in "
          "that rank alone" },
    { .name = "LISTENERS",
      .type = KU_KNOB_STR,
      .unit = "",
      .help = "shared objects that are told what each process does: calls, messages, waits, ..., with commas "
              "(mpid_listen.h)" },
    { .name = "UNAIDED",
      .type = KU_KNOB_BOOL,
      .def = "0",
      .unit = "",
      .audience = KU_FOR_DEVELOPERS,
      .help =
          "take each device that puts and gets for one that needs nothing of the target's processor, as a "
          "network card does; for tests" },
    { .name = "CARD_NS",
      .type = KU_KNOB_INT,
      .def = "0",
      .unit = "ns",
      .min = 0,
      .max = 1000000000,
      .audience = KU_FOR_DEVELOPERS,
      .help = "ch_ofi and ch_ucx take what they open for a network card that needs so long for a short "
              "packet; 0: no; for tests" },
    { .name = "UNEXPECTED_MB",
      .type = KU_KNOB_INT,
      .def = "1024",
      .unit = "MB",
      .min = 1,
      .max = 1 << 20,
      .audience = KU_FOR_TUNERS,
      .changed = set_unexpected,
      .help = "memory a process spends on messages that come before their receives, before it tells senders "
              "to wait" },
    { .name = "EAGER_MAX",
      .type = KU_KNOB_SIZE,
      .def = "0",
      .unit = "bytes",
      .min = 0,
      .max = 1 << 30,
      .changed = set_eager,
      .audience = KU_FOR_TUNERS,
      .help = "longest message sent without asking the receiver; 0: computed from what the device costs" },
    { .name = "LONG_MESSAGES",
      .type = KU_KNOB_INT,
      .def = "0",
      .unit = "",
      .min = 0,
      .max = WAYS,
      .audience = KU_FOR_TUNERS,
      .help =
          "how messages of more than 48 KB come to this process: 1: in packets; 2: the receiver copies, "
          "between nodes by its device's get, where the device has one; 3: both sides copy, within a node "
          "and from 192 KB; 4: between nodes by the sender's device's put; 0: what is measured to be "
          "fastest" },
    { .name = "LONG_REGISTERED",
      .type = KU_KNOB_SIZE,
      .def = "1G",
      .unit = "bytes",
      .min = 0,
      .max = INT64_MAX,
      .audience = KU_FOR_TUNERS,
      .help =
          "bytes of messages, of all those under way, that are registered with a device of a network so that "
          "receivers may get them; further ones go in packets" },
    { .name = "PAST_CACHE",
      .type = KU_KNOB_SIZE,
      .def = "0",
      .unit = "bytes",
      .min = 0,
      .max = INT64_MAX,
      .audience = KU_FOR_TUNERS,
      .help = "while messages of so many bytes together are on their way to this process, in packets within "
              "a node and to as much memory, they are written past the caches of its core; 0: half of the "
              "cache next to memory, as more has left it before it is read" },
    { .name = "BACKTRACE",
      .type = KU_KNOB_BOOL,
      .def = "1",
      .unit = "",
      .scope = KU_KNOB_CONST,
      .help =
          "tell mpiexec where in the program a crash or a fatal error happened; 0: no handlers of signals "
          "are installed for that" },
};
static struct ku_knob_table knobs = { .rows = rows,
                                      .n = sizeof rows / sizeof rows[0],
                                      .area = "mpid.messages" };

static void know_plugins(void)
{
    if (!knobs.is_read)
        ku_knob_register(&knobs);
    MPID_Plugins_know();
}
static struct ku_knob_table of_plugins = { .more = know_plugins };

__attribute__((constructor)) static void add_knobs(void)
{
    for (struct ku_knob *row = rows; row < rows + knobs.n; row++)
        if (strcmp(row->name, "PLUGIN_DIR") == 0)
            row->def = ku_installed_keeldir();
    ku_knob_add(&knobs);
    ku_knob_add(&of_plugins);
}

/* ---- Services to devices ---- */

static bool service_is_failed(void *arg, int32_t grank)
{
    (void)arg;
    if (grank < 0 || grank >= MPID_core.job.size)
        return false;
    uint8_t how = atomic_load_explicit(&ku_segment_gone(&MPID_core.job.segment)[grank], memory_order_relaxed);
    return how != 0 &&
           how != KU_GONE_ENDED; /* what one that has ended in order has sent may still be on its way */
}

/* Only the device that talks to the peer may say so: another does not know what is still to be delivered.  Where others
 * go on with the peer, all are to see it alike: the launcher, which has not told that it is gone, decides. */
static void service_gone(void *arg, int32_t grank)
{
    if (grank < 0 || grank >= MPID_core.peers.n || !MPID_Dev_serves(arg, grank))
        return;
    if (MPID_Survives() && grank < MPID_core.job.size && !peer_gone(grank) && !service_is_failed(arg, grank))
        pmi_doubts(&MPID_core.job, grank);
    MPID_Peer_gone(grank);
}

static void service_error(void *arg, const char *text)
{
    (void)arg;
    ku_err_set(MPI_ERR_OTHER, NULL, "%s", text);
}

static const char *service_knob(void *arg, const char *name)
{
    const struct ku_knob *k = ku_knob_find(name);
    (void)arg;
    return k != NULL ? k->str : NULL;
}

static int32_t service_next_failed(void *arg, uint32_t *seen)
{
    const struct ku_segment *s = &MPID_core.job.segment;
    (void)arg;
    return atomic_load_explicit(&s->head->failed, memory_order_acquire) == *seen
               ? -1
               : ku_segment_dead(s, (*seen)++);
}

static int64_t service_knob_number(void *arg, const char *name)
{
    const struct ku_knob *k = ku_knob_find(name);
    (void)arg;
    return k != NULL ? k->num : 0;
}

/* ---- Init ---- */

static int setup_world(void)
{
    const struct ku_seg_head *h = MPID_core.job.segment.head;
    MPID_core.world = (struct dev_world){
        .rank = MPID_core.job.rank,
        .size = MPID_core.job.size,
        .local_rank = MPID_core.job.local_rank,
        .local_size = MPID_core.job.local_size,
        .epoch = MPID_core.job.epoch,
        .nodes = (int32_t)h->nnodes,
        .self = { .job = h->job_id, .rank = MPID_core.job.rank, .epoch = MPID_core.job.epoch },
        .sleeping = &ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->sleeping,
        .segment = &MPID_core.job.segment,
        .grank_of = ku_segment_grank_of(&MPID_core.job.segment),
        .stride = h->stride
    };
    static_assert((int)DEV_KEY_BYTES == (int)KU_SECRET_BYTES, "a job's secret is the key of its ranks");
    memcpy(MPID_core.world.self.key, h->secret, sizeof MPID_core.world.self.key);
    MPID_core.info = (struct MPID_World){ .local_rank = MPID_core.job.local_rank,
                                          .local_size = MPID_core.job.local_size,
                                          .appnum = MPID_core.job.appnum,
                                          .universe_size = MPID_core.job.universe_size,
                                          .team_room = (int32_t)h->room_bytes,
                                          .team_bench = (int32_t)h->bench_bytes,
                                          .node = (int32_t)h->node,
                                          .nodes = (int32_t)h->nnodes,
                                          .grank_of = MPID_core.world.grank_of,
                                          .machine = &h->machine,
                                          .place = ku_segment_place(&MPID_core.job.segment,
                                                                    (uint32_t)MPID_core.job.local_rank) };
    MPID_core.services = (struct dev_services){ .size = sizeof MPID_core.services,
                                                .version = DEV_VERSION,
                                                .deliver = MPID_Deliver,
                                                .sent = MPID_Sent,
                                                .peer_gone = service_gone,
                                                .error = service_error,
                                                .knob = service_knob,
                                                .wake = ku_wait_wake,
                                                .address = MPID_Dev_address,
                                                .place = MPID_Place,
                                                .place_at = MPID_Place_at,
                                                .placed = MPID_Placed,
                                                .knob_number = service_knob_number,
                                                .identity = MPID_Jobs_identity,
                                                .peer_of = MPID_Jobs_peer_of,
                                                .peer_left = MPID_Jobs_left,
                                                .lend = MPID_Lend,
                                                .is_failed = service_is_failed,
                                                .next_failed = service_next_failed };
    return 0;
}

/* As if this process were rank 0 of three, of which the last is on another node: so each device may be of use. */
static int imagine_job(void)
{
    static const int32_t node_of[] = { 0, 0, 1 };
    struct ku_segment *s = &MPID_core.job.segment;
    uint8_t secret[KU_SECRET_BYTES];
    uint64_t id;
    if (getrandom(secret, sizeof secret, 0) != sizeof secret || getrandom(&id, sizeof id, 0) != sizeof id)
        return ku_err_set(MPI_ERR_OTHER, NULL, "the system gives no random bytes");
    MPID_core.job = (struct pmi_job){ .size = 3, .local_size = 2, .epoch = 1 };
    if (ku_segment_create(s, 3, 2, 0, 2) != 0)
        return ku_err_last()->code = MPI_ERR_OTHER; /* the words stay */
    ku_segment_join(s, id, secret, node_of);
    return setup_world();
}

void MPID_Devices(void (*tell)(const struct MPID_Device *d, void *arg), void *arg, int *error_code)
{
    int err;
    if (MPID_core.up) {
        *error_code = ku_err_set(MPI_ERR_OTHER, NULL, "MPID_Devices after MPID_Init");
        return;
    }
    ku_knob_register(&knobs);
    err = imagine_job();
    if (err == 0) {
        MPID_Devset_look(tell, arg);
        ku_segment_detach(&MPID_core.job.segment);
    } else
        *error_code = err;
    MPID_core.job = (struct pmi_job){ 0 };
    MPID_core.area_off = 0;
}

static int setup_tables(void)
{
    MPID_core.rank = MPID_core.job.rank;
    if (!MPID_Peers_init(&MPID_core.peers, MPID_core.job.size))
        return ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the table of %d ranks",
                          (int)MPID_core.job.size);
    MPID_Lanes_tune();
    ku_slab_init(&MPID_core.rndvs, (sizeof(struct rndv) + 63) & ~(size_t)63, 0);
    MPID_Mem_init();
    MPID_core.gone_class = ku_knob_int("SURVIVE") ? MPID_ERR_PROC_FAILED : MPI_ERR_PROC_ABORTED;
    MPID_core.unexp_limit = ku_knob_int("UNEXPECTED_MB") << 20;
    MPID_core.unexp_peak = 0;
    MPID_core.long_way = (int)ku_knob_int("LONG_MESSAGES");
    MPID_core.offered_most = ku_knob_int("LONG_REGISTERED");
    MPID_core.past_cache = ku_knob_int("PAST_CACHE");
    if (MPID_core.pkt_size == 0)
        MPID_core.pkt_size = (int)ku_knob_int("EAGER_MAX");
    if (MPID_Contexts_init() != 0 || MPID_Umsg_init() != 0)
        return MPI_ERR_NO_MEM;
    int err = MPID_Needs_read();
    return err != 0 ? err : setup_world();
}

/* Everything but devices' own close; legal after a setup that stopped half-way. */
static void teardown(void)
{
    MPID_Contexts_fini();
    MPID_Umsg_fini();
    MPID_Notes_fini();
    MPID_Devset_fini();
    MPID_Jobs_fini();
    ku_slab_fini(&MPID_core.rndvs);
    MPID_Mem_fini();
    MPID_core.busy = NULL;
    MPID_core.gone_pending = MPID_core.xoff_any = MPID_core.up = false;
    MPID_core.doubts = 0;
    MPID_core.failed_seen = MPID_core.answered = 0;
    MPID_core.failures = (struct comm_failures){ 0 };
    pmi_trace_end();
    ku_wait_company(NULL, 0);
    ku_wait_bell_close(ku_segment_rank(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank));
    ku_heap_close(&MPID_core.heap);
    pmi_fini(&MPID_core.job);
}

void MPID_Init(int *argc, char ***argv, void *config_info, int *error_code)
{
    int err;
    (void)argc, (void)argv;
    if (MPID_core.up) {
        *error_code = ku_err_set(MPI_ERR_OTHER, NULL, "MPID_Init has been called already");
        return;
    }
    MPID_core.config = config_info != NULL ? *(struct MPID_Config *)config_info : (struct MPID_Config){ 0 };
    if (pmi_init(&MPID_core.job) != 0) {
        *error_code = ku_err_last()->code = MPI_ERR_OTHER; /* the words stay */
        return;
    }
    ku_knob_register(&knobs);
    ku_wait_init((uint32_t)MPID_core.job.local_size, MPID_core.job.segment.head->cpus,
                 MPID_core.job.size > MPID_core.job.local_size);
    ku_wait_company(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank);
    if (!ku_wait_register())
        atomic_fetch_or(&MPID_core.job.segment.head->fence_all, KU_FENCE_SOME);
    /* Nobody sends for the new epoch to a process that is still in the old one, or takes the heap away from it. */
    pmi_join(&MPID_core.job);
    ku_heap_open(&MPID_core.heap, &MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank,
                 MPID_core.job.epoch);
    err = setup_tables();
    if (err == 0)
        err = MPID_Listeners_open();
    if (err == 0)
        err = MPID_Devset_open();
    if (err != 0) {
        MPID_Listeners_close();
        for (int i = 0; i < MPID_core.ndevs; i++)
            MPID_core.devs[i].ops.close(MPID_core.devs[i].dev);
        pmi_undo(&MPID_core.job);
        teardown();
        *error_code = err;
        return;
    }
    MPID_MyWorldRank = MPID_core.job.rank;
    MPID_MyWorldSize = MPID_core.job.size;
    MPID_core.up = true;
    if (ku_knob_int("BACKTRACE"))
        pmi_trace_begin(&MPID_core.job);
    atomic_store(&ku_segment_call(&MPID_core.job.segment, (uint32_t)MPID_core.job.local_rank)->seen,
                 ku_clock_ns());
}

static void report_space(void)
{
    if (MPID_core.space_on)
        fprintf(stderr,
                "rank %d: at MPID_End %u unexpected messages (%lld bytes, at most %lld), %u operations, %u "
                "contexts\n",
                (int)MPID_core.rank, MPID_core.live_msgs, (long long)MPID_core.unexp_bytes,
                (long long)MPID_core.unexp_peak, MPID_core.rndvs.live, MPID_core.ncontexts);
}

static void end(void)
{
    report_space();
    MPID_Listeners_close();
    MPID_Mem_close_all();
    MPID_Fetch_close_all();
    MPID_Devset_close();
    pmi_finalized(&MPID_core.job);
    teardown();
}

void MPID_End(void)
{
    if (!MPID_core.up)
        return;
    MPID_Helper_end();
    MPID_Sync();
    end();
}

void MPID_Leave(void)
{
    if (!MPID_core.up)
        return;
    MPID_Helper_end();
    MPID_Flush();
    end();
}

static bool unsent(void)
{
    bool some = MPID_Peers_busy();
    for (int i = 0; i < MPID_core.ndevs && !some; i++)
        some = MPID_core.devs[i].ops.unsent(MPID_core.devs[i].dev);
    return some;
}

void MPID_Flush(void)
{
    struct ku_wait w = { 0 };
    while (unsent())
        if (MPID_Progress() > 0)
            ku_wait_reset(&w);
        else
            MPID_Wait_step(&w, NULL);
}

void MPID_Rest(void)
{
    pmi_rest(&MPID_core.job);
}

void MPID_Resume(void)
{
    pmi_resume(&MPID_core.job);
}

/* ---- The rest of section 5 ---- */

static _Noreturn void abort_some(const struct MPIR_COMMUNICATOR *comm, int error_code, const char *text)
{
    enum { MANY = PMI_SOME_MAX + 1 }; /* then the whole job ends */
    int32_t granks[MANY], n = comm->size < MANY ? comm->size : MANY;
    for (int32_t i = 0; i < n; i++)
        granks[i] = comm->lrank_to_grank ? comm->lrank_to_grank[i] : i;
    pmi_abort_some(&MPID_core.job, granks, n, error_code, text);
}

void MPID_Abort(struct MPIR_COMMUNICATOR *comm, int error_code, char *facility, char *string)
{
    char text[1024];
    if (string == NULL)
        snprintf(text, sizeof text, "%s%sthe job was ended with code %d", facility ? facility : "",
                 facility ? ": " : "", error_code);
    else
        snprintf(text, sizeof text, "%s%s%s", facility ? facility : "", facility ? ": " : "", string);
    if (comm && MPID_core.up && comm->size < MPID_MyWorldSize)
        abort_some(comm, error_code, text);
    pmi_abort(MPID_core.up ? &MPID_core.job : NULL, error_code, text);
}

void MPID_Trace_here(void)
{
    pmi_trace_here();
}

void MPID_Message(const char *text)
{
    if (MPID_core.up)
        pmi_message(&MPID_core.job, text);
    else
        fprintf(stderr, "%s\n", text);
}

void MPID_Message_places(const char *text)
{
    static_assert(__builtin_strcmp(MPID_PLACE, PMI_PLACE) == 0, "one way to write a place");
    pmi_message_places(&MPID_core.job, PMI_PLACES, text);
}

void MPID_Message_fault(const struct ku_fault *fault)
{
    pmi_message_fault(&MPID_core.job, fault);
}

void MPID_Fault_times(uint32_t number, int64_t times)
{
    pmi_fault_times(number, times);
}

const struct MPID_World *MPID_World(void)
{
    return &MPID_core.info;
}

bool MPID_Receive_begun(const struct MPIR_HANDLE *r)
{
    return (r->state & REQ_STATE) == REQ_RNDV;
}

const char *MPID_Device_of(int32_t grank)
{
    const struct peer *p = grank >= 0 && grank < MPID_core.peers.n ? MPID_core.peers.at[grank] : NULL;
    return p != NULL && p->cd != NULL ? p->cd->ops.name : NULL;
}

int32_t MPID_Node_of(int32_t grank)
{
    return ku_segment_node_of(&MPID_core.job.segment, grank);
}

int32_t MPID_Node_ranks(int32_t node, int32_t *granks)
{
    return ku_segment_ranks_of(&MPID_core.job.segment, node, granks);
}

const char *MPID_Error_text(void)
{
    return ku_err_last()->text;
}

void MPID_Node_name(char *name, int len)
{
    if (len <= 0)
        return;
    if (gethostname(name, (size_t)len) != 0)
        snprintf(name, (size_t)len, "localhost");
    name[len - 1] = 0;
}

void MPID_Version_name(char *name)
{
    snprintf(name, 64, "Keel %s, ADI-2 with wire format %d", PACKAGE_VERSION, PKT_VERSION);
}

void MPID_Wtime(double *time)
{
    *time = (double)ku_clock_ns() * 1e-9;
}

void MPID_Wtick(double *tick)
{
    *tick = (double)ku_clock_tick_ns() * 1e-9;
}
