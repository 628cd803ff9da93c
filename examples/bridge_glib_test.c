/* bridge_glib_test.c: records the lines that the tested code, and glib itself,
 * send to glib's structured log. To do the same, copy the bridge.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define G_LOG_DOMAIN         "shop"
#define G_LOG_USE_STRUCTURED /* so that g_info has file and line */
#include <glib.h>

#include <testlog/test_log.h>

/* ---- The bridge ----
 *
 * A line's target is its domain: `LOG=shop=debug` selects the lines below.
 * g_log_writer_default prints lines as before; to stop that, return
 * G_LOG_WRITER_HANDLED instead. */

static const char *text_of(const char *key, const GLogField *fields,
                           gsize count)
{
    for (gsize i = 0; i < count; i++)
        if (!strcmp(fields[i].key, key) && fields[i].length < 0)
            return fields[i].value;
    return NULL;
}

static enum trace_level level_of(GLogLevelFlags flags)
{
    if (flags & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
        return TRACE_LEVEL_ERROR;
    if (flags & G_LOG_LEVEL_WARNING)
        return TRACE_LEVEL_WARN;
    return flags & G_LOG_LEVEL_DEBUG ? TRACE_LEVEL_DEBUG : TRACE_LEVEL_INFO;
}

static void __attribute__((format(printf, 5, 6)))
record(enum trace_level level, const char *target, const char *file,
       unsigned line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_bridge(level, target, file, line, format, args);
    va_end(args);
}

static GLogWriterOutput to_testlog(GLogLevelFlags flags,
                                   const GLogField *fields, gsize count,
                                   gpointer data)
{
    const char *line = text_of("CODE_LINE", fields, count);

    record(level_of(flags), text_of("GLIB_DOMAIN", fields, count),
           text_of("CODE_FILE", fields, count), line ? (unsigned)atoi(line) : 0,
           "%s", text_of("MESSAGE", fields, count));
    return g_log_writer_default(flags, fields, count, data);
}

static void install(void)
{
    g_log_set_writer_func(to_testlog, NULL, NULL);
}

/* ---- Tested code and its test ---- */

TestSuite(bridge_glib, .init = install);

static void sell(int pieces)
{
    g_debug("%d pieces left", pieces);
    if (pieces < 3)
        g_warning("only %d pieces left", pieces);
}

TEST_LOG(bridge_glib, records_lines_with_their_levels)
{
    sell(5);
    sell(2);
    log_expect_event_count(2, "shop", "=debug", "/pieces left$/");
    log_expect_event("shop", "=warn", "/^only 2 pieces left$/");
}

TEST_LOG(bridge_glib, records_lines_of_glib_itself)
{
    cr_expect_null(g_hash_table_lookup(NULL, "key"));
    log_expect_event("GLib", "=error", "/hash_table != NULL/");
}
