/* capture_stacks.c: looks at the stacks of tests that crash or hang, through
 * the program testlog-stacks, which ends after two seconds at the latest.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/event.h>

#include "harness/results/notice.h"
#include "harness/results/run_folder.h"
#include "harness/results/stacks.h"
#include "harness/runner/supervisor.h"
#include "harness/session.h"

enum {
    STACKS_TEXT_MAX = 1 << 20,
    ASSERTIONS = 8, /* of a test, whose stacks are looked at */
};

static const uint64_t assertions_look = 4000000000; /* ns for all of a test */

static char program[PATH_MAX]; /* "": it was not found */

static bool is_on(const struct test_log_options *options)
{
    return options->stacks != TEST_LOG_STACKS_OFF || options->debugger;
}

bool test_log_stacks_wanted(const struct test_log_options *options)
{
    if (!is_on(options) || !test_log_supervisor_limits())
        return false;
    if (!test_log_stacks_program(program))
        program[0] = '\0';
    return true;
}

/* ---- The program ---- */

/* Its signals are those of a new process; its errors go nowhere. */
static pid_t start(char *const *arguments, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_adddup2(&files, 0, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0); /* ^C is not for it */
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    if (posix_spawn(&pid, program, &files, &attributes, arguments, environ))
        pid = -1;
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

        if (ready < 0 && errno == EINTR) /* by a handler of a hook */
            continue;
        got = ready > 0 ? read(fd, bytes, sizeof(bytes)) : 0;
        if (got <= 0)
            return;
        trace_text_add(text, bytes, (size_t)got);
    }
}

/* BoxFort waits for any child, but reaps only its own. */
static void run(char *const *arguments, uint64_t until, struct trace_text *text)
{
    int ends[2];
    pid_t pid;

    if (!program[0] || pipe2(ends, O_CLOEXEC))
        return;
    pid = start(arguments, ends[1]);
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

/* Writes the stacks of failed assertions and of the last look. */
static void store(const struct test_log_run *run_of,
                  const struct test_log_job *job, const struct trace_text *last)
{
    const struct trace_text *assertions = &job->assertion_stacks;
    struct trace_file file;

    if ((!assertions->size && !last->size) ||
        test_log_create_file(run_of, job->result, TEST_LOG_STACKS_FILE, &file))
        return;
    if (assertions->size)
        fwrite(assertions->data, 1, assertions->size, file.stream);
    if (last->size)
        fwrite(last->data, 1, last->size, file.stream);
    trace_file_commit(&file);
}

static bool can_look(const struct test_log_runner *runner,
                     const struct test_log_job *job)
{
    return is_on(runner->options) && job->pid && job->result->folder;
}

static void say_missing(void)
{
    static bool said;

    if (said)
        return;
    test_log_progress_erase();
    test_log_notice("no stacks, because there is no program testlog-stacks "
                    "beside testlog's libraries; set TESTLOG_STACKS to its "
                    "path");
    said = true;
}

/* Adds what was seen by the handler of a signal or at the throw of an
 * exception. */
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

void test_log_stacks_look(const struct test_log_runner *runner,
                          struct test_log_job *job,
                          const struct test_log_crash *crash, uint64_t until)
{
    char fault[128] = "--fault=0,0,0,0,0,0", exception[64] = "--exception=0,0";
    char first[32] = "--first=0", pid[16];
    bool only = runner->options->stacks == TEST_LOG_STACKS_CRASHING;
    char *arguments[] = {program,
                         fault,
                         exception,
                         first,
                         only ? (char *)"--only" : pid,
                         only ? pid : NULL,
                         NULL};
    struct trace_text text = {0};
    uint64_t began = test_log_now();

    if (!can_look(runner, job))
        return;
    snprintf(pid, sizeof(pid), "%u", job->pid);
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
    if (!program[0])
        say_missing();
    run(arguments, until, &text);
    store(runner->run, job, &text);
    trace_text_free(&text);
    job->looked += test_log_now() - began;
}

void test_log_stacks_look_at_assertion(const struct test_log_runner *runner,
                                       struct test_log_job *job,
                                       uint32_t thread,
                                       const struct criterion_assert_stats *of)
{
    char first[32], pid[16];
    char *arguments[] = {program, first, (char *)"--only", pid, NULL};
    struct trace_text *text = &job->assertion_stacks;
    uint64_t began = test_log_now();

    if (!can_look(runner, job) || job->assertions == ASSERTIONS ||
        job->looked >= assertions_look)
        return;
    job->assertions++;
    snprintf(first, sizeof(first), "--first=%u", thread);
    snprintf(pid, sizeof(pid), "%u", job->pid);
    trace_text_printf(text, "assertion\t%s:%u\n", of->file, of->line);
    run(arguments, began + assertions_look - job->looked, text);
    store(runner->run, job, &(struct trace_text){0});
    job->looked += test_log_now() - began;
}
