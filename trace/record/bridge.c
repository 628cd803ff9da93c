/* bridge.c: lines of other loggers, whose call sites are known only at run
 * time.
 */
#include <errno.h>
#include <stdarg.h>

#include "recorder.h"
#include "trace/device.h"
#include "trace/format.h"
#include "trace/read/reader.h"

/* If the table is full, lines of one level share a site. */
enum { SITES = 1024 };

static struct trace_site *sites[SITES];

#define TRACE_X(name, number, word)                                            \
    [number] = {.target = "bridge",                                            \
                .file = "",                                                    \
                .function = "",                                                \
                .level = number,                                               \
                .interest = TRACE_UNREGISTERED},
static struct trace_site shared[] = {TRACE_LEVELS(TRACE_X)};
#undef TRACE_X

static uint8_t nearest_level(int level)
{
    return level < TRACE_LEVEL_ERROR   ? TRACE_LEVEL_ERROR
           : level > TRACE_LEVEL_TRACE ? TRACE_LEVEL_TRACE
                                       : (uint8_t)level;
}

/* Returns NULL if the site is off. */
static struct trace_site *find_site(unsigned above_max, enum trace_level level,
                                    const char *target, const char *file,
                                    unsigned line)
{
    struct trace_site wanted = {.target = target,
                                .file = file ? file : "",
                                .function = "bridge",
                                .line = line,
                                .level = nearest_level((int)level),
                                .kind = TRACE_SITE_EVENT,
                                .interest = TRACE_UNREGISTERED};
    struct trace_site *site;

    if (wanted.level >= above_max)
        return NULL;
    if (!wanted.file[0] && !target)
        wanted.target = "bridge";
    site = trace_site_find(sites, SITES, &wanted);
    site = site ? site : &shared[wanted.level];
    return trace_site_on_(site) ? site : NULL;
}

void trace_bridge_(unsigned above_max, enum trace_level level,
                   const char *target, const char *file, unsigned line,
                   const char *format, va_list args)
{
    int error = errno;
    struct trace_site *site = find_site(above_max, level, target, file, line);

    if (site)
        trace_log_now(site, format, args);
    errno = error;
}

static void log_now(struct trace_site *, const char *format, ...)
    TRACE_PRINTF(2, 3);

static void log_now(struct trace_site *site, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    trace_log_now(site, format, args);
    va_end(args);
}

void trace_bridge_text_(unsigned above_max, enum trace_level level,
                        const char *target, const char *file, unsigned line,
                        const char *text)
{
    int error = errno;
    struct trace_site *site = find_site(above_max, level, target, file, line);

    if (site)
        log_now(site, "%s", text);
    errno = error;
}
