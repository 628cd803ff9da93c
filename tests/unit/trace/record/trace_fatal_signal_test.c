/* trace_fatal_signal_test.c: what processes leave in the recording when they
 * crash. */
#include "tests/support/support.h"
#include "trace/read/crashes.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/record/fatal_signal.h"

TestSuite(trace_fatal_signal, .init = test_folder, .timeout = 60);

static const char secret[] = "a secret on the stack";

static void crash_with_secret(void)
{
    char copy[64];

    memcpy(copy, secret, sizeof(secret));
    __asm__ volatile("" : : "r"(copy) : "memory");
    abort();
}

/* Records children that crash; `stacks` of them may leave their stacks. */
static struct trace_reader *read_crashes(unsigned children, uint32_t stacks)
{
    static const struct trace_crash_watch none;

    test_record();
    trace_crash_keep(stacks);
    trace_crash_watch(&none);
    for (unsigned i = 0; i < children; i++) {
        int status = test_child(crash_with_secret);

        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
                  "status %#x", status);
    }
    return test_read();
}

static bool has_secret(const struct trace_crash *crash,
                       const unsigned char *stack)
{
    return memmem(stack, crash->stack_size, secret, sizeof(secret));
}

Test(trace_fatal_signal, leaves_stacks_up_to_their_number)
{
    struct trace_reader *reader = read_crashes(3, 2);
    const unsigned char *stack;
    struct trace_crash crash;
    size_t cursor = 0, count = 0;

    cr_expect_eq(trace_reader_crashes(reader), 3);
    for (; trace_reader_crash(reader, &cursor, &crash, &stack); count++) {
        cr_expect_eq(crash.signal, SIGABRT);
        cr_expect_eq(crash.process, crash.thread);
        cr_expect_eq(has_secret(&crash, stack), count < 2, "%zu", count);
        cr_expect_eq(crash.mappings_size > 0, count < 2, "%zu", count);
    }
    cr_expect_eq(count, 3);
}

/* Nothing of that is an entry. */
Test(trace_fatal_signal, adds_no_entries)
{
    struct trace_reader *reader = read_crashes(1, 1);
    struct trace_entry entry;

    cr_expect_not(trace_reader_next(reader, &entry));
}

Test(trace_fatal_signal, erases_stacks)
{
    const unsigned char *stack;
    struct trace_crash crash;
    size_t cursor = 0;

    read_crashes(1, 1);
    cr_assert_eq(trace_erase_stacks_beneath(AT_FDCWD, test_path("recording")),
                 0);
    cr_assert(trace_reader_crash(test_open(), &cursor, &crash, &stack));
    cr_expect_not(has_secret(&crash, stack));
    cr_expect_eq(stack[0], 0);
    cr_expect_gt(crash.stack_size, 0);
}

static void put_word(off_t at, uint32_t word)
{
    int fd = open(test_path("recording"), O_WRONLY | O_CLOEXEC);

    cr_assert_eq(pwrite(fd, &word, sizeof(word), at), sizeof(word));
    close(fd);
}

Test(trace_fatal_signal, skips_damaged_crashes)
{
    static const uint32_t sizes[] = {0, 1, UINT32_MAX, UINT32_MAX - 4096};
    struct trace_reader *reader = read_crashes(1, 1);
    const unsigned char *stack;
    struct trace_crash crash;
    size_t cursor = 0;
    off_t at;

    cr_assert(trace_reader_crash(reader, &cursor, &crash, &stack));
    at = stack - reader->base - (off_t)sizeof(crash) +
         (off_t)offsetof(struct trace_crash, stack_size);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        put_word(at, sizes[i]);
        reader = test_open();
        cursor = 0;
        cr_expect_not(trace_reader_crash(reader, &cursor, &crash, &stack));
    }
}
