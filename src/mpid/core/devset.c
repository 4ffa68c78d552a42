/* SPDX-License-Identifier: BSD-3-Clause */
/* The device set: which devices this process has open, and which of them talks to whom.
 *
 * The choice: of the devices that reach a peer and take it, the one of least latency, then of
 * highest priority.  Nothing here knows a device by name; built-in ones are rows of dev_builtin.h, plug-ins come from
 * plugin.c, KEEL_DEVICES limits both to the names it lists.
 *
 * Both ends of a pair choose the same.  Where the best device has an address and another one could serve, the
 * peer's card decides: of the devices that both have, the one of least latency, which is the larger of what the
 * two ends say.  Until the card is there the peer is `undecided`: a device that refuses everything stands in, and
 * nothing goes a way on which the peer is not looked at (peer.fast).
 *
 * What is opened: built-in devices in the order of the table, which begins with the cheapest, until they reach
 * every rank of the job; one that adds no rank is left closed and costs nothing.  Plug-ins when KEEL_DEVICES names
 * them, when a rank would not be reached, or when there are other nodes and a card that they are for; the last are
 * closed again if a built-in device costs less. */
#include "core.h"
#include <stdlib.h>
#include "mpid/hook/hook.h"
#include "util/knob.h"

#define DEV(n) extern const struct dev_ops dev_##n##_ops;
#include "dev_builtin.h"
#undef DEV

static const struct dev_ops *const builtin[] = {
#define DEV(n) &dev_##n##_ops,
#include "dev_builtin.h"
#undef DEV
    NULL
};

/* ---- What a device that lacks an optional operation gets ---- */

static size_t dev_no_address(const struct dev *dev, void *buf, size_t cap)
{
    (void)dev, (void)buf, (void)cap;
    return 0;
}
static void *dev_no_reserve(struct dev_peer *peer, size_t want)
{
    (void)peer, (void)want;
    return NULL;
}
static dev_status dev_no_commit(struct dev_peer *peer, const struct dev_head *head, void *room, size_t len)
{
    (void)peer, (void)head, (void)room, (void)len;
    return DEV_NO_SUPPORT;
}
static void dev_no_drop(struct dev_peer *peer, void *room)
{
    (void)peer, (void)room;
}
static _Atomic uint32_t *dev_no_wait_word(struct dev *dev)
{
    (void)dev;
    return NULL;
}
static int dev_no_wait_fd(struct dev *dev)
{
    (void)dev;
    return -1;
}
static dev_status dev_no_copy(struct dev_peer *peer, void *local, uint64_t remote, size_t len)
{
    (void)peer, (void)local, (void)remote, (void)len;
    return DEV_NO_SUPPORT;
}

static uint64_t dev_no_offer(struct dev_peer *peer, const void *buf, size_t len)
{
    (void)peer;
    (void)buf;
    (void)len;
    return 0;
}

static dev_status dev_no_copy_to(struct dev_peer *peer, uint64_t remote, const void *local, size_t len)
{
    (void)peer, (void)local, (void)remote, (void)len;
    return DEV_NO_SUPPORT;
}

static _Atomic uint64_t *dev_no_word(struct dev_peer *peer, bool theirs, uint32_t i)
{
    (void)peer, (void)theirs, (void)i;
    return NULL;
}

static bool dev_no_unsent(const struct dev *dev)
{
    (void)dev;
    return false;
}

static struct dev_taken dev_no_take(struct dev *dev, struct dev_head want, uint64_t mask, void *buf,
                                    size_t cap)
{
    (void)dev, (void)want, (void)mask, (void)buf, (void)cap;
    return (struct dev_taken){ .len = DEV_TAKE_OTHER };
}

static dev_status dev_no_send_copy(struct dev_peer *peer, const struct dev_head *head, const void *body,
                                   size_t len)
{
    (void)peer;
    (void)head;
    (void)body;
    (void)len;
    return DEV_NO_SUPPORT;
}

static struct dev_next *dev_no_next(struct dev *dev)
{
    static const struct ku_line nothing;
    static struct dev_next next = { .line = &nothing, .lap = 1 };
    (void)dev;
    return &next;
}

static bool dev_no_under_way(struct dev *dev)
{
    (void)dev;
    return true;
}

static bool dev_no_arm(struct dev *dev)
{
    (void)dev;
    return true;
}

static struct dev_lane dev_no_lane(struct dev_peer *peer)
{
    (void)peer;
    return (struct dev_lane){ NULL, NULL, NULL, NULL };
}

/* A copy of a table of `has` bytes in one of `bytes`: what the maker of the first did not know is missing. */
static void copy_table(void *to, size_t bytes, const void *from, uint32_t has)
{
    memset(to, 0, bytes);
    if (from != NULL)
        memcpy(to, from, has < bytes ? has : bytes);
}

/* A plug-in resolves nothing here, so what it lacks is NULL in its table; the core's copies have no holes. */
static void fill_in_near(struct dev_near *n, const struct dev_near *its)
{
    copy_table(n, sizeof *n, its, its != NULL ? its->size : 0);
    n->take = n->take ? n->take : dev_no_take;
    n->take_long = n->take_long ? n->take_long : dev_no_take;
    n->next = n->next ? n->next : dev_no_next;
    n->send_copy = n->send_copy ? n->send_copy : dev_no_send_copy;
    n->lane = n->lane ? n->lane : dev_no_lane;
    n->offer = n->offer ? n->offer : dev_no_offer;
    n->copy_from_peer = n->copy_from_peer ? n->copy_from_peer : dev_no_copy;
    n->copy_to_peer = n->copy_to_peer ? n->copy_to_peer : dev_no_copy_to;
    n->word = n->word ? n->word : dev_no_word;
}

