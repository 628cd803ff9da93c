/* log.c: testlog log: prints recorded lines again, with another filter or
 * layout, during a run or after it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "log_lines.h"
#include "runners/runners.h"
#include "trace/base/strings.h"

/* ---- Showing ---- */

static void print_one(struct recording *recording,
                      const struct log_settings *settings, bool several)
{
    struct trace_reader *reader = runners_open(recording->path);
    struct log_lines lines;

    recording->unreadable = !reader;
    if (!reader && errno != EBADMSG) /* runners_open has reported damage */
        test_log_notice("log: cannot read %s: %s", recording->path,
                        runners_open_error());
    if (!reader)
        return;
    if (!runners_lines_begin(&lines, settings, reader))
        runners_lines_print(&lines, recording, several);
    runners_lines_end(&lines, recording);
}

static void print_all(struct recordings *found,
                      const struct log_settings *settings, bool headed)
{
    for (size_t i = 0; i < found->count; i++)
        print_one(&found->all[i], settings, headed || found->count > 1);
    runners_flush();
}

static bool has_lines(const struct recordings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->all[i].lines)
            return true;
    return false;
}

static void say_why_nothing(const char *filter)
{
    if (filter)
        test_log_notice("log: no recorded line matches \"%s\"; testlog filter "
                        "explains a filter",
                        filter);
    else
        test_log_notice("log: the run showed no line; write --filter trace for "
                        "all that were recorded");
}

static int show(const char *where, char **patterns,
                const struct log_settings *settings)
{
    struct recordings found = {.with_damaged = true};
    bool is_run = runners_log_has(where, "tests"), any;

    if (runners_recordings_find(&found, where, patterns) ||
        (!found.count && !(settings->follow && is_run)))
        return runners_recordings_refuse("log", where, patterns);
    if (settings->follow)
        runners_log_follow(&found, where, patterns, settings);
    else
        print_all(&found, settings, is_run && !*patterns);
    any = found.count;
    if (any && settings->filter)
        runners_print_unmatched(settings->filter, "--filter", &found);
    if (any && !has_lines(&found))
        say_why_nothing(settings->text);
    runners_losses_say(settings->losses, "log");
    runners_recordings_free(&found);
    if (!any)
        return runners_recordings_refuse("log", where, patterns);
    return runners_written("log", TEST_LOG_EXIT_PASSED);
}

/* ---- Arguments ---- */

/* Refuses a filter if any of its directives is bad. */
static bool read_filter(struct test_log_reader *reader)
{
    struct log_settings *settings = reader->into;
    struct trace_text complaints = {0};
    bool good;

    log_filter_free(settings->filter);
    settings->text = reader->value;
    settings->filter =
        log_filter_parse(reader->value, "info", "--filter", &complaints);
    good = settings->filter && !complaints.size;
    if (!good)
        fprintf(stderr, "testlog: log: %s",
                complaints.size ? complaints.data : "out of memory\n");
    trace_text_free(&complaints);
    return test_log_flag_judge(reader, !good);
}

/* The flags of test programs about lines are called the same without "log-";
 * their names are taken, too. */
#define LINE_FLAG(name, argument, help, read, member)                          \
    {"--" name, NULL, argument,                                                \
     help,      read, .at = offsetof(struct log_settings, member)},            \
    {                                                                          \
        "--log-" name, NULL, argument, NULL, read,                             \
            .at = offsetof(struct log_settings, member)                        \
    }
#define AT(member) .at = offsetof(struct log_settings, member)

static const struct test_log_flag flags[] = {
    {"--filter", NULL, "FILTER",
     "lines to show; default: those that the run showed", .read = read_filter},
    {"--log", NULL, "FILTER", "the same as --filter", .read = read_filter},
    {"--final-values", NULL, NULL,
     "judge each span by the last values of its fields", test_log_read_on,
     AT(last_values)},
    LINE_FLAG("format", test_log_format_words, "layout", test_log_flag_format,
              style.format),
    LINE_FLAG("span-events", test_log_span_event_words,
              "lines about spans; several with commas",
              test_log_flag_span_events, style.span_events),
    LINE_FLAG("fields", test_log_detail_words,
              "more fields of a line; several with commas",
              test_log_flag_details, style.details),
    LINE_FLAG("time", test_log_time_words, "times in the lines",
              test_log_flag_time, style.time),
    {"--color", NULL, "auto|always|never|", "colours", test_log_flag_color,
     AT(color)},
    {"--follow", NULL, NULL, "continue until the run ends", test_log_read_on,
     AT(follow), .letter = 'f'},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct losses losses = {.count = 0};
    struct log_settings settings = {.losses = &losses};
    const char *where;
    int code;

    if (test_log_flags_read(&runners_log, &settings, &argv, NULL, &code)) {
        code = TEST_LOG_EXIT_USAGE;
        settings.style.color = test_log_color(settings.color, stdout);
        if (settings.follow && settings.last_values)
            test_log_notice("log: --final-values needs a run that has ended; "
                            "leave out --follow");
        else if ((where = runners_run_of(&argv)))
            code = show(where, argv, &settings);
    }
    log_filter_free(settings.filter);
    return code;
}

const struct test_log_command runners_log = {
    .name = "log",
    .help = "print a run's lines with another filter",
    .synopsis = "[RUN] [TEST...] [FLAG...]",
    .text = "Prints the log lines that the tests of a run recorded, or only "
            "the given tests. TEST is suite/test, a part of it, or a pattern. "
            "RUN is the folder of a run or of a test, or a recording, or a "
            "name in testlog list; the default is the latest run. The run may "
            "still be running, or may have been killed.",
    TEST_LOG_FLAGS(flags),
    .operand = "TEST",
    .run = run,
};
