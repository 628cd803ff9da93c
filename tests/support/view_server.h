/* view_server.h: testlog view, and requests to it. */
#ifndef TESTS_VIEW_SERVER_H
#define TESTS_VIEW_SERVER_H

#include <stddef.h>
#include <sys/types.h>

extern pid_t server_pid;
extern char server_address[512]; /* the line that it printed */
extern char server_token[128];
extern unsigned server_port;

/* server_skip skips the test if testlog was built without libmicrohttpd. */
void server_skip(void);

/* server_start serves the folder "runs"; `flag` is one more argument, or NULL.
 * server_stop sends it a signal and returns its wait status. server_end, for a
 * suite's .fini, kills one that still runs. */
void server_start(const char *flag);
int server_stop(int signal);
void server_end(void);

/* server_connect connects to its port. server_exchange sends what is given and
 * returns what comes back until the server closes the connection, or has
 * nothing more to say; the next call overwrites it. */
int server_connect(void);
const char *server_exchange(int fd, const char *request, size_t size);

/* server_ask sends a request with headers, each with its line end; server_get,
 * a GET with the token. */
const char *server_ask(const char *method, const char *target,
                       const char *headers, ...)
    __attribute__((format(printf, 3, 4)));
const char *server_get(const char *target);

/* server_status returns an answer's status; server_expect fails the test if it
 * is another one, or if the answer has no type. */
int server_status(const char *answer);
void server_expect(const char *answer, int status);

#endif
