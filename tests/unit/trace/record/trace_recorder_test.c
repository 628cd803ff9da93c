/* trace_recorder_test.c: recording files, limits, full disks, forks and exits.
 */
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(trace_recorder, .init = test_folder);

/* Acts like Linux before 5.14, which lacks MADV_POPULATE_WRITE (23). */
static bool old_kernel;
static bool wipes = true; /* whether MADV_WIPEONFORK works */

int madvise(void *at, size_t size, int advice)
{
    if ((old_kernel && advice == 23) || (!wipes && advice == MADV_WIPEONFORK)) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, at, size, advice);
}

/* ---- Opening ---- */

static int open_at(const char *path, uint64_t limit)
{
    struct trace_options options = {.limit = limit};

    errno = 0;
    return trace_open(path, &options);
}

Test(trace_recorder, leaves_no_file_if_opening_fails)
{
    test_save(test_path("taken"), "mine", 4);
    cr_expect_eq(open_at(test_path("taken"), 0), -1);
    cr_expect_eq(errno, EEXIST);
    cr_expect_eq(open_at(test_path("missing/recording"), 0), -1);
    cr_expect_eq(errno, ENOENT);
    trace_event(INFO, "off");
    cr_expect_eq(open_at(test_path("recording"), 0), 0);
    cr_expect_eq(open_at(test_path("second"), 0), -1);
    cr_expect_eq(errno, EBUSY);
    cr_expect_neq(access(test_path("second"), F_OK), 0);
    trace_close();
    trace_close();
}

Test(trace_recorder, refuses_a_limit_below_the_minimum)
{
    cr_expect_eq(open_at(test_path("recording"), 1), -1);
    cr_expect_eq(errno, EINVAL);
    cr_expect_eq(open_at(test_path("recording"), TRACE_LIMIT_LEAST - 1), -1);
    cr_expect_eq(errno, EINVAL);
    cr_expect_neq(access(test_path("recording"), F_OK), 0);
    cr_expect_eq(open_at(test_path("recording"), TRACE_LIMIT_LEAST), 0);
}

Test(trace_recorder, records_without_a_file)
{
    cr_assert_eq(open_at(NULL, 0), 0);
    for (int i = 0; i < 10000; i++) {
        trace_span(INFO, "span", ("i", i));
        trace_event(INFO, "event");
    }
    trace_close();
}

/* ---- The limit ---- */

static struct trace_summary fill(size_t records)
{
    static char text[1000];

    memset(text, 'x', sizeof(text) - 1);
    for (size_t i = 0; i < records; i++)
        trace_event(INFO, "filler", (text));
    for (int i = 0; i < 5; i++)
        log_error("error %d", i);

    struct trace_reader *reader = test_read();
    struct trace_summary summary = trace_reader_summary(reader);

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "filler") +
                     summary.dropped,
                 records);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "error %d"), 5);
    return summary;
}

Test(trace_recorder, counts_dropped_records_and_keeps_errors)
{
    test_record_limit(TRACE_LIMIT_LEAST);

    struct trace_summary summary = fill(1000);

    cr_expect(summary.limit_reached);
    cr_expect_eq(summary.error, 0);
    cr_expect_gt(summary.dropped, 100);
    cr_expect_lt(summary.dropped, 900);
}

Test(trace_recorder, drops_a_record_larger_than_the_limit)
{
    static char text[1 << 20];

    test_record_limit(TRACE_LIMIT_LEAST);
    trace_event(INFO, "small");
    trace_event(INFO, "large", ("text", trace_string(text, sizeof(text))));
    trace_event(INFO, "small");

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "small"), 2);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "large"), 0);
    cr_expect_eq(trace_reader_summary(reader).dropped, 1);
}

