/* compared.c: reads two runs and compares them. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "compared.h"
#include "harness/results/folder/notice.h"
#include "harness/results/history/history.h"
#include "runners/find/find.h"
#include "runners/find/run_json.h"

static int refuse(const char *command, const char *path)
{
    if (errno == ENOENT)
        test_log_notice("%s: %s has no run.json, so it is not finished; "
                        "testlog list shows which runs are",
                        command, runners_name_of(path));
    else
        test_log_notice("%s: cannot read %s/run.json: %s; testlog list shows "
                        "which runs are finished",
                        command, runners_name_of(path),
                        errno == EBADMSG ? "it is damaged" : strerror(errno));
    return -1;
}

static int read_run(struct test_log_run *run, uint64_t *time,
                    const char *command, const char *path)
{
    struct run_file *file;

    run->path = strdup(path);
    file = run->path ? runners_run_file_open(run, "run.json") : NULL;
    if (!file)
        return refuse(command, path);
    *time = runners_json_number(runners_run_file_head(file), "duration_ns");
    return runners_run_file_add(file, run) ? refuse(command, path) : 0;
}

/* Reads the history beside a run. */
static void read_history(struct test_log_history *history,
                         const struct test_log_run *run)
{
    char real[PATH_MAX],
        *dir = realpath(run->path, real) ? dirname(real) : NULL;

    test_log_history_open(history, dir, NULL, test_log_run_flavour(run));
    for (size_t i = 0; i < run->count; i++)
        if (!test_log_history_has(history, run->results[i].program))
            test_log_history_read(history, run->results[i].program);
}

static int find_changes(struct compared *compared, char **patterns)
{
    struct test_log_history history;
    int status;

    read_history(&history, &compared->after);
    status = runners_changes_find(&compared->changes, &compared->before,
                                  &compared->after, &history);
    test_log_history_free(&history);
    if (status || !patterns)
        return status;
    return runners_changes_select(&compared->changes, patterns);
}

static int find_slowdowns(struct slowdowns *slowdowns, enum stat_table table,
                          const struct recorded_runs *runs, double over)
{
    if (runners_slowdowns_read(slowdowns, table, runs))
        return -1;
    return runners_slowdowns_compare(slowdowns, over);
}

static bool have_different_flavours(const struct compared *compared)
{
    const char *before = test_log_run_flavour(&compared->before);
    const char *after = test_log_run_flavour(&compared->after);

    return before && after && strcmp(before, after) != 0;
}

int runners_compared_read(struct compared *compared,
                          const struct recorded_runs *runs, double over)
{
    *compared = (struct compared){.changes.any_flavour = runs->any_flavour};
    if (read_run(&compared->before, &compared->times[0], runs->command,
                 runs->paths[0]) ||
        read_run(&compared->after, &compared->times[1], runs->command,
                 runs->paths[1]))
        return -1;
    compared->apart = !runs->any_flavour && have_different_flavours(compared);
    if (!find_changes(compared, runs->patterns) &&
        (compared->apart ||
         (!find_slowdowns(&compared->spans, STAT_SPAN, runs, over) &&
          !find_slowdowns(&compared->kernels, STAT_KERNEL, runs, over))))
        return 0;
    test_log_notice("%s: out of memory", runs->command);
    return -1;
}

void runners_compared_free(struct compared *compared)
{
    runners_slowdowns_free(&compared->spans);
    runners_slowdowns_free(&compared->kernels);
    runners_changes_free(&compared->changes);
    test_log_run_free(&compared->before);
    test_log_run_free(&compared->after);
}
