/* framework_program.c: which framework a program uses, and which of its tests
 * run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "framework_program.h"
#include "harness/criterion/plan/balance.h"
#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/past/history.h"
#include "trace/base/text.h"

/* ---- Which program it is ---- */

/* Returns false if it has printed that the setting is wrong. */
static bool find_framework(struct framework_program *program,
                           const struct program_file *file)
{
    const char *const *names = runners_framework_names();
    const struct test_log_settings_line *kind = test_log_settings_of_program(
        &program->options->settings, program->path, "kind");
    unsigned choice;

    program->framework = file->framework;
    program->has_adapter = file->framework && file->has_testlog;
    program->takes_library = file->takes_library;
    program->is_sanitized = file->is_sanitized;
    if (!kind)
        return true;
    if (test_log_read_word(kind->origin, kind->value, names, &choice))
        return false;
    program->framework = runners_framework_named(names[choice]);
    return true;
}

struct framework_program *runners_framework_open(
    const char *path, const char *name, const struct program_file *file,
    const struct framework_place *place, const struct test_log_options *options,
    char **argv, bool beside, bool *failed)
{
    struct framework_program *program = calloc(1, sizeof(*program));
    const struct test_log_settings_line *arguments;

    *failed = !program;
    if (!program)
        return NULL;
    program->path = path;
    program->name = name;
    program->options = options;
    program->place = *place;
    program->repetition.number = options->repeat > 1;
    *failed = !find_framework(program, file);
    if (*failed || !program->framework) {
        free(program);
        return NULL;
    }
    arguments = test_log_settings_of_program(&options->settings, path, "args");
    program->arguments = arguments ? arguments->value : NULL;
    program->printed =
        (struct printed_tests){.results = &program->seen,
                               .program = name,
                               .has_suites = program->framework->has_suites};
    *failed = runners_framework_take_flags(&program->flags, program->framework,
                                           path, argv, beside);
    if (!*failed)
        return program;
    runners_framework_close(program);
    return NULL;
}

void runners_framework_close(struct framework_program *program)
{
    if (!program)
        return;
    runners_framework_tests_free(&program->chosen);
    runners_framework_tests_free(&program->repetition.chosen);
    test_log_run_free(&program->repetition.done);
    runners_framework_start_free(&program->flags);
    runners_framework_start_free(&program->start);
    runners_printed_tests_free(&program->printed);
    test_log_run_free(&program->results);
    test_log_run_free(&program->seen);
    if (program->chosen_file > 0)
        close(program->chosen_file);
    if (program->crash_file > 0)
        close(program->crash_file);
    for (size_t i = 0; i < FRAMEWORK_PIPES; i++) {
        if (program->pipes[i].fd)
            close(program->pipes[i].fd);
        trace_text_free(&program->pipes[i].text);
    }
    trace_table_free(&program->known);
    trace_text_free(&program->stacks);
    trace_text_free(&program->death_stacks);
    free(program->folder);
    free(program->death);
    free(program);
}

/* Tests without a suite are in one of the program's name. */
static void rename_test(struct framework_test *test, const char *program)
{
    char *name;

    if (!test->of_program ||
        asprintf(&name, "%s%s", program, test->name + test->suite) < 0)
        return;
    free(test->name);
    test->name = name;
    test->suite = strlen(program);
}

void runners_framework_rename(struct framework_program *program,
                              const char *name)
{
    program->name = program->printed.program = name;
    for (size_t i = 0; i < program->chosen.count; i++)
        rename_test(&program->chosen.all[i], name);
}

bool runners_framework_is_known(const struct framework_program *program)
{
    return runners_framework_reports(program->framework);
}

bool runners_framework_is_gtest(const struct framework_program *program)
{
    return program->framework->form == FRAMEWORK_LIST_SUITES;
}

/* ---- Choosing tests ---- */

bool runners_framework_can_choose(const struct framework_program *program)
{
    return runners_framework_chooses(program->framework);
}

int runners_framework_list_own(struct framework_program *program, bool all)
{
    runners_framework_tests_free(&program->chosen);
    return runners_framework_list(&program->chosen, program->framework,
                                  program->path, program->arguments,
                                  &program->place, program->name, all);
}

