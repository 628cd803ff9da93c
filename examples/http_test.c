/* http_test.c: tests of the parser and the server; an example of theories.
 *
 * A theory states what is true for every combination of its data points. That
 * fits a parser: it must work however its input is cut, and for any value. All
 * combinations run in one process and share one log and one trace, so each one
 * begins with a span or an event that identifies it.
 */
#define LOG_TARGET "http::test"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/test_log.h>

#include "http.h"
#include "http_server.h"

#define HOST "Host: example\r\n"

/* Parses `size` bytes, `piece` at a time; returns how many were used. */
static size_t parse_pieces(struct http_parser *parser, const char *data,
                           size_t size, size_t piece)
{
    size_t taken = 0;

    while (taken < size && parser->state < HTTP_STATE_DONE) {
        size_t rest = size - taken;

        taken += http_parse(parser, data + taken, rest < piece ? rest : piece);
    }
    return taken;
}

static size_t parse(struct http_parser *parser, const char *text)
{
    return http_parse(parser, text, strlen(text));
}

/* ---- Valid requests ---- */

TEST_LOG(http, parses_a_request)
{
    struct http_parser parser = {0};
    const struct http_request *request = &parser.request;

    parse(&parser, "POST /cave?deep=1 HTTP/1.1\r\nHost: bear\r\n"
                   "Content-Length: 5\r\nAccept:\t text/html \r\n\r\nhoney");
    cr_assert_eq(parser.state, HTTP_STATE_DONE);
    cr_expect_str_eq(request->method, "POST");
    cr_expect_str_eq(request->path, "/cave?deep=1");
    cr_expect_eq(request->minor, 1);
    cr_expect_eq(request->header_count, 3);
    cr_expect_str_eq(http_header(request, "accept"), "text/html");
    cr_expect_null(http_header(request, "Cookie"));
    cr_expect_eq(request->body_size, 5);
    cr_expect_arr_eq(request->body, "honey", 5);
}

TEST_LOG(http, stops_at_the_end_of_a_request)
{
    static const char first[] =
        "PUT /a HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
        "3 ;quality=low\r\nabc\r\n0\r\nDigest: no\r\n\r\n";
    static const char second[] = "\r\nPUT /b HTTP/1.0\r\n"
                                 "Content-Length: 0\r\n\r\n";
    struct http_parser parser = {0}, next = {0};
    char both[sizeof(first) + sizeof(second)];

    snprintf(both, sizeof(both), "%s%s", first, second);
    cr_assert_eq(parse(&parser, both), strlen(first));
    cr_expect_eq(parser.request.body_size, 3);
    cr_expect_eq(parse(&next, both + strlen(first)), strlen(second));
    cr_expect_eq(next.state, HTTP_STATE_DONE);
    cr_expect_str_eq(next.request.path, "/b");
}

struct path {
    char line[48], path[16];
};

ParameterizedTestParameters(http, finds_the_path)
{
    static struct path paths[] = {
        {"GET / HTTP/1.1", "/"},
        {"GET /a?b=c&d HTTP/1.1", "/a?b=c&d"},
        {"GET http://example/a HTTP/1.1", "/a"},
        {"GET HTTP://example HTTP/1.1", "/"},
        {"OPTIONS * HTTP/1.1", "*"},
        {"X-!#~ /%20 HTTP/1.9", "/%20"},
    };

    return cr_make_param_array(struct path, paths,
                               sizeof(paths) / sizeof(paths[0]));
}

PARAMETERIZED_TEST_LOG(struct path *path, http, finds_the_path)
{
    struct http_parser parser = {0};

    parse(&parser, path->line);
    parse(&parser, "\r\n" HOST "\r\n");
    cr_assert_eq(parser.state, HTTP_STATE_DONE, "%s",
                 http_error_text(parser.error));
    cr_expect_str_eq(parser.request.path, path->path);
}

/* ---- Theories ---- */

