/* index_html.c: writes index.html.
 *
 * The tables are complete without scripts; the page's only script filters the
 * tests. Names come from programs, so they are written as text, never as
 * markup.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/index/index.h"
#include "harness/run/page/report_html.h"
#include "trace/base/strings.h"

static const char *const state_words[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_INDEX_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

static const char *const note_words[] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_INDEX_NOTES(TEST_LOG_X)
#undef TEST_LOG_X
};

/* ---- Texts ---- */

/* Puts "80.4µs", like log_duration, which takes most of the time of a large
 * page. */
static void put_time(FILE *out, uint64_t ns)
{
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    enum { UNITS = sizeof(units) / sizeof(*units) };
    uint64_t scale = 1, hundredths;
    size_t unit = 0;

    for (; ns / scale >= 1000 && unit + 1 < UNITS; unit++)
        scale *= 1000;
    hundredths = (ns / scale) * 100 + ns % scale * 100 / scale;
    if (hundredths >= 10000 || !unit)
        fprintf(out, "%" PRIu64, hundredths / 100);
    else if (hundredths >= 1000)
        fprintf(out, "%" PRIu64 ".%" PRIu64, hundredths / 100,
                hundredths / 10 % 10);
    else
        fprintf(out, "%" PRIu64 ".%02" PRIu64, hundredths / 100,
                hundredths % 100);
    fputs(units[unit], out);
}

/* Puts a part of an address, RFC 3986. */
static void put_address(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out,
                isalnum((unsigned char)*text) || strchr("-._~/", *text)
                    ? "%c"
                    : "%%%02X",
                (unsigned char)*text);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- Runs ---- */

static void put_count(FILE *out, const struct test_log_index_run *run,
                      uint64_t count, const char *outcome)
{
    bool known = run->has_summary || run->passed + run->failed + run->skipped;

    if (!known)
        fputs("<td></td>", out);
    else
        fprintf(out, "<td%s%s%s>%" PRIu64 "</td>", count ? " class=\"is-" : "",
                count ? outcome : "", count ? "\"" : "", count);
}

static void put_run(FILE *out, const struct test_log_index_run *run)
{
    char commit[16];

    fputs("<tr><th scope=\"row\" class=\"name\">", out);
    if (run->has_report)
        fprintf(out, "<a href=\"%s/report.html\">%s</a>", run->name, run->name);
    else
        fputs(run->name, out);
    fprintf(out, "</th><td class=\"text state-%s\">%s</td>",
            state_words[run->state], state_words[run->state]);
    put_count(out, run, run->passed, "passed");
    put_count(out, run, run->failed, "failed");
    put_count(out, run, run->skipped, "skipped");
    fputs("<td>", out);
    if (run->has_summary)
        put_time(out, run->duration);
    fputs("</td><td class=\"text\">", out);
    test_log_put_xml(out, run->host);
    fputs("</td><td class=\"text mono\" title=\"", out);
    test_log_put_xml(out, run->commit);
    fputs("\">", out);
    snprintf(commit, sizeof(commit), "%.*s%s",
             (int)trace_utf8_boundary(run->commit, 12), run->commit,
             strchr(run->commit, '+') ? "+" : "");
    test_log_put_xml(out, commit);
    fputs("</td><td class=\"text mono started-by\" title=\"", out);
    test_log_put_xml(out, run->command);
    fputs("\">", out);
    test_log_put_xml(out, run->command);
    fputs("</td></tr>\n", out);
}

static void put_runs(FILE *out, const struct test_log_index *index)
{
    fputs(
        "<section id=\"runs\" aria-label=\"Runs\"><div class=\"scroll\" "
        "tabindex=\"0\" role=\"region\" aria-label=\"Runs\">\n"
        "<table class=\"sums\"><thead><tr>"
        "<th scope=\"col\" class=\"name\">Run</th>"
        "<th scope=\"col\" class=\"text\">Result</th>"
        "<th scope=\"col\">Passed</th><th scope=\"col\">Failed</th>"
        "<th scope=\"col\">Skipped</th><th scope=\"col\">Time</th>"
        "<th scope=\"col\" class=\"text\">Host</th>"
        "<th scope=\"col\" class=\"text\">Commit</th>"
        "<th scope=\"col\" class=\"text\">Command</th></tr></thead>\n<tbody>\n",
        out);
    for (size_t i = 0; i < index->run_count; i++)
        put_run(out, &index->runs[i]);
    fputs("</tbody></table></div>\n", out);
    if (index->more)
        fprintf(out,
                "<p class=\"muted\">%zu earlier run%s: <code>testlog "
                "list</code></p>\n",
                index->more, plural(index->more));
    fputs("</section>\n", out);
}

/* ---- Tests ---- */

/* "2026-11-23T15-35-01.077469" is "11-23 15:35" above a column. */
static void put_column(FILE *out, const struct test_log_index_run *run)
{
    fprintf(out, "<th scope=\"col\" class=\"state-%s\">",
            state_words[run->state]);
    if (run->has_report)
        fprintf(out, "<a href=\"%s/report.html\" title=\"%s\">", run->name,
                run->name);
    fprintf(out, "%.5s<br>%.2s:%.2s", run->name + 5, run->name + 11,
            run->name + 14);
    fputs(run->has_report ? "</a></th>" : "</th>", out);
}

