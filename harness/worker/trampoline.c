/* trampoline.c: runs in place of an annotated test: starts its recording,
 * captures its output, and calls the test. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <testlog/test_log.h>

#include "harness/harness.h"
#include "harness/watch.h"

static struct test_log_entry *entries;
static char test_name[512];
static bool whole; /* this test is not annotated, yet has log and trace */

void test_log_register(struct test_log_entry *entry)
{
    __asm__ volatile("" : : "r"(&test_log_before_all)); /* links the runner */
    entry->next = entries;
    entries = entry;
}

/* An instance of a parameterized test is called "name[07]", a repetition
 * "name#2". */
static bool same_test(const char *own, const char *name)
{
    size_t size = strlen(own);

    return !strncmp(own, name, size) &&
           (!name[size] || name[size] == '[' || name[size] == '#');
}

static struct test_log_entry *find(const char *suite, const char *name)
{
    for (struct test_log_entry *entry = entries; entry; entry = entry->next)
        if (!strcmp(entry->test->category, suite) &&
            same_test(entry->test->name, name))
            return entry;
    return NULL;
}

bool test_log_annotated(void)
{
    return entries != NULL;
}

bool test_log_entry_filter(const char *suite, const char *name,
                           const char **filter)
{
    struct test_log_entry *entry = find(suite, name);

    if (entry)
        *filter = entry->filter;
    return entry != NULL;
}

void test_log_entry_place(const char *suite, const char *name,
                          const char **file, unsigned *line)
{
    struct test_log_entry *entry = find(suite, name);

    if (entry) {
        *file = entry->test->data->file_;
        *line = entry->test->data->line_;
    }
}

static bool is_set(const char *text)
{
    return text[0] == '1';
}

/* Opens where what the test prints goes: to a new file, not to what another
 * test has put there. */
static int open_output(const struct test_log_session *session,
                       const char *folder)
{
    int in, fd;

    if (is_set(session->drained))
        return test_log_output_pipe_enter(folder);
    in = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    fd = openat(in, "output.txt",
                O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (in >= 0)
        close(in);
    return fd;
}

/* Nothing stays in a buffer that would be lost if the process dies. */
static void capture(const struct test_log_session *session, const char *folder)
{
    int fd = open_output(session, folder);

    if (fd < 0)
        return;
    fflush(NULL);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

/* The lines go to the stderr that the test began with, whatever it does to its
 * own: a copy, out of the way of the numbers that a test may count on. */
static int line_output(void)
{
    int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 200);

    return fd < 0 ? STDERR_FILENO : fd;
}

static struct trace_anchor origin_of(const char *text)
{
    unsigned long long ticks = 0, monotonic = 0, wall = 0;

    sscanf(text, "%llu %llu %llu", &ticks, &monotonic, &wall);
    return (struct trace_anchor){ticks, monotonic, wall};
}

static int subscribe(const struct test_log_session *session, const char *show)
{
    struct log_options options = {
        .show = show,
        .record = session->record,
        .live = is_set(session->live),
        .style = {.format = (enum log_format)atoi(session->format),
                  .time = (enum log_time)atoi(session->time),
                  .span_events = (unsigned)atoi(session->span_events),
                  .color = is_set(session->color),
                  .test = is_set(session->prefix) ? test_name : NULL},
    };

    if (options.live)
        options.fd = line_output();
    return log_subscribe(&options);
}

/* Another test may have put a link in its place. */
static bool is_folder(const char *path)
{
    struct stat status;

    return !lstat(path, &status) && S_ISDIR(status.st_mode);
}

/* A test that cannot be recorded runs all the same; the runner says so. */
static void record(const struct test_log_session *session, const char *folder,
                   const char *show, const char *show_origin)
{
    const char *const meta[] = {"test",
                                test_name,
                                "log",
                                show,
                                "log_origin",
                                show_origin,
                                "filter",
                                session->record,
                                "filter_origin",
                                session->record_origin,
                                "runner",
                                session->runner,
                                NULL};
    struct trace_options options = {
        .limit = strtoull(session->limit, NULL, 10),
        .origin = origin_of(session->origin),
        .meta = meta,
    };
    char path[PATH_MAX];
    bool opened = false;

    if (is_folder(folder) &&
        snprintf(path, sizeof(path), "%s/recording", folder) < PATH_MAX) {
        opened = !trace_open(path, &options);
        if (!opened)
            trace_refuse(path, errno);
    }
    if (!opened && is_set(session->live))
        opened = !trace_open(NULL, &options);
    if (!opened)
        return;
    trace_device_publish();
    trace_invite();
}

static void begin(const char *filter, const struct test_log_session *session)
{
    const struct criterion_test *test = criterion_current_test;
    bool own = filter && !strcmp(session->show_origin, "default");
    char *show =
        test_log_filter_of(session->show, session->show_origin, filter);
    char folder[PATH_MAX];

    snprintf(test_name, sizeof(test_name), "%s/%s", test->category, test->name);
    if (!show ||
        snprintf(folder, sizeof(folder), "%s/%s.%s%s", session->folder,
                 test->category, test->name, session->attempt) >= PATH_MAX) {
        free(show);
        return;
    }
    if (!is_set(session->live))
        capture(session, folder);
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!subscribe(session, show)) {
        record(session, folder, show, own ? "test" : session->show_origin);
        trace_compilers_watch();
        atexit(trace_close);
    }
    free(show);
}

static void end(void)
{
    trace_unwind(0);
    trace_close();
}

void test_log_trampoline(void)
{
    static struct test_log_session session; /* no leak until the end */
    struct test_log_entry *entry =
        find(criterion_current_test->category, criterion_current_test->name);

    if (!entry)
        abort(); /* the runner only swaps in annotated tests */
    if (test_log_session_import(&session))
        begin(entry->filter, &session);
    entry->test->test();
    end();
}

/* An annotated test has taken the session already. */
void test_log_worker_begin(void)
{
    const char *all = getenv("TESTLOG_SESSION_ALL_TESTS");
    static struct test_log_session session; /* no leak until the end */

    if (!all || !is_set(all) || !test_log_session_import(&session))
        return;
    whole = true;
    begin(NULL, &session);
}

void test_log_worker_end(void)
{
    if (whole)
        end();
}
