/* terminal.c: prints what people read while and after tests run. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/run/model/test_stacks.h"
#include "harness/run/terminal/terminal.h"
#include "trace/base/strings.h"

/* Prints text without bytes that control a terminal. */
static void put_plain(const char *words, size_t size)
{
    struct trace_text text = {0};

    log_plain(&text, words, size);
    fputs(text.data ? text.data : "", test_log_stream());
    trace_text_free(&text);
}

static void put_name(const struct test_log_result *result)
{
    const char *name = test_log_title(result);

    put_plain(name, strlen(name));
}

/* Prints ": why", only its first line; `why` may be NULL. */
static void put_reason(const char *why)
{
    size_t size = why ? strcspn(why, "\n") : 0;

    if (size)
        fputs(": ", test_log_stream());
    put_plain(why ? why : "", size);
    if (why && why[size])
        fputs(" ...", test_log_stream());
}

/* Prints "suite/test: failed: why". */
static void put_outcome(const struct test_log_result *result, const char *why)
{
    put_name(result);
    fprintf(test_log_stream(), ": %s", test_log_outcome_text(result->outcome));
    put_reason(why);
}

/* Prints "file:line: ", which editors jump to at the start of a line. */
static void put_place(const struct test_log_place *place)
{
    char file[PATH_MAX], buffer[PATH_MAX];
    const char *shown;

    if (!place->size || place->size >= sizeof(file))
        return;
    snprintf(file, sizeof(file), "%.*s", (int)place->size, place->file);
    shown = test_log_shown_path(file, buffer);
    put_plain(shown, strlen(shown));
    fprintf(test_log_stream(), ":%u: ", place->line);
}

/* Prints lines as put_plain does; `text` may be NULL. */
static void put_plain_lines(const char *text)
{
    for (const char *line = text; line && *line;) {
        size_t size = strcspn(line, "\n");

        put_plain(line, size);
        fputc('\n', test_log_stream());
        line += size + (line[size] != '\0');
    }
}

/* ---- A test's block ---- */

/* A test that passed or was skipped gets a header only with the first line
 * below it. */
struct block {
    const struct test_log_run *run;
    struct test_log_result *result;
    const struct test_log_output *output;
    bool begun;
};

static void begin_block(struct block *block)
{
    const char *bold = block->output->style.color ? "\033[1m" : "";
    const char *normal = block->output->style.color ? "\033[0m" : "";
    const struct test_log_place place = test_log_place_of(block->result);
    size_t retries = block->result->retries;

    if (block->begun)
        return;
    block->begun = true;
    test_log_github_group(block->result);
    fprintf(test_log_stream(), "%s---- ", bold);
    put_outcome(block->result, place.found ? NULL : block->result->reason);
    if (retries)
        fprintf(test_log_stream(), " (try %zu of %zu)",
                block->result->earlier_count + 1, retries + 1);
    fprintf(test_log_stream(), " ----%s\n", normal);
}

static void heading(struct block *block, const char *title)
{
    begin_block(block);
    fprintf(test_log_stream(), "%s:\n", title);
}

/* The end of a file that is printed; the file keeps everything. */
enum { SHOWN_MAX = 64 * 1024 };

static void print_left_out(size_t bytes, const char *path)
{
    char buffer[PATH_MAX];

    fprintf(test_log_stream(), "... %zu bytes before this are in %s\n", bytes,
            test_log_shown_file(path, buffer));
}

/* Skips to the first complete line within the limit. */
static void skip_to_end(struct block *block, FILE *in, const char *path)
{
    struct stat file;
    int c;

    if (fstat(fileno(in), &file) || file.st_size <= SHOWN_MAX ||
        fseek(in, file.st_size - SHOWN_MAX, SEEK_SET))
        return;
    while ((c = fgetc(in)) != EOF && c != '\n')
        ;
    if (ftell(in) == file.st_size) /* a single long line: print its end */
        fseek(in, file.st_size - SHOWN_MAX, SEEK_SET);
    heading(block, "output");
    print_left_out((size_t)ftell(in), path);
}

