/* survivors.c: tests that leave processes behind. */
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <testlog/test_log.h>

static void record(int count)
{
    for (int i = 0; i < count; i++)
        log_info("line %d of the survivor", i);
}

/* Leaves a child that has recorded something before the test ends. */
static void leave_behind(useconds_t wait, int times, int count)
{
    int ends[2];
    char go;

    if (pipe(ends))
        return;
    if (!fork()) {
        close(ends[0]);
        close(STDOUT_FILENO); /* otherwise the runner's reader waits */
        close(STDERR_FILENO);
        log_info("begun");
        close(ends[1]);
        for (; times; times--) {
            usleep(wait);
            record(count);
        }
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &go, 1))
        _exit(1);
}

TEST_LOG(survivors, none)
{
    log_info("alone");
}

TEST_LOG(survivors, soon)
{
    leave_behind(50000, 1, 2000);
}

TEST_LOG(survivors, late)
{
    leave_behind(3000, 1000, 600);
}

/* A child that nobody waits for is a zombie. */
TEST_LOG(survivors, zombie)
{
    if (!fork()) {
        log_info("of a short child");
        _exit(0);
    }
    usleep(50000);
}

/* The first process of a PID namespace is number 1, like init. */
TEST_LOG(survivors, sandbox)
{
    int status;

    if (!fork()) {
        if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
            _exit(1);
        if (!fork()) {
            log_info("of number %d", (int)getpid());
            _exit(0);
        }
        _exit(wait(&status) < 0);
    }
    wait(&status);
    if (status)
        cr_skip_test("no permission to make a PID namespace");
}

/* When these end, the runner no longer waits for processes that others left
 * behind. */
/* Its child has a session of its own, keeps stdout and stderr, and writes its
 * id to the file "child". */
TEST_LOG(survivors, hangs_with_child, .timeout = 1)
{
    FILE *file;

    if (!fork()) {
        setsid();
        alarm(300);
        file = fopen("child", "w");
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
    for (;;)
        pause();
}

TEST_LOG(survivors, zz_long)
{
    usleep(1200000);
}

TEST_LOG(survivors, zz_longer)
{
    usleep(2000000);
}
