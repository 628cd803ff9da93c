/* json_lines.c: writes one line of JSON for each test as it ends.
 *
 * `testlog run` writes the lines that its programs hand over. A program that a
 * script has started appends its own, one write(2) a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "trace/base/containers.h"

struct stream {
    int fd; /* -1: closed */
    char *name;
};

static struct stream *streams;
static size_t stream_count, stream_capacity;

static void add_stream(int fd, const char *name)
{
    if (fd < 0 ||
        !TRACE_ARRAY_RESERVE(streams, stream_capacity, stream_count + 1)) {
        test_log_notice("cannot write %s: %s; results are not affected", name,
                        strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    streams[stream_count++] = (struct stream){fd, strdup(name)};
}

/* Another process may have been killed, or the disk full, in a line. */
static void end_last_line(const struct test_log_run *run, int fd)
{
    int in = test_log_open(run, "results.jsonl", O_RDONLY | O_CLOEXEC);
    char last = '\n';

    if (in < 0)
        return;
    if (lseek(in, -1, SEEK_END) >= 0 && read(in, &last, 1) == 1 && last != '\n')
        test_log_write_all(fd, "\n", 1);
    close(in);
}

/* A part of a run creates only its own folder. */
static void add_results(const struct test_log_run *run, int flags)
{
    char path[PATH_MAX];
    int fd;

    if (!run->path || test_log_path(run, "results.jsonl", path))
        return;
    fd = test_log_open(run, "results.jsonl",
                       (test_log_is_part(run) ? flags & ~O_CREAT : flags) |
                           O_NONBLOCK);
    if (fd >= 0 && test_log_is_part(run))
        end_last_line(run, fd);
    if (fd >= 0 || !test_log_is_part(run) || errno != ENOENT)
        add_stream(fd, path);
}

void test_log_jsonl_open(const struct test_log_run *run,
                         const struct test_log_output *output)
{
    int anew = run->role != TEST_LOG_ROLE_WHOLE ? 0 : O_TRUNC;
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;

    if (test_log_handover_open())
        return;
    add_results(run, flags);
    for (size_t i = 0; i < output->report_count; i++) {
        const struct test_log_report *report = &output->reports[i];

        if (report->format != TEST_LOG_REPORT_JSONL)
            continue;
        add_stream(test_log_report_is_stdout(report->file)
                       ? fcntl(test_log_reports_stdout(), F_DUPFD_CLOEXEC, 3)
                       : open(report->file, flags | anew, 0666),
                   test_log_report_name(report->file));
    }
}

void test_log_jsonl_line(const char *line, size_t size)
{
    for (size_t i = 0; i < stream_count; i++) {
        struct stream *stream = &streams[i];

        if (stream->fd < 0 || !test_log_write_all(stream->fd, line, size))
            continue;
        test_log_notice("cannot write %s: %s; results are not affected",
                        stream->name ? stream->name : "a report",
                        strerror(errno));
        close(stream->fd);
        stream->fd = -1;
    }
}

void test_log_jsonl_result(struct test_log_result *result)
{
    struct trace_text text = {0};

    if (result->written == result->outcome ||
        (!stream_count && !test_log_handover_open()))
        return;
    result->written = result->outcome;
    trace_text_string(&text, TEST_LOG_JSONL_TEST);
    test_log_result_members(&text, result);
    trace_text_string(&text, "}\n");
    if (!text.failed && test_log_handover_line(&text))
        test_log_jsonl_line(text.data, text.size);
    trace_text_free(&text);
}

void test_log_jsonl_close(struct test_log_run *run)
{
    for (size_t i = 0; run && i < run->count; i++)
        test_log_jsonl_result(&run->results[i]);
    for (size_t i = 0; i < stream_count; i++) {
        if (streams[i].fd >= 0)
            close(streams[i].fd);
        free(streams[i].name);
    }
    free(streams);
    streams = NULL;
    stream_count = stream_capacity = 0;
}
