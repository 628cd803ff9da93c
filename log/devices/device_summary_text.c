/* device_summary_text.c: prints a summary of what devices did. */
#include <string.h>

#include "device_summary.h"
#include "log/filter/filter.h"
#include "log/replay/replay.h"
#include "trace/base/text.h"

static const char *const words[LOG_DEVICE_WORK_COUNT] = {
#define LOG_X(name, key, word) word,
    LOG_DEVICE_WORKS(LOG_X)
#undef LOG_X
};

/* ---- Numbers ---- */

static void put_double(struct trace_text *out, int places, double number,
                       const char *unit)
{
    locale_t before = trace_locale_enter();

    if (number > -1e15 && number < 1e15)
        trace_text_printf(out, "%.*f", places, number);
    else
        trace_text_printf(out, "%.3g", number);
    trace_text_printf(out, "%s%s", *unit ? " " : "", unit);
    trace_locale_leave(before);
}

void log_bytes(struct trace_text *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    enum { LAST = sizeof(units) / sizeof(*units) - 1 };
    double number = (double)bytes;
    size_t unit = 0;

    for (; number >= 1024 && unit < LAST; unit++)
        number /= 1024;
    put_double(out, unit > 0, number, units[unit]);
}

static const char *unit_of(const char *counter)
{
    const char *space = strrchr(counter, ' ');

    return space ? space + 1 : "";
}

size_t log_counter_title(const char *name)
{
    const char *unit = unit_of(name);

    return *unit ? (size_t)(unit - name) - 1 : strlen(name);
}

void log_counter_value(struct trace_text *out, const char *name, double value)
{
    const char *unit = unit_of(name);

    if (!strcmp(unit, "bytes/s") && value >= 0 && value < 1e18) {
        log_bytes(out, (uint64_t)value);
        trace_text_literal(out, "/s");
        return;
    }
    put_double(out, value >= 10 || value <= -10 ? 0 : 1, value, unit);
}

/* Adds "9 in 4.30µs". */
static void put_work(struct trace_text *out, const struct log_device_work *work)
{
    trace_text_printf(out, "%llu in ", (unsigned long long)work->count);
    log_duration(out, work->time);
}

/* Names come from the tested program, or its recording. */
static void put_name(struct trace_text *out, const char *name)
{
    log_plain(out, name ? name : "?", name ? strlen(name) : 1);
}

static void put_longest(struct trace_text *out,
                        const struct log_device_summary *summary)
{
    trace_text_literal(out, "longest ");
    log_duration(out, summary->longest);
    trace_text_literal(out, " ");
    put_name(out, summary->longest_name);
}

/* ---- Rows ---- */

static void put_title(struct trace_text *out, const char *title)
{
    trace_text_printf(out, "  %-8s  ", title);
}

static void put_transfer(struct trace_text *out, const char *title,
                         const struct log_device_work *work)
{
    if (!work->count)
        return;
    put_title(out, title);
    put_work(out, work);
    trace_text_literal(out, ", ");
    log_bytes(out, work->bytes);
    if (work->time) {
        trace_text_literal(out, ", ");
        put_double(out, 1, log_device_rate(work) / 1e9, "GB/s");
    }
    trace_text_char(out, '\n');
}

static void put_row(struct trace_text *out,
                    const struct log_device_summary *summary,
                    enum log_device_work_kind kind)
{
    if (!summary->works[kind].count)
        return;
    put_title(out, words[kind]);
    put_work(out, &summary->works[kind]);
    if (kind == LOG_DEVICE_KERNEL) {
        trace_text_literal(out, ", ");
        put_longest(out, summary);
    }
    trace_text_char(out, '\n');
}

static void put_busy(struct trace_text *out,
                     const struct log_device_summary *summary)
{
    if (!summary->span)
        return;
    put_title(out, "busy");
    put_double(out, 1, log_device_busy(summary) * 100, "% of ");
    log_duration(out, summary->span);
    if (summary->gap) {
        trace_text_literal(out, ", largest gap ");
        log_duration(out, summary->gap);
        trace_text_literal(out, " before ");
        put_name(out, summary->gap_before);
    }
    trace_text_char(out, '\n');
}

