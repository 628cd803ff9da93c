/* compressed.c: opens compressed recordings like others: with zstd, or with
 * zlib as older versions did. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "find.h"
#include "gunzip.h"
#include "harness/machine/notice.h"
#include "harness/machine/zstd.h"
#include "harness/options/options.h"
#include "harness/run/folder/compress.h"
#include "harness/run/folder/run_folder.h"
#include "run_json.h"
#include "runners/runners.h"
#include "trace/base/file.h"
#include "trace/format.h"
#include "trace/read/reader.h"
#include "trace/samples/samples.h"

static const char *const suffixes[] = {TEST_LOG_COMPRESSED, ".gz"};

enum {
    SUFFIXES = sizeof(suffixes) / sizeof(*suffixes),
    BLOCK = 128 << 10,  /* bytes that are read at once */
    BEGINNING = 1 << 18 /* bytes that contain a recording's metadata */
};

static bool ends_with(const char *path, const char *suffix)
{
    size_t size = strlen(path), end = strlen(suffix);

    return size > end && !strcmp(path + size - end, suffix);
}

static bool has_suffix(const char *path)
{
    bool has = false;

    for (size_t i = 0; i < SUFFIXES; i++)
        has |= ends_with(path, suffixes[i]);
    return has;
}

/* Puts the path of the compressed recording of `path`; false if there is none.
 */
static bool find_beside(const char *path, char *compressed)
{
    for (size_t i = 0; i < SUFFIXES; i++)
        if (snprintf(compressed, PATH_MAX, "%s%s", path,
                     has_suffix(path) ? "" : suffixes[i]) < PATH_MAX &&
            !access(compressed, F_OK))
            return true;
    return false;
}

/* A part of a file is "path#offset". */
static bool is_part(const char *path)
{
    const char *mark = strrchr(path, '#');
    char file[PATH_MAX];

    return mark && mark[1] && !mark[1 + strspn(mark + 1, "0123456789")] &&
           snprintf(file, sizeof(file), "%.*s", (int)(mark - path), path) <
               PATH_MAX &&
           !access(file, F_OK);
}

bool runners_is_there(const char *path)
{
    char compressed[PATH_MAX];

    return !access(path, F_OK) || find_beside(path, compressed) ||
           is_part(path);
}

/* ---- Reading ---- */

