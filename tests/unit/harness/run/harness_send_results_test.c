/* harness_send_results_test.c: results go through a pipe to `testlog run`. */
#include "harness/run/files/writers.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static int ends[2];
static struct trace_text line;
static struct test_log_run run;

static void begin(void)
{
    test_folder();
    cr_assert_eq(pipe(ends), 0);
    trace_text_string(&line, "one line\n");
}

static void end(void)
{
    trace_text_free(&line);
    test_log_run_free(&run);
}

TestSuite(harness_send_results, .init = begin, .fini = end, .timeout = 60);

/* Returns what was sent, which is kept, and ends the sending. */
static char *sent(void)
{
    char *text = calloc(1, 65536);

    test_log_handover_begin(0);
    close(ends[1]);
    cr_assert_not_null(text);
    for (size_t size = 0, part; size < 65535; size += part) {
        ssize_t got = read(ends[0], text + size, 65535 - size);

        if (got <= 0)
            break;
        part = (size_t)got;
    }
    return test_keep(text);
}

static void add_result(const char *reason)
{
    struct test_log_result *result = test_log_run_add(&run);

    cr_assert_not_null(result);
    result->program = strdup("p");
    result->suite = strdup("s");
    result->test = strdup("t");
    result->reason = strdup(reason);
    result->outcome = TEST_LOG_OUTCOME_FAILED;
}

Test(harness_send_results, takes_only_pipes)
{
    int file = open(test_path("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int closed = dup(file);

    close(closed);
    cr_expect_not(test_log_handover_open());
    test_log_handover_begin(file);
    cr_expect_not(test_log_handover_open());
    test_log_handover_begin(closed);
    cr_expect_not(test_log_handover_open());
    test_log_handover_begin(ends[1]);
    cr_expect(test_log_handover_open());
}

/* The number of stdin, stdout or stderr is no pipe of testlog's. */
Test(harness_send_results, leaves_standard_streams_alone)
{
    cr_assert_eq(dup2(ends[1], STDIN_FILENO), STDIN_FILENO);
    test_log_handover_begin(STDIN_FILENO);
    cr_expect_not(test_log_handover_open());
    cr_expect_eq(fcntl(STDIN_FILENO, F_GETFD) & FD_CLOEXEC, 0);
}

Test(harness_send_results, keeps_the_pipe_from_other_programs)
{
    cr_assert_eq(fcntl(ends[1], F_GETFD) & FD_CLOEXEC, 0);
    test_log_handover_begin(ends[1]);
    cr_expect_neq(fcntl(ends[1], F_GETFD) & FD_CLOEXEC, 0);
}

Test(harness_send_results, sends_lines_in_order)
{
    test_log_handover_begin(ends[1]);
    cr_expect_eq(test_log_handover_line(&line), 0);
    cr_expect_eq(test_log_handover_line(&line), 0);
    cr_expect_str_eq(sent(), "one line\none line\n");
}

Test(harness_send_results, sends_the_run_as_one_line_of_json)
{
    const cJSON *test;
    cJSON *json;
    char *text;

    add_result("two\nlines");
    test_log_handover_begin(ends[1]);
    cr_expect_eq(test_log_handover_run(&run), 0);
    text = sent();
    cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1, "%s", text);
    json = cJSON_Parse(text);
    test = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "tests"), 0);
    cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(test, "reason")),
                     "two\nlines", "%s", text);
    cJSON_Delete(json);
}

Test(harness_send_results, fails_without_a_pipe)
{
    cr_expect_eq(test_log_handover_line(&line), -1);
    cr_expect_eq(errno, EBADF);
    cr_expect_eq(test_log_handover_run(&run), -1);
    cr_expect_eq(errno, EBADF);
}

Test(harness_send_results, fails_without_a_reader)
{
    signal(SIGPIPE, SIG_IGN);
    test_log_handover_begin(ends[1]);
    close(ends[0]);
    cr_expect_eq(test_log_handover_line(&line), -1);
    cr_expect_eq(errno, EPIPE);
    cr_expect_eq(test_log_handover_run(&run), -1);
    cr_expect_eq(errno, EPIPE);
}

Test(harness_send_results, sends_no_part_of_a_run_without_memory)
{
    int status;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (size_t i = 0; i < 100; i++)
        add_result("because");
    test_log_handover_begin(ends[1]);
    test_fail_memory(2, false);
    status = test_log_handover_run(&run);
    test_fail_memory(0, false);
    cr_expect_eq(status, -1);
    cr_expect_str_eq(sent(), "");
}
