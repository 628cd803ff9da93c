/* log.c: testlog log: prints recorded lines again, with another filter or
 * layout, during a run or after it.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/results/folder/notice.h"
#include "harness/runner/options/options.h"
#include "runners/find/find.h"
#include "runners/runners.h"
#include "trace/base/strings.h"

struct settings {
    const char *text;          /* NULL: the filter of each recording */
    struct log_filter *filter; /* from `text` */
    struct log_style style;
    const char *color;
    bool follow, last_values;
    struct losses *losses;
};

enum {
    ROUND_NS = 200000000,  /* between checks for new records */
    SETTLED_NS = 50000000, /* after which a record is complete */
    TERMINAL_MAX = 4096,   /* bytes of a line, or of a message in pretty */
    ESCAPE_MAX = 16,       /* bytes of an escape sequence */
};

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

/* ---- One recording ---- */

/* Prints once that the filter may want lines that were not recorded. */
static void say_what_is_missing(const struct trace_reader *reader,
                                const char *text)
{
    static bool said;
    const char *record = trace_reader_meta(reader, "filter");
    const char *shown = trace_reader_meta(reader, "log");

    if (said || !record || !strcmp(record, "trace") ||
        (shown && !strcmp(shown, text)))
        return;
    said = true;
    fprintf(stderr,
            "testlog: log: only events that match \"%s\"%s%s%s were "
            "recorded; \"%s\" cannot show others\n",
            record, shown ? " or \"" : "", shown ? shown : "",
            shown ? "\"" : "", text);
}

static bool is_gone(int process)
{
    return process <= 0 || (kill((pid_t)process, 0) && errno == ESRCH);
}

/* Returns the time up to which all records are complete: while its process
 * runs, a moment ago. */
static uint64_t settled(struct recording *recording,
                        const struct trace_reader *reader, bool follow)
{
    struct trace_summary summary = trace_reader_summary(reader);
    uint64_t now =
        trace_between(summary.origin.monotonic, trace_anchor_now().monotonic);

    recording->ended = summary.ended || !follow || is_gone((int)summary.pid);
    if (recording->ended)
        return UINT64_MAX;
    return trace_between(SETTLED_NS, now);
}

static void heading(const struct recording *recording)
{
    printf("---- %s%s%s ----\n", recording->program,
           *recording->program ? " " : "", recording->test);
}

/* Tells whether a device's record has been printed, and marks it as printed.
 * Such records arrive late, among others that have been printed. */
static bool is_told(struct recording *recording, uint32_t place)
{
    uintptr_t unused;

    if (trace_table_find(&recording->told, place, &unused))
        return true;
    trace_table_set(&recording->told, place, 0);
    return false;
}

/* Returns the size of a text that is cut at `most` bytes, but neither inside a
 * character nor inside an escape sequence that sets a colour. */
static size_t cut_size(const struct trace_text *text, size_t most)
{
    size_t size = trace_utf8_boundary(text->data, most);

    for (size_t i = size; i && size - i < ESCAPE_MAX; i--)
        if (text->data[i - 1] == '\033')
            return memchr(text->data + i, 'm', size - i) ? size : i - 1;
    return size;
}

/* A terminal gets only the beginning of a very long line. */
static void put_text(const struct trace_text *text,
                     const struct log_style *style)
{
    static int terminal = -1;

    if (terminal < 0)
        terminal = isatty(STDOUT_FILENO);
    if (!terminal || style->format == LOG_FORMAT_JSON ||
        text->size <= TERMINAL_MAX) {
        fwrite(text->data, 1, text->size, stdout);
        return;
    }
    fwrite(text->data, 1, cut_size(text, TERMINAL_MAX), stdout);
    printf("%s... (%zu bytes; testlog log ... | cat prints all)\n",
           style->color ? "\033[0m" : "", text->size);
}

/* Writes the new lines up to the time `until`. */
static void write_lines(struct recording *recording, bool headed,
                        struct log_replay *replay,
                        const struct log_style *style,
                        struct trace_reader *reader, uint64_t until)
{
    struct trace_text text = {0};
    struct trace_entry entry;
    size_t count = 0;
    bool any = false;

    while (trace_reader_next(reader, &entry) && entry.time <= until) {
        trace_text_clear(&text);
        if (!log_line(replay, style, reader, &entry, &text))
            continue;
        if (entry.kind == TRACE_ENTRY_DEVICE ? is_told(recording, entry.id)
                                             : count++ < recording->lines)
            continue;
        if (headed && !any)
            heading(recording);
        any = true;
        put_text(&text, style);
    }
    recording->lines = count;
    trace_text_free(&text);
}

/* Several tests get headings or, if their lines mix, a prefix on each line. */
static int replay_lines(struct recording *recording,
                        const struct settings *settings, bool several,
                        struct trace_reader *reader,
                        const struct log_filter *filter)
{
    struct log_style style = settings->style;
    bool named = settings->follow || style.format == LOG_FORMAT_JSON;
    struct log_replay *replay = log_replay_new(filter);

    if (!replay)
        return -1;
    if (settings->last_values)
        log_replay_use_last_values(replay);
    style.all_spans = true;
    style.test = several && named ? recording->test : NULL;
    write_lines(recording, several && !named, replay, &style, reader,
                settled(recording, reader, settings->follow));
    log_replay_free(replay);
    return 0;
}

static void see_sites(struct log_filter *filter,
                      const struct trace_reader *reader)
{
    for (uint32_t id = 1; trace_reader_site(reader, id); id++)
        log_filter_seen(filter, trace_reader_site(reader, id));
}

