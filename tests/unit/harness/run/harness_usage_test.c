/* harness_usage_test.c: what a process uses of the processor, memory and files.
 */
#include "harness/run/model/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

static struct test_log_usage before;

static struct test_log_usage used(void)
{
    struct test_log_usage now = test_log_usage_now();

    return test_log_usage_since(&now, &before);
}

static void begin(void)
{
    before = test_log_usage_begin();
}

TestSuite(harness_usage, .init = begin);

static void spin(uint64_t ns)
{
    struct timespec time;
    uint64_t end = 0;

    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        end = end ? end
                  : (uint64_t)time.tv_sec * 1000000000 +
                        (uint64_t)time.tv_nsec + ns;
    } while ((uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec < end);
}

Test(harness_usage, counts_processor_time)
{
    spin(20000000);
    cr_expect_geq(used().cpu, UINT64_C(20000000));
}

Test(harness_usage, waiting_is_no_processor_time)
{
    struct timespec time = {.tv_nsec = 50000000};

    nanosleep(&time, NULL);
    cr_expect_lt(used().cpu, UINT64_C(40000000));
    cr_expect_geq(used().voluntary, 1u);
}

Test(harness_usage, counts_children_that_have_ended)
{
    pid_t child = fork();

    if (!child) {
        spin(20000000);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_geq(used().cpu, UINT64_C(15000000));
}

Test(harness_usage, counts_bytes)
{
    struct test_log_usage now;
    char text[4096];
    int from = open("/dev/zero", O_RDONLY), to = open("/dev/null", O_WRONLY);

    before = test_log_usage_begin();
    if (!before.read)
        cr_skip_test("/proc/self/io cannot be read");
    cr_assert_eq(read(from, text, sizeof(text)), (ssize_t)sizeof(text));
    cr_assert_eq(write(to, text, 100), 100);
    now = used();
    cr_expect_eq(now.read, 4096u);
    cr_expect_eq(now.written, 100u);
}

Test(harness_usage, counts_memory_and_faults)
{
    const size_t size = 64 << 20;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(memory, MAP_FAILED);
    madvise(memory, size, MADV_NOHUGEPAGE);
    memset(memory, 1, size);
    munmap(memory, size);
    cr_expect_geq(used().peak, size);
    cr_expect_geq(used().minor, size / 65536);
}

Test(harness_usage, keeps_errno)
{
    errno = 7;
    test_log_usage_begin();
    test_log_usage_now();
    cr_expect_eq(errno, 7);
}

/* Runs a child that stops, and reads what it has used. */
Test(harness_usage, reads_another_process)
{
    struct test_log_usage other;
    pid_t child = fork();

    if (!child) {
        spin(30000000);
        kill(getpid(), SIGSTOP);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, NULL, WUNTRACED), child);
    cr_expect(test_log_usage_of(child, &other));
    cr_expect_geq(other.cpu, UINT64_C(20000000));
    cr_expect_gt(other.peak, 0u);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    cr_expect_not(test_log_usage_of(child, &other));
}

Test(harness_usage, differences_do_not_underflow)
{
    const struct test_log_usage now = {.cpu = 5, .peak = 9},
                                earlier = {.cpu = 7, .peak = 3};

    cr_expect_eq(test_log_usage_since(&now, &earlier).cpu, 0u);
    cr_expect_eq(test_log_usage_since(&now, &earlier).peak, 9u);
}
