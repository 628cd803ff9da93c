/* log_follow.c: testlog log --follow: prints the lines of a run that may still
 * be running, soon after they were recorded.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/replay/replay.h"
#include "log_lines.h"
#include "runners/runners.h"
#include "trace/base/clock.h"

static const uint64_t scan_every = 200000000; /* ns: for new recordings */

/* ---- A recording ---- */

static int begin(struct recording *recording,
                 const struct log_settings *settings)
{
    struct trace_reader *reader = trace_reader_follow(recording->path);
    struct log_lines *lines;

    if (!reader && errno == ENOENT) {
        reader = runners_open(recording->path);
        recording->ended = true; /* it is compressed */
    }
    recording->unreadable = !reader;
    lines = reader ? malloc(sizeof(*lines)) : NULL;
    if (!lines) {
        trace_reader_close(reader);
        return -1;
    }
    recording->followed = lines;
    if (runners_lines_begin(lines, settings, reader))
        return -1;
    if (!recording->ended && !settings->style.span_events &&
        !log_replay_follows(lines->replay))
        trace_reader_skip_spans(reader);
    return 0;
}

static void end(struct recording *recording)
{
    recording->ended = true;
    if (recording->followed)
        runners_lines_end(recording->followed, recording);
    free(recording->followed);
    recording->followed = NULL;
}

/* Prints the new lines of a recording and returns whether it had any records.
 * One that cannot be read is gone. */
static bool print_new(struct recording *recording,
                      const struct log_settings *settings, bool several)
{
    struct log_lines *lines;
    int found;

    if (!recording->followed && begin(recording, settings)) {
        end(recording);
        return false;
    }
    lines = recording->followed;
    found = recording->ended
                ? 0
                : runners_follow_look(lines->reader, &recording->ended);
    runners_lines_print(lines, recording, several);
    if (found < 0 || recording->ended)
        end(recording);
    return found;
}

/* ---- A run ---- */

bool runners_log_has(const char *where, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/%s", where, name) < PATH_MAX &&
           !access(path, F_OK);
}

/* Returns the process that ends a run. The recordings name it; 0 if none does
 * yet. */
static int runner_of(const char *where)
{
    struct recordings all = {0};
    int runner = 0;

    runners_recordings_find(&all, where, NULL);
    for (size_t i = 0; i < all.count && !runner; i++) {
        struct trace_reader *reader = runners_open_beginning(all.all[i].path);
        const char *meta = reader ? trace_reader_meta(reader, "runner") : NULL;

        runner = meta ? atoi(meta) : 0;
        trace_reader_close(reader);
    }
    runners_recordings_free(&all);
    return runner;
}

/* Tells whether no further test will begin. A run that was killed has no
 * run.json, so its process is checked. `runner` is looked up once. */
static bool run_ended(const char *where, int *runner)
{
    if (!runners_log_has(where, "tests") || runners_log_has(where, "run.json"))
        return true;
    if (!*runner)
        *runner = runner_of(where);
    return *runner && runners_is_gone(*runner);
}

static bool all_ended(const struct recordings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (!found->all[i].ended)
            return false;
    return true;
}

/* A run that is followed. */
struct followed_run {
    struct recordings *found;
    const char *where;
    char **patterns;
    bool headed; /* has several tests, though only one may be known yet */
    bool said;   /* that there is nothing yet */
    bool ended;
    int runner;
};

static void say_what_is_waited_for(const struct followed_run *run)
{
    const char *pattern = *run->patterns;

    fprintf(stderr, "testlog: log: %s has no recording%s%s yet; waiting\n",
            run->where, pattern ? " of " : "", pattern ? pattern : "");
}

/* If the run has moved, continues in its new folder, and reads there the
 * recordings that were no longer readable. */
static void follow_move(struct followed_run *run)
{
    struct recordings *found = run->found;
    const char *to = runners_left_scratch(run->where);

    if (!to)
        return;
    runners_recordings_move(found, run->where, to);
    runners_recordings_retry(found);
    run->where = to;
}

/* Looks for new recordings. Whether the run has ended is known first, because
 * the last tests may begin meanwhile. */
static void scan(struct followed_run *run)
{
    run->ended = run_ended(run->where, &run->runner);
    if (!run->ended && !run->said)
        say_what_is_waited_for(run);
    run->said |= !run->ended;
    runners_recordings_retry(run->found);
    runners_recordings_find(run->found, run->where, run->patterns);
}

/* Prints the new lines of all tests and returns whether any had new records. */
static bool print_all_new(struct followed_run *run,
                          const struct log_settings *settings)
{
    struct recordings *found = run->found;
    bool several = run->headed || found->count > 1, any = false;

    for (size_t i = 0; i < found->count; i++)
        if (!found->all[i].ended)
            any |= print_new(&found->all[i], settings, several);
    runners_flush();
    return any;
}

void runners_log_follow(struct recordings *found, const char *where,
                        char **patterns, const struct log_settings *settings)
{
    struct followed_run run = {.found = found,
                               .where = where,
                               .patterns = patterns,
                               .headed = runners_log_has(where, "tests") &&
                                         !*patterns,
                               .said = found->count};
    uint64_t scanned = 0, paused = 0;

    for (;;) {
        uint64_t began = trace_clock_ns(CLOCK_MONOTONIC);
        bool any;

        if (began - scanned >= scan_every) {
            scan(&run);
            scanned = began;
        }
        any = print_all_new(&run, settings);
        follow_move(&run);
        if (ferror(stdout) || (run.ended && all_ended(found)))
            break;
        paused = runners_follow_pause(paused, began, any);
    }
    for (size_t i = 0; i < found->count; i++)
        if (!found->all[i].ended)
            end(&found->all[i]);
}
