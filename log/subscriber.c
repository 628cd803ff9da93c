/* subscriber.c: decides what a test process records, and prints lines when
 * live.
 *
 * A call site that LOG could show is recorded; its lines are judged again when
 * they are printed. TRACE_FILTER is applied here, exactly.
 *
 * Values that are not recorded are unknown later. This differs from filtering a
 * complete recording in these ways:
 *
 * - Spans created inside an excluded span are not recorded, even if another
 * thread enters them.
 *
 * - Within a span that is not recorded, trace_span_current returns the
 * enclosing one.
 *
 * - An excluded span mutes the thread that created it until that thread ends
 * it.
 *
 * - After a jump out of spans, they end with the next recorded enclosing block.
 *
 * - A closed span has no effect on threads that enter it later.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/filter/filter.h"
#include "log/replay/replay.h"
#include "trace/read/reader.h"

static struct log_filter *show, *record;
static struct log_replay *replay; /* of `show`, when live */
static struct log_style style;
static int line_fd = -1;
static uint64_t line_looked;  /* ns: the last check */
static struct stat line_file; /* the file that `line_fd` was at first */
static struct trace_text line;

/* ---- Call sites ---- */

/* The verdicts that call sites refer to. They are never freed: a thread may be
 * about to read one. */
struct kept {
    struct log_verdict verdict; /* what site->verdict points to */
    const struct log_filter *filter;
    bool always; /* LOG could show it */
    struct kept *next;
};

static struct kept *kept;

static bool keep(struct trace_site *site, const struct log_verdict *verdict,
                 bool always)
{
    struct kept *one = malloc(sizeof(*one));

    if (!one)
        return false;
    *one = (struct kept){*verdict, record, always, kept};
    kept = one;
    site->verdict = one;
    return true;
}

static bool is_kept(const struct trace_site *site)
{
    return site->verdict &&
           ((const struct kept *)site->verdict)->filter == record;
}

static bool shows(const struct trace_site *site)
{
    struct log_verdict verdict = {0};
    bool reaches = true; /* recording too much is better than too little */

    if (log_verdict_make(&verdict, show, site))
        reaches = log_verdict_reaches(&verdict);
    log_verdict_free(&verdict);
    return reaches;
}

/* Returns the interest of a site whose values do not matter. */
static unsigned plainly(const struct log_verdict *verdict)
{
    if (verdict->never)
        return 0;
    if (verdict->shown)
        return record->takes ? TRACE_COMMONLY : TRACE_ALWAYS;
    return verdict->inside ? TRACE_INSIDE : 0;
}

static unsigned interest(struct trace_site *site)
{
    unsigned always = shows(site) ? TRACE_ALWAYS : 0;
    bool is_span = site->kind == TRACE_SITE_SPAN;
    struct log_verdict verdict;

    if (always && !is_span)
        return always;
    if (is_kept(site))
        return always | TRACE_JUDGED;
    if (!log_verdict_make(&verdict, record, site))
        return TRACE_ALWAYS;
    if (!verdict.count)
        return always | plainly(&verdict);
    if (verdict.never && !is_span) {
        log_verdict_free(&verdict);
        return 0;
    }
    if (keep(site, &verdict, always))
        return always | TRACE_JUDGED;
    log_verdict_free(&verdict);
    return TRACE_ALWAYS;
}

/* ---- Judging at the call ---- */

static struct trace_table tracked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_tracked(void)
{
    pthread_mutex_lock(&lock);
}

static void unlock_tracked(void)
{
    pthread_mutex_unlock(&lock);
}

