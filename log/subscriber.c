/* subscriber.c: what a test process records, and the lines that it prints
 * itself when live. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

static struct log_filter *show, *record;
static struct log_style style;
static int line_fd = -1;
static struct stat line_file; /* what `line_fd` was at first */
static struct trace_text line = {.ceiling = 1 << 22};

/* A call site is recorded if either filter wants it: what LOG shows must be
 * there to be shown. */
static bool wants(const struct trace_site *site)
{
    return log_filter_shows(record, site) || log_filter_shows(show, site);
}

/* A test may have closed our descriptor, and opened its own in its place. */
static int output(void)
{
    struct stat now;

    if (!fstat(line_fd, &now) && now.st_dev == line_file.st_dev &&
        now.st_ino == line_file.st_ino)
        return line_fd;
    return STDERR_FILENO;
}

static void write_whole(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t written = write(fd, text, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        size -= (size_t)written;
    }
}

static void live(const struct trace_reader *reader,
                 const struct trace_entry *entry)
{
    trace_text_clear(&line);
    if (log_line(show, &style, reader, entry, &line) && line.data)
        write_whole(output(), line.data, line.size);
}

int log_subscribe(const struct log_options *options)
{
    static const struct trace_subscriber quiet = {wants, NULL};
    static const struct trace_subscriber loud = {wants, live};
    struct log_filter *old[] = {show, record};

    show = log_filter_parse(options->show, "info", "LOG", NULL);
    record = log_filter_parse(options->record, "trace", "TRACE_FILTER", NULL);
    if (!show || !record)
        return -1;
    style = options->style;
    line_fd = options->fd;
    if (options->live && fstat(line_fd, &line_file))
        return -1;
    trace_subscribe(options->live ? &loud : &quiet);
    log_filter_free(old[0]);
    log_filter_free(old[1]);
    return 0;
}
