/* ctest.c: testlog run --ctest: takes programs from ctest, with their
 * arguments, environments, working directories and timeouts.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/machine/join_ctest.h"
#include "harness/machine/notice.h"
#include "run.h"
#include "runners/runs/command_output.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* ---- Asking ctest ---- */

static bool is_list(const cJSON *json)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(json, "version");
    const char *kind = runners_json_text(json, "kind");

    return kind && !strcmp(kind, "ctestInfo") &&
           runners_json_number(version, "major") == 1;
}

/* Returns what ctest lists; NULL if it has printed what is wrong. */
static cJSON *list_tests(const char *folder)
{
    struct trace_text command = {0}, answer = {0};
    cJSON *json = NULL;
    char path[PATH_MAX];
    int status = -1;

    if (snprintf(path, sizeof(path), "%s/CTestTestfile.cmake", folder) >=
            PATH_MAX ||
        access(path, R_OK)) {
        test_log_notice("--ctest: there is no CTestTestfile.cmake in %s; write "
                        "--ctest=BUILD_FOLDER",
                        folder);
        return NULL;
    }
    trace_text_string(&command, "cd ");
    test_log_add_word(&command, folder);
    trace_text_string(&command, " && exec ctest --show-only=json-v1");
    if (!command.failed)
        status = runners_command_text(command.data, &answer);
    if (WIFEXITED(status) && !WEXITSTATUS(status) && answer.data)
        json = cJSON_ParseWithLength(answer.data, answer.size);
    if (!is_list(json)) {
        test_log_notice(WIFEXITED(status) && WEXITSTATUS(status) == 127
                            ? "--ctest: there is no ctest in PATH; install "
                              "cmake"
                            : "--ctest: ctest --show-only=json-v1 prints no "
                              "list of tests; CMake 3.14 and newer do");
        cJSON_Delete(json);
        json = NULL;
    }
    trace_text_free(&command);
    trace_text_free(&answer);
    return json;
}

/* ---- Properties of a test ---- */

const cJSON *runners_ctest_property(const cJSON *test, const char *name)
{
    const cJSON *one;

    cJSON_ArrayForEach(one,
                       cJSON_GetObjectItemCaseSensitive(test, "properties"))
    {
        const char *found = runners_json_text(one, "name");

        if (found && !strcmp(found, name))
            return cJSON_GetObjectItemCaseSensitive(one, "value");
    }
    return NULL;
}

/* The first word of a test's command; NULL if ctest found no program. */
static char *program_of(const cJSON *test)
{
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(test, "command");

    return cJSON_GetStringValue(cJSON_GetArrayItem(command, 0));
}

/* gtest_discover_tests gives every test an expression for GTEST_SKIP(). */
static bool is_for_skips(const char *name, const cJSON *value)
{
    const char *text = cJSON_GetStringValue(cJSON_GetArrayItem(value, 0));

    return !strcmp(name, "SKIP_REGULAR_EXPRESSION") &&
           cJSON_GetArraySize(value) == 1 && text &&
           !strcmp(text, "\\[  SKIPPED \\]");
}

/* That of testlog_discover_tests makes one run of ctest's processes. */
static bool is_for_joining(const char *name, const cJSON *value)
{
    const cJSON *change;

    if (strcmp(name, "ENVIRONMENT_MODIFICATION") != 0)
        return false;
    cJSON_ArrayForEach(change, value)
    {
        const char *text = cJSON_GetStringValue(change);

        if (!text || strncmp(text, TEST_LOG_JOIN, strlen(TEST_LOG_JOIN)) != 0)
            return false;
    }
    return true;
}

