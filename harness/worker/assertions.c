/* assertions.c: records each failing assertion as an ERROR event at its place.
 *
 * The functions here have the names of Criterion's own, so that the test
 * program's calls come here first; each calls the real one.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/options.h>

#include "harness/worker/worker.h"
#include "trace/record/recorder.h"

#define FORKED "in a forked child: "
#define FAILED "assertion failed"

/* Returns how many bytes of a message are recorded. Long messages are cut, and
 * so are the lines that an expectation lists: the log already contains them. */
static int headline(const char *message)
{
    bool expects = !strncmp(message, "log_expect_", 11);
    size_t size = strcspn(message, expects ? "\n" : ""), most = 1 << 15;

    return (int)(size < most ? size : most);
}

/* Records a failing assertion as an ERROR event at the assertion's own place.
 */
static void record_failure(const char *file, unsigned line, const char *message)
{
    struct trace_text text = {.ceiling = 1 << 16};

    trace_text_string(&text, FAILED);
    if (message && message[0])
        trace_text_printf(&text, ": %.*s", headline(message), message);
    test_log_record_error(file, line, text.data ? text.data : FAILED);
    trace_text_free(&text);
}

static void (*next_send_assert)(struct criterion_assert_stats *);

static void send_short(struct criterion_assert_stats *stats)
{
    const char *message = stats->message;
    char *shorter = test_log_shorten(stats->file, stats->line, message);

    if (shorter)
        stats->message = shorter;
    next_send_assert(stats);
    stats->message = message;
    free(shorter);
}

TRACE_API void criterion_send_assert(struct criterion_assert_stats *stats)
{
    if (!next_send_assert)
        test_log_next_function("criterion_send_assert", &next_send_assert);
    trace_returned_to((uintptr_t)__builtin_frame_address(0));
    if (!stats->passed)
        record_failure(stats->file, stats->line, stats->message);
    if (!test_log_forked()) {
        test_log_status_assertion(stats->passed ? 0 : stats->line);
        send_short(stats);
        if (!stats->passed)
            test_log_status_stop(TEST_LOG_STOP_ASSERTION);
        test_log_status_assertion(0);
    } else if (!stats->passed) {
        test_log_status_fail(FORKED "%s:%u: %s", stats->file, stats->line,
                             stats->message ? stats->message : FAILED);
    }
}

/* Adds the leaves that failed, as Criterion prints them. */
static void describe(struct trace_text *text,
                     const struct cri_assert_node *node)
{
    if (node->repr && !node->pass) {
        trace_text_printf(text, "%s%s", text->size ? "; " : "", node->repr);
        for (const struct cri_assert_param *p = node->params; p->name; p++)
            if (p->type == CRI_ASSERT_RT_STR)
                trace_text_printf(text, " %s=%s", p->name,
                                  (const char *)p->data);
    }
    for (size_t i = 0; i < node->nchild; i++)
        describe(text, &node->children[i]);
}

static void (*next_send)(const char *, size_t, struct cri_assert_node *);

/* Shortens the values of a tree in place: they are copies. */
static void shorten_values(const char *file, unsigned line,
                           struct cri_assert_node *node)
{
    for (struct cri_assert_param *p = node->params; p->name; p++) {
        char *value = p->type == CRI_ASSERT_RT_STR ? p->data : NULL;
        char *shorter = test_log_shorten(file, line, value);

        if (shorter)
            memcpy(value, shorter, strlen(shorter) + 1);
        free(shorter);
    }
    for (size_t i = 0; i < node->nchild; i++)
        shorten_values(file, line, &node->children[i]);
}

/* An assertion without a message fails with its values as the reason. With
 * --verbose, Criterion prints the same as without testlog. */
static void send_with_values(const char *file, unsigned line,
                             struct cri_assert_node *tree, const char *text)
{
    bool verbose = criterion_options.logging_threshold <= CRITERION_INFO;
    const char *message = tree->message;
    char *shorter = test_log_shorten(file, line, message);

    if (shorter)
        tree->message = shorter;
    else if (text && !verbose && !(message && message[0]))
        tree->message = text;
    next_send(file, line, tree);
    tree->message = message;
    free(shorter);
}

TRACE_API void cri_assert_node_send(const char *file, size_t line,
                                    struct cri_assert_node *tree)
{
    struct trace_text text = {0};

    if (!next_send)
        test_log_next_function("cri_assert_node_send", &next_send);
    trace_returned_to((uintptr_t)__builtin_frame_address(0));
    if (tree->message)
        trace_text_string(&text, tree->message);
    shorten_values(file, (unsigned)line, tree);
    describe(&text, tree);
    record_failure(file, (unsigned)line, text.data);
    if (test_log_forked()) {
        test_log_status_fail(FORKED "%s:%zu: %s", file, line,
                             text.data ? text.data : FAILED);
    } else {
        test_log_status_assertion((unsigned)line);
        send_with_values(file, (unsigned)line, tree, text.data);
        test_log_status_stop(TEST_LOG_STOP_NEW_ASSERTION);
        test_log_status_assertion(0);
    }
    trace_text_free(&text);
}
