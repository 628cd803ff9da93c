/* e2e_results_test.c: results for machines: TAP, JUnit, JSON lines, GitHub's
 * workflow commands, Bazel's files. */
#include "tests/support/e2e.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define SCHEMA  TESTS_DIR "/cases/junit/junit.xsd"

E2E_FOLDER

/* ./ci has every outcome; ./small and ./plain pass, and ./plain is not
 * traced. */
static void begin(void)
{
    e2e_begin();
    e2e_link("ci", E2E_TRACED, "ci");
    e2e_link("small", E2E_TRACED, "small");
    e2e_link("small", E2E_PLAIN, "plain");
    e2e_script("dies", "kill -KILL $$");
    e2e_script("forges", "echo '::error::forged'");
}

TestSuite(e2e_results, .init = begin, .timeout = 300);

#define CI_TESTS 9

/* How many results a single program and several programs report. */
static const struct {
    const char *command;
    size_t tests, bad, skipped;
} runs[] = {
    {"./ci", CI_TESTS, 4, 2},
    {"./plain", 16, 0, 0},
    {TESTLOG " run ./small ./dies ./ci ./forges ./plain", 2 * 16 + 2 + CI_TESTS,
     5, 2},
};

enum { RUNS = sizeof(runs) / sizeof(*runs) };

/* ---- TAP ---- */

/* Parses by the rules of TAP 14: the version, a plan, test points in order,
 * diagnostics between "  ---" and "  ...". */
static void expect_tap(const char *text, size_t plan)
{
    size_t number = 0, in_yaml = 0;
    char line[4096], word[64];

    snprintf(line, sizeof(line), "TAP version 14\n1..%zu\n", plan);
    cr_assert(!strncmp(text, line, strlen(line)), "%s", text);
    for (const char *at = text + strlen(line), *end; *at; at = end + 1) {
        end = strchr(at, '\n');
        cr_assert(end && (size_t)(end - at) < sizeof(line), "%s", at);
        snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
        snprintf(word, sizeof(word), " %zu - ", number + 1);
        if (!strcmp(line, "  ---") || !strcmp(line, "  ..."))
            in_yaml += line[2] == '-' ? 1 : (size_t)-1;
        else if (in_yaml)
            cr_assert(!strncmp(line, "  ", 2) && isalpha(line[2]), "%s", line);
        else if (line[0] != '#')
            cr_assert(strstr(line, word) && ++number, "%s", line);
        cr_assert_leq(in_yaml, 1, "%s", line);
    }
    cr_expect_eq(number, plan);
}

Test(e2e_results, writes_tap_for_every_run)
{
    for (size_t i = 0; i < RUNS; i++) {
        e2e_exits(runs[i].bad > 0, "%s", runs[i].command);

        const char *tap = e2e_read("testlog-runs/latest/results.tap");

        expect_tap(tap, runs[i].tests);
        cr_expect_eq(e2e_count(tap, "\nnot ok "), runs[i].bad);
        cr_expect_eq(e2e_count(tap, " # SKIP "), runs[i].skipped);
        cr_expect_eq(e2e_count(tap, "\n  severity: fail\n"), runs[i].bad);
        cr_expect_eq(e2e_count(tap, "\n  duration_ms: "), runs[i].tests);
    }
}

Test(e2e_results, finishes_if_nobody_reads_its_output)
{
    static const char *const runners[] = {"./ci", TESTLOG " run ./ci"};

    for (size_t i = 0; i < 2; i++) {
        e2e_run("rm -rf testlog-runs; { %s; echo $? >code; } 2>&1 | head -n 1",
                runners[i]);
        e2e_expect_is(e2e_read("code"), "1\n");
        cr_expect(e2e_exists("testlog-runs/latest/junit.xml"), "%s",
                  runners[i]);
    }
}

Test(e2e_results, tap_contains_locations_reasons_and_skips)
{
    e2e_run("./ci");

    e2e_expect_has(
        e2e_read("testlog-runs/latest/results.tap"),
        " - ci/is_skipped # SKIP issue \\#7 \\\\ later ok 9 - forged\n",
        " - ci_plain/is_disabled # SKIP disabled\n",
        "ci.c:22: 50% of a, b: c # d \\\\ e\\n::error ",
        "\n  message: \"SIGABRT, below ", "tests/ci/ci.crashes/trace.json\"\n",
        "\n  outcome: timeout\n");
}

