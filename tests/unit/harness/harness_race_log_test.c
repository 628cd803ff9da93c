/* harness_race_log_test.c: reads the data races in logs of valgrind. */
#include "harness/race_log.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static size_t calls;

static void count(struct test_log_races *races, const char *text,
                  const char *file, unsigned line)
{
    (void)races;
    calls += *text && *file && line;
}

/* Reads logs of the worker 12 and, if it is not NULL, of its child. */
static struct test_log_races races_in(const char *log, const char *child)
{
    struct test_log_races races = {.echo = NULL};

    test_save(test_path("12"), log, strlen(log));
    if (child)
        test_save(test_path("12.13"), child, strlen(child));
    calls = 0;
    test_log_race_log_all(&races, test_path("12"), count);
    cr_expect_neq(access(test_path("12"), F_OK), 0);
    cr_expect_neq(access(test_path("12.13"), F_OK), 0);
    return races;
}

#define RACE                                                                   \
    "==12== Possible data race during write of size 4 at 0x1 by thread #2\n"
#define WITH_A_PLACE RACE "==12==    at 0x1: add (a.c:7)\n"

Test(harness_race_log, counts_races_and_other_errors)
{
    struct test_log_races races =
        races_in(WITH_A_PLACE "==12== Thread #1: lock order \"1\" violated\n"
                              "==12== Thread #2 was created\n",
                 "==13== Thread #1: Exiting thread still holds 1 lock\n");

    cr_expect_eq(races.count, 1);
    cr_expect_eq(calls, 1);
    cr_expect_eq(races.others, 2);
}

/* A race is an error, too, where a program has no debug information. */
Test(harness_race_log, counts_races_without_a_place)
{
    struct test_log_races races =
        races_in(RACE "==12==    at 0x1: add (in /tmp/a)\n", RACE);

    cr_expect_eq(races.count, 0);
    cr_expect_eq(races.others, 2);
}

Test(harness_race_log, survives_hostile_logs)
{
    char *line = malloc(100001);

    memset(line, '(', 100000);
    line[100000] = '\0';
    memcpy(line, RACE "==12==    at 0x1: ", strlen(RACE "==12==    at 0x1: "));
    cr_expect_eq(races_in(line, NULL).count, 0);
    cr_expect_eq(races_in("", NULL).others, 0);
    cr_expect_eq(races_in("==", "==12==").others, 0);
    cr_expect_eq(races_in("==99999999999999999999== %s%n\n", "\n\n").others, 0);
    free(line);
}
