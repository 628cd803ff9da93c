/* archive.h: packs, which are runs as archives. Private. */
#ifndef TESTLOG_ARCHIVE_H
#define TESTLOG_ARCHIVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct trace_text;

/* The limits of a pack. */
struct archive_limits {
    uint64_t bytes; /* of all files, with holes */
    size_t names;   /* of files and folders */
};

#define RUNNERS_ARCHIVE_LIMITS                                                 \
    {                                                                          \
        .bytes = UINT64_C(64) << 30, .names = 1000000                          \
    }

enum { RUNNERS_ARCHIVE_DEPTH = 32 /* of folders */ };

/* ---- archive.c ---- */

/* runners_archive_write writes files in a folder as a pack, below the name
 * `run`. On failure it returns -1 and adds why. */
int runners_archive_write(FILE *, int folder, const char *run,
                          char *const *names, size_t count,
                          struct trace_text *why);

/* runners_archive_read unpacks a pack into a new folder and returns the run's
 * name in a text. It creates only files and folders below that folder. On
 * failure it returns -1, adds why, and may leave some of them. */
int runners_archive_read(int in, int folder, const struct archive_limits *,
                         char run[NAME_MAX + 1], struct trace_text *why);

/* ---- sparse_file.c ---- */

/* A file that is written block by block; zeros become holes. */
struct holes_file {
    int out;
    uint64_t size, written; /* bytes, with and without holes */
    uint64_t room;          /* how many bytes may be written */
    const char *why;        /* what is wrong; NULL: nothing */
};

/* runners_holes_room returns half of the free space where a file is: a small
 * file can expand to more than any disk or memory has. */
uint64_t runners_holes_room(int fd);

/* runners_holes_put appends a block; false if something is wrong. */
bool runners_holes_put(struct holes_file *, const char *bytes, size_t size);

/* runners_holes_end gives the file its size, and returns what is wrong. */
const char *runners_holes_end(struct holes_file *);

/* ---- run_name.c ---- */

/* runners_is_run_name tells whether the folder of a run in a pack may have a
 * name. It may contain letters, digits and ._-+: only, so that unpacking never
 * creates a hidden folder, an option or a second "latest". */
bool runners_is_run_name(const char *name, size_t size);

/* ---- packed.c ---- */

/* runners_unpack unpacks the pack at a path into an open folder; false if it
 * has printed why it cannot, after `command`, which is "pack: " or "". `run`
 * becomes the name of the run. */
bool runners_unpack(const char *command, const char *path, int folder,
                    char run[NAME_MAX + 1]);

/* ---- temporary.c ---- */

/* runners_temporary returns the path of a new empty folder, to be freed. The
 * folder is removed when the process ends, even if it is killed. NULL with
 * errno. */
char *runners_temporary(void);

#endif
