/* trace_start_test.c: records a program from trace_start to trace_stop. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(trace_start, .init = test_folder);

static size_t events_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct trace_reader *reader;
    size_t count;

    snprintf(path, sizeof(path), "%s/recording", test_path(folder));
    reader = trace_reader_open(path);
    cr_assert_not_null(reader);
    count = test_count(reader, TRACE_ENTRY_EVENT, name);
    trace_reader_close(reader);
    return count;
}

static int files_in(const char *folder)
{
    struct dirent **entries;
    int count = scandir(test_path(folder), &entries, NULL, NULL);

    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return count - 2; /* "." and ".." */
}

Test(trace_start, leaves_only_a_recording_when_stopped)
{
    struct trace_reader *reader;

    cr_assert_eq(trace_start(test_path("out"), NULL), 0);
    trace_event(INFO, "first event");
    cr_assert_eq(trace_stop(), 0);
    cr_expect_eq(events_in("out", "first event"), 1);
    cr_expect_eq(files_in("out"), 1);
    reader = trace_reader_open(test_path("out/recording"));
    cr_expect(trace_reader_summary(reader).ended);
    cr_expect_str_eq(trace_reader_meta(reader, "program"),
                     program_invocation_name);
    trace_reader_close(reader);
}

Test(trace_start, stops_in_another_working_directory)
{
    cr_assert_eq(chdir(test_path(".")), 0);
    cr_assert_eq(trace_start("out", NULL), 0);
    cr_assert_eq(chdir("/"), 0);
    trace_event(INFO, "elsewhere");
    cr_expect_eq(trace_stop(), 0);
    cr_expect_eq(events_in("out", "elsewhere"), 1);
}

Test(trace_start, replaces_the_files_when_started_again)
{
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(trace_start(test_path("out"), "limit=1M"), 0, "%s",
                     strerror(errno));
        if (i < 2)
            trace_event(INFO, "earlier");
        else
            trace_event(INFO, "last");
        cr_assert_eq(trace_stop(), 0);
    }
    cr_expect_eq(events_in("out", "last"), 1);
    cr_expect_eq(events_in("out", "earlier"), 0);
}

Test(trace_start, refuses_to_start_twice)
{
    cr_assert_eq(trace_start(test_path("out"), NULL), 0);
    trace_event(INFO, "kept");
    cr_expect_eq(trace_start(test_path("out"), NULL), -1);
    cr_expect_eq(errno, EBUSY);
    cr_expect_eq(trace_start(test_path("other"), NULL), -1);
    cr_expect_eq(errno, EBUSY);
    cr_expect_eq(trace_stop(), 0);
    cr_expect_eq(events_in("out", "kept"), 1);
    cr_expect_neq(access(test_path("other"), F_OK), 0);
}

Test(trace_start, refuses_to_stop_what_it_did_not_start)
{
    cr_expect_eq(trace_stop(), -1);
    cr_expect_eq(errno, EINVAL);
    test_record();
    cr_expect_eq(trace_start(test_path("out"), NULL), -1);
    cr_expect_eq(errno, EBUSY);
    cr_expect_eq(trace_stop(), -1);
    trace_event(INFO, "still recorded");

    cr_expect_eq(test_count(test_read(), TRACE_ENTRY_EVENT, "still recorded"),
                 1);
}

Test(trace_start, checks_options)
{
    static const struct {
        const char *text;
        bool ok;
    } rows[] = {
        {"", true},
        {"limit=256K", true},
        {"limit=1G", true},
        {"limit=1", false},
        {"limit=", false},
        {"limit=255K", false},
        {"limit=1T", false},
        {"size=1M", false},
        {"limit", false},
        {"x", false},
        {"limit=65G", false},
        {"limit=1M,gpu_max_activity_api_events=5", true},
        {"gpu_enable_cupti_activity_graph_trace=True", true},
        {"limit=1M,x=1", false},
        {"tpu_trace_mode=1", false},
        {"host_tracer_level=4", false},
        {"python_tracer_level=1", false},
        {"compress=1", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        errno = 0;
        cr_expect_eq(trace_start(test_path("out"), rows[i].text) == 0,
                     rows[i].ok, "%s", rows[i].text);
        if (rows[i].ok)
            trace_stop();
        else
            cr_expect_eq(errno, EINVAL, "%s", rows[i].text);
    }
}

static void log_every_level(void)
{
    trace_span(DEBUG, "span of debug");

    log_error("an error");
    log_info("an info");
    log_debug("a debug");
    log_trace("a trace");
}

Test(trace_start, records_up_to_the_host_s_level)
{
    static const struct {
        const char *text;
        size_t spans, events;
    } rows[] = {
        {"host_tracer_level=0", 0, 0},
        {"host_tracer_level=1", 0, 2},
        {"host_tracer_level=2", 1, 3},
        {"host_tracer_level=3", 1, 4},
        {"limit=1M", 1, 4},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        cr_assert_eq(trace_start(test_path("out"), rows[i].text), 0);
        log_every_level();
        cr_assert_eq(trace_stop(), 0);

        struct trace_reader *reader =
            trace_reader_open(test_path("out/recording"));

        cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, NULL), rows[i].spans,
                     "%s", rows[i].text);
        cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL),
                     rows[i].events, "%s", rows[i].text);
        trace_reader_close(reader);
    }
}