static void put_output(struct block *block, FILE *in, const char *path)
{
    char bytes[8192];
    bool some, newline = true;
    size_t size;

    if (!in)
        return;
    skip_to_end(block, in, path);
    some = ftell(in) > 0;
    while ((size = fread(bytes, 1, sizeof(bytes), in))) {
        if (!some)
            heading(block, "output");
        some = true;
        fwrite(bytes, 1, size, test_log_stream());
        newline = bytes[size - 1] == '\n';
    }
    if (!newline)
        fputc('\n', test_log_stream());
    fclose(in);
}

/* Prints the end of a text of lines, and frees it. All of them are in a file;
 * NULL: in none. */
static void put_end(struct block *block, const char *title,
                    struct trace_text *text, size_t left_out, const char *path)
{
    left_out += test_log_keep_end(text, SHOWN_MAX);
    if (text->size)
        heading(block, title);
    if (left_out && path)
        print_left_out(left_out, path);
    else if (left_out)
        fprintf(test_log_stream(), "... %zu bytes before this\n", left_out);
    fwrite(text->data ? text->data : "", 1, text->size, test_log_stream());
    trace_text_free(text);
}

/* Prints how many more lines `testlog log` shows, and the command. */
static void put_hint(const struct block *block, size_t count)
{
    const struct test_log_run *run = block->run;
    char buffer[PATH_MAX];
    const char *path = test_log_shown_file(run->path ? run->path : "", buffer);
    struct trace_text command = {0};

    /* testlog log looks there for the latest run. */
    if (run->dir_given) {
        trace_text_char(&command, ' ');
        test_log_add_word(&command, path);
    }
    trace_text_char(&command, ' ');
    test_log_add_word(&command, test_log_title(block->result));
    fprintf(test_log_stream(),
            "%zu more %s recorded: testlog log%s --filter trace\n", count,
            count == 1 ? "line was" : "lines were",
            command.data ? command.data : "");
    trace_text_free(&command);
}

/* Prints the lines of a test. One that failed also shows the last lines that
 * the filter hides; these alone if the others were printed live. */
static void put_log(struct block *block, const struct log_filter *filter,
                    struct trace_reader *reader)
{
    const struct test_log_output *output = block->output;
    bool bad = test_log_outcome_bad(block->result->outcome);
    size_t most = bad ? output->fail_log : 0, left_out = 0, more;
    struct trace_text text = {0};
    char path[PATH_MAX];
    bool shows = !output->live &&
                 !test_log_file(block->run, block->result, "log.txt", path);

    if (!shows && !bad)
        return;
    more = shows ? log_add_with_hidden(filter, &output->style, reader, most,
                                       SHOWN_MAX, &left_out, &text)
                 : log_add_hidden(filter, &output->style, reader, most, &text);
    put_end(block, shows ? "log" : "recorded", &text, left_out,
            shows ? path : NULL);
    if (bad && more)
        put_hint(block, more);
}

/* The innermost spans that were never exited, one for each thread. */
struct open_span {
    const struct trace_thread *thread;
    uint32_t place;
};

enum { OPEN_MAX = 64 };

/* Spans of a process that has ended are of no interest, because _exit() leaves
 * them open. */
static bool was_alive(const char *alive, uint32_t pid)
{
    char id[16];

    snprintf(id, sizeof(id), " %u ", pid);
    return strstr(alive, id);
}

static size_t find_open(struct trace_reader *reader, const char *alive,
                        struct open_span *open)
{
    const uint32_t own = trace_reader_summary(reader).pid;
    struct trace_entry entry;
    size_t count = 0;

