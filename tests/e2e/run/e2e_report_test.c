/* e2e_report_test.c: report.html, as a run and testlog report write it. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/page.h"

#define TESTLOG BUILD_DIR "/testlog"
#define RUN     "testlog-runs/latest/"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    if (!page_can_read())
        cr_skip_test("no zlib");
}

TestSuite(e2e_report, .init = begin, .timeout = 300);

static const char *page(void)
{
    return e2e_read(RUN "report.html");
}

/* Returns the number of a test. */
static size_t number_of(const struct page_block *run, const char *name)
{
    size_t row = page_find(run, "tests", "name", name);

    cr_assert_neq(row, SIZE_MAX, "%s", name);
    return row;
}

static struct page_block block_of(const char *html,
                                  const struct page_block *run,
                                  const char *name)
{
    char id[32];

    snprintf(id, sizeof(id), "t%zu", number_of(run, name));
    return page_block(html, id);
}

/* ---- What a run writes ---- */

Test(e2e_report, a_program_alone_writes_it)
{
    struct page_block run;
    size_t test;

    e2e_run("%s", e2e_program("ci", E2E_TRACED));
    run = page_block(page(), "run");
    test = number_of(&run, "ci/hangs");
    cr_expect_str_eq(page_text(&run, "tests", "outcome", test), "timeout");
    test = number_of(&run, "ci/is_skipped");
    cr_expect_str_eq(page_text(&run, "tests", "reason", test),
                     "issue #7 \\ later\nok 9 - forged");
    cr_expect_eq(e2e_number(run.json, "failed"), 4);
    cr_expect_str_eq(e2e_text(run.json, "command"),
                     e2e_program("ci", E2E_TRACED));
    cr_expect(page_has(page(), "end"));
}

Test(e2e_report, failures_have_output_and_lines)
{
    struct page_block run, block;
    size_t test, failure = 0;
    const char *html;

    e2e_run("%s", e2e_program("ci", E2E_TRACED));
    html = page();
    run = page_block(html, "run");
    test = number_of(&run, "ci/prints_any_bytes");
    while ((size_t)page_number(&run, "failures", "test", failure) != test)
        failure++;
    cr_expect_neq(page_text(&run, "failures", "output", failure)[0], '\0');
    block = block_of(html, &run, "ci/prints_any_bytes");
    cr_expect_eq(cJSON_GetObjectItem(block.json, "try")->valuedouble, 0);
}

Test(e2e_report, testlog_run_writes_one_for_all_programs)
{
    struct page_block run;

    e2e_run(TESTLOG " run %s %s", e2e_program("small", E2E_TRACED),
            e2e_program("small", E2E_PLAIN));
    run = page_block(page(), "run");
    cr_expect_neq(page_find(&run, "tests", "program", "small_test"), SIZE_MAX);
    cr_expect_neq(page_find(&run, "tests", "program", "small_test~2"),
                  SIZE_MAX);
    e2e_expect_is(e2e_run("find testlog-runs/latest/tests -name '*.html'")->out,
                  "");
    e2e_expect_has(page_text(&run, "tests", "rerun", 0),
                   "/traced/small_test --filter ");
}

Test(e2e_report, an_interrupted_run_writes_it)
{
    struct page_block run;

    e2e_interrupt(e2e_program("unsteady", E2E_TRACED));
    run = page_block(page(), "run");
    cr_expect_str_eq(e2e_text(run.json, "interrupted"), "SIGINT");
}

/* Nothing that a test writes can end the element or the policy. */
Test(e2e_report, hostile_text_stays_in_the_data)
{
    const char *html;

    e2e_run("%s", e2e_program("ci", E2E_TRACED));
    html = page();
    e2e_expect_lacks(html, "::error", "forged");
    cr_expect_eq(e2e_count(html, "<script>"), 1);
    e2e_expect_has(html, "default-src 'none'; script-src 'sha256-");
}

Test(e2e_report, the_policy_has_the_digest_of_the_script)
{
    const char *html, *digest;

    e2e_run("%s", e2e_program("small", E2E_TRACED));
    html = page();
    digest = e2e_run("perl -0777 -ne 'print $1 if "
                     "m{<script>(.*?)</script>}s' %s | "
                     "sha256sum | cut -c-64 | tr a-f A-F | "
                     "basenc -d --base16 | base64",
                     RUN "report.html")
                 ->out;
    cr_assert_gt(strlen(digest), 40);
    e2e_expect_is(e2e_between(html, "script-src 'sha256-", "'"),
                  e2e_between(digest, "", "\n"));
}

Test(e2e_report, a_second_run_is_compared_with_the_first)
{
    const char *small = e2e_program("small", E2E_TRACED);
    const cJSON *previous;
    struct page_block run;

    e2e_run("%s", small);
    run = page_block(page(), "run");
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(run.json, "previous")));
    e2e_run("%s", small);
    run = page_block(page(), "run");
    previous = cJSON_GetObjectItem(run.json, "previous");
    cr_expect_eq(
        cJSON_GetArraySize(cJSON_GetObjectItem(previous, "newly_failing")), 0);
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(previous, "new")), 0);
}

