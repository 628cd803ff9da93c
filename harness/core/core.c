/* core.c: begins and ends tests that run in one process. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness/core/core_run.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/machine/join_ctest.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/model/gpu_summary.h"
#include "trace/device.h"
#include "trace/record/fatal_signal.h"
#include "trace/recording.h"
#include <testlog/core.h>

enum { STACKS = 4 }; /* that crashing processes of a test leave at most */

static const enum test_log_outcome outcomes[] = {
    [TEST_LOG_PASSED] = TEST_LOG_OUTCOME_PASSED,
    [TEST_LOG_FAILED] = TEST_LOG_OUTCOME_FAILED,
    [TEST_LOG_SKIPPED] = TEST_LOG_OUTCOME_SKIPPED,
};

static struct test_log_noted running; /* process 0: none */
static bool records_live;             /* its lines are printed, but not kept */
static bool captures;                 /* its output goes to the file */

/* A forked child has none of its own yet. */
static bool is_open(void)
{
    return running.process == getpid();
}

/* ---- One thread at a time ---- */

static pthread_mutex_t lock;

/* A thread that holds the lock gets an error if it asks again. A forked child
 * makes a new one: the thread of the parent that held it is not there. */
static void make_lock(void)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static sigset_t mask_before;

/* A limit on files, as of ulimit -f, must not kill the program because of what
 * we write. */
static void hold_signal(void)
{
    sigset_t file_size;

    sigemptyset(&file_size);
    sigaddset(&file_size, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &file_size, &mask_before);
}

static void drop_signal(void)
{
    const struct timespec at_once = {0, 0};
    sigset_t file_size;

    sigemptyset(&file_size);
    sigaddset(&file_size, SIGXFSZ);
    if (!sigismember(&mask_before, SIGXFSZ))
        while (sigtimedwait(&file_size, NULL, &at_once) > 0)
            ;
    pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
}

/* In a program that is built with MemorySanitizer, what this library writes
 * looks uninitialized to the C library's functions. */
void __msan_scoped_disable_interceptor_checks(void) __attribute__((weak));
void __msan_scoped_enable_interceptor_checks(void) __attribute__((weak));

/* Fails in a signal handler that has interrupted the thread that holds the
 * lock; if the handler exits, the run is judged later. */
static bool enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int error;

    test_log_death_wait();
    pthread_once(&once, make_lock);
    error = pthread_mutex_lock(&lock);
    if (error) {
        errno = error;
        return false;
    }
    if (__msan_scoped_disable_interceptor_checks)
        __msan_scoped_disable_interceptor_checks();
    hold_signal();
    return true;
}

/* Keeps errno. */
static void leave(void)
{
    int error = errno;

    drop_signal();
    if (__msan_scoped_enable_interceptor_checks)
        __msan_scoped_enable_interceptor_checks();
    pthread_mutex_unlock(&lock);
    errno = error;
}

/* ---- Recording ---- */

static const char *shown_name(void)
{
    static char name[1024];

    snprintf(name, sizeof(name), "%s/%s", running.suite, running.test);
    return running.title ? running.title : name;
}

static void print_missing(int error)
{
    static bool printed;

    if (!printed)
        test_log_notice("%s has no recording: %s (others may lack one, too); "
                        "results are not affected",
                        shown_name(), strerror(error));
    printed = true;
}

static void record(void)
{
    const struct test_log_core *core = test_log_core();
    char name[512];
    const char *const meta[] = {"test",
                                name,
                                "log",
                                core->options.show.value,
                                "log_origin",
                                core->options.show.origin,
                                "filter",
                                core->options.record.value,
                                "filter_origin",
                                core->options.record.origin,
                                running.title ? "title" : NULL,
                                running.title,
                                NULL};
    const struct trace_options options = {
        .limit = core->options.limit,
        .origin = core->run.start,
        .meta = meta,
    };
    int file = test_log_core_file(TEST_LOG_CORE_RECORDING);
    int journal = test_log_core_file(TEST_LOG_CORE_JOURNAL);

    snprintf(name, sizeof(name), "%s/%s", running.suite, running.test);
    test_log_journal_lock(journal);
    running.has_recording =
        file >= 0 && !trace_open_part(file, &running.recorded, &options);
    test_log_journal_unlock(journal);
    if (running.has_recording) {
        trace_crash_keep(STACKS);
        if (!trace_device_attached()) /* what is loaded before waits for it */
            trace_device_retry();
        return;
    }
    if (core->run.path && errno != EBUSY) /* the program called trace_start */
        print_missing(errno);
    records_live = core->options.output.live && !trace_open(NULL, &options);
}