TheoryDataPoints(http, parses_input_cut_anywhere) = {
    DataPoints(const char *, "GET / HTTP/1.1\r\n" HOST "\r\n",
               "\r\nPUT /a HTTP/1.0\r\nContent-Length: 7\r\n\r\n\r\nb\r\nc\r\n",
               "PUT /b HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
               "a ;x\r\n0123456789\r\n1\r\n\n\r\n00\r\nTrailer: 1\r\n\r\n",
               "GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n",
               "GET / HTTP/1.1\n" HOST "\r\n",
               "PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
               "1\r\nab\r\n0\r\n\r\n"),
    DataPoints(size_t, 1, 2, 3, 5, 16, 63),
};

THEORY_LOG((const char *text, size_t piece), http, parses_input_cut_anywhere)
{
    trace_span(INFO, "cut", (piece));
    trace_event(INFO, "sending", (text));

    struct http_parser whole = {0}, cut = {0};
    size_t size = strlen(text), taken = parse(&whole, text);

    cr_assert_eq(parse_pieces(&cut, text, size, piece), taken);
    cr_assert_eq(cut.state, whole.state);
    cr_assert_eq(cut.error, whole.error);
    cr_assert_eq(cut.request.header_count, whole.request.header_count);
    cr_assert_eq(cut.request.body_size, whole.request.body_size);
    cr_assert_arr_eq(cut.body, whole.body, sizeof(cut.body));
    cr_assert_arr_eq(cut.text, whole.text, sizeof(cut.text));
}

TheoryDataPoints(http, returns_header_values) = {
    DataPoints(const char *, "", "a", "a b\tc", "\"quoted\"", "a: b, c=d; e",
               "f\xc3\xbcr", "\x80\xff", "%00"),
    DataPoints(const char *, "", " ", "\t", " \t \t"),
    DataPoints(const char *, "", "\t", "  "),
};

THEORY_LOG((const char *value, const char *before, const char *after), http,
           returns_header_values)
{
    struct http_parser parser = {0};
    char text[128];

    trace_event(INFO, "sending", (value), (before), (after));
    snprintf(text, sizeof(text),
             "GET / HTTP/1.1\r\n" HOST "X-Value:%s%s%s\r\n\r\n", before, value,
             after);
    parse(&parser, text);
    cr_assert_eq(parser.state, HTTP_STATE_DONE);
    cr_assert_str_eq(http_header(&parser.request, "x-value"), value);
}

static char pattern(size_t at)
{
    return (char)(at * 7 + at / 256); /* every byte, including CR and LF */
}

/* Sends a chunk of at most `most` bytes; the last chunk of a body is empty. */
static size_t send_chunk(struct http_parser *parser, size_t from, size_t to,
                         size_t most)
{
    size_t size = to - from < most ? to - from : most;
    char data[16 + HTTP_BODY_MAX];
    int head = snprintf(data, 16, "%zX\r\n", size), end = head;

    for (size_t i = 0; i < size; i++)
        data[end++] = pattern(from + i);
    memcpy(data + end, "\r\n", 2);
    http_parse(parser, data, (size_t)end + 2);
    return size;
}

TheoryDataPoints(http, joins_chunks_into_a_body) = {
    DataPoints(size_t, 0, 1, 15, 16, 255, 256, 2048, HTTP_BODY_MAX),
    DataPoints(size_t, 1, 2, 15, 16, 1000, HTTP_BODY_MAX),
};

THEORY_LOG((size_t size, size_t chunk), http, joins_chunks_into_a_body)
{
    cr_assume(size / chunk <= 2048); /* more takes long and adds nothing */
    trace_span(INFO, "body", (size), (chunk));

    struct http_parser parser = {0};
    size_t sent = 0, last;

    parse(&parser,
          "PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n");
    do
        sent += last = send_chunk(&parser, sent, size, chunk);
    while (last);
    cr_assert_eq(parser.state, HTTP_STATE_DONE);
    cr_assert_eq(parser.request.body_size, size);
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(parser.body[i], pattern(i), "byte %zu differs", i);
}

