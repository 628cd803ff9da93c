/* packed.c: opens the runs in packs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "find.h"
#include "harness/machine/notice.h"
#include "harness/machine/zstd.h"
#include "runners/runners.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

/* ---- Recognizing ---- */

enum {
    BEGINNING = 256 << 10, /* compressed bytes; a block has 128 KiB at most */
    MAGIC_AT = 257         /* in a header of tar */
};

/* Tells whether compressed bytes begin as a tar file does. zstd decompresses
 * whole blocks only. */
static bool is_tar(const char *bytes, size_t size)
{
    static const char magic[] = "ustar";
    char header[MAGIC_AT + sizeof(magic)] = "";
    struct zstd_expander *context =
        test_log_zstd_open() ? test_log_zstd.ZSTD_createDCtx() : NULL;
    struct zstd_in in = {bytes, size, 0};
    struct zstd_out out = {header, sizeof(header), 0};
    size_t left = 1;

    while (context && left && !test_log_zstd.ZSTD_isError(left) &&
           in.at < in.size && out.at < out.size)
        left = test_log_zstd.ZSTD_decompressStream(context, &out, &in);
    if (context)
        test_log_zstd.ZSTD_freeDCtx(context);
    return !memcmp(header + MAGIC_AT, magic, strlen(magic));
}

bool runners_is_named_pack(const char *path)
{
    static const char suffix[] = RUNNERS_PACK_SUFFIX;
    size_t size = strlen(path), end = strlen(suffix);

    return size > end && !strcmp(path + size - end, suffix);
}

static bool is_packed(const char *path)
{
    static char bytes[BEGINNING];
    struct stat status;
    ssize_t size;
    int fd;

    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    if (runners_is_named_pack(path))
        return true;
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    size = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));
    if (fd >= 0)
        close(fd);
    return size > 0 && is_tar(bytes, (size_t)size);
}

/* ---- Unpacking ---- */

/* Opens a file that is no folder; -1 with errno. */
static int open_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &status) || !S_ISDIR(status.st_mode))
        return fd;
    close(fd);
    errno = EISDIR;
    return -1;
}

bool runners_unpack(const char *command, const char *path, int folder,
                    char run[NAME_MAX + 1])
{
    static const struct archive_limits most = RUNNERS_ARCHIVE_LIMITS;
    struct trace_text why = {0};
    int in = open_file(path);
    bool good = false;

    if (in < 0)
        trace_text_string(&why, strerror(errno));
    else
        good = !runners_archive_read(in, folder, &most, run, &why);
    if (!good)
        test_log_notice("%scannot open the pack %s: %s", command, path,
                        why.data ? why.data : "out of memory");
    if (in >= 0)
        close(in);
    trace_text_free(&why);
    return good;
}

/* ---- Opened packs ---- */

static struct {
    struct opened {
        char *run, *pack; /* paths */
    } * all;
    size_t count, capacity;
} opened;

static bool add_opened(const char *run, const char *pack)
{
    if (!TRACE_ARRAY_RESERVE(opened.all, opened.capacity, opened.count + 1))
        return false;
    opened.all[opened.count++] = (struct opened){strdup(run), strdup(pack)};
    return true;
}

/* Unpacks a pack into a folder of its own; puts the path of the run. */
static bool open_packed(const char *pack, char path[PATH_MAX])
{
    char run[NAME_MAX + 1], *folder = runners_temporary();
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool good = false;

    if (fd < 0) {
        test_log_notice("cannot open the pack %s: no temporary folder: %s; "
                        "set TMPDIR",
                        pack, strerror(errno));
    } else {
        good = runners_unpack("", pack, fd, run) &&
               snprintf(path, PATH_MAX, "%s/%s", folder, run) < PATH_MAX &&
               add_opened(path, pack);
        close(fd);
    }
    free(folder);
    return good;
}

bool runners_open_packed(char path[PATH_MAX])
{
    char run[PATH_MAX];

    if (!is_packed(path))
        return true;
    if (!open_packed(path, run)) {
        errno = EBADMSG;
        return false;
    }
    memcpy(path, run, sizeof(run));
    return true;
}

const char *runners_pack_of(const char *run)
{
    for (size_t i = 0; i < opened.count; i++)
        if (!strcmp(opened.all[i].run, run))
            return opened.all[i].pack;
    return NULL;
}

const char *runners_name_of(const char *run)
{
    const char *pack = runners_pack_of(run);

    return pack ? pack : run;
}
