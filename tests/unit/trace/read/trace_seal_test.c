/* trace_seal_test.c: shrinks the recordings of processes that have ended. */
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(trace_seal, .init = test_folder, .timeout = 60);

static off_t size_of(const char *path)
{
    struct stat status;

    cr_assert_eq(stat(path, &status), 0, "%s: %s", path, strerror(errno));
    return status.st_size;
}

static void expect_events(const char *path, const char *name, size_t count)
{
    struct trace_reader *reader = trace_reader_open(path);

    cr_assert_not_null(reader);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, name), count);
    trace_reader_close(reader);
}

/* ---- Recordings that no process writes ---- */

static void record_little(void)
{
    test_record();
    trace_event(INFO, "little");
    trace_close();
}

Test(trace_seal, cuts_a_recording_after_its_last_record)
{
    off_t size;

    cr_assert_eq(test_child(record_little), 0);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    size = size_of(test_path("recording"));
    if (size == TRACE_HEADER_SIZE + TRACE_CHUNK_SIZE)
        cr_skip_test("leases prove nothing on this file system");
    cr_expect_lt(size, TRACE_HEADER_SIZE + 1024);
    expect_events(test_path("recording"), "little", 1);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    cr_expect_eq(size_of(test_path("recording")), size);
}

static void record_zeros(void)
{
    static const char zeros[20000];

    test_record();
    for (int i = 0; i < 3; i++)
        trace_event(INFO, "zeros", ("bytes", trace_bytes(zeros, 20000)));
    trace_close();
}

Test(trace_seal, keeps_records_that_end_in_zeros)
{
    cr_assert_eq(test_child(record_zeros), 0);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    expect_events(test_path("recording"), "zeros", 3);
}

static void record_nothing(void)
{
    test_record();
}

Test(trace_seal, shrinks_an_empty_recording)
{
    cr_assert_eq(test_child(record_nothing), 0);
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    expect_events(test_path("recording"), "little", 0);
}

/* ---- A child that outlives its parent ---- */

static int ends[2];
static const char *folder;

static void wait_and_record(void)
{
    char go;

    close(ends[1]);
    if (read(ends[0], &go, 1) < 0)
        _exit(2);
    for (int i = 0; i < 5000; i++)
        trace_event(INFO, "of the survivor", ("i", i));
    _exit(0);
}

/* Leaves a child that has begun a piece and continues once `ends` is closed. */
static void leave_a_child(void)
{
    struct trace_options options = {.limit = 4 << 20};
    char path[PATH_MAX];
    int begun[2];

    snprintf(path, sizeof(path), "%s/recording", folder);
    if (pipe(begun) || trace_open(path, &options))
        _exit(1);
    trace_event(INFO, "little");

    pid_t child = fork();

    if (!child) {
        trace_event(INFO, "of the survivor");
        close(begun[0]);
        close(begun[1]);
        wait_and_record();
    }
    close(begun[1]);
    _exit(read(begun[0], path, 1) != 0);
}

/* Returns the status of the child, which this process adopts. */
static int outlive(const char *in)
{
    int status = -1;

    folder = in;
    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(test_child(leave_a_child), 0);

    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/recording", in);
    cr_assert_eq(trace_shrink(path), 0);
    cr_expect_eq(size_of(path) % TRACE_CHUNK_SIZE, TRACE_HEADER_SIZE);
    expect_events(path, "little", 1);
    close(ends[1]);
    cr_assert_gt(wait(&status), 0);
    return status;
}

Test(trace_seal, keeps_chunks_that_a_child_may_write_to)
{
    char in[PATH_MAX];

    snprintf(in, sizeof(in), "%s", test_path(""));
    cr_expect_eq(outlive(in), 0, "the child died");
}

/* On overlayfs, a mapping does not prevent a lease. */
Test(trace_seal, keeps_chunks_where_leases_prove_nothing)
{
    char options[PATH_MAX * 4], in[PATH_MAX];
    static const char *const folders[] = {"tmp", "tmp/l", "tmp/u", "tmp/w",
                                          "over"};

    mkdir(test_path("tmp"), 0777);
    if (mount("none", test_path("tmp"), "tmpfs", 0, "size=16m"))
        cr_skip_test("cannot mount");
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        mkdir(test_path(folders[i]), 0777);
    snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s",
             test_path("tmp/l"), test_path("tmp/u"), test_path("tmp/w"));
    if (mount("none", test_path("over"), "overlay", 0, options)) {
        umount2(test_path("tmp"), MNT_DETACH);
        cr_skip_test("no overlayfs");
    }
    snprintf(in, sizeof(in), "%s", test_path("over"));

    int status = outlive(in);

    umount2(test_path("over"), MNT_DETACH);
    umount2(test_path("tmp"), MNT_DETACH);
    cr_expect_eq(status, 0, "the child died");
}
