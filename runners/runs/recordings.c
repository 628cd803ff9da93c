/* recordings.c: finds the recordings of a run, whether it has ended or not. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "find.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/model/model.h"
#include "runners/runners.h"
#include "trace/parts/parts.h"

static bool is_folder(const char *path)
{
    struct stat status;

    return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* Returns a name without control bytes, to be freed. */
static char *plain(const char *name)
{
    struct trace_text text = {0};

    log_plain(&text, name, strlen(name));
    return text.data ? text.data : strdup("");
}

/* Returns "suite/test" for a folder called "suite.test". */
static char *name_of(const char *folder)
{
    char *name = plain(folder), *dot = name ? strchr(name, '.') : NULL;

    if (dot)
        *dot = '/';
    return name;
}

/* Reads the name of the test in a recording, and when it began. If there is no
 * name or it is damaged, the name is that of its folder, or its path. */
static void read_beginning(struct recording *recording, const char *folder,
                           bool with_damaged)
{
    struct trace_reader *reader = runners_open_beginning(recording->path);
    bool known = reader || errno == EBADMSG ||
                 (with_damaged && folder && errno == EINVAL);
    const char *name = reader ? trace_reader_meta(reader, "test") : NULL;

    const char *title = reader ? trace_reader_meta(reader, "title") : NULL;

    if (known && !name && folder)
        recording->test = name_of(folder);
    else if (known)
        recording->test = plain(name ? name : recording->path);
    if (recording->test)
        recording->title = title ? plain(title) : strdup(recording->test);
    if (reader)
        recording->opened = trace_reader_summary(reader).opened.ticks;
    trace_reader_close(reader);
}

static void free_recording(struct recording *recording)
{
    free(recording->path);
    free(recording->program);
    free(recording->test);
    free(recording->title);
}

/* Adds the recording at `path`, unless it is known or is no recording; `folder`
 * is the test's in a run, or NULL. */
static int add(struct recordings *found, const char *program, const char *path,
               const char *folder)
{
    uint64_t key = trace_hash_string(TRACE_HASH, path);
    struct recording recording = {.path = NULL};
    uintptr_t number;

    if (trace_table_find(&found->known, key, &number))
        return 0;
    recording.path = strdup(path);
    recording.program = plain(program);
    if (recording.path)
        read_beginning(&recording, folder, found->with_damaged);
    if (recording.path && !recording.title) {
        free_recording(&recording);
        return 0;
    }
    if (!recording.path ||
        !TRACE_ARRAY_RESERVE(found->all, found->capacity, found->count + 1) ||
        !trace_table_set(&found->known, key, 1)) {
        free_recording(&recording);
        return -1;
    }
    found->all[found->count++] = recording;
    return 0;
}

/* Removes the recordings of tests that are not selected, from number `from`
 * on. */
static int keep_selected(struct recordings *found, size_t from, char **patterns)
{
    size_t count = found->count - from;
    struct selectable *tests = calloc(count + 1, sizeof(*tests));

    if (!tests)
        return -1;
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct selectable){.name = found->all[from + i].test,
                                       .title = found->all[from + i].title};
    runners_select_tests(patterns, tests, count);
    found->count = from;
    for (size_t i = 0; i < count; i++)
        if (tests[i].selected)
            found->all[found->count++] = found->all[from + i];
        else
            free_recording(&found->all[from + i]);
    free(tests);
    return 0;
}

/* A run that came from elsewhere may have links to what is not its own. */
static int is_own(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && entry->d_type != DT_LNK;
}

