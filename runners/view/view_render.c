/* view_render.c: renders answers that take time in child processes, so that a
 * huge or damaged recording neither stops the server nor makes it grow.
 *
 * The connection is suspended meanwhile. When it is resumed, libmicrohttpd asks
 * for the same request again, which then finds its finished rendering.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/model/model.h"
#include "trace/base/clock.h"
#include "view.h"

#define SECOND UINT64_C(1000000000) /* ns */
#define MIB    (UINT64_C(1) << 20)

enum {
    RENDER_SECONDS = 120, /* that an answer may take */
    ANSWER_MIB = 1024,    /* of an answer, which is in memory */
    MISSING = 2,          /* exit code: there is no such thing */
    REFUSED = 3,          /* exit code: the answer says why */
};

enum rendering_state { WAITING, RUNNING, DONE, FAILED, ABANDONED };

struct view_rendering {
    struct MHD_Connection *connection;
    struct view_rendering *next;
    enum rendering_state state;
    bool suspended;
    unsigned status; /* of HTTP */
    pid_t child;
    int end;        /* a descriptor of the child, which polls its end */
    int output;     /* what it has written; -1: none */
    uint64_t since; /* ns */
};

static struct view_rendering *find(const struct view *view,
                                   const struct MHD_Connection *connection)
{
    struct view_rendering *one = view->renderings;

    while (one && one->connection != connection)
        one = one->next;
    return one;
}

int view_socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = view_http.get_connection_info(
        connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

bool view_watch(const struct view *view, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events};

    return !epoll_ctl(view->watcher, EPOLL_CTL_ADD, fd, &event);
}

void view_unwatch(const struct view *view, int fd)
{
    epoll_ctl(view->watcher, EPOLL_CTL_DEL, fd, NULL);
}

/* libmicrohttpd does not look at the socket of a suspended connection. */
static void suspend(const struct view *view, struct view_rendering *rendering)
{
    view_watch(view, view_socket_of(rendering->connection), EPOLLRDHUP);
    view_http.suspend_connection(rendering->connection);
    rendering->suspended = true;
}

static void resume(const struct view *view, struct view_rendering *rendering)
{
    if (!rendering->suspended)
        return;
    view_unwatch(view, view_socket_of(rendering->connection));
    view_http.resume_connection(rendering->connection);
    rendering->suspended = false;
}

bool view_begin_renderings(struct view *view)
{
    view->watcher = epoll_create1(EPOLL_CLOEXEC);
    view->render_most = RENDER_SECONDS * SECOND;
    view->answer_most = ANSWER_MIB * MIB;
    view->memory_most =
        (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
    return view->watcher >= 0;
}

/* ---- The child ---- */

/* Keeps no connection open: it would seem to go on after the server has closed
 * it. The folder, standard output and standard error stay. */
static bool keep_own_files(const struct view *view, int output)
{
    const unsigned first = STDERR_FILENO + 1, dir = (unsigned)view->dir;

    if (dup2(output, STDOUT_FILENO) < 0)
        return false;
    if (dir > first)
        close_range(first, dir - 1, 0);
    close_range(dir < first ? first : dir + 1, ~0U, 0);
    return true;
}

void __asan_init(void) __attribute__((weak));

/* A pack of 100 KB can have a file that takes any memory. AddressSanitizer
 * reserves more than there is. */
static bool limit(const struct view *view)
{
    const struct rlimit bytes = {view->answer_most, view->answer_most};
    const struct rlimit memory = {view->memory_most, view->memory_most};

    if (!__asan_init && setrlimit(RLIMIT_DATA, &memory))
        return false;
    return !setrlimit(RLIMIT_FSIZE, &bytes);
}

_Noreturn static void render(const struct view *view, int output, pid_t server,
                             const struct view_source *source)
{
    int failed;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server || !limit(view) || !keep_own_files(view, output))
        _exit(EXIT_FAILURE);
    errno = 0;
    failed = source->write(view, source->context, stdout);
    if (failed < 0)
        _exit(errno == ENOENT ? MISSING : EXIT_FAILURE);
    if (fflush(stdout) || ferror(stdout))
        _exit(EXIT_FAILURE);
    _exit(failed ? REFUSED : EXIT_SUCCESS);
}

pid_t view_fork(const struct view *view, int output,
                const struct view_source *source)
{
    pid_t server = getpid(), child;

    fflush(NULL);
    child = fork();
    if (!child)
        render(view, output, server, source);
    return child;
}

/* ---- Its life ---- */

/* Begins to wait for the end of a child; -1 if that is impossible. */
static int watch_child(const struct view *view, pid_t child)
{
    int end = pidfd_open(child, 0);

    if (end >= 0 && view_watch(view, end, EPOLLIN))
        return end;
    if (end >= 0)
        close(end);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return -1;
}

static bool start(struct view *view, struct view_rendering *rendering,
                  const struct view_source *source)
{
    rendering->output = memfd_create("answer", MFD_CLOEXEC);
    if (rendering->output < 0)
        return false;
    rendering->child = view_fork(view, rendering->output, source);
    if (rendering->child < 0)
        return false;
    rendering->end = watch_child(view, rendering->child);
    if (rendering->end < 0)
        return false;
    rendering->state = RUNNING;
    rendering->since = trace_clock_ns(CLOCK_MONOTONIC);
    view->rendering++;
    return true;
}

