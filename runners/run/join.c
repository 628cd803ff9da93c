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
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/criterion/watch/jobs.h"
#include "harness/machine/join_ctest.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/machine/process_tree.h"
#include "harness/machine/remove_tree.h"
#include "harness/machine/tsv.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/finish_run.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "run.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

#define OF ".program" /* in a program's folder: its path */

enum { PROCESSES_MOST = 1000000000 }; /* of a ctest */

/* ---- The file of a ctest ---- */

struct state {
    char run[NAME_MAX + 1];
    char start[TEST_LOG_ANCHOR_SIZE];
    size_t expected, ended; /* commands; one may have several processes */
    size_t begun;           /* processes */
    uint64_t written, cost; /* ns: when the files were, how long it took */
    struct trace_text done; /* " COMMAND" of each that has ended */
    struct trace_text
        running; /* processes: "PID STARTED COMMAND\tPROGRAM\tTEST\n" */
};

static void free_state(struct state *state)
{
    trace_text_free(&state->done);
    trace_text_free(&state->running);
}

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
    char *text = runners_stored_text(file);
    int head = 0;
    bool read;

    *state = (struct state){.expected = 0};
    read = text &&
           sscanf(text,
                  "%255[^\n]\n%95[^\n]\n%zu %zu %zu %" SCNu64 " %" SCNu64
                  " done%n",
                  state->run, state->start, &state->expected, &state->begun,
                  &state->ended, &state->written, &state->cost, &head) == 7 &&
           head && is_run(dir, state->run) && state->begun < PROCESSES_MOST;
    if (read) {
        size_t done = strcspn(text + head, "\n");

        trace_text_add(&state->done, text + head, done);
        trace_text_string(&state->running,
                          text + head + done + !!text[head + done]);
    }
    free(text);
    return read;
}

static int write_state(int file, const struct state *state)
{
    struct trace_text text = {0};
    int status = -1;

    trace_text_printf(
        &text, "%s\n%s\n%zu %zu %zu %" PRIu64 " %" PRIu64 " done%s\n%s",
        state->run, state->start, state->expected, state->begun, state->ended,
        state->written, state->cost, state->done.data ? state->done.data : "",
        state->running.data ? state->running.data : "");
    if (!text.failed)
        status = runners_store_text(file, text.data);
    trace_text_free(&text);
    return status;
}

/* Whether files would be elsewhere; sets errno. */
static bool is_link(const char *path)
{
    char to;

    if (readlink(path, &to, 1) < 0)
        return false;
    errno = ELOOP;
    return true;
}

