/* e2e_against_test.c: testlog report --against, which writes against.html. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/page.h"

#define TESTLOG "'" BUILD_DIR "/testlog' "
#define AGAINST TESTLOG "report --against "
#define PAGE    "testlog-runs/latest/against.html"

E2E_FOLDER

/* `root` looks like a machine with a driver. */
static void begin(void)
{
    e2e_begin_gpu();
    if (!page_can_read())
        cr_skip_test("no zlib");
}

TestSuite(e2e_against, .init = begin, .timeout = 300);

static struct page_block block_of(const char *path)
{
    return page_block(e2e_read("%s", path), "against");
}

/* Writes the page of the latest run and the one before. */
static struct page_block compare(void)
{
    const struct e2e *all = e2e_exits(0, AGAINST "latest~1");

    e2e_expect_is(all->err, "report: testlog-runs/latest/against.html\n");
    e2e_expect_is(all->out, "");
    return block_of(PAGE);
}

/* Expects one line about what is wrong, and no page. */
static void expect_refusal(const char *arguments, const char *line)
{
    const struct e2e *all = e2e_exits(2, TESTLOG "report %s", arguments);

    e2e_expect_is(all->out, "");
    e2e_expect_has(all->err, line);
    cr_expect_eq(e2e_count(all->err, "\n"), 1, "%s", all->err);
    cr_expect_not(e2e_exists(PAGE));
}

/* ---- Tests ---- */

/* Makes a run whose tests are rows of run.json, and the latest one. */
static void make(const char *name, const char *tests)
{
    char path[PATH_MAX];
    FILE *file;

    e2e_run("mkdir -p testlog-runs/%s/tests; "
            "ln -sfn %s testlog-runs/latest",
            name, name);
    snprintf(path, sizeof(path), "testlog-runs/%s/run.json", name);
    file = fopen(path, "we");
    cr_assert_not_null(file);
    fprintf(file,
            "{\"schema\":1,\n\"duration_ns\":7,\n\"passed\":0,\"failed\":0,"
            "\"skipped\":0,\n\"tests\":[\n%s\n]}\n",
            tests);
    cr_assert_eq(fclose(file), 0);
}

#define OLD "2026-11-22T08-00-00.000001"
#define NEW "2026-11-22T08-00-00.000002"

#define ROW(name, outcome, reason, duration)                                   \
    "{\"program\":\"p\",\"name\":\"" name "\",\"outcome\":\"" outcome "\","    \
    "\"reason\":\"" reason "\",\"start_ns\":1,\"duration_ns\":" duration "}"

/* Passes that the old run's times are like. */
static void remember_passes(void)
{
    e2e_run("mkdir -p testlog-runs/.history && { "
            "printf 'test\\t0\\ta/slows\\ntest\\t1\\ta/speeds\\n'; "
            "for i in 1 2 3 4 5 6; do "
            "printf 'run\\t2026-11-2%%d\\t-\\t-\\t-\\n' $((i / 4)); "
            "printf 'passed\\t0\\t1\\t10%%d0000000\\n' $i; "
            "printf 'passed\\t1\\t1\\t90%%d0000000\\n' $i; "
            "done; } >testlog-runs/.history/p.outcomes");
}

static void make_runs(void)
{
    remember_passes();
    make(OLD, ROW("a/breaks", "passed", "", "5") ",\n"      //
         ROW("a/is_mended", "failed", "was red", "6") ",\n" //
         ROW("a/slows", "passed", "", "1000000000") ",\n"   //
         ROW("a/speeds", "passed", "", "9000000000") ",\n"  //
         ROW("a/goes", "passed", "", "7") ",\n"             //
         ROW("a/stays", "passed", "", "8"));
    make(NEW, ROW("a/stays", "passed", "", "9") ",\n"      //
         ROW("a/breaks", "crashed", "SIGSEGV", "10") ",\n" //
         ROW("a/is_mended", "passed", "", "11") ",\n"      //
         ROW("a/slows", "passed", "", "3000000000") ",\n"  //
         ROW("a/speeds", "passed", "", "1000000000") ",\n" //
         ROW("a/comes", "passed", "", "12"));
}

