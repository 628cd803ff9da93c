/* report_pipes.c: reads reports while they are written. Check begins a report
 * anew for each runner, so that a file would have the last one only.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "framework_program.h"

enum {
    ROOM = 1 << 20,         /* bytes that a program writes without a reader */
    READS_MOST = 64,        /* at a time */
    REPORT_MOST = 512 << 20 /* bytes */
};

static bool path_of(const struct framework_program *program, size_t i,
                    char path[PATH_MAX])
{
    const char *name = program->framework->pipes[i];

    return name && program->folder &&
           snprintf(path, PATH_MAX, "%s/%s", program->folder, name) < PATH_MAX;
}

/* Where the file system has no pipes, there will be a file. */
void runners_report_pipes_open(struct framework_program *program)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < FRAMEWORK_PIPES; i++) {
        struct report_pipe *pipe = &program->pipes[i];

        trace_text_clear(&pipe->text);
        if (!path_of(program, i, path) || mkfifo(path, 0600))
            continue;
        pipe->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (pipe->fd < 0) {
            pipe->fd = 0;
            unlink(path);
            continue;
        }
        fcntl(pipe->fd, F_SETPIPE_SZ, ROOM);
    }
}

bool runners_framework_needs_checks(const struct framework_program *program)
{
    return program->place.limit > 0 ||
           (program->framework->pipes[0] && !program->has_adapter);
}

/* A program that never stops writing must not keep us. */
void runners_report_pipes_read(struct framework_program *program)
{
    char bytes[65536];

    for (size_t i = 0; i < FRAMEWORK_PIPES; i++) {
        struct report_pipe *pipe = &program->pipes[i];
        ssize_t size = pipe->fd ? 1 : 0;

        for (int n = 0; n < READS_MOST && size > 0; n++) {
            size = read(pipe->fd, bytes, sizeof(bytes));
            if (size > 0 && pipe->text.size < REPORT_MOST)
                trace_text_add(&pipe->text, bytes, (size_t)size);
        }
    }
}

/* Whether a process has opened the pipe, even if it wrote nothing before it
 * died: it has hung up, or a child of it has not. */
static bool was_opened(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLIN};
    char byte;

    return (poll(&end, 1, 0) == 1 && end.revents) || read(fd, &byte, 1) < 0;
}

static void write_file(const struct trace_text *text, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (!out)
        return;
    fwrite(text->data, 1, text->size, out);
    fclose(out);
}

void runners_report_pipes_end(struct framework_program *program)
{
    char path[PATH_MAX];

    runners_report_pipes_read(program);
    for (size_t i = 0; i < FRAMEWORK_PIPES; i++) {
        struct report_pipe *pipe = &program->pipes[i];

        if (!pipe->fd || !path_of(program, i, path))
            continue;
        if (!unlink(path) && (pipe->text.size || was_opened(pipe->fd)))
            write_file(&pipe->text, path);
        close(pipe->fd);
        pipe->fd = 0;
        trace_text_free(&pipe->text);
    }
}