    if (trace_reader_rewind(reader))
        return 0;
    while (trace_reader_next(reader, &entry)) {
        bool enters = entry.kind == TRACE_ENTRY_ENTER ||
                      (entry.kind == TRACE_ENTRY_SPAN && entry.entered);
        size_t i = 0;

        if (!enters || entry.end != UINT64_MAX ||
            (alive && entry.thread->pid != own &&
             !was_alive(alive, entry.thread->pid)))
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

size_t test_log_open_spans_text(struct trace_text *text,
                                struct trace_reader *reader, const char *alive,
                                const char *indent)
{
    struct open_span open[OPEN_MAX];
    size_t count = find_open(reader, alive, open);
    struct trace_text spans = {0};

    for (size_t i = 0; i < count; i++) {
        trace_text_clear(&spans);
        log_span_text(NULL, reader, open[i].place, UINT64_MAX, &spans);
        trace_text_printf(text, "%s%s %u: %s\n", indent, open[i].thread->name,
                          open[i].thread->tid, spans.data ? spans.data : "?");
    }
    trace_text_free(&spans);
    return count;
}

size_t test_log_print_open_spans(struct trace_reader *reader, const char *alive,
                                 const char *indent)
{
    struct trace_text text = {0};
    size_t count = test_log_open_spans_text(&text, reader, alive, indent);

    if (count && !indent[0])
        fputs("open spans:\n", test_log_stream());
    fputs(text.data ? text.data : "", test_log_stream());
    trace_text_free(&text);
    return count;
}

void test_log_print_stacks(const struct test_log_run *run,
                           const struct test_log_result *result)
{
    struct trace_text text = {0};

    test_log_stacks_text(&text, run, result);
    put_plain_lines(text.data);
    trace_text_free(&text);
}

static void put_gpu_summary(struct block *block, struct trace_reader *reader)
{
    struct trace_text text = {0};

    test_log_gpu_summary_read(block->run, block->result, reader);
    if (block->result->gpu_summary)
        log_device_table(&text, block->result->gpu_summary);
    if (text.size)
        heading(block, "gpu");
    fwrite(text.data ? text.data : "", 1, text.size, test_log_stream());
    trace_text_free(&text);
}

/* Without a readable recording, there is no trace either. */
static void put_recording(struct block *block)
{
    const struct test_log_run *run = block->run;
    struct test_log_result *result = block->result;
    struct trace_reader *reader = test_log_recording(run, result);
    struct log_filter *filter = log_filter_parse(
        result->filter ? result->filter : "", "info", "LOG", NULL);
    bool bad = test_log_outcome_bad(result->outcome);
    struct trace_text losses = {0}, fragment = {0};
    char path[PATH_MAX], buffer[PATH_MAX];
    char *alive = NULL;

    if (!reader)
        goto out;
    if (filter)
        put_log(block, filter, reader);
    if (trace_reader_all_losses(&losses, reader)) {
        begin_block(block);
        fprintf(test_log_stream(), "... %s\n", losses.data);
    }
    if (bad) {
        alive = test_log_stacks_alive(run, result);
        test_log_print_open_spans(reader, alive, "");
    }
    put_gpu_summary(block, reader);
    if (block->begun && !block->output->vanishes &&
        !test_log_file(run, result, "trace.json", path))
        fprintf(test_log_stream(), "trace: %s\n",
                test_log_shown_file(path, buffer));
    if (bad && !block->output->vanishes) { /* written at the run's end */
        test_log_page_fragment(&fragment, run, result);
        if (fragment.data && !test_log_path(run, "report.html", path))
            test_log_print_page(path, fragment.data, block->output);
    }
out:
    free(alive);
    trace_text_free(&losses);
    trace_text_free(&fragment);
    trace_reader_close(reader);
    log_filter_free(filter);
}

void test_log_print_block(const struct test_log_run *run,
                          struct test_log_result *result,
                          const struct test_log_output *output)
{
    const struct test_log_place place = test_log_place_of(result);
    struct block block = {run, result, output, false};
    struct trace_text stacks = {0};
    char path[PATH_MAX];

    if (test_log_outcome_bad(result->outcome)) {
        begin_block(&block);
        if (!result->assertions && place.found) {
            put_place(&place);
            put_plain_lines(place.why);
        }
        put_plain_lines(result->assertions);
    }
    if (!output->live && !test_log_file(run, result, "output.txt", path))
        put_output(&block, test_log_read(run, result, "output.txt"), path);
    test_log_stacks_text(&stacks, run, result);
    if (stacks.size)
        heading(&block, "stacks");
    put_plain_lines(stacks.data);
    trace_text_free(&stacks);
    put_recording(&block);
    if (!block.begun)
        return;
    fputc('\n', test_log_stream());
    fflush(test_log_stream());
    test_log_github_endgroup();
}

void test_log_print_try(const struct test_log_run *run,
                        const struct test_log_result *result)
{
    const struct test_log_place place = test_log_place_of(result);
    char path[PATH_MAX], buffer[PATH_MAX];

    put_place(&place);
    put_outcome(result, place.why);
    fprintf(test_log_stream(), " (try %zu of %zu)", result->earlier_count + 1,
            result->retries + 1);
    if (!test_log_file(run, result, "trace.json", path))
        fprintf(test_log_stream(), ", trace: %s",
                test_log_shown_file(path, buffer));
    fputc('\n', test_log_stream());
    fflush(test_log_stream());
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

static void put_ambiguous(const struct test_log_run *run,
                          const struct test_log_result *result)
{
    if (!is_ambiguous(run, result))
        return;
    put_plain(result->program, strlen(result->program));
    fputs(": ", test_log_stream());
}

static void put_line(const struct test_log_run *run,
                     const struct test_log_result *result)
{
    const struct test_log_place place = test_log_place_of(result);

    fputs("    ", test_log_stream());
    put_ambiguous(run, result);
    put_outcome(result, place.why);
    if (place.size)
        fprintf(test_log_stream(), " (%.*s:%u)", (int)place.size, place.file,
                place.line);
    fputc('\n', test_log_stream());
}

/* The length of a name without its repetition: "test#1" and "test#2" are one
 * test. */
static int base_size(const struct test_log_result *result)
{
    return (int)test_log_base_size(result->test);
}

static bool same_test(const struct test_log_result *one,
                      const struct test_log_result *other)
{
    int size = base_size(one);

    return one->suite && other->suite && !strcmp(one->suite, other->suite) &&
           base_size(other) == size &&
           !strncmp(one->test, other->test, (size_t)size);
}

/* Whether a failed test of an earlier program has the same name. */
static bool is_named_before(const struct test_log_run *run, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (test_log_failed(&run->results[i]) &&
            same_test(&run->results[i], &run->results[number]))
            return true;
    return false;
}

/* If the shard comes from variables, not flags, the command for failed tests
 * would run in the same shard and might leave some out. */
static const char *all_shards(const struct test_log_run *run)
{
    return run->shard.total && strcmp(run->shard.origin, "--shard") != 0
               ? " --shard 1/1"
               : "";
}

/* Whether the command for failed tests names a test. A program without results
 * has no test names. */
static bool is_named(const struct test_log_run *run, size_t number)
{
    const struct test_log_result *result = &run->results[number];

    return test_log_failed(result) && result->suite &&
           strcmp(result->test, TEST_LOG_OF_PROGRAM) != 0 &&
           !is_named_before(run, number);
}

/* Adds the name that selects a test: a repetition runs with all others, and a
 * suite with all its tests, to which `any` is added. */
static void add_filter(struct trace_text *name, const struct test_log_run *run,
                       const struct test_log_result *result, const char *any)
{
    bool cuts = run->repeat > 1 || !result->title; /* others may have a # */
    const char *title = test_log_title(result);
    size_t size = cuts ? test_log_base_size(title) : strlen(title);
    size_t suite =
        test_log_is_of_suite(result) ? strlen(title) - strlen(result->test) : 0;

    trace_text_add(name, title, suite ? suite : size);
    trace_text_string(name, suite ? any : "");
}

static void put_filter(const struct test_log_run *run,
                       const struct test_log_result *result)
{
    struct trace_text name = {0}, word = {0};
    const char *quote;

    add_filter(&name, run, result, "*");
    test_log_add_word(&word, name.data ? name.data : "");
    quote = word.size && strchr("'$", word.data[0]) ? "" : "'";
    fprintf(test_log_stream(), " --filter %s%s%s", quote,
            word.data ? word.data : "", quote);
    trace_text_free(&name);
    trace_text_free(&word);
}

enum { NAMES_MAX = 8 }; /* in a command; a command with more uses --failed */

/* Prints ctest's flag for the failed tests, a regular expression of CMake. */
static void put_ctest_filter(const struct test_log_run *run)
{
    struct trace_text name = {0}, pattern = {0}, word = {0};

    for (size_t i = 0; i < run->count; i++) {
        if (!is_named(run, i))
            continue;
        if (pattern.size)
            trace_text_char(&pattern, '|');
        trace_text_clear(&name);
        add_filter(&name, run, &run->results[i], "");
        for (const char *at = name.data; at && *at; at++) {
            if (strchr("\\.[]*+?()|^$", *at))
                trace_text_char(&pattern, '\\');
            trace_text_char(&pattern, *at);
        }
        if (!test_log_is_of_suite(&run->results[i]))
            trace_text_char(&pattern, '$');
    }
    test_log_add_word(&word, pattern.data ? pattern.data : "");
    fprintf(test_log_stream(), " -R %s", word.data ? word.data : "");
    trace_text_free(&name);
    trace_text_free(&pattern);
    trace_text_free(&word);
}

/* Prints the command that runs only the failed tests again. */
static void put_rerun(const struct test_log_run *run, const char *rerun)
{
    size_t names = 0;

    for (size_t i = 0; i < run->count && names <= NAMES_MAX; i++)
        names += is_named(run, i);
    if (!strcmp(rerun, "ctest") || !strncmp(rerun, "ctest ", 6)) {
        fprintf(test_log_stream(), "run them again:\n    %s", rerun);
        if (names > NAMES_MAX)
            fputs(" --rerun-failed", test_log_stream());
        else if (names)
            put_ctest_filter(run);
        fputc('\n', test_log_stream());
        return;
    }
    fprintf(test_log_stream(), "run them again:\n    %s%s", rerun,
            names ? all_shards(run) : "");
    /* A flaky test may need as many repetitions to fail again. */
    if (names && run->repeat > 1)
        fprintf(test_log_stream(), " --repeat %zu", run->repeat);
    if (names > NAMES_MAX && run->whole && !run->interrupted && run->path) {
        /* The folder of the run remembers what failed. */
        size_t size = (size_t)(trace_base_name(run->path) - run->path);
        char *folder = strndup(run->path, size > 1 ? size - 1 : size);
        struct trace_text word = {0};

        fputs(" --failed", test_log_stream());
        if (run->dir_given && folder)
            test_log_add_word(&word, folder);
        if (word.data)
            fprintf(test_log_stream(), " --trace-dir %s", word.data);
        trace_text_free(&word);
        free(folder);
    } else {
        for (size_t i = 0; i < run->count; i++) {
            const struct test_log_result *result = &run->results[i];

            if (is_named(run, i))
                put_filter(run, result);
        }
    }
    fputc('\n', test_log_stream());
}

const struct test_log_result *test_log_first_failed(
    const struct test_log_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->suite && test_log_failed(result) &&
            !test_log_is_of_suite(result) &&
            result->outcome != TEST_LOG_OUTCOME_TIMEOUT)
            return result;
    }
    return NULL;
}

static void put_debug(const struct test_log_run *run, const char *program)
{
    const struct test_log_result *first = test_log_first_failed(run);

    if (!first || !program)
        return;
    fprintf(test_log_stream(), "debug the first one:\n    %s%s", program,
            all_shards(run));
    put_filter(run, first);
    fputs(" --debug-failed\n", test_log_stream());
}

enum { UNMATCHED_MAX = 10 }; /* that are printed */

void test_log_print_unmatched_one(const char *unmatched, const char *sites,
                                  const char *meant)
{
    const char *origin = strstr(unmatched, ": ");
    const char *directive = origin ? origin + 2 : unmatched;
    const char *level =
        strpbrk(directive, "=[") ? NULL : log_nearest_level(directive);
    struct trace_text text = {0};

    log_filter_brief(&text, unmatched);
    trace_text_printf(&text, " matched no %s", sites);
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

/* Globs come from --functions, TRACE_FUNCTIONS or the setting functions, lines
 * from --lines. */
static const char *sites_of(const char *unmatched)
{
    if (strcasestr(unmatched, "functions: "))
        return "function";
    return strcasestr(unmatched, "lines: ") ? "line" : "call site";
}

void test_log_print_unmatched(const struct test_log_run *run)
{
    size_t shown = run->unmatched_count < UNMATCHED_MAX ? run->unmatched_count
                                                        : UNMATCHED_MAX;

    for (size_t i = 0; i < shown; i++)
        test_log_print_unmatched_one(run->unmatched[i],
                                     sites_of(run->unmatched[i]),
                                     run->meant ? run->meant[i] : NULL);
    if (shown < run->unmatched_count)
        test_log_notice("%zu more directives matched no call site",
                        run->unmatched_count - shown);
}

void test_log_print_running(const struct test_log_output *output,
                            const char *name, bool limited)
{
    test_log_notice("slow: %s has been running for more than %g s%s", name,
                    (double)output->named / 1e9,
                    limited ? "" : "; --timeout=SECONDS ends such tests");
}

void test_log_print_slow(const struct test_log_run *run,
                         const struct test_log_output *output)
{
    bool some = false;

    for (size_t i = 0; output->slow && i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->duration <= output->slow)
            continue;
        if (!some)
            fprintf(test_log_stream(), "\nslow, more than %g s:\n",
                    (double)output->slow / 1e9);
        some = true;
        fputs("    ", test_log_stream());
        put_name(result);
        fprintf(test_log_stream(), ": %.2f s\n",
                (double)result->duration / 1e9);
    }
}

static void put_flaky(const struct test_log_run *run)
{
    bool some = false;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];
        const struct test_log_try *first = test_log_first_bad(result);

