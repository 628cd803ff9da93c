/* commit.c: finds the commit that is tested.
 *
 * git runs no command that a repository's configuration names: hooks, the
 * monitor of files, and filters of contents are off.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/runner/program/program.h"
#include "harness/session.h"
#include "trace/record/recorder.h"

enum { PATIENCE_MS = 2000, SHORT = 12 /* digits */ };
_Static_assert(SHORT + 2 <= TEST_LOG_COMMIT_SIZE, "a dirty tree has a +");

#define GIT                                                                    \
    "git", "--no-optional-locks", "-c", "core.fsmonitor=", "-c",               \
        "core.hooksPath=/dev/null"

static int spawn(const char *const *words, int out, pid_t *pid)
{
    char **environment = test_log_tool_environment();
    posix_spawn_file_actions_t files;
    int error;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    error = environment ? posix_spawnp(pid, words[0], &files, NULL,
                                       (char **)(uintptr_t)words, environment)
                        : ENOMEM;
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return error;
}

static uint64_t now_ms(void)
{
    return trace_anchor_now().monotonic / 1000000;
}

/* Returns whether the end came in time. */
static bool read_all(int in, char *text, size_t size)
{
    uint64_t begin = now_ms(), spent;
    struct pollfd poll_in = {in, POLLIN, 0};
    size_t used = 0;
    ssize_t got = 1;

    while (got > 0 && used + 1 < size &&
           (spent = now_ms() - begin) < PATIENCE_MS &&
           poll(&poll_in, 1, PATIENCE_MS - (int)spent) > 0) {
        got = read(in, text + used, size - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
    return !got;
}

/* Runs a command and reads what it prints. Returns its exit code, or -1. */
static int ask(const char *const *words, char *text, size_t size)
{
    int pipes[2], status = -1;
    bool ended;
    pid_t pid;

    text[0] = '\0';
    if (pipe2(pipes, O_CLOEXEC))
        return -1;
    if (spawn(words, pipes[1], &pid)) {
        close(pipes[0]);
        close(pipes[1]);
        return -1;
    }
    close(pipes[1]);
    ended = read_all(pipes[0], text, size);
    close(pipes[0]);
    if (!ended)
        kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool is_commit(const char *text)
{
    size_t size = strspn(text, "0123456789abcdef");

    return size >= 4 && (!text[size] || text[size] == '\n');
}

static bool take(char commit[TEST_LOG_COMMIT_SIZE], const char *text)
{
    if (!text || !is_commit(text))
        return false;
    snprintf(commit, SHORT + 1, "%s", text);
    commit[strcspn(commit, "\n")] = '\0';
    return true;
}

/* ---- Changed files ---- */

enum { FILTERS_MOST = 32 };
#define COMMANDS "^filter[.].*[.](clean|process)$"

/* Whether files differ from the commit. git would run the commands of filters,
 * which a repository or a user may have configured, so each is set to "". */
static bool is_dirty(void)
{
    const char *const filters[] = {
        GIT, "config", "--name-only", "--get-regexp", COMMANDS, NULL};
    const char *const changes[] = {"diff-index", "--quiet", "HEAD",
                                   "--ignore-submodules", NULL};
    const char *words[16 + 2 * FILTERS_MOST] = {GIT};
    char names[4096], text[8], *name, *rest = names;
    char settings[FILTERS_MOST][128];
    size_t count = 6, filter = 0;

    if (ask(filters, names, sizeof(names)) > 1)
        return false;
    while ((name = strsep(&rest, "\n")) && filter < FILTERS_MOST) {
        if (!*name)
            continue;
        snprintf(settings[filter], sizeof(*settings), "%s=", name);
        words[count++] = "-c";
        words[count++] = settings[filter++];
    }
    memcpy(words + count, changes, sizeof(changes));
    return !name && ask(words, text, sizeof(text)) == 1;
}

void test_log_commit(char commit[TEST_LOG_COMMIT_SIZE])
{
    const char *const head[] = {GIT, "rev-parse", "--verify", "HEAD", NULL};
    char text[128];

    commit[0] = '\0';
    if (take(commit, getenv("GITHUB_SHA")) ||
        take(commit, getenv("CI_COMMIT_SHA")) ||
        ask(head, text, sizeof(text)) || !take(commit, text))
        return;
    if (is_dirty())
        memcpy(commit + strlen(commit), "+", 2);
}