Test(e2e_results, tap_of_several_programs_names_the_program)
{
    e2e_run(TESTLOG " run ./small ./dies ./plain");

    e2e_expect_has(e2e_read("testlog-runs/latest/results.tap"),
                   "\nok 1 - small other/passes\n", "\nnot ok 17 - dies\n",
                   "  message: \"the program died of SIGKILL\"\n",
                   "\nok 18 - plain other/passes\n");
}

/* Debian's prove supports version 13, which covers all that we write. */
Test(e2e_results, prove_reads_the_tap)
{
    const struct e2e *result;

    e2e_need("prove");
    e2e_run("./ci");
    result = e2e_run("sed 1s/14/13/ testlog-runs/latest/results.tap >13.tap; "
                     "prove -e cat 13.tap");
    e2e_expect_has(result->out, "Failed 4/9 subtests",
                   "less 2 skipped subtests");
    e2e_expect_lacks(result->out, "Parse errors");
    result = e2e_exits(
        0, "./small >/dev/null; sed 1s/14/13/ testlog-runs/latest/results.tap "
           ">13.tap; prove -e cat 13.tap");
}

/* ---- JUnit ---- */

static void expect_valid(const char *path)
{
    e2e_exits(0, "xmllint --noout --schema '%s' %s", SCHEMA, path);
}

static void need_xmllint(void)
{
    e2e_need("xmllint");
}

Test(e2e_results, writes_junit_that_matches_its_schema)
{
    need_xmllint();
    for (size_t i = 0; i < RUNS; i++) {
        e2e_run("%s", runs[i].command);
        expect_valid("testlog-runs/latest/junit.xml");
    }
    e2e_run("./ci --filter none/here");
    expect_valid("testlog-runs/latest/junit.xml");
}

/* Otherwise the test above would prove nothing. */
Test(e2e_results, schema_rejects_bad_junit)
{
    static const char *const edits[] = {
        "s/ classname=\"[^\"]*\"//",     "s/time=\"/time=\"-/",
        "s/<failure /<failed /",         "s/ type=\"crashed\"//",
        "s/ tests=\"[0-9]*\"//",         "s/line=\"[0-9]*\"/line=\"x\"/",
        "s/timestamp=\"/timestamp=\"x/", "s/<testsuites /<tests /"};

    need_xmllint();
    e2e_run("./ci");
    for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++)
        cr_expect_neq(
            e2e_run("sed '%s' testlog-runs/latest/junit.xml >bad.xml; "
                    "! cmp -s bad.xml testlog-runs/latest/junit.xml || exit 0; "
                    "xmllint --noout --schema '%s' bad.xml",
                    edits[i], SCHEMA)
                ->code,
            0, "%s", edits[i]);
}

Test(e2e_results, writes_decimal_points_in_every_locale)
{
    static const char locales[] = BUILD_DIR "/tests/locale";

    if (!e2e_exists("%s/de_DE.UTF-8", locales))
        cr_skip_test("no locale with a decimal comma");
    e2e_run("LOCPATH='%s' LC_ALL=de_DE.UTF-8 ./ci", locales);

    const char *junit = e2e_read("testlog-runs/latest/junit.xml");

    e2e_expect_has(junit, " time=\"0.");
    e2e_expect_lacks(junit, " time=\"0,");
}

