/* archive.c: writes and reads packs, with libarchive.
 *
 * A pack is a tar file in GNU's format, compressed with zstd. It contains files
 * only, sorted by name, below the name of the run. They have no owner and no
 * time, so that a run always gives the same bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "harness/machine/notice.h"
#include "harness/machine/zstd.h"
#include "harness/run/folder/run_order.h"
#include "harness/run/folder/scratch.h"
#include "log/devices/device_summary.h"
#include "trace/base/file.h"
#include "trace/base/shared_library.h"
#include "trace/read/reader.h"

enum {
    BLOCK = 128 << 10, /* bytes that are read at once */
    LEVEL = 9,         /* others take much longer, and save little */
};

/* ---- libarchive, which is opened at run time ---- */

struct archive;
struct archive_entry;

typedef ssize_t take_bytes(struct archive *, void *context, const void *,
                           size_t);
typedef int open_or_close(struct archive *, void *context);

/* X(result, name, arguments), of archive.h and archive_entry.h */
#define FUNCTIONS(X)                                                           \
    X(const char *, archive_error_string, (struct archive *))                  \
    X(void, archive_set_error,                                                 \
      (struct archive *, int error, const char *format, ...))                  \
    X(struct archive *, archive_write_new, (void))                             \
    X(int, archive_write_set_format_gnutar, (struct archive *))                \
    X(int, archive_write_open2,                                                \
      (struct archive *, void *context, open_or_close *, take_bytes *,         \
       open_or_close *, open_or_close *))                                      \
    X(int, archive_write_header, (struct archive *, struct archive_entry *))   \
    X(ssize_t, archive_write_data, (struct archive *, const void *, size_t))   \
    X(int, archive_write_close, (struct archive *))                            \
    X(int, archive_write_free, (struct archive *))                             \
    X(struct archive *, archive_read_new, (void))                              \
    X(int, archive_read_support_filter_zstd, (struct archive *))               \
    X(int, archive_read_support_format_tar, (struct archive *))                \
    X(int, archive_read_open_fd, (struct archive *, int fd, size_t block))     \
    X(int, archive_read_next_header,                                           \
      (struct archive *, struct archive_entry **))                             \
    X(ssize_t, archive_read_data, (struct archive *, void *, size_t))          \
    X(int, archive_read_free, (struct archive *))                              \
    X(struct archive_entry *, archive_entry_new, (void))                       \
    X(void, archive_entry_free, (struct archive_entry *))                      \
    X(const char *, archive_entry_pathname, (struct archive_entry *))          \
    X(const char *, archive_entry_hardlink, (struct archive_entry *))          \
    X(mode_t, archive_entry_filetype, (struct archive_entry *))                \
    X(void, archive_entry_copy_pathname,                                       \
      (struct archive_entry *, const char *))                                  \
    X(void, archive_entry_set_filetype, (struct archive_entry *, unsigned))    \
    X(void, archive_entry_set_perm, (struct archive_entry *, mode_t))          \
    X(void, archive_entry_set_size, (struct archive_entry *, int64_t))         \
    X(void, archive_entry_set_mtime, (struct archive_entry *, time_t, long ns))

enum { ARCHIVE_OK = 0, ARCHIVE_EOF = 1 };

static struct {
    FUNCTIONS(TRACE_LIBRARY_POINTER)
} la;

/* Returns whether libarchive and libzstd are there; otherwise adds why not. */
static bool is_there(struct trace_text *why)
{
    static struct trace_library library = {.name = "libarchive.so.13"};
    static const char *const names[] = {FUNCTIONS(TRACE_LIBRARY_NAME)};

    if (!trace_library_open(&library, names, sizeof(names) / sizeof(*names),
                            &la))
        trace_text_string(why, "libarchive.so.13 is missing; install the "
                               "package libarchive13");
    else if (!test_log_zstd_open())
        trace_text_string(why, TEST_LOG_ZSTD_MISSING);
    else
        return true;
    return false;
}

/* ---- Writing ---- */

