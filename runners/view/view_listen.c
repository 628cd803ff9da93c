/* view_listen.c: the socket of testlog view. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "trace/base/unix_socket.h"
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

static int listen_on_socket(const struct view *view)
{
    int fd = trace_unix_listen(view->socket, BACKLOG);

    return fd >= 0
               ? fd
               : refuse(fd, view->socket,
                        errno == ENAMETOOLONG ? "a path has at most 107 bytes"
                                              : "name another path");
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
