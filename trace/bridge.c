/* bridge.c: lines of other loggers, whose call sites are known only at run
 * time.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "strings.h"

/* Sites are never freed: recordings refer to them. If the table is full, lines
 * of one level share a site. */
enum { SITES = 1024, PROBES = 16 };

static struct trace_site *sites[SITES]; /* atomic */

#define TRACE_X(name, number, word)                                            \
    [number] = {.target = "bridge",                                            \
                .file = "",                                                    \
                .function = "",                                                \
                .level = number,                                               \
                .interest = TRACE_UNREGISTERED},
static struct trace_site shared[] = {TRACE_LEVELS(TRACE_X)};
#undef TRACE_X

static bool same_target(const char *given, const char *target)
{
    return !given || (target && !strcmp(given, target));
}

static bool is_site(const struct trace_site *site,
                    const struct trace_site *wanted)
{
    return site->line == wanted->line && site->level == wanted->level &&
           !strcmp(site->file, wanted->file) &&
           same_target(wanted->target, site->target);
}

static size_t hash(const struct trace_site *site)
{
    uint64_t sum = trace_hash(TRACE_HASH, &site->line, sizeof(site->line));

    sum = trace_hash(sum, &site->level, sizeof(site->level));
    sum = trace_hash_string(sum, site->file);
    return site->target ? trace_hash_string(sum, site->target) : sum;
}

/* Returns a copy with strings of its own; NULL without memory. */
static struct trace_site *copy_of(const struct trace_site *wanted)
{
    size_t file = strlen(wanted->file) + 1;
    size_t target = wanted->target ? strlen(wanted->target) + 1 : 0;
    struct trace_site *site = malloc(sizeof(*site) + file + target);
    char *text;

    if (!site)
        return NULL;
    text = (char *)(site + 1);
    *site = *wanted;
    site->file = memcpy(text, wanted->file, file);
    if (target)
        site->target = memcpy(text + file, wanted->target, target);
    return site;
}

/* Without a lock: the slot belongs to the thread that fills it first. */
static struct trace_site *find(const struct trace_site *wanted)
{
    size_t first = hash(wanted);

    for (size_t i = 0; i < PROBES; i++) {
        struct trace_site **slot = &sites[(first + i) % SITES], *made = NULL;
        struct trace_site *site = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (!site && !(made = copy_of(wanted)))
            break;
        if (made &&
            __atomic_compare_exchange_n(slot, &site, made, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return made;
        free(made);
        if (is_site(site, wanted))
            return site;
    }
    return &shared[wanted->level];
}

static uint8_t nearest_level(int level)
{
    return level < TRACE_LEVEL_ERROR   ? TRACE_LEVEL_ERROR
           : level > TRACE_LEVEL_TRACE ? TRACE_LEVEL_TRACE
                                       : (uint8_t)level;
}

void trace_bridge_(unsigned above_max, enum trace_level level,
                   const char *target, const char *file, unsigned line,
                   const char *format, va_list args)
{
    int error = errno;
    struct trace_site wanted = {.target = target,
                                .file = file ? file : "",
                                .function = "bridge",
                                .line = line,
                                .level = nearest_level((int)level),
                                .kind = TRACE_SITE_EVENT,
                                .interest = TRACE_UNREGISTERED};
    struct trace_site *site;

    if (wanted.level >= above_max)
        return;
    if (!wanted.file[0] && !target)
        wanted.target = "bridge";
    site = find(&wanted);
    if (trace_site_on_(site))
        trace_log_now(site, format, args);
    errno = error;
}
