/* failed_assertions.c: what a test's block prints about its failed assertions.
 *
 * Criterion's logger computes differences between values. It prints them to
 * stderr before testlog can tell which test they belong to, so they are kept
 * until the test ends.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/options.h>

#include "harness/machine/notice.h"
#include "logger.h"
#include "trace/base/containers.h"

enum { TEXT_MAX = 64 * 1024, KEPT_MAX = 1024 };

/* The lines of Criterion's logger about one assertion. */
struct details {
    char *file, *message;
    unsigned line;
    bool complete;   /* further lines are about another assertion */
    bool parameters; /* it has those of its theory */
    struct trace_text text;
};

static struct details *kept;
static size_t kept_count, kept_capacity;
static struct criterion_logger original;

static const char *message_of(const struct criterion_assert_stats *stats)
{
    return stats->message ? stats->message : "";
}

static bool is_about(const struct details *details,
                     const struct criterion_assert_stats *stats)
{
    return details->line == stats->line && details->file && details->message &&
           !strcmp(details->file, stats->file) &&
           !strcmp(details->message, message_of(stats));
}

static void drop(size_t number)
{
    struct details *details = &kept[number];

    free(details->file);
    free(details->message);
    trace_text_free(&details->text);
    kept_count--;
    memmove(details, details + 1, (kept_count - number) * sizeof(*details));
}

static struct details *add_kept(const struct criterion_assert_stats *stats)
{
    struct details *details;

    if (kept_count == KEPT_MAX)
        drop(0);
    if (!TRACE_ARRAY_RESERVE(kept, kept_capacity, kept_count + 1))
        return NULL;
    details = &kept[kept_count++];
    *details = (struct details){.file = strdup(stats->file),
                                .message = strdup(message_of(stats)),
                                .line = stats->line,
                                .text.ceiling = TEXT_MAX};
    return details;
}

/* Returns the details of the assertion that is being reported. All parts of an
 * assertion are reported at once. */
static struct details *details_of(const struct criterion_assert_stats *stats)
{
    struct details *last = kept_count ? &kept[kept_count - 1] : NULL;

    return last && !last->complete ? last : add_kept(stats);
}

/* Returns the details of a test's last assertion. Details of other tests may
 * follow it. */
static struct details *details_of_last(
    const struct criterion_assert_stats *stats)
{
    for (size_t i = kept_count; i-- > 0;)
        if (is_about(&kept[i], stats) && !kept[i].parameters)
            return &kept[i];
    return add_kept(stats);
}

/* Adds what Criterion printed, without its "[----] " before each line. */
static void add_printed(struct trace_text *text, const char *printed)
{
    static const char prefix[] = "[----] ";

    for (const char *line = printed; line && *line;) {
        size_t size = strcspn(line, "\n");
        size_t skip = strncmp(line, prefix, 7) ? 0 : 7;

        trace_text_printf(text, "%.*s\n", (int)(size - skip), line + skip);
        line += size + (line[size] != '\0');
    }
}

/* Keeps what a function of Criterion's logger prints to stderr, without
 * colours. */
struct capture {
    FILE *stream, *before;
    char *data;
    size_t size;
    bool ascii;
};

static bool begin(struct capture *capture)
{
    capture->stream = open_memstream(&capture->data, &capture->size);
    if (!capture->stream)
        return false;
    capture->before = stderr;
    capture->ascii = criterion_options.use_ascii;
    criterion_options.use_ascii = true;
    stderr = capture->stream;
    return true;
}

static void end(struct capture *capture,
                const struct criterion_assert_stats *stats)
{
    struct details *details = details_of(stats);

    stderr = capture->before;
    criterion_options.use_ascii = capture->ascii;
    if (!fclose(capture->stream) && details)
        add_printed(&details->text, capture->data);
    free(capture->data);
}

#define X(name, parameters, arguments)                                         \
    static void capture_##name parameters                                      \
    {                                                                          \
        struct capture capture = {0};                                          \
                                                                               \
        if (a->passed || !begin(&capture))                                     \
            return;                                                            \
        original.name arguments;                                               \
        end(&capture, a);                                                      \
    }
TEST_LOG_ASSERTION_PARTS(X)
#undef X

static void begin_assertion(struct criterion_assert_stats *stats)
{
    (void)stats;
    if (kept_count)
        kept[kept_count - 1].complete = true;
}

static void keep_parameters(struct criterion_theory_stats *stats)
{
    const struct criterion_assert_stats *last = stats->stats->asserts;
    struct details *details;

    while (last && last->passed)
        last = last->next;
    details = last ? details_of_last(last) : NULL;
    if (!details)
        return;
    details->parameters = true;
    trace_text_printf(&details->text, "  with the parameters (%s)\n",
                      stats->formatted_args);
}

void test_log_assertions_capture(struct criterion_logger *logger)
{
    original = *logger;
    logger->log_assert = begin_assertion;
    logger->log_theory_fail = keep_parameters;
#define X(name, parameters, arguments)                                         \
    if (original.name)                                                         \
        logger->name = capture_##name;
    TEST_LOG_ASSERTION_PARTS(X)
#undef X
}

static void add(struct trace_text *text,
                const struct criterion_assert_stats *stats)
{
    const char *message = message_of(stats), *end;
    char path[PATH_MAX];

    trace_text_printf(text, "%s:%u: ", test_log_shown_path(stats->file, path),
                      stats->line);
    /* The next lines must not look like another assertion. */
    for (; (end = strchr(message, '\n')); message = end + 1) {
        trace_text_add(text, message, (size_t)(end - message));
        trace_text_string(text, "\n    ");
    }
    trace_text_printf(text, "%s\n", message[0] ? message : "assertion failed");
    for (size_t i = 0; i < kept_count; i++)
        if (is_about(&kept[i], stats)) {
            trace_text_string(text, kept[i].text.data ? kept[i].text.data : "");
            drop(i);
            return;
        }
}

/* Criterion's list begins with the last assertion, and has those that passed,
 * too. */
char *test_log_assertions_take(const struct criterion_test_stats *stats)
{
    const struct criterion_assert_stats **failed = NULL;
    struct trace_text text = {.ceiling = TEXT_MAX};
    size_t count = 0, capacity = 0;

    for (const struct criterion_assert_stats *a = stats->asserts; a;
         a = a->next)
        if (!a->passed && TRACE_ARRAY_RESERVE(failed, capacity, count + 1))
            failed[count++] = a;
    while (count && !text.failed)
        add(&text, failed[--count]);
    free(failed);
    return text.data;
}
