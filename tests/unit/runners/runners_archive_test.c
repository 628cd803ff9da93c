/* runners_archive_test.c: writes packs, and reads good, hostile and damaged
 * ones. The hostile ones are built here, byte by byte. */
#include "tests/support/support.h"

#include "runners/runs/archive.h"
#include "runners/runs/find.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

TestSuite(runners_archive, .init = test_folder);

static const struct archive_limits default_limits = RUNNERS_ARCHIVE_LIMITS;

/* ---- A tar file ---- */

enum { TAR_BLOCK = 512 };

struct tar {
    char bytes[64 * TAR_BLOCK];
    size_t size;
};

/* A header of tar(5), "ustar". */
static void put_header(char *block, const char *name, char type, size_t size,
                       const char *link)
{
    unsigned sum = 0;

    memset(block, 0, TAR_BLOCK);
    strncpy(block, name, 100);
    memcpy(block + 100, "0000644", 8);
    memcpy(block + 108, "0000000", 8);
    memcpy(block + 116, "0000000", 8);
    snprintf(block + 124, 12, "%011zo", size);
    memcpy(block + 136, "00000000000", 12);
    memset(block + 148, ' ', 8);
    block[156] = type;
    strncpy(block + 157, link, 100);
    memcpy(block + 257, "ustar", 6);
    memcpy(block + 263, "00", 2);
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum & 0777777);
}

