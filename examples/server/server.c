/* server.c: a small HTTP server that runs until it is stopped, as an example of
 * a program that is looked at, and captured, while it runs. README.md has the
 * commands.
 *
 * server [PORT]: serves the pages of http_server.c on the loopback interface.
 */
#define LOG_TARGET "server"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <testlog/log.h>

#include "examples/http_server.h"

enum { WORKERS = 2, BACKLOG = 64, USERS = 1000, REQUEST_MOST = 4096 };

/* The pages are not made for several threads at once. */
static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;
static struct http_server *pages;
static int listener;
static int clients; /* atomic */

static void make_page(const char *request, size_t size,
                      struct http_response *response)
{
    trace_function(DEBUG, (size));

    pthread_mutex_lock(&pages_lock);
    http_server_serve(pages, request, size, response);
    pthread_mutex_unlock(&pages_lock);
}

/* A request's head ends with an empty line; nobody sends a body. */
static size_t receive(int client, char *request)
{
    trace_function(DEBUG);

    size_t size = 0;

    request[0] = '\0';
    while (size < REQUEST_MOST - 1 && !strstr(request, "\r\n\r\n")) {
        ssize_t more = recv(client, request + size, REQUEST_MOST - 1 - size, 0);

        if (more <= 0)
            break;
        size += (size_t)more;
        request[size] = '\0';
    }
    return size;
}

static void reply(int client, const struct http_response *response)
{
    trace_function(DEBUG, ("status", response->status));

    char text[512];
    int size =
        snprintf(text, sizeof(text), "%s%s", response->head, response->body);

    if (send(client, text, (size_t)size, MSG_NOSIGNAL) != size)
        log_warn("the client has gone: %m");
}

static void serve(int client, size_t number)
{
    trace_span(INFO, "client", (number), ("status", trace_empty()));

    struct http_response response = {0};
    char request[REQUEST_MOST];
    size_t size;

    trace_counter("clients", __atomic_add_fetch(&clients, 1, __ATOMIC_RELAXED));
    size = receive(client, request);
    if (size) {
        make_page(request, size, &response);
        reply(client, &response);
        trace_record(trace_span_current(), ("status", response.status));
        log_info("%.*s: %d", (int)strcspn(request, "\r\n"), request,
                 response.status);
    }
    trace_counter("clients", __atomic_sub_fetch(&clients, 1, __ATOMIC_RELAXED));
    close(client);
}

static void *work(void *unused)
{
    static size_t number; /* atomic */
    int client;

    while ((client = accept(listener, NULL, NULL)) >= 0 || errno == EINTR)
        if (client >= 0)
            serve(client, __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED));
    return unused;
}

/* Listens on a port, or on a free one. */
static int listen_on(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int one = 1;

    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 ||
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
        bind(listener, (struct sockaddr *)&address, size) ||
        listen(listener, BACKLOG) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        return -1;
    printf("http://127.0.0.1:%d/ is process %ld\n", ntohs(address.sin_port),
           (long)getpid());
    return fflush(stdout);
}

static int make_pages(void)
{
    int failed = 0;

    pages = http_server_new(USERS);
    for (size_t user = 0; pages && user < USERS; user++)
        failed |= http_server_hire(pages, user, user / 10);
    return pages && !failed ? 0 : -1;
}

/* Signals end main, which ends the other threads. */
static void await_signal(void)
{
    sigset_t set;
    int number;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigwait(&set, &number);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (make_pages() || listen_on(argc > 1 ? atoi(argv[1]) : 0)) {
        perror("server");
        return 1;
    }
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&thread, NULL, work, NULL))
            return 1;
    await_signal();
    return 0;
}
