/* fuzz_reader.c: feeds any bytes as a recording, or as the records of one. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <testlog/log.h>

#include "harness/run/page/recorded.h"
#include "log/devices/device_summary.h"
#include "runners/export/folded.h"
#include "runners/export/ops.h"
#include "runners/export/perfetto.h"
#include "runners/export/speedscope.h"
#include "trace/base/text.h"
#include "trace/base/values.h"
#include "trace/chrome/chrome.h"
#include "trace/read/crashes.h"
#include "trace/read/critical.h"
#include "trace/read/reader.h"
#include "trace/record/fatal_signal.h"

#include "trace/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_entry(const struct trace_reader *reader,
                       const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_text json = {.ceiling = 1 << 20};
    struct trace_value value;
    struct trace_entry late;
    size_t cursor = 0;

    while (trace_values_next(&values, &value))
        trace_json_value(&json, &value);
    values.next = entry->launch ? entry->launch : values.end;
    while (trace_values_next(&values, &value))
        trace_json_value(&json, &value);
    while (entry->id &&
           trace_reader_late(reader, entry->id, UINT64_MAX, &cursor, &late))
        if (late.kind != TRACE_ENTRY_FIELDS || late.span != entry->id)
            abort();
    trace_text_free(&json);
    trace_reader_later(reader, entry->id);
}

static const enum log_format formats[] = {
#define X(name, word, layout) LOG_FORMAT_##name,
    LOG_FORMATS(X)
#undef X
};

/* Renders lines in each layout, with or without span events; returns how many
 * the last layout has. */
static size_t walk_lines(const struct log_filter *filter, unsigned span_events,
                         struct trace_reader *reader, FILE *stream)
{
    struct log_style style = {.span_events = span_events,
                              .color = true,
                              .details = LOG_DETAIL_FILE | LOG_DETAIL_LINE |
                                         LOG_DETAIL_THREAD_NAME |
                                         LOG_DETAIL_THREAD_ID,
                              .test = "walk"};
    size_t lines = 0;

    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        style.format = formats[i];
        lines = log_write_all(filter, &style, reader, stream);
    }
    return lines;
}

static void walk_page(struct trace_reader *reader)
{
    struct trace_text block = {0};
    struct test_log_counts counts;

    test_log_recorded_put(&block, "", reader, "info,[a]=trace", 0, &counts);
    trace_text_free(&block);
}

static void walk_formats(struct trace_reader *reader, FILE *stream)
{
    struct runners_folded folded = {0};
    struct runners_speedscope speedscope;
    struct runners_perfetto perfetto;
    struct trace_chrome chrome;
    struct runners_ops ops = {0};

    trace_chrome_begin(&chrome, stream);
    trace_chrome_add(&chrome, reader, 1, "walk");
    trace_chrome_end(&chrome, NULL);
    runners_perfetto_begin(&perfetto, stream, "run");
    runners_perfetto_add(&perfetto, reader, "walk");
    runners_folded_add(&folded, reader, "walk");
    runners_folded_put(&folded, stream);
    runners_folded_free(&folded);
    runners_speedscope_begin(&speedscope, stream, "run");
    runners_speedscope_add(&speedscope, reader, "walk");
    runners_speedscope_end(&speedscope);
    runners_ops_add(&ops, reader, "walk", NULL, stream);
}

static void walk_summary(struct trace_reader *reader)
{
    struct log_device_summary *summary = log_device_summary_read(reader);
    struct trace_text text = {0};

    if (summary)
        log_device_table(&text, summary);
    trace_text_free(&text);
    log_device_summary_free(summary);
}

/* All bytes that a crash names are in the recording. */
static void walk_crashes(const struct trace_reader *reader, FILE *null)
{
    const unsigned char *stack;
    struct trace_crash crash;
    size_t cursor = 0;

    while (trace_reader_crash(reader, &cursor, &crash, &stack))
        fwrite(stack, 1, (size_t)crash.stack_size + crash.mappings_size, null);
}

/* The critical path has no gaps. */
static void walk_critical(struct trace_reader *reader)
{
    struct trace_critical critical = {.count = 0};
    struct trace_causes slices;

    if (!trace_causes_read(
            &slices, reader,
            trace_reader_zero(reader, (struct trace_noted){0})) &&
        !trace_critical_find(&critical, &slices))
        for (size_t i = 1; i < critical.count; i++)
            if (critical.pieces[i].begin != critical.pieces[i - 1].end)
                abort();
    trace_critical_free(&critical);
    trace_causes_free(&slices);
}

