/* log_verdict_test.c: what a filter makes of a program, three times over: what
 * is shown of a recording of everything, what is printed live, and what is
 * recorded if the filter decides that. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/internal.h"
#include "support.h"

/* A format may be no literal. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

TestSuite(log_verdict, .init = test_folder);

/* ---- Three times over ---- */

static const struct log_style plain = {.time = LOG_TIME_NONE};

static void subscribe(const char *show, const char *record, int fd)
{
    struct log_options options = {.show = show,
                                  .record = record,
                                  .live = fd >= 0,
                                  .fd = fd,
                                  .style = plain};

    cr_assert_eq(log_subscribe(&options), 0, "%s", strerror(errno));
}

/* The messages of the events that are shown, to be freed. */
static char *messages(struct trace_reader *reader, const char *text)
{
    struct log_filter *filter = log_filter_parse(text, NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text out = {0};
    struct trace_entry entry;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry))
        if (log_replay_step(replay, reader, &entry) &&
            entry.kind == TRACE_ENTRY_EVENT) {
            if (out.size)
                trace_text_char(&out, ' ');
            log_message_of(&entry, &out);
        }
    log_replay_free(replay);
    log_filter_free(filter);
    return out.data ? out.data : strdup("");
}

/* Runs a program that prints live and is recorded whole; returns what is shown
 * of the recording. */
