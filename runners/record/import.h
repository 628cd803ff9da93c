/* import.h: runs of what other tools have recorded. Private. */
#ifndef TESTLOG_IMPORT_H
#define TESTLOG_IMPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "runners/record/made_recording.h"
#include "trace/samples/sampler.h"

/* Records of another tool. The zero value has none. */
struct imported {
    struct runners_made_recording recording;
    struct trace_sampler sampler;
    uint32_t pid;     /* of the first process */
    char program[64]; /* its name */
};

/* runners_import_uftrace reads the folder of `uftrace record`, and
 * runners_import_perf a file of `perf record`. They return NULL, or what is
 * wrong, to be freed. */
char *runners_import_uftrace(const char *data, struct imported *);
char *runners_import_perf(const char *data, struct imported *);

/* ---- import.c ---- */

/* runners_import_save writes a recording to process.PID in a folder. It returns
 * NULL, or what is wrong, to be freed. */
char *runners_import_save(struct imported *, const char *folder);
void runners_import_free(struct imported *);

/* ---- tool_output.c ---- */

/* runners_needs returns whether a program is installed; if not, it prints which
 * package has it. */
bool runners_needs(const char *command, const char *program,
                   const char *package);

/* runners_tool_open runs a program that reads `data`, a file or folder, and
 * returns its standard output; NULL with errno. The program ends with us, and
 * once it has taken much more time than such data needs. runners_tool_close
 * waits for its end, and returns NULL, or what is wrong, to be freed. */
FILE *runners_tool_open(const char *const *argv, const char *data);
char *runners_tool_close(FILE *, const char *program);

#endif
