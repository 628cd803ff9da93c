/* trace_critical_test.c: the critical path of a recording. */
#include "tests/support/support.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "trace/read/critical.h"

TestSuite(trace_critical, .init = test_folder, .timeout = 60);

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);
static struct trace_site inner = TEST_SITE(SPAN, INFO, "inner", "m", NULL, 0);
static struct trace_site task = TEST_SITE(SPAN, INFO, "task", "m", NULL, 0);

static struct trace_span_ref begin(struct trace_site *site)
{
    return trace_span_begin_(site, 0, NULL);
}

/* ---- What every path obeys ---- */

/* Pieces follow each other from the beginning to the end, within their slices.
 */
static void check_pieces(const struct trace_causes *slices,
                         const struct trace_critical *critical)
{
    uint64_t last = slices->begin, covered = 0;

    for (size_t i = 0; i < critical->count; i++) {
        const struct trace_piece *piece = &critical->pieces[i];

        cr_assert_eq(piece->begin, last);
        cr_assert_gt(piece->end, piece->begin);
        last = piece->end;
        if (piece->slice == TRACE_NO_SLICE)
            continue;
        covered += piece->end - piece->begin;
        cr_assert_eq(slices->all[piece->slice].track, piece->track);
        cr_assert_leq(slices->all[piece->slice].begin, piece->begin);
        cr_assert_geq(slices->all[piece->slice].end, piece->end);
    }
    cr_expect_eq(last, slices->end);
    cr_expect_eq(covered, critical->covered);
}

static void check_sums(const struct trace_causes *slices,
                       const struct trace_critical *critical)
{
    uint64_t total = 0;
    size_t pieces = 0;

    for (size_t i = 0; i < critical->sum_count; i++) {
        total += critical->sums[i].total;
        pieces += critical->sums[i].pieces;
        cr_expect(!i || critical->sums[i - 1].total >= critical->sums[i].total);
    }
    cr_expect_eq(total, slices->end - slices->begin);
    cr_expect_eq(pieces, critical->count);
}

/* Without phases, the path begins with the recording. */
static uint64_t zero_of(struct trace_reader *reader)
{
    return trace_reader_phases(reader).body
               ? trace_reader_zero(reader, (struct trace_noted){0})
               : trace_reader_summary(reader).begin;
}

static const char *name_of(const struct trace_causes *slices,
                           const struct trace_piece *piece)
{
    if (piece->slice != TRACE_NO_SLICE)
        return slices->all[piece->slice].site->name;
    return piece->phase ? trace_phase_label(piece->phase) : "-";
}

/* Ends the recording and returns the names on its path, "-" where nothing was
 * recorded; they are kept. */
static char *path_of(void)
{
    struct trace_reader *reader = test_read();
    struct trace_text text = {0};
    struct trace_causes slices;
    struct trace_critical critical;

    cr_assert_eq(trace_causes_read(&slices, reader, zero_of(reader)), 0);
    cr_assert_eq(trace_critical_find(&critical, &slices), 0);
    cr_assert_eq(trace_critical_sum(&critical, &slices), 0);
    check_pieces(&slices, &critical);
    check_sums(&slices, &critical);
    for (size_t i = 0; i < critical.count; i++)
        trace_text_printf(&text, "%s%s", i ? " " : "",
                          name_of(&slices, &critical.pieces[i]));
    trace_critical_free(&critical);
    trace_causes_free(&slices);
    return test_keep(text.data);
}

static void expect_path(const char *names)
{
    cr_expect_str_eq(path_of(), names);
}

/* ---- One thread ---- */

Test(trace_critical, is_what_ran_last_on_one_thread)
{
    struct trace_span_ref span;

    test_record();
    span = begin(&outer);
    trace_span_end(begin(&inner));
    trace_span_end(begin(&task));
    trace_span_end(span);
    trace_span_end(begin(&inner));
    expect_path("- outer inner outer task outer - inner -");
}

