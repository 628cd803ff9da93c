/* junit.c: junit.xml, in the subset that its readers have in common: one
 * <testsuite> for each program, system-out the test's own output, system-err
 * its log lines. */
#include <limits.h>
#include <string.h>

#include "harness.h"

/* Bytes that XML 1.0 allows as they are; the rest becomes '?'. In an attribute
 * white space is kept by references. */
static void put_text(FILE *out, const char *text, size_t size, bool attribute)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];

        switch (c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
        case '\t':
            fprintf(out, attribute ? "&#%d;" : "%c", c);
            break;
        default:
            fputc(c < 0x20 ? '?' : c, out);
        }
    }
}

/* Text that may not be UTF-8 goes through JSON's notion of it: what is not
 * becomes U+FFFD. */
static void put_utf8(FILE *out, const char *text, size_t size, bool attribute)
{
    struct trace_text json = {0};
    size_t from = 0;

    /* Piece by piece, for a byte in 1,000 may be bad. */
    for (size_t i = 0; i <= size; i++) {
        if (i < size && (unsigned char)text[i] < 0x80)
            continue;
        put_text(out, text + from, i - from, attribute);
        from = i;
        while (i < size && (unsigned char)text[i] >= 0x80)
            i++;
        trace_text_clear(&json);
        trace_json_string(&json, text + from, i - from);
        if (json.size > 2)
            put_text(out, json.data + 1, json.size - 2, attribute);
        from = i;
        if (i < size)
            i--;
    }
    trace_text_free(&json);
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    put_utf8(out, value ? value : "", value ? strlen(value) : 0, true);
    fputc('"', out);
}

/* How much of a piece can be written: a character at its end may go on in the
 * next one. */
static size_t whole(const char *text, size_t size)
{
    size_t at = size;

    while (at && size - at < 3 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
        at--;
    return at && (unsigned char)text[at - 1] >= 0xc0 ? at - 1 : size;
}

static void put_file(FILE *out, const char *element,
                     const struct test_log_run *run,
                     const struct test_log_result *result, const char *name)
{
    char path[PATH_MAX], bytes[8192];
    FILE *in = NULL;
    size_t size, kept = 0;

    if (!test_log_file(run, result, name, path))
        in = fopen(path, "re");
    if (!in)
        return;
    fprintf(out, "      <%s>", element);
    while ((size = fread(bytes + kept, 1, sizeof(bytes) - kept, in))) {
        size_t ready = whole(bytes, kept + size);

        put_utf8(out, bytes, ready, false);
        kept += size - ready;
        memmove(bytes, bytes + ready, kept);
    }
    put_utf8(out, bytes, kept, false);
    fprintf(out, "</%s>\n", element);
    fclose(in);
}

static void put_outcome(FILE *out, const struct test_log_result *result)
{
    const char *element =
        result->outcome == TEST_LOG_OUTCOME_SKIPPED  ? "skipped"
        : result->outcome == TEST_LOG_OUTCOME_FAILED ? "failure"
                                                     : "error";

    if (result->outcome == TEST_LOG_OUTCOME_PASSED)
        return;
    fprintf(out, "      <%s", element);
    if (result->outcome != TEST_LOG_OUTCOME_SKIPPED)
        put_attribute(out, "type", test_log_outcome_word(result->outcome));
    put_attribute(out, "message",
                  result->reason ? result->reason
                                 : test_log_outcome_report(result->outcome));
    fputs("/>\n", out);
}

static void put_case(FILE *out, const struct test_log_run *run,
                     const struct test_log_result *result)
{
    char classname[1024];

    if (result->outcome == TEST_LOG_OUTCOME_NONE)
        return;
    snprintf(classname, sizeof(classname), "%s.%s", result->program,
             result->suite ? result->suite : "");
    fputs("    <testcase", out);
    put_attribute(out, "name", result->test);
    put_attribute(out, "classname", classname);
    if (result->file)
        put_attribute(out, "file", result->file);
    if (result->line)
        fprintf(out, " line=\"%u\"", result->line);
    fprintf(out, " time=\"%.6f\">\n", (double)result->duration / 1e9);
    put_outcome(out, result);
    put_file(out, "system-out", run, result, "output.txt");
    put_file(out, "system-err", run, result, "log.txt");
    fputs("    </testcase>\n", out);
}

static void put_suite(FILE *out, const struct test_log_run *run, size_t from,
                      size_t to)
{
    size_t counts[6] = {0};
    double time = 0;

    for (size_t i = from; i < to; i++) {
        counts[run->results[i].outcome]++;
        time += (double)run->results[i].duration / 1e9;
    }
    fputs("  <testsuite", out);
    put_attribute(out, "name", run->results[from].program);
    fprintf(out,
            " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\""
            " time=\"%.6f\">\n",
            to - from - counts[TEST_LOG_OUTCOME_NONE],
            counts[TEST_LOG_OUTCOME_FAILED],
            counts[TEST_LOG_OUTCOME_CRASHED] + counts[TEST_LOG_OUTCOME_TIMEOUT],
            counts[TEST_LOG_OUTCOME_SKIPPED], time);
    for (size_t i = from; i < to; i++)
        put_case(out, run, &run->results[i]);
    fputs("  </testsuite>\n", out);
}

int test_log_write_junit(const struct test_log_run *run, const char *name)
{
    struct trace_file file;
    char path[PATH_MAX];
    size_t from = 0;

    if (test_log_path(run, name, path) || trace_file_open(&file, path))
        return -1;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n",
          file.stream);
    while (from < run->count) {
        size_t to = from;

        while (to < run->count &&
               !strcmp(run->results[to].program, run->results[from].program))
            to++;
        put_suite(file.stream, run, from, to);
        from = to;
    }
    fputs("</testsuites>\n", file.stream);
    return trace_file_commit(&file);
}
