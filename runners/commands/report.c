/* report.c: testlog report: writes report.html of a run again, to include tests
 * that were left out, or because the run was killed; or against.html, which
 * compares it with another run.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/results/folder/notice.h"
#include "harness/results/folder/run_folder.h"
#include "harness/results/report/report_html.h"
#include "harness/results/reports/writers.h"
#include "harness/runner/options/options.h"
#include "harness/runner/program/program.h"
#include "runners/against/against.h"
#include "runners/find/find.h"
#include "runners/find/run_json.h"
#include "runners/runners.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

enum { FAIL_LOG = 20 /* the default of --fail-log */ };

#define REPORT "report.html"

struct settings {
    const char *against; /* a run to compare with; NULL: none */
    const char *output;  /* NULL: a page in the run's folder */
    bool open;
};

static void usage(void)
{
    puts("Usage: testlog report [RUN] [TEST...] [--against RUN] [-o FILE] "
         "[--open]\n\n"
         "Writes report.html of a run again, with the complete recordings of "
         "the given\ntests, whatever their size. TEST is suite/test, a part of "
         "it, or a pattern. RUN\nis the folder of a run; the default is the "
         "latest run. The run may have been\nkilled.\n\n"
         "      --against RUN  write against.html instead: compare the tests "
         "with those of\n"
         "                     another run, a folder, a pack or a name in "
         "testlog list\n"
         "  -o, --output FILE  write to FILE instead of into the run's folder\n"
         "      --open         open the page in a browser\n"
         "  -h, --help         print this");
}

/* ---- The run ---- */

/* The parts of a run that are read. */
struct loaded {
    struct test_log_run run;
    struct trace_text members; /* of run.json, for the page */
    char *command;             /* to run failed tests again, without filters */
    struct test_log_page_program *programs;
    size_t program_count, program_capacity;
    struct selectable *tests; /* one for each result */
};

static void keep_members(struct trace_text *members, const cJSON *json)
{
    const cJSON *item;
    char *text;

    cJSON_ArrayForEach(item, json)
    {
        if (!item->string || !strcmp(item->string, "schema"))
            continue;
        text = cJSON_PrintUnformatted(item);
        trace_json_string(members, item->string, strlen(item->string));
        trace_text_printf(members, ":%s,", text ? text : "null");
        cJSON_free(text);
    }
}

static void read_head(struct loaded *loaded, const cJSON *json)
{
    struct test_log_run *run = &loaded->run;

    run->command = runners_json_string(json, "command");
    run->start.wall = runners_json_moment(runners_json_text(json, "start"));
    run->whole = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "whole"));
    runners_json_add_parts(run, json);
    keep_members(&loaded->members, json);
}

/* Adds a test of a run that was killed. */
static void add_recording(struct test_log_run *run,
                          const struct recording *recording)
{
    struct trace_reader *reader = runners_open_beginning(recording->path);
    struct test_log_result *result = test_log_run_add(run);
    const char *folder = strstr(recording->path, "/tests/");
    const char *slash = strchr(recording->test, '/');
    uint64_t start = reader ? trace_reader_summary(reader).origin.wall : 0;

    if (start && (!run->start.wall || start < run->start.wall))
        run->start.wall = start;
    trace_reader_close(reader);
    if (!result)
        return;
    result->program = strdup(recording->program);
    if (slash)
        result->suite =
            strndup(recording->test, (size_t)(slash - recording->test));
    result->test = strdup(slash ? slash + 1 : recording->test);
    for (const char *next; folder && (next = strstr(folder + 1, "/tests/"));)
        folder = next;
    if (folder)
        result->folder =
            strndup(folder + 1, (size_t)(strrchr(folder, '/') - (folder + 1)));
}

static int read_recordings(struct test_log_run *run)
{
    struct recordings found = {0};
    int status = runners_recordings_find(&found, run->path, NULL);

    for (size_t i = 0; !status && i < found.count; i++)
        add_recording(run, &found.all[i]);
    runners_recordings_free(&found);
    return status || !run->count ? -1 : 0;
}

static int load(struct loaded *loaded, const char *where)
{
    struct test_log_run *run = &loaded->run;
    struct run_file *file;

    run->path = strdup(where);
    run->open = runners_open_in;
    file = run->path ? runners_run_file_open(run, "run.json") : NULL;
    if (!file)
        return read_recordings(run);
    read_head(loaded, runners_run_file_head(file));
    if (runners_run_file_add(file, run))
        test_log_notice("report: %s/run.json is cut off; the page lacks tests",
                        where);
    return 0;
}

