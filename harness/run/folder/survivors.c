/* survivors.c: finds processes that outlive the test that started them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/files/writers.h"
#include "survivors.h"

enum { NAMED = 3, NS = 1000000000 /* of a second */ };

/* A process, as /proc shows it. */
struct process {
    char state;
    unsigned long long started; /* clock ticks */
};

static bool read_process(uint32_t pid, struct process *process)
{
    char path[32], line[512] = "";
    const char *name_end;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return false;
    /* "1 (name) S ..."; a name may contain anything. */
    name_end = memrchr(line, ')', fread(line, 1, sizeof(line) - 1, file));
    fclose(file);
    return name_end &&
           sscanf(name_end,
                  ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
                  "%*d %*d %*d %*d %*d %llu",
                  &process->state, &process->started) == 2;
}

/* Whether a process is alive and not a zombie. A process older than the run is
 * not the one that recorded: the id comes from another PID namespace. `begun`
 * is on CLOCK_MONOTONIC, in ns. */
static bool is_alive(uint32_t pid, uint64_t begun)
{
    struct process process;

    if (kill((pid_t)pid, 0) && errno != EPERM)
        return false;
    if (!read_process(pid, &process))
        return true;
    return process.state != 'Z' && process.state != 'X' &&
           (process.started + 1) * (NS / (unsigned long)sysconf(_SC_CLK_TCK)) >=
               begun;
}

static bool is_first_of_process(const struct trace_reader *reader, size_t at)
{
    uint32_t pid = trace_reader_thread(reader, at)->pid;

    for (size_t i = 0; i < at; i++)
        if (trace_reader_thread(reader, i)->pid == pid)
            return false;
    return true;
}

size_t test_log_survivors(struct trace_text *names,
                          const struct trace_reader *reader)
{
    const struct trace_summary summary = trace_reader_summary(reader);
    const struct trace_thread *thread;
    size_t count = 0;

    for (size_t i = 0; (thread = trace_reader_thread(reader, i)); i++) {
        if (thread->pid == summary.pid || !is_first_of_process(reader, i) ||
            !is_alive(thread->pid, summary.origin.monotonic))
            continue;
        count++;
        if (names && count <= NAMED)
            trace_text_printf(names, "%s%u (%s)", count > 1 ? ", " : "",
                              thread->pid, thread->name);
    }
    if (names && count > NAMED)
        trace_text_printf(names, " and %zu more", count - NAMED);
    return count;
}

bool test_log_add_living(struct trace_text *ids,
                         const struct trace_reader *reader)
{
    const struct trace_summary summary = trace_reader_summary(reader);
    const struct trace_thread *thread;
    uint32_t last = summary.pid;
    bool others = false;

    for (size_t i = 0; (thread = trace_reader_thread(reader, i)); i++) {
        if (thread->pid == last || thread->pid == summary.pid)
            continue;
        last = thread->pid;
        others = true;
        if (is_alive(last, summary.origin.monotonic))
            trace_text_printf(ids, " %u ", last);
    }
    return others;
}