Test(e2e_results, junit_distinguishes_outcomes)
{
    e2e_run("LOG=debug,ci=trace ./ci --trace-filter=info");

    const char *xml = e2e_read("testlog-runs/latest/junit.xml");

    e2e_expect_has(xml,
                   "<testsuites name=\"testlog\" tests=\"9\" failures=\"2\" "
                   "errors=\"2\" skipped=\"2\" time=\"",
                   "<failure type=\"failed\" message=\"",
                   "<error type=\"crashed\" message=\"SIGABRT",
                   "<error type=\"timeout\" message=\"after ",
                   "<skipped message=\"disabled\"/>",
                   "<system-out>all is well\n</system-out>",
                   "ERROR programs::ci: \\n::error file=x.c",
                   "<property name=\"log\" value=\"debug,ci=trace\"/>",
                   "<property name=\"trace-filter\" value=\"info\"/>",
                   "<property name=\"program\" value=\"ci\"/>",
                   "/tests/ci/ci.passes/trace.json\"/>");
    e2e_expect_has(e2e_line(xml, "name=\"crashes\""),
                   "classname=\"ci.ci\" file=\"", "ci.c\" line=\"37\"");
}

/* ---- JSON lines ---- */

/* Expects one object a line, and one line a test. */
static void expect_lines(const char *text, size_t tests)
{
    size_t lines = 0;

    for (const char *at = text, *end; *at; at = end + 1, lines++) {
        cJSON *json = cJSON_ParseWithLength(at, strcspn(at, "\n"));

        end = strchr(at, '\n');
        cr_assert_not_null(end);
        cr_assert(cJSON_IsObject(json), "%s", at);
        cr_expect_eq(e2e_number(json, "schema"), 1);
        e2e_expect_is(e2e_text(json, "event"), "test");
        cr_expect(e2e_text(json, "name")[0] && e2e_text(json, "program")[0] &&
                  e2e_text(json, "outcome")[0]);
        cJSON_Delete(json);
    }
    cr_expect_eq(lines, tests, "%s", text);
}

Test(e2e_results, writes_json_lines_for_every_run)
{
    for (size_t i = 0; i < RUNS; i++) {
        e2e_run("%s", runs[i].command);
        expect_lines(e2e_read("testlog-runs/latest/results.jsonl"),
                     runs[i].tests);
    }
}

/* The last test waits, so that the run is killed before its end. */
#define KILLED                                                                 \
    "mkfifo pipe; CI_WAIT=1 ./ci -j1 --report=jsonl:pipe >/dev/null 2>&1 & "   \
    "read -r line <pipe; kill -KILL $!; wait $!; "

Test(e2e_results, writes_json_lines_during_the_run)
{
    const struct e2e *result =
        e2e_run(KILLED "cat testlog-runs/latest/results.jsonl");

    e2e_expect_has(result->out, "\"name\":\"ci/crashes\",\"outcome\":"
                                "\"crashed\"");
    e2e_expect_lacks(result->out, "ci/waits");
    cr_expect_not(e2e_exists("testlog-runs/latest/run.json"));
}

static const char *const to_stdout[] = {
    "./ci --report=jsonl:-",
    "./ci --nocapture --report=jsonl:-",
    "GITHUB_ACTIONS=true ./ci --report=jsonl:/dev/stdout",
    TESTLOG " run ./forges ./ci -- --report=jsonl:-",
    "GITHUB_ACTIONS=true " TESTLOG " run ./forges ./ci -- --report=jsonl:-",
};

Test(e2e_results, prints_nothing_else_beside_json_lines)
{
    for (size_t i = 0; i < sizeof(to_stdout) / sizeof(*to_stdout); i++) {
        const struct e2e *result = e2e_run("%s", to_stdout[i]);

        expect_lines(result->out,
                     CI_TESTS + (strstr(to_stdout[i], "forges") != NULL));
        e2e_expect_has(e2e_last(result->err), " passed, 4 failed, 2 skipped");
    }
}

/* ---- Destinations ---- */

Test(e2e_results, writes_reports_to_the_given_files)
{
    static const char *const commands[] = {"./small",
                                           TESTLOG " run ./small ./plain --"};
    static const size_t tests[] = {16, 32};

    for (size_t i = 0; i < 2; i++) {
        e2e_exits(
            0,
            "echo old >a.jsonl; %s --report=tap:a.tap --report=junit:a.xml "
            "--report=jsonl:a.jsonl --report=jsonl:b.jsonl",
            commands[i]);

        expect_tap(e2e_read("a.tap"), tests[i]);
        e2e_expect_is(e2e_read("a.tap"),
                      e2e_read("testlog-runs/latest/results.tap"));
        e2e_expect_is(e2e_read("a.xml"),
                      e2e_read("testlog-runs/latest/junit.xml"));
        expect_lines(e2e_read("a.jsonl"), tests[i]);
        e2e_expect_is(e2e_read("b.jsonl"), e2e_read("a.jsonl"));
    }
}

