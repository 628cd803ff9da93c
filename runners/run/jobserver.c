/* jobserver.c: a client of GNU make's jobserver, a pipe with a byte, called a
 * token, for each additional job.
 *
 * A separate process, the keeper, counts the tokens that we have. It gives them
 * back when we, or the kernel after our death, close the pipe to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

enum { TOKENS_MOST = 4096 };

static int server; /* tokens are read here; 0: there is no jobserver */
static int keeper; /* to the keeper of tokens */
static pid_t keeper_pid;
static char tokens[TOKENS_MOST];
static size_t count;

/* What we write to the keeper: a token that we took or give back. */
struct note {
    char verb, token;
};

/* ---- The keeper ---- */

static void give_back(int to, char token)
{
    while (write(to, &token, 1) < 0 && (errno == EINTR || errno == EAGAIN))
        ;
}

/* Only the end of the pipe ends the keeper. */
_Noreturn static void keep(int from, int to)
{
    unsigned kept[256] = {0};
    struct note note;
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    prctl(PR_SET_NAME, "testlog-tokens");
    while (read(from, &note, sizeof(note)) == sizeof(note)) {
        unsigned char token = (unsigned char)note.token;

        if (note.verb == '-')
            give_back(to, note.token);
        kept[token] += note.verb == '+' ? 1u : -1u;
    }
    for (unsigned token = 0; token < 256; token++)
        for (; kept[token]; kept[token]--)
            give_back(to, (char)token);
    _exit(0);
}

static int start_keeper(int to)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return -1;
    fflush(NULL);
    keeper_pid = fork();
    if (!keeper_pid) {
        close(ends[1]);
        keep(ends[0], to);
    }
    close(ends[0]);
    keeper = ends[1];
    if (keeper_pid > 0)
        return 0;
    close(keeper);
    return -1;
}

/* ---- Finding it ---- */

/* Returns the value of the last option of a name. Variables from make's command
 * line follow " -- ". */
static const char *find_option(const char *flags, const char *name)
{
    const char *variables = strstr(flags, " -- "), *found = NULL;

    for (const char *at = flags; (at = strstr(at, name)); at++)
        if ((at == flags || at[-1] == ' ') && (!variables || at < variables))
            found = at + strlen(name);
    return found;
}

static bool is_pipe(int fd, struct stat *status)
{
    return fd > STDERR_FILENO && !fstat(fd, status) &&
           S_ISFIFO(status->st_mode);
}

static bool is_fifo(const char *path)
{
    struct stat status;

    return !stat(path, &status) && S_ISFIFO(status.st_mode);
}

/* Opens the same pipe again, because make's descriptor must not become
 * non-blocking. */
static int open_again(int fd, int flags)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}

/* Opens "3,4", the two ends of one pipe, or "fifo:PATH". */
static void open_server(const char *where, int *from, int *to)
{
    struct stat in, out;
    int read_end, write_end;
    char path[4096];

    if (sscanf(where, "fifo:%4095s", path) == 1 && is_fifo(path)) {
        *from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        *to = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    } else if (sscanf(where, "%d,%d", &read_end, &write_end) == 2 &&
               is_pipe(read_end, &in) && is_pipe(write_end, &out) &&
               in.st_ino == out.st_ino) {
        *from = open_again(read_end, O_RDONLY | O_NONBLOCK);
        *to = open_again(write_end, O_WRONLY);
    }
}

void runners_jobserver_find(void)
{
    const char *flags = getenv("MAKEFLAGS"), *where = NULL;
    int from = -1, to = -1;

    if (flags)
        where = find_option(flags, "--jobserver-auth=");
    if (flags && !where) /* before make 4.2 */
        where = find_option(flags, "--jobserver-fds=");
    if (where)
        open_server(where, &from, &to);
    if (from >= 0 && to >= 0 && !start_keeper(to))
        server = from;
    else if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}

/* ---- Tokens ---- */

static bool tell_keeper(char verb, char token)
{
    const struct note note = {verb, token};

    return write(keeper, &note, sizeof(note)) == sizeof(note);
}

static bool take(void)
{
    char token;

    if (count == TOKENS_MOST || read(server, &token, 1) != 1)
        return false;
    tokens[count++] = token;
    return tell_keeper('+', token);
}

size_t runners_jobserver_hold(size_t jobs)
{
    if (!server)
        return jobs;
    while (count + 1 < jobs && take())
        ;
    while (count && count + 1 > jobs)
        tell_keeper('-', tokens[--count]);
    return count + 1;
}

int runners_jobserver_fd(void)
{
    return server;
}

void runners_jobserver_end(void)
{
    if (!server)
        return;
    close(keeper);
    waitpid(keeper_pid, NULL, 0);
    close(server);
    server = 0;
    count = 0;
}
