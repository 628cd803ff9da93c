/* harness_junit_test.c: junit.xml and its escapes. */
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/version.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct test_log_run run;

static void begin(void)
{
    test_folder();
    run.path = strdup(test_path(""));
}

static void end(void)
{
    test_log_run_free(&run);
}

TestSuite(harness_junit, .init = begin, .fini = end);

static struct test_log_result *add(const char *program, const char *name,
                                   enum test_log_outcome outcome,
                                   const char *reason)
{
    struct test_log_result *result =
        runs_add_result(&run, program, name, outcome, reason);

    result->duration = 1500000;
    return result;
}

/* Adds a test with `size` bytes of output. */
static void add_output(const char *name, const void *bytes, size_t size)
{
    char path[PATH_MAX];
    struct test_log_result *result =
        add("p", name, TEST_LOG_OUTCOME_PASSED, NULL);

    cr_assert_geq(asprintf(&result->folder, "tests/p/suite.%s", name), 0);
    test_log_make_folders(test_path(result->folder));
    snprintf(path, sizeof(path), "%s/output.txt", result->folder);
    test_save(test_path(path), bytes, size);
}

/* Removes the host's name, which differs between machines. */
static void forget_host(char *text)
{
    static const char name[] = " hostname=\"";
    char *at, *end;

    while ((at = strstr(text, name))) {
        end = strchr(at + strlen(name), '"');
        cr_assert_not_null(end);
        memmove(at, end + 1, strlen(end + 1) + 1);
    }
}

static const char *written(void)
{
    char *text;

    cr_assert_eq(test_log_write_junit(&run, "junit.xml"), 0);
    text = test_load(test_path("junit.xml"), NULL);
    forget_host(text);
    return text;
}

static void expect_has(const char *part)
{
    const char *text = written();

    cr_expect_not_null(strstr(text, part), "%s is not in:\n%.2000s", part,
                       text);
}

#define SUITE(name, tests, failures, errors, skipped, time)                    \
    "  <testsuite name=\"" name "\" tests=\"" tests "\" failures=\"" failures  \
    "\" errors=\"" errors "\" skipped=\"" skipped "\" time=\"" time            \
    "\" timestamp=\"1970-01-01T00:00:01\">\n    <properties>\n"                \
    "      <property name=\"program\" value=\"" name "\"/>\n"                  \
    "      <property name=\"command\" value=\"./run &amp; test\"/>\n"          \
    "      <property name=\"run\" value=\"RUN\"/>\n"                           \
    "      <property name=\"log\" value=\"info,kv=trace\"/>\n"                 \
    "      <property name=\"gpu\" value=\"unused\"/>\n"                        \
    "      <property name=\"testlog\" value=\"" TEST_LOG_VERSION "\"/>\n"      \
    "    </properties>\n"

#define CASE(name, suite, place)                                               \
    "    <testcase name=\"" name "\" classname=\"" suite "\"" place            \
    " time=\"0.001500\">\n"

