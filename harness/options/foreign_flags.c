/* foreign_flags.c: what to write instead of flags of other test runners:
 * GoogleTest, pytest, cargo test, nextest, go test, CTest. */
#include <string.h>

#include "harness/options/options.h"

#define WORD     "write a part of the test's name, as in: PROGRAM lru evict"
#define ALL_RUN  "leave it out: all tests run even if some fail"
#define EXCLUDED "write --filter='!(*WORD*)' to exclude tests"

static const struct {
    const char *flag, *ours;
} flags[] = {
    {"--gtest_filter", "write --filter='SUITE/TEST', once for each pattern"},
    {"--gtest_list_tests", "write --list"},
    {"--gtest_repeat", "write --repeat=N"},
    {"--gtest_fail_fast", "write --fail-fast"},
    {"--gtest_output", "write --report=junit:FILE"},
    {"--gtest_color", "write --color=always, auto or never"},
    {"--gtest_brief", "write --quiet"},
    {"--gtest_break_on_failure", "write --crash"},
    {"-k", WORD},
    {"-x", "write --fail-fast"},
    {"--exitfirst", "write --fail-fast"},
    {"--maxfail", "write --fail-fast"},
    {"-s", "write --nocapture"},
    {"--capture", "write --nocapture"},
    {"--lf", "write --failed"},
    {"--last-failed", "write --failed"},
    {"--collect-only", "write --list"},
    {"--junitxml", "write --report=junit:FILE"},
    {"--junit-xml", "write --report=junit:FILE"},
    {"-n", "write --jobs=N"},
    {"--test-threads", "write --jobs=N"},
    {"--test", WORD},
    {"--exact", "write --filter=SUITE/TEST, which selects only that test"},
    {"--skip", EXCLUDED},
    {"--no-capture", "write --nocapture"},
    {"--no-fail-fast", ALL_RUN},
    {"-E", "write --filter=PATTERN"},
    {"-run", WORD},
    {"-test.run", WORD},
    {"-skip", EXCLUDED},
    {"-count", "write --repeat=N"},
    {"-failfast", "write --fail-fast"},
    {"-parallel", "write --jobs=N"},
    {"-timeout", "write --timeout=SECONDS"},
    {"-R", WORD},
    {"--tests-regex", WORD},
    {"--exclude-regex", EXCLUDED},
    {"--rerun-failed", "write --failed"},
    {"--output-on-failure", "leave it out: failed tests print their output"},
};

const char *test_log_foreign_flag(const char *word)
{
    size_t size = strcspn(word, "=");

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (strlen(flags[i].flag) == size &&
            !strncmp(flags[i].flag, word, size))
            return flags[i].ours;
    return NULL;
}