TheoryDataPoints(http, rejects_invalid_bytes_in_names) = {
    DataPoints(const char *, "%c / HTTP/1.1\r\n" HOST "\r\n",
               "GE%cT / HTTP/1.1\r\n" HOST "\r\n",
               "GET / HTTP/1.1\r\n" HOST "%c: 1\r\n\r\n",
               "GET / HTTP/1.1\r\n" HOST "X%cY: 1\r\n\r\n"),
};

/* Replaces "%c" in `text` by `byte`, which may be NUL; returns the size. */
static size_t put_byte(char *out, const char *text, int byte)
{
    size_t at = (size_t)(strstr(text, "%c") - text);

    memcpy(out, text, at);
    out[at] = (char)byte;
    strcpy(out + at + 1, text + at + 2);
    return strlen(text) - 1;
}

THEORY_LOG((const char *text), http, rejects_invalid_bytes_in_names)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz";
    bool in_name = strstr(text, "%c:") || strstr(text, "%cY:");

    for (int byte = 0; byte < 256; byte++) {
        trace_span(DEBUG, "name", (byte));

        struct http_parser parser = {0};
        char request[64];
        bool good = byte && strchr(token, byte);

        if (byte == ':' && in_name) /* ends the name */
            continue;
        http_parse(&parser, request, put_byte(request, text, byte));
        cr_assert_eq(parser.state, good ? HTTP_STATE_DONE : HTTP_STATE_FAILED,
                     "byte %#x: %s", byte, http_error_text(parser.error));
    }
}

/* ---- Invalid requests ---- */

#define GET   "GET / HTTP/1.1\r\n" HOST
#define CHUNK "PUT / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"

