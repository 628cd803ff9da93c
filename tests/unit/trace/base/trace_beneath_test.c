/* trace_beneath_test.c: opens nothing outside a folder, and only regular files
 * of our own.
 */
#include "tests/support/support.h"

#include "trace/base/file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder;

static void begin(void)
{
    test_folder();
    cr_assert_eq(mkdir(test_path("run"), 0777), 0);
    cr_assert_eq(mkdir(test_path("run/tests"), 0777), 0);
    test_save(test_path("run/tests/file"), "text", 4);
    test_save(test_path("outside"), "outside", 7);
    folder = open(test_path("run"), O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    cr_assert_geq(folder, 0);
}

TestSuite(trace_beneath, .init = begin);

static void put_link(const char *target, const char *name)
{
    cr_assert_eq(symlink(target, test_path(name)), 0, "%s", strerror(errno));
}

static void expect_refused(const char *name, int flags, int error)
{
    int fd = trace_beneath(folder, name, flags);

    cr_expect_eq(fd, -1, "%s", name);
    cr_expect_eq(errno, error, "%s: %s", name, strerror(errno));
}

static void expect_content(const char *path, const char *expected)
{
    cr_expect_str_eq(test_load(test_path(path), NULL), expected, "%s", path);
}

Test(trace_beneath, opens_files_at_any_depth)
{
    char text[8] = "";
    int fd = trace_beneath(folder, "tests/file", O_RDONLY);

    cr_assert_geq(fd, 0);
    cr_expect_eq(read(fd, text, sizeof(text)), 4);
    cr_expect_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
    cr_expect_geq(trace_beneath(folder, "./tests/./file", O_RDONLY), 0);
    fd = trace_beneath(folder, "new", O_WRONLY | O_CREAT | O_EXCL);
    cr_expect_geq(fd, 0);
    expect_refused("tests/missing", O_RDONLY, ENOENT);
    expect_refused("missing/file", O_RDONLY, ENOENT);
}

Test(trace_beneath, does_not_follow_links)
{
    put_link("../outside", "run/link");
    put_link("../..", "run/tests/up");
    put_link("tests", "run/inside");
    expect_refused("link", O_RDONLY, ELOOP);
    expect_refused("link", O_WRONLY | O_CREAT, ELOOP);
    expect_refused("tests/up/outside", O_RDONLY, ENOTDIR);
    expect_refused("inside/file", O_RDONLY, ENOTDIR);
}

Test(trace_beneath, refuses_names_that_leave_the_folder)
{
    static const char *const names[] = {"",       "..",         ".",
                                        "/etc",   "../x",       "tests/../../x",
                                        "tests/", "tests//file"};
    char longest[NAME_MAX + 8];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        expect_refused(names[i], O_RDONLY, EINVAL);
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    expect_refused(longest, O_RDONLY, ENAMETOOLONG);
    longest[NAME_MAX + 2] = '/';
    expect_refused(longest, O_RDONLY, ENAMETOOLONG);
}

Test(trace_beneath, does_not_wait_for_a_fifo, .timeout = 20)
{
    cr_assert_eq(mkfifo(test_path("run/fifo"), 0600), 0);
    expect_refused("fifo", O_RDONLY, EINVAL);
    expect_refused("fifo", O_WRONLY, ENXIO);
    expect_refused("fifo", O_RDWR, EINVAL);
    cr_expect_null(trace_reader_beneath(folder, "fifo"));
    cr_expect_null(trace_reader_open(test_path("run/fifo")));
}

Test(trace_beneath, refuses_folders)
{
    expect_refused("tests", O_RDONLY, EINVAL);
    expect_refused("tests", O_WRONLY, EISDIR);
}

Test(trace_beneath, does_not_open_hard_links_for_writing)
{
    cr_assert_eq(link(test_path("outside"), test_path("run/second")), 0);
    expect_refused("second", O_WRONLY, EINVAL);
    cr_expect_geq(trace_beneath(folder, "second", O_RDONLY), 0);
}

Test(trace_beneath, refuses_a_file_of_another_user)
{
    if (geteuid())
        cr_skip_test("only root can give a file away");
    cr_assert_eq(chown(test_path("run/tests/file"), 65534, 65534), 0);
    expect_refused("tests/file", O_RDONLY, EPERM);
    /* On some file systems, one user owns all files. */
    cr_assert_eq(chown(test_path("run"), 65534, 65534), 0);
    cr_expect_geq(trace_beneath(folder, "tests/file", O_RDONLY), 0);
}

Test(trace_beneath, follows_links_in_a_path_that_a_user_gave)
{
    put_link("../outside", "run/link");
    cr_expect_geq(trace_beneath(AT_FDCWD, test_path("run/link"), O_RDONLY), 0);
}

/* ---- Files that are renamed when they are complete ---- */

static void write_text(const char *name, const char *text)
{
    struct trace_file file;

    cr_assert_eq(trace_file_beneath(&file, folder, name), 0, "%s",
                 strerror(errno));
    fputs(text, file.stream);
    cr_assert_eq(trace_file_commit(&file), 0, "%s", strerror(errno));
}

Test(trace_beneath, replaces_a_link_by_the_new_file)
{
    put_link("../outside", "run/log.txt");
    put_link("../../missing", "run/tests/log.txt");
    write_text("log.txt", "lines");
    write_text("tests/log.txt", "more");
    expect_content("outside", "outside");
    expect_content("run/log.txt", "lines");
    expect_content("run/tests/log.txt", "more");
    cr_expect(access(test_path("missing"), F_OK));
}

Test(trace_beneath, keeps_a_link_that_looks_like_a_part_file)
{
    char name[64];

    snprintf(name, sizeof(name), "run/log.txt.%ld.part", (long)getpid());
    put_link("../outside", name);
    write_text("log.txt", "lines");
    write_text("log.txt", "other lines");
    expect_content("outside", "outside");
    expect_content("run/log.txt", "other lines");
    cr_expect_not(access(test_path(name), F_OK));
}

Test(trace_beneath, fails_if_a_folder_has_the_file_s_name)
{
    struct trace_file file;

    cr_assert_eq(trace_file_beneath(&file, folder, "tests"), 0);
    cr_expect_eq(trace_file_commit(&file), -1);
    cr_expect_eq(errno, EISDIR);
    cr_expect_eq(trace_file_beneath(&file, folder, "missing/x"), -1);
    cr_expect_eq(errno, ENOENT);
    cr_expect_null(file.stream);
}

Test(trace_beneath, commits_into_the_folder_in_which_it_was_opened)
{
    struct trace_file file;

    cr_assert_eq(trace_file_beneath(&file, folder, "tests/x"), 0);
    cr_assert_eq(rename(test_path("run/tests"), test_path("run/old")), 0);
    put_link("..", "run/tests");
    cr_expect_eq(trace_file_commit(&file), 0);
    cr_expect_eq(access(test_path("run/old/x"), F_OK), 0);
}