/* Returns the tests that are gone since the last run. */
static const cJSON *gone(void)
{
    const cJSON *previous =
        cJSON_GetObjectItem(page_block(page(), "run").json, "previous");
    const cJSON *names = cJSON_GetObjectItem(previous, "gone");

    cr_assert(cJSON_IsArray(names));
    return names;
}

Test(e2e_report, a_whole_run_names_tests_that_are_gone)
{
    static const char *const commands[] = {"", TESTLOG " run "};
    static const char removed[] = "echo 'passed\t1\tsmall_test\tsmall/removed' "
                                  ">>" RUN "results.tsv; ";
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("%s", small);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        e2e_run("%s%s%s", removed, commands[i], small);
        cr_assert_eq(cJSON_GetArraySize(gone()), 1, "%s", commands[i]);
        cr_expect_str_eq(cJSON_GetStringValue(gone()->child), "small/removed");
        e2e_run(TESTLOG " report");
        cr_expect_eq(cJSON_GetArraySize(gone()), 1, "%s", commands[i]);
    }
    e2e_run("%s%s --filter small/passes", removed, small);
    cr_expect_eq(cJSON_GetArraySize(gone()), 0);
}

Test(e2e_report, a_file_that_cannot_grow_changes_no_verdict)
{
    const struct e2e *all = e2e_exits(0,
                                      "mkdir -p runs; (ulimit -f 300; %s "
                                      "--trace-dir=runs --filter small/passes)",
                                      e2e_program("small", E2E_TRACED));

    e2e_expect_closing(all, "1 passed, 0 failed, 0 skipped");
    e2e_expect_has(all->err, "testlog: cannot write report.html: File too "
                             "large; results are not affected\n");
    e2e_expect_is(e2e_run("ls runs/latest | grep report")->out, "");
}

/* ---- testlog report ---- */

Test(e2e_report, a_run_includes_a_large_passing_test)
{
    struct page_block block;

    e2e_run("%s --filter many/lines", e2e_program("many", E2E_TRACED));
    block = page_block(page(), "t0");
    cr_expect_eq(page_rows(&block, "lines"), 200000);
    cr_expect_str_eq(page_text(&block, "lines", "text", 7),
                     "inserted key 49 of 200000");
}

/* Runs a command that a page names. */
static void run_named(const char *command)
{
    e2e_exits(0, "testlog() { " TESTLOG " \"$@\"; }; %s", command);
    cr_expect(page_has(page(), "t0"));
}

Test(e2e_report, testlog_report_includes_a_very_large_test)
{
    struct page_block end;

    e2e_run("LARGE_EVENTS=1200000 %s --filter large/records_much",
            e2e_program("large", E2E_TRACED));
    end = page_block(page(), "end");
    cr_expect_not(page_has(page(), "t0"));
    cr_expect_str_eq(page_text(&end, "left_out", "why", 0), "large");
    run_named(page_text(&end, "left_out", "command", 0));
    e2e_run("rm " RUN "report.html");
    run_named(e2e_text(end.json, "report"));
}

Test(e2e_report, testlog_report_reads_a_run_that_was_killed)
{
    struct page_block run, block;
    const char *html;

    e2e_run("%s", e2e_program("small", E2E_TRACED));
    e2e_run("cd " RUN " && rm run.json report.html results.jsonl");
    e2e_exits(0, TESTLOG " report");
    html = page();
    run = page_block(html, "run");
    cr_expect_str_eq(page_text(&run, "tests", "outcome", 0), "none");
    block = block_of(html, &run, "small/passes");
    cr_expect_gt(page_rows(&block, "tracks"), 0);
}

static void expect_outcome(const struct page_block *run, const char *name,
                           const char *outcome)
{
    cr_expect_str_eq(page_text(run, "tests", "outcome", number_of(run, name)),
                     outcome, "%s", name);
}

/* The first page is of the run while it goes on, the second one of the same run
 * after a test was tried again and it was killed. */
Test(e2e_report, testlog_report_reads_what_has_ended)
{
    static const char *const names[] = {"on.html", "killed.html"};
    static const char *const ends[] = {"running", "none"};
    static const char *const tries[] = {"failed", "passed"};

    e2e_exits(0,
              "%s -j1 --filter unsteady/passes --filter unsteady/never "
              "--filter waits/for_ever 2>/dev/null & runner=$!; until [ -s "
              "ready ]; do sleep 0.01; done; " TESTLOG
              " report -o on.html; code=$?; worker=$(cut -d' ' -f4 /proc/$(cat "
              "child)/stat); kill -KILL $runner $worker $(cat child); wait "
              "$runner; while kill -0 $worker 2>/dev/null; do sleep 0.01; "
              "done; sed -n 's/failed/passed/p' " RUN
              "results.jsonl >>lines; cat lines >>" RUN
              "results.jsonl; " TESTLOG " report -o killed.html && exit $code",
              e2e_program("unsteady", E2E_TRACED));
    for (int i = 0; i < 2; i++) {
        struct page_block run = page_block(e2e_read("%s", names[i]), "run");

        cr_expect_eq(page_rows(&run, "tests"), 3);
        expect_outcome(&run, "unsteady/passes", "passed");
        expect_outcome(&run, "unsteady/never", tries[i]);
        expect_outcome(&run, "waits/for_ever", ends[i]);
        cr_expect_eq(number_of(&run, "waits/for_ever"), 2);
    }
}