static void fill_in(struct core_dev *d, const struct dev_ops *its)
{
    struct dev_ops *o = &d->ops;
    copy_table(o, sizeof *o, its, its->size);
    o->address = o->address ? o->address : dev_no_address;
    if (o->reserve == NULL || o->commit == NULL || o->drop == NULL) {
        o->reserve = dev_no_reserve;
        o->commit = dev_no_commit;
        o->drop = dev_no_drop;
    }
    o->wait_word = o->wait_word ? o->wait_word : dev_no_wait_word;
    o->wait_fd = o->wait_fd ? o->wait_fd : dev_no_wait_fd;
    o->unsent = o->unsent ? o->unsent : dev_no_unsent;
    o->under_way = o->under_way ? o->under_way : dev_no_under_way;
    o->arm = o->arm ? o->arm : dev_no_arm;
    fill_in_near(&d->near, o->near);
    copy_table(&d->mem, sizeof d->mem, o->mem, o->mem != NULL ? o->mem->size : 0);
}

bool MPID_Dev_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    if (list == NULL || *list == 0)
        return true;
    for (const char *p = list; p != NULL; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == 0))
            return true;
    }
    return false;
}

/* What the devices that are open do not reach yet: bits of DEV_REACH_NODE, DEV_REACH_ANY. */
static uint32_t lacking(void)
{
    const struct dev_world *w = &MPID_core.world;
    uint32_t lack =
        (w->local_size > 1 ? DEV_REACH_NODE : 0u) | (w->size > w->local_size ? DEV_REACH_ANY : 0u);
    for (int i = 0; i < MPID_core.ndevs; i++) {
        const struct dev_caps *c = &MPID_core.devs[i].caps;
        if (c->reach & DEV_REACH_ANY)
            return 0;
        if (c->reach & DEV_REACH_NODE)
            lack &= ~(uint32_t)DEV_REACH_NODE;
    }
    return lack;
}

/* Is a device of this reach of use besides those before it?  (A process needs no device to reach itself.) */
static bool of_use(uint32_t reach)
{
    uint32_t lack = lacking();
    return lack != 0 && (reach == 0 || (reach & (lack | DEV_REACH_ANY)) != 0);
}

/* Is there a built-in device for other nodes?  If it cannot be opened, that is an error to be told, not to be got
 * around. */
static bool has_builtin_for_any(const char *list)
{
    for (int i = 0; builtin[i] != NULL; i++)
        if (MPID_Dev_listed(list, builtin[i]->name) && (builtin[i]->reach & DEV_REACH_ANY))
            return true;
    return false;
}

/* The names of the plug-ins that have been looked at, with commas. */
static char plugins[128];

static void remember_plugin(const char *name)
{
    size_t n = strlen(plugins);
    if (n + strlen(name) + 2 < sizeof plugins && (n == 0 || !MPID_Dev_listed(plugins, name)))
        snprintf(plugins + n, sizeof plugins - n, "%s%s", n ? "," : "", name);
}

/* What KEEL_DEVICES names and there is not, in words: the first of these; "" if all are there. */
static const char *no_such_device(void)
{
    static char text[300];
    const char *list = ku_knob_str("DEVICES");
    for (const char *at = list ? list : ""; *at; at += strcspn(at, ","), at += *at == ',') {
        char name[32];
        bool there = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        for (int i = 0; builtin[i] != NULL; i++)
            there = there || strcmp(builtin[i]->name, name) == 0;
        if (there || (*plugins && MPID_Dev_listed(plugins, name)))
            continue;
        size_t n = (size_t)snprintf(text, sizeof text, "; there is no device \"%s\", but", name);
        for (int i = 0; builtin[i] != NULL && n < sizeof text; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? "," : " ", builtin[i]->name);
        if (n < sizeof text)
            snprintf(text + n, sizeof text - n, "%s%s", *plugins ? "," : "", plugins);
        return text;
    }
    return "";
}

/* Is a plug-in to be loaded?  If the user has listed it or it has a card, and it reaches other nodes that are
 * there; else if it is needed, and is listed or no built-in device is for that. */
static bool is_plugin_wanted(const struct plugin_about *about)
{
    const struct dev_world *w = &MPID_core.world;
    const char *list = ku_knob_str("DEVICES");
    bool named = list != NULL && *list != 0;
    remember_plugin(about->name);
    if (!MPID_Dev_listed(list, about->name)) {
        MPID_Devset_passed(about->name, "KEEL_DEVICES does not name it");
        return false;
    }
    if (w->size > w->local_size && about->reach != DEV_REACH_NODE && (named || about->has_card))
        return true;
    if (of_use(about->reach) && (named || !has_builtin_for_any(list)))
        return true;
    MPID_Devset_passed(about->name, "it was not loaded: %s",
                       w->size > w->local_size && about->reach != DEV_REACH_NODE
                           ? "there is no network card here that it is for"
                           : "no rank needs it");
    return false;
}

/* The device itself, or with a hook around it (KEEL_HOOKS). */
static dev_status open_hooked(struct core_dev *d, const struct dev_ops *its)
{
    const char *hooks = ku_knob_str("HOOKS");
    struct dev_hook_how how = { .show = MPID_Message };
    struct dev_ops inner, outer;
    if (hooks == NULL || *hooks == 0)
        return d->ops.open(&d->services, &d->world, &d->dev);
    dev_hook_parse(hooks, &how);
    copy_table(&inner, sizeof inner, its, its->size);
    dev_hook_table(&inner, &outer);
    fill_in(d, &outer);
    return dev_hook_open(&inner, &how, &d->services, &d->world, &d->dev);
}

