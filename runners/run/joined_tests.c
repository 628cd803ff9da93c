/* joined_tests.c: which ctest has started this process, and how many of its
 * tests join one run.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/machine/join_ctest.h"
#include "harness/machine/notice.h"
#include "harness/machine/process_tree.h"
#include "harness/machine/remove_tree.h"
#include "run.h"
#include "runners/runs/command_output.h"
#include "trace/base/containers.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

enum { ANCESTORS = 8 };

/* ---- Which ctest ---- */

static bool read_link(pid_t pid, const char *name, char path[PATH_MAX])
{
    char link[64];
    ssize_t size;

    snprintf(link, sizeof(link), "/proc/%ld/%s", (long)pid, name);
    size = readlink(link, path, PATH_MAX - 1);
    path[size > 0 ? size : 0] = '\0';
    return size > 0;
}

/* Other programs may have names that begin like ctest's. */
static bool is_ctest(pid_t pid)
{
    char path[PATH_MAX];

    return read_link(pid, "exe", path) &&
           (!strcmp(trace_base_name(path), "ctest") ||
            !strcmp(trace_base_name(path), "ctest3"));
}

pid_t runners_find_ctest(void)
{
    pid_t pid = getppid();

    for (int i = 0; i < ANCESTORS && pid > 1; i++) {
        if (is_ctest(pid))
            return pid;
        pid = test_log_process_parent(pid);
    }
    return 0;
}

/* ---- Its arguments ---- */

