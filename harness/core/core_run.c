/* core_run.c: makes the run of a program's tests, and ends it when the process
 * exits. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/asan_report.h"
#include "harness/core/core_run.h"
#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "harness/machine/process_tree.h"
#include "harness/options/gpu_setup.h"
#include "harness/pending_output.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/gpu_summary.h"
#include "harness/run/past/history.h"
#include "harness/run/program_run.h"
#include "harness/session.h"
#include "trace/base/file.h"
#include "trace/base/text.h"
#include "trace/device.h"
#include "trace/record/fatal_signal.h"

static const char *const names[TEST_LOG_CORE_FILES] = {
    [TEST_LOG_CORE_JOURNAL] = TEST_LOG_JOURNAL,
    [TEST_LOG_CORE_RECORDING] = TEST_LOG_LIVE,
    [TEST_LOG_CORE_OUTPUT] = TEST_LOG_OUTPUT,
};

static struct test_log_core core;

struct test_log_core *test_log_core(void)
{
    return &core;
}

/* ---- Files ---- */

/* The process may be allowed few descriptors. */
static int move_up(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR_HIGH);

    if (high < 0)
        return fd;
    close(fd);
    return high;
}

static int open_file(enum test_log_core_file which)
{
    bool appends = which != TEST_LOG_CORE_RECORDING;
    char path[PATH_MAX];
    int fd, high;

    if (!core.folder || snprintf(path, sizeof(path), "%s/%s", core.folder,
                                 names[which]) >= PATH_MAX)
        return -1;
    fd = open(path,
              O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
                  (appends ? O_APPEND : 0),
              0666);
    high = fd < 0 ? -1 : move_up(fd);
    if (high < 0)
        return -1;
    core.files[which] = trace_descriptor_of(high);
    if (which == TEST_LOG_CORE_JOURNAL && getpid() == core.owner)
        test_log_journal_own(high);
    return high;
}

/* Leaves out a last line that was cut off; its writer writes it again. */
static int copy_journal(int from, int to)
{
    char bytes[65536];
    off_t at = 0, whole = 0;
    ssize_t got;

    while (from >= 0 && (got = pread(from, bytes, sizeof(bytes), at)) > 0) {
        const char *end = memrchr(bytes, '\n', (size_t)got);

        if (test_log_write_all(to, bytes, (size_t)got))
            return -1;
        if (end)
            whole = at + (end + 1 - bytes);
        at += got;
    }
    return ftruncate(to, whole) || lseek(to, whole, SEEK_SET) < 0 ? -1 : 0;
}

int test_log_core_keep_journal(void)
{
    struct trace_descriptor *journal = &core.files[TEST_LOG_CORE_JOURNAL];
    int low = getpid() == core.owner ? memfd_create("journal", MFD_CLOEXEC)
                                     : -1; /* the owner would not see it */
    int memory = low < 0 ? -1 : move_up(low);

    if (memory < 0)
        return -1;
    if (trace_descriptor_is_ours(journal) &&
        copy_journal(journal->fd, memory)) {
        close(memory);
        return -1;
    }
    *journal = trace_descriptor_of(memory);
    return 0;
}

int test_log_core_file(enum test_log_core_file which)
{
    return trace_descriptor_is_ours(&core.files[which]) ? core.files[which].fd
                                                        : open_file(which);
}

