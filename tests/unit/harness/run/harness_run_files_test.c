/* harness_run_files_test.c: files in a run's folder, and what tests may have
 * put in their place. */
#include "tests/support/support.h" /* defines TRACING */

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

static struct test_log_run run;
static struct test_log_result result, none;

static void begin(void)
{
    test_folder();
    cr_assert_eq(mkdir(test_path("run"), 0777), 0);
    cr_assert_eq(mkdir(test_path("run/s.t"), 0777), 0);
    run.path = strdup(test_path("run"));
    result.folder = strdup("s.t");
}

static void end(void)
{
    if (run.folder > 0)
        close(run.folder);
    free(run.path);
    free(result.folder);
}

TestSuite(harness_run_files, .init = begin, .fini = end, .timeout = 60);

static bool exists(const char *name)
{
    return !access(test_path(name), F_OK);
}

static void expect_text(const char *name, const char *text)
{
    cr_expect_str_eq(test_load(test_path(name), NULL), text);
}

/* ---- Files of the run ---- */

Test(harness_run_files, opens_files_below_the_path)
{
    int fd = test_log_open(&run, "s.t/file", O_WRONLY | O_CREAT);

    cr_assert_geq(fd, 0, "%s", strerror(errno));
    cr_expect_eq(test_log_write_all(fd, "text", 4), 0);
    close(fd);
    expect_text("run/s.t/file", "text");
}

/* A test may have moved the folder and made another one. */
Test(harness_run_files, prefers_the_open_folder_to_the_path)
{
    int fd;

    run.folder = open(run.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    cr_assert_gt(run.folder, 0);
    cr_assert_eq(rename(test_path("run"), test_path("moved")), 0);
    cr_assert_eq(mkdir(test_path("run"), 0777), 0);
    fd = test_log_open(&run, "file", O_WRONLY | O_CREAT);
    cr_assert_geq(fd, 0, "%s", strerror(errno));
    close(fd);
    cr_expect(exists("moved/file"));
    cr_expect_not(exists("run/file"));
}

Test(harness_run_files, opens_nothing_through_a_link)
{
    struct trace_file file;

    test_save(test_path("outside"), "outside", 7);
    cr_assert_eq(symlink(test_path("outside"), test_path("run/link")), 0);
    cr_assert_eq(symlink(test_path(""), test_path("run/up")), 0);
    cr_expect_eq(test_log_open(&run, "link", O_RDONLY), -1);
    cr_expect_eq(test_log_open(&run, "up/outside", O_RDONLY), -1);
    cr_expect_eq(test_log_create(&run, "up/new", &file), -1);
    cr_expect_eq(test_log_make_folder(&run, "up/new"), -1);
    cr_expect_eq(test_log_remove(&run, "up/outside"), -1);
    cr_expect(exists("outside"));
    cr_expect_not(exists("new"));
}

Test(harness_run_files, created_file_appears_when_it_is_complete)
{
    struct trace_file file;

    cr_assert_eq(test_log_create(&run, "report", &file), 0);
    fputs("text", file.stream);
    cr_expect_not(exists("run/report"));
    cr_expect_eq(trace_file_commit(&file), 0);
    expect_text("run/report", "text");
}

Test(harness_run_files, makes_and_removes)
{
    cr_expect_eq(test_log_make_folder(&run, "s.t/folder"), 0);
    cr_expect(exists("run/s.t/folder"));
    cr_expect_eq(test_log_make_folder(&run, "s.t/folder"), -1);
    cr_expect_eq(errno, EEXIST);
    test_save(test_path("run/s.t/file"), "", 0);
    cr_expect_eq(test_log_remove(&run, "s.t/file"), 0);
    cr_expect_not(exists("run/s.t/file"));
    cr_expect_eq(test_log_remove(&run, "s.t/file"), -1);
    cr_expect_eq(errno, ENOENT);
}

/* Returns how many functions fail because of `error`. */
static size_t failures(const char *name, int error)
{
    struct trace_file file;
    size_t count = 0;

    count += test_log_open(&run, name, O_RDONLY) == -1 && errno == error;
    count += test_log_create(&run, name, &file) == -1 && errno == error;
    count += test_log_make_folder(&run, name) == -1 && errno == error;
    count += test_log_remove(&run, name) == -1 && errno == error;
    return count;
}

Test(harness_run_files, fails_in_a_missing_folder)
{
    cr_expect_eq(failures("missing/file", ENOENT), 4);
}

Test(harness_run_files, fails_if_the_run_was_removed)
{
    test_remove_tree(run.path);
    cr_expect_eq(failures("file", ENOENT), 4);
}

Test(harness_run_files, fails_if_the_run_has_no_folder)
{
    char *path = run.path;

    run.path = NULL;
    cr_expect_eq(failures("file", ENOENT), 4);
    run.path = path;
}

/* ---- Files of a test ---- */

Test(harness_run_files, reads_what_was_created_for_a_test)
{
    struct trace_file file;
    char text[16] = "";
    FILE *stream;

    cr_assert_eq(test_log_create_file(&run, &result, "log.txt", &file), 0);
    fputs("line\n", file.stream);
    cr_assert_eq(trace_file_commit(&file), 0);
    expect_text("run/s.t/log.txt", "line\n");
    stream = test_log_read(&run, &result, "log.txt");
    cr_assert_not_null(stream);
    cr_expect_str_eq(fgets(text, sizeof(text), stream), "line\n");
    fclose(stream);
}

static int changes;

static int change(int folder, const char *name)
{
    changes++;
    cr_expect_str_eq(name, "s.t/recording");
    cr_expect_eq(faccessat(folder, name, F_OK, 0), 0);
    errno = EDOM;
    return -1;
}

Test(harness_run_files, hands_on_the_failure_to_change_a_recording)
{
    test_save(test_path("run/s.t/recording"), "", 0);
    cr_expect_eq(test_log_change_recording(&run, &result, change), -1);
    cr_expect_eq(errno, EDOM);
    cr_expect_eq(changes, 1);
}

Test(harness_run_files, opens_the_recording_of_a_test)
{
    struct trace_reader *reader;

    test_record();
    trace_event(INFO, "recorded");
    trace_close();
    cr_expect_null(test_log_recording(&run, &result));
    cr_assert_eq(rename(test_path("recording"), test_path("run/s.t/recording")),
                 0);
    reader = test_log_recording(&run, &result);
    cr_assert_not_null(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, "recorded"), 1);
    trace_reader_close(reader);
}

