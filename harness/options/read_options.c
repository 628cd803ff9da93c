/* read_options.c: reads testlog.conf, variables and flags, in this order. */
#include <getopt.h>
#include <stdlib.h>

#include "harness/options/option_rows.h"
#include "harness/run/folder/old_runs.h"
#include "options.h"

/* A filter that cannot be parsed is not an error: the default applies. */
int test_log_options_read(struct test_log_options *options, char **argv,
                          int *code)
{
    struct test_log_reader reader = {.command = &test_log_program,
                                     .options = options};
    bool read;

    *options = (struct test_log_options){
        .show = {"info", "default"},
        .record = {"trace", "default"},
        .limit = TRACE_LIMIT_DEFAULT,
        .output.fail_log = 20,
        .output.named = UINT64_C(60) * 1000000000,
        .profiler = trace_profiler_default,
        .dir = "testlog-runs",
        .keep = TEST_LOG_OLD_RUNS_KEPT,
        .all_tests = options->all_tests,
        .bystander = options->bystander,
    };
    read = test_log_option_pass(&reader, argv[0], NULL) &&
           test_log_project_read(&reader, argv) &&
           test_log_option_read_variables(&reader) &&
           test_log_option_read_flags(&reader, argv) &&
           test_log_option_check(&reader) &&
           (!options->show_config || test_log_project_print(&reader)) &&
           test_log_option_finish(&reader);

    if (read) {
        optind = 0; /* Criterion reads what is passed on from the start */
        return 0;
    }
    *code = reader.code;
    test_log_options_free(options);
    return -1;
}