Test(trace_critical, is_one_piece_without_slices)
{
    test_record();
    expect_path("-");
}

/* ---- Phases ---- */

static void *runs_root(void *unused)
{
    trace_span_end(begin(&task));
    return unused;
}

Test(trace_critical, names_phases_where_nothing_was_recorded)
{
    test_record();
    trace_span_end(begin(&outer)); /* before the setup */
    trace_phase_begin(TRACE_PHASE_SETUP);
    trace_phase_begin(TRACE_PHASE_BODY);
    trace_span_end(begin(&inner));
    trace_phase_begin(TRACE_PHASE_TEARDOWN);
    trace_phase_begin(TRACE_PHASE_END);
    trace_span_end(begin(&outer));
    expect_path("(setup) (test body) inner (test body) (teardown)");
}

Test(trace_critical, cuts_a_piece_at_phases)
{
    struct trace_span_ref span;

    test_record();
    trace_phase_begin(TRACE_PHASE_SETUP);
    span = begin(&outer);
    trace_phase_begin(TRACE_PHASE_BODY);
    trace_span_end(begin(&inner));
    trace_phase_begin(TRACE_PHASE_TEARDOWN);
    trace_span_end(span);
    trace_phase_begin(TRACE_PHASE_END);
    expect_path("(setup) outer outer inner outer outer (teardown)");
}

Test(trace_critical, adds_up_to_each_phase)
{
    struct trace_critical critical;
    struct trace_causes slices;
    struct trace_phases phases;
    struct trace_reader *reader;

    test_record();
    trace_phase_begin(TRACE_PHASE_SETUP);
    trace_span_end(begin(&inner));
    trace_phase_begin(TRACE_PHASE_BODY);
    test_thread(runs_root, NULL);
    trace_phase_begin(TRACE_PHASE_TEARDOWN);
    trace_phase_begin(TRACE_PHASE_END);
    reader = test_read();
    phases = trace_reader_phases(reader);
    cr_assert_eq(trace_causes_read(&slices, reader, phases.body), 0);
    cr_assert_eq(trace_critical_find(&critical, &slices), 0);
    cr_expect_eq(critical.phases[TRACE_PHASE_SETUP],
                 phases.body - phases.setup);
    cr_expect_eq(critical.phases[TRACE_PHASE_BODY],
                 phases.teardown - phases.body);
    cr_expect_eq(critical.phases[TRACE_PHASE_TEARDOWN],
                 phases.end - phases.teardown);
    cr_expect_eq(critical.phases[0], 0);
    trace_critical_free(&critical);
    trace_causes_free(&slices);
}

Test(trace_critical, ends_in_the_phase_in_which_the_test_died)
{
    test_record();
    trace_phase_begin(TRACE_PHASE_SETUP);
    begin(&outer);
    expect_path("(setup) outer");
}

/* ---- Threads ---- */

static void *runs_task(void *span)
{
    struct trace_span_ref entered =
        trace_span_enter_(*(struct trace_span_ref *)span);

    trace_span_end(begin(&inner));
    trace_span_leave_(entered);
    return NULL;
}

Test(trace_critical, follows_a_span_to_the_thread_that_made_it)
{
    struct trace_span_ref span, made;

    test_record();
    span = begin(&outer);
    made = trace_span_new_(&task, 0, NULL);
    test_thread(runs_task, &made);
    trace_span_end(made);
    trace_span_end(span);
    expect_path("- outer task inner task outer -");
}

/* The main thread records nothing meanwhile. */
Test(trace_critical, joins_threads_where_nothing_is_recorded)
{
    test_record();
    trace_span_end(begin(&outer));
    test_thread(runs_root, NULL);
    expect_path("- outer - task -");
}

static sem_t inside;

/* Stays in its spans until the process ends. */
static void *hangs(void *span)
{
    trace_span_enter_(*(struct trace_span_ref *)span);
    begin(&task);
    sem_post(&inside);
    for (;;)
        pause();
    return NULL;
}

