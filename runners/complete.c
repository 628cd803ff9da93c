/* complete.c: testlog __complete: offers what may follow a command line, for
 * the completion of shells, which keep what begins with the last word. */
#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/options/options.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/model/model.h"
#include "runners.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"

/* Help may have several lines. A name that would end this one is left out. */
static void offer(const char *head, const char *word, size_t size,
                  const char *help)
{
    for (size_t i = 0; i < size; i++)
        if (iscntrl((unsigned char)word[i]))
            return;
    printf("%s%.*s", head, (int)size, word);
    if (help)
        printf("\t%.*s", (int)strcspn(help, "\n"), help);
    putchar('\n');
}

/* Offers the words of "tap:FILE|auto|DIR|", without what capitals name. */
static void offer_words(const char *head, const char *words)
{
    for (; *words; words += *words == '|') {
        size_t size = strcspn(words, "|");
        size_t capital = strcspn(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ|");

        if (capital)
            offer(head, words, capital, NULL);
        words += size;
    }
}

/* ---- What is named ---- */

static void offer_levels(const char *head)
{
    static const char *const levels[] = {"off",
#define TRACE_X(id, number, word) word,
                                         TRACE_LEVELS(TRACE_X)
#undef TRACE_X
    };

    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
        offer(head, levels[i], strlen(levels[i]), NULL);
}

/* Offers profiler options or, after "key=", the values of one. */
static void offer_keys(const char *head, const char *last)
{
    const struct trace_profiler_option *option = trace_profiler_options;
    size_t size = strcspn(last, "=");

    for (; option->key; option++) {
        char values[TRACE_PROFILER_VALUE_SIZE], text[128];

        if (option->only == TRACE_PROFILER_OF_START)
            continue;
        snprintf(text, sizeof(text), "%s%s=", head, option->key);
        if (!last[size]) {
            offer(text, "", 0, option->help);
        } else if (strlen(option->key) == size &&
                   !strncmp(option->key, last, size)) {
            trace_profiler_values(option, values);
            offer_words(text, values);
        }
    }
}

/* Offers the runs in a folder by name and by path. */
static void offer_runs(const char *head, const char *folder)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t count = 0;
    char **names = dir < 0 ? NULL : test_log_list_runs(dir, false, &count);
    char start[PATH_MAX];

    snprintf(start, sizeof(start), "%s%s/", head, folder);
    for (size_t i = 0; names && i <= count; i++) {
        const char *name = i ? names[i - 1] : "latest";

        offer(head, name, strlen(name), NULL);
        offer(start, name, strlen(name), NULL);
    }
    test_log_free_names(names, count);
    if (dir >= 0)
        close(dir);
}

static void offer_tests(const char *path)
{
    struct test_log_run run = {.path = NULL};
    cJSON *head = NULL;

    runners_read_run(&run, path, &head);
    for (size_t i = 0; i < run.count; i++) {
        const char *name =
            run.results[i].suite ? test_log_name(&run.results[i]) : "";

        if (*name)
            offer("", name, strlen(name), NULL);
    }
    cJSON_Delete(head);
    test_log_run_free(&run);
}

/* Offers runs and, for `tests`, the tests of the one that a word names, or of
 * the latest. */
static void offer_recorded(const char *head, char **words, bool tests)
{
    char *no_folder[] = {NULL}, path[PATH_MAX];
    struct test_log_options options;
    bool named = false;

    if (runners_settings(&options, "", no_folder))
        return;
    for (; tests && *words && words[1] && !named; words++)
        named = !runners_is_named_pack(*words) && (*words)[0] != '-' &&
                runners_find_run(options.dir, *words, path);
    if (!named)
        offer_runs(head, options.dir);
    if (tests && (named || runners_find_run(options.dir, "latest", path)))
        offer_tests(path);
    test_log_options_free(&options);
}

/* ---- Where it is missing ---- */

/* Offers values of what `argument` names. `head` is the beginning of the last
 * word, `value` the beginning of the value. */
static void offer_values(const char *argument, const char *head,
                         const char *value)
{
    bool filters = !strcmp(argument, "FILTER");
    const char *last = value + strlen(value);
    struct trace_text start = {0};

    while (last > value && last[-1] != ',' && !(filters && last[-1] == '='))
        last--;
    trace_text_string(&start, head);
    trace_text_add(&start, value, (size_t)(last - value));
    head = start.data ? start.data : "";
    if (filters)
        offer_levels(head);
    else if (!strcmp(argument, "KEY=VALUE"))
        offer_keys(head, last);
    else if (!strcmp(argument, "RUN"))
        offer_recorded(head, NULL, false);
    else
        offer_words(head, argument + (argument[0] == '['));
    trace_text_free(&start);
}

static void offer_flags(const struct test_log_command *command)
{
    const struct test_log_flag *flags[TEST_LOG_FLAGS_MOST];
    size_t count = test_log_flags_all(command, flags);

    for (size_t i = 0; i < count; i++) {
        const char letter[] = {'-', flags[i]->letter, '\0'};

        if (flags[i]->help && flags[i]->letter)
            offer("", letter, 2, flags[i]->help);
        if (flags[i]->help && flags[i]->name)
            offer("", flags[i]->name, strlen(flags[i]->name), flags[i]->help);
    }
}

/* Returns the flag that a word is, or NULL. */
static const struct test_log_flag *flag_of(
    const struct test_log_command *command, const char *word)
{
    const struct test_log_flag *flags[TEST_LOG_FLAGS_MOST];
    size_t count = test_log_flags_all(command, flags);

    for (size_t i = 0; i < count; i++)
        if (test_log_flag_is(flags[i], word) ||
            (flags[i]->letter && word[0] == '-' &&
             word[1] == flags[i]->letter && !word[2]))
            return flags[i];
    return NULL;
}

/* `words` follow the command's name. */
static void complete(const struct test_log_command *command, char **words)
{
    const struct test_log_flag *flag = NULL;
    char **last = words;

    for (; last[1]; last++)
        if (!strcmp(*last, "--") && (command->stops || !command->operand))
            return; /* another program's words */
    if (last > words)
        flag = flag_of(command, last[-1]);
    if (flag && test_log_flag_needs_value(flag)) {
        offer_values(flag->argument, "", *last);
    } else if (!strncmp(*last, "--", 2) && strchr(*last, '=')) {
        char *value = strchr(*last, '=') + 1, head[64];

        flag = flag_of(command, *last);
        snprintf(head, sizeof(head), "%.*s", (int)(value - *last), *last);
        if (flag && flag->argument)
            offer_values(flag->argument, head, value);
    } else if (**last == '-') {
        offer_flags(command);
    } else if (command->operand && !strcmp(command->operand, "FILTER")) {
        if (last == words)
            offer_values("FILTER", "", *last);
    } else if (command->operand) {
        offer_recorded("", words, !strcmp(command->operand, "TEST"));
    }
}

int runners_complete(const struct test_log_command *const *commands,
                     char **words)
{
    if (!words[0])
        return TEST_LOG_EXIT_USAGE;
    for (; *commands; commands++)
        if (!words[1])
            offer("", (*commands)->name, strlen((*commands)->name),
                  (*commands)->help);
        else if (!strcmp((*commands)->name, words[0]))
            complete(*commands, words + 1);
    if (!words[1]) {
        offer("", "--help", 6, "list the commands");
        offer("", "--version", 9, "print the version");
    }
    return TEST_LOG_EXIT_PASSED;
}
