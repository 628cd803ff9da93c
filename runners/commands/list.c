/* list.c: testlog list: lists the runs that are kept. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/core/core_run.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/old_runs.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "runners/table/table_printer.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

/* X(NAME, word) */
#define STATES(X)                                                              \
    X(FINISHED, "finished")                                                    \
    X(RUNNING, "running")                                                      \
    X(UNFINISHED, "unfinished") /* nothing runs, and there is no run.json */   \
    X(DAMAGED, "damaged")       /* run.json cannot be read */

enum state {
#define X(name, word) STATE_##name,
    STATES(X)
#undef X
};

static const char *const state_words[] = {
#define X(name, word) word,
    STATES(X)
#undef X
};

/* Members of run.json. */
static const char *const counts[] = {
#define TEST_LOG_X(name) #name,
    TEST_LOG_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
};

enum { COUNTS = sizeof(counts) / sizeof(*counts) };

struct listed {
    const char *name;
    enum state state;
    cJSON *head; /* run.json without its tests; NULL: it is not finished */
    uint64_t size;
};

#define RUN_COLUMNS(X)                                                         \
    X("Name", "name", TEXT, run->name)                                         \
    X("Time", NULL, SOME_SECONDS, time)                                        \
    X(NULL, "state", TEXT, state_words[run->state])                            \
    X("Size", "size", BYTES, run->size)                                        \
    X("Result", NULL, TEXT, result.data)

#define HEAD_TEXT(X, name) X(NULL, name, TEXT, runners_json_text(head, name))
#define HEAD_COUNT(X, name)                                                    \
    X(NULL, name, COUNT, runners_json_number(head, name))

/* Only finished runs have these. */
#define HEAD_MEMBERS(X)                                                        \
    HEAD_TEXT(X, "start")                                                      \
    HEAD_TEXT(X, "command")                                                    \
    HEAD_TEXT(X, "interrupted")                                                \
    HEAD_COUNT(X, "duration_ns")                                               \
    HEAD_COUNT(X, "passed")                                                    \
    HEAD_COUNT(X, "failed")                                                    \
    HEAD_COUNT(X, "skipped")

/* ---- Reading a run ---- */

static bool is_complete(int fd)
{
    static const char end[] = "]}\n";
    char last[sizeof(end) - 1];
    struct stat status;

    return !fstat(fd, &status) && status.st_size > (off_t)sizeof(last) &&
           pread(fd, last, sizeof(last),
                 status.st_size - (off_t)sizeof(last)) == sizeof(last) &&
           !memcmp(last, end, sizeof(last));
}

static bool has_counts(const cJSON *head)
{
    for (size_t i = 0; i < COUNTS; i++)
        if (!cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(head, counts[i])))
            return false;
    return true;
}

static cJSON *read_head(int dir, const char *name)
{
    struct run_file *file = NULL;
    char part[PATH_MAX];
    cJSON *head = NULL;
    int fd = -1;

    if (snprintf(part, sizeof(part), "%s/run.json", name) < PATH_MAX)
        fd = trace_beneath(dir, part, O_RDONLY);
    if (fd < 0)
        return NULL;
    if (is_complete(fd))
        file = runners_run_file_from(fd);
    else
        close(fd);
    if (file && has_counts(runners_run_file_head(file)))
        head = cJSON_Duplicate(runners_run_file_head(file), true);
    runners_run_file_close(file);
    return head;
}

static enum state state_of(int dir, const struct listed *run)
{
    char part[PATH_MAX];

    if (test_log_old_runs_in_progress(dir, run->name))
        return STATE_RUNNING;
    if (run->head)
        return STATE_FINISHED;
    snprintf(part, sizeof(part), "%s/run.json", run->name);
    return faccessat(dir, part, F_OK, AT_SYMLINK_NOFOLLOW) ? STATE_UNFINISHED
                                                           : STATE_DAMAGED;
}

static struct listed read_run(int dir, const char *folder, const char *name)
{
    struct listed run = {.name = name};
    char path[PATH_MAX];

    run.head = read_head(dir, name);
    run.state = state_of(dir, &run);
    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX)
        return run;
    if (run.state == STATE_UNFINISHED) {
        test_log_judge(path);
        run.head = read_head(dir, name);
        run.state = state_of(dir, &run);
    }
    run.size = runners_size_of(path);
    return run;
}

/* ---- Its row ---- */

