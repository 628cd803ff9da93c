/* races.c: reports the data races that valgrind found in a test, each as a
 * failed assertion at the place of one access that names the other.
 *
 * With --races, each worker's valgrind writes a log of its own, "WORKER", and
 * that of a forked child one that the child renames to "WORKER.CHILD". A log
 * that is there when a worker is gone has not been reported.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/event.h>

#include "harness/session.h"
#include "harness/worker/worker.h"

static FILE *valgrind_log;
static char log_path[PATH_MAX / 2]; /* of the worker, also in its children */

static void rename_in_child(void)
{
    char path[PATH_MAX], name[PATH_MAX];
    int folder = (int)(strrchr(log_path, '/') - log_path);

    snprintf(path, sizeof(path), "%.*s/%ld", folder, log_path, (long)getpid());
    snprintf(name, sizeof(name), "%s.%ld", log_path, (long)getpid());
    rename(path, name);
}

void test_log_races_watch(void)
{
    const char *folder = test_log_session()->races;

    if (!folder || !folder[0] || valgrind_log ||
        snprintf(log_path, sizeof(log_path), "%s/%ld", folder,
                 (long)getpid()) >= (int)sizeof(log_path))
        return;
    valgrind_log = fopen(log_path, "re");
    if (valgrind_log)
        pthread_atfork(NULL, NULL, rename_in_child);
}

void test_log_races_print(void)
{
    char bytes[4096];
    ssize_t got;

    while (valgrind_log &&
           (got = read(fileno(valgrind_log), bytes, sizeof(bytes))) > 0 &&
           write(STDERR_FILENO, bytes, (size_t)got) == got)
        continue;
}

static void send(struct test_log_races *races, const char *text,
                 const char *file, unsigned line)
{
    struct criterion_assert_stats stats = {
        .message = text, .line = line, .file = file};

    (void)races;
    criterion_send_assert(&stats);
}

struct test_log_races test_log_races_report(void)
{
    struct test_log_races races = {.echo = stderr};

    if (valgrind_log) {
        test_log_race_log_read(&races, valgrind_log, getpid(), send);
        unlink(log_path);
        test_log_race_log_children(&races, log_path, getpid(), send);
    }
    return races;
}
