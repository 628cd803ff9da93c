/* log_judging_test.c: compares what a filter shows of a complete recording,
 * prints live, and records.
 */
#include "tests/support/programs.h"

#include "log/filter/filter.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(log_judging, .init = test_folder);

/* ---- Spans ---- */

static void two_handles(void)
{
    struct trace_span_ref a = trace_span_begin(INFO, "a");
    struct trace_span_ref b = trace_span_begin(INFO, "b");

    trace_event(DEBUG, "both");
    trace_span_end(a);
    trace_event(DEBUG, "b");
    trace_span_end(b);
    trace_event(DEBUG, "none");
}

Test(log_judging, leaves_the_span_that_ends)
{
    program_expect("[a]=debug", two_handles, "both");
    program_expect("[b]=debug", two_handles, "both b");
    program_expect("[c]=debug", two_handles, "");
    program_expect("debug,![a]", two_handles, "b none");
    program_expect("debug,![b]", two_handles, "none");
    program_expect("debug,^[a]=info", two_handles, "b none");
}

static void nested(void)
{
    trace_span(INFO, "a");
    trace_event(DEBUG, "1");
    {
        trace_span(DEBUG, "b");
        trace_event(TRACE, "2");
        {
            trace_span(TRACE, "c");
            trace_event(TRACE, "3");
        }
        trace_event(INFO, "4");
    }
    trace_event(TRACE, "5");
}

Test(log_judging, combines_the_directives_of_nested_spans)
{
    program_expect("[a]=debug", nested, "1 4");
    program_expect("[a]=debug,[c]=trace", nested, "1 3 4");
    program_expect("[b]=debug", nested, "4");
    program_expect("[b]=debug,[a]=info", nested, "4");
    program_expect("[c]", nested, "3");
    program_expect("trace,^[b]=info", nested, "1 4 5");
    program_expect("trace,^[a]=debug,^[c]=off", nested, "1 4");
    program_expect("trace,![b]", nested, "1 5");
    program_expect("trace,![a]", nested, "");
    program_expect("trace,^[a]=info,[b]", nested, "4");
}

static void values(void)
{
    struct trace_span_ref s =
        trace_span_new(INFO, "s", ("n", trace_empty()), ("user", "bob"));

    trace_record(s, ("n", 1));
    {
        trace_span_enter(s);
        trace_event(DEBUG, "one");
        trace_record(s, ("n", 500));
        trace_event(DEBUG, "late");
    }
    trace_record(s, ("n", 2));
    {
        trace_span_enter(s);
        trace_event(DEBUG, "again");
        {
            trace_record(s, ("user", "root"));
            trace_span_enter(s);
            trace_event(DEBUG, "root");
        }
        trace_event(DEBUG, "back");
    }
    trace_span_end(s);
}

Test(log_judging, applies_late_values_from_the_next_entering)
{
    program_expect("[s{n=1}]=debug", values, "one late again root back");
    program_expect("[s{n=500}]=debug", values, "again root back");
    program_expect("[s{n>=500}]=debug", values, "again root back");
    program_expect("[s{n=2}]=debug", values, "again root back");
    program_expect("[{user=root}]=debug", values, "root");
    program_expect("[s{n=500,user=root}]=debug", values, "root");
    program_expect("[s{n=3}]=debug", values, "");
    program_expect("debug,![s{n=500}]", values, "one late");
    program_expect("debug,![s{n>499}]", values, "one late");
    program_expect("debug,^[s{user~=oo}]=info", values, "one late again back");
    program_expect("debug,![{user=bob}]", values, "");
    program_expect("debug,![s{n!=1}]", values, "one late");
}

/* A hidden span may exclude and cap all the same. */
static void late_and_hidden(void)
{
    struct trace_span_ref s =
        trace_span_new(DEBUG, "s", ("user", trace_empty()));

    {
        trace_span_enter(s);
        trace_event(INFO, "nobody");
    }
    trace_record(s, ("user", "root"));
    {
        trace_span_enter(s);
        trace_event(INFO, "root");
        trace_event(ERROR, "error");
    }
    trace_span_end(s);
}