void test_log_core_repair(void)
{
    if (!core.path || trace_descriptor_is_ours(&core.run_folder))
        return;
    core.run.lock = 0;
    core.run.folder = open(core.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    core.run_folder = trace_descriptor_of(core.run.folder);
}

static void find_folder(void)
{
    const char *name = test_log_process_folder(&core.run);
    char part[PATH_MAX], path[PATH_MAX];

    if (core.run.path && !test_log_make_program_folder(&core.run, name) &&
        snprintf(part, sizeof(part), "tests/%s", name) < PATH_MAX &&
        !test_log_local_path(&core.run, part, path))
        core.folder = realpath(path, NULL);
    if (core.run.path && !test_log_local_path(&core.run, "", path))
        core.path = realpath(path, NULL);
    core.run_folder = trace_descriptor_of(core.run.folder);
    core.began_in = getcwd(NULL, 0);
}

/* Notes the facts from which another process can end the run. */
static void note_facts(void)
{
    int fd = test_log_core_file(TEST_LOG_CORE_JOURNAL);
    char start[TEST_LOG_ANCHOR_SIZE], owner[64], pending[32];
    char *commit = test_log_named_commit();
    const struct {
        const char *name, *value;
    } facts[] = {
        {"start", start},
        {"command", core.run.command},
        {"commit", commit},
        {"executable", core.run.executable},
        {"flavour", test_log_flavour_given(&core.options)},
        {"log", core.options.show.value},
        {"log_origin", core.options.show.origin},
        {"trace", core.options.record.value},
        {"trace_origin", core.options.record.origin},
        {"alone", test_log_is_part(&core.run) ? NULL : "1"},
        {"owner", owner},
        {"stdout", pending},
    };

    test_log_anchor_text(&core.run.start, start);
    snprintf(owner, sizeof(owner), "%ld %" PRIu64, (long)core.owner,
             test_log_process_started(core.owner));
    snprintf(pending, sizeof(pending), "%" PRIu64, test_log_pending_at());
    for (size_t i = 0; fd >= 0 && i < sizeof(facts) / sizeof(*facts); i++)
        if (facts[i].value)
            test_log_journal_fact(fd, facts[i].name, facts[i].value);
    free(commit);
}

/* ---- The end of the process ---- */

/* A recording tells the work of its test on devices. */
static void add_summaries(void)
{
    for (size_t i = 0; i < core.run.count; i++) {
        struct test_log_result *result = &core.run.results[i];
        struct trace_reader *reader = test_log_recording(&core.run, result);

        if (reader)
            test_log_gpu_summary_read(&core.run, result, reader);
        trace_reader_close(reader);
        result->gpu = core.run.gpu.state;
    }
}

/* The journal has what forked children have reported, too. */
static bool read_results(void)
{
    struct test_log_journal journal;
    int fd = test_log_core_file(TEST_LOG_CORE_JOURNAL);
    const struct test_log_noted *goes_on;

    if (fd < 0 || test_log_journal_read(&journal, fd)) {
        test_log_notice("cannot read " TEST_LOG_JOURNAL ": %s; testlog list "
                        "judges the tests",
                        strerror(fd < 0 ? EBADF : errno));
        return false;
    }
    goes_on = test_log_journal_running(&journal);
    if (goes_on) {
        test_log_notice("a forked child still runs %s%s%s; testlog list judges "
                        "the tests once it has ended",
                        goes_on->title ? "" : goes_on->suite,
                        goes_on->title ? "" : "/",
                        goes_on->title ? goes_on->title : goes_on->test);
        test_log_journal_free(&journal);
        return false;
    }
    test_log_core_results(&core.run, 0, &journal, &core.options.output.style,
                          test_log_handover_open());
    test_log_journal_free(&journal);
    if (trace_device_attached())
        add_summaries();
    return true;
}

/* A full disk has made the journal there stale. It may have room now; otherwise
 * nobody must judge the tests by it. */
static void store_journal(void)
{
    int journal = test_log_core_file(TEST_LOG_CORE_JOURNAL);
    struct trace_file file;
    struct stat status;
    char path[PATH_MAX];
    char *bytes;
    size_t size;

    if (journal < 0 || fstat(journal, &status) || status.st_nlink ||
        snprintf(path, sizeof(path), "%s/" TEST_LOG_JOURNAL, core.folder) >=
            PATH_MAX)
        return;
    unlink(path);
    bytes = trace_file_bytes(journal, UINT64_MAX, &size);
    if (bytes && !trace_file_open(&file, path)) {
        fwrite(bytes, 1, size, file.stream);
        trace_file_commit(&file);
    }
    free(bytes);
}

static void write_run(void)
{
    struct test_log_history history;
    const char *name = test_log_rerun_name(core.run.executable);

    test_log_core_repair();
    if (!read_results())
        return;
    test_log_history_open(
        &history, test_log_is_part(&core.run) ? NULL : core.options.dir,
        test_log_session()->history, test_log_flavour_given(&core.options));
    test_log_history_read(&history, name);
    test_log_jsonl_open(&core.run, &core.options.output);
    test_log_jsonl_close(&core.run);
    test_log_filters_find_unmatched(&core.filters, &core.run);
    test_log_program_end(&core.run, &core.options, &core.filters, &history,
                         true);
    test_log_history_free(&history);
    if (test_log_is_part(&core.run) || test_log_core_is_written(&core.run))
        test_log_core_remove_journal(&core.run);
    else
        store_journal();
}

/* The paths of the run are relative to where the program began. */
void test_log_core_close(void)
{
    int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    bool moved = core.began_in && !chdir(core.began_in);
    locale_t locale = trace_locale_enter();

    write_run();
    trace_locale_leave(locale);
    if (moved && before >= 0 && fchdir(before))
        test_log_notice("cannot return to the working directory: %s",
                        strerror(errno));
    if (before >= 0)
        close(before);
}

/* ---- The beginning ---- */

static int subscribe(void)
{
    struct log_options options = {
        .show = core.options.show.value,
        .record = core.options.record.value,
        .live = core.options.output.live,
        .style = core.options.output.style,
    };

    if (options.live)
        options.fd =
            fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR_HIGH);
    return log_subscribe(&options);
}

static char *own_path(void)
{
    static char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (size <= 0)
        return program_invocation_name;
    path[size] = '\0';
    return path;
}

