/* trace_merge_threads_test.c: merges the records of several threads by time. */
#include "tests/support/support.h"

#include "trace/base/values.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TestSuite(trace_merge_threads, .init = test_folder);

enum { THREADS = 8, ROUNDS = 500 };

static const char *const names[] = {"thread", "n"};
static struct trace_site event_site =
    TEST_SITE(EVENT, INFO, "event", "m", names, 2);
static struct trace_site span_site =
    TEST_SITE(SPAN, INFO, "span", "m", names, 2);

/* ---- Several threads ---- */

static pthread_barrier_t start;

static void *work(void *context)
{
    const int *me = context;

    pthread_barrier_wait(&start);
    for (int i = 0; i < ROUNDS; i++) {
        const struct trace_value values[] = {trace_i64_(*me), trace_i64_(i)};
        struct trace_span_ref span = trace_span_open_(&span_site, 2, values);

        trace_event_(&event_site, 2, values);
        trace_span_leave_(span);
    }
    return NULL;
}

static void record_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
}

static int64_t number_of(const struct trace_entry *entry, size_t index)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value = {0};

    for (size_t i = 0; i <= index; i++)
        cr_assert(trace_values_next(&values, &value));
    return value.as.i;
}

/* The order in each thread: a span, an event inside it, its exit. */
struct progress {
    int step; /* 3 for each round */
    uint32_t span, tid;
};

static void check_step(struct progress *progress,
                       const struct trace_entry *entry)
{
    static const enum trace_entry_kind kinds[] = {
        TRACE_ENTRY_SPAN, TRACE_ENTRY_EVENT, TRACE_ENTRY_EXIT};

    cr_assert_eq(entry->kind, kinds[progress->step % 3]);
    if (entry->kind == TRACE_ENTRY_SPAN)
        progress->span = entry->id;
    else
        cr_assert_eq(entry->span, progress->span);
    if (entry->kind != TRACE_ENTRY_EXIT)
        cr_assert_eq(number_of(entry, 1), progress->step / 3);
    if (!progress->tid)
        progress->tid = entry->thread->tid;
    cr_assert_eq(entry->thread->tid, progress->tid);
    progress->step++;
}

Test(trace_merge_threads, merges_threads_and_keeps_the_order_of_each)
{
    struct progress progress[THREADS] = {0};
    struct trace_entry entry, span;
    uint64_t last = 0;

    test_record();
    record_threads();

    struct trace_reader *reader = test_read();

    while (trace_reader_next(reader, &entry)) {
        cr_assert_geq(entry.time, last);
        last = entry.time;
        cr_assert(trace_reader_span(
            reader, entry.kind == TRACE_ENTRY_SPAN ? entry.id : entry.span,
            &span));
        check_step(&progress[number_of(&span, 0)], &entry);
    }
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(progress[i].step, 3 * ROUNDS);
}

/* ---- One thread, against a model ---- */

enum { STEPS = 4000, DEPTH = 12 };

/* The expected kind of entry, and the span's number or 0. */
struct step {
    enum trace_entry_kind kind;
    int64_t span;
};

static struct step steps[STEPS];
static size_t step_count;

struct open_span {
    struct trace_span_ref ref;
    int64_t number;
};

static void expect(enum trace_entry_kind kind, int64_t span)
{
    cr_assert_lt(step_count, STEPS);
    steps[step_count++] = (struct step){kind, span};
}

/* Ends any of the open spans; those above it stay open. */
static void end_one(struct open_span *open, size_t *depth)
{
    size_t at = test_below((uint32_t)*depth);

    trace_span_end(open[at].ref);
    expect(TRACE_ENTRY_EXIT, open[at].number);
    memmove(open + at, open + at + 1, (--*depth - at) * sizeof(*open));
}

static void begin_one(struct open_span *open, size_t *depth)
{
    static int64_t next;
    const struct trace_value values[] = {trace_i64_(++next), trace_i64_(0)};

    open[*depth].ref = trace_span_begin_(&span_site, 2, values);
    open[*depth].number = next;
    expect(TRACE_ENTRY_SPAN, next);
    ++*depth;
}

static void record_at_random(void)
{
    struct open_span open[DEPTH];
    const struct trace_value values[2] = {trace_i64_(0), trace_i64_(0)};
    size_t depth = 0;

    for (int i = 0; i < STEPS; i++) {
        uint32_t what = test_below(3);

        if (what == 0 && depth < DEPTH) {
            begin_one(open, &depth);
        } else if (what == 1 && depth) {
            end_one(open, &depth);
        } else {
            expect(TRACE_ENTRY_EVENT, depth ? open[depth - 1].number : 0);
            trace_event_(&event_site, 2, values);
        }
    }
}

static int64_t span_number(const struct trace_reader *reader, uint32_t place)
{
    struct trace_entry span;

    return trace_reader_span(reader, place, &span) ? number_of(&span, 0) : 0;
}

Test(trace_merge_threads, returns_exits_at_the_time_they_happened)
{
    struct trace_entry entry;
    size_t count = 0;

    test_seed(8);
    test_record();
    record_at_random();

    struct trace_reader *reader = test_read();

    for (; trace_reader_next(reader, &entry); count++) {
        cr_assert_lt(count, step_count);
        cr_assert_eq(entry.kind, steps[count].kind, "step %zu", count);
        cr_assert_eq(span_number(reader, entry.kind == TRACE_ENTRY_SPAN
                                             ? entry.id
                                             : entry.span),
                     steps[count].span, "step %zu", count);
    }
    cr_expect_eq(count, step_count);
}

/* ---- Memory ---- */

Test(trace_merge_threads, survives_a_lack_of_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_record();
    test_rich();

    struct trace_reader *reader = test_read();

    for (size_t nth = 1; nth < 12; nth++) {
        struct trace_entry entry;

        test_fail_memory(nth, nth % 2);

        struct trace_merge *merge = trace_merge_new(reader);

        while (merge && trace_merge_next(merge, &entry))
            ;
        trace_merge_free(merge);
        test_fail_memory(0, false);
    }
}

/* ---- Memory ---- */

static size_t resident_kib(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char text[256];
    size_t kib, sum = 0;

    cr_assert_not_null(status);
    while (fgets(text, sizeof(text), status))
        if (sscanf(text, "RssFile: %zu", &kib) == 1 ||
            sscanf(text, "RssShmem: %zu", &kib) == 1)
            sum += kib;
    fclose(status);
    return sum;
}

/* Reads 32 MiB with only a few chunks resident. */
Test(trace_merge_threads, releases_the_memory_of_chunks_already_read)
{
    enum { EVENTS = 500000, MOST = 8 * 1024 };
    const struct trace_value values[] = {trace_i64_(1), trace_i64_(2)};
    size_t before, most = 0, count = 0;
    struct trace_reader *reader;
    struct trace_entry entry;

    test_record_limit(64 << 20);
    for (int i = 0; i < EVENTS; i++)
        trace_event_(&event_site, 2, values);
    trace_close();
    before = resident_kib();
    reader = test_open();
    while (trace_reader_next(reader, &entry)) {
        size_t now = count++ % 10000 ? 0 : resident_kib();

        most = now > most ? now : most;
    }
    cr_expect_eq(count, EVENTS);
    cr_expect_lt(most, before + MOST, "%zu KiB, before %zu", most, before);
}