/* Adds at most `most` bytes. */
static void add_start(struct trace_text *text, const char *string, size_t most)
{
    size_t size = strlen(string);

    trace_text_add(text, string,
                   size > most ? trace_utf8_boundary(string, most) : size);
    if (size > most)
        trace_text_string(text, " ...");
}

static void add_result(struct trace_text *text, const struct listed *run)
{
    const char *signal = runners_json_text(run->head, "interrupted");
    const char *command = runners_json_text(run->head, "command");

    if (run->state != STATE_FINISHED) {
        trace_text_string(text, state_words[run->state]);
        return;
    }
    for (size_t i = 0; i < COUNTS; i++)
        trace_text_printf(text, "%s%" PRIu64 " %s", i ? ", " : "",
                          runners_json_number(run->head, counts[i]), counts[i]);
    if (signal) {
        trace_text_string(text, ", interrupted by ");
        add_start(text, signal, 20);
    }
    if (command) {
        trace_text_string(text, "  ");
        add_start(text, command, 120);
    }
}

static void add_run(struct runners_table *table, const struct listed *run)
{
    const cJSON *head = run->state == STATE_FINISHED ? run->head : NULL;
    uint64_t time = runners_json_number(head, "duration_ns");
    struct trace_text result = {0};
    cJSON *row;

    add_result(&result, run);
    row = runners_table_add(table, RUNNERS_CELLS(RUN_COLUMNS));
    if (row && head)
        runners_table_members(row, RUNNERS_COLUMNS(HEAD_MEMBERS),
                              RUNNERS_CELLS(HEAD_MEMBERS));
    trace_text_free(&result);
}

/* ---- All runs ---- */

static void put_all(int dir, const char *folder, const char *shown,
                    char **names, size_t count, bool json)
{
    struct runners_table table;
    cJSON *document;

    runners_table_begin(&table, RUNNERS_COLUMNS(RUN_COLUMNS),
                        json ? RUNNERS_AS_JSON : RUNNERS_AS_LINES);
    for (size_t i = 0; i < count; i++) {
        struct listed run = read_run(dir, folder, names[i]);

        add_run(&table, &run);
        cJSON_Delete(run.head);
    }
    runners_table_end(&table);
    if (json) {
        document = cJSON_CreateObject();
        cJSON_AddNumberToObject(document, "schema", 1);
        cJSON_AddItemToObject(document, "runs", table.rows);
        runners_json_print(document);
        cJSON_Delete(document);
    } else if (!count) {
        test_log_notice("list: %s has no runs", shown);
    }
}

/* Lists the runs in a folder, which the user calls `shown`. */
static int list(const char *folder, const char *shown, bool json)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    size_t count;
    char **names = dir < 0 ? NULL : test_log_list_runs(dir, false, &count);

    if (names)
        put_all(dir, folder, shown, names, count, json);
    else
        runners_refuse_dir("list", folder);
    test_log_free_names(names, names ? count : 0);
    if (dir >= 0)
        close(dir);
    return names ? runners_written("list", TEST_LOG_EXIT_PASSED)
                 : TEST_LOG_EXIT_USAGE;
}

/* Lists the runs in a folder, or the run in a pack. */
static int list_any(const char *folder, bool json)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s", folder) >= PATH_MAX)
        return list(folder, folder, json);
    if (!runners_open_packed(path))
        return TEST_LOG_EXIT_USAGE;
    if (runners_pack_of(path))
        *strrchr(path, '/') = '\0';
    return list(path, folder, json);
}

/* ---- Arguments ---- */

static const struct test_log_flag flags[] = {
    {"--json", NULL, NULL, "print one JSON object", .read = test_log_read_on},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct test_log_options options;
    bool json = false;
    int code;

    if (!test_log_flags_read(&runners_list, &json, &argv, NULL, &code))
        return code;
    if (runners_settings(&options, "list", argv))
        return TEST_LOG_EXIT_USAGE;
    code = list_any(options.dir, json);
    test_log_options_free(&options);
    return code;
}

const struct test_log_command runners_list = {
    .name = "list",
    .help = "list the runs that are kept",
    .synopsis = "[DIR] [--json]",
    .text = "Lists the runs in DIR, the latest first: name, which is its start "
            "in UTC, time, size, result and command. The default is where test "
            "programs put their runs.",
    TEST_LOG_FLAGS(flags),
    .run = run,
};
