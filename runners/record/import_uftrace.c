/* import_uftrace.c: makes a recording of what uftrace has recorded.
 *
 * `uftrace dump` prints the entries and exits of each thread, in order:
 *
 *     reading 812.dat
 *     3202.690942990    812: [entry] main(55e53fe12268) depth: 0
 *
 * and the file task.txt tells which process a thread belongs to.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

enum { PROGRAM = sizeof(((struct imported *)NULL)->program) };

/* The open calls of a thread, by depth. */
struct calls {
    struct trace_import *import;
    uint32_t *open; /* places; 0: unknown */
    size_t count, capacity;
    uint32_t tid, first_pid;
    struct trace_table processes; /* of threads */
    char *program;                /* its name */
};

/* ---- Processes ---- */

/* "TASK timestamp=T tid=812 pid=810" or "FORK timestamp=T pid=812 ppid=810" */
static bool read_task(struct calls *calls, const char *line)
{
    unsigned tid, pid;
    const char *path = strstr(line, " exename=\"");

    if (path && !calls->program[0])
        snprintf(calls->program, PROGRAM, "%.*s",
                 (int)strcspn(trace_base_name(path + 10), "\"\n"),
                 trace_base_name(path + 10));
    if (sscanf(line, "TASK timestamp=%*[0-9.] tid=%u pid=%u", &tid, &pid) == 2)
        return trace_table_set(&calls->processes, tid, pid);
    if (sscanf(line, "FORK timestamp=%*[0-9.] pid=%u", &pid) == 1)
        return trace_table_set(&calls->processes, pid, pid);
    return true;
}

static FILE *open_tasks(const char *folder)
{
    char path[PATH_MAX];
    int fd = -1;
    FILE *file;

    if (snprintf(path, sizeof(path), "%s/task.txt", folder) < PATH_MAX)
        fd = trace_open_regular(path);
    file = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

static bool read_tasks(struct calls *calls, const char *folder)
{
    FILE *file = open_tasks(folder);
    size_t capacity = 0;
    char *line = NULL;
    bool ok = file;

    while (ok && getline(&line, &capacity, file) >= 0)
        ok = read_task(calls, line);
    if (file)
        fclose(file);
    free(line);
    return ok;
}

static uint32_t process_of(const struct calls *calls, uint32_t tid)
{
    uintptr_t pid;

    return trace_table_find(&calls->processes, tid, &pid) ? (uint32_t)pid : tid;
}

/* ---- Calls ---- */

static void begin_thread(struct calls *calls, uint32_t tid)
{
    uint32_t pid = process_of(calls, tid);

    if (tid == calls->tid)
        return;
    calls->tid = tid;
    calls->count = 0;
    if (!calls->first_pid)
        calls->first_pid = pid;
    trace_import_thread(calls->import, pid, tid,
                        pid == tid ? calls->program : "");
}

/* Ends calls that are deeper: longjmp leaves no exits. */
static void leave_until(struct calls *calls, size_t depth, uint64_t time)
{
    while (calls->count > depth)
        trace_import_end(calls->import, calls->open[--calls->count], time);
}

static bool enter(struct calls *calls, const char *name, size_t depth,
                  uint64_t time)
{
    uint32_t parent;

    leave_until(calls, depth, time);
    if (!TRACE_ARRAY_RESERVE(calls->open, calls->capacity, depth + 1))
        return false;
    while (calls->count < depth) /* entries that were lost */
        calls->open[calls->count++] = 0;
    parent = depth ? calls->open[depth - 1] : 0;
    calls->open[calls->count++] =
        trace_import_begin(calls->import, name, time, parent);
    return !calls->import->failed;
}

enum { DEPTH_MOST = 1 << 16 };

/* Reads "NAME(ADDRESS) depth: N"; returns N, or -1 if it is something else. */
static long split(char *call)
{
    char *depth = strstr(call, ") depth: "), *bracket;
    long number;

    if (!depth)
        return -1;
    *depth = '\0';
    number = strtol(depth + strlen(") depth: "), NULL, 10);
    bracket = strrchr(call, '(');
    if (bracket)
        *bracket = '\0';
    return bracket && number >= 0 && number < DEPTH_MOST ? number : -1;
}

/* Reads a line; true also if it is something else. */
static bool read_line(struct calls *calls, char *line)
{
    unsigned long long seconds, ns;
    unsigned tid;
    int at = 0;
    uint64_t time;
    long depth;

    if (sscanf(line, "%llu.%9llu %u: [%n", &seconds, &ns, &tid, &at) < 3 || !at)
        return true;
    time = seconds * 1000000000 + ns;
    begin_thread(calls, tid);
    if (strlen(line + at) < 7)
        return true;
    depth = split(line + at + 7);
    if (depth < 0)
        return true;
    if (!strncmp(line + at, "entry] ", 7))
        return enter(calls, line + at + 7, (size_t)depth, time);
    if (!strncmp(line + at, "exit ] ", 7))
        leave_until(calls, (size_t)depth, time);
    return true;
}

static char *read_calls(struct calls *calls, const char *folder)
{
    const char *const dump[] = {"uftrace", "dump", "-d", folder, NULL};
    FILE *output = runners_tool_open(dump, folder);
    char *line = NULL, *fault;
    size_t capacity = 0;
    bool ok = true;

    if (!output)
        return strdup(strerror(errno));
    while (ok && getline(&line, &capacity, output) >= 0)
        ok = read_line(calls, line);
    free(line);
    fault = runners_tool_close(output, "uftrace");
    if (!ok) {
        free(fault);
        return strdup("out of memory");
    }
    return fault;
}

char *runners_import_uftrace(const char *data, struct imported *imported)
{
    struct calls calls = {.import = &imported->recording,
                          .program = imported->program};
    char *fault = NULL;

    if (!read_tasks(&calls, data))
        fault = strdup("its task.txt cannot be read");
    if (!fault)
        fault = read_calls(&calls, data);
    if (!fault && !calls.import->site_count)
        fault = strdup("it has no calls");
    imported->pid = calls.first_pid;
    trace_table_free(&calls.processes);
    free(calls.open);
    return fault;
}
