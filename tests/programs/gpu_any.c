/* gpu_any.c: a program without testlog. Its arguments are its actions, in
 * order: init, child, pause, exit=N, kill=N. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_init.h"

static volatile sig_atomic_t caught;

static void catch (int number)
{
    caught = number;
}

static void child(void)
{
    pid_t pid = fork();

    if (!pid) {
        gpu_init();
        exit(0);
    }
    waitpid(pid, NULL, 0);
}

/* Waits for a signal. */
static void wait_long(void)
{
    struct sigaction action = {.sa_handler = catch};
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    puts("ready");
    fflush(stdout);
    while (!caught)
        sigsuspend(&none);
    printf("caught %d\n", (int)caught);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "init"))
            gpu_init();
        else if (!strcmp(argv[i], "child"))
            child();
        else if (!strcmp(argv[i], "pause"))
            wait_long();
        else if (!strncmp(argv[i], "exit=", 5))
            return atoi(argv[i] + 5);
        else if (!strncmp(argv[i], "kill=", 5))
            raise(atoi(argv[i] + 5));
    }
    return 0;
}
