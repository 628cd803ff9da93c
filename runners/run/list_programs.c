/* list_programs.c: testlog run ... -- --list=json: one list of the tests of all
 * programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/session.h"
#include "run.h"
#include "runners/runs/command_output.h"
#include "runners/runs/run_json.h"

/* Returns what a program lists; NULL if it lists nothing. */
static cJSON *list_of(const struct programs *programs,
                      const struct program *program,
                      const struct test_log_history *last)
{
    struct trace_text command = {0}, text = {0};
    cJSON *list = NULL;
    char **argv;
    int status = 0;

    if (program->framework) {
        runners_framework_list_json(program->framework, last, &text);
    } else {
        argv = runners_launch_argv(programs, program);
        if (argv)
            test_log_add_words(&command, argv);
        free(argv);
        status = command.size && !command.failed
                     ? runners_command_text(command.data, &text)
                     : -1;
    }
    if (!status && !text.failed && text.size)
        list = cJSON_ParseWithLength(text.data, text.size);
    trace_text_free(&command);
    trace_text_free(&text);
    return list;
}

/* ---- For CMake ---- */

/* Returns the most "=" in a row behind a "]". */
static size_t most_signs(const char *text)
{
    size_t most = 0;

    for (; (text = strchr(text, ']')); text++)
        if (strspn(text + 1, "=") > most)
            most = strspn(text + 1, "=");
    return most;
}

/* Prints an argument in brackets with more "=" than the text has behind a "]",
 * so that it cannot end there. */
static void print_argument(const char *text)
{
    size_t level = strchr(text, ']') ? most_signs(text) + 1 : 0;
    struct trace_text signs = {0};

    while (signs.size < level && !signs.failed)
        trace_text_char(&signs, '=');
    printf(" [%s[%s]%s]", signs.data ? signs.data : "", text,
           signs.data ? signs.data : "");
    trace_text_free(&signs);
}

/* Prints a pattern that only a name matches. */
static void print_pattern(const char *name)
{
    struct trace_text pattern = {0};

    for (; *name; name++) {
        if (strchr("\\*?[]()|!+@", *name))
            trace_text_char(&pattern, '\\');
        trace_text_char(&pattern, *name);
    }
    print_argument(pattern.data ? pattern.data : "");
    trace_text_free(&pattern);
}

/* The suite and the tags are labels. */
static void print_labels(const cJSON *test)
{
    struct trace_text labels = {0};
    const char *suite = runners_json_text(test, "suite");
    const cJSON *tag;

    trace_text_string(&labels, suite ? suite : "");
    cJSON_ArrayForEach(tag, cJSON_GetObjectItemCaseSensitive(test, "tags"))
    {
        if (cJSON_IsString(tag))
            trace_text_printf(&labels, "%s%s", labels.size ? ";" : "",
                              tag->valuestring);
    }
    print_argument(labels.data ? labels.data : "");
    trace_text_free(&labels);
}

static bool is_true(const cJSON *test, const char *member)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(test, member));
}

/* Our own time-out shows stacks; ctest's is for the case that it fails. */
static void print_entry(const cJSON *test)
{
    const cJSON *limit = cJSON_GetObjectItemCaseSensitive(test, "timeout_s");
    const char *name = runners_json_text(test, "name");
    const char *title = runners_json_text(test, "title");

    if (!name)
        return;
    fputs("testlog_entry(", stdout);
    print_argument(title ? title : name);
    print_pattern(name);
    printf(" %.0f %d %d",
           cJSON_IsNumber(limit) ? 2 * limit->valuedouble + 10 : 0.0,
           is_true(test, "disabled"), is_true(test, "serial"));
    print_labels(test);
    puts(")");
}

/* ---- All ---- */

int runners_list_programs(const struct programs *programs,
                          const struct test_log_history *last, bool cmake)
{
    cJSON *all = cJSON_CreateArray(), *test;
    int code = TEST_LOG_EXIT_PASSED;
    bool printed = true;

    for (size_t i = 0; i < programs->count; i++) {
        const struct program *program = &programs->all[i];
        cJSON *list;

        test_log_session_export(
            &(struct test_log_session){.part = i ? "1" : NULL,
                                       .program = program->name,
                                       .durations = runners_durations(),
                                       .preload = program->preload,
                                       .nested = test_log_session()->nested});
        list = list_of(programs, program, last);
        if (!cJSON_IsArray(list)) {
            test_log_notice("--list: %s prints no list of tests; link it with "
                            "-ltestlog, or set its kind in testlog.conf",
                            program->path);
            code = TEST_LOG_EXIT_FAILED;
        }
        while (cJSON_IsArray(list) &&
               (test = cJSON_DetachItemFromArray(list, 0))) {
            cJSON_AddStringToObject(test, "program", program->name);
            cJSON_AddItemToArray(all, test);
        }
        cJSON_Delete(list);
    }
    if (cmake) {
        cJSON_ArrayForEach(test, all)
        {
            print_entry(test);
        }
    } else {
        char *text = cJSON_PrintUnformatted(all);

        printed = text && puts(text) >= 0;
        cJSON_free(text);
    }
    if (!printed || fflush(stdout) || ferror(stdout)) {
        test_log_notice("--list: cannot write to standard output");
        code = TEST_LOG_EXIT_FAILED;
    }
    cJSON_Delete(all);
    return code;
}
