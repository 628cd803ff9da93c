/* gunzip.c: reads recordings that older versions have compressed with zlib. */
#include <fcntl.h>
#include <unistd.h>

#include "runners/runs/gunzip.h"
#include "trace/base/shared_library.h"

/* X(result, name, arguments), of zlib.h, "gzip File Access Functions" */
#define FUNCTIONS(X)                                                           \
    X(struct gunzip *, gzdopen, (int fd, const char *mode))                    \
    X(int, gzread, (struct gunzip *, void *, unsigned))                        \
    X(const char *, gzerror, (struct gunzip *, int *error))                    \
    X(int, gzclose, (struct gunzip *))

static struct {
    FUNCTIONS(TRACE_LIBRARY_POINTER)
} zlib;

/* zlib closes its own descriptor. */
struct gunzip *runners_gunzip_open(int fd)
{
    static struct trace_library library = {.name = "libz.so.1"};
    static const char *const names[] = {FUNCTIONS(TRACE_LIBRARY_NAME)};
    bool found = trace_library_open(&library, names,
                                    sizeof(names) / sizeof(*names), &zlib);
    int copy = found ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    struct gunzip *file = copy < 0 ? NULL : zlib.gzdopen(copy, "rb");

    if (copy >= 0 && !file)
        close(copy);
    return file;
}

/* At the end of a truncated file, gzread returns 0, too. */
int runners_gunzip(struct gunzip *file, void *bytes, unsigned size)
{
    int got = zlib.gzread(file, bytes, size), error = 0;

    if (!got)
        zlib.gzerror(file, &error);
    return error ? -1 : got;
}

void runners_gunzip_close(struct gunzip *file)
{
    zlib.gzclose(file);
}
