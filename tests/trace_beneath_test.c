/* trace_beneath_test.c: nothing is opened outside a folder, nor what is no file
 * of ours.
 */
#include "support.h"

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

static void refuses(const char *name, int flags, int error)
{
    int fd = trace_beneath(folder, name, flags);

    cr_expect_eq(fd, -1, "%s", name);
    cr_expect_eq(errno, error, "%s: %s", name, strerror(errno));
}

static void contains(const char *path, const char *expected)
{
    char *text = test_load(test_path(path), NULL);

    cr_expect_str_eq(text, expected, "%s", path);
    free(text);
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
    refuses("tests/missing", O_RDONLY, ENOENT);
    refuses("missing/file", O_RDONLY, ENOENT);
}

Test(trace_beneath, follows_no_link)
{
    put_link("../outside", "run/link");
    put_link("../..", "run/tests/up");
    put_link("tests", "run/inside");
    refuses("link", O_RDONLY, ELOOP);
    refuses("link", O_WRONLY | O_CREAT, ELOOP);
    refuses("tests/up/outside", O_RDONLY, ENOTDIR);
    refuses("inside/file", O_RDONLY, ENOTDIR);
}

Test(trace_beneath, refuses_names_that_lead_elsewhere)
{
    static const char *const names[] = {"",       "..",         ".",
                                        "/etc",   "../x",       "tests/../../x",
                                        "tests/", "tests//file"};
    char longest[NAME_MAX + 8];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        refuses(names[i], O_RDONLY, EINVAL);
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    refuses(longest, O_RDONLY, ENAMETOOLONG);
    longest[NAME_MAX + 2] = '/';
    refuses(longest, O_RDONLY, ENAMETOOLONG);
}

Test(trace_beneath, waits_for_no_fifo, .timeout = 20)
{
    cr_assert_eq(mkfifo(test_path("run/fifo"), 0600), 0);
    refuses("fifo", O_RDONLY, EINVAL);
    refuses("fifo", O_WRONLY, ENXIO);
    refuses("fifo", O_RDWR, EINVAL);
    cr_expect_null(trace_reader_beneath(folder, "fifo"));
    cr_expect_null(trace_reader_open(test_path("run/fifo")));
}

Test(trace_beneath, refuses_folders)
{
    refuses("tests", O_RDONLY, EINVAL);
    refuses("tests", O_WRONLY, EISDIR);
}

Test(trace_beneath, changes_no_file_that_has_another_name)
{
    cr_assert_eq(link(test_path("outside"), test_path("run/second")), 0);
    refuses("second", O_WRONLY, EINVAL);
    cr_expect_geq(trace_beneath(folder, "second", O_RDONLY), 0);
}

Test(trace_beneath, refuses_a_file_of_another_user)
{
    if (geteuid())
        cr_skip_test("only root can give a file away");
    cr_assert_eq(chown(test_path("run/tests/file"), 65534, 65534), 0);
    refuses("tests/file", O_RDONLY, EPERM);
    /* All files of some file systems have one owner. */
    cr_assert_eq(chown(test_path("run"), 65534, 65534), 0);
    cr_expect_geq(trace_beneath(folder, "tests/file", O_RDONLY), 0);
}

Test(trace_beneath, goes_wherever_a_person_s_path_leads)
{
    put_link("../outside", "run/link");
    cr_expect_geq(trace_beneath(AT_FDCWD, test_path("run/link"), O_RDONLY), 0);
}

/* ---- Files that appear complete ---- */

static void write_text(const char *name, const char *text)
{
    struct trace_file file;

    cr_assert_eq(trace_file_beneath(&file, folder, name), 0, "%s",
                 strerror(errno));
    fputs(text, file.stream);
    cr_assert_eq(trace_file_commit(&file), 0, "%s", strerror(errno));
}

Test(trace_beneath, a_new_file_takes_the_place_of_a_link)
{
    put_link("../outside", "run/log.txt");
    put_link("../../missing", "run/tests/log.txt");
    write_text("log.txt", "lines");
    write_text("tests/log.txt", "more");
    contains("outside", "outside");
    contains("run/log.txt", "lines");
    contains("run/tests/log.txt", "more");
    cr_expect(access(test_path("missing"), F_OK));
}

Test(trace_beneath, a_link_where_a_file_is_written_first_is_removed)
{
    char name[64];

    snprintf(name, sizeof(name), "run/log.txt.%ld.part", (long)getpid());
    put_link("../outside", name);
    write_text("log.txt", "lines");
    contains("outside", "outside");
    contains("run/log.txt", "lines");
    cr_expect(access(test_path(name), F_OK));
}

Test(trace_beneath, a_folder_in_a_file_s_place_is_an_error)
{
    struct trace_file file;

    cr_assert_eq(trace_file_beneath(&file, folder, "tests"), 0);
    cr_expect_eq(trace_file_commit(&file), -1);
    cr_expect_eq(errno, EISDIR);
    cr_expect_eq(trace_file_beneath(&file, folder, "missing/x"), -1);
    cr_expect_eq(errno, ENOENT);
    cr_expect_null(file.stream);
}

Test(trace_beneath, a_file_stays_in_the_folder_that_it_was_begun_in)
{
    struct trace_file file;

    cr_assert_eq(trace_file_beneath(&file, folder, "tests/x"), 0);
    cr_assert_eq(rename(test_path("run/tests"), test_path("run/old")), 0);
    put_link("..", "run/tests");
    cr_expect_eq(trace_file_commit(&file), 0);
    cr_expect_eq(access(test_path("run/old/x"), F_OK), 0);
}
