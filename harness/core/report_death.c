/* report_death.c: lets testlog print why the process dies, while it still
 * exists: nobody may read the run otherwise.
 *
 * Only system calls are made here, because a signal handler calls it.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/core/core_run.h"
#include "harness/machine/preflight.h"

static char *program;      /* testlog; NULL: it was not found */
static volatile int begun; /* a thread reports the death */

void test_log_death_prepare(const struct test_log_core *core)
{
    char path[PATH_MAX];

    if (!program && !test_log_is_part(&core->run) &&
        test_log_preflight_find("testlog", path))
        program = realpath(path, NULL);
}

void test_log_death_wait(void)
{
    while (begun)
        pause();
}

/* Notes why the process dies, even if another one judges its run later. */
static bool note_death(const struct trace_descriptor *journal, const char *why)
{
    char line[1024];
    int size = snprintf(line, sizeof(line),
                        "fact\t" TEST_LOG_DIED "\t%.900s\t.\n", why);

    return trace_descriptor_is_ours(journal) &&
           write(journal->fd, line, (size_t)size) == size;
}

/* The run is no longer ours: testlog may write it. */
static void give_away(const struct test_log_core *core)
{
    close(core->files[TEST_LOG_CORE_JOURNAL].fd);
    if (core->run.lock > 0)
        close(core->run.lock);
}

static void become_testlog(const struct test_log_core *core)
{
    char *const arguments[] = {(char *)"testlog", (char *)"__judge", core->path,
                               (char *)core->run.executable, NULL};
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    test_log_output_restore();
    if (!core->began_in || !chdir(core->began_in))
        execve(program, arguments, environ);
    _exit(127);
}

bool test_log_death_report(const struct test_log_core *core, const char *why)
{
    int status = -1;
    pid_t child;

    if (getpid() != core->owner)
        return false;
    if (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        test_log_death_wait();
    if (!note_death(&core->files[TEST_LOG_CORE_JOURNAL], why) || !program ||
        !core->path)
        return false;
    give_away(core);
    /* fork() would call handlers, and wait for locks that this thread has. */
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!child)
        become_testlog(core);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && !status;
}
