/* survivors.c: finds processes that outlive the test that started them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

enum { NAMED = 3 };

/* Whether a process is alive and no zombie, which nobody may wait for. */
static bool is_alive(uint32_t pid)
{
    char path[32], state = 0;
    FILE *file;

    if (kill((pid_t)pid, 0) && errno != EPERM)
        return false;
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    file = fopen(path, "re");
    if (file) { /* "1 (name) S ..."; a name may have anything */
        char line[128] = "";
        size_t size = fread(line, 1, sizeof(line) - 1, file);
        const char *name_end = memrchr(line, ')', size);

        state = name_end && name_end[1] == ' ' ? name_end[2] : 0;
        fclose(file);
    }
    return state != 'Z' && state != 'X';
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
    uint32_t own = trace_reader_summary(reader).pid;
    const struct trace_thread *thread;
    size_t count = 0;

    for (size_t i = 0; (thread = trace_reader_thread(reader, i)); i++) {
        if (thread->pid == own || !is_first_of_process(reader, i) ||
            !is_alive(thread->pid))
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
