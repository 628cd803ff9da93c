/* trace_live_test.c: passes every entry to a live subscriber immediately. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

TestSuite(trace_live, .init = test_folder);

/* ---- What the subscriber saw ---- */

static struct trace_text seen;
static size_t calls;
static uint64_t last_time;
static bool inside;

static void add_name(const struct trace_reader *reader, uint32_t place)
{
    struct trace_entry span;

    if (trace_reader_span(reader, place, &span))
        trace_text_printf(&seen, "@%s", span.site->name);
}

static void listen(const struct trace_reader *reader,
                   const struct trace_entry *entry)
{
    static const char marks[] = {'<', '(', '>', '/', '+', '!'};

    cr_assert_not(inside);
    inside = true;
    calls++;
    if (seen.size < 10000) {
        trace_text_printf(&seen, "%s%c", seen.size ? " " : "",
                          marks[entry->kind]);
        if (entry->kind == TRACE_ENTRY_SPAN || entry->kind == TRACE_ENTRY_EVENT)
            trace_text_string(&seen, entry->site->name);
        add_name(reader, entry->span);
    }
    last_time = entry->time;
    inside = false;
}

static const struct trace_subscriber loud = {.live = listen};

static void begin(const char *path)
{
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST};

    trace_text_clear(&seen);
    calls = 0;
    trace_subscribe(&loud);
    cr_assert_eq(trace_open(path, &options), 0);
}

static void record(void)
{
    struct trace_span_ref made = trace_span_new(INFO, "made");

    trace_span(INFO, "outer");
    trace_record(trace_span_current(), ("late", 1));
    {
        trace_span_enter(made);
        errno = EDOM;
        trace_event(INFO, "event");
        cr_expect_eq(errno, EDOM);
    }
    trace_span_end(made);
}

static const char expected[] =
    "<made <outer +@outer (@made !event@made >@made /@made >@outer";

Test(trace_live, passes_entries_immediately_and_in_order)
{
    begin(test_path("recording"));
    record();
    cr_expect_str_eq(seen.data, expected, "%s", seen.data);
    cr_expect_eq(calls, 8);
    trace_close();
    record();
    cr_expect_eq(calls, 8);
    trace_text_free(&seen);
}

Test(trace_live, passes_the_same_entries_without_a_file)
{
    begin(NULL);
    record();
    cr_expect_str_eq(seen.data, expected, "%s", seen.data);
    trace_text_free(&seen);
}

Test(trace_live, starts_afresh_with_each_recording)
{
    for (int i = 0; i < 3; i++) {
        begin(NULL);
        record();
        cr_expect_str_eq(seen.data, expected, "%s", seen.data);
        trace_close();
    }
    trace_text_free(&seen);
}

Test(trace_live, continues_when_the_recording_is_full)
{
    static char text[3000];

    memset(text, 'x', sizeof(text) - 1);
    begin(test_path("recording"));
    for (int i = 0; i < 1000; i++)
        trace_event(INFO, "filler", (text));
    cr_expect_eq(calls, 1000);

    struct trace_reader *reader = test_read();

    cr_expect(trace_reader_summary(reader).limit_reached);
    cr_expect_lt(test_count(reader, TRACE_ENTRY_EVENT, "filler"), 100);
    trace_text_free(&seen);
}

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 500; i++) {
        trace_span(INFO, "span");
        trace_event(INFO, "event", ("i", i));
    }
    return NULL;
}

Test(trace_live, calls_the_subscriber_one_thread_at_a_time)
{
    pthread_t threads[4];

    begin(NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(calls, 4 * 500 * 3);
    trace_text_free(&seen);
}

/* A cancellation point, as in a subscriber that writes to a file. */
static void print(const struct trace_reader *reader,
                  const struct trace_entry *entry)
{
    (void)reader;
    (void)entry;
    pthread_testcancel();
    calls++;
}

static void *be_cancelled(void *calls_before)
{
    pthread_cancel(pthread_self());
    {
        trace_span(INFO, "span");
    }
    *(size_t *)calls_before = calls;
    return calls_before;
}

Test(trace_live, releases_its_lock_when_a_thread_is_cancelled, .timeout = 60)
{
    static const struct trace_subscriber printing = {.live = print};
    size_t before = 0;

    begin(NULL);
    trace_subscribe(&printing);
    test_thread(be_cancelled, &before);
    cr_expect_eq(before, 2);
    trace_event(INFO, "event");
    cr_expect_eq(calls, 3);
}

static void child(void)
{
    size_t before = calls;

    record();
    _Exit(calls == before + 8 ? 0 : 1);
}

/* ---- Signals ---- */

static bool blocked;

static void note_mask(const struct trace_reader *reader,
                      const struct trace_entry *entry)
{
    sigset_t mask;

    (void)reader, (void)entry;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    blocked = sigismember(&mask, SIGUSR1) == 1;
}

static bool lines_find(bool wanted)
{
    for (int i = 0; i < 1000000; i++) {
        trace_event(INFO, "line");
        if (blocked == wanted)
            return true;
    }
    return false;
}

static void ignore_signal(int signal)
{
    (void)signal;
}

/* Asking whether there are handlers takes longer than blocking signals. */
Test(trace_live, blocks_signals_unless_many_lines_find_no_handler)
{
    static const struct trace_subscriber noting = {.live = note_mask};
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST};

    trace_subscribe(&noting);
    cr_assert_eq(trace_open(NULL, &options), 0);
    trace_event(INFO, "first");
    cr_expect(blocked);
    cr_expect(lines_find(false));
    signal(SIGUSR1, ignore_signal);
    cr_expect(lines_find(true));
    trace_close();
}

Test(trace_live, continues_in_a_forked_child)
{
    begin(test_path("recording"));
    record();
    cr_expect_eq(test_child(child), 0);
    record();
    cr_expect_eq(calls, 16);
    trace_text_free(&seen);
}
