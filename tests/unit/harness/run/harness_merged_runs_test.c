/* harness_merged_runs_test.c: the hosts of a merged run. */
#include "harness/run/model/model.h"

#include <criterion/criterion.h>

static char one[] = "one", two[] = "two";

/* Numbers the hosts of three sources, and expects so many hosts. */
static void number(struct test_log_merged_run sources[3], size_t hosts)
{
    struct test_log_run run = {.sources = sources, .source_count = 3};

    test_log_merged_runs_complete(&run);
    cr_expect_eq(run.host_count, hosts, "%zu hosts", run.host_count);
}

Test(harness_merged_runs, numbers_hosts_by_their_names)
{
    struct test_log_merged_run sources[] = {
        {.host = two}, {.host = one}, {.host = two}};

    number(sources, 2);
    cr_expect_eq(sources[0].host_number, 0);
    cr_expect_eq(sources[1].host_number, 1);
    cr_expect_eq(sources[2].host_number, 0);
}

Test(harness_merged_runs, counts_no_host_for_a_killed_run_beside_one_host)
{
    struct test_log_merged_run sources[] = {
        {.host = NULL}, {.host = one}, {.host = one}};

    number(sources, 1);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(sources[i].host_number, 0);
}

Test(harness_merged_runs, tells_a_killed_run_apart_from_several_hosts)
{
    struct test_log_merged_run sources[] = {
        {.host = one}, {.host = NULL}, {.host = two}};

    number(sources, 3);
    cr_expect_eq(sources[1].host_number, 2);
}

Test(harness_merged_runs, counts_one_host_if_all_are_unknown)
{
    struct test_log_merged_run sources[3] = {{.host = NULL}};

    number(sources, 1);
}
