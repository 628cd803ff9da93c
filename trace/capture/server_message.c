/* server_message.c: messages between a program and testlog capture. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "server.h"
#include "trace/base/clock.h"

enum { PATIENCE_SECONDS = 10 /* with a message that has begun */ };

static uint64_t patience_end(void)
{
    return trace_clock_ns(CLOCK_MONOTONIC) +
           PATIENCE_SECONDS * UINT64_C(1000000000);
}

/* Waits until there is something to receive, or space to send; -1 if the time
 * is over. */
static int await(int socket, short events, uint64_t until)
{
    struct pollfd one = {socket, events, 0};
    uint64_t now = trace_clock_ns(CLOCK_MONOTONIC);
    int left = now < until ? (int)((until - now) / 1000000) + 1 : 0;

    if (left && (poll(&one, 1, left) >= 0 || errno == EINTR))
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

/* The beginning of a message. */
struct head {
    uint32_t kind, size;
};

/* ---- Sending ---- */

static int send_bytes(int socket, const char *bytes, size_t size,
                      uint64_t until)
{
    while (size) {
        ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && (errno == EINTR ||
                         (errno == EAGAIN && !await(socket, POLLOUT, until))))
            continue;
        if (sent < 0)
            return -1;
        bytes += sent;
        size -= (size_t)sent;
    }
    return 0;
}

/* Room for one descriptor. */
union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static ssize_t send_with_file(int socket, const struct head *head, int file)
{
    struct iovec part = {(void *)head, sizeof(*head)};
    union control control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t sent;

    memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

int trace_message_send(int socket, enum trace_message_kind kind,
                       const void *bytes, size_t size, int file)
{
    const struct head head = {kind, (uint32_t)size};
    uint64_t until = patience_end();
    size_t sent = 0;

    if (file >= 0) {
        ssize_t count = send_with_file(socket, &head, file);

        if (count < 0)
            return -1;
        sent = (size_t)count;
    }
    return send_bytes(socket, (const char *)&head + sent, sizeof(head) - sent,
                      until) ||
                   send_bytes(socket, bytes, size, until)
               ? -1
               : 0;
}

/* ---- Receiving ---- */

/* Takes the descriptor of a message; -1 if this process can have no more. */
static int take_file(struct msghdr *message, int *file)
{
    const struct cmsghdr *control = CMSG_FIRSTHDR(message);

    errno = EMFILE;
    if (!control)
        return message->msg_flags & MSG_CTRUNC ? -1 : 0;
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
        return 0;
    if (*file >= 0)
        close(*file);
    memcpy(file, CMSG_DATA(control), sizeof(*file));
    return 0;
}

/* There is room for one descriptor: the kernel closes others. A sender that
 * dribbles is not waited for. */
static int receive_bytes(int socket, void *bytes, size_t size, int *file,
                         uint64_t until)
{
    char *to = bytes;

    while (size && !await(socket, POLLIN, until)) {
        struct iovec part = {to, size};
        union control control = {{0}};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = CMSG_LEN(sizeof(int))};
        ssize_t received =
            recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

        if (received < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (received == 0)
            errno = ECONNRESET;
        if (received <= 0 || take_file(&message, file))
            return -1;
        to += received;
        size -= (size_t)received;
    }
    return size ? -1 : 0;
}

static int receive(int socket, struct trace_message *message, size_t most)
{
    uint64_t until = patience_end();
    struct head head;

    if (receive_bytes(socket, &head, sizeof(head), &message->file, until))
        return -1;
    if (head.kind == TRACE_MESSAGE_NONE || head.kind > TRACE_MESSAGE_REFUSED ||
        head.size > most) {
        errno = EPROTO;
        return -1;
    }
    message->kind = head.kind;
    message->size = head.size;
    message->bytes = malloc((size_t)head.size + 1);
    if (!message->bytes)
        return -1;
    message->bytes[head.size] = '\0';
    return receive_bytes(socket, message->bytes, head.size, &message->file,
                         until);
}

int trace_message_receive(int socket, struct trace_message *message,
                          size_t most)
{
    int error;

    *message = (struct trace_message){.file = -1};
    if (!receive(socket, message, most))
        return 0;
    error = errno;
    trace_message_free(message);
    errno = error;
    return -1;
}

void trace_message_free(struct trace_message *message)
{
    free(message->bytes);
    if (message->file >= 0)
        close(message->file);
    *message = (struct trace_message){.file = -1};
}