/* Calls `visit` for each entry of a folder, sorted by name. */
static int each(const char *folder,
                int (*visit)(struct recordings *, const char *folder,
                             const char *name),
                struct recordings *found)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_own, alphasort), result = 0;

    for (int i = 0; i < count; i++) {
        if (!result)
            result = visit(found, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return result;
}

/* ---- Programs whose tests share a recording ---- */

/* Where a test's recording has been found. */
enum known { KNOWN_NOWHERE, KNOWN_IN_FOLDER, KNOWN_AS_PART };

static uint64_t identity_of(const struct recording *recording)
{
    return test_log_key(recording->program, recording->test) ^
           recording->opened;
}

/* Adds a recording as `how` says. A part may be copied to the test's folder,
 * and all are copied when the process ends: a copy is left out. */
static int add_once(struct recordings *found, const char *program,
                    const char *path, const char *folder, enum known how)
{
    size_t before = found->count;
    uintptr_t known = KNOWN_NOWHERE;
    struct recording *last;
    uint64_t key;

    if (add(found, program, path, folder))
        return -1;
    last = found->count > before ? &found->all[before] : NULL;
    if (!last || !last->opened)
        return 0;
    key = identity_of(last);
    trace_table_find(&found->known, key, &known);
    if (known == KNOWN_AS_PART || (known && how == KNOWN_AS_PART)) {
        free_recording(last);
        found->count--;
        return 0;
    }
    return trace_table_set(&found->known, key, how) ? 0 : -1;
}

void runners_recordings_retry(struct recordings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->all[i].unreadable) {
            found->all[i].ended = false;
            trace_table_set(&found->known, identity_of(&found->all[i]),
                            KNOWN_NOWHERE);
        }
}

static int open_parts(const char *path)
{
    return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static int add_parts(struct recordings *found, const char *program,
                     const char *path)
{
    int file = open_parts(path), status = 0;
    char part[PATH_MAX];
    uint64_t offset = 0;

    if (file < 0)
        return 0;
    do {
        if (snprintf(part, sizeof(part), "%s#%" PRIu64, path, offset) <
            PATH_MAX)
            status = add_once(found, program, part, NULL, KNOWN_AS_PART);
    } while (!status && trace_next_part(file, &offset));
    close(file);
    return status;
}

/* The files that a process records all its tests in. While it runs there is
 * `recording.live`, then its copy. */
struct shared {
    char copy[PATH_MAX], live[PATH_MAX];
};

static bool name_shared(const char *folder, struct shared *shared)
{
    return snprintf(shared->copy, PATH_MAX, "%s/recording", folder) <
               PATH_MAX &&
           snprintf(shared->live, PATH_MAX, "%s.live", shared->copy) < PATH_MAX;
}

static int add_shared(struct recordings *found, const char *program,
                      const struct shared *shared)
{
    return add_parts(found, program,
                     access(shared->copy, F_OK) ? shared->live : shared->copy);
}

/* Tells whether a folder is that of a process with several tests, as in a
 * ctest: it has no recording of one test. */
static bool is_of_process(const char *name, const struct shared *shared)
{
    bool parts;
    int file;

    if (strncmp(name, "process.", strlen("process.")) != 0)
        return false;
    if (!access(shared->live, F_OK))
        return true;
    file = open_parts(shared->copy);
    if (file < 0)
        return false;
    parts = lseek(file, 0, SEEK_END) <= 0 || trace_has_parts(file);
    close(file);
    return parts;
}

static int add_test(struct recordings *found, const char *folder,
                    const char *name)
{
    const char *program = trace_base_name(folder);
    struct shared shared;
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX ||
        !name_shared(path, &shared))
        return 0;
    if (is_of_process(name, &shared))
        return add_shared(found, program, &shared);
    return runners_is_there(shared.copy)
               ? add_once(found, program, shared.copy, name, KNOWN_IN_FOLDER)
               : 0;
}

static int add_program(struct recordings *found, const char *folder,
                       const char *name)
{
    struct shared shared;
    char path[PATH_MAX];

    if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX ||
        !name_shared(path, &shared))
        return 0;
    return each(path, add_test, found) || add_shared(found, name, &shared) ? -1
                                                                           : 0;
}

/* ---- All ---- */

/* Adds a recording, or all in a file of parts. */
static int add_file(struct recordings *found, const char *path)
{
    int file = open_parts(path);
    bool has_parts = file >= 0 && trace_has_parts(file);

    if (file >= 0)
        close(file);
    return has_parts ? add_parts(found, "", path) : add(found, "", path, NULL);
}

