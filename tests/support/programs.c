/* programs.c: applies a filter to a program in several ways. */
#include "programs.h"

#include "log/filter/filter.h"
#include "log/replay/entry_text.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct log_style program_style = {.time = LOG_TIME_NONE};

void program_subscribe(const char *show, const char *record, int fd)
{
    struct log_options options = {.show = show,
                                  .record = record,
                                  .live = fd >= 0,
                                  .fd = fd,
                                  .style = program_style};

    cr_assert_eq(log_subscribe(&options), 0, "%s", strerror(errno));
}

char *program_messages(struct trace_reader *reader, const char *text)
{
    struct log_filter *filter = log_filter_parse(text, NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text out = {0};
    struct trace_entry entry;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry))
        if (log_replay_step(replay, reader, &entry) &&
            entry.kind == TRACE_ENTRY_EVENT) {
            if (out.size)
                trace_text_char(&out, ' ');
            log_message_of(&entry, &out);
        }
    log_replay_free(replay);
    log_filter_free(filter);
    return test_keep(out.data ? out.data : strdup(""));
}

char *program_shown(const char *filter, void (*program)(void))
{
    int fd =
        open(test_path("out"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);

    program_subscribe(filter, "trace", fd);
    test_record();
    program();

    struct trace_reader *reader = test_read();
    char *live = test_load(test_path("out"), NULL);
    char *lines = test_lines(reader, filter, &program_style);
    char *result = program_messages(reader, filter);

    cr_expect_str_eq(live, lines, "\"%s\", live:\n%s\nreplayed:\n%s", filter,
                     live, lines);
    close(fd);
    return result;
}

char *program_recorded(const char *filter, void (*program)(void))
{
    program_subscribe("off", filter, -1);
    test_record();
    program();

    struct trace_reader *reader = test_read();
    char *result = program_messages(reader, "trace");
    char *again = program_messages(reader, filter);

    cr_expect_str_eq(again, result, "\"%s\" shows %s of %s", filter, again,
                     result);
    return result;
}

void program_expect(const char *filter, void (*program)(void),
                    const char *expected)
{
    char *one = program_shown(filter, program),
         *other = program_recorded(filter, program);

    cr_expect_str_eq(one, expected, "\"%s\" shows: %s; not: %s", filter, one,
                     expected);
    cr_expect_str_eq(other, expected, "\"%s\" records: %s; not: %s", filter,
                     other, expected);
}
