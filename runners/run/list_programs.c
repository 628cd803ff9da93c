/* list_programs.c: testlog run ... -- --list=json: one list of the tests of all
 * programs. */
#include <inttypes.h>
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
static void print_pattern(const char *before, const char *name)
{
    struct trace_text pattern = {0};

    trace_text_string(&pattern, before);
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

/* GoogleTest's names of tests that it does not run have a prefix. */
static void print_name(const char *title, bool disabled)
{
    static const char prefix[] = "DISABLED_";
    struct trace_text name = {0};
    const char *found;

    while (disabled && (found = strstr(title, prefix))) {
        trace_text_add(&name, title, (size_t)(found - title));
        title = found + strlen(prefix);
    }
    trace_text_string(&name, title);
    print_argument(name.data ? name.data : title);
    trace_text_free(&name);
}

/* Prints the flag by which the program itself, which joins the others, chooses
 * the test; "" if only testlog can. */
static void print_own(const struct program *program, const char *name,
                      const char *title)
{
    const struct program_file *file = &program->file;
    bool can = file->has_testlog && file->is_program;
    struct trace_text flag = {0};

    if (can && !program->framework) {
        print_pattern("--filter=", name);
        return;
    }
    trace_text_string(&flag, "");
    if (can && title && runners_framework_is_gtest(program->framework))
        trace_text_printf(&flag, "--gtest_filter=%s", title);
    print_argument(flag.data ? flag.data : "");
    trace_text_free(&flag);
}

/* Our own time-out shows stacks; ctest's is for the case that it fails. */
static void print_entry(const struct program *program, const cJSON *test)
{
    const cJSON *limit = cJSON_GetObjectItemCaseSensitive(test, "timeout_s");
    const char *name = runners_json_text(test, "name");
    const char *title = runners_json_text(test, "title");
    const char *file = runners_json_text(test, "file");
    bool disabled = is_true(test, "disabled");

    if (!name)
        return;
    fputs("testlog_entry(", stdout);
    print_name(title ? title : name, disabled);
    print_pattern("", name);
    printf(" %.0f %d %d",
           cJSON_IsNumber(limit) ? 2 * limit->valuedouble + 10 : 0.0, disabled,
           is_true(test, "serial"));
    print_labels(test);
    print_own(program, name, title);
    print_argument(file ? file : "");
    printf(" %" PRIu64 ")\n", runners_json_number(test, "line"));
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
            if (cmake)
                print_entry(program, test);
        }
        cJSON_Delete(list);
    }
    if (!cmake) {
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
