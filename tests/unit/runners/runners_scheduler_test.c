/* runners_scheduler_test.c: chooses the next program and its number of jobs. */
#include "harness/options/options.h"
#include "runners/run/run.h"

#include <criterion/criterion.h>

#include "tests/support/support.h"

enum { COUNT = 4 };

static struct program all[COUNT];
static struct programs programs = {.all = all, .count = COUNT};
static struct test_log_options options;
static struct schedule schedule = {
    .programs = &programs, .options = &options, .limit = 8};

static void expect_next(size_t number)
{
    cr_expect_eq(runners_next(&schedule), &all[number], "%td instead of %zu",
                 runners_next(&schedule) - all, number);
}

/* Sets a program's tests and duration in the last run. */
static void set_last(size_t number, size_t tests, uint64_t time)
{
    all[number].tests = tests;
    all[number].time = time;
}

Test(runners_scheduler, starts_programs_with_failed_tests_first_on_request)
{
    for (size_t i = 0; i < COUNT; i++)
        set_last(i, 1, 100 - i);
    all[2].failed = all[3].failed = true;
    expect_next(0);
    options.failed_first = true;
    expect_next(2);
    schedule.in_turn = true;
    all[2].state = PROGRAM_ENDED;
    expect_next(3);
    all[3].state = PROGRAM_ENDED;
    expect_next(0);
}

Test(runners_scheduler, starts_unknown_programs_in_the_given_order)
{
    expect_next(0);
    all[0].state = PROGRAM_RUNNING;
    expect_next(1);
    all[1].state = PROGRAM_ENDED;
    all[2].state = PROGRAM_LEFT_OUT;
    expect_next(3);
    all[3].state = PROGRAM_RUNNING;
    cr_expect_null(runners_next(&schedule));
}

Test(runners_scheduler, starts_new_programs_first_then_the_longest)
{
    set_last(0, 1, 10);
    set_last(1, 1, 30);
    set_last(3, 1, 20);
    expect_next(2);
    all[2].state = PROGRAM_RUNNING;
    expect_next(1);
    all[1].state = PROGRAM_RUNNING;
    expect_next(3);
}

Test(runners_scheduler, keeps_the_order_if_programs_run_in_turn)
{
    schedule.in_turn = true;
    all[0].serial = true;
    set_last(0, 1, 10);
    set_last(1, 1, 30);
    expect_next(0);
}

Test(runners_scheduler, starts_serial_programs_last_and_alone)
{
    all[0].serial = true;
    expect_next(1);
    all[1].state = all[2].state = all[3].state = PROGRAM_ENDED;
    expect_next(0);
    schedule.running = 1;
    cr_expect_eq(runners_share(&schedule, &all[0]), 0);
    schedule.running = 0;
    cr_expect_eq(runners_share(&schedule, &all[0]), 8, "all jobs");
}

Test(runners_scheduler, shares_equally_among_unknown_programs)
{
    cr_expect_eq(runners_share(&schedule, &all[0]), 2);
    schedule.limit = 4;
    cr_expect_eq(runners_share(&schedule, &all[0]), 1);
    schedule.limit = 2;
    cr_expect_eq(runners_share(&schedule, &all[0]), 1, "at least one");
}

Test(runners_scheduler, gives_long_programs_more_jobs)
{
    set_last(0, 100, 50000);
    set_last(1, 100, 10000);
    set_last(2, 100, 10000);
    set_last(3, 100, 10000);
    cr_expect_eq(runners_share(&schedule, &all[0]), 5);
    cr_expect_eq(runners_share(&schedule, &all[1]), 1);
    set_last(0, 3, 50000);
    cr_expect_eq(runners_share(&schedule, &all[0]), 3, "one for each test");
}

Test(runners_scheduler, leaves_a_job_for_others)
{
    set_last(0, 100, 1000000);
    for (size_t i = 1; i < COUNT; i++)
        set_last(i, 1, 1);
    cr_expect_eq(runners_share(&schedule, &all[0]), 7);
    for (size_t i = 1; i < COUNT; i++)
        all[i].state = PROGRAM_ENDED;
    cr_expect_eq(runners_share(&schedule, &all[0]), 8);
}

Test(runners_scheduler, starts_nothing_without_a_free_job)
{
    schedule.used = 8;
    schedule.running = 8;
    cr_expect_eq(runners_share(&schedule, &all[0]), 0);
    schedule.used = 7;
    cr_expect_eq(runners_share(&schedule, &all[0]), 1);
    schedule.limit = 1000;
    schedule.used = schedule.running = 64;
    cr_expect_eq(runners_share(&schedule, &all[0]), 0, "limited descriptors");
}

Test(runners_scheduler, takes_one_job_from_make_while_others_wait)
{
    schedule.tokens = true;
    cr_expect_eq(runners_share(&schedule, &all[0]), 1);
    all[1].state = all[2].state = all[3].state = PROGRAM_RUNNING;
    cr_expect_eq(runners_share(&schedule, &all[0]), 8);
}
