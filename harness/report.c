/* report.c: what a person reads while and after tests run. */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

FILE *test_log_out;

static FILE *out(void)
{
    return test_log_out ? test_log_out : stderr;
}

void test_log_notice(const char *format, ...)
{
    struct trace_text plain = {0};
    char *text = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    if (text)
        log_plain(&plain, text, strlen(text));
    fprintf(out(), "testlog: %s\n", plain.data ? plain.data : format);
    fflush(out());
    trace_text_free(&plain);
    free(text);
}

void test_log_complain(const struct trace_text *complaints)
{
    const char *line = complaints->data ? complaints->data : "";

    while (*line) {
        const char *end = line + strcspn(line, "\n");

        /* The filter and a caret stand below what is said of them. */
        fprintf(out(), "%s%.*s\n",
                *line == ' ' ? "" : "testlog: ", (int)(end - line), line);
        line = end + (*end == '\n');
    }
    fflush(out());
}

/* ---- A test's block ---- */

static void heading(const char *title)
{
    fprintf(out(), "%s:\n", title);
}

static void put_output(const char *path)
{
    FILE *in = fopen(path, "re");
    char bytes[8192];
    bool some = false, newline = true;
    size_t size;

    if (!in)
        return;
    while ((size = fread(bytes, 1, sizeof(bytes), in))) {
        if (!some)
            heading("output");
        some = true;
        fwrite(bytes, 1, size, out());
        newline = bytes[size - 1] == '\n';
    }
    if (!newline)
        fputc('\n', out());
    fclose(in);
}

static void put_lines(const struct log_filter *filter,
                      const struct log_style *style,
                      struct trace_reader *reader)
{
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text text = {0};
    struct trace_entry entry;
    bool some = false;

    while (replay && trace_reader_next(reader, &entry)) {
        trace_text_clear(&text);
        if (!log_line(replay, style, reader, &entry, &text))
            continue;
        if (!some)
            heading("log");
        some = true;
        fwrite(text.data, 1, text.size, out());
    }
    trace_text_free(&text);
    log_replay_free(replay);
}

/* The innermost spans that were never left, one for each thread. */
struct open_span {
    const struct trace_thread *thread;
    uint32_t place;
};

enum { OPEN_MAX = 64 };

static size_t find_open(struct trace_reader *reader, struct open_span *open)
{
    struct trace_entry entry;
    size_t count = 0;

    if (trace_reader_rewind(reader))
        return 0;
    while (trace_reader_next(reader, &entry)) {
        bool enters = entry.kind == TRACE_ENTRY_ENTER ||
                      (entry.kind == TRACE_ENTRY_SPAN && entry.entered);
        size_t i = 0;

        if (!enters || entry.end != UINT64_MAX)
            continue;
        while (i < count && open[i].thread != entry.thread)
            i++;
        if (i == OPEN_MAX)
            continue;
        open[i].thread = entry.thread;
        open[i].place = entry.id ? entry.id : entry.span;
        count += i == count;
    }
    return count;
}

static void put_open_spans(struct trace_reader *reader)
{
    struct open_span open[OPEN_MAX];
    size_t count = find_open(reader, open);
    struct trace_text text = {0};

    if (count)
        heading("open spans");
    for (size_t i = 0; i < count; i++) {
        trace_text_clear(&text);
        log_span_text(NULL, reader, open[i].place, UINT64_MAX, &text);
        fprintf(out(), "%s %u: %s\n", open[i].thread->name, open[i].thread->tid,
                text.data ? text.data : "?");
    }
    trace_text_free(&text);
}

static void put_recording(const struct test_log_run *run,
                          const struct test_log_result *result,
                          const struct test_log_options *options)
{
    struct log_filter *filter = log_filter_parse(
        result->filter ? result->filter : "", "info", "LOG", NULL);
    struct log_style style = {.format = options->format,
                              .time = options->time,
                              .color = options->color};
    char path[PATH_MAX];
    struct trace_reader *reader = test_log_file(run, result, "recording", path)
                                      ? NULL
                                      : trace_reader_open(path);

    if (reader && filter && !options->live)
        put_lines(filter, &style, reader);
    if (reader && test_log_outcome_bad(result->outcome))
        put_open_spans(reader);
    trace_reader_close(reader);
    log_filter_free(filter);
}

/* "suite/test: failed: why", the first line of it. */
static void put_outcome(const struct test_log_result *result)
{
    const char *why = result->reason ? result->reason : "";
    int size = (int)strcspn(why, "\n");

    fprintf(out(), "%s: %s%s%.*s%s", test_log_name(result),
            test_log_outcome_report(result->outcome), size ? ": " : "", size,
            why, why[size] ? " ..." : "");
}