struct expected {
    const char *name, *change, *outcomes[2];
    double durations[2];
};

static void expect_pair(const struct page_block *block,
                        const struct expected *one)
{
    size_t row = page_find(block, "pairs", "name", one->name);

    cr_assert_neq(row, SIZE_MAX, "%s", one->name);
    e2e_expect_is(page_text(block, "pairs", "change", row), one->change);
    e2e_expect_is(page_text(block, "pairs", "old_outcome", row),
                  one->outcomes[0]);
    e2e_expect_is(page_text(block, "pairs", "new_outcome", row),
                  one->outcomes[1]);
    cr_expect_eq((double)page_number(block, "pairs", "old_duration", row),
                 one->durations[0]);
    cr_expect_eq((double)page_number(block, "pairs", "new_duration", row),
                 one->durations[1]);
}

Test(e2e_against, pairs_the_tests_of_both_runs)
{
    static const struct expected expected[] = {
        {"a/breaks", "newly-failing", {"passed", "crashed"}, {5, 10}},
        {"a/is_mended", "newly-passing", {"failed", "passed"}, {6, 11}},
        {"a/slows", "slower", {"passed", "passed"}, {1e9, 3e9}},
        {"a/speeds", "faster", {"passed", "passed"}, {9e9, 1e9}},
        {"a/comes", "added", {"", "passed"}, {0, 12}},
        {"a/goes", "gone", {"passed", ""}, {7, 0}},
        {"a/stays", "unchanged", {"passed", "passed"}, {8, 9}},
    };
    const size_t count = sizeof(expected) / sizeof(*expected);
    struct page_block block;

    make_runs();
    block = compare();
    cr_assert_eq(page_rows(&block, "pairs"), count);
    for (size_t i = 0; i < count; i++)
        expect_pair(&block, &expected[i]);
    e2e_expect_is(page_text(&block, "pairs", "name", 0), "a/breaks");
    e2e_expect_is(page_text(&block, "pairs", "new_reason", 0), "SIGSEGV");
    e2e_expect_is(page_text(&block, "pairs", "old_reason", 1), "was red");
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(block.json, "old"), "run"), OLD);
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(block.json, "new"), "run"), NEW);
}

Test(e2e_against, leaves_report_html_alone)
{
    make_runs();
    e2e_run("echo mine >testlog-runs/latest/report.html");
    compare();
    e2e_expect_is(e2e_read("testlog-runs/latest/report.html"), "mine\n");
    e2e_exits(0, AGAINST OLD " -o other.html");
    cr_expect(page_has(e2e_read("other.html"), "against"));
    e2e_exits(0, AGAINST OLD " " NEW " -o -");
}

Test(e2e_against, compares_only_the_tests_that_are_named)
{
    struct page_block block;

    make_runs();
    e2e_exits(0, AGAINST "latest~1 " NEW " a/slows goes");
    block = block_of(PAGE);
    cr_assert_eq(page_rows(&block, "pairs"), 2);
    e2e_expect_is(page_text(&block, "pairs", "name", 0), "a/goes");
    e2e_expect_is(page_text(&block, "pairs", "name", 1), "a/slows");
}

Test(e2e_against, refuses_runs_that_cannot_be_compared)
{
    make_runs();
    expect_refusal("--against latest~7", "report: there is no run latest~7 ");
    expect_refusal("--against no/such", "report: there is no run no/such in ");
    expect_refusal("--against " OLD " a/goes",
                   "report: no test that you name ran in both testlog-runs/");
    expect_refusal("--against " OLD " no/such", "report: no test that you ");
    expect_refusal("--against", "--against needs ");
    make(OLD, ROW("b/other", "passed", "", "5"));
    expect_refusal("--against " OLD " " NEW,
                   "report: no test ran in both testlog-runs/" OLD
                   " and testlog-runs/" NEW "\n");
    e2e_run("rm testlog-runs/" OLD "/run.json");
    expect_refusal("--against " OLD " " NEW,
                   "report: testlog-runs/" OLD " has no run.json, so it is not "
                   "finished; testlog list shows which runs are\n");
    e2e_run("echo '{' >testlog-runs/" OLD "/run.json");
    expect_refusal("--against " OLD " " NEW, "/run.json: it is damaged; ");
}

