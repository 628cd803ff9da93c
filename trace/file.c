/* file.c: files that appear complete. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader.h"

static void forget(struct trace_file *file)
{
    free(file->path);
    free(file->aside);
    *file = (struct trace_file){0};
}

int trace_file_open(struct trace_file *file, const char *path)
{
    *file = (struct trace_file){.path = strdup(path)};
    if (!file->path ||
        asprintf(&file->aside, "%s.%ld.part", path, (long)getpid()) < 0)
        file->aside = NULL;
    if (file->aside)
        file->stream = fopen(file->aside, "we");
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
    unlink(file->aside);
    forget(file);
}

int trace_file_commit(struct trace_file *file)
{
    bool failed = ferror(file->stream);

    errno = failed ? EIO : 0;
    failed |= fclose(file->stream) != 0;
    if (!failed)
        failed = rename(file->aside, file->path) != 0;

    int error = errno;

    if (failed)
        unlink(file->aside);
    forget(file);
    errno = error;
    return failed ? -1 : 0;
}