static void say_signal(const struct view *view, int number)
{
    if (number == SIGXFSZ)
        test_log_notice("view: an answer would have more than %llu MiB; use "
                        "testlog export",
                        (unsigned long long)(view->answer_most / MIB));
    else if (number != SIGKILL)
        test_log_notice("view: the process that made an answer received %s",
                        test_log_signal(number));
}

static void note_end(const struct view *view, struct view_rendering *rendering,
                     const siginfo_t *info)
{
    static const unsigned statuses[] = {[EXIT_SUCCESS] = MHD_HTTP_OK,
                                        [MISSING] = MHD_HTTP_NOT_FOUND,
                                        [REFUSED] = MHD_HTTP_CONFLICT};
    int code = info->si_code == CLD_EXITED ? info->si_status : EXIT_FAILURE;
    bool known = code >= 0 && code <= REFUSED && code != EXIT_FAILURE;

    rendering->state = code == EXIT_SUCCESS || code == REFUSED ? DONE : FAILED;
    rendering->status = known ? statuses[code] : MHD_HTTP_INTERNAL_SERVER_ERROR;
    if (info->si_code != CLD_EXITED)
        say_signal(view, info->si_status);
}

/* Takes the child's exit code; false if it still runs. */
static bool reap(struct view *view, struct view_rendering *rendering, int flags)
{
    siginfo_t info = {.si_pid = 0};

    waitid(P_PIDFD, (id_t)rendering->end, &info, WEXITED | flags);
    if (!info.si_pid)
        return false;
    view_unwatch(view, rendering->end);
    close(rendering->end);
    view->rendering--;
    note_end(view, rendering, &info);
    return true;
}

static void stop(struct view *view, struct view_rendering *rendering)
{
    if (rendering->state != RUNNING)
        return;
    kill(rendering->child, SIGKILL);
    reap(view, rendering, 0);
}

/* Lets libmicrohttpd see that the client has gone, or end the connection. */
static void abandon(struct view *view, struct view_rendering *rendering)
{
    stop(view, rendering);
    rendering->state = ABANDONED;
    resume(view, rendering);
}

static bool has_left(const struct view_rendering *rendering)
{
    struct pollfd one = {view_socket_of(rendering->connection), POLLRDHUP, 0};

    return rendering->suspended && poll(&one, 1, 0) > 0;
}

static bool is_late(const struct view *view,
                    const struct view_rendering *rendering)
{
    return rendering->state == RUNNING &&
           trace_clock_ns(CLOCK_MONOTONIC) - rendering->since >
               view->render_most;
}

static void look_at(struct view *view, struct view_rendering *rendering)
{
    if (rendering->state == RUNNING && reap(view, rendering, WNOHANG)) {
        resume(view, rendering);
    } else if (has_left(rendering)) {
        abandon(view, rendering);
    } else if (is_late(view, rendering)) {
        test_log_notice("view: an answer took more than %llu s; use testlog "
                        "export",
                        (unsigned long long)(view->render_most / SECOND));
        stop(view, rendering);
        resume(view, rendering);
    }
}

void view_look_at_renderings(struct view *view)
{
    unsigned room;

    for (struct view_rendering *one = view->renderings; one; one = one->next)
        look_at(view, one);
    room = VIEW_RENDERINGS_MOST - view->rendering;
    for (struct view_rendering *one = view->renderings; one && room;
         one = one->next)
        if (one->state == WAITING && one->suspended) {
            resume(view, one);
            room--;
        }
}

void view_forget_rendering(struct view *view,
                           const struct MHD_Connection *connection)
{
    struct view_rendering **at = &view->renderings, *one;

    while (*at && (*at)->connection != connection)
        at = &(*at)->next;
    one = *at;
    if (!one)
        return;
    stop(view, one);
    if (one->output >= 0)
        close(one->output);
    *at = one->next;
    free(one);
}

void view_end_renderings(struct view *view)
{
    for (struct view_rendering *one = view->renderings; one; one = one->next)
        abandon(view, one);
}

/* ---- Answers ---- */

static view_result answer(const struct view_request *request,
                          const struct view_source *source,
                          struct view_rendering *rendering)
{
    struct MHD_Response *response = NULL;
    struct stat status;

    if (!fstat(rendering->output, &status))
        response = view_http.create_response_from_fd64((uint64_t)status.st_size,
                                                       rendering->output);
    if (!response)
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    rendering->output = -1; /* it is the response's */
    if (source->saved)
        view_http.add_response_header(response, "Content-Disposition",
                                      "attachment");
    if (source->sandboxed)
        view_http.add_response_header(response, "Content-Security-Policy",
                                      VIEW_SANDBOX);
    return view_answer_response(request, rendering->status, source->type,
                                response);
}

/* Adds a rendering behind those that wait already. */
static struct view_rendering *add(const struct view_request *request)
{
    struct view_rendering **at = &request->view->renderings;

    while (*at)
        at = &(*at)->next;
    *at = calloc(1, sizeof(**at));
    if (*at)
        **at = (struct view_rendering){.connection = request->connection,
                                       .output = -1};
    return *at;
}

view_result view_render(const struct view_request *request,
                        const struct view_source *source)
{
    struct view *view = request->view;
    struct view_rendering *rendering = find(view, request->connection);

    if (!rendering && !(rendering = add(request)))
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    if (rendering->state == ABANDONED)
        return MHD_NO;
    if (rendering->state == FAILED)
        return view_refuse(request, rendering->status);
    if (rendering->state == DONE)
        return answer(request, source, rendering);
    if (view->rendering < VIEW_RENDERINGS_MOST &&
        !start(view, rendering, source))
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    suspend(view, rendering);
    return MHD_YES;
}