Test(trace_recorder, pairs_spans_and_exits_at_the_limit)
{
    static char text[1000];

    memset(text, 'x', sizeof(text) - 1);
    test_record_limit(TRACE_LIMIT_LEAST);
    for (int i = 0; i < 1000; i++) {
        trace_span(INFO, "span", (text));
        trace_record(trace_span_current(), ("late", text));
        trace_span_end(trace_span_begin(INFO, "begin", (text)));
        errno = EDOM;
        trace_span_enter(trace_span_current());
        cr_assert_eq(errno, EDOM);
    }

    struct trace_reader *reader = test_read();

    cr_expect_gt(trace_reader_summary(reader).dropped, 1000);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "span"),
                 test_count(reader, TRACE_ENTRY_EXIT, "span") -
                     test_count(reader, TRACE_ENTRY_ENTER, "span"));
}

static void *fill_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2000; i++)
        trace_event(INFO, "filler", ("i", i));
    log_error("error of a thread");
    return NULL;
}

Test(trace_recorder, shares_the_limit_among_threads)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];

    test_record_limit(TRACE_LIMIT_LEAST);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, fill_thread, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    struct trace_reader *reader = test_read();
    struct trace_summary summary = trace_reader_summary(reader);

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "filler") +
                     summary.dropped,
                 THREADS * 2000);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "error of a thread"),
                 THREADS);
}

/* ---- A full disk ---- */

static void on_tiny_disk(void)
{
    if (mount("none", test_path("disk"), "tmpfs", 0, "size=512k"))
        _exit(77);

    struct trace_options options = {.limit = TRACE_LIMIT_LEAST * 64};

    if (trace_open(test_path("disk/recording"), &options))
        _exit(1);
    for (int i = 0; i < 50000; i++)
        trace_event(INFO, "filler", ("i", i));
    log_error("the last words");
    trace_close();

    size_t size;
    char *bytes = test_load(test_path("disk/recording"), &size);

    umount2(test_path("disk"), MNT_DETACH);
    test_save(test_path("recording"), bytes, size);
}

Test(trace_recorder, reports_a_full_disk_without_a_signal)
{
    cr_assert_eq(mkdir(test_path("disk"), 0777), 0);

    int status = test_child(on_tiny_disk);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("cannot mount a small file system");
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);

    struct trace_reader *reader = test_open();

    struct trace_summary summary = trace_reader_summary(reader);
    size_t kept = test_count(reader, TRACE_ENTRY_EVENT, "filler");

    cr_expect_eq(summary.error, ENOSPC);
    cr_expect_not(summary.limit_reached);
    cr_expect_gt(kept, 1000);
    cr_expect_eq(kept + summary.dropped, 50000);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "the last words"), 1);
}

static void under_file_limit(void)
{
    struct rlimit limit = {1 << 20, 1 << 20};

    if (setrlimit(RLIMIT_FSIZE, &limit))
        _exit(77);
    if (open_at(test_path("recording"), TRACE_LIMIT_LEAST * 64) && !errno)
        _exit(1);
    trace_event(INFO, "event");
}

Test(trace_recorder, survives_a_limit_on_file_sizes)
{
    int status = test_child(under_file_limit);

    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("cannot limit the size of files");
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
}

/* ---- Forks ---- */

static struct trace_span_ref outer_guard;

static void in_child(void)
{
    trace_event(INFO, "child event");
    {
        trace_span(INFO, "child span");
        trace_event(INFO, "in child span");
    }
    trace_record(trace_span_current(), ("late", 1));
    trace_span_leave_(outer_guard);
    trace_event(INFO, "child root");
    trace_span_begin(INFO, "child open");
}

static uint32_t pid_of(struct trace_reader *reader, const char *event)
{
    struct trace_entry entry;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, event, &entry), "%s", event);
    return entry.thread->pid;
}

static const char *span_of(struct trace_reader *reader, const char *event)
{
    struct trace_entry entry, span;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, event, &entry), "%s", event);
    return trace_reader_span(reader, entry.span, &span) ? span.site->name : "";
}

static void forks(void)
{
    trace_span(INFO, "outer");
    outer_guard = trace_span_current();
    cr_assert_eq(test_child(in_child), 0);
    trace_event(INFO, "parent event");
}