/* libarchive's own filter for zstd writes no checksum. */
struct compressing {
    struct zstd_compressor *compressor;
    FILE *stream;
    bool failed; /* nothing more is written */
};

static ssize_t compress_bytes(struct archive *archive, void *context,
                              const void *bytes, size_t size)
{
    const struct compressing *to = context;
    const char *why = NULL;

    if (!to->failed) /* libarchive writes the rest when it is freed */
        why = test_log_zstd_put(to->compressor, bytes, size, false, to->stream);
    if (why)
        la.archive_set_error(archive, errno, "%s", why);
    return why ? -1 : (ssize_t)size;
}

/* libarchive ignores failures of its close callback. */
static int compress_end(struct archive *archive, const struct compressing *to)
{
    const char *why =
        test_log_zstd_put(to->compressor, NULL, 0, true, to->stream);

    if (!why && fflush(to->stream))
        why = strerror(errno);
    if (why)
        la.archive_set_error(archive, errno, "%s", why);
    return why ? -1 : 0;
}

/* Appends the contents of the entry. If a test still writes to the file, its
 * size may have changed: libarchive cuts or fills it. */
static int write_contents(struct archive *archive, int fd)
{
    static char bytes[BLOCK];
    ssize_t got;

    while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
        ssize_t put = la.archive_write_data(archive, bytes, (size_t)got);

        if (put < 0)
            return -1;
        if (put < got)
            return 0;
    }
    if (got < 0)
        la.archive_set_error(archive, errno, "%s", strerror(errno));
    return got < 0 ? -1 : 0;
}

static int write_entry(struct archive *archive, int fd, const char *run,
                       const char *name)
{
    struct archive_entry *entry = la.archive_entry_new();
    struct trace_text path = {0};
    struct stat status;
    int result = -1;

    trace_text_printf(&path, "%s/%s", run, name);
    if (!entry || path.failed || fstat(fd, &status)) {
        la.archive_set_error(archive, ENOMEM, "%s", strerror(ENOMEM));
    } else {
        la.archive_entry_copy_pathname(entry, path.data);
        la.archive_entry_set_filetype(entry, S_IFREG);
        la.archive_entry_set_perm(entry, 0644);
        la.archive_entry_set_size(entry, status.st_size);
        la.archive_entry_set_mtime(entry, 0, 0);
        if (la.archive_write_header(archive, entry) == ARCHIVE_OK)
            result = write_contents(archive, fd);
    }
    la.archive_entry_free(entry);
    trace_text_free(&path);
    return result;
}

static int write_all(struct archive *archive, int folder, const char *run,
                     char *const *names, size_t count)
{
    int status = 0;

    for (size_t i = 0; !status && i < count; i++) {
        int fd = trace_beneath(folder, names[i], O_RDONLY);

        if (fd < 0) {
            la.archive_set_error(archive, errno, "cannot read %s: %s", names[i],
                                 strerror(errno));
            return -1;
        }
        status = write_entry(archive, fd, run, names[i]);
        close(fd);
    }
    return status;
}

static void say_why(struct trace_text *why, struct archive *archive)
{
    const char *text = archive ? la.archive_error_string(archive) : NULL;

    trace_text_string(why, text ? text : "out of memory");
}

int runners_archive_write(FILE *stream, int folder, const char *run,
                          char *const *names, size_t count,
                          struct trace_text *why)
{
    struct compressing to = {.stream = stream};
    struct archive *archive;
    int status = -1;

    if (!is_there(why))
        return -1;
    to.compressor = test_log_zstd_begin(LEVEL, UINT64_MAX);
    archive = la.archive_write_new();
    if (to.compressor && archive &&
        !la.archive_write_set_format_gnutar(archive) &&
        !la.archive_write_open2(archive, &to, NULL, compress_bytes, NULL,
                                NULL) &&
        !write_all(archive, folder, run, names, count) &&
        !la.archive_write_close(archive) && !compress_end(archive, &to))
        status = 0;
    if (status)
        say_why(why, archive);
    to.failed = status;
    if (archive)
        la.archive_write_free(archive);
    test_log_zstd_end(to.compressor);
    return status;
}