/* A failed start leaves the running recording's level as it was. */
Test(trace_start, leaves_the_level_of_a_running_recording)
{
    cr_assert_eq(trace_start(test_path("out"), NULL), 0);
    cr_expect_eq(trace_start(test_path("other"), "host_tracer_level=0"), -1);
    cr_expect_eq(errno, EBUSY);
    log_info("still recorded");
    cr_assert_eq(trace_stop(), 0);
    cr_expect_eq(events_in("out", "still recorded"), 1);
}

Test(trace_start, leaves_the_level_to_log_subscribe)
{
    const struct log_options options = {.show = "info", .record = "trace"};

    cr_assert_eq(log_subscribe(&options), 0);
    cr_expect_eq(trace_start(test_path("out"), "host_tracer_level=1"), -1);
    cr_expect_eq(errno, EBUSY);
    cr_expect_eq(trace_start(test_path("out"), NULL), 0);
    cr_expect_eq(trace_stop(), 0);
}

Test(trace_start, fails_without_a_usable_folder)
{
    char path[PATH_MAX + 8];

    cr_expect_eq(trace_start(test_path("a/b"), NULL), -1);
    cr_expect_eq(errno, ENOENT);
    test_save(test_path("file"), "", 0);
    cr_expect_eq(trace_start(test_path("file"), NULL), -1);
    cr_expect_eq(errno, ENOTDIR);
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    cr_expect_eq(trace_start(path, NULL), -1);
    cr_expect_eq(errno, ENAMETOOLONG);
}

/* ---- Again and again ---- */

/* The address space of the process in bytes. */
static size_t mapped(void)
{
    char *text = test_load("/proc/self/statm", NULL);
    size_t pages = strtoul(text, NULL, 10);

    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A recording of 256 MiB maps as much; what stays is what it used. */
Test(trace_start, gives_back_address_space)
{
    size_t before;

    cr_assert_eq(trace_start(test_path("out"), NULL), 0);
    cr_assert_eq(trace_stop(), 0);
    before = mapped();
    for (int i = 0; i < 30; i++) {
        cr_assert_eq(trace_start(test_path("out"), NULL), 0);
        trace_event(INFO, "one");
        cr_assert_eq(trace_stop(), 0);
        cr_expect_eq(events_in("out", "one"), 1);
    }
    cr_expect_lt(mapped() - before, 30 << 19);
}

static bool over; /* atomic */

static void *record_until_over(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
        trace_span(INFO, "outer");
        trace_span(INFO, "inner", ("text", "some bytes"));
        log_info("of a thread");
    }
    return unused;
}

/* Threads are in the middle of records then. */
Test(trace_start, starts_and_stops_beside_threads)
{
    pthread_t threads[3];
    struct trace_reader *reader;

    for (int i = 0; i < 3; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, record_until_over, NULL),
                     0);
    for (int i = 0; i < 200; i++) {
        cr_assert_eq(trace_start(test_path("out"), "limit=2M"), 0);
        trace_event(INFO, "of main");
        cr_assert_eq(trace_stop(), 0);
        reader = trace_reader_open(test_path("out/recording"));
        cr_assert_not_null(reader);
        cr_assert(test_count(reader, TRACE_ENTRY_EVENT, "of main") == 1 ||
                  trace_reader_summary(reader).lost[TRACE_LOSS_LIMIT]);
        trace_reader_close(reader);
    }
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* ---- Forks ---- */

static void stops(void)
{
    _exit(trace_stop() == -1 && errno == EINVAL ? 0 : 1);
}

static void records_much(void)
{
    for (int i = 0; i < 5000; i++)
        log_info("line %d of several chunks", i);
}

Test(trace_start, ignores_trace_stop_in_a_forked_child)
{
    cr_assert_eq(trace_start(test_path("out"), NULL), 0);
    cr_expect_eq(test_child(stops), 0);
    records_much();
    cr_assert_eq(trace_stop(), 0);
    cr_expect_eq(events_in("out", "line %d of several chunks"), 5000);
}

/* The file is cut at the stop; the child's records beyond that are dropped. */
Test(trace_start, survives_a_child_that_records_after_the_stop)
{
    int ends[2], status;
    char c;

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(trace_start(test_path("out"), NULL), 0);

    pid_t child = fork();

    if (!child) {
        close(ends[1]);
        if (read(ends[0], &c, 1) == 0)
            records_much();
        _exit(0);
    }
    cr_assert_eq(trace_stop(), 0);
    close(ends[1]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
}