Test(e2e_results, prints_nothing_else_beside_tap)
{
    const struct e2e *one = e2e_run("./ci --nocapture --report=tap:-");
    const struct e2e *all =
        e2e_run(TESTLOG " run ./forges ./plain -- --report=tap:-");

    expect_tap(one->out, CI_TESTS);
    expect_tap(all->out, 17);
    e2e_expect_is(e2e_last(one->err), "3 passed, 4 failed, 2 skipped");
    e2e_expect_is(e2e_last(all->err), "17 passed, 0 failed, 0 skipped");
}

static const struct {
    const char *flag, *printed;
} refused[] = {
    {"--report=xml:a", "testlog: --report: unknown value \"xml\"; write tap, "
                       "junit or jsonl\n"},
    {"--report=tap", "testlog: --report: \"tap\" has no file; write "
                     "FORMAT:FILE\n"},
    {"--report=tap:- --report=jsonl:-",
     "testlog: --report: stdout is for one report only; write the others to "
     "files\n"},
};

Test(e2e_results, refuses_bad_reports_before_any_test)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct e2e *one = e2e_exits(2, "./small %s", refused[i].flag);
        const struct e2e *all =
            e2e_exits(2, TESTLOG " run ./small -- %s", refused[i].flag);

        e2e_expect_is(one->err, refused[i].printed);
        e2e_expect_is(all->err, refused[i].printed);
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_results, creates_folders_of_reports)
{
    e2e_run("./small --report=junit:new/one/junit.xml "
            "--report=jsonl:new/two/results.jsonl");
    cr_expect(e2e_exists("new/one/junit.xml"));
    expect_lines(e2e_read("new/two/results.jsonl"), 16);
}

Test(e2e_results, keeps_verdicts_if_a_report_cannot_be_written)
{
    static const char *const commands[] = {"./small",
                                           TESTLOG " run ./small --"};

    for (size_t i = 0; i < 2; i++) {
        const struct e2e *result =
            e2e_exits(0, "%s --report=tap:/dev/null/a", commands[i]);

        e2e_expect_closing(result, "16 passed, 0 failed, 0 skipped");
        cr_expect_eq(e2e_count(result->err, "cannot write /dev/null/a "), 1);
    }
}

Test(e2e_results, writes_or_misses_reports_without_any_folder)
{
    const char *nowhere = "TMPDIR=/nowhere TRACE_DIR=/dev/null/x";
    e2e_exits(0, "%s ./small --report=tap:a --report=jsonl:b", nowhere);

    expect_tap(e2e_read("a"), 16);
    expect_lines(e2e_read("b"), 16);

    const struct e2e *all =
        e2e_exits(0,
                  "rm a; %s " TESTLOG
                  " run ./small ./plain -- --report=tap:a --report=jsonl:b",
                  nowhere);

    cr_expect_not(e2e_exists("a"));
    cr_expect_eq(e2e_count(all->err, "cannot write a (--report)"), 1);
    expect_lines(e2e_read("b"), 32);
}

/* ---- GitHub ---- */

enum { LINE = 8192 };

/* Parses a step's output as GitHub does: a command begins a line, "##[" may be
 * anywhere in it; after stop-commands, only its token counts. */
struct step {
    char token[64];
    size_t groups, ends, errors, forged;
    char last[LINE]; /* annotation */
};

static void take_command(struct step *step, const char *line)
{
    if (!strncmp(line, "::stop-commands::", 17))
        snprintf(step->token, sizeof(step->token), "%.*s",
                 (int)sizeof(step->token) - 1, line + 17);
    else if (!strncmp(line, "::group::", 9))
        step->groups++;
    else if (!strncmp(line, "::endgroup::", 12))
        step->ends++;
    else if (!strncmp(line, "::error ", 8))
        snprintf(step->last, sizeof(step->last), "%s", line), step->errors++;
    else
        step->forged++;
    step->forged += strstr(line, "line=1::forged") == line + 16;
}

