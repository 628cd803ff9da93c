/* trace_span_test.c: records spans, events and fields. */
#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

TestSuite(trace_span, .init = test_begin);

/* ---- A recording as a line of text ---- */

static void describe(struct trace_reader *reader,
                     const struct trace_entry *entry, struct trace_text *out)
{
    static const char marks[] = {'<', '(', '>', '/', '+', '!'};
    struct trace_entry span;

    if (out->size)
        trace_text_char(out, ' ');
    if (entry->kind == TRACE_ENTRY_SPAN && !entry->entered)
        trace_text_char(out, '*');
    trace_text_char(out, marks[entry->kind]);
    if (entry->kind == TRACE_ENTRY_SPAN || entry->kind == TRACE_ENTRY_EVENT)
        trace_text_string(out, entry->site->name);
    if (trace_reader_span(reader, entry->span, &span))
        trace_text_printf(out, "@%s", span.site->name);
}

/* Compares the recording with a text such as "<outer !event@outer >@outer":
 * '<' is a span, '*<' a span that is not entered, '(' an entering, '>' an
 * exit, '/' a close, '+' late fields, '!' an event; '@' precedes the span it
 * belongs to. */
static void expect_recorded(const char *expected)
{
    struct trace_reader *reader = test_read();
    struct trace_text text = {0};
    struct trace_entry entry;

    while (trace_reader_next(reader, &entry))
        describe(reader, &entry, &text);
    cr_expect_str_eq(text.data ? text.data : "", expected, "%s", text.data);
    trace_text_free(&text);
}

static void expect_lines(const char *expected)
{
    char *text = test_plain(test_read());

    cr_expect_str_eq(text, expected, "%s", text);
}

/* ---- Blocks ---- */

Test(trace_span, ends_a_span_with_its_block)
{
    {
        trace_span(INFO, "outer");
        trace_event(INFO, "one");
        {
            trace_span(DEBUG, "inner");
            trace_event(INFO, "two");
        }
        trace_event(INFO, "three");
    }
    trace_event(INFO, "four");
    expect_recorded(
        "<outer !one@outer <inner@outer !two@inner >@inner !three@outer"
        " >@outer !four");
}

static int leaves_early(int n)
{
    trace_function(INFO, (n));
    for (int i = 0; i < 3; i++) {
        trace_span(INFO, "loop");
        if (i == n)
            return i;
        if (i == 0)
            continue;
        if (n == 5)
            break;
    }
    return -1;
}

Test(trace_span, ends_a_span_however_its_block_is_left)
{
    cr_expect_eq(leaves_early(1), 1);
    cr_expect_eq(leaves_early(5), -1);
    trace_event(INFO, "end");
    expect_recorded(
        "<leaves_early <loop@leaves_early >@loop <loop@leaves_early >@loop"
        " >@leaves_early <leaves_early <loop@leaves_early >@loop"
        " <loop@leaves_early >@loop >@leaves_early !end");
}

/* ---- Handles ---- */

Test(trace_span, ends_handles_in_any_order)
{
    struct trace_span_ref a = trace_span_begin(INFO, "a");
    struct trace_span_ref b = trace_span_begin(INFO, "b");
    struct trace_span_ref c = trace_span_begin(INFO, "c");

    trace_span_end(a);
    trace_event(INFO, "1");
    trace_span_end(c);
    trace_event(INFO, "2");
    trace_span_end(b);
    trace_event(INFO, "3");
    expect_recorded("<a <b@a <c@b >@a !1@c >@c !2@b >@b !3");
}

Test(trace_span, keeps_a_handle_open_beyond_its_block)
{
    struct trace_span_ref inner;

    {
        trace_span(INFO, "block");
        inner = trace_span_begin(INFO, "handle");
    }
    trace_event(INFO, "in");
    trace_span_end(inner);
    expect_recorded("<block <handle@block >@block !in@handle >@handle");
}

Test(trace_span, enters_a_span_repeatedly)
{
    struct trace_span_ref span = trace_span_new(INFO, "made");

    trace_event(INFO, "out");
    for (int i = 0; i < 2; i++) {
        trace_span_enter(span);
        trace_event(INFO, "in");
    }
    trace_span_end(span);
    expect_recorded("*<made !out (@made !in@made >@made (@made !in@made >@made"
                    " /@made");
}