/* Whether only ctest can run or judge a test. */
static bool is_ctests_own(const cJSON *test, const struct program_file *file,
                          bool preload)
{
    static const char *const properties[] = {
        "ENVIRONMENT_MODIFICATION", "WILL_FAIL",
        "PASS_REGULAR_EXPRESSION",  "FAIL_REGULAR_EXPRESSION",
        "SKIP_REGULAR_EXPRESSION",  "DEPENDS",
        "FIXTURES_REQUIRED",        "FIXTURES_SETUP",
        "FIXTURES_CLEANUP",
    };
    bool has_tests =
        file->framework && runners_framework_reports(file->framework);
    const cJSON *word;

    cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(test, "command"))
    {
        if (cJSON_IsString(word) && word->prev && word->prev->valuestring &&
            !strcmp(word->prev->valuestring, "run") &&
            !strncmp(word->valuestring, "--join=", 7))
            return true; /* it is `testlog run` */
    }

    for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++) {
        const cJSON *value = runners_ctest_property(test, properties[i]);

        if (value && !cJSON_IsFalse(value) &&
            !is_for_skips(properties[i], value) &&
            !is_for_joining(properties[i], value))
            return true;
    }
    return !has_tests && !file->has_testlog && !(preload && file->can_preload);
}

/* ---- GoogleTest's tests, one by one ---- */

static const char filter_flag[] = "--gtest_filter=";

static const char *filter_of(const cJSON *word)
{
    const char *text = cJSON_GetStringValue(word);

    return text && !strncmp(text, filter_flag, strlen(filter_flag))
               ? text + strlen(filter_flag)
               : NULL;
}

/* Returns the only test, "Suite.Test", that a command chooses; NULL if it does
 * not choose one. */
static const char *single_test(const cJSON *test)
{
    const char *found = NULL, *filter;
    const cJSON *word;

    cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(test, "command"))
    {
        filter = filter_of(word);
        if (filter &&
            (found || strpbrk(filter, "*?:-") || !strchr(filter, '.')))
            return NULL;
        found = filter ? filter : found;
    }
    return found;
}

/* Whether two tests run in the same way. */
static bool has_same_place(const cJSON *one, const cJSON *other)
{
    static const char *const names[] = {"ENVIRONMENT", "WORKING_DIRECTORY",
                                        "TIMEOUT", "RUN_SERIAL",
                                        "RESOURCE_LOCK"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const cJSON *a = runners_ctest_property(one, names[i]);
        const cJSON *b = runners_ctest_property(other, names[i]);

        if ((a || b) && !cJSON_Compare(a, b, true))
            return false;
    }
    return true;
}

/* Whether two tests differ in nothing else than the test that they choose. */
static bool is_same_program(const cJSON *one, const cJSON *other)
{
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(one, "command");
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(other, "command");

    if (!has_same_place(one, other))
        return false;
    a = a ? a->child : NULL;
    b = b ? b->child : NULL;
    while (a && b &&
           ((filter_of(a) && filter_of(b)) || cJSON_Compare(a, b, true))) {
        a = a->next;
        b = b->next;
    }
    return !a && !b;
}

static int ask_for(struct program *program, const char *test)
{
    if (!TRACE_ARRAY_RESERVE(program->asked, program->asked_capacity,
                             program->asked_count + 1))
        return -1;
    program->asked[program->asked_count++] = test;
    return 0;
}

/* ---- A program ---- */

static int add_test(struct programs *programs, const cJSON *test,
                    const struct program_file *file)
{
    const cJSON *limit = runners_ctest_property(test, "TIMEOUT");
    const char *name = runners_json_text(test, "name");
    const char *single = file->framework ? single_test(test) : NULL;
    struct program *program;
    size_t count;

    for (size_t i = 0; single && i < programs->count; i++)
        if (programs->all[i].asked_count &&
            is_same_program(programs->all[i].ctest, test))
            return ask_for(&programs->all[i], single);
    program =
        runners_programs_add(programs, program_of(test),
                             single ? trace_base_name(program_of(test)) : name);
    if (!program)
        return -1;
    program->ctest = test;
    program->serial =
        cJSON_IsTrue(runners_ctest_property(test, "RUN_SERIAL")) ||
        runners_ctest_property(test, "RESOURCE_LOCK");
    if (cJSON_IsNumber(limit) && limit->valuedouble > 0)
        program->place.limit = limit->valuedouble;
    if (program->place.limit > 0 && !file->framework &&
        asprintf(&program->timeout, "--timeout=%g", program->place.limit) < 0)
        program->timeout = NULL;
    if (single && ask_for(program, single))
        return -1;
    program->place.arguments = runners_ctest_argv(program, &count);
    program->place.enter = runners_ctest_enter;
    program->place.context = test;
    return program->place.arguments ? 0 : -1;
}

