/* attempts.c: the tries of a test, and the blocks of their recordings. */
#include <string.h>

#include "harness/run/page/attempts.h"
#include "trace/base/text.h"

bool test_log_attempt_of(struct test_log_attempt *attempt,
                         const struct test_log_run *run, size_t number,
                         size_t which)
{
    const struct test_log_result *result =
        number < run->count ? &run->results[number] : NULL;
    const struct test_log_try *before;

    if (!result || which > result->earlier_count)
        return false;
    *attempt = (struct test_log_attempt){
        result,         number, which, result->folder, result->recording,
        result->outcome};
    if (which) {
        before = &result->earlier[which - 1];
        attempt->folder = before->folder;
        attempt->recording = NULL;
        attempt->outcome = before->outcome;
    }
    return attempt->folder || attempt->recording;
}

uint64_t test_log_attempt_offset(const struct test_log_run *run,
                                 const struct trace_reader *reader)
{
    return trace_between(run->start.wall,
                         trace_reader_summary(reader).origin.wall);
}

void test_log_attempt_members(struct trace_text *out,
                              const struct test_log_page *page,
                              const struct test_log_attempt *attempt,
                              const struct trace_reader *reader)
{
    const char *name = test_log_name(attempt->result);

    trace_text_literal(out, "\"name\":");
    trace_json_string(out, name, strlen(name));
    trace_text_printf(
        out, ",\"try\":%zu,\"offset\":%llu,", attempt->attempt,
        (unsigned long long)test_log_attempt_offset(page->run, reader));
}

uint64_t test_log_attempt_zero(const struct test_log_run *run,
                               const struct test_log_attempt *attempt,
                               struct trace_reader *reader)
{
    const struct test_log_result *result = attempt->result;
    struct trace_noted noted = {result->began, result->duration};

    if (attempt->attempt) {
        const struct test_log_try *before =
            &result->earlier[attempt->attempt - 1];

        noted = (struct trace_noted){before->began, before->duration};
    }
    if (noted.began)
        noted.began =
            trace_between(test_log_attempt_offset(run, reader), noted.began) +
            1;
    return trace_reader_zero(reader, noted);
}

int test_log_attempt_block(struct trace_text *block,
                           const struct test_log_page *page,
                           const struct test_log_attempt *attempt,
                           struct trace_reader *reader,
                           struct test_log_counts *counts)
{
    struct trace_text members = {0};
    uint64_t zero = test_log_attempt_zero(page->run, attempt, reader);
    int status;

    test_log_attempt_members(&members, page, attempt, reader);
    status =
        test_log_recorded_put(block, members.data ? members.data : "", reader,
                              trace_reader_meta(reader, "log"), zero, counts);
    trace_text_free(&members);
    return status;
}
