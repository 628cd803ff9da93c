/* harness_filters_test.c: the filters of a run, before and after it. */
#include "tests/support/support.h" /* defines TRACING */

#include "harness/machine/notice.h"
#include "harness/options/filters.h"
#include "harness/options/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

static struct test_log_options options;
static struct test_log_filters filters;
static struct test_log_run run;
static char *printed;
static size_t printed_size;

static void begin(void)
{
    test_folder();
    test_log_out = open_memstream(&printed, &printed_size);
    cr_assert_not_null(test_log_out);
    fflush(test_log_out); /* makes it "" */
    options.show = (struct test_log_setting){"info", "default"};
    options.record = (struct test_log_setting){"trace", "default"};
    run.show_origin = strdup("--log");
    run.record_origin = strdup("--trace");
}

static void end(void)
{
    test_log_filters_free(&filters);
    test_log_run_free(&run);
    fclose(test_log_out);
    free(printed);
}

TestSuite(harness_filters, .init = begin, .fini = end);

static void check(const char *show, bool print)
{
    options.show = (struct test_log_setting){show, "LOG"};
    test_log_filters_check(&filters, &options, print);
    cr_assert(filters.show && filters.record);
}

/* ---- Before the run ---- */

Test(harness_filters, keeps_filters_that_can_be_parsed)
{
    check("warn,noisy=error", true);
    cr_expect_str_eq(options.show.value, "warn,noisy=error");
    cr_expect_str_eq(options.show.origin, "LOG");
    cr_expect_eq(log_filter_most(filters.show), TRACE_LEVEL_WARN);
    cr_expect_eq(log_filter_most(filters.record), TRACE_LEVEL_TRACE);
    cr_expect_str_eq(printed, "");
}

Test(harness_filters, uses_the_default_if_nothing_can_be_parsed)
{
    check("a=b=c=d", true);
    cr_expect_str_eq(options.show.value, "info");
    cr_expect_str_eq(options.show.origin, "default");
    cr_expect_eq(log_filter_most(filters.show), TRACE_LEVEL_INFO);
    cr_expect(strstr(printed, "testlog: "), "%s", printed);
    cr_expect(strstr(printed, "a=b=c=d"), "%s", printed);
}

Test(harness_filters, keeps_the_part_that_can_be_parsed)
{
    check("debug,a=b=c=d", true);
    cr_expect_str_eq(options.show.origin, "LOG");
    cr_expect_eq(log_filter_most(filters.show), TRACE_LEVEL_DEBUG);
    cr_expect(strstr(printed, "a=b=c=d"), "%s", printed);
}

Test(harness_filters, prints_no_complaint_twice)
{
    check("a=b=c=d", false);
    cr_expect_str_eq(options.show.origin, "default");
    cr_expect_str_eq(printed, "");
}

Test(harness_filters, prints_what_is_in_force)
{
    options.show = (struct test_log_setting){"warn", "LOG"};
    test_log_filters_print(&options);
    cr_expect(strstr(printed, "warn (LOG)"), "%s", printed);
    cr_expect(strstr(printed, "trace (default)"), "%s", printed);
}

/* A filter of `!` alone takes away from the default. */
Test(harness_filters, prints_the_default_with_what_is_taken_away)
{
    options.show = (struct test_log_setting){"!noisy", "LOG"};
    test_log_filters_print(&options);
    cr_expect(strstr(printed, "info,!noisy (LOG)"), "%s", printed);
}

Test(harness_filters, prints_nothing_if_quiet_or_beside_a_report)
{
    options.output.quiet = true;
    test_log_filters_print(&options);
    options.output = (struct test_log_output){.report_on_stdout = true};
    test_log_filters_print(&options);
    cr_expect_str_eq(printed, "");
}

Test(harness_filters, tells_whether_one_is_about_gpus)
{
    check("debug", true);
    cr_expect_not(test_log_filters_ask(&filters));
    test_log_filters_free(&filters);
    check("gpu=debug", true);
    cr_expect(test_log_filters_ask(&filters));
}

/* ---- Variables of other programs ---- */

Test(harness_filters, ignores_the_name_of_a_file)
{
    static const char *const names[] = {"build.log", "/tmp/out", "./a/b.txt",
                                        "logs/"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        test_log_filters_free(&filters);
        rewind(test_log_out);
        check(names[i], true);
        cr_expect_str_eq(options.show.value, "info", "%s", names[i]);
        cr_expect_str_eq(options.show.origin, "default", "%s", names[i]);
        cr_expect(strstr(printed, names[i]) && strstr(printed, "LOG=,"), "%s",
                  printed);
    }
}

