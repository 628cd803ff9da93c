/* calls.h: notes the calls that a stand-in gets. */
#ifndef TESTS_PLAYBACK_CALLS_H
#define TESTS_PLAYBACK_CALLS_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* calls_note adds a line to the file that PLAYBACK_CALLS names. */
static inline void calls_note(const char *call, long argument)
{
    const char *path = getenv("PLAYBACK_CALLS");
    int fd =
        path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;

    if (fd < 0)
        return;
    dprintf(fd, "%s %ld\n", call, argument);
    close(fd);
}

#endif
