/* harness_gpu_summary_test.c: keeps a test's summary about GPUs. */
#include "harness/run/model/gpu_summary.h"

#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

TestSuite(harness_gpu_summary, .init = test_folder, .timeout = 60);

/* Records memory that is not released, and a kernel. */
static void record(void)
{
    static const char *const fields[] = {"bytes", "address", "memory"};
    struct trace_value values[] = {trace_u64_(4096),
                                   trace_pointer_((void *)0x1000),
                                   trace_text_("device")};
    struct trace_activity kernel, memory = {
                                      .at = {.kind = TRACE_ACTIVITY_ALLOCATE},
                                      .name = "Allocate",
                                      .fields = fields,
                                      .field_count = 3,
                                      .values = values,
                                  };

    test_record();
    memory.at.begin = memory.end = trace_device_host()->now();
    trace_device_put(&memory);
    kernel = test_kernel(memory.end, memory.end + 1000);
    trace_device_put(&kernel);
}

static void record_and_die(void)
{
    record();
    _exit(0);
}

static void expect(const struct test_log_run *run, struct trace_reader *reader,
                   uint64_t leaks)
{
    struct test_log_result result = {.gpu_summary = NULL};

    test_log_gpu_summary_read(run, &result, reader);
    cr_assert_not_null(result.gpu_summary);
    cr_expect_eq(result.gpu_summary->works[LOG_DEVICE_KERNEL].count, 1);
    cr_expect_eq(result.gpu_summary->leaks.count, leaks);
    log_device_summary_free(result.gpu_summary);
}

Test(harness_gpu_summary, keeps_leaks_of_a_process_that_ended)
{
    const struct test_log_run run = {.count = 0};

    record();
    expect(&run, test_read(), 1);
}

Test(harness_gpu_summary, drops_leaks_of_a_process_that_died)
{
    const struct test_log_run run = {.count = 0};

    cr_assert_eq(test_child(record_and_die), 0);
    trace_seal(test_path("recording"));
    expect(&run, test_open(), 0);
}

Test(harness_gpu_summary, drops_leaks_that_nobody_asks_about)
{
    const struct test_log_run run = {.gpu = {.no_leaks = true}};

    record();
    expect(&run, test_read(), 0);
}

/* Records a note and memory that is not released, and looks for leaks. */
static bool find_leaks(const char *name, const char *value)
{
    const struct test_log_run run = {.path = (char *)test_path(".")};
    struct test_log_result result = {.folder = (char *)".",
                                     .test = (char *)"t"};
    char *why;

    record();
    trace_device_note("gpu.state", "on");
    trace_device_note(name, value);
    trace_close();
    why = test_log_gpu_judge_leaks(&run, &result, true);
    free(why);
    log_device_summary_free(result.gpu_summary);
    return why != NULL;
}

Test(harness_gpu_summary, does_not_judge_leaks_if_records_are_missing)
{
    static const struct {
        const char *name, *value;
        bool leaks;
    } rows[] = {
        {"gpu.dropped", "0", true},
        {"gpu.dropped", "1", false},
        {"gpu.undecoded", "1", false},
        {"gpu.dropped_activity_events", "1", false},
        {"gpu.dropped_callback_events", "1", false},
        {"gpu.state", "busy", false},
        {"gpu.state", "playback", true},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cr_expect_eq(find_leaks(rows[i].name, rows[i].value), rows[i].leaks,
                     "%s=%s", rows[i].name, rows[i].value);
}
