/* fuzz_report.c: feeds any bytes as a report of a test framework, as a list of
 * its tests, and as what it prints. The first byte chooses the framework. */
#include <stdio.h>
#include <stdlib.h>

#include "harness/run/model/model.h"
#include "runners/programs/frameworks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_report(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"gtest", "catch2", "check", "boost",
                                        "doctest"};
    const struct framework *framework =
        runners_framework_named(names[data[0] % 5]);
    struct framework_tests tests = {.count = 0};
    struct test_log_run run = {.count = 0};
    FILE *in = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
    bool open = false;

    if (!in)
        return;
    if (runners_framework_read_report(&run, in, framework, "fuzz", &open) &&
        open)
        abort();
    rewind(in);
    runners_framework_correct(&run, in, "fuzz");
    rewind(in);
    runners_framework_read_tap(&run, in, "fuzz");
    rewind(in);
    if (framework->list[0])
        runners_framework_read_list(&tests, framework, in, "fuzz", false);
    fclose(in);
    runners_framework_tests_free(&tests);
    test_log_run_free(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct test_log_run run = {.count = 0};
    struct printed_tests printed = {.results = &run, .program = "fuzz"};

    if (size < 2)
        return 0;
    printed.has_suites = data[0] % 2;
    fuzz_report(data, size);
    runners_printed_tests_read(&printed, (const char *)data, size);
    runners_printed_tests_free(&printed);
    test_log_run_free(&run);
    return 0;
}
