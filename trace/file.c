/* file.c: files that appear complete. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

static void forget(struct trace_file *file)
{
    free(file->path);
    free(file->aside);
    *file = (struct trace_file){0};
}

/* A link stays one: what it points to is replaced. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : strdup(path);
}

int trace_file_open(struct trace_file *file, const char *path)
{
    struct stat status;
    bool there = !stat(path, &status);
    /* Such as a pipe or a device: nothing can be put in its place. */
    bool special = there && !S_ISREG(status.st_mode);

    *file = (struct trace_file){.path = there ? resolve(path) : strdup(path)};
    if (special)
        file->stream = fopen(path, "we");
    else if (file->path && asprintf(&file->aside, "%s.%ld.part", file->path,
                                    (long)getpid()) >= 0)
        file->stream = fopen(file->aside, "we");
    else
        file->aside = NULL;
    if (file->stream)
        return 0;

    int error = errno;

    forget(file);
    errno = error;
    return -1;
}

void trace_file_abandon(struct trace_file *file)
{
    if (!file->stream)
        return;
    fclose(file->stream);
    if (file->aside)
        unlink(file->aside);
    forget(file);
}

int trace_file_commit(struct trace_file *file)
{
    bool failed = ferror(file->stream);

    errno = failed ? EIO : 0;
    failed |= fclose(file->stream) != 0;
    if (!failed && file->aside)
        failed = rename(file->aside, file->path) != 0;

    int error = errno;

    if (failed && file->aside)
        unlink(file->aside);
    forget(file);
    errno = error;
    return failed ? -1 : 0;
}
