/* tool_output.c: reads what other tools print. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/preflight.h"
#include "import.h"

/* Damaged data may make a tool run for ever. */
enum { LEAST_SECONDS = 60, /* of processor time */ BYTES_PER_SECOND = 1 << 20 };

static pid_t tool; /* that runs */

bool runners_needs(const char *command, const char *program,
                   const char *package)
{
    if (test_log_preflight_program(program))
        return true;
    test_log_notice("%s: needs %s; install the package %s", command, program,
                    package);
    return false;
}

/* Returns the bytes of a file, or of the files in a folder. */
static uint64_t size_of(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    struct stat status;
    uint64_t size = 0;

    if (!folder)
        return stat(path, &status) ? 0 : (uint64_t)status.st_size;
    while ((entry = readdir(folder)))
        if (!fstatat(dirfd(folder), entry->d_name, &status,
                     AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(status.st_mode))
            size += (uint64_t)status.st_size;
    closedir(folder);
    return size;
}

/* The tool's own messages go where ours go. */
static void run(const char *const *argv, uint64_t seconds, int output,
                pid_t parent)
{
    struct rlimit limit = {seconds, seconds + 1};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it has ended before that */
        _exit(1);
    setrlimit(RLIMIT_CPU, &limit);
    dup2(output, STDOUT_FILENO);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

FILE *runners_tool_open(const char *const *argv, const char *data)
{
    uint64_t seconds = LEAST_SECONDS + size_of(data) / BYTES_PER_SECOND;
    pid_t parent = getpid();
    FILE *output = NULL;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    tool = fork();
    if (!tool)
        run(argv, seconds, ends[1], parent);
    close(ends[1]);
    if (tool > 0)
        output = fdopen(ends[0], "r");
    if (!output)
        close(ends[0]);
    return output;
}

char *runners_tool_close(FILE *output, const char *program)
{
    char *fault = NULL;
    int status = 0;

    fclose(output);
    while (waitpid(tool, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status) &&
        (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)) {
        if (asprintf(&fault, "%s takes too long to read it; is it damaged?",
                     program) < 0)
            fault = NULL;
    } else if (status && asprintf(&fault, "%s cannot read it", program) < 0) {
        fault = NULL;
    }
    return fault;
}
