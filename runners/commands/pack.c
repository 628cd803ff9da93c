/* pack.c: testlog pack: puts a run into one small file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/remove_tree.h"
#include "harness/options/options.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/old_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/run_order.h"
#include "harness/run/folder/scratch.h"
#include "runners/runners.h"
#include "runners/runs/archive.h"
#include "runners/runs/find.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

/* ---- The files of a run ---- */

/* Files are named relative to the run's folder. */
struct contents {
    char **names;
    size_t count, capacity;
    uint64_t size;   /* bytes of all files of the run, without holes */
    size_t left_out; /* links, for example, and hidden files */
};

/* Whether a command can make the file again from run.json and recordings. A run
 * that was cut off has no run.json, but perhaps results.jsonl. */
static bool is_rendered(const char *name, bool in_run, bool recorded)
{
    static const char *const of_runs[] = {
        "trace.json",  "report.html",   "against.html", "junit.xml",
        "results.tap", "results.jsonl", "results.tsv",  NULL};
    static const char *const of_tests[] = {"trace.json", "log.txt", NULL};
    const char *const *names = in_run ? of_runs : of_tests;

    for (; (in_run || recorded) && *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

static bool is_recorded(int folder)
{
    return !faccessat(folder, "recording", F_OK, 0) ||
           !faccessat(folder, "recording.zst", F_OK, 0) ||
           !faccessat(folder, "recording.gz", F_OK, 0);
}

static int add_folder(struct contents *, int folder, const char *path,
                      int depth);

/* Recordings of killed tests end with a large hole. */
static uint64_t size_on_disk(const struct stat *file)
{
    uint64_t size = (uint64_t)file->st_size,
             blocks = (uint64_t)file->st_blocks * 512;

    return blocks < size ? blocks : size;
}

/* Adds an entry of a folder; keeps or frees its `path`. */
static int add(struct contents *contents, int folder, const char *name,
               char *path, int depth, bool left_out)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct stat status;
    int result = fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW);

    if (!result && S_ISREG(status.st_mode)) {
        contents->size += size_on_disk(&status);
        if (!left_out &&
            TRACE_ARRAY_RESERVE(contents->names, contents->capacity,
                                contents->count + 1)) {
            contents->names[contents->count++] = path;
            return 0;
        }
        result = left_out ? 0 : -1;
    } else if (!result && S_ISDIR(status.st_mode)) {
        result =
            add_folder(contents, openat(folder, name, flags), path, depth + 1);
    } else if (!result) {
        contents->left_out++;
    }
    free(path);
    return result;
}

/* Whether a file at the top of a run has no meaning in another folder. */
static bool is_of_folder(const char *name)
{
    return !strcmp(name, TEST_LOG_SCRATCH) || !strcmp(name, TEST_LOG_ORDER);
}