Test(trace_recorder, attributes_records_to_the_forked_child)
{
    struct trace_entry event, exit;

    test_record();
    forks();

    struct trace_reader *reader = test_read();

    cr_expect_eq(pid_of(reader, "parent event"), (uint32_t)getpid());
    cr_expect_neq(pid_of(reader, "child event"), (uint32_t)getpid());
    cr_expect_str_eq(span_of(reader, "child event"), "outer");
    cr_expect_str_eq(span_of(reader, "in child span"), "child span");
    cr_expect_str_eq(span_of(reader, "child root"), "");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_FIELDS, "outer"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "child span"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "child open"), 0);
    /* The parent's span ends once, by the parent. */
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "outer"), 1);
    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "parent event", &event));
    cr_assert(test_find(reader, TRACE_ENTRY_EXIT, "outer", &exit));
    cr_expect_geq(exit.time, event.time);
    cr_expect(trace_reader_summary(reader).ended);
}

static struct trace_span_ref first, second;

static void leaves_out_of_order(void)
{
    struct trace_span_ref own = trace_span_begin(INFO, "own");

    trace_span_leave_(first);
    trace_span_end(own);
    trace_span_end(second);
    trace_close();
}

/* The child leaves the parent's spans in another order. */
Test(trace_recorder, ends_only_the_child_s_own_spans_in_a_child)
{
    struct trace_entry entry;

    test_record();
    {
        trace_span(INFO, "first");
        first = trace_span_current();
        {
            trace_span(INFO, "second");
            second = trace_span_current();
            cr_assert_eq(test_child(leaves_out_of_order), 0);
            trace_event(INFO, "parent event");
        }
    }

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "own"), 1);
    cr_assert(test_find(reader, TRACE_ENTRY_EXIT, "second", &entry));

    uint64_t end = entry.time;

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "parent event", &entry));
    cr_expect_leq(entry.time, end);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_CLOSE, NULL), 0);
}

static void grandchild(void)
{
    trace_event(INFO, "grandchild");
}

static void child_forks(void)
{
    trace_span(INFO, "child");
    cr_assert_eq(test_child(grandchild), 0);
}

static void child_execs(void)
{
    trace_event(INFO, "before exec");
    execl("/bin/true", "true", (char *)NULL);
}

Test(trace_recorder, records_in_children_that_fork_and_exec)
{
    test_record();
    cr_expect_eq(test_child(child_forks), 0);
    cr_expect_eq(test_child(child_execs), 0);
    trace_event(INFO, "after");

    struct trace_reader *reader = test_read();

    cr_expect_str_eq(span_of(reader, "grandchild"), "child");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "before exec"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "after"), 1);
}

static volatile bool done;

static void *records_on(void *unused)
{
    (void)unused;
    for (int i = 0; !__atomic_load_n(&done, __ATOMIC_RELAXED) || i < 100; i++) {
        trace_span(INFO, "busy", ("i", i % 100));
        trace_event(INFO, "event");
    }
    return NULL;
}

static void quick_child(void)
{
    trace_span(INFO, "quick");
    trace_event(INFO, "of child");
}

/* Registered before ours, so it runs after ours, while our locks are held. */
static bool prepares;

static void records_one(void)
{
    trace_event(INFO, "of the child");
}

static void on_prepare(void)
{
    if (prepares)
        log_info("for the first time");
}

__attribute__((constructor)) static void handle_forks(void)
{
    pthread_atfork(on_prepare, NULL, NULL);
}

/* Records more than the first reserved chunks hold. */
static void *be_cancelled(void *unused)
{
    static char text[3000];

    memset(text, 'x', sizeof(text) - 1);
    pthread_cancel(pthread_self());
    for (int i = 0; i < 200; i++)
        trace_event(INFO, "much", (text));
    return unused;
}