int runners_framework_ask(struct framework_program *program, const char *own)
{
    program->chooses = true;
    return runners_framework_add(&program->chosen, own);
}

/* A program whose tests cannot be chosen runs in one shard. */
static void leave_out(struct framework_program *program, size_t *whole)
{
    const struct test_log_shard *shard = &program->options->shard;

    if (!shard->total || runners_framework_can_choose(program))
        return;
    program->elsewhere =
        test_log_shard_of(shard, (*whole)++, program->name) != shard->index;
    program->chooses = program->elsewhere;
}

/* Its results are those of the tests that are selected. */
static void say_whole(const struct framework_program *program)
{
    static bool said;

    if (!said)
        test_log_notice("run: %s runs whole, because %s cannot choose tests; "
                        "only those that are selected count",
                        program->path, program->framework->title);
    said = true;
}

int runners_framework_choose(struct framework_program *program,
                             const struct test_log_history *history,
                             size_t *whole)
{
    const struct test_log_options *options = program->options;
    bool selects = test_log_options_select(options) || options->failed;

    leave_out(program, whole);
    if (!runners_framework_is_known(program)) /* it is a test of its own name */
        program->chooses |=
            !test_log_plan_selects(options, program->name, NULL);
    if (!runners_framework_is_known(program) || program->elsewhere)
        return 0;
    program->history = history;
    program->selects = selects && !runners_framework_can_choose(program);
    if (program->selects && !options->informs)
        say_whole(program);
    if (!runners_framework_can_choose(program) ||
        !(selects || options->shard.total || options->informs))
        return 0;
    if (!program->chooses &&
        runners_framework_list_own(program, options->informs)) {
        test_log_notice("run: cannot list the tests of %s with %s",
                        program->path, program->framework->list[0]);
        return -1;
    }
    program->elsewhere = runners_framework_select(&program->chosen, options,
                                                  history, program->name);
    program->chooses = true;
    return 0;
}

bool runners_framework_is_elsewhere(const struct framework_program *program)
{
    return program->elsewhere;
}

bool runners_framework_is_empty(const struct framework_program *program)
{
    return program->chooses && !program->chosen.count;
}

/* Boost.Test, too, calls a test "suite/test". */
static const char *title_of(const struct framework_program *program,
                            const struct framework_test *test)
{
    return program->framework->separator || test->of_program ? test->own
                                                             : test->name;
}

void runners_framework_print_list(const struct framework_program *program)
{
    for (size_t i = 0; i < program->chosen.count; i++)
        if (!program->chosen.all[i].disabled)
            puts(title_of(program, &program->chosen.all[i]));
}

static void put_listed(const struct framework_program *program,
                       const struct test_log_history *history,
                       const struct framework_test *listed,
                       struct trace_text *text)
{
    const char *name = listed->name;
    const char *test = listed->suite ? name + listed->suite + 1 : name;
    char *suite = listed->suite ? strndup(name, listed->suite) : NULL;

    trace_text_string(text, text->size > 1 ? ",{\"name\":" : "{\"name\":");
    trace_json_string(text, name, strlen(name));
    if (suite && strcmp(title_of(program, listed), name) != 0)
        trace_json_member(text, "title", title_of(program, listed));
    if (suite)
        trace_json_member(text, "suite", suite);
    trace_json_member(text, "test", test);
    if (listed->file) {
        trace_json_member(text, "file", listed->file);
        trace_text_printf(text, ",\"line\":%u", listed->line);
    }
    if (listed->disabled)
        trace_text_string(text, ",\"disabled\":true");
    test_log_list_tags(text, program->options, suite ? suite : "", test);
    test_log_list_past(text, history, program->name, name);
    trace_text_char(text, '}');
    free(suite);
}

void runners_framework_list_json(const struct framework_program *program,
                                 const struct test_log_history *history,
                                 struct trace_text *text)
{
    trace_text_char(text, '[');
    for (size_t i = 0; i < program->chosen.count; i++)
        put_listed(program, history, &program->chosen.all[i], text);
    if (!runners_framework_is_known(program) && !program->chooses)
        put_listed(program, history,
                   &(struct framework_test){.name = (char *)program->name},
                   text);
    trace_text_char(text, ']');
}