static void *enters(void *context)
{
    trace_span_enter(*(struct trace_span_ref *)context);
    trace_span(INFO, "there");
    return NULL;
}

static void *ends(void *context)
{
    trace_span_end(*(struct trace_span_ref *)context);
    return NULL;
}

Test(trace_span, enters_and_ends_a_span_on_another_thread)
{
    struct trace_span_ref span = trace_span_begin(INFO, "here");

    test_thread(enters, &span);
    test_thread(ends, &span);
    trace_event(INFO, "out");
    expect_recorded("<here (@here <there@here >@there >@here >@here !out");
}

Test(trace_span, places_a_span_below_a_given_parent)
{
    struct trace_span_ref parent = trace_span_new(INFO, "parent");

    trace_span(INFO, "block");
    {
        trace_span_in(parent, INFO, "child");
        trace_event(INFO, "event");
    }
    {
        trace_span_in(((struct trace_span_ref){0, 0}), INFO, "root");
    }
    expect_recorded(
        "*<parent <block <child@parent !event@child >@child <root >@root");
}

Test(trace_span, returns_the_current_span)
{
    cr_expect_eq(trace_span_current().place, 0);
    {
        struct trace_span_ref span = trace_span_begin(INFO, "span");

        cr_expect_eq(trace_span_current().place, span.place);
        {
            trace_span_enter(span);
            cr_expect_eq(trace_span_current().place, span.place);
        }
        trace_span_end(span);
    }
    cr_expect_eq(trace_span_current().place, 0);
    trace_close();
    cr_expect_eq(trace_span_current().place, 0);
}

Test(trace_span, accepts_no_span_everywhere)
{
    struct trace_span_ref none = {0, 0};

    trace_record(none, ("a", 1));
    trace_span_end(none);
    trace_span_leave_(none);
    {
        trace_span_enter(none);
        trace_event(INFO, "event");
    }
    expect_recorded("!event");
}

Test(trace_span, records_deeply_nested_spans)
{
    struct trace_span_ref spans[200];
    struct trace_entry entry;
    uint32_t parent = 0;

    for (int i = 0; i < 200; i++)
        spans[i] = trace_span_begin(INFO, "deep");
    for (int i = 200; i-- > 0;)
        trace_span_end(spans[i]);

    struct trace_reader *reader = test_read();

    for (int i = 0; i < 200; i++) {
        cr_assert(trace_reader_next(reader, &entry));
        cr_assert_eq(entry.kind, TRACE_ENTRY_SPAN);
        cr_assert_eq(entry.span, parent);
        parent = entry.id;
    }
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "deep"), 200);
}

/* ---- Jumps ---- */

static jmp_buf back;

static void jumps(void)
{
    trace_span(INFO, "abandoned");
    {
        trace_span(INFO, "inner");
        longjmp(back, 1);
    }
}

static void lands(void)
{
    if (!setjmp(back))
        jumps();
}

static void catches(void)
{
    trace_span(INFO, "catches");
    lands();
}

Test(trace_span, ends_spans_that_a_jump_left_with_the_enclosing_one)
{
    catches();
    trace_event(INFO, "after");
    expect_recorded(
        "<catches <abandoned@catches <inner@abandoned >@inner >@abandoned"
        " >@catches !after");
}

Test(trace_span, ends_spans_entered_since_when_unwinding)
{
    size_t depth;

    trace_span(INFO, "kept");
    depth = trace_depth();
    lands();
    cr_expect_eq(trace_depth(), depth + 2);
    trace_unwind(depth);
    cr_expect_eq(trace_depth(), depth);
    trace_unwind(depth);
    trace_event(INFO, "after");
    expect_recorded("<kept <abandoned@kept <inner@abandoned >@inner >@abandoned"
                    " !after@kept");
}

/* ---- Fields ---- */

static void print_point(struct trace_text *out, const void *object)
{
    const int *point = object;

    trace_text_printf(out, "(%d, %d)", point[0], point[1]);
}

