/* runners_merge_test.c: merges runs whose run.json has anything in it. */
#include "runners/run/run.h"
#include "runners/runners.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static const char text[] =
    "{\"schema\":1,\n\"command\":\"./a\",\n"
    "\"host\":{\"name\":\"n\",\"boot\":\"b\"},\n\"pid\":7,\n"
    "\"clock\":{\"error_ns\":1000},\n\"versions\":{\"testlog\":\"0.1.0\"},\n"
    "\"start\":\"2026-11-22T01:02:03.000004Z\",\n\"duration_ns\":1000,\n"
    "\"shard\":{\"index\":1,\"total\":3,\"by\":\"hash\"},\n"
    "\"interrupted\":null,\n\"plan\":[{\"program\":\"a\",\"counts\":[1,2,1],"
    "\"tests\":[[\"s/0\"],[\"s/1\",\"s/2\"],[\"s/3\"]]}],\n\"tests\":[\n"
    "{\"program\":\"a\",\"name\":\"s/1\",\"outcome\":\"passed\","
    "\"start_ns\":1,\"duration_ns\":2,\"folder\":\"tests/a/s.1\"},\n"
    "{\"program\":\"a\",\"name\":\"s/2\",\"outcome\":\"failed\","
    "\"reason\":\"a.c:1: no\",\"folder\":\"tests/a/s.2\","
    "\"earlier\":[{\"outcome\":\"crashed\",\"folder\":\"tests/a/s.1\"}]}\n"
    "]}\n";

static void make_folder(const char *name)
{
    cr_assert_eq(mkdir(test_path(name), 0777), 0, "%s", name);
}

static void make_run(void)
{
    static const char *const folders[] = {"run", "run/tests", "run/tests/a",
                                          "run/tests/a/s.1", "run/tests/a/s.2"};

    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        make_folder(folders[i]);
    test_save(test_path("run/tests/a/s.1/output.txt"), "one\n", 4);
    test_save(test_path("run/tests/a/s.1/recording"), "none", 4);
    cr_assert_eq(symlink("/etc/passwd", test_path("run/tests/a/s.2/log.txt")),
                 0);
}

static int merge(void)
{
    char name[] = "merge", flag[] = "-o", run[4096], out[4096];
    char *argv[] = {name, run, flag, out, NULL};

    snprintf(run, sizeof(run), "%s", test_path("run"));
    snprintf(out, sizeof(out), "%s", test_path("out"));
    return runners_merge_runs.run(argv);
}

static void quiet(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    dup2(fd, STDERR_FILENO);
    dup2(fd, STDOUT_FILENO);
    close(fd);
}

TestSuite(runners_merge, .init = test_folder, .timeout = 120);

Test(runners_merge, merges_one_shard_and_follows_no_link)
{
    struct stat status;

    make_run();
    test_save(test_path("run/run.json"), text, strlen(text));
    cr_expect_eq(merge(), 1);
    cr_expect_eq(stat(test_path("out/tests/a/s.1/output.txt"), &status), 0);
    cr_expect_eq(status.st_nlink, 3, "of the test, and of an earlier try");
    cr_expect_neq(lstat(test_path("out/tests/a/s.2.try2/log.txt"), &status), 0);
    cr_expect_eq(stat(test_path("out/tests/a/s.2.try2"), &status), 0);
}

/* Nothing appears outside of the new folder, whatever the old one says. */
Test(runners_merge, survives_random_changes_of_run_json)
{
    static const char *const words[] = {"..",
                                        "/..",
                                        "../../",
                                        "/",
                                        ".",
                                        "~",
                                        "%n",
                                        "\\u0000",
                                        "1e300",
                                        "-1",
                                        "18446744073709551615",
                                        "{",
                                        "]",
                                        "\n",
                                        "null",
                                        "\"",
                                        "tests/",
                                        ","};
    size_t size = strlen(text);

    quiet();
    make_run();
    make_folder("none");
    for (int i = 0; i < 400; i++) {
        char bytes[sizeof(text) + 256];
        size_t length = size;

        memcpy(bytes, text, size + 1);
        for (uint64_t j = test_below(3) + 1; j; j--) {
            const char *word =
                words[test_below(sizeof(words) / sizeof(*words))];
            size_t at = test_below(length - 32), own = strlen(word);

            if (test_below(2)) { /* in place of other bytes */
                memcpy(bytes + at, word, own);
            } else {
                memmove(bytes + at + own, bytes + at, length - at);
                memcpy(bytes + at, word, own);
                length += own;
            }
        }
        test_save(test_path("run/run.json"), bytes, length);
        cr_expect_lt(merge(), 5);
        test_remove_tree(test_path("out"));
        cr_expect_eq(rmdir(test_path("none")), 0);
        make_folder("none");
    }
    cr_expect_neq(access(test_path("tests"), F_OK), 0);
    cr_expect_neq(access(test_path("a"), F_OK), 0);
}
