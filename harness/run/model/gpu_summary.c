/* gpu_summary.c: keeps and writes what tests did on GPUs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/gpu_summary.h"
#include "trace/base/text.h"

void test_log_gpu_summary_read(const struct test_log_run *run,
                               struct test_log_result *result,
                               struct trace_reader *reader)
{
    if (result->gpu_summary)
        return;
    result->gpu_summary = log_device_summary_read(reader);
    if (result->gpu_summary &&
        (run->gpu.no_leaks || !trace_reader_summary(reader).ended))
        log_device_leaks_clear(&result->gpu_summary->leaks);
}

/* ---- Leaks ---- */

bool test_log_gpu_lacks_records(const struct trace_reader *reader)
{
    struct trace_text losses = {0};
    struct test_log_gpu gpu;
    bool some = trace_reader_losses(&losses, reader);

    if (test_log_gpu_read(&gpu, reader))
        some |= gpu.state < TEST_LOG_GPU_ON || gpu.dropped || gpu.undecoded ||
                gpu.dropped_callback_events || gpu.dropped_activity_events;
    test_log_gpu_free(&gpu);
    trace_text_free(&losses);
    return some;
}

char *test_log_gpu_judge_leaks(const struct test_log_run *run,
                               struct test_log_result *result, bool fails)
{
    struct trace_reader *reader = test_log_recording(run, result);
    const char *name = test_log_title(result);
    struct trace_text why = {0};
    bool unsure = false;

    if (reader)
        test_log_gpu_summary_read(run, result, reader);
    if (reader && result->gpu_summary && result->gpu_summary->leaks.count) {
        unsure = test_log_gpu_lacks_records(reader);
        trace_text_string(&why, "leaked GPU memory: ");
        log_device_leaks_text(&why, &result->gpu_summary->leaks);
    }
    trace_reader_close(reader);
    if (why.size && fails && !unsure)
        return why.data;
    if (unsure)
        test_log_notice("%s: not judged, because records are missing: %s", name,
                        why.data);
    else if (why.size)
        test_log_notice("%s: warning: %s", name, why.data);
    trace_text_free(&why);
    return NULL;
}

/* ---- Runs ---- */

struct log_device_summary *test_log_gpu_summary_of_run(
    const struct test_log_run *run)
{
    struct log_device_summary *all = NULL;

    for (size_t i = 0; i < run->count; i++) {
        const struct log_device_summary *one = run->results[i].gpu_summary;

        if (one && !all)
            all = calloc(1, sizeof(*all));
        if (one && all)
            log_device_summary_add(all, one);
    }
    return all;
}

void test_log_gpu_summary_print(const struct test_log_run *run)
{
    struct log_device_summary *all = test_log_gpu_summary_of_run(run);
    struct trace_text line = {0};

    if (all && log_device_summary_some(all)) {
        log_device_line(&line, all);
        test_log_notice("GPU: %s", line.data ? line.data : "out of memory");
    }
    trace_text_free(&line);
    log_device_summary_free(all);
}

/* ---- JSON ---- */

static void put_work(struct trace_text *text, const char *name,
                     const struct log_device_work *work)
{
    trace_text_printf(text,
                      "\"%s\":{\"count\":%" PRIu64 ",\"time_ns\":%" PRIu64,
                      name, work->count, work->time);
    if (work->bytes)
        trace_text_printf(text,
                          ",\"bytes\":%" PRIu64 ",\"bytes_per_second\":%.0f",
                          work->bytes, log_device_rate(work));
    trace_text_char(text, '}');
}

/* Puts the directions in which something was copied. */
static void put_copies(struct trace_text *text,
                       const struct log_device_summary *summary)
{
    bool some = false;

    trace_text_string(text, ",\"copies\":{");
    for (int i = 0; i < LOG_DEVICE_COPY_COUNT; i++) {
        if (!summary->copies[i].count)
            continue;
        trace_text_string(text, some ? "," : "");
        put_work(text, log_device_directions[i], &summary->copies[i]);
        some = true;
    }
    trace_text_char(text, '}');
}

static void put_leaks(struct trace_text *text,
                      const struct log_device_leaks *leaks)
{
    trace_text_printf(text,
                      ",\"leaks\":{\"count\":%" PRIu64 ",\"bytes\":%" PRIu64
                      ",\"pool_bytes\":%" PRIu64,
                      leaks->count, leaks->bytes, leaks->async);
    if (leaks->count) {
        trace_text_printf(text, ",\"largest\":{\"bytes\":%" PRIu64,
                          leaks->largest);
        trace_json_member(text, "memory", leaks->memory);
        trace_json_member(text, "spans", leaks->spans);
        trace_text_char(text, '}');
    }
    trace_text_char(text, '}');
}

static void put_fault(struct trace_text *text,
                      const struct log_device_fault *fault)
{
    if (!fault->error)
        return;
    trace_text_printf(text, ",\"fault\":{\"launches\":%" PRIu64,
                      fault->launches);
    trace_json_member(text, "error", fault->error);
    trace_json_member(text, "call", fault->call);
    trace_json_member(text, "spans", fault->spans);
    trace_text_char(text, '}');
}

static void put_counters(struct trace_text *text,
                         const struct log_device_counters *counters)
{
    locale_t before = trace_locale_enter();

    for (size_t i = 0; i < counters->count; i++) {
        const struct log_device_counter *one = &counters->all[i];

        trace_text_printf(text,
                          "%s{\"mean\":%.17g,\"most\":%.17g,\"time_ns\":%.0f,"
                          "\"samples\":%" PRIu64,
                          i ? "," : ",\"counters\":[", log_counter_mean(one),
                          one->most, one->time, one->count);
        trace_json_member(text, "name", one->name);
        trace_text_char(text, '}');
    }
    if (counters->count)
        trace_text_char(text, ']');
    trace_locale_leave(before);
}

void test_log_gpu_summary_members(struct trace_text *text,
                                  const struct log_device_summary *summary)
{
    for (int i = 0; i < LOG_DEVICE_WORK_COUNT; i++) {
        trace_text_string(text, i ? "," : "");
        put_work(text, log_device_work_keys[i], &summary->works[i]);
    }
    put_copies(text, summary);
    trace_text_printf(text, ",\"longest_kernel\":{\"time_ns\":%" PRIu64,
                      summary->longest);
    trace_json_member(text, "name", summary->longest_name);
    trace_text_printf(text,
                      "},\"busy_ns\":%" PRIu64 ",\"span_ns\":%" PRIu64
                      ",\"largest_gap\":{\"time_ns\":%" PRIu64,
                      summary->busy, summary->span, summary->gap);
    trace_json_member(text, "before", summary->gap_before);
    trace_text_char(text, '}');
    put_leaks(text, &summary->leaks);
    put_fault(text, &summary->fault);
    put_counters(text, &summary->counters);
}
