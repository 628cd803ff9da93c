/* debugger.c: starts a debugger on a test that has stopped where it failed.
 *
 * Meanwhile the debugger is in the terminal's foreground, so that only the
 * debugger gets ^C.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/run/model/test_stacks.h"
#include "harness/session.h"
#include "jobs.h"

static const char *function_of(const struct test_log_crash *crash)
{
    static const char *const functions[] = {
#define TEST_LOG_X(id, function) function,
        TEST_LOG_STOPS(TEST_LOG_X)
#undef TEST_LOG_X
    };

    return functions[crash->code];
}

/* ---- Its command line ---- */

/* The test continues until its signal arrives again, at the instruction that
 * caused it. */
static void set_gdb(struct test_log_debugger *debugger,
                    const struct test_log_crash *crash)
{
    const char *after_signal[] = {"-ex", "continue", NULL};
    const char *after_stop[] = {"-ex", debugger->frame, "-ex", "up", NULL};
    const char **last = crash->signal ? after_signal : after_stop;
    const char *all[] = {"gdb", "-q",
                         "-p",  debugger->pid,
                         "-ex", "handle SIGSTOP nostop noprint nopass",
                         NULL};
    size_t count = 0;

    for (const char **word = all; *word; word++)
        debugger->words[count++] = *word;
    while (*last)
        debugger->words[count++] = *last++;
    debugger->words[count] = NULL;
}

static void set_lldb(struct test_log_debugger *debugger,
                     const struct test_log_crash *crash)
{
    const char *all[] = {"lldb",
                         "-p",
                         debugger->pid,
                         "-o",
                         crash->signal ? "process continue" : "bt",
                         NULL};

    memcpy(debugger->words, all, sizeof(all));
}

/* ---- The terminal ---- */

static void give_terminal(pid_t group)
{
    sigset_t output, before;

    sigemptyset(&output);
    sigaddset(&output, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &output, &before);
    tcsetpgrp(STDIN_FILENO, group);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static pid_t start(const char *const *words)
{
    char **environment = test_log_tool_environment();
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;
    int error = ENOMEM;

    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    if (environment)
        error = posix_spawnp(&pid, words[0], NULL, &attributes,
                             (char *const *)words, environment);
    free(environment);
    posix_spawnattr_destroy(&attributes);
    if (error)
        test_log_notice("%s cannot be run: %s", words[0], strerror(error));
    return error ? -1 : pid;
}

/* ---- A test ---- */

static void announce(const struct test_log_runner *runner,
                     const struct test_log_job *job,
                     const struct test_log_crash *crash)
{
    bool looked = crash->signal || test_log_is_throw(crash);
    char *reason =
        looked ? test_log_stacks_reason(runner->run, job->result, "") : NULL;
    const char *why = reason          ? reason
                      : crash->signal ? test_log_signal(crash->signal)
                                      : "";

    test_log_notice("%s has %s%s%s; %s is attached to process %u: bt shows the "
                    "stack, quit ends the run",
                    test_log_name(job->result),
                    crash->signal ? "crashed" : "failed", why[0] ? ": " : "",
                    why, runner->options->debugger, job->pid);
    free(reason);
}

bool test_log_debugger_begin(struct test_log_debugger *debugger,
                             const struct test_log_runner *runner,
                             const struct test_log_job *job,
                             const struct test_log_crash *crash)
{
    const char *name = runner->options->debugger;

    if (!name)
        return false;
    announce(runner, job, crash);
    snprintf(debugger->pid, sizeof(debugger->pid), "%u", job->pid);
    if (!crash->signal)
        snprintf(debugger->frame, sizeof(debugger->frame), "frame function %s",
                 function_of(crash));
    if (!strcmp(name, "gdb"))
        set_gdb(debugger, crash);
    else
        set_lldb(debugger, crash);
    test_log_status_mark_seen(job);
    return true;
}

void test_log_debugger_run(const struct test_log_debugger *debugger)
{
    bool terminal = isatty(STDIN_FILENO);
    pid_t pid = start(debugger->words);

    if (pid < 0)
        return;
    if (terminal)
        give_terminal(pid);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (terminal)
        give_terminal(getpgrp());
}
