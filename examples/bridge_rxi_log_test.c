/* bridge_rxi_log_test.c: records the lines that the tested code sends to rxi's
 * log.c. To do the same, copy the bridge.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <time.h>

#define LOG_NO_LEVELS /* log_info and the like are log.c's */
#include <testlog/test_log.h>

/* Instead of log.h and log.c: what the bridge needs of them, written anew. */
typedef struct {
    va_list ap;
    const char *fmt, *file;
    struct tm *time;
    void *udata;
    int line, level;
} log_Event;

enum { LOG_TRACE, LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_FATAL };

#define log_info(...)  log_log(LOG_INFO, __FILE__, __LINE__, __VA_ARGS__)
#define log_fatal(...) log_log(LOG_FATAL, __FILE__, __LINE__, __VA_ARGS__)

static void (*callback)(log_Event *);

static int log_add_callback(void (*added)(log_Event *), void *udata, int level)
{
    (void)udata;
    (void)level;
    callback = added;
    return 0;
}

static void __attribute__((format(printf, 4, 5)))
log_log(int level, const char *file, int line, const char *fmt, ...)
{
    log_Event event = {.fmt = fmt, .file = file, .line = line, .level = level};

    va_start(event.ap, fmt);
    callback(&event);
    va_end(event.ap);
}

/* ---- The bridge ----
 *
 * A line's target comes from its file. log.c prints lines to stderr as before;
 * to stop that, call log_set_quiet(true). */

static void to_testlog(log_Event *event)
{
    /* LOG_TRACE is 0; LOG_FATAL becomes an error. */
    log_bridge((enum trace_level)(TRACE_LEVEL_TRACE - event->level), NULL,
               event->file, (unsigned)event->line, event->fmt, event->ap);
}

static void install(void)
{
    log_add_callback(to_testlog, NULL, LOG_TRACE);
}

/* ---- Tested code and its test ---- */

TestSuite(bridge_rxi_log, .init = install);

static void greet(const char *name)
{
    if (*name)
        log_info("hello, %s", name);
    else
        log_fatal("nobody to greet");
}

TEST_LOG(bridge_rxi_log, records_lines_with_their_levels)
{
    greet("world");
    greet("");
    log_expect_event("=info", "/^hello, world$/");
    log_expect_event("=error", "/^nobody to greet$/");
}
