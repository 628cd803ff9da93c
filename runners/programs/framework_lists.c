/* framework_lists.c: asks a program of another framework for its tests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frameworks.h"
#include "markup.h"
#include "runners/runs/command_output.h"
#include "trace/base/containers.h"

struct list {
    struct framework_tests *tests;
    const char *program;
    bool disabled; /* GoogleTest runs disabled tests, too */
    bool failed;
};

static struct framework_test *last_of(const struct list *list)
{
    return &list->tests->all[list->tests->count - 1];
}

/* Takes the texts; without a suite, the test is of the program's. */
static bool add(struct list *list, const char *suite, char *test, char *own)
{
    struct framework_tests *tests = list->tests;
    struct framework_test one = {.own = own, .of_program = !suite};

    suite = suite ? suite : list->program;
    one.suite = strlen(suite);
    if (!test || !own || asprintf(&one.name, "%s/%s", suite, test) < 0)
        one.name = NULL;
    free(test);
    if (one.name &&
        TRACE_ARRAY_RESERVE(tests->all, tests->capacity, tests->count + 1)) {
        tests->all[tests->count++] = one;
        return true;
    }
    runners_framework_test_free(&one);
    list->failed = true;
    return false;
}

/* ---- GoogleTest ---- */

/* Reads "Suite.  # about it" or "  Test  # about it". Lines that main prints
 * are neither. */
static void read_suite_line(struct list *list, char *line, char suite[1024])
{
    char *about = strstr(line, "  # "), *own;
    size_t size;

    if (about)
        *about = '\0';
    size = strlen(line);
    if (!strncmp(line, "  ", 2)) {
        const char *test = line + 2 + strspn(line + 2, " ");

        if (!*suite)
            return;
        if (asprintf(&own, "%s.%s", suite, test) < 0)
            own = NULL;
        if (add(list, suite, strdup(test), own))
            last_of(list)->disabled =
                !list->disabled && runners_framework_is_disabled(suite, test);
        return;
    }
    suite[0] = '\0';
    if (size && line[size - 1] == '.' && !strchr(line, ' '))
        snprintf(suite, 1024, "%.*s", (int)size - 1, line);
}

int runners_framework_add(struct framework_tests *tests, const char *own)
{
    const char *dot = strchr(own, '.');
    char *suite = dot ? strndup(own, (size_t)(dot - own)) : NULL;
    struct list list = {.tests = tests, .failed = !suite};

    if (suite)
        add(&list, suite, strdup(dot + 1), strdup(own));
    free(suite);
    return list.failed ? -1 : 0;
}

/* ---- Catch2 ---- */
/* Returns the name in reports: XML normalizes blanks in attributes, Catch2
 * drops those at the ends and escapes a DEL. */
static char *report_name(const char *own)
{
    struct trace_text name = {0};

    trace_text_string(&name, "");
    for (own += strspn(own, " \t"); *own; own++)
        if (*own == 0x7f)
            trace_text_string(&name, "\\x7F");
        else
            trace_text_char(&name, *own == '\t' ? ' ' : *own);
    return name.data ? name.data : strdup("");
}

/* Catch2 quotes names that begin with #. */
static void read_name_line(struct list *list, char *line)
{
    size_t size = strlen(line);

    if (!size)
        return;
    if (size > 2 && !strncmp(line, "\"#", 2) && line[size - 1] == '"') {
        line[size - 1] = '\0';
        line++;
    }
    add(list, NULL, report_name(line), strdup(line));
}

/* ---- Boost.Test ---- */

enum { DEPTH_MOST = 64, INDENT = 4 };

/* The suites around a line of a tree, "suite*", "    test*: about it". */
struct tree {
    char *names[DEPTH_MOST]; /* of the line before and those around it */
    size_t depth;            /* of that line, from 1 on; 0: there is none */
    bool runs;               /* it is marked with "*" */
};