/* ---- Reading ---- */

/* A pack that is being unpacked. */
struct unpacking {
    struct archive *archive;
    const struct archive_limits *most;
    int folder;
    char *run;             /* the folder that all names begin with */
    char *before;          /* the last entry, whose folders exist */
    struct holes_file out; /* its `room` is for all files */
    uint64_t size;         /* bytes of all files */
    size_t names;
    struct trace_text *why;
};

static int refuse(struct unpacking *pack, const char *name, const char *why)
{
    test_log_sanitize_line(pack->why, name);
    trace_text_printf(pack->why, " %s", why);
    return -1;
}

/* Names the kind of an entry that no run contains; NULL: a file or a folder. */
static const char *foreign_kind(struct archive_entry *entry)
{
    if (la.archive_entry_hardlink(entry))
        return "is a hard link";
    switch (la.archive_entry_filetype(entry)) {
    case S_IFREG:
    case S_IFDIR:
        return NULL;
    case S_IFLNK:
        return "is a symbolic link";
    case S_IFIFO:
        return "is a FIFO";
    default:
        return "is a device or a socket";
    }
}

/* Tells whether a run can have a file of this name: no part of it is hidden. */
static bool is_plain(const char *name)
{
    size_t depth = 0;

    for (;; name++) {
        size_t size = strcspn(name, "/");

        if (!size || size > NAME_MAX || ++depth > RUNNERS_ARCHIVE_DEPTH ||
            name[0] == '.')
            return false;
        name += size;
        if (!*name)
            return true;
    }
}

/* Tells whether a name below a run is that of its scratch file, or beneath it.
 */
static bool is_scratch(const char *below)
{
    static const char name[] = "/" TEST_LOG_SCRATCH;
    size_t size = strlen(name);

    return !strncmp(below, name, size) && (!below[size] || below[size] == '/');
}

/* Checks that all entries are in one folder, which the first one names. */
static int check_run(struct unpacking *pack, const char *name, bool is_folder)
{
    size_t size = strcspn(name, "/");

    if (!name[size] && !is_folder)
        return refuse(pack, name, "is not in the folder of a run");
    if (!pack->run[0] && !runners_is_run_name(name, size))
        return refuse(pack, name, "is in a folder whose name no run has");
    if (is_scratch(name + size))
        return refuse(pack, name, "names another folder");
    if (!pack->run[0])
        memcpy(pack->run, name, size);
    if (strlen(pack->run) == size && !strncmp(pack->run, name, size))
        return 0;
    return refuse(pack, name, "is not in the folder of the run");
}

static int make_folder(struct unpacking *pack, const char *name)
{
    if (!mkdirat(pack->folder, name, 0777)) {
        pack->names++;
        return 0;
    }
    return errno == EEXIST ? 0 : refuse(pack, name, strerror(errno));
}

/* The size of the part of a name, up to a slash, that it shares with the last
 * one: these folders exist. */
static size_t shared_size(const struct unpacking *pack, const char *name)
{
    const char *before = pack->before ? pack->before : "";
    size_t shared = 0;

    for (size_t i = 0; name[i] && name[i] == before[i]; i++)
        if (name[i] == '/')
            shared = i + 1;
    return shared;
}

/* Makes the folders above a name. */
static int make_folders(struct unpacking *pack, char *name)
{
    char *at = name + shared_size(pack, name);
    int status = 0;

    for (; !status && (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        status = make_folder(pack, name);
    }
    if (!status) {
        free(pack->before);
        pack->before = strdup(name);
    }
    return status;
}

static int copy_contents(struct unpacking *pack)
{
    static char bytes[BLOCK];
    ssize_t got;

    while ((got = la.archive_read_data(pack->archive, bytes, sizeof(bytes))) >
           0) {
        pack->size += (size_t)got;
        if (pack->size > pack->most->bytes) {
            trace_text_string(pack->why, "it expands to more than ");
            log_bytes(pack->why, pack->most->bytes);
            return -1;
        }
        if (!runners_holes_put(&pack->out, bytes, (size_t)got))
            break;
    }
    if (got < 0) {
        say_why(pack->why, pack->archive);
        return -1;
    }
    if (!runners_holes_end(&pack->out))
        return 0;
    trace_text_string(pack->why, pack->out.why);
    return -1;
}

static int make_file(struct unpacking *pack, const char *name)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, status;

    pack->out.out = openat(pack->folder, name, flags, 0666);
    if (pack->out.out < 0)
        return refuse(pack, name,
                      errno == EEXIST ? "exists twice" : strerror(errno));
    pack->names++;
    pack->out.size = 0;
    status = copy_contents(pack);
    close(pack->out.out);
    return status;
}

