/* scratch.h: runs in a shared file system are recorded in a local folder, the
 * scratch folder, and move at their end. Private.
 */
#ifndef TESTLOG_SCRATCH_H
#define TESTLOG_SCRATCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct test_log_run;

/* ---- scratch.c ---- */

/* The file in a run's folder that says where the run is recorded. */
#define TEST_LOG_SCRATCH "scratch"

/* test_log_scratch_check returns false, and prints why, if the setting names a
 * folder that does not exist. */
bool test_log_scratch_check(const char *word);

/* test_log_scratch_begin gives a new run a scratch folder, if run->scratch_word
 * or the file system asks for one. If it cannot, it prints why, and the run is
 * recorded in its own folder. */
void test_log_scratch_begin(struct test_log_run *);

/* test_log_scratch_end moves a run from its scratch folder, if it has one, to
 * its own. If that fails, it prints why, leaves the run where it is, and
 * returns false. */
bool test_log_scratch_end(struct test_log_run *);

/* test_log_scratch_rescue moves runs that were killed on this machine from
 * their scratch folders to the open folder `dir`; `path` is its name in
 * messages. */
void test_log_scratch_rescue(int dir, const char *path);

/* The place where a run is recorded. */
enum test_log_scratch_place {
    TEST_LOG_SCRATCH_NONE,      /* in its own folder */
    TEST_LOG_SCRATCH_HERE,      /* in a folder of this machine */
    TEST_LOG_SCRATCH_GONE,      /* in one that no longer exists */
    TEST_LOG_SCRATCH_ELSEWHERE, /* on another machine */
};

/* test_log_scratch_of finds where the run in the open folder `run` is recorded.
 * `text` gets the folder's path, for ELSEWHERE after the machine's name and a
 * colon. */
enum { TEST_LOG_SCRATCH_SIZE = 8192 };
enum test_log_scratch_place test_log_scratch_of(
    int run, char text[TEST_LOG_SCRATCH_SIZE]);

/* test_log_scratch_in_use tells whether a scratch folder may contain files that
 * the run's own folder lacks. */
bool test_log_scratch_in_use(int run);

/* ---- shared.c ---- */

/* test_log_shared_kind returns the name of a folder's file system if other
 * machines may share it: "NFS". NULL: it is a local one. */
const char *test_log_shared_kind(int folder);

/* test_log_shared_can_map tells whether a file in a folder can be mapped as
 * recordings are. If that fails for another reason than the file system,
 * recording will say so. */
bool test_log_shared_can_map(int folder);

/* test_log_shared_local returns a local folder with space for recordings: that
 * of TMPDIR, or /tmp, or memory; NULL if there is none. */
const char *test_log_shared_local(void);

/* ---- copy_tree.c ---- */

/* What was not copied; the zero value is valid. */
struct test_log_left {
    size_t count;
    char first[NAME_MAX + 1];
};

/* test_log_copy_tree copies the files and folders in the folder `from` to the
 * folder `to`, and notes what is neither. The file `last`, if there is one, is
 * copied after all others. Files appear complete. -1 with errno. */
int test_log_copy_tree(int from, int to, const char *last,
                       struct test_log_left *);

/* test_log_copy_file copies a file with holes; -1 with errno. */
int test_log_copy_file(int from, int to, const char *name);

#endif
