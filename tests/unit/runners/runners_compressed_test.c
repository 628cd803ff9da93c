/* runners_compressed_test.c: compresses recordings and reads them again. */
#include "tests/support/support.h"

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/compress.h"
#include "runners/runners.h"
#include "runners/runs/find.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <zstd.h>

static char *printed;
static size_t printed_size;

static void set_up(void)
{
    test_folder();
    test_log_out = open_memstream(&printed, &printed_size);
}

static void tear_down(void)
{
    fclose(test_log_out);
    free(printed);
}

TestSuite(runners_compressed, .init = set_up, .fini = tear_down);

enum { MANY = 20000, FEW = 10 };

/* Records `count` spans and lines; returns the lines, which are kept. */
static char *record(int count)
{
    test_record();
    for (int i = 0; i < count; i++) {
        trace_span(INFO, "step", (i));
        log_info("line %d", i);
    }
    trace_close();
    cr_assert_eq(trace_shrink(test_path("recording")), 0);
    return test_lines(test_read(), "trace", &(struct log_style){0});
}

static const char *printed_so_far(void)
{
    fflush(test_log_out);
    return printed;
}

static void compress(void)
{
    char nowhere[] = "nowhere", here[] = ".";
    struct test_log_try before = {.folder = nowhere};
    struct test_log_result result = {
        .folder = here, .earlier = &before, .earlier_count = 1};
    struct test_log_run run = {.results = &result, .count = 1};

    run.path = strdup(test_path("."));
    test_log_compress(&run, NULL);
    free(run.path);
}

static bool is_there(const char *name)
{
    return !access(test_path(name), F_OK);
}

static void expect_lines(struct trace_reader *reader, const char *lines)
{
    cr_assert_not_null(reader, "%s: %s", strerror(errno), printed_so_far());
    cr_expect_str_eq(test_lines(reader, "trace", &(struct log_style){0}),
                     lines);
    trace_reader_close(reader);
}

/* ---- Compression ---- */

Test(runners_compressed, compresses_without_loss)
{
    char *lines = record(MANY);
    struct stat before, after;

    stat(test_path("recording"), &before);
    compress();
    cr_expect_not(is_there("recording"));
    cr_assert_eq(stat(test_path("recording.zst"), &after), 0);
    cr_expect_lt(after.st_size, before.st_size / 2);
    expect_lines(runners_open(test_path("recording")), lines);
    expect_lines(runners_open(test_path("recording.zst")), lines);
    cr_expect_str_eq(printed_so_far(), "");
}

Test(runners_compressed, compresses_only_once)
{
    char *lines = record(MANY);

    compress();
    compress();
    expect_lines(runners_open(test_path("recording")), lines);
}

Test(runners_compressed, keeps_small_recordings)
{
    record(FEW);
    compress();
    cr_expect(is_there("recording"));
    cr_expect_not(is_there("recording.zst"));
}

/* The process may still be writing. */
Test(runners_compressed, keeps_a_recording_without_an_end)
{
    test_record();
    for (int i = 0; i < MANY; i++)
        log_info("line %d", i);
    compress();
    cr_expect(is_there("recording"));
    cr_expect_not(is_there("recording.zst"));
    trace_close();
    compress();
    cr_expect_not(is_there("recording"));
}

Test(runners_compressed, reads_the_beginning_of_a_compressed_recording)
{
    const char *const metadata[] = {"test", "suite/name", NULL};
    const struct trace_options options = {.limit = TRACE_LIMIT_LEAST * 64,
                                          .meta = metadata};
    struct trace_reader *reader;

    cr_assert_eq(trace_open(test_path("recording"), &options), 0);
    for (int i = 0; i < MANY; i++)
        log_info("line %d", i);
    trace_close();
    compress();
    reader = runners_open_beginning(test_path("recording"));
    cr_assert_not_null(reader);
    cr_expect_str_eq(trace_reader_meta(reader, "test"), "suite/name");
    trace_reader_close(reader);
}

/* ---- Errors ---- */

static size_t parts(void)
{
    size_t count;
    glob_t found;

    glob(test_path("*.part"), 0, NULL, &found);
    count = found.gl_pathc;
    globfree(&found);
    return count;
}

Test(runners_compressed, keeps_the_recording_if_the_disk_is_full)
{
    struct rlimit limit = {.rlim_cur = 1000, .rlim_max = RLIM_INFINITY};
    char *lines = record(MANY);

    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    compress();
    limit.rlim_cur = RLIM_INFINITY;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_expect_str_eq(printed_so_far(),
                     "testlog: cannot compress recordings: File too large; "
                     "they stay uncompressed\n");
    cr_expect(is_there("recording"));
    cr_expect_not(is_there("recording.zst"));
    cr_expect_eq(parts(), 0);
    expect_lines(runners_open(test_path("recording")), lines);
}

/* As if the runner had been killed before it removed the original. */
Test(runners_compressed, prefers_the_uncompressed_recording)
{
    char *lines = record(MANY);

    test_save(test_path("recording.zst"), "half", 4);
    expect_lines(runners_open(test_path("recording")), lines);
    compress();
    cr_expect_not(is_there("recording"));
    expect_lines(runners_open(test_path("recording")), lines);
}