static void forget_lock(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static bool judge_event(const struct trace_site *site,
                        struct trace_scope inside, const char *message,
                        size_t count, const struct trace_value *values)
{
    const struct kept *judged = site->verdict;
    struct log_fields fields = {site, count, values, message};

    return log_verdict_event(&judged->verdict, inside, &fields);
}

static bool judge_span(const struct trace_site *site, struct trace_scope inside,
                       uint32_t place, size_t count,
                       const struct trace_value *values,
                       struct trace_scope *own)
{
    const struct kept *judged = site->verdict;
    struct log_fields fields = {site, count, values, NULL};
    bool recorded = true;

    lock_tracked();

    struct log_span *span = log_tracked_add(&tracked, place, &judged->verdict);

    if (span) {
        recorded = log_span_begin(span, inside, &fields) ||
                   log_span_may_extend(span) || judged->always;
        *own = log_span_scope(span);
        if (!recorded)
            log_tracked_remove(&tracked, place);
    }
    unlock_tracked();
    return recorded;
}

static void follow_fields(const struct trace_site *site, uint32_t place,
                          size_t count, const struct trace_value *values)
{
    struct log_fields fields = {site, count, values, NULL};

    lock_tracked();

    struct log_span *span = log_tracked_find(&tracked, place);

    if (span)
        log_span_fields(span, &fields);
    unlock_tracked();
}

static struct trace_scope enter_span(uint32_t place)
{
    struct trace_scope own = {0, 0};

    lock_tracked();

    const struct log_span *span = log_tracked_find(&tracked, place);

    if (span)
        own = log_span_scope(span);
    unlock_tracked();
    return own;
}

static void close_span(uint32_t place)
{
    lock_tracked();
    log_tracked_remove(&tracked, place);
    unlock_tracked();
}

/* ---- Live lines ---- */

enum { FAR = 200, LOOK_EVERY = 1000000 /* ns */, LINE_KEPT = 1 << 20 };

/* A test may have closed our descriptor and opened its own in its place.
 * Checking before each line would take longer than the line; a descriptor of a
 * high number is not reused soon. */
static int output(uint64_t now)
{
    struct stat file;

    if (line_fd >= FAR && line_looked && now - line_looked < LOOK_EVERY)
        return line_fd;
    line_looked = now;
    if (!fstat(line_fd, &file) && file.st_dev == line_file.st_dev &&
        file.st_ino == line_file.st_ino)
        return line_fd;
    line_looked = 0;
    return STDERR_FILENO;
}

/* Another process may have made the open file non-blocking. */
static bool await_room(int fd)
{
    struct pollfd file = {.fd = fd, .events = POLLOUT};

    return poll(&file, 1, -1) >= 0 || errno == EINTR;
}

static void write_whole(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t written = write(fd, text, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN && await_room(fd))
            continue;
        if (written < 0 && errno == EBADF && fd != STDERR_FILENO) {
            fd = STDERR_FILENO;
            continue;
        }
        if (written <= 0)
            return;
        text += written;
        size -= (size_t)written;
    }
}

static void print_live(const struct trace_reader *reader,
                       const struct trace_entry *entry)
{
    trace_text_clear(&line);
    if (log_line(replay, &style, reader, entry, &line) && line.data) {
        if (line.failed && line.size) /* without memory, the line is cut */
            line.data[line.size - 1] = '\n';
        write_whole(output(entry->time), line.data, line.size);
    }
    if (line.capacity > LINE_KEPT)
        trace_text_free(&line);
}

/* ---- Subscribing ---- */

/* The callbacks that the process's call sites need. Without directives for
 * spans, no call is made for spans. */
static struct trace_subscriber subscriber;

static void subscribe(bool live)
{
    subscriber =
        (struct trace_subscriber){.interest = interest, .event = judge_event};
    if (record->scoped) {
        subscriber.span = judge_span;
        subscriber.fields = follow_fields;
        subscriber.entered = enter_span;
        subscriber.closed = close_span;
        subscriber.forked = forget_lock;
    }
    if (live) {
        subscriber.live = print_live;
        subscriber.names = style.details & LOG_DETAIL_THREAD_NAME;
    }
    log_tracked_free(&tracked);
    trace_subscribe(&subscriber);
}

/* Never freed: a thread may be within a record. */
static struct past {
    struct log_filter *show, *record;
    struct log_replay *replay;
    struct past *next;
} * pasts;

int log_subscribe(const struct log_options *options)
{
    static bool prepared;
    struct log_filter *new_show, *new_record;
    struct log_replay *new_replay;
    struct past *past;

    if (trace_is_open()) {
        errno = EBUSY;
        return -1;
    }
    past = malloc(sizeof(*past));
    new_show = log_filter_parse(options->show, "info", "LOG", NULL);
    new_record =
        log_filter_parse(options->record, "trace", "TRACE_FILTER", NULL);
    new_replay = new_show ? log_replay_new(new_show) : NULL;
    if (!past || !new_replay || !new_record ||
        (options->live && fstat(options->fd, &line_file))) {
        log_replay_free(new_replay);
        log_filter_free(new_show);
        log_filter_free(new_record);
        free(past);
        return -1;
    }
    if (!prepared)
        pthread_atfork(lock_tracked, unlock_tracked, unlock_tracked);
    prepared = true;
    *past = (struct past){show, record, replay, pasts};
    pasts = past;
    show = new_show;
    record = new_record;
    replay = new_replay;
    style = options->style;
    line_fd = options->fd;
    line_looked = 0;
    subscribe(options->live);
    return 0;
}
