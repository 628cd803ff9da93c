/* runners_read_report_test.c: reads the reports of test frameworks. */
#include "runners/programs/frameworks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/run/model/model.h"

static const char gtest[] =
    "<testsuites name=\"AllTests\"><testsuite name=\"Store\">"
    "<testcase name=\"Passes\" file=\"/src/store.cpp\" line=\"7\" "
    "status=\"run\" time=\"0.25\" classname=\"Store\" />"
    "<testcase name=\"Fails\" file=\"/src/store.cpp\" line=\"9\" "
    "status=\"run\" time=\"0\" classname=\"Store\"><failure "
    "message=\"/src/store.cpp:11&#x0A;Expected &amp; so on\" type=\"\">"
    "<![CDATA[/src/store.cpp:11\nExpected & so on]]></failure><failure "
    "message=\"second\"/></testcase>"
    "<testcase name=\"Skips\" status=\"run\" classname=\"Store\"><skipped "
    "message=\"/src/store.cpp:16&#x0A;no device\"/></testcase>"
    "<testcase name=\"Both\" classname=\"Store\"><skipped message=\"first\"/>"
    "<failure message=\"second\"/><skipped message=\"third\"/></testcase>"
    "<testcase name=\"DISABLED_Later\" status=\"notrun\" "
    "classname=\"Store\"/></testsuite></testsuites>";

static const char catch2[] =
    "<Catch name=\"c\"><Group name=\"c\"><TestCase name=\"adds, and more\" "
    "filename=\"/src/c.cpp\" line=\"3\"><OverallResult success=\"true\" "
    "durationInSeconds=\"0.5\"/></TestCase><TestCase name=\"fails\" "
    "filename=\"/src/c.cpp\" line=\"5\"><Expression success=\"false\" "
    "type=\"CHECK\" filename=\"/src/c.cpp\" line=\"8\"><Original>\n sum == 3\n "
    "</Original><Expanded>\n 2 == 3\n </Expanded></Expression><OverallResult "
    "success=\"false\"/></TestCase><TestCase name=\"may fail\"><Failure "
    "filename=\"/src/c.cpp\" line=\"9\">known</Failure><OverallResult "
    "success=\"true\"/></TestCase><TestCase name=\"crashes\" "
    "filename=\"/src/c.cpp\" line=\"12\"><FatalErrorCondition "
    "filename=\"/src/c.cpp\" line=\"12\"> SIGSEGV </FatalErrorCondition>"
    "<OverallResult success=\"false\"/></TestCase></Group></Catch>";

static const char check[] =
    "<testsuites><suite><title>store</title><test result=\"success\"><path>/src"
    "</path><fn>s.c:6</fn><id>passes</id><iteration>0</iteration><duration>"
    "0.000012</duration><message>Passed</message></test><test "
    "result=\"failure\"><path>/src</path><fn>s.c:11</fn><id>fails</id>"
    "<iteration>2</iteration><duration>-1.0</duration><message>1 == 3"
    "</message></test><test result=\"error\"><path>/src</path><fn>s.c:15</fn>"
    "<id>crashes</id><iteration>0</iteration><message>Received signal 11"
    "</message></test><test result=\"error\"><path>/src</path><fn>s.c:19</fn>"
    "<id>hangs</id><iteration>0</iteration><message>Test timeout expired"
    "</message></test></suite></testsuites>";

static const char cmocka[] =
    "<testsuites><testsuite name=\"store\"><testcase name=\"fails\" "
    "time=\"0.001\"><failure><![CDATA[0x2 != 0x3\n/src/m.c:17: error: "
    "Failure!]]></failure></testcase><testcase name=\"skips\"><skipped/>"
    "</testcase></testsuite></testsuites>";

static const char boost[] =
    "<testsuite name=\"m\"><testcase classname=\"store\" name=\"fails\" "
    "time=\"0.000165\"><failure message=\"failure\"><![CDATA[\nASSERTION "
    "FAILURE:\n- file   : b.cpp\n- line   : 15\n- message: check 1 == 3 has "
    "failed\n\n]]></failure></testcase></testsuite>";

