/* trace_process_test.c: recordings of whole processes that testlog record runs.
 */
#include "tests/support/support.h"

#include "trace/read/reader.h"
#include "trace/record/profiler.h"
#include "trace/record/recorder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(trace_process, .init = test_folder);

static char path[PATH_MAX];

/* Returns the path of the child's recording, which the child left. */
static const char *recording_of(void (*child)(void))
{
    char command[PATH_MAX + 64];
    FILE *found;

    setenv("TESTLOG_RECORD", test_path("of"), 1);
    cr_assert_eq(test_child(child), 0);
    snprintf(command, sizeof(command), "echo %s/process.*/recording",
             test_path("of"));
    found = popen(command, "r");
    cr_assert_not_null(fgets(path, sizeof(path), found));
    pclose(found);
    path[strcspn(path, "\n")] = '\0';
    return path;
}

static size_t events_of(const char *name)
{
    struct trace_reader *reader = trace_reader_open(path);
    size_t count;

    cr_assert_not_null(reader);
    count = test_count(reader, TRACE_ENTRY_EVENT, name);
    trace_reader_close(reader);
    return count;
}

static void record_one(void)
{
    if (trace_process_record())
        _exit(1);
    trace_event(DEBUG, "recorded");
    exit(trace_process_record() == 0); /* it records already */
}

Test(trace_process, records_below_the_named_folder)
{
    struct trace_reader *reader = trace_reader_open(recording_of(record_one));

    cr_assert_not_null(reader);
    cr_expect_str_eq(trace_reader_meta(reader, "program"),
                     program_invocation_name);
    cr_expect(trace_reader_summary(reader).ended);
    trace_reader_close(reader);
    cr_expect_eq(events_of("recorded"), 1);
}

Test(trace_process, records_nothing_unless_asked)
{
    unsetenv("TESTLOG_RECORD");
    cr_expect_eq(trace_process_record(), -1);
    setenv("TESTLOG_RECORD", "", 1);
    cr_expect_eq(trace_process_record(), -1);
    cr_expect_not(trace_is_open());
}

static void record_levels(void)
{
    setenv("TESTLOG_RECORD_OPTIONS", "host_tracer_level=1,limit=1M", 1);
    if (trace_process_record() ||
        trace_recording.header->limit - trace_recording.header->calls_limit !=
            ((1 << 20) - 4096) / (64 << 10))
        _exit(1);
    trace_event(INFO, "recorded");
    trace_event(DEBUG, "too detailed");
    exit(0);
}

Test(trace_process, follows_its_options)
{
    recording_of(record_levels);
    cr_expect_eq(events_of("recorded"), 1);
    cr_expect_eq(events_of("too detailed"), 0);
}

static void record_again(void)
{
    char again[PATH_MAX];

    if (trace_process_record())
        _exit(1);
    trace_event(INFO, "recorded");
    snprintf(again, sizeof(again), "%s", test_path("again"));
    if (trace_open(again, &(struct trace_options){.limit = 0}))
        _exit(2);
    trace_event(INFO, "elsewhere");
    _exit(!trace_open(again, &(struct trace_options){.limit = 0}) ||
          errno != EBUSY);
}

Test(trace_process, yields_to_another_recording)
{
    recording_of(record_again);
    cr_expect_eq(events_of("recorded"), 1);
    cr_expect_eq(events_of("elsewhere"), 0);
}

/* As after an exec, which ends no recording. */
static void record_on(void)
{
    struct trace_options options = {.limit = 0};
    char folder[PATH_MAX], name[PATH_MAX + 16];

    snprintf(folder, sizeof(folder), "%s/process.%d", test_path("of"),
             (int)getpid());
    snprintf(name, sizeof(name), "%s/recording", folder);
    if (mkdir(test_path("of"), 0777) || mkdir(folder, 0777) ||
        trace_open(name, &options))
        _exit(1);
    trace_event(INFO, "before");
    trace_recording.open = false;
    if (trace_process_record())
        _exit(2);
    trace_event(INFO, "after");
    exit(0);
}

Test(trace_process, continues_a_recording_that_it_finds)
{
    recording_of(record_on);
    cr_expect_eq(events_of("before"), 1);
    cr_expect_eq(events_of("after"), 1);
}
