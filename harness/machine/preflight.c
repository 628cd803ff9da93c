/* preflight.c: checks what Criterion needs, because it aborts without it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"

#define SHARED "/dev/shm"

enum {
    ARENA_SIZE = 128 * 1024, /* BoxFort's; it never checks for room */
    DESCRIPTORS = 32, /* with fewer, Criterion aborts, or waits forever */
};
static bool has_room(const char *path)
{
    struct statvfs disk;

    return statvfs(path, &disk) || !disk.f_blocks /* no limit */ ||
           (uint64_t)disk.f_bavail * disk.f_frsize >= ARENA_SIZE;
}

/* The limit on file sizes applies to shared memory, too. */
static bool is_limited(void)
{
    struct rlimit limit;

    return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < ARENA_SIZE;
}

bool test_log_preflight_memory(void)
{
    int error = 0;

    if (is_limited())
        error = EFBIG;
    else if (faccessat(AT_FDCWD, SHARED, W_OK | X_OK, AT_EACCESS))
        error = errno;
    else if (!has_room(SHARED))
        error = ENOSPC;
    if (error)
        test_log_notice("cannot share memory in " SHARED ": %s; Criterion "
                        "needs it: %s",
                        strerror(error),
                        error == EFBIG ? "raise the limit on file sizes "
                                         "(ulimit -f) to 128 KiB or more"
                                       : "mount a tmpfs there (docker run "
                                         "--shm-size=64m)");
    return !error;
}

bool test_log_preflight_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= DESCRIPTORS)
        return true;
    test_log_notice("only %llu files may be open (ulimit -n); Criterion and "
                    "testlog need %d",
                    (unsigned long long)limit.rlim_cur, DESCRIPTORS);
    return false;
}

bool test_log_preflight_program(const char *name)
{
    char path[PATH_MAX];

    return test_log_preflight_find(name, path);
}

bool test_log_preflight_find(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");

    for (const char *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ':');
        if (snprintf(path, PATH_MAX, "%.*s/%s", (int)(end - at), at, name) <
                PATH_MAX &&
            !access(path, X_OK))
            return true;
    }
    return false;
}
