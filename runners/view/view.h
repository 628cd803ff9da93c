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
#include <stdio.h>
#include <sys/types.h>

enum {
    VIEW_KEY_BYTES = 32,                    /* of a secret */
    VIEW_KEY_SIZE = 2 * VIEW_KEY_BYTES + 1, /* in hexadecimal */
    VIEW_BODY_MOST = 64 << 10,              /* bytes of a request's body */
    VIEW_HEADER_SECONDS = 10,               /* that a request may take */
    VIEW_IDLE_SECONDS = 60,                 /* without a request */
    VIEW_CONNECTIONS_MOST = 1000,
    VIEW_STRANGERS_MOST = 900, /* connections without a secret */
    VIEW_TICKETS_MOST = 64,
    VIEW_RENDERINGS_MOST = 4, /* at a time */
    VIEW_LIVE_MOST = 16,      /* tests that are followed at a time */
};

/* The functions of libmicrohttpd, without MHD_. view_http_open sets them; false
 * if it has printed that the library is missing. */
#define VIEW_HTTP(X)                                                           \
    X(add_response_header)                                                     \
    X(create_response_from_buffer)                                             \
    X(create_response_from_callback)                                           \
    X(create_response_from_fd64)                                               \
    X(destroy_response)                                                        \
    X(get_connection_info)                                                     \
    X(get_daemon_info)                                                         \
    X(get_timeout)                                                             \
    X(lookup_connection_value)                                                 \
    X(queue_response)                                                          \
    X(resume_connection)                                                       \
    X(run)                                                                     \
    X(start_daemon)                                                            \
    X(stop_daemon)                                                             \
    X(suspend_connection)

extern struct view_http {
#define X(name) __typeof__(MHD_##name) *name;
    VIEW_HTTP(X)
#undef X
} view_http;

bool view_http_open(void);

struct view_connection;
struct view_live;
struct view_rendering;
struct view_stream;

/* A file of a run that has scripts, at an address of its own. */
struct view_ticket {
    char key[VIEW_KEY_SIZE];
    char *path;
};

struct view {
    char folder[PATH_MAX]; /* of the runs */
    int dir;               /* a descriptor of it */
    const char *socket;    /* path; NULL: a port of the loopback interface */
    unsigned port;
    char token[VIEW_KEY_SIZE];     /* "": the socket's mode is enough */
    char session[VIEW_KEY_SIZE];   /* the value of the cookie */
    char cookie[32];               /* its name */
    char place[VIEW_KEY_SIZE + 8]; /* "/s-SECRET/", where browsers send it */
    struct view_ticket tickets[VIEW_TICKETS_MOST];
    unsigned ticket; /* the one that is replaced next */
    char *leading;   /* path of the file that leads to the address; or NULL */
    struct MHD_Daemon *daemon;
    struct view_connection *connections; /* the latest first */
    struct view_stream *streams;
    uint64_t changes; /* of the folder */
    int notifier;     /* inotify; -1: there is none */
    int watched;      /* the last watch that is new */
    struct view_rendering *renderings;
    unsigned rendering;   /* how many have a child */
    uint64_t render_most; /* ns that an answer may take */
    uint64_t answer_most; /* bytes of an answer */
    uint64_t memory_most; /* bytes that a child may use */
    struct view_live *lives;
    unsigned following; /* how many these are */
    int watcher; /* epoll: a child has ended or written, a client has gone */
};

/* A request while its body is read. */
struct view_request {
    struct view *view;
    struct MHD_Connection *connection;
    const char *method, *target;
    bool in_place; /* the target was below view->place, which is cut off */
    char *body;    /* of `size` bytes and a NUL; NULL: it has none */
    size_t size;
};

/* ---- view_listen.c ---- */

/* view_listen returns a listening socket and sets the port; -1 if it has
 * printed why it cannot. view_unlisten removes the file of a Unix socket. */
int view_listen(struct view *);
void view_unlisten(const struct view *);

/* ---- view_open.c ---- */

