/* capture_target.c: finds the program that testlog capture captures. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "runners/record/capture_program.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"
#include "trace/base/unix_socket.h"

/* ---- Of a process ---- */

/* Returns a file of /proc/PID, NUL-terminated, to be freed; NULL. */
static char *read_proc(pid_t pid, const char *name, size_t *size)
{
    enum { MOST = 1 << 20 };
    char path[64], *text = malloc(MOST + 1);
    ssize_t part = 0;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    *size = 0;
    while (text && fd >= 0 && *size < MOST &&
           (part = read(fd, text + *size, MOST - *size)) > 0)
        *size += (size_t)part;
    if (fd >= 0)
        close(fd);
    if (text)
        text[*size] = '\0';
    return text;
}

/* Copies the value of a variable that a process was started with; "" if it has
 * none. */
static void variable_of(pid_t pid, const char *name, char value[PATH_MAX])
{
    size_t size, length = strlen(name);
    char *text = read_proc(pid, "environ", &size);

    value[0] = '\0';
    if (!text)
        return;
    for (size_t at = 0; at < size; at += strlen(text + at) + 1)
        if (!strncmp(text + at, name, length) && text[at + length] == '=')
            snprintf(value, PATH_MAX, "%s", text + at + length + 1);
    free(text);
}

/* Returns its pid in its own container, which is the last of those that the
 * kernel lists. */
static long inner_pid(pid_t pid)
{
    size_t size;
    char *text = read_proc(pid, "status", &size);
    const char *line = text ? strstr(text, "\nNSpid:") : NULL;
    long inner = pid;
    char *end;

    for (line = line ? line + strlen("\nNSpid:") : NULL; line; line = end) {
        long number = strtol(line, &end, 10);

        if (end == line || memchr(line, '\n', (size_t)(end - line)))
            break;
        inner = number;
    }
    free(text);
    return inner;
}

/* The path as this process sees it. */
static void socket_of(pid_t pid, char path[PATH_MAX])
{
    char value[PATH_MAX], folder[PATH_MAX];
    int size;

    variable_of(pid, "TRACE_SERVER", value);
    if (value[0] == '/') {
        size = snprintf(path, PATH_MAX, "/proc/%ld/root%s", (long)pid, value);
    } else {
        variable_of(pid, "XDG_RUNTIME_DIR", value);
        trace_socket_folder(folder, value[0] ? value : NULL);
        size = snprintf(path, PATH_MAX, "/proc/%ld/root%s/%ld.sock", (long)pid,
                        folder, inner_pid(pid));
    }
    if (size >= PATH_MAX)
        path[0] = '\0';
}

/* ---- Those that listen ---- */

static bool has_ended(pid_t pid)
{
    return kill(pid, 0) && errno == ESRCH;
}

static void set_name(struct listening_program *program)
{
    size_t size;
    char *name = read_proc(program->pid, "comm", &size);

    if (name && size)
        snprintf(program->name, sizeof(program->name), "%.*s",
                 (int)strcspn(name, "\n"), name);
    free(name);
}

/* Returns the pid of a socket "1234.sock"; 0: it is none. */
static pid_t pid_of(const char *socket)
{
    char *end;
    long pid = strtol(socket, &end, 10);

    return pid > 0 && pid <= INT_MAX && !strcmp(end, ".sock") ? (pid_t)pid : 0;
}

/* Programs that a signal ended leave their sockets. One that a container
 * shares with us may be another process's. */
static bool is_left(const char *folder, const char *socket, pid_t pid)
{
    char path[PATH_MAX];

    if (!has_ended(pid))
        return false;
    if (snprintf(path, sizeof(path), "%s/%s", folder, socket) < PATH_MAX)
        trace_unix_remove_left(path);
    return true;
}

size_t capture_find_programs(struct listening_program **programs)
{
    size_t count = 0, capacity = 0;
    char folder[PATH_MAX];
    struct dirent *entry;
    DIR *sockets;

    *programs = NULL;
    trace_socket_folder(folder, getenv("XDG_RUNTIME_DIR"));
    sockets = opendir(folder);
    while (sockets && (entry = readdir(sockets))) {
        pid_t pid = pid_of(entry->d_name);

        if (!pid || is_left(folder, entry->d_name, pid) ||
            !TRACE_ARRAY_RESERVE(*programs, capacity, count + 1))
            continue;
        (*programs)[count].pid = pid;
        set_name(&(*programs)[count++]);
    }
    if (sockets)
        closedir(sockets);
    return count;
}

/* ---- Connecting ---- */

static const char *reason(int error)
{
    return error == ECONNREFUSED ? "no program listens there"
           : error == EAGAIN
               ? "others wait there already for a call of a call site"
               : strerror(error);
}

static bool refuse(const char *path, pid_t pid)
{
    int error = errno;

    if (path)
        test_log_notice("capture: --connect=%s: %s; start a program with "
                        "TRACE_SERVER=%s",
                        path, reason(error), path[0] == '/' ? path : "1");
    else if (has_ended(pid))
        test_log_notice("capture: --pid=%ld: there is no such process",
                        (long)pid);
    else if (error == EAGAIN)
        test_log_notice("capture: --pid=%ld: %s", (long)pid, reason(error));
    else
        test_log_notice("capture: --pid=%ld does not listen; start it with "
                        "TRACE_SERVER=1",
                        (long)pid);
    return false;
}

bool capture_connect(struct captured *captured, const char *path, pid_t pid)
{
    char found[PATH_MAX] = "";

    if (!path)
        socket_of(pid, found);
    captured->socket = trace_unix_connect(path ? path : found);
    if (captured->socket < 0)
        return refuse(path, pid);
    if (trace_unix_peer(captured->socket, &captured->pid) == geteuid())
        return true;
    test_log_notice("capture: %s%s belongs to another user",
                    path ? "--connect=" : "the socket of the process",
                    path ? path : "");
    return false;
}