        if (!test_log_flaky(result))
            continue;
        if (!some)
            fputs("\nflaky:\n", test_log_stream());
        some = true;
        fputs("    ", test_log_stream());
        put_name(result);
        fprintf(test_log_stream(), ": passed on try %zu; the first %s",
                result->earlier_count + 1,
                test_log_outcome_text(first->outcome));
        put_reason(first->reason);
        fputc('\n', test_log_stream());
    }
}

/* Lists known failures that failed, or that passed. */
static void put_known(const struct test_log_run *run, bool passed,
                      const char *title)
{
    bool some = false;

    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (!result->known ||
            (result->outcome == TEST_LOG_OUTCOME_PASSED) != passed)
            continue;
        if (!some)
            fprintf(test_log_stream(), "\n%s:\n", title);
        some = true;
        fputs("    ", test_log_stream());
        put_name(result);
        if (!passed)
            fprintf(test_log_stream(), ": %s",
                    test_log_outcome_text(result->outcome));
        put_reason(result->known);
        fputc('\n', test_log_stream());
    }
}

/* Tests that an interrupt prevented are counted, but not listed. */
static bool is_interrupted(const struct test_log_result *result)
{
    return result->outcome == TEST_LOG_OUTCOME_SKIPPED && result->reason &&
           !strcmp(result->reason, TEST_LOG_INTERRUPTED);
}