/* view_open opens the address in a browser, or prints why it cannot.
 * view_end_open removes the file that it needs until a page has begun a
 * session. */
void view_open(struct view *, const char *address);
void view_end_open(struct view *);

/* ---- view_guard.c: who may ask ---- */

/* view_key makes a secret; -1 with errno. */
int view_key(char key[VIEW_KEY_SIZE]);

/* view_is_same compares a text with a secret, in a time that does not tell
 * where they differ. */
bool view_is_same(const char *text, const char *secret);

/* view_is_to_us tells whether a request's Host is this server. view_is_own_page
 * tells whether it comes from a page of this server, or from no page: its
 * Origin and Sec-Fetch-Site say so. view_has_token tells whether it has the
 * token. view_may_read tells whether it has the token, or is below view->place
 * and has the cookie: browsers send a cookie to every port of a host, so that
 * of a server of another user would get one whose path it knows. */
bool view_is_to_us(const struct view_request *);
bool view_is_own_page(const struct view_request *);
bool view_has_token(const struct view_request *);
bool view_may_read(const struct view_request *);

/* view_enter_place cuts view->place off the target. */
void view_enter_place(struct view_request *);

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

/* ---- view_render.c: answers that take time ---- */

/* A source writes an answer in a child process, which may do what it wants with
 * its memory and time. `write` returns 1 if the answer says why it is refused,
 * a 409, or -1 with errno if it fails: ENOENT is a 404, all else a 500, of
 * which it has printed why. The child has the
 * descriptor of the folder and no other one of the server. */
struct view_source {
    int (*write)(const struct view *, const void *context, FILE *);
    const void *context; /* is used while view_render runs */
    const char *type;    /* Content-Type */
    bool saved;          /* a browser saves it as a file */
    bool sandboxed;      /* it is a page */
};

/* A page with what a run has has no origin, and so not the user's rights here.
 */
#define VIEW_SANDBOX "sandbox allow-scripts allow-downloads"

/* view_render suspends the connection until a child has rendered the answer;
 * then, libmicrohttpd routes the request again, and view_render sends it. */
view_result view_render(const struct view_request *,
                        const struct view_source *);

/* view_fork forks a child that writes an answer to `output`; -1 with errno.
 * view_watch lets view->watcher wait for events of a descriptor, and
 * view_unwatch no longer. view_socket_of returns that of a connection. */
pid_t view_fork(const struct view *, int output, const struct view_source *);
bool view_watch(const struct view *, int fd, uint32_t events);
void view_unwatch(const struct view *, int fd);
int view_socket_of(struct MHD_Connection *);

/* view_begin_renderings sets view->watcher and limits; false with errno.
 * view_look_at_renderings continues with what can be continued; call it when
 * `watcher` is readable, and now and then for those that take too long.
 * view_forget_rendering frees that of a request. view_end_renderings kills all
 * children. */
bool view_begin_renderings(struct view *);
void view_look_at_renderings(struct view *);
void view_forget_rendering(struct view *, const struct MHD_Connection *);
void view_end_renderings(struct view *);

/* ---- view_live.c: answers that go on ---- */

/* view_send_live sends what a child writes as soon as it has written it, until
 * it ends. view_look_at_live continues with what can be continued; call it when
 * `watcher` is readable. view_forget_live frees what is not sent yet of a
 * request. view_end_lives ends all. */
view_result view_send_live(const struct view_request *,
                           const struct view_source *);
void view_look_at_live(struct view *);
void view_forget_live(struct view *, const struct MHD_Connection *);
void view_end_lives(struct view *);

/* ---- view_follow.c ---- */

/* view_follow writes a test's recording while it grows: blocks, each after its
 * size. -1 with errno. */
struct test_log_attempt;
struct test_log_page;
int view_follow(const struct test_log_page *, const struct test_log_attempt *,
                FILE *);

/* ---- view_routes.c ---- */

/* view_route answers a request whose body has been read. */
view_result view_route(struct view_request *);

