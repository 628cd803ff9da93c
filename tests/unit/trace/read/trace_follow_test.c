/* trace_follow_test.c: reads recordings while they are written. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/format.h"
#include "trace/read/reader_parts.h"

static void begin(void)
{
    test_folder();
    alarm(60);
}

TestSuite(trace_follow, .init = begin);

static struct trace_reader *follow(void)
{
    struct trace_reader *reader = trace_reader_follow(test_path("recording"));

    cr_assert(reader, "%s", strerror(errno));
    return reader;
}

/* Looks once and reads all entries; returns them as "+outer event -outer". */
static const char *look(struct trace_reader *reader)
{
    static char text[4096];
    static const char *const marks[] = {
        [TRACE_ENTRY_SPAN] = "+",   [TRACE_ENTRY_ENTER] = ">",
        [TRACE_ENTRY_EXIT] = "-",   [TRACE_ENTRY_CLOSE] = "x",
        [TRACE_ENTRY_FIELDS] = "=", [TRACE_ENTRY_EVENT] = "",
        [TRACE_ENTRY_DEVICE] = "@", [TRACE_ENTRY_SUM] = "*"};
    struct trace_entry entry, span;
    size_t size = 0;

    text[0] = '\0';
    cr_assert_geq(trace_reader_look(reader, UINT64_MAX), 0);
    while (trace_reader_next(reader, &entry)) {
        const char *name = entry.site->name;

        if (entry.kind == TRACE_ENTRY_EXIT || entry.kind == TRACE_ENTRY_CLOSE ||
            entry.kind == TRACE_ENTRY_ENTER ||
            entry.kind == TRACE_ENTRY_FIELDS) {
            cr_assert(trace_reader_span(reader, entry.span, &span));
            name = span.site->name;
        }
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s%s",
                                 size ? " " : "", marks[entry.kind], name);
        cr_assert_lt(size, sizeof(text));
    }
    return text;
}

/* ---- One thread ---- */

Test(trace_follow, returns_entries_once)
{
    struct trace_reader *reader;

    test_record();
    trace_event(INFO, "first");
    reader = follow();
    cr_expect_str_eq(look(reader), "first");
    cr_expect_str_eq(look(reader), "");
    trace_event(INFO, "second");
    trace_event(INFO, "third");
    cr_expect_str_eq(look(reader), "second third");
    trace_close();
    cr_expect_str_eq(look(reader), "");
    cr_expect(trace_reader_summary(reader).ended);
    trace_reader_close(reader);
}

Test(trace_follow, returns_nothing_before_the_first_look)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    test_record();
    trace_event(INFO, "first");
    reader = follow();
    cr_expect_not(trace_reader_next(reader, &entry));
    cr_expect_eq(trace_reader_look(reader, UINT64_MAX), 1);
    cr_expect(trace_reader_next(reader, &entry));
    cr_expect_eq(trace_reader_look(reader, UINT64_MAX), 0);
    trace_reader_close(reader);
}

Test(trace_follow, returns_the_exit_of_a_span_that_was_open)
{
    struct trace_reader *reader;

    test_record();
    reader = follow();
    {
        trace_span(INFO, "outer");
        {
            trace_span(INFO, "inner");
            cr_expect_str_eq(look(reader), "+outer +inner");
            trace_event(INFO, "event");
        }
        cr_expect_str_eq(look(reader), "event -inner");
    }
    trace_event(INFO, "later");
    cr_expect_str_eq(look(reader), "-outer later");
    trace_reader_close(reader);
}

Test(trace_follow, returns_late_fields_and_enters)
{
    struct trace_reader *reader;
    struct trace_field fields[TRACE_FIELDS_MAX];
    struct trace_entry entry;
    struct trace_span_ref span;

    test_record();
    reader = follow();
    span = trace_span_new(INFO, "job", ("n", trace_empty()));
    cr_expect_str_eq(look(reader), "+job");
    trace_record(span, ("n", 7));
    {
        trace_span_enter(span);
        cr_expect_str_eq(look(reader), "=job >job");
    }
    trace_span_end(span);
    cr_expect_str_eq(look(reader), "-job xjob");
    cr_assert(trace_reader_span(reader, span.place, &entry));
    cr_assert_eq(trace_reader_fields(reader, &entry, UINT64_MAX, fields), 1);
    cr_expect_eq(fields[0].value.as.i, 7);
    trace_reader_close(reader);
}

