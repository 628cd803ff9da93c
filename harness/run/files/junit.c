/* junit.c: writes junit.xml, in the subset that all readers support: one
 * <testsuite> for each program; system-out is the test's output, system-err its
 * log lines. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/test_stacks.h"
#include "harness/run/terminal/terminal.h"
#include "harness/version.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    test_log_put_xml_text(out, value ? value : "", value ? strlen(value) : 0,
                          true);
    fputc('"', out);
}

static void put_property(FILE *out, const char *margin, const char *name,
                         const char *value)
{
    if (!value)
        return;
    fprintf(out, "%s<property", margin);
    put_attribute(out, "name", name);
    put_attribute(out, "value", value);
    fputs("/>\n", out);
}

/* ---- Output and log ---- */

/* Servers refuse or truncate large reports. */
enum {
    FILE_MAX = 32 << 10, /* bytes of each file */
    HALF = FILE_MAX / 2,
    RECORDED_MAX = HALF, /* bytes of hidden lines, which come after the log */
};

/* Returns how many bytes of a head can be written: whole lines, or at least
 * whole characters. */
static size_t head_size(const char *text, size_t size)
{
    const char *newline = memrchr(text, '\n', size);
    size_t last = size ? trace_utf8_boundary(text, size - 1) : 0;

    if (newline)
        return (size_t)(newline + 1 - text);
    return last < size && (unsigned char)text[last] >= 0xc0 ? last : size;
}

/* Returns where the first whole line of a tail begins, or at least the first
 * whole character. */