Test(e2e_against, reports_that_the_page_cannot_be_written)
{
    const struct e2e *all;

    make_runs();
    all = e2e_exits(1, AGAINST OLD " -o /no/such.html");
    e2e_expect_has(all->err, "testlog: report: cannot write /no/such.html: ");
    if (!e2e_exists("/dev/full"))
        cr_skip_test("no /dev/full");
    all = e2e_exits(1, AGAINST OLD " -o /dev/full");
    e2e_expect_has(all->err, "report: cannot write /dev/full: ");
    all = e2e_exits(1, AGAINST OLD " -o - >/dev/full");
    cr_expect_eq(e2e_count(all->err, "\n"), 1, "%s", all->err);
}

Test(e2e_against, hostile_text_stays_in_the_data)
{
#define EVIL "a/</script><script>alert(1)</script>\\u0000\\u001b[31m\\u202e"
    struct page_block block;

    make(OLD, ROW(EVIL, "passed", EVIL, "5"));
    make(NEW, ROW(EVIL, "failed", EVIL, "5"));
    block = compare();
    cr_assert_eq(page_rows(&block, "pairs"), 1);
    e2e_expect_has(page_text(&block, "pairs", "name", 0), "a/</script><");
    e2e_expect_lacks(e2e_read(PAGE), "alert(1)");
    cr_expect_eq(e2e_count(e2e_read(PAGE), "<script>"), 1);
}

Test(e2e_against, the_policy_has_the_digest_of_the_script)
{
    const char *digest;

    make_runs();
    compare();
    digest = e2e_run("perl -0777 -ne 'print $1 if "
                     "m{<script>(.*?)</script>}s' " PAGE " | "
                     "sha256sum | cut -c-64 | tr a-f A-F | "
                     "basenc -d --base16 | base64")
                 ->out;
    cr_assert_gt(strlen(digest), 40);
    e2e_expect_is(e2e_between(e2e_read(PAGE), "script-src 'sha256-", "'"),
                  e2e_between(digest, "", "\n"));
}

Test(e2e_against, shortens_reasons)
{
    char row[2000], reason[1001];
    struct page_block block;

    memset(reason, 'x', sizeof(reason) - 1);
    reason[sizeof(reason) - 1] = '\0';
    make(OLD, ROW("a/a", "passed", "", "5"));
    snprintf(row, sizeof(row), ROW("a/a", "failed", "%s", "5"), reason);
    make(NEW, row);
    block = compare();
    cr_expect_eq(strlen(page_text(&block, "pairs", "new_reason", 0)), 300);
    e2e_expect_is(page_text(&block, "pairs", "old_reason", 0), "");
}

/* ---- Spans and kernels ---- */

static void run_traced(void)
{
    e2e_exits(0, "%s --filter 'traced/@(nests|logs_all_levels)'",
              e2e_program("traced", E2E_TRACED));
}

static const cJSON *stat_rows(const char *arguments)
{
    e2e_exits(0, TESTLOG "stat --json %s >stat.json", arguments);
    return cJSON_GetObjectItem(e2e_json("stat.json"), "rows");
}

/* Returns a column of a side. */
static double number_of(const struct page_block *block, const char *table,
                        const char *side, const char *column, size_t row)
{
    char name[32];

    snprintf(name, sizeof(name), "%s_%s", side, column);
    return (double)page_number(block, table, name, row);
}

