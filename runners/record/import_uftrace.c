/* import_uftrace.c: makes a recording of what uftrace has recorded.
 *
 * `uftrace dump` prints the entries and exits of each thread, in order:
 *
 *     reading 812.dat
 *     3202.690942990    812: [entry] main(55e53fe12268) depth: 0
 *
 * and the file task.txt tells which process a thread belongs to. Without a
 * symbol, the name is "<55e53fe12268>", and the file sid-SESSION.map has the
 * module of the address, as /proc/PID/maps does.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

enum {
    PROGRAM = sizeof(((struct imported *)NULL)->program),
    MAPPINGS_MOST = 4096,
};

/* A module of a process. */
struct mapping {
    uint32_t pid;
    uint64_t begin, end, offset; /* addresses, and the place in the file */
    char *name;
};

/* The open calls of a thread, by depth. */
struct calls {
    struct runners_made_recording *import;
    uint32_t *open; /* places; 0: unknown */
    size_t count, capacity;
    uint32_t tid, first_pid;
    struct trace_table processes; /* of threads */
    char *program;                /* its name */
    const char *folder;
    struct mapping *mappings;
    size_t mapping_count, mapping_capacity;
};

static FILE *open_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int fd = -1;
    FILE *file;

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) < PATH_MAX)
        fd = trace_open_regular(path);
    file = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

/* ---- Modules ---- */

/* Reads "55f1bf507000-55f1bf50c000 r-xp 00000000 00:00 0   /tmp/u build-id:8".
 */
static bool read_mapping(struct calls *calls, uint32_t pid, const char *line)
{
    struct mapping mapping = {.pid = pid};
    const char *path = strchr(line, '/');
    size_t count = calls->mapping_count;

    if (!path || count == MAPPINGS_MOST ||
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &mapping.begin,
               &mapping.end, &mapping.offset) != 3)
        return true;
    mapping.name = strndup(path, strcspn(path, " \n"));
    if (!mapping.name ||
        !TRACE_ARRAY_RESERVE(calls->mappings, calls->mapping_capacity,
                             count + 1)) {
        free(mapping.name);
        return false;
    }
    calls->mappings[calls->mapping_count++] = mapping;
    return true;
}

static bool read_session(struct calls *calls, uint32_t pid, const char *session)
{
    char name[64];
    FILE *file;
    size_t capacity = 0;
    char *line = NULL;
    bool ok = true;

    snprintf(name, sizeof(name), "sid-%.32s.map", session);
    file = open_in(calls->folder, name);
    while (ok && file && getline(&line, &capacity, file) >= 0)
        ok = read_mapping(calls, pid, line);
    if (file)
        fclose(file);
    free(line);
    return ok;
}

/* A forked child has the modules of the process that loaded them. */
static const struct mapping *find_mapping(const struct calls *calls,
                                          uint32_t pid, uint64_t address)
{
    const struct mapping *found = NULL;

    for (size_t i = 0; i < calls->mapping_count; i++) {
        const struct mapping *one = &calls->mappings[i];

        if (address >= one->begin && address < one->end &&
            (!found || one->pid == pid))
            found = one;
    }
    return found;
}

/* Names a function without a symbol, such as "<55e53fe12268>"; false if the
 * name is not one. */
static bool name_place(const struct calls *calls, const char *name,
                       struct trace_text *text)
{
    const struct mapping *mapping;
    uintptr_t pid = calls->tid;
    uint64_t address;
    int end = 0;

    if (sscanf(name, "<%" SCNx64 ">%n", &address, &end) != 1 || !end ||
        name[end])
        return false;
    trace_table_find(&calls->processes, calls->tid, &pid);
    mapping = find_mapping(calls, (uint32_t)pid, address);
    if (mapping)
        trace_text_printf(text, "%s+0x%" PRIx64, trace_base_name(mapping->name),
                          address - mapping->begin + mapping->offset);
    return mapping;
}

/* ---- Processes ---- */

/* "TASK timestamp=T tid=812 pid=810" or "FORK timestamp=T pid=812 ppid=810" */
static bool read_task(struct calls *calls, const char *line)
{
    unsigned tid, pid;
    char session[33];
    const char *path = strstr(line, " exename=\"");

    if (path && !calls->program[0])
        snprintf(calls->program, PROGRAM, "%.*s",
                 (int)strcspn(trace_base_name(path + 10), "\"\n"),
                 trace_base_name(path + 10));
    if (sscanf(line, "TASK timestamp=%*[0-9.] tid=%u pid=%u", &tid, &pid) == 2)
        return trace_table_set(&calls->processes, tid, pid);
    if (sscanf(line, "SESS timestamp=%*[0-9.] pid=%u sid=%32[0-9a-f]", &pid,
               session) == 2)
        return read_session(calls, pid, session);
    if (sscanf(line, "FORK timestamp=%*[0-9.] pid=%u", &pid) == 1)
        return trace_table_set(&calls->processes, pid, pid);
    return true;
}

static bool read_tasks(struct calls *calls)
{
    FILE *file = open_in(calls->folder, "task.txt");
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
    runners_made_thread(calls->import, pid, tid,
                        pid == tid ? calls->program : "");
}

/* Ends calls that are deeper: longjmp leaves no exits. */
static void leave_until(struct calls *calls, size_t depth, uint64_t time)
{
    while (calls->count > depth)
        runners_made_end(calls->import, calls->open[--calls->count], time);
}

static bool enter(struct calls *calls, const char *name, size_t depth,
                  uint64_t time)
{
    struct trace_text place = {0};
    uint32_t parent;

    leave_until(calls, depth, time);
    if (!TRACE_ARRAY_RESERVE(calls->open, calls->capacity, depth + 1))
        return false;
    while (calls->count < depth) /* entries that were lost */
        calls->open[calls->count++] = 0;
    parent = depth ? calls->open[depth - 1] : 0;
    if (name_place(calls, name, &place) && place.data)
        name = place.data;
    calls->open[calls->count++] =
        runners_made_begin(calls->import, name, time, parent);
    trace_text_free(&place);
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
                          .program = imported->program,
                          .folder = data};
    char *fault = NULL;

    if (!read_tasks(&calls))
        fault = strdup("its task.txt cannot be read");
    if (!fault)
        fault = read_calls(&calls, data);
    if (!fault && !calls.import->site_count)
        fault = strdup("it has no calls");
    imported->pid = calls.first_pid;
    trace_table_free(&calls.processes);
    for (size_t i = 0; i < calls.mapping_count; i++)
        free(calls.mappings[i].name);
    free(calls.mappings);
    free(calls.open);
    return fault;
}
