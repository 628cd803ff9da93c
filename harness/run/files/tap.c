/* tap.c: results as TAP 14, one test point a test, whatever its program. */
#include <limits.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "trace/base/text.h"

/* A name or a reason: one line, in which # would begin a directive. */
static void put_words(FILE *out, const char *words)
{
    struct trace_text text = {0};

    test_log_sanitize_line(&text, words);
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\\' || text.data[i] == '#')
            fputc('\\', out);
        fputc(text.data[i], out);
    }
    trace_text_free(&text);
}

/* A member of the diagnostics: YAML takes JSON's strings. */
static void put_member(FILE *out, const char *name, const char *value)
{
    struct trace_text clean = {0}, json = {0};

    test_log_sanitize(&clean, value, strlen(value));
    trace_json_string(&json, clean.data ? clean.data : "", clean.size);
    if (!clean.failed && !json.failed)
        fprintf(out, "  %s: %s\n", name, json.data);
    trace_text_free(&clean);
    trace_text_free(&json);
}

static void put_diagnostics(FILE *out, const struct test_log_run *run,
                            const struct test_log_result *result)
{
    bool bad = test_log_outcome_bad(result->outcome);
    char path[PATH_MAX];

    fputs("  ---\n", out);
    if (bad || result->reason)
        put_member(out, "message",
                   result->reason ? result->reason
                                  : test_log_outcome_text(result->outcome));
    if (bad)
        fprintf(out, "  severity: %s\n", result->known ? "todo" : "fail");
    fprintf(out, "  outcome: %s\n", test_log_outcome_word(result->outcome));
    put_member(out, "program", result->program);
    if (result->file) {
        put_member(out, "file", result->file);
        fprintf(out, "  line: %u\n", result->line);
    }
    fprintf(out, "  duration_ms: %.3f\n", (double)result->duration / 1e6);
    if (result->earlier_count)
        fprintf(out, "  tries: %zu\n", result->earlier_count + 1);
    if (test_log_flaky(result))
        fputs("  flaky: true\n", out);
    if (bad && !test_log_file(run, result, "trace.json", path))
        put_member(out, "trace", path);
    fputs("  ...\n", out);
}

static void put_test(FILE *out, const struct test_log_run *run,
                     const struct test_log_result *result, size_t number)
{
    bool bad = test_log_outcome_bad(result->outcome);

    fprintf(out, "%s %zu - ", bad ? "not ok" : "ok", number);
    if (!run->program && result->suite) {
        put_words(out, result->program);
        fputc(' ', out);
    }
    put_words(out, test_log_name(result));
    if (result->outcome == TEST_LOG_OUTCOME_SKIPPED) {
        fputs(" # SKIP", out);
        if (result->reason) {
            fputc(' ', out);
            put_words(out, result->reason);
        }
    }
    if (result->known) {
        fputs(" # TODO ", out);
        put_words(out, result->known);
    }
    fputc('\n', out);
    put_diagnostics(out, run, result);
}

void test_log_put_tap(FILE *out, const struct test_log_run *run)
{
    struct test_log_sums sums = test_log_run_sums(run);
    size_t number = sums.passed + sums.failed + sums.skipped;

    fprintf(out, "TAP version 14\n1..%zu%s\n", number,
            number ? "" : " # SKIP no test ran");
    if (run->path) {
        fputs("# run: ", out);
        put_words(out, run->path);
        fputc('\n', out);
    }
    number = 0;
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome != TEST_LOG_OUTCOME_NONE)
            put_test(out, run, &run->results[i], ++number);
}
