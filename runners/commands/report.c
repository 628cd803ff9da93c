/* report.c: testlog report: writes report.html of a run again, to include tests
 * that were left out, or because the run was killed; or against.html, which
 * compares it with another run.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/page/report_html.h"
#include "harness/run/terminal/terminal.h"
#include "runners/against/against.h"
#include "runners/commands/report_page.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

#define REPORT "report.html"

struct settings {
    const char *against; /* a run to compare with; NULL: none */
    const char *output;  /* NULL: a page in the run's folder */
    bool open;
};

/* ---- The page ---- */

struct loaded {
    struct report_page page;
    struct selectable *tests; /* one for each result */
};

static bool is_selected(const struct test_log_result *result, void *context)
{
    const struct loaded *loaded = context;

    return loaded->tests[result - loaded->page.run.results].selected;
}

/* Without words, no test is exempt from the size limit. */
static bool select_tests(struct loaded *loaded, char **words)
{
    const struct test_log_run *run = &loaded->page.run;
    bool any = false;

    loaded->tests = calloc(run->count + 1, sizeof(*loaded->tests));
    if (!loaded->tests || !*words)
        return loaded->tests;
    for (size_t i = 0; i < run->count; i++) {
        loaded->tests[i].title = run->results[i].title;
        if (!(loaded->tests[i].name = strdup(test_log_name(&run->results[i]))))
            return false;
    }
    runners_select_tests(words, loaded->tests, run->count);
    for (size_t i = 0; i < run->count; i++)
        any |= loaded->tests[i].selected;
    return any;
}

/* Writes a page; errors are the stream's. A link is followed only if a flag has
 * given it. */
typedef void put_page(const void *page, FILE *);

static int write_to(put_page *put, const void *page, const char *output,
                    bool given)
{
    const char *name = trace_base_name(output);
    char folder[PATH_MAX];
    struct trace_file file;
    int at = AT_FDCWD, status = -1;

    if (given && test_log_report_is_stdout(output)) {
        put(page, stdout);
        return fflush(stdout) || ferror(stdout) ? -1 : 0;
    }
    snprintf(folder, sizeof(folder), "%.*s.", (int)(name - output), output);
    if (!given)
        at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    if (given ? !trace_file_open(&file, output)
              : at >= 0 && !trace_file_beneath(&file, at, name)) {
        put(page, file.stream);
        status = trace_file_commit(&file);
    }
    if (at >= 0)
        close(at);
    return status;
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

/* Writes a page of a run; `name` is that of the file in its folder. */
static int write_page(put_page *put, const void *page,
                      const struct test_log_run *run, const char *name,
                      const struct settings *settings)
{
    const struct test_log_output printed = {
        .links = test_log_links(test_log_color(NULL, stderr), stderr)};
    const char *output = settings->output;
    char path[PATH_MAX];

    if (!output && !name_page(run, name, path))
        output = path;
    if (output && !write_to(put, page, output, settings->output)) {
        if (test_log_report_is_stdout(output))
            return TEST_LOG_EXIT_PASSED;
        if (settings->open)
            test_log_open_page(output);
        test_log_print_page(output, "", &printed);
        return TEST_LOG_EXIT_PASSED;
    }
    test_log_notice("report: cannot write %s: %s", test_log_report_name(output),
                    strerror(errno));
    return TEST_LOG_EXIT_FAILED;
}

static void put_report(const void *page, FILE *stream)
{
    test_log_page_put(page, stream);
}

static int report(const char *where, char **patterns,
                  const struct settings *settings)
{
    struct loaded loaded = {.tests = NULL};
    struct test_log_page page;
    int code;

    if (runners_page_read(&loaded.page, where) ||
        !select_tests(&loaded, patterns)) {
        code = runners_recordings_refuse("report", where, patterns);
    } else {
        page = runners_page_of(&loaded.page);
        page.is_whole = is_selected;
        page.context = &loaded;
        code = write_page(put_report, &page, page.run, REPORT, settings);
    }
    for (size_t i = 0; loaded.tests && i < loaded.page.run.count; i++)
        free((char *)loaded.tests[i].name);
    free(loaded.tests);
    runners_page_free(&loaded.page);
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
    char path[PATH_MAX], *old = path, *new = (char *)where;
    const struct recorded_runs runs = {.command = "report",
                                       .sides = {{&old, 1}, {&new, 1}},
                                       .patterns = *patterns ? patterns : NULL};
    struct against against;
    int code = TEST_LOG_EXIT_USAGE;

    if (!find_run(settings->against, path))
        return code;
    if (!runners_against_read(&against, &runs))
        code = write_page(put_against, &against, &against.compared.after,
                          "against.html", settings);
    runners_against_free(&against);
    return code;
}

/* ---- Arguments ---- */

#define AT(member) .at = offsetof(struct settings, member)

static const struct test_log_flag flags[] = {
    {"--against", NULL, "RUN",
     "write against.html instead: compare the tests with those of another run, "
     "a folder, a pack or a name in testlog list",
     test_log_read_text, AT(against)},
    {"--output", NULL, "FILE", "write to FILE instead of into the run's folder",
     test_log_read_text, AT(output), .letter = 'o'},
    {"--open", NULL, NULL, "open the page in a browser", test_log_read_on,
     AT(open)},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct settings settings = {.open = false};
    const char *where;
    int code;

    if (!test_log_flags_read(&runners_report, &settings, &argv, NULL, &code))
        return code;
    where = runners_run_of(&argv);
    if (!where)
        return TEST_LOG_EXIT_USAGE;
    return settings.against ? compare(where, argv, &settings)
                            : report(where, argv, &settings);
}

const struct test_log_command runners_report = {
    .name = "report",
    .help = "write a run's page again, or compare two",
    .synopsis = "[RUN] [TEST...] [--against=RUN] [-o FILE] [--open]",
    .text = "Writes report.html of a run again, with the complete recordings "
            "of the given tests, whatever their size. TEST is suite/test, a "
            "part of it, or a pattern. RUN is the folder of a run; the default "
            "is the latest run. The run may have been killed.",
    TEST_LOG_FLAGS(flags),
    .operand = "TEST",
    .run = run,
};
