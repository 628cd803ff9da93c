/* framework_flags.c: our flags never reach a program of another framework: we
 * act on them, or they become variables, which its adapter reads. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"
#include "harness/machine/notice.h"
#include "harness/options/option_rows.h"
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

/* `testlog run` acts on these for every program. */
static const char *const ours[] = {
    "--jobs",     "--serial",    "--timeout",      "--slow",
    "--fail-log", "--durations", "--fail-fast",    "--quiet",
    "--verbose",  "--report",    "--color",        "--flavour",
    "--shard-by", "--history",   "--profile",      "--show-config",
    "--help",     "--version",   "--list",         "--pass-with-no-tests",
    "--open",     "--keep",      "--stacks",       "--short-filename",
    "--ascii",    "--render",    "--failed-first", "--trace-dir",
    "--scratch",  NULL};

/* These choose tests of other frameworks. */
static const char *const choosing[] = {"--filter", "--pattern", "--failed",
                                       "--shard",  "--retries", NULL};
/* Criterion has these as well as those that testlog passes to it. */
static const char *const criterions[] = {"--filter",  "--fail-fast", "--color",
                                         "--output",  "--list",      "--help",
                                         "--version", NULL};

struct taking {
    struct framework_start *start;
    const struct framework *framework;
    const char *path;
    const char *others; /* the first flag that Criterion lacks */
    bool beside;        /* other programs may take what this one cannot */
    bool failed;
};

static bool is_among(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

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

static void take(void *context, const struct option_row *row, const char *value)
{
    struct taking *taking = context;
    char *variable;
    if (is_among(ours, row->name) || is_among(choosing, row->name))
        return;
    if (!row->variable) {
        refuse(taking, row->name);
        return;
    }
    if (asprintf(&variable, "%s=%s", row->variable, value ? value : "1") < 0)
        variable = NULL;
    if (!variable ||
        runners_framework_variable(taking->start, variable, NULL)) {
        test_log_notice("out of memory");
        taking->failed = true;
    }
    free(variable);
}

static void take_criterion(void *context, const struct option_row *row,
                           const char *value)
{
    struct taking *taking = context;
    char *flag = NULL;

    if (!row->pass && !is_among(criterions, row->name)) {
        if (!is_among(ours, row->name) && !taking->others)
            taking->others = row->name;
        return;
    }
    if (asprintf(&flag, "%s%s%s", row->name, value ? "=" : "",
                 value ? value : "") < 0)
        flag = NULL;
    taking->failed |=
        !flag || runners_framework_argument(taking->start, flag, NULL);
    free(flag);
}

int runners_framework_take_flags(struct framework_start *start,
                                 const struct framework *framework,
                                 const char *path, int argc, char **argv,
                                 bool beside)
{
    struct taking taking = {
        .start = start, .framework = framework, .path = path, .beside = beside};

    test_log_option_each(argc, argv, take, &taking);
    return taking.failed ? -1 : 0;
}

int runners_criterion_take_flags(struct framework_start *start, int argc,
                                 char **argv, const char **others)
{
    struct taking taking = {.start = start};

    test_log_option_each(argc, argv, take_criterion, &taking);
    if (!taking.others && optind < argc)
        taking.others = argv[optind]; /* a part of tests' names */
    *others = taking.others;
    return taking.failed ? -1 : 0;
}
