/* capture_client.c: testlog capture's side of trace/capture/server.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runners/record/capture_program.h"
#include "trace/base/clock.h"
#include "trace/base/strings.h"

enum {
    SITES_MOST = 256 << 20, /* bytes */
    NAME_MOST = 80,         /* bytes of a program's name, which is a folder's */
};

int capture_hello(const struct captured *captured)
{
    uint32_t version = TRACE_CAPTURE_VERSION;

    return trace_message_send(captured->socket, TRACE_MESSAGE_HELLO, &version,
                              sizeof(version), -1);
}

int capture_stop(const struct captured *captured)
{
    return trace_message_send(captured->socket, TRACE_MESSAGE_STOP, NULL, 0,
                              -1);
}

/* ---- Starting ---- */

/* Counters and the like are recorded whatever the filter is. A directive that
 * depends on spans or values counts as wanted. */
static char judge(struct log_filter *filter, const struct trace_site *site,
                  unsigned level)
{
    struct trace_text why = {0};
    enum log_state state;

    if (site->kind >= TRACE_SITE_FIELDS)
        return 1;
    log_filter_seen(filter, site);
    state = log_filter_judge(filter, site, &why);
    trace_text_free(&why);
    return site->level <= level && state != LOG_STATE_OFF;
}

int capture_start(struct captured *captured, int file,
                  struct log_filter *filter, unsigned level,
                  const char *const *strings)
{
    unsigned most = log_filter_most(filter);
    const struct trace_start_request request = {
        most < level ? most : level, (uint32_t)captured->sites.count};
    struct trace_text text = {0};
    int result = -1;

    trace_text_add(&text, &request, sizeof(request));
    for (size_t i = 0; i < captured->sites.count; i++)
        trace_text_char(&text, judge(filter, captured->sites.sites[i], level));
    for (; *strings; strings++)
        trace_text_add(&text, *strings, strlen(*strings) + 1);
    if (!text.failed)
        result = trace_message_send(captured->socket, TRACE_MESSAGE_START,
                                    text.data, text.size, file);
    trace_text_free(&text);
    return result;
}

/* ---- Waiting ---- */

static const char not_ours[] = "its answer is not one of testlog's";

static int left_until(uint64_t until)
{
    uint64_t now = trace_clock_ns(CLOCK_MONOTONIC);
    uint64_t left = until > now ? (until - now + 999999) / 1000000 : 0;

    return left > 1000000 ? 1000000 : (int)left;
}

/* Why a message could not be received. */
static enum capture_answer why_none(struct captured *captured)
{
    if (errno == ECONNRESET)
        return CAPTURE_ENDED;
    snprintf(captured->why, sizeof(captured->why), "%s",
             errno == EPROTO ? not_ours : strerror(errno));
    return CAPTURE_REFUSED;
}

static enum capture_answer keep_sites(struct captured *captured,
                                      struct trace_message *message)
{
    const char *name;
    uint32_t pid;

    if (trace_site_list_read(message, &pid, &name, &captured->sites)) {
        trace_message_free(message);
        snprintf(captured->why, sizeof(captured->why), "its answer is damaged");
        return CAPTURE_REFUSED;
    }
    captured->message = *message;
    name = trace_base_name(name);
    captured->name = strndup(*name ? name : "program", NAME_MOST);
    return captured->name ? CAPTURE_ANSWERED : CAPTURE_ENDED;
}

static enum capture_answer read_answer(struct captured *captured, uint32_t kind)
{
    struct trace_message message;
    enum capture_answer answer = CAPTURE_ANSWERED;

    if (trace_message_receive(captured->socket, &message, SITES_MOST))
        return why_none(captured);
    if (message.kind == TRACE_MESSAGE_REFUSED || message.kind != kind) {
        answer = CAPTURE_REFUSED;
        snprintf(captured->why, sizeof(captured->why), "%s",
                 message.kind == TRACE_MESSAGE_REFUSED
                     ? (const char *)message.bytes
                     : not_ours);
    } else if (kind == TRACE_MESSAGE_SITES) {
        return keep_sites(captured, &message);
    }
    trace_message_free(&message);
    return answer;
}

enum capture_answer capture_await(struct captured *captured, uint32_t kind,
                                  uint64_t until, int signals)
{
    struct pollfd fds[] = {{captured->socket, POLLIN, 0}, {signals, POLLIN, 0}};
    int ready;

    do
        ready = poll(fds, 2, left_until(until));
    while ((ready < 0 && errno == EINTR) ||
           (!ready && trace_clock_ns(CLOCK_MONOTONIC) < until));
    return ready > 0 && fds[0].revents ? read_answer(captured, kind)
                                       : CAPTURE_TIMEOUT;
}

void capture_free(struct captured *captured)
{
    trace_site_list_free(&captured->sites);
    trace_message_free(&captured->message);
    free(captured->name);
    if (captured->socket >= 0)
        close(captured->socket);
}
