/* trace_sandbox_test.c: forked children that record where a system call ends
 * them. The file is built with functions_cflags.
 */
#include "tests/support/calls.h"

#include "trace/calls/calls.h"

#include <criterion/criterion.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 100 };

static struct trace_site inner = TEST_SITE(SPAN, INFO, "inner", "m", NULL, 0);

static volatile int sink;

static void leaf(void)
{
    sink++;
}

static void enter_strict(void)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        _exit(77);
}

/* Allows as little as the strict mode. */
static void enter_filter(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(77);
}

/* Records in a child, and returns what is read of it. */
static struct trace_reader *record_in(void (*enter)(void))
{
    pid_t child;
    int status;

    test_record_calls(TRACE_LIMIT_LEAST);
    leaf();
    child = fork();
    if (!child) {
        enter();
        for (int i = 0; i < COUNT; i++) {
            struct trace_span_ref span = trace_span_begin_(&inner, 0, NULL);

            leaf();
            trace_span_end(span);
        }
        syscall(SYS_exit, 0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("no seccomp here");
    cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "%x",
              (unsigned)status);
    return test_read();
}

TestSuite(trace_sandbox, .init = test_folder);

Test(trace_sandbox, strict_mode_ends_the_recording_of_its_thread)
{
    struct trace_reader *reader = record_in(enter_strict);

    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "inner"), 0);
    /* The spans, and the calls of leaf. */
    cr_expect_eq(trace_reader_summary(reader).lost[TRACE_LOSS_SANDBOX],
                 2 * COUNT);
}

Test(trace_sandbox, a_filter_finds_space_beforehand)
{
    struct trace_reader *reader = record_in(enter_filter);

    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "inner"), COUNT);
    cr_expect_eq(test_count(reader, TRACE_ENTRY_SPAN, "leaf"), COUNT + 1);
    cr_expect_eq(trace_reader_summary(reader).dropped, 0);
}