static char *shown(const char *filter, void (*program)(void))
{
    int fd =
        open(test_path("out"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);

    subscribe(filter, "trace", fd);
    test_record();
    program();

    struct trace_reader *reader = test_read();
    char *live = test_load(test_path("out"), NULL);
    char *lines = test_lines(reader, filter, &plain);
    char *result = messages(reader, filter);

    cr_expect_str_eq(live, lines, "\"%s\", live:\n%s\nreplayed:\n%s", filter,
                     live, lines);
    trace_reader_close(reader);
    close(fd);
    free(live);
    free(lines);
    return result;
}

/* Runs a program that the filter records; returns what is in the recording, all
 * of which it also shows. */
static char *recorded(const char *filter, void (*program)(void))
{
    subscribe("off", filter, -1);
    test_record();
    program();

    struct trace_reader *reader = test_read();
    char *result = messages(reader, "trace");
    char *again = messages(reader, filter);

    cr_expect_str_eq(again, result, "\"%s\" shows %s of %s", filter, again,
                     result);
    trace_reader_close(reader);
    free(again);
    return result;
}

static void expect(const char *filter, void (*program)(void),
                   const char *expected)
{
    char *one = shown(filter, program), *other = recorded(filter, program);

    cr_expect_str_eq(one, expected, "\"%s\" shows: %s; not: %s", filter, one,
                     expected);
    cr_expect_str_eq(other, expected, "\"%s\" records: %s; not: %s", filter,
                     other, expected);
    free(one);
    free(other);
}

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

Test(log_verdict, the_span_that_ends_is_the_one_that_is_left)
{
    expect("[a]=debug", two_handles, "both");
    expect("[b]=debug", two_handles, "both b");
    expect("[c]=debug", two_handles, "");
    expect("debug,![a]", two_handles, "b none");
    expect("debug,![b]", two_handles, "none");
    expect("debug,^[a]=info", two_handles, "b none");
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

Test(log_verdict, nested_spans_add_and_take_the_most)
{
    expect("[a]=debug", nested, "1 4");
    expect("[a]=debug,[c]=trace", nested, "1 3 4");
    expect("[b]=debug", nested, "4");
    expect("[b]=debug,[a]=info", nested, "4");
    expect("[c]", nested, "3");
    expect("trace,^[b]=info", nested, "1 4 5");
    expect("trace,^[a]=debug,^[c]=off", nested, "1 4");
    expect("trace,![b]", nested, "1 5");
    expect("trace,![a]", nested, "");
    expect("trace,^[a]=info,[b]", nested, "4");
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

Test(log_verdict, values_count_from_the_next_entering_and_stay)
{
    expect("[s{n=1}]=debug", values, "one late again root back");
    expect("[s{n=500}]=debug", values, "again root back");
    expect("[s{n>=500}]=debug", values, "again root back");
    expect("[s{n=2}]=debug", values, "again root back");
    expect("[{user=root}]=debug", values, "root");
    expect("[s{n=500,user=root}]=debug", values, "root");
    expect("[s{n=3}]=debug", values, "");
    expect("debug,![s{n=500}]", values, "one late");
    expect("debug,![s{n>499}]", values, "one late");
    expect("debug,^[s{user~=oo}]=info", values, "one late again back");
    expect("debug,![{user=bob}]", values, "");
    expect("debug,![s{n!=1}]", values, "one late");
}

/* What is not shown may come to take all the same. */
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

Test(log_verdict, a_span_that_is_not_shown_takes_once_its_values_match)
{
    expect("info,![s{user=root}]", late_and_hidden, "nobody");
    expect("info,^[s{user=root}]=error", late_and_hidden, "nobody error");
    expect("info,^[s{user=root}]=error,![s]", late_and_hidden, "");
}

static void entered_twice(void)
{
    struct trace_span_ref s = trace_span_begin(INFO, "s", ("n", trace_empty()));

    trace_record(s, ("n", 1));
    trace_event(DEBUG, "not_yet");
    {
        trace_span_enter(s);
        trace_event(DEBUG, "yes");
        trace_span_end(s); /* its first entering */
        trace_event(DEBUG, "still");
    }
    trace_event(DEBUG, "none");
}

Test(log_verdict, each_entering_ends_by_itself)
{
    expect("[s{n=1}]=debug", entered_twice, "yes still");
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

Test(log_verdict, a_thread_is_in_what_it_entered_itself)
{
    expect("[s]=debug", other_thread, "here");
    expect("debug,![s]", other_thread, "before after");
    expect("[s]=debug", handed_on, "within here");
    expect("debug,![s]", handed_on, "before after");
    expect("debug,^[s]=info", handed_on, "before after");
    expect("debug,^[s]=debug", handed_on, "before within after here");
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

Test(log_verdict, a_span_that_another_thread_ends_is_left)
{
    expect("[s]=debug", ended_elsewhere_first, "");
    expect("debug,^[s]=info", ended_elsewhere_first, "there inner");
    expect("[s]=debug", ended_elsewhere, "in_s");
    expect("debug,^[s]=info", ended_elsewhere, "there inner out");
    expect("[inner]=debug", ended_elsewhere, "in_s inner");
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

Test(log_verdict, a_forked_child_is_in_what_its_parent_was_in)
{
    expect("[s]=debug", forks, "inherited own parent");
    expect("[s{n=5}]=debug", forks, "inherited own parent");
    expect("[own]=debug", forks, "own");
    expect("debug,^[s]=info", forks, "left end");
    expect("debug,^[s{n=5}]=info", forks, "left end");
    expect("debug,![s]", forks, "left end");
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

Test(log_verdict, a_jump_leaves_no_span_behind)
{
    expect("[outer]=debug", jumps, "inner landed");
    expect("debug,![outer]", jumps, "out");
    expect("debug,![inner]", jumps, "out");
    expect("[inner]=debug", unwinds, "inner");
    expect("debug,![inner]", unwinds, "out");
    expect("debug,^[inner]=info", unwinds, "out");
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

Test(log_verdict, what_is_off_holds_nothing_and_can_end)
{
    expect("[s]=debug", switches, "1 3 4");
    expect("[t]=debug", switches, "");
    expect("debug,![t]", switches, "1 3 4");
    expect("[s]=debug", ends_while_off, "1");
    expect("debug,![s]", ends_while_off, "2");
}

/* ---- What EnvFilter does not have ---- */

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
    const char *volatile format = "connect to %d!";

    trace_event(DEBUG, "net", ("n", -1));
    of_tcp();
    of_network();
    log_debug("connect to %d?", five);
    log_debug(format, five);
}

Test(log_verdict, targets_are_excluded_capped_and_globbed)
{
    expect("info,!net", targets, "");
    expect("debug,!net::", targets,
           "net network connect to 5 connect to 5? connect to 5!");
    expect("debug,!~net::", targets, "network connect to 5");
    expect("debug,^net::=warn", targets,
           "net network connect to 5 connect to 5? connect to 5!");
    expect("debug,^net=info", targets, "tcp network");
    expect("~net::=debug", targets, "net tcp connect to 5? connect to 5!");
    expect("~n?t=debug", targets, "net connect to 5? connect to 5!");
    expect("~*work", targets, "network connect to 5");
    expect("off,~*tcp=info", targets, "tcp");
    expect("trace,^debug", targets,
           "net tcp network connect to 5 connect to 5? connect to 5!");
}

/* A target that is excluded is not a span that is: what is within stays. */
Test(log_verdict, spans_of_an_excluded_target_hold_nothing)
{
    expect("debug,!network", within_network, "tcp");
    expect("debug,^network=error", within_network, "tcp");
    expect("off,[s],!network", within_network, "");
    expect("off,[s]", within_network, "tcp");
    expect("off,~net*[s]", within_network, "tcp");
    expect("off,~net::[s]", within_network, "");
    expect("off,[detail]", within_network, "tcp");
    expect("off,[detail]=debug,^network=info", within_network, "");
    expect("debug,!network[detail]", within_network, "");
    expect("debug,!tcp[detail]", within_network, "tcp");
}

Test(log_verdict, messages_are_shown_excluded_and_capped)
{
    expect("/^connect to \\d$/=debug", targets, "connect to 5");
    expect("error,/connect/=debug", targets,
           "connect to 5 connect to 5? connect to 5!");
    expect("/connect/=info", targets, "");
    expect("debug,!/5[?!]/", targets, "net tcp network connect to 5");
    expect("debug,^/n/=info", targets, "tcp network");
    expect("debug,^/t$/=info,/net/", targets,
           "tcp network connect to 5 connect to 5? connect to 5!");
}

Test(log_verdict, events_are_judged_by_their_values)
{
    expect("{n>5}=info", targets, "tcp");
    expect("{n>=5}=info", targets, "tcp network");
    expect("{n<1}=debug", targets, "net connect to 5");
    expect("{n=5}", targets, "network");
    expect("{user~=o.t}=info", targets, "tcp");
    expect("{user}=info", targets, "tcp network");
    expect("info,!{user=root}", targets, "network");
    expect("info,!{user!=root}", targets, "tcp");
    expect("debug,^{n<=5}=info", targets,
           "tcp network connect to 5? connect to 5!");
    expect("off,{n=7,user=root}", targets, "tcp");
}

/* ---- Any program ---- */

enum { STEPS = 60, SPAN_SITES = 10, PER_THREAD = 6, HANDLES = 5, THREADS = 3 };

enum operation {
    OPEN,
    OPEN_IN,
    ENTER,
    LEAVE,
    NEW,
    BEGIN,
    END,
    RECORD,
    EVENT,
    EVENTS_MORE, /* the most frequent ones */
    EVENTS_MOST,
    UNWIND,
    SWITCH,
    JUMP, /* leaves a guard behind */
    OPERATIONS,
};

struct step {
    enum operation operation;
    unsigned thread, site, handle;
    struct trace_value values[2];
};

/* What runs: made by chance, then run as often as is needed. */
static struct {
    struct step steps[STEPS];
    struct trace_site spans[SPAN_SITES], events[STEPS];
    char names[STEPS][8];
} made;

/* What a run is in the midst of. */
static struct {
    struct trace_span_ref guards[THREADS][PER_THREAD], handles[HANDLES];
    size_t depth[THREADS];
    bool off;
} now;

static const char *const field_names[] = {"n", "u"};
static struct trace_site late_fields =
    TEST_SITE(FIELDS, TRACE, NULL, "late", field_names, 2);

static const char *pick(const char *const *words, size_t count)
{
    return words[test_below((uint32_t)count)];
}

#define PICK(...)                                                              \
    pick((const char *const[]){__VA_ARGS__},                                   \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static struct trace_site make_site(enum trace_site_kind kind, const char *name)
{
    return (struct trace_site){
        .name = name,
        .target = PICK("a", "a::b", "ab", "z"),
        .file = "f",
        .function = "f",
        .fields = field_names,
        .level = (uint8_t)(1 + test_below(TRACE_LEVEL_TRACE)),
        .kind = kind,
        .field_count = 2,
    };
}

/* A span "x" is only ever a block: made where it is excluded, a handle would
 * not exist, and so mute nobody who enters it elsewhere. */
static void make_sites(void)
{
    for (size_t i = 0; i < SPAN_SITES; i++)
        made.spans[i] = make_site(TRACE_SITE_SPAN,
                                  i < SPAN_SITES / 2 ? PICK("s", "t") : "x");
    for (size_t i = 0; i < STEPS; i++) {
        snprintf(made.names[i], sizeof(made.names[i]), "e%zu", i);
        made.events[i] = make_site(TRACE_SITE_EVENT, made.names[i]);
    }
}

static void make_values(struct trace_value values[2])
{
    values[0] = test_below(3) ? trace_i64_(test_below(4)) : trace_empty();
    values[1] =
        test_below(3) ? trace_text_(PICK("x", "y", "xy", "5")) : trace_empty();
}

static void make_steps(bool jumps)
{
    for (size_t i = 0; i < STEPS; i++) {
        struct step *step = &made.steps[i];

        step->operation = test_below(jumps ? OPERATIONS : JUMP);
        step->thread = test_below(THREADS);
        step->site = test_below(SPAN_SITES);
        step->handle = test_below(HANDLES);
        make_values(step->values);
    }
}

/* ---- Running it ---- */

static bool on(struct trace_site *site)
{
    return trace_site_on_(site);
}

static void begin_step(const struct step *step, struct trace_site *site)
{
    struct trace_span_ref *guards = now.guards[step->thread], ref = {0, 0};
    struct trace_span_ref *handle = &now.handles[step->handle];
    size_t *depth = &now.depth[step->thread];

    if (*depth == PER_THREAD)
        return;
    if (step->operation == ENTER)
        ref = trace_span_enter_(*handle);
    else if (on(site))
        ref = step->operation == OPEN
                  ? trace_span_open_(site, 2, step->values)
                  : trace_span_in_(*handle, site, 2, step->values);
    guards[(*depth)++] = ref;
}

static void handle_step(const struct step *step, struct trace_site *site)
{
    struct trace_span_ref *handle = &now.handles[step->handle];

    trace_span_end(*handle);
    *handle = (struct trace_span_ref){0, 0};
    if (step->operation != END && on(site))
        *handle = step->operation == NEW
                      ? trace_span_new_(site, 2, step->values)
                      : trace_span_begin_(site, 2, step->values);
}

static void leave_step(const struct step *step)
{
    size_t *depth = &now.depth[step->thread];

    if (*depth) {
        --*depth;
        if (step->operation == LEAVE)
            trace_guard_end_(&now.guards[step->thread][*depth]);
    }
}

static void switch_step(void)
{
    now.off = !now.off;
    if (now.off)
        trace_disable();
    else
        trace_enable();
}

static void take_step(const struct step *step)
{
    struct trace_site *event = &made.events[step - made.steps];

    switch (step->operation) {
    case OPEN:
    case OPEN_IN:
    case ENTER:
        begin_step(step, &made.spans[step->site]);
        break;
    case NEW:
    case BEGIN:
    case END:
        handle_step(step, &made.spans[step->site % (SPAN_SITES / 2)]);
        break;
    case LEAVE:
    case JUMP:
        leave_step(step);
        break;
    case RECORD:
        trace_record_(now.handles[step->handle], &late_fields, 2, step->values);
        break;
    case UNWIND:
        trace_unwind(0);
        now.depth[step->thread] = 0;
        break;
    case SWITCH:
        switch_step();
        break;
    default:
        if (on(event))
            trace_event_(event, 2, step->values);
    }
}

/* Each step is taken by its thread, one after the other. */
static sem_t go[THREADS], done;
static const struct step *current_step;

static void *walk(void *thread)
{
    for (;;) {
        sem_wait(thread);
        if (!current_step)
            return NULL;
        take_step(current_step);
        sem_post(&done);
    }
}

static void run_made(void)
{
    pthread_t threads[THREADS];

    memset(&now, 0, sizeof(now));
    sem_init(&done, 0, 0);
    for (size_t i = 0; i < THREADS; i++) {
        sem_init(&go[i], 0, 0);
        cr_assert_eq(pthread_create(&threads[i], NULL, walk, &go[i]), 0);
    }
    for (size_t i = 0; i < STEPS; i++) {
        current_step = &made.steps[i];
        sem_post(&go[current_step->thread]);
        sem_wait(&done);
    }
    current_step = NULL;
    for (size_t i = 0; i < THREADS; i++) {
        sem_post(&go[i]);
        pthread_join(threads[i], NULL);
    }
    if (now.off)
        trace_enable();
}

/* ---- By any filter ---- */

static void add_directive(struct trace_text *filter)
{
    const char *what =
        PICK("", "a=", "a::b=", "ab=", "[{n}]=", "a[{u}]=", "[s]=", "[t]=",
             "a[s]=", "[s{n=1}]=", "[{u=x}]=", "[t{n=2,u=.*y}]=", "[s{n>=2}]=",
             "[{u~=x}]=", "[x]=", "[t{n}]=", "~*b=", "~a::=", "/5$/=", "{n>1}=",
             "{u~=x}=", "{n=0,u=5}=", "^",
             "^a::=", "^[x]=", "^[x{n=1}]=", "^/3/=", "^{n<2}=", "!ab", "!~z*",
             "![x]", "![x{u=y}]", "!{n=3}", "!/^e4/");

    if (filter->size)
        trace_text_char(filter, ',');
    trace_text_string(filter, what);
    if (*what != '!')
        trace_text_string(filter, PICK("off", "error", "warn", "info", "debug",
                                       "trace", "debug", "info"));
}

/* Lists the sites as a shared object would. */
static void list_sites(void)
{
    static struct trace_site *sites[SPAN_SITES + STEPS + 1] = {&late_fields};
    static struct trace_module module;

    for (size_t i = 0; i < SPAN_SITES; i++)
        sites[1 + i] = &made.spans[i];
    for (size_t i = 0; i < STEPS; i++)
        sites[1 + SPAN_SITES + i] = &made.events[i];
    trace_module_register(&module, sites, sites + 1 + SPAN_SITES + STEPS,
                          TRACE_LEVEL_TRACE);
}

static void make_filter(struct trace_text *filter)
{
    trace_text_clear(filter);
    trace_text_string(filter, PICK("off", "info", "warn", "debug"));
    for (size_t i = 1 + test_below(4); i; i--)
        add_directive(filter);
}

/* What LOG shows does not depend on what TRACE_FILTER wants besides. */
static void check_besides(const char *log, const char *besides,
                          const char *expected)
{
    subscribe(log, besides, -1);
    test_record();
    run_made();

    struct trace_reader *reader = test_read();
    char *result = messages(reader, log);

    cr_expect_str_eq(result, expected, "\"%s\" shows %s, besides \"%s\" %s",
                     log, expected, besides, result);
    trace_reader_close(reader);
    free(result);
}

static size_t check_made(uint64_t seed, bool jumps)
{
    struct trace_text filter = {0}, besides = {0};
    size_t size;

    test_seed(seed);
    make_sites();
    make_steps(jumps);
    make_filter(&filter);
    make_filter(&besides);

    char *one = shown(filter.data, run_made);
    char *other = jumps ? strdup(one) : recorded(filter.data, run_made);

    cr_expect_str_eq(one, other, "seed %zu: \"%s\" shows %s, records %s",
                     (size_t)seed, filter.data, one, other);
    if (!jumps)
        check_besides(filter.data, besides.data, one);
    size = strlen(one);
    free(one);
    free(other);
    trace_text_free(&filter);
    trace_text_free(&besides);
    return size;
}

static void check_programs(uint64_t from, size_t count, bool jumps)
{
    size_t size = 0;

    list_sites();
    for (uint64_t seed = from; seed < from + count; seed++)
        size += check_made(seed, jumps);
    cr_expect_gt(size, count * 8, "too little is shown: %zu bytes", size);
}

Test(log_verdict, a_recording_has_what_would_be_shown_of_any_program)
{
    check_programs(1, 200, false);
}

/* Where a guard's block is left by a jump, the entering ends with that of a
 * block around, if it is recorded: so only what is shown is compared. */
Test(log_verdict, lines_are_the_same_live_and_later_of_any_program)
{
    check_programs(100000, 100, true);
}

/* ---- Without memory ---- */

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

/* Does something with ever another allocation that fails, alone and with all
 * that follow, until it needs no more. */
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
    log_write_all(rendering->filter, &plain, rendering->reader, stream);
    fclose(stream);
}

/* Lines are lost at most. */
Test(log_verdict, a_replay_survives_a_lack_of_memory)
{
    free(recorded("trace", all_programs));

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

/* Something is recorded too much or too little at most. */
Test(log_verdict, judging_survives_a_lack_of_memory)
{
    subscribe("off", demanding, -1);
    test_record();
    without_memory(run_all, NULL);
    run_all(NULL);
    trace_reader_close(test_read());
}

static void subscribe_anew(void *context)
{
    struct log_options options = {.show = demanding, .record = demanding};
    size_t *failures = context;

    *failures += log_subscribe(&options) != 0;
}

Test(log_verdict, subscribing_survives_a_lack_of_memory)
{
    size_t failures = 0;

    subscribe("off", "warn", -1);
    without_memory(subscribe_anew, &failures);
    cr_expect_gt(failures, 30);
    expect("[a]=debug", two_handles, "both");
}
