/* harness_journal_test.c: the journal of tests that share a process, of any
 * bytes. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/in_process.h"

static int file;

static void begin(void)
{
    test_folder();
    file = open(test_path("journal"), O_RDWR | O_CREAT | O_APPEND, 0600);
    cr_assert_geq(file, 0);
}

TestSuite(harness_journal, .init = begin, .timeout = 60);

static void put(const char *text)
{
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
}

static struct test_log_journal read_all(void)
{
    struct test_log_journal journal;

    cr_assert_eq(test_log_journal_read(&journal, file), 0);
    return journal;
}

Test(harness_journal, gives_back_what_was_written)
{
    static char suite[] = "a\tb\\n", test[] = "c\nd", folder[] = "tests/p/a.b";
    static char reason[] = "x.c:1: why\n\tmore \\";
    const struct test_log_noted first = {.suite = suite,
                                         .test = test,
                                         .process = 7,
                                         .began = 5,
                                         .recorded = 8192,
                                         .has_recording = true,
                                         .printed = 3};
    struct test_log_noted ended = first;
    struct test_log_journal journal;

    ended.ended = 9;
    ended.outcome = TEST_LOG_OUTCOME_FAILED;
    ended.printed_to = 4;
    ended.threads = 2;
    ended.folder = folder;
    ended.reason = reason;
    test_log_journal_fact(file, "command", "./a 'b\tc'");
    test_log_journal_begin(file, &first);
    test_log_journal_end(file, &ended);
    journal = read_all();
    cr_assert_eq(journal.count, 1);
    cr_expect_str_eq(journal.tests[0].suite, first.suite);
    cr_expect_str_eq(journal.tests[0].test, first.test);
    cr_expect_str_eq(journal.tests[0].reason, ended.reason);
    cr_expect_str_eq(journal.tests[0].folder, ended.folder);
    cr_expect_eq(journal.tests[0].outcome, TEST_LOG_OUTCOME_FAILED);
    cr_expect_eq(journal.tests[0].recorded, 8192);
    cr_expect_eq(journal.tests[0].printed_to, 4);
    cr_expect_eq(journal.tests[0].threads, 2);
    cr_expect_str_eq(test_log_journal_value(&journal, "command"), "./a 'b\tc'");
    cr_expect_null(test_log_journal_value(&journal, "other"));
    test_log_journal_free(&journal);
}

Test(harness_journal, an_end_belongs_to_the_process_that_began)
{
    struct test_log_journal journal;

    put("begin\t1\t10\t-\t0\ts\tparent\t.\n"
        "begin\t2\t11\t-\t0\ts\tchild\t.\n"
        "end\t1\t20\tpassed\t0\t0\t-\t.\n");
    journal = read_all();
    cr_assert_eq(journal.count, 2);
    cr_expect_eq(journal.tests[0].outcome, TEST_LOG_OUTCOME_PASSED);
    cr_expect_eq(journal.tests[1].outcome, TEST_LOG_OUTCOME_NONE);
    cr_expect_not(journal.tests[0].has_recording);
    test_log_journal_free(&journal);
}

Test(harness_journal, leaves_out_what_is_malformed)
{
    struct test_log_journal journal;

    put("\n\t\t\t\t\t\t\t\t\t.\nfact\t.\nfact\t\tx\t.\nbegin\t1\t.\nend\t9\t1"
        "\tpassed\t0\t0\t-\t.\nbegin\t1\t2\t3\t4\ts\tt\t.\nend\t1\t1\tnonsense"
        "\t0\t0\t-\tr\\");
    journal = read_all();
    cr_assert_eq(journal.count, 1);
    cr_expect_eq(journal.tests[0].outcome, TEST_LOG_OUTCOME_NONE);
    cr_expect_eq(journal.torn, 0);
    test_log_journal_free(&journal);
}

/* The disk is full in any byte of a line, and has room for the next one. */
Test(harness_journal, a_cut_line_is_none)
{
    static char suite[] = "suite", test[] = "a_test";
    const struct test_log_noted first = {
        .suite = suite, .test = test, .process = 7, .began = 5};
    struct test_log_noted ended = first;
    struct test_log_journal journal;
    off_t size;

    ended.outcome = TEST_LOG_OUTCOME_PASSED;
    test_log_journal_begin(file, &first);
    size = lseek(file, 0, SEEK_END);
    for (off_t at = 1; at < size - 1; at++) {
        cr_assert_eq(ftruncate(file, at), 0);
        put("\n");
        test_log_journal_end(file, &ended);
        journal = read_all();
        cr_expect_eq(journal.count, 0, "%zu", (size_t)at);
        cr_expect_eq(journal.torn, 1);
        test_log_journal_free(&journal);
        cr_assert_eq(ftruncate(file, 0), 0);
        test_log_journal_begin(file, &first);
    }
}

Test(harness_journal, reads_any_bytes)
{
    static const char words[] =
        "fact\tbegin\tend\tpassed\n\\nt\0 -0123456789\n";

    srand(1);
    for (int round = 0; round < 500; round++) {
        struct test_log_journal journal;
        char bytes[512];

        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = rand() % 8 ? words[(size_t)rand() % sizeof(words)]
                                  : (char)rand();
        cr_assert_eq(ftruncate(file, 0), 0);
        cr_assert_eq(write(file, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
        journal = read_all();
        test_log_journal_free(&journal);
    }
}

Test(harness_journal, belongs_to_a_process_until_it_ends)
{
    int ready[2], over[2];
    pid_t owner;
    char byte;

    cr_assert_eq(pipe(ready) | pipe(over), 0);
    owner = fork();
    if (!owner) {
        test_log_journal_own(file);
        if (write(ready[1], "", 1) != 1 || read(over[0], &byte, 1) != 1)
            _exit(1);
        _exit(0);
    }
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cr_expect(test_log_journal_is_owned(file));
    cr_assert_eq(write(over[1], "", 1), 1);
    waitpid(owner, NULL, 0);
    cr_expect_not(test_log_journal_is_owned(file));
}
