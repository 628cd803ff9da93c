/* http.h: an incremental parser of HTTP/1.1 requests (RFC 9112).
 *
 * Input may be cut anywhere. The parser copies the parts of a request,
 * allocates nothing and has a limit for everything. It rejects requests that
 * two implementations could parse differently.
 */
#ifndef EXAMPLES_HTTP_H
#define EXAMPLES_HTTP_H

#include <stddef.h>

enum {
    HTTP_HEAD_MAX = 4096, /* bytes of all lines, without chunk sizes */
    HTTP_HEADERS_MAX = 32,
    HTTP_BODY_MAX = 8192, /* bytes, after decoding */
};

/* X(NAME, status of the answer, message) */
#define HTTP_ERRORS(X)                                                         \
    X(LINE_END, 400, "a line does not end with CR LF")                         \
    X(CONTROL, 400, "a line has a control character")                          \
    X(REQUEST_LINE, 400, "the request line does not have three parts")         \
    X(METHOD, 400, "the method is not a token")                                \
    X(PATH, 400, "the path is invalid")                                        \
    X(VERSION, 400, "the version is not an HTTP version")                      \
    X(OTHER_VERSION, 505, "the version is not HTTP/1.x")                       \
    X(FOLDED, 400, "a header continues on another line")                       \
    X(HEADER_NAME, 400, "the name of a header is not a token")                 \
    X(HOST, 400, "there is not exactly one Host")                              \
    X(LENGTH, 400, "Content-Length is not one number")                         \
    X(FRAMING, 400, "Transfer-Encoding beside Content-Length, or in HTTP/1.0") \
    X(CODING, 501, "Transfer-Encoding is not chunked")                         \
    X(CHUNK_SIZE, 400, "the size of a chunk is not hexadecimal")               \
    X(CHUNK_END, 400, "a chunk does not end where its size says")              \
    X(HEAD_SIZE, 431, "the head is too large")                                 \
    X(HEADER_COUNT, 431, "there are too many headers")                         \
    X(BODY_SIZE, 413, "the body is too large")

enum http_error {
    HTTP_OK,
#define HTTP_X(name, status, text) HTTP_ERROR_##name,
    HTTP_ERRORS(HTTP_X)
#undef HTTP_X
};

/* X(NAME, function that parses its lines; NULL if it has none) */
#define HTTP_STATES(X)                                                         \
    X(REQUEST_LINE, take_request_line)                                         \
    X(HEADER, take_header)                                                     \
    X(BODY, NULL)                                                              \
    X(CHUNK_SIZE, take_chunk_size)                                             \
    X(CHUNK, NULL)                                                             \
    X(CHUNK_END, take_chunk_end)                                               \
    X(TRAILER, take_trailer)                                                   \
    X(DONE, NULL)                                                              \
    X(FAILED, NULL)

enum http_state {
#define HTTP_X(name, take) HTTP_STATE_##name,
    HTTP_STATES(HTTP_X)
#undef HTTP_X
};

struct http_header {
    const char *name, *value; /* without white space around them */
};

/* A request; the parser owns its strings. */
struct http_request {
    const char *method, *path;
    int minor; /* of HTTP/1.minor */
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t header_count;
    const char *body;
    size_t body_size; /* bytes */
};

/* The zero value waits for the first byte of a request. `request` is valid when
 * `state` is DONE, `error` when it is FAILED; the other members are private. A
 * parser must not be copied or moved. */
struct http_parser {
    enum http_state state;
    enum http_error error;
    struct http_request request;
    size_t size, line; /* bytes in `text`; where the current line begins */
    size_t left;       /* bytes of the body or the chunk that are missing */
    char text[HTTP_HEAD_MAX], body[HTTP_BODY_MAX];
};

/* http_parse parses bytes until the request is DONE or has FAILED, and returns
 * how many it used. The rest belongs to the next request. */
size_t http_parse(struct http_parser *, const char *data, size_t size);

/* http_header returns the value of the first header called `name`, in upper or
 * lower case, or NULL. */
const char *http_header(const struct http_request *, const char *name);

/* http_error_status returns the status of the answer to an error,
 * http_error_text returns its message, a constant string. */
int http_error_status(enum http_error);
const char *http_error_text(enum http_error);

#endif