Test(trace_span, records_fields_of_every_type)
{
    const int point[] = {1, 2};
    signed char c = -1;
    unsigned char uc = 255;
    _Bool yes = true;
    char text[] = "text";
    struct {
        int i : 5;
        unsigned u : 3;
        unsigned long l : 40;
    } bits = {-3, 5, 1UL << 39};

    trace_event(INFO, "small", (c), (uc), ("s", (short)-2), (yes), ("c", 'a'));
    trace_event(INFO, "wide", ("l", -3L), ("ul", 3UL), ("ll", -4LL),
                ("i128", (trace_i128_t)-5), ("u128", (trace_u128_t)5));
    trace_event(INFO, "bits", ("i", bits.i), ("u", bits.u), ("l", bits.l));
    trace_event(INFO, "real", ("f", 0.1f), ("d", 0.1), ("ld", 0.5L));
    trace_event(INFO, "text", (text), ("null", (char *)0),
                ("part", trace_string(text, 2)), ("p", (void *)0x10));
    trace_event(INFO, "own", ("at", trace_display(print_point, point)),
                ("e", trace_errno(ENOENT)), ("b", trace_bytes("\1\377", 2)),
                ("none", trace_empty()), ("t", trace_bool(1)));
    expect_lines(
        " INFO tests::unit::trace::record::trace_span_test: small c=-1 uc=255 "
        "s=-2 yes=true c=97\n"
        " INFO tests::unit::trace::record::trace_span_test: wide l=-3 ul=3 "
        "ll=-4 i128=-5 u128=5\n"
        " INFO tests::unit::trace::record::trace_span_test: bits i=-3 u=5 "
        "l=549755813888\n"
        " INFO tests::unit::trace::record::trace_span_test: real f=0.1 d=0.1 "
        "ld=0.5\n"
        " INFO tests::unit::trace::record::trace_span_test: text text=\"text\" "
        "null=null"
        " part=\"te\" p=0x10\n"
        " INFO tests::unit::trace::record::trace_span_test: own at=(1, 2)"
        " e=No such file or directory (ENOENT) b=[01 ff] t=true\n");
}

Test(trace_span, records_sixteen_fields)
{
    trace_event(INFO, "many", ("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5),
                ("f", 6), ("g", 7), ("h", 8), ("i", 9), ("j", 10), ("k", 11),
                ("l", 12), ("m", 13), ("n", 14), ("o", 15), ("p", 16));
    expect_lines(" INFO tests::unit::trace::record::trace_span_test: many a=1 "
                 "b=2 c=3 d=4 e=5 f=6 g=7 h=8"
                 " i=9 j=10 k=11 l=12 m=13 n=14 o=15 p=16\n");
}

Test(trace_span, replaces_fields_by_late_fields)
{
    struct trace_span_ref span =
        trace_span_begin(INFO, "span", ("a", 1), ("late", trace_empty()));

    trace_event(INFO, "before");
    trace_record(span, ("late", "x"), ("a", 2));
    trace_event(INFO, "after");
    trace_record(span, ("late", "y"));
    trace_event(INFO, "last");
    trace_span_end(span);
    expect_lines(
        " INFO span{a=1}: tests::unit::trace::record::trace_span_test: before\n"
        " INFO span{a=2 late=\"x\"}: "
        "tests::unit::trace::record::trace_span_test: after\n"
        " INFO span{a=2 late=\"y\"}: "
        "tests::unit::trace::record::trace_span_test: last\n");
}

/* The sizes lie around a chunk's. */
Test(trace_span, records_texts_longer_than_a_chunk)
{
    static const size_t sizes[] = {0,     1,     7,     8,     31,     4096,
                                   57000, 65400, 65500, 65536, 131072, 200000};
    enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
    static char text[200000];
    struct trace_entry entry;

    test_random_bytes(text, sizeof(text));
    for (size_t i = 0; i < COUNT; i++) {
        trace_event(INFO, "long", ("text", trace_string(text, sizes[i])));
        trace_event(INFO, "short");
    }

    struct trace_reader *reader = test_read();

    for (size_t i = 0; i < COUNT; i++) {
        struct trace_value value;

        cr_assert(trace_reader_next(reader, &entry));

        struct trace_values values = trace_values_of(&entry);

        cr_assert(trace_values_next(&values, &value));
        cr_assert_eq(value.size, sizes[i]);
        cr_assert_eq(memcmp(value.as.text, text, sizes[i]), 0);
        cr_assert(trace_reader_next(reader, &entry));
        cr_assert_str_eq(entry.site->name, "short");
    }
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
}

static void print_much(struct trace_text *out, const void *size)
{
    for (size_t i = 0; i < *(const size_t *)size; i++)
        trace_text_char(out, 'x');
}

static void print_and_log(struct trace_text *out, const void *unused)
{
    (void)unused;
    trace_event(INFO, "from within");
    trace_text_string(out, "logged");
}

Test(trace_span, runs_printers_that_write_much_or_log)
{
    const size_t much = 100000;

    trace_event(INFO, "much", ("a", trace_display(print_much, &much)),
                ("b", trace_display(print_much, &much)));
    trace_event(INFO, "logs", ("a", trace_display(print_and_log, NULL)));

    struct trace_reader *reader = test_read();
    char *text = test_plain(reader);

    cr_expect_gt(strlen(text), 200000);
    cr_expect_not_null(strstr(text, "logs a=logged\n"));
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), 3);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
}

