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

#include "harness/machine/preflight.h"
#include "harness/session.h"
#include "trace/record/recorder.h"

enum { PATIENCE_MS = 5000 };

/* A partial clone would fetch what it lacks. */
#define GIT                                                                    \
    "env", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "git",            \
        "--no-optional-locks", "-c", "core.fsmonitor=", "-c",                  \
        "core.hooksPath=/dev/null"

static int spawn(const char *const *words, int out, pid_t *pid)
{
    char **environment = test_log_tool_environment();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error;

    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, 1);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    error = environment ? posix_spawnp(pid, words[0], &files, &attributes,
                                       (char **)(uintptr_t)words, environment)
                        : ENOMEM;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return error;
}

static uint64_t now_ms(void)
{
    return trace_anchor_now().monotonic / 1000000;
}

/* Reads until the end or the deadline. Returns whether the end came. */
static bool read_all(int in, char *text, size_t size, uint64_t deadline)
{
    struct pollfd poll_in = {in, POLLIN, 0};
    char more[4096];
    size_t used = 0;
    ssize_t got = 1;

    while (got > 0) {
        uint64_t now = now_ms();

        if (now >= deadline || poll(&poll_in, 1, (int)(deadline - now)) <= 0)
            break;
        got = read(in, more, sizeof(more));
        for (ssize_t i = 0; i < got && used + 1 < size; i++)
            text[used++] = more[i];
    }
    text[used] = '\0';
    return !got;
}

/* Returns the exit code; -1 if it did not end in time. Git leads a group, with
 * what it has started. */
static int await(pid_t pid, uint64_t deadline)
{
    enum { LOOK_EVERY = 1000 /* us */ };
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) != pid) {
        if (now_ms() >= deadline) {
            kill(-pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        usleep(LOOK_EVERY);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Runs a command and reads what it prints, as much as there is room for.
 * Returns its exit code, or -1. */
static int ask(const char *const *words, char *text, size_t size)
{
    static uint64_t deadline; /* of all commands */
    int pipes[2];
    bool ended;
    pid_t pid;

    text[0] = '\0';
    if (!deadline)
        deadline = now_ms() + PATIENCE_MS;
    if (now_ms() >= deadline || pipe2(pipes, O_CLOEXEC))
        return -1;
    if (spawn(words, pipes[1], &pid)) {
        close(pipes[0]);
        close(pipes[1]);
        return -1;
    }
    close(pipes[1]);
    ended = read_all(pipes[0], text, size, deadline);
    close(pipes[0]);
    return await(pid, ended ? deadline : 0);
}

static bool is_commit(const char *text)
{
    size_t size = strspn(text, "0123456789abcdef");

    return size >= 4 && (!text[size] || text[size] == '\n');
}

/* Returns a copy, with room for a +; NULL if a text is no commit. */
static char *copy_of(const char *text)
{
    size_t size = text && is_commit(text) ? strcspn(text, "\n") : 0;
    char *commit = size ? calloc(1, size + 2) : NULL;

    return commit ? memcpy(commit, text, size) : NULL;
}

/* ---- Changed files ---- */

enum { FILTERS_MOST = 32, NAME_MOST = 120 };
#define FILTERS "^filter[.].*[.](clean|process|smudge|required)$"

/* Puts a setting that switches a filter off before git's command; false if its
 * name cannot be written so. */
static bool put_setting(const char *name, char setting[NAME_MOST + 8])
{
    static const char required[] = ".required";
    size_t size = strlen(name), end = sizeof(required) - 1;
    bool is_required = size > end && !strcmp(name + size - end, required);

    if (size > NAME_MOST || strchr(name, '='))
        return false;
    snprintf(setting, NAME_MOST + 8, "%s=%s", name, is_required ? "false" : "");
    return true;
}

/* Adds "-c NAME=" for each filter of contents that is configured, because git
 * would run its command. Returns how many words; -1 if not all can be. */
static int put_filters(const char **words, char settings[][NAME_MOST + 8])
{
    const char *const list[] = {
        GIT, "config", "--name-only", "--get-regexp", FILTERS, NULL};
    static char names[8192];
    char *name, *rest = names;
    int code = ask(list, names, sizeof(names)), count = 0;

    if ((code != 0 && code != 1) /* 1: there is none */ ||
        strlen(names) + 1 == sizeof(names))
        return -1;
    while ((name = strsep(&rest, "\n"))) {
        if (!*name)
            continue;
        if (count == FILTERS_MOST || !put_setting(name, settings[count]))
            return -1;
        words[2 * count] = "-c";
        words[2 * count + 1] = settings[count];
        count++;
    }
    return 2 * count;
}

/* Whether files differ from the commit; false if that is unknown. */
static bool is_dirty(void)
{
    static const char *const status[] = {"status",
                                         "--porcelain",
                                         "--untracked-files=no",
                                         "--ignore-submodules=all",
                                         "--no-renames",
                                         NULL};
    const char *words[16 + 2 * FILTERS_MOST] = {GIT};
    char settings[FILTERS_MOST][NAME_MOST + 8], text[64];
    size_t own = 0;
    int filters;

    while (words[own])
        own++;
    filters = put_filters(words + own, settings);
    if (filters < 0)
        return false;
    memcpy(words + own + filters, status, sizeof(status));
    return ask(words, text, sizeof(text)) >= 0 && text[0];
}

/* CI systems name the commit that they test. */
char *test_log_named_commit(void)
{
    char *commit = copy_of(getenv("GITHUB_SHA"));

    return commit ? commit : copy_of(getenv("CI_COMMIT_SHA"));
}

static char *asked_commit(void)
{
    const char *const head[] = {GIT, "rev-parse", "--verify", "HEAD", NULL};
    char text[128], *commit = NULL;

    if (!ask(head, text, sizeof(text)))
        commit = copy_of(text);
    if (commit && is_dirty())
        memcpy(commit + strlen(commit), "+", 2);
    return commit;
}

char *test_log_commit(void)
{
    char *commit = test_log_named_commit();

    if (!commit)
        commit = asked_commit();
    return commit ? commit : strdup("");
}
