/* terminal.c: what a person reads while and after tests run. */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/harness.h"
#include "harness/watch.h"

FILE *test_log_out;

static FILE *out(void)
{
    return test_log_out ? test_log_out : stderr;
}

void test_log_notice(const char *format, ...)
{
    struct trace_text plain = {0};
    char *text = NULL, brief[512];
    va_list args;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    va_start(args, format);
    vsnprintf(brief, sizeof(brief), format, args); /* without memory */
    va_end(args);
    if (text)
        log_plain(&plain, text, strlen(text));
    fprintf(out(), "testlog: %s\n", plain.data ? plain.data : brief);
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

/* So much is printed of a file; all of it stays in the file. */
enum { SHOWN_MAX = 64 * 1024 };

static void say_left_out(size_t bytes, const char *path)
{
    fprintf(out(), "... %zu bytes before this are in %s\n", bytes, path);
}

/* Goes on with the first whole line of what is shown at most. */
static void skip_to_end(FILE *in, const char *path)
{
    struct stat file;
    int c;

    if (fstat(fileno(in), &file) || file.st_size <= SHOWN_MAX ||
        fseek(in, file.st_size - SHOWN_MAX, SEEK_SET))
        return;
    while ((c = fgetc(in)) != EOF && c != '\n')
        ;
    if (ftell(in) == file.st_size) /* a single line; it shows its end */
        fseek(in, file.st_size - SHOWN_MAX, SEEK_SET);
    heading("output");
    say_left_out((size_t)ftell(in), path);
}

static void put_output(FILE *in, const char *path)
{
    char bytes[8192];
    bool some, newline = true;
    size_t size;

    if (!in)
        return;
    skip_to_end(in, path);
    some = ftell(in) > 0;
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

/* Takes away what stands before the last lines; returns how much it was. */
static size_t keep_end(struct trace_text *text)
{
    size_t from = text->size - SHOWN_MAX;
    const char *newline =
        memchr(text->data + from, '\n', text->size - 1 - from);

    if (newline)
        from = (size_t)(newline + 1 - text->data);
    text->size -= from;
    memmove(text->data, text->data + from, text->size + 1);
    return from;
}

static void put_lines(const struct log_filter *filter,
                      const struct log_style *style,
                      struct trace_reader *reader, const char *path)
{
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text text = {0};
    struct trace_entry entry;
    size_t left_out = 0;

    while (replay && trace_reader_next(reader, &entry))
        if (log_line(replay, style, reader, &entry, &text) &&
            text.size > (size_t)SHOWN_MAX * 4)
            left_out += keep_end(&text);
    if (text.size > SHOWN_MAX)
        left_out += keep_end(&text);
    if (text.size)
        heading("log");
    if (left_out)
        say_left_out(left_out, path);
    fwrite(text.data ? text.data : "", 1, text.size, out());
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

size_t test_log_print_open_spans(struct trace_reader *reader,
                                 const char *indent)
{
    struct open_span open[OPEN_MAX];
    size_t count = find_open(reader, open);
    struct trace_text text = {0};

    if (count && !indent[0])
        heading("open spans");
    for (size_t i = 0; i < count; i++) {
        trace_text_clear(&text);
        log_span_text(NULL, reader, open[i].place, UINT64_MAX, &text);
        fprintf(out(), "%s%s %u: %s\n", indent, open[i].thread->name,
                open[i].thread->tid, text.data ? text.data : "?");
    }
    trace_text_free(&text);
    return count;
}

static void put_losses(const struct trace_reader *reader)
{
    struct trace_text text = {0};

    if (trace_reader_losses(&text, reader))
        fprintf(out(), "... %s\n", text.data);
    trace_text_free(&text);
}

/* Whoever cannot read it will make no trace of it, either. */
static void put_recording(const struct test_log_run *run,
                          const struct test_log_result *result,
                          const struct test_log_options *options)
{
    struct log_filter *filter = log_filter_parse(
        result->filter ? result->filter : "", "info", "LOG", NULL);
    struct log_style style = {.format = options->format,
                              .time = options->time,
                              .span_events = options->span_events,
                              .color = options->color};
    char path[PATH_MAX];
    struct trace_reader *reader = test_log_recording(run, result);

    if (reader && filter && !options->live &&
        !test_log_file(run, result, "log.txt", path))
        put_lines(filter, &style, reader, path);
    if (reader)
        put_losses(reader);
    if (reader && test_log_outcome_bad(result->outcome))
        test_log_print_open_spans(reader, "");
    if (reader && !test_log_file(run, result, "trace.json", path))
        fprintf(out(), "trace: %s\n", path);
    trace_reader_close(reader);
    log_filter_free(filter);
}

/* What tests and programs say commands no terminal. */
static void put_plain(const char *words, size_t size)
{
    struct trace_text text = {0};

    log_plain(&text, words, size);
    fputs(text.data ? text.data : "", out());
    trace_text_free(&text);
}

static void put_name(const struct test_log_result *result)
{
    const char *name = test_log_name(result);

    put_plain(name, strlen(name));
}

/* ": why", the first line of it; `why` may be NULL. */
static void put_reason(const char *why)
{
    size_t size = why ? strcspn(why, "\n") : 0;

    if (size)
        fputs(": ", out());
    put_plain(why ? why : "", size);
    if (why && why[size])
        fputs(" ...", out());
}

/* "suite/test: failed: why" */
static void put_outcome(const struct test_log_result *result)
{
    put_name(result);
    fprintf(out(), ": %s", test_log_outcome_text(result->outcome));
    put_reason(result->reason);
}

void test_log_print_block(const struct test_log_run *run,
                          const struct test_log_result *result,
                          const struct test_log_options *options)
{
    const char *bold = options->color ? "\033[1m" : "";
    const char *normal = options->color ? "\033[0m" : "";
    char path[PATH_MAX];

    test_log_github_group(result);
    fprintf(out(), "%s---- ", bold);
    put_outcome(result);
    if (options->retries)
        fprintf(out(), " (try %zu of %zu)", result->earlier_count + 1,
                options->retries + 1);
    fprintf(out(), " ----%s\n", normal);
    if (!options->live && !test_log_file(run, result, "output.txt", path))
        put_output(test_log_read(run, result, "output.txt"), path);
    put_recording(run, result, options);
    fputc('\n', out());
    fflush(out());
    test_log_github_endgroup();
}

/* ---- The end of a run ---- */

/* Whether another program has a test of the same name. */
static bool is_ambiguous(const struct test_log_run *run,
                         const struct test_log_result *result)
{
    for (size_t i = 0; i < run->count; i++)
        if (!strcmp(run->results[i].test, result->test) &&
            strcmp(run->results[i].program, result->program) != 0 &&
            !strcmp(test_log_name(&run->results[i]), test_log_name(result)))
            return true;
    return false;
}

static void put_line(const struct test_log_run *run,
                     const struct test_log_result *result)
{
    fputs("    ", out());
    if (is_ambiguous(run, result)) {
        put_plain(result->program, strlen(result->program));
        fputs(": ", out());
    }
    put_outcome(result);
    if (result->file)
        fprintf(out(), " (%s:%u)", result->file, result->line);
    fputc('\n', out());
}

/* Whether a terminal would obey a part of the word. */
static bool is_unclean(const char *word)
{
    struct trace_text clean = {0};
    bool unclean;

    test_log_sanitize_line(&clean, word);
    unclean = clean.data && strcmp(clean.data, word) != 0;
    trace_text_free(&clean);
    return unclean;
}

/* $'...', all of which is printable ASCII. */
static void add_escaped_word(struct trace_text *text, const char *word)
{
    trace_text_string(text, "$'");
    for (; *word; word++)
        if (*word == '\'' || *word == '\\')
            trace_text_printf(text, "\\%c", *word);
        else if (*word < ' ' || *word > '~')
            trace_text_printf(text, "\\%03o", (unsigned char)*word);
        else
            trace_text_char(text, *word);
    trace_text_char(text, '\'');
}

void test_log_add_word(struct trace_text *text, const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz0123456789"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-+=./:~,@%";

    if (word[0] && strspn(word, safe) == strlen(word)) {
        trace_text_string(text, word);
        return;
    }
    if (is_unclean(word)) {
        add_escaped_word(text, word);
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

/* Repetitions, "test#1" and "test#2", are one test. */
static int own_size(const struct test_log_result *result)
{
    return (int)strcspn(result->test, "#");
}

static bool same_test(const struct test_log_result *one,
                      const struct test_log_result *other)
{
    int size = own_size(one);

    return one->suite && other->suite && !strcmp(one->suite, other->suite) &&
           own_size(other) == size &&
           !strncmp(one->test, other->test, (size_t)size);
}

/* Whether a test of another program has failed by the same name. */
static bool named_before(const struct test_log_run *run, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (test_log_outcome_bad(run->results[i].outcome) &&
            same_test(&run->results[i], &run->results[number]))
            return true;
    return false;
}

/* Whether variables, not flags, say which shard it is: they are still there
 * when the command is run, and would leave a part of it out. */
static bool shard_stays(const struct test_log_run *run)
{
    return run->shard.total && strcmp(run->shard.origin, "--shard") != 0;
}

/* The command that runs the failed tests again, and no other. */
static void put_rerun(const struct test_log_run *run, const char *rerun)
{
    const char *shard = shard_stays(run) ? " --shard 1/1" : "";

    fprintf(out(), "run them again:\n    %s", rerun);
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        /* A program that left no results has no test to name. */
        if (!test_log_outcome_bad(result->outcome) || !result->suite ||
            named_before(run, i))
            continue;
        fprintf(out(), "%s --filter '%s%s%.*s'", shard, result->suite,
                result->suite[0] ? "/" : "", own_size(result), result->test);
        shard = "";
    }
    fputc('\n', out());
}

enum { UNSEEN_MAX = 10 }; /* that are named */

static void report_unseen(const char *unseen, const char *meant)
{
    const char *origin = strstr(unseen, ": ");
    const char *directive = origin ? origin + 2 : unseen;
    const char *level =
        strpbrk(directive, "=[") ? NULL : log_nearest_level(directive);
    struct trace_text text = {0};

    log_filter_brief(&text, unseen);
    trace_text_string(&text, " matched no call site");
    if (meant) {
        trace_text_string(&text, "; did you mean ");
        log_filter_brief(&text, meant);
        trace_text_char(&text, '?');
    } else if (level) {
        trace_text_printf(&text, "; did you mean the level %s?", level);
    }
    test_log_notice("%s", text.data ? text.data : "out of memory");
    trace_text_free(&text);
}

void test_log_print_unseen(const struct test_log_run *run)
{
    size_t shown =
        run->unseen_count < UNSEEN_MAX ? run->unseen_count : UNSEEN_MAX;

    for (size_t i = 0; i < shown; i++)
        report_unseen(run->unseen[i], run->meant ? run->meant[i] : NULL);
    if (shown < run->unseen_count)
        test_log_notice("%zu more directives matched no call site",
                        run->unseen_count - shown);
}

void test_log_print_slow(const struct test_log_run *run,
                         const struct test_log_options *options)
{
    bool some = false;

    for (size_t i = 0; options->slow && i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->duration <= options->slow)
            continue;
        if (!some)
            fprintf(out(), "\nslow, more than %g s:\n",
                    (double)options->slow / 1e9);
        some = true;
        fputs("    ", out());
        put_name(result);
        fprintf(out(), ": %.2f s\n", (double)result->duration / 1e9);
    }
}

static void put_flaky(const struct test_log_run *run)
{
    bool some = false;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        const struct test_log_try *first = result->earlier;

        if (!test_log_flaky(result))
            continue;
        if (!some)
            fputs("\nflaky:\n", out());
        some = true;
        fputs("    ", out());
        put_name(result);
        fprintf(out(), ": passed on try %zu; the first %s",
                result->earlier_count + 1,
                test_log_outcome_text(first->outcome));
        put_reason(first->reason);
        fputc('\n', out());
    }
}

/* What an interrupt kept from running is counted, but not listed. */
static bool is_left(const struct test_log_result *result)
{
    return result->outcome == TEST_LOG_OUTCOME_SKIPPED && result->reason &&
           !strcmp(result->reason, TEST_LOG_INTERRUPTED);
}

static void put_interrupted(const struct test_log_run *run, size_t left)
{
    if (!run->interrupted)
        return;
    fprintf(out(), "\ninterrupted by %s", test_log_signal(run->interrupted));
    if (left)
        fprintf(out(), ": %zu %s did not run", left,
                left == 1 ? "test" : "tests");
    fputc('\n', out());
}

void test_log_print_summary(const struct test_log_run *run, const char *rerun)
{
    struct test_log_sums sums = test_log_run_sums(run);
    size_t left = 0;

    for (size_t i = 0; i < run->count; i++)
        left += is_left(&run->results[i]);
    put_flaky(run);
    if (sums.skipped > left) {
        fputs("\nskipped:\n", out());
        for (size_t i = 0; i < run->count; i++)
            if (run->results[i].outcome == TEST_LOG_OUTCOME_SKIPPED &&
                !is_left(&run->results[i]))
                put_line(run, &run->results[i]);
    }
    if (sums.failed) {
        fputs("\nfailed:\n", out());
        for (size_t i = 0; i < run->count; i++)
            if (test_log_outcome_bad(run->results[i].outcome))
                put_line(run, &run->results[i]);
        put_rerun(run, rerun);
    }
    put_interrupted(run, left);
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

void test_log_print_closing(const struct test_log_run *run,
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
