/* runners_view_render_test.c: answers that children render, and those that fail
 * to.
 */
#include "runners/view/view.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/machine/notice.h"
#include "tests/support/support.h"

/* ---- Sources ---- */

static int put_answer(const struct view *view, const void *context, FILE *out)
{
    (void)view;
    fputs(context, out);
    return 0;
}

static int refuse(const struct view *view, const void *context, FILE *out)
{
    put_answer(view, context, out);
    return 1;
}

static int find_nothing(const struct view *view, const void *context, FILE *out)
{
    (void)view;
    (void)context;
    (void)out;
    errno = ENOENT;
    return -1;
}

static int crash(const struct view *view, const void *context, FILE *out)
{
    put_answer(view, context, out);
    fflush(out);
    signal(SIGABRT, SIG_DFL);
    abort();
}

static int hang(const struct view *view, const void *context, FILE *out)
{
    (void)view;
    (void)context;
    (void)out;
    while (pause())
        continue;
    return 0;
}

static int put_too_much(const struct view *view, const void *context, FILE *out)
{
    while (!put_answer(view, context, out))
        ;
    return 0;
}

/* Waits until the test makes a file. */
static int wait_for_file(const struct view *view, const void *context,
                         FILE *out)
{
    while (access(context, F_OK))
        usleep(1000);
    return put_answer(view, "go", out);
}

static const struct {
    const char *path;
    int (*write)(const struct view *, const void *context, FILE *);
} sources[] = {
    {"/answer", put_answer}, {"/refuse", refuse}, {"/missing", find_nothing},
    {"/crash", crash},       {"/hang", hang},     {"/large", put_too_much},
    {"/wait", wait_for_file}};

/* ---- The server ---- */

static struct view view;
static struct sockaddr_in address;
static char *notices;
static size_t notices_size;

static view_result on_request(void *context, struct MHD_Connection *connection,
                              const char *target, const char *method,
                              const char *version, const char *body,
                              size_t *size, void **state)
{
    const struct view_request request = {.view = context,
                                         .connection = connection,
                                         .method = method,
                                         .target = target};

    (void)version;
    (void)body;
    (void)size;
    if (!*state) {
        *state = &view;
        return MHD_YES;
    }
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
        if (!strcmp(sources[i].path, target))
            return view_render(
                &request, &(struct view_source){.write = sources[i].write,
                                                .context = test_path("text"),
                                                .type = "text/plain"});
    return MHD_NO;
}

static void on_completed(void *context, struct MHD_Connection *connection,
                         void **state, enum MHD_RequestTerminationCode code)
{
    (void)state;
    (void)code;
    view_forget_rendering(context, connection);
}

static void begin(void)
{
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    test_folder();
    test_log_out = open_memstream(&notices, &notices_size);
    view.dir = dup(STDERR_FILENO);
    address = (struct sockaddr_in){.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(listen(listener, 100), 0);
    getsockname(listener, (struct sockaddr *)&address, &size);
    cr_assert(view_begin_renderings(&view));
    cr_assert(view_http_open());
    view.daemon = view_http.start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request,
        &view, MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, &view, MHD_OPTION_END);
    cr_assert(view.daemon);
}

static void end(void)
{
    view_end_renderings(&view);
    view_http.run(view.daemon);
    view_http.stop_daemon(view.daemon);
    fclose(test_log_out);
    free(notices);
}

TestSuite(runners_view_render, .init = begin, .fini = end, .timeout = 120);

/* ---- Clients ---- */

static int ask(const char *path)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char request[128];

    snprintf(request, sizeof(request),
             "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);
    cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    cr_assert_gt(send(fd, request, strlen(request), MSG_NOSIGNAL), 0);
    return fd;
}

static void serve(void)
{
    view_http.run(view.daemon);
    view_look_at_renderings(&view);
    cr_assert_leq(view.rendering, VIEW_RENDERINGS_MOST);
}

/* Serves until a client has its answer. */
static const char *answer_of(int fd)
{
    static char answer[4096];
    struct pollfd one = {fd, POLLIN, 0};
    size_t size = 0;
    ssize_t more;

    do {
        while (!poll(&one, 1, 1))
            serve();
        more = recv(fd, answer + size, sizeof(answer) - 1 - size, 0);
        size += more > 0 ? (size_t)more : 0;
    } while (more > 0);
    answer[size] = '\0';
    close(fd);
    return answer;
}

static void expect(const char *path, const char *status, const char *body)
{
    const char *answer = answer_of(ask(path));

    cr_expect(strstr(answer, status) == answer, "%s: %s", path, answer);
    cr_expect(strstr(answer, body), "%s: %s", path, answer);
}

static void expect_notice(const char *text)
{
    fflush(test_log_out);
    cr_expect(strstr(notices, text), "%s", notices);
}

/* ---- Tests ---- */

Test(runners_view_render, answers_with_what_the_child_writes)
{
    expect("/answer", "HTTP/1.1 200", "\r\n\r\n/");
    expect("/refuse", "HTTP/1.1 409", "\r\n\r\n/");
    expect("/missing", "HTTP/1.1 404", "there is no such file");
}

Test(runners_view_render, survives_a_child_that_crashes)
{
    expect("/crash", "HTTP/1.1 500", "\r\n\r\n500:");
    expect_notice("the process that made an answer received SIGABRT");
    expect("/answer", "HTTP/1.1 200", "\r\n\r\n/");
}

Test(runners_view_render, ends_a_child_that_takes_too_long)
{
    view.render_most = 1000000;
    expect("/hang", "HTTP/1.1 500", "\r\n\r\n500:");
    expect_notice("an answer took more than 0 s");
    cr_expect_eq(view.rendering, 0);
}

Test(runners_view_render, ends_a_child_that_writes_too_much)
{
    view.answer_most = 3 << 20;
    expect("/large", "HTTP/1.1 500", "\r\n\r\n500:");
    expect_notice("an answer would have more than 3 MiB");
    expect("/answer", "HTTP/1.1 200", "\r\n\r\n/");
}

Test(runners_view_render, lets_others_wait_for_a_few_children)
{
    enum { CLIENTS = 3 * VIEW_RENDERINGS_MOST };
    int fds[CLIENTS];

    for (int i = 0; i < CLIENTS; i++)
        fds[i] = ask("/wait");
    while (view.rendering < VIEW_RENDERINGS_MOST)
        serve();
    for (int i = 0; i < 100; i++) /* the others come */
        serve();
    cr_expect_eq(view.rendering, VIEW_RENDERINGS_MOST);
    test_save(test_path("text"), "", 0);
    for (int i = 0; i < CLIENTS; i++)
        cr_expect(strstr(answer_of(fds[i]), "\r\n\r\ngo"), "client %d", i);
    cr_expect_eq(view.rendering, 0);
    cr_expect_null(view.renderings);
}

Test(runners_view_render, ends_the_child_of_a_client_that_leaves)
{
    int fd = ask("/hang");

    while (!view.rendering)
        serve();
    close(fd);
    while (view.rendering)
        serve();
    expect("/answer", "HTTP/1.1 200", "\r\n\r\n/");
}
