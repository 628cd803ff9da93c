/* file.c: files that appear complete. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

/* Preserves errno. */
static void forget(struct trace_file *file)
{
    int error = errno;

    if (file->folder > 0)
        close(file->folder);
    free(file->path);
    free(file->aside);
    *file = (struct trace_file){0};
    errno = error;
}

/* A link is kept; the file that it points to is replaced. */
static char *resolve(const char *path)
{
    char *real = realpath(path, NULL);

    return real ? real : strdup(path);
}

static void remove_aside(const struct trace_file *file)
{
    int error = errno;

    unlinkat(file->folder, file->aside, 0);
    errno = error;
}

/* Never opens an existing file, nor follows a link. */
static FILE *open_aside(const struct trace_file *file)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(file->folder, file->aside, flags, 0666);
    FILE *stream;

    if (fd < 0 && errno == EEXIST) {
        remove_aside(file);
        fd = openat(file->folder, file->aside, flags, 0666);
    }
    if (fd < 0)
        return NULL;
    stream = fdopen(fd, "w");
    if (stream)
        return stream;
    remove_aside(file);
    close(fd);
    return NULL;
}

/* Creates a temporary file in the same folder. */
static int begin(struct trace_file *file)
{
    if (!file->path ||
        asprintf(&file->aside, "%s.%ld.part", file->path, (long)getpid()) < 0)
        file->aside = NULL;
    else
        file->stream = open_aside(file);
    if (file->stream)
        return 0;
    forget(file);
    return -1;
}

int trace_file_open(struct trace_file *file, const char *path)
{
    struct stat status;
    bool there = !stat(path, &status);

    *file = (struct trace_file){.folder = AT_FDCWD,
                                .path = there ? resolve(path) : strdup(path)};
    if (!there || S_ISREG(status.st_mode))
        return begin(file);
    /* A pipe or a device, for example, cannot be replaced. */
    file->stream = fopen(path, "we");
    if (file->stream)
        return 0;
    forget(file);
    return -1;
}

int trace_file_beneath(struct trace_file *file, int folder, const char *name)
{
    *file = (struct trace_file){0};
    file->folder = trace_beneath_folder(folder, name, &name);
    if (file->folder >= 0)
        file->path = strdup(name);
    return begin(file);
}

void trace_file_abandon(struct trace_file *file)
{
    if (!file->stream)
        return;
    fclose(file->stream);
    if (file->aside)
        remove_aside(file);
    forget(file);
}

int trace_file_commit(struct trace_file *file)
{
    bool failed = ferror(file->stream);

    errno = failed ? EIO : 0;
    failed |= fclose(file->stream) != 0;
    if (!failed && file->aside)
        failed = renameat(file->folder, file->aside, file->folder, file->path);

    int error = errno;

    if (failed && file->aside)
        remove_aside(file);
    forget(file);
    errno = error;
    return failed ? -1 : 0;
}
