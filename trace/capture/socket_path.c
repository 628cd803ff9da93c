/* socket_path.c: where programs listen for testlog capture. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"

void trace_socket_folder(char path[PATH_MAX], const char *runtime)
{
    if (runtime)
        snprintf(path, PATH_MAX, "%s/testlog", runtime);
    else
        snprintf(path, PATH_MAX, "/tmp/testlog-%u", (unsigned)geteuid());
}

/* Anybody can make a folder in /tmp before us. */
int trace_socket_folder_make(const char *path)
{
    struct stat status;

    if ((mkdir(path, 0700) && errno != EEXIST) || lstat(path, &status))
        return -1;
    if (S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
        !(status.st_mode & 077))
        return 0;
    errno = EPERM;
    return -1;
}
