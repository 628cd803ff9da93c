/* clean.c: testlog clean: removes old runs, as a run does when it ends. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/index/index.h"
#include "runners/runners.h"
#include "runners/runs/find.h"

/* What a clean of a folder does. */
struct cleaning {
    const char *folder;
    int dir;
    bool dry; /* only print what would be removed */
    bool failed;
    size_t count;
    uint64_t size;
};

static void put_size(uint64_t size)
{
    struct trace_text text = {0};

    log_bytes(&text, size);
    printf(", %s\n", text.data ? text.data : "?");
    trace_text_free(&text);
}

/* Another process may remove the same run. */
static bool is_removed(struct cleaning *cleaning, const char *path,
                       const char *name)
{
    if (cleaning->dry)
        return !test_log_old_runs_in_progress(cleaning->dir, name);
    if (!test_log_old_runs_remove(cleaning->dir, name))
        return true;
    if (errno != EBUSY && errno != ENOENT) {
        cleaning->failed = true;
        test_log_notice("clean: cannot remove %s: %s", path, strerror(errno));
    }
    return false;
}

static bool clean_run(void *context, const char *name)
{
    struct cleaning *cleaning = context;
    char path[PATH_MAX];
    uint64_t size;

    if (snprintf(path, sizeof(path), "%s/%s", cleaning->folder, name) >=
        PATH_MAX)
        return true;
    size = runners_size_of(path);
    if (!is_removed(cleaning, path, name))
        return true;
    cleaning->count++;
    cleaning->size += size;
    printf("%s %s", cleaning->dry ? "would remove" : "removed", path);
    put_size(size);
    return true;
}

static int clean(const char *folder, size_t keep, bool dry)
{
    struct cleaning cleaning = {.folder = folder, .dry = dry};

    cleaning.dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (cleaning.dir < 0) {
        runners_refuse_dir("clean", folder);
        return TEST_LOG_EXIT_USAGE;
    }
    test_log_old_runs_each(cleaning.dir, keep, clean_run, &cleaning);
    close(cleaning.dir);
    if (!dry && cleaning.count)
        test_log_index_renew(folder);
    printf("%zu %s %s", cleaning.count, cleaning.count == 1 ? "run" : "runs",
           dry ? "would be removed" : "removed");
    put_size(cleaning.size);
    return runners_written("clean", cleaning.failed ? TEST_LOG_EXIT_FAILED
                                                    : TEST_LOG_EXIT_PASSED);
}

/* ---- Arguments ---- */

struct arguments {
    const char *keep; /* NULL: TRACE_KEEP or testlog.conf decides */
    bool dry;
};

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--keep", NULL, "N", "how many runs stay (TRACE_KEEP, or 20); 0: all",
     test_log_read_text, AT(keep)},
    {"--dry-run", NULL, NULL, "only print what would be removed",
     test_log_read_on, AT(dry), .letter = 'n'},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct arguments arguments = {.dry = false};
    struct test_log_options options;
    int code;

    if (!test_log_flags_read(&runners_clean, &arguments, &argv, NULL, &code))
        return code;
    if (runners_settings(&options, "clean", argv))
        return TEST_LOG_EXIT_USAGE;
    code = TEST_LOG_EXIT_USAGE;
    if (!arguments.keep ||
        !test_log_read_count("--keep", arguments.keep, "number of runs",
                             &options.keep))
        code = clean(options.dir, options.keep, arguments.dry);
    test_log_options_free(&options);
    return code;
}

const struct test_log_command runners_clean = {
    .name = "clean",
    .help = "remove old runs",
    .synopsis = "[--keep=N] [--dry-run] [DIR]",
    .text = "Removes old runs from DIR, by default where test programs put "
            "their runs. Keeps the last N runs, the last five older runs that "
            "failed, and runs in progress.",
    TEST_LOG_FLAGS(flags),
    .run = run,
};
