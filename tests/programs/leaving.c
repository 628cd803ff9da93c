/* leaving.c: tests that start processes and do not wait for them. Each process
 * adds its id to the file "pids". */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

/* Nobody waits for its output. */
static void live(void)
{
    int fd = open("pids", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    char text[32];
    int size = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

    if (write(fd, text, (size_t)size) != size)
        _exit(1);
    close(fd);
    for (int i = 0; i < 3; i++)
        close(i);
    for (;;)
        pause();
}

static void start_child(void)
{
    if (!fork())
        live();
}

/* Its parent dies, and it has a session of its own. */
static void start_daemon(void)
{
    if (fork())
        return;
    setsid();
    if (!fork())
        live();
    _exit(0);
}

static void start_stubborn(void)
{
    if (fork())
        return;
    signal(SIGTERM, SIG_IGN);
    live();
}

/* A program that inherits only the environment. */
static void start_program(void)
{
    if (fork())
        return;
    setsid();
    if (fork())
        _exit(0);
    execl("/bin/sh", "sh", "-c",
          "echo $$ >>pids; exec sleep 300 >/dev/null 2>&1 </dev/null", NULL);
    _exit(1);
}

static void await(int count)
{
    for (int i = 0; i < 1000; i++) {
        FILE *file = fopen("pids", "re");
        int lines = 0, c;

        while (file && (c = fgetc(file)) != EOF)
            lines += c == '\n';
        if (file)
            fclose(file);
        if (lines >= count)
            return;
        usleep(10000);
    }
}

static void start_all(void)
{
    start_child();
    start_daemon();
    start_stubborn();
    start_program();
    await(4);
}

TEST_LOG(leaving, hangs, .timeout = 5)
{
    start_all();
    for (;;)
        pause();
}

/* The tested code sees what it would see elsewhere: an orphan's parent is that
 * of the file "init". */
TEST_LOG(leaving, sees_no_difference)
{
    int status;
    pid_t child = fork();

    if (!child) {
        pid_t parent = getpid();

        if (fork())
            _exit(3);
        while (getppid() == parent)
            usleep(1000);
        execl("/bin/sh", "sh", "-c", "echo $PPID >orphan", NULL);
    }
    cr_expect_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(WEXITSTATUS(status), 3);
    cr_expect_eq(waitpid(-1, &status, WNOHANG), -1);
    cr_expect_eq(getpgrp(), getpid());
    for (int i = 0; access("orphan", F_OK) && i < 1000; i++)
        usleep(10000);
}

TEST_LOG(leaving, leaves_child)
{
    start_child();
    await(1);
}

TEST_LOG(leaving, leaves_daemon)
{
    start_daemon();
    wait(NULL);
    await(1);
}

TEST_LOG(leaving, leaves_nothing)
{
    if (!fork())
        _exit(0);
    wait(NULL);
}

Test(leaving, is_not_annotated)
{
    start_child();
    await(1);
}