Test(log_judging, applies_exclusions_of_a_hidden_span_once_it_matches)
{
    program_expect("info,![s{user=root}]", late_and_hidden, "nobody");
    program_expect("info,^[s{user=root}]=error", late_and_hidden,
                   "nobody error");
    program_expect("info,^[s{user=root}]=error,![s]", late_and_hidden, "");
}

static void entered_twice(void)
{
    struct trace_span_ref s = trace_span_begin(INFO, "s", ("n", trace_empty()));

    trace_record(s, ("n", 1));
    trace_event(DEBUG, "not_yet");
    {
        trace_span_enter(s);
        trace_event(DEBUG, "yes");
        trace_span_end(s); /* ends its first entering */
        trace_event(DEBUG, "still");
    }
    trace_event(DEBUG, "none");
}

Test(log_judging, ends_each_entering_separately)
{
    program_expect("[s{n=1}]=debug", entered_twice, "yes still");
}

/* ---- Threads and processes ---- */

static void *on_thread(void *context)
{
    const struct trace_span_ref *span = context;

    trace_event(DEBUG, "before");
    if (span) {
        trace_span_enter(*span);
        trace_event(DEBUG, "within");
    }
    trace_event(DEBUG, "after");
    return NULL;
}

static void other_thread(void)
{
    trace_span(INFO, "s");
    test_thread(on_thread, NULL);
    trace_event(DEBUG, "here");
}

static void handed_on(void)
{
    trace_span(INFO, "s");
    struct trace_span_ref current = trace_span_current();

    test_thread(on_thread, &current);
    trace_event(DEBUG, "here");
}

Test(log_judging, applies_a_span_to_the_threads_that_entered_it)
{
    program_expect("[s]=debug", other_thread, "here");
    program_expect("debug,![s]", other_thread, "before after");
    program_expect("[s]=debug", handed_on, "within here");
    program_expect("debug,![s]", handed_on, "before after");
    program_expect("debug,^[s]=info", handed_on, "before after");
    program_expect("debug,^[s]=debug", handed_on, "before within after here");
}

static void *end_it(void *span)
{
    trace_span_end(*(struct trace_span_ref *)span);
    trace_event(DEBUG, "there");
    return NULL;
}

static void ended_elsewhere(void)
{
    struct trace_span_ref s = trace_span_begin(INFO, "s");

    {
        trace_span(INFO, "inner");
        trace_event(DEBUG, "in_s");
        test_thread(end_it, &s);
        trace_event(DEBUG, "inner");
    }
    trace_event(DEBUG, "out");
}

static void ended_elsewhere_first(void)
{
    struct trace_span_ref s = trace_span_begin(INFO, "s");

    trace_span_begin(INFO, "inner");
    test_thread(end_it, &s);
    trace_event(DEBUG, "inner");
    trace_unwind(0);
}

Test(log_judging, leaves_a_span_that_another_thread_ends)
{
    program_expect("[s]=debug", ended_elsewhere_first, "");
    program_expect("debug,^[s]=info", ended_elsewhere_first, "there inner");
    program_expect("[s]=debug", ended_elsewhere, "in_s");
    program_expect("debug,^[s]=info", ended_elsewhere, "there inner out");
    program_expect("[inner]=debug", ended_elsewhere, "in_s inner");
}

static struct trace_span_ref left_by_child;

static void child(void)
{
    trace_event(DEBUG, "inherited");
    {
        trace_span(INFO, "own");
        trace_event(DEBUG, "own");
    }
    trace_span_end(left_by_child);
    trace_event(DEBUG, "left");
}

static void forks(void)
{
    left_by_child = trace_span_begin(INFO, "s", ("n", 5));
    test_child(child);
    trace_event(DEBUG, "parent");
    trace_span_end(left_by_child);
    trace_event(DEBUG, "end");
}

Test(log_judging, applies_the_parent_s_spans_in_a_forked_child)
{
    program_expect("[s]=debug", forks, "inherited own parent");
    program_expect("[s{n=5}]=debug", forks, "inherited own parent");
    program_expect("[own]=debug", forks, "own");
    program_expect("debug,^[s]=info", forks, "left end");
    program_expect("debug,^[s{n=5}]=info", forks, "left end");
    program_expect("debug,![s]", forks, "left end");
}

