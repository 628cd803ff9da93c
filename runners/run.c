/* run.c: testlog run PROGRAM... [-- FLAG...]: several programs, one run.
 *
 * Each program writes its own part, with a run.json that is read here; then
 * the whole is written by the code that writes a single program's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/harness.h"
#include "runners.h"

struct programs {
    char **paths;
    char **folders; /* of each in the run, once it ran */
    int count;
    char **flags; /* for each of them */
    int flag_count;
};

/* ---- Reading a program's part ---- */

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "re");
    struct trace_text text = {0};
    char bytes[8192];
    size_t size;

    if (!in)
        return NULL;
    while ((size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(&text, bytes, size);
    fclose(in);
    if (text.failed)
        trace_text_free(&text);
    return text.data;
}

static char *string_of(const cJSON *object, const char *name)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

    return text ? strdup(text) : NULL;
}

static uint64_t number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);

    return cJSON_IsNumber(item) && item->valuedouble > 0
               ? (uint64_t)item->valuedouble
               : 0;
}

/* "suite/test" again as its two parts. */
static void split_name(struct test_log_result *result, char *name)
{
    char *slash = name ? strchr(name, '/') : NULL;

    if (slash) {
        *slash = '\0';
        result->suite = strdup(name);
        result->test = strdup(slash + 1);
    } else {
        result->test = strdup(name ? name : "?");
    }
    free(name);
}

static void add_test(struct test_log_run *run, const cJSON *test)
{
    struct test_log_result *result = test_log_run_add(run);
    char *outcome = string_of(test, "outcome");

    if (result) {
        split_name(result, string_of(test, "name"));
        result->program = string_of(test, "program");
        if (!result->program)
            result->program = strdup("?");
        result->outcome = test_log_outcome_of(outcome ? outcome : "");
        result->reason = string_of(test, "reason");
        result->file = string_of(test, "file");
        result->line = (unsigned)number_of(test, "line");
        result->duration = number_of(test, "duration_ns");
        result->dropped = number_of(test, "dropped");
        result->folder = string_of(test, "folder");
    }
    free(outcome);
}

/* The place of a string in an array; -1 if it is not there. */
static int place_of(const cJSON *array, const char *text)
{
    const cJSON *item;
    int place = 0;

    cJSON_ArrayForEach(item, array)
    {
        if (cJSON_IsString(item) && !strcmp(item->valuestring, text))
            return place;
        place++;
    }
    return -1;
}

/* What one program knows of what was meant will do. */
static void merge_meant(char **meant, const cJSON *item)
{
    if (!*meant && cJSON_IsString(item))
        *meant = strdup(item->valuestring);
}

static void start_unseen(struct test_log_run *run, const cJSON *unseen)
{
    size_t room = (size_t)cJSON_GetArraySize(unseen) + 1;
    const cJSON *item;

    run->unseen = calloc(room, sizeof(*run->unseen));
    run->meant = calloc(room, sizeof(*run->meant));
    cJSON_ArrayForEach(item, unseen)
    {
        if (run->unseen && run->meant && cJSON_IsString(item) &&
            strstr(item->valuestring, ": ") &&
            (run->unseen[run->unseen_count] = strdup(item->valuestring)))
            run->unseen_count++;
    }
}

/* A directive is unseen if no program saw it. */
static void merge_unseen(struct test_log_run *run, const cJSON *filters,
                         bool first)
{
    const cJSON *unseen = cJSON_GetObjectItemCaseSensitive(filters, "unseen");
    const cJSON *meant = cJSON_GetObjectItemCaseSensitive(filters, "meant");
    size_t kept = 0;

    if (first)
        start_unseen(run, unseen);
    for (size_t i = 0; i < run->unseen_count; i++) {
        char *directive = run->unseen[i], *own = run->meant[i];
        int place = place_of(unseen, directive);

        run->meant[i] = NULL;
        if (place < 0) {
            free(directive);
            free(own);
            continue;
        }
        merge_meant(&own, cJSON_GetArrayItem(meant, place));
        run->unseen[kept] = directive;
        run->meant[kept++] = own;
    }
    run->unseen_count = kept;
}

/* A level is there if one program was built with it. */
static void merge_static_max(struct test_log_run *run, const cJSON *item)
{
    for (unsigned level = 0; cJSON_IsString(item) && level <= TRACE_LEVEL_TRACE;
         level++)
        if (!strcmp(item->valuestring, trace_level_word(level))) {
            run->annotated = true;
            if (level > run->static_max)
                run->static_max = level;
        }
}

/* Adds what a program wrote; false if it wrote nothing that can be read. */
static bool merge_program(struct test_log_run *run, const char *folder,
                          bool *first)
{
    char part[PATH_MAX], path[PATH_MAX], *text = NULL;
    cJSON *json = NULL;
    const cJSON *test, *filters;

    if (snprintf(part, sizeof(part), "tests/%s/run.json", folder) < PATH_MAX &&
        !test_log_path(run, part, path))
        text = read_file(path);
    if (text)
        json = cJSON_Parse(text);
    free(text);
    if (!json)
        return false;
    filters = cJSON_GetObjectItemCaseSensitive(json, "filters");
    merge_unseen(run, filters, *first);
    merge_static_max(run,
                     cJSON_GetObjectItemCaseSensitive(filters, "static_max"));
    *first = false;
    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(json, "tests"))
    {
        add_test(run, test);
    }
    cJSON_Delete(json);
    return true;
}