static const char boost_exception[] =
    "<testsuite name=\"m\"><testcase classname=\"store\" name=\"late\">"
    "<error message=\"unexpected exception\"><![CDATA[\nUNCAUGHT EXCEPTION:\n"
    "- file: unknown location\n- line: 0\n\n\nEXCEPTION STACK TRACE: -----\n"
    "signal: SIGALRM (timeout)\n-----\n\nLast checkpoint:\n- file: b.cpp\n"
    "- line: 12\n]]></error></testcase></testsuite>";

static const char doctest[] =
    "<doctest binary=\"d\"><TestSuite><TestCase name=\"should fail\" "
    "filename=\"d.cpp\" line=\"3\" should_fail=\"true\"><Expression "
    "success=\"false\" type=\"CHECK\" filename=\"d.cpp\" line=\"4\"><Original>"
    "\n ok\n </Original><Expanded>\n false\n </Expanded></Expression>"
    "<OverallResultsAsserts failures=\"1\" test_case_success=\"true\" "
    "duration=\"0.5\"/></TestCase><TestCase name=\"passes\" "
    "should_fail=\"true\"><OverallResultsAsserts failures=\"0\" "
    "test_case_success=\"false\"/></TestCase><TestCase name=\"late\" "
    "timeout=\"0.1\"><OverallResultsAsserts test_case_success=\"false\"/>"
    "</TestCase><TestCase name=\"throws\" filename=\"d.cpp\" line=\"9\">"
    "<Exception crash=\"false\">\n \"why\"\n </Exception>"
    "<OverallResultsAsserts test_case_success=\"false\"/></TestCase><TestCase "
    "name=\"crashes\"><Exception crash=\"true\">SIGSEGV - no</Exception>"
    "<OverallResultsAsserts test_case_success=\"false\"/></TestCase>"
    "</TestSuite><OverallResultsAsserts failures=\"1\"/></doctest>";

struct expected {
    const char *name;
    enum test_log_outcome outcome;
    const char *reason;
};

