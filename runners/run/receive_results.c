/* receive_results.c: receives the results of a program of `testlog run` through
 * a pipe, as each test ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/folder/notice.h"
#include "harness/results/reports/writers.h"
#include "run.h"

enum { PIPE_SIZE = 1 << 20 }; /* programs need not wait for us */

void runners_handover_begin(struct handover *handover)
{
    int ends[2];

    *handover = (struct handover){.from = 0};
    if (pipe2(ends, O_CLOEXEC)) {
        test_log_notice("cannot make a pipe: %s; if a program dies, its "
                        "results are lost",
                        strerror(errno));
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
    handover->from = ends[0];
    handover->to = ends[1];
}

void runners_handover_give(const struct handover *handover)
{
    if (handover->to)
        fcntl(handover->to, F_SETFD, 0);
}

static void close_end(int *fd)
{
    if (*fd)
        close(*fd);
    *fd = 0;
}

bool runners_handover_is_test(const char *line)
{
    return !strncmp(line, TEST_LOG_JSONL_TEST, strlen(TEST_LOG_JSONL_TEST));
}

static void pass_on_lines(struct handover *handover)
{
    const struct trace_text *text = &handover->text;

    while (handover->passed_on < text->size) {
        const char *line = text->data + handover->passed_on;
        const char *end = memchr(line, '\n', text->size - handover->passed_on);

        if (!end)
            return;
        if (runners_handover_is_test(line)) {
            test_log_jsonl_line(line, (size_t)(end + 1 - line));
            handover->tests++;
        }
        handover->passed_on = (size_t)(end + 1 - text->data);
    }
}

void runners_handover_read(struct handover *handover)
{
    char bytes[65536];
    ssize_t size;

    /* No end of file: our own end for writing is open. */
    while (handover->from &&
           (size = read(handover->from, bytes, sizeof(bytes))) > 0)
        trace_text_add(&handover->text, bytes, (size_t)size);
    pass_on_lines(handover);
}

void runners_handover_end(struct handover *handover)
{
    close_end(&handover->from);
    close_end(&handover->to);
    trace_text_free(&handover->text);
}
