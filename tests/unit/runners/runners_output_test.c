/* runners_output_test.c: captures output and prints it as a whole. */
#include "runners/run/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct output output;

static int stderr_before;

/* Redirects to files, because a pipe has a limited size. */
static void redirect(void)
{
    test_folder();
    stderr_before = dup(STDERR_FILENO);
    cr_assert_not_null(freopen(test_path("out"), "we", stdout));
    cr_assert_geq(
        dup2(open(test_path("err"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666),
             STDERR_FILENO),
        0);
}

static void restore(void)
{
    dup2(stderr_before, STDERR_FILENO);
}

TestSuite(runners_output, .init = redirect, .fini = restore, .timeout = 60);

static void expect_printed(const char *name, const char *text)
{
    size_t size = strlen(text), found;
    FILE *file = fopen(test_path(name), "re");
    char *bytes = malloc(size + 2);

    cr_assert(file && bytes);
    found = fread(bytes, 1, size + 1, file);
    bytes[found] = '\0';
    cr_expect(!strcmp(bytes, text), "%s: %.80s", name, bytes);
    fclose(file);
    free(bytes);
}

static void put(size_t number, const char *text)
{
    cr_assert_eq(write(output.to[number], text, strlen(text)),
                 (ssize_t)strlen(text));
}

Test(runners_output, keeps_stdout_and_stderr_apart)
{
    cr_assert_eq(runners_output_begin(&output, false), 0);
    put(0, "out\n");
    put(1, "err\n");
    runners_output_read(&output);
    runners_output_end(&output);
    expect_printed("out", "out\n");
    expect_printed("err", "err\n");
}

/* One pipe keeps the order of writes to both streams. */
Test(runners_output, uses_one_pipe_if_both_streams_are_the_same)
{
    cr_assert_eq(dup2(STDOUT_FILENO, STDERR_FILENO), STDERR_FILENO);
    cr_assert_eq(runners_output_begin(&output, false), 0);
    cr_expect_eq(output.to[1], 0);
    cr_expect_eq(output.from[1], 0);
    runners_output_end(&output);
}

Test(runners_output, prints_nothing_before_the_end_unless_asked)
{
    cr_assert_eq(runners_output_begin(&output, false), 0);
    put(0, "one\n");
    runners_output_read(&output);
    cr_expect_eq(output.streams[0].text.size, 4);
    runners_output_show(&output);
    cr_expect_eq(output.streams[0].text.size, 0);
    put(0, "two\n");
    runners_output_end(&output);
    expect_printed("out", "one\ntwo\n");
}

Test(runners_output, keeps_long_output_in_a_file)
{
    enum { SIZE = 60000, ROUNDS = 50 };
    static char bytes[SIZE];
    char *all = malloc((size_t)SIZE * ROUNDS + 1);

    cr_assert_not_null(all);
    cr_assert_eq(runners_output_begin(&output, false), 0);
    for (int i = 0; i < ROUNDS; i++) {
        memset(bytes, 'a' + i % 26, SIZE);
        memcpy(all + (size_t)SIZE * i, bytes, SIZE);
        cr_assert_eq(write(output.to[0], bytes, SIZE), SIZE);
        runners_output_read(&output);
        cr_expect_leq(output.streams[0].text.size, (size_t)1 << 20);
    }
    all[(size_t)SIZE * ROUNDS] = '\0';
    cr_assert_not_null(output.streams[0].file);
    cr_expect(fcntl(fileno(output.streams[0].file), F_GETFD) & FD_CLOEXEC,
              "no other program inherits it");
    runners_output_end(&output);
    cr_expect_eq(output.to[0], 0, "it is closed");
    expect_printed("out", all);
    free(all);
}

Test(runners_output, keeps_output_in_a_file_and_prints_notices)
{
    static char bytes[60000];
    int file = open(test_path("kept"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    size_t size;

    memset(bytes, 'a', sizeof(bytes) - 1);
    cr_assert_eq(runners_output_begin(&output, false), 0);
    cr_expect_not(runners_output_waits(&output));
    put(1, "testlog: first\nerr testlog: \n");
    for (int i = 0; i < 30; i++) { /* so much that it goes to a file */
        put(0, bytes);
        runners_output_read(&output);
    }
    put(1, "testlog: last");
    cr_expect(runners_output_waits(&output));
    runners_output_keep(&output, file);
    expect_printed("out", "");
    expect_printed("err", "testlog: first\ntestlog: last");
    test_load(test_path("kept"), &size);
    cr_expect_eq(size, 30 * (sizeof(bytes) - 1) + 42);
}

Test(runners_output, prints_nothing_without_pipes)
{
    struct pollfd polled[2];

    runners_output_read(&output);
    runners_output_poll(&output, polled);
    cr_expect_eq(polled[0].fd, -1);
    cr_expect_eq(polled[1].fd, -1);
    runners_output_end(&output);
    expect_printed("out", "");
}