/* ---- Jumps and switches ---- */

static jmp_buf back;

static void jump(void)
{
    trace_span(INFO, "inner");
    trace_event(DEBUG, "inner");
    longjmp(back, 1);
}

static void lands(void)
{
    if (!setjmp(back))
        jump();
    trace_event(DEBUG, "landed");
}

static void jumps(void)
{
    {
        trace_span(INFO, "outer");
        lands();
    }
    trace_event(DEBUG, "out");
}

static void unwinds(void)
{
    size_t depth = trace_depth();

    if (!setjmp(back))
        jump();
    trace_unwind(depth);
    trace_event(DEBUG, "out");
}

Test(log_judging, leaves_the_spans_that_a_jump_left)
{
    program_expect("[outer]=debug", jumps, "inner landed");
    program_expect("debug,![outer]", jumps, "out");
    program_expect("debug,![inner]", jumps, "out");
    program_expect("[inner]=debug", unwinds, "inner");
    program_expect("debug,![inner]", unwinds, "out");
    program_expect("debug,^[inner]=info", unwinds, "out");
}

static void switches(void)
{
    trace_span(INFO, "s");
    trace_event(DEBUG, "1");
    trace_disable();
    {
        trace_span(INFO, "t");
        trace_event(DEBUG, "2");
        trace_enable();
        trace_event(DEBUG, "3");
    }
    trace_event(DEBUG, "4");
}

static void ends_while_off(void)
{
    {
        trace_span(INFO, "s");
        trace_event(DEBUG, "1");
        trace_disable();
    }
    trace_enable();
    trace_event(DEBUG, "2");
}

Test(log_judging, ignores_spans_while_disabled_and_ends_them)
{
    program_expect("[s]=debug", switches, "1 3 4");
    program_expect("[t]=debug", switches, "");
    program_expect("debug,![t]", switches, "1 3 4");
    program_expect("[s]=debug", ends_while_off, "1");
    program_expect("debug,![s]", ends_while_off, "2");
}

/* ---- Extensions of EnvFilter ---- */

#undef LOG_TARGET
#define LOG_TARGET "net::tcp"
static void of_tcp(void)
{
    trace_event(INFO, "tcp", ("user", "root"), ("n", 7));
}

#undef LOG_TARGET
#define LOG_TARGET "network"
static void of_network(void)
{
    trace_event(INFO, "network", ("user", "bob"), ("n", 5));
    trace_event(DEBUG, "connect to 5", ("n", 0.5));
}

static void within_network(void)
{
    trace_span(INFO, "s");
    {
        trace_span(DEBUG, "detail");
        of_tcp();
    }
}

#undef LOG_TARGET
#define LOG_TARGET "net"
static void targets(void)
{
    volatile int five = 5;

    trace_event(DEBUG, "net", ("n", -1));
    of_tcp();
    of_network();
    log_debug("connect to %d?", five);
    log_debug("%ls %d!", L"connect to", five); /* formatted at the call */
}

Test(log_judging, excludes_caps_and_globs_targets)
{
    program_expect("info,!net", targets, "");
    program_expect("debug,!net::", targets,
                   "net network connect to 5 connect to 5? connect to 5!");
    program_expect("debug,!~net::", targets, "network connect to 5");
    program_expect("debug,^net::=warn", targets,
                   "net network connect to 5 connect to 5? connect to 5!");
    program_expect("debug,^net=info", targets, "tcp network");
    program_expect("~net::=debug", targets,
                   "net tcp connect to 5? connect to 5!");
    program_expect("~n?t=debug", targets, "net connect to 5? connect to 5!");
    program_expect("~*work", targets, "network connect to 5");
    program_expect("off,~*tcp=info", targets, "tcp");
    program_expect("trace,^debug", targets,
                   "net tcp network connect to 5 connect to 5? connect to 5!");
}

/* Excluding a target hides its spans, but not the lines inside them. */
Test(log_judging, shows_events_inside_spans_of_an_excluded_target)
{
    program_expect("debug,!network", within_network, "tcp");
    program_expect("debug,^network=error", within_network, "tcp");
    program_expect("off,[s],!network", within_network, "");
    program_expect("off,[s]", within_network, "tcp");
    program_expect("off,~net*[s]", within_network, "tcp");
    program_expect("off,~net::[s]", within_network, "");
    program_expect("off,[detail]", within_network, "tcp");
    program_expect("off,[detail]=debug,^network=info", within_network, "");
    program_expect("debug,!network[detail]", within_network, "");
    program_expect("debug,!tcp[detail]", within_network, "tcp");
}