void test_log_report_block(const struct test_log_run *run,
                           const struct test_log_result *result,
                           const struct test_log_options *options)
{
    const char *bold = options->color ? "\033[1m" : "";
    const char *normal = options->color ? "\033[0m" : "";
    char path[PATH_MAX];

    fprintf(out(), "%s---- ", bold);
    put_outcome(result);
    fprintf(out(), " ----%s\n", normal);
    if (!options->live && !test_log_file(run, result, "output.txt", path))
        put_output(path);
    put_recording(run, result, options);
    if (!test_log_file(run, result, "recording", path) && !access(path, F_OK) &&
        !test_log_file(run, result, "trace.json", path))
        fprintf(out(), "trace: %s\n", path);
    fputc('\n', out());
    fflush(out());
}

/* ---- The end of a run ---- */

static void put_line(const struct test_log_result *result)
{
    fputs("    ", out());
    put_outcome(result);
    if (result->file)
        fprintf(out(), " (%s:%u)", result->file, result->line);
    fputc('\n', out());
}

void test_log_add_word(struct trace_text *text, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-+=./:~,@%";

    if (word[0] && strspn(word, safe) == strlen(word)) {
        trace_text_string(text, word);
        return;
    }
    trace_text_char(text, '\'');
    for (; *word; word++)
        if (*word == '\'')
            trace_text_string(text, "'\\''");
        else
            trace_text_char(text, *word);
    trace_text_char(text, '\'');
}

/* Whether a test of another program has failed by the same name. */
static bool named_before(const struct test_log_run *run, size_t number)
{
    const struct test_log_result *result = &run->results[number];

    for (size_t i = 0; i < number; i++)
        if (test_log_outcome_bad(run->results[i].outcome) &&
            !strcmp(test_log_name(&run->results[i]), test_log_name(result)))
            return true;
    return false;
}

/* The command that runs the failed tests again, and no other. */
static void put_rerun(const struct test_log_run *run, const char *rerun)
{
    fprintf(out(), "run them again:\n    %s", rerun);
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        /* A program that left no results has no test to name. */
        if (test_log_outcome_bad(result->outcome) && result->suite &&
            !named_before(run, i))
            fprintf(out(), " --filter '%s'", test_log_name(result));
    }
    fputc('\n', out());
}

enum { UNSEEN_MAX = 10 }; /* that are named */

static void report_unseen(const char *unseen, const char *span)
{
    const char *origin = strstr(unseen, ": ");
    const char *directive = origin ? origin + 2 : unseen;
    const char *near = log_nearest_level(directive);
    struct trace_text text = {0}, meant = {0};

    log_filter_brief(&text, unseen);
    trace_text_string(&text, " matched no call site");
    if (span)
        trace_text_string(&meant, span);
    if ((span || log_filter_meant(directive, &meant)) && !meant.failed) {
        trace_text_string(&text, "; did you mean ");
        log_filter_brief(&text, meant.data);
        trace_text_char(&text, '?');
    } else if (near) {
        trace_text_printf(&text, "; did you mean the level %s?", near);
    }
    test_log_notice("%s", text.data ? text.data : "out of memory");
    trace_text_free(&text);
    trace_text_free(&meant);
}

void test_log_report_unseen(const struct test_log_run *run)
{
    size_t shown =
        run->unseen_count < UNSEEN_MAX ? run->unseen_count : UNSEEN_MAX;

    for (size_t i = 0; i < shown; i++)
        report_unseen(run->unseen[i], run->meant ? run->meant[i] : NULL);
    if (shown < run->unseen_count)
        test_log_notice("%zu more directives matched no call site",
                        run->unseen_count - shown);
}

void test_log_report_summary(const struct test_log_run *run, const char *rerun)
{
    struct test_log_sums sums = test_log_run_sums(run);

    if (sums.skipped) {
        fputs("\nskipped:\n", out());
        for (size_t i = 0; i < run->count; i++)
            if (run->results[i].outcome == TEST_LOG_OUTCOME_SKIPPED)
                put_line(&run->results[i]);
    }
    if (sums.failed) {
        fputs("\nfailed:\n", out());
        for (size_t i = 0; i < run->count; i++)
            if (test_log_outcome_bad(run->results[i].outcome))
                put_line(&run->results[i]);
        put_rerun(run, rerun);
    }
    if (run->path)
        fprintf(out(), "run: %s\n", run->path);
    fflush(out());
}

/* Whether what tests print went to our own stdout. */
static bool prints_through(const struct test_log_run *run,
                           const struct test_log_options *options)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome != TEST_LOG_OUTCOME_SKIPPED &&
            (options->live || !run->results[i].folder))
            return true;
    return false;
}

void test_log_report_closing(const struct test_log_run *run,
                             const struct test_log_options *options)
{
    struct test_log_sums sums = test_log_run_sums(run);
    FILE *stream = options->report_on_stdout ? out() : stdout;

    if (stream == stdout && prints_through(run, options))
        fputc('\n', stdout); /* the last line may be an open one */
    fprintf(stream, "%zu passed, %zu failed, %zu skipped\n", sums.passed,
            sums.failed, sums.skipped);
    fflush(stream);
}
