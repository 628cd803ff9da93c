/* server.c: lets testlog capture record this process.
 *
 * A program that asked for it with trace_server_start has a thread that waits.
 * With the variable TRACE_SERVER it has none, because a thread makes others'
 * locks and reference counts slower: the socket sends a signal when somebody
 * connects; the handler marks the call sites, and the first one that is called
 * creates the thread, which ends with the last client.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server.h"
#include "trace/base/unix_socket.h"
#include "trace/device.h"
#include "trace/record/profiler.h"
#include "trace/record/write.h"

enum { BACKLOG = 16, STACK = 1 << 20, RETRY_MS = 100 };

enum state {
    CLOSED,
    OPENING,
    IDLE, /* no thread answers */
    BUSY,
};

static struct {
    uint32_t state; /* atomic: enum state */
    pid_t owner;    /* forked children answer nobody */
    struct trace_descriptor listener;
    bool waits; /* in a thread */
    pthread_t thread;
    char path[TRACE_SOCKET_MOST + 1];
} server;

static void set_state(enum state state)
{
    __atomic_store_n(&server.state, state, __ATOMIC_SEQ_CST);
}

static bool change_state(enum state from, enum state to)
{
    uint32_t state = from;

    return __atomic_compare_exchange_n(&server.state, &state, to, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static bool is_owner(void)
{
    return server.owner == getpid();
}

/* ---- The thread ---- */

/* Returns -1 with EAGAIN if there is none. */
static int next_client(void)
{
    errno = EAGAIN;
    return trace_descriptor_is_ours(&server.listener)
               ? accept4(server.listener.fd, NULL, NULL, SOCK_CLOEXEC)
               : -1;
}

static void answer_all(void)
{
    struct pollfd listener = {server.listener.fd, 0, 0};
    int client;

    while ((client = next_client()) >= 0)
        trace_capture(client, &server.listener);
    if (errno != EAGAIN) /* there may be too many descriptors for now */
        poll(&listener, 1, RETRY_MS);
}

/* Returns whether the thread goes on. A client that came before the server was
 * idle sent its signal in vain. */
static bool is_needed(void)
{
    struct pollfd listener = {server.listener.fd, POLLIN, 0};

    if (!trace_descriptor_is_ours(&server.listener))
        return false;
    if (server.waits) {
        while (poll(&listener, 1, -1) < 0 && errno == EINTR)
            ;
        return listener.revents == POLLIN;
    }
    set_state(IDLE);
    return poll(&listener, 1, 0) > 0 && listener.revents == POLLIN &&
           change_state(IDLE, BUSY);
}

static void *serve(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "testlog");
    do {
        if (!server.waits)
            trace_sites_await_no_more();
        answer_all();
    } while (is_needed());
    return NULL;
}

/* The thread takes no signals of the program, but those of faults in a
 * recording that others truncate. */
static int begin_thread(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    int error;

    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    if (!server.waits)
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&server.thread, &attributes, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    errno = error;
    return error ? -1 : 0;
}

/* ---- Without a thread ---- */

/* While the program is recorded, its call sites are on: none would notice. */
static void announce_client(void)
{
    if (!is_owner() || __atomic_load_n(&server.state, __ATOMIC_SEQ_CST) != IDLE)
        return;
    if (!trace_is_open())
        trace_sites_await();
    else
        while (trace_capture_refuse(&server.listener, TRACE_RECORDED_ALREADY))
            ;
}

static void on_connection(int number, siginfo_t *info, void *context)
{
    int error = errno;

    (void)number;
    (void)context;
    if (info->si_code > 0 && info->si_fd == server.listener.fd)
        announce_client();
    errno = error;
}

/* Called by a call site that was marked. */
static void on_call(void)
{
    int error = errno;

    if (trace_is_busy(&trace_writer)) /* in malloc, for example */
        return;
    if (!is_owner()) {
        trace_sites_await_no_more();
    } else if (change_state(IDLE, BUSY) && begin_thread()) {
        trace_sites_await_no_more();
        set_state(IDLE);
    }
    errno = error;
}

/* Makes the socket send SIGURG, which programs ignore unless they handle it;
 * -1 if this one does. */
static int take_signal(void)
{
    struct sigaction before;
    struct sigaction action = {.sa_sigaction = on_connection,
                               .sa_flags =
                                   SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    struct pollfd listener = {server.listener.fd, POLLIN, 0};

    if (sigaction(SIGURG, NULL, &before) || before.sa_handler != SIG_DFL)
        return -1;
    trace_site_called = on_call;
    set_state(IDLE);
    if (sigaction(SIGURG, &action, NULL) ||
        fcntl(listener.fd, F_SETOWN, getpid()) ||
        fcntl(listener.fd, F_SETSIG, SIGURG) ||
        fcntl(listener.fd, F_SETFL, O_NONBLOCK | O_ASYNC))
        return -1;
    if (poll(&listener, 1, 0) > 0) /* it came before the signal was set */
        announce_client();
    return 0;
}

/* ---- Opening and closing ---- */

/* A child that kept the sockets would let clients wait when we have ended. */
static void in_child(void)
{
    if (__atomic_load_n(&server.state, __ATOMIC_SEQ_CST) < IDLE)
        return;
    trace_descriptor_close(&server.listener);
    trace_capture_in_child();
    set_state(CLOSED);
}

static void at_exit(void)
{
    if (__atomic_load_n(&server.state, __ATOMIC_SEQ_CST) >= IDLE && is_owner())
        unlink(server.path);
}

static int prepare(void)
{
    static bool prepared;

    if (prepared)
        return 0;
    if (trace_recorder_prepare() || pthread_atfork(NULL, NULL, in_child) ||
        atexit(at_exit))
        return -1;
    prepared = true;
    return 0;
}

static int open_socket(const char *path)
{
    if (prepare())
        return -1;
    server.listener = trace_descriptor_of(trace_unix_listen(path, BACKLOG));
    if (!server.listener.inode)
        return -1;
    memcpy(server.path, path, strlen(path) + 1);
    server.owner = getpid();
    return 0;
}

static int listen_at(const char *path, bool thread)
{
    int error;

    if (!change_state(CLOSED, OPENING)) {
        errno = EBUSY;
        return -1;
    }
    if (open_socket(path)) {
        set_state(CLOSED);
        return -1;
    }
    if (!thread && !take_signal())
        return 0;
    server.waits = true;
    set_state(BUSY);
    if (!begin_thread())
        return 0;
    error = errno;
    unlink(server.path);
    trace_descriptor_close(&server.listener);
    set_state(CLOSED);
    errno = error;
    return -1;
}

/* ---- Where ---- */

static int default_path(char path[PATH_MAX])
{
    char folder[PATH_MAX];

    trace_socket_folder(folder, secure_getenv("XDG_RUNTIME_DIR"));
    if (trace_socket_folder_make(folder))
        return -1;
    if (snprintf(path, PATH_MAX, "%s/%ld.sock", folder, (long)getpid()) <=
        TRACE_SOCKET_MOST)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

int trace_server_start(const char *path)
{
    char standard[PATH_MAX];

    if (!path && default_path(standard))
        return -1;
    return listen_at(path ? path : standard, true);
}

int trace_server_stop(void)
{
    if (!server.waits || !is_owner() || !change_state(BUSY, OPENING)) {
        errno = EINVAL;
        return -1;
    }
    if (trace_descriptor_is_ours(&server.listener)) {
        shutdown(server.listener.fd, SHUT_RDWR);
        pthread_join(server.thread, NULL);
        trace_descriptor_close(&server.listener);
    } else { /* the program has closed it: the thread waits for ever */
        pthread_detach(server.thread);
    }
    unlink(server.path);
    server.waits = false;
    set_state(CLOSED);
    return 0;
}

static const char *reason(void)
{
    switch (errno) {
    case EADDRINUSE:
        return "another program, or a file, is there";
    case ENAMETOOLONG:
        return "a socket's path has at most 107 bytes";
    case EPERM:
        return "the folder for sockets is not this user's alone";
    default:
        return strerror(errno);
    }
}

void trace_server_listen_asked(void)
{
    const char *value = secure_getenv("TRACE_SERVER");
    static bool asked;
    char standard[PATH_MAX] = "";
    const char *path = value;
    int failed = 0;

    if (asked || !value || !*value)
        return;
    asked = true;
    if (value[0] != '/' && strcmp(value, "1") != 0) {
        dprintf(STDERR_FILENO,
                "testlog: TRACE_SERVER=%s is neither 1 nor an absolute path; "
                "this program cannot be captured\n",
                value);
        return;
    }
    if (value[0] != '/') {
        failed = default_path(standard);
        path = standard;
    }
    if (failed || listen_at(path, false)) {
        dprintf(STDERR_FILENO,
                "testlog: TRACE_SERVER=%s: %s; this program cannot be "
                "captured\n",
                value, reason());
        return;
    }
    /* Back ends look for the recording in a variable, which must be set before
     * there are threads. */
    trace_device_configure(&trace_profiler_default);
    trace_device_offer();
}