static void replace_signs(char *name)
{
    for (size_t i = 0; name && name[i]; i++)
        if (name[i] == ' ' || name[i] == ':')
            name[i] = '_';
}

/* Reports have "suite.inner" and "_" for blanks and colons, the argument for a
 * test is "suite/inner/test". The last line of the tree is a test. */
static void add_leaf(struct list *list, const struct tree *tree)
{
    struct trace_text suite = {0}, own = {0};
    char *test = NULL;

    for (size_t i = 0; i < tree->depth; i++) {
        trace_text_printf(&own, "%s%s", i ? "/" : "", tree->names[i]);
        if (i + 1 < tree->depth)
            trace_text_printf(&suite, "%s%s", i ? "." : "", tree->names[i]);
        else
            test = strdup(tree->names[i]);
    }
    replace_signs(test);
    replace_signs(suite.data);
    add(list, suite.data, test, own.data);
    trace_text_free(&suite);
}

/* A line that is followed by a deeper one is a suite. */
static void read_tree_line(struct list *list, struct tree *tree, char *line)
{
    size_t depth = strspn(line, " ") / INDENT + 1;
    char *name = line + strspn(line, " "), *mark = strstr(name, "*: ");
    size_t size = mark ? (size_t)(mark + 1 - name) : strlen(name);

    if (tree->depth && tree->runs && depth <= tree->depth)
        add_leaf(list, tree);
    if (depth > DEPTH_MOST || depth > tree->depth + 1 || !size)
        depth = 0;
    while (tree->depth && tree->depth >= (depth ? depth : 1))
        free(tree->names[--tree->depth]);
    if (!depth)
        return;
    tree->runs = name[size - 1] == '*';
    tree->names[tree->depth] = strndup(name, size - tree->runs);
    tree->depth += tree->names[tree->depth] != NULL;
}

/* ---- doctest ---- */

static void read_case(void *context, const char *name, const char **attributes)
{
    const char *test = runners_markup_attribute(attributes, "name");
    struct list *list = context;

    const char *file = runners_markup_attribute(attributes, "filename");
    const char *line = runners_markup_attribute(attributes, "line");

    if (!strcmp(name, "TestCase") && test &&
        add(list, NULL, strdup(test), strdup(test)) && file && line) {
        last_of(list)->file = strdup(file);
        last_of(list)->line = (unsigned)strtoul(line, NULL, 10);
    }
}

/* ---- A list ---- */

static void read_lines(struct list *list, enum framework_list form, FILE *in)
{
    char *line = NULL, suite[1024] = "", end[] = "";
    struct tree tree = {.depth = 0};
    size_t room = 0;
    ssize_t got;

    while (!list->failed && (got = getline(&line, &room, in)) > 0) {
        size_t size = (size_t)got;

        while (size && (line[size - 1] == '\n' || line[size - 1] == '\r'))
            line[--size] = '\0';
        if (form == FRAMEWORK_LIST_SUITES)
            read_suite_line(list, line, suite);
        else if (form == FRAMEWORK_LIST_TREE)
            read_tree_line(list, &tree, line);
        else
            read_name_line(list, line);
    }
    read_tree_line(list, &tree, end);
    free(line);
}

/* Tests of one program may have one name. */
static void number_twins(struct framework_tests *tests)
{
    struct trace_table counts = {0};

    for (size_t i = 0; i < tests->count; i++) {
        size_t number = runners_framework_twin(&counts, tests->all[i].name);
        char *name;

        if (number == 1 ||
            asprintf(&name, "%s (%zu)", tests->all[i].name, number) < 0)
            continue;
        free(tests->all[i].name);
        tests->all[i].name = name;
    }
    trace_table_free(&counts);
}

