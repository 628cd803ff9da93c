/* view_listen.c: the socket of testlog view. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness/results/folder/notice.h"
#include "view.h"

enum { BACKLOG = 512 };

static int refuse(int fd, const char *what, const char *hint)
{
    int error = errno;

    if (fd >= 0)
        close(fd);
    test_log_notice("view: cannot listen on %s: %s; %s", what, strerror(error),
                    hint);
    return -1;
}

/* ---- A port ---- */

static int listen_on_port(struct view *view)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)view->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int one = 1;
    char what[32];

    snprintf(what, sizeof(what), "port %u", view->port);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
        bind(fd, (struct sockaddr *)&address, size) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&address, &size))
        return refuse(fd, what, "leave out --port for a free one");
    view->port = ntohs(address.sin_port);
    return fd;
}

/* ---- A Unix socket ---- */

/* Removes a socket that no process listens on any more. */
static void remove_left(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat status;

    if (fd >= 0 && !lstat(address->sun_path, &status) &&
        S_ISSOCK(status.st_mode) &&
        connect(fd, (const struct sockaddr *)address, sizeof(*address)) &&
        errno == ECONNREFUSED)
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
}

static int listen_on_socket(const struct view *view)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    mode_t before;
    int fd, failed;

    if (strlen(view->socket) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return refuse(-1, view->socket, "a path has at most 107 bytes");
    }
    strcpy(address.sun_path, view->socket);
    remove_left(&address);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    before = umask(0177);
    failed = fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
             listen(fd, BACKLOG);
    umask(before);
    return failed ? refuse(fd, view->socket, "name another path") : fd;
}

int view_listen(struct view *view)
{
    return view->socket ? listen_on_socket(view) : listen_on_port(view);
}

void view_unlisten(const struct view *view)
{
    if (view->socket)
        unlink(view->socket);
}