/* ---- All tests ---- */

int runners_ctest_begin(struct programs *programs)
{
    size_t disabled = 0, others = 0; /* that are left out */
    const char *first = NULL;        /* of the others */
    const cJSON *tests, *test;

    programs->ctest = list_tests(programs->ctest_folder);
    if (!programs->ctest)
        return -1;
    tests = cJSON_GetObjectItemCaseSensitive(programs->ctest, "tests");
    programs->all =
        calloc((size_t)cJSON_GetArraySize(tests) + 1, sizeof(*programs->all));
    if (!programs->all)
        return -1;
    cJSON_ArrayForEach(test, tests)
    {
        const char *name = runners_json_text(test, "name");
        struct program_file file;

        if (!name)
            continue;
        if (cJSON_IsTrue(runners_ctest_property(test, "DISABLED"))) {
            disabled++;
            continue;
        }
        if (!program_of(test) || access(program_of(test), X_OK)) {
            test_log_notice("--ctest: the program of %s cannot be run; build "
                            "it",
                            name);
            return -1;
        }
        file = runners_program_file(program_of(test));
        if (is_ctests_own(test, &file, programs->preload)) {
            first = others++ ? first : name;
            continue;
        }
        if (add_test(programs, test, &file))
            return -1;
    }
    if (others)
        test_log_notice(
            "--ctest: %zu %s only for ctest, such as %s: not a program of a "
            "test framework, or with its own fixtures or rules",
            others, others == 1 ? "test is" : "tests are", first);
    if (disabled)
        test_log_notice("--ctest: %zu %s disabled", disabled,
                        disabled == 1 ? "test is" : "tests are");
    if (!programs->count)
        test_log_notice("--ctest: no test of %s runs a program with testlog or "
                        "another framework%s",
                        programs->ctest_folder,
                        programs->preload ? ""
                                          : "; --preload takes Criterion's");
    return 0;
}

char **runners_ctest_argv(const struct program *program, size_t *count)
{
    const cJSON *word,
        *command = cJSON_GetObjectItemCaseSensitive(program->ctest, "command");
    char **given = program->ctest ? NULL : program->place.arguments, **argv;

    for (*count = 0; given && given[*count];)
        ++*count;
    argv =
        calloc((size_t)cJSON_GetArraySize(command) + *count + 1, sizeof(*argv));
    if (argv && *count)
        memcpy(argv, given, *count * sizeof(*argv));
    word = command ? command->child : NULL;
    for (word = word ? word->next : NULL; argv && word; word = word->next)
        if (cJSON_IsString(word) && !(program->asked_count && filter_of(word)))
            argv[(*count)++] = word->valuestring;
    if (argv && program->timeout)
        argv[(*count)++] = program->timeout;
    return argv;
}

int runners_ctest_enter(const void *ctest)
{
    const cJSON *test = ctest;
    const char *folder =
        cJSON_GetStringValue(runners_ctest_property(test, "WORKING_DIRECTORY"));
    const cJSON *variable;

    cJSON_ArrayForEach(variable, runners_ctest_property(test, "ENVIRONMENT"))
    {
        if (cJSON_IsString(variable))
            putenv(variable->valuestring);
    }
    return folder ? chdir(folder) : 0;
}

char *runners_ctest_command(const char *runs, bool elsewhere)
{
    char list[PATH_MAX], real[PATH_MAX], here[PATH_MAX];
    struct trace_text text = {0};

    trace_text_string(&text, "ctest");
    if (snprintf(list, sizeof(list), "%s/../CTestTestfile.cmake", runs) <
            PATH_MAX &&
        realpath(list, real)) {
        *strrchr(real, '/') = '\0';
        if (elsewhere || !getcwd(here, sizeof(here)) ||
            strcmp(real, here) != 0) {
            trace_text_string(&text, " --test-dir ");
            test_log_add_word(&text, real);
        }
    }
    return text.data;
}
