/* log.c: testlog log: prints recorded lines again, with another filter or
 * layout, during a run or after it.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "log_lines.h"
#include "runners/runners.h"
#include "trace/base/strings.h"

static const struct {
    char letter;
    const char *name, *argument, *help;
} flags[] = {
    {0, "--filter", "FILTER",
     "lines to show; default: those that the run showed"},
    {0, "--log", "FILTER", "the same as --filter"},
    {0, "--final-values", NULL,
     "judge each span by the last values of its fields"},
    {0, "--format", test_log_format_words, "layout"},
    {0, "--span-events", test_log_span_event_words,
     "lines about spans; separate words with commas"},
    {0, "--fields", test_log_detail_words,
     "more fields of a line; separate words with commas"},
    {0, "--time", test_log_time_words, "times in the lines"},
    {0, "--color", "auto|always|never", "colours"},
    {'f', "--follow", NULL, "continue until the run ends"},
    {'h', "--help", NULL, "print this"},
};

static void usage(void)
{
    puts("Usage: testlog log [RUN] [TEST...] [FLAG...]\n\n"
         "Prints the log lines that the tests of a run recorded, or only the "
         "given tests.\nTEST is suite/test, a part of it, or a pattern. RUN is "
         "the folder of a run or of a\ntest, or a recording, or a name in "
         "testlog list; the default is the latest run.\nThe run may still be "
         "running, or may have been killed.\n");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
        test_log_print_option(flags[i].letter, flags[i].name, flags[i].argument,
                              flags[i].help, NULL);
}

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
static int take_filter(struct log_settings *settings, const char *text)
{
    struct trace_text complaints = {0};
    bool good;

    log_filter_free(settings->filter);
    settings->text = text;
    settings->filter = log_filter_parse(text, "info", "--filter", &complaints);
    good = settings->filter && !complaints.size;
    if (!good)
        fprintf(stderr, "testlog: log: %s",
                complaints.size ? complaints.data : "out of memory\n");
    trace_text_free(&complaints);
    return good ? 0 : -1;
}

static int take(struct log_settings *settings, int flag, const char *value)
{
    struct log_style *style = &settings->style;

    switch (flag) {
    case 'F':
        return take_filter(settings, value);
    case 'v':
        settings->last_values = true;
        return 0;
    case 'o':
        return test_log_read_format("--format", value, &style->format);
    case 's':
        return test_log_read_span_events("--span-events", value,
                                         &style->span_events);
    case 'd':
        return test_log_read_details("--fields", value, &style->details);
    case 't':
        return test_log_read_time("--time", value, &style->time);
    case 'c':
        return test_log_read_color("--color", value, &settings->color);
    case 'f':
        settings->follow = true;
        return 0;
    default:
        return -1;
    }
}

/* Returns true if the arguments can be used; *code is the exit code if not. */
static bool read_arguments(struct log_settings *settings, int argc, char **argv,
                           int *code)
{
    static const struct option options[] = {
        {"filter", required_argument, NULL, 'F'},
        {"log", required_argument, NULL, 'F'},
        {"final-values", no_argument, NULL, 'v'},
        {"format", required_argument, NULL, 'o'},
        {"log-format", required_argument, NULL, 'o'},
        {"span-events", required_argument, NULL, 's'},
        {"log-span-events", required_argument, NULL, 's'},
        {"fields", required_argument, NULL, 'd'},
        {"log-fields", required_argument, NULL, 'd'},
        {"time", required_argument, NULL, 't'},
        {"log-time", required_argument, NULL, 't'},
        {"color", required_argument, NULL, 'c'},
        {"follow", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {0}};
    int flag;

    opterr = 0;
    *code = TEST_LOG_EXIT_USAGE;
    while ((flag = getopt_long(argc, argv, ":fh", options, NULL)) >= 0) {
        if (flag == 'h') {
            usage();
            *code = TEST_LOG_EXIT_PASSED;
            return false;
        }
        if (flag == '?' || flag == ':')
            runners_refuse_flag("log", flag, argv, options);
        if (flag == '?' || flag == ':' || take(settings, flag, optarg))
            return false;
    }
    if (!settings->follow || !settings->last_values)
        return true;
    test_log_notice("log: --final-values needs a run that has ended; leave out "
                    "--follow");
    return false;
}

int runners_log(int argc, char **argv)
{
    struct losses losses = {.count = 0};
    struct log_settings settings = {.losses = &losses};
    int code;

    if (read_arguments(&settings, argc, argv, &code)) {
        settings.style.color = test_log_color(settings.color, stdout);
        argv += optind;

        const char *where = runners_run_of(&argv);

        code = where ? show(where, argv, &settings) : TEST_LOG_EXIT_USAGE;
    }
    log_filter_free(settings.filter);
    return code;
}
