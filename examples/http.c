/* http.c: the parser; an example of targets.
 *
 * A target is a path: "http" matches this parser and http_server.c,
 * "http::parse" is the head of a request, and "http::body" is its body. DEBUG
 * shows what was parsed, TRACE shows the details.
 */
#define LOG_TARGET "http::parse"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include <testlog/log.h>

#include "http.h"

/* Parses a whole line, without its CR LF, and sets the next state. */
typedef enum http_error take_line(struct http_parser *, char *line);

static take_line take_request_line, take_header, take_chunk_size,
    take_chunk_end, take_trailer;

static const struct {
    const char *name;
    take_line *take;
} states[] = {
#define HTTP_X(name, take) {#name, take},
    HTTP_STATES(HTTP_X)
#undef HTTP_X
};

static const struct {
    int status;
    const char *text;
} errors[] = {{200, "no error"},
#define HTTP_X(name, status, text) {status, text},
              HTTP_ERRORS(HTTP_X)
#undef HTTP_X
};

int http_error_status(enum http_error error)
{
    return errors[error].status;
}

const char *http_error_text(enum http_error error)
{
    return errors[error].text;
}

static void fail(struct http_parser *parser, enum http_error error)
{
    trace_event(DEBUG, "rejected", ("why", http_error_text(error)),
                ("while", states[parser->state].name));
    parser->state = HTTP_STATE_FAILED;
    parser->error = error;
}

/* ---- Characters and words ---- */

/* Not isalnum(), which depends on the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_token(const char *text)
{
    const char *c = text;

    while (*c &&
           (is_digit(*c) || is_letter(*c) || strchr("!#$%&'*+-.^_`|~", *c)))
        c++;
    return c > text && !*c;
}

static bool has_control(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

/* Ends `text` at the first `at` and returns what follows, or NULL. */
static char *cut(char *text, char at)
{
    char *found = strchr(text, at);

    if (!found)
        return NULL;
    *found = '\0';
    return found + 1;
}

static char *trim(char *text)
{
    while (is_space(*text))
        text++;

    size_t size = strlen(text);

    while (size && is_space(text[size - 1]))
        size--;
    text[size] = '\0';
    return text;
}

/* ---- The head ---- */

/* Returns the path of a request target, or NULL. A server must also accept
 * "http://host/path" (RFC 9112, 3.2.2). */
static const char *find_path(const char *method, const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c <= ' ' || *c > '~' || *c == '#')
            return NULL;
    if (!strncasecmp(text, "http://", 7)) {
        text = strchr(text + 7, '/');
        return text ? text : "/";
    }
    if (*text == '/' || (!strcmp(text, "*") && !strcmp(method, "OPTIONS")))
        return text;
    return NULL;
}

static enum http_error read_version(const char *text, int *minor)
{
    if (strncmp(text, "HTTP/", 5) || !is_digit(text[5]) || text[6] != '.' ||
        !is_digit(text[7]) || text[8])
        return HTTP_ERROR_VERSION;
    *minor = text[7] - '0';
    return text[5] == '1' ? HTTP_OK : HTTP_ERROR_OTHER_VERSION;
}

static enum http_error take_request_line(struct http_parser *parser, char *line)
{
    struct http_request *request = &parser->request;

    if (!*line) /* some clients send an empty line after a body (RFC 9112, 2.2)
                 */
        return HTTP_OK;

    char *path = cut(line, ' ');
    char *version = path ? cut(path, ' ') : NULL;

    if (!version)
        return HTTP_ERROR_REQUEST_LINE;
    if (!is_token(line))
        return HTTP_ERROR_METHOD;

    enum http_error error = read_version(version, &request->minor);

    if (error)
        return error;
    request->method = line;
    request->path = find_path(line, path);
    if (!request->path)
        return HTTP_ERROR_PATH;
    trace_event(DEBUG, "request line", ("method", line), (path), (version));
    parser->state = HTTP_STATE_HEADER;
    return HTTP_OK;
}

static enum http_error read_header(char *line, struct http_header *header)
{
    if (is_space(*line))
        return HTTP_ERROR_FOLDED;

    char *value = cut(line, ':');

    if (!value || !is_token(line))
        return HTTP_ERROR_HEADER_NAME;
    header->name = line;
    header->value = trim(value);
    trace_event(TRACE, "header", ("name", line), ("value", header->value));
    return HTTP_OK;
}

static enum http_error begin_body(struct http_parser *);

static enum http_error take_header(struct http_parser *parser, char *line)
{
    struct http_request *request = &parser->request;

    if (!*line)
        return begin_body(parser);
    if (request->header_count == HTTP_HEADERS_MAX)
        return HTTP_ERROR_HEADER_COUNT;
    return read_header(line, &request->headers[request->header_count++]);
}

const char *http_header(const struct http_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (!strcasecmp(request->headers[i].name, name))
            return request->headers[i].value;
    return NULL;
}

static size_t count_headers(const struct http_request *request,
                            const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < request->header_count; i++)
        count += !strcasecmp(request->headers[i].name, name);
    return count;
}

/* ---- The body ----
 *
 * A call site uses the LOG_TARGET that is defined at its place, so a file can
 * have several.
 */
#undef LOG_TARGET
#define LOG_TARGET "http::body"

static enum http_error finish(struct http_parser *parser)
{
    parser->request.body = parser->body;
    log_debug("complete: %zu headers, %zu bytes of body",
              parser->request.header_count, parser->request.body_size);
    parser->state = HTTP_STATE_DONE;
    return HTTP_OK;
}