static const struct row {
    const char *framework, *report;
    struct expected tests[6];
} rows[] = {
    {"gtest",
     gtest,
     {{"Store/Passes", TEST_LOG_OUTCOME_PASSED, NULL},
      {"Store/Fails", TEST_LOG_OUTCOME_FAILED,
       "/src/store.cpp:11: Expected & so on"},
      {"Store/Skips", TEST_LOG_OUTCOME_SKIPPED, "/src/store.cpp:16: no device"},
      {"Store/Both", TEST_LOG_OUTCOME_FAILED, "second"},
      {"Store/DISABLED_Later", TEST_LOG_OUTCOME_SKIPPED, "disabled"}}},
    {"catch2",
     catch2,
     {{"prog/adds, and more", TEST_LOG_OUTCOME_PASSED, NULL},
      {"prog/fails", TEST_LOG_OUTCOME_FAILED,
       "/src/c.cpp:8: sum == 3 is 2 == 3"},
      {"prog/may fail", TEST_LOG_OUTCOME_PASSED, "/src/c.cpp:9: known"},
      {"prog/crashes", TEST_LOG_OUTCOME_CRASHED, "SIGSEGV"}}},
    {"check",
     check,
     {{"store/passes", TEST_LOG_OUTCOME_PASSED, NULL},
      {"store/fails#2", TEST_LOG_OUTCOME_FAILED, "/src/s.c:11: 1 == 3"},
      {"store/crashes", TEST_LOG_OUTCOME_CRASHED, "Received signal 11"},
      {"store/hangs", TEST_LOG_OUTCOME_TIMEOUT, "Test timeout expired"}}},
    {"cmocka",
     cmocka,
     {{"prog/fails", TEST_LOG_OUTCOME_FAILED, "/src/m.c:17: 0x2 != 0x3"},
      {"prog/skips", TEST_LOG_OUTCOME_SKIPPED, NULL}}},
    {"boost",
     boost,
     {{"store/fails", TEST_LOG_OUTCOME_FAILED,
       "b.cpp:15: check 1 == 3 has failed"}}},
    {"boost",
     boost_exception,
     {{"store/late", TEST_LOG_OUTCOME_FAILED, "signal: SIGALRM (timeout)"}}},
    {"doctest",
     doctest,
     {{"prog/should fail", TEST_LOG_OUTCOME_PASSED, "d.cpp:4: ok is false"},
      {"prog/passes", TEST_LOG_OUTCOME_FAILED,
       "it has passed, but should fail"},
      {"prog/late", TEST_LOG_OUTCOME_FAILED,
       "it took longer than its time-out"},
      {"prog/throws", TEST_LOG_OUTCOME_FAILED, "\"why\""},
      {"prog/crashes", TEST_LOG_OUTCOME_CRASHED, "SIGSEGV - no"}}},
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static bool read_report(struct test_log_run *run, const struct row *row,
                        size_t size, bool *open)
{
    FILE *in = fmemopen((void *)(uintptr_t)row->report, size ? size : 1, "r");
    bool complete = runners_framework_read_report(
        run, in, runners_framework_named(row->framework), "prog", open);

    fclose(in);
    return complete;
}

static void expect_report(const struct row *row)
{
    struct test_log_run run = {.count = 0};
    size_t count = 0;
    bool open;

    while (row->tests[count].name)
        count++;
    cr_expect(read_report(&run, row, strlen(row->report), &open));
    cr_expect_not(open);
    cr_expect_eq(run.count, count);
    for (size_t i = 0; i < count && i < run.count; i++) {
        const struct test_log_result *result = &run.results[i];

        cr_expect_str_eq(test_log_name(result), row->tests[i].name);
        cr_expect_eq(result->outcome, row->tests[i].outcome, "%s",
                     row->tests[i].name);
        if (row->tests[i].reason && result->reason)
            cr_expect_str_eq(result->reason, row->tests[i].reason);
        else
            cr_expect_eq(result->reason, row->tests[i].reason);
    }
    test_log_run_free(&run);
}

Test(runners_read_report, reads_each_form)
{
    for (size_t i = 0; i < ROWS; i++)
        expect_report(&rows[i]);
}

Test(runners_read_report, knows_places_and_durations)
{
    struct test_log_run run = {.count = 0};
    bool open;

    read_report(&run, &rows[0], strlen(gtest), &open);
    cr_expect_str_eq(run.results[0].file, "/src/store.cpp");
    cr_expect_eq(run.results[0].line, 7);
    cr_expect_eq(run.results[0].duration, 250000000);
    test_log_run_free(&run);
}

/* A process may die anywhere; the test in which it died is open. */
Test(runners_read_report, reads_any_beginning_of_a_report)
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t size = strlen(rows[i].report), last = 0;

        for (size_t end = 0; end <= size; end++) {
            struct test_log_run run = {.count = 0};
            bool open;

            cr_expect_eq(read_report(&run, &rows[i], end, &open), end == size);
            cr_expect(!open || run.count);
            cr_expect(run.count + 1 >= last); /* one may be dropped */
            last = run.count;
            test_log_run_free(&run);
        }
    }
}

Test(runners_read_report, survives_random_changes)
{
    unsigned seed = 7;

    for (int round = 0; round < 3000; round++) {
        const struct row *row = &rows[round % ROWS];
        char *text = strdup(row->report);
        struct row changed = *row;
        struct test_log_run run = {.count = 0};
        bool open;

        for (int i = 0; i < 4; i++)
            text[(size_t)rand_r(&seed) % strlen(row->report)] =
                (char)rand_r(&seed);
        changed.report = text;
        read_report(&run, &changed, strlen(row->report), &open);
        cr_expect(!open || run.count);
        test_log_run_free(&run);
        free(text);
    }
}
