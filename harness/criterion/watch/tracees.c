/* tracees.c: hides from BoxFort that a test has stopped.
 *
 * A test that calls ptrace(PTRACE_TRACEME) is traced by the runner: each of its
 * signals stops it, and the kernel reports that even to a process that waits
 * for exits only. BoxFort takes it for the test's end, stops waiting, and
 * Criterion waits forever.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "harness/session.h"
#include "supervisor.h"

static bool hidden; /* whether to hide stops: this is the runner */

typedef int wait_function(idtype_t, id_t, siginfo_t *, int);

static bool is_stop(const siginfo_t *info, int options)
{
    return info && info->si_pid && !(options & WSTOPPED) &&
           (info->si_code == CLD_TRAPPED || info->si_code == CLD_STOPPED);
}

/* A stop that is taken is not reported again; the test stays stopped. */
static void take_stop(wait_function *wait, pid_t pid)
{
    siginfo_t info = {0};

    wait(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG);
}

/* The tested code calls this, too, perhaps in signal handlers, so only the
 * runner may call dladdr(). */
TRACE_API int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    static wait_function *next;
    int status;

    if (!next)
        test_log_next_function("waitid", &next);
    status = next(type, id, info, options);
    if (!hidden || !test_log_is_criterion(__builtin_return_address(0)))
        return status;
    while (!status && is_stop(info, options)) {
        take_stop(next, info->si_pid);
        memset(info, 0, sizeof(*info));
        status = next(type, id, info, options);
    }
    return status;
}

void test_log_tracees_hide(void)
{
    hidden = true;
}