Test(trace_follow, holds_back_what_is_later_than_the_caller_wants)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    test_record();
    trace_event(INFO, "event");
    reader = follow();
    cr_expect_eq(trace_reader_look(reader, 0), 1);
    cr_expect_not(trace_reader_next(reader, &entry));
    cr_expect_eq(trace_reader_look(reader, UINT64_MAX), 0);
    cr_expect(trace_reader_next(reader, &entry));
    trace_reader_close(reader);
}

Test(trace_follow, skips_spans)
{
    struct trace_reader *reader;

    test_record();
    reader = follow();
    trace_reader_skip_spans(reader);
    {
        trace_span(INFO, "outer");
        trace_event(INFO, "event");
        cr_expect_str_eq(look(reader), "event");
    }
    cr_expect_str_eq(look(reader), "");
    trace_reader_close(reader);
}

Test(trace_follow, knows_the_metadata_before_the_first_look)
{
    static const char *const meta[] = {"log", "debug", NULL};
    const struct trace_options options = {.meta = meta};
    struct trace_reader *reader;

    cr_assert_eq(trace_open(test_path("recording"), &options), 0);
    trace_event(INFO, "event");
    reader = follow();
    cr_assert(trace_reader_meta(reader, "log"));
    cr_expect_str_eq(trace_reader_meta(reader, "log"), "debug");
    cr_expect_str_eq(look(reader), "event");
    trace_reader_close(reader);
}

Test(trace_follow, refuses_what_is_no_recording)
{
    cr_expect_null(trace_reader_follow(test_path("missing")));
    cr_expect_eq(errno, ENOENT);
    test_save(test_path("text"), test_path(""), 8);
    cr_expect_null(trace_reader_follow(test_path("text")));
    cr_expect_eq(errno, EINVAL);
}

/* ---- The same as when it has ended ---- */

/* What makes an entry unique: its kind, and the record that it is in. */
struct key {
    uint32_t kind, place;
};

struct keys {
    struct key *all;
    size_t count, capacity;
};

/* Values lie behind their record. */
static uint32_t place_of(const struct trace_reader *reader,
                         const struct trace_entry *entry)
{
    return (uint32_t)((size_t)(entry->values - reader->base) / TRACE_SLOT_SIZE);
}

static void add_keys(struct keys *keys, struct trace_reader *reader)
{
    struct trace_entry entry;

    while (trace_reader_next(reader, &entry)) {
        cr_assert(
            TRACE_ARRAY_RESERVE(keys->all, keys->capacity, keys->count + 1));
        keys->all[keys->count++] =
            (struct key){entry.kind, place_of(reader, &entry)};
    }
}

static int by_place(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    return x->place != y->place ? (x->place < y->place ? -1 : 1)
                                : (int)x->kind - (int)y->kind;
}

static size_t look_for(struct keys *keys, struct trace_reader *reader)
{
    cr_assert_geq(trace_reader_look(reader, UINT64_MAX), 0);
    add_keys(keys, reader);
    return keys->count;
}

/* Expects that all entries of the recording were found, each of them once. */
static void expect_all(struct keys *found, struct trace_reader *reader)
{
    struct trace_reader *whole = test_open();
    struct keys all = {0};

    add_keys(&all, whole);
    qsort(all.all, all.count, sizeof(*all.all), by_place);
    qsort(found->all, found->count, sizeof(*found->all), by_place);
    for (size_t i = 1; i < found->count; i++)
        cr_assert_neq(by_place(&found->all[i - 1], &found->all[i]), 0,
                      "kind %u at %u twice", found->all[i].kind,
                      found->all[i].place);
    cr_expect_eq(found->count, all.count, "%zu entries of %zu", found->count,
                 all.count);
    for (size_t i = 0; i < all.count && i < found->count; i++)
        cr_assert_eq(by_place(&all.all[i], &found->all[i]), 0,
                     "entry %zu: kind %u at %u, not kind %u at %u", i,
                     found->all[i].kind, found->all[i].place, all.all[i].kind,
                     all.all[i].place);
    cr_expect_eq(trace_reader_summary(reader).size,
                 trace_reader_summary(whole).size);
    trace_reader_close(reader);
    free(all.all);
    free(found->all);
}