static void unload(struct loaded *loaded)
{
    for (size_t i = 0; i < loaded->program_count; i++) {
        free((char *)loaded->programs[i].folder);
        free(loaded->programs[i].command);
    }
    for (size_t i = 0; loaded->tests && i < loaded->run.count; i++)
        free((char *)loaded->tests[i].name);
    free(loaded->tests);
    free(loaded->programs);
    free(loaded->command);
    trace_text_free(&loaded->members);
    test_log_run_free(&loaded->run);
}

/* ---- Commands ---- */

/* Returns the size of a word as a shell reads it. */
static size_t word_size(const char *text)
{
    const char *at = text;
    char quote = '\0';

    for (; *at && (quote || *at != ' '); at++) {
        if (*at == '\\' && at[1] && quote != '\'')
            at++;
        else if (*at == quote)
            quote = '\0';
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
    }
    return (size_t)(at - text);
}

/* Adds a program, whose name is the end of its path. */
static void add_program(struct loaded *loaded, const char *path, size_t size)
{
    size_t base = size;

    while (base && path[base - 1] != '/')
        base--;
    if (!TRACE_ARRAY_RESERVE(loaded->programs, loaded->program_capacity,
                             loaded->program_count + 1))
        return;
    loaded->programs[loaded->program_count++] = (struct test_log_page_program){
        strndup(path + base, size - base), strndup(path, size)};
}

/* Collects the hashes of programs that have failed tests. */
static void find_failed(struct trace_table *failed,
                        const struct test_log_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (test_log_outcome_bad(run->results[i].outcome))
            trace_table_set(
                failed, trace_hash_string(TRACE_HASH, run->results[i].program),
                1);
}

static bool has_failed(const struct trace_table *failed,
                       const struct test_log_page_program *program)
{
    uintptr_t number;

    return program->command && program->folder &&
           trace_table_find(
               failed, trace_hash_string(TRACE_HASH, program->folder), &number);
}

/* Makes the command that runs the programs with failed tests. */
static void make_rerun(struct loaded *loaded, const char *testlog, size_t size)
{
    struct trace_table failed = {0};
    struct trace_text text = {0};

    find_failed(&failed, &loaded->run);
    trace_text_printf(&text, "%.*s run", (int)size, testlog);
    for (size_t i = 0; i < loaded->program_count; i++)
        if (has_failed(&failed, &loaded->programs[i])) {
            trace_text_char(&text, ' ');
            trace_text_string(&text, loaded->programs[i].command);
        }
    trace_text_string(&text, " --");
    trace_table_free(&failed);
    loaded->command = text.data;
}

/* Takes the command of a run apart. A command of testlog run has several
 * programs. */
static void read_command(struct loaded *loaded)
{
    const char *command = loaded->run.command ? loaded->run.command : "";
    size_t first = word_size(command), size;
    const char *at = command + first;

    if (strncmp(at, " run ", strlen(" run ")) != 0) {
        loaded->command = first ? strndup(command, first) : NULL;
        return;
    }
    for (at += strlen(" run ");
         *at && strncmp(at, "-- ", 3) != 0 && strcmp(at, "--") != 0;
         at += size + (at[size] == ' ')) {
        size = word_size(at);
        add_program(loaded, at, size);
    }
    make_rerun(loaded, command, first);
}

/* ---- The page ---- */

static bool is_selected(const struct test_log_result *result, void *context)
{
    const struct loaded *loaded = context;

    return loaded->tests[result - loaded->run.results].selected;
}

/* Without words, no test is exempt from the size limit. */
static bool select_tests(struct loaded *loaded, char **words)
{
    const struct test_log_run *run = &loaded->run;
    bool any = false;

    loaded->tests = calloc(run->count + 1, sizeof(*loaded->tests));
    if (!loaded->tests || !*words)
        return loaded->tests;
    for (size_t i = 0; i < run->count; i++)
        if (!(loaded->tests[i].name = strdup(test_log_name(&run->results[i]))))
            return false;
    runners_select_tests(words, loaded->tests, run->count);
    for (size_t i = 0; i < run->count; i++)
        any |= loaded->tests[i].selected;
    return any;
}

/* Writes a page; errors are the stream's. */
typedef void put_page(const void *page, FILE *);

static int write_to(put_page *put, const void *page, const char *output)
{
    struct trace_file file;

    if (test_log_report_is_stdout(output)) {
        put(page, stdout);
        return fflush(stdout) || ferror(stdout) ? -1 : 0;
    }
    if (trace_file_open(&file, output))
        return -1;
    put(page, file.stream);
    return trace_file_commit(&file);
}

/* The page of a pack is beside it: run.html of run.tar.zst, or
 * run.against.html. */