Test(log_judging, filters_events_by_message)
{
    program_expect("/^connect to \\d$/=debug", targets, "connect to 5");
    program_expect("error,/connect/=debug", targets,
                   "connect to 5 connect to 5? connect to 5!");
    program_expect("/connect/=info", targets, "");
    program_expect("debug,!/5[?!]/", targets, "net tcp network connect to 5");
    program_expect("debug,^/n/=info", targets, "tcp network");
    program_expect("debug,^/t$/=info,/net/", targets,
                   "tcp network connect to 5 connect to 5? connect to 5!");
}

Test(log_judging, filters_events_by_field_value)
{
    program_expect("{n>5}=info", targets, "tcp");
    program_expect("{n>=5}=info", targets, "tcp network");
    program_expect("{n<1}=debug", targets, "net connect to 5");
    program_expect("{n=5}", targets, "network");
    program_expect("{user~=o.t}=info", targets, "tcp");
    program_expect("{user}=info", targets, "tcp network");
    program_expect("info,!{user=root}", targets, "network");
    program_expect("info,!{user!=root}", targets, "tcp");
    program_expect("debug,^{n<=5}=info", targets,
                   "tcp network connect to 5? connect to 5!");
    program_expect("off,{n=7,user=root}", targets, "tcp");
}

/* ---- Lack of memory ---- */

static const char demanding[] =
    "info,[s{n=1}]=debug,[a]=trace,^[b]=debug,![s{user=root}],{n>5}=debug,"
    "/connect \\w+ 5/=debug,!/net$/,[s{user~=o}],!~network,![{n=500}]";

static void all_programs(void)
{
    two_handles();
    nested();
    values();
    late_and_hidden();
    entered_twice();
    targets();
}

/* Repeats `something` with the nth allocation failing, alone and with all later
 * ones, until it needs fewer. */
static void without_memory(void (*something)(void *), void *context)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (size_t nth = 1, asked = nth; asked >= nth; nth++) {
        test_fail_memory(nth, true);
        something(context);
        asked = test_fail_memory(nth, false);
        something(context);
        test_fail_memory(0, false);
    }
}

struct rendering {
    struct trace_reader *reader;
    struct log_filter *filter;
};

static void render(void *context)
{
    struct rendering *rendering = context;
    char lines[8192];
    FILE *stream = fmemopen(lines, sizeof(lines), "w");

    if (!stream)
        return;
    log_write_all(rendering->filter, &program_style, rendering->reader, stream);
    fclose(stream);
}

/* At worst, lines are lost. */
Test(log_judging, survives_a_lack_of_memory_while_rendering)
{
    program_recorded("trace", all_programs);

    struct rendering rendering = {
        trace_reader_open(test_path("recording")),
        log_filter_parse(demanding, NULL, "", NULL),
    };

    cr_assert(rendering.reader && rendering.filter);
    without_memory(render, &rendering);
    log_filter_free(rendering.filter);
    trace_reader_close(rendering.reader);
}

static void run_all(void *unused)
{
    (void)unused;
    all_programs();
    cr_assert_eq(trace_depth(), 0);
}

/* At worst, too much or too little is recorded. */
Test(log_judging, survives_a_lack_of_memory_while_recording)
{
    program_subscribe("off", demanding, -1);
    test_record();
    without_memory(run_all, NULL);
    run_all(NULL);
    test_read();
}

static void subscribe_anew(void *context)
{
    struct log_options options = {.show = demanding, .record = demanding};
    size_t *failures = context;

    *failures += log_subscribe(&options) != 0;
}

Test(log_judging, survives_a_lack_of_memory_while_subscribing)
{
    size_t failures = 0;

    program_subscribe("off", "warn", -1);
    without_memory(subscribe_anew, &failures);
    cr_expect_gt(failures, 30);
    program_expect("[a]=debug", two_handles, "both");
}
