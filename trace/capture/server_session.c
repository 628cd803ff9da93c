/* server_session.c: one capture, as a client asks for it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"
#include "trace/base/descriptor.h"
#include "trace/base/unix_socket.h"
#include "trace/device.h"
#include "trace/record/profiler.h"
#include "trace/record/recorder.h"

enum {
    RETRY_MS = 100,
    STRINGS_MOST = 64 << 10,
    META_MOST = 32, /* strings */
};

struct session {
    struct trace_descriptor client, listener;
    struct trace_site_list list; /* that the client knows */
};

/* ---- Which call sites are on ---- */

/* The verdicts of call sites that the client knows. */
static const char wanted, unwanted;

static uint32_t level_of_others;

static unsigned interest(struct trace_site *site)
{
    if (site->verdict == &wanted || site->verdict == &unwanted)
        return site->verdict == &wanted ? TRACE_ALWAYS : 0;
    return site->level <= level_of_others ? TRACE_ALWAYS : 0;
}

static const struct trace_subscriber capturing = {.interest = interest};

struct judged {
    struct trace_site *site;
    const char *verdict;
};

struct judgement {
    struct judged *sites; /* by address */
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    uintptr_t one = (uintptr_t)((const struct judged *)a)->site;
    uintptr_t other = (uintptr_t)((const struct judged *)b)->site;

    return (one > other) - (one < other);
}

/* A shared object may have been loaded or removed since the list was made. */
static void judge(struct trace_site *site, void *context)
{
    const struct judgement *judgement = context;
    const struct judged key = {site, NULL}, *found;

    found = bsearch(&key, judgement->sites, judgement->count, sizeof(key),
                    by_address);
    site->verdict = found ? found->verdict : NULL;
}

static bool judge_all(const struct trace_site_list *list,
                      const unsigned char *answers)
{
    struct judgement judgement = {
        calloc(list->count + 1, sizeof(*judgement.sites)), list->count};

    if (!judgement.sites)
        return false;
    for (size_t i = 0; i < list->count; i++)
        judgement.sites[i] =
            (struct judged){list->sites[i], answers[i] ? &wanted : &unwanted};
    qsort(judgement.sites, judgement.count, sizeof(*judgement.sites),
          by_address);
    trace_site_each(judge, &judgement);
    free(judgement.sites);
    return true;
}

static void forget_verdict(struct trace_site *site, void *unused)
{
    (void)unused;
    site->verdict = NULL;
}

static void judge_no_more(void)
{
    if (trace_subscriber == &capturing)
        trace_subscribe(NULL);
    trace_site_each(forget_verdict, NULL);
}

/* ---- Talking ---- */

static void refuse(int client, const char *why)
{
    trace_message_send(client, TRACE_MESSAGE_REFUSED, why, strlen(why), -1);
}

bool trace_capture_refuse(const struct trace_descriptor *listener,
                          const char *why)
{
    int client = -1;

    if (trace_descriptor_is_ours(listener))
        client = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
    if (client < 0)
        return false;
    refuse(client, why);
    close(client);
    return true;
}

/* Waits until the client has sent something, or has gone; false if the server
 * stops. */
static bool await_client(const struct session *session)
{
    struct pollfd fds[] = {{session->client.fd, POLLIN, 0},
                           {session->listener.fd, POLLIN, 0}};

    for (;;) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            return false;
        if (fds[1].revents & POLLHUP)
            return false;
        if (fds[0].revents)
            return trace_descriptor_is_ours(&session->client);
        if (!trace_descriptor_is_ours(&session->listener))
            fds[1].fd = -1;
        /* There may be too many descriptors for now. */
        else if (fds[1].revents &&
                 !trace_capture_refuse(&session->listener,
                                       "another client captures it"))
            poll(fds, 1, RETRY_MS);
    }
}

static bool receive(const struct session *session,
                    struct trace_message *message, uint32_t kind, size_t most)
{
    if (!await_client(session))
        return false;
    if (trace_message_receive(session->client.fd, message, most)) {
        refuse(session->client.fd, strerror(errno));
        return false;
    }
    if (message->kind == kind)
        return true;
    trace_message_free(message);
    refuse(session->client.fd, "it expected another message");
    return false;
}

/* ---- Starting ---- */

/* Returns a descriptor above 0, which belongs to the caller; -1 if it is not an
 * empty file of ours. */