static const char *const bars[] = {"\">",       " bar-1\">", " bar-2\">",
                                   " bar-3\">", " bar-4\">", " bar-5\">",
                                   " bar-6\">", " bar-7\">", " bar-8\">"};

/* A bad outcome is a link to the test's log; a cell's bar compares its duration
 * with the row's longest. */
static void put_cell(FILE *out, const struct test_log_index_run *run,
                     const struct test_log_index_test *test,
                     const struct test_log_index_cell *cell, uint64_t longest)
{
    const char *word = test_log_outcome_word(cell->outcome);
    bool bad = test_log_outcome_bad(cell->outcome);
    bool links = (bad || cell->flaky) && run->has_report;

    if (cell->outcome == TEST_LOG_OUTCOME_NONE) {
        fputs("<td></td>", out);
        return;
    }
    fputs("<td class=\"", out);
    fputs(cell->flaky ? "flaky" : word, out);
    fputs(bars[longest ? cell->duration * 8 / longest : 0], out);
    if (links) {
        fprintf(out, "<a href=\"%s/report.html#view=log&amp;test=", run->name);
        put_address(out, test->program);
        fputs("%3A", out);
        put_address(out, test->name);
        fputs("\">", out);
    }
    if (cell->repetitions)
        fprintf(out, "%" PRIu32 " of %" PRIu32 " passed ", cell->passed,
                cell->repetitions);
    else if (bad || cell->flaky || cell->outcome == TEST_LOG_OUTCOME_SKIPPED)
        fprintf(out, "%s%s", cell->flaky ? "flaky" : word,
                cell->outcome == TEST_LOG_OUTCOME_SKIPPED ? "" : " ");
    if (cell->outcome != TEST_LOG_OUTCOME_SKIPPED)
        put_time(out, cell->duration);
    fputs(links ? "</a></td>" : "</td>", out);
}

/* Puts a name, of which a long one is cut. */
static void put_short(FILE *out, const char *name)
{
    enum { MOST = 240 };
    char text[MOST + 1];

    if (strlen(name) <= MOST) {
        test_log_put_xml(out, name);
        return;
    }
    snprintf(text, sizeof(text), "%.*s", (int)trace_utf8_boundary(name, MOST),
             name);
    test_log_put_xml(out, text);
    fputs("…", out);
}

static void put_test(FILE *out, const struct test_log_index *index,
                     const struct test_log_index_test *test)
{
    uint64_t longest = 0;

    for (size_t i = 0; i < TEST_LOG_INDEX_SHOWN; i++)
        if (test->cells[i].duration > longest)
            longest = test->cells[i].duration;
    fputs("<tr><th scope=\"row\" class=\"name\"><div>", out);
    put_short(out, test->name);
    fputs(" <span class=\"muted\">", out);
    test_log_put_xml(out, test->program);
    fprintf(out, "</span></div></th><td class=\"text note-%d\">%s</td>",
            (int)test->note, note_words[test->note]);
    for (size_t i = 0; i < index->shown; i++)
        put_cell(out, &index->runs[i], test, &test->cells[i], longest);
    fputs("</tr>\n", out);
}

static void put_tests(FILE *out, const struct test_log_index *index)
{
    size_t count = index->test_count < TEST_LOG_INDEX_TESTS
                       ? index->test_count
                       : TEST_LOG_INDEX_TESTS;
    size_t notes[TEST_LOG_INDEX_NOTE_COUNT] = {0};

    if (!count)
        return;
    for (size_t i = 0; i < index->test_count; i++)
        notes[index->tests[i].note]++;
    fputs("<section id=\"tests\" aria-labelledby=\"of-tests\">"
          "<h2 id=\"of-tests\">Tests</h2>\n",
          out);
    fprintf(out, "<p>%zu test%s", index->test_count, plural(index->test_count));
    for (int i = 0; i < TEST_LOG_INDEX_NONE; i++)
        if (notes[i])
            fprintf(out, ", <span class=\"note-%d\">%zu %s</span>", i, notes[i],
                    note_words[i]);
    fprintf(out, "; the latest run is on the left.</p>\n");
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
          "aria-labelledby=\"of-tests\">\n<table class=\"trend\"><thead><tr>"
          "<th scope=\"col\" class=\"name\">Test</th><td></td>",
          out);
    for (size_t i = 0; i < index->shown; i++)
        put_column(out, &index->runs[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < count; i++)
        put_test(out, index, &index->tests[i]);
    fputs("</tbody></table></div>\n", out);
    if (count < index->test_count)
        fprintf(out,
                "<p class=\"muted\">%zu more test%s; the reports of the runs "
                "have all.</p>\n",
                index->test_count - count, plural(index->test_count - count));
    fputs("</section>\n", out);
}

void test_log_index_put_tables(const struct test_log_index *index, FILE *out)
{
    if (index->run_count)
        put_runs(out, index);
    else
        fputs("<p>No run is kept here.</p>\n", out);
    put_tests(out, index);
}

void test_log_index_put(const struct test_log_index *index, FILE *out)
{
    fwrite(test_log_index_html, 1, test_log_index_html_size, out);
    fputs("<main id=\"main\" tabindex=\"-1\">\n", out);
    test_log_index_put_tables(index, out);
    fputs("</main>\n", out);
}
