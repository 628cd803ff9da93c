/* files.c: gives a merged run the files of its tests: hard links, or copies if
 * the file systems differ. The source runs do not change.
 *
 * A run that somebody sent may have anything in its folder, so links are not
 * followed, and names from run.json are used as one part of a path.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "merge.h"
#include "runners/runs/find.h"
#include "trace/base/file.h"

/* ---- One file ---- */

static int copy(int from, int to, const char *name)
{
    static char bytes[64 << 10];
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int out = in < 0 ? -1
                     : openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                              0666);
    int status = out < 0 ? -1 : 0, error;
    ssize_t size = 0;

    while (!status && (size = read(in, bytes, sizeof(bytes))) > 0)
        status = test_log_write_all(out, bytes, (size_t)size);
    status = status || size ? -1 : 0;
    error = errno;
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    errno = error;
    return status;
}

/* ---- The folder of a test ---- */

/* Adds the files of the folder `from`, which it closes. */
static int add_files(int from, int to)
{
    DIR *entries = fdopendir(from);
    const struct dirent *entry;
    struct stat file;
    int status = 0;

    if (!entries) {
        close(from);
        return -1;
    }
    while (!status && (entry = readdir(entries))) {
        const char *name = entry->d_name;

        if (name[0] == '.' || fstatat(from, name, &file, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(file.st_mode))
            continue;
        if (linkat(from, name, to, name, 0))
            status = copy(from, to, name);
    }
    closedir(entries);
    return status;
}

static int open_folder(const struct merge_source *source, const char *folder)
{
    const struct test_log_run run = merge_source_files(source);
    int at = open(run.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0), fd;
    const char *last;

    if (at < 0)
        return -1;
    fd = trace_beneath_folder(at, folder, &last);
    close(at);
    if (fd < 0)
        return -1;
    at = fd;
    fd = openat(at, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(at);
    return fd;
}

static int make_folder(const struct merge *merge, const char *name)
{
    const struct test_log_run *run = &merge->run;

    return mkdirat(run->folder, name, 0777) && errno != EEXIST ? -1 : 0;
}

/* Makes a folder for a try, counted from 1 on, in that of its program; another
 * may have the same name. Returns its path in the run. */
static char *make_try(const struct merge *merge, const char *program,
                      const char *base, size_t number)
{
    char path[PATH_MAX], attempt[32] = "", other[32] = "";

    if (number > 1)
        snprintf(attempt, sizeof(attempt), ".try%zu", number);
    for (unsigned i = 2; i < 1000; i++) {
        if (snprintf(path, sizeof(path), "tests/%s/%s%s%s", program, base,
                     other, attempt) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        if (!mkdirat(merge->run.folder, path, 0777))
            return strdup(path);
        if (errno != EEXIST)
            return NULL;
        snprintf(other, sizeof(other), "~%u", i);
    }
    return NULL;
}

/* The name of a test's folder, without the number of the try. */
static char *base_of(const char *folder)
{
    char *base = strdup(trace_base_name(folder)), *end;

    if (!base)
        return NULL;
    end = strstr(base, ".try");
    for (char *next; end && (next = strstr(end + 1, ".try"));)
        end = next;
    if (end && end[strlen(".try")] &&
        !end[strlen(".try") + strspn(end + strlen(".try"), "0123456789")])
        *end = '\0';
    merge_name(base);
    return base;
}

/* Notes the clocks of a recording. */
static void note_clock(struct merge *merge, struct merge_source *source,
                       const char *folder)
{
    char path[PATH_MAX];
    struct trace_reader *reader;

    if (snprintf(path, sizeof(path), "%s/%s/recording", source->path, folder) >=
            PATH_MAX ||
        !runners_is_there(path))
        return;
    reader = runners_open_beginning(path);
    if (reader)
        merge_clock_note(source, reader);
    else
        merge->unread++;
    trace_reader_close(reader);
}

/* Links a folder of a source's test; *folder becomes its new path, NULL if the
 * source lacks it. */
static int add_folder(struct merge *merge, struct merge_source *source,
                      const char *program, size_t number, char **folder)
{
    int from = *folder ? open_folder(source, *folder) : -1, to, status;
    char *base = NULL, *made = NULL;

    if (from < 0) {
        free(*folder);
        *folder = NULL;
        return 0;
    }
    base = base_of(*folder);
    made = base ? make_try(merge, program, base, number) : NULL;
    free(base);
    to = made ? openat(merge->run.folder, made, O_PATH | O_DIRECTORY) : -1;
    if (to < 0) {
        close(from);
        free(made);
        return -1;
    }
    status = add_files(from, to);
    close(to);
    if (!status) /* errno says why */
        note_clock(merge, source, *folder);
    free(*folder);
    *folder = made;
    return status;
}

/* ---- All tests ---- */

static int add_test(struct merge *merge, struct test_log_result *result)
{
    char path[PATH_MAX];
    int status = 0;

    if (!result->source)
        return 0;
    if (snprintf(path, sizeof(path), "tests/%s", result->program) >= PATH_MAX)
        return -1;
    status = make_folder(merge, path);
    for (size_t i = 0; i < result->earlier_count && !status; i++)
        status =
            add_folder(merge, &merge->sources[result->earlier[i].source - 1],
                       result->program, i + 1, &result->earlier[i].folder);
    if (!status)
        status = add_folder(merge, &merge->sources[result->source - 1],
                            result->program, result->earlier_count + 1,
                            &result->folder);
    return status;
}

int merge_files_link(struct merge *merge)
{
    int status = make_folder(merge, "tests");

    for (size_t i = 0; i < merge->run.count && !status; i++)
        status = add_test(merge, &merge->run.results[i]);
    if (!status && merge->unread)
        test_log_notice("merge: %zu %s cannot be read; their times are not "
                        "checked",
                        merge->unread,
                        merge->unread == 1 ? "recording" : "recordings");
    return status;
}