/* Opens a temporary file without a name, as large as a recording may be. */
static int nameless(void)
{
    const char *folder = test_log_variable("TMPDIR");
    int fd =
        open(folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd < 0 ? memfd_create("recording", MFD_CLOEXEC) : fd;
}

/* A compressed recording that is being expanded. */
struct expanding {
    struct zstd_expander *context;
    struct holes_file to;
    size_t left; /* what ZSTD_decompressStream returns: 0 at the end */
};

static bool put(struct holes_file *to, const char *bytes, size_t size)
{
    uint64_t magic = TRACE_MAGIC;

    if (to->size ||
        (size >= sizeof(magic) && !memcmp(bytes, &magic, sizeof(magic))))
        return runners_holes_put(to, bytes, size);
    to->why = "it is not a recording";
    return false;
}

/* Returns whether a file may have a size: beyond the limit, a signal would end
 * us. */
static bool may_have(uint64_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY ||
           size <= limit.rlim_cur;
}

/* A record may reach to the last zero. A limit on files leaves out more zeros
 * than a recording has. */
static const char *end(struct holes_file *to)
{
    if (!to->why && may_have(to->size) && ftruncate(to->out, (off_t)to->size) &&
        errno != EFBIG)
        to->why = strerror(errno);
    return to->why;
}

/* Decompresses a block. */
static bool expand(struct expanding *from, struct zstd_in *in)
{
    static char bytes[BLOCK];
    struct zstd_out block;

    do {
        block = (struct zstd_out){bytes, sizeof(bytes), 0};
        from->left =
            test_log_zstd.ZSTD_decompressStream(from->context, &block, in);
        if (test_log_zstd.ZSTD_isError(from->left)) {
            from->to.why = test_log_zstd.ZSTD_getErrorName(from->left);
            return false;
        }
        if (block.at && !put(&from->to, bytes, block.at))
            return false;
        /* After the end it would wait for another frame. */
    } while (in->at < in->size || (from->left && block.at == block.size));
    return true;
}

/* Decompresses at least `most` bytes, or all; returns what is wrong, or NULL.
 */
static const char *decompress(int in, int out, uint64_t most)
{
    static char bytes[BLOCK];
    struct expanding from = {
        .to = {.out = out, .room = runners_holes_room(out)},
        .left = 1,
    };
    bool right = true;

    if (!test_log_zstd_open())
        return TEST_LOG_ZSTD_MISSING;
    from.context = test_log_zstd.ZSTD_createDCtx();
    if (!from.context)
        return strerror(ENOMEM);
    while (right && from.to.size < most) {
        ssize_t got = read(in, bytes, sizeof(bytes));
        struct zstd_in block = {bytes, got > 0 ? (size_t)got : 0, 0};

        if (got < 0)
            from.to.why = strerror(errno);
        else if (!got && from.left)
            from.to.why = "it is truncated";
        right = got > 0 && expand(&from, &block);
    }
    test_log_zstd.ZSTD_freeDCtx(from.context);
    return end(&from.to);
}

/* Does the same for a gzip file. */
static const char *decompress_gzip(int in, int out, uint64_t most)
{
    static char bytes[BLOCK];
    struct holes_file to = {.out = out, .room = runners_holes_room(out)};
    struct gunzip *from = runners_gunzip_open(in);
    int got = 0;

    if (!from)
        return "libz.so.1 is not installed";
    while (to.size < most &&
           (got = runners_gunzip(from, bytes, sizeof(bytes))) > 0)
        if (!put(&to, bytes, (size_t)got))
            break;
    runners_gunzip_close(from);
    return got < 0 ? "it is damaged or truncated" : end(&to);
}

const char *runners_open_error(void)
{
    return errno == EINVAL  ? "it is not a recording"
           : errno == ELOOP ? "it is a link"
                            : strerror(errno);
}

static struct trace_reader *open_descriptor(int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return trace_reader_open(path);
}

/* Opens a compressed recording, or the first `most` bytes of it, from a file
 * that it closes; *why is what is wrong with it. */
static struct trace_reader *open_compressed(int in, const char *path,
                                            uint64_t most, const char **why)
{
    struct trace_reader *reader = NULL;
    int out = -1;

    *why = NULL;
    if (in < 0 || (out = nameless()) < 0)
        *why = strerror(errno);
    else if (ends_with(path, ".gz"))
        *why = decompress_gzip(in, out, most);
    else
        *why = decompress(in, out, most);
    if (!*why && !(reader = open_descriptor(out)))
        *why = runners_open_error();
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return reader;
}

static struct trace_reader *open_beside(int in, const char *path, uint64_t most,
                                        bool says)
{
    const char *why;
    struct trace_reader *reader = open_compressed(in, path, most, &why);

    if (!reader && says)
        test_log_notice("cannot read %s: %s", path, why);
    if (!reader)
        errno = EBADMSG;
    return reader;
}

bool runners_is_link(const char *path)
{
    struct stat status;

    return !lstat(path, &status) && S_ISLNK(status.st_mode);
}

/* A run may compress the recording just now. A run that came from elsewhere may
 * have links to what is not its own. */
static struct trace_reader *open_any(const char *path, uint64_t most, bool says)
{
    struct trace_reader *(*open)(const char *) =
        most == BEGINNING ? trace_reader_follow : trace_reader_open;
    struct trace_reader *reader;
    char compressed[PATH_MAX];

    errno = ELOOP;
    if (runners_is_link(path))
        return NULL;
    reader = has_suffix(path) ? NULL : open(path);

    if (reader || (!has_suffix(path) && errno != ENOENT) ||
        !find_beside(path, compressed) || runners_is_link(compressed))
        return reader;
    return open_beside(trace_beneath(AT_FDCWD, compressed, O_RDONLY),
                       compressed, most, says);
}

struct trace_reader *runners_open(const char *path)
{
    struct trace_reader *reader = open_any(path, UINT64_MAX, true);

    if (reader)
        runners_merged_clock_apply(reader, path);
    return reader;
}

struct trace_reader *runners_open_in(const struct test_log_run *run,
                                     const char *folder)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s/recording", run->path, folder) >=
        PATH_MAX)
        return NULL;
    return runners_open(path);
}

struct trace_reader *runners_open_own(const struct test_log_run *run,
                                      const char *folder)
{
    int at = open(run->path, O_PATH | O_DIRECTORY | O_CLOEXEC), in;
    char path[PATH_MAX], *name = path + strlen(run->path) + 1;
    struct trace_reader *reader = NULL;

    for (size_t i = 0; at >= 0 && !reader && i <= SUFFIXES; i++) {
        if (snprintf(path, PATH_MAX, "%s/%s/recording%s", run->path, folder,
                     i ? suffixes[i - 1] : "") >= PATH_MAX)
            break;
        if (!i && (reader = trace_reader_beneath(at, name)))
            runners_merged_clock_apply(reader, path);
        else if (i && (in = trace_beneath(at, name, O_RDONLY)) >= 0)
            reader = open_beside(in, path, UINT64_MAX, true);
        if (!reader && errno != ENOENT)
            break;
    }
    if (at >= 0)
        close(at);
    if (errno == ELOOP || errno == ENOTDIR)
        errno = ENOENT;
    return reader;
}

struct trace_reader *runners_open_beginning(const char *path)
{
    return open_any(path, BEGINNING, false);
}

bool runners_has_samples(const char *path)
{
    struct trace_reader *reader = open_any(path, UINT64_MAX, false);
    bool has = reader && trace_reader_has_samples(reader);

    trace_reader_close(reader);
    return has;
}