/* ---- view_tickets.c: files that have scripts ---- */

/* view_send_ticket redirects the browser to an address that serves only this
 * file of a run: its scripts see the address, and must not learn view->place.
 * view_ticket_path returns the path of such an address; NULL if it is none.
 * view_free_tickets ends all. */
view_result view_send_ticket(const struct view_request *, const char *path);
const char *view_ticket_path(const struct view *, const char *target);
void view_free_tickets(struct view *);

/* ---- view_decode.c ---- */

/* view_decode decodes a path's %xx in place; false if a byte is not encoded
 * well, is NUL or is an encoded slash. view_argument returns an argument of the
 * request's address, to be freed; NULL if it is missing or not encoded well. */
bool view_decode(char *path);
char *view_argument(const struct view_request *, const char *name);

/* ---- view_runs.c ---- */

struct cJSON;
struct test_log_index_run;

/* view_add_run adds what is known of a run as members of an object. */
void view_add_run(struct cJSON *, const struct test_log_index_run *);

view_result view_send_runs(const struct view_request *);
view_result view_send_index(const struct view_request *);

/* view_send_file sends a file of a run: "NAME/FILE". */
view_result view_send_file(const struct view_request *, const char *path);

/* ---- view_blocks.c ---- */

/* view_find_run finds a run by its name, without following links; false if it
 * is not there. For one that goes on, the path may be that of its scratch
 * folder. */
bool view_find_run(const struct view *, const char *name, char path[PATH_MAX]);

/* view_send_of_run sends a block of a run's page, "NAME/tN.bin", what a test
 * records while it runs, "NAME/tN.live", a test in a format of testlog export,
 * "NAME/tN.chrome", or a file. */
view_result view_send_of_run(const struct view_request *, const char *path);

/* ---- view_against.c ---- */

/* view_send_against sends a page that compares two runs, if the path is
 * "NEW/against/OLD.html"; otherwise it returns false. */
bool view_send_against(const struct view_request *, const char *path,
                       view_result *);

/* ---- view_trend.c ---- */

/* view_send_trend sends a test over all runs: its `program` and `test` are
 * arguments of the address. */
view_result view_send_trend(const struct view_request *);

/* ---- view_search.c ---- */

/* A search in a run. */
struct view_wanted {
    char *run, *text;
    size_t most; /* tests and lines */
    uint64_t run_ns, recording_ns;
};

/* view_search writes the tests and lines, as a source does. view_send_search
 * sends them: `run`, `text` and `most` are arguments of the address. */
int view_search(const struct view *, const void *wanted, FILE *);
view_result view_send_search(const struct view_request *);

/* ---- view_capture.c: captures of running programs ---- */

/* view_send_programs sends those that listen; view_capture captures one, as
 * the request's body asks, and sends the name of the run. */
view_result view_send_programs(const struct view_request *);
view_result view_capture(const struct view_request *);

/* ---- view_events.c: server-sent events ---- */

/* view_send_events begins a stream that says when something has changed.
 * view_changed says so on all streams; view_ping finds those whose client has
 * gone. view_close_streams lets them end. */
view_result view_send_events(const struct view_request *);
void view_changed(struct view *);
void view_ping(struct view *);
void view_close_streams(struct view *);

/* ---- view_notifier.c: what changes in the folder ---- */

/* view_begin_notifier sets view->notifier, which is readable when runs or tests
 * may have begun or ended; then call view_read_notifier, which tells the
 * streams. view_watch_runs begins to watch the runs that go on; call it now and
 * then. */
void view_begin_notifier(struct view *);
void view_read_notifier(struct view *);
void view_watch_runs(struct view *);

/* ---- view_connections.c ---- */

/* view_begin_http starts the server on a listening socket; false if it cannot.
 * view_end_slow ends connections whose request has taken too long. */
bool view_begin_http(struct view *, int listener);
void view_end_http(struct view *);
void view_end_slow(struct view *);

#endif
