/* harness_preflight_test.c: what Criterion needs before a run. */
#include "harness/machine/notice.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "harness/machine/preflight.h"
#include "tests/support/support.h"

static void begin(void)
{
    test_folder();
    test_log_out = fopen(test_path("said"), "w");
    cr_assert_not_null(test_log_out);
}

static void end(void)
{
    fclose(test_log_out);
}

TestSuite(harness_preflight, .init = begin, .fini = end);

/* ---- Memory ---- */

/* This test runs, so there is shared memory. */
Test(harness_preflight, accepts_the_memory_that_this_test_uses)
{
    cr_expect(test_log_preflight_memory());
    cr_expect_str_eq(test_load(test_path("said"), NULL), "");
}

Test(harness_preflight, reports_too_few_descriptors)
{
    struct rlimit limit, few;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_expect(test_log_preflight_descriptors());
    few = limit;
    few.rlim_cur = 31;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    cr_expect_not(test_log_preflight_descriptors());
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_expect_str_eq(test_load(test_path("said"), NULL),
                     "testlog: only 31 files may be open (ulimit -n); "
                     "Criterion and testlog need 32\n");
}

static void limit_files(rlim_t size)
{
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(harness_preflight, reports_a_file_size_limit_below_128_kib)
{
    bool enough;
    char *said;

    limit_files(128 * 1024 - 1);
    enough = test_log_preflight_memory();
    limit_files(RLIM_INFINITY);
    cr_expect_not(enough);
    said = test_load(test_path("said"), NULL);
    cr_expect(strstr(said, "ulimit -f"), "%s", said);
}

Test(harness_preflight, accepts_a_file_size_limit_of_128_kib)
{
    bool enough;

    limit_files(128 * 1024);
    enough = test_log_preflight_memory();
    limit_files(RLIM_INFINITY);
    cr_expect(enough);
}

/* ---- Programs ---- */

static void put_program(const char *name, mode_t mode)
{
    test_save(test_path(name), "", 0);
    cr_assert_eq(chmod(test_path(name), mode), 0);
}

static void set_path(const char *before, const char *name)
{
    char path[3 * PATH_MAX];

    snprintf(path, sizeof(path), "%s:%s", before, test_path(name));
    setenv("PATH", path, 1);
}

Test(harness_preflight, finds_a_program_in_any_folder_of_path)
{
    cr_assert_eq(mkdir(test_path("first"), 0700), 0);
    cr_assert_eq(mkdir(test_path("second"), 0700), 0);
    put_program("first/one", 0700);
    put_program("second/two", 0700);
    set_path("/missing", "first");
    set_path(getenv("PATH"), "second");
    cr_expect(test_log_preflight_program("one"));
    cr_expect(test_log_preflight_program("two"));
    cr_expect_not(test_log_preflight_program("three"));
    cr_expect_not(test_log_preflight_program("tw"));
}

Test(harness_preflight, file_that_cannot_be_executed_is_no_program)
{
    cr_assert_eq(mkdir(test_path("first"), 0700), 0);
    put_program("first/one", 0600);
    set_path("/missing", "first");
    cr_expect_not(test_log_preflight_program("one"));
}

Test(harness_preflight, finds_nothing_without_path)
{
    unsetenv("PATH");
    cr_expect_not(test_log_preflight_program("sh"));
    setenv("PATH", "", 1);
    cr_expect_not(test_log_preflight_program("sh"));
}

Test(harness_preflight, passes_over_a_folder_with_too_long_a_name)
{
    char name[PATH_MAX + 1];

    cr_assert_eq(mkdir(test_path("first"), 0700), 0);
    put_program("first/one", 0700);
    memset(name, 'x', PATH_MAX);
    name[PATH_MAX] = '\0';
    set_path(name, "first");
    cr_expect(test_log_preflight_program("one"));
}
