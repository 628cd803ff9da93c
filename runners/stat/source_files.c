/* source_files.c: reads lines of source files. */
#include "source_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/file.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

enum { SOURCE_MOST = 16 << 20 /* bytes */ };

/* A file; without lines if it cannot be read. */
struct source_file {
    struct trace_text text;
    size_t *lines; /* where each begins */
    size_t count, capacity;
};

/* A recording may come from elsewhere: what it names may be very large. */
static FILE *open_source(const char *path)
{
    int fd = trace_open_regular(path);
    struct stat status;

    if (fd >= 0 && !fstat(fd, &status) && status.st_size <= SOURCE_MOST)
        return fdopen(fd, "r");
    if (fd >= 0)
        close(fd);
    return NULL;
}

static void read_source(struct source_file *source, const char *path)
{
    FILE *file = open_source(path);
    size_t capacity = 0;
    char *line = NULL;

    while (file && getline(&line, &capacity, file) >= 0 &&
           TRACE_ARRAY_RESERVE(source->lines, source->capacity,
                               source->count + 1)) {
        line[strcspn(line, "\r\n")] = '\0';
        source->lines[source->count++] = source->text.size;
        trace_text_add(&source->text, line, strlen(line) + 1);
    }
    if (source->text.failed)
        source->count = 0;
    free(line);
    if (file)
        fclose(file);
}

const char *runners_source_line(struct source_files *files, const char *path,
                                uint32_t line)
{
    const struct source_file *source;
    uintptr_t number = files->count;
    uint64_t key;

    if (!path || !line)
        return "";
    key = trace_hash_string(TRACE_HASH, path);
    if (!trace_table_find(&files->by_path, key, &number)) {
        if (!TRACE_ARRAY_RESERVE(files->all, files->capacity, number + 1) ||
            !trace_table_set(&files->by_path, key, number))
            return "";
        files->all[number] = (struct source_file){.lines = NULL};
        read_source(&files->all[files->count++], path);
    }
    source = &files->all[number];
    return line > source->count ? ""
                                : source->text.data + source->lines[line - 1];
}

void runners_sources_free(struct source_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        trace_text_free(&files->all[i].text);
        free(files->all[i].lines);
    }
    free(files->all);
    trace_table_free(&files->by_path);
    *files = (struct source_files){.all = NULL};
}