static int take_file(const struct trace_message *message)
{
    struct stat status;

    if (message->file < 0 || fstat(message->file, &status) ||
        !S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
        status.st_size ||
        (fcntl(message->file, F_GETFL) & O_ACCMODE) != O_RDWR) {
        errno = EINVAL;
        return -1;
    }
    return fcntl(message->file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Splits the strings at the end of a request; false if there are too many. */
static bool read_strings(const struct trace_message *message, size_t at,
                         const char *strings[META_MOST])
{
    size_t count = 0;

    while (at < message->size && count < META_MOST - 1) {
        strings[count] = (const char *)message->bytes + at;
        at += strlen(strings[count++]) + 1;
    }
    strings[count] = NULL;
    return at == message->size && count % 2;
}

static int record(const char *const *strings, int file)
{
    struct trace_profiler profiler = trace_profiler_of(strings[0]);
    const struct trace_options options = {.limit = profiler.limit,
                                          .functions_limit =
                                              profiler.functions_limit,
                                          .meta = strings + 1};

    if (trace_subscriber) {
        errno = EBUSY;
        return -1;
    }
    trace_device_configure(&profiler);
    trace_subscribe(&capturing);
    if (!trace_open_file(file, &options)) {
        trace_device_retry();
        return 0;
    }
    judge_no_more();
    return -1;
}

static int start(const struct session *session,
                 const struct trace_message *message)
{
    const struct trace_start_request *request = (const void *)message->bytes;
    const size_t head = sizeof(*request);
    const char *strings[META_MOST];
    int file, error;

    errno = EPROTO;
    if (message->size < head || request->count != session->list.count ||
        message->size - head < request->count ||
        !read_strings(message, head + request->count, strings))
        return -1;
    file = take_file(message);
    if (file < 0)
        return -1;
    level_of_others = request->level;
    if (trace_is_recording())
        errno = EBUSY;
    else if (judge_all(&session->list, message->bytes + head) &&
             !record(strings, file))
        return 0;
    error = errno;
    close(file);
    errno = error;
    return -1;
}

static bool await_start(const struct session *session)
{
    size_t most =
        sizeof(struct trace_start_request) + session->list.count + STRINGS_MOST;
    struct trace_message message;
    bool started;

    if (!receive(session, &message, TRACE_MESSAGE_START, most))
        return false;
    started = !start(session, &message);
    if (!started)
        refuse(session->client.fd,
               errno == EBUSY ? TRACE_RECORDED_ALREADY : strerror(errno));
    trace_message_free(&message);
    return started;
}

/* ---- The session ---- */

static bool greet(struct session *session)
{
    struct trace_text text = {0};
    struct trace_message hello;
    uint32_t version = 0;
    bool sent;

    if (!receive(session, &hello, TRACE_MESSAGE_HELLO, sizeof(version)))
        return false;
    if (hello.size == sizeof(version))
        memcpy(&version, hello.bytes, sizeof(version));
    trace_message_free(&hello);
    if (version != TRACE_CAPTURE_VERSION) {
        refuse(session->client.fd, "it was linked with another testlog");
        return false;
    }
    trace_site_list_put(&text, &session->list);
    sent = !text.failed &&
           !trace_message_send(session->client.fd, TRACE_MESSAGE_SITES,
                               text.data, text.size, -1);
    trace_text_free(&text);
    return sent;
}

/* The program may have become another user's meanwhile. */
static bool is_ours(int client)
{
    if (trace_unix_peer(client, NULL) == geteuid())
        return true;
    refuse(client, "it belongs to another user now");
    return false;
}

/* The client of the session; a forked child must not keep it open. */
static struct trace_descriptor talking;

void trace_capture_in_child(void)
{
    trace_descriptor_close(&talking);
}

void trace_capture(int client, const struct trace_descriptor *listener)
{
    struct session session = {trace_descriptor_of(client), *listener, {0}};

    talking = session.client;
    if (is_ours(client) && greet(&session) && await_start(&session)) {
        if (!trace_message_send(client, TRACE_MESSAGE_STARTED, NULL, 0, -1))
            await_client(&session);
        trace_close_file(judge_no_more);
        trace_device_pause();
        if (trace_descriptor_is_ours(&session.client))
            trace_message_send(client, TRACE_MESSAGE_STOPPED, NULL, 0, -1);
    }
    free(session.list.sites);
    trace_descriptor_close(&talking);
}