/* Parses digits and returns what follows them. A size above HTTP_BODY_MAX no
 * longer grows, so that it cannot overflow. */
static const char *read_size(const char *text, size_t base, size_t *size)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *digit;

    for (*size = 0; *text && (digit = strchr(digits, *text)); text++) {
        size_t value = (size_t)(digit - digits) % 16;

        if (value >= base)
            break;
        if (*size <= HTTP_BODY_MAX)
            *size = *size * base + value;
    }
    return text;
}

static enum http_error begin_length(struct http_parser *parser)
{
    const char *text = http_header(&parser->request, "Content-Length");
    const char *end = read_size(text, 10, &parser->left);

    if (end == text || *end)
        return HTTP_ERROR_LENGTH;
    if (parser->left > HTTP_BODY_MAX)
        return HTTP_ERROR_BODY_SIZE;
    trace_event(DEBUG, "body of known length", ("size", parser->left));
    if (!parser->left)
        return finish(parser);
    parser->state = HTTP_STATE_BODY;
    return HTTP_OK;
}

/* A request that can be framed in two ways may be an attempt to smuggle a
 * second request past a proxy (RFC 9112, 6.1 and 11.2). */
static enum http_error begin_body(struct http_parser *parser)
{
    const struct http_request *request = &parser->request;
    size_t hosts = count_headers(request, "Host");
    size_t lengths = count_headers(request, "Content-Length");
    size_t codings = count_headers(request, "Transfer-Encoding");

    if (hosts > 1 || (hosts == 0 && request->minor > 0))
        return HTTP_ERROR_HOST;
    if (codings && (lengths || request->minor == 0))
        return HTTP_ERROR_FRAMING;
    if (lengths > 1)
        return HTTP_ERROR_LENGTH;
    if (lengths)
        return begin_length(parser);
    if (!codings)
        return finish(parser);
    if (codings > 1 ||
        strcasecmp(http_header(request, "Transfer-Encoding"), "chunked") != 0)
        return HTTP_ERROR_CODING;
    parser->state = HTTP_STATE_CHUNK_SIZE;
    return HTTP_OK;
}

static enum http_error take_chunk_size(struct http_parser *parser, char *line)
{
    const char *end = read_size(line, 16, &parser->left);

    if (end == line)
        return HTTP_ERROR_CHUNK_SIZE;
    while (is_space(*end))
        end++;
    if (*end && *end != ';') /* extensions are ignored */
        return HTTP_ERROR_CHUNK_SIZE;
    if (parser->left > HTTP_BODY_MAX - parser->request.body_size)
        return HTTP_ERROR_BODY_SIZE;
    trace_event(DEBUG, "chunk", ("size", parser->left));
    parser->size = parser->line; /* the line is not kept */
    parser->state = parser->left ? HTTP_STATE_CHUNK : HTTP_STATE_TRAILER;
    return HTTP_OK;
}

static enum http_error take_chunk_end(struct http_parser *parser, char *line)
{
    if (*line)
        return HTTP_ERROR_CHUNK_END;
    parser->size = parser->line;
    parser->state = HTTP_STATE_CHUNK_SIZE;
    return HTTP_OK;
}

/* Trailers must be valid, and are then ignored. */
static enum http_error take_trailer(struct http_parser *parser, char *line)
{
    struct http_header ignored;

    return *line ? read_header(line, &ignored) : finish(parser);
}

static size_t take_bytes(struct http_parser *parser, const char *data,
                         size_t size)
{
    struct http_request *request = &parser->request;
    size_t taken = size < parser->left ? size : parser->left;

    memcpy(parser->body + request->body_size, data, taken);
    request->body_size += taken;
    parser->left -= taken;
    log_trace("%zu bytes, %zu left", taken, parser->left);
    if (parser->left)
        return taken;
    if (parser->state == HTTP_STATE_CHUNK)
        parser->state = HTTP_STATE_CHUNK_END;
    else
        finish(parser);
    return taken;
}

/* ---- Lines and bytes ---- */
#undef LOG_TARGET
#define LOG_TARGET "http::parse"

static enum http_error end_line(struct http_parser *parser)
{
    char *line = parser->text + parser->line;
    size_t size = parser->size - parser->line - 1; /* without its LF */

    if (!size || line[size - 1] != '\r')
        return HTTP_ERROR_LINE_END;
    line[--size] = '\0';
    if (has_control(line, size))
        return HTTP_ERROR_CONTROL;
    return states[parser->state].take(parser, line);
}

static size_t take_text(struct http_parser *parser, const char *data,
                        size_t size)
{
    const char *end = memchr(data, '\n', size);
    size_t taken = end ? (size_t)(end - data) + 1 : size;
    enum http_error error = HTTP_OK;

    if (taken > HTTP_HEAD_MAX - parser->size) {
        fail(parser, HTTP_ERROR_HEAD_SIZE);
        return 0;
    }
    memcpy(parser->text + parser->size, data, taken);
    parser->size += taken;
    if (end) {
        error = end_line(parser);
        parser->line = parser->size;
    }
    if (error)
        fail(parser, error);
    return taken;
}

size_t http_parse(struct http_parser *parser, const char *data, size_t size)
{
    trace_function(TRACE, (size));

    size_t taken = 0;

    while (taken < size && parser->state < HTTP_STATE_DONE)
        taken += (states[parser->state].take ? take_text : take_bytes)(
            parser, data + taken, size - taken);
    log_trace("took %zu bytes, now at %s", taken, states[parser->state].name);
    return taken;
}
