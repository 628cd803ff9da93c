/* compress.c: compresses the recordings of a run that has ended.
 *
 * The compressed recording is complete before the recording is removed, so
 * there is always one that can be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/zstd.h"
#include "harness/run/folder/compress.h"
#include "harness/run/folder/run_folder.h"
#include "trace/base/file.h"

enum {
    LEAST = 256 << 10, /* bytes: a smaller file is not worth the time */
    BLOCK = 128 << 10, /* bytes that are read at once */
    LEVEL = 1,         /* others take longer, and save little */
};

static bool copy(FILE *in, uint64_t size, FILE *out)
{
    static char bytes[BLOCK];
    struct zstd_compressor *to = test_log_zstd_begin(LEVEL, size);
    bool right = to;

    while (right && !feof(in)) {
        size_t got = fread(bytes, 1, sizeof(bytes), in);

        right =
            !ferror(in) && !test_log_zstd_put(to, bytes, got, feof(in), out);
    }
    test_log_zstd_end(to);
    return right;
}

static int compress_to(FILE *in, uint64_t size, const struct test_log_run *run,
                       const char *name)
{
    struct trace_file file;
    char compressed[PATH_MAX];

    if (snprintf(compressed, sizeof(compressed), "%s" TEST_LOG_COMPRESSED,
                 name) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (test_log_create(run, compressed, &file))
        return -1;
    if (copy(in, size, file.stream))
        return trace_file_commit(&file) || test_log_remove(run, name) ? -1 : 0;

    int error = errno;

    trace_file_abandon(&file);
    errno = error;
    return -1;
}

/* A recording has an end once no process writes to it. */
static bool is_at_rest(int fd)
{
    char path[64];
    struct trace_reader *reader;
    bool ended;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    reader = trace_reader_open(path);
    ended = reader && trace_reader_summary(reader).ended;
    trace_reader_close(reader);
    return ended;
}

/* Compresses the open recording that is called `name` in the run. */
static int compress_open(int fd, const struct test_log_run *run,
                         const char *name)
{
    struct stat status;
    FILE *in;
    int result;

    if (fstat(fd, &status) || status.st_size < LEAST || !is_at_rest(fd)) {
        close(fd);
        return 0;
    }
    in = fdopen(fd, "r");
    if (!in) {
        close(fd);
        return -1;
    }
    result = compress_to(in, (uint64_t)status.st_size, run, name);

    int error = errno;

    fclose(in);
    errno = error;
    return result;
}

static int compress_in(const struct test_log_run *run, const char *folder)
{
    char name[PATH_MAX];
    int fd = -1;

    if (folder &&
        snprintf(name, sizeof(name), "%s/recording", folder) < PATH_MAX)
        fd = test_log_open(run, name, O_RDONLY);
    return fd < 0 ? 0 : compress_open(fd, run, name);
}

static int compress_result(const struct test_log_run *run,
                           const struct test_log_result *result)
{
    int status = compress_in(run, result->folder);

    for (size_t i = 0; !status && i < result->earlier_count; i++)
        status = compress_in(run, result->earlier[i].folder);
    return status;
}

void test_log_compress(const struct test_log_run *run, int (*stopped)(void))
{
    int status = 0;

    if (!test_log_zstd_open())
        return;
    for (size_t i = 0; !status && i < run->count; i++)
        if (!stopped || !stopped())
            status = compress_result(run, &run->results[i]);
    if (status)
        test_log_notice(
            "cannot compress recordings: %s; they stay uncompressed",
            strerror(errno));
}
