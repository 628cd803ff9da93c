/* gzip.c: compresses with zlib if it is installed, which nearly every system
 * has. It is opened at run time, so that test programs do not depend on it.
 *
 * The functions are those of zlib.h, "gzip File Access Functions" and "Utility
 * Functions".
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/run/folder/gzip.h"

enum { BLOCK = 128 << 10 /* bytes */ };

/* X(result, name, arguments) */
#define FUNCTIONS(X)                                                           \
    X(struct test_log_gunzip *, gzdopen, (int fd, const char *mode))           \
    X(int, gzread, (struct test_log_gunzip *, void *, unsigned))               \
    X(int, gzwrite, (struct test_log_gunzip *, const void *, unsigned))        \
    X(const char *, gzerror, (struct test_log_gunzip *, int *error))           \
    X(int, gzclose, (struct test_log_gunzip *))                                \
    X(unsigned long, compressBound, (unsigned long size))                      \
    X(int, compress2,                                                          \
      (void *, unsigned long *room, const void *, unsigned long size,          \
       int level))

static struct {
#define X(result, name, arguments) result(*name) arguments;
    FUNCTIONS(X)
#undef X
} zlib;

bool test_log_gzip_found(void)
{
    static bool tried, found;
    void *library;

    if (tried)
        return found;
    tried = true;
    library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    found = library;
#define X(result, name, arguments)                                             \
    if (found)                                                                 \
        found = (*(void **)&zlib.name = dlsym(library, #name));
    FUNCTIONS(X)
#undef X
    return found;
}

/* zlib closes its own descriptor. */
static struct test_log_gunzip *open_copy(int fd, const char *mode)
{
    int copy = test_log_gzip_found() ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    struct test_log_gunzip *file = copy < 0 ? NULL : zlib.gzdopen(copy, mode);

    if (copy >= 0 && !file)
        close(copy);
    return file;
}

enum { LEVEL = 1 /* others take longer, and save little */ };

bool test_log_gzip(void *context, FILE *in, uint64_t size, FILE *out)
{
    static char bytes[BLOCK];
    struct test_log_gunzip *to = open_copy(fileno(out), "wb1");
    bool right = to;
    size_t got;

    (void)context, (void)size;
    while (right && (got = fread(bytes, 1, sizeof(bytes), in)))
        right = zlib.gzwrite(to, bytes, (unsigned)got) > 0;
    right = right && !ferror(in);
    if (to && zlib.gzclose(to))
        right = false;
    if (!right && !errno)
        errno = EIO;
    return right;
}

struct test_log_gunzip *test_log_gunzip_open(int fd)
{
    return open_copy(fd, "rb");
}

/* At the end of a truncated file, gzread returns 0, too. */
int test_log_gunzip(struct test_log_gunzip *file, void *bytes, unsigned size)
{
    int got = zlib.gzread(file, bytes, size), error = 0;

    if (!got)
        zlib.gzerror(file, &error);
    return error ? -1 : got;
}

void test_log_gunzip_close(struct test_log_gunzip *file)
{
    zlib.gzclose(file);
}

void *test_log_deflate(const void *bytes, size_t size, size_t *deflated)
{
    unsigned long room = test_log_gzip_found() ? zlib.compressBound(size) : 0;
    void *out = room ? malloc(room) : NULL;

    if (out && zlib.compress2(out, &room, bytes, size, LEVEL)) {
        free(out);
        out = NULL;
    }
    *deflated = room;
    return out;
}
