/* device.c: records activities of devices. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler.h"
#include "stack.h"
#include "trace/base/clock.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/device.h"
#include "write.h"
#include "zones.h"

const char *const trace_launch_fields[TRACE_LAUNCH_FIELDS] = {"count", "stream",
                                                              "kernel.name"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Call sites ---- */

/* Activities of one kind and name share a call site, so that its facts are
 * recorded once. They are never freed. */
struct device_site {
    struct trace_site site;
    const char *const *fields; /* as they were given */
    const char *name, *symbol; /* the same, if they are kept */
    uint16_t kind;
    char text[]; /* name and symbol */
};

static struct trace_table device_sites; /* by trace_activity_key */

void trace_device_lock(void)
{
    trace_generation();
    pthread_mutex_lock(&lock);
}

void trace_device_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void trace_device_unlock_forked(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static bool has_names_of(const struct device_site *one,
                         const struct trace_activity *activity)
{
    if (activity->kept)
        return one->name == activity->name && one->symbol == activity->symbol;
    return !strcmp(one->site.name, activity->name) &&
           !strcmp(one->site.function,
                   activity->symbol ? activity->symbol : activity->name);
}

static bool is_of(const struct device_site *one,
                  const struct trace_activity *activity)
{
    return one->kind == activity->at.kind && one->fields == activity->fields &&
           one->site.field_count == activity->field_count &&
           one->site.level == trace_activity_level(activity) &&
           has_names_of(one, activity);
}

static struct device_site *make_site(const struct trace_activity *activity)
{
    struct trace_site site = trace_activity_site(activity);
    size_t name = strlen(site.name) + 1, symbol = strlen(site.function) + 1;
    struct device_site *one = malloc(sizeof(*one) + name + symbol);

    if (!one)
        return NULL;
    site.name = memcpy(one->text, site.name, name);
    site.function = memcpy(one->text + name, site.function, symbol);
    site.interest = TRACE_UNREGISTERED;
    one->site = site;
    one->fields = activity->fields;
    one->name = activity->kept ? activity->name : NULL;
    one->symbol = activity->kept ? activity->symbol : NULL;
    one->kind = activity->at.kind;
    trace_site_register(&one->site);
    return one;
}

/* Returns NULL without memory. */
static struct trace_site *site_of(const struct trace_activity *activity,
                                  uint64_t key)
{
    struct device_site *one;
    uintptr_t found;

    if (trace_table_find(&device_sites, key, &found)) {
        one = (struct device_site *)found;
        if (is_of(one, activity))
            return &one->site;
    }
    one = make_site(activity);
    if (one)
        trace_table_set(&device_sites, key, (uintptr_t)one);
    return one ? &one->site : NULL;
}

/* ---- Records ---- */

static void put(struct trace_site *site, const struct trace_activity *activity)
{
    struct trace_value values[1 + TRACE_LAUNCH_FIELDS + TRACE_ACTIVITY_FIELDS];
    struct trace_writer *writer = trace_enter();
    size_t count = activity->field_count;

    if (!writer)
        return;
    if (activity->at.launched)
        count += TRACE_LAUNCH_FIELDS;
    values[0] = trace_bytes(&activity->at, sizeof(activity->at));
    if (count)
        memcpy(values + 1, activity->values, count * sizeof(*values));

    struct trace_record *record =
        trace_put_of(writer, TRACE_KIND_DEVICE, site, activity->span, count + 1,
                     values, trace_values_size(count + 1, values));

    if (record) {
        record->end = activity->end;
        trace_publish(writer, record);
    }
    trace_leave(writer);
}

/* Whether a kernel was launched after the recording had ended, as in an exit
 * handler of the program. */
static bool is_late(const struct trace_activity *activity)
{
    const struct trace_header *header = trace_header_now();

    return activity->at.launched && header && header->ended &&
           activity->at.begin > header->end.ticks;
}

void trace_device_put(const struct trace_activity *activity)
{
    struct trace_site *site = NULL;
    int error = errno;
    uint64_t key;

    if (!trace_is_recording() && is_late(activity))
        trace_lose(TRACE_LOSS_END);
    if (!trace_is_recording() || activity->field_count > TRACE_ACTIVITY_FIELDS)
        return;
    key =
        trace_activity_key(activity); /* other threads need not wait for that */
    trace_device_lock();
    site = site_of(activity, key);
    trace_device_unlock();
    if (site) {
        trace_for_device = true;
        put(site, activity);
        trace_for_device = false;
        trace_zones_launched(site->name, activity);
    } else {
        trace_lose(TRACE_LOSS_MEMORY);
    }
    errno = error;
}

void trace_device_say(unsigned level, const char *message)
{
#define SITE(of)                                                               \
    [of] = {                                                                   \
        .name = "",                                                            \
        .target = "gpu",                                                       \
        .file = "",                                                            \
        .function = "",                                                        \
        .level = of,                                                           \
        .interest = TRACE_UNREGISTERED                                         \
    }
    static struct trace_site sites[] = {
        SITE(TRACE_LEVEL_ERROR), SITE(TRACE_LEVEL_WARN), SITE(TRACE_LEVEL_INFO),
        SITE(TRACE_LEVEL_DEBUG), SITE(TRACE_LEVEL_TRACE)};
#undef SITE

    if (level >= TRACE_LEVEL_ERROR && level <= TRACE_LEVEL_TRACE)
        trace_message(&sites[level], message);
}

void trace_device_note(const char *name, const char *value)
{
    struct trace_value pair[] = {trace_text_(name), trace_text_(value)};
    struct trace_writer *writer = trace_is_recording() ? trace_enter() : NULL;
    struct trace_record *record;

    if (!writer)
        return;
    record = trace_put_meta(writer, 2, pair);
    if (record)
        trace_commit(writer, record);
    trace_leave(writer);
}

void trace_raw_note(uint32_t what, uint64_t key, const void *bytes, size_t size)
{
    struct trace_value pair[] = {trace_u64_(key), trace_bytes(bytes, size)};
    struct trace_writer *writer = trace_is_recording() ? trace_enter() : NULL;
    struct trace_record *record;

    if (!writer)
        return;
    record = trace_put(writer, TRACE_KIND_RAW_NOTE, what, 2, pair);
    if (record)
        trace_commit(writer, record);
    trace_leave(writer);
}

/* The notes of back ends in this process. */
static struct note {
    char *name, *value;
} * notes;
static size_t note_count, note_room;

static struct note *note_of(const char *name)
{
    for (size_t i = 0; i < note_count; i++)
        if (!strcmp(notes[i].name, name))
            return &notes[i];
    return NULL;
}

static void keep_note(const char *name, const char *value)
{
    struct note made = {strdup(name), strdup(value)}, *note;

    trace_device_lock();
    note = note_of(name);
    if (note && made.value) {
        free(note->value);
        note->value = made.value;
        free(made.name);
    } else if (!note && made.name && made.value &&
               TRACE_ARRAY_RESERVE(notes, note_room, note_count + 1)) {
        notes[note_count++] = made;
    } else {
        free(made.name);
        free(made.value);
    }
    trace_device_unlock();
}

static void note_and_keep(const char *name, const char *value)
{
    keep_note(name, value);
    trace_device_note(name, value);
}

void trace_device_note_again(void)
{
    for (size_t i = 0; i < note_count; i++)
        trace_device_note(notes[i].name, notes[i].value);
}

/* ---- Demands for what is held back ---- */

static struct trace_demand own_demand, *demand = &own_demand;

void trace_device_demand_at(struct trace_demand *at)
{
    demand = at;
}

/* Waits until a futex has another value; the memory may be shared. */
static void wait_for(const uint32_t *futex, uint32_t value, uint64_t ns)
{
    struct timespec most = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    syscall(SYS_futex, futex, FUTEX_WAIT, value, &most, NULL, 0);
}

static void wake_all(uint32_t *futex)
{
    syscall(SYS_futex, futex, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void trace_demand(struct trace_demand *of, uint64_t ns)
{
    uint64_t now = trace_clock_ns(CLOCK_MONOTONIC), until = now + ns;
    uint32_t number, met;

    if (!__atomic_load_n(&of->held, __ATOMIC_ACQUIRE))
        return;
    number = __atomic_add_fetch(&of->asked, 1, __ATOMIC_ACQ_REL);
    wake_all(&of->asked);
    while ((int32_t)(number -
                     (met = __atomic_load_n(&of->met, __ATOMIC_ACQUIRE))) > 0 &&
           now < until) {
        wait_for(&of->met, met, until - now);
        now = trace_clock_ns(CLOCK_MONOTONIC);
    }
}

void trace_device_demand(uint64_t ns)
{
    int error = errno;

    if (trace_device_attached())
        trace_demand(demand, ns);
    errno = error;
}

static void hold(bool holds)
{
    __atomic_store_n(&demand->held, holds, __ATOMIC_RELEASE);
}

static uint32_t asked(void)
{
    return __atomic_load_n(&demand->asked, __ATOMIC_ACQUIRE);
}

static void ask(void)
{
    __atomic_add_fetch(&demand->asked, 1, __ATOMIC_ACQ_REL);
    wake_all(&demand->asked);
}

static void wait_for_demand(uint32_t before, uint64_t ns)
{
    wait_for(&demand->asked, before, ns);
}

static void wake(void)
{
    wake_all(&demand->asked);
}

static void met(uint32_t number)
{
    __atomic_store_n(&demand->met, number, __ATOMIC_RELEASE);
    wake_all(&demand->met);
}

static bool is_live(void)
{
    return __atomic_load_n(&trace_recording.reported, __ATOMIC_RELAXED);
}

/* ---- Back ends ---- */

/* Each slot is NULL or a back end; a taken slot is not given back. */
static const struct trace_backend *backends[TRACE_BACKENDS_MOST];
_Static_assert(TRACE_BACKEND_COUNT <= TRACE_BACKENDS_MOST,
               "raise TRACE_BACKENDS_MOST");

static const struct trace_backend *backend_at(size_t slot)
{
    return __atomic_load_n(&backends[slot], __ATOMIC_ACQUIRE);
}

void trace_device_follow(struct trace_writer *writer)
{
    uint32_t span = writer->depth ? writer->stack[writer->depth - 1].span : 0;

    for (size_t i = 0; i < TRACE_BACKENDS_MOST; i++) {
        const struct trace_backend *one = backend_at(i);

        if (one && one->inside)
            one->inside(span);
    }
}

bool trace_device_attached(void)
{
    return backend_at(0);
}

/* Only a back end with `inside` makes entering a span cost more. */
uint32_t trace_device_follower(void)
{
    for (size_t i = 0; i < TRACE_BACKENDS_MOST; i++)
        if (backend_at(i) && backend_at(i)->inside)
            return TRACE_FOLLOWER_DEVICES;
    return 0;
}

/* A forked child does not inherit the back ends. */
void trace_device_forget(void)
{
    for (size_t i = 0; i < TRACE_BACKENDS_MOST; i++)
        __atomic_store_n(&backends[i], NULL, __ATOMIC_RELEASE);
    note_count = 0;
    __atomic_fetch_and(&trace_recording.followers,
                       ~(uint32_t)TRACE_FOLLOWER_DEVICES, __ATOMIC_RELAXED);
}

/* Returns whether the back end is in a slot now and was in none before. */
static bool take_slot(const struct trace_backend *given)
{
    for (size_t i = 0; i < TRACE_BACKENDS_MOST; i++) {
        const struct trace_backend *taken = NULL;

        if (__atomic_compare_exchange_n(&backends[i], &taken, given, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
        if (taken == given)
            return false;
    }
    return false;
}

static bool attach(const struct trace_backend *given)
{
    if (!trace_is_recording() || !take_slot(given))
        return false;
    __atomic_fetch_or(&trace_recording.followers, trace_device_follower(),
                      __ATOMIC_RELEASE);
    return true;
}

static uint32_t current(void)
{
    return trace_span_current().place;
}

struct named {
    uint32_t id; /* of a call site */
    const char *name;
};

static void take_name(struct trace_site *site, void *context)
{
    struct named *named = context;

    if (__atomic_load_n(&site->id, __ATOMIC_RELAXED) == named->id && site->name)
        named->name = site->name;
}

static const char *name_of(uint32_t span)
{
    struct named named = {.name = ""};
    struct trace_writer *writer =
        span && !trace_unrecorded(span) ? trace_enter() : NULL;

    if (!writer)
        return "";
    named.id = trace_record_at(writer, span)->site;
    trace_leave(writer);
    if (named.id)
        trace_site_each(take_name, &named);
    return named.name;
}

void trace_device_flush(bool last)
{
    int error = errno;

    for (size_t i = 0; i < TRACE_BACKENDS_MOST; i++)
        if (backend_at(i) && backend_at(i)->flush)
            backend_at(i)->flush(last);
    if (last)
        trace_zones_end();
    errno = error;
}

void trace_device_resume(void)
{
    for (size_t i = 0; i < TRACE_BACKENDS_MOST; i++)
        if (backend_at(i) && backend_at(i)->resume)
            backend_at(i)->resume();
    trace_zones_resume();
}

void trace_device_pause(void)
{
    for (size_t i = 0; i < TRACE_BACKENDS_MOST; i++)
        if (backend_at(i) && backend_at(i)->pause)
            backend_at(i)->pause();
}

/* ---- Publishing ---- */

#define MAGIC "testlog devices"
static const char variable[] = "TESTLOG_DEVICES";

static struct trace_profiler profiler; /* once it is configured */
static bool configured;

void trace_device_configure(const struct trace_profiler *given)
{
    profiler = *given;
    configured = true;
}

const struct trace_device_host *trace_device_host(void)
{
    static struct trace_device_host host = {
        .magic = MAGIC,
        .version = TRACE_DEVICE_VERSION,
        .recording = trace_is_recording,
        .now = trace_clock_now,
        .put = trace_device_put,
        .say = trace_device_say,
        .note = note_and_keep,
        .attach = attach,
        .current = current,
        .name = name_of,
        .anchor = trace_anchor_now,
        .push = trace_annotation_push,
        .start = trace_annotation_start,
        .end = trace_span_end,
        .mark = trace_annotation_mark,
        .stray = trace_annotation_stray,
        .next_ring = trace_zones_next,
        .take_ring = trace_zones_take,
        .forget_ring = trace_zones_forget,
        .live = is_live,
        .hold = hold,
        .asked = asked,
        .ask = ask,
        .wait = wait_for_demand,
        .wake = wake,
        .met = met,
        .raw_possible = trace_raw_possible,
        .raw_take = trace_raw_take,
        .raw_lost = trace_raw_lost,
        .raw_give = trace_raw_give,
        .raw_note = trace_raw_note,
        .generation = trace_generation,
        .has_rings = trace_zones_exist,
        .launched = trace_zones_launched,
    };

    __atomic_store_n(&host.profiler,
                     configured ? &profiler : &trace_profiler_default,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&host.pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
    return &host;
}

static int is_ours(struct dl_phdr_info *object, size_t size, void *path)
{
    (void)size;
    if (strcmp(trace_base_name(object->dlpi_name), "libtestlog-gpu.so") != 0)
        return 0;
    snprintf(path, PATH_MAX, "%s", object->dlpi_name);
    return 1;
}

/* The program may have used NVTX or a device before, which has loaded our
 * library then. To look for another one, dlopen would open its file, in each
 * test. */
void trace_device_retry(void)
{
    char path[PATH_MAX];
    void *library = dl_iterate_phdr(is_ours, path)
                        ? dlopen(path, RTLD_NOW | RTLD_NOLOAD)
                        : NULL;
    void (*retry)(void) = (void (*)(void))(
        uintptr_t)(library ? dlsym(library, "trace_injection_retry") : NULL);

    if (retry)
        retry();
    if (library)
        dlclose(library);
}

void trace_device_publish(void)
{
    char text[64];

    snprintf(text, sizeof(text), "%ld:%p", (long)getpid(),
             (const void *)trace_device_host());
    setenv(variable, text, 1);
    trace_device_retry();
}

/* Returns whether a variable names a library to a driver or loader. */
static bool is_named(void)
{
#define TRACE_X(folder, variable)                                              \
    if (getenv(variable))                                                      \
        return true;
    TRACE_LOADERS(TRACE_X)
#undef TRACE_X
    return getenv("CUDA_INJECTION64_PATH");
}

void trace_device_offer(void)
{
    if ((profiler.device_tracer_level && is_named()) ||
        (profiler.gpu_enable_nvtx_tracking && getenv("NVTX_INJECTION64_PATH")))
        trace_device_publish();
}

struct search {
    uintptr_t from, to;
    bool found;
};

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;

    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD && part->p_flags & PF_R &&
            search->from >= begin && search->to <= begin + part->p_memsz)
            search->found = true;
    }
    return search->found;
}

/* The variable may come from another process, or from this one before an exec:
 * it must point into an object of this process and look right. */
static const struct trace_device_host *find(bool forked)
{
    const char *text = getenv(variable);
    const struct trace_device_host *host;
    struct search search = {0};
    unsigned long long at;
    long pid;

    if (!text || sscanf(text, "%ld:%llx", &pid, &at) != 2 ||
        (pid != getpid() && !forked))
        return NULL;
    search.from = (uintptr_t)at;
    search.to = search.from + sizeof(*host);
    if (at % _Alignof(struct trace_device_host) || search.to < search.from ||
        !dl_iterate_phdr(look, &search))
        return NULL;
    host = (const struct trace_device_host *)search.from;
    if (memcmp(host->magic, MAGIC, sizeof(MAGIC)) ||
        host->version != TRACE_DEVICE_VERSION || (long)host->pid != pid)
        return NULL;
    return host;
}

const struct trace_device_host *trace_device_find(void)
{
    return find(false);
}

const struct trace_device_host *trace_device_find_forked(void)
{
    return find(true);
}