static struct step read_step(const char *text)
{
    struct step step = {.token = ""};
    char line[LINE], resume[80];

    for (const char *at = text; *at;
         at += strcspn(at, "\n"), at += *at == '\n') {
        at += strspn(at, " \t");
        snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
        snprintf(resume, sizeof(resume), "::%s::", step.token);
        if (step.token[0] && strncmp(line, resume, strlen(resume)))
            continue;
        if (step.token[0])
            step.token[0] = '\0';
        else if (!strncmp(line, "::", 2) || strstr(line, "##["))
            take_command(&step, line);
    }
    return step;
}

static const char *const in_github[] = {
    "./ci",
    "./ci --nocapture",
    "./ci -j1 --show-output",
    TESTLOG " run ./forges ./ci ./small ./dies",
    TESTLOG " run ./forges ./ci ./small -- --nocapture",
};

Test(e2e_results, escapes_github_commands_of_tests)
{
    for (size_t i = 0; i < sizeof(in_github) / sizeof(*in_github); i++) {
        const struct e2e *result =
            e2e_exits(1, "GITHUB_ACTIONS=true %s 2>&1", in_github[i]);
        struct step step = read_step(result->out);

        cr_expect(strstr(result->out, "\n::error file=x.c") ||
                  strstr(result->out, "\n::error::forged"));
        cr_expect_eq(step.forged, 0, "%s: %s", in_github[i], result->out);
        cr_expect_str_eq(step.token, "", "commands stay stopped");
        cr_expect_geq(step.groups, 4);
        cr_expect_eq(step.groups, step.ends);
        cr_expect_eq(step.errors, strstr(in_github[i], "dies") ? 5 : 4);
        e2e_expect_has(e2e_last(result->out), " skipped");
    }
}

/* Otherwise the test above would prove nothing. */
Test(e2e_results, leaves_test_output_alone_outside_github)
{
    const struct e2e *result = e2e_run("./ci 2>&1");

    cr_expect_gt(read_step(result->out).forged, 0);
    e2e_expect_lacks(result->out, "stop-commands", "group::");
}

Test(e2e_results, writes_annotations_with_location_and_reason)
{
    e2e_expect_has(
        e2e_run("GITHUB_ACTIONS=true ./ci 2>&1")->out,
        "\n::error "
        "file=programs/ci.c,line=22,title=ci/fails_and_forges::failed: ",
        "ci.c:22: 50%25 of a, b: c # d \\ e%0A::error "
        "file=x.c,line=1::forged%0A##[error]forged",
        "\n::error file=programs/ci.c,line=37,title=ci/crashes::crashed: "
        "SIGABRT",
        "\n::group::ci/hangs: timed out: after ");
}

Test(e2e_results, adds_a_job_summary)
{
    const char *summary;

    e2e_run("echo before >summary; GITHUB_ACTIONS=true "
            "GITHUB_STEP_SUMMARY=summary ./ci");
    summary = e2e_read("summary");
    e2e_expect_has(summary, "before\n### ",
                   "\n| failed test | outcome | reason |\n"
                   "| --- | --- | --- |\n| ci/",
                   "| ci/fails&#95;and&#95;forges | failed | ",
                   "50% of a, b&#58; c &#35; d &#92; e |\n",
                   "| ci/crashes | crashed | SIGABRT",
                   "\n| slowest test | seconds |\n"
                   "| --- | ---: |\n| ci/hangs | ");
    cr_expect_eq(e2e_count(summary, "### "), 1);
    e2e_run(
        "rm summary; GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary " TESTLOG
        " run ./ci ./small");
    summary = e2e_read("summary");
    cr_expect_eq(e2e_count(summary, "### "), 1, "%s", summary);
    e2e_expect_has(summary, "| ci/crashes | crashed | SIGABRT");
    e2e_run("rm summary; GITHUB_STEP_SUMMARY=summary ./ci");
    cr_expect_not(e2e_exists("summary"));
    e2e_expect_has(e2e_run("GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=no/where "
                           "./small 2>&1")
                       ->out,
                   "testlog: cannot write GitHub's job summary to no/where: "
                   "No such file or directory");
}

