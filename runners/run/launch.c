/* launch.c: testlog run --launch: starts each test by a launcher, such as
 * mpirun, as several ranks.
 *
 * MPI can be initialized only once among a process that mpirun started and its
 * descendants. A program has a process for each test, so each test gets an
 * mpirun of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "run.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"

/* ---- The launcher ---- */

int runners_launch_read(struct programs *programs, const char *command)
{
    char *rest = strdup(command), *word;
    size_t room = 0;

    programs->launch = rest;
    /* Open MPI kills the other ranks a second after one has failed. On a busy
     * machine, they need more time for their results. */
    setenv("OMPI_MCA_odls_base_sigkill_timeout", "3", 0);
    while (rest && (word = strsep(&rest, " "))) {
        if (!*word)
            continue;
        if (!TRACE_ARRAY_RESERVE(programs->launcher, room,
                                 programs->launcher_count + 1))
            return -1;
        programs->launcher[programs->launcher_count++] = word;
    }
    return programs->launcher_count ? 0 : -1;
}

char **runners_launch_argv(const struct programs *programs,
                           const struct program *program)
{
    size_t before = program->test ? programs->launcher_count : 0, count = 0;
    char **flags =
        program->lacks_testlog ? program->flags.arguments : programs->flags;
    size_t flag_count = program->lacks_testlog ? program->flags.argument_count
                        : !runners_can(program, PROGRAM_CAN(FLAGS))
                            ? 0
                            : (size_t)programs->flag_count;
    char **of_ctest = runners_ctest_argv(program, &count);
    char **argv = calloc(before + count + flag_count + 2, sizeof(*argv));

    if (of_ctest && argv) {
        if (before)
            memcpy(argv, programs->launcher, before * sizeof(*argv));
        argv[before] = program->path;
        memcpy(argv + before + 1, of_ctest, count * sizeof(*argv));
        if (flag_count)
            memcpy(argv + before + 1 + count, flags,
                   flag_count * sizeof(*argv));
    } else {
        free(argv);
        argv = NULL;
    }
    free(of_ctest);
    return argv;
}

/* ---- A program for each test ---- */

struct list {
    struct program *all;
    size_t count, capacity;
};

static int add_test(struct list *list, const struct program *program,
                    const char *suite, const char *test)
{
    struct program one = *program;

    if (!TRACE_ARRAY_RESERVE(list->all, list->capacity, list->count + 1))
        return -1;
    one.name = strdup(program->name);
    if (!one.name || asprintf(&one.test, "%s/%s", suite, test) < 0) {
        free(one.name);
        return -1;
    }
    one.kind = runners_kind_of(&one);
    list->all[list->count++] = one;
    return 0;
}

/* Returns the name in a line such as "|-- test"; NULL if it is a suite's. */
static const char *test_of(const char *line)
{
    static const char *const signs[] = {"|-- ", "`-- ", "\u251c\u2500\u2500 ",
                                        "\u2514\u2500\u2500 "};

    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (!strncmp(line, signs[i], strlen(signs[i])))
            return line + strlen(signs[i]);
    return NULL;
}

/* Adds the tests that a program lists, in lines of suites, "suite: 2 tests",
 * and of tests. The flags that select tests decide which are listed. */
static int list_tests(struct list *list, const struct programs *programs,
                      const struct program *program)
{
    struct trace_text command = {0};
    char *line = NULL, suite[512] = "";
    size_t room = 0;
    ssize_t size;
    int status;
    FILE *in;

    test_log_session_export(
        &(struct test_log_session){.program = program->name,
                                   .test = "",
                                   .durations = runners_durations(),
                                   .nested = test_log_session()->nested});
    test_log_add_word(&command, program->path);
    test_log_add_words(&command, programs->flags);
    trace_text_string(&command, " --list");
    in = command.failed ? NULL : popen(command.data, "re");
    trace_text_free(&command);
    status = in ? 0 : -1;
    while (!status && (size = getline(&line, &room, in)) > 0) {
        line[size - (line[size - 1] == '\n')] = '\0';
        if (test_of(line))
            status = add_test(list, program, suite, test_of(line));
        else
            snprintf(suite, sizeof(suite), "%.*s", (int)strcspn(line, ":"),
                     line);
    }
    free(line);
    if (in && pclose(in))
        status = -1;
    if (status)
        test_log_notice("--launch: cannot list the tests of %s", program->path);
    return status;
}

int runners_launch_expand(struct programs *programs,
                          const struct test_log_options *options)
{
    struct list list = {.count = 0};
    int status = 0;

    if (!programs->launcher_count)
        return 0;
    if (test_log_most_retries(options) || options->repeat > 1) {
        test_log_notice("--launch: a rank of MPI runs a test once; leave out "
                        "--retries and --repeat");
        return -1;
    }
    for (size_t i = 0; i < programs->count && !status; i++)
        status = list_tests(&list, programs, &programs->all[i]);
    for (size_t i = 0; i < programs->count; i++)
        free(programs->all[i].name);
    free(programs->all);
    programs->all = list.all ? list.all : calloc(1, sizeof(*programs->all));
    programs->count = programs->all ? list.count : 0;
    return status;
}

/* ---- Its ranks ---- */

static int is_part(const struct dirent *entry)
{
    unsigned rank;
    int size = 0;

    return sscanf(entry->d_name, "rank%u.json%n", &rank, &size) == 1 &&
           size == (int)strlen(entry->d_name);
}

static void add_missing(struct test_log_run *run, const struct program *program,
                        size_t rank)
{
    struct test_log_result *result = test_log_run_add(run);
    const char *test = program->test, *slash = strchr(test, '/');

    if (!result)
        return;
    result->program = strdup(program->folder);
    result->suite = strndup(test, (size_t)(slash - test));
    if (asprintf(&result->test, "%s#rank%zu", slash + 1, rank) < 0)
        result->test = NULL;
    result->outcome = TEST_LOG_OUTCOME_CRASHED;
    result->reason = strdup("the rank ended without results");
    test_log_jsonl_result(result);
}

enum told runners_launch_merge(struct test_log_run *run,
                               const struct program *program, bool *first)
{
    char part[PATH_MAX], path[PATH_MAX];
    struct dirent **entries;
    bool *found = NULL; /* of each rank */
    size_t total = 0;
    int count = -1;

    if (snprintf(part, sizeof(part), "tests/%s", program->folder) < PATH_MAX &&
        !test_log_path(run, part, path))
        count = scandir(path, &entries, is_part, versionsort);
    for (int i = 0; i < count; i++) {
        bool named = snprintf(part, sizeof(part), "tests/%s/%s",
                              program->folder, entries[i]->d_name) < PATH_MAX;
        cJSON *json = named ? runners_json_read(run, part) : NULL;

        free(entries[i]);
        if (json) {
            const cJSON *rank = cJSON_GetObjectItemCaseSensitive(json, "rank");
            size_t index = (size_t)runners_json_number(rank, "index");
            size_t of = (size_t)runners_json_number(rank, "total");

            if (!found && of && of <= TEST_LOG_RANKS_MOST &&
                (found = calloc(of, sizeof(*found))))
                total = of;
            if (index < total)
                found[index] = true;
            runners_merge_json(run, json, first);
        }
        cJSON_Delete(json);
        if (named) /* the next test has one, too */
            test_log_remove(run, part);
    }
    if (count >= 0)
        free(entries);
    for (size_t i = 0; i < total; i++)
        if (!found[i])
            add_missing(run, program, i);
    free(found);
    return count > 0 ? TOLD_ALL : TOLD_NOTHING;
}
