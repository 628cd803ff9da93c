/* site.c: the call sites of the process, and which are on. */
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "profiler.h"
#include "trace/base/lock.h"
#include "trace/base/valgrind_requests.h"
#include "trace/device.h"
#include "write.h"

const struct trace_subscriber *trace_subscriber;

static TRACE_UNTRACKED struct trace_lock lock;
static TRACE_UNTRACKED struct trace_module *modules;
static TRACE_UNTRACKED struct trace_site *registered; /* C++ sites */
static TRACE_UNTRACKED bool enabled;                  /* a recording runs */
static TRACE_UNTRACKED bool awaited;     /* atomic: see trace_sites_await */
static TRACE_UNTRACKED uint32_t marking; /* atomic: threads in it */

/* The lock holder's state before. */
static TRACE_UNTRACKED struct trace_hold held;
static TRACE_UNTRACKED uintptr_t was_busy;

/* No handler runs while its thread has the lock. If malloc is the program's own
 * and annotated, its records are left out meanwhile. */
void trace_sites_lock(void)
{
    struct trace_hold hold;
    uintptr_t busy;

    trace_generation(); /* a child must not wait for its parent's threads */
    busy = trace_writer.busy;
    trace_hold(&hold);
    trace_writer.busy = TRACE_LOCKED;
    trace_lock(&lock);
    held = hold;
    was_busy = busy;
}

void trace_sites_unlock(void)
{
    struct trace_hold hold = held;
    uintptr_t busy = was_busy;

    trace_unlock(&lock);
    trace_writer.busy = busy;
    trace_release(&hold);
}

void trace_sites_unlock_forked(void)
{
    lock = (struct trace_lock){0};
}

/* Default targets. They are never freed: an object that is loaded again needs
 * the same ones, and readers may have one of an object that is gone. */
struct target {
    struct target *next;
    char text[];
};

static TRACE_UNTRACKED struct target *targets;
static TRACE_UNTRACKED const char *last_file, *last_target;

static const char *target_of(const char *file)
{
    char text[256];
    size_t size = trace_target(file, text, sizeof(text)) + 1;
    struct target *target;

    for (target = targets; target; target = target->next)
        if (!strcmp(target->text, text))
            return target->text;
    target = malloc(sizeof(*target) + size);
    if (!target)
        return NULL;
    memcpy(target->text, text, size);
    trace_untrack(target, sizeof(*target) + size);
    target->next = targets;
    targets = target;
    return target->text;
}

/* Sets a site's default target; sites of one file are adjacent. */
void trace_site_complete(struct trace_site *site)
{
    if (site->target)
        return;
    if (site->file != last_file) {
        last_target = target_of(site->file);
        last_file = last_target ? site->file : NULL;
    }
    site->target = last_target ? last_target : "?";
}

unsigned trace_site_interest(struct trace_site *site)
{
    trace_site_complete(site);
    if (trace_subscriber && trace_subscriber->interest &&
        site->kind < TRACE_SITE_FIELDS)
        return trace_subscriber->interest(site);
    return TRACE_ALWAYS;
}

/* The interest of a site while nothing is recorded. */
static unsigned idle_interest(void)
{
    return __atomic_load_n(&awaited, __ATOMIC_ACQUIRE) ? TRACE_AWAITED : 0;
}

static void refresh(struct trace_site *site)
{
    unsigned interest = enabled ? trace_site_interest(site) : idle_interest();

    trace_untrack(site, sizeof(*site));
    trace_site_complete(site);
    __atomic_store_n(&site->interest, interest, __ATOMIC_RELEASE);
}

/* The caller holds the lock. */
static void each(void (*visit)(struct trace_site *, void *), void *context)
{
    for (struct trace_module *m = modules; m; m = m->next)
        for (struct trace_site **site = m->begin; site < m->end; site++)
            visit(*site, context);
    for (struct trace_site *site = registered; site; site = site->next)
        visit(site, context);
}

static void complete_one(struct trace_site *site, void *unused)
{
    (void)unused;
    trace_site_complete(site);
}

void trace_site_each(void (*visit)(struct trace_site *, void *), void *context)
{
    trace_sites_lock();
    each(complete_one, NULL);
    each(visit, context);
    trace_sites_unlock();
}

static void refresh_one(struct trace_site *site, void *unused)
{
    (void)unused;
    refresh(site);
}

void trace_sites_refresh(void)
{
    trace_site_each(refresh_one, NULL);
}

void trace_sites_enable(bool on)
{
    trace_sites_lock();
    enabled = on;
    each(refresh_one, NULL);
    trace_sites_unlock();
}

static void forget_one(struct trace_site *site, void *unused)
{
    (void)unused;
    __atomic_store_n(&site->id, 0, __ATOMIC_RELAXED);
}

void trace_sites_forget(void)
{
    each(forget_one, NULL);
}

void trace_subscribe(const struct trace_subscriber *subscriber)
{
    trace_sites_lock();
    trace_subscriber = subscriber;
    each(refresh_one, NULL);
    trace_sites_unlock();
}

static unsigned most_verbose; /* of the option host_tracer_level */

static unsigned level_interest(struct trace_site *site)
{
    return site->level <= most_verbose ? TRACE_ALWAYS : 0;
}

static const struct trace_subscriber host_level = {.interest = level_interest};

