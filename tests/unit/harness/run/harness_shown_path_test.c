/* harness_shown_path_test.c: shortens paths below the working directory. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/machine/notice.h"
#include "tests/support/support.h"

static char base[PATH_MAX / 4]; /* the real path of the test's folder */

static void put_file(const char *path)
{
    FILE *file = fopen(path, "w");

    cr_assert_not_null(file);
    fclose(file);
}

/* Makes BASE/in/sub/a.c, BASE/inner/a.c and the link BASE/link to BASE/in, and
 * enters BASE/in. */
static void enter(void)
{
    test_folder();
    cr_assert_eq(chdir(test_path("")), 0);
    cr_assert_not_null(getcwd(base, sizeof(base)));
    cr_assert_eq(mkdir("in", 0777), 0);
    cr_assert_eq(mkdir("in/sub", 0777), 0);
    cr_assert_eq(mkdir("inner", 0777), 0);
    cr_assert_eq(symlink("in", "link"), 0);
    put_file("in/sub/a.c");
    put_file("inner/a.c");
    cr_assert_eq(chdir("in"), 0);
}

TestSuite(harness_shown_path, .init = enter);

/* Both are below `base` if they begin with a slash. */
static void expect(const char *path, const char *expected)
{
    char full[PATH_MAX], full_expected[PATH_MAX], buffer[PATH_MAX];

    snprintf(full, sizeof(full), "%s%s", path[0] == '/' ? base : "", path);
    snprintf(full_expected, sizeof(full_expected), "%s%s",
             expected[0] == '/' ? base : "", expected);
    cr_expect_str_eq(test_log_shown_path(full, buffer), full_expected);
}

Test(harness_shown_path, shortens_paths_below_the_working_directory)
{
    expect("/in/sub/a.c", "sub/a.c");
    expect("/in/missing.c", "missing.c");
}

Test(harness_shown_path, keeps_relative_paths)
{
    expect("sub/a.c", "sub/a.c");
    expect("../inner/a.c", "../inner/a.c");
    expect("", "");
    expect("?", "?");
}

Test(harness_shown_path, keeps_paths_elsewhere)
{
    expect("/inner/a.c", "/inner/a.c");
    expect("/in", "/in");
    expect("/in/../inner/a.c", "/in/../inner/a.c");
    expect("/in/../missing/a.c", "/in/../missing/a.c");
}

Test(harness_shown_path, follows_links_and_parents)
{
    expect("/link/sub/a.c", "sub/a.c");
    expect("/inner/../in/sub/a.c", "sub/a.c");
    expect("/in/sub/../sub/a.c", "sub/a.c");
}

Test(harness_shown_path, keeps_paths_if_the_working_directory_is_gone)
{
    cr_assert_eq(mkdir("gone", 0777), 0);
    cr_assert_eq(chdir("gone"), 0);
    cr_assert_eq(rmdir("../gone"), 0);
    expect("/in/sub/a.c", "/in/sub/a.c");
}
