/* http_server.h: an HTTP server in memory; its pages show who reports to whom.
 */
#ifndef EXAMPLES_HTTP_SERVER_H
#define EXAMPLES_HTTP_SERVER_H

#include <stddef.h>

struct http_server;

/* The answer to a client, as strings. */
struct http_response {
    int status;
    char head[128], body[256];
};

/* http_server_new returns a server with room for `users`, to be released with
 * http_server_free. NULL with errno set on failure. */
struct http_server *http_server_new(size_t users);

/* http_server_free releases a server; NULL is fine. */
void http_server_free(struct http_server *);

/* http_server_hire makes `boss` the boss of `user`. The user at the top reports
 * to itself. Returns 0, or -1 with errno set. */
int http_server_hire(struct http_server *, size_t user, size_t boss);

/* http_server_serve answers the request at the beginning of `input` and returns
 * the size of the request. It also answers a request that is cut off or
 * invalid; then the size is not reliable. */
size_t http_server_serve(struct http_server *, const char *input, size_t size,
                         struct http_response *);

#endif
