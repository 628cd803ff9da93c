/* server.h: what a program and testlog capture say to each other. Private to
 * the project.
 *
 * A program listens at a Unix socket. The client says HELLO; the program
 * answers with its call sites; the client starts a recording in a file that it
 * hands over, judges the call sites for it, and stops it, at the latest by
 * closing the socket. The program opens no path and needs no filter language.
 * Numbers are in the host's order: both run on one host.
 */
#ifndef TRACE_SERVER_H
#define TRACE_SERVER_H

#include <limits.h>
#include <testlog/trace.h>

#include "trace/base/descriptor.h"

enum {
    TRACE_CAPTURE_VERSION = 1,
    TRACE_SOCKET_MOST = 107, /* bytes of a socket's path */
};

/* X(NAME, who sends it, its contents) */
#define TRACE_MESSAGES(X)                                                      \
    X(HELLO, "client", "uint32_t: TRACE_CAPTURE_VERSION")                      \
    X(SITES, "program", "see trace_site_list_put")                             \
    X(START, "client", "struct trace_start_request, and the file")             \
    X(STARTED, "program", "-")                                                 \
    X(STOP, "client", "-")                                                     \
    X(STOPPED, "program", "-")                                                 \
    X(REFUSED, "program", "why, a text; then it closes the socket")

enum trace_message_kind {
    TRACE_MESSAGE_NONE,
#define TRACE_X(name, sender, contents) TRACE_MESSAGE_##name,
    TRACE_MESSAGES(TRACE_X)
#undef TRACE_X
};

struct trace_message {
    uint32_t kind;        /* enum trace_message_kind */
    uint32_t size;        /* bytes of its contents */
    unsigned char *bytes; /* followed by a NUL; the receiver frees them */
    int file;             /* that was handed over; -1: none */
};

/* Followed by a byte for each of `count` call sites, 1 if it is wanted, in the
 * order of SITES; then strings: options as trace_profiler_text writes them, and
 * names and values of metadata. */
struct trace_start_request {
    uint32_t level; /* most verbose one of call sites that the client does not
                       know yet */
    uint32_t count;
};

/* ---- server_message.c ---- */

/* trace_message_send sends a message, and a file unless it is -1.
 * trace_message_receive receives one of at most `most` bytes. A message that
 * has begun must end within 10 seconds. -1 with errno: ETIMEDOUT, ECONNRESET or
 * EPIPE if the other end has closed the socket, EPROTO if it sent something
 * else, EMFILE if there was no descriptor for the file that came with it. */
int trace_message_send(int socket, enum trace_message_kind, const void *,
                       size_t size, int file);
int trace_message_receive(int socket, struct trace_message *, size_t most);
void trace_message_free(struct trace_message *);

/* ---- site_list.c ---- */

/* A list of call sites. */
struct trace_site_list {
    struct trace_site **sites;
    size_t count, capacity;
};

/* trace_site_list_put adds the process's id, its name and its call sites to a
 * message, and notes the call sites in the same order. */
void trace_site_list_put(struct trace_text *, struct trace_site_list *);

/* trace_site_list_read reads such a message. Sites and what they point to are
 * one block of memory, which trace_site_list_free frees, except strings: these
 * point into `bytes`. -1 if it is damaged, or without memory. */
int trace_site_list_read(const struct trace_message *, uint32_t *pid,
                         const char **program, struct trace_site_list *);
void trace_site_list_free(struct trace_site_list *);

/* ---- socket_path.c ---- */

/* trace_socket_folder writes the folder of the user's sockets: "testlog" below
 * XDG_RUNTIME_DIR, which is `runtime`, or /tmp/testlog-UID if that is NULL.
 * trace_socket_folder_make makes it; -1 with errno, EPERM if it is another
 * user's, or others may write to it. */
void trace_socket_folder(char path[PATH_MAX], const char *runtime);
int trace_socket_folder_make(const char *path);

/* ---- server_session.c ---- */

/* trace_capture answers a client until its capture has ended. Meanwhile it
 * refuses those that connect to `listener`, and ends if that is shut down. A
 * forked child calls trace_capture_in_child. */
void trace_capture(int client, const struct trace_descriptor *listener);
void trace_capture_in_child(void);

/* trace_capture_refuse refuses the next client; false if there is none. It may
 * be called in a signal handler. */
bool trace_capture_refuse(const struct trace_descriptor *listener,
                          const char *why);
#define TRACE_RECORDED_ALREADY "it is recorded already"

/* ---- server.c ---- */

/* trace_server_listen_asked opens the process's socket if the variable
 * TRACE_SERVER asks for it; once. If it cannot, it prints why. */
void trace_server_listen_asked(void);

#endif
