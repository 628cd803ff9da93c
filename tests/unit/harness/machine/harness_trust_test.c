/* harness_trust_test.c: which users' files are trusted. */
#include "harness/run/folder/run_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

enum { STRANGER = 54321 };

static void begin(void)
{
    test_folder();
    unsetenv("SUDO_UID");
    cr_assert_eq(mkdir(test_path("folder"), 0755), 0);
    test_save(test_path("folder/file"), "", 0);
    cr_assert_eq(chmod(test_path("folder"), 0755), 0);
    cr_assert_eq(chmod(test_path("folder/file"), 0644), 0);
}

TestSuite(harness_trust, .init = begin, .fini = test_log_trust_end);

static void give_away(const char *name)
{
    if (geteuid())
        cr_skip_test("only root can give a file away");
    cr_assert_eq(lchown(test_path(name), STRANGER, STRANGER), 0, "%s",
                 strerror(errno));
}

static void change(const char *name, mode_t mode)
{
    cr_assert_eq(chmod(test_path(name), mode), 0);
}

/* Resolves links first, like test_log_gpu_library. */
static bool trusts(const char *name)
{
    char *path = realpath(test_path(name), NULL);
    bool answer = path && test_log_trusts_file(path);

    free(path);
    return answer;
}

Test(harness_trust, trusts_root_and_itself)
{
    cr_expect(test_log_trusts(0));
    cr_expect(test_log_trusts(geteuid()));
    cr_expect_not(test_log_trusts(STRANGER));
}

Test(harness_trust, trusts_the_caller_of_sudo)
{
    if (geteuid())
        cr_skip_test("only root can be called by sudo");
    setenv("SUDO_UID", "54321", 1);
    cr_expect(test_log_trusts(STRANGER));
    cr_expect_not(test_log_trusts(STRANGER + 1));
    setenv("SUDO_UID", "54321x", 1);
    cr_expect_not(test_log_trusts(STRANGER));
}

static void become_nobody(void)
{
    if (setresuid(65534, 65534, 65534))
        _exit(2);
    setenv("SUDO_UID", "54321", 1);
    _exit(test_log_trusts(STRANGER) || !test_log_trusts(65534));
}

Test(harness_trust, trusts_no_sudo_of_an_ordinary_user)
{
    if (geteuid())
        cr_skip_test("only root can become another user");
    cr_expect_eq(test_child(become_nobody), 0);
}

Test(harness_trust, trusts_the_owner_of_a_programs_folder)
{
    give_away("folder");
    cr_expect_not(test_log_trusts(STRANGER));
    test_log_trust_program(test_path("folder/missing"));
    cr_expect_not(test_log_trusts(STRANGER));
    test_log_trust_program(test_path("folder/file"));
    cr_expect(test_log_trusts(STRANGER));
    test_log_trust_end();
    cr_expect_not(test_log_trusts(STRANGER));
}

/* ---- Folders ---- */

Test(harness_trust, trusts_no_folder_or_link_of_a_stranger)
{
    uid_t owner = 0;

    cr_assert_eq(symlink("folder", test_path("link")), 0);
    cr_expect(test_log_trusts_folder(test_path("missing"), &owner));
    cr_expect(test_log_trusts_folder(test_path("folder"), &owner));
    cr_expect(test_log_trusts_folder(test_path("link"), &owner));
    give_away("link");
    cr_expect_not(test_log_trusts_folder(test_path("link"), &owner));
    cr_expect_eq(owner, STRANGER);
    give_away("folder");
    cr_expect_not(test_log_trusts_folder(test_path("folder"), &owner));
}

/* ---- Files ---- */

Test(harness_trust, trusts_a_file_that_nobody_else_can_replace)
{
    cr_expect(trusts("folder/file"));
    cr_expect_not(trusts("folder/missing"));
    cr_expect_not(test_log_trusts_file("folder/file"), "a relative path");
}

Test(harness_trust, trusts_no_file_that_others_can_write)
{
    change("folder/file", 0666);
    cr_expect_not(trusts("folder/file"));
}

Test(harness_trust, trusts_no_file_in_a_folder_that_others_can_write)
{
    change("folder", 0777);
    cr_expect_not(trusts("folder/file"));
    change("folder", 01777);
    cr_expect_not(trusts("folder/file"), "others may add the next one");
    change("folder", 0755);
    change("", 0777);
    cr_expect_not(trusts("folder/file"), "others may replace the folder");
    change("", 01777);
    cr_expect(trusts("folder/file"), "nobody else may replace the folder");
}

Test(harness_trust, trusts_no_file_of_a_stranger)
{
    give_away("folder/file");
    cr_expect_not(trusts("folder/file"));
}

Test(harness_trust, trusts_no_file_in_a_strangers_folder)
{
    give_away("folder");
    cr_expect_not(trusts("folder/file"));
}

/* Users often have a group of their own, and a umask of 002. */
Test(harness_trust, trusts_a_users_own_group_only)
{
    if (geteuid())
        cr_skip_test("only root can give a file away");
    setenv("SUDO_UID", "54321", 1);
    cr_assert_eq(chown(test_path("folder/file"), STRANGER, STRANGER), 0);
    change("folder/file", 0664);
    cr_expect(trusts("folder/file"));
    cr_assert_eq(chown(test_path("folder/file"), STRANGER, 100), 0);
    cr_expect_not(trusts("folder/file"));
}