static void expect_no_files(const struct test_log_result *of, const char *name,
                            int error)
{
    struct trace_file file;
    char path[PATH_MAX];

    cr_expect_null(test_log_read(&run, of, name));
    cr_expect_eq(errno, error);
    cr_expect_eq(test_log_create_file(&run, of, name, &file), -1);
    cr_expect_eq(errno, error);
    cr_expect_eq(test_log_file(&run, of, name, path), -1);
    cr_expect_eq(errno, error);
}

Test(harness_run_files, test_without_a_folder_has_no_files)
{
    expect_no_files(&none, "log.txt", ENOENT);
    cr_expect_null(test_log_recording(&run, &none));
    cr_expect_eq(test_log_change_recording(&run, &none, change), -1);
    cr_expect_eq(errno, ENOENT);
    cr_expect_eq(changes, 0);
}

Test(harness_run_files, refuses_names_that_are_too_long)
{
    char name[PATH_MAX + 1];

    memset(name, 'x', PATH_MAX);
    name[PATH_MAX] = '\0';
    expect_no_files(&result, name, ENAMETOOLONG);
}

/* ---- Writing ---- */

static int ends[2];

static void *count_bytes(void *context)
{
    char piece[1000];
    ssize_t size;

    while ((size = read(ends[0], piece, sizeof(piece))) > 0)
        *(size_t *)context += (size_t)size;
    return NULL;
}

/* A pipe holds 64 KiB. */
Test(harness_run_files, writes_more_than_fits_at_once)
{
    enum { SIZE = 1000000 };
    char *data = calloc(1, SIZE);
    pthread_t reader;
    size_t count = 0;

    cr_assert(data && !pipe(ends));
    cr_assert_eq(pthread_create(&reader, NULL, count_bytes, &count), 0);
    cr_expect_eq(test_log_write_all(ends[1], data, SIZE), 0);
    close(ends[1]);
    pthread_join(reader, NULL);
    cr_expect_eq(count, SIZE);
    free(data);
}

static void make_room(int number)
{
    static char piece[1 << 16];

    (void)number;
    cr_assert_gt(read(ends[0], piece, sizeof(piece)), 0);
}

static void *interrupt(void *context)
{
    pthread_t *writer = context;

    test_until_waits(getpid()); /* or the write is not interrupted */
    pthread_kill(*writer, SIGUSR1);
    return NULL;
}

Test(harness_run_files, writes_on_after_a_signal)
{
    struct sigaction action = {.sa_handler = make_room};
    pthread_t self = pthread_self(), other;
    char data[4096] = "";

    cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], data, sizeof(data)) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    sigaction(SIGUSR1, &action, NULL);
    cr_assert_eq(pthread_create(&other, NULL, interrupt, &self), 0);
    cr_expect_eq(test_log_write_all(ends[1], data, sizeof(data)), 0);
    pthread_join(other, NULL);
}

Test(harness_run_files, full_disk_is_a_failure)
{
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        cr_skip_test("/dev/full is not here");
    cr_expect_eq(test_log_write_all(fd, "text", 4), -1);
    cr_expect_eq(errno, ENOSPC);
    cr_expect_eq(test_log_write_all(fd, "", 0), 0, "there was nothing");
    close(fd);
}

Test(harness_run_files, missing_reader_is_a_failure)
{
    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(pipe(ends), 0);
    close(ends[0]);
    cr_expect_eq(test_log_write_all(ends[1], "text", 4), -1);
    cr_expect_eq(errno, EPIPE);
}