Test(trace_recorder, completes_the_records_of_a_cancelled_thread)
{
    old_kernel = true;
    test_record_limit(4 << 20);
    test_thread(be_cancelled, NULL);
    trace_event(INFO, "after");

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "much"), 200);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "after"), 1);
}

Test(trace_recorder, records_in_an_atfork_handler)
{
    test_record();
    alarm(10);
    prepares = true;
    cr_expect_eq(test_child(records_one), 0);
    prepares = false;
    trace_event(INFO, "goes on");

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "goes on"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "of the child"), 1);
}

Test(trace_recorder, forks_while_other_threads_record)
{
    pthread_t threads[2];

    test_record_limit(UINT64_C(1) << 30);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, records_on, NULL);
    for (int i = 0; i < 30; i++)
        cr_assert_eq(test_child(quick_child), 0);
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);

    struct trace_reader *reader = test_read();

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "quick"), 30);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "of child"), 30);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "busy"),
                 test_count(reader, TRACE_ENTRY_EXIT, "busy"));
}

/* ---- Forks that skip atfork handlers ---- */

static pid_t clone_raw(void)
{
    return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void record_lines(const char *who)
{
    for (int i = 0; i < 5000; i++)
        trace_event(INFO, "line", ("who", who), ("i", i));
}

/* Both processes record at the same time. */
static void record_in_both(pid_t child)
{
    int status;

    cr_assert_geq(child, 0);
    if (!child) {
        alarm(30);
        record_lines("child");
        _exit(0);
    }
    record_lines("parent");
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
}

static void expect_both(void)
{
    struct trace_reader *reader = test_read();
    struct trace_entry entry;
    size_t counts[2] = {0};

    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_EVENT &&
            !strcmp(entry.site->name, "line"))
            counts[entry.thread->pid == (uint32_t)getpid()]++;
    cr_expect_eq(counts[0], 5000, "%zu of the child's", counts[0]);
    cr_expect_eq(counts[1], 5000, "%zu of the parent's", counts[1]);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
}

Test(trace_recorder, gives_the_child_of_a_raw_clone_its_own_chunk)
{
    test_record();
    trace_event(INFO, "takes a chunk");
    record_in_both(clone_raw());
    expect_both();
}

#if __GLIBC_PREREQ(2, 34)
Test(trace_recorder, gives_the_child_of_Fork_its_own_chunk)
{
    test_record();
    trace_event(INFO, "takes a chunk");
    record_in_both(_Fork());
    expect_both();
}
#endif

Test(trace_recorder, inherits_spans_across_a_raw_clone)
{
    struct trace_entry exit, event;
    int status;

    test_record();
    {
        trace_span(INFO, "outer");
        outer_guard = trace_span_current();

        pid_t child = clone_raw();

        if (!child) {
            in_child();
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        trace_event(INFO, "parent event");
    }

    struct trace_reader *reader = test_read();

    cr_expect_str_eq(span_of(reader, "child event"), "outer");
    cr_expect_str_eq(span_of(reader, "in child span"), "child span");
    cr_expect_str_eq(span_of(reader, "child root"), "");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "outer"), 1);
    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "parent event", &event));
    cr_assert(test_find(reader, TRACE_ENTRY_EXIT, "outer", &exit));
    cr_expect_geq(exit.time, event.time,
                  "the child ended a span of its parent");
}

static void *open_many(void *unused)
{
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
        trace_disable(); /* takes every lock except those of ending threads */
        trace_enable();
    }
    return unused;
}

/* The cloning thread holds no lock; its siblings do. */
Test(trace_recorder, waits_for_no_lock_in_the_child_of_a_raw_clone,
     .timeout = 60)
{
    enum { CHILDREN = 300 };
    pthread_t threads[2];
    int status, stuck = 0;

    test_record();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, open_many, NULL);
    for (int i = 0; i < CHILDREN && !stuck; i++) {
        pid_t child = clone_raw();

        if (!child) {
            alarm(5);
            trace_disable();
            trace_enable();
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        stuck += status != 0;
    }
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(stuck, 0, "a child waited for a lock that its parent held");
}