static void add(struct tar *tar, const char *name, char type, const char *text)
{
    bool is_file = type == '0';
    size_t size = is_file ? strlen(text) : 0;

    put_header(tar->bytes + tar->size, name, type, size, is_file ? "" : text);
    tar->size += TAR_BLOCK;
    memcpy(tar->bytes + tar->size, text, size);
    tar->size += (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
}

static void add_run(struct tar *tar)
{
    add(tar, "nightly/run.json", '0', "{}");
}

static void save(const struct tar *tar)
{
    static char out[2 * sizeof(tar->bytes)];
    size_t all = ZSTD_compress(out, sizeof(out), tar->bytes,
                               tar->size + (size_t)2 * TAR_BLOCK, 1);

    cr_assert_not(ZSTD_isError(all));
    test_save(test_path("pack"), out, all);
}

/* ---- Reading ---- */

static char run[NAME_MAX + 1], why[1024];

static int read_limited(const struct archive_limits *most)
{
    int in = open(test_path("pack"), O_RDONLY | O_CLOEXEC);
    struct trace_text text = {0};
    int folder, status;

    mkdir(test_path("out"), 0700);
    folder = open(test_path("out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    status = runners_archive_read(in, folder, most, run, &text);
    snprintf(why, sizeof(why), "%s", text.data ? text.data : "");
    trace_text_free(&text);
    close(folder);
    close(in);
    return status;
}

/* Unpacks the pack; skips the test without libarchive. */
static int read_pack(void)
{
    int status = read_limited(&default_limits);

    if (strstr(why, "is missing"))
        cr_skip_test("no libarchive");
    return status;
}

static bool is_there(const char *name)
{
    return !access(test_path(name), F_OK);
}

Test(runners_archive, unpacks_files_and_folders)
{
    struct tar tar = {.size = 0};
    char *text;

    add(&tar, "nightly/", '5', "");
    add_run(&tar);
    add(&tar, "nightly/tests/a_test/a.b/output.txt", '0', "hello\n");
    save(&tar);
    cr_assert_eq(read_pack(), 0, "%s", why);
    cr_expect_str_eq(run, "nightly");
    text = test_load(test_path("out/nightly/tests/a_test/a.b/output.txt"),
                     &(size_t){0});
    cr_expect_str_eq(text, "hello\n");
}

/* ---- Hostile packs ---- */

static const struct {
    const char *name;
    char type;
    const char *text, *why;
} hostile[] = {
    {"nightly/link", '2', "/etc/passwd", "nightly/link is a symbolic link"},
    {"nightly/hard", '1', "nightly/run.json", "nightly/hard is a hard link"},
    {"nightly/null", '3', "", "nightly/null is a device or a socket"},
    {"nightly/disk", '4', "", "nightly/disk is a device or a socket"},
    {"nightly/pipe", '6', "", "nightly/pipe is a FIFO"},
    {"../up", '0', "x", "../up is not a name in a run"},
    {"nightly/../../up", '0', "x", "nightly/../../up is not a name in a run"},
    {"nightly/..", '5', "", "nightly/.. is not a name in a run"},
    {"/up", '0', "x", "/up is not a name in a run"},
    {"./nightly/x", '0', "x", "./nightly/x is not a name in a run"},
    {"nightly/.x", '0', "x", "nightly/.x is not a name in a run"},
    {"nightly/.git/config", '0', "x",
     "nightly/.git/config is not a name in a run"},
    {"nightly/scratch", '0', "x", "nightly/scratch names another folder"},
    {"nightly//x", '0', "x", "nightly//x is not a name in a run"},
    {"other/x", '0', "x", "other/x is not in the folder of the run"},
    {"night", '0', "x", "night is not in the folder of a run"},
    {"nightly", '0', "x", "nightly is not in the folder of a run"},
    {"nightly/scratch/x", '0', "x", "nightly/scratch/x names another folder"},
    {"nightly/run.json", '0', "x", "nightly/run.json exists twice"},
    {"nightly/run.json/x", '0', "x", "nightly/run.json/x Not a directory"},
    {"nightly/a\x1b[31mb", '3', "", "nightly/a?[31mb is a device or a socket"},
    {"nightly/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/"
     "25/26/27/28/29/30/31/32",
     '0', "x",
     "nightly/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/"
     "25/26/27/28/29/30/31/32 is not a name in a run"},
};

Test(runners_archive, refuses_hostile_entries)
{
    for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
        struct tar tar = {.size = 0};

        test_remove_tree(test_path("out"));
        add_run(&tar);
        add(&tar, hostile[i].name, hostile[i].type, hostile[i].text);
        save(&tar);
        cr_expect_eq(read_pack(), -1, "%s", hostile[i].name);
        cr_expect_str_eq(why, hostile[i].why);
        cr_expect_not(is_there("up"));
    }
}

/* The first entry names the folder. */
static const struct {
    const char *run;
    bool good;
} runs[] = {
    {"2026-11-22T01-16-53.725562", true},
    {"2026-11-22T01-16-53.725562+merged", true},
    {"a:b_C-9.", true},
    {"latest1", true},
    {"Latest", true},
    {".git", false},
    {".history", false},
    {"-x", false},
    {"latest", false},
    {"a b", false},
    {"a\\b", false},
    {"a\nb", false},
    {"\xc3\xa4", false},
    {"a~1", false},
};

Test(runners_archive, accepts_only_names_of_runs)
{
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        struct tar tar = {.size = 0};
        char name[64];

        test_remove_tree(test_path("out"));
        snprintf(name, sizeof(name), "%s/run.json", runs[i].run);
        add(&tar, name, '0', "{}");
        save(&tar);
        cr_expect_eq(read_pack(), runs[i].good ? 0 : -1, "%s: %s", name, why);
        if (runs[i].good)
            continue;
        cr_expect(strstr(why, " is in a folder whose name no run has") ||
                      strstr(why, " is not a name in a run"),
                  "%s", why);
        cr_expect_eq(rmdir(test_path("out")), 0, "%s", name);
    }
}

Test(runners_archive, refuses_what_is_no_run)
{
    struct tar tar = {.size = 0};

    save(&tar);
    cr_expect_eq(read_pack(), -1);
    cr_expect_str_eq(why, "it contains no run");
    add(&tar, "linux-6.1/README", '0', "Linux\n");
    save(&tar);
    cr_expect_eq(read_pack(), -1);
    cr_expect_str_eq(why, "it contains no run");
    test_save(test_path("pack"), "PK\3\4", 4);
    cr_expect_eq(read_pack(), -1);
    cr_expect_neq(why[0], '\0');
}

Test(runners_archive, refuses_more_files_than_the_limit)
{
    const struct archive_limits most = {.bytes = 1 << 20, .names = 4};
    struct tar tar = {.size = 0};

    add_run(&tar);
    add(&tar, "nightly/1", '0', "x");
    add(&tar, "nightly/2", '0', "x");
    save(&tar);
    cr_assert_eq(read_pack(), 0, "%s", why);
    test_remove_tree(test_path("out"));
    cr_expect_eq(read_limited(&most), 0, "%s", why);
    test_remove_tree(test_path("out"));
    add(&tar, "nightly/a/x", '0', "x");
    save(&tar);
    cr_expect_eq(read_limited(&most), -1);
    cr_expect_str_eq(why, "it has more than 4 files");
}

Test(runners_archive, refuses_more_bytes_than_the_limit)
{
    const struct archive_limits most = {.bytes = 1024, .names = 4};
    static char text[1025];
    struct tar tar = {.size = 0};

    memset(text, 'x', sizeof(text) - 1);
    add_run(&tar);
    add(&tar, "nightly/large", '0', text);
    save(&tar);
    cr_assert_eq(read_pack(), 0, "%s", why);
    test_remove_tree(test_path("out"));
    cr_expect_eq(read_limited(&most), -1);
    cr_expect_str_eq(why, "it expands to more than 1.0 KiB");
}

/* ---- Packs of our own ---- */

static char json[] = "run.json", output[] = "tests/p/s.t/output.txt",
            recording[] = "tests/p/s.t/recording";
static char *const names[] = {json, output, recording};

enum { NAMES = sizeof(names) / sizeof(*names), HOLE = 1 << 20 };

static void make_run(void)
{
    static char zeros[HOLE];

    mkdir(test_path("run"), 0700);
    mkdir(test_path("run/tests"), 0700);
    mkdir(test_path("run/tests/p"), 0700);
    mkdir(test_path("run/tests/p/s.t"), 0700);
    test_save(test_path("run/run.json"), "{}", 2);
    test_save(test_path("run/tests/p/s.t/output.txt"), "hello\n", 6);
    test_save(test_path("run/tests/p/s.t/recording"), zeros, HOLE);
}

static int write_pack(const char *to)
{
    int folder = open(test_path("run"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FILE *stream = fopen(test_path(to), "we");
    struct trace_text text = {0};
    int status;

    cr_assert_not_null(stream);
    status =
        runners_archive_write(stream, folder, "nightly", names, NAMES, &text);
    snprintf(why, sizeof(why), "%s", text.data ? text.data : "");
    trace_text_free(&text);
    fclose(stream);
    close(folder);
    if (strstr(why, "is missing"))
        cr_skip_test("no libarchive");
    return status;
}

Test(runners_archive, restores_what_it_packs)
{
    struct stat status;

    make_run();
    cr_assert_eq(write_pack("pack"), 0, "%s", why);
    cr_assert_eq(stat(test_path("pack"), &status), 0);
    cr_expect_lt(status.st_size, 1024);
    cr_assert_eq(read_pack(), 0, "%s", why);
    cr_assert_eq(stat(test_path("out/nightly/tests/p/s.t/recording"), &status),
                 0);
    cr_expect_eq(status.st_size, HOLE);
    cr_expect_lt(status.st_blocks, 64, "zeros are a hole");
}

Test(runners_archive, packs_the_same_run_into_the_same_bytes)
{
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    char *first, *second;
    size_t first_size, second_size;

    make_run();
    cr_assert_eq(write_pack("first"), 0, "%s", why);
    utimensat(AT_FDCWD, test_path("run/run.json"), old, 0);
    chmod(test_path("run/run.json"), 0600);
    cr_assert_eq(write_pack("second"), 0, "%s", why);
    first = test_load(test_path("first"), &first_size);
    second = test_load(test_path("second"), &second_size);
    cr_assert_eq(first_size, second_size);
    cr_expect_eq(memcmp(first, second, first_size), 0);
}

Test(runners_archive, names_a_file_that_it_cannot_read)
{
    make_run();
    unlink(test_path("run/tests/p/s.t/output.txt"));
    cr_expect_eq(write_pack("pack"), -1);
    cr_expect_str_eq(why, "cannot read tests/p/s.t/output.txt: No such file or "
                          "directory");
}

/* ---- Damaged packs ---- */

enum { ROUNDS = 120, STEP = 7 };

static void spoil(char *bytes, size_t size)
{
    for (uint32_t i = test_below(4) + 1; i; i--)
        bytes[test_below((uint32_t)size)] = (char)test_random();
}

/* The checksum finds damage to the compressed bytes; damage before compression
 * reaches the tar reader. */
Test(runners_archive, survives_random_damage)
{
    struct tar tar = {.size = 0}, spoilt;
    size_t size, refused = 0;
    char *bytes;

    test_seed(19);
    add(&tar, "nightly/", '5', "");
    add_run(&tar);
    add(&tar, "nightly/tests/p/s.t/output.txt", '0', "hello\n");
    make_run();
    cr_assert_eq(write_pack("whole"), 0, "%s", why);
    for (size_t i = 0; i < ROUNDS; i++) {
        spoilt = tar;
        spoil(spoilt.bytes, spoilt.size);
        save(&spoilt);
        if (i % 2) {
            bytes = test_load(test_path("whole"), &size);
            spoil(bytes, size);
            test_save(test_path("pack"), bytes, size);
        }
        test_remove_tree(test_path("out"));
        refused += read_pack() != 0;
        cr_expect(!*why || !strchr(why, '\n'), "%s", why);
    }
    cr_expect_gt(refused, ROUNDS / 2);
}

Test(runners_archive, refuses_truncated_packs)
{
    size_t size;
    char *bytes;

    make_run();
    cr_assert_eq(write_pack("whole"), 0, "%s", why);
    bytes = test_load(test_path("whole"), &size);
    for (size_t part = 0; part < size; part += STEP) {
        test_save(test_path("pack"), bytes, part);
        test_remove_tree(test_path("out"));
        cr_expect_eq(read_pack(), -1, "%zu of %zu bytes", part, size);
    }
}
