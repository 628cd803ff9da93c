/* remove_tree.c: removes a folder of the current user and what is in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/remove_tree.h"

enum { DEPTH = 64 }; /* of folders in a run */

int test_log_open_own(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || (!fstat(fd, &status) && status.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static int remove_tree(int dir, const char *name, int depth);

/* Removes what is in a folder, as far as possible. Closes `folder`. */
static int empty_folder(int folder, int depth)
{
    DIR *entries = fdopendir(folder);
    const struct dirent *entry;
    int error = entries ? 0 : errno;

    if (!entries)
        close(folder);
    while (entries && (entry = readdir(entries))) {
        const char *name = entry->d_name;

        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        if (unlinkat(folder, name, 0) &&
            (errno != EISDIR || remove_tree(folder, name, depth - 1)))
            error = errno;
    }
    if (entries)
        closedir(entries);
    errno = error;
    return error ? -1 : 0;
}

static int remove_tree(int dir, const char *name, int depth)
{
    int folder;

    if (depth <= 0) {
        errno = ELOOP;
        return -1;
    }
    folder = test_log_open_own(dir, name);
    if (folder < 0 || empty_folder(folder, depth))
        return -1;
    return unlinkat(dir, name, AT_REMOVEDIR);
}

int test_log_remove_tree(int dir, const char *name)
{
    return remove_tree(dir, name, DEPTH);
}
