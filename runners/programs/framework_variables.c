/* framework_variables.c: what becomes of the variables that the frameworks'
 * documentation names. Those that are not here change nothing that testlog
 * reads, and are passed on.
 *
 * TAKEN: testlog does it for all programs, so the framework must not do it
 * again. REPLACED: by a flag, or because it would change or hide what testlog *
 * reads; with an adapter, it reads neither report nor output. Both are removed
 * from the program's environment.
 */
#include <string.h>

#include "frameworks.h"

#define VARIABLES(X)                                                           \
    X("gtest", "GTEST_TOTAL_SHARDS", TAKEN, "--shard")                         \
    X("gtest", "GTEST_SHARD_INDEX", TAKEN, "--shard")                          \
    X("gtest", "GTEST_SHARD_STATUS_FILE", TAKEN, "--shard")                    \
    X("gtest", "TESTBRIDGE_TEST_ONLY", TAKEN, "--filter")                      \
    X("gtest", "XML_OUTPUT_FILE", TAKEN, "--report=junit:FILE")                \
    X("gtest", "GTEST_OUTPUT", REPLACED, "the report is read")                 \
    X("gtest", "GTEST_BRIEF", REPLACED, "it hides which test runs")            \
    X("catch2", "BAZEL_TEST", REPLACED, "the report is read")                  \
    X("catch2", "TEST_TOTAL_SHARDS", TAKEN, "--shard")                         \
    X("catch2", "TEST_SHARD_INDEX", TAKEN, "--shard")                          \
    X("catch2", "TEST_SHARD_STATUS_FILE", TAKEN, "--shard")                    \
    X("catch2", "TESTBRIDGE_TEST_ONLY", TAKEN, "--filter")                     \
    X("catch2", "XML_OUTPUT_FILE", TAKEN, "--report=junit:FILE")               \
    X("boost", "BOOST_TEST_LOGGER", REPLACED, "the report is read")            \
    X("boost", "BOOST_TEST_OUTPUT_FORMAT", REPLACED, "the report is read")     \
    X("boost", "BOOST_TEST_LOG_FORMAT", REPLACED, "the report is read")        \
    X("boost", "BOOST_TEST_LOG_SINK", REPLACED, "the report is read")          \
    X("boost", "BOOST_TEST_LOG_LEVEL", REPLACED, "it hides failures")          \
    X("boost", "BOOST_TEST_REPORT_FORMAT", REPLACED, "the report is read")     \
    X("boost", "BOOST_TEST_REPORT_LEVEL", REPLACED, "the report is read")      \
    X("boost", "BOOST_TEST_REPORT_SINK", REPLACED, "the report is read")       \
    X("boost", "BOOST_TEST_LIST_CONTENT", REPLACED, "no test would run")       \
    X("check", "CK_XML_LOG_FILE_NAME", REPLACED, "the report is read")         \
    X("check", "CK_TAP_LOG_FILE_NAME", REPLACED, "the report is read")         \
    X("cmocka", "CMOCKA_MESSAGE_OUTPUT", REPLACED, "the output is read")

enum fate { TAKEN, REPLACED };

int runners_framework_clear(struct framework_start *start,
                            const struct framework *framework, bool has_adapter)
{
    static const struct {
        const char *framework, *variable;
        enum fate fate;
    } removed[] = {
#define X(framework, variable, fate, why) {framework, variable, fate},
        VARIABLES(X)
#undef X
    };
    int status = 0;

    for (size_t i = 0; i < sizeof(removed) / sizeof(*removed) && !status; i++)
        if (!strcmp(removed[i].framework, framework->name) &&
            (removed[i].fate == TAKEN || !has_adapter))
            status =
                runners_framework_variable(start, removed[i].variable, NULL);
    return status;
}