static int open_run(char *program)
{
    char path[PATH_MAX];

    test_log_program_begin(&core.run, (char *[]){program, NULL});
    /* The run of the last program in the folder may wait for its judgement. */
    if (!test_log_is_part(&core.run) &&
        snprintf(path, sizeof(path), "%s/latest", core.options.dir) < PATH_MAX)
        test_log_judge(path);
    core.run.annotated = true;
    core.run.flagless = true;
    core.run.dir_given = core.options.dir_given;
    core.run.scratch_word = "off"; /* it would move while children record */
    test_log_filters_check(&core.filters, &core.options,
                           !test_log_is_part(&core.run));
    /* With EBUSY the program records by itself: trace_start. */
    if ((subscribe() && errno != EBUSY) || trace_parts_begin())
        return -1;
    test_log_copy_settings(&core.run, &core.options);
    test_log_run_open(&core.run, core.options.dir, program);
    core.run.output = &core.options.output;
    find_folder();
    note_facts();
    return 0;
}

/* A test may start its own program again, as GoogleTest's death tests do: that
 * is a part of the test. The variable has the process that runs the tests. */
static bool is_nested(const char *program)
{
    static const char variable[] = "TESTLOG_CORE";
    const char *outer = secure_getenv(variable);
    char own[PATH_MAX + 32], *end = NULL;
    long process = outer ? strtol(outer, &end, 10) : 0;

    if (process > 0 && process != getpid() && *end == ' ' &&
        !strcmp(end + 1, program))
        return true;
    snprintf(own, sizeof(own), "%ld %s", (long)getpid(), program);
    setenv(variable, own, 1);
    return false;
}

/* A child goes on when its parent, which has the run, has ended. */
static bool is_orphaned(void)
{
    return core.owner != getpid() && !test_log_process_started(core.owner);
}

/* The tests of this process and those of another shard are the same. */
static void drop_shard(void)
{
    struct test_log_shard *shard = &core.options.shard;

    if (shard->total)
        test_log_notice("%s has no effect: the program's framework chooses the "
                        "tests",
                        shard->origin ? shard->origin : "--shard");
    *shard = (struct test_log_shard){.total = 0};
}

/* ---- The death of the process ---- */

/* The stack comes first: testlog reads it. */
static bool rescue(const struct trace_crash *crash, const void *context)
{
    (void)context;
    if (getpid() == core.owner)
        test_log_write_pending();
    trace_crash_leave(crash);
    if (!test_log_death_report(&core, test_log_signal(crash->signal)))
        test_log_output_rescue();
    return true;
}

#pragma weak __sanitizer_set_death_callback
#pragma weak __asan_set_error_report_callback
void __sanitizer_set_death_callback(void (*)(void));
void __asan_set_error_report_callback(void (*)(const char *));

static char error[1024] = "an error that a sanitizer found";

static void on_report(const char *report)
{
    test_log_asan_reason(report, "", error, sizeof(error));
}

/* A sanitizer calls this function before it ends the process. */
static void die(void)
{
    trace_device_demand(TRACE_DEMAND_TIME);
    if (!test_log_death_report(&core, error))
        test_log_output_rescue();
}

static void watch_death(void)
{
    static const struct trace_crash_watch watch = {.crashed = rescue};

    trace_crash_prepare();
    test_log_death_prepare(&core);
    trace_crash_watch(&watch);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(die);
    if (__asan_set_error_report_callback)
        __asan_set_error_report_callback(on_report);
}

/* Drivers and loaders of devices read variables when they are first used. What
 * the program starts must not see ours. */
static void offer_devices(void)
{
    test_log_gpu_prepare(&core.run.gpu, &core.options);
    test_log_gpu_hide();
    core.run.gpu.no_leaks =
        core.options.profiler.gpu_leaks == TRACE_GPU_LEAKS_OFF;
    trace_device_configure(&core.options.profiler);
    trace_device_offer();
}

int test_log_core_open(void (*at_exit)(void), void (*in_child)(void))
{
    static bool registered;
    bool taken_over;
    char *program;
    int code;

    if (core.owner && !is_orphaned())
        return 0;
    taken_over = core.owner;
    core = (struct test_log_core){.owner = getpid()};
    program = own_path();
    core.nested = !taken_over && is_nested(program);
    if (core.nested)
        return 0;
    test_log_open_out();
    /* The arguments of a foreign program are not ours. */
    if (test_log_options_read(&core.options, (char *[]){program, NULL}, &code))
        exit(code);
    drop_shard();
    registered = registered ||
                 (!atexit(at_exit) && !pthread_atfork(NULL, NULL, in_child));
    if (!registered || open_run(program)) {
        core.owner = 0;
        return -1;
    }
    if (!core.options.output.live)
        setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* in order with stderr */
    core.ending = getenv(TEST_LOG_REPETITION);
    core.ending = core.ending ? strdup(core.ending) : NULL;
    /* They are not for programs that a test starts. */
    unsetenv("TESTLOG_RUN");
    unsetenv(TEST_LOG_REPETITION);
    watch_death();
    offer_devices();
    if (!test_log_is_part(&core.run))
        test_log_filters_print(&core.options);
    return 0;
}
