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
#include <time.h>
#include <unistd.h>

#include "harness/core/core_run.h"
#include "harness/machine/preflight.h"

static char *program; /* testlog; NULL: it was not found */

/* The thread that reports the death, and its process; 0: none does. */
static pid_t reporter, dying;

void test_log_death_prepare(const struct test_log_core *core)
{
    char path[PATH_MAX];

    if (!program && !test_log_is_part(&core->run) &&
        test_log_preflight_find("testlog", path))
        program = realpath(path, NULL);
}

static pid_t this_thread(void)
{
    return (pid_t)syscall(SYS_gettid);
}

void test_log_death_wait(void)
{
    pid_t first = __atomic_load_n(&reporter, __ATOMIC_ACQUIRE);

    while (first && dying == getpid() && first != this_thread())
        pause();
}

/* Whether the thread is the first that reports. A sanitizer that ends the
 * process may abort it then. */
static bool begin(void)
{
    pid_t none = 0;

    test_log_death_wait();
    if (dying != getpid()) /* perhaps it was forked meanwhile */
        __atomic_store_n(&reporter, 0, __ATOMIC_RELEASE);
    dying = getpid();
    if (__atomic_compare_exchange_n(&reporter, &none, this_thread(), false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return true;
    test_log_death_wait();
    return false;
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

enum { TICK = 10000000, CLOSING = 1000, REPORTING = 6000 /* ticks */ };

static void wait_a_tick(void)
{
    nanosleep(&(struct timespec){.tv_nsec = TICK}, NULL);
}

/* Another thread writes the run, because the program exits. */
static void wait_until_closed(const struct test_log_core *core)
{
    for (int i = 0; i < CLOSING && core->closer != this_thread() &&
                    !*(const volatile bool *)&core->is_closed;
         i++)
        wait_a_tick();
}

/* Returns whether testlog has printed all, for which it has a minute. */
static bool wait_for(pid_t child)
{
    int status = -1;
    pid_t got = 0;

    for (int i = 0; i < REPORTING && !got; i++) {
        got = waitpid(child, &status, __WALL | WNOHANG);
        if (!got || (got < 0 && errno == EINTR)) {
            got = 0;
            wait_a_tick();
        }
    }
    if (!got)
        kill(child, SIGKILL);
    return got == child && !status;
}

bool test_log_death_report(const struct test_log_core *core, const char *why)
{
    pid_t child;

    if (getpid() != core->owner || !begin())
        return false;
    if (core->is_written) {
        wait_until_closed(core);
        return false;
    }
    if (!note_death(&core->files[TEST_LOG_CORE_JOURNAL], why) || !program ||
        !core->path)
        return false;
    give_away(core);
    /* fork() would call handlers, and wait for locks that this thread has. The
     * program may ignore the signal of a child. */
    child = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
    if (!child)
        become_testlog(core);
    return child > 0 && wait_for(child);
}