/* Records of many sizes; each kind of entry. */
static void record_some(int rounds)
{
    static char text[300];
    struct trace_span_ref job =
        trace_span_new(INFO, "job", ("n", trace_empty()));

    memset(text, 'x', sizeof(text) - 1);
    for (int i = 0; i < rounds; i++) {
        trace_span(INFO, "round", (i));
        trace_event(INFO, "event", ("text", text + i % 300));
        if (i % 3 == 0)
            trace_record(job, ("n", i));
        if (i % 5 == 0) {
            trace_span_enter(job);
            trace_counter("rounds", i);
        }
    }
    trace_span_end(job);
}

static void *record_much(void *context)
{
    record_some(3000);
    __atomic_store_n((bool *)context, true, __ATOMIC_RELEASE);
    return NULL;
}

static void *record_little(void *unused)
{
    (void)unused;
    trace_span(INFO, "short");
    trace_event(INFO, "one");
    return NULL;
}

/* Short threads leave their space to others. */
static void *start_short_threads(void *context)
{
    pthread_t thread;

    for (int i = 0; i < 500; i++) {
        cr_assert_eq(pthread_create(&thread, NULL, record_little, NULL), 0);
        pthread_join(thread, NULL);
    }
    __atomic_store_n((bool *)context, true, __ATOMIC_RELEASE);
    return NULL;
}

static bool all_are_true(const bool *flags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!__atomic_load_n(&flags[i], __ATOMIC_ACQUIRE))
            return false;
    return true;
}

Test(trace_follow, finds_what_several_threads_record)
{
    enum { THREADS = 6 };
    bool done[THREADS] = {false};
    pthread_t threads[THREADS];
    struct keys found = {0};
    struct trace_reader *reader;
    size_t looks = 0;

    test_record();
    reader = follow();
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL,
                                    i % 2 ? record_much : start_short_threads,
                                    &done[i]),
                     0);
    while (!all_are_true(done, THREADS)) {
        look_for(&found, reader);
        looks++;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    trace_close();
    look_for(&found, reader);
    cr_expect_gt(looks, 1);
    expect_all(&found, reader);
}

Test(trace_follow, finds_what_forked_children_record)
{
    struct keys found = {0};
    struct trace_reader *reader;

    test_record();
    reader = follow();
    for (int i = 0; i < 20; i++) {
        trace_span(INFO, "parent");
        pid_t child = fork();

        if (!child) {
            record_some(50);
            _exit(0);
        }
        while (waitpid(child, NULL, WNOHANG) == 0)
            look_for(&found, reader);
    }
    trace_close();
    look_for(&found, reader);
    expect_all(&found, reader);
}

Test(trace_follow, finds_a_record_of_several_chunks)
{
    char *text = malloc(200001);
    struct keys found = {0};
    struct trace_reader *reader;

    memset(text, 1, 200000); /* looks like a THREAD record */
    text[200000] = '\0';
    test_record();
    reader = follow();
    for (int i = 0; i < 5; i++) {
        trace_event(INFO, "before");
        look_for(&found, reader);
        trace_event(INFO, "large", ("text", text));
        trace_event(INFO, "after");
        look_for(&found, reader);
    }
    trace_close();
    look_for(&found, reader);
    expect_all(&found, reader);
    free(text);
}

/* Random work, with random times between looks. */
Test(trace_follow, finds_what_random_work_records)
{
    struct keys found = {0};
    struct trace_reader *reader;

    test_seed(28);
    test_record();
    reader = follow();
    for (int i = 0; i < 300; i++) {
        if (test_below(4))
            record_some((int)test_below(40));
        else
            test_thread(record_little, NULL);
        if (test_below(3) == 0)
            look_for(&found, reader);
    }
    trace_close();
    look_for(&found, reader);
    expect_all(&found, reader);
}

