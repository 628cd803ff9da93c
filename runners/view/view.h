/* view.h: testlog view, a server for one user's browser. Private.
 *
 * One thread serves a folder of runs on the loopback interface or on a Unix
 * socket. Nothing that it serves can be changed through it.
 */
#ifndef TESTLOG_VIEW_H
#define TESTLOG_VIEW_H

#include <limits.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    VIEW_KEY_BYTES = 32,                    /* of a secret */
    VIEW_KEY_SIZE = 2 * VIEW_KEY_BYTES + 1, /* in hexadecimal */
    VIEW_BODY_MOST = 64 << 10,              /* bytes of a request's body */
    VIEW_HEADER_SECONDS = 10,               /* that a request may take */
    VIEW_IDLE_SECONDS = 60,                 /* without a request */
    VIEW_CONNECTIONS_MOST = 1000,
};

struct view_connection;
struct view_stream;

struct view {
    char folder[PATH_MAX]; /* of the runs */
    int dir;               /* a descriptor of it */
    const char *socket;    /* path; NULL: a port of the loopback interface */
    unsigned port;
    char token[VIEW_KEY_SIZE];   /* "": the socket's mode is enough */
    char session[VIEW_KEY_SIZE]; /* the value of the cookie */
    char cookie[32];             /* its name */
    struct MHD_Daemon *daemon;
    struct view_connection *connections;
    struct view_stream *streams;
    uint64_t changes; /* of the folder */
};

/* A request while its body is read. */
struct view_request {
    struct view *view;
    struct MHD_Connection *connection;
    const char *method, *target;
    uint64_t body; /* bytes */
};

/* ---- view_listen.c ---- */

/* view_listen returns a listening socket and sets the port; -1 if it has
 * printed why it cannot. view_unlisten removes the file of a Unix socket. */
int view_listen(struct view *);
void view_unlisten(const struct view *);

/* ---- view_guard.c: who may ask ---- */

/* view_key makes a secret; -1 with errno. */
int view_key(char key[VIEW_KEY_SIZE]);

/* view_is_own_page tells whether a request comes from a page of this server, or
 * from no page: its Host, Origin and Sec-Fetch-Site say so. view_has_token
 * tells whether it has the token; view_may_read, the token or the cookie. */
bool view_is_own_page(const struct view_request *);
bool view_has_token(const struct view_request *);
bool view_may_read(const struct view_request *);

/* ---- view_answer.c: answers ---- */

typedef enum MHD_Result view_result;

/* view_answer sends a text; view_answer_free one that is then freed, also if it
 * is NULL for lack of memory. view_answer_response adds the headers that all
 * answers have, and sends what it is given. `type` is never NULL. */
view_result view_answer(const struct view_request *, unsigned status,
                        const char *type, const void *bytes, size_t size);
view_result view_answer_free(const struct view_request *, const char *type,
                             char *bytes, size_t size);
view_result view_answer_response(const struct view_request *, unsigned status,
                                 const char *type, struct MHD_Response *);

/* view_refuse sends a line about an error. */
view_result view_refuse(const struct view_request *, unsigned status);

/* ---- view_routes.c ---- */

/* view_route answers a request whose body has been read. */
view_result view_route(const struct view_request *);

/* view_decode decodes a path's %xx in place; false if a byte is not encoded
 * well, is NUL or is an encoded slash. */
bool view_decode(char *path);

/* ---- view_runs.c ---- */

view_result view_send_runs(const struct view_request *);
view_result view_send_index(const struct view_request *);

/* view_send_file sends a file of a run: "NAME/FILE". */
view_result view_send_file(const struct view_request *, const char *path);

/* ---- view_events.c: server-sent events ---- */

/* view_send_events begins a stream that says when something has changed.
 * view_changed says so on all streams; view_ping finds those whose client has
 * gone. view_close_streams lets them end. */
view_result view_send_events(const struct view_request *);
void view_changed(struct view *);
void view_ping(struct view *);
void view_close_streams(struct view *);

/* ---- view_connections.c ---- */

/* view_begin_http starts the server on a listening socket; false if it cannot.
 * view_end_slow ends connections whose request has taken too long. */
bool view_begin_http(struct view *, int listener);
void view_end_http(struct view *);
void view_end_slow(struct view *);

#endif