static size_t tail_start(const char *text, size_t size)
{
    const char *newline = size ? memchr(text, '\n', size - 1) : NULL;
    size_t from = newline ? (size_t)(newline + 1 - text) : 0;

    while (!newline && from < size && from < 4 &&
           ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    return from;
}

static void put_head_and_tail(FILE *out, FILE *in, uint64_t size, size_t half,
                              const char *path)
{
    static char text[HALF];
    size_t head = head_size(text, fread(text, 1, half, in)), tail, from;
    struct trace_text cut = {0};

    test_log_put_xml_text(out, text, head, false);
    trace_text_string(&cut, head && text[head - 1] == '\n' ? "" : "\n");
    if (fseeko(in, -(off_t)half, SEEK_END))
        return;
    tail = fread(text, 1, half, in);
    from = tail_start(text, tail);
    trace_text_printf(&cut, "... %llu bytes left out; see %s\n",
                      (unsigned long long)(size - head - (tail - from)), path);
    test_log_put_xml_text(out, cut.data ? cut.data : "", cut.size, false);
    test_log_put_xml_text(out, text + from, tail - from, false);
    trace_text_free(&cut);
}

static void put_whole(FILE *out, FILE *in)
{
    static char text[FILE_MAX];

    test_log_put_xml_text(out, text, fread(text, 1, sizeof(text), in), false);
}

/* Puts at most `most` bytes of a file. */
static void put_file(FILE *out, const struct test_log_run *run,
                     const struct test_log_result *result, const char *name,
                     FILE *in, size_t most)
{
    char path[PATH_MAX];
    struct stat status;

    if (fstat(fileno(in), &status) || (size_t)status.st_size <= most ||
        test_log_file(run, result, name, path))
        put_whole(out, in);
    else
        put_head_and_tail(out, in, (uint64_t)status.st_size, most / 2, path);
    fclose(in);
}

/* Puts a file and `more` as the text of an element, if there is any. */
static void put_element(FILE *out, const char *element,
                        const struct test_log_run *run,
                        const struct test_log_result *result, const char *name,
                        const struct trace_text *more)
{
    FILE *in = test_log_read(run, result, name);

    if (!in && !more->size)
        return;
    fprintf(out, "      <%s>", element);
    if (in)
        put_file(out, run, result, name, in, FILE_MAX - more->size);
    test_log_put_xml_text(out, more->data ? more->data : "", more->size, false);
    fprintf(out, "</%s>\n", element);
}

/* Adds the recorded lines that a failed test's block shows below its log. */
static void add_recorded(struct trace_text *text,
                         const struct test_log_run *run,
                         const struct test_log_result *result)
{
    static const char heading[] = "recorded:\n";
    struct log_style style = run->output->style;
    struct trace_reader *reader = test_log_recording(run, result);
    struct log_filter *filter = log_filter_parse(
        result->filter ? result->filter : "", "info", "LOG", NULL);
    struct trace_text lines = {0};

    style.color = false;
    style.span_events = 0;
    if (reader && filter)
        log_add_hidden(filter, &style, reader, run->output->fail_log, &lines);
    test_log_keep_end(&lines, RECORDED_MAX - sizeof(heading));
    if (lines.size)
        trace_text_printf(text, "%s%s", heading, lines.data);
    trace_text_free(&lines);
    log_filter_free(filter);
    trace_reader_close(reader);
}

/* Puts the lines of a test, or how to see them. */
static void put_log(FILE *out, const struct test_log_run *run,
                    const struct test_log_result *result)
{
    struct trace_text text = {0};

    if (!result->unrendered) {
        if (run->output && test_log_outcome_bad(result->outcome))
            add_recorded(&text, run, result);
        put_element(out, "system-err", run, result, "log.txt", &text);
        trace_text_free(&text);
        return;
    }
    trace_text_string(&text, "... left out, because the test passed and "
                             "recorded much; see ");
    test_log_export_hint(&text, run, result, "log");
    trace_text_char(&text, '\n');
    fputs("      <system-err>", out);
    test_log_put_xml_text(out, text.data ? text.data : "", text.size, false);
    fputs("</system-err>\n", out);
    trace_text_free(&text);
}

/* The text in `message` is in the element, too: some readers show only one of
 * them. */
/* Readers show this as the stack trace of a failure. */
static void put_stacks(FILE *out, const struct test_log_run *run,
                       const struct test_log_result *result)
{
    struct trace_text text = {0};

    test_log_stacks_text(&text, run, result);
    if (text.size)
        fputc('\n', out);
    test_log_put_xml_text(out, text.data ? text.data : "", text.size, false);
    trace_text_free(&text);
}

static void put_outcome(FILE *out, const struct test_log_run *run,
                        const struct test_log_result *result)
{
    bool skipped = test_log_counted_outcome(result) == TEST_LOG_OUTCOME_SKIPPED;
    const char *element = skipped ? "skipped"
                          : result->outcome == TEST_LOG_OUTCOME_FAILED
                              ? "failure"
                              : "error";
    const char *reason = skipped && result->known ? result->known
                         : result->reason
                             ? result->reason
                             : test_log_outcome_text(result->outcome);

    if (result->outcome == TEST_LOG_OUTCOME_PASSED)
        return;
    fprintf(out, "      <%s", element);
    if (!skipped)
        put_attribute(out, "type", test_log_outcome_word(result->outcome));
    put_attribute(out, "message", reason);
    if (!skipped) {
        fputc('>', out);
        test_log_put_xml_text(out, reason, strlen(reason), false);
        put_stacks(out, run, result);
        fprintf(out, "</%s>\n", element);
    } else {
        fputs("/>\n", out);
    }
}

/* Puts the properties of a test: the filter of its lines, and where its trace
 * is. */
static void put_case_properties(FILE *out, const struct test_log_run *run,
                                const struct test_log_result *result)
{
    static const char margin[] = "        ";
    char trace[PATH_MAX];

    if (test_log_local_file(run, result, "trace.json", trace) ||
        access(trace, F_OK) || test_log_file(run, result, "trace.json", trace))
        return;
    fputs("      <properties>\n", out);
    put_property(out, margin, "log", result->filter);
    put_property(out, margin, "trace", trace);
    fputs("      </properties>\n", out);
}

/* Puts the tries before the last one in Surefire's format. */
static void put_tries(FILE *out, const struct test_log_result *result)
{
    const char *element =
        test_log_flaky(result) ? "flakyFailure" : "rerunFailure";

    for (size_t i = 0; i < result->earlier_count; i++) {
        const struct test_log_try *before = &result->earlier[i];

        if (before->outcome == TEST_LOG_OUTCOME_PASSED)
            continue;
        fprintf(out, "      <%s", element);
        put_attribute(out, "type", test_log_outcome_word(before->outcome));
        put_attribute(out, "message",
                      before->reason ? before->reason
                                     : test_log_outcome_text(before->outcome));
        fputs("/>\n", out);
    }
}

static void put_case(FILE *out, const struct test_log_run *run,
                     const struct test_log_result *result)
{
    const char *suite = result->suite ? result->suite : "";
    char classname[1024];

    if (result->outcome == TEST_LOG_OUTCOME_NONE)
        return;
    snprintf(classname, sizeof(classname), "%s%s%s", result->program,
             suite[0] ? "." : "", suite);
    fputs("    <testcase", out);
    put_attribute(out, "name", result->test);
    put_attribute(out, "classname", classname);
    if (result->file)
        put_attribute(out, "file", result->file);
    if (result->line)
        fprintf(out, " line=\"%u\"", result->line);
    fprintf(out, " time=\"%.6f\">\n", (double)result->duration / 1e9);
    put_case_properties(out, run, result);
    put_outcome(out, run, result);
    put_tries(out, result);
    put_element(out, "system-out", run, result, "output.txt",
                &(struct trace_text){0});
    put_log(out, run, result);
    fputs("    </testcase>\n", out);
}

static void put_counts(FILE *out, const struct test_log_run *run, size_t from,
                       size_t to)
{
    size_t counts[TEST_LOG_OUTCOME_SKIPPED + 1] = {0};
    double time = 0;

    for (size_t i = from; i < to; i++) {
        counts[test_log_counted_outcome(&run->results[i])]++;
        time += (double)run->results[i].duration / 1e9;
    }
    fprintf(out,
            " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\""
            " time=\"%.6f\"",
            to - from - counts[TEST_LOG_OUTCOME_NONE],
            counts[TEST_LOG_OUTCOME_FAILED],
            counts[TEST_LOG_OUTCOME_CRASHED] + counts[TEST_LOG_OUTCOME_TIMEOUT],
            counts[TEST_LOG_OUTCOME_SKIPPED], time);
}

/* Puts time and host of the run; programs have none of their own. In a run of
 * several hosts, the host is that of the first test. */
static void put_origin(FILE *out, const struct test_log_run *run, size_t part)
{
    const char *name = test_log_host(run, part);
    time_t seconds = (time_t)(run->start.wall / 1000000000);
    struct utsname host;
    struct tm date;
    char iso[32];

    gmtime_r(&seconds, &date);
    strftime(iso, sizeof(iso), "%Y-%m-%dT%H:%M:%S", &date);
    put_attribute(out, "timestamp", iso);
    if (name || !uname(&host))
        put_attribute(out, "hostname", name ? name : host.nodename);
}

static void put_suite_properties(FILE *out, const struct test_log_run *run,
                                 const char *program)
{
    static const char margin[] = "      ";

    fputs("    <properties>\n", out);
    put_property(out, margin, "program", program);
    put_property(out, margin, "command", run->command);
    put_property(out, margin, "run", run->path);
    put_property(out, margin, "log", run->show);
    put_property(out, margin, "trace-filter", run->record);
    put_property(out, margin, "gpu", test_log_gpu_word(run->gpu.state));
    put_property(out, margin, "testlog", TEST_LOG_VERSION);
    fputs("    </properties>\n", out);
}

static void put_suite(FILE *out, const struct test_log_run *run, size_t from,
                      size_t to)
{
    const char *program = run->results[from].program;

    fputs("  <testsuite", out);
    put_attribute(out, "name", program);
    put_counts(out, run, from, to);
    put_origin(out, run, run->results[from].source);
    fputs(">\n", out);
    put_suite_properties(out, run, program);
    for (size_t i = from; i < to; i++)
        put_case(out, run, &run->results[i]);
    fputs("  </testsuite>\n", out);
}

void test_log_put_junit(FILE *out, const struct test_log_run *run)
{
    size_t from = 0;

    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuites name=\"testlog\"",
          out);
    put_counts(out, run, 0, run->count);
    fputs(">\n", out);
    while (from < run->count) {
        size_t to = from;

        while (to < run->count &&
               !strcmp(run->results[to].program, run->results[from].program))
            to++;
        put_suite(out, run, from, to);
        from = to;
    }
    fputs("</testsuites>\n", out);
}

int test_log_write_junit(const struct test_log_run *run, const char *name)
{
    struct trace_file file;

    if (test_log_create(run, name, &file))
        return -1;
    test_log_put_junit(file.stream, run);
    return trace_file_commit(&file);
}
