/* shown_path.c: shortens the paths that people read. */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/session.h"
#include "trace/base/strings.h"

/* Whether the path may leave a folder after entering it. */
static bool has_parent(const char *path)
{
    return strstr(path, "/../");
}

const char *test_log_shown_path(const char *path, char *buffer)
{
    char folder[PATH_MAX];
    const char *inner;

    if (path[0] != '/' || !getcwd(folder, sizeof(folder)))
        return path;
    inner = has_parent(path) ? NULL : trace_path_below(path, folder);
    /* Compilers may have been given a link, or a path through "..". */
    if (!inner && realpath(path, buffer))
        inner = trace_path_below(buffer, folder);
    return inner ? inner : path;
}

static bool whole;

void test_log_show_whole_files(void)
{
    whole = true;
}

const char *test_log_shown_file(const char *path, char *buffer)
{
    return whole || test_log_session()->whole_files
               ? path
               : test_log_shown_path(path, buffer);
}
