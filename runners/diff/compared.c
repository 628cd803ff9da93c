/* compared.c: reads two runs and compares them. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "compared.h"
#include "harness/machine/notice.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/strings.h"

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

/* Tests may be missing in a run that was interrupted. People may compare it on
 * a page, but no gate must pass by it. */
static bool refuse_interrupted(const char *command, const char *path,
                               const cJSON *head)
{
    const char *signal = runners_json_text(head, "interrupted");

    if (!signal || strcmp(command, "diff") != 0)
        return false;
    test_log_notice("%s: %s was interrupted by %s, so it is not finished; "
                    "testlog list shows which runs are",
                    command, runners_name_of(path), signal);
    return true;
}

/* Returns what the counts of a run depend on, to be freed; its results are
 * those of a side from `first` on. NULL if it has no counts. */
static char *counted_of(const cJSON *head, const struct test_log_run *side,
                        size_t first)
{
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(head, "host");
    const cJSON *versions = cJSON_GetObjectItemCaseSensitive(head, "versions");
    const char *processor = runners_json_text(host, "processor");
    const char *libc = runners_json_text(versions, "glibc");
    unsigned counter = TEST_LOG_COUNTER_NONE;
    char *text;

    for (size_t i = first; i < side->count && !counter; i++)
        counter = side->results[i].usage.counter;
    if (!counter ||
        asprintf(&text, "%s, glibc %s, %s", test_log_counter_words[counter],
                 libc ? libc : "unknown",
                 processor ? processor : "unknown processor") < 0)
        return NULL;
    return text;
}

/* Takes a text, and keeps the first two that differ. */
static void note_counted(struct compared *compared, char *text)
{
    if (text && !compared->counted[0])
        compared->counted[0] = text;
    else if (text && !compared->counted[1] &&
             strcmp(compared->counted[0], text) != 0)
        compared->counted[1] = text;
    else
        free(text);
}

static bool has_locked_clocks(const cJSON *head)
{
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(head, "gpu");

    return runners_json_text(gpu, "clocks") != NULL;
}

/* Adds the results of a run to those of its side. */
static int read_run(struct test_log_run *side, struct compared *compared,
                    int which, const char *command, const char *path)
{
    size_t first = side->count;
    struct run_file *file;
    cJSON *head;
    int status;

    free(side->path);
    side->path = strdup(path);
    file = side->path ? runners_run_file_open(side, "run.json") : NULL;
    if (!file)
        return refuse(command, path);
    if (refuse_interrupted(command, path, runners_run_file_head(file))) {
        runners_run_file_close(file);
        return -1;
    }
    head = cJSON_Duplicate(runners_run_file_head(file), true);
    compared->times[which] += runners_json_number(head, "duration_ns");
    status = runners_run_file_add(file, side) ? refuse(command, path) : 0;
    note_counted(compared, counted_of(head, side, first));
    compared->locked[which] |= has_locked_clocks(head);
    cJSON_Delete(head);
    return status;
}

static int read_side(struct compared *compared, struct pass_times *times,
                     const struct recorded_runs *runs, int which)
{
    struct test_log_run *side = which ? &compared->after : &compared->before;
    const struct run_paths *paths = &runs->sides[which];

    for (size_t i = 0; i < paths->count; i++) {
        size_t first = side->count;

        if (read_run(side, compared, which, runs->command, paths->all[i]))
            return -1;
        if (runners_pass_times_add_run(times, which, side, first)) {
            test_log_notice("%s: out of memory", runs->command);
            return -1;
        }
    }
    return 0;
}

/* Fills the names of all runs; -1 without memory. */
static int name_runs(char **names, const struct recorded_runs *runs)
{
    size_t next = 0;

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < runs->sides[side].count; i++) {
            char real[PATH_MAX];
            const char *path = runs->sides[side].all[i];

            if (realpath(path, real))
                path = real;
            if (!(names[next++] = strdup(trace_base_name(path))))
                return -1;
        }
    return 0;
}

static int remember(struct pass_times *times, const struct compared *compared,
                    const struct recorded_runs *runs)
{
    size_t count = runs->sides[0].count + runs->sides[1].count;
    char **names = calloc(count, sizeof(*names));
    int status = names ? name_runs(names, runs) : -1;

    if (!status)
        status = runners_pass_times_remember(times, &compared->after,
                                             (const char *const *)names, count);
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
    return status;
}

static int find_changes(struct compared *compared, struct pass_times *times,
                        const struct recorded_runs *runs)
{
    if (remember(times, compared, runs) ||
        runners_changes_find(&compared->changes, &compared->before,
                             &compared->after, times, compared->over))
        return -1;
    if (!runs->patterns)
        return 0;
    return runners_changes_select(&compared->changes, runs->patterns);
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

static int compare(struct compared *compared, struct pass_times *times,
                   const struct recorded_runs *runs)
{
    double over = compared->over;

    compared->apart =
        (!runs->any_flavour && have_different_flavours(compared)) ||
        compared->locked[0] != compared->locked[1] ||
        (runs->by == MEASURE_INSTRUCTIONS && compared->counted[1]);
    compared->changes.untimed = compared->apart;
    if (!find_changes(compared, times, runs) &&
        (compared->apart ||
         (!find_slowdowns(&compared->spans, STAT_SPAN, runs, over) &&
          (runs->by != MEASURE_TIME ||
           !find_slowdowns(&compared->kernels, STAT_KERNEL, runs, over)))))
        return 0;
    test_log_notice("%s: out of memory", runs->command);
    return -1;
}

int runners_compared_read(struct compared *compared,
                          const struct recorded_runs *runs, double over)
{
    struct pass_times times = {.by = runs->by};
    int status = -1;

    *compared = (struct compared){.over = over,
                                  .changes.any_flavour = runs->any_flavour};
    if (!read_side(compared, &times, runs, 0) &&
        !read_side(compared, &times, runs, 1))
        status = compare(compared, &times, runs);
    runners_pass_times_free(&times);
    return status;
}

void runners_compared_free(struct compared *compared)
{
    runners_slowdowns_free(&compared->spans);
    runners_slowdowns_free(&compared->kernels);
    runners_changes_free(&compared->changes);
    for (int i = 0; i < 2; i++)
        free(compared->counted[i]);
    test_log_run_free(&compared->before);
    test_log_run_free(&compared->after);
}