Test(runners_compressed, does_not_call_a_missing_recording_damaged)
{
    cr_expect_not(runners_is_there(test_path("recording")));
    cr_expect_null(runners_open(test_path("recording")));
    cr_expect_eq(errno, ENOENT);
    cr_expect_str_eq(printed_so_far(), "");
}

static void expect_damaged(const char *bytes, size_t size, const char *what)
{
    size_t before = (printed_so_far(), printed_size);

    test_save(test_path("recording.zst"), bytes, size);
    cr_expect_null(runners_open(test_path("recording")), "%s", what);
    cr_expect_eq(errno, EBADMSG, "%s: %s", what, strerror(errno));
    printed_so_far();
    cr_expect_eq(strncmp(printed + before, "testlog: cannot read ", 21), 0);
    cr_expect_eq(strchr(printed + before, '\n'), printed + printed_size - 1,
                 "%s", printed + before);
}

Test(runners_compressed, reports_damage_in_one_line)
{
    char *lines = record(MANY), *bytes, what[64];
    size_t size;

    compress();
    bytes = test_load(test_path("recording.zst"), &size);
    for (size_t i = 0; i < size; i += i < 32 ? 1 : size / 40) {
        snprintf(what, sizeof(what), "cut to %zu", i);
        expect_damaged(bytes, i, what);
        snprintf(what, sizeof(what), "byte %zu", i);
        bytes[i] ^= 0x55;
        expect_damaged(bytes, size, what);
        bytes[i] ^= 0x55;
    }
    expect_damaged("any text", 8, "text");
    test_save(test_path("recording.zst"), bytes, size);
    expect_lines(runners_open(test_path("recording")), lines);
}

/* ---- Bombs ---- */

enum { MIB = 1 << 20 };

static void add_frame(FILE *out, const char *bytes, size_t size, size_t times)
{
    static char compressed[MIB];
    ZSTD_CCtx *context = ZSTD_createCCtx();

    for (size_t i = 0; i < times; i++) {
        ZSTD_inBuffer in = {bytes, size, 0};
        ZSTD_outBuffer to = {compressed, sizeof(compressed), 0};

        cr_assert_eq(
            ZSTD_compressStream2(context, &to, &in,
                                 i + 1 == times ? ZSTD_e_end : ZSTD_e_flush),
            0);
        cr_assert_eq(fwrite(compressed, 1, to.pos, out), to.pos);
    }
    ZSTD_freeCCtx(context);
}

/* Writes a recording, if `whole`, and `size` MiB of one byte after it. */
static void make_bomb(bool whole, char byte, size_t size)
{
    FILE *out = fopen(test_path("recording.zst"), "we");
    char *bytes, *fill = malloc(MIB);
    size_t length;

    cr_assert(out && fill);
    memset(fill, byte, MIB);
    bytes = test_load(test_path("recording"), &length);
    cr_assert_eq(unlink(test_path("recording")), 0);
    if (whole) { /* the recording must share a frame with the rest */
        char *all = calloc(1, MIB);

        cr_assert(all && length <= MIB);
        memset(all, byte, MIB);
        memcpy(all, bytes, length);
        add_frame(out, all, MIB, 1);
        free(all);
    }
    add_frame(out, fill, MIB, size);
    free(fill);
    cr_assert_eq(fclose(out), 0);
}

/* Limits files to 16 MiB. */
static void limit_files(void)
{
    struct rlimit limit = {16 * MIB, 16 * MIB};

    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

Test(runners_compressed, expands_zeros_without_disk_space)
{
    char *lines = record(FEW);

    make_bomb(true, 0, 1000);
    limit_files();
    expect_lines(runners_open(test_path("recording")), lines);
    cr_expect_str_eq(printed_so_far(), "");
}

static void expect_refused(const char *why)
{
    cr_expect_null(runners_open(test_path("recording")));
    cr_expect_eq(errno, EBADMSG);
    cr_expect_not_null(strstr(printed_so_far(), why), "%s", printed);
}

Test(runners_compressed, does_not_expand_other_files)
{
    record(FEW);
    make_bomb(false, 'x', 1000);
    limit_files();
    expect_refused("/recording.zst: it is not a recording\n");
}

Test(runners_compressed, leaves_half_of_the_disk_free)
{
    struct statvfs disk;

    record(FEW);
    make_bomb(true, 'x', 100);
    cr_assert_eq(mkdir(test_path("small"), 0777), 0);
    if (mount("testlog", test_path("small"), "tmpfs", 0, "size=16m"))
        cr_skip_test("no permission to mount a small disk");
    setenv("TMPDIR", test_path("small"), 1);
    expect_refused(
        "/recording.zst: it needs more than half of the free space in "
        "TMPDIR\n");
    cr_expect_eq(statvfs(test_path("small"), &disk), 0);
    cr_expect_eq(disk.f_bavail, disk.f_blocks);
    umount2(test_path("small"), MNT_DETACH);
}

Test(runners_compressed, needs_no_folder_for_temporary_files)
{
    char *lines = record(MANY);

    compress();
    setenv("TMPDIR", "/nowhere", 1);
    expect_lines(runners_open(test_path("recording")), lines);
}
