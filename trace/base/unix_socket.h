/* unix_socket.h: sockets that have a path. Private to the project. */
#ifndef TRACE_UNIX_SOCKET_H
#define TRACE_UNIX_SOCKET_H

#include <sys/types.h>

/* trace_unix_listen returns a socket that listens at `path`, where only its
 * user may connect: non-blocking and close-on-exec. It replaces a socket that
 * nobody listens on any more. -1 with errno: EADDRINUSE if another file is
 * there, ENOENT for "", ENAMETOOLONG for more than 107 bytes. */
int trace_unix_listen(const char *path, int backlog);

/* trace_unix_remove_left removes a socket that nobody listens on any more. */
void trace_unix_remove_left(const char *path);

/* trace_unix_connect returns a socket that is connected to the one at `path`,
 * which may be of any length; -1 with errno: EAGAIN if too many others wait
 * there. */
int trace_unix_connect(const char *path);

/* trace_unix_peer returns the user at the other end, and sets *pid unless it is
 * NULL; (uid_t)-1 if that is unknown. */
uid_t trace_unix_peer(int socket, pid_t *pid);

#endif
