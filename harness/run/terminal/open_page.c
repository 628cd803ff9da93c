/* open_page.c: opens a page in the user's browser (--open). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "harness/run/terminal/terminal.h"
#include "harness/session.h"

static char opener[] = "xdg-open";

/* It outlives us: it gets a session of its own, which no ^C reaches and which
 * has no terminal, and none of our files. */
static int start(char *path, pid_t *pid)
{
    char *words[] = {opener, path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    char **environment;
    int error = ENOMEM;

    test_log_gpu_hide();
    environment = test_log_tool_environment();
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
    if (environment)
        error =
            posix_spawnp(pid, opener, &files, &attributes, words, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return error;
}

/* On a machine without a display, it fails within moments. On others, it may
 * wait until the browser is closed. */
static bool fails_soon(pid_t pid)
{
    enum { LOOKS = 50, LOOK_EVERY = 10000 /* us */ };
    int status = 0;

    for (int i = 0; i < LOOKS; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return status != 0;
        usleep(LOOK_EVERY);
    }
    return false;
}

void test_log_open_page(const char *path)
{
    char real[PATH_MAX];
    pid_t pid;
    int error = realpath(path, real) ? start(real, &pid) : errno;

    if (error == ENOENT)
        test_log_notice("--open: %s is not in PATH; install xdg-utils, or open "
                        "the page yourself",
                        opener);
    else if (error)
        test_log_notice("--open: cannot run %s: %s; open the page yourself",
                        opener, strerror(error));
    else if (fails_soon(pid))
        test_log_notice("--open: %s found no browser; open the page yourself",
                        opener);
}

void test_log_show_page(const struct test_log_run *run,
                        const struct test_log_output *output)
{
    char path[PATH_MAX];

    if (!test_log_find_page(run, path))
        return;
    if (output->open && run->role == TEST_LOG_ROLE_WHOLE)
        test_log_open_page(path);
    test_log_print_page(path, "", output);
}