/* Adds the files of a folder, and closes it. */
static int add_folder(struct contents *contents, int folder, const char *path,
                      int depth)
{
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    bool recorded = folder >= 0 && is_recorded(folder);
    bool whole = folder >= 0 && !faccessat(folder, "run.json", F_OK, 0);
    const struct dirent *entry;
    int status = 0;

    if (folder >= 0 && !entries)
        close(folder);
    if (!entries)
        return -1;
    if (depth >= RUNNERS_ARCHIVE_DEPTH) {
        errno = ELOOP;
        status = -1;
    }
    while (!status && (entry = readdir(entries))) {
        const char *name = entry->d_name;
        char *below;

        if (!strcmp(name, ".") || !strcmp(name, "..") ||
            (!*path && is_of_folder(name)))
            continue;
        if (name[0] == '.') {
            contents->left_out++;
            continue;
        }
        if (asprintf(&below, "%s%s%s", path, *path ? "/" : "", name) < 0)
            status = -1;
        else
            status = add(contents, folder, name, below, depth,
                         is_rendered(name, !*path && whole, recorded));
    }
    closedir(entries);
    return status;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Finds the files of a run, in the order of their names. */
static int find_contents(struct contents *contents, int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (add_folder(contents, fd, "", 0))
        return -1;
    if (contents->count)
        qsort(contents->names, contents->count, sizeof(*contents->names),
              compare);
    return 0;
}

/* ---- Writing ---- */

/* Writes the pack, and prints how much smaller than the run it is. */
static int write_file(int folder, const char *run,
                      const struct contents *contents, const char *output,
                      struct trace_text *why)
{
    struct trace_text text = {0};
    struct trace_file file;
    struct stat status;

    if (trace_file_open(&file, output)) {
        trace_text_string(why, strerror(errno));
        return -1;
    }
    if (runners_archive_write(file.stream, folder, run, contents->names,
                              contents->count, why)) {
        trace_file_abandon(&file);
        return -1;
    }
    if (fstat(fileno(file.stream), &status))
        status.st_size = 0;
    if (trace_file_commit(&file)) {
        trace_text_string(why, strerror(errno));
        return -1;
    }
    log_bytes(&text, (uint64_t)status.st_size);
    trace_text_string(&text, " of ");
    log_bytes(&text, contents->size);
    fprintf(stderr, "pack: %s: %s\n", output, text.data ? text.data : "?");
    if (contents->left_out)
        test_log_notice("pack: links, hidden or special files left out: %zu",
                        contents->left_out);
    trace_text_free(&text);
    return 0;
}

static int write_pack(int folder, const char *run,
                      const struct contents *contents, const char *output)
{
    struct trace_text why = {0};
    int status;

    if (test_log_report_is_stdout(output))
        status = runners_archive_write(stdout, folder, run, contents->names,
                                       contents->count, &why);
    else
        status = write_file(folder, run, contents, output, &why);
    if (status)
        test_log_notice("pack: cannot write %s: %s",
                        test_log_report_name(output),
                        why.data ? why.data : "out of memory");
    trace_text_free(&why);
    return status ? TEST_LOG_EXIT_FAILED : TEST_LOG_EXIT_PASSED;
}

/* ---- The command ---- */

static bool is_run(int folder)
{
    return !faccessat(folder, "run.json", F_OK, 0) ||
           !faccessat(folder, "tests", F_OK, 0);
}

static int pack_folder(int folder, const char *path, const char *output)
{
    const char *run = trace_base_name(path);
    struct contents contents = {.count = 0};
    char name[PATH_MAX + sizeof(RUNNERS_PACK_SUFFIX)];
    int code = TEST_LOG_EXIT_USAGE;

    snprintf(name, sizeof(name), "%s" RUNNERS_PACK_SUFFIX, run);
    if (!is_run(folder)) {
        test_log_notice("pack: %s is not a run; name a run's folder", path);
    } else if (!runners_is_run_name(run, strlen(run))) {
        test_log_notice("pack: no pack can contain a folder called %s; rename "
                        "it with letters, digits and ._-+: only",
                        run);
    } else if (test_log_old_runs_in_progress(AT_FDCWD, path)) {
        test_log_notice("pack: %s is in progress; wait until it has ended",
                        path);
    } else if (find_contents(&contents, folder)) {
        test_log_notice("pack: cannot read %s: %s", path, strerror(errno));
        code = TEST_LOG_EXIT_FAILED;
    } else if (!contents.size) {
        test_log_notice("pack: %s has no test that began", path);
    } else {
        code = write_pack(folder, run, &contents, output ? output : name);
    }
    for (size_t i = 0; i < contents.count; i++)
        free(contents.names[i]);
    free(contents.names);
    return code;
}

static int pack(const char *where, const char *output)
{
    char path[PATH_MAX];
    int folder = -1, code;

    if (realpath(where, path))
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 && errno != ENOTDIR) {
        test_log_notice("pack: cannot read %s: %s; run a test program first, "
                        "or name a run's folder",
                        where, strerror(errno));
        return TEST_LOG_EXIT_USAGE;
    }
    code = pack_folder(folder, path, output);
    if (folder >= 0)
        close(folder);
    return code;
}

/* ---- Unpacking ---- */

/* Unpacks a pack in the open folder `aside` and moves the run to `dir`; an
 * older one of that name stays. */