static int open_state(const char *dir, pid_t ctest)
{
    char path[PATH_MAX], folder[PATH_MAX];
    int file;

    if (snprintf(folder, sizeof(folder), "%s/" RUNNERS_JOINED, dir) >=
            PATH_MAX ||
        snprintf(path, sizeof(path), "%s/%ld-%" PRIu64, folder, (long)ctest,
                 test_log_process_started(ctest)) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (test_log_make_folders(folder) || is_link(folder))
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
static void add_killed(int results, const char *program, const char *test,
                       const char *title)
{
    struct trace_text line = {0};

    trace_text_string(&line, TEST_LOG_JSONL_TEST "\"program\":");
    trace_json_string(&line, program, strlen(program));
    trace_text_string(&line, ",\"name\":");
    trace_json_string(&line, test, strlen(test));
    if (*title)
        trace_json_member(&line, "title", title);
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

/* Counts a command that has ended, once. */
static void count_ended(struct state *state, const char *line)
{
    char command[20] = "";

    sscanf(line, "%*d %*u%17[ 0-9a-f]", command);
    if (state->done.data && strstr(state->done.data, command))
        return;
    trace_text_string(&state->done, command);
    state->ended++;
}

/* Takes the processes that have ended out of the state; `own` has ended by
 * itself (0: none), the others were killed. */
static void take_ended(struct state *state, const char *dir, pid_t own)
{
    char *rest = state->running.data ? strdup(state->running.data) : NULL;
    char *text = rest, *line, name[PATH_MAX];
    char *columns[4];
    size_t count;
    int results = -1;

    if (snprintf(name, sizeof(name), "%s/%s/results.jsonl", dir, state->run) <
        PATH_MAX)
        results = open(name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
                                 O_NONBLOCK);
    trace_text_clear(&state->running);
    while ((line = strsep(&rest, "\n")) && *line) {
        bool itself = own && strtol(line, NULL, 10) == own;

        if (!itself && is_alive(line)) {
            trace_text_printf(&state->running, "%s\n", line);
            continue;
        }
        count_ended(state, line);
        if (!itself) {
            count = test_log_tsv_cut(line, columns, 4);
            add_killed(results, count > 1 ? columns[1] : "?",
                       count > 2 ? columns[2] : "?",
                       count > 3 ? columns[3] : "");
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
    const struct program *first = &programs->all[0];
    const char *test =
        options->pattern_count == 1 ? options->patterns[0] : first->name;
    struct trace_text *text = &state->running, name = {0};
    char *dot = NULL;

    trace_text_printf(text, "%ld %" PRIu64 " %016" PRIx64 "\t", (long)getpid(),
                      test_log_process_started(getpid()),
                      test_log_own_command());
    put_name(text, first->name);
    trace_text_char(text, '\t');
    put_name(&name, test);
    if (name.data && first->framework &&
        runners_framework_is_gtest(first->framework))
        dot = strchr(name.data, '.');
    if (dot)
        *dot = '/'; /* "Suite.Test" is the title */
    trace_text_string(text, name.data ? name.data : "?");
    trace_text_char(text, '\t');
    put_name(text, dot ? test : "");
    trace_text_char(text, '\n');
    trace_text_free(&name);
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

    if (!result)
        return false;
    cut_number(&whole->run, result->program);
    return test_log_run_settle(&whole->run, &whole->numbers) != SIZE_MAX;
}

/* Writes the files of a run from the results of its processes. Unless these are
 * `all`, the run has been interrupted. */
static void write_files(const char *path, const char *start,
                        const struct test_log_options *options, bool all)
{
    struct whole whole = {.run = {.parent = {.folder = path},
                                  .start = test_log_anchor_of(start),
                                  .output = &options->output,
                                  .annotated = true}};
    struct test_log_run *run = &whole.run;

    if (!test_log_run_open(run, "", NULL)) {
        run->role = TEST_LOG_ROLE_WHOLE; /* nobody else writes it */
        run->command = strdup("ctest");
        test_log_copy_settings(run, options);
        runners_read_lines(run, NULL, add_result, &whole);
        for (size_t i = 0; i < run->count; i++)
            run->results[i].unrendered &= run->count > TEST_LOG_PARTS_RENDERED;
        run->took = test_log_run_last_end(run);
        run->interrupted = all ? 0 : SIGTERM;
        test_log_run_finish(run,
                            &(struct test_log_finish){
                                .options = options,
                                .without = TEST_LOG_WITHOUT(LINES) |
                                           TEST_LOG_WITHOUT(PRUNE) |
                                           (all ? 0 : TEST_LOG_WITHOUT(PAST))});
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
    write_files(path, state->start, options, state->ended >= state->expected);
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
        bool unwritten = state.ended < state.expected || state.running.size;

        take_ended(&state, dir, 0);
        state.written = 0; /* it is due, complete or not */
        if (unwritten)
            write_if_due(&state, dir, options);
        free_state(&state);
    }
    close(file);
}

/* Removes the files of ctests that have ended, and the folders of processes
 * that were killed while they asked one for its tests. */
static void remove_old(const char *dir, const struct test_log_options *options)
{
    char folder[PATH_MAX];
    struct dirent *entry;
    DIR *files = NULL;

    if (snprintf(folder, sizeof(folder), "%s/" RUNNERS_JOINED, dir) < PATH_MAX)
        files = opendir(folder);
    while (files && (entry = readdir(files))) {
        static const char list[] = RUNNERS_JOIN_LIST;
        bool is_list = !strncmp(entry->d_name, list, strlen(list));
        unsigned long long started;
        long pid;
        int file;

        if (sscanf(entry->d_name + (is_list ? strlen(list) : 0), "%ld-%llu",
                   &pid, &started) != 2 ||
            test_log_process_started((pid_t)pid) == started)
            continue;
        if (is_list) {
            test_log_remove_tree(dirfd(files), entry->d_name);
            continue;
        }
        file = openat(dirfd(files), entry->d_name,
                      O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (file >= 0)
            end_old(dir, file, options);
        unlinkat(dirfd(files), entry->d_name, 0);
    }
    if (files)
        closedir(files);
}

/* Makes the run of a ctest (0: of another process). */
static int make_run(pid_t ctest, struct state *state,
                    const struct joined *joined,
                    const struct test_log_options *options)
{
    const char *dir = joined->dir;
    struct test_log_run run = {
        .start = trace_anchor_now(), .dir_given = true, .scratch_word = "off"};
    int results = -1, error;
    bool elsewhere;

    remove_old(dir, options);
    *state = (struct state){.written = test_log_now()};
    if (!test_log_run_open(&run, dir, NULL) && run.path) {
        snprintf(state->run, sizeof(state->run), "%s",
                 trace_base_name(run.path));
        test_log_anchor_text(&run.start, state->start);
        results = test_log_open(&run, "results.jsonl",
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    }
    elsewhere =
        results >= 0 && !is_run(dir, state->run); /* there was no room */
    error = elsewhere ? ENOSPC : errno;
    if (elsewhere)
        test_log_remove_tree(AT_FDCWD, run.path);
    else if (results >= 0)
        test_log_old_runs_prune(&run, dir, options->keep);
    if (results >= 0)
        close(results);
    test_log_run_free(&run);
    errno = error;
    if (results < 0 || elsewhere)
        return -1;
    /* The list may take long: if this process is killed, others go on. */
    write_state(joined->file, state);
    state->expected = ctest ? runners_count_joining(ctest, dir) : 0;
    return 0;
}

/* Tells whether a folder belongs to a program; gives it to the program if it
 * belongs to none. */
static bool is_of(const struct test_log_run *run, const char *name,
                  const char *program)
{
    char file[PATH_MAX], of[PATH_MAX] = "";
    int fd;

    if (test_log_make_program_folder(run, name) ||
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

/* Gives a program the first name that no other has in the run: `base`, which
 * may be its own, or one with a number. */
static void name_program(const struct test_log_run *run,
                         struct program *program, const char *base)
{
    char *before = program->name, real[PATH_MAX];
    bool found = !realpath(program->path, real);

    for (unsigned number = 1; !found; number++) {
        char *name = test_log_program_name(base, number);

        found = !name || is_of(run, name, real);
        if (found && name)
            program->name = name;
        else
            free(name);
    }
    if (program->name == before)
        return;
    free(before);
    if (program->framework)
        runners_framework_rename(program->framework, program->name);
}

/* Programs of one name in two folders are two programs, and so is one that
 * ctest starts in two ways. */
static void name_programs(const struct joined *joined,
                          struct programs *programs)
{
    struct test_log_run run = {.parent = {.folder = joined->path}};

    if (!test_log_run_open(&run, "", NULL))
        for (size_t i = 0; i < programs->count; i++)
            name_program(&run, &programs->all[i],
                         programs->join_as ? programs->join_as
                                           : programs->all[i].name);
    test_log_run_free(&run);
}

/* Takes the state of the run, or makes both. */
static int take_run(struct joined *joined, struct state *state, pid_t ctest,
                    const struct test_log_options *options)
{
    if (!read_state(joined->file, joined->dir, state) &&
        make_run(ctest, state, joined, options))
        return -1;
    return asprintf(&joined->path, "%s/%s", joined->dir, state->run) < 0 ? -1
                                                                         : 0;
}

int runners_join(struct joined *joined, struct test_log_run *run,
                 struct programs *programs,
                 const struct test_log_options *options)
{
    pid_t ctest = runners_find_ctest();
    struct state state;
    int status, error;

    *joined = (struct joined){.dir = programs->join};
    joined->file = open_state(joined->dir, ctest ? ctest : getppid());
    if (joined->file < 0)
        return -1;
    status = take_run(joined, &state, ctest, options);
    if (!status) {
        joined->number = (unsigned)++state.begun;
        name_programs(joined, programs);
        take_ended(&state, joined->dir, 0);
        add_running(&state, programs, options);
        status = write_state(joined->file, &state);
    }
    if (!status) {
        run->parent.folder = joined->path;
        run->role = TEST_LOG_ROLE_PART;
        run->start = test_log_anchor_of(state.start);
    }
    error = errno;
    free_state(&state);
    flock(joined->file, LOCK_UN);
    if (!status)
        return 0;
    close(joined->file);
    free(joined->path);
    *joined = (struct joined){.number = 0};
    errno = error;
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
        free_state(&state);
    }
    close(joined->file);
    free(joined->path);
}
