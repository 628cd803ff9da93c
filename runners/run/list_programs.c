/* list_programs.c: testlog run ... -- --list=json: one list of the tests of all
 * programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cjson/cJSON.h>

#include "harness/results/folder/notice.h"
#include "harness/runner/options/options.h"
#include "harness/session.h"
#include "run.h"
#include "runners/find/run_json.h"
#include "runners/frameworks/frameworks.h"

/* Returns what a program lists; NULL if it has printed what is wrong. */
static cJSON *ask(const struct programs *programs,
                  const struct program *program)
{
    struct trace_text command = {0}, answer = {0};
    char **argv = runners_launch_argv(programs, program);
    char bytes[4096];
    cJSON *list = NULL;
    size_t size;
    FILE *in = NULL;

    for (size_t i = 0; argv && argv[i]; i++) {
        trace_text_string(&command, i ? " " : "");
        test_log_add_word(&command, argv[i]);
    }
    if (argv && !command.failed)
        in = popen(command.data, "re");
    while (in && (size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(&answer, bytes, size);
    if (in && !pclose(in) && answer.size)
        list = cJSON_ParseWithLength(answer.data, answer.size);
    free(argv);
    trace_text_free(&command);
    trace_text_free(&answer);
    return list;
}

static cJSON *list_of(const struct programs *programs,
                      const struct program *program,
                      const struct test_log_history *last)
{
    struct trace_text text = {0};
    cJSON *list;

    if (!program->framework)
        return ask(programs, program);
    runners_framework_list_json(program->framework, last, &text);
    list = text.failed ? NULL : cJSON_ParseWithLength(text.data, text.size);
    trace_text_free(&text);
    return list;
}

static void move_tests(cJSON *all, cJSON *list, const char *program)
{
    cJSON *test;

    while ((test = cJSON_DetachItemFromArray(list, 0))) {
        cJSON_AddStringToObject(test, "program", program);
        cJSON_AddItemToArray(all, test);
    }
    cJSON_Delete(list);
}

int runners_list_programs(const struct programs *programs,
                          const struct test_log_history *last)
{
    cJSON *all = cJSON_CreateArray();
    int code = TEST_LOG_EXIT_PASSED;
    char *text;

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
        if (cJSON_IsArray(list)) {
            move_tests(all, list, program->name);
            continue;
        }
        cJSON_Delete(list);
        test_log_notice("--list: %s prints no list of tests", program->path);
        code = TEST_LOG_EXIT_FAILED;
    }
    text = cJSON_PrintUnformatted(all);
    if (!text || puts(text) < 0 || fflush(stdout))
        code = TEST_LOG_EXIT_FAILED;
    cJSON_free(text);
    cJSON_Delete(all);
    return code;
}