/* Kernels and sandboxes may refuse MADV_WIPEONFORK. */
Test(trace_recorder, detects_forks_without_madv_wipeonfork)
{
    wipes = false;
    test_record();
    forks();

    struct trace_reader *reader = test_read();

    cr_expect_str_eq(span_of(reader, "child event"), "outer");
    cr_expect_neq(pid_of(reader, "child event"), (uint32_t)getpid());
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "outer"), 1);
}

static pthread_barrier_t step;

static void child_of_stale_thread(void)
{
    trace_event(INFO, "stale child");
}

/* Records into the first recording only, then forks. */
static void *forks_later(void *unused)
{
    (void)unused;
    trace_span(INFO, "old");
    pthread_barrier_wait(&step);
    pthread_barrier_wait(&step);
    cr_assert_eq(test_child(child_of_stale_thread), 0);
    return NULL;
}

Test(trace_recorder, forgets_spans_of_an_earlier_recording_in_a_child)
{
    pthread_t thread;

    test_record();
    pthread_barrier_init(&step, NULL, 2);
    pthread_create(&thread, NULL, forks_later, NULL);
    pthread_barrier_wait(&step);
    trace_close();
    test_record();
    {
        trace_span(INFO, "new");
        pthread_barrier_wait(&step);
        pthread_join(thread, NULL);
    }

    cr_expect_str_eq(span_of(test_read(), "stale child"), "");
}

/* ---- Exits ---- */

static void exits_inside(void)
{
    test_record();
    trace_span(INFO, "open");
    trace_event(INFO, "event");
    _exit(3);
}

Test(trace_recorder, loses_no_record_at_an_exit)
{
    int status = test_child(exits_inside);
    struct trace_reader *reader = test_open();

    cr_expect_eq(WEXITSTATUS(status), 3);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "event"), 1);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EXIT, "open"), 0);
}

/* ---- Files that others truncate ---- */

static bool going; /* atomic */

static void *leave_spans(void *unused)
{
    while (__atomic_load_n(&going, __ATOMIC_RELAXED)) {
        trace_span(INFO, "outer");
        for (int i = 0; i < 50; i++) {
            trace_span(INFO, "inner", ("i", i));
        }
    }
    return unused;
}

static void nothing(void)
{
}

/* Threads still leave spans when the recording has ended. */
Test(trace_recorder, survives_a_file_that_is_truncated_after_the_end)
{
    enum { THREADS = 4, ROUNDS = 300 };
    pthread_t threads[THREADS];
    const struct trace_options options = {.limit = 8 << 20};

    __atomic_store_n(&going, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, leave_spans, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        const char *path = test_path("captured");
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        cr_assert_eq(trace_open_file(fd, &options), 0);
        usleep(500);
        trace_close_file(nothing);
        cr_assert_eq(truncate(path, i % 2 ? 0 : TRACE_HEADER_SIZE), 0);
        usleep(100);
        unlink(path);
    }
    __atomic_store_n(&going, false, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Memory ---- */

static void record_and_render(const char *path)
{
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST};
    struct log_style style = {.color = true};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    FILE *null = fopen("/dev/null", "we");

    if (!trace_open(path, &options)) {
        for (int i = 0; i < 100; i++)
            trace_span_begin(INFO, "deep", ("i", i));
        log_info("%ls %d", L"wide", 1);
        trace_unwind(0);
        trace_close();
    }

    struct trace_reader *reader = trace_reader_open(path);

    if (reader && filter && null)
        log_write_all(filter, &style, reader, null);
    trace_reader_close(reader);
    log_filter_free(filter);
    if (null)
        fclose(null);
}

Test(trace_recorder, survives_a_lack_of_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (size_t nth = 1; nth < 120; nth++) {
        const char *path = test_path("recording");

        test_fail_memory(nth, nth % 2);
        record_and_render(path);
        test_fail_memory(0, false);
        unlink(path);
    }
}
