/* loaded_files.c: which files a program loads. */
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "recorded_run.h"
#include "runners/find/command_output.h"
#include "trace/base/containers.h"
#include "trace/base/text.h"

/* Takes the path out of a line such as "\tlibc.so.6 => /lib/libc.so.6 (0x7f)";
 * NULL if there is none. */
static char *path_in(char *line)
{
    char *path = strchr(line, '/');
    char *end = path ? strstr(path, " (") : NULL;

    if (end)
        *end = '\0';
    return path && path > line && path[-1] == '.' ? path - 1 : path;
}

char **runners_loaded_files(const char *program)
{
    struct trace_text command = {0}, answer = {0};
    char **files = NULL, *line, *rest, *path;
    size_t count = 0, capacity = 0;

    trace_text_string(&command, "p=$(command -v -- ");
    test_log_add_word(&command, program);
    trace_text_string(&command, ") && echo \"$p\" && ldd \"$p\" 2>/dev/null");
    if (!command.failed)
        runners_command_text(command.data, &answer);
    for (rest = answer.data; (line = strsep(&rest, "\n"));) {
        path = path_in(line);
        if (!TRACE_ARRAY_RESERVE(files, capacity, count + 2))
            break;
        if (path && (files[count] = strdup(path)))
            count++;
        files[count] = NULL;
    }
    trace_text_free(&command);
    trace_text_free(&answer);
    return files ? files : calloc(1, sizeof(*files));
}

void runners_free_files(char **files)
{
    for (size_t i = 0; files && files[i]; i++)
        free(files[i]);
    free(files);
}
