/* devices_standalone_test.c: recordings of programs without tests. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

#include "trace/devices/standalone.h"

TestSuite(devices_standalone, .init = devices_init);

Test(devices_standalone, uses_the_recording_of_a_test)
{
    setenv("TESTLOG_RECORD", test_path("deep"), 1);
    test_record();
    trace_device_publish();
    cr_expect_eq(trace_device_record_here(), trace_device_host());
    cr_expect_eq(access(test_path("deep"), F_OK), -1);
    trace_close();
}

Test(devices_standalone, records_nothing_unless_asked)
{
    cr_expect_null(trace_device_record_here());
}

/* A constructor may use CUDA before the test's recording begins. */
Test(devices_standalone, finds_a_recording_that_begins_later)
{
    cr_expect_null(trace_device_record_here());
    test_record();
    trace_device_publish();
    cr_expect_eq(trace_device_record_here(), trace_device_host());
    trace_close();
}

static char path[PATH_MAX];

static void record_here(void)
{
    const struct trace_device_host *host;

    errno = 7;
    host = trace_device_record_here();
    _exit(!host || errno != 7 || trace_device_record_here() != host);
}

/* The child must not end the recording, or its parent could not read it. */
Test(devices_standalone, creates_the_folders_of_a_recording)
{
    char command[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s", test_path("a/b/c"));
    setenv("TESTLOG_RECORD", path, 1);
    setenv("TESTLOG_RECORD_LOG", "debug", 1);
    cr_expect_eq(test_child(record_here), 0);
    snprintf(command, sizeof(command), "test -s %s/process.*/recording", path);
    cr_expect_eq(system(command), 0);
}

/* It complains once. */
static void record_nowhere(void)
{
    int pipes[2];
    char text[4096] = "";

    if (pipe2(pipes, O_NONBLOCK) || dup2(pipes[1], STDERR_FILENO) < 0)
        _exit(2);
    errno = 7;
    if (trace_device_record_here() || trace_device_record_here() || errno != 7)
        _exit(1);
    if (read(pipes[0], text, sizeof(text) - 1) < 0 && errno != EAGAIN)
        _exit(3);
    _exit(e2e_count(text, "cannot record") > 1);
}

Test(devices_standalone, continues_without_a_folder)
{
    setenv("TESTLOG_RECORD", "/dev/null/folder", 1);
    cr_expect_eq(test_child(record_nowhere), 0);
    memset(path, 'a', sizeof(path) - 1);
    path[0] = '/';
    setenv("TESTLOG_RECORD", path, 1);
    cr_expect_eq(test_child(record_nowhere), 0, "a name that is too long");
}