/* ---- Running a program ---- */

/* A program that says nothing of its own counts as one test. */
static void add_program(struct test_log_run *run, const char *folder,
                        enum test_log_outcome outcome, const char *reason)
{
    struct test_log_result *result = test_log_run_add(run);

    if (!result)
        return;
    result->program = strdup(folder);
    result->test = strdup(folder);
    result->outcome = outcome;
    result->reason = reason ? strdup(reason) : NULL;
}

/* What becomes of the child: the program, which dies with its parent. If it
 * cannot be run, errno goes to `fd`. */
static void become(char *path, char **argv, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execvp(path, argv);

    int error = errno;

    if (write(fd, &error, sizeof(error)) != sizeof(error))
        _exit(126);
    _exit(127);
}

/* Runs a program to its end; returns what waitpid tells, or -errno. */
static int spawn(char *path, char **argv)
{
    int ends[2], status, error = 0;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    pid = fork();
    if (!pid)
        become(path, argv, ends[1]);
    close(ends[1]);
    if (pid < 0)
        error = errno;
    else if (read(ends[0], &error, sizeof(error)) < 0)
        error = 0;
    close(ends[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return error ? -error : status;
}

static int start(const struct programs *programs, char *path)
{
    char **argv = calloc((size_t)programs->flag_count + 2, sizeof(*argv));
    int status;

    if (!argv)
        return -ENOMEM;
    argv[0] = path;
    memcpy(argv + 1, programs->flags,
           (size_t)programs->flag_count * sizeof(*argv));
    fflush(NULL);
    status = spawn(path, argv);
    free(argv);
    return status;
}

/* Judges how a program ended; `told` tells whether it left results. */
static int judge(struct test_log_run *run, const char *folder, int status,
                 bool told)
{
    char reason[128];
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

    if (status >= 0 && code == 3)
        return TEST_LOG_USAGE; /* Criterion's word for a bad pattern */
    if (status >= 0 && (code == TEST_LOG_USAGE || code == TEST_LOG_NO_TEST))
        return code;
    if (status >= 0 && told && (code == 0 || code == 1))
        return code;
    if (status >= 0 && code == 0) {
        add_program(run, folder, TEST_LOG_OUTCOME_PASSED, NULL);
        return TEST_LOG_PASSED;
    }
    if (status < 0)
        snprintf(reason, sizeof(reason), "cannot be run: %s",
                 strerror(-status));
    else if (WIFSIGNALED(status))
        snprintf(reason, sizeof(reason), "the program died of SIG%s",
                 sigabbrev_np(WTERMSIG(status)));
    else
        snprintf(reason, sizeof(reason), "the program exited with %d", code);
    add_program(run, folder,
                code == 1 ? TEST_LOG_OUTCOME_FAILED : TEST_LOG_OUTCOME_CRASHED,
                reason);
    return TEST_LOG_FAILED;
}

/* 2 beats 1 beats 0; 4 only if every program says 4. */
static int worse(int all, int one)
{
    if (all == TEST_LOG_USAGE || one == TEST_LOG_USAGE)
        return TEST_LOG_USAGE;
    if (all == TEST_LOG_NO_TEST)
        return one;
    if (one == TEST_LOG_NO_TEST)
        return all;
    return all > one ? all : one;
}

static int run_program(struct test_log_run *run, struct programs *programs,
                       int number, bool *first)
{
    char *path = programs->paths[number];
    char *folder = test_log_program_folder(run, path);
    int status;

    if (!folder)
        return TEST_LOG_FAILED;
    programs->folders[number] = folder;
    status = start(programs, path);
    return judge(run, folder, status, merge_program(run, folder, first));
}

/* Each program for itself, where there is nothing to merge. */
static int run_apart(const struct programs *programs)
{
    int code = TEST_LOG_NO_TEST;

    for (int i = 0; i < programs->count; i++) {
        int status = start(programs, programs->paths[i]);
        int one = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;

        if (one == 3)
            one = TEST_LOG_USAGE;
        else if (one != TEST_LOG_PASSED && one != TEST_LOG_USAGE &&
                 one != TEST_LOG_NO_TEST)
            one = TEST_LOG_FAILED;
        code = worse(code, one);
    }
    return code;
}

/* ---- The whole ---- */

static void write_all(const struct test_log_run *run)
{
    if (test_log_write_run_json(run, "run.json") ||
        test_log_write_junit(run, "junit.xml") ||
        test_log_write_trace(run, "trace.json"))
        test_log_notice("cannot write to %s: %s; the results are those below",
                        run->path, strerror(errno));
}

static bool failed_in(const struct test_log_run *run, const char *folder)
{
    for (size_t i = 0; folder && i < run->count; i++)
        if (test_log_outcome_bad(run->results[i].outcome) &&
            !strcmp(run->results[i].program, folder))
            return true;
    return false;
}

/* Whether a failed test has a name to filter by. */
static bool names_tests(const struct test_log_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (test_log_outcome_bad(run->results[i].outcome) &&
            run->results[i].suite)
            return true;
    return false;
}

/* The command with those programs that `run` has failures of, or with all. */
static char *command_of(const struct programs *programs,
                        const struct test_log_run *run)
{
    struct trace_text text = {0};

    test_log_add_word(&text, program_invocation_name);
    trace_text_string(&text, " run");
    for (int i = 0; i < programs->count; i++)
        if (!run || failed_in(run, programs->folders[i])) {
            trace_text_char(&text, ' ');
            test_log_add_word(&text, programs->paths[i]);
        }
    if (run && names_tests(run))
        trace_text_string(&text, " --");
    return text.data;
}

static void copy_settings(struct test_log_run *run,
                          const struct test_log_options *options)
{
    run->show = strdup(options->show.value);
    run->show_origin = strdup(options->show.origin);
    run->record = strdup(options->record.value);
    run->record_origin = strdup(options->record.origin);
}

static void finish(const struct test_log_run *run,
                   const struct programs *programs,
                   const struct test_log_options *options, int code)
{
    char *rerun = command_of(programs, run);

    write_all(run);
    test_log_report_unseen(run);
    if (code == TEST_LOG_NO_TEST)
        test_log_notice("no test of any program matched");
    test_log_report_summary(run, rerun ? rerun : "testlog run");
    test_log_report_closing(run, options);
    free(rerun);
}

static int run_all(struct programs *programs, struct test_log_options *options)
{
    struct test_log_run run = {.start = trace_anchor_now()};
    struct test_log_filters filters;
    int code = TEST_LOG_NO_TEST;
    char absolute[PATH_MAX];
    bool first = true;

    run.command = command_of(programs, NULL);
    unsetenv("TESTLOG_RUN"); /* a run inside a test is a run of its own */
    unsetenv("BXFI_MAP");
    unsetenv("GMON_OUT_PREFIX");
    if (options->informs || test_log_run_open(&run, options->dir, NULL) ||
        !realpath(run.path, absolute)) {
        code = run_apart(programs);
        test_log_run_free(&run);
        return code;
    }
    setenv("TESTLOG_RUN", absolute, 1);
    test_log_filters_check(&filters, options, true);
    test_log_filters_say(options);
    copy_settings(&run, options);
    for (int i = 0; i < programs->count; i++)
        code = worse(code, run_program(&run, programs, i, &first));
    test_log_filters_say_compiled_out(&filters, &run);
    finish(&run, programs, options, code);
    test_log_filters_free(&filters);
    test_log_run_free(&run);
    return code;
}

static void usage(void)
{
    puts("Usage: testlog run PROGRAM... [-- FLAG...]\n\n"
         "Runs test programs one after another as one run, with one summary.\n"
         "The flags are for each of them; PROGRAM --help lists them.");
}

static int read_arguments(struct programs *programs, int argc, char **argv)
{
    int i = 1;

    programs->paths = argv + 1;
    for (; i < argc && strcmp(argv[i], "--"); i++)
        if (argv[i][0] == '-') {
            fprintf(stderr,
                    "testlog: unknown flag %s; flags for the programs stand "
                    "behind --\n",
                    argv[i]);
            return -1;
        }
    programs->folders = calloc((size_t)i, sizeof(*programs->folders));
    if (!programs->folders)
        return -1;
    programs->count = i - 1;
    programs->flags = argv + (i < argc ? i + 1 : i);
    programs->flag_count = i < argc ? argc - i - 1 : 0;
    if (programs->count)
        return 0;
    fputs("testlog: run: name a program; testlog run --help says more\n",
          stderr);
    return -1;
}

static void free_programs(struct programs *programs)
{
    for (int i = 0; i < programs->count; i++)
        free(programs->folders[i]);
    free(programs->folders);
}

/* Refuses bad flags and variables before any program runs. */
static int check_flags(const struct programs *programs, char *name,
                       struct test_log_options *options, int *code)
{
    char **flags = calloc((size_t)programs->flag_count + 2, sizeof(*flags));
    int status = -1;

    if (flags) {
        flags[0] = name;
        memcpy(flags + 1, programs->flags,
               (size_t)programs->flag_count * sizeof(*flags));
        status = test_log_options_read(options, programs->flag_count + 1, flags,
                                       code);
    }
    free(flags);
    return status;
}

int runners_run(int argc, char **argv)
{
    struct programs programs = {0};
    struct test_log_options options;
    int code = TEST_LOG_USAGE;

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        usage();
        return 0;
    }
    if (!read_arguments(&programs, argc, argv) &&
        !check_flags(&programs, argv[0], &options, &code)) {
        code = run_all(&programs, &options);
        test_log_options_free(&options);
    }
    free_programs(&programs);
    return code;
}
