/* usage.c: reads what a process uses: see getrusage(2) and proc(5). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "harness/run/model/usage.h"

const char *const test_log_counter_words[TEST_LOG_COUNTERS_COUNT] = {
#define TEST_LOG_X(name, word) word,
    TEST_LOG_COUNTERS(TEST_LOG_X)
#undef TEST_LOG_X
};

/* ---- Files of /proc ---- */

/* Reads a file without memory of its own; "" if it cannot. */
static void read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd < 0 ? 0 : read(fd, text, size - 1);

    text[count > 0 ? count : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

/* Returns the number after "\nname:"; 0 without one. */
static uint64_t number_after(const char *text, const char *name)
{
    const char *at = text;
    size_t size = strlen(name);

    while (at && strncmp(at, name, size) != 0) {
        at = strchr(at, '\n');
        at += at != NULL;
    }
    return at ? strtoull(at + size, NULL, 10) : 0;
}

static void read_memory(const char *folder, struct test_log_usage *usage)
{
    char path[64], text[4096];

    snprintf(path, sizeof(path), "%s/status", folder);
    read_file(path, text, sizeof(text));
    usage->peak = number_after(text, "VmHWM:") * 1024;
}

/* Returns how many bytes that has read itself. */
static size_t read_bytes(const char *folder, struct test_log_usage *usage)
{
    char path[64], text[512];

    snprintf(path, sizeof(path), "%s/io", folder);
    read_file(path, text, sizeof(text));
    usage->read = number_after(text, "rchar:");
    usage->written = number_after(text, "wchar:");
    return strlen(text);
}

/* ---- This process ---- */

static uint64_t time_of(const struct rusage *usage)
{
    return (uint64_t)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) *
               1000000000 +
           (uint64_t)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000;
}

static void add(struct test_log_usage *usage, int who)
{
    struct rusage used = {.ru_nvcsw = 0};

    getrusage(who, &used);
    if (who == RUSAGE_CHILDREN)
        usage->cpu += time_of(&used);
    usage->voluntary += (uint64_t)used.ru_nvcsw;
    usage->involuntary += (uint64_t)used.ru_nivcsw;
    usage->minor += (uint64_t)used.ru_minflt;
    usage->major += (uint64_t)used.ru_majflt;
}

/* The bytes come first, because reading the other files adds to them. When a
 * test begins (`memory` is false), the bytes of this read are added, so that
 * they do not count as the test's. */
static struct test_log_usage read_own(bool memory)
{
    struct test_log_usage usage = {.cpu = 0};
    struct timespec time = {.tv_sec = 0};
    size_t own = read_bytes("/proc/self", &usage);

    if (memory)
        read_memory("/proc/self", &usage);
    else
        usage.read += own;
    add(&usage, RUSAGE_SELF);
    add(&usage, RUSAGE_CHILDREN);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    usage.cpu += (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    return usage;
}

struct test_log_usage test_log_usage_now(void)
{
    int error = errno;
    struct test_log_usage usage = read_own(true);

    errno = error;
    return usage;
}

struct test_log_usage test_log_usage_begin(void)
{
    int error = errno, fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    struct test_log_usage usage;

    /* Without the right, the peak is that of the process. */
    if (fd >= 0 && write(fd, "5", 1) < 0)
        errno = error;
    if (fd >= 0)
        close(fd);
    usage = read_own(false);
    errno = error;
    return usage;
}

/* ---- Another process ---- */

static void read_thread(const char *task, struct test_log_usage *usage,
                        uint64_t *time)
{
    char path[352], text[4096];

    snprintf(path, sizeof(path), "%s/status", task);
    read_file(path, text, sizeof(text));
    usage->voluntary += number_after(text, "voluntary_ctxt_switches:");
    usage->involuntary += number_after(text, "nonvoluntary_ctxt_switches:");
    snprintf(path, sizeof(path), "%s/schedstat", task);
    read_file(path, text, sizeof(text));
    *time += strtoull(text, NULL, 10);
}

/* The time of threads is exact, but only that of those that still run. */
static void read_threads(const char *folder, struct test_log_usage *usage)
{
    char path[320];
    struct dirent *entry;
    uint64_t time = 0;
    DIR *tasks;

    snprintf(path, sizeof(path), "%s/task", folder);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        snprintf(path, sizeof(path), "%s/task/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            read_thread(path, usage, &time);
    }
    if (tasks)
        closedir(tasks);
    if (time > usage->cpu)
        usage->cpu = time;
}

bool test_log_usage_of(pid_t pid, struct test_log_usage *usage)
{
    unsigned long minor[2], major[2], ticks[2], children[2];
    char folder[32], path[64], text[1024];
    const char *rest;

    *usage = (struct test_log_usage){.cpu = 0};
    snprintf(folder, sizeof(folder), "/proc/%ld", (long)pid);
    snprintf(path, sizeof(path), "%s/stat", folder);
    read_file(path, text, sizeof(text));
    rest = strrchr(text, ')'); /* after the name, which may contain anything */
    if (!rest || sscanf(rest,
                        ") %*c %*d %*d %*d %*d %*d %*u %lu %lu %lu %lu %lu %lu "
                        "%lu %lu",
                        &minor[0], &minor[1], &major[0], &major[1], &ticks[0],
                        &ticks[1], &children[0], &children[1]) != 8)
        return false;
    usage->cpu = (ticks[0] + ticks[1] + children[0] + children[1]) *
                 (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    usage->minor = minor[0] + minor[1];
    usage->major = major[0] + major[1];
    read_memory(folder, usage);
    read_bytes(folder, usage);
    read_threads(folder, usage);
    return true;
}

/* ---- Differences ---- */

struct test_log_usage test_log_usage_since(const struct test_log_usage *now,
                                           const struct test_log_usage *before)
{
    struct test_log_usage used = {.cpu = 0};

#define TEST_LOG_X(field, member)                                              \
    used.field = now->field > before->field ? now->field - before->field : 0;
    TEST_LOG_USAGE_MEMBERS(TEST_LOG_X)
#undef TEST_LOG_X
    used.peak = now->peak;
    used.counter = before->counter;
    if (now->instructions > before->instructions)
        used.instructions = now->instructions - before->instructions;
    return used;
}