/* With these, ctest does more than to run tests. */
static bool does_more(const char *word)
{
    static const char *const flags[] = {
        "--build-and-test", "-S",         "-SP", "-D", "-M", "-T",
        "--script",         "--dashboard"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        if (!strcmp(word, flags[i]))
            return true;
    return false;
}

/* The name of a file would be read in another folder. */
static bool names_file(const char *word, const char *next)
{
    return !strncmp(word, "--resource-spec-file", 20) ||
           !strncmp(word, "--tests-from-file", 17) ||
           (!strcmp(word, "-I") && next[strspn(next, "0123456789,")]);
}

/* Reads the arguments, quoted, without --test-dir: ctest is there already.
 * Returns false if the tests cannot be asked for with them. */
static bool read_arguments(struct trace_text *words, pid_t ctest)
{
    char bytes[16384];
    ssize_t size =
        test_log_process_file(ctest, "cmdline", bytes, sizeof(bytes));
    const char *word = bytes, *end = word + (size > 0 ? size : 0);

    if (size <= 0 || size == sizeof(bytes) - 1)
        return false;
    for (word += strlen(word) + 1; word < end; word += strlen(word) + 1) {
        const char *next = word + strlen(word) + 1;

        if (does_more(word) || names_file(word, next < end ? next : ""))
            return false;
        if (!strcmp(word, "--test-dir")) {
            word = next;
            continue;
        }
        if (!strncmp(word, "--test-dir=", 11))
            continue;
        trace_text_char(words, ' ');
        test_log_add_word(words, word);
    }
    return !words->failed;
}

/* ---- Its tests ---- */

static int write_file(int folder, const char *name, const char *text,
                      size_t size)
{
    int file =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int status = -1;

    if (file < 0)
        return -1;
    if (write(file, text, size) == (ssize_t)size)
        status = 0;
    close(file);
    return status;
}

/* --rerun-failed reads this log. */
static void copy_failed(int folder, const char *build)
{
    static const char name[] = "Testing/Temporary/LastTestsFailed.log";
    char path[PATH_MAX], *bytes = NULL;
    size_t size;
    int log = -1;

    if (snprintf(path, sizeof(path), "%s/%s", build, name) < PATH_MAX)
        log = trace_open_regular(path);
    if (log < 0)
        return;
    bytes = trace_file_bytes(log, 1 << 30, &size);
    close(log);
    if (bytes && !mkdirat(folder, "Testing", 0700) &&
        !mkdirat(folder, "Testing/Temporary", 0700))
        write_file(folder, name, bytes, size);
    free(bytes);
}

/* Makes a folder whose tests are those of a build folder: ctest writes its logs
 * where it is asked, and would replace those of the one that runs. */
static int make_folder(const char *path, const char *build)
{
    struct trace_text tests = {0};
    int folder, status = -1;

    if (mkdir(path, 0700))
        return -1;
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    trace_text_printf(&tests, "subdirs([==[%s]==])\n", build);
    if (!tests.failed)
        status =
            write_file(folder, "CTestTestfile.cmake", tests.data, tests.size);
    trace_text_free(&tests);
    copy_failed(folder, build);
    close(folder);
    return status;
}

static cJSON *list_tests(pid_t ctest, const char *dir)
{
    static const char variable[] = "TESTLOG_JOINING";
    struct trace_text words = {0}, command = {0}, answer = {0};
    char folder[PATH_MAX], build[PATH_MAX];
    cJSON *json = NULL;

    /* The ctest that we start must not ask again. */
    if (getenv(variable) || !read_arguments(&words, ctest) ||
        !read_link(ctest, "cwd", build) ||
        snprintf(folder, sizeof(folder),
                 "%s/" RUNNERS_JOINED "/" RUNNERS_JOIN_LIST "%ld-%" PRIu64, dir,
                 (long)getpid(),
                 test_log_process_started(getpid())) >= PATH_MAX)
        goto out;
    if (!make_folder(folder, build)) {
        trace_text_string(&command, "cd ");
        test_log_add_word(&command, folder);
        trace_text_printf(
            &command,
            " && exec /proc/%ld/exe --show-only=json-v1%s 2>/dev/null",
            (long)ctest, words.data ? words.data : "");
        setenv(variable, "1", 1);
        if (!command.failed && !runners_command_text(command.data, &answer) &&
            answer.size)
            json = cJSON_ParseWithLength(answer.data, answer.size);
        unsetenv(variable);
    }
    test_log_remove_tree(AT_FDCWD, folder);
out:
    trace_text_free(&words);
    trace_text_free(&command);
    trace_text_free(&answer);
    return json;
}

/* Whether the test's program joins by itself. */
static bool is_told_to_join(const cJSON *test, const char *dir)
{
    static const char set[] = TEST_LOG_JOIN "=set:";
    const cJSON *change;

    cJSON_ArrayForEach(change,
                       runners_ctest_property(test, "ENVIRONMENT_MODIFICATION"))
    {
        const char *text = cJSON_GetStringValue(change);

        if (text && !strncmp(text, set, strlen(set)) &&
            !strcmp(text + strlen(set), dir))
            return true;
    }
    return false;
}

/* Adds the command of a test that joins. */
static void add_joining(struct trace_table *commands, const cJSON *test,
                        const char *dir)
{
    uint64_t hash = TRACE_HASH;
    bool joins = is_told_to_join(test, dir);
    const cJSON *word;

    cJSON_ArrayForEach(word, cJSON_GetObjectItemCaseSensitive(test, "command"))
    {
        const char *text = cJSON_GetStringValue(word);

        if (!text)
            return;
        hash = trace_hash_string(hash, text);
        joins |= !strncmp(text, "--join=", 7) && !strcmp(text + 7, dir);
    }
    if (joins && !cJSON_IsTrue(runners_ctest_property(test, "DISABLED")))
        trace_table_set(commands, hash, 0);
}

size_t runners_count_joining(pid_t ctest, const char *dir)
{
    cJSON *json = list_tests(ctest, dir), *test;
    struct trace_table commands = {0};
    size_t count;

    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(json, "tests"))
    {
        add_joining(&commands, test, dir);
    }
    count = commands.count;
    trace_table_free(&commands);
    cJSON_Delete(json);
    return count;
}
