/* harness_forks_test.c: what a test's forked children tell Criterion; also
 * assertions.c, sanitizers.c and interpose.c in such children. */
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/worker/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>

#include "tests/support/support.h"

static struct test_log_run run;
static struct test_log_runner runner = {.run = &run, .job_count = 1};
static int wait_status;

static void begin(void)
{
    struct test_log_result *result = test_log_run_add(&run);

    test_folder();
    cr_assert_not_null(result);
    result->suite = strdup(criterion_current_test->category);
    result->test = strdup(criterion_current_test->name);
    cr_assert_eq(test_log_jobs_make(&runner), 0);
    cr_assert_eq(test_log_status_open(1), 0);
}

TestSuite(harness_forks, .init = begin, .timeout = 60);

/* A worker of its own, which reports to us; this test must not fail of what
 * it reports. */
static void be_worker(void)
{
    int fd = open(test_path("stderr"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    test_log_session_export(
        &(struct test_log_session){.status = test_log_status_id()});
    test_log_session_forget();
    test_log_status_begin();
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(99);
}

/* Runs `body` in a worker; returns why that fails, or NULL. */
static const char *fault_of_worker(void (*body)(void))
{
    pid_t child = fork();

    if (!child) {
        be_worker();
        body();
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &wait_status, 0), child);
    return test_log_status_of(&runner, runner.jobs).fault;
}

static void (*in_child)(void);

static void fork_child(void)
{
    int status = test_child(in_child);

    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 100);
}

/* Runs `body` in a child that a worker forks. */
static const char *fault_of_child(void (*body)(void))
{
    in_child = body;
    return fault_of_worker(fork_child);
}

static int exit_code(void)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
}

static char *printed(void)
{
    return test_load(test_path("stderr"), NULL);
}

/* ---- Assertions ---- */

static void fail_an_assertion(void)
{
    cr_assert(false, "message %d", 7);
    _exit(50);
}

Test(harness_forks, failed_assertion_of_a_child_fails_the_test)
{
    const char *fault = fault_of_child(fail_an_assertion);

    cr_assert_not_null(fault);
    cr_expect_eq(strncmp(fault, "in a forked child: ", 19), 0, "%s", fault);
    cr_expect(strstr(fault, "harness_forks_test.c:"), "%s", fault);
    cr_expect(strstr(fault, ": message 7"), "%s", fault);
    cr_expect_eq(exit_code(), 1, "the child ends");
}

static void pass_an_assertion(void)
{
    cr_assert(true);
    _exit(50);
}

Test(harness_forks, passed_assertion_of_a_child_is_not_reported)
{
    cr_expect_null(fault_of_child(pass_an_assertion));
    cr_expect_eq(exit_code(), 50);
}

static void expect_twice(void)
{
    cr_expect(false, "first");
    cr_expect(false, "second");
    _exit(50);
}

Test(harness_forks, first_failed_assertion_is_the_reason)
{
    const char *fault = fault_of_child(expect_twice);

    cr_assert_not_null(fault);
    cr_expect(strstr(fault, ": first"), "%s", fault);
    cr_expect_eq(exit_code(), 50, "expectations end nothing");
}

static void record_errors(void)
{
    for (size_t i = 0; i < 2; i++)
        test_log_record_error("some/file.c", 12, "again");
    test_log_record_error("some/file.c", 13, "else");
}

Test(harness_forks, assertions_are_errors_at_their_places)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    char *lines;

    test_record();
    record_errors();
    reader = test_read();
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), 3);
    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, NULL, &entry));
    cr_expect_eq(entry.site->level, TRACE_LEVEL_ERROR);
    cr_expect_eq(entry.site->line, 12);
    cr_expect_str_eq(entry.site->file, "some/file.c");
    lines = test_plain(reader);
    cr_expect(strstr(lines, "again"), "%s", lines);
    cr_expect(strstr(lines, "else"), "%s", lines);
}

/* ---- Other things that tests tell Criterion ---- */

static void skip(void)
{
    cr_skip_test("because");
    _exit(50);
}

Test(harness_forks, child_that_skips_ends_without_a_fault)
{
    cr_expect_null(fault_of_child(skip));
    cr_expect_eq(exit_code(), 0);
}

static void die(void)
{
    criterion_test_die("reason %d", 7);
}

Test(harness_forks, child_that_dies_fails_the_test)
{
    const char *fault = fault_of_child(die);

    cr_assert_not_null(fault);
    cr_expect_str_eq(fault, "in a forked child: reason 7");
    cr_expect_eq(exit_code(), 1);
}

static void log_message(void)
{
    cr_log_info("message %d", 7);
}

Test(harness_forks, child_prints_its_log_messages_itself)
{
    cr_expect_null(fault_of_child(log_message));
    cr_expect_str_eq(printed(), "message 7\n");
}

/* ---- Sanitizers ---- */

extern void __sanitizer_report_error_summary(const char *summary);

static void report_a_leak(void)
{
    __sanitizer_report_error_summary(
        "SUMMARY: AddressSanitizer: 7 byte(s) leaked in 1 allocation(s).");
}

static void report_an_error(void)
{
    __sanitizer_report_error_summary("SUMMARY: MemorySanitizer: bad f.c:3");
}

static void report_after_the_end(void)
{
    test_log_sanitizers_end();
    report_an_error();
}

static void in_a_test(void (*body)(void), const char *fault)
{
    const char *found;

    test_log_sanitizers_begin();
    found = fault_of_worker(body);
    if (fault)
        cr_expect_str_eq(found ? found : "no fault", fault);
    else
        cr_expect_null(found);
}

Test(harness_forks, leak_fails_the_test_with_its_size)
{
    in_a_test(report_a_leak, "leaked 7 bytes");
}

Test(harness_forks, error_of_a_sanitizer_fails_the_test)
{
    in_a_test(report_an_error, "MemorySanitizer: bad f.c:3");
}

Test(harness_forks, error_after_the_test_fails_nothing)
{
    char *text;

    in_a_test(report_after_the_end, NULL);
    text = printed();
    cr_expect(strstr(text, "bad f.c:3"), "it is printed: %s", text);
}

/* The child may be one that must die of it. */
static void report_in_a_child(void)
{
    test_child(report_an_error);
}

Test(harness_forks, error_in_a_child_fails_nothing)
{
    in_a_test(report_in_a_child, NULL);
}

/* ---- Functions of Criterion behind ours ---- */

Test(harness_forks, finds_the_next_function_of_a_name)
{
    pid_t (*function)(void) = NULL;

    test_log_next_function("getpid", &function);
    cr_assert_not_null(function);
    cr_expect_eq(function(), getpid());
}

static void look_for_a_missing_function(void)
{
    void (*function)(void);

    test_log_next_function("no_such_function", &function);
}

Test(harness_forks, missing_function_aborts_and_is_named)
{
    char *text;

    fault_of_worker(look_for_a_missing_function);
    cr_expect(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGABRT);
    text = printed();
    cr_expect(strstr(text, "no_such_function"), "%s", text);
}
