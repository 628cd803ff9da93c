/* crasher.c: a program that a test starts, and that crashes as its argument
 * says. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <testlog/trace.h>

__attribute__((noinline)) static void crash_in_helper(volatile int *at)
{
    trace_function(INFO);
    *at = (int)getpid(); /* cppcheck-suppress nullPointer */
}

static void leave(int number)
{
    (void)number;
    _exit(7);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (!strcmp(how, "handled"))
        signal(SIGSEGV, leave);
    if (!strcmp(how, "ignored"))
        raise(SIGABRT); /* it goes on: its parent has this signal ignored */
    else
        crash_in_helper(NULL);
    return 0;
}
