/* harness_merged_runs_test.c: the hosts of a merged run. */
#include "harness/run/model/model.h"

#include <criterion/criterion.h>

static char one[] = "one", two[] = "two";

/* Numbers the hosts of three parts, and expects so many hosts. */
static void number(struct test_log_merged_run parts[3], size_t hosts)
{
    struct test_log_run run = {.parts = parts, .part_count = 3};

    test_log_merged_runs_complete(&run);
    cr_expect_eq(run.host_count, hosts, "%zu hosts", run.host_count);
}

Test(harness_merged_runs, numbers_hosts_by_their_names)
{
    struct test_log_merged_run parts[] = {
        {.host = two}, {.host = one}, {.host = two}};

    number(parts, 2);
    cr_expect_eq(parts[0].host_number, 0);
    cr_expect_eq(parts[1].host_number, 1);
    cr_expect_eq(parts[2].host_number, 0);
}

Test(harness_merged_runs, counts_no_host_for_a_killed_run_beside_one_host)
{
    struct test_log_merged_run parts[] = {
        {.host = NULL}, {.host = one}, {.host = one}};

    number(parts, 1);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(parts[i].host_number, 0);
}

Test(harness_merged_runs, tells_a_killed_run_apart_from_several_hosts)
{
    struct test_log_merged_run parts[] = {
        {.host = one}, {.host = NULL}, {.host = two}};

    number(parts, 3);
    cr_expect_eq(parts[1].host_number, 2);
}

Test(harness_merged_runs, counts_one_host_if_all_are_unknown)
{
    struct test_log_merged_run parts[3] = {{.host = NULL}};

    number(parts, 1);
}