/* Renders the recording in every way; returns the number of lines without span
 * events. */
static size_t walk_export(struct trace_reader *reader)
{
    struct log_filter *filter = log_filter_parse("trace", NULL, "", NULL);
    FILE *null = fopen("/dev/null", "we");
    size_t lines = 0;

    if (filter && null) {
        walk_lines(filter, LOG_SPAN_FULL, reader, null);
        lines = walk_lines(filter, LOG_SPAN_NONE, reader, null);
        walk_formats(reader, null);
        walk_summary(reader);
        walk_page(reader);
        walk_critical(reader);
        walk_crashes(reader, null);
    }
    if (null)
        fclose(null);
    log_filter_free(filter);
    return lines;
}

/* Reads everything in a recording and checks that times never decrease. Returns
 * the number of entries. */
static size_t walk(struct trace_reader *reader)
{
    struct trace_entry entry;
    uint64_t last = 0;
    size_t count = 0, events = 0;

    while (trace_reader_next(reader, &entry)) {
        if (entry.time < last || !entry.site || !entry.thread)
            abort();
        last = entry.time;
        count++;
        events +=
            entry.kind == TRACE_ENTRY_EVENT || entry.kind == TRACE_ENTRY_DEVICE;
        walk_entry(reader, &entry);
    }
    trace_reader_summary(reader);
    trace_reader_meta(reader, "name");
    if (walk_export(reader) > events)
        abort();
    return count;
}

static void read_new(struct trace_reader *reader)
{
    struct trace_entry entry;

    if (trace_reader_look(reader, UINT64_MAX) < 0)
        abort();
    while (trace_reader_next(reader, &entry)) {
        if (!entry.site || !entry.thread)
            abort();
        walk_entry(reader, &entry);
    }
    trace_reader_summary(reader);
}

/* Follows a recording of which first the beginning is there, then more. */
static void walk_followed(const char *path, int fd, const void *data,
                          size_t size)
{
    struct trace_reader *reader = trace_reader_follow(path);
    const size_t half = size / 2 / TRACE_SLOT_SIZE * TRACE_SLOT_SIZE;
    const off_t at = TRACE_HEADER_SIZE;

    if (!reader)
        return;
    if (size % 2)
        trace_reader_sum_spans(reader, 100);
    read_new(reader);
    if (pwrite(fd, data, half, at) == (ssize_t)half)
        read_new(reader);
    if (pwrite(fd, data, size, at) == (ssize_t)size)
        read_new(reader);
    trace_reader_close(reader);
}

/* Opens bytes as a recording, and follows it while bytes are added. Returns the
 * number of entries, or 0 if it cannot be opened. */
static size_t walk_bytes(const void *header, size_t header_size,
                         const void *data, size_t size)
{
    int fd = memfd_create("recording", MFD_CLOEXEC);
    struct trace_reader *reader = NULL;
    bool readable;
    size_t count = 0;
    char path[64];

    if (fd < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (write(fd, header, header_size) == (ssize_t)header_size &&
        write(fd, data, size) == (ssize_t)size)
        reader = trace_reader_open(path);
    readable = reader != NULL;
    if (readable)
        count = walk(reader);
    trace_reader_close(reader);
    if (readable && header_size && !ftruncate(fd, (off_t)header_size) &&
        !ftruncate(fd, (off_t)(header_size + size)))
        walk_followed(path, fd, data, size);
    close(fd);
    return count;
}

/* If the lowest bit of the first byte is 0, a valid header precedes the rest;
 * if the next one is 1, of a recording with records of a driver's library. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char page[TRACE_HEADER_SIZE] = {0};
    struct trace_header header = {
        .magic = TRACE_MAGIC,
        .version = TRACE_FORMAT_VERSION,
        .header_size = TRACE_HEADER_SIZE,
        .chunk_size = TRACE_CHUNK_SIZE,
        .limit = 64,
        .chunks = 64,
        .reserved = 64,
    };

    if (!size)
        return 0;
    if (data[0] & 2) {
        header.version = TRACE_FORMAT_RAW;
        header.raw = size;
    }
    memcpy(page, &header, sizeof(header));
    walk_bytes(page, data[0] % 2 ? 0 : sizeof(page), data + 1, size - 1);
    return 0;
}
