/* bridge_syslog_test.c: records the lines that the tested code sends to
 * syslog(3). To do the same, copy the bridge into one file of a test program.
 */
#include <errno.h>
#include <stdarg.h>
#include <syslog.h>

#include <testlog/test_log.h>

/* ---- The bridge ----
 *
 * The program's own functions replace those of libc, so nothing reaches the
 * system's log. `LOG=syslog=debug` selects these lines. */

#undef syslog /* with -D_FORTIFY_SOURCE, they may be macros */
#undef vsyslog

void vsyslog(int priority, const char *format, va_list args)
{
    static const enum trace_level levels[] = {
        [LOG_EMERG] = TRACE_LEVEL_ERROR,  [LOG_ALERT] = TRACE_LEVEL_ERROR,
        [LOG_CRIT] = TRACE_LEVEL_ERROR,   [LOG_ERR] = TRACE_LEVEL_ERROR,
        [LOG_WARNING] = TRACE_LEVEL_WARN, [LOG_NOTICE] = TRACE_LEVEL_INFO,
        [LOG_INFO] = TRACE_LEVEL_INFO,    [LOG_DEBUG] = TRACE_LEVEL_DEBUG};

    log_bridge(levels[LOG_PRI(priority)], "syslog", NULL, 0, format, args);
}

void syslog(int priority, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsyslog(priority, format, args);
    va_end(args);
}

/* -D_FORTIFY_SOURCE calls this function instead, and glibc declares it then. */
#if !defined(__USE_FORTIFY_LEVEL) || !__USE_FORTIFY_LEVEL
void __syslog_chk(int priority, int flag, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#endif

void __syslog_chk(int priority, int flag, const char *format, ...)
{
    va_list args;

    (void)flag;
    va_start(args, format);
    vsyslog(priority, format, args);
    va_end(args);
}

/* ---- Tested code and its test ---- */

static int reload(const char *path)
{
    openlog("daemon", LOG_PID, LOG_DAEMON);
    syslog(LOG_DEBUG, "reloading %s", path);
    errno = ENOENT;
    syslog(LOG_DAEMON | LOG_ERR, "cannot open %s: %m", path);
    syslog(LOG_NOTICE, "keeping %d old settings", 3);
    return -1;
}

TEST_LOG(bridge_syslog, records_lines_with_their_levels)
{
    trace_span(INFO, "start");

    cr_expect_eq(reload("daemon.conf"), -1);
    log_expect_event("syslog", "=debug", "/^reloading daemon.conf$/");
    log_expect_event("syslog", "=error", "/daemon.conf: No such file or/");
    log_expect_event("syslog", "=info", "/^keeping 3 old settings$/");
    log_expect_event_count(3, "[start]");
}
