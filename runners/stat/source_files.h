/* source_files.h: reads lines of source files. Private. */
#ifndef TESTLOG_SOURCE_FILES_H
#define TESTLOG_SOURCE_FILES_H

#include "trace/base/containers.h"

struct source_file;

/* Files that were read. The zero value has none. */
struct source_files {
    struct source_file *all;
    size_t count, capacity;
    struct trace_table by_path;
};

/* runners_source_line returns a line, from 1 on, of the file at a path; "" if
 * it cannot be read, or the path is NULL. It is valid until the next call. */
const char *runners_source_line(struct source_files *, const char *path,
                                uint32_t line);
void runners_sources_free(struct source_files *);

#endif
