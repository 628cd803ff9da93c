/* serial_turns.c: lets serial tests take turns with the tests of other programs
 * that `testlog run` runs at the same time.
 *
 * While its tests run, each program holds a lock on the folder "tests" of the
 * run: a shared one, or an exclusive one for serial tests. The kernel drops it
 * when the program dies.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "plan.h"

static int folder; /* the locked folder; 0: none */

static bool has_stopped(const struct test_log_runner *runner)
{
    bool stopped;

    test_log_supervisor_enter();
    stopped = runner->stopped;
    test_log_supervisor_leave();
    return stopped;
}

/* Waits in steps, because a run can be stopped at any time. */
static int lock(const struct test_log_runner *runner)
{
    const struct timespec step = {.tv_nsec = 10000000};
    int kind = runner->serial ? LOCK_EX : LOCK_SH;

    while (flock(folder, kind | LOCK_NB)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -1;
        if (has_stopped(runner))
            return 0;
        nanosleep(&step, NULL);
    }
    return 0;
}

void test_log_turn_take(const struct test_log_runner *runner)
{
    const struct test_log_run *run = runner->run;

    if (!test_log_is_part(run) || !run->path ||
        !test_log_any_serial(runner->options))
        return;
    if (folder <= 0)
        folder = openat(run->folder, "tests",
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder > 0 && !lock(runner))
        return;
    test_log_notice("cannot lock %s/tests: %s; serial tests may run beside "
                    "tests of other programs",
                    run->path, strerror(errno));
}

void test_log_turn_end(void)
{
    if (folder > 0)
        close(folder);
    folder = 0;
}