static const char looks[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<testsuites name=\"testlog\" tests=\"5\" failures=\"1\" errors=\"2\" "
    "skipped=\"1\" time=\"0.009000\">\n"              //
    SUITE("a", "3", "1", "1", "0", "0.006000")        //
    CASE("passes", "a.suite", "") "    </testcase>\n" //
    CASE("fails", "a.suite",
         " file=\"file.c\" line=\"5\"") "      <failure type=\"failed\" "
                                        "message=\"file.c:7: why\">file.c:7: "
                                        "why</failure>\n    </testcase>\n" //
    CASE("crashes", "a.suite", "") "      <error type=\"crashed\" "
                                   "message=\"crashed\">crashed</error>\n"
                                   "    </testcase>\n  </testsuite>\n" //
    SUITE("b", "2", "0", "1", "1", "0.003000")                         //
    CASE("hangs", "b.suite", "") "      <error type=\"timeout\" "
                                 "message=\"after 1 s\">after 1 s</error>\n"
                                 "    </testcase>\n" //
    CASE("is skipped", "b.suite",
         "") "      <skipped message=\"no time\"/>\n    </testcase>\n"
             "  </testsuite>\n</testsuites>\n";

Test(harness_junit, writes_the_expected_file)
{
    struct test_log_result *result;

    add("a", "passes", TEST_LOG_OUTCOME_PASSED, NULL);
    result = add("a", "fails", TEST_LOG_OUTCOME_FAILED, "file.c:7: why");
    result->file = strdup("file.c");
    result->line = 5;
    add("a", "crashes", TEST_LOG_OUTCOME_CRASHED, NULL);
    add("a", "did not run", TEST_LOG_OUTCOME_NONE, NULL);
    add("b", "hangs", TEST_LOG_OUTCOME_TIMEOUT, "after 1 s");
    add("b", "is skipped", TEST_LOG_OUTCOME_SKIPPED, "no time");
    run.start.wall = 1000000000;
    run.command = strdup("./run & test");
    run.show = strdup("info,kv=trace");
    cr_assert_eq(chdir(run.path), 0);
    free(run.path);
    run.path = strdup("RUN");
    cr_assert_eq(mkdir("RUN", 0777), 0);
    cr_assert_eq(test_log_write_junit(&run, "junit.xml"), 0);

    char *text = test_load("RUN/junit.xml", NULL);

    forget_host(text);
    cr_expect_str_eq(text, looks);
}

Test(harness_junit, writes_a_run_without_tests)
{
    cr_expect_str_eq(written(),
                     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"testlog\" tests=\"0\" failures=\"0\" "
                     "errors=\"0\" skipped=\"0\" time=\"0.000000\">\n"
                     "</testsuites>\n");
}

Test(harness_junit, writes_properties_of_a_test_with_a_trace)
{
    struct test_log_result *result =
        add("p", "t", TEST_LOG_OUTCOME_PASSED, NULL);

    result->folder = strdup("folder");
    result->filter = strdup("debug");
    test_log_make_folders(test_path("folder"));
    cr_expect_null(strstr(written(), "\"trace\""));
    test_save(test_path("folder/trace.json"), "{}", 2);
    expect_has("        <property name=\"log\" value=\"debug\"/>\n"
               "        <property name=\"trace\" value=\"");
    expect_has("/folder/trace.json\"/>\n");
}

Test(harness_junit, writes_a_script_as_a_class)
{
    struct test_log_result *result =
        add("script", "script", TEST_LOG_OUTCOME_PASSED, NULL);

    free(result->suite);
    result->suite = NULL;
    expect_has("<testcase name=\"script\" classname=\"script\" time=");
}

Test(harness_junit, escapes_reserved_characters)
{
    add("p<\"&>", "t", TEST_LOG_OUTCOME_FAILED, "a < b && \"c\" > 'd'");
    expect_has("name=\"p&lt;&quot;&amp;&gt;\"");
    expect_has("message=\"a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'\"");
}

Test(harness_junit, keeps_newlines_in_reasons)
{
    add("p", "t", TEST_LOG_OUTCOME_FAILED, "one\ntwo");
    expect_has("message=\"one&#10;two\"");
}

static const struct {
    const char *name, *bytes, *shown;
} outputs[] = {
    {"plain", "a\tb\nc", "<system-out>a\tb\nc</system-out>"},
    {"controls", "a\001b\033[1mc\177", "<system-out>a?b?[1mc"},
    {"return", "a\r\nb", "a?\nb</system-out>"},
    {"utf_8", "gr\303\274n \342\202\254 \360\237\246\212",
     "<system-out>gr\303\274n \342\202\254 \360\237\246\212</system-out>"},
    {"bad_byte", "a\377b", "<system-out>a\357\277\275b</system-out>"},
    {"cut_off", "a\342\202", "<system-out>a\357\277\275"},
    {"surrogate", "a\355\240\200b", "<system-out>a\357\277\275"},
    {"no_character", "a\357\277\276b", "<system-out>a\357\277\275b"},
    {"nor_this", "a\357\277\277b", "<system-out>a\357\277\275b"},
    {"control", "a\302\233b", "<system-out>a\357\277\275b"},
    {"end_of_cdata", "]]>", "<system-out>]]&gt;</system-out>"},
};

Test(harness_junit, writes_any_output_as_xml_text)
{
    for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
        test_log_run_free(&run);
        run.path = strdup(test_path(""));
        add_output(outputs[i].name, outputs[i].bytes, strlen(outputs[i].bytes));
        expect_has(outputs[i].shown);
    }
}