/* ---- Beginning ---- */

/* A result must not depend on the disk. */
static void note(int (*put)(int journal, const struct test_log_noted *))
{
    static bool printed;
    int error;

    if (!put(test_log_core_file(TEST_LOG_CORE_JOURNAL), &running))
        return;
    error = errno;
    if (test_log_core_keep_journal() ||
        put(test_log_core_file(TEST_LOG_CORE_JOURNAL), &running))
        test_log_notice("cannot keep the result of %s: %s", shown_name(),
                        strerror(errno));
    else if (!printed && test_log_core()->run.path)
        test_log_notice("cannot write " TEST_LOG_JOURNAL ": %s; results are "
                        "lost if this process dies",
                        strerror(error));
    printed = true;
}

static char separator[16] = "/";

/* An adapter calls it before main. */
void test_log_separator(const char *text)
{
    test_log_join_ctest(false);
    if (text)
        snprintf(separator, sizeof(separator), "%s", text);
}

static char *name_of(const char *text, const char *ending)
{
    struct trace_text name = {0};

    test_log_sanitize_line(&name, text);
    trace_text_string(&name, ending ? ending : "");
    return name.data ? name.data : strdup("?");
}

/* The program's name in the run, which may differ from that of its folder. */
static const char *own_name(const struct test_log_core *core)
{
    return core->run.parent.program ? core->run.parent.program
                                    : core->run.program;
}

/* Returns the name that people read; NULL if it is "suite/test". */
static char *title_of(const char *suite, const char *test)
{
    char *title;

    if (!suite || !*suite)
        return strdup(test);
    return strcmp(separator, "/") != 0 &&
                   asprintf(&title, "%s%s%s", suite, separator, test) >= 0
               ? title
               : NULL;
}

/* A test that must not start has started: its framework chose it. */
static void note_known(const struct test_log_known_failures *all)
{
    const struct test_log_known_failure *known =
        test_log_known_of(all, running.suite, running.test);

    if (!known)
        return;
    running.known = strdup(known->reason);
    running.flaky = known->expected != TEST_LOG_EXPECT_FAIL;
    running.strict = known->strict;
    note(test_log_journal_known);
}

static void begin(const char *suite, const char *test)
{
    const struct test_log_core *core = test_log_core();
    bool wanted =
        !core->options.output.live && test_log_file_limit() == UINT64_MAX;
    int output = wanted ? test_log_core_file(TEST_LOG_CORE_OUTPUT) : -1;

    captures = output >= 0;
    running = (struct test_log_noted){
        .process = getpid(),
        .suite = name_of(suite && *suite ? suite : own_name(core), NULL),
        .test = name_of(test, core->ending),
        .printed = captures ? test_log_output_size(output) : 0,
    };
    running.title =
        title_of(suite && *suite ? running.suite : NULL, running.test);
    test_log_threads_begin();
    record();
    running.began = test_log_now();
    note(test_log_journal_begin);
    note_known(&core->options.known);
    if (captures)
        test_log_output_begin(output, running.printed);
}

/* ---- Ending ---- */

/* Judges memory of devices that a passing test has not released. */
static void judge_leaks(struct test_log_core *core,
                        struct test_log_result *result)
{
    bool fails = core->options.profiler.gpu_leaks == TRACE_GPU_LEAKS_FAIL;
    char *why;

    if (result->outcome != TEST_LOG_OUTCOME_PASSED || core->run.gpu.no_leaks)
        return;
    why = test_log_gpu_judge_leaks(&core->run, result, fails);
    if (!why)
        return;
    free(running.reason);
    running.reason = why;
    running.outcome = result->outcome = TEST_LOG_OUTCOME_FAILED;
    free(result->reason);
    result->reason = strdup(why);
}

