/* import.c: testlog import: makes a run of what another tool has recorded. */
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "recorded_run.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "trace/base/clock.h"
#include "trace/base/file.h"

/* X(name of the tool, package, what it records, how it is read) */
#define TOOLS(X)                                                               \
    X("perf", "linux-perf", is_perf, runners_import_perf)                      \
    X("uftrace", "uftrace", is_uftrace, runners_import_uftrace)

struct tool {
    const char *name, *package;
    bool (*has_recorded)(const char *path);
    char *(*import)(const char *data, struct imported *);
};

/* ---- What recorded it ---- */

static bool is_perf(const char *path)
{
    static const char magic[] = "PERFILE2";
    char text[sizeof(magic) - 1];
    int fd = trace_open_regular(path);
    bool is = fd >= 0 && read(fd, text, sizeof(text)) == sizeof(text) &&
              !memcmp(text, magic, sizeof(text));

    if (fd >= 0)
        close(fd);
    return is;
}

static bool is_uftrace(const char *path)
{
    char task[PATH_MAX];

    return snprintf(task, sizeof(task), "%s/task.txt", path) < PATH_MAX &&
           !access(task, R_OK);
}

/* Returns NULL if it has printed what is wrong. */
static const struct tool *tool_of(const char *path)
{
    static const struct tool tools[] = {
#define X(name, package, has_recorded, import)                                 \
    {name, package, has_recorded, import},
        TOOLS(X)
#undef X
    };
    struct stat status;

    for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
        if (tools[i].has_recorded(path))
            return runners_needs("import", tools[i].name, tools[i].package)
                       ? &tools[i]
                       : NULL;
    if (stat(path, &status))
        test_log_notice("import: cannot read %s: %s", path, strerror(errno));
    else
        test_log_notice("import: %s is neither a file of perf record nor a "
                        "folder of uftrace record",
                        path);
    return NULL;
}

/* ---- The run ---- */

static char *write_recording(struct imported *imported, const char *path)
{
    bool samples = trace_sampler_first(&imported->sampler);

    if (runners_made_write(&imported->recording, path, imported->pid,
                           samples ? TRACE_LIMIT_DEFAULT : 0))
        return strdup(strerror(errno));
    if (samples &&
        trace_sampler_put(&imported->sampler, imported->pid, AT_FDCWD, path))
        return strdup("there is no space for its samples");
    return NULL;
}

char *runners_import_save(struct imported *imported, const char *folder)
{
    static const char name[] = "/recording";
    char path[PATH_MAX];
    int size = snprintf(path, PATH_MAX, "%s/process.%u", folder,
                        (unsigned)imported->pid);

    /* The process may have recorded itself. */
    if (size < PATH_MAX && !access(path, F_OK))
        size += snprintf(path + size, PATH_MAX - (size_t)size, "-calls");

    errno = ENAMETOOLONG;
    if (size + (int)sizeof(name) > PATH_MAX || mkdir(path, 0777))
        return strdup(strerror(errno));
    memcpy(path + size, name, sizeof(name));
    return write_recording(imported, path);
}

void runners_import_free(struct imported *imported)
{
    runners_made_free(&imported->recording);
    trace_sampler_free(&imported->sampler);
}

/* Writes the run; returns what is wrong, or NULL. */
static char *write_run(const struct test_log_options *options,
                       const struct tool *tool, struct imported *imported)
{
    const struct recorded_end end = {
        .outcome = TEST_LOG_OUTCOME_PASSED,
        .over = true,
        .duration =
            trace_between(imported->recording.first, imported->recording.last)};
    struct test_log_run run = {
        .start = trace_anchor_now(),
        .parent = {.nested = test_log_session()->nested},
        .gpu = {.state = TEST_LOG_GPU_OFF, .no_leaks = true}};
    char folder[PATH_MAX], *fault = NULL;

    unsetenv("TESTLOG_RUN"); /* inside a test, it is a run of its own */
    run.command = strdup("testlog import");
    runners_recorded_open(&run, options,
                          imported->program[0] ? imported->program : tool->name,
                          folder);
    if (*folder) {
        fault = runners_import_save(imported, folder);
        runners_recorded_write(&run, options, &end, folder);
        runners_recorded_end(&run, options);
    } else {
        fault = strdup("no run was made");
    }
    test_log_run_free(&run);
    test_log_trust_end();
    return fault;
}

static int import(const struct test_log_options *options,
                  const struct tool *tool, const char *path)
{
    struct imported imported = {.pid = 0};
    char *fault = tool->import(path, &imported);

    if (!fault) {
        runners_made_thread(&imported.recording, imported.pid, imported.pid,
                            imported.program);
        runners_made_meta(&imported.recording, "imported", tool->name);
        fault = write_run(options, tool, &imported);
    }
    if (fault)
        test_log_notice("import: %s: %s", path, fault);
    runners_import_free(&imported);
    free(fault);
    return fault ? TEST_LOG_EXIT_FAILED : TEST_LOG_EXIT_PASSED;
}

/* ---- Arguments ---- */

static const struct test_log_flag flags[] = {
    {"--output", NULL, "DIR", "where runs go (TRACE_DIR)", test_log_read_text,
     .letter = 'o'},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct test_log_options options;
    char *no_folder[] = {NULL};
    const char *output = NULL;
    const struct tool *tool;
    int code;

    if (!test_log_flags_read(&runners_import, &output, &argv, NULL, &code))
        return code;
    code = TEST_LOG_EXIT_USAGE;
    if (!argv[0] || argv[1]) {
        test_log_notice("import: name one file of perf record, or one folder "
                        "of uftrace record");
    } else if ((tool = tool_of(argv[0])) &&
               !runners_settings(&options, "import", no_folder)) {
        if (output) {
            options.dir = output;
            options.dir_given = true;
        }
        code = import(&options, tool, argv[0]);
        test_log_options_free(&options);
    }
    return code;
}

const struct test_log_command runners_import = {
    .name = "import",
    .help = "make a run of what perf or uftrace has recorded",
    .synopsis = "[FLAG...] DATA",
    .text = "Makes a run of a file of perf record, such as perf.data, or of a "
            "folder of uftrace record, such as uftrace.data, for testlog stat, "
            "testlog export and the report.",
    TEST_LOG_FLAGS(flags),
    .run = run,
};
