/* steps.c: an annotated program without tests, whose arguments say what it
 * does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/log.h>

static void fork_one(void)
{
    pid_t child = fork();

    if (!child) {
        log_info("in a child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void start_itself(char **argv)
{
    pid_t child = fork();

    if (!child) {
        execl(argv[0], argv[0], "line", NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

static void record_elsewhere(void)
{
    if (trace_start("mine", NULL))
        exit(4);
    log_info("elsewhere");
    if (trace_stop())
        exit(5);
}

static void step(char **argv, const char *word)
{
    trace_span(INFO, "step", (word));
    if (!strcmp(word, "line"))
        log_debug("a line");
    else if (!strcmp(word, "fork"))
        fork_one();
    else if (!strcmp(word, "program"))
        start_itself(argv);
    else if (!strcmp(word, "exec"))
        execl(argv[0], argv[0], "line", NULL);
    else if (!strcmp(word, "start"))
        record_elsewhere();
    else if (!strcmp(word, "fill"))
        for (int i = 0; i < 100000; i++)
            log_trace("fills %d", i);
    else if (!strcmp(word, "die"))
        raise(SIGKILL);
    else if (!strcmp(word, "wait"))
        pause();
}

int main(int argc, char **argv)
{
    log_info("begins");
    for (int i = 1; i < argc; i++)
        step(argv, argv[i]);
    return 0;
}
