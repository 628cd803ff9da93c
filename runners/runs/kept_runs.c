/* kept_runs.c: finds runs that are kept. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "find.h"
#include "harness/core/core_run.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/scratch.h"
#include "runners/runners.h"

int runners_settings(struct test_log_options *options, const char *command,
                     char **arguments)
{
    char name[] = "testlog", *argv[] = {name, NULL};
    int code;

    if (arguments[0] && arguments[1]) {
        test_log_notice("%s: one folder is enough; leave out %s", command,
                        arguments[1]);
        return -1;
    }
    *options = (struct test_log_options){.bystander = true};
    if (test_log_options_read(options, argv, &code))
        return -1;
    if (arguments[0])
        options->dir = arguments[0];
    return 0;
}

void runners_refuse_dir(const char *command, const char *dir)
{
    test_log_notice("%s: cannot read %s: %s; run a test program first, or name "
                    "the folder of the runs",
                    command, dir, strerror(errno));
}

/* ---- By name ---- */

static size_t place_of_latest(int dir, char **names, size_t count)
{
    char latest[NAME_MAX + 1] = "";

    if (readlinkat(dir, "latest", latest, sizeof(latest) - 1) < 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], latest))
            return i;
    return 0;
}

/* Finds the run that is `before` runs older than the latest. */
static bool find_before(const char *folder, size_t before, char *path)
{
    int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    size_t count = 0, place;
    char **names = dir < 0 ? NULL : test_log_list_runs(dir, false, &count);
    bool found;

    place = place_of_latest(dir, names, count);
    found = before < count - place &&
            snprintf(path, PATH_MAX, "%s/%s", folder, names[place + before]) <
                PATH_MAX;
    test_log_free_names(names, count);
    if (dir >= 0)
        close(dir);
    return found;
}

/* Reads the N of "latest~N"; "latest" is 0. */
static bool read_latest(const char *word, size_t *before)
{
    static const char latest[] = "latest";
    char *end;

    if (strncmp(word, latest, strlen(latest)) != 0)
        return false;
    word += strlen(latest);
    *before = 0;
    if (word[0] == '~' && word[1] >= '0' && word[1] <= '9') {
        *before = strtoul(word + 1, &end, 10);
        word = end;
    }
    return !*word;
}

static bool find(const char *dir, const char *word, char *path)
{
    size_t before;

    if (runners_is_there(word))
        return snprintf(path, PATH_MAX, "%s", word) < PATH_MAX;
    if (read_latest(word, &before))
        return find_before(dir, before, path);
    return snprintf(path, PATH_MAX, "%s/%s", dir, word) < PATH_MAX &&
           runners_is_there(path);
}

bool runners_find_run(const char *dir, const char *word, char *path)
{
    if (find(dir, word, path))
        return runners_open_packed(path) && runners_open_scratch(path);
    errno = ENOENT;
    return false;
}

/* ---- Runs in a scratch folder ---- */

/* The last run that was opened in its scratch folder. */
static struct {
    char own[PATH_MAX], scratch[PATH_MAX];
} opened;

bool runners_open_scratch(char path[PATH_MAX])
{
    char text[TEST_LOG_SCRATCH_SIZE];
    enum test_log_scratch_place place = TEST_LOG_SCRATCH_NONE;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder >= 0) {
        if (faccessat(folder, "run.json", F_OK, 0))
            place = test_log_scratch_of(folder, text);
        close(folder);
    }
    if (place == TEST_LOG_SCRATCH_NONE)
        test_log_judge(path);
    if (place == TEST_LOG_SCRATCH_HERE) {
        if (!realpath(path, opened.own))
            opened.own[0] = '\0';
        snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, text);
        memcpy(opened.scratch, path, PATH_MAX);
        return true;
    }
    if (place == TEST_LOG_SCRATCH_NONE)
        return true;
    test_log_notice(place == TEST_LOG_SCRATCH_GONE
                        ? "%s was recorded in %s, which no longer exists, or "
                          "is not its scratch folder"
                        : "%s is recorded in %s; open it there",
                    path, text);
    errno = EBADMSG;
    return false;
}

const char *runners_left_scratch(const char *run)
{
    return opened.own[0] && !strcmp(run, opened.scratch) && access(run, F_OK)
               ? opened.own
               : NULL;
}

/* ---- Sizes ---- */

static uint64_t sum;

static int add_size(const char *path, const struct stat *status, int type,
                    struct FTW *place)
{
    (void)path;
    (void)type;
    (void)place;
    sum += (uint64_t)status->st_blocks * 512;
    return 0;
}

uint64_t runners_size_of(const char *path)
{
    enum { DESCRIPTORS = 16 };

    sum = 0;
    nftw(path, add_size, DESCRIPTORS, FTW_PHYS | FTW_MOUNT);
    return sum;
}
