/* file.h: files in a folder that others can write to, and files that appear
 * complete. Private to the project. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* trace_beneath opens the file `name` relative to the descriptor `folder`. It
 * follows no link, does not wait for a FIFO, and refuses "..", anything but
 * regular files, other users' files and, for writing, files with a second name.
 * Relative to AT_FDCWD, for paths from the user, it refuses nothing. Returns a
 * descriptor, or -1 with errno. */
int trace_beneath(int folder, const char *name, int flags);

/* trace_beneath_folder opens the folder of `name` in the same way and sets
 * *last to the name's last part. */
int trace_beneath_folder(int folder, const char *name, const char **last);

/* trace_open_regular opens a file for reading by a path that may come from
 * elsewhere and name anything, such as a FIFO: other kinds of files are
 * refused. Returns a descriptor, or -1 with errno. */
int trace_open_regular(const char *path);

/* trace_file_stamp writes what tells versions of a file apart that has no
 * build-id: its size and when it was modified. A recording has it in place of
 * the build-id. Returns how many bytes it has; 0: there is no such file.
 * trace_is_stamp returns whether an id is one. */
enum { TRACE_FILE_STAMP = 20 };
size_t trace_file_stamp(const char *path,
                        unsigned char stamp[TRACE_FILE_STAMP]);
bool trace_is_stamp(const unsigned char *id, size_t size);

/* trace_file_bytes returns the bytes of a file from its beginning, with a 0
 * behind them, to be freed, and stores how many there are; NULL with errno,
 * EFBIG if there are more than `most`. It opens and closes nothing. */
char *trace_file_bytes(int fd, uint64_t most, size_t *size);

/* trace_allocate reserves a range of a file as posix_fallocate does, also where
 * a container forbids that call. Returns 0 or an error number. */
int trace_allocate(int fd, uint64_t from, uint64_t size);

/* trace_write_at writes all bytes at an offset of a file; -1 with errno. */
int trace_write_at(int fd, const void *bytes, size_t size, uint64_t at);

/* trace_copy_range appends bytes of a file, from `at` on, to a stream. Returns
 * how many it has copied: fewer than `size` at the file's end, or if one of the
 * two fails. */
uint64_t trace_copy_range(int from, uint64_t at, uint64_t size, FILE *to);

/* A file that appears complete: written without a name, or under another one
 * where the file system cannot do that, and moved into place by its commit.
 * Anything but a file, such as a pipe, is written directly. */
struct trace_file {
    FILE *stream; /* NULL: not open */
    int folder;   /* its path is relative to it */
    char *path, *aside;
    bool unnamed; /* there is no file at `aside` */
};

/* trace_file_open follows links, for paths from the user. trace_file_beneath
 * follows none, see trace_beneath. */
int trace_file_open(struct trace_file *, const char *path);
int trace_file_beneath(struct trace_file *, int folder, const char *name);

/* trace_file_commit closes the file and moves it into place if all writes
 * succeeded; otherwise it removes the file. */
int trace_file_commit(struct trace_file *);
void trace_file_abandon(struct trace_file *);

#ifdef __cplusplus
}
#endif

/* trace_proc_is_ours returns whether /proc has the numbers of this process's
 * PID namespace. Otherwise its folders are those of other processes. */
static inline bool trace_proc_is_ours(void)
{
    char self[16] = "";

    return readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
           atol(self) == (long)getpid();
}

#endif
