/* soak_follow_test.c: testlog log --follow beside a program that records a
 * million spans a second. `make soak` follows it for a minute and prints how
 * late lines were, `make test` for a second.
 */
#include "tests/support/support.h"

#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(soak_follow, .init = e2e_begin, .timeout = 600);

enum { THREADS = 4, LINES_MOST = 100000, RATE = 1000000 };

/* What has been read of the lines. */
struct followed {
    size_t lines;
    uint64_t next[THREADS]; /* the number of each thread's next line */
    double *late;           /* ms, of each line */
};

/* Each line of each thread comes once, in order. */
static void take(struct followed *followed, const char *line)
{
    unsigned long long number, late;
    int thread;

    cr_assert_eq(sscanf(line, "%d %llu %llu", &thread, &number, &late), 3);
    cr_assert(thread >= 0 && thread < THREADS);
    cr_assert_eq(number, ++followed->next[thread], "line %llu of thread %d",
                 number, thread);
    cr_assert_lt(followed->lines, LINES_MOST);
    followed->late[followed->lines++] = (double)late / 1e6;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* Prints how late the lines were; those of the first second were recorded
 * before the reader began. */
static void print_delays(struct followed *followed, int threads, int seconds)
{
    size_t first = followed->lines / (size_t)seconds;
    size_t count = followed->lines - first;

    qsort(followed->late + first, count, sizeof(double), by_size);
    cr_log_warn("%zu lines by %d threads: %.0f ms late in the median, %.0f ms "
                "for 99 %%, %.0f ms at most",
                followed->lines, threads, followed->late[first + count / 2],
                followed->late[first + count * 99 / 100],
                followed->late[followed->lines - 1]);
}

static void follow(int threads)
{
    int seconds = getenv("SOAK") ? 60 : 1;
    const char *program = e2e_program("busy", E2E_TRACED);
    struct followed followed = {.lines = 0};
    const struct e2e *result;

    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
    followed.late = calloc(LINES_MOST, sizeof(double));
    e2e_allow(300);
    result = e2e_exits(
        0,
        TESTLOG
        " record --trace-limit=4G -o runs -- %s %d %d %d & until [ -e "
        "runs/latest/tests/*/*/recording ]; do sleep 0.01; done; " TESTLOG
        " log runs/latest --follow | %s late; wait",
        program, threads, seconds, RATE, program);
    e2e_expect_lacks(result->err, "lost");
    for (const char *line = result->out; *line; line = strchr(line, '\n') + 1)
        take(&followed, line);
    cr_expect_eq(followed.lines, (size_t)(seconds * (RATE / 1000)));
    if (getenv("SOAK"))
        print_delays(&followed, threads, seconds);
    free(followed.late);
}

Test(soak_follow, finds_the_lines_of_a_thread)
{
    follow(1);
}

Test(soak_follow, finds_the_lines_of_several_threads)
{
    follow(THREADS);
}
