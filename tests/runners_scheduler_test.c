/* runners_scheduler_test.c: which program starts next, and with how many
 * jobs. */
#include "harness/runner/options.h"
#include "runners/run.h"

#include <criterion/criterion.h>

#include "support.h"

enum { COUNT = 4 };

static struct program all[COUNT];
static struct programs programs = {.all = all, .count = COUNT};
static struct schedule schedule = {.programs = &programs, .limit = 8};

static void expect_next(size_t number)
{
    cr_expect_eq(runners_next(&schedule), &all[number], "%td instead of %zu",
                 runners_next(&schedule) - all, number);
}

/* What a program of the last run took. */
static void took(size_t number, size_t tests, uint64_t time)
{
    all[number].tests = tests;
    all[number].time = time;
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

Test(runners_scheduler, starts_the_longest_first_and_new_ones_before)
{
    took(0, 1, 10);
    took(1, 1, 30);
    took(3, 1, 20);
    expect_next(2);
    all[2].state = PROGRAM_RUNNING;
    expect_next(1);
    all[1].state = PROGRAM_RUNNING;
    expect_next(3);
}

Test(runners_scheduler, keeps_the_order_one_after_another)
{
    schedule.in_turn = true;
    all[0].serial = true;
    took(0, 1, 10);
    took(1, 1, 30);
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
    cr_expect_eq(runners_share(&schedule, &all[0]), 8, "it has all jobs");
}

Test(runners_scheduler, shares_equally_among_unknown_programs)
{
    cr_expect_eq(runners_share(&schedule, &all[0]), 2);
    schedule.limit = 4;
    cr_expect_eq(runners_share(&schedule, &all[0]), 1);
    schedule.limit = 2;
    cr_expect_eq(runners_share(&schedule, &all[0]), 1, "never none");
}

Test(runners_scheduler, gives_long_programs_more)
{
    took(0, 100, 50000);
    took(1, 100, 10000);
    took(2, 100, 10000);
    took(3, 100, 10000);
    cr_expect_eq(runners_share(&schedule, &all[0]), 5);
    cr_expect_eq(runners_share(&schedule, &all[1]), 1);
    took(0, 3, 50000);
    cr_expect_eq(runners_share(&schedule, &all[0]), 3, "one for each test");
}

Test(runners_scheduler, leaves_a_job_to_others)
{
    took(0, 100, 1000000);
    for (size_t i = 1; i < COUNT; i++)
        took(i, 1, 1);
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
    cr_expect_eq(runners_share(&schedule, &all[0]), 0, "descriptors are few");
}

Test(runners_scheduler, takes_one_job_of_make_while_others_wait)
{
    schedule.tokens = true;
    cr_expect_eq(runners_share(&schedule, &all[0]), 1);
    all[1].state = all[2].state = all[3].state = PROGRAM_RUNNING;
    cr_expect_eq(runners_share(&schedule, &all[0]), 8);
}
