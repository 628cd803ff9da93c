/* fuzz_pack.c: unpacks any bytes as a pack. Half of the inputs are tar files
 * that are compressed here, so that not all end at a wrong checksum.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "runners/runs/archive.h"
#include "trace/read/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_of(const uint8_t *data, size_t size)
{
    int fd = memfd_create("pack", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
        lseek(fd, 0, SEEK_SET))
        abort();
    return fd;
}

static int remove_entry(const char *path, const struct stat *status, int type,
                        struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static int compressed(const uint8_t *data, size_t size)
{
    size_t most = ZSTD_compressBound(size);
    uint8_t *bytes = malloc(most);
    size_t all = ZSTD_compress(bytes, most, data, size, 1);
    int fd = ZSTD_isError(all) ? (abort(), -1) : file_of(bytes, all);

    free(bytes);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct archive_limits most = {.bytes = 1 << 20, .names = 64};
    char path[] = "/dev/shm/fuzz-pack-XXXXXX", run[NAME_MAX + 1];
    struct trace_text why = {0};
    int in, folder;

    if (!size || !mkdtemp(path))
        return 0;
    in = *data & 1 ? compressed(data + 1, size - 1) : file_of(data, size);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (runners_archive_read(in, folder, &most, run, &why) && !why.size)
        abort();
    trace_text_free(&why);
    close(folder);
    close(in);
    if (nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS))
        abort();
    return 0;
}