/* `name` has no slash at its end. */
static int unpack(struct unpacking *pack, struct archive_entry *entry,
                  char *name)
{
    bool is_folder = la.archive_entry_filetype(entry) == S_IFDIR;
    const char *kind = foreign_kind(entry);

    if (kind)
        return refuse(pack, name, kind);
    if (!is_plain(name))
        return refuse(pack, name, "is not a name in a run");
    if (check_run(pack, name, is_folder) || make_folders(pack, name))
        return -1;
    if (is_folder ? make_folder(pack, name) : make_file(pack, name))
        return -1;
    if (pack->names <= pack->most->names)
        return 0;
    trace_text_printf(pack->why, "it has more than %zu files",
                      pack->most->names);
    return -1;
}

static int unpack_all(struct unpacking *pack)
{
    struct archive_entry *entry;
    int next, status;

    while ((next = la.archive_read_next_header(pack->archive, &entry)) ==
           ARCHIVE_OK) {
        const char *path = la.archive_entry_pathname(entry);
        char *name = strdup(path ? path : "");
        size_t size = name ? strlen(name) : 0;

        if (size > 1 && name[size - 1] == '/')
            name[size - 1] = '\0';
        status = name ? unpack(pack, entry, name) : -1;
        free(name);
        if (status)
            return -1;
    }
    if (next == ARCHIVE_EOF)
        return 0;
    say_why(pack->why, pack->archive);
    return -1;
}

static bool has_run(const struct unpacking *pack)
{
    char name[NAME_MAX + 16];
    struct stat status;

    snprintf(name, sizeof(name), "%s/run.json", pack->run);
    if (!fstatat(pack->folder, name, &status, 0))
        return S_ISREG(status.st_mode);
    snprintf(name, sizeof(name), "%s/results.jsonl", pack->run);
    if (!fstatat(pack->folder, name, &status, 0)) /* it was cut off */
        return S_ISREG(status.st_mode);
    snprintf(name, sizeof(name), "%s/tests", pack->run);
    return !fstatat(pack->folder, name, &status, 0) && S_ISDIR(status.st_mode);
}

int runners_archive_read(int in, int folder, const struct archive_limits *most,
                         char run[NAME_MAX + 1], struct trace_text *why)
{
    struct archive *archive = is_there(why) ? la.archive_read_new() : NULL;
    struct unpacking pack = {.archive = archive,
                             .most = most,
                             .folder = folder,
                             .run = memset(run, 0, NAME_MAX + 1),
                             .out = {.room = runners_holes_room(folder)},
                             .why = why};
    char order[NAME_MAX + 16];
    int status = -1;

    if (!archive && why->size)
        return -1;
    if (!archive || la.archive_read_support_filter_zstd(archive) ||
        la.archive_read_support_format_tar(archive) ||
        la.archive_read_open_fd(archive, in, BLOCK))
        say_why(why, archive);
    else
        status = unpack_all(&pack);
    if (archive)
        la.archive_read_free(archive);
    free(pack.before);
    if (!status) {
        /* A run's number counts only in the folder where the run took it. */
        snprintf(order, sizeof(order), "%s/" TEST_LOG_ORDER, run);
        unlinkat(folder, order, 0);
    }
    if (status || has_run(&pack))
        return status;
    trace_text_string(why, "it contains no run");
    return -1;
}
