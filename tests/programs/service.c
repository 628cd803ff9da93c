/* service.c: a program that runs until it is stopped, to be captured.
 * Arguments: what it does.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/log.h>

#include "gpu_init.h"

enum { PAUSE_US = 2000, THREADS = 4 };

static void serve(int number)
{
    trace_span(INFO, "request", ("number", number));
    log_info("request %d", number);
    log_debug("its detail");
}

static void serve_all(void)
{
    for (int i = 0;; i++) {
        serve(i);
        usleep(PAUSE_US);
    }
}

static void *serve_quickly(void *unused)
{
    for (int i = 0;; i++)
        serve(i);
    return unused;
}

/* The span is open when a capture begins or ends. */
static void serve_long(void)
{
    for (;;) {
        trace_span(INFO, "long");

        for (int i = 0; i < 400; i++) {
            serve(i);
            usleep(PAUSE_US);
        }
    }
}

static void be_idle(void)
{
    for (;;)
        pause();
}

static void serve_for_a_while(void)
{
    for (int i = 0; i < 500; i++) {
        serve(i);
        usleep(PAUSE_US);
    }
    _exit(0);
}

/* Its child goes on when it has ended. */
static void fork_child(void)
{
    if (!fork()) {
        printf("%ld\n", (long)getpid());
        fflush(stdout);
        alarm(60);
        serve_all();
    }
    serve_all();
}

static void record_itself(void)
{
    if (trace_start("own", NULL))
        perror("trace_start");
    serve_all();
}

/* Starts and stops the server, as a program would. */
static void ask_for_clients(void)
{
    char path[] = "asked.sock";

    printf("stop without start: %d\n", trace_server_stop());
    printf("start: %d\n", trace_server_start(path));
    printf("again: %d\n", trace_server_start(path));
    printf("stop: %d\n", trace_server_stop());
    printf("socket: %d\n", access(path, F_OK));
    printf("start: %d\n", trace_server_start(path));
    fflush(stdout);
    serve_all();
}

static void be_quick(void)
{
    pthread_t thread;

    for (int i = 1; i < THREADS; i++)
        pthread_create(&thread, NULL, serve_quickly, NULL);
    serve_quickly(NULL);
}

/* Closes all descriptors, as a daemon does, and opens its own in their place;
 * its child must have them. */
static void close_all(void)
{
    int status, last = 0;

    for (int fd = 3; fd < 64; fd++)
        close(fd);
    while (last < 63)
        last = dup(STDERR_FILENO);
    if (!fork()) {
        int count = 0;

        for (int fd = 3; fd < 64; fd++)
            count += fcntl(fd, F_GETFD) >= 0;
        _exit(count);
    }
    wait(&status);
    printf("%d\n", WEXITSTATUS(status));
    printf("%d\n", trace_server_stop());
    exit(0);
}

/* Serves until the file "go" exists. */
static void serve_until_go(void)
{
    for (int i = 0; access("go", F_OK); i++) {
        serve(i);
        usleep(PAUSE_US);
    }
}

/* Closes all descriptors during a capture, and opens a file in place of each.
 */
static void replace_all(void)
{
    int last;

    serve_until_go();
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    last = open("precious", O_RDWR | O_CLOEXEC);
    while (last > 0 && last < 63)
        last = dup(last);
    unlink("go");
    serve_all();
}

/* Its child is born during a capture, and outlives it. */
static void fork_later(void)
{
    serve_until_go();
    if (!fork()) {
        unlink("go");
        alarm(60);
        be_idle();
    }
    serve_all();
}

static void use_gpu(void)
{
    gpu_init();
    for (;;) {
        trace_span(INFO, "request");

        gpu_launch(1);
        usleep(PAUSE_US);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    {"serve", serve_all},       {"long", serve_long}, {"idle", be_idle},
    {"end", serve_for_a_while}, {"fork", fork_child}, {"record", record_itself},
    {"asked", ask_for_clients}, {"quick", be_quick},  {"close", close_all},
    {"replace", replace_all},   {"born", fork_later}, {"gpu", use_gpu},
};

int main(int argc, char **argv)
{
    alarm(120); /* a test that died would leave us */
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (argc == 2 && !strcmp(argv[1], parts[i].name))
            parts[i].run();
    return 2;
}