Test(trace_follow, finds_errors_after_the_limit_was_reached)
{
    struct keys found = {0};
    struct trace_reader *reader;

    test_record_limit(TRACE_LIMIT_LEAST);
    reader = follow();
    for (int i = 0; i < 200; i++) {
        record_some(100);
        trace_event(ERROR, "error");
        look_for(&found, reader);
    }
    cr_expect(trace_reader_summary(reader).limit_reached);
    cr_expect_gt(trace_reader_summary(reader).dropped, 0);
    trace_close();
    look_for(&found, reader);
    expect_all(&found, reader);
}

/* ---- A writer that stops ---- */

/* Changes the time of the record at a place; returns what it was. */
static uint64_t set_time(uint32_t place, uint64_t time)
{
    int fd = open(test_path("recording"), O_RDWR | O_CLOEXEC);
    off_t at = (off_t)place * TRACE_SLOT_SIZE;
    uint64_t before;

    cr_assert_eq(pread(fd, &before, sizeof(before), at), sizeof(before));
    cr_assert_eq(pwrite(fd, &time, sizeof(time), at), sizeof(time));
    close(fd);
    return before;
}

/* Returns the place of the first event of that name. */
static uint32_t place_of_event(const char *name)
{
    struct trace_reader *reader = test_open();
    struct trace_entry entry;
    uint32_t place;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, name, &entry));
    place = place_of(reader, &entry) - 1;
    return place;
}

Test(trace_follow, waits_for_a_record_that_is_being_written)
{
    struct trace_reader *reader;
    uint32_t place;
    uint64_t time;

    test_record();
    trace_event(INFO, "first");
    trace_event(INFO, "last", ("n", 1));
    place = place_of_event("last");
    time = set_time(place, 0);
    reader = follow();
    cr_expect_str_eq(look(reader), "first");
    cr_expect_str_eq(look(reader), "");
    set_time(place, time);
    cr_expect_str_eq(look(reader), "last");
    trace_reader_close(reader);
}

Test(trace_follow, leaves_a_record_that_was_abandoned)
{
    struct trace_reader *reader;

    test_record();
    trace_event(INFO, "first");
    trace_event(INFO, "abandoned", ("n", 1));
    trace_event(INFO, "last");
    set_time(place_of_event("abandoned"), 0);
    reader = follow();
    cr_expect_str_eq(look(reader), "first last");
    trace_reader_close(reader);
}

static void record_until_killed(void)
{
    test_record();
    for (int i = 0;; i++)
        trace_event(INFO, "event", (i));
}

Test(trace_follow, finds_all_of_a_process_that_is_killed)
{
    struct trace_reader *reader = NULL;
    struct keys found = {0};
    pid_t child = fork();

    if (!child)
        record_until_killed();
    while (!reader)
        reader = trace_reader_follow(test_path("recording"));
    while (look_for(&found, reader) < 1000)
        ;
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    look_for(&found, reader);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    look_for(&found, reader);
    expect_all(&found, reader);
}

/* ---- Damage and a lack of memory ---- */

/* Reads a recording that changes at random places meanwhile. */
static void read_damaged(const char *bytes, size_t size)
{
    int fd = memfd_create("damaged", MFD_CLOEXEC);
    struct trace_reader *reader;
    struct trace_entry entry;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
    reader = trace_reader_follow(path);
    if (reader && test_below(2))
        trace_reader_sum_spans(reader, 100);
    for (int i = 0; reader && i < 20; i++) {
        uint32_t noise = test_random() >> test_below(32);
        off_t at = (off_t)test_below((uint32_t)size) & ~INT64_C(3);

        cr_assert_eq(pwrite(fd, &noise, sizeof(noise), at), sizeof(noise));
        cr_assert_geq(trace_reader_look(reader, UINT64_MAX), 0);
        while (trace_reader_next(reader, &entry))
            cr_assert(entry.site && entry.thread);
    }
    close(fd);
    trace_reader_close(reader);
}

Test(trace_follow, reads_damaged_recordings)
{
    size_t size;
    char *bytes;

    test_record();
    test_rich();
    record_some(100);
    trace_close();
    bytes = test_load(test_path("recording"), &size);
    test_seed(7);
    for (int i = 0; i < 500; i++)
        read_damaged(bytes, size);
}