static void note_gpu(struct test_log_core *core, struct test_log_result *result)
{
    struct trace_reader *reader = test_log_recording(&core->run, result);

    if (reader)
        test_log_note_gpu(&core->run, result, reader);
    trace_reader_close(reader);
}

/* Prints the block of a test that did not pass, and sends its result. */
static void report(void)
{
    struct test_log_core *core = test_log_core();
    const struct test_log_output *output = &core->options.output;
    struct test_log_result *result = test_log_core_result(
        &core->run, &running, test_log_flavour_given(&core->options));
    bool has_devices = running.has_recording && trace_device_attached();
    bool shown;

    if (!result)
        return;
    if (has_devices)
        judge_leaks(core, result);
    shown = test_log_outcome_bad(result->outcome) || output->show_output;
    if (shown)
        test_log_core_extract(&core->run, result, &running);
    if (shown && result->folder)
        running.folder = strdup(result->folder);
    if (running.folder && running.has_recording)
        test_log_render(&core->run, result, &output->style, false);
    else if (has_devices)
        note_gpu(core, result);
    if (shown && !output->quiet)
        test_log_print_block(&core->run, result, output);
    test_log_jsonl_result(result);
    test_log_run_drop(&core->run);
}

/* Leaves out the working directory, with which some compilers are called. */
static const char *below_folder(const char *reason)
{
    const char *folder = test_log_core()->began_in;
    size_t size = folder ? strlen(folder) : 0;

    return size > 1 && !strncmp(reason, folder, size) && reason[size] == '/'
               ? reason + size + 1
               : reason;
}

static void end(enum test_log_outcome outcome, const char *reason)
{
    int output = captures ? test_log_core_file(TEST_LOG_CORE_OUTPUT) : -1;

    running.ended = test_log_now();
    running.outcome = outcome;
    running.reason = reason && *reason ? strdup(below_folder(reason)) : NULL;
    test_log_join_lines(running.reason);
    running.threads = test_log_threads_end();
    if (trace_device_attached()) /* drivers keep threads */
        running.threads = 0;
    trace_unwind(0);
    if (running.has_recording)
        trace_close_part();
    else if (records_live)
        trace_close();
    records_live = false;
    test_log_output_end();
    running.printed_to = output < 0 ? 0 : test_log_output_size(output);
    test_log_core_repair();
    report();
    note(test_log_journal_end);
    test_log_noted_free(&running);
}

/* ---- Functions of the program ---- */

static bool written; /* the run: the process exits */

/* A forked child may exit, too. */
static void at_exit(void)
{
    if (!enter())
        return;
    if (is_open())
        end(TEST_LOG_OUTCOME_FAILED, "not ended");
    written = test_log_core()->is_written = true;
    test_log_core()->closer = (pid_t)syscall(SYS_gettid);
    if (getpid() == test_log_core()->owner)
        test_log_core_close();
    test_log_core()->is_closed = true;
    leave();
    test_log_death_wait(); /* a thread has crashed meanwhile */
}

/* The caller leaves if it succeeds. */
static int open_run(void)
{
    if (!enter())
        return -1;
    if (!written && !test_log_core_open(at_exit, make_lock))
        return 0;
    if (written)
        errno = ESHUTDOWN;
    leave();
    return -1;
}

int test_log_prepare(void)
{
    if (open_run())
        return -1;
    leave();
    return 0;
}

int test_log_begin(const char *suite, const char *test)
{
    if (!test || !*test) {
        errno = EINVAL;
        return -1;
    }
    if (open_run())
        return -1;
    if (is_open())
        end(TEST_LOG_OUTCOME_FAILED, "not ended");
    if (!test_log_core()->nested) {
        test_log_noted_free(&running);
        begin(suite, test);
    }
    leave();
    return 0;
}

int test_log_end(enum test_log_verdict verdict, const char *reason)
{
    bool valid;

    if (!enter())
        return -1;
    valid = is_open() && (unsigned)verdict <= TEST_LOG_SKIPPED;
    if (valid)
        end(outcomes[verdict], reason);
    else
        errno = EINVAL;
    valid = valid || test_log_core()->nested;
    leave();
    return valid ? 0 : -1;
}