static int put(struct recording *recording, const struct settings *settings,
               bool several)
{
    struct trace_reader *reader = runners_open(recording->path);
    struct log_filter *own = NULL;
    const char *text = settings->text;
    int result = -1;

    recording->unreadable = !reader;
    if (!reader)
        return -1;
    if (settings->filter) {
        see_sites(settings->filter, reader);
    } else {
        text = trace_reader_meta(reader, "log");
        text = text ? text : "info";
        own = log_filter_parse(text, "info", "--filter", NULL);
    }
    say_what_is_missing(reader, text);
    if (own || settings->filter)
        result = replay_lines(recording, settings, several, reader,
                              own ? own : settings->filter);
    if (recording->ended)
        runners_losses_note(settings->losses, recording, reader);
    log_filter_free(own);
    trace_reader_close(reader);
    return result;
}

/* ---- All of them ---- */

static bool has(const char *where, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/%s", where, name) < PATH_MAX &&
           !access(path, F_OK);
}

/* Returns the process that ends a run. The recordings name it; 0 if none does
 * yet. */
static int runner_of(const char *where)
{
    struct recordings all = {0};
    int runner = 0;

    runners_recordings_find(&all, where, NULL);
    for (size_t i = 0; i < all.count && !runner; i++) {
        struct trace_reader *reader = runners_open_beginning(all.all[i].path);
        const char *meta = reader ? trace_reader_meta(reader, "runner") : NULL;

        runner = meta ? atoi(meta) : 0;
        trace_reader_close(reader);
    }
    runners_recordings_free(&all);
    return runner;
}

/* Tells whether no further test will begin. A run that was killed has no
 * run.json, so its process is checked. `runner` is looked up once. */
static bool run_ended(const char *where, int *runner)
{
    if (!has(where, "tests") || has(where, "run.json"))
        return true;
    if (!*runner)
        *runner = runner_of(where);
    return *runner && is_gone(*runner);
}

static bool all_ended(const struct recordings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (!found->all[i].ended)
            return false;
    return true;
}

static void say_what_is_waited_for(const char *where, char **patterns)
{
    fprintf(stderr, "testlog: log: %s has no recording%s%s yet; waiting\n",
            where, *patterns ? " of " : "", *patterns ? *patterns : "");
}

static void put_all(struct recordings *found, const struct settings *settings,
                    bool headed)
{
    for (size_t i = 0; i < found->count; i++)
        if (!found->all[i].ended &&
            put(&found->all[i], settings, headed || found->count > 1))
            found->all[i].ended = true; /* it is gone */
    runners_flush();
}

/* If the run has moved, continues in its new folder, and reads there the
 * recordings that were no longer readable. */
static const char *follow_move(struct recordings *found, const char *where)
{
    const char *to = runners_left_scratch(where);

    if (!to)
        return where;
    runners_recordings_move(found, where, to);
    for (size_t i = 0; i < found->count; i++)
        if (found->all[i].unreadable)
            found->all[i].ended = false;
    return to;
}

/* Writes new lines until the run ends, and then looks once more, because the
 * last tests may have begun meanwhile. */
static void follow(struct recordings *found, const char *where, char **patterns,
                   const struct settings *settings)
{
    const struct timespec round = {.tv_nsec = ROUND_NS};
    bool headed = has(where, "tests") && !*patterns, last = false;
    bool said = found->count;
    int runner = 0;

    while (!ferror(stdout) && !(last && all_ended(found))) {
        last = run_ended(where, &runner);
        if (!last && !said)
            say_what_is_waited_for(where, patterns);
        said |= !last;
        if (!last || !all_ended(found))
            nanosleep(&round, NULL);
        runners_recordings_find(found, where, patterns);
        put_all(found, settings, headed);
        where = follow_move(found, where);
    }
}

static bool has_lines(const struct recordings *found)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->all[i].lines || found->all[i].told.count)
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
                const struct settings *settings)
{
    struct recordings found = {0};
    bool is_run = has(where, "tests"), any;

    if (runners_recordings_find(&found, where, patterns) ||
        (!found.count && !(settings->follow && is_run)))
        return runners_recordings_refuse("log", where, patterns);
    put_all(&found, settings, is_run && !*patterns);
    if (settings->follow)
        follow(&found, where, patterns, settings);
    any = found.count;
    if (any && settings->filter)
        runners_print_unmatched(settings->filter, "--filter", &found);
    if (any && !has_lines(&found))
        say_why_nothing(settings->text);
    runners_losses_say(settings->losses, "log");
    runners_recordings_free(&found);
    if (!any)
        return runners_recordings_refuse("log", where, patterns);
    return runners_written("log", TEST_LOG_PASSED);
}

/* ---- Arguments ---- */

/* Refuses a filter if any of its directives is bad. */
static int take_filter(struct settings *settings, const char *text)
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

static int take(struct settings *settings, int flag, const char *value)
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
static bool read_arguments(struct settings *settings, int argc, char **argv,
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
    *code = TEST_LOG_USAGE;
    while ((flag = getopt_long(argc, argv, ":fh", options, NULL)) >= 0) {
        if (flag == 'h') {
            usage();
            *code = TEST_LOG_PASSED;
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
    struct settings settings = {.losses = &losses};
    int code;

    if (read_arguments(&settings, argc, argv, &code)) {
        settings.style.color = test_log_color(settings.color, stdout);
        argv += optind;

        const char *where = runners_run_of(&argv);

        code = where ? show(where, argv, &settings) : TEST_LOG_USAGE;
    }
    log_filter_free(settings.filter);
    return code;
}