/* If more skipped tests than this have the same reason, they share one line. */
enum { ALIKE_MAX = 3 };

static bool skipped_alike(const struct test_log_result *one,
                          const struct test_log_result *other)
{
    return one->outcome == TEST_LOG_OUTCOME_SKIPPED &&
           other->outcome == TEST_LOG_OUTCOME_SKIPPED && one->reason &&
           other->reason && !strcmp(one->reason, other->reason);
}

/* Counts the tests that were skipped for the same reason as the number-th, if
 * that is the first of them; otherwise 0. */
static size_t count_alike(const struct test_log_run *run, size_t number)
{
    const struct test_log_result *result = &run->results[number];
    size_t count = 1;

    for (size_t i = 0; i < number; i++)
        if (skipped_alike(&run->results[i], result))
            return 0;
    for (size_t i = number + 1; i < run->count; i++)
        count += skipped_alike(&run->results[i], result);
    return count;
}

static void put_alike(const struct test_log_run *run, size_t first)
{
    size_t count = count_alike(run, first);

    if (!count)
        return;
    if (count <= ALIKE_MAX) {
        for (size_t i = first; i < run->count; i++)
            if (i == first ||
                skipped_alike(&run->results[i], &run->results[first]))
                put_line(run, &run->results[i]);
        return;
    }
    fprintf(test_log_stream(), "    %zu tests", count);
    put_reason(run->results[first].reason);
    fputs(" (", test_log_stream());
    put_name(&run->results[first]);
    fputs(", ...)\n", test_log_stream());
}