/* KEEL_DEVICE_COSTS: NAME=NS,...  Of the device `name`, if it is there, to *ns.  false: it is none. */
static bool read_costs(const char *text, const char *name, uint32_t *ns)
{
    while (text != NULL && *text != 0) {
        size_t n = strcspn(text, "=,"), digits = text[n] == '=' ? strspn(text + n + 1, "0123456789") : 0;
        const char *end = text + n + 1 + digits;
        if (n == 0 || digits == 0 || digits > 9 || (*end != ',' && *end != 0))
            return false;
        if (n == strlen(name) && strncmp(text, name, n) == 0)
            *ns = (uint32_t)strtoul(text + n + 1, NULL, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

/* Open it as *d.  false: it does not open, and `why` has its words. */
static bool open_in(struct core_dev *d, const struct dev_ops *ops, const struct dev_world *world,
                    const struct dev_services *services, char *why, size_t cap)
{
    *d = (struct core_dev){ .world = *world, .services = *services };
    d->services.core = d;
    fill_in(d, ops);
    if (world->area_off + ops->area_bytes > world->segment->head->dev_bytes) {
        snprintf(why, cap, "there is no room for its %u bytes in the segment", ops->area_bytes);
        return false;
    }
    if (open_hooked(d, ops) != DEV_OK) {
        const char *arg = ku_err_last()->arg;
        snprintf(why, cap, "%.31s%s%.200s", arg, *arg != 0 ? " " : "", ku_err_last()->text);
        return false;
    }
    d->ops.caps(d->dev, &d->caps);
    d->caps.unaided |= ku_knob_int("UNAIDED") != 0;
    if (d->caps.no_atomic)
        d->mem.atomic = NULL;
    if (d->caps.max_short < PKT_SHORT_MAX || d->caps.max_send < 4096) {
        snprintf(why, cap, "it takes packets of at most %u and %u bytes; expected at least %d and 4096",
                 d->caps.max_short, d->caps.max_send, PKT_SHORT_MAX);
        d->ops.close(d->dev);
        d->ops.fini(d->dev);
        return false;
    }
    if (d->caps.max_lying < d->caps.max_send)
        d->caps.max_lying = d->caps.max_send;
    read_costs(ku_knob_str("DEVICE_COSTS"), ops->name, &d->caps.latency_ns);
    return true;
}

/* The same in the job's segment, in each rank's area of which its part begins at `area`. */
static bool open_as(struct core_dev *d, const struct dev_ops *ops, uint64_t area, char *why, size_t cap)
{
    struct dev_world world = MPID_core.world;
    world.area_off = area;
    return open_in(d, ops, &world, &MPID_core.services, why, cap);
}

static uint64_t pages(uint32_t bytes)
{
    return (bytes + 4095ull) & ~4095ull;
}

static char why_not[160]; /* the device that could not be opened last: its words */

/* Why not even to try; NULL: try.  A plug-in was asked for: it is always tried. */
static const char *useless(const struct dev_ops *ops, bool plugin)
{
    return !MPID_Dev_listed(ku_knob_str("DEVICES"), ops->name) ? "KEEL_DEVICES does not name it"
           : MPID_core.ndevs == CORE_DEVICES                   ? "there are too many devices"
           : !plugin && !of_use(ops->reach)                    ? "no rank needs it"
                                                               : NULL;
}

/* Open one; a device that cannot serve here is no failure of the job. */
static bool open_one(const struct dev_ops *ops, bool plugin)
{
    struct core_dev *d = &MPID_core.devs[MPID_core.ndevs];
    uint64_t area = MPID_core.area_off;
    const char *no_use = useless(ops, plugin);
    char why[240];
    MPID_core.area_off += pages(ops->area_bytes); /* the same in all ranks, whether it opens or not */
    if (no_use != NULL) {
        MPID_Devset_passed(ops->name, "%s", no_use);
        return false;
    }
    if (plugin) /* others say why they do not open */
        ku_err_clear();
    if (!open_as(d, ops, area, why, sizeof why)) {
        MPID_Debug("device %s does not serve here: %s", ops->name, why);
        MPID_Devset_passed(ops->name, "it does not open: %s", why);
        snprintf(why_not, sizeof why_not, "; %.20s: %.130s", ops->name, why);
        return false;
    }
    d->has_reserve = d->ops.reserve != dev_no_reserve;
    d->word = d->ops.wait_word(d->dev);
    d->fd = d->ops.wait_fd(d->dev);
    if ((d->caps.reach & ~DEV_REACH_SELF) != 0)
        MPID_core.poll[MPID_core.npoll++] = d;
    MPID_core.ndevs++;
    return true;
}

/* Does an open device reach processes of other jobs? */
static bool reaches_others(void)
{
    for (int i = 0; i < MPID_core.ndevs; i++)
        if (MPID_core.devs[i].ops.reach == DEV_REACH_ANY && (MPID_core.devs[i].caps.reach & DEV_REACH_ANY))
            return true;
    return false;
}

int MPID_Devset_reach_others(void)
{
    why_not[0] = 0;
    MPID_core.world.others = true;
    for (int i = 0; builtin[i] != NULL && !reaches_others(); i++)
        if (builtin[i]->reach == DEV_REACH_ANY)
            open_one(builtin[i], true);
    if (reaches_others())
        return 0;
    return ku_err_set(MPI_ERR_OTHER, NULL, "no device %s%.50s can reach processes of other jobs%s",
                      ku_knob_str("DEVICES") ? "of KEEL_DEVICES=" : "here",
                      ku_knob_str("DEVICES") ? ku_knob_str("DEVICES") : "", why_not);
}

/* ---- The device of a node's memory, opened for joint segments ---- */

static const struct dev_ops *node_device(void)
{
    for (int i = 0; builtin[i] != NULL; i++)
        if (builtin[i]->reach == DEV_REACH_NODE && MPID_Dev_listed(ku_knob_str("DEVICES"), builtin[i]->name))
            return builtin[i];
    return NULL;
}

bool MPID_Devset_has_node(void)
{
    return node_device() != NULL;
}

bool MPID_Devset_open_node(struct core_dev *d, const struct dev_world *world,
                           const struct dev_services *services)
{
    char why[240];
    if (!open_in(d, node_device(), world, services, why, sizeof why)) {
        MPID_Debug("no shared memory with other jobs: %s", why);
        return false;
    }
    d->has_reserve = d->ops.reserve != dev_no_reserve;
    return true;
}

void MPID_Devset_poll(struct core_dev *d)
{
    MPID_core.poll[MPID_core.npoll++] = d;
    MPID_Dev_active(d);
}

void MPID_Devset_poll_no_more(struct core_dev *d)
{
    int at = 0;
    while (MPID_core.poll[at] != d)
        at++;
    if (at < MPID_core.nactive) {
        MPID_core.poll[at] = MPID_core.poll[--MPID_core.nactive];
        at = MPID_core.nactive;
    }
    MPID_core.poll[at] = MPID_core.poll[--MPID_core.npoll];
    MPID_Dev_take();
}

void MPID_Dev_active(struct core_dev *d)
{
    for (int i = MPID_core.nactive; i < MPID_core.npoll; i++)
        if (MPID_core.poll[i] == d) {
            MPID_core.poll[i] = MPID_core.poll[MPID_core.nactive];
            MPID_core.poll[MPID_core.nactive++] = d;
        }
    MPID_Dev_take();
}

void MPID_Dev_take_none(void)
{
    MPID_core.take_from = NULL;
    MPID_core.next = dev_no_next(NULL);
}

void MPID_Dev_take(void)
{
    MPID_Dev_take_none();
    for (int i = MPID_core.nactive - 1; i >= 0 && needs_nothing(); i--)
        if (MPID_core.poll[i]->near.take != dev_no_take) {
            MPID_core.take_from = MPID_core.poll[i]->dev;
            MPID_core.take = MPID_core.poll[i]->near.take;
            MPID_core.take_long = MPID_core.poll[i]->near.take_long;
            MPID_core.next = MPID_core.poll[i]->near.next(MPID_core.take_from);
            MPID_core.took = MPID_core.poll[i]->near.took;
        }
}

static bool better(const struct core_dev *a, const struct core_dev *b)
{
    if (b == NULL || a->caps.latency_ns != b->caps.latency_ns)
        return b == NULL || a->caps.latency_ns < b->caps.latency_ns;
    return a->caps.priority > b->caps.priority;
}

/* Does it reach this node's other ranks; the other nodes'? */
static bool reaches_part(const struct core_dev *d, bool here)
{
    return (d->caps.reach & (here ? DEV_REACH_NODE | DEV_REACH_ANY : DEV_REACH_ANY)) != 0;
}

static struct core_dev *best_for_part(bool here, const bool tried[CORE_DEVICES])
{
    struct core_dev *best = NULL;
    for (int i = 0; i < MPID_core.ndevs; i++)
        if (!(tried != NULL && tried[i]) && reaches_part(&MPID_core.devs[i], here) &&
            better(&MPID_core.devs[i], best))
            best = &MPID_core.devs[i];
    return best;
}

struct core_dev *MPID_Dev_best(bool here)
{
    return best_for_part(here, NULL);
}

struct MPID_Cost MPID_Cost_of(bool here)
{
    const struct core_dev *d = best_for_part(here, NULL);
    return d ? (struct MPID_Cost){ d->caps.latency_ns, d->caps.bandwidth_mbs } : (struct MPID_Cost){ 0 };
}

/* The last one opened is not wanted after all. */
static void close_last(void)
{
    struct core_dev *d = &MPID_core.devs[--MPID_core.ndevs];
    if (MPID_core.npoll > 0 && MPID_core.poll[MPID_core.npoll - 1] == d)
        MPID_core.npoll--;
    d->ops.close(d->dev);
    d->ops.fini(d->dev);
}

/* Nobody has asked for it, and a built-in device costs less: it would be looked at in vain. */
static void open_plugin(const struct dev_ops *ops)
{
    const struct core_dev *d = &MPID_core.devs[MPID_core.ndevs], *best = MPID_Dev_best(false);
    bool asked = ku_knob_is_set("DEVICES") || ku_knob_is_set("PLUGINS");
    remember_plugin(ops->name);
    if (!open_one(ops, true) || asked || best == NULL || !reaches_part(d, false) || better(d, best))
        return;
    MPID_Devset_passed(ops->name, "it costs more (%.1f us) than %s", d->caps.latency_ns / 1000.0,
                       best->ops.name);
    close_last();
}

static bool is_here(int32_t grank)
{
    return dev_local_of(&MPID_core.world, grank) >= 0;
}

bool MPID_Dev_serves(const struct core_dev *d, int32_t grank)
{
    const struct peer *p = MPID_core.peers.at[grank];
    const struct core_dev *joint = MPID_Joint_serves(grank);
    return d == (p != NULL && !p->undecided ? p->cd
                 : joint != NULL            ? joint
                                            : best_for_part(is_here(grank), NULL));
}

/* The devices that the peers here, and those elsewhere, will use are looked at from the start. */
static void expect_best(void)
{
    struct core_dev *here = MPID_core.world.local_size > 1 ? best_for_part(true, NULL) : NULL;
    struct core_dev *far =
        MPID_core.world.size > MPID_core.world.local_size ? best_for_part(false, NULL) : NULL;
    if (here != NULL)
        MPID_Dev_active(here);
    if (far != NULL)
        MPID_Dev_active(far);
}

/* ---- Addresses.  A card is, for each device with an address: the length of its name, the name, then in four
 * bytes each the length of the address and the device's latency here in ns, and the address. ---- */

struct card_entry {
    uint32_t len, latency; /* little-endian */
};

/* A card to be, of any length. */
struct card {
    uint8_t *bytes;
    size_t len, cap;
};

/* Room for n bytes more; NULL: there is no memory. */
static uint8_t *card_room(struct card *c, size_t n)
{
    if (c->cap - c->len < n) {
        size_t cap = 2 * c->cap + n + 256;
        uint8_t *more = realloc(c->bytes, cap);
        if (more == NULL)
            return NULL;
        c->bytes = more;
        c->cap = cap;
    }
    return c->bytes + c->len;
}

/* Of one device.  Few devices' addresses do not fit at once. */
static int card_add(struct card *c, struct core_dev *d)
{
    enum { USUAL = 256 };
    size_t name = strlen(d->ops.name), head = 1 + name + sizeof(struct card_entry), n = USUAL, room;
    struct card_entry entry;
    uint8_t *at;
    do {
        room = n;
        if ((at = card_room(c, head + room)) == NULL)
            return ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the address of device %.40s", d->ops.name);
        n = d->ops.address(d->dev, at + head, room);
    } while (n > room && n <= DEV_ADDRESS_MAX);
    if (n > DEV_ADDRESS_MAX || name > 255)
        return ku_err_set(MPI_ERR_OTHER, NULL,
                          "the address of device %.40s has %zu bytes; expected at most %d", d->ops.name, n,
                          DEV_ADDRESS_MAX);
    d->has_address = n > 0;
    if (n == 0)
        return 0;
    entry = (struct card_entry){ ku_le32((uint32_t)n), ku_le32(d->caps.latency_ns) };
    *at++ = (uint8_t)name;
    memcpy(at, d->ops.name, name);
    memcpy(at + name, &entry, sizeof entry);
    c->len += head + n;
    return 0;
}

/* The addresses of all devices; c->bytes is to be freed. */
static int make_card(struct card *c)
{
    int err = 0;
    for (int i = 0; i < MPID_core.ndevs && err == 0; i++)
        err = card_add(c, &MPID_core.devs[i]);
    return err;
}

static int write_card(void)
{
    struct card c = { 0 };
    int err = MPID_core.job.size > 1 ? make_card(&c) : 0;
    if (err == 0 && MPID_core.job.size > 1 &&
        pmi_card(&MPID_core.job, &MPID_core.heap, c.bytes, (uint32_t)c.len) != 0)
        err = ku_err_last()->code = MPI_ERR_OTHER; /* the words stay */
    free(c.bytes);
    return err;
}

size_t MPID_Others_card(void *buf, size_t cap)
{
    struct card c = { 0 };
    size_t n = make_card(&c) == 0 ? c.len : 0;
    if (n > 0 && cap > 0)
        memcpy(buf, c.bytes, n < cap ? n : cap);
    free(c.bytes);
    return n;
}

/* The address of a device in a card, and its latency there; 0 bytes: it has none there. */
static size_t find_address(const struct ku_card *c, const char *device, const uint8_t **address,
                           uint32_t *latency)
{
    const uint8_t *at = c->bytes, *end = at + c->len;
    struct card_entry entry;
    while (end - at > (ptrdiff_t)sizeof entry && end - at > 1 + *at + (ptrdiff_t)sizeof entry) {
        const uint8_t *name = at + 1;
        size_t names = *at, n;
        memcpy(&entry, name + names, sizeof entry);
        n = ku_le32(entry.len);
        *latency = ku_le32(entry.latency);
        *address = name + names + sizeof entry;
        if (n > (size_t)(end - *address))
            break;
        if (names == strlen(device) && memcmp(name, device, names) == 0)
            return n;
        at = *address + n;
    }
    return 0;
}

/* As dev_services.address answers. */
static size_t copy_address(const struct ku_card *c, const char *device, void *buf, size_t cap)
{
    const uint8_t *address;
    uint32_t latency;
    size_t n = find_address(c, device, &address, &latency);
    if (n == 0)
        return DEV_ADDRESS_NEVER;
    memcpy(buf, address, n < cap ? n : cap);
    return n;
}

/* Of a process of another job. */
static size_t address_of_other(const char *device, int32_t peer, void *buf, size_t cap)
{
    struct ku_card c = { 0 };
    c.bytes = MPID_Jobs_card(peer, &c.len);
    return c.bytes != NULL && !peer_gone(peer) ? copy_address(&c, device, buf, cap) : DEV_ADDRESS_NEVER;
}

/* Of a rank of the job: KU_CARD_THERE, and ku_card_done follows; KU_CARD_NONE: not yet; KU_CARD_ABSENT: perhaps
 * never; else never. */
static enum ku_card_state card_of(int32_t grank, struct ku_card *c)
{
    if (grank < 0 || peer_gone(grank) || ku_segment_gone(&MPID_core.job.segment)[grank])
        return KU_CARD_PAST;
    enum ku_card_state is = pmi_card_of(&MPID_core.job, &MPID_core.heap, grank, c);
    if (is == KU_CARD_LACKING)
        MPID_Broken("there is no shared memory for the addresses of rank %d", (int)grank);
    return is;
}

size_t MPID_Dev_address(void *arg, int32_t grank, void *buf, size_t cap)
{
    const char *device = ((const struct core_dev *)arg)->ops.name;
    struct ku_card c;
    if (grank >= MPID_core.job.size)
        return address_of_other(device, grank, buf, cap);
    enum ku_card_state is = card_of(grank, &c);
    struct peer *p = grank < MPID_core.peers.n ? MPID_core.peers.at[grank] : NULL;
    if (p != NULL)
        p->awaits = is == KU_CARD_NONE;
    if (is != KU_CARD_THERE)
        return is == KU_CARD_NONE || is == KU_CARD_ABSENT ? 0 : DEV_ADDRESS_NEVER;
    size_t n = copy_address(&c, device, buf, cap);
    ku_card_done(&MPID_core.heap, &c);
    return n;
}

/* ---- Opening and closing ---- */

int MPID_Devset_open(void)
{
    const char *hooks = ku_knob_str("HOOKS");
    bool may_help;
    int err;
    if (hooks != NULL && !dev_hook_parse(hooks, &(struct dev_hook_how){ 0 }))
        return ku_err_last()->code = MPI_ERR_OTHER; /* the words stay */
    if (!read_costs(ku_knob_str("DEVICE_COSTS"), "", &(uint32_t){ 0 }))
        return ku_err_set(MPI_ERR_OTHER, NULL,
                          "KEEL_DEVICE_COSTS is \"%.60s\"; expected NAME=NS,..., such as ofi=1500",
                          ku_knob_str("DEVICE_COSTS"));
    MPID_core.area_off = 0;
    why_not[0] = 0;
    MPID_Dev_take_none();
    for (int i = 0; builtin[i] != NULL; i++)
        open_one(builtin[i], false);
    may_help = ku_knob_is_set("DEVICES") || lacking() != 0 || MPID_core.job.size > MPID_core.job.local_size;
    if (!may_help)
        MPID_Devset_passed("plug-ins", "no rank needs one");
    err = MPID_Plugins_open(open_plugin, is_plugin_wanted, may_help);
    if (err == 0 && lacking() != 0)
        err = ku_err_set(MPI_ERR_OTHER, NULL,
                         "no device %s%.50s can reach the ranks %s; the job has %d ranks%s%s",
                         ku_knob_str("DEVICES") ? "of KEEL_DEVICES=" : "here",
                         ku_knob_str("DEVICES") ? ku_knob_str("DEVICES") : "",
                         lacking() & DEV_REACH_NODE ? "of this node" : "of other nodes",
                         (int)MPID_core.job.size, no_such_device(), why_not);
    if (err != 0)
        return err;
    expect_best();
    MPID_Devset_show();
    return write_card();
}

/* ---- A look at each, outside of a job ---- */

static void (*look_tell)(const struct MPID_Device *d, void *arg);
static void *look_arg;

void MPID_Devset_about(const struct core_dev *d, struct MPID_Device *about)
{
    const struct dev_caps *c = &d->caps;
    about->reach = c->reach & DEV_REACH_ANY ? "any" : c->reach & DEV_REACH_NODE ? "node" : "self";
    about->latency_ns = c->latency_ns;
    about->bandwidth_mbs = c->bandwidth_mbs;
    about->max_short = c->max_short;
    about->max_send = c->max_send;
    about->max_lying = c->max_lying;
    about->has_put = d->mem.put != NULL;
    about->has_atomic = d->mem.put != NULL && d->mem.atomic != NULL;
    about->unaided = c->unaided;
    about->through[0] = 0;
    if (d->ops.about != NULL)
        d->ops.about(d->dev, about->through, sizeof about->through);
}

static void look_at(const struct dev_ops *ops, const char *from)
{
    struct core_dev *d = &MPID_core.devs[0];
    struct MPID_Device about = { .name = ops->name,
                                 .from = from,
                                 .left_out = !MPID_Dev_listed(ku_knob_str("DEVICES"), ops->name) };
    char why[240];
    ku_err_clear();
    if (!open_as(d, ops, MPID_core.area_off, why, sizeof why)) {
        about.why_not = why;
        look_tell(&about, look_arg);
    } else {
        MPID_Devset_about(d, &about);
        look_tell(&about, look_arg);
        d->ops.close(d->dev);
        d->ops.fini(d->dev);
    }
    MPID_core.area_off += pages(ops->area_bytes);
}

static void look_at_plugin(const char *path, const struct dev_ops *ops)
{
    if (ops != NULL)
        look_at(ops, path);
    else
        look_tell(&(struct MPID_Device){ .name = "", .from = path, .why_not = ku_err_last()->text },
                  look_arg);
}

void MPID_Devset_look(void (*tell)(const struct MPID_Device *d, void *arg), void *arg)
{
    look_tell = tell;
    look_arg = arg;
    MPID_core.area_off = 0;
    for (int i = 0; builtin[i] != NULL; i++)
        look_at(builtin[i], "built in");
    MPID_Plugins_look(look_at_plugin);
}

void MPID_Devset_close(void)
{
    for (struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        if (p->dp != NULL)
            p->cd->ops.peer_stop(p->dp);
    MPID_Dev_take_none();
    MPID_Joints_close();
    for (int i = 0; i < MPID_core.ndevs; i++)
        MPID_core.devs[i].ops.close(MPID_core.devs[i].dev);
}

void MPID_Devset_fini(void)
{
    for (struct peer *p = MPID_core.peers.first; p != NULL; p = p->next_used)
        if (p->dp != NULL)
            p->cd->ops.peer_fini(p->dp);
    MPID_Peers_fini(&MPID_core.peers);
    MPID_Lanes_tune();
    MPID_Joints_fini();
    for (int i = 0; i < MPID_core.ndevs; i++)
        MPID_core.devs[i].ops.fini(MPID_core.devs[i].dev);
    MPID_core.ndevs = MPID_core.npoll = MPID_core.nactive = 0;
    MPID_Dev_take_none();
}

/* ---- Peers ---- */

/* Costs, not names: rendezvous costs two more half round trips; an eager message costs one more copy if it comes before
 * its receive.  Taken that one in eight does, they break even at 16 * latency * bandwidth, but for messages of
 * which both sides copy one part while another is on its way. */
void MPID_Peer_tune(struct peer *p)
{
    enum { EAGER_MOST = 32 << 10 };
    const struct dev_caps *c = &p->cd->caps;
    uint64_t even = 16ull * c->latency_ns * c->bandwidth_mbs / 1000;
    if (even < 4096)
        even = 4096;
    if (!c->stream && even > EAGER_MOST)
        even = EAGER_MOST;
    if (MPID_core.pkt_size > 0)
        even = (uint64_t)MPID_core.pkt_size;
    p->eager_max = even < c->max_send ? (uint32_t)even : c->max_send;
    p->lane = p->cd->near.lane(p->dp);
}

void MPID_Peer_update(struct peer *p)
{
    peer_set_fast(p, p->msg_head == NULL && !p->xoff && needs_nothing() && !p->gone && !p->undecided &&
                         (MPID_core.pkt_size == 0 || MPID_core.pkt_size >= PKT_SHORT_MAX));
}

void MPID_Peer_busy(struct peer *p)
{
    if (!p->busy) {
        p->busy = true;
        p->busy_next = MPID_core.busy;
        MPID_core.busy = p;
    }
}

static void not_busy(struct peer *p)
{
    struct peer **at = &MPID_core.busy;
    while (*at != NULL && *at != p)
        at = &(*at)->busy_next;
    if (*at == p)
        *at = p->busy_next;
}

static bool part(struct core_dev *d, int32_t grank)
{
    return d->ops.part == NULL || d->ops.part(d->dev, grank) == DEV_OK;
}

/* The device that the peer uses is asked last: its struct dev_peer is gone then. */
bool MPID_Peer_part(int32_t grank)
{
    struct peer *p = MPID_core.peers.at[grank];
    if (p != NULL && p->grank != grank) /* lost before it was used */
        p = NULL;
    if (p != NULL && (MPID_Peer_has_work(p) || MPID_Rndv_has(p)))
        return false;
    for (int i = 0; i < MPID_core.ndevs; i++)
        if ((p == NULL || p->cd != &MPID_core.devs[i]) && !part(&MPID_core.devs[i], grank))
            return false;
    bool joint = p != NULL && p->cd == MPID_Joint_serves(grank);
    if (p != NULL && !joint && (p->cd->ops.part == NULL || !part(p->cd, grank)))
        return false;
    if (!MPID_Joint_part(grank))
        return false;
    if (p != NULL)
        not_busy(p);
    MPID_Peers_forget(&MPID_core.peers, grank);
    return true;
}

static struct core_dev *pick(int32_t grank, struct dev_peer **dp)
{
    bool tried[CORE_DEVICES] = { false };
    struct core_dev *joint = MPID_Joint_serves(grank);
    if (joint != NULL && joint->ops.peer_init(joint->dev, grank, dp) == DEV_OK)
        return joint;
    for (;;) {
        struct core_dev *best = best_for_part(is_here(grank), tried);
        if (best == NULL)
            return NULL;
        if (best->ops.peer_init(best->dev, grank, dp) == DEV_OK)
            return best;
        tried[best - MPID_core.devs] = true;
    }
}

/* ---- Peers whose card decides ---- */

static dev_status not_yet_short(struct dev_peer *peer, const struct dev_head *head, const void *body)
{
    (void)peer, (void)head, (void)body;
    return DEV_AGAIN;
}

static dev_status not_yet(struct dev_peer *peer, const struct dev_head *head, const struct dev_iov *iov,
                          int n, void *cookie)
{
    (void)peer, (void)head, (void)iov, (void)n, (void)cookie;
    return DEV_AGAIN;
}

/* What stands in for the device that would be the best one. */
static struct core_dev *stand_in(const struct core_dev *best)
{
    static const struct dev_ops ops = { .size = sizeof ops, .send_short = not_yet_short, .send = not_yet };
    static struct core_dev in;
    fill_in(&in, &ops);
    in.caps = best->caps;
    in.caps.has_get = in.caps.unaided = false;
    in.has_reserve = true; /* of which there is none now */
    return &in;
}

/* Could another device than the best one serve the rank, and is it the rank's card that tells? */
static const struct core_dev *card_decides(int32_t grank)
{
    bool tried[CORE_DEVICES] = { false };
    const struct core_dev *best = best_for_part(is_here(grank), NULL);
    if (grank >= MPID_core.job.size || best == NULL || !best->has_address)
        return NULL;
    tried[best - MPID_core.devs] = true;
    return best_for_part(is_here(grank), tried) != NULL ? best : NULL;
}

/* What a message costs, by both ends' account; UINT32_MAX: the peer does not have the device. */
static uint32_t cost_of_pair(const struct core_dev *d, const struct ku_card *c)
{
    const uint8_t *address;
    uint32_t theirs;
    if (!d->has_address)
        return d->caps.latency_ns;
    if (find_address(c, d->ops.name, &address, &theirs) == 0)
        return UINT32_MAX;
    return theirs > d->caps.latency_ns ? theirs : d->caps.latency_ns;
}

/* The same at both ends, also of two that cost as much. */
static struct core_dev *best_of_pair(bool here, const struct ku_card *c, const bool tried[CORE_DEVICES])
{
    struct core_dev *best = NULL;
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < MPID_core.ndevs; i++) {
        struct core_dev *d = &MPID_core.devs[i];
        uint32_t cost = !tried[i] && reaches_part(d, here) ? cost_of_pair(d, c) : UINT32_MAX;
        if (cost < least || (cost == least && best != NULL && strcmp(d->ops.name, best->ops.name) < 0)) {
            best = d;
            least = cost;
        }
    }
    return best;
}

static struct core_dev *pick_by_card(int32_t grank, const struct ku_card *c, struct dev_peer **dp)
{
    bool tried[CORE_DEVICES] = { false };
    struct core_dev *best;
    while ((best = best_of_pair(is_here(grank), c, tried)) != NULL &&
           best->ops.peer_init(best->dev, grank, dp) != DEV_OK)
        tried[best - MPID_core.devs] = true;
    return best;
}

/* Its device is known: from now on messages go there, also those of threads that look at `fast` alone. */
static void serve(struct peer *p)
{
    p->undecided = false;
    p->send_short = p->cd->ops.send_short;
    MPID_Dev_active(p->cd);
    MPID_Peer_tune(p);
    MPID_Peer_update(p);
}

static bool decide(struct peer *p, const struct ku_card *c)
{
    struct dev_peer *dp;
    struct core_dev *cd = pick_by_card(p->grank, c, &dp);
    if (cd == NULL)
        return false;
    p->cd = cd;
    p->dp = dp;
    serve(p);
    if (cd != MPID_Dev_best(is_here(p->grank)))
        MPID_Devset_show_other(p->grank, cd, MPID_Dev_best(is_here(p->grank)));
    return true;
}

bool MPID_Peer_awaits(struct peer *p)
{
    struct ku_card c;
    if (!p->awaits || p->gone)
        return false;
    enum ku_card_state is = card_of(p->grank, &c);
    if (is == KU_CARD_THERE)
        ku_card_done(&MPID_core.heap, &c);
    p->awaits = is == KU_CARD_NONE;
    return is == KU_CARD_NONE || is == KU_CARD_THERE;
}

bool MPID_Peer_decide(struct peer *p)
{
    struct ku_card c;
    enum ku_card_state is = p->gone ? KU_CARD_PAST : card_of(p->grank, &c);
    bool served = false;
    p->awaits = is == KU_CARD_NONE;
    if (is == KU_CARD_NONE || is == KU_CARD_ABSENT)
        return false;
    if (is == KU_CARD_THERE) {
        served = decide(p, &c);
        ku_card_done(&MPID_core.heap, &c);
    }
    if (is == KU_CARD_THERE && !served) {
        char text[160];
        snprintf(text, sizeof text, "rank %d has no device in common with rank %d%s%.60s",
                 (int)MPID_core.job.rank, (int)p->grank, ku_knob_str("DEVICES") ? "; KEEL_DEVICES=" : "",
                 ku_knob_str("DEVICES") ? ku_knob_str("DEVICES") : "");
        MPID_Message(text);
    }
    if (!served)
        MPID_Peer_gone(p->grank);
    return true;
}

struct peer *MPID_Peer_make(int32_t grank, int *error_code)
{
    const struct core_dev *best;
    struct peer *p;
    if (grank < 0 || grank >= MPID_core.peers.n) {
        *error_code = ku_err_set(MPI_ERR_RANK, "dest_grank", "is %d; expected 0 to %d", (int)grank,
                                 (int)MPID_core.peers.n - 1);
        return NULL;
    }
    p = calloc(1, sizeof *p);
    if (p == NULL) {
        *error_code = ku_err_set(MPI_ERR_NO_MEM, NULL, "no memory for the connection to rank %d", (int)grank);
        return NULL;
    }
    p->grank = grank;
    ku_err_clear();
    best = card_decides(grank);
    p->undecided = best != NULL;
    p->cd = best != NULL ? stand_in(best) : pick(grank, &p->dp);
    if (p->cd == NULL) {
        free(p);
        *error_code = ku_err_set(MPI_ERR_OTHER, NULL, "no device can talk to rank %d: %.150s", (int)grank,
                                 ku_err_last()->code != 0 ? ku_err_last()->text : "none reaches it");
        return NULL;
    }
    p->send_short = p->cd->ops.send_short;
    if (!p->undecided)
        MPID_Dev_active(p->cd);
    MPID_Peer_tune(p);
    MPID_Peer_update(p);
    MPID_Peers_put(&MPID_core.peers, p);
    if (p->undecided && !MPID_Peer_decide(p))
        MPID_Peer_busy(p);
    return p;
}

dev_status MPID_Peer_control(struct peer *p, const struct pkt *k)
{
    dev_status s = p->gone ? DEV_PEER_GONE : p->send_short(p->dp, &k->head, k->body);
    if (s == DEV_PEER_GONE)
        MPID_Peer_gone(p->grank);
    else if (s == DEV_OK)
        tell_packet('>', p->grank, &k->head, k->head.len);
    return s;
}
