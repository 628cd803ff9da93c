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

#include <archive.h>
#include <archive_entry.h>
#include <zstd.h>

#include "archive.h"
#include "harness/machine/notice.h"
#include "harness/run/folder/run_order.h"
#include "harness/run/folder/scratch.h"
#include "log/devices/device_summary.h"
#include "trace/base/file.h"
#include "trace/read/reader.h"

enum {
    BLOCK = 128 << 10, /* bytes that are read at once */
    LEVEL = 9,         /* others take much longer, and save little */
};

/* ---- Writing ---- */

/* libarchive's own filter for zstd writes no checksum. */
struct compressing {
    ZSTD_CCtx *context;
    FILE *stream;
    bool failed; /* nothing more is written */
};

static la_ssize_t compress_block(struct archive *archive,
                                 const struct compressing *to,
                                 ZSTD_inBuffer *in, ZSTD_EndDirective step)
{
    static char bytes[BLOCK];
    size_t left;

    do {
        ZSTD_outBuffer out = {bytes, sizeof(bytes), 0};

        left = ZSTD_compressStream2(to->context, &out, in, step);
        if (ZSTD_isError(left)) {
            archive_set_error(archive, EINVAL, "%s", ZSTD_getErrorName(left));
            return -1;
        }
        if (fwrite(bytes, 1, out.pos, to->stream) < out.pos) {
            archive_set_error(archive, errno, "%s", strerror(errno));
            return -1;
        }
    } while (step == ZSTD_e_end ? left : in->pos < in->size);
    return (la_ssize_t)in->size;
}

static la_ssize_t compress_bytes(struct archive *archive, void *context,
                                 const void *bytes, size_t size)
{
    const struct compressing *to = context;
    ZSTD_inBuffer in = {bytes, size, 0};

    if (to->failed) /* libarchive writes the rest when it is freed */
        return (la_ssize_t)size;
    return compress_block(archive, to, &in, ZSTD_e_continue);
}

/* libarchive ignores failures of its close callback. */
static int compress_end(struct archive *archive, const struct compressing *to)
{
    ZSTD_inBuffer in = {NULL, 0, 0};

    if (compress_block(archive, to, &in, ZSTD_e_end) < 0)
        return -1;
    if (!fflush(to->stream))
        return 0;
    archive_set_error(archive, errno, "%s", strerror(errno));
    return -1;
}

/* Appends the contents of the entry. If a test still writes to the file, its
 * size may have changed: libarchive cuts or fills it. */
static int write_contents(struct archive *archive, int fd)
{
    static char bytes[BLOCK];
    ssize_t got;

    while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
        la_ssize_t put = archive_write_data(archive, bytes, (size_t)got);

        if (put < 0)
            return -1;
        if (put < got)
            return 0;
    }
    if (got < 0)
        archive_set_error(archive, errno, "%s", strerror(errno));
    return got < 0 ? -1 : 0;
}

static int write_entry(struct archive *archive, int fd, const char *run,
                       const char *name)
{
    struct archive_entry *entry = archive_entry_new();
    struct trace_text path = {0};
    struct stat status;
    int result = -1;

    trace_text_printf(&path, "%s/%s", run, name);
    if (!entry || path.failed || fstat(fd, &status)) {
        archive_set_error(archive, ENOMEM, "%s", strerror(ENOMEM));
    } else {
        archive_entry_copy_pathname(entry, path.data);
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, status.st_size);
        archive_entry_set_mtime(entry, 0, 0);
        if (archive_write_header(archive, entry) == ARCHIVE_OK)
            result = write_contents(archive, fd);
    }
    archive_entry_free(entry);
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
            archive_set_error(archive, errno, "cannot read %s: %s", names[i],
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
    const char *text = archive ? archive_error_string(archive) : NULL;

    trace_text_string(why, text ? text : "out of memory");
}

int runners_archive_write(FILE *stream, int folder, const char *run,
                          char *const *names, size_t count,
                          struct trace_text *why)
{
    struct compressing to = {ZSTD_createCCtx(), stream, false};
    struct archive *archive = archive_write_new();
    int status = -1;

    ZSTD_CCtx_setParameter(to.context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(to.context, ZSTD_c_checksumFlag, 1);
    if (to.context && archive && !archive_write_set_format_gnutar(archive) &&
        !archive_write_open2(archive, &to, NULL, compress_bytes, NULL, NULL) &&
        !write_all(archive, folder, run, names, count) &&
        !archive_write_close(archive) && !compress_end(archive, &to))
        status = 0;
    if (status)
        say_why(why, archive);
    to.failed = status;
    archive_write_free(archive);
    ZSTD_freeCCtx(to.context);
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
    if (archive_entry_hardlink(entry))
        return "is a hard link";
    switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
    case AE_IFDIR:
        return NULL;
    case AE_IFLNK:
        return "is a symbolic link";
    case AE_IFIFO:
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
    la_ssize_t got;

    while ((got = archive_read_data(pack->archive, bytes, sizeof(bytes))) > 0) {
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
    bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
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

static int unpack_entry(struct unpacking *pack, struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);
    char *name = strdup(path ? path : "");
    size_t size = name ? strlen(name) : 0;
    int status = -1;

    if (size > 1 && name[size - 1] == '/')
        name[size - 1] = '\0';
    if (name)
        status = unpack(pack, entry, name);
    free(name);
    return status;
}

static int unpack_all(struct unpacking *pack)
{
    struct archive_entry *entry;
    int next;

    while ((next = archive_read_next_header(pack->archive, &entry)) ==
           ARCHIVE_OK)
        if (unpack_entry(pack, entry))
            return -1;
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
    snprintf(name, sizeof(name), "%s/tests", pack->run);
    return !fstatat(pack->folder, name, &status, 0) && S_ISDIR(status.st_mode);
}

/* A run's number counts only in the folder where the run took it. */
static void remove_order(const struct unpacking *pack)
{
    char name[NAME_MAX + 16];

    snprintf(name, sizeof(name), "%s/" TEST_LOG_ORDER, pack->run);
    unlinkat(pack->folder, name, 0);
}

int runners_archive_read(int in, int folder, const struct archive_limits *most,
                         char run[NAME_MAX + 1], struct trace_text *why)
{
    struct archive *archive = archive_read_new();
    struct unpacking pack = {.archive = archive,
                             .most = most,
                             .folder = folder,
                             .run = memset(run, 0, NAME_MAX + 1),
                             .out = {.room = runners_holes_room(folder)},
                             .why = why};
    int status = -1;

    if (!archive || archive_read_support_filter_zstd(archive) ||
        archive_read_support_format_tar(archive) ||
        archive_read_open_fd(archive, in, BLOCK))
        say_why(why, archive);
    else
        status = unpack_all(&pack);
    archive_read_free(archive);
    free(pack.before);
    if (!status)
        remove_order(&pack);
    if (status || has_run(&pack))
        return status;
    trace_text_string(why, "it contains no run");
    return -1;
}