Test(harness_junit, replaces_nul_bytes)
{
    add_output("nul", "a\0b", 3);
    expect_has("<system-out>a?b</system-out>");
}

Test(harness_junit, keeps_characters_across_read_buffers)
{
    enum { SIZE = 30000 };
    char *bytes = malloc(SIZE + 1), *begin;
    const char *text;

    cr_assert_not_null(bytes);
    for (int i = 0; i < SIZE; i += 3)
        memcpy(bytes + i, "\342\202\254", 3);
    bytes[0] = 'a'; /* the rest begins one byte later */
    memmove(bytes + 1, bytes + 3, SIZE - 3);
    add_output("euros", bytes, SIZE - 2);
    text = written();
    begin = strstr(text, "<system-out>");
    cr_assert_not_null(begin);
    cr_expect_eq(strncmp(begin + 12, bytes, SIZE - 2), 0);
    cr_expect_null(strstr(text, "\357\277\275"));
    free(bytes);
}

/* Adds a test that printed `count` lines with 64 bytes each. */
static void add_lines(const char *name, int count)
{
    struct trace_text text = {0};

    for (int i = 0; i < count; i++)
        trace_text_printf(&text, "line %058d\n", i);
    add_output(name, text.data, text.size);
    trace_text_free(&text);
}

Test(harness_junit, keeps_32_kib_of_output)
{
    add_lines("whole", 512);
    cr_expect_null(strstr(written(), "left out"));
    expect_has("00511\n</system-out>");
}

Test(harness_junit, says_how_much_output_is_left_out)
{
    add_lines("cut", 100000);
    expect_has("<system-out>line 0000000000");
    expect_has("00255\n... 6367296 bytes left out; see ");
    expect_has("/tests/p/suite.cut/output.txt\nline 0");
    expect_has("99999\n</system-out>");
    cr_expect_lt(strlen(written()), 34000);
}

Test(harness_junit, cuts_output_without_lines_between_characters)
{
    enum { SIZE = 99999 };
    static char bytes[SIZE];

    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = "\xe2\x82\xac"[i % 3];
    add_output("euros", bytes, SIZE);
    expect_has("bytes left out");
    cr_expect_null(strstr(written(), "\xef\xbf\xbd"));
}

Test(harness_junit, says_where_a_log_is_that_was_not_rendered)
{
    add_output("large", "", 0);
    run.results[0].unrendered = true;
    expect_has("<system-err>... left out, because the test passed and recorded "
               "much; see testlog log ");
    expect_has(" suite/large\n</system-err>");
}

Test(harness_junit, writes_random_bytes_as_well_formed_xml)
{
    char bytes[4096];

    test_seed(7);
    for (int i = 0; i < 20; i++) {
        char name[16];

        test_random_bytes(bytes, sizeof(bytes));
        snprintf(name, sizeof(name), "random%d", i);
        add_output(name, bytes, sizeof(bytes));
    }
    written();
    if (system("command -v xmllint >/dev/null"))
        cr_skip_test("xmllint is not installed");
    snprintf(bytes, sizeof(bytes), "xmllint --noout '%s'",
             test_path("junit.xml"));
    cr_expect_eq(system(bytes), 0);
}

Test(harness_junit, fails_without_the_folder)
{
    free(run.path);
    run.path = strdup(test_path("nowhere"));
    cr_expect_eq(test_log_write_junit(&run, "junit.xml"), -1);
}