static void put_skipped(const struct test_log_run *run)
{
    fputs("\nskipped:\n", test_log_stream());
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome == TEST_LOG_OUTCOME_SKIPPED &&
            !is_interrupted(&run->results[i]))
            put_alike(run, i);
}

void test_log_print_summary(const struct test_log_run *run, const char *rerun,
                            const char *program)
{
    struct test_log_sums sums = test_log_run_sums(run);
    char path[PATH_MAX];
    size_t left = 0, skipped = 0;

    for (size_t i = 0; i < run->count; i++) {
        left += is_interrupted(&run->results[i]);
        skipped += run->results[i].outcome == TEST_LOG_OUTCOME_SKIPPED;
    }
    put_flaky(run);
    if (skipped > left)
        put_skipped(run);
    put_known(run, false, "known failures");
    put_known(run, true, "known failures that passed");
    if (sums.failed) {
        fputs("\nfailed:\n", test_log_stream());
        for (size_t i = 0; i < run->count; i++) {
            const struct test_log_result *result = &run->results[i];
            struct test_log_place place;

            if (!test_log_failed(result))
                continue;
            place = test_log_place_of(result);
            put_place(&place);
            put_ambiguous(run, result);
            put_outcome(result, place.why);
            fputc('\n', test_log_stream());
        }
        if (rerun)
            put_rerun(run, rerun);
        put_debug(run, program);
    }
    if (run->interrupted) {
        fprintf(test_log_stream(), "\ninterrupted by %s",
                test_log_signal(run->interrupted));
        if (left)
            fprintf(test_log_stream(), ": %zu %s did not run", left,
                    left == 1 ? "test" : "tests");
        fputc('\n', test_log_stream());
    }
    if (run->count && run->start.monotonic)
        fprintf(test_log_stream(), "time: %.2f s\n",
                (double)test_log_run_time(run) / 1e9);
    if (run->path)
        fprintf(test_log_stream(), "run: %s\n",
                test_log_shown_file(run->path, path));
    fflush(test_log_stream());
}

/* Whether tests print to our own stdout. */
static bool prints_through(const struct test_log_run *run,
                           const struct test_log_output *output)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->results[i].outcome != TEST_LOG_OUTCOME_SKIPPED &&
            (output->live || !run->results[i].folder))
            return true;
    return false;
}

void test_log_print_closing(const struct test_log_run *run,
                            const struct test_log_output *output)
{
    struct test_log_sums sums = test_log_run_sums(run);
    size_t known = 0;
    FILE *stream = output->report_on_stdout ? test_log_stream() : stdout;

    if (stream == stdout && prints_through(run, output))
        fputc('\n', stdout); /* the last line may be open */
    for (size_t i = 0; i < run->count; i++)
        known += test_log_outcome_bad(run->results[i].outcome) &&
                 run->results[i].known;
    if (known)
        fprintf(stream, "%zu known failure%s\n", known, known == 1 ? "" : "s");
    fprintf(stream, "%zu passed, %zu failed, %zu skipped\n", sums.passed,
            sums.failed, sums.skipped);
    fflush(stream);
}
