/* write_all.c: writes to a descriptor until all is written. */
#include <errno.h>
#include <unistd.h>

#include "harness/machine/notice.h"

int test_log_write_all(int fd, const char *data, size_t size)
{
    ssize_t wrote = 0;

    while (size && ((wrote = write(fd, data, size)) > 0 || errno == EINTR))
        if (wrote > 0) {
            data += wrote;
            size -= (size_t)wrote;
        }
    return size ? -1 : 0;
}
