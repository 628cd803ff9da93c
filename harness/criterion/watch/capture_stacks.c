/* capture_stacks.c: looks at the stacks of tests that crash or hang, through
 * the program testlog-stacks, which ends after two seconds at the latest.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/event.h>

#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/machine/now.h"
#include "harness/options/gpu_setup.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/survivors.h"
#include "harness/run/model/test_stacks.h"
#include "harness/session.h"
#include "jobs.h"
#include "progress.h"
#include "trace/base/file.h"
#include "trace/read/crashes.h"
#include "trace/record/fatal_signal.h"

enum {
    STACKS_TEXT_MAX = 1 << 20,
    ASSERTIONS = 8, /* per test, with stacks */
    CHILDREN = 4,   /* per test, if they crashed */
    VALGRIND_MAX = PATH_MAX + 32,
};

static const uint64_t assertions_look = 4000000000; /* ns per test */
static const uint64_t children_look = 2000000000;

static char program[PATH_MAX]; /* "": it was not found */

static bool is_on(const struct test_log_options *options)
{
    return options->stacks != TEST_LOG_STACKS_OFF || options->debugger;
}

bool test_log_stacks_wanted(const struct test_log_options *options)
{
    if (!is_on(options))
        return false;
    if (!test_log_stacks_program(program))
        program[0] = '\0';
    return true;
}

/* ---- The program ---- */

/* It gets the signals of a new process; its errors are discarded. */
static pid_t start(char *const *arguments, int in, int out)
{
    posix_spawn_file_actions_t files;
    char **environment = test_log_tool_environment();
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, in >= 0 ? in : 2, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0); /* ^C is not for it */
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    if (!environment ||
        posix_spawn(&pid, program, &files, &attributes, arguments, environment))
        pid = -1;
    free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

static int left_ms(uint64_t until)
{
    uint64_t now = test_log_now();

    return now < until ? (int)((until - now) / 1000000) + 1 : 0;
}

static void read_until(int fd, uint64_t until, struct trace_text *text)
{
    struct pollfd pipe = {.fd = fd, .events = POLLIN};
    char bytes[4096];
    ssize_t got;

    text->ceiling = STACKS_TEXT_MAX;
    for (;;) {
        int ready = poll(&pipe, 1, left_ms(until));

        if (ready < 0 && errno == EINTR) /* by the handler of a hook */
            continue;
        got = ready > 0 ? read(fd, bytes, sizeof(bytes)) : 0;
        if (got <= 0)
            return;
        trace_text_add(text, bytes, (size_t)got);
    }
}

/* BoxFort waits for any child, but reaps only its own. */
static void run(char *const *arguments, int in, uint64_t until,
                struct trace_text *text)
{
    int ends[2];
    pid_t pid;

