/* outlived_threads.c: finds threads that outlive the test which started them.
 * They never record into another test. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __has_include
#    if __has_include(<sys/single_threaded.h>)
#        include <sys/single_threaded.h>
#        define ALWAYS_ALONE() __libc_single_threaded
#    endif
#endif
#ifndef ALWAYS_ALONE
#    define ALWAYS_ALONE() false
#endif

#include "harness/core/in_process.h"
#include "harness/machine/process_tree.h"
#include "trace/base/containers.h"
#include "trace/recording.h"

struct threads {
    uint32_t *ids;
    size_t count, capacity;
};

static struct threads found; /* by the running test */
static struct threads barred;

static bool has(const struct threads *threads, uint32_t id)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->ids[i] == id)
            return true;
    return false;
}

static void add(struct threads *threads, uint32_t id)
{
    if (TRACE_ARRAY_RESERVE(threads->ids, threads->capacity,
                            threads->count + 1))
        threads->ids[threads->count++] = id;
}

/* Finds all threads of the process but the calling one. */
static void look(struct threads *threads)
{
    uint32_t self = (uint32_t)syscall(SYS_gettid);
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;

    threads->count = 0;
    while (folder && (entry = readdir(folder))) {
        uint32_t id = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (id && id != self)
            add(threads, id);
    }
    if (folder)
        closedir(folder);
}

/* The kernel may give a thread the number of one that has ended. */
static void keep_alive(struct threads *threads, const struct threads *alive)
{
    size_t kept = 0;

    for (size_t i = 0; i < threads->count; i++)
        if (has(alive, threads->ids[i]))
            threads->ids[kept++] = threads->ids[i];
    threads->count = kept;
}

void test_log_threads_begin(void)
{
    size_t before = barred.count;

    if (ALWAYS_ALONE())
        return;
    look(&found);
    keep_alive(&barred, &found);
    if (barred.count != before)
        trace_bar_threads(barred.ids, barred.count);
}

/* Whether a thread has ended, or is ours and ends with the process. Its file
 * has "12 (name) S". */
static bool is_harmless(uint32_t id)
{
    char line[512] = "", *name, *end;

    test_log_process_file((pid_t)id, "stat", line, sizeof(line));
    name = strchr(line, '(');
    end = strrchr(line, ')');
    if (!name || !end || end[1] != ' ' || end[2] == 'Z' || end[2] == 'X')
        return true;
    *end = '\0';
    return !strcmp(name, "(testlog") || !strcmp(name, "(testlog-gpu");
}

unsigned test_log_threads_end(void)
{
    static struct threads now;
    unsigned count = 0;

    if (ALWAYS_ALONE())
        return 0;
    look(&now);
    for (size_t i = 0; i < now.count; i++) {
        uint32_t id = now.ids[i];

        if (has(&found, id) || has(&barred, id) || is_harmless(id))
            continue;
        add(&barred, id);
        count++;
    }
    if (count)
        trace_bar_threads(barred.ids, barred.count);
    return count;
}
