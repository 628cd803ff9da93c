/* join.c: testlog run --join: the processes that one ctest starts make one run.
 *
 * A file for each ctest says where its run is, how many of its tests join the
 * run, how many have ended, and which processes run. That of the last test
 * writes the files of the run, so these are complete when ctest returns. If
 * ctest's list of tests is unknown, each process writes them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
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
#include "harness/runner/watch/jobs.h"
#include "harness/runner/watch/process_tree.h"
#include "harness/session.h"
#include "run.h"
#include "runners/find/run_json.h"
#include "runners/frameworks/frameworks.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

#define JOINED ".joined"  /* the folder of these files, beside the runs */
#define OF     ".program" /* in a program's folder: its path */

enum { ANCESTORS = 8 };

/* ---- Which ctest ---- */

/* Other programs may have names that begin like ctest's. */
static bool is_ctest(pid_t pid)
{
    char path[64], file[PATH_MAX];
    ssize_t size;

    snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
    size = readlink(path, file, sizeof(file) - 1);
    file[size > 0 ? size : 0] = '\0';
    return !strcmp(trace_base_name(file), "ctest");
}

/* Returns the nearest ctest above this process, otherwise the parent. */
static pid_t find_ctest(bool *found)
{
    pid_t pid = getppid();

    *found = false;
    for (int i = 0; i < ANCESTORS && pid > 1;
         i++, pid = test_log_process_parent(pid)) {
        *found = is_ctest(pid);
        if (*found)
            return pid;
    }
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

/* With these, ctest does more than to run tests. */
static bool does_more(const char *word)
{
    static const char *const flags[] = {
        "--build-and-test", "-S",         "-SP", "-D", "-M", "-T",
        "--script",         "--dashboard"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (!strcmp(word, flags[i]))
            return true;
    return false;
}

/* Adds the arguments of a ctest, except where it is to go: it is there. Returns
 * false if it does more than to run tests. */
static bool add_arguments(struct trace_text *command, const char *arguments,
                          size_t size)
{
    const char *word = arguments + strlen(arguments) + 1;

    for (; word < arguments + size; word += strlen(word) + 1) {
        if (does_more(word))
            return false;
        if (!strcmp(word, "--test-dir")) {
            word += strlen(word) + 1;
            continue;
        }
        if (!strncmp(word, "--test-dir=", 11))
            continue;
        trace_text_char(command, ' ');
        test_log_add_word(command, word);
    }
    return true;
}

/* Asks for the tests that ctest is running; NULL if they are unknown. What is
 * asked must not ask again. */
static cJSON *list_tests(pid_t ctest)
{
    static const char variable[] = "TESTLOG_JOINING";
    struct trace_text command = {0}, answer = {0};
    char arguments[16384], bytes[65536];
    ssize_t got =
        test_log_process_file(ctest, "cmdline", arguments, sizeof(arguments));
    size_t size = got > 0 ? (size_t)got : 0;
    cJSON *json = NULL;
    FILE *in = NULL;

    trace_text_printf(&command,
                      "cd /proc/%ld/cwd && exec /proc/%ld/exe "
                      "--show-only=json-v1",
                      (long)ctest, (long)ctest);
    if (size && size < sizeof(arguments) - 1 && !getenv(variable) &&
        add_arguments(&command, arguments, size) && !command.failed) {
        setenv(variable, "1", 1);
        in = runners_framework_output(
            (char *[]){(char *)"/bin/sh", (char *)"-c", command.data, NULL});
        unsetenv(variable);
    }
    while (in && (size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(&answer, bytes, size);
    if (in)
        fclose(in);
    if (answer.size)
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

/* The process of a test that has joined: "PID STARTED\tPROGRAM\tTEST". */
struct state {
    char run[NAME_MAX + 1];
    char start[TEST_LOG_ANCHOR_SIZE];
    size_t expected, begun, ended;
    uint64_t written, cost;    /* ns: when the files were, how long it took */
    struct trace_text running; /* a line for each process */
};

/* The run is below the folder, and made by us. */
static bool is_run(const char *dir, const char *name)
{
    char path[PATH_MAX];
    struct stat status;

    return name[0] >= '0' && name[0] <= '9' && !strchr(name, '/') &&
           snprintf(path, sizeof(path), "%s/%s", dir, name) < PATH_MAX &&
           !lstat(path, &status) && S_ISDIR(status.st_mode);
}

static bool read_state(int file, const char *dir, struct state *state)
{
    struct trace_text text = {0};
    char bytes[4096];
    ssize_t size;
    int head = 0;
    bool read;

    *state = (struct state){.expected = 0};
    for (off_t at = 0; (size = pread(file, bytes, sizeof(bytes), at)) > 0;
         at += size)
        trace_text_add(&text, bytes, (size_t)size);
    read =
        text.size &&
        sscanf(text.data,
               "%255[^\n]\n%95[^\n]\n%zu %zu %zu %" SCNu64 " %" SCNu64 "\n%n",
               state->run, state->start, &state->expected, &state->begun,
               &state->ended, &state->written, &state->cost, &head) == 7 &&
        head && is_run(dir, state->run);
    if (read)
        trace_text_string(&state->running, text.data + head);
    trace_text_free(&text);
    return read;
}

static int write_state(int file, const struct state *state)
{
    struct trace_text text = {0};
    int status = -1;

    trace_text_printf(&text, "%s\n%s\n%zu %zu %zu %" PRIu64 " %" PRIu64 "\n%s",
                      state->run, state->start, state->expected, state->begun,
                      state->ended, state->written, state->cost,
                      state->running.data ? state->running.data : "");
    if (!text.failed &&
        pwrite(file, text.data, text.size, 0) == (ssize_t)text.size)
        status = ftruncate(file, (off_t)text.size);
    trace_text_free(&text);
    return status;
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
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                0666);
    if (file >= 0 && flock(file, LOCK_EX)) {
        close(file);
        return -1;
    }
    return file;
}

/* ---- Processes that were killed ---- */

/* Adds the result of a test whose process was killed. */
static void add_killed(int results, const char *program, const char *test)
{
    struct trace_text line = {0};

    trace_text_string(&line, TEST_LOG_JSONL_TEST "\"program\":");
    trace_json_string(&line, program, strlen(program));
    trace_text_string(&line, ",\"name\":");
    trace_json_string(&line, test, strlen(test));
    trace_text_string(&line, ",\"outcome\":\"crashed\",\"reason\":\"its "
                             "process was killed\",\"start_ns\":1}\n");
    if (!line.failed)
        test_log_write_all(results, line.data, line.size);
    trace_text_free(&line);
}

static bool is_alive(const char *line)
{
    unsigned long long started;
    long pid;

    return sscanf(line, "%ld %llu", &pid, &started) == 2 &&
           test_log_process_started((pid_t)pid) == started;
}

static void split(char *line, const char **program, const char **test)
{
    strsep(&line, "\t");
    *program = line ? strsep(&line, "\t") : "?";
    *test = line ? line : "?";
}

/* Takes the processes that have ended out of the state; `own` has ended by
 * itself (0: none), the others were killed. */
static void take_ended(struct state *state, const char *dir, pid_t own)
{
    char *rest = state->running.data ? strdup(state->running.data) : NULL;
    char *text = rest, *line, name[PATH_MAX];
    const char *program, *test;
    int results = -1;

    if (snprintf(name, sizeof(name), "%s/%s/results.jsonl", dir, state->run) <
        PATH_MAX)
        results = open(name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    trace_text_clear(&state->running);
    while ((line = strsep(&rest, "\n")) && *line) {
        if (own && strtol(line, NULL, 10) == own) {
            state->ended++;
        } else if (is_alive(line)) {
            trace_text_printf(&state->running, "%s\n", line);
        } else {
            state->ended++;
            split(line, &program, &test);
            add_killed(results, program, test);
        }
    }
    if (results >= 0)
        close(results);
    free(text);
}

/* Adds a name to a line of the state, in which it has no separators. */
static void put_name(struct trace_text *text, const char *name)
{
    for (; *name; name++) {
        if (*name == '\\' && name[1])
            name++; /* a pattern of testlog_discover_tests */
        trace_text_char(text, *name == '\n' || *name == '\t' ? ' ' : *name);
    }
}

static void add_running(struct state *state, const struct programs *programs,
                        const struct test_log_options *options)
{
    const char *program = programs->all[0].name;
    struct trace_text *text = &state->running;

    trace_text_printf(text, "%ld %" PRIu64 "\t", (long)getpid(),
                      test_log_process_started(getpid()));
    put_name(text, program);
    trace_text_char(text, '\t');
    put_name(text,
             options->pattern_count == 1 ? options->patterns[0] : program);
    trace_text_char(text, '\n');
}

/* ---- The files of the run ---- */

struct whole {
    struct test_log_run run;
    struct trace_table numbers; /* of results, by program and name */
};

/* The folder of a process may be "program~7", but its results are of the
 * program. "program~2" is another program if it has a file that says so. */
static void cut_number(const struct test_log_run *run, char *program)
{
    char *tilde = strrchr(program, '~'), name[PATH_MAX];
    int file;

    if (!tilde || !tilde[1] || tilde[1 + strspn(tilde + 1, "0123456789")] ||
        snprintf(name, sizeof(name), "tests/%s/" OF, program) >= PATH_MAX)
        return;
    file = test_log_open(run, name, O_RDONLY);
    if (file < 0)
        *tilde = '\0';
    else
        close(file);
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
    cut_number(&whole->run, result->program);
    key = trace_hash_string(trace_hash_string(TRACE_HASH, result->program),
                            test_log_name(result));
    if (trace_table_find(&whole->numbers, key, &number)) {
        test_log_run_replace(&whole->run, number);
        return true;
    }
    return trace_table_set(&whole->numbers, key, whole->run.count - 1);
}

/* Writes the files of a run from the results of all processes. */
static void write_files(const char *path, const char *start,
                        const struct test_log_options *options, bool last)
{
    struct whole whole = {.run = {.parent = {.folder = path, .part = true},
                                  .start = test_log_anchor_of(start),
                                  .output = &options->output,
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
        if (last)
            test_log_remember(run, options);
        test_log_page_write(&(struct test_log_page){
            .run = run, .fail_log = options->output.fail_log});
        test_log_index_write(run);
    }
    trace_table_free(&whole.numbers);
    test_log_run_free(run);
}

/* Nobody knows which process is the last if ctest stops early: the files are
 * also written from time to time. */
static bool is_due(const struct state *state)
{
    uint64_t since = test_log_now() - state->written;

    return state->ended >= state->expected ||
           (since > 2000000000 && since > 20 * state->cost);
}

static void write_if_due(struct state *state, const char *dir,
                         const struct test_log_options *options)
{
    uint64_t began = test_log_now();
    char path[PATH_MAX];

    if (!is_due(state) ||
        snprintf(path, sizeof(path), "%s/%s", dir, state->run) >= PATH_MAX)
        return;
    write_files(path, state->start, options, state->ended == state->expected);
    state->written = test_log_now();
    state->cost = state->written - began;
}

/* ---- Joining ---- */

/* Ends the run of a ctest that has ended, if processes of it were killed. */
static void end_old(const char *dir, int file,
                    const struct test_log_options *options)
{
    struct state state;

    if (!flock(file, LOCK_EX | LOCK_NB) && read_state(file, dir, &state)) {
        take_ended(&state, dir, 0);
        if (state.ended < state.expected || state.running.size) {
            state.expected = state.ended;
            write_if_due(&state, dir, options);
        }
        trace_text_free(&state.running);
    }
    close(file);
}

/* Removes the files of ctests that have ended. */
static void remove_old(const char *dir, const struct test_log_options *options)
{
    char folder[PATH_MAX];
    struct dirent *entry;
    DIR *files = NULL;

    if (snprintf(folder, sizeof(folder), "%s/" JOINED, dir) < PATH_MAX)
        files = opendir(folder);
    while (files && (entry = readdir(files))) {
        unsigned long long started;
        long pid;
        int file;

        if (sscanf(entry->d_name, "%ld-%llu", &pid, &started) != 2 ||
            test_log_process_started((pid_t)pid) == started)
            continue;
        file = openat(dirfd(files), entry->d_name,
                      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file >= 0)
            end_old(dir, file, options);
        unlinkat(dirfd(files), entry->d_name, 0);
    }
    if (files)
        closedir(files);
}

/* Makes the run of a ctest. */
static int make_run(struct joined *joined, struct state *state, const char *dir,
                    const struct test_log_options *options)
{
    struct test_log_run run = {
        .start = trace_anchor_now(), .dir_given = true, .scratch_word = "off"};
    int results = -1;

    remove_old(dir, options);
    *state = (struct state){.written = test_log_now()};
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
    test_log_run_free(&run);
    state->expected = joined->is_ctest ? count_joining(joined->ctest) : 0;
    return results < 0 || !is_run(dir, state->run) ? -1 : 0;
}

/* Whether the folder of a name is that of a program, which it becomes if it is
 * nobody's. */
static bool is_of(const struct test_log_run *run, const char *name,
                  const char *program)
{
    char file[PATH_MAX], of[PATH_MAX] = "";
    int fd;

    if (snprintf(file, sizeof(file), "tests/%s", name) >= PATH_MAX ||
        (test_log_make_folder(run, "tests") && errno != EEXIST) ||
        (test_log_make_folder(run, file) && errno != EEXIST) ||
        snprintf(file, sizeof(file), "tests/%s/" OF, name) >= PATH_MAX)
        return true; /* without space, programs share the name */
    fd = test_log_open(run, file, O_RDWR | O_CREAT);
    if (fd < 0)
        return true;
    if (read(fd, of, sizeof(of) - 1) == 0)
        test_log_write_all(fd, program, strlen(program));
    close(fd);
    return !of[0] || !strcmp(of, program);
}

/* Gives a program the first name that no other has in the run. */
static void name_program(const struct test_log_run *run,
                         struct program *program)
{
    char *base = program->name, real[PATH_MAX];
    bool found = !realpath(program->path, real);

    for (unsigned number = 1; !found; number++) {
        char *name = test_log_program_name(base, number);

        found = !name || is_of(run, name, real);
        if (found && name)
            program->name = name;
        else
            free(name);
    }
    if (program->name == base)
        return;
    free(base);
    if (program->framework)
        runners_framework_rename(program->framework, program->name);
}

/* Programs of one name in two folders are two programs. */
static void name_programs(const struct joined *joined,
                          struct programs *programs)
{
    struct test_log_run run = {
        .parent = {.folder = joined->path, .part = true}};

    if (!test_log_run_open(&run, "", NULL))
        for (size_t i = 0; i < programs->count; i++)
            name_program(&run, &programs->all[i]);
    test_log_run_free(&run);
}

int runners_join(struct joined *joined, struct test_log_run *run,
                 struct programs *programs,
                 const struct test_log_options *options)
{
    const char *dir = programs->join;
    struct state state;
    int status = 0;

    joined->ctest = find_ctest(&joined->is_ctest);
    joined->file = open_state(dir, joined->ctest);
    if (joined->file < 0)
        return -1;
    if (!read_state(joined->file, dir, &state))
        status = make_run(joined, &state, dir, options);
    if (!status && asprintf(&joined->path, "%s/%s", dir, state.run) < 0)
        status = -1;
    if (!status) {
        joined->number = (unsigned)++state.begun;
        joined->dir = dir;
        name_programs(joined, programs);
        take_ended(&state, dir, 0);
        add_running(&state, programs, options);
        status = write_state(joined->file, &state);
        run->parent =
            (struct test_log_parent){.folder = joined->path, .part = true};
        run->start = test_log_anchor_of(state.start);
    }
    trace_text_free(&state.running);
    flock(joined->file, LOCK_UN);
    if (!status)
        return 0;
    close(joined->file);
    free(joined->path);
    *joined = (struct joined){.number = 0};
    run->parent = (struct test_log_parent){.folder = NULL};
    return -1;
}

void runners_join_end(struct joined *joined,
                      const struct test_log_options *options)
{
    struct state state;

    if (!flock(joined->file, LOCK_EX) &&
        read_state(joined->file, joined->dir, &state)) {
        take_ended(&state, joined->dir, getpid());
        write_if_due(&state, joined->dir, options);
        write_state(joined->file, &state);
        trace_text_free(&state.running);
    }
    close(joined->file);
    free(joined->path);
}
