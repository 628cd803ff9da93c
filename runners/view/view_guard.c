/* view_guard.c: decides who may ask testlog view.
 *
 * A page of another site can make the browser send requests here, and with
 * Host it can pretend to be this server (DNS rebinding). Other users of the
 * machine can connect, but don't know the token.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "view.h"

int view_key(char key[VIEW_KEY_SIZE])
{
    unsigned char bytes[VIEW_KEY_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return -1;
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static const char *header_of(const struct view_request *request,
                             const char *name)
{
    return view_http.lookup_connection_value(request->connection,
                                             MHD_HEADER_KIND, name);
}

bool view_is_same(const char *text, const char *secret)
{
    size_t size = strlen(text);
    unsigned char differs = 0;

    if (strlen(secret) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        differs |= (unsigned char)(text[i] ^ secret[i]);
    return !differs;
}

/* Returns whether a Host names this machine: with our port, or with any if ssh
 * forwards a port to the socket. */
static bool is_our_host(const struct view *view, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    size_t count = view->socket ? 3 : 2;
    char port[16];

    snprintf(port, sizeof(port), ":%u", view->port);
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(names[i]);

        if (strncmp(host, names[i], size) != 0)
            continue;
        return view->socket ? !host[size] || host[size] == ':'
                            : !strcmp(host + size, port);
    }
    return false;
}

bool view_is_to_us(const struct view_request *request)
{
    const char *host = header_of(request, "Host");

    return host && is_our_host(request->view, host);
}

bool view_is_own_page(const struct view_request *request)
{
    const char *host = header_of(request, "Host");
    const char *origin = header_of(request, "Origin");
    const char *site = header_of(request, "Sec-Fetch-Site");
    static const char scheme[] = "http://";

    if (origin && (!host || strncmp(origin, scheme, strlen(scheme)) != 0 ||
                   strcmp(origin + strlen(scheme), host) != 0))
        return false;
    return !site || !strcmp(site, "same-origin") || !strcmp(site, "none");
}

bool view_has_token(const struct view_request *request)
{
    const char *header = header_of(request, "Authorization");
    static const char scheme[] = "Bearer ";

    return !request->view->token[0] ||
           (header && !strncmp(header, scheme, strlen(scheme)) &&
            view_is_same(header + strlen(scheme), request->view->token));
}

bool view_may_read(const struct view_request *request)
{
    const char *cookie = view_http.lookup_connection_value(
        request->connection, MHD_COOKIE_KIND, request->view->cookie);

    return view_has_token(request) ||
           (request->in_place && cookie &&
            view_is_same(cookie, request->view->session));
}

void view_enter_place(struct view_request *request)
{
    const char *place = request->view->place;
    char begin[sizeof(request->view->place)];
    size_t size = strlen(place);

    snprintf(begin, size + 1, "%s", request->target);
    request->in_place = size && view_is_same(begin, place);
    if (request->in_place)
        request->target += size - 1;
}
