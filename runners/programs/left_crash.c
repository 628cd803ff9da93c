/* left_crash.c: the stack that a process without testlog leaves when it
 * crashes. A small library in it writes to a file that we have. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "framework_program.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/gpu_setup.h"
#include "harness/options/options.h"
#include "trace/crash.h"
#include "trace/record/leave_crash.h"

int runners_left_crash_begin(struct framework_program *program)
{
    static char library[PATH_MAX];
    char variable[96];

    /* A sanitizer in the user's list would have to come first. */
    if (!program->takes_library || program->framework->handles_signals ||
        test_log_variable("LD_PRELOAD") ||
        program->options->stacks == TEST_LOG_STACKS_OFF ||
        !test_log_crash_library(library) || strpbrk(library, ": "))
        return 0;
    if (program->crash_file > 0)
        close(program->crash_file);
    program->crash_file = memfd_create("crash", MFD_CLOEXEC);
    if (program->crash_file < 0)
        return 0;
    snprintf(variable, sizeof(variable),
             TRACE_LEAVE_CRASH_VARIABLE "=/proc/%ld/fd/%d", (long)getpid(),
             program->crash_file);
    program->start.preload = library;
    return runners_framework_variable(&program->start, variable, NULL);
}

/* The program may have put anything there. */
void runners_left_crash_read(struct framework_program *program, int signal)
{
    struct trace_crash crash;

    if (program->crash_file > 0 &&
        pread(program->crash_file, &crash, sizeof(crash), 0) == sizeof(crash) &&
        crash.signal == signal)
        test_log_stacks_of_file(&program->stacks, program->crash_file);
}
