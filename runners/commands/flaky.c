/* flaky.c: testlog flaky: ranks the tests that are flaky in the last runs. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/past/flaky_tests.h"
#include "harness/run/past/history.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"

/* ---- Which runs ---- */

struct since {
    size_t runs;      /* 0: any number */
    const char *date; /* NULL: any */
};

/* Returns the first run of a program that is judged. A run may have several
 * entries. */
static size_t first_of(const struct test_log_outcomes *outcomes,
                       const struct since *since)
{
    size_t runs = 0, from = outcomes->run_count;

    for (; from > 0; from--) {
        const struct test_log_past_run *run = &outcomes->runs[from - 1];

        if (since->date && strcmp(run->name, since->date) < 0)
            break;
        if (from < outcomes->run_count && !strcmp(run->name, run[1].name))
            continue;
        if (since->runs && ++runs > since->runs)
            break;
    }
    return from;
}

/* ---- Reading ---- */

struct flaky {
    const char *program;
    struct test_log_flaky_test test;
};

struct found {
    struct program {
        char *name;
        struct test_log_outcomes outcomes;
    } * programs;
    size_t program_count, program_capacity;
    struct flaky *all;
    size_t count, capacity;
};

/* Without the file, nothing is known of a program. Tests that it no longer has
 * are left out, if its list of tests was read. Returns false without memory. */
static bool read_program(struct found *found, struct test_log_history *history,
                         const char *name, const struct since *since)
{
    struct test_log_flaky_tests tests = {0};
    struct program *program;
    bool right, listed;

    if (!TRACE_ARRAY_RESERVE(found->programs, found->program_capacity,
                             found->program_count + 1))
        return false;
    program = &found->programs[found->program_count++];
    *program = (struct program){.name = strdup(name)};
    if (!program->name)
        return false;
    if (test_log_outcomes_read(&program->outcomes, name, history->path, 0))
        return true;
    test_log_history_read(history, name);
    listed = test_log_history_has(history, name);
    right = !test_log_flaky_find(&tests, &program->outcomes,
                                 first_of(&program->outcomes, since));
    for (size_t i = 0; right && i < tests.count; i++) {
        if (listed && !test_log_history_of(history, name, tests.all[i].name))
            continue;
        right =
            TRACE_ARRAY_RESERVE(found->all, found->capacity, found->count + 1);
        if (right)
            found->all[found->count++] =
                (struct flaky){program->name, tests.all[i]};
    }
    free(tests.all);
    return right;
}

static int is_outcomes(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');

    return end && end != entry->d_name && !strcmp(end, ".outcomes");
}

static bool read_all(struct found *found, struct test_log_history *history,
                     const struct since *since)
{
    struct dirent **entries = NULL;
    int count = history->path
                    ? scandir(history->path, &entries, is_outcomes, alphasort)
                    : 0;
    bool right = true;

    for (int i = 0; i < count; i++) {
        *strrchr(entries[i]->d_name, '.') = '\0';
        right =
            right && read_program(found, history, entries[i]->d_name, since);
        free(entries[i]);
    }
    free(entries);
    return right;
}

/* ---- Printing ---- */

static int compare_counts(size_t a, size_t b)
{
    return (a < b) - (a > b);
}

static int compare(const void *a, const void *b)
{
    const struct flaky *left = a, *right = b;
    int order = compare_counts(left->test.flips + left->test.rescues,
                               right->test.flips + right->test.rescues);

    if (!order)
        order = compare_counts(left->test.failures, right->test.failures);
    if (!order)
        order = strcmp(left->program, right->program);
    if (!order)
        order = strcmp(left->test.name, right->test.name);
    return order ? order : strcmp(left->test.flavour, right->test.flavour);
}

/* A history may come from elsewhere, with any bytes. */
static void put_line(struct trace_text *line)
{
    struct trace_text clean = {0};

    test_log_sanitize_line(&clean, line->data ? line->data : "");
    puts(clean.data ? clean.data : "");
    trace_text_free(&clean);
    trace_text_clear(line);
}

static void put_text(const struct found *found)
{
    struct trace_text line = {0};

    for (size_t i = 0; i < found->count; i++) {
        const struct test_log_flaky_test *test = &found->all[i].test;
        const struct test_log_past_run *first = test->first;
        bool dated = strlen(first->name) > 10 && first->name[10] == 'T';

        trace_text_printf(
            &line, "%s %s (%s): %zu flip%s, %zu of %zu first tries failed",
            found->all[i].program, test->name, test->flavour, test->flips,
            test->flips == 1 ? "" : "s", test->failures, test->runs);
        if (test->rescues)
            trace_text_printf(&line, ", %zu passed when tried again",
                              test->rescues);
        put_line(&line);
        trace_text_printf(&line, "    first flaky %.*s", dated ? 10 : INT_MAX,
                          first->name);
        if (strcmp(first->commit, "-") != 0)
            trace_text_printf(&line, ", commit %s", first->commit);
        put_line(&line);
        for (size_t n = 0; n < TEST_LOG_REASONS_MOST && test->reasons[n].text;
             n++) {
            trace_text_printf(&line, "    %zu x ", test->reasons[n].count);
            if (test->reasons[n].text[0])
                test_log_flaky_reason_text(&line, &test->reasons[n]);
            else
                trace_text_literal(&line, "no reason");
            put_line(&line);
        }
    }
    if (!found->count)
        puts(found->program_count ? "no test is flaky"
                                  : "no test has run in this folder");
    trace_text_free(&line);
}