static const struct rejection {
    enum http_error error;
    const char *text;
} rejections[] = {
    {HTTP_ERROR_LINE_END, "GET / HTTP/1.1\n"},
    {HTTP_ERROR_LINE_END, "\n"},
    {HTTP_ERROR_CONTROL, "GET /\r HTTP/1.1\r\n"},
    {HTTP_ERROR_CONTROL, GET "Bell: \a\r\n"},
    {HTTP_ERROR_REQUEST_LINE, "GET /\r\n"},
    {HTTP_ERROR_METHOD, " GET / HTTP/1.1\r\n"},
    {HTTP_ERROR_VERSION, "GET  / HTTP/1.1\r\n"},
    {HTTP_ERROR_PATH, "GET a HTTP/1.1\r\n"},
    {HTTP_ERROR_PATH, "GET * HTTP/1.1\r\n"},
    {HTTP_ERROR_PATH, "GET /\x80 HTTP/1.1\r\n"},
    {HTTP_ERROR_PATH, "GET /#top HTTP/1.1\r\n"},
    {HTTP_ERROR_VERSION, "GET / HTTP/1.1 \r\n"},
    {HTTP_ERROR_VERSION, "GET / http/1.1\r\n"},
    {HTTP_ERROR_VERSION, "GET / HTTP/1.10\r\n"},
    {HTTP_ERROR_OTHER_VERSION, "PRI * HTTP/2.0\r\n"},
    {HTTP_ERROR_FOLDED, GET " continued\r\n"},
    {HTTP_ERROR_HEADER_NAME, GET "Accept : a\r\n"},
    {HTTP_ERROR_HEADER_NAME, GET ": a\r\n"},
    {HTTP_ERROR_HEADER_NAME, GET "Accept\r\n"},
    {HTTP_ERROR_HOST, "GET / HTTP/1.1\r\n\r\n"},
    {HTTP_ERROR_HOST, GET HOST "\r\n"},
    {HTTP_ERROR_LENGTH, GET "Content-Length: +5\r\n\r\n"},
    {HTTP_ERROR_LENGTH, GET "Content-Length: 5, 5\r\n\r\n"},
    {HTTP_ERROR_LENGTH, GET "Content-Length:\r\n\r\n"},
    {HTTP_ERROR_LENGTH, GET "Content-Length: f\r\n\r\n"},
    {HTTP_ERROR_LENGTH, GET "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"},
    {HTTP_ERROR_FRAMING,
     GET "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {HTTP_ERROR_FRAMING,
     "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
    {HTTP_ERROR_CODING, GET "Transfer-Encoding: chunked\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n"},
    {HTTP_ERROR_CODING, GET "Transfer-Encoding: gzip, chunked\r\n\r\n"},
    {HTTP_ERROR_CODING, GET "Transfer-Encoding: chunked, gzip\r\n\r\n"},
    {HTTP_ERROR_CHUNK_SIZE, CHUNK "\r\n"},
    {HTTP_ERROR_CHUNK_SIZE, CHUNK "0x5\r\n"},
    {HTTP_ERROR_CHUNK_SIZE, CHUNK "5 5\r\n"},
    {HTTP_ERROR_CHUNK_END, CHUNK "1\r\nab\r\n"},
    {HTTP_ERROR_HEADER_NAME, CHUNK "0\r\nno trailer\r\n"},
    {HTTP_ERROR_BODY_SIZE, CHUNK "2001\r\n"},
    {HTTP_ERROR_BODY_SIZE, CHUNK "10000000000000001\r\n"},
    {HTTP_ERROR_BODY_SIZE, GET "Content-Length: 18446744073709551617\r\n\r\n"},
};

/* Uses cr_expect, so that one failing row does not hide the others. */
TEST_LOG(http, rejects_invalid_requests)
{
    for (size_t i = 0; i < sizeof(rejections) / sizeof(rejections[0]); i++) {
        const char *text = rejections[i].text;

        trace_span(INFO, "rejection", (text));

        struct http_parser parser = {0};

        parse(&parser, text);
        cr_expect_eq(parser.state, HTTP_STATE_FAILED, "%s", text);
        cr_expect_eq(parser.error, rejections[i].error, "%s: %s", text,
                     http_error_text(parser.error));
        cr_expect_geq(http_error_status(parser.error), 400);
        cr_expect_eq(parse(&parser, HOST), 0, "no more input is accepted");
    }
}

TEST_LOG(http, limits_the_size_of_the_head)
{
    struct http_parser exact = {0}, above = {0}, endless = {0};
    char head[HTTP_HEAD_MAX + 2];
    int fill = HTTP_HEAD_MAX - (int)strlen(GET "X:\r\n\r\n");

    snprintf(head, sizeof(head), GET "X:%0*d\r\n\r\n", fill, 0);
    parse(&exact, head);
    cr_expect_eq(exact.state, HTTP_STATE_DONE);
    snprintf(head, sizeof(head), GET "X:%0*d\r\n\r\n", fill + 1, 0);
    parse(&above, head);
    cr_expect_eq(above.error, HTTP_ERROR_HEAD_SIZE);
    while (endless.state < HTTP_STATE_DONE)
        parse(&endless, "\r\n");
    cr_expect_eq(endless.error, HTTP_ERROR_HEAD_SIZE);
}

TEST_LOG(http, limits_the_number_of_headers)
{
    struct http_parser parser = {0};

    parse(&parser, GET);
    for (int i = 1; i < HTTP_HEADERS_MAX; i++)
        parse(&parser, "X: y\r\n");
    cr_expect_eq(parser.state, HTTP_STATE_HEADER);
    parse(&parser, "X: y\r\n");
    cr_expect_eq(parser.error, HTTP_ERROR_HEADER_COUNT);
}

TEST_LOG(http, limits_the_size_of_the_body)
{
    struct http_parser parser = {0};

    parse(&parser, CHUNK);
    cr_assert_eq(send_chunk(&parser, 0, HTTP_BODY_MAX - 1, HTTP_BODY_MAX),
                 HTTP_BODY_MAX - 1);
    cr_expect_eq(parser.state, HTTP_STATE_CHUNK_SIZE);
    parse(&parser, "2\r\n");
    cr_expect_eq(parser.error, HTTP_ERROR_BODY_SIZE);
}

/* ---- The server ---- */

enum { USERS = 1000 };

/* User 417 reports to user 41, who reports to user 4, who reports to user 0. */
static struct http_server *open_server(void)
{
    trace_function(INFO);

    struct http_server *server = http_server_new(USERS);

    cr_assert_not_null(server);
    for (size_t user = 0; user < USERS; user++)
        cr_assert_eq(http_server_hire(server, user, user / 10), 0);
    return server;
}

static struct http_response serve(struct http_server *server, const char *text)
{
    struct http_response response;

    cr_assert_eq(http_server_serve(server, text, strlen(text), &response),
                 strlen(text));
    return response;
}

static void expect_answer(struct http_server *server, const char *request,
                          int status, const char *body)
{
    struct http_response response = serve(server, request);

    cr_expect_eq(response.status, status, "%s", request);
    cr_expect_str_eq(response.body, body);
}

TEST_LOG(http, serves_stored_values)
{
    struct http_server *server = open_server();

    expect_answer(server,
                  "PUT /users/417 HTTP/1.1\r\n" HOST
                  "Content-Length: 2\r\n\r\n93",
                  200, "417 now reports to 93");
    expect_answer(server, "GET /users/417 HTTP/1.1\r\n" HOST "\r\n", 200,
                  "417 reports to 93");
    expect_answer(server,
                  "PUT /users/417 HTTP/1.1\r\n" HOST
                  "Content-Length: 3\r\n\r\nfox",
                  400, "fox is not a user");
    expect_answer(server, "GET /users/1000 HTTP/1.1\r\n" HOST "\r\n", 404,
                  "there is no user 1000");
    expect_answer(server, "GET /users/1 HTTP/1.1\r\n", 400,
                  "the request is incomplete");
    http_server_free(server);
}

/* Writes request i of a thousand; there are ten kinds of requests. */
static void write_request(char *text, size_t size, size_t i)
{
    static const char *const kinds[] = {
        "GET / HTTP/1.1\r\n" HOST "\r\n",
        "GET /healthcheck HTTP/1.0\r\n\r\n",
        "GET /users/# HTTP/1.1\r\n" HOST "Accept: */*\r\n\r\n",
        "PUT /users/# HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\n#",
        "PUT /users/# HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
        "1\r\n0\r\n3\r\n#\r\n0\r\n\r\n",
        "GET /report HTTP/1.1\r\n" HOST "\r\n",
        "GET /nowhere HTTP/1.1\r\n" HOST "\r\n",
        "GET /users/#/chief HTTP/1.1\r\n" HOST
        "User-Agent: fox/1.0 (night; quiet)\r\nAccept: text/plain\r\n\r\n",
        "PUT / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\n\r\n",
        "GET /users/#?verbose=1 HTTP/1.1\r\n" HOST "\r\n",
    };
    size_t at = 0;

    for (const char *c = kinds[i % 10]; *c && at + 4 < size; c++) {
        if (*c == '#')
            at += (size_t)snprintf(text + at, size - at, "%03zu", i);
        else
            text[at++] = *c;
    }
    text[at] = '\0';
}

/* One of the thousand requests fails. README.md shows how a filter finds it. */
TEST_LOG(http, serves_a_thousand_requests)
{
    struct http_server *server = open_server();
    size_t count[600] = {0}, failed = 0;

    http_server_hire(server, 417, 739);
    http_server_hire(server, 739, 417);
    for (size_t i = 0; i < 1000; i++) {
        char text[256];

        write_request(text, sizeof(text), i);

        struct http_response response = serve(server, text);

        count[response.status]++;
        if (response.status == 500)
            failed = i;
    }
    cr_expect_eq(count[200], 799);
    cr_expect_eq(count[400], 100);
    cr_expect_eq(count[404], 100);
    cr_expect_eq(count[500], 1);
    cr_expect_eq(failed, 417);
    http_server_free(server);
}
