/* receive_results.c: receives the results of a program of `testlog run` through
 * a pipe, as each test ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "run.h"
#include "runners/runs/run_json.h"

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
    char number[16];

    unsetenv(TEST_LOG_RESULTS);
    if (!handover->to || fcntl(handover->to, F_SETFD, 0))
        return;
    snprintf(number, sizeof(number), "%d", handover->to);
    setenv(TEST_LOG_RESULTS, number, 1);
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

/* Adds a line in our form: other languages write members in another order, and
 * blanks between them. A line that is none of ours adds nothing. */
static void add_other_line(struct trace_text *text, const char *line,
                           size_t size)
{
    cJSON *json = cJSON_ParseWithLength(line, size);
    const char *event = runners_json_text(json, "event");
    bool is_test = event && !strcmp(event, "test");
    char *rest;

    if (!json && memmem(line, size, "\"event\"", 7)) /* one that is broken */
        trace_text_string(text, TEST_LOG_JSONL_TEST "\n");
    if (runners_json_number(json, "schema") == 1 && event) {
        cJSON_DeleteItemFromObjectCaseSensitive(json, "schema");
        if (is_test)
            cJSON_DeleteItemFromObjectCaseSensitive(json, "event");
        rest = cJSON_PrintUnformatted(json);
        if (rest)
            trace_text_printf(text, "%s%s\n",
                              is_test ? TEST_LOG_JSONL_TEST : "{\"schema\":1,",
                              rest + 1);
        cJSON_free(rest);
    }
    cJSON_Delete(json);
}

static void add_line(struct trace_text *text, const char *line, size_t size)
{
    static const char ours[] = "{\"schema\":1,";

    if (!strncmp(line, ours, strlen(ours)))
        trace_text_add(text, line, size);
    else
        add_other_line(text, line, size);
}

/* Adds the lines whose end has come. */
static void add_lines(struct handover *handover)
{
    struct trace_text *part = &handover->part;
    size_t at = 0;

    for (const char *end; at < part->size; at = (size_t)(end - part->data)) {
        end = memchr(part->data + at, '\n', part->size - at);
        if (!end)
            break;
        end++;
        add_line(&handover->text, part->data + at,
                 (size_t)(end - part->data) - at);
    }
    if (!at)
        return;
    memmove(part->data, part->data + at, part->size - at + 1);
    part->size -= at;
}

static bool is_json(const char *line, size_t size)
{
    cJSON *json = cJSON_ParseWithLength(line, size);

    cJSON_Delete(json);
    return json;
}

static void pass_on_lines(struct handover *handover)
{
    const struct trace_text *text = &handover->text;

    add_lines(handover);
    while (handover->passed_on < text->size) {
        const char *line = text->data + handover->passed_on;
        const char *end = memchr(line, '\n', text->size - handover->passed_on);

        if (runners_handover_is_test(line) &&
            is_json(line, (size_t)(end - line))) {
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
        trace_text_add(&handover->part, bytes, (size_t)size);
    pass_on_lines(handover);
}

void runners_handover_finish(struct handover *handover, bool died)
{
    struct trace_text *part = &handover->part;

    if (!part->size || (died && !is_json(part->data, part->size)))
        return;
    trace_text_char(part, '\n');
    pass_on_lines(handover);
}

void runners_handover_end(struct handover *handover)
{
    close_end(&handover->from);
    close_end(&handover->to);
    trace_text_free(&handover->part);
    trace_text_free(&handover->text);
}