static int move_unpacked(const char *pack, int aside, const char *dir)
{
    char run[NAME_MAX + 1], path[PATH_MAX];

    if (!runners_unpack("pack: ", pack, aside, run))
        return TEST_LOG_EXIT_USAGE;
    if (snprintf(path, sizeof(path), "%s/%s", dir, run) < PATH_MAX &&
        !test_log_make_folders(dir) && !renameat(aside, run, AT_FDCWD, path)) {
        fprintf(stderr, "pack: %s\n", path);
        return TEST_LOG_EXIT_PASSED;
    }
    if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
        test_log_notice("pack: %s exists; name another folder with -o", path);
    else
        test_log_notice("pack: cannot unpack to %s: %s", path, strerror(errno));
    return TEST_LOG_EXIT_FAILED;
}

/* Cuts a path to the nearest folder that exists. */
static void cut_to_existing(char *path)
{
    while (access(path, F_OK) && strcmp(path, ".") != 0) {
        char *slash = strrchr(path, '/');

        if (slash)
            slash[slash == path] = '\0';
        else
            strcpy(path, ".");
    }
}

/* Makes a folder to unpack in, on the file system of `dir`; `dir` itself is
 * made only for a good pack. */
static int make_aside(const char *dir, char path[PATH_MAX])
{
    static const char name[] = "/.testlog-pack-XXXXXX";

    if (!*dir || strlen(dir) + sizeof(name) > PATH_MAX) {
        errno = *dir ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    memcpy(path, dir, strlen(dir) + 1);
    cut_to_existing(path);
    memcpy(path + strlen(path), name, sizeof(name));
    return mkdtemp(path) ? 0 : -1;
}

static int extract_to(const char *pack, const char *dir)
{
    char path[PATH_MAX];
    int aside = -1, code = TEST_LOG_EXIT_FAILED;

    if (make_aside(dir, path) ||
        (aside = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        test_log_notice("pack: cannot write to %s: %s", dir, strerror(errno));
        return code;
    }
    code = move_unpacked(pack, aside, dir);
    close(aside);
    test_log_remove_tree(AT_FDCWD, path);
    return code;
}

static int extract(char **words, const char *dir)
{
    char *no_folder[] = {NULL};
    struct test_log_options options;
    int code;

    if (!words[0] || words[1]) {
        test_log_notice("pack: --extract needs one pack");
        return TEST_LOG_EXIT_USAGE;
    }
    if (runners_settings(&options, "pack", no_folder))
        return TEST_LOG_EXIT_USAGE;
    code = extract_to(words[0], dir ? dir : options.dir);
    test_log_options_free(&options);
    return code;
}

/* ---- Arguments ---- */

static int pack_named(char **words, const char *output)
{
    const char *first = *words, *where = runners_run_of(&words);

    if (!where)
        return TEST_LOG_EXIT_USAGE;
    if (!*words)
        return pack(where, output);
    test_log_notice(*words == first
                        ? "pack: there is no run %s; testlog list lists them"
                        : "pack: one run is enough; leave out %s",
                    *words);
    return TEST_LOG_EXIT_USAGE;
}

struct arguments {
    const char *output;
    bool extracts;
};

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--output", NULL, "FILE",
     "write to FILE, - for standard output; by default to the name of the run "
     "and " RUNNERS_PACK_SUFFIX,
     test_log_read_text, AT(output), .letter = 'o'},
    {"--extract", NULL, NULL,
     "unpack PACK into DIR, by default where test programs put their runs",
     test_log_read_on, AT(extracts), .letter = 'x'},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct arguments arguments = {.output = NULL};
    int code;

    if (!test_log_flags_read(&runners_pack, &arguments, &argv, NULL, &code))
        return code;
    return arguments.extracts ? extract(argv, arguments.output)
                              : pack_named(argv, arguments.output);
}

const struct test_log_command runners_pack = {
    .name = "pack",
    .help = "pack a run into one small file",
    .synopsis = "[RUN] [-o FILE]\n--extract PACK [-o DIR]",
    .text = "Packs a run into one small file. The other commands take such a "
            "file in place of a run. Files that only repeat others of the run "
            "are left out. RUN is the folder of a run; the default is the "
            "latest run. The run may have been killed.",
    TEST_LOG_FLAGS(flags),
    .operand = "RUN",
    .run = run,
};