Test(e2e_results, hides_the_token_from_tests)
{
    e2e_exits(
        0, "GITHUB_ACTIONS=true " TESTLOG
           " run ./small -- --report=jsonl:- --filter small/inherits_no_run");
}

/* ---- Bazel ---- */

static const struct {
    const char *command;
    size_t tests;
} bazel[] = {{"./small", 16}, {TESTLOG " run ./small ./forges ./plain", 33}};

Test(e2e_results, writes_one_junit_for_bazel)
{
    char count[64];

    for (size_t i = 0; i < 2; i++) {
        e2e_exits(0, "rm -f out.xml; XML_OUTPUT_FILE=out.xml %s",
                  bazel[i].command);
        snprintf(count, sizeof(count),
                 "<testsuites name=\"testlog\" "
                 "tests=\"%zu\"",
                 bazel[i].tests);
        e2e_expect_has(e2e_read("out.xml"), count);
    }
}

Test(e2e_results, applies_bazels_filter)
{
    e2e_expect_closing(e2e_run("TESTBRIDGE_TEST_ONLY='*/passes' ./small"),
                       "2 passed, 0 failed, 0 skipped");
    e2e_expect_closing(e2e_run("TESTBRIDGE_TEST_ONLY='*/passes' " TESTLOG
                               " run ./small ./plain"),
                       "4 passed, 0 failed, 0 skipped");

    const struct e2e *bad = e2e_exits(2, "TESTBRIDGE_TEST_ONLY='(a' ./small");

    e2e_expect_has(bad->err, "TESTBRIDGE_TEST_ONLY: \"(a\" is not a pattern");
}

Test(e2e_results, writes_the_run_to_bazels_outputs)
{
    for (size_t i = 0; i < 2; i++) {
        e2e_run("rm -rf outputs; TEST_UNDECLARED_OUTPUTS_DIR=outputs %s",
                bazel[i].command);
        cr_expect(e2e_exists("outputs/latest/run.json"));
    }
    e2e_run("TEST_UNDECLARED_OUTPUTS_DIR=no TRACE_DIR=mine ./small");
    cr_expect(e2e_exists("mine/latest/run.json"));
    cr_expect_not(e2e_exists("no") || e2e_exists("testlog-runs"));
}

/* The file exists while any program runs, also after the first. */
Test(e2e_results, keeps_the_premature_exit_file_until_the_end)
{
    e2e_script("looks", "test -e premature");
    e2e_exits(0, "TEST_PREMATURE_EXIT_FILE=$PWD/premature " TESTLOG
                 " run ./looks ./small ./looks");
    cr_expect_not(e2e_exists("premature"));
    e2e_exits(0, "TEST_PREMATURE_EXIT_FILE=$PWD/premature "
                 "TMPDIR=/nowhere TRACE_DIR=/dev/null/x " TESTLOG
                 " run ./looks ./small ./looks");
    cr_expect_not(e2e_exists("premature"));
}

Test(e2e_results, leaves_the_premature_exit_file_if_killed)
{
    e2e_run("export TEST_PREMATURE_EXIT_FILE=premature; " KILLED);
    cr_expect(e2e_exists("premature"));
    e2e_run("TEST_PREMATURE_EXIT_FILE=premature ./ci --report=tap:-");
    cr_expect_not(e2e_exists("premature"),
                  "tests failed, but the run finished");
}

Test(e2e_results, ignores_ci_variables_in_nested_runs)
{
    const struct e2e *result =
        e2e_run("TESTLOG_SESSION=nested=1:1 XML_OUTPUT_FILE=x "
                "TEST_PREMATURE_EXIT_FILE=y "
                "TESTBRIDGE_TEST_ONLY=none/here GITHUB_ACTIONS=true "
                "TEST_UNDECLARED_OUTPUTS_DIR=z ./small 2>&1");

    e2e_expect_is(e2e_last(result->out), "16 passed, 0 failed, 0 skipped");
    e2e_expect_lacks(result->out, "::");
    cr_expect_not(e2e_exists("x") || e2e_exists("y") || e2e_exists("z"));
}