Test(harness_filters, takes_filters_that_look_like_files)
{
    static const char *const filters_[] = {"/tmp\\/out/", "/a.b/=info",
                                           "app.db",      "kv::store",
                                           "~src/*=info", "build.log=info"};

    for (size_t i = 0; i < sizeof(filters_) / sizeof(*filters_); i++) {
        test_log_filters_free(&filters);
        check(filters_[i], false);
        cr_expect_str_eq(options.show.value, filters_[i]);
    }
}

/* --log and testlog.conf are nobody else's. */
Test(harness_filters, takes_the_name_of_a_file_from_a_flag)
{
    options.show = (struct test_log_setting){"build.log", "--log"};
    test_log_filters_check(&filters, &options, true);
    cr_expect_str_eq(options.show.value, "build.log");
    cr_expect_str_eq(printed, "");
}

Test(harness_filters, prints_that_rust_log_is_not_read)
{
    setenv("RUST_LOG", "debug", 1);
    test_log_filters_check(&filters, &options, true);
    cr_expect_str_eq(printed,
                     "testlog: RUST_LOG is not read; set LOG instead\n");
}

Test(harness_filters, does_not_mention_rust_log_if_there_is_a_filter)
{
    setenv("RUST_LOG", "debug", 1);
    check("warn", true);
    cr_expect_str_eq(printed, "");
}

/* ---- Levels that were not compiled in ---- */

static void expect_compiled_out(const char *show, unsigned most,
                                const char *text)
{
    check(show, true);
    run.annotated = true;
    run.static_max = most;
    test_log_filters_print_compiled_out(&filters, &run);
    if (text)
        cr_expect(strstr(printed, text), "%s", printed);
    else
        cr_expect_str_eq(printed, "");
}

Test(harness_filters, reports_a_level_above_log_static_max)
{
    expect_compiled_out("debug", TRACE_LEVEL_INFO, "LOG_STATIC_MAX=info");
}

Test(harness_filters, reports_a_program_without_any_line)
{
    expect_compiled_out("debug", TRACE_LEVEL_OFF, "-DTRACING");
}

Test(harness_filters, accepts_levels_up_to_log_static_max)
{
    free(run.record_origin);
    run.record_origin = strdup("default");
    expect_compiled_out("info", TRACE_LEVEL_INFO, NULL);
}

/* ---- After the run ---- */

static struct trace_site recorded =
    TEST_SITE(EVENT, INFO, "event", "elsewhere::part", NULL, 0);

/* Adds a test whose recording has a site that this program lacks. */
static void add_recording(void)
{
    struct test_log_result *result = test_log_run_add(&run);

    cr_assert_not_null(result);
    result->folder = strdup("s.t");
    run.path = strdup(test_path(""));
    cr_assert_eq(mkdir(test_path("s.t"), 0700), 0);
    test_record();
    trace_event_(&recorded, 0, NULL);
    trace_close();
    cr_assert_eq(rename(test_path("recording"), test_path("s.t/recording")), 0);
}

Test(harness_filters, finds_directives_without_a_call_site)
{
    check("nowhere=debug,info", true);
    test_log_filters_find_unmatched(&filters, &run);
    cr_assert_eq(run.unmatched_count, 1);
    cr_expect_str_eq(run.unmatched[0], "--log: nowhere=debug");
}

Test(harness_filters, finds_call_sites_of_this_program)
{
    trace_event(INFO, "here");
    check("tests::unit::harness::options::harness_filters_test=debug", true);
    test_log_filters_find_unmatched(&filters, &run);
    cr_expect_eq(run.unmatched_count, 0, "%s", run.unmatched[0]);
}

Test(harness_filters, finds_call_sites_in_recordings)
{
    add_recording();
    check("elsewhere::part=debug,nowhere=info", true);
    test_log_filters_find_unmatched(&filters, &run);
    cr_assert_eq(run.unmatched_count, 1);
    cr_expect_str_eq(run.unmatched[0], "--log: nowhere=info");
}

Test(harness_filters, suggests_a_target_of_nearly_that_name)
{
    check("tests::unit::harness::options::harness_filter_test=debug", true);
    test_log_filters_find_unmatched(&filters, &run);
    cr_assert_eq(run.unmatched_count, 1);
    cr_expect_str_eq(
        run.meant[0],
        "tests::unit::harness::options::harness_filters_test=debug");
}

Test(harness_filters, survives_missing_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    check("nowhere=debug", true);
    test_fail_memory(1, false);
    test_log_filters_find_unmatched(&filters, &run);
    test_fail_memory(0, false);
    cr_expect_eq(run.unmatched_count, 0);
}
