/* sandboxed.c: crashes in seccomp sandboxes, which end whoever makes a system
 * call that they forbid.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <testlog/test_log.h>

#ifdef __x86_64__

/* Forbids all system calls but the return from a signal handler. */
static void forbid(unsigned action)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, action),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        cr_skip_test("no seccomp here: %m");
}

static void crash(void)
{
    *(volatile int *)8 = 1;
}

TEST_LOG(sandboxed, strict)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        cr_skip_test("no seccomp here: %m");
    crash();
}

TEST_LOG(sandboxed, kills_thread)
{
    forbid(SECCOMP_RET_KILL_THREAD);
    crash();
}

TEST_LOG(sandboxed, kills_process)
{
    forbid(SECCOMP_RET_KILL_PROCESS);
    crash();
}

TEST_LOG(sandboxed, traps)
{
    forbid(SECCOMP_RET_TRAP);
    crash();
}

TEST_LOG(sandboxed, fails)
{
    forbid(SECCOMP_RET_ERRNO | EPERM);
    crash();
}

static void *crash_in_thread(void *unused)
{
    (void)unused;
    log_info("in a thread");
    forbid(SECCOMP_RET_KILL_THREAD);
    crash();
    return NULL;
}

TEST_LOG(sandboxed, other_thread)
{
    pthread_t thread;

    pthread_create(&thread, NULL, crash_in_thread, NULL);
    pthread_join(thread, NULL);
    for (;;)
        pause();
}

TEST_LOG(sandboxed, expected, .signal = SIGSEGV)
{
    forbid(SECCOMP_RET_KILL_THREAD);
    crash();
}

#endif
