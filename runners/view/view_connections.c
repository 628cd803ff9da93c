/* view_connections.c: the connections of testlog view, and the requests on
 * them.
 *
 * libmicrohttpd's time-out is of inactivity, so a client that sends a byte now
 * and then would keep a connection for ever: ours is of the whole request.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "view.h"

struct view_connection {
    struct MHD_Connection *connection;
    struct view_connection *next;
    uint64_t since; /* ns: when its request began; 0: it is answered */
    bool trusted;   /* it has shown a secret */
    bool ended;     /* by us */
};

static struct view_connection *find(const struct view *view,
                                    const struct MHD_Connection *connection)
{
    struct view_connection *one = view->connections;

    while (one && one->connection != connection)
        one = one->next;
    return one;
}

static void set_since(const struct view *view,
                      const struct MHD_Connection *connection, uint64_t since)
{
    struct view_connection *one = find(view, connection);

    if (one)
        one->since = since;
}

static void forget(struct view *view, struct MHD_Connection *connection)
{
    struct view_connection **at = &view->connections, *one;

    while (*at && (*at)->connection != connection)
        at = &(*at)->next;
    one = *at;
    if (one)
        *at = one->next;
    free(one);
}

static void end(struct view_connection *one)
{
    const union MHD_ConnectionInfo *info = view_http.get_connection_info(
        one->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    if (info && !one->ended)
        shutdown(info->connect_fd, SHUT_RDWR);
    one->ended = true;
}

/* Clients without a secret must not lock out the owner. */
static void end_oldest_stranger(struct view *view)
{
    struct view_connection *oldest = NULL;
    size_t strangers = 0;

    for (struct view_connection *one = view->connections; one; one = one->next)
        if (!one->trusted && !one->ended) {
            oldest = one;
            strangers++;
        }
    if (strangers > VIEW_STRANGERS_MOST)
        end(oldest);
}

static void note_connection(void *context, struct MHD_Connection *connection,
                            void **unused,
                            enum MHD_ConnectionNotificationCode code)
{
    struct view *view = context;
    struct view_connection *one;

    (void)unused;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        forget(view, connection);
        return;
    }
    one = calloc(1, sizeof(*one));
    if (!one)
        return;
    *one = (struct view_connection){.connection = connection,
                                    .next = view->connections,
                                    .since = trace_clock_ns(CLOCK_MONOTONIC)};
    view->connections = one;
    end_oldest_stranger(view);
}

void view_end_slow(struct view *view)
{
    const uint64_t most = VIEW_HEADER_SECONDS * UINT64_C(1000000000);
    uint64_t now = trace_clock_ns(CLOCK_MONOTONIC);

    for (struct view_connection *one = view->connections; one; one = one->next)
        if (one->since && now - one->since > most)
            end(one);
}

/* ---- Requests ---- */

static bool is_too_large(const struct view_request *request)
{
    const char *size = view_http.lookup_connection_value(
        request->connection, MHD_HEADER_KIND, "Content-Length");

    return size && strtoull(size, NULL, 10) > VIEW_BODY_MOST;
}

/* An answer before the body has been read would end the connection. */
static view_result on_body(struct view_request *request, const char *body,
                           size_t *size)
{
    size_t whole = request->size + *size;
    char *grown =
        whole <= VIEW_BODY_MOST ? realloc(request->body, whole + 1) : NULL;

    if (!grown)
        return MHD_NO;
    memcpy(grown + request->size, body, *size);
    grown[whole] = '\0';
    request->body = grown;
    request->size = whole;
    *size = 0;
    return MHD_YES;
}

static void free_request(struct view_request *request)
{
    if (request)
        free(request->body);
    free(request);
}

static view_result on_request(void *context, struct MHD_Connection *connection,
                              const char *target, const char *method,
                              const char *version, const char *body,
                              size_t *body_size, void **state)
{
    struct view_request *request = *state;
    struct view_connection *one = find(context, connection);
    view_result result;

    (void)version;
    if (request && *body_size)
        return on_body(request, body, body_size);
    if (request) {
        request->target = target;
        request->method = method;
        result = view_route(request);
        if (one) {
            one->since = 0;
            one->trusted |= view_may_read(request);
        }
        return result;
    }
    request = calloc(1, sizeof(*request));
    if (!request)
        return MHD_NO;
    *request = (struct view_request){.view = context,
                                     .connection = connection,
                                     .method = method,
                                     .target = target};
    *state = request;
    return is_too_large(request)
               ? view_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE)
               : MHD_YES;
}

/* The next request on the connection may take its time to begin. */
static void on_completed(void *context, struct MHD_Connection *connection,
                         void **state, enum MHD_RequestTerminationCode code)
{
    (void)code;
    set_since(context, connection, 0);
    view_forget_rendering(context, connection);
    view_forget_live(context, connection);
    free_request(*state);
    *state = NULL;
}

/* Each connection's next request begins with its first line. */
static void *on_first_line(void *context, const char *line,
                           struct MHD_Connection *connection)
{
    (void)line;
    set_since(context, connection, trace_clock_ns(CLOCK_MONOTONIC));
    return NULL;
}

/* Paths are decoded by view_decode. */
static size_t leave_encoded(void *context, struct MHD_Connection *connection,
                            char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

/* ---- The server ---- */

bool view_begin_http(struct view *view, int listener)
{
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, listener, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, VIEW_CONNECTIONS_MOST, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, VIEW_IDLE_SECONDS, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, 16 << 10, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)note_connection, view},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, view},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_first_line, view},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)leave_encoded, view},
        {MHD_OPTION_END, 0, NULL}};

    if (!view_begin_renderings(view))
        return false;
    view->daemon = view_http.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request,
        view, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    return view->daemon != NULL;
}

void view_end_http(struct view *view)
{
    view_close_streams(view);
    view_end_renderings(view);
    view_end_lives(view);
    view_http.run(view->daemon);
    view_http.stop_daemon(view->daemon);
    close(view->watcher);
    view_free_tickets(view);
}
