/* join.c: testlog run --join: the processes that one ctest starts make one run.
 *
 * A file for each ctest says where its run is, how many of its tests join the
 * run, and how many have ended. The process of the last one writes the files of
 * the run, so these are complete when ctest returns. If ctest's list of tests
 * is unknown, each process writes them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/results/folder/notice.h"
#include "harness/results/folder/old_runs.h"
#include "harness/results/folder/run_folder.h"
#include "harness/results/index/index.h"
#include "harness/results/report/report_html.h"
#include "harness/results/reports/writers.h"
#include "harness/runner/options/options.h"
#include "harness/runner/watch/process_tree.h"
#include "harness/session.h"
#include "run.h"
#include "runners/find/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

#define JOINED ".joined" /* the folder of these files, beside the runs */

enum { ANCESTORS = 8 };

/* ---- Which ctest ---- */

/* Reads a file of a process; returns its size, 0 if there is none. */
static size_t read_proc(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? 0 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

static pid_t parent_of(pid_t pid)
{
    char line[1024], *end;
    long parent;

    if (!read_proc(pid, "stat", line, sizeof(line)))
        return 0;
    end = strrchr(line, ')');
    return end && sscanf(end, ") %*c %ld", &parent) == 1 ? (pid_t)parent : 0;
}

/* Returns the nearest ctest above this process, otherwise the parent. */
static pid_t find_ctest(bool *found)
{
    pid_t pid = getppid();
    char name[64];

    for (int i = 0; i < ANCESTORS && pid > 1; i++, pid = parent_of(pid)) {
        read_proc(pid, "comm", name, sizeof(name));
        *found = !strncmp(name, "ctest", 5);
        if (*found)
            return pid;
    }
    *found = false;
    return getppid();
}

/* ---- How many of its tests join ---- */

static bool joins(const cJSON *test)
{
    const cJSON *command = cJSON_GetObjectItemCaseSensitive(test, "command");
    const cJSON *word, *property;
    bool found = false;

    cJSON_ArrayForEach(word, command)
    {
        found |=
            cJSON_IsString(word) && !strncmp(word->valuestring, "--join=", 7);
    }
    cJSON_ArrayForEach(property,
                       cJSON_GetObjectItemCaseSensitive(test, "properties"))
    {
        const char *name = runners_json_text(property, "name");

        if (name && !strcmp(name, "DISABLED") &&
            cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(property, "value")))
            return false;
    }
    return found;
}

/* Adds the arguments of a ctest, except where it is to go: it is there. */
static void add_arguments(struct trace_text *command, const char *arguments,
                          size_t size)
{
    const char *word = arguments + strlen(arguments) + 1;

    for (; word < arguments + size; word += strlen(word) + 1) {
        if (!strcmp(word, "--test-dir")) {
            word += strlen(word) + 1;
            continue;
        }
        if (!strncmp(word, "--test-dir=", 11))
            continue;
        trace_text_char(command, ' ');
        test_log_add_word(command, word);
    }
}

/* Asks for the tests that ctest is running; NULL if they are unknown. */
static cJSON *list_tests(pid_t ctest)
{
    struct trace_text command = {0}, answer = {0};
    char arguments[16384], bytes[65536];
    size_t size = read_proc(ctest, "cmdline", arguments, sizeof(arguments));
    cJSON *json = NULL;
    FILE *in;

    trace_text_printf(&command,
                      "cd /proc/%ld/cwd && exec /proc/%ld/exe "
                      "--show-only=json-v1",
                      (long)ctest, (long)ctest);
    add_arguments(&command, arguments, size);
    trace_text_string(&command, " 2>/dev/null");
    in = command.failed || !size ? NULL : popen(command.data, "re");
    while (in && (size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(&answer, bytes, size);
    if (in && !pclose(in) && answer.size)
        json = cJSON_ParseWithLength(answer.data, answer.size);
    trace_text_free(&command);
    trace_text_free(&answer);
    return json;
}

static size_t count_joining(pid_t ctest)
{
    cJSON *json = list_tests(ctest), *test;
    size_t count = 0;

    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(json, "tests"))
    {
        count += joins(test);
    }
    cJSON_Delete(json);
    return count;
}

/* ---- The file of a ctest ---- */

struct state {
    char run[NAME_MAX + 1];
    char start[TEST_LOG_ANCHOR_SIZE];
    size_t expected, begun, ended;
};

static bool read_state(int file, struct state *state)
{
    char text[512] = "";
    ssize_t size = pread(file, text, sizeof(text) - 1, 0);

    *state = (struct state){.expected = 0};
    return size > 0 && sscanf(text, "%255[^\n]\n%95[^\n]\n%zu %zu %zu",
                              state->run, state->start, &state->expected,
                              &state->begun, &state->ended) == 5;
}

static int write_state(int file, const struct state *state)
{
    char text[512];
    int size =
        snprintf(text, sizeof(text), "%s\n%s\n%zu %zu %zu\n", state->run,
                 state->start, state->expected, state->begun, state->ended);

    return pwrite(file, text, (size_t)size, 0) == size && !ftruncate(file, size)
               ? 0
               : -1;
}

/* Removes the files of ctests that have ended. */
static void remove_old(const char *folder)
{
    DIR *files = opendir(folder);
    struct dirent *entry;

    while (files && (entry = readdir(files))) {
        unsigned long long started;
        long pid;

        if (sscanf(entry->d_name, "%ld-%llu", &pid, &started) == 2 &&
            test_log_process_started((pid_t)pid) != started)
            unlinkat(dirfd(files), entry->d_name, 0);
    }
    if (files)
        closedir(files);
}

static int open_state(const char *dir, pid_t ctest)
{
    char path[PATH_MAX], folder[PATH_MAX];
    int file;

    if (snprintf(folder, sizeof(folder), "%s/" JOINED, dir) >= PATH_MAX ||
        snprintf(path, sizeof(path), "%s/%ld-%" PRIu64, folder, (long)ctest,
                 test_log_process_started(ctest)) >= PATH_MAX ||
        test_log_make_folders(folder))
        return -1;
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file >= 0 && flock(file, LOCK_EX)) {
        close(file);
        return -1;
    }
    return file;
}