static int name_page(const struct test_log_run *run, const char *name,
                     char path[PATH_MAX])
{
    const char *pack = runners_pack_of(run->path);
    size_t size = pack ? strlen(pack) : 0;

    if (!pack)
        return test_log_path(run, name, path);
    if (runners_is_named_pack(pack))
        size -= strlen(RUNNERS_PACK_SUFFIX);
    if (!strcmp(name, REPORT))
        name = "html";
    errno = ENAMETOOLONG;
    return snprintf(path, PATH_MAX, "%.*s.%s", (int)size, pack, name) < PATH_MAX
               ? 0
               : -1;
}

static void show(const struct settings *settings, const char *output)
{
    const struct test_log_output printed = {
        .links = test_log_links(test_log_color(NULL, stderr), stderr)};

    if (settings->open)
        test_log_open_page(output);
    test_log_print_page(output, "", &printed);
}

/* Writes a page of a run; `name` is that of the file in its folder. */
static int write_page(put_page *put, const void *page,
                      const struct test_log_run *run, const char *name,
                      const struct settings *settings)
{
    const char *output = settings->output;
    char path[PATH_MAX];

    if (!output && !name_page(run, name, path))
        output = path;
    if (output && !write_to(put, page, output)) {
        if (!test_log_report_is_stdout(output))
            show(settings, output);
        return TEST_LOG_PASSED;
    }
    test_log_notice("report: cannot write %s: %s", test_log_report_name(output),
                    strerror(errno));
    return TEST_LOG_FAILED;
}

static void put_report(const void *page, FILE *stream)
{
    test_log_page_put(page, stream);
}

static int write_report(struct loaded *loaded, const struct settings *settings)
{
    const struct test_log_page page = {.run = &loaded->run,
                                       .shown_path =
                                           runners_pack_of(loaded->run.path),
                                       .members = loaded->members.data,
                                       .rerun = loaded->command,
                                       .programs = loaded->programs,
                                       .program_count = loaded->program_count,
                                       .fail_log = FAIL_LOG,
                                       .passing = TEST_LOG_PAGE_MOST,
                                       .is_whole = is_selected,
                                       .context = loaded};

    return write_page(put_report, &page, &loaded->run, REPORT, settings);
}

static int report(const char *where, char **patterns,
                  const struct settings *settings)
{
    struct loaded loaded = {.command = NULL};
    int code;

    if (load(&loaded, where) || !select_tests(&loaded, patterns)) {
        code = runners_recordings_refuse("report", where, patterns);
    } else {
        read_command(&loaded);
        code = write_report(&loaded, settings);
    }
    unload(&loaded);
    return code;
}

/* ---- Two runs ---- */

static void put_against(const void *page, FILE *stream)
{
    runners_against_put(page, stream);
}

/* Finds a run by its path or name. */
static bool find_run(const char *word, char path[PATH_MAX])
{
    char *no_folder[] = {NULL};
    struct test_log_options options;
    bool found;

    if (runners_settings(&options, "report", no_folder))
        return false;
    found = runners_find_run(options.dir, word, path);
    if (!found && errno != EBADMSG)
        test_log_notice(
            "report: there is no run %s in %s; testlog list lists them", word,
            options.dir);
    test_log_options_free(&options);
    return found;
}

/* Compares the tests of a run that `patterns` select with those of another. */
static int compare(const char *where, char **patterns,
                   const struct settings *settings)
{
    struct recorded_runs runs = {.command = "report",
                                 .patterns = *patterns ? patterns : NULL};
    struct against against;
    char path[PATH_MAX];
    int code = TEST_LOG_USAGE;

    if (!find_run(settings->against, path))
        return code;
    runs.paths[0] = path;
    runs.paths[1] = where;
    if (!runners_against_read(&against, &runs))
        code = write_page(put_against, &against, &against.compared.after,
                          "against.html", settings);
    runners_against_free(&against);
    return code;
}

/* ---- Arguments ---- */

static void take_flag(struct settings *settings, int flag, const char *value)
{
    if (flag == 'O')
        settings->open = true;
    else if (flag == 'a')
        settings->against = value;
    else
        settings->output = value;
}

int runners_report(int argc, char **argv)
{
    static const struct option options[] = {
        {"against", required_argument, NULL, 'a'},
        {"output", required_argument, NULL, 'o'},
        {"open", no_argument, NULL, 'O'},
        {"help", no_argument, NULL, 'h'},
        {0}};
    struct settings settings = {.open = false};
    const char *where;
    int flag;

    opterr = 0;
    while ((flag = getopt_long(argc, argv, ":o:h", options, NULL)) >= 0) {
        if (flag == 'h') {
            usage();
            return TEST_LOG_PASSED;
        }
        if (flag == '?' || flag == ':')
            return runners_refuse_flag("report", flag, argv, options);
        take_flag(&settings, flag, optarg);
    }
    argv += optind;
    where = runners_run_of(&argv);
    if (!where)
        return TEST_LOG_USAGE;
    return settings.against ? compare(where, argv, &settings)
                            : report(where, argv, &settings);
}
