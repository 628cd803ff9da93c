/* list_runs.c: finds the runs in a folder. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/remove_tree.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/run_order.h"
#include "harness/run/folder/scratch.h"
#include "trace/base/containers.h"

/* ---- Recognizing ---- */

bool test_log_is_run_name(const char *name)
{
    static const char form[] = "0000-00-00T00-00-00.000000";
    size_t i = 0;

    for (; form[i]; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)name[i])
                           : name[i] != form[i])
            return false;
    return !name[i];
}

static bool has(int folder, const char *name, mode_t type)
{
    struct stat status;

    return !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) &&
           (status.st_mode & S_IFMT) == type;
}

bool test_log_is_run(int folder)
{
    return has(folder, "run.json", S_IFREG) || has(folder, "tests", S_IFDIR) ||
           has(folder, TEST_LOG_SCRATCH, S_IFREG);
}

/* ---- Names ---- */

struct names {
    char **all;
    size_t count, capacity;
};

static bool add_name(struct names *names, const char *name)
{
    char *copy = strdup(name);

    if (!copy ||
        !TRACE_ARRAY_RESERVE(names->all, names->capacity, names->count + 1)) {
        free(copy);
        return false;
    }
    names->all[names->count++] = copy;
    return true;
}

static DIR *open_list(int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

char **test_log_list_names(int dir, bool (*wanted)(const char *), size_t *count)
{
    struct names names = {0};
    DIR *entries = open_list(dir);
    const struct dirent *entry;
    bool added = entries && TRACE_ARRAY_RESERVE(names.all, names.capacity, 1);

    while (added && (entry = readdir(entries)))
        if (wanted(entry->d_name))
            added = add_name(&names, entry->d_name);
    if (entries)
        closedir(entries);
    *count = names.count;
    if (added)
        return names.all;
    test_log_free_names(names.all, names.count);
    *count = 0;
    return NULL;
}

void test_log_free_names(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* ---- Runs ---- */

/* A run and its place among the others. */
struct placed {
    char *name;
    uint64_t order;
};

/* Clocks may step back, so a run's number counts, and only then its name. */
static int compare_latest_first(const void *a, const void *b)
{
    const struct placed *one = a, *other = b;

    if (one->order != other->order)
        return one->order < other->order ? 1 : -1;
    return strcmp(other->name, one->name);
}

/* Finds the place of a run; false if the folder `name` is not a run. */
static bool place(struct placed *run, int dir, char *name, bool own)
{
    int folder = own ? test_log_open_own(dir, name)
                     : openat(dir, name,
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is = folder >= 0 && test_log_is_run(folder);

    if (is)
        *run = (struct placed){name, test_log_run_order_of(folder)};
    if (folder >= 0)
        close(folder);
    return is;
}

/* Leaves only runs, the latest first. */
static int sort_runs(char **names, size_t *count, int dir, bool own)
{
    struct placed *runs = calloc(*count + 1, sizeof(*runs));
    size_t placed = 0;

    if (!runs)
        return -1;
    for (size_t i = 0; i < *count; i++)
        if (place(&runs[placed], dir, names[i], own))
            placed++;
        else
            free(names[i]);
    qsort(runs, placed, sizeof(*runs), compare_latest_first);
    for (size_t i = 0; i < placed; i++)
        names[i] = runs[i].name;
    *count = placed;
    free(runs);
    return 0;
}

char **test_log_list_runs(int dir, bool own, size_t *count)
{
    char **names = test_log_list_names(dir, test_log_is_run_name, count);

    if (!names || !sort_runs(names, count, dir, own))
        return names;
    test_log_free_names(names, *count);
    *count = 0;
    return NULL;
}
