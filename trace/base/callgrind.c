/* callgrind.c: counts instructions with valgrind's callgrind. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "callgrind.h"
#include "lock.h"
#include "valgrind_requests.h"

/* The names of <valgrind/callgrind.h>. */
enum request {
    CALLGRIND = 'C' << 24 | 'T' << 16,
    ZERO_STATS = CALLGRIND + 1,
    DUMP_STATS = CALLGRIND,
    START_INSTRUMENTATION = CALLGRIND + 4,
};

static const char *folder; /* NULL: callgrind does not count */
static struct trace_lock lock;
static uint64_t total;
static unsigned dumps; /* of `process`, which numbers its files */
static pid_t process;

/* callgrind numbers the files of a forked child anew; another thread of its
 * parent may have had the lock. */
static void begin_process(void)
{
    process = getpid();
    dumps = 0;
    lock = (struct trace_lock){0};
}

void trace_callgrind_begin(const char *where)
{
    folder = where;
    total = 0;
    begin_process();
    trace_valgrind_ask(START_INSTRUMENTATION, 0, 0, 0, 0);
    trace_valgrind_ask(ZERO_STATS, 0, 0, 0, 0);
}

bool trace_callgrind_counts(void)
{
    return folder;
}

/* Returns the number after "totals: ", which is at the end; 0 without one. */
static uint64_t read_total(int fd)
{
    static const char title[] = "\ntotals: ";
    char text[512];
    off_t size = lseek(fd, 0, SEEK_END);
    ssize_t count =
        pread(fd, text, sizeof(text) - 1,
              size > (off_t)sizeof(text) ? size - (off_t)sizeof(text) + 1 : 0);
    const char *at;

    text[count > 0 ? count : 0] = '\0';
    at = strstr(text, title);
    return at ? strtoull(at + strlen(title), NULL, 10) : 0;
}

static uint64_t dump(void)
{
    char path[PATH_MAX];
    uint64_t count = 0;
    int fd;

    trace_valgrind_ask(DUMP_STATS, 0, 0, 0, 0);
    snprintf(path, sizeof(path), "%s/counts.%ld.%u", folder, (long)getpid(),
             ++dumps);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        count = read_total(fd);
        close(fd);
    }
    unlink(path);
    return count;
}

uint64_t trace_callgrind_count(void)
{
    int error = errno;
    uint64_t all;

    if (process != getpid()) /* a forked child: no other thread is there */
        begin_process();
    trace_lock(&lock);
    total += dump();
    all = total;
    trace_unlock(&lock);
    errno = error;
    return all;
}
