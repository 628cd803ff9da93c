/* recorded.c: turns a recording into the tables of a block. */
#include <stdlib.h>
#include <string.h>

#include "harness/run/model/gpu_summary.h"
#include "harness/run/page/recorded.h"
#include "log/replay/entry_text.h"
#include "trace/base/text.h"

/* The bytes of the shortest record, which limit how many slices and lines a
 * recording can have. */
enum { RECORD_LEAST = 32, RECORDS_MOST = 500000 };

/* ---- Members ---- */

static void put_string(struct trace_text *out, const char *text)
{
    trace_json_string(out, text, strlen(text));
}

static void put_losses(struct trace_text *out,
                       const struct trace_summary *summary)
{
    static const char *const words[] = {
#define TRACE_X(name, word, text) word,
        TRACE_LOSSES(TRACE_X)
#undef TRACE_X
    };
    bool some = false;

    trace_text_literal(out, "\"lost\":[");
    for (size_t i = 0; i < TRACE_LOSS_COUNT; i++) {
        if (!summary->lost[i])
            continue;
        trace_text_printf(out, "%s[\"%s\",%llu]", some ? "," : "", words[i],
                          (unsigned long long)summary->lost[i]);
        some = true;
    }
    trace_text_literal(out, "],");
}

static void put_metas(struct trace_text *out, const struct trace_reader *reader)
{
    const char *name, *value;
    size_t cursor = 0;
    bool some = false;

    trace_text_literal(out, "\"metas\":[");
    while (trace_reader_metas(reader, &cursor, &name, &value)) {
        if (value != trace_reader_meta(reader, name))
            continue; /* a later one replaces it */
        trace_text_string(out, some ? ",[" : "[");
        put_string(out, name);
        trace_text_char(out, ',');
        put_string(out, value);
        trace_text_char(out, ']');
        some = true;
    }
    trace_text_literal(out, "],");
}

static void put_phases(struct trace_text *out,
                       const struct trace_reader *reader)
{
    struct trace_phases phases = trace_reader_phases(reader);

    trace_text_printf(
        out,
        "\"phases\":{\"setup\":%llu,\"body\":%llu,"
        "\"teardown\":%llu,\"end\":%llu},",
        (unsigned long long)phases.setup, (unsigned long long)phases.body,
        (unsigned long long)phases.teardown, (unsigned long long)phases.end);
}

static void put_cut(struct trace_text *out,
                    const struct test_log_recorded *recorded)
{
    const struct test_log_cut *cut = &recorded->cut;

    if (cut->slices)
        trace_text_printf(out, "\"cut\":{\"slices\":%llu,\"width\":%llu},",
                          (unsigned long long)cut->slices,
                          (unsigned long long)cut->width);
    else
        trace_text_literal(out, "\"cut\":null,");
    trace_text_printf(out, "\"lines_cut\":%llu,\"strings_cut\":%zu,",
                      (unsigned long long)cut->lines, recorded->strings.cut);
}

static void put_members(struct trace_text *out,
                        const struct test_log_recorded *recorded)
{
    const struct trace_summary summary = trace_reader_summary(recorded->reader);

    trace_text_printf(out, "\"pid\":%u,\"ended\":%s,\"end\":%llu,\"origin\":\"",
                      summary.pid, summary.ended ? "true" : "false",
                      (unsigned long long)summary.end);
    trace_text_moment(out, summary.origin.wall);
    trace_text_literal(out, "\",");
    put_losses(out, &summary);
    put_metas(out, recorded->reader);
    put_phases(out, recorded->reader);
    put_cut(out, recorded);
    trace_text_printf(out, "\"devices_whole\":%s,",
                      test_log_gpu_lacks_records(recorded->reader) ? "false"
                                                                   : "true");
}

void test_log_recorded_block(struct trace_text *out, const char *members,
                             struct test_log_recorded *recorded)
{
    const struct test_log_table *tables[TEST_LOG_RECORDED_TABLE_COUNT];
    struct trace_text all = {0};

    test_log_samples_put(recorded);
    test_log_counters_put(recorded);
    test_log_tracks_put(recorded);
    test_log_flows_put(recorded);
    test_log_path_put(recorded);
    trace_text_string(&all, members);
    put_members(&all, recorded);
    for (size_t i = 0; i < TEST_LOG_RECORDED_TABLE_COUNT; i++) {
        tables[i] = &recorded->tables[i];
        out->failed |= tables[i]->failed;
    }
    test_log_block_put(out, all.data ? all.data : "", &recorded->strings,
                       tables, TEST_LOG_RECORDED_TABLE_COUNT);
    out->failed |= all.failed;
    trace_text_free(&all);
}