static int find(struct recordings *found, const char *where)
{
    char path[PATH_MAX];

    if (!is_folder(where)) {
        if (!runners_is_there(where))
            return -1;
        /* A link that a user names is followed. */
        return add_file(found, runners_is_link(where) && realpath(where, path)
                                   ? path
                                   : where);
    }
    if (snprintf(path, sizeof(path), "%s/recording", where) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (runners_is_there(path))
        return add_file(found, path);
    snprintf(path, sizeof(path), "%s/tests", where);
    if (is_folder(path))
        return each(path, add_program, found);
    errno = ENOENT;
    return -1;
}

int runners_recordings_find(struct recordings *found, const char *where,
                            char **patterns)
{
    size_t from = found->count;
    int status = find(found, where);

    return keep_selected(found, from, patterns) ? -1 : status;
}

bool runners_is_gone(int process)
{
    return process <= 0 || (kill((pid_t)process, 0) && errno == ESRCH);
}

void runners_recordings_move(struct recordings *found, const char *from,
                             const char *to)
{
    for (size_t i = 0; i < found->count; i++) {
        char *old = found->all[i].path, *path;

        if (strncmp(old, from, strlen(from)) != 0 ||
            asprintf(&path, "%s%s", to, old + strlen(from)) < 0)
            continue;
        found->all[i].path = path;
        trace_table_set(&found->known, trace_hash_string(TRACE_HASH, path), 1);
        free(old);
    }
}

void runners_recordings_free(struct recordings *found)
{
    for (size_t i = 0; i < found->count; i++)
        free_recording(&found->all[i]);
    free(found->all);
    trace_table_free(&found->known);
    *found = (struct recordings){0};
}

const char *runners_run_of(char ***arguments)
{
    static char run[PATH_MAX];
    char *no_folder[] = {NULL}, *word = **arguments;
    bool there = word && runners_is_there(word), named, refused;
    struct test_log_options options = {.dir = NULL};

    if (!there && runners_settings(&options, "", no_folder))
        return NULL;
    named = word && runners_find_run(options.dir, word, run);
    refused = word && !named && errno == EBADMSG;
    *arguments += named;
    if (!named)
        snprintf(run, sizeof(run), "%s/latest", options.dir);
    if (!there)
        test_log_options_free(&options);
    return refused || !runners_open_scratch(run) ? NULL : run;
}

int runners_recordings_refuse(const char *command, const char *where,
                              char **patterns)
{
    char tests[PATH_MAX];

    bool any = patterns && *patterns;

    if (snprintf(tests, sizeof(tests), "%s/tests", where) >= PATH_MAX)
        tests[0] = '\0';
    where = runners_name_of(where);
    if (!runners_is_there(where))
        test_log_notice("%s: %s%s%s%s does not exist; run a test program "
                        "first, or name a run's folder",
                        command, any ? "cannot find " : "",
                        any ? *patterns : "", any ? ": " : "", where);
    else if (any && !strncmp(*patterns, "latest~", strlen("latest~")))
        test_log_notice("%s: there is no run %s; testlog list lists them",
                        command, *patterns);
    else if (any)
        test_log_notice("%s: %s has no recording of %s%s", command, where,
                        *patterns, patterns[1] ? ", nor of the others" : "");
    else if (is_folder(tests))
        test_log_notice("%s: %s has no recording", command, where);
    else
        test_log_notice("%s: %s is not a run; name a run's folder, a test's "
                        "folder or a recording",
                        command, where);
    return TEST_LOG_EXIT_USAGE;
}

static int write_error; /* errno of the first failure */

void runners_flush(void)
{
    if (fflush(stdout) && !write_error)
        write_error = errno;
}

int runners_written(const char *command, int code)
{
    runners_flush();
    if (!write_error && !ferror(stdout))
        return code;
    fprintf(stderr, "testlog: %s: cannot write to standard output: %s\n",
            command, write_error ? strerror(write_error) : "a part is missing");
    return TEST_LOG_EXIT_FAILED;
}
