/* http_server.c: the server; an example of spans that a filter can select.
 *
 * Each request is a span with its number. Its method, path and status are
 * recorded when they are known. The span is entered three times: to read, to
 * handle and to write. A filter checks a span's values each time, so:
 *
 *   [request{id=417}]=trace         shows all three parts
 *   [request{path=/report}]=trace   shows handling and writing
 *   [request{status=500}]=trace     shows only writing
 */
#define LOG_TARGET "http::server"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/log.h>

#include "http.h"
#include "http_server.h"
#include "store.h"

enum {
    SEGMENT = 64,   /* bytes that arrive at once */
    STEPS_MAX = 8,  /* from a user up to the top */
    REPORT_LEN = 10 /* users in a report */
};

struct http_server {
    struct store *bosses; /* user -> boss, both as decimal numbers */
    size_t served;        /* requests */
};

/* A request on its way through the server. */
struct exchange {
    struct http_server *server;
    struct http_parser parser;
    struct http_response *response;
    size_t lookups;
};

/* X(status, reason phrase) */
#define STATUSES(X)                                                            \
    X(200, "OK")                                                               \
    X(400, "Bad Request")                                                      \
    X(404, "Not Found")                                                        \
    X(413, "Content Too Large")                                                \
    X(431, "Request Header Fields Too Large")                                  \
    X(500, "Internal Server Error")                                            \
    X(501, "Not Implemented")                                                  \
    X(505, "HTTP Version Not Supported")

static const char *reason(int status)
{
    switch (status) {
#define STATUS_X(number, text)                                                 \
    case number:                                                               \
        return text;
        STATUSES(STATUS_X)
#undef STATUS_X
    default:
        return "";
    }
}

struct http_server *http_server_new(size_t users)
{
    trace_function(DEBUG, (users));

    struct http_server *server = calloc(1, sizeof(*server));

    if (!server)
        return NULL;
    server->bosses = store_new(users);
    if (server->bosses)
        return server;
    free(server);
    return NULL;
}

void http_server_free(struct http_server *server)
{
    if (!server)
        return;
    trace_function(DEBUG, ("served", server->served));

    store_free(server->bosses);
    free(server);
}

int http_server_hire(struct http_server *server, size_t user, size_t boss)
{
    char key[24], value[24];

    snprintf(key, sizeof(key), "%zu", user);
    snprintf(value, sizeof(value), "%zu", boss);
    return store_put(server->bosses, key, value);
}

/* ---- Pages ---- */

__attribute__((format(printf, 3, 4))) static void respond(
    struct exchange *exchange, int status, const char *format, ...)
{
    struct http_response *response = exchange->response;
    va_list args;

    va_start(args, format);
    vsnprintf(response->body, sizeof(response->body), format, args);
    va_end(args);
    response->status = status;
}

static bool find_boss(struct exchange *exchange, size_t user, size_t *boss)
{
    char key[24];

    snprintf(key, sizeof(key), "%zu", user);
    exchange->lookups++;

    char *value = store_get(exchange->server->bosses, key);

    if (!value)
        return false;
    *boss = strtoul(value, NULL, 10);
    log_trace("user %zu reports to %zu", user, *boss);
    free(value);
    return true;
}

static void show_welcome(struct exchange *exchange, size_t number)
{
    (void)number;
    respond(exchange, 200, "welcome");
}

static void show_health(struct exchange *exchange, size_t number)
{
    (void)number;
    respond(exchange, 200, "fine after %zu requests", exchange->server->served);
}

static void show_user(struct exchange *exchange, size_t user)
{
    size_t boss;

    if (find_boss(exchange, user, &boss))
        respond(exchange, 200, "%zu reports to %zu", user, boss);
    else
        respond(exchange, 404, "there is no user %zu", user);
}

static void show_chief(struct exchange *exchange, size_t user)
{
    trace_function(DEBUG, (user));

    size_t boss, at = user;

    for (int step = 0; step < STEPS_MAX; step++, at = boss) {
        if (!find_boss(exchange, at, &boss)) {
            respond(exchange, 404, "there is no user %zu", at);
            return;
        }
        if (boss == at) {
            respond(exchange, 200, "the chief of %zu is %zu", user, boss);
            return;
        }
    }
    log_error("no chief found in %d steps", STEPS_MAX);
    respond(exchange, 500, "something went wrong");
}

