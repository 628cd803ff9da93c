/* view.c: testlog view: shows the runs of a folder in the browser. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/list_runs.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "trace/base/clock.h"
#include "trace/base/strings.h"
#include "view.h"

/* ---- Events ---- */

enum { PING_SECONDS = 15, TICK_MS = 1000 };

/* Descriptors that the server waits for. */
enum { HTTP, SIGNALS, CHANGES, RENDERINGS, DESCRIPTORS };

/* Signals are taken here, also if they were ignored by our parent, as they are
 * in the background of a script. */
static int take_signals(void)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

static void tick(struct view *view)
{
    static unsigned ticks;

    view_end_slow(view);
    view_look_at_renderings(view);
    view_watch_runs(view);
    if (++ticks % PING_SECONDS == 0)
        view_ping(view);
}

static int timeout_of(const struct view *view)
{
    MHD_UNSIGNED_LONG_LONG most;

    return view_http.get_timeout(view->daemon, &most) == MHD_YES &&
                   most < TICK_MS
               ? (int)most
               : TICK_MS;
}

static void serve(struct view *view, int signals)
{
    const union MHD_DaemonInfo *info =
        view_http.get_daemon_info(view->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd fds[DESCRIPTORS] = {
        [HTTP] = {info->epoll_fd, POLLIN, 0},
        [SIGNALS] = {signals, POLLIN, 0},
        [CHANGES] = {view->notifier, POLLIN, 0},
        [RENDERINGS] = {view->watcher, POLLIN, 0}};
    uint64_t ticked = trace_clock_ns(CLOCK_MONOTONIC);

    while (!(fds[SIGNALS].revents & POLLIN)) {
        uint64_t now;

        poll(fds, DESCRIPTORS, timeout_of(view));
        if (fds[CHANGES].revents & POLLIN)
            view_read_notifier(view);
        if (fds[RENDERINGS].revents & POLLIN) {
            view_look_at_renderings(view);
            view_look_at_live(view);
        }
        now = trace_clock_ns(CLOCK_MONOTONIC);
        if (now - ticked >= TICK_MS * UINT64_C(1000000)) {
            tick(view);
            ticked = now;
        }
        view_http.run(view->daemon);
    }
}

/* ---- Beginning ---- */

static void print_address(struct view *view, const char *run, bool open)
{
    struct trace_text text = {0};

    if (view->socket)
        trace_text_printf(&text, "unix:%s", view->socket);
    else
        trace_text_printf(&text, "http://127.0.0.1:%u/#token=%s%s%s",
                          view->port, view->token, run ? "&run=" : "",
                          run ? run : "");
    puts(text.data ? text.data : "");
    fflush(stdout);
    if (open && !view->socket && text.data)
        view_open(view, text.data);
    trace_text_free(&text);
}

static int run_server(struct view *view, const char *run, bool open)
{
    int signals = take_signals(), listener;
    char place[VIEW_KEY_SIZE];

    if (view_key(view->session) || view_key(place) ||
        (!view->socket && view_key(view->token)) || signals < 0) {
        test_log_notice("view: %s", strerror(errno));
        return TEST_LOG_EXIT_FAILED;
    }
    listener = view_listen(view);
    if (listener < 0)
        return TEST_LOG_EXIT_USAGE;
    snprintf(view->cookie, sizeof(view->cookie), "testlog-%u", view->port);
    snprintf(view->place, sizeof(view->place), "/s-%s/", place);
    if (!view_begin_http(view, listener)) {
        test_log_notice("view: the server did not start: %s", strerror(errno));
        return TEST_LOG_EXIT_FAILED;
    }
    view_begin_notifier(view);
    print_address(view, run, open);
    serve(view, signals);
    view_end_http(view);
    if (view->notifier >= 0)
        close(view->notifier);
    view_end_open(view);
    view_unlisten(view);
    close(signals);
    return runners_written("view", TEST_LOG_EXIT_PASSED);
}

/* ---- Arguments ---- */

struct arguments {
    const char *socket;
    unsigned port;
    bool port_given, open;
};

static bool read_port(struct test_log_reader *reader)
{
    struct arguments *arguments = reader->into;
    const char *text = reader->value;
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    if (text[0] < '0' || text[0] > '9' || *end || number > 65535)
        return test_log_flag_refuse(
            reader, "--port=%s is not a port; write a number from 0 to 65535",
            text);
    arguments->port = (unsigned)number;
    arguments->port_given = true;
    return true;
}

#define AT(member) .at = offsetof(struct arguments, member)

static const struct test_log_flag flags[] = {
    {"--port", NULL, "N", "the port; default: a free one", .read = read_port},
    {"--socket", NULL, "PATH", "a Unix socket instead, for ssh -L",
     test_log_read_text, AT(socket)},
    {"--open", NULL, NULL, "open the address in a browser", test_log_read_on,
     AT(open)},
    TEST_LOG_HELP,
};

/* Splits the path of a run into its folder and its name; NULL if it is a folder
 * of runs. */
static const char *run_in(char path[PATH_MAX])
{
    char *name = (char *)trace_base_name(path);

    if (name == path || !test_log_is_run_name(name))
        return NULL;
    name[-1] = '\0';
    return name;
}

/* Opens the folder that the user calls `shown`. */
static bool open_folder(struct view *view, const char *shown, const char **run)
{
    if (!realpath(shown, view->folder)) {
        runners_refuse_dir("view", shown);
        return false;
    }
    *run = run_in(view->folder);
    view->dir = open(view->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (view->dir < 0)
        runners_refuse_dir("view", shown);
    return view->dir >= 0;
}

static int run(char **argv)
{
    struct arguments arguments = {.socket = NULL};
    struct test_log_options options;
    struct view view = {.dir = -1};
    const char *run;
    int code;

    if (!test_log_flags_read(&runners_view, &arguments, &argv, NULL, &code))
        return code;
    if (arguments.port_given && arguments.socket) {
        test_log_notice("view: --port and --socket exclude each other");
        return TEST_LOG_EXIT_USAGE;
    }
    if (!view_http_open() || runners_settings(&options, "view", argv))
        return TEST_LOG_EXIT_USAGE;
    view.port = arguments.port;
    view.socket = arguments.socket;
    code = open_folder(&view, options.dir, &run)
               ? run_server(&view, run, arguments.open)
               : TEST_LOG_EXIT_USAGE;
    if (view.dir >= 0)
        close(view.dir);
    test_log_options_free(&options);
    return code;
}

const struct test_log_command runners_view = {
    .name = "view",
    .help = "show runs in the browser",
    .synopsis = "[DIR|RUN] [FLAG...]",
    .text = "Shows the runs in DIR in the browser, and new ones as they end. "
            "It prints an address for this user alone, and serves it until ^C. "
            "The default is the folder where test programs put their runs.",
    TEST_LOG_FLAGS(flags),
    .operand = "RUN",
    .run = run,
};
