/* trace_callgrind_test.c: counts of instructions in the files of callgrind,
 * which does not run here.
 */
#include "trace/base/callgrind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

TestSuite(trace_callgrind, .init = test_folder);

static const char *folder(void)
{
    static char path[4096];

    snprintf(path, sizeof(path), "%s", test_path(""));
    path[strlen(path) - 1] = '\0';
    return path;
}

static const char *file(unsigned number)
{
    char name[64];

    snprintf(name, sizeof(name), "counts.%ld.%u", (long)getpid(), number);
    return test_path(name);
}

static void save(unsigned number, const char *text)
{
    test_save(file(number), text, strlen(text));
}

Test(trace_callgrind, adds_up_what_each_file_counts)
{
    cr_expect_not(trace_callgrind_counts());
    trace_callgrind_begin(folder());
    cr_expect(trace_callgrind_counts());
    save(1, "events: Ir\nfn=(1) main\n12 7\n\ntotals: 100\n");
    cr_expect_eq(trace_callgrind_count(), 100u);
    save(2, "summary: 5\n\ntotals: 18446744073709551000\n");
    cr_expect_eq(trace_callgrind_count(), UINT64_C(18446744073709551100));
    cr_expect_eq(access(file(1), F_OK), -1, "the files are removed");
    cr_expect_eq(access(file(2), F_OK), -1);
}

Test(trace_callgrind, a_file_that_is_missing_or_damaged_counts_nothing)
{
    static const char *const bad[] = {"", "totals: 5\n", "x\ntotals: \n",
                                      "x\ntotals: -\n", "x\n\0totals: 7\n"};

    trace_callgrind_begin(folder());
    errno = 7;
    cr_expect_eq(trace_callgrind_count(), 0u);
    cr_expect_eq(errno, 7);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        save(i + 2, bad[i]);
        cr_expect_eq(trace_callgrind_count(), 0u, "%s", bad[i]);
    }
}

Test(trace_callgrind, reads_the_end_of_a_large_file)
{
    static char text[1 << 20];
    static const char end[] = "\n\ntotals: 42\n";

    memset(text, '1', sizeof(text));
    memcpy(text + sizeof(text) - strlen(end), end, strlen(end));
    trace_callgrind_begin(folder());
    test_save(file(1), text, sizeof(text));
    cr_expect_eq(trace_callgrind_count(), 42u);
}
