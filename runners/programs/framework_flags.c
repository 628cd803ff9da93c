/* framework_flags.c: our flags never reach a program of another framework: we
 * act on them, or they become variables, which its adapter reads. */
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "trace/base/containers.h"

/* ---- What a program is started with ---- */

static int add(char ***words, size_t *count, size_t *capacity, const char *form,
               const char *path)
{
    const char *gap = path ? strstr(form, "%s") : NULL;
    char *word;

    if (asprintf(&word, "%.*s%s%s", gap ? (int)(gap - form) : (int)strlen(form),
                 form, gap ? path : "", gap ? gap + 2 : "") < 0)
        return -1;
    if (!TRACE_ARRAY_RESERVE(*words, *capacity, *count + 2)) {
        free(word);
        return -1;
    }
    (*words)[(*count)++] = word;
    (*words)[*count] = NULL;
    return 0;
}

int runners_framework_argument(struct framework_start *start, const char *form,
                               const char *path)
{
    return add(&start->arguments, &start->argument_count,
               &start->argument_capacity, form, path);
}

int runners_framework_variable(struct framework_start *start, const char *form,
                               const char *path)
{
    return add(&start->variables, &start->variable_count,
               &start->variable_capacity, form, path);
}

int runners_framework_words(struct framework_start *start, const char *text)
{
    char *words = text ? strdup(text) : NULL, *rest = words, *word;
    int status = text && !words ? -1 : 0;

    while (!status && rest && (word = strsep(&rest, " \t")))
        status = *word ? runners_framework_argument(start, word, NULL) : 0;
    free(words);
    return status;
}

void runners_framework_start_free(struct framework_start *start)
{
    for (size_t i = 0; i < start->argument_count; i++)
        free(start->arguments[i]);
    for (size_t i = 0; i < start->variable_count; i++)
        free(start->variables[i]);
    free(start->arguments);
    free(start->variables);
    *start = (struct framework_start){.argument_count = 0};
}

/* ---- Flags ---- */

struct taking {
    struct framework_start *start;
    const struct framework *framework;
    const char *path;
    const char *others; /* the first flag that Criterion lacks */
    bool beside;        /* other programs may take what this one cannot */
    bool failed;
};

static void refuse(struct taking *taking, const char *flag)
{
    if (taking->beside)
        test_log_notice("run: %s runs without %s, because it uses %s",
                        taking->path, flag, taking->framework->title);
    else if (!taking->failed)
        test_log_notice("run: %s cannot take %s, because it uses %s; leave out "
                        "the flag or the program",
                        taking->path, flag, taking->framework->title);
    taking->failed = !taking->beside;
}

static void take(void *context, const struct test_log_flag *flag,
                 const char *value)
{
    struct taking *taking = context;
    char *variable;

    bool repeats = !strcmp(flag->name, "--repeat");
    bool debugs = !strcmp(flag->name, "--debug-failed");

    /* A program without a framework counts once, and has no single tests. */
    if (flag->chooses ||
        (repeats && runners_framework_reports(taking->framework)) ||
        (debugs && runners_framework_chooses(taking->framework)) ||
        flag->by_run)
        return;
    if (!flag->variable) {
        refuse(taking, flag->name);
        return;
    }
    if (asprintf(&variable, "%s=%s", flag->variable, value ? value : "1") < 0)
        variable = NULL;
    if (!variable ||
        runners_framework_variable(taking->start, variable, NULL)) {
        test_log_notice("out of memory");
        taking->failed = true;
    }
    free(variable);
}

static void take_criterion(void *context, const struct test_log_flag *flag,
                           const char *value)
{
    struct taking *taking = context;
    char *word;

    if (!flag->pass && !flag->criterion) {
        if (!flag->by_run && !taking->others)
            taking->others = flag->name;
        return;
    }
    if (asprintf(&word, "%s%s%s", flag->name, value ? "=" : "",
                 value ? value : "") < 0)
        word = NULL;
    taking->failed |=
        !word || runners_framework_argument(taking->start, word, NULL);
    free(word);
}

int runners_framework_take_flags(struct framework_start *start,
                                 const struct framework *framework,
                                 const char *path, char **argv, bool beside)
{
    struct taking taking = {
        .start = start, .framework = framework, .path = path, .beside = beside};

    test_log_flags_each(&test_log_program, argv, take, &taking);
    return taking.failed ? -1 : 0;
}

int runners_criterion_take_flags(struct framework_start *start, char **argv,
                                 const char **others)
{
    struct taking taking = {.start = start};

    char **words;

    words =
        test_log_flags_each(&test_log_program, argv, take_criterion, &taking);
    *others = taking.others ? taking.others : *words; /* of tests' names */
    return taking.failed ? -1 : 0;
}
