/* trace_sigbus_test.c: survives truncation of a mapped file. */
#include "tests/support/support.h"

#include "trace/base/sigbus.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(trace_sigbus, .init = test_folder);

enum { PAGE = 4096, PAGES = 4 };

static char *map(const char *name)
{
    int fd = open(test_path(name), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    char *base;

    if (fd < 0 || ftruncate(fd, PAGES * PAGE) ||
        pwrite(fd, "first", 5, 0) != 5 || pwrite(fd, "last", 4, 3 * PAGE) != 4)
        _exit(99);
    base = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (base == MAP_FAILED)
        _exit(98);
    return base;
}

static void cut(const char *name, off_t size)
{
    if (truncate(test_path(name), size))
        _exit(97);
}

static void (*disposition(void))(int)
{
    struct sigaction action;

    cr_assert_eq(sigaction(SIGBUS, NULL, &action), 0);
    return action.sa_handler;
}

Test(trace_sigbus, reads_truncated_pages_as_zeros)
{
    char *base = map("file");

    cr_assert(trace_sigbus_guard(base, PAGES * PAGE));
    cut("file", PAGE);
    cr_expect_eq(memcmp(base, "first", 5), 0);
    cr_expect_eq(memcmp(base + 3 * PAGE, "\0\0\0\0", 4), 0);
    trace_sigbus_release(base);
}

Test(trace_sigbus, restores_the_previous_disposition)
{
    char *one = map("one"), *two = map("two");

    signal(SIGBUS, SIG_IGN);
    cr_assert(trace_sigbus_guard(one, PAGES * PAGE));
    cr_assert(trace_sigbus_guard(two, PAGES * PAGE));
    trace_sigbus_release(one);
    cr_expect_neq(disposition(), SIG_IGN);
    trace_sigbus_release(two);
    cr_expect_eq(disposition(), SIG_IGN);
}

Test(trace_sigbus, keeps_a_handler_that_was_installed_later)
{
    char *base = map("file");

    cr_assert(trace_sigbus_guard(base, PAGES * PAGE));
    signal(SIGBUS, SIG_IGN);
    trace_sigbus_release(base);
    cr_expect_eq(disposition(), SIG_IGN);
}

Test(trace_sigbus, refuses_more_than_64_ranges)
{
    static char bases[65];

    for (size_t i = 0; i < 64; i++)
        cr_assert(trace_sigbus_guard(&bases[i], 1));
    cr_expect_not(trace_sigbus_guard(&bases[64], 1));
    cr_expect_eq(errno, EMFILE);
    for (size_t i = 0; i < 64; i++)
        trace_sigbus_release(&bases[i]);
    cr_expect(trace_sigbus_guard(&bases[64], 1));
}

/* ---- Faults elsewhere ---- */

static volatile char seen;

static void read_another(void)
{
    char *guarded = map("guarded"), *other = map("other");

    signal(SIGBUS, SIG_DFL); /* replaces a sanitizer's handler */
    trace_sigbus_guard(guarded, PAGES * PAGE);
    cut("other", 0);
    seen = other[PAGE];
}

static void be_sent_one(void)
{
    signal(SIGBUS, SIG_DFL);
    trace_sigbus_guard(map("guarded"), PAGES * PAGE);
    raise(SIGBUS);
}

Test(trace_sigbus, passes_other_faults_to_the_previous_handler)
{
    int status = test_child(read_another);

    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "%d", status);
    status = test_child(be_sent_one);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS, "%d", status);
}

/* ---- Recordings ---- */

static size_t read_on(struct trace_reader *reader)
{
    struct trace_entry entry;
    size_t count = 0;

    while (trace_reader_next(reader, &entry))
        count++;
    return count;
}

/* Truncates at every half page while a reader is in the middle. */
Test(trace_sigbus, reads_a_recording_that_is_truncated_meanwhile)
{
    char *whole;
    size_t size;

    test_record();
    test_rich();
    trace_close();
    whole = test_load(test_path("recording"), &size);
    for (size_t at = 0; at < size && at < 40 * PAGE; at += PAGE / 2) {
        struct trace_reader *reader;
        struct trace_entry entry;

        test_save(test_path("cut"), whole, size);
        reader = trace_reader_open(test_path("cut"));
        cr_assert_not_null(reader);
        for (size_t i = 0; i < at / PAGE; i++)
            trace_reader_next(reader, &entry);
        cut("cut", (off_t)at);
        read_on(reader);
        cr_expect_eq(trace_reader_rewind(reader), 0);
        read_on(reader);
        test_lines(reader, "trace", &(struct log_style){.color = true});
        trace_reader_close(reader);
    }
}
