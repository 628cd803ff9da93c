/* standard.c: the descriptors that every program begins with. */
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"

/* Opened the wrong way round, they fail as they did. */
void test_log_standard_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}
