/* trace_live_test.c: a live subscriber is told of all that happens, at once. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TestSuite(trace_live, .init = test_folder);

/* ---- What was told ---- */

static struct trace_text told;
static size_t tellings;
static uint64_t last_time;
static bool inside;

static void add_name(const struct trace_reader *reader, uint32_t place)
{
    struct trace_entry span;

    if (trace_reader_span(reader, place, &span))
        trace_text_printf(&told, "@%s", span.site->name);
}

static void listen(const struct trace_reader *reader,
                   const struct trace_entry *entry)
{
    static const char marks[] = {'<', '(', '>', '/', '+', '!'};

    cr_assert_not(inside);
    inside = true;
    tellings++;
    if (told.size < 10000) {
        trace_text_printf(&told, "%s%c", told.size ? " " : "",
                          marks[entry->kind]);
        if (entry->kind == TRACE_ENTRY_SPAN || entry->kind == TRACE_ENTRY_EVENT)
            trace_text_string(&told, entry->site->name);
        add_name(reader, entry->span);
    }
    last_time = entry->time;
    inside = false;
}

static const struct trace_subscriber loud = {.live = listen};

static void begin(const char *path)
{
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST};

    trace_text_clear(&told);
    tellings = 0;
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

static const char record_told[] =
    "<made <outer +@outer (@made !event@made >@made /@made >@outer";

Test(trace_live, is_told_in_order_and_at_once)
{
    begin(test_path("recording"));
    record();
    cr_expect_str_eq(told.data, record_told, "%s", told.data);
    cr_expect_eq(tellings, 8);
    trace_close();
    record();
    cr_expect_eq(tellings, 8);
    trace_text_free(&told);
}

Test(trace_live, is_told_the_same_when_nothing_is_kept)
{
    begin(NULL);
    record();
    cr_expect_str_eq(told.data, record_told, "%s", told.data);
    trace_text_free(&told);
}

Test(trace_live, each_recording_is_told_anew)
{
    for (int i = 0; i < 3; i++) {
        begin(NULL);
        record();
        cr_expect_str_eq(told.data, record_told, "%s", told.data);
        trace_close();
    }
    trace_text_free(&told);
}

Test(trace_live, goes_on_when_the_recording_is_full)
{
    static char text[3000];

    memset(text, 'x', sizeof(text) - 1);
    begin(test_path("recording"));
    for (int i = 0; i < 1000; i++)
        trace_event(INFO, "filler", (text));
    cr_expect_eq(tellings, 1000);

    struct trace_reader *reader = test_read();

    cr_expect(trace_reader_summary(reader).limit_reached);
    cr_expect_lt(test_count(reader, TRACE_ENTRY_EVENT, "filler"), 100);
    trace_reader_close(reader);
    trace_text_free(&told);
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

Test(trace_live, threads_are_told_of_one_at_a_time)
{
    pthread_t threads[4];

    begin(NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(tellings, 4 * 500 * 3);
    trace_text_free(&told);
}

/* As a subscriber that writes to a file. */
static void print(const struct trace_reader *reader,
                  const struct trace_entry *entry)
{
    (void)reader;
    (void)entry;
    pthread_testcancel();
    tellings++;
}

static void *be_cancelled(void *told_before)
{
    pthread_cancel(pthread_self());
    {
        trace_span(INFO, "span");
    }
    *(size_t *)told_before = tellings;
    return told_before;
}

Test(trace_live, a_cancelled_thread_leaves_no_lock, .timeout = 60)
{
    static const struct trace_subscriber printing = {.live = print};
    size_t before = 0;

    begin(NULL);
    trace_subscribe(&printing);
    test_thread(be_cancelled, &before);
    cr_expect_eq(before, 2);
    trace_event(INFO, "event");
    cr_expect_eq(tellings, 3);
}

static void child(void)
{
    size_t before = tellings;

    record();
    _Exit(tellings == before + 8 ? 0 : 1);
}

Test(trace_live, a_forked_child_goes_on)
{
    begin(test_path("recording"));
    record();
    cr_expect_eq(test_child(child), 0);
    record();
    cr_expect_eq(tellings, 16);
    trace_text_free(&told);
}