void log_device_leaks_text(struct trace_text *out,
                           const struct log_device_leaks *leaks)
{
    log_bytes(out, leaks->bytes);
    trace_text_printf(out, " in %llu allocation%s",
                      (unsigned long long)leaks->count,
                      leaks->count == 1 ? "" : "s");
    if (leaks->count > 1) {
        trace_text_literal(out, "; the largest ");
        log_bytes(out, leaks->largest);
    }
    trace_text_literal(out, " of ");
    put_name(out, leaks->memory);
    trace_text_literal(out, " memory");
    if (leaks->spans) {
        trace_text_literal(out, " in ");
        put_name(out, leaks->spans);
    }
    if (leaks->async) {
        trace_text_literal(out, "; ");
        log_bytes(out, leaks->async);
        trace_text_literal(out, " came from memory pools");
    }
}

void log_device_table(struct trace_text *out,
                      const struct log_device_summary *summary)
{
    put_row(out, summary, LOG_DEVICE_KERNEL);
    put_row(out, summary, LOG_DEVICE_GRAPH);
    for (int i = 0; i < LOG_DEVICE_COPY_COUNT; i++)
        put_transfer(out, log_device_directions[i], &summary->copies[i]);
    put_transfer(out, words[LOG_DEVICE_MEMSET],
                 &summary->works[LOG_DEVICE_MEMSET]);
    put_row(out, summary, LOG_DEVICE_COMPILE);
    put_row(out, summary, LOG_DEVICE_SYNC);
    put_busy(out, summary);
    for (size_t i = 0; i < summary->counters.count; i++) {
        const struct log_device_counter *one = &summary->counters.all[i];

        put_title(out, i ? "" : "counters");
        log_plain(out, one->name, log_counter_title(one->name));
        trace_text_char(out, ' ');
        log_counter_value(out, one->name, log_counter_mean(one));
        trace_text_literal(out, ", at most ");
        log_counter_value(out, one->name, one->most);
        trace_text_char(out, '\n');
    }
    if (summary->leaks.count) {
        put_title(out, "leaked");
        log_device_leaks_text(out, &summary->leaks);
        trace_text_char(out, '\n');
    }
    if (summary->fault.error) {
        put_title(out, "error");
        log_device_fault_text(out, &summary->fault);
        trace_text_char(out, '\n');
    }
}

/* ---- One line ---- */

/* Adds "; ", unless it is the first part. */
static void put_next(struct trace_text *out, size_t begin)
{
    if (out->size > begin)
        trace_text_literal(out, "; ");
}

static void put_copies(struct trace_text *out, size_t begin,
                       const struct log_device_summary *summary)
{
    struct log_device_work all = {.count = 0};

    for (int i = 0; i < LOG_DEVICE_COPY_COUNT; i++) {
        all.count += summary->copies[i].count;
        all.bytes += summary->copies[i].bytes;
    }
    if (!all.count)
        return;
    put_next(out, begin);
    trace_text_printf(out, "copies %llu, ", (unsigned long long)all.count);
    log_bytes(out, all.bytes);
}

static void put_part(struct trace_text *out, size_t begin,
                     const struct log_device_summary *summary,
                     enum log_device_work_kind kind)
{
    if (!summary->works[kind].count)
        return;
    put_next(out, begin);
    trace_text_printf(out, "%s ", words[kind]);
    put_work(out, &summary->works[kind]);
    if (kind == LOG_DEVICE_KERNEL) {
        trace_text_literal(out, ", ");
        put_longest(out, summary);
    }
}

void log_device_line(struct trace_text *out,
                     const struct log_device_summary *summary)
{
    size_t begin = out->size;

    put_part(out, begin, summary, LOG_DEVICE_KERNEL);
    put_part(out, begin, summary, LOG_DEVICE_GRAPH);
    put_copies(out, begin, summary);
    put_part(out, begin, summary, LOG_DEVICE_COMPILE);
    put_part(out, begin, summary, LOG_DEVICE_SYNC);
    if (summary->span) {
        put_next(out, begin);
        trace_text_literal(out, "busy ");
        put_double(out, 1, log_device_busy(summary) * 100, "%");
    }
    if (summary->leaks.count) {
        put_next(out, begin);
        trace_text_literal(out, "leaked ");
        log_bytes(out, summary->leaks.bytes);
    }
}
