/* left_crash.c: the stack that a process without testlog leaves when it
 * crashes. A small library in it writes to a file that we have. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "framework_program.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/options/gpu_setup.h"
#include "harness/options/options.h"
#include "trace/record/leave_crash.h"

int runners_left_crash_begin(struct framework_program *program)
{
    static char library[PATH_MAX];
    char variable[96];

    if (!program->takes_library || program->framework->handles_signals ||
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

void runners_left_crash_read(struct framework_program *program)
{
    if (program->crash_file > 0)
        test_log_stacks_of_file(&program->stacks, program->crash_file);
}
