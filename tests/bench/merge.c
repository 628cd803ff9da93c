/* merge.c: the time and the memory of merging the runs of many shards, which
 * tests/support/simulate.c makes of a real one. */
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { EACH = 100 /* tests of a shard */ };

/* Returns the nanoseconds that a shell command took. */
static double shell(const char *command)
{
    char name[] = "sh", flag[] = "-c";
    char *arguments[] = {name, flag, (char *)command, NULL};
    double from = now_ns();
    pid_t pid;
    int status;

    errno = posix_spawnp(&pid, name, NULL, NULL, arguments, environ);
    if (errno || waitpid(pid, &status, 0) != pid)
        bench_stop(command);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        errno = EINVAL;
        bench_stop(command);
    }
    return now_ns() - from;
}

/* Tells the commands where things are. */
static void name_folders(size_t shards)
{
    char where[PATH_MAX + 32], number[32];

    snprintf(where, sizeof(where), "%s-shards", bench_path());
    snprintf(number, sizeof(number), "%zu", shards);
    setenv("MERGE_RUNS", where, 1);
    setenv("MERGE_BENCH", bench_settings.programs, 1);
    setenv("MERGE_SHARDS", number, 1);
}

/* Makes the runs, once. */
static void make_runs(size_t shards)
{
    static size_t made;

    if (made == shards)
        return;
    made = shards;
    name_folders(shards);
    shell("rm -rf \"$MERGE_RUNS\" && "
          "\"$MERGE_BENCH/tests_logged\" -q --filter='*/test_0_0_*' "
          "--trace-dir=\"$MERGE_RUNS/real\" >/dev/null 2>&1 && "
          "\"$MERGE_BENCH/../simulate\" \"$MERGE_RUNS/real/\"2* "
          "\"$MERGE_RUNS/all\" $MERGE_SHARDS 100");
}

static double measure(const char *command, size_t tests)
{
    size_t shards = tests > EACH ? tests / EACH : 1;
    double ns;

    make_runs(shards);
    bench_pin(false);
    shell("rm -rf \"$MERGE_RUNS/merged\"");
    ns = shell(command);
    bench_pin(true);
    return ns / (double)(shards * EACH);
}

double bench_link_runs(size_t tests)
{
    return measure("cd \"$MERGE_RUNS\" && mkdir merged && "
                   "cp -rl all/* merged",
                   tests);
}

double bench_merge(size_t tests)
{
    return measure("cd \"$MERGE_RUNS\" && exec "
                   "\"$MERGE_BENCH/../peak\" peak "
                   "\"$MERGE_BENCH/../../testlog\" merge all/* -o merged "
                   ">/dev/null 2>&1",
                   tests);
}

double bench_merge_memory(void)
{
    char path[PATH_MAX + 64];
    double kib = -1024;
    FILE *file;

    snprintf(path, sizeof(path), "%s/peak", getenv("MERGE_RUNS"));
    file = fopen(path, "re");
    if (file && fscanf(file, "%lf", &kib) != 1)
        kib = -1024;
    if (file)
        fclose(file);
    return kib / 1024;
}

void bench_merge_end(void)
{

    shell("rm -rf \"$MERGE_RUNS\"");
}