    if (!program[0] || pipe2(ends, O_CLOEXEC))
        return;
    pid = start(arguments, in, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        read_until(ends[0], until, text);
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(ends[0]);
}

/* ---- A test ---- */

/* Replaces the file by two texts. */
static void store(const struct test_log_run *run_of,
                  const struct test_log_job *job, const struct trace_text *text,
                  const struct trace_text *more)
{
    struct trace_file file;

    if ((!text->size && !more->size) ||
        test_log_create_file(run_of, job->result, TEST_LOG_STACKS_FILE, &file))
        return;
    if (text->size)
        fwrite(text->data, 1, text->size, file.stream);
    if (more->size)
        fwrite(more->data, 1, more->size, file.stream);
    trace_file_commit(&file);
}

static bool can_look(const struct test_log_runner *runner,
                     const struct test_log_job *job)
{
    return is_on(runner->options) && job->pid && job->result->folder;
}

/* Adds which of a test's children have not ended before it. */
static void add_alive(struct trace_text *text,
                      const struct test_log_run *run_of,
                      const struct test_log_job *job)
{
    struct trace_reader *reader = test_log_recording(run_of, job->result);
    struct trace_text ids = {0};

    if (reader && test_log_add_living(&ids, reader))
        trace_text_printf(text, "alive\t%s\n", ids.data ? ids.data : "");
    trace_text_free(&ids);
    trace_reader_close(reader);
}

static void say_missing(void)
{
    static bool said;

    if (said || program[0])
        return;
    test_log_progress_erase();
    test_log_notice("no stacks: cannot find testlog-stacks beside testlog's "
                    "libraries; set TESTLOG_STACKS to its path");
    said = true;
}

/* Adds what the handler of a signal, or the throw of an exception, has
 * noted. */
static void put_crash(struct trace_text *text,
                      const struct test_log_crash *crash)
{
    if (crash->signal)
        trace_text_printf(text, "crash\t%d\t%d\t%#llx\t%u\n", crash->signal,
                          crash->code, (unsigned long long)crash->address,
                          crash->thread);
    else
        trace_text_printf(text, "throw\t%u\t%s\n", crash->thread,
                          crash->code == TEST_LOG_STOP_THROW ? "" : "again");
}

/* Adds the arguments that both looks end with. */
static void end_arguments(char **arguments, size_t count, bool only,
                          char *valgrind, char *pid)
{
    const char *folder = test_log_valgrind_folder();

    snprintf(valgrind, VALGRIND_MAX, "--valgrind=%s/" TEST_LOG_VALGRIND_VGDB,
             folder);
    if (folder[0])
        arguments[count++] = valgrind;
    if (only)
        arguments[count++] = (char *)"--only";
    arguments[count] = pid;
}

void test_log_stacks_look(const struct test_log_runner *runner,
                          struct test_log_job *job,
                          const struct test_log_crash *crash, uint64_t until)
{
    char fault[128] = "--fault=0,0,0,0,0,0", exception[64] = "--exception=0,0";
    char first[32] = "--first=0", pid[16], valgrind[VALGRIND_MAX];
    bool only = runner->options->stacks == TEST_LOG_STACKS_CRASHING;
    char *arguments[8] = {program, fault, exception, first};
    struct trace_text text = {0};
    uint64_t began = test_log_now();

    if (!can_look(runner, job))
        return;
    snprintf(pid, sizeof(pid), "%u", job->pid);
    end_arguments(arguments, 4, only, valgrind, pid);
    if (crash) {
        snprintf(fault, sizeof(fault), "--fault=%d,%d,%llx,%llx,%llx,%llx",
                 crash->signal, crash->code, (unsigned long long)crash->address,
                 (unsigned long long)crash->stack,
                 (unsigned long long)crash->instruction,
                 (unsigned long long)crash->context);
        snprintf(exception, sizeof(exception), "--exception=%llx,%llx",
                 (unsigned long long)crash->type,
                 (unsigned long long)crash->text);
        snprintf(first, sizeof(first), "--first=%u", crash->thread);
        put_crash(&text, crash);
    }
    add_alive(&text, runner->run, job);
    say_missing();
    run(arguments, -1, until, &text);
    store(runner->run, job, &job->assertion_stacks, &text);
    trace_text_free(&text);
    job->looked += test_log_now() - began;
}

/* Notes once that further assertions get no stack. */
static void note_limit(const struct test_log_runner *runner,
                       struct test_log_job *job)
{
    if (job->limited)
        return;
    job->limited = true;
    trace_text_printf(&job->assertion_stacks, "limited\t%zu\n",
                      job->assertions);
    store(runner->run, job, &job->assertion_stacks, &(struct trace_text){0});
}

void test_log_stacks_look_at_assertion(const struct test_log_runner *runner,
                                       struct test_log_job *job,
                                       uint32_t thread,
                                       const struct criterion_assert_stats *of)
{
    char first[32], pid[16], valgrind[VALGRIND_MAX], path[PATH_MAX];
    char *arguments[6] = {program, first};
    struct trace_text *text = &job->assertion_stacks;
    uint64_t began = test_log_now();

    if (!can_look(runner, job))
        return;
    if (job->assertions == ASSERTIONS || job->looked >= assertions_look) {
        note_limit(runner, job);
        return;
    }
    job->assertions++;
    snprintf(first, sizeof(first), "--first=%u", thread);
    snprintf(pid, sizeof(pid), "%u", job->pid);
    end_arguments(arguments, 2, true, valgrind, pid);
    trace_text_printf(text, "assertion\t%s:%u\n",
                      test_log_shown_path(of->file, path), of->line);
    run(arguments, -1, began + assertions_look - job->looked, text);
    store(runner->run, job, text, &(struct trace_text){0});
    job->looked += test_log_now() - began;
}

/* ---- A test's children ---- */

/* Adds the contents of the file, except children, because a test that crashes
 * after its end is shown again. The test may have damaged the file. */
static void add_stored(struct trace_text *text, const struct test_log_run *of,
                       const struct test_log_result *result)
{
    FILE *in = test_log_read(of, result, TEST_LOG_STACKS_FILE);
    char bytes[4096];
    size_t size;
    char *children;

    while (in && text->size < STACKS_TEXT_MAX &&
           (size = fread(bytes, 1, sizeof(bytes), in)))
        trace_text_add(text, bytes, size);
    if (in)
        fclose(in);
    children = text->size ? strstr(text->data, "\nchild\t") : NULL;
    if (!children)
        return;
    children[1] = '\0';
    text->size = (size_t)(children + 1 - text->data);
}

/* Returns a file with a crash and the stack that it left; -1 without one. */
static int file_of(const struct trace_crash *crash, const unsigned char *left)
{
    size_t size = (size_t)crash->stack_size + crash->mappings_size;
    int fd = memfd_create("crash", MFD_CLOEXEC);

    if (fd < 0)
        return -1;
    if (!test_log_write_all(fd, (const char *)crash, sizeof(*crash)) &&
        !test_log_write_all(fd, (const char *)left, size) &&
        !lseek(fd, 0, SEEK_SET))
        return fd;
    close(fd);
    return -1;
}

/* In a chroot, mappings cannot be read, so only addresses are known. */
static bool has_left(const struct trace_crash *crash)
{
    return crash->stack_size || crash->mappings_size;
}

static void put_signal(struct trace_text *text, const struct trace_crash *crash)
{
    trace_text_printf(text, "crash\t%d\t%d\t%#llx\t%u\n", crash->signal,
                      crash->code, (unsigned long long)crash->address,
                      crash->thread);
}

void test_log_stacks_of_file(struct trace_text *text, int file)
{
    char *arguments[] = {program, (char *)"--left", NULL};
    struct trace_crash crash;

    if (!test_log_stacks_program(program) ||
        pread(file, &crash, sizeof(crash), 0) != sizeof(crash) ||
        lseek(file, 0, SEEK_SET))
        return;
    put_signal(text, &crash);
    run(arguments, file, test_log_now() + children_look, text);
}

/* Adds a crash of a process of the test; `own`: it is the one that ran the
 * test.
 */
static void add_left(struct trace_text *text, const struct trace_crash *crash,
                     const unsigned char *left, bool own, uint64_t until)
{
    char *arguments[] = {program, (char *)"--left", NULL};
    int file = has_left(crash) ? file_of(crash, left) : -1;

    if (!own) {
        trace_text_printf(text, "child\t%u\t", crash->process);
        test_log_sanitize_line(text, crash->name);
        trace_text_char(text, '\n');
    }
    put_signal(text, crash);
    if (file < 0)
        return;
    run(arguments, file, until, text);
    close(file);
}

/* Adds the first children that left a stack, or that did not; returns how many.
 */
static size_t add_some(struct trace_text *text,
                       const struct trace_reader *reader, bool with_stack)
{
    const uint64_t until = test_log_now() + children_look;
    const unsigned char *left;
    struct trace_crash crash;
    size_t cursor = 0, added = 0;

    while (added < CHILDREN &&
           trace_reader_crash(reader, &cursor, &crash, &left))
        if (with_stack == has_left(&crash)) {
            add_left(text, &crash, left, false, until);
            added++;
        }
    return added;
}

/* If no child has a stack, as in a full recording, others are listed. */
static void add_children(struct trace_text *text,
                         const struct trace_reader *reader)
{
    if (!add_some(text, reader, true))
        add_some(text, reader, false);
    trace_text_printf(text, "crashes\t%zu\n", trace_reader_crashes(reader));
}

void test_log_stacks_left(const struct test_log_run *run_of,
                          const struct test_log_result *result)
{
    struct trace_reader *reader = test_log_recording(run_of, result);
    const uint64_t until = test_log_now() + children_look;
    const unsigned char *left;
    struct trace_text text = {0};
    struct trace_crash crash;
    struct trace_file file;
    size_t cursor = 0;

    if (!test_log_stacks_program(program))
        program[0] = '\0';
    while (reader && trace_reader_crash(reader, &cursor, &crash, &left))
        if (crash.process == trace_reader_summary(reader).pid)
            add_left(&text, &crash, left, true, until);
    if (text.size && result->folder &&
        !test_log_create_file(run_of, result, TEST_LOG_STACKS_FILE, &file)) {
        fwrite(text.data, 1, text.size, file.stream);
        trace_file_commit(&file);
    }
    trace_text_free(&text);
    trace_reader_close(reader);
}

/* If a test was stopped before its end, the living processes are noted
 * already. */
void test_log_stacks_of_children(const struct test_log_runner *runner,
                                 const struct test_log_job *job)
{
    struct trace_text text = {0}, more = {0};
    struct trace_reader *reader;

    if (!is_on(runner->options) || !job->result->folder)
        return;
    if (!job->late && !job->ended && !job->seen)
        add_alive(&more, runner->run, job);
    reader = test_log_recording(runner->run, job->result);
    if (reader && trace_reader_crashes(reader)) {
        say_missing();
        add_children(&more, reader);
    }
    if (more.size) {
        add_stored(&text, runner->run, job->result);
        store(runner->run, job, &text, &more);
    }
    trace_text_free(&text);
    trace_text_free(&more);
    trace_reader_close(reader);
}
