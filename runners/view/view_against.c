/* view_against.c: two runs side by side, as testlog report --against has them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/run/folder/list_runs.h"
#include "runners/against/against.h"
#include "runners/runs/find.h"
#include "view.h"

/* The runs, and that "after" was compared with "before". */
struct two {
    char after[NAME_MAX + 1], before[NAME_MAX + 1];
};

/* What is said instead, if the runs cannot be compared. */
static const char sorry[] =
    "<!doctype html><html lang=\"en\"><title>testlog</title>"
    "<p>These runs cannot be compared: no test ran in both, or one of them has "
    "no results. testlog report --against says which.</p>";

static int write_page(const struct view *view, const void *context, FILE *out)
{
    const struct two *two = context;
    char after[PATH_MAX], before[PATH_MAX], *old = before, *new = after;
    const struct recorded_runs runs = {.command = "view",
                                       .sides = {{&old, 1}, {&new, 1}}};
    struct against against;
    int status;

    if (!view_find_run(view, two->after, after) ||
        !view_find_run(view, two->before, before)) {
        errno = ENOENT;
        return -1;
    }
    status = runners_against_read(&against, &runs) ? 1 : 0;
    if (status)
        fputs(sorry, out);
    else
        runners_against_put(&against, out);
    runners_against_free(&against);
    return status;
}

/* Splits "NEW/against/OLD.html". */
static bool read_path(struct two *two, const char *path)
{
    static const char between[] = "/against/", suffix[] = ".html";
    const char *middle = strstr(path, between);
    size_t first = middle ? (size_t)(middle - path) : 0, last;

    if (!middle)
        return false;
    middle += strlen(between);
    last = strlen(middle);
    if (first > NAME_MAX || last > NAME_MAX || last <= strlen(suffix) ||
        strcmp(middle + last - strlen(suffix), suffix) != 0)
        return false;
    last -= strlen(suffix);
    memcpy(two->after, path, first);
    memcpy(two->before, middle, last);
    return test_log_is_run_name(two->after) &&
           test_log_is_run_name(two->before);
}

bool view_send_against(const struct view_request *request, const char *path,
                       view_result *result)
{
    struct two two = {"", ""};

    if (!read_path(&two, path))
        return false;
    if (request->in_place) {
        *result = view_send_ticket(request, path);
        return true;
    }
    *result = view_render(
        request, &(struct view_source){.write = write_page,
                                       .context = &two,
                                       .type = "text/html; charset=utf-8",
                                       .sandboxed = true});
    return true;
}