/* Both threads are still in their spans when the recording ends. */
Test(trace_critical, goes_from_a_wait_to_what_it_waits_for)
{
    struct trace_span_ref span;
    pthread_t thread;

    cr_assert_eq(sem_init(&inside, 0, 0), 0);
    test_record();
    span = begin(&outer);
    begin(&inner);
    cr_assert_eq(pthread_create(&thread, NULL, hangs, &span), 0);
    sem_wait(&inside);
    expect_path("- outer inner outer task");
}

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The task ends in the first tenth of the span beside it. */
Test(trace_critical, stays_in_a_span_that_only_overlaps_others)
{
    struct trace_span_ref span, beside;
    uint64_t from, until;

    test_record();
    span = begin(&outer);
    from = now();
    beside = begin(&inner);
    test_thread(runs_task, &span);
    until = now() + 9 * (now() - from);
    while (now() < until)
        usleep(100);
    trace_span_end(beside);
    trace_span_end(span);
    expect_path("- outer inner outer -");
}

/* ---- Devices ---- */

static uint64_t first; /* ticks */

/* Records an activity from and to a number of ticks. */
static void put(struct trace_activity activity, unsigned kind, const char *name,
                uint64_t from, uint64_t to)
{
    activity.at.kind = (uint16_t)kind;
    activity.at.begin = first + from;
    activity.end = first + to;
    activity.name = name;
    trace_device_put(&activity);
}

static void put_call(unsigned kind, const char *name, uint32_t correlation,
                     uint32_t stream, uint64_t from, uint64_t to)
{
    struct trace_activity call = {.at = {.thread = (uint32_t)getpid(),
                                         .context = 2,
                                         .stream = stream,
                                         .correlation = correlation}};

    put(call, kind, name, from, to);
}

static void put_work(const char *name, uint32_t correlation, uint32_t stream,
                     uint64_t from, uint64_t to)
{
    struct trace_activity work = test_kernel(0, 0);

    work.at.correlation = correlation;
    work.at.stream = stream;
    put(work, TRACE_ACTIVITY_KERNEL, name, from, to);
}

/* The recording ends after its activities. */
static void record_ticks(uint64_t ticks)
{
    test_record();
    first = trace_device_host()->now();
    while (trace_device_host()->now() < first + ticks)
        usleep(100);
}

Test(trace_critical, goes_from_a_wait_to_the_kernel_and_its_launch)
{
    record_ticks(200000);
    put_call(TRACE_ACTIVITY_RUNTIME, "launch", 1, 0, 10000, 20000);
    put_work("kernel", 1, 7, 30000, 60000);
    put_work("other", 0, 8, 30000, 65000);
    put_call(TRACE_ACTIVITY_SYNC, "wait", 2, 7, 40000, 70000);
    expect_path("- launch - kernel wait -");
}

Test(trace_critical, waits_for_all_streams_of_a_context)
{
    record_ticks(200000);
    put_call(TRACE_ACTIVITY_RUNTIME, "launch", 1, 0, 10000, 20000);
    put_work("kernel", 1, 7, 30000, 60000);
    put_work("other", 1, 8, 30000, 65000);
    put_call(TRACE_ACTIVITY_SYNC, "wait", 2, 0, 40000, 70000);
    expect_path("- launch - other wait -");
}

/* The zone ends later than its kernel, as far as clocks can tell. */
Test(trace_critical, does_not_wait_for_a_part_of_a_kernel)
{
    struct trace_activity zone = test_kernel(0, 0);

    record_ticks(200000);
    put_call(TRACE_ACTIVITY_RUNTIME, "launch", 1, 0, 10000, 20000);
    put_work("kernel", 1, 7, 30000, 60000);
    zone.at.correlation = 0;
    zone.at.stream = TRACE_ZONE_GROUPS;
    put(zone, TRACE_ACTIVITY_ZONE, "part", 40000, 60100);
    put_call(TRACE_ACTIVITY_SYNC, "wait", 2, 0, 40000, 70000);
    expect_path("- launch - kernel wait -");
}

