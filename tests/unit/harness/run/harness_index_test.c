/* harness_index_test.c: index.html, the page of the runs in a folder. */
#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/index/index.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

TestSuite(harness_index, .init = runs_begin, .fini = runs_end, .timeout = 60);

/* Returns "runs/2026-11-21T02-08-30.NUMBER/FILE". */
static const char *path_in(int number, const char *file)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "runs/2026-11-21T02-08-30.%06d/%s", number,
             file);
    return test_path(path);
}

static void save(int number, const char *file, const char *text)
{
    test_save(path_in(number, file), text, strlen(text));
}

/* Makes a run; the later ones have higher numbers. NULL leaves a file out. */
static void add_run(int number, const char *summary, const char *results)
{
    test_log_make_folders(path_in(number, "tests"));
    if (summary)
        save(number, "summary.tsv", summary);
    if (results)
        save(number, "results.tsv", results);
    if (summary || results)
        save(number, "run.json", "{}");
}

static struct test_log_index read_index(void)
{
    struct test_log_index index;

    cr_assert_eq(test_log_index_read(&index, runs_dir, TEST_LOG_INDEX_RUNS,
                                     TEST_LOG_INDEX_SHOWN),
                 0);
    return index;
}

static const char *page(void)
{
    struct test_log_index index = read_index();
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    test_log_index_put(&index, out);
    cr_assert_eq(fclose(out), 0);
    test_log_index_free(&index);
    return test_keep(text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* ---- Runs ---- */

Test(harness_index, reads_the_summary_of_a_run)
{
    struct test_log_index index;

    add_run(1,
            "start\t2026-11-21T02:08:30Z\nduration_ns\t1500\nend\tfinished\n"
            "passed\t3\nfailed\t1\nskipped\t2\nhost\tvm\ncommit\tabc\n",
            "passed\t1\tp\ts/t\n");
    index = read_index();
    cr_assert_eq(index.run_count, 1);
    cr_expect_str_eq(index.runs[0].name, "2026-11-21T02-08-30.000001");
    cr_expect_eq(index.runs[0].state, TEST_LOG_INDEX_FAILED);
    cr_expect_eq(index.runs[0].duration, 1500);
    cr_expect_eq(index.runs[0].passed, 3);
    cr_expect_eq(index.runs[0].failed, 1);
    cr_expect_eq(index.runs[0].skipped, 2);
    cr_expect_str_eq(index.runs[0].host, "vm");
    cr_expect_str_eq(index.runs[0].commit, "abc");
    cr_expect_not(index.runs[0].has_report);
    test_log_index_free(&index);
}

static enum test_log_index_state only_state(void)
{
    struct test_log_index index = read_index();
    enum test_log_index_state state = index.runs[0].state;

    cr_assert_eq(index.run_count, 1);
    test_log_index_free(&index);
    return state;
}

Test(harness_index, tells_how_a_run_ended)
{
    add_run(1, "end\tfinished\nfailed\t0\n", NULL);
    cr_expect_eq(only_state(), TEST_LOG_INDEX_PASSED);
    add_run(1, "end\tinterrupted\nfailed\t1\n", NULL);
    cr_expect_eq(only_state(), TEST_LOG_INDEX_INTERRUPTED);
    add_run(1, "end\tfinished\nfailed\t1\n", NULL);
    cr_expect_eq(only_state(), TEST_LOG_INDEX_FAILED);
}

Test(harness_index, lists_a_run_that_was_killed)
{
    add_run(1, NULL, NULL);
    cr_expect_eq(only_state(), TEST_LOG_INDEX_UNFINISHED);
    cr_expect(strstr(page(), "state-unfinished\">unfinished</td><td></td>"));
}

Test(harness_index, counts_the_tests_of_a_run_without_a_summary)
{
    struct test_log_index index;

    add_run(1, NULL,
            "passed\t1\tp\ta/b\ncrashed\t1\tp\ta/c\nskipped\t0\tp\ta/d\n");
    index = read_index();
    cr_expect_eq(index.runs[0].passed, 1);
    cr_expect_eq(index.runs[0].failed, 1);
    cr_expect_eq(index.runs[0].skipped, 1);
    cr_expect_eq(index.runs[0].state, TEST_LOG_INDEX_FAILED);
    test_log_index_free(&index);
}

/* A test that failed and was tried again counts once. */
Test(harness_index, counts_the_tests_of_a_run_that_goes_on)
{
    struct test_log_index index;

    add_run(1, NULL, NULL);
    save(1, "results.jsonl",
         "{\"name\":\"a/b\",\"outcome\":\"passed\",\"tries\":1}\n"
         "{\"name\":\"a/c\",\"outcome\":\"failed\",\"tries\":1}\n"
         "{\"name\":\"a/c\",\"outcome\":\"passed\",\"tries\":2}\n"
         "{\"name\":\",\\\"outcome\\\":\\\"failed\",\"outcome\":\"crashed\""
         ",\"tries\":1}\n"
         "{\"name\":\"a/d\",\"outcome\":\"skipped\",\"tries\":1}\n"
         "{\"name\":\"a/e\",\"outco");
    index = read_index();
    cr_expect_eq(index.runs[0].passed, 2);
    cr_expect_eq(index.runs[0].failed, 1);
    cr_expect_eq(index.runs[0].skipped, 1);
    cr_expect_eq(index.runs[0].state, TEST_LOG_INDEX_UNFINISHED);
    test_log_index_free(&index);
}

Test(harness_index, links_to_reports_that_exist)
{
    add_run(1, "failed\t0\n", NULL);
    cr_expect_not(strstr(page(), "href="));
    save(1, "report.html", "x");
    cr_expect(strstr(page(), "<a href=\"2026-11-21T02-08-30.000001/"
                             "report.html\">2026-11-21T02-08-30.000001</a>"));
}

Test(harness_index, says_that_no_run_is_kept)
{
    cr_expect(strstr(page(), "<p>No run is kept here.</p>"));
}

Test(harness_index, counts_runs_that_are_not_listed)
{
    for (int i = 0; i < TEST_LOG_INDEX_RUNS + 3; i++)
        add_run(i, "failed\t0\n", NULL);
    cr_expect(strstr(page(), ">3 earlier runs: <code>testlog list</code>"));
    cr_expect_eq(count_of(page(), "class=\"text state-passed\""),
                 TEST_LOG_INDEX_RUNS);
}

/* ---- Tests ---- */

/* Makes a run for each letter, the latest first: Passed, Failed, Skipped,
 * flaKy; "." lacks the test. */
static enum test_log_index_note note_of(const char *outcomes)
{
    struct test_log_index index;
    enum test_log_index_note note;
    size_t count = strlen(outcomes);

    for (size_t i = 0; i < count; i++) {
        char letter = outcomes[i];
        const char *word = letter == 'F'   ? "failed"
                           : letter == 'S' ? "skipped"
                                           : "passed";
        char line[64];

        snprintf(line, sizeof(line), "%s\t1\tp\ts/t\n", word);
        add_run((int)(count - i),
                letter == 'K' ? "flaky\tp\ts/t\n" : "end\tx\n",
                letter == '.' ? "" : line);
    }
    index = read_index();
    cr_assert_eq(index.run_count, count);
    cr_assert_eq(index.test_count, 1);
    note = index.tests[0].note;
    test_log_index_free(&index);
    test_remove_tree(test_path("runs"));
    mkdir(test_path("runs"), 0777);
    close(runs_dir);
    runs_dir = open(test_path("runs"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return note;
}

Test(harness_index, notes_what_is_new_about_a_test)
{
    cr_expect_eq(note_of("P"), TEST_LOG_INDEX_NONE);
    cr_expect_eq(note_of("S"), TEST_LOG_INDEX_NONE);
    cr_expect_eq(note_of("F"), TEST_LOG_INDEX_FAILING);
    cr_expect_eq(note_of("FFF"), TEST_LOG_INDEX_FAILING);
    cr_expect_eq(note_of("FP"), TEST_LOG_INDEX_NEWLY_FAILING);
    cr_expect_eq(note_of("F.SP"), TEST_LOG_INDEX_NEWLY_FAILING);
    cr_expect_eq(note_of("SFP"), TEST_LOG_INDEX_NEWLY_FAILING);
    cr_expect_eq(note_of("FFP"), TEST_LOG_INDEX_FAILING);
    cr_expect_eq(note_of("PF"), TEST_LOG_INDEX_NONE);
    cr_expect_eq(note_of("PFP"), TEST_LOG_INDEX_NONE);
    cr_expect_eq(note_of("FPF"), TEST_LOG_INDEX_NEWLY_FAILING);
    cr_expect_eq(note_of("PKP"), TEST_LOG_INDEX_FLAKY);
}

Test(harness_index, shows_the_most_important_tests_first)
{
    const char *text, *broken, *fails, *fine;

    add_run(1, "failed\t1\n",
            "passed\t5000\tp\ta/fine\nfailed\t1\tp\tb/fails\n"
            "passed\t1\tp\tc/broken\n");
    add_run(2, "failed\t2\n",
            "passed\t2500\tp\ta/fine\nfailed\t1\tp\tb/fails\n"
            "timeout\t1\tp\tc/broken\n");
    save(2, "report.html", "x");
    text = page();
    broken = strstr(text, "c/broken");
    fails = strstr(text, "b/fails");
    fine = strstr(text, "a/fine");
    cr_assert(broken && fails && fine);
    cr_expect(broken < fails && fails < fine);
    cr_expect(strstr(text, "3 tests, <span class=\"note-0\">1 newly failing"
                           "</span>, <span class=\"note-1\">1 failing</span>"));
    cr_expect(strstr(text, "<td class=\"passed bar-4\">2.50\xc2\xb5s</td>"
                           "<td class=\"passed bar-8\">5.00\xc2\xb5s</td>"));
    cr_expect(strstr(text,
                     "000002/report.html#view=log&amp;test=p%3Ac/broken\">"
                     "timeout 1ns</a>"));
}

Test(harness_index, writes_durations_like_the_log)
{
    add_run(1, "duration_ns\t61234567890\n",
            "passed\t0\tp\ta\npassed\t999\tp\tb\npassed\t12345\tp\tc\n"
            "passed\t123456789\tp\td\npassed\t99999999999999999999\tp\te\n");
    cr_expect(strstr(page(), "<td>61.2s</td>"));
    cr_expect(strstr(page(), ">0ns</td>"));
    cr_expect(strstr(page(), ">999ns</td>"));
    cr_expect(strstr(page(), ">12.3\xc2\xb5s</td>"));
    cr_expect(strstr(page(), ">123ms</td>"));
    cr_expect(strstr(page(), ">72057594s</td>")); /* the longest */
}

Test(harness_index, limits_the_tests_that_it_shows)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (int i = 0; i < TEST_LOG_INDEX_TESTS + 2; i++)
        fprintf(out, "passed\t1\tp\tsuite/test_%d\n", i);
    fclose(out);
    add_run(1, "failed\t0\n", text);
    free(text);
    cr_expect_eq(count_of(page(), "suite/test_"), TEST_LOG_INDEX_TESTS);
    cr_expect(
        strstr(page(), ">2 more tests; the reports of the runs have all"));
}

/* ---- Hostile files ---- */

Test(harness_index, writes_names_as_text)
{
    const char *text;

    add_run(1,
            "host\t<script>alert(1)</script>\ncommit\t\"'&\x1b[31m\xff\n"
            "failed\t1\n",
            "failed\t1\t<b>\"p\ts/<img src=x onerror=a>\n");
    save(1, "report.html", "x");
    text = page();
    cr_expect_eq(count_of(text, "<script>"), 1, "only the page's own");
    cr_expect_not(strstr(text, "<img"));
    cr_expect_not(strstr(text, "<b>"));
    cr_expect_not(strchr(text, '\x1b'));
    cr_expect(strstr(text, "test=%3Cb%3E%22p%3As/%3Cimg%20src%3Dx%20"));
}

/* Random lines in both files. */
Test(harness_index, reads_damaged_files)
{
    static const char *const words[] = {"passed",
                                        "failed",
                                        "\t",
                                        "\n",
                                        "flaky",
                                        "duration_ns",
                                        "p",
                                        "s/t",
                                        "",
                                        "\t\t",
                                        "end",
                                        "interrupted",
                                        "-1",
                                        "host",
                                        "commit",
                                        "skipped",
                                        "18446744073709551615"};
    enum { WORDS = sizeof(words) / sizeof(*words) };

    test_seed(6);
    for (int round = 0; round < 300; round++) {
        struct trace_text text = {0};

        for (uint32_t i = test_below(200); i; i--) {
            char noise = (char)test_random();

            trace_text_string(&text, words[test_below(WORDS)]);
            if (test_below(10) == 0)
                trace_text_add(&text, &noise, 1);
        }
        test_log_make_folders(path_in(round % 30, "tests"));
        test_save(
            path_in(round % 30, test_below(2) ? "summary.tsv" : "results.tsv"),
            text.data ? text.data : "", text.size);
        cr_assert(strstr(page(), "</main>"));
        trace_text_free(&text);
    }
}

Test(harness_index, follows_no_links_out_of_a_run)
{
    test_save(test_path("secret"), "host\tsecret\n", 12);
    add_run(1, NULL, NULL);
    cr_assert_eq(symlink(test_path("secret"), path_in(1, "summary.tsv")), 0);
    cr_expect_not(strstr(page(), "secret"));
}

Test(harness_index, reads_what_it_can_without_memory)
{
    FILE *null = fopen("/dev/null", "we");
    size_t allocations = SIZE_MAX;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns malloc");
    add_run(1, "failed\t0\nflaky\tp\ta\n",
            "passed\t1\tp\ta\nfailed\t1\tp\tb\n");
    add_run(2, NULL, "passed\t1\tp\ta\npassed\t1\tq\tb\n");
    for (size_t nth = 1; allocations >= nth; nth++) {
        struct test_log_index index;

        test_fail_memory(nth, nth % 2);
        if (!test_log_index_read(&index, runs_dir, TEST_LOG_INDEX_RUNS,
                                 TEST_LOG_INDEX_SHOWN))
            test_log_index_put(&index, null);
        test_log_index_free(&index);
        allocations = test_fail_memory(0, true);
    }
    fclose(null);
}

/* ---- The file ---- */

static struct test_log_run run_at(const char *path)
{
    return (struct test_log_run){.path = (char *)path};
}

Test(harness_index, replaces_the_file)
{
    struct test_log_run run;
    struct stat status;

    add_run(1, "failed\t0\n", NULL);
    cr_assert_eq(symlink("/dev/null", test_path("runs/index.html")), 0);
    run = run_at(path_in(1, ""));
    run.path[strlen(run.path) - 1] = '\0';
    test_log_index_write(&run);
    fflush(test_log_out);
    cr_expect_str_eq(runs_printed, "");
    cr_assert_eq(lstat(test_path("runs/index.html"), &status), 0);
    cr_expect(S_ISREG(status.st_mode));
    cr_expect_gt(status.st_size, 1000);
}

Test(harness_index, writes_nothing_for_a_part_of_a_run)
{
    struct test_log_run run;

    add_run(1, "failed\t0\n", NULL);
    run = run_at(path_in(1, ""));
    run.path[strlen(run.path) - 1] = '\0';
    run.role = TEST_LOG_ROLE_PART;
    test_log_index_write(&run);
    cr_expect(access(test_path("runs/index.html"), F_OK));
}

Test(harness_index, renews_only_a_file_that_exists)
{
    size_t size;

    add_run(1, "failed\t0\n", NULL);
    test_log_index_renew(test_path("runs"));
    cr_expect(access(test_path("runs/index.html"), F_OK));
    test_save(test_path("runs/index.html"), "old", 3);
    test_log_index_renew(test_path("runs"));
    cr_expect(strstr(test_load(test_path("runs/index.html"), &size),
                     "2026-11-21T02-08-30.000001"));
}

Test(harness_index, reports_a_folder_where_it_cannot_write)
{
    struct test_log_run run;

    add_run(1, "failed\t0\n", NULL);
    cr_assert_eq(mkdir(test_path("runs/index.html"), 0777), 0);
    run = run_at(path_in(1, ""));
    run.path[strlen(run.path) - 1] = '\0';
    test_log_index_write(&run);
    fflush(test_log_out);
    cr_expect(strstr(runs_printed,
                     "/runs/index.html: Is a directory; results are "
                     "not affected\n"),
              "%s", runs_printed);
}
