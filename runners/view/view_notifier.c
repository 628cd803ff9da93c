/* view_notifier.c: finds out when a run or a test begins or ends.
 *
 * A run's end renames files into the folder of the runs. In one that goes on,
 * tests make folders when they begin, and lines of results.jsonl when they end.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/scratch.h"
#include "view.h"

enum { RUNS_WATCHED = 8 /* the latest of those that go on */ };

/* Watches a folder; false if there is none. */
static bool add(struct view *view, const char *path, uint32_t events)
{
    int number = inotify_add_watch(view->notifier, path,
                                   events | IN_ONLYDIR | IN_DONT_FOLLOW);

    if (number > view->watched) {
        view->watched = number;
        view_changed(view); /* something may have come before */
    }
    return number >= 0;
}

static int is_program(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void watch_programs(struct view *view, const char *tests)
{
    struct dirent **entries;
    int count = scandir(tests, &entries, is_program, NULL);
    char path[PATH_MAX];

    for (int i = 0; i < count; i++) {
        if (snprintf(path, sizeof(path), "%s/%s", tests, entries[i]->d_name) <
            PATH_MAX)
            add(view, path, IN_CREATE);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void watch_run(struct view *view, const char *run)
{
    char path[PATH_MAX];

    add(view, run, IN_CREATE | IN_MODIFY | IN_MOVED_TO);
    if (snprintf(path, sizeof(path), "%s/tests", run) < PATH_MAX &&
        add(view, path, IN_CREATE))
        watch_programs(view, path);
}

/* Finds the folder in which a run is recorded; false if it has ended or is
 * recorded elsewhere. It prints nothing, because it looks each second. */
static bool is_recorded_in(const struct view *view, const char *name,
                           char path[PATH_MAX])
{
    char scratch[TEST_LOG_SCRATCH_SIZE];
    enum test_log_scratch_place place = TEST_LOG_SCRATCH_GONE;
    int run = openat(view->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

    if (run < 0)
        return false;
    if (faccessat(run, "run.json", F_OK, AT_SYMLINK_NOFOLLOW))
        place = test_log_scratch_of(run, scratch);
    close(run);
    if (place == TEST_LOG_SCRATCH_NONE)
        return snprintf(path, PATH_MAX, "%s/%s", view->folder, name) < PATH_MAX;
    return place == TEST_LOG_SCRATCH_HERE &&
           snprintf(path, PATH_MAX, "%s", scratch) < PATH_MAX;
}

void view_watch_runs(struct view *view)
{
    size_t count = 0, watched = 0;
    char **names = test_log_list_runs(view->dir, false, &count);
    char path[PATH_MAX];

    for (size_t i = 0; i < count && watched < RUNS_WATCHED; i++)
        if (is_recorded_in(view, names[i], path)) {
            watch_run(view, path);
            watched++;
        }
    test_log_free_names(names, count);
}

void view_begin_notifier(struct view *view)
{
    view->notifier = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (view->notifier >= 0)
        view->watched = inotify_add_watch(view->notifier, view->folder,
                                          IN_CREATE | IN_MOVED_TO |
                                              IN_MOVED_FROM | IN_DELETE);
    view_watch_runs(view);
}

void view_read_notifier(struct view *view)
{
    _Alignas(struct inotify_event) char events[4096];
    bool any = false;

    while (read(view->notifier, events, sizeof(events)) > 0)
        any = true;
    if (!any)
        return;
    view_changed(view);
    view_watch_runs(view);
}