Test(e2e_report, testlog_report_writes_the_same_as_the_run)
{
    struct page_block first, second;

    e2e_run("%s", e2e_program("ci", E2E_TRACED));
    e2e_exits(0, TESTLOG " report -o again.html");
    first = page_block(page(), "run");
    second = page_block(e2e_read("again.html"), "run");
    cr_expect_eq(first.size, second.size);
    cr_expect(cJSON_Compare(cJSON_GetObjectItem(first.json, "strings"),
                            cJSON_GetObjectItem(second.json, "strings"), true));
    cr_expect(cJSON_Compare(cJSON_GetObjectItem(first.json, "host"),
                            cJSON_GetObjectItem(second.json, "host"), true));
    cr_expect_str_eq(e2e_text(first.json, "rerun"),
                     e2e_text(second.json, "rerun"));
}

Test(e2e_report, testlog_report_writes_to_standard_output)
{
    const struct e2e *all;

    e2e_run("%s", e2e_program("small", E2E_TRACED));
    all = e2e_exits(0, TESTLOG " report -o -");
    cr_expect(page_has(all->out, "end"));
    e2e_expect_is(all->err, "");
}

Test(e2e_report, testlog_report_refuses_what_is_not_there)
{
    const struct e2e *all;

    e2e_run("%s", e2e_program("small", E2E_TRACED));
    all = e2e_exits(2, TESTLOG " report no/such");
    e2e_expect_has(all->err, " has no recording of no/such");
    e2e_exits(2, "cd /; " TESTLOG " report /etc");
    e2e_exits(2, TESTLOG " report --chrome");
    all = e2e_exits(1, TESTLOG " report -o /no/such.html");
    e2e_expect_has(all->err, "testlog: report: cannot write /no/such.html: ");
}

/* ---- Many programs ---- */

/* Makes a run of `testlog run` in which a test of each program failed. */
static void make_many(const char *run, int programs)
{
    char path[PATH_MAX];
    FILE *file;

    e2e_run("mkdir -p %s/tests", run);
    snprintf(path, sizeof(path), "%s/run.json", run);
    file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs("{\"schema\":1,\n\"command\":\"testlog run", file);
    for (int i = 0; i < programs; i++)
        fprintf(file, " ./p%d", i);
    fprintf(file, "\",\n\"passed\":0,\"failed\":%d,\"skipped\":0,\n\"tests\":[",
            programs);
    for (int i = 0; i < programs; i++)
        fprintf(file,
                "%s\n{\"program\":\"p%d\",\"name\":\"suite/test\","
                "\"outcome\":\"failed\",\"start_ns\":1,\"duration_ns\":1}",
                i ? "," : "", i);
    fputs("\n]}\n", file);
    cr_assert_eq(fclose(file), 0);
}

/* Returns how many strings a report of so many programs compares. */
static double comparisons(int programs)
{
    char run[32];

    snprintf(run, sizeof(run), "of_%d", programs);
    make_many(run, programs);
    e2e_exits(0, "LD_PRELOAD=\"$PWD/count.so\" " TESTLOG " report %s 2>log",
              run);
    return atof(e2e_between(e2e_read("log"), "comparisons: ", "\n"));
}

Test(e2e_report, compares_few_names_for_each_of_many_programs)
{
    struct page_block run;
    double few, many;

    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
    e2e_exits(0, "cat >count.c <<'END'\n"
                 "#include <stdio.h>\n"
                 "static unsigned long count;\n"
                 "int strcmp(const char *a, const char *b)\n"
                 "{\n"
                 "    for (count++; *a && *a == *b; a++)\n"
                 "        b++;\n"
                 "    return (unsigned char)*a - (unsigned char)*b;\n"
                 "}\n"
                 "__attribute__((destructor)) static void print(void)\n"
                 "{\n"
                 "    fprintf(stderr, \"comparisons: %%lu\\n\", count);\n"
                 "}\n"
                 "END\n"
                 "cc -O1 -fno-builtin -shared -fPIC -o count.so count.c");
    few = comparisons(1000);
    many = comparisons(4000);
    cr_expect_gt(few, 1000, "%f were counted", few);
    cr_expect_lt(many, 6 * few, "%f and %f", few, many);
    run = page_block(e2e_read("of_4000/report.html"), "run");
    e2e_expect_is(page_text(&run, "tests", "rerun", 3999),
                  "./p3999 --filter suite/test");
}
