/* log_program_test.c: for random programs and filters, the lines printed live,
 * rendered later and recorded agree.
 */
#include "tests/support/programs.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

TestSuite(log_program, .init = test_folder);

/* ---- A random program ---- */

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
    EVENTS_MORE, /* these two make events the most frequent */
    EVENTS_MOST,
    UNWIND,
    SWITCH,
    TAME,        /* the number of the operations above */
    JUMP = TAME, /* leaves a guard behind */
    FORK,
    OPERATIONS,
};

struct step {
    enum operation operation;
    unsigned thread, site, handle;
    struct trace_value values[2];
};

/* The random program; it can run repeatedly. */
static struct {
    struct step steps[STEPS];
    struct trace_site spans[SPAN_SITES], events[STEPS];
    char names[STEPS][8];
    bool wild; /* with jumps, forks, and handles of "x" */
} made;

/* The state of the current run. */
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

/* In a tame program, spans "x" are only blocks: an excluded handle would not
 * exist, so it could not mute another thread that enters it. */
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

static void make_steps(void)
{
    for (size_t i = 0; i < STEPS; i++) {
        struct step *step = &made.steps[i];

        step->operation = test_below(made.wild ? OPERATIONS : TAME);
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
        ref = test_block(*depth, NULL, handle, 0, NULL);
    else if (on(site))
        ref = test_block(*depth, site, step->operation == OPEN ? NULL : handle,
                         2, step->values);
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

static void event_step(const struct step *step)
{
    struct trace_site *event = &made.events[step - made.steps];

    if (on(event))
        trace_event_(event, 2, step->values);
}

/* Each step runs on its thread; the steps run one at a time. */
static sem_t go[THREADS], done;
static const struct step *current_step;

/* What a forked child does. */
static void be_child(void)
{
    struct trace_site *site = &made.spans[current_step->site];
    struct trace_span_ref own = {0, 0};

    event_step(current_step);
    if (on(site))
        own = trace_span_open_(site, 2, current_step->values);
    event_step(current_step);
    trace_guard_end_(&own);
    own = trace_span_enter_(now.handles[current_step->handle]);
    event_step(current_step);
    trace_guard_end_(&own);
}

static void take_step(const struct step *step)
{
    size_t handles = made.wild ? SPAN_SITES : SPAN_SITES / 2;

    switch (step->operation) {
    case OPEN:
    case OPEN_IN:
    case ENTER:
        begin_step(step, &made.spans[step->site]);
        break;
    case NEW:
    case BEGIN:
    case END:
        handle_step(step, &made.spans[step->site % handles]);
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
    case FORK:
        test_child(be_child);
        break;
    default:
        event_step(step);
    }
}

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

/* ---- Random filters ---- */

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

/* Registers the sites as a shared object would. */
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

/* What LOG shows does not depend on what TRACE_FILTER records in addition. */
static void check_besides(const char *log, const char *besides,
                          const char *expected)
{
    program_subscribe(log, besides, -1);
    test_record();
    run_made();

    char *result = program_messages(test_read(), log);

    cr_expect_str_eq(result, expected, "\"%s\" shows %s, besides \"%s\" %s",
                     log, expected, besides, result);
}

static size_t check_made(uint64_t seed)
{
    struct trace_text filter = {0}, besides = {0};
    size_t size;

    test_seed(seed);
    make_sites();
    make_steps();
    make_filter(&filter);
    make_filter(&besides);

    char *one = program_shown(filter.data, run_made);
    char *other =
        made.wild ? strdup(one) : program_recorded(filter.data, run_made);

    cr_expect_str_eq(one, other, "seed %zu: \"%s\" shows %s, records %s",
                     (size_t)seed, filter.data, one, other);
    if (!made.wild)
        check_besides(filter.data, besides.data, one);
    size = strlen(one);
    free(other);
    trace_text_free(&filter);
    trace_text_free(&besides);
    return size;
}

static void check_programs(uint64_t from, size_t count, bool wild)
{
    size_t size = 0;

    made.wild = wild;
    list_sites();
    for (uint64_t seed = from; seed < from + count; seed++)
        size += check_made(seed);
    cr_expect_gt(size, count * 8, "shown too little: %zu bytes", size);
}

Test(log_program, records_what_it_would_show_of_any_program)
{
    check_programs(1, 200, false);
}

/* Compares only what is shown: after a jump the entering ends with an enclosing
 * recorded block, and a recording of a fork has only the innermost span. */
Test(log_program, shows_the_same_lines_live_and_later_of_any_program)
{
    check_programs(100000, 100, true);
}
