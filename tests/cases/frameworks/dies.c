/* dies.c: dies as its first argument says, without a test framework. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int *volatile nothing;

static __attribute__((noinline)) void crash(void)
{
    *nothing = 1;
}

static void *crash_in_thread(void *unused)
{
    crash();
    return unused;
}

static void all_at_once(void)
{
    pthread_t threads[8];

    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, crash_in_thread, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

static volatile char depth;

static int overflow(volatile char *from)
{
    volatile char room[4096];

    room[0] = *from;
    return overflow(room) + room[0];
}

static void handle(int number)
{
    _exit(number);
}

static int in_child(int asked)
{
    pid_t child = fork();
    int status;

    if (!child) {
        if (asked)
            execlp("sh", "sh", "-c", "kill -SEGV $$", NULL);
        crash();
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? 0 : 1;
}

static void print_variables(char **variables)
{
    for (; *variables; variables++)
        if (!strncmp(*variables, "LD_PRELOAD=", 11) ||
            !strncmp(*variables, "TESTLOG_CRASH=", 14))
            puts(*variables);
}

int main(int argc, char **argv, char **variables)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (!strcmp(how, "null"))
        crash();
    if (!strcmp(how, "threads"))
        all_at_once();
    if (!strcmp(how, "overflow"))
        return overflow(&depth);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "moved") && !chdir("/")) {
        for (int fd = 3; fd < 1000; fd++)
            close(fd);
        crash();
    }
    if (!strcmp(how, "handler")) {
        signal(SIGSEGV, handle);
        crash();
    }
    if (!strcmp(how, "fork") || !strcmp(how, "exec"))
        return in_child(how[0] == 'e');
    if (!strcmp(how, "variables")) {
        print_variables(variables);
        fflush(stdout);
        return system("env | grep -e ^LD_PRELOAD= -e ^TESTLOG_CRASH=") < 0;
    }
    return 0;
}