Test(trace_follow, reads_a_recording_that_is_truncated_meanwhile)
{
    struct trace_reader *reader;

    test_record();
    trace_event(INFO, "event");
    reader = follow();
    trace_close();
    cr_assert_eq(truncate(test_path("recording"), TRACE_HEADER_SIZE), 0);
    cr_expect_str_eq(look(reader), "");
    cr_assert_eq(truncate(test_path("recording"), 0), 0);
    cr_expect_str_eq(look(reader), "");
    trace_reader_close(reader);
}

/* Follows a recording while allocation `nth` fails; returns whether it did. */
static bool follow_without(size_t nth)
{
    struct trace_reader *reader;
    struct trace_entry entry;
    int found = -1;

    errno = 0;
    test_fail_memory(nth, true);
    reader = trace_reader_follow(test_path("recording"));
    if (reader)
        found = trace_reader_look(reader, UINT64_MAX);
    if (found < 0)
        cr_expect_eq(errno, ENOMEM);
    while (found > 0 && trace_reader_next(reader, &entry))
        ;
    trace_reader_close(reader);
    return test_fail_memory(0, true) >= nth;
}

Test(trace_follow, reports_a_lack_of_memory)
{
    size_t nth = 1;

    if (!test_can_fail_memory())
        cr_skip("allocations cannot be made to fail\n");
    test_record();
    test_rich();
    record_some(200);
    trace_close();
    while (follow_without(nth))
        nth++;
    cr_expect_gt(nth, 10);
}

/* ---- Sums ---- */

struct summed {
    uint64_t spans, sums, summed, events, last;
};

/* Counts what one look finds, and checks that a sum ends with its parent. */
static void sum_up(struct trace_reader *reader, struct summed *all)
{
    struct trace_entry entry, parent;

    cr_assert_geq(trace_reader_look(reader, UINT64_MAX), 0);
    while (trace_reader_next(reader, &entry)) {
        all->spans += entry.kind == TRACE_ENTRY_SPAN;
        all->events += entry.kind == TRACE_ENTRY_EVENT;
        cr_expect_geq(entry.time, all->last);
        all->last = entry.time;
        if (entry.kind != TRACE_ENTRY_SUM)
            continue;
        all->sums++;
        all->summed += entry.count;
        /* Some clocks step: short spans may take no time in nanoseconds. */
        cr_expect_geq(entry.end, entry.time);
        if (trace_reader_span(reader, entry.span, &parent))
            cr_expect(entry.time >= parent.time && entry.end <= parent.end);
    }
    all->last = 0;
}

Test(trace_follow, sums_up_short_spans_if_there_are_many)
{
    enum { OUTER = 200, STEPS = 500 };
    struct trace_reader *reader;
    struct summed all = {0};

    test_record();
    reader = follow();
    trace_reader_sum_spans(reader, 1000);
    for (int i = 0; i < OUTER; i++) {
        {
            trace_span(INFO, "outer");
            for (int k = 0; k < STEPS; k++) {
                trace_span(INFO, "step");
                trace_span(INFO, "in it");
            }
            trace_event(INFO, "event");
        }
        if (i % 50 == 49)
            sum_up(reader, &all);
    }
    cr_expect_eq(all.spans + all.summed, OUTER * (1 + 2 * STEPS));
    cr_expect_eq(all.events, OUTER, "%lu events", all.events);
    cr_expect_lt(all.spans + all.sums, OUTER * STEPS / 4, "%lu spans, %lu sums",
                 all.spans, all.sums);
    cr_expect_gt(all.sums, 0);
    trace_reader_close(reader);
}

Test(trace_follow, sums_up_nothing_if_there_are_few)
{
    struct trace_reader *reader;
    struct summed all = {0};

    test_record();
    reader = follow();
    trace_reader_sum_spans(reader, 1000000);
    for (int k = 0; k < 500; k++) {
        trace_span(INFO, "step");
    }
    sum_up(reader, &all);
    cr_expect_eq(all.spans, 500);
    cr_expect_eq(all.sums, 0);
    trace_reader_close(reader);
}