/* ---- On and off ---- */

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

static void everything(void)
{
    trace_span(INFO, "span", ("n", evaluate()));
    trace_event(INFO, "event", ("n", evaluate()));
    log_info("%d", evaluate());
    trace_record(trace_span_current(), ("n", evaluate()));
    trace_span_end(trace_span_begin(INFO, "begin", ("n", evaluate())));
    trace_span_end(trace_span_new(INFO, "new", ("n", evaluate())));
    trace_span_in(trace_span_current(), INFO, "in", ("n", evaluate()));
}

Test(trace_span, evaluates_nothing_while_off)
{
    trace_disable();
    trace_disable();
    everything();
    trace_enable();
    everything();
    cr_expect_eq(evaluated, 0);
    trace_enable();
    trace_enable();
    everything();
    cr_expect_eq(evaluated, 7);
    trace_close();
    everything();
    cr_expect_eq(evaluated, 7);
}

static unsigned on_while_disabled;

static void *disables(void *unused)
{
    for (int i = 0; i < 200000; i++) {
        trace_disable();
        if (log_enabled(INFO))
            __atomic_fetch_add(&on_while_disabled, 1, __ATOMIC_RELAXED);
        trace_enable();
    }
    return unused;
}

Test(trace_span, turns_all_sites_off_before_trace_disable_returns)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, disables, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(on_while_disabled, 0);
    trace_event(INFO, "on");
    expect_recorded("!on");
}

static void opens_and_disables(void)
{
    trace_span(INFO, "open");
    trace_disable();
}

Test(trace_span, ends_open_spans_while_off)
{
    opens_and_disables();
    trace_event(INFO, "off");
    trace_enable();
    trace_event(INFO, "on");
    expect_recorded("<open >@open !on");
}

Test(trace_span, stays_off_if_disabled_before_the_start)
{
    trace_close();
    trace_disable();
    test_record();
    trace_event(INFO, "off");
    trace_enable();
    trace_event(INFO, "on");
    expect_recorded("!on");
}

Test(trace_span, leaves_errno_alone)
{
    static char text[100000];

    memset(text, 'x', sizeof(text) - 1);
    for (int i = 0; i < 300; i++) {
        errno = EDOM;
        everything();
        trace_event(INFO, "long", (text));
        trace_span(INFO, "long", (text));
        trace_function(INFO);
        cr_assert_eq(errno, EDOM, "round %d", i);
    }
}

/* ---- Recordings that follow each other ---- */

Test(trace_span, ignores_spans_of_an_earlier_recording)
{
    struct trace_span_ref guard, handle, made;

    {
        trace_span(INFO, "guard");
        guard = trace_span_current();
        handle = trace_span_begin(INFO, "handle");
        made = trace_span_new(INFO, "made");
        trace_close();
        test_record();
    }
    trace_span_leave_(guard);
    trace_span_end(handle);
    trace_span_end(made);
    trace_record(made, ("late", 1));
    {
        trace_span_in(made, INFO, "in");
        trace_span_enter(made);
        trace_event(INFO, "event");
    }
    expect_recorded("<in !event@in >@in");
}

static pthread_barrier_t step;

static void note(int n)
{
    trace_event(INFO, "note", ("text", "0123456789abcdef"), ("n", n));
}

static void *spans_over_recordings(void *unused)
{
    (void)unused;
    trace_span(INFO, "outer");
    {
        trace_span(INFO, "inner");
        pthread_barrier_wait(&step);
        pthread_barrier_wait(&step);
    }
    note(0);
    return NULL;
}