int trace_host_level_set(uint64_t level)
{
    static const unsigned levels[] = {TRACE_LEVEL_OFF, TRACE_LEVEL_INFO,
                                      TRACE_LEVEL_DEBUG, TRACE_LEVEL_TRACE};

    if (level == TRACE_HOST_LEVEL_UNSET)
        return 0;
    if (trace_subscriber && trace_subscriber != &host_level) {
        errno = EBUSY;
        return -1;
    }
    most_verbose = levels[level];
    trace_subscribe(&host_level);
    return 0;
}

void trace_host_level_unset(void)
{
    if (trace_subscriber == &host_level)
        trace_subscribe(NULL);
}

void trace_site_register(struct trace_site *site)
{
    if (trace_writer.busy == TRACE_LOCKED) /* our own call: off */
        return;
    trace_sites_lock();
    if (__atomic_load_n(&site->interest, __ATOMIC_RELAXED) ==
        TRACE_UNREGISTERED) {
        site->next = registered;
        __atomic_store_n(&registered, site, __ATOMIC_RELEASE);
        refresh(site);
    }
    trace_sites_unlock();
}

/* ---- Awaiting a call ---- */

void (*trace_site_called)(void);

static void mark(struct trace_site *site)
{
    uint8_t off = 0;

    __atomic_compare_exchange_n(&site->interest, &off, TRACE_AWAITED, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static void await_calls(uint8_t from, uint8_t to)
{
    __atomic_compare_exchange_n(&trace_recording.calls, &from, to, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* A signal handler can take no lock: it follows lists whose elements stay until
 * nobody marks. */
void trace_sites_await(void)
{
    __atomic_fetch_add(&marking, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&awaited, true, __ATOMIC_RELEASE);
    for (struct trace_module *m = __atomic_load_n(&modules, __ATOMIC_SEQ_CST);
         m; m = m->next)
        for (struct trace_site **site = m->begin; site < m->end; site++)
            mark(*site);
    for (struct trace_site *site =
             __atomic_load_n(&registered, __ATOMIC_SEQ_CST);
         site; site = site->next)
        mark(site);
    __atomic_fetch_sub(&marking, 1, __ATOMIC_RELEASE);
    await_calls(TRACE_CALLS_FIRST, TRACE_CALLS_AWAITED);
    await_calls(TRACE_CALLS_OFF, TRACE_CALLS_AWAITED);
}

void trace_sites_await_no_more(void)
{
    __atomic_store_n(&awaited, false, __ATOMIC_RELEASE);
    await_calls(TRACE_CALLS_AWAITED, TRACE_CALLS_OFF);
    trace_sites_refresh();
}

/* Waits for threads that may follow an element that is no longer in a list. */
static void await_markers(void)
{
    while (__atomic_load_n(&marking, __ATOMIC_SEQ_CST))
        sched_yield();
}

/* ---- Modules ---- */

bool trace_sites_add(struct trace_module *module)
{
    if (module->known)
        return false;
    module->known = true;
    trace_sites_lock();
    module->next = modules;
    __atomic_store_n(&modules, module, __ATOMIC_SEQ_CST);
    if (enabled || idle_interest()) /* it was loaded during the recording */
        for (struct trace_site **site = module->begin; site < module->end;
             site++)
            refresh(*site);
    trace_sites_unlock();
    return true;
}

/* The address range of an object. */
struct range {
    uintptr_t begin, end;
};

static bool within(const struct range *range, const void *address)
{
    return (uintptr_t)address - range->begin < range->end - range->begin;
}

static int find_object(struct dl_phdr_info *info, size_t size, void *context)
{
    const void *inside = *(void **)context;
    struct range range = {UINTPTR_MAX, 0};

    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD)
            continue;
        range.begin = begin < range.begin ? begin : range.begin;
        range.end = begin + part->p_memsz > range.end ? begin + part->p_memsz
                                                      : range.end;
    }
    if (range.end < range.begin || !within(&range, inside))
        return 0;
    *(struct range *)context = range;
    return 1;
}

/* Finds the object that contains `inside`. Without our lock, because the loader
 * calls us with its own. */
static struct range object_of(const void *inside)
{
    union {
        const void *inside;
        struct range range;
    } context = {inside};

    if (!dl_iterate_phdr(find_object, &context))
        return (struct range){0, 0};
    return context.range;
}

/* Removes the C++ sites of an object. */
static void forget_registered(const struct range *object)
{
    for (struct trace_site **site = &registered; *site;)
        if (within(object, *site))
            *site = (*site)->next;
        else
            site = &(*site)->next;
}

void trace_module_forget(struct trace_module *module)
{
    struct range object;

    if (!module->known) /* another file of the object did it */
        return;
    object = object_of(module);
    trace_sites_lock();
    for (struct trace_module **m = &modules; *m; m = &(*m)->next)
        if (*m == module) {
            *m = module->next;
            break;
        }
    forget_registered(&object);
    last_file = NULL; /* another site may be there later */
    module->known = false;
    trace_sites_unlock();
    await_markers();
}

unsigned trace_static_max(void)
{
    unsigned max = TRACE_LEVEL_OFF;

    trace_sites_lock();
    for (const struct trace_module *m = modules; m; m = m->next)
        if (m->static_max > max)
            max = m->static_max;
    trace_sites_unlock();
    return max;
}