/* ---- Joining ---- */

/* Makes the run of a ctest. */
static int make_run(struct joined *joined, struct state *state, const char *dir,
                    const struct test_log_options *options)
{
    struct test_log_run run = {
        .start = trace_anchor_now(), .dir_given = true, .scratch_word = "off"};
    char folder[PATH_MAX];
    int results = -1;

    if (!test_log_run_open(&run, dir, NULL) && run.path) {
        snprintf(state->run, sizeof(state->run), "%s",
                 trace_base_name(run.path));
        test_log_anchor_text(&run.start, state->start);
        results = test_log_open(&run, "results.jsonl",
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
        test_log_old_runs_prune(&run, dir, options->keep);
    }
    if (results >= 0)
        close(results);
    if (snprintf(folder, sizeof(folder), "%s/" JOINED, dir) < PATH_MAX)
        remove_old(folder);
    test_log_run_free(&run);
    state->expected = joined->is_ctest ? count_joining(joined->ctest) : 0;
    return results < 0 ? -1 : 0;
}

int runners_join(struct joined *joined, struct test_log_run *run,
                 const char *dir, const struct test_log_options *options)
{
    struct state state;
    int status = 0;

    joined->ctest = find_ctest(&joined->is_ctest);
    joined->file = open_state(dir, joined->ctest);
    if (joined->file < 0)
        return -1;
    if (!read_state(joined->file, &state))
        status = make_run(joined, &state, dir, options);
    joined->number = ++state.begun;
    if (!status)
        status = write_state(joined->file, &state);
    flock(joined->file, LOCK_UN);
    if (status || asprintf(&joined->path, "%s/%s", dir, state.run) < 0)
        return -1;
    run->parent =
        (struct test_log_parent){.folder = joined->path, .part = true};
    run->start = test_log_anchor_of(state.start);
    return 0;
}

/* ---- The end ---- */

struct whole {
    struct test_log_run run;
    struct trace_table numbers; /* of results, by program and name */
};

/* The folder of a process is "program~7"; its results are of the program. */
static void cut_number(char *program)
{
    char *tilde = strrchr(program, '~');

    if (tilde && tilde[1] && !tilde[1 + strspn(tilde + 1, "0123456789")])
        *tilde = '\0';
}

/* A test may have run several times: the last one counts. */
static bool add_result(void *context, const cJSON *test)
{
    struct whole *whole = context;
    struct test_log_result *result = runners_json_add_test(&whole->run, test);
    uintptr_t number;
    uint64_t key;

    if (!result)
        return false;
    cut_number(result->program);
    key = trace_hash_string(trace_hash_string(TRACE_HASH, result->program),
                            test_log_name(result));
    if (trace_table_find(&whole->numbers, key, &number)) {
        test_log_run_replace(&whole->run, number);
        return true;
    }
    return trace_table_set(&whole->numbers, key, whole->run.count - 1);
}

/* Writes the files of the run from the results of all processes. */
static void write_files(const struct test_log_run *joined,
                        const struct test_log_options *options, bool first)
{
    struct whole whole = {.run = {.parent = joined->parent,
                                  .start = joined->start,
                                  .output = joined->output,
                                  .annotated = true}};
    struct test_log_run *run = &whole.run;

    if (!test_log_run_open(run, "", NULL)) {
        run->foreign = false;
        run->command = strdup("ctest");
        test_log_copy_settings(run, options);
        runners_result_lines(run, NULL, add_result, &whole);
        for (size_t i = 0; i < run->count; i++)
            run->results[i].unrendered &= run->count > TEST_LOG_PARTS_RENDERED;
        runners_write(run);
        if (first)
            test_log_remember(run, options);
        test_log_page_write(&(struct test_log_page){
            .run = run, .fail_log = options->output.fail_log});
        test_log_index_write(run);
    }
    trace_table_free(&whole.numbers);
    test_log_run_free(run);
}

void runners_join_end(struct joined *joined, const struct test_log_run *run,
                      const struct test_log_options *options)
{
    struct state state;

    if (!flock(joined->file, LOCK_EX) && read_state(joined->file, &state)) {
        state.ended++;
        write_state(joined->file, &state);
        if (state.ended >= state.expected)
            write_files(run, options, state.ended == state.expected);
    }
    close(joined->file);
    free(joined->path);
}