/* ---- Entries ---- */

void test_log_recorded_add(struct test_log_recorded *recorded,
                           const struct trace_entry *entry)
{
    bool shown = !recorded->replay ||
                 log_replay_step(recorded->replay, recorded->reader, entry);
    uint32_t slice;

    switch (entry->kind) {
    case TRACE_ENTRY_SPAN:
    case TRACE_ENTRY_ENTER:
        test_log_slices_add(recorded, entry);
        break;
    case TRACE_ENTRY_DEVICE:
        slice = test_log_slices_add(recorded, entry);
        test_log_memory_add(recorded, entry, slice);
        test_log_counters_add(recorded, entry);
        test_log_lines_add(recorded, entry, slice, shown);
        break;
    case TRACE_ENTRY_EVENT:
        test_log_counters_add(recorded, entry);
        test_log_lines_add(recorded, entry, 0, shown);
        break;
    case TRACE_ENTRY_COUNTERS:
        test_log_counters_add(recorded, entry);
        break;
    default:
        break;
    }
}

/* Only a large recording is counted first, because that takes time. */
static int read_all(struct test_log_recorded *recorded)
{
    struct trace_reader *reader = recorded->reader;
    struct trace_entry entry;

    if (trace_reader_summary(reader).size / RECORD_LEAST > RECORDS_MOST &&
        test_log_count_all(&recorded->counts, reader))
        return -1;
    recorded->cut = test_log_cut_of(&recorded->counts);
    test_log_count_begin(&recorded->counts, reader);
    if (trace_reader_rewind(reader))
        return -1;
    while (trace_reader_next(reader, &entry)) {
        test_log_count(&recorded->counts, &entry);
        test_log_recorded_add(recorded, &entry);
    }
    test_log_count_end(&recorded->counts, reader);
    return 0;
}

void test_log_recorded_begin(struct test_log_recorded *recorded,
                             struct trace_reader *reader, const char *filter)
{
    struct log_filter *shown =
        log_filter_parse(filter ? filter : "", "info", "LOG", NULL);
    static const struct test_log_table_kind *const kinds[] = {
#define TEST_LOG_X(name, kind) &kind,
        TEST_LOG_RECORDED_TABLES(TEST_LOG_X)
#undef TEST_LOG_X
    };

    *recorded = (struct test_log_recorded){
        .reader = reader,
        .shown = shown,
        .replay = shown ? log_replay_new(shown) : NULL,
        .end = trace_reader_summary(reader).end,
        .slices = {.outlasting = TRACE_OUTLASTING_MOVES,
                   .rows_most = TEST_LOG_ROWS_MOST}};
    for (size_t i = 0; i < TEST_LOG_RECORDED_TABLE_COUNT; i++)
        recorded->tables[i].kind = kinds[i];
}

void test_log_recorded_continue(struct test_log_recorded *recorded)
{
    for (size_t i = 0; i < TEST_LOG_RECORDED_TABLE_COUNT; i++)
        test_log_table_continue(&recorded->tables[i]);
    test_log_strings_free(&recorded->strings);
    recorded->block++;
}

void test_log_recorded_free(struct test_log_recorded *recorded)
{
    for (size_t i = 0; i < TEST_LOG_RECORDED_TABLE_COUNT; i++)
        test_log_table_free(&recorded->tables[i]);
    test_log_tracks_free(recorded);
    test_log_strings_free(&recorded->strings);
    trace_table_free(&recorded->spans);
    trace_table_free(&recorded->earlier);
    trace_table_free(&recorded->calls);
    test_log_path_free(&recorded->path);
    test_log_counters_free(recorded);
    trace_text_free(&recorded->text);
    free(recorded->sites);
    free(recorded->links);
    log_replay_free(recorded->replay);
    log_filter_free(recorded->shown);
}

int test_log_recorded_put(struct trace_text *out, const char *members,
                          struct trace_reader *reader, const char *filter,
                          uint64_t zero, struct test_log_counts *counts)
{
    struct test_log_recorded recorded;
    int status;

    test_log_recorded_begin(&recorded, reader, filter);
    test_log_path_find(&recorded, zero);
    test_log_blocking_put(&recorded);
    status = read_all(&recorded);
    trace_table_free(&recorded.spans); /* it is large */
    if (!status)
        test_log_recorded_block(out, members, &recorded);
    *counts = recorded.counts;
    test_log_recorded_free(&recorded);
    return status || out->failed ? -1 : 0;
}
