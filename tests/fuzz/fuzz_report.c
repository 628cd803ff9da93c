/* fuzz_report.c: feeds any bytes as a report of a test framework, and as what
 * GoogleTest prints. The first byte chooses the framework. */
#include <stdio.h>
#include <stdlib.h>

#include "harness/results/model/model.h"
#include "runners/frameworks/frameworks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_report(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"gtest", "catch2", "check", "boost"};
    struct test_log_run run = {.count = 0};
    FILE *in = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
    bool open = false;

    if (!in)
        return;
    if (runners_framework_read_report(
            &run, in, runners_framework_named(names[data[0] % 4]), "fuzz",
            &open) &&
        open)
        abort();
    rewind(in);
    runners_framework_correct(&run, in, "fuzz");
    fclose(in);
    test_log_run_free(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct test_log_run run = {.count = 0};
    struct printed_tests printed = {.results = &run, .program = "fuzz"};

    if (size < 2)
        return 0;
    fuzz_report(data, size);
    runners_printed_tests_read(&printed, (const char *)data, size);
    runners_printed_tests_free(&printed);
    test_log_run_free(&run);
    return 0;
}
