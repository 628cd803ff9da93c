/* unix_socket.c: sockets that have a path. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "strings.h"
#include "unix_socket.h"

static int set_path(struct sockaddr_un *address, const char *path)
{
    size_t size = strlen(path) + 1;

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (size == 1 || size > sizeof(address->sun_path)) {
        errno = size == 1 ? ENOENT : ENAMETOOLONG;
        return -1;
    }
    memcpy(address->sun_path, path, size);
    return 0;
}

/* Waits for nobody: EAGAIN if as many clients wait as the socket allows. */
static int connect_to(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error;

    if (fd < 0 ||
        (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
         !fcntl(fd, F_SETFL, 0)))
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

void trace_unix_remove_left(const char *path)
{
    struct sockaddr_un address;
    struct stat status;
    int fd;

    if (set_path(&address, path) || lstat(path, &status) ||
        !S_ISSOCK(status.st_mode))
        return;
    fd = connect_to(&address);
    if (fd >= 0)
        close(fd);
    else if (errno == ECONNREFUSED)
        unlink(path);
}

/* Gives a socket that listens at `from` its path, unless something is there. */
static int move(const char *from, const char *path)
{
    int status = link(from, path);
    int error = status && errno == EEXIST ? EADDRINUSE : errno;

    unlink(from);
    errno = error;
    return status;
}

/* The socket's own mode becomes that of its file: umask would be changed for
 * all threads. It listens before it has its path: clients would take it for one
 * that a killed program has left. */
int trace_unix_listen(const char *path, int backlog)
{
    struct sockaddr_un address;
    char early[sizeof(address.sun_path)];
    int fd, error;
    bool moves =
        (size_t)snprintf(early, sizeof(early), "%s~", path) < sizeof(early);

    if (set_path(&address, path) || (moves && set_path(&address, early)))
        return -1;
    trace_unix_remove_left(path);
    trace_unix_remove_left(address.sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && !fchmod(fd, 0600) &&
        !bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
        !listen(fd, backlog) && (!moves || !move(early, path)))
        return fd;
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Connects by way of the folder, to a path that is too long for a socket. */
int trace_unix_connect(const char *path)
{
    const char *name = trace_base_name(path);
    struct sockaddr_un address;
    char folder[4096], near[sizeof(address.sun_path)];
    int fd, result = -1;

    if (!set_path(&address, path))
        return connect_to(&address);
    if (errno != ENAMETOOLONG)
        return -1;
    snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
    fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if ((size_t)snprintf(near, sizeof(near), "/proc/self/fd/%d/%s", fd, name) >=
        sizeof(near))
        errno = ENAMETOOLONG;
    else if (!set_path(&address, near))
        result = connect_to(&address);
    close(fd);
    return result;
}

uid_t trace_unix_peer(int socket, pid_t *pid)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size))
        return (uid_t)-1;
    if (pid)
        *pid = peer.pid;
    return peer.uid;
}
