/* frameworks.c: the frameworks, and which of them a program uses. */
#include "frameworks.h"

#include <limits.h>
#include <string.h>

#include "harness/machine/preflight.h"
#include "linked_file.h"

/* A new framework is a row; functions in read_report.c, if its report has none
 * of the forms there; variables that would change what is read, in
 * framework_variables.c; a program in tests/programs/frameworks/, and an
 * adapter with the eight tests in examples/frameworks/.
 *
 * A framework that is linked statically leaves its help or the names of its
 * variables in the program. Rows without either are never found in a file. */
static const struct framework frameworks[] = {
    {
        .name = "gtest",
        .title = "GoogleTest",
        .library = "libgtest.so",
        .marker = "This program contains tests written using Google Test",
        .report = {"--gtest_output=xml:%s/report.xml"},
        .list = {"--gtest_list_tests"},
        .places = "--gtest_output=xml:%s",
        .chosen = {"--gtest_flagfile=%s"},
        .breaks = "--gtest_break_on_failure",
        .form = FRAMEWORK_LIST_SUITES,
        .has_suites = true,
        .separator = ".",
        .prints_tests = true,
    },
    {
        .name = "catch2",
        .title = "Catch2",
        .library = "libCatch2.so",
        .marker = "list all/matching test cases",
        .report = {"--reporter=xml", "--durations=yes", "--out=%s/report.xml"},
        .list = {"--list-test-names-only", "--list-tests --verbosity=quiet"},
        .chosen = {"--input-file=%s"},
        .breaks = "--break",
        .form = FRAMEWORK_LIST_NAMES,
        .begins_report = true,
        .is_silent = true,
        .handles_signals = true,
    },
    {
        .name = "doctest",
        .title = "doctest",
        .marker = "doctest_version",
        .report = {"--reporters=xml", "--duration=true",
                   "--no-skipped-summary=true", "--out=%s/report.xml"},
        .list = {"--list-test-cases --reporters=xml"},
        .form = FRAMEWORK_LIST_XML,
        .chosen = {"--test-case=%s", "--case-sensitive=true"},
        .choice = FRAMEWORK_TOGETHER,
        .begins_report = true,
        .is_silent = true,
        .handles_signals = true,
    },
    {
        .name = "boost",
        .title = "Boost.Test",
        .library = "libboost_unit_test_framework.so",
        .marker = "BOOST_TEST_LOG_FORMAT",
        .report = {"--log_format=JUNIT", "--log_sink=%s/report.xml",
                   "--report_format=XML", "--report_level=detailed",
                   "--report_sink=%s/" FRAMEWORK_VERDICTS},
        .list = {"--list_content --report_sink=stdout"},
        .form = FRAMEWORK_LIST_TREE,
        .chosen = {"--run_test=%s"},
        .choice = FRAMEWORK_EACH,
        .has_suites = true,
        .begins_report = true,
        .is_silent = true,
        .handles_signals = true,
    },
    {
        .name = "check",
        .title = "Check",
        .library = "libcheck.so",
        .marker = "CK_XML_LOG_FILE_NAME",
        .variables = {"CK_XML_LOG_FILE_NAME=%s/report.xml",
                      "CK_TAP_LOG_FILE_NAME=%s/report.tap"},
        .pipes = {"report.xml", "report.tap"},
        .has_suites = true,
        .begins_report = true,
        .prints_tests = true,
        .handles_signals = true,
    },
    {
        .name = "cmocka",
        .title = "cmocka",
        .library = "libcmocka.so",
        .marker = "CMOCKA_XML_FILE",
        .variables = {"CMOCKA_MESSAGE_OUTPUT=STDOUT"},
        .prints_tests = true,
        .prints_reasons = true,
        .handles_signals = true,
    },
    {.name = "exit", .title = "no framework"},
};

enum { COUNT = sizeof(frameworks) / sizeof(*frameworks), EXIT = COUNT - 1 };

static const struct framework *find(const struct linked_file *linked)
{
    for (size_t i = 0; i < EXIT; i++)
        if (frameworks[i].library &&
            runners_linked_library(linked, frameworks[i].library))
            return &frameworks[i];
    for (size_t i = 0; i < EXIT; i++)
        if (runners_linked_contains(linked, frameworks[i].marker))
            return &frameworks[i];
    return &frameworks[EXIT];
}

struct program_file runners_program_file(const char *path)
{
    struct program_file file = {.is_program = false};
    struct linked_file linked;
    char found[PATH_MAX];

    if (!strchr(path, '/') && test_log_preflight_find(path, found))
        path = found;
    if (!runners_linked_open(&linked, path))
        return file;
    file.is_program = true;
    file.has_testlog = runners_linked_has_testlog(&linked);
    file.can_preload = runners_linked_library(&linked, "libcriterion.so");
    file.has_criterion =
        file.can_preload || runners_linked_library(&linked, "libtestlog.so") ||
        runners_linked_contains(&linked, "CRITERION_ALWAYS_SUCCEED");
    if (!file.has_criterion)
        file.framework = find(&linked);
    file.takes_library = file.framework && !file.has_testlog &&
                         runners_linked_takes_library(&linked);
    file.is_sanitized =
        file.framework && runners_linked_contains(&linked, "san_init");
    test_log_elf_close(&linked.file);
    return file;
}

const struct framework *runners_framework_named(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(frameworks[i].name, name))
            return &frameworks[i];
    return NULL;
}

bool runners_framework_chooses(const struct framework *framework)
{
    return framework->chosen[0];
}

bool runners_framework_reports(const struct framework *framework)
{
    return framework->report[0] || framework->variables[0];
}

const char *const *runners_framework_names(void)
{
    static const char *names[COUNT + 2] = {"criterion"};

    for (size_t i = 0; i < COUNT; i++)
        names[i + 1] = frameworks[i].name;
    return names;
}