int runners_framework_read_list(struct framework_tests *tests,
                                const struct framework *framework, FILE *in,
                                const char *program, bool disabled)
{
    struct list list = {
        .tests = tests, .program = program, .disabled = disabled};

    if (framework->form == FRAMEWORK_LIST_XML)
        runners_markup_read(
            &(struct markup){.context = &list, .begin = read_case}, in);
    else
        read_lines(&list, framework->form, in);
    number_twins(tests);
    return list.failed ? -1 : 0;
}

/* Catch2's exit code is how many tests there are. */
static bool ask(struct framework_tests *tests,
                const struct framework *framework,
                struct framework_start *start,
                const struct framework_place *place, const char *program)
{
    static const char flag[] = "--gtest_also_run_disabled_tests";
    const char *variable = getenv("GTEST_ALSO_RUN_DISABLED_TESTS");
    bool disabled = variable && strcmp(variable, "0") != 0;
    int ended, status = -1;
    FILE *in;

    for (size_t i = 0; i < start->argument_count; i++)
        disabled |= !strncmp(start->arguments[i], flag, strlen(flag));
    in = runners_command_output(start->arguments, true, place->enter,
                                place->context, &ended);
    if (in) {
        status = runners_framework_read_list(tests, framework, in, program,
                                             disabled);
        fclose(in);
    }
    return !status && tests->count;
}

/* ---- Places ---- */

void runners_framework_drop_disabled(struct framework_tests *tests)
{
    size_t kept = 0;

    for (size_t i = 0; i < tests->count; i++)
        if (tests->all[i].disabled)
            runners_framework_test_free(&tests->all[i]);
        else
            tests->all[kept++] = tests->all[i];
    tests->count = kept;
}

/* Reads the places of tests in a report that was written with the list. */
static void read_places(struct framework_tests *tests,
                        const struct framework *framework, int report)
{
    struct test_log_run run = {.count = 0};
    FILE *in = lseek(report, 0, SEEK_SET) ? NULL : fdopen(dup(report), "r");
    struct trace_table numbers = {0};
    uintptr_t number;
    bool open;

    if (in)
        runners_framework_read_report(&run, in, framework, "", &open);
    for (size_t i = 0; i < run.count; i++)
        if (run.results[i].file)
            trace_table_set(
                &numbers,
                trace_hash_string(TRACE_HASH, test_log_name(&run.results[i])),
                i);
    for (size_t i = 0; i < tests->count; i++) {
        struct framework_test *test = &tests->all[i];

        if (!trace_table_find(
                &numbers, trace_hash_string(TRACE_HASH, test->name), &number))
            continue;
        test->line = run.results[number].line;
        test->file = run.results[number].file;
        run.results[number].file = NULL;
    }
    if (in)
        fclose(in);
    trace_table_free(&numbers);
    test_log_run_free(&run);
}

/* ---- All ---- */

int runners_framework_list(struct framework_tests *tests,
                           const struct framework *framework, const char *path,
                           const char *arguments,
                           const struct framework_place *place,
                           const char *program, bool all)
{
    int report =
        all && framework->places ? memfd_create("places", MFD_CLOEXEC) : -1;
    bool listed = false;
    char file[64];

    snprintf(file, sizeof(file), "/proc/%ld/fd/%d", (long)getpid(), report);
    for (size_t i = 0; framework->list[i] && !listed; i++) {
        struct framework_start start = {.argument_count = 0};
        int status = runners_framework_argument(&start, path, NULL);

        for (char **word = place->arguments; word && *word && !status; word++)
            status = runners_framework_argument(&start, *word, NULL);
        if (!status && report >= 0)
            status =
                runners_framework_argument(&start, framework->places, file);
        if (!status && !runners_framework_words(&start, arguments) &&
            !runners_framework_words(&start, framework->list[i]))
            listed = ask(tests, framework, &start, place, program);
        runners_framework_start_free(&start);
    }
    if (report >= 0) {
        read_places(tests, framework, report);
        close(report);
    }
    if (!all)
        runners_framework_drop_disabled(tests);
    return listed && tests->count ? 0 : -1;
}
