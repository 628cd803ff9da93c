/* run_folder.h: the folder of a run and the files in it. Private. */
#ifndef TESTLOG_RUN_FOLDER_H
#define TESTLOG_RUN_FOLDER_H

#include <sys/types.h>

#include "harness/run/model/model.h"
#include "trace/base/file.h"

/* ---- run_folder.c ---- */

/* test_log_run_open creates the folder of a new run below `dir`, or joins its
 * parent's run, and creates a folder for `program` (a path) if not NULL. If
 * `dir` cannot be written to, or is the default and belongs to a user whom we
 * do not trust, it prints why and the run goes to a temporary folder; -1 if
 * that fails, too. */
int test_log_run_open(struct test_log_run *, const char *dir,
                      const char *program);

/* test_log_run_open_at does the same with the new folder `path`; -1 with errno,
 * and the caller removes what is there. */
int test_log_run_open_at(struct test_log_run *, const char *path,
                         const char *program);

/* test_log_run_is_in tells whether a run is in the folder `dir`: it may be in a
 * temporary one. */
bool test_log_run_is_in(const struct test_log_run *, const char *dir);

/* test_log_program_name returns the name of the number-th program with a base
 * name, "name" or "name~2", to be freed; NULL without memory. */
char *test_log_program_name(const char *program, unsigned number);

/* test_log_free_number returns for which number a run has no folder `name`:
 * "name~2" for 2, `name` itself for 1; 0 with errno if the name is too long. */
unsigned test_log_free_number(const struct test_log_run *, const char *name);

/* test_log_program_folder finds a free name for a program's folder: "name",
 * "name~2", ... */
char *test_log_program_folder(const struct test_log_run *, const char *program);

/* test_log_make_program_folder makes the folder of a program, "tests/NAME",
 * unless it exists; -1 with errno. The name may be that of a process of it,
 * "NAME/process.2". */
int test_log_make_program_folder(const struct test_log_run *, const char *name);

/* test_log_process_folder returns the name of the folder, below "tests/", for
 * files of this process of the program, which are not of one test. */
const char *test_log_process_folder(const struct test_log_run *);

/* test_log_make_folders makes a folder and those above it; -1 with errno. */
int test_log_make_folders(const char *path);

/* test_log_disk_full tells whether there is no room for even one recording. */
bool test_log_disk_full(const char *path);

/* test_log_file_limit returns how many bytes a file may have (ulimit -f),
 * UINT64_MAX without a limit. */
uint64_t test_log_file_limit(void);

/* ---- run_files.c ---- */

/* test_log_path joins a run's path and `name` into `path` of PATH_MAX bytes;
 * -1 if it is too long. */
int test_log_path(const struct test_log_run *, const char *name, char *path);

/* test_log_file joins the path of a test's file; -1 if it has none. Both are
 * for printing: files are opened with the functions below. */
int test_log_file(const struct test_log_run *, const struct test_log_result *,
                  const char *name, char *path);

/* test_log_local_path and test_log_local_file do the same with the folder that
 * holds the files until the run ends. */
int test_log_local_path(const struct test_log_run *, const char *name,
                        char *path);
int test_log_local_file(const struct test_log_run *,
                        const struct test_log_result *, const char *name,
                        char *path);

/* test_log_open opens a file of a run as trace_beneath does; test_log_create,
 * and test_log_create_file for a test's file, begin a file that appears only
 * when it is complete; test_log_read opens a test's file for reading. On
 * failure -1 or NULL, with errno. */
int test_log_open(const struct test_log_run *, const char *name, int flags);
int test_log_create(const struct test_log_run *, const char *name,
                    struct trace_file *);
int test_log_create_file(const struct test_log_run *,
                         const struct test_log_result *, const char *file,
                         struct trace_file *);
FILE *test_log_read(const struct test_log_run *, const struct test_log_result *,
                    const char *file);

/* test_log_recording opens a test's recording; test_log_change_recording calls
 * trace_seal_beneath or trace_shrink_beneath for it. */
struct trace_reader *test_log_recording(const struct test_log_run *,
                                        const struct test_log_result *);
int test_log_change_recording(const struct test_log_run *,
                              const struct test_log_result *,
                              int (*change)(int folder, const char *name));

/* test_log_make_folder makes a folder whose parents exist; test_log_remove
 * removes a file. -1 with errno. */
int test_log_make_folder(const struct test_log_run *, const char *name);
int test_log_remove(const struct test_log_run *, const char *name);

/* test_log_lock waits for a file's exclusive lock, a second at most: the
 * process that holds it may be stopped. */
void test_log_lock(int fd);

/* ---- trust.c: whose files are trusted ---- */

/* test_log_trusts tells whether a user is the current one, root, the one who
 * called sudo, or one who could replace this program or one that was passed to
 * test_log_trust_program; test_log_trust_end forgets these programs. */
bool test_log_trusts(uid_t user);
void test_log_trust_program(const char *path);
void test_log_trust_end(void);

/* test_log_trusts_folder tells whether a folder, and a link to it, belongs to
 * such a user, and otherwise who owns it; a missing one is trusted. */
bool test_log_trusts_folder(const char *path, uid_t *owner);

/* test_log_trusts_file tells whether code may be loaded from a file: the file
 * and all folders above its absolute path, which contains no links, belong to
 * such users, and no other user can replace it. */
bool test_log_trusts_file(const char *path);

#endif
