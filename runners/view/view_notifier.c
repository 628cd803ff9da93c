/* view_notifier.c: finds out when a run or a test begins or ends.
 *
 * A run's end renames files into the folder of the runs. In one that goes on,
 * tests make folders when they begin, and lines of results.jsonl when they end.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "harness/results/folder/list_runs.h"
#include "view.h"

enum { RUNS_WATCHED = 8 /* the latest of those that go on */ };

/* Watches a folder, if it is not watched yet. */
static void add(struct view *view, const char *path, uint32_t events)
{
    int number = inotify_add_watch(view->notifier, path,
                                   events | IN_ONLYDIR | IN_DONT_FOLLOW);

    if (number <= view->watched)
        return;
    view->watched = number;
    view_changed(view); /* something may have come before */
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
    if (snprintf(path, sizeof(path), "%s/tests", run) >= PATH_MAX)
        return;
    add(view, path, IN_CREATE);
    watch_programs(view, path);
}

static bool has_ended(const struct view *view, const char *run)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/run.json", run) >= PATH_MAX ||
           !faccessat(view->dir, path, F_OK, 0);
}

void view_watch_runs(struct view *view)
{
    size_t count = 0, watched = 0;
    char **names = test_log_list_runs(view->dir, false, &count);
    char path[PATH_MAX];

    for (size_t i = 0; i < count && watched < RUNS_WATCHED; i++)
        if (!has_ended(view, names[i]) && view_find_run(view, names[i], path)) {
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