static double in_buckets(const struct page_block *block, const char *side,
                         size_t name)
{
    double sum = 0;

    for (size_t i = 0; i < page_rows(block, "buckets"); i++)
        if ((size_t)page_number(block, "buckets", "name", i) == name)
            sum += (double)page_number(block, "buckets", side, i);
    return sum;
}

static void expect_sums(const struct page_block *block, const char *side,
                        const cJSON *rows)
{
    const cJSON *row;

    cr_assert_gt(cJSON_GetArraySize(rows), 0);
    cr_expect_eq(page_rows(block, "names"), (size_t)cJSON_GetArraySize(rows));
    cJSON_ArrayForEach(row, rows)
    {
        size_t at = page_find(block, "names", "name", e2e_text(row, "name"));

        cr_assert_neq(at, SIZE_MAX, "%s", e2e_text(row, "name"));
        cr_expect_eq(number_of(block, "names", side, "count", at),
                     e2e_number(row, "count"));
        cr_expect_eq(number_of(block, "names", side, "total", at),
                     e2e_number(row, "total_ns"));
        cr_expect_eq(number_of(block, "names", side, "self", at),
                     e2e_number(row, "self_ns"));
        cr_expect_eq(number_of(block, "names", side, "median", at),
                     e2e_number(row, "median_ns"));
        cr_expect_eq(in_buckets(block, side, at), e2e_number(row, "count"));
    }
}

/* Calls of many durations are in one bar of a histogram. */
Test(e2e_against, sums_are_those_of_testlog_stat)
{
    struct page_block block;

    for (int i = 0; i < 2; i++)
        e2e_exits(0, "LARGE_EVENTS=4000 %s --filter large/records_much",
                  e2e_program("large", E2E_TRACED));
    block = compare();
    expect_sums(&block, "old", stat_rows("latest~1"));
    expect_sums(&block, "new", stat_rows("latest"));
}

/* Returns how deep a path is. */
static int depth_of(const struct page_block *block, size_t row)
{
    int depth = 0;

    while ((row = (size_t)page_number(block, "paths", "parent", row)) != 0) {
        row--;
        depth++;
    }
    return depth;
}

/* Counts paths with the numbers of a row of `testlog stat --tree`. */
static int count_paths(const struct page_block *block, const char *side,
                       const cJSON *row)
{
    int count = 0;

    for (size_t i = 0; i < page_rows(block, "paths"); i++)
        count += !strcmp(page_text(block, "paths", "name", i),
                         e2e_text(row, "name")) &&
                 depth_of(block, i) == (int)e2e_number(row, "depth") &&
                 number_of(block, "paths", side, "total", i) ==
                     e2e_number(row, "total_ns") &&
                 number_of(block, "paths", side, "self", i) ==
                     e2e_number(row, "self_ns") &&
                 number_of(block, "paths", side, "count", i) ==
                     e2e_number(row, "count");
    return count;
}

/* The runs' trees have their paths in different orders. */
Test(e2e_against, merges_the_trees_of_both_runs)
{
    static const char *const sides[] = {"old", "new"};
    static const char *const runs[] = {"--tree latest~1", "--tree latest"};
    struct page_block block;
    const cJSON *row;

    run_traced();
    run_traced();
    block = compare();
    for (int i = 0; i < 2; i++) {
        const cJSON *rows = stat_rows(runs[i]);

        cr_assert_geq(cJSON_GetArraySize(rows), 3);
        cr_expect_eq(
            page_rows(&block, "paths") +
                (size_t)e2e_number(cJSON_GetObjectItem(block.json, "left_out"),
                                   "paths"),
            (size_t)cJSON_GetArraySize(rows));
        cJSON_ArrayForEach(row, rows)
        {
            cr_expect_eq(count_paths(&block, sides[i], row), 1, "%s %s",
                         sides[i], e2e_text(row, "name"));
        }
    }
}

