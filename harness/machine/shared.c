/* shared.c: tells shared file systems from local ones.
 *
 * The numbers are from statfs(2), linux/magic.h and the file systems' sources.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/scratch.h"
#include "trace/read/reader.h"

static const struct {
    uint32_t number;
    const char *name;
} kinds[] = {
    {0x00006969, "NFS"},    {0x0000517b, "SMB"},      {0xfe534d42, "SMB"},
    {0xff534d42, "CIFS"},   {0x01021997, "9p"},       {0x65735546, "FUSE"},
    {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},     {0x00c36400, "Ceph"},
    {0x19830326, "BeeGFS"}, {0xaad7aaea, "PanFS"},    {0x5346414f, "AFS"},
    {0x6b414653, "AFS"},    {0x73757245, "Coda"},     {0x7461636f, "OCFS2"},
    {0x01161970, "GFS2"},   {0x20030528, "OrangeFS"}, {0x786f4256, "vboxsf"},
    {0xbacbacbc, "vmhgfs"},
};

const char *test_log_shared_kind(int folder)
{
    struct statfs status;

    if (fstatfs(folder, &status))
        return NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (kinds[i].number == (uint32_t)status.f_type)
            return kinds[i].name;
    return NULL;
}

bool test_log_shared_can_map(int folder)
{
    static const char name[] = ".testlog-probe";
    int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool can = true;
    void *page;

    if (fd < 0)
        return true;
    if (!ftruncate(fd, 1)) {
        page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        can = page != MAP_FAILED || (errno != ENODEV && errno != EINVAL);
        if (page != MAP_FAILED)
            munmap(page, 1);
    }
    close(fd);
    unlinkat(folder, name, 0);
    return can;
}

/* Tells whether a folder is local and has space for a recording. */
static bool is_local(const char *path)
{
    int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct statvfs disk;
    bool good =
        folder >= 0 && !access(path, W_OK) && !fstatvfs(folder, &disk) &&
        (uint64_t)disk.f_bavail * disk.f_frsize >= TRACE_LIMIT_DEFAULT &&
        !test_log_shared_kind(folder) && test_log_shared_can_map(folder);

    if (folder >= 0)
        close(folder);
    return good;
}

const char *test_log_shared_local(void)
{
    const char *places[] = {test_log_variable("TMPDIR"), "/tmp", "/dev/shm"};

    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
        if (places[i] && is_local(places[i]))
            return places[i];
    return NULL;
}