static void put_json(const struct found *found)
{
    cJSON *document = cJSON_CreateObject(), *rows;

    cJSON_AddNumberToObject(document, "schema", 1);
    rows = cJSON_AddArrayToObject(document, "flaky");
    for (size_t i = 0; i < found->count; i++) {
        const struct test_log_flaky_test *test = &found->all[i].test;
        const char *commit = test->first->commit;
        cJSON *row = cJSON_CreateObject(), *first, *reasons;

        cJSON_AddItemToArray(rows, row);
        runners_json_add_text(row, "program", found->all[i].program);
        runners_json_add_text(row, "name", test->name);
        runners_json_add_text(row, "flavour", test->flavour);
        cJSON_AddNumberToObject(row, "runs", (double)test->runs);
        cJSON_AddNumberToObject(row, "failures", (double)test->failures);
        cJSON_AddNumberToObject(row, "flips", (double)test->flips);
        cJSON_AddNumberToObject(row, "rescues", (double)test->rescues);
        first = cJSON_AddObjectToObject(row, "first");
        runners_json_add_text(first, "run", test->first->name);
        runners_json_add_text(first, "commit",
                              strcmp(commit, "-") != 0 ? commit : NULL);
        runners_json_add_text(first, "host", test->first->host);
        reasons = cJSON_AddArrayToObject(row, "reasons");
        for (size_t n = 0; n < TEST_LOG_REASONS_MOST && test->reasons[n].text;
             n++) {
            cJSON *reason = cJSON_CreateObject();
            struct trace_text text = {0};

            test_log_flaky_reason_text(&text, &test->reasons[n]);
            cJSON_AddItemToArray(reasons, reason);
            runners_json_add_text(reason, "reason", text.data ? text.data : "");
            trace_text_free(&text);
            cJSON_AddNumberToObject(reason, "count",
                                    (double)test->reasons[n].count);
        }
    }
    runners_json_print(document);
    cJSON_Delete(document);
}

static int rank(const char *dir, const struct since *since, bool json)
{
    struct test_log_history history;
    struct found found = {0};
    bool right;

    test_log_history_open(&history, dir, NULL, NULL);
    right = read_all(&found, &history, since);
    if (found.count)
        qsort(found.all, found.count, sizeof(*found.all), compare);
    if (!right)
        test_log_notice("flaky: out of memory");
    else if (json)
        put_json(&found);
    else
        put_text(&found);
    for (size_t i = 0; i < found.program_count; i++) {
        test_log_outcomes_free(&found.programs[i].outcomes);
        free(found.programs[i].name);
    }
    free(found.programs);
    free(found.all);
    test_log_history_free(&history);
    return right ? runners_written("flaky", TEST_LOG_EXIT_PASSED)
                 : TEST_LOG_EXIT_USAGE;
}

/* ---- Arguments ---- */

struct arguments {
    struct since since;
    bool json;
};

static bool read_since(struct test_log_reader *reader)
{
    struct since *since = test_log_flag_field(reader);
    const char *text = reader->value;

    if (test_log_is_day(text))
        since->date = text;
    else if (*text && strlen(text) < 9 && !text[strspn(text, "0123456789")] &&
             atoi(text) > 0)
        since->runs = (size_t)atoi(text);
    else
        return test_log_flag_refuse(
            reader,
            "--since=%s is neither a number of runs nor a day; write one such "
            "as 20 or 2026-11-20",
            text);
    return true;
}

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--since", NULL, "N|DATE",
     "judge the last N runs of each program, or those since a day, such as "
     "2026-11-20 (UTC); default: all that are remembered",
     read_since, AT(since)},
    {"--json", NULL, NULL, "print one JSON object", test_log_read_on, AT(json)},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct test_log_options options;
    struct arguments arguments = {.json = false};
    int code;

    if (!test_log_flags_read(&runners_flaky, &arguments, &argv, NULL, &code))
        return code;
    if (runners_settings(&options, "flaky", argv))
        return TEST_LOG_EXIT_USAGE;
    code = rank(options.dir, &arguments.since, arguments.json);
    test_log_options_free(&options);
    return code;
}

const struct test_log_command runners_flaky = {
    .name = "flaky",
    .help = "rank the flaky tests of the last runs",
    .synopsis = "[DIR] [--since=N|DATE] [--json]",
    .text = "Ranks the tests that are flaky: that passed after a try that "
            "failed, or whose result changed although the commit did not. DIR "
            "has the runs; the default is where test programs put them.",
    TEST_LOG_FLAGS(flags),
    .run = run,
};