/* Tells for which runs the page has the recording of its first test. */
static const char *recordings(const char *arguments)
{
    const char *html;

    e2e_exits(0, TESTLOG "report %s", arguments);
    html = e2e_read(PAGE);
    return page_has(html, "o0")   ? page_has(html, "n0") ? "both" : "old"
           : page_has(html, "n0") ? "new"
                                  : "none";
}

Test(e2e_against, has_the_recordings_of_tests_that_changed_or_are_named)
{
    struct page_block block;

    run_traced();
    run_traced();
    e2e_expect_is(recordings("--against latest~1"), "none");
    e2e_expect_is(recordings("traced/nests --against latest~1"), "both");
    block = page_block(e2e_read(PAGE), "n0");
    cr_expect_neq(page_find(&block, "slices", "name", "outer"), SIZE_MAX);
    e2e_run("cd \"$(ls -d testlog-runs/20* | head -1)\" && "
            "sed -i '/traced.nests/s/passed/failed/' run.json");
    e2e_expect_is(recordings("--against latest~1"), "both");
    block = block_of(PAGE);
    e2e_expect_is(page_text(&block, "pairs", "name", 0), "traced/nests");
    e2e_expect_is(page_text(&block, "pairs", "change", 0), "newly-passing");
    cr_expect_not(page_has(e2e_read(PAGE), "o1"));
    e2e_run("rm testlog-runs/latest/tests/*/traced.nests/recording*");
    e2e_expect_is(recordings("--against latest~1"), "none");
}

enum { SLOWER = 1, MORE_FREQUENT = 2, FASTER = 4, LESS_FREQUENT = 8 };

static void play(const char *fixture, const char *arguments)
{
    e2e_run("TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "
            "TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR
            "/tests/playback.so PLAYBACK_FIXTURE=" TESTS_DIR
            "/playback/%s.fixture %s --filter gpu/uses_it %s",
            fixture, e2e_program("gpu", E2E_TRACED), arguments);
}

static int verdict_of(const struct page_block *block)
{
    size_t row = page_find(block, "names", "kind", "kernel");

    cr_assert_neq(row, SIZE_MAX);
    e2e_expect_has(page_text(block, "names", "name", row), "saxpy<float>(");
    e2e_expect_has(page_text(block, "names", "shape", row),
                   "grid=(4, 64, 1) block=(");
    return (int)page_number(block, "names", "verdict", row);
}

/* Each test launches four kernels of 400 ns in "noise", and one of 500 ns in
 * "jit", as in the tests of testlog diff. */
Test(e2e_against, tells_what_testlog_diff_says_of_kernels)
{
    struct page_block block;

    play("noise", "--repeat=5");
    play("jit", "--repeat=5");
    block = compare();
    cr_expect_eq(verdict_of(&block), SLOWER | LESS_FREQUENT);
    play("noise", "--repeat=5");
    block = compare();
    cr_expect_eq(verdict_of(&block), FASTER | MORE_FREQUENT);
    e2e_expect_has(e2e_run(TESTLOG "diff")->out, "more frequent kernels:");
    play("noise", "--repeat=5");
    block = compare();
    cr_expect_eq(verdict_of(&block), 0);
}

Test(e2e_against, compares_a_pack)
{
    struct page_block block;
    const struct e2e *all;

    run_traced();
    if (e2e_run(TESTLOG "pack -o old.tar.zst")->code)
        cr_skip_test("no libarchive");
    run_traced();
    e2e_exits(0, AGAINST "old.tar.zst");
    block = block_of(PAGE);
    cr_expect_eq(page_rows(&block, "pairs"), 2);
    cr_expect_gt(page_rows(&block, "names"), 0);
    e2e_expect_has(e2e_text(cJSON_GetObjectItem(block.json, "old"), "path"),
                   "old.tar.zst");
    all = e2e_run(AGAINST "latest old.tar.zst");
    e2e_expect_is(all->err, "report: old.against.html\n");
    cr_expect(page_has(e2e_read("old.against.html"), "against"));
    cr_expect_not(e2e_exists("old.html"));
}