static void show_report(struct exchange *exchange, size_t number)
{
    size_t boss, known = 0;

    (void)number;
    for (size_t user = 0; user < REPORT_LEN; user++)
        known += find_boss(exchange, user, &boss);
    respond(exchange, 200, "%zu of the first %d are known", known, REPORT_LEN);
}

static void change_boss(struct exchange *exchange, size_t user)
{
    const struct http_request *request = &exchange->parser.request;
    char text[24];

    snprintf(text, sizeof(text), "%.*s", (int)request->body_size,
             request->body);
    if (!*text || text[strspn(text, "0123456789")])
        respond(exchange, 400, "%s is not a user", text);
    else if (http_server_hire(exchange->server, user, strtoul(text, NULL, 10)))
        respond(exchange, 500, "something went wrong");
    else
        respond(exchange, 200, "%zu now reports to %s", user, text);
}

/* ---- Routes ---- */

static const struct route {
    const char *method, *pattern; /* "#" is a number, passed to the page */
    void (*show)(struct exchange *, size_t number);
} routes[] = {
    {"GET", "/", show_welcome},       {"GET", "/healthcheck", show_health},
    {"GET", "/report", show_report},  {"GET", "/users/#", show_user},
    {"PUT", "/users/#", change_boss}, {"GET", "/users/#/chief", show_chief},
};

static bool matches(const char *pattern, const char *path, size_t *number)
{
    for (; *pattern; pattern++) {
        if (*pattern != '#') {
            if (*path++ != *pattern)
                return false;
            continue;
        }

        size_t digits = strspn(path, "0123456789");

        if (!digits)
            return false;
        *number = strtoul(path, NULL, 10);
        path += digits;
    }
    return !*path || *path == '?';
}

static void route(struct exchange *exchange)
{
    const struct http_request *request = &exchange->parser.request;
    size_t number = 0;

    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
        if (strcmp(routes[i].method, request->method) != 0 ||
            !matches(routes[i].pattern, request->path, &number))
            continue;
        log_debug("route %s %s", request->method, routes[i].pattern);
        routes[i].show(exchange, number);
        return;
    }
    respond(exchange, 404, "there is no page %s for %s", request->path,
            request->method);
}

/* ---- Serving a request ---- */

static size_t read_request(struct exchange *exchange,
                           struct trace_span_ref span, const char *input,
                           size_t size)
{
    trace_span_enter(span);
    trace_span(DEBUG, "read");

    struct http_parser *parser = &exchange->parser;
    size_t taken = 0;

    while (taken < size && parser->state < HTTP_STATE_DONE) {
        size_t rest = size - taken;

        taken +=
            http_parse(parser, input + taken, rest < SEGMENT ? rest : SEGMENT);
    }
    trace_record(span, ("method", parser->request.method),
                 ("path", parser->request.path));
    return taken;
}

static void handle_request(struct exchange *exchange,
                           struct trace_span_ref span)
{
    trace_span_enter(span);
    trace_span(DEBUG, "handle");

    const struct http_parser *parser = &exchange->parser;

    if (parser->state == HTTP_STATE_DONE)
        route(exchange);
    else if (parser->state == HTTP_STATE_FAILED)
        respond(exchange, http_error_status(parser->error), "%s",
                http_error_text(parser->error));
    else
        respond(exchange, 400, "the request is incomplete");
    trace_record(span, ("status", exchange->response->status));
}

static void write_response(struct exchange *exchange,
                           struct trace_span_ref span)
{
    trace_span_enter(span);
    trace_span(DEBUG, "write");

    struct http_response *response = exchange->response;
    size_t size = strlen(response->body);

    snprintf(response->head, sizeof(response->head),
             "HTTP/1.1 %d %s\r\nContent-Length: %zu\r\n\r\n", response->status,
             reason(response->status), size);
    trace_event(TRACE, "sending", ("head", response->head),
                ("body", response->body));
    trace_event(INFO, "answered", (size), ("lookups", exchange->lookups));
}

size_t http_server_serve(struct http_server *server, const char *input,
                         size_t size, struct http_response *response)
{
    struct exchange exchange = {.server = server, .response = response};
    size_t id = server->served++; /* trace_span_new may be compiled out */
    /* The level of its most severe line, so that it is shown with that line. */
    struct trace_span_ref span =
        trace_span_new(ERROR, "request", (id), ("method", trace_empty()),
                       ("path", trace_empty()), ("status", trace_empty()));
    size_t taken = read_request(&exchange, span, input, size);

    handle_request(&exchange, span);
    write_response(&exchange, span);
    trace_span_end(span);
    return taken;
}