/* The second kernel was launched while the first one ran. */
Test(trace_critical, stays_on_a_stream_that_was_busy)
{
    record_ticks(200000);
    put_call(TRACE_ACTIVITY_RUNTIME, "launch", 1, 0, 10000, 20000);
    put_call(TRACE_ACTIVITY_RUNTIME, "launch again", 2, 0, 22000, 26000);
    put_work("kernel", 1, 7, 21000, 40000);
    put_work("second", 2, 7, 41000, 60000);
    put_call(TRACE_ACTIVITY_SYNC, "wait", 3, 7, 30000, 70000);
    expect_path("- launch - kernel - second wait -");
}

Test(trace_critical, goes_from_a_call_to_the_copy_that_it_made)
{
    record_ticks(200000);
    put_call(TRACE_ACTIVITY_RUNTIME, "copy", 1, 0, 10000, 50000);
    put_work("bytes", 1, 7, 20000, 40000);
    expect_path("- copy bytes copy -");
}

/* A device's clock may be a little ahead of the host's. */
Test(trace_critical, tolerates_the_skew_of_clocks)
{
    record_ticks(200000);
    put_call(TRACE_ACTIVITY_RUNTIME, "launch", 1, 0, 10000, 20000);
    put_work("kernel", 1, 7, 30000, 70100);
    put_call(TRACE_ACTIVITY_SYNC, "wait", 2, 7, 40000, 70000);
    put_call(TRACE_ACTIVITY_RUNTIME, "next", 0, 0, 70000, 90000);
    expect_path("- launch - kernel next -");
}

/* ---- Any recording, and faults ---- */

static void *records_anything(void *unused)
{
    struct trace_span_ref open[8] = {{0}};

    for (int i = 0; i < 500; i++) {
        uint32_t at = test_below(8), from = test_below(400000);

        if (open[at].place && test_below(2))
            trace_span_end(open[at]);
        else if (open[at].place)
            test_thread(runs_task, &open[at]);
        open[at] = test_below(2) ? begin(test_below(2) ? &outer : &inner)
                                 : trace_span_new_(&task, 0, NULL);
        put_work("work", test_below(50), test_below(3), from,
                 from + test_below(20000));
        put_call(test_below(2) ? TRACE_ACTIVITY_RUNTIME : TRACE_ACTIVITY_SYNC,
                 "call", test_below(50), test_below(3), from,
                 from + test_below(20000));
    }
    return unused;
}

Test(trace_critical, covers_any_recording_without_overlaps)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        test_seed(seed);
        record_ticks(1000000);
        test_thread(records_anything, NULL);
        records_anything(NULL);
        path_of();
    }
}

Test(trace_critical, reports_that_memory_is_exhausted)
{
    struct trace_span_ref span;
    struct trace_reader *reader;
    size_t nth = 0;
    int status;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer provides malloc");
    record_ticks(100000);
    span = begin(&outer);
    test_thread(runs_task, &span);
    put_call(TRACE_ACTIVITY_RUNTIME, "launch", 1, 0, 10000, 20000);
    put_work("kernel", 1, 7, 30000, 60000);
    trace_span_end(span);
    reader = test_read();
    do {
        struct trace_causes slices = {.count = 0};
        struct trace_critical critical = {.count = 0};

        test_fail_memory(++nth, true);
        status = trace_causes_read(&slices, reader, zero_of(reader));
        if (!status)
            status = trace_critical_find(&critical, &slices);
        if (!status)
            status = trace_critical_sum(&critical, &slices);
        test_fail_memory(0, false);
        trace_critical_free(&critical);
        trace_causes_free(&slices);
    } while (nth < 3 || status);
    cr_expect_gt(nth, 7, "%zu", nth);
}