static void check_note(const struct trace_entry *entry, int64_t n)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value text, number;

    cr_assert_eq(entry->kind, TRACE_ENTRY_EVENT);
    cr_expect_eq(entry->span, 0);
    cr_assert(trace_values_next(&values, &text));
    cr_assert(trace_values_next(&values, &number));
    cr_expect_str_eq(text.as.text, "0123456789abcdef");
    cr_expect_eq(number.as.i, n);
}

/* A thread's spans of an earlier recording neither end in the next one nor
 * enclose its events. */
Test(trace_span, drops_a_thread_s_old_spans_in_a_new_recording)
{
    struct trace_entry entry;
    pthread_t thread;

    trace_close();
    test_record();
    pthread_barrier_init(&step, NULL, 2);
    pthread_create(&thread, NULL, spans_over_recordings, NULL);
    pthread_barrier_wait(&step);
    trace_close();
    test_record();
    for (int i = 0; i < 100; i++)
        note(i + 1);
    pthread_barrier_wait(&step);
    pthread_join(thread, NULL);

    struct trace_reader *reader = test_read();

    for (int i = 0; i < 100; i++) {
        cr_assert(trace_reader_next(reader, &entry));
        check_note(&entry, i + 1);
    }
    cr_assert(trace_reader_next(reader, &entry));
    check_note(&entry, 0);
    cr_expect_not(trace_reader_next(reader, &entry));
}

/* ---- Time stamps ---- */

static void spins(void)
{
    for (int i = 0; i < 2000; i++) {
        trace_span(INFO, "span");
        trace_event(INFO, "event");
        trace_span_current();
    }
}

/* Checks the raw records, because ticks are finer than nanoseconds. */
Test(trace_span, records_strictly_increasing_times_on_a_thread)
{
    uint64_t last = 0, ended = 0;
    size_t records = 0;

    spins();

    struct trace_reader *reader = test_read();
    const struct trace_record *record;

    for (uint32_t place = TRACE_FIRST_PLACE;
         (record = trace_reader_record(reader, place));
         place += record->slots) {
        cr_assert_gt(record->time, last);
        cr_assert_gt(record->time, ended);
        last = record->time;
        if (record->kind == TRACE_KIND_EVENT)
            continue;
        if (record->end && record->kind == TRACE_KIND_SPAN)
            cr_assert_gt(record->end, record->time);
        records++;
    }
    cr_expect_gt(records, 1000);
}

/* ---- Signals ---- */

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
    (void)signal;
    errno = EINTR;
    errno = EDOM;
    trace_span(INFO, "handler");
    trace_event(INFO, "in handler", ("n", (int)handled));
    log_info("%s %d", "handler", (int)handled);
    handled++;
}

static void record_under_signals(void)
{
    static const struct itimerval often = {{0, 50}, {0, 50}}, never;
    char text[300];

    memset(text, 'x', sizeof(text));
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20000 || (handled < 20 && i < 20000000); i++) {
        if (i >= 20000)
            continue;
        trace_span(INFO, "work", ("i", i));
        trace_event(INFO, "worked", ("text", trace_string(text, i % 300u)));
    }
    setitimer(ITIMER_REAL, &never, NULL);
}

Test(trace_span, records_in_a_handler_that_interrupts_a_record)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigaction(SIGALRM, &action, NULL);
    record_under_signals();

    struct trace_reader *reader = test_read();
    size_t seen = test_count(reader, TRACE_ENTRY_EVENT, "in handler");

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "work"), 20000);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "worked"), 20000);
    cr_expect_leq(seen, (size_t)handled);
    cr_expect_geq(seen + trace_reader_summary(reader).dropped, (size_t)handled);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "handler"),
                 test_count(reader, TRACE_ENTRY_EXIT, "handler"));
}

/* ---- Messages ---- */

Test(trace_span, registers_a_message_s_call_site_at_the_call)
{
    static struct trace_site site = {
        .level = TRACE_LEVEL_ERROR, .file = "dir/file.c", .function = "f"};

    trace_message(&site, "100% \n");
    trace_close();
    trace_message(&site, "not recorded");
    expect_lines("ERROR dir::file: 100% \\n\n");
}

static void unwinding_child(void)
{
    trace_unwind(0);
    {
        trace_span(INFO, "own");
    }
}

Test(trace_span, starts_afresh_in_a_child_that_unwinds)
{
    {
        trace_span(INFO, "outer");
        test_child(unwinding_child);
    }
    expect_recorded("<outer <own >@own >@outer");
}
