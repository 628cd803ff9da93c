/* processes.c: reads /proc. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stacks.h"

bool stacks_read(char *text, size_t size, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    ssize_t got;
    int fd;

    va_start(args, format);
    memcpy(path, "/proc/", 6);
    vsnprintf(path + 6, sizeof(path) - 6, format, args);
    va_end(args);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, size - 1);
    close(fd);
    if (got < 0)
        return false;
    text[got] = '\0';
    return true;
}

/* A name may contain spaces and parentheses. */
bool stacks_status_of(struct stacks_status *status, const char *path)
{
    char text[512], *begin, *end;
    int parent, group, session;

    *status = (struct stacks_status){0};
    if (!stacks_read(text, sizeof(text), "%s/stat", path))
        return false;
    begin = strchr(text, '(');
    end = strrchr(text, ')');
    if (!begin || !end ||
        sscanf(end + 1, " %c %d %d %d", &status->state, &parent, &group,
               &session) != 4)
        return false;
    snprintf(status->name, sizeof(status->name), "%.*s", (int)(end - begin - 1),
             begin + 1);
    stacks_replace_tabs(status->name);
    status->parent = parent;
    status->session = session;
    return true;
}

size_t stacks_numbers(const char *folder, pid_t *numbers, size_t room)
{
    char path[PATH_MAX];
    const struct dirent *entry;
    size_t count = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%s", folder);
    dir = opendir(path);
    while (dir && count < room && (entry = readdir(dir)))
        if (isdigit((unsigned char)entry->d_name[0]))
            numbers[count++] = (pid_t)atol(entry->d_name);
    if (dir)
        closedir(dir);
    return count;
}

/* ---- Descendants ---- */

enum { DEPTH = 64, SCANNED = 1 << 16 };

static bool status_of(struct stacks_status *status, pid_t process)
{
    char path[32];

    snprintf(path, sizeof(path), "%d", (int)process);
    return stacks_status_of(status, path);
}

static bool descends(pid_t process, pid_t root)
{
    struct stacks_status status;

    for (int i = 0; i < DEPTH && process > 1; i++) {
        if (!status_of(&status, process))
            return false;
        if (status.parent == root || status.session == root)
            return true;
        process = status.parent;
    }
    return false;
}

size_t stacks_processes(pid_t root, pid_t *processes, size_t room)
{
    pid_t *all = calloc(SCANNED, sizeof(*all));
    size_t scanned = all ? stacks_numbers("", all, SCANNED) : 0, count = 0;

    processes[count++] = root;
    for (size_t i = 0; i < scanned && count < room; i++)
        if (all[i] != root && all[i] != getpid() && descends(all[i], root))
            processes[count++] = all[i];
    free(all);
    return count;
}
