/* view_live.c: answers that go on as long as a test runs. A child process
 * writes them into a pipe, and a connection without news is suspended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "view.h"

struct view_live {
    struct view *view;
    struct MHD_Connection *connection;
    struct view_live *next;
    pid_t child;
    int pipe;
    bool suspended, ended;
    bool sent; /* it belongs to a response */
};

static struct view_live *find(const struct view *view,
                              const struct MHD_Connection *connection)
{
    struct view_live *one = view->lives;

    while (one && one->connection != connection)
        one = one->next;
    return one;
}

/* ---- Waiting ---- */

static void suspend(struct view_live *live)
{
    view_watch(live->view, live->pipe, EPOLLIN);
    view_watch(live->view, view_socket_of(live->connection), EPOLLRDHUP);
    view_http.suspend_connection(live->connection);
    live->suspended = true;
}

static void resume(struct view_live *live)
{
    if (!live->suspended)
        return;
    view_unwatch(live->view, live->pipe);
    view_unwatch(live->view, view_socket_of(live->connection));
    view_http.resume_connection(live->connection);
    live->suspended = false;
}

void view_look_at_live(struct view *view)
{
    for (struct view_live *one = view->lives; one; one = one->next) {
        struct pollfd fds[] = {{one->pipe, POLLIN, 0},
                               {view_socket_of(one->connection), POLLRDHUP, 0}};

        if (!one->suspended || poll(fds, 2, 0) <= 0)
            continue;
        one->ended |= fds[1].revents != 0;
        resume(one);
    }
}

void view_end_lives(struct view *view)
{
    for (struct view_live *one = view->lives; one; one = one->next) {
        one->ended = true;
        resume(one);
    }
}

/* ---- Answers ---- */

static ssize_t read_live(void *context, uint64_t place, char *buffer,
                         size_t size)
{
    struct view_live *live = context;
    ssize_t count = live->ended ? 0 : read(live->pipe, buffer, size);

    (void)place;
    if (count > 0)
        return count;
    if (count < 0 && errno == EAGAIN) {
        suspend(live);
        return 0;
    }
    return count < 0 ? MHD_CONTENT_READER_END_WITH_ERROR
                     : MHD_CONTENT_READER_END_OF_STREAM;
}

static void end_live(void *context)
{
    struct view_live *live = context, **at = &live->view->lives;

    while (*at != live)
        at = &(*at)->next;
    *at = live->next;
    live->view->following--;
    close(live->pipe);
    kill(live->child, SIGKILL);
    waitpid(live->child, NULL, 0);
    free(live);
}

/* Starts the child; NULL with errno. */
static struct view_live *start(const struct view_request *request,
                               const struct view_source *source)
{
    struct view_live *live = calloc(1, sizeof(*live));
    int ends[2] = {-1, -1};

    if (!live || pipe2(ends, O_CLOEXEC)) {
        free(live);
        return NULL;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *live =
        (struct view_live){.view = request->view,
                           .connection = request->connection,
                           .next = request->view->lives,
                           .child = view_fork(request->view, ends[1], source),
                           .pipe = ends[0]};
    close(ends[1]);
    if (live->child < 0) {
        close(ends[0]);
        free(live);
        return NULL;
    }
    request->view->lives = live;
    request->view->following++;
    return live;
}

/* Answers once the child has written something. One that ends without a word
 * has found nothing. */
static view_result answer(const struct view_request *request,
                          const struct view_source *source,
                          struct view_live *live)
{
    enum { BLOCK = 64 << 10 };
    struct pollfd written = {live->pipe, POLLIN, 0};
    struct MHD_Response *response;

    if (live->ended || poll(&written, 1, 0) < 1 || !(written.revents & POLLIN))
        return view_refuse(request, MHD_HTTP_NOT_FOUND);
    response = view_http.create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK, read_live, live, end_live);
    if (!response)
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    live->sent = true;
    return view_answer_response(request, MHD_HTTP_OK, source->type, response);
}

view_result view_send_live(const struct view_request *request,
                           const struct view_source *source)
{
    struct view_live *live = find(request->view, request->connection);

    if (live)
        return answer(request, source, live);
    if (request->view->following >= VIEW_LIVE_MOST)
        return view_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE);
    live = start(request, source);
    if (!live)
        return view_refuse(request, MHD_HTTP_INTERNAL_SERVER_ERROR);
    suspend(live);
    return MHD_YES;
}

void view_forget_live(struct view *view,
                      const struct MHD_Connection *connection)
{
    struct view_live *live = find(view, connection);

    if (live && !live->sent)
        end_live(live);
}
