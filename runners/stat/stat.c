/* stat.c: testlog stat: sums up the spans, kernels, lines and tests of a run.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counter_table.h"
#include "critical_table.h"
#include "finding_table.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "line_table.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "sample_table.h"
#include "stat.h"

struct settings {
    enum stat_table table;
    bool by, tree, critical;
    bool functions, sampled_lines; /* samples are summed up */
    bool lines, line_order;        /* recorded lines are shown */
    bool findings;                 /* what made the host wait is shown */
    bool counters;                 /* those of devices are summed up */
    struct stat_range range;
    enum runners_form form;
};

static const char *const words[] = {
#define STAT_X(name, word) word,
    STAT_BY(STAT_X)
#undef STAT_X
        "function",
    "line", "finding", "counter", NULL};

/* The last ones. */
enum {
#define STAT_X(name, word) WORD_##name,
    STAT_BY(STAT_X)
#undef STAT_X
        WORD_FUNCTION,
    WORD_LINE,
    WORD_FINDING,
    WORD_COUNTER
};

/* ---- Reading ---- */

/* Takes a recording into a table; -1 without memory. */
typedef int take_recording(void *table, const struct recording *,
                           struct trace_reader *);

/* Takes all recordings that can be read, and prints about the others. */
static int take_all(const struct recordings *found, take_recording *take_one,
                    void *table)
{
    struct losses losses = {.count = 0};
    int status = 0;

    for (size_t i = 0; i < found->count && !status; i++) {
        const struct recording *recording = &found->all[i];
        struct trace_reader *reader = runners_open(recording->path);

        if (reader) {
            runners_losses_note(&losses, recording, reader);
            status = take_one(table, recording, reader);
        } else if (errno != EBADMSG) { /* runners_open has reported damage */
            test_log_notice("stat: cannot read %s: %s; the table lacks this "
                            "test",
                            recording->path, runners_open_error());
        }
        trace_reader_close(reader);
    }
    runners_losses_say(&losses, "stat");
    if (status)
        test_log_notice("stat: out of memory");
    return status;
}

static int add_sums(void *sums, const struct recording *recording,
                    struct trace_reader *reader)
{
    return runners_sums_add(sums, recording, reader);
}

/* ---- Printing ---- */

static const char *at_that_time(const struct stat_range *range)
{
    return range->starts || range->ends ? " at that time" : "";
}

static int show(const struct recordings *found, const char *where,
                const struct settings *settings)
{
    static const char *const nothing[STAT_TABLE_COUNT] = {
        [STAT_SPAN] = "span",         [STAT_TREE] = "span",
        [STAT_KERNEL] = "GPU kernel", [STAT_TARGET] = "line",
        [STAT_TEST] = "test",
    };
    struct sums sums = {.table = settings->table, .range = settings->range};
    int status = take_all(found, add_sums, &sums);

    if (sums.table == STAT_TEST)
        runners_usage_read(&sums, where);
    if (!status && runners_sums_sort(&sums)) {
        test_log_notice("stat: out of memory");
        status = -1;
    }
    if (!status && (sums.count || settings->form != RUNNERS_AS_TEXT))
        runners_stat_put(&sums, settings->form, runners_name_of(where));
    if (!status && !sums.count)
        test_log_notice(
            "stat: no %s was recorded in %s%s%s", nothing[sums.table],
            runners_name_of(where), at_that_time(&sums.range),
            sums.table == STAT_TEST ? "" : "; --by=test lists tests");
    runners_sums_free(&sums);
    return status;
}

/* ---- Critical paths ---- */

/* The table of paths, and when tests began. */
struct paths {
    struct critical_table table;
    struct noted_times noted;
};

static int put_path(void *context, const struct recording *recording,
                    struct trace_reader *reader)
{
    struct paths *paths = context;
    struct trace_causes slices;
    struct trace_critical critical;
    int status = trace_causes_read(
        &slices, reader, runners_zero_of(&paths->noted, recording, reader));

    if (!status) {
        status = trace_critical_find(&critical, &slices);
        if (!status)
            status = trace_critical_sum(&critical, &slices);
        if (!status)
            runners_critical_put(&paths->table, recording, &slices, &critical);
        trace_critical_free(&critical);
    }
    trace_causes_free(&slices);
    return status;
}

static int show_paths(const struct recordings *found, const char *where,
                      const struct settings *settings)
{
    struct paths paths = {.table = {.form = settings->form}};
    int status;

    paths.table.several = found->count > 1;
    status = take_all(found, put_path, &paths);
    runners_critical_end(&paths.table, runners_name_of(where));
    runners_noted_free(&paths.noted);
    return status;
}

/* ---- Samples ---- */

/* The sums of samples in a range of each test. */
struct sampled {
    struct sample_sums sums;
    struct noted_times noted;
    const struct stat_range *range;
};

static int add_samples(void *context, const struct recording *recording,
                       struct trace_reader *reader)
{
    struct sampled *sampled = context;
    bool is_part = sampled->range->starts || sampled->range->ends;
    uint64_t zero =
        is_part ? runners_zero_of(&sampled->noted, recording, reader) : 0;

    return runners_samples_add(&sampled->sums, reader,
                               runners_window_of(sampled->range, zero));
}

static int show_samples(const struct recordings *found, const char *where,
                        const struct settings *settings)
{
    struct sampled sampled = {.sums = {.by_line = settings->sampled_lines},
                              .range = &settings->range};
    struct sample_sums *sums = &sampled.sums;
    int status;

    status = take_all(found, add_samples, &sampled);
    if (!status && (sums->count || settings->form != RUNNERS_AS_TEXT))
        runners_samples_put(sums, settings->form, runners_name_of(where));
    if (!status && !sums->count)
        test_log_notice(
            "stat: %s has no samples%s; run the tests with --sample",
            runners_name_of(where), at_that_time(&settings->range));
    runners_samples_free(sums);
    runners_noted_free(&sampled.noted);
    return status;
}

/* ---- Findings ---- */

static int add_findings(void *table, const struct recording *recording,
                        struct trace_reader *reader)
{
    return runners_findings_add(table, recording, reader);
}

static int show_findings(const struct recordings *found, const char *where,
                         const struct settings *settings)
{
    struct finding_table table = {.form = settings->form};
    int status;

    status = take_all(found, add_findings, &table);
    if (!status && !table.some && settings->form == RUNNERS_AS_TEXT)
        test_log_notice("stat: nothing in %s made the host wait for a GPU",
                        runners_name_of(where));
    runners_findings_end(&table, runners_name_of(where));
    return status;
}

/* ---- Counters of devices ---- */

static int add_counters(void *sums, const struct recording *recording,
                        struct trace_reader *reader)
{
    return runners_counters_add(sums, recording, reader);
}

static int show_counters(const struct recordings *found, const char *where,
                         const struct settings *settings)
{
    struct counter_sums sums = {.range = settings->range};
    int status;

    status = take_all(found, add_counters, &sums);
    if (!status && (sums.counters.count || settings->form != RUNNERS_AS_TEXT))
        runners_counters_put(&sums, settings->form, runners_name_of(where));
    if (!status && !sums.counters.count)
        test_log_notice("stat: %s has no counters of GPUs%s; run the tests "
                        "with --trace-options=gpu_pm_sample_counters=default",
                        runners_name_of(where), at_that_time(&settings->range));
    runners_counters_free(&sums);
    return status;
}

/* ---- Lines ---- */

/* The lines of a range of each test. */
struct lined {
    struct line_sums sums;
    struct noted_times noted;
    const struct settings *settings;
    const char *where;
    bool some;
};

static int add_lines(void *context, const struct recording *recording,
                     struct trace_reader *reader)
{
    struct lined *lined = context;
    const struct stat_range *range = &lined->settings->range;
    uint64_t zero = runners_zero_of(&lined->noted, recording, reader);
    struct stat_window window = runners_window_of(range, zero);

    if (!lined->settings->line_order)
        return runners_lines_add(&lined->sums, reader, window);
    lined->some =
        runners_line_order_put(reader, window, zero, lined->settings->form,
                               runners_name_of(lined->where));
    return 0;
}

static int show_lines(const struct recordings *found, const char *where,
                      const struct settings *settings)
{
    struct lined lined = {.settings = settings, .where = where};
    int status;

    status = take_all(found, add_lines, &lined);
    if (!status && !settings->line_order)
        lined.some = runners_lines_put(&lined.sums, settings->form,
                                       runners_name_of(where));
    if (!status && !lined.some)
        test_log_notice("stat: %s has no lines%s; run the tests with "
                        "--lines=FILE:FIRST-LAST",
                        runners_name_of(where), at_that_time(&settings->range));
    runners_lines_free(&lined.sums);
    runners_noted_free(&lined.noted);
    return status;
}

/* ---- Arguments ---- */

static bool read_by(struct test_log_reader *reader)
{
    struct settings *settings = reader->into;
    unsigned choice;

    if (test_log_read_word(reader->name, reader->value, words, &choice))
        return test_log_flag_judge(reader, -1);
    settings->functions = choice == WORD_FUNCTION;
    settings->sampled_lines = choice == WORD_LINE;
    settings->findings = choice == WORD_FINDING;
    settings->counters = choice == WORD_COUNTER;
    settings->table =
        choice < WORD_FUNCTION ? (enum stat_table)choice : STAT_SPAN;
    settings->by = true;
    return true;
}

static bool read_lines(struct test_log_reader *reader)
{
    static const char *const ways[] = {"order", NULL};
    struct settings *settings = reader->into;
    unsigned way;

    if (reader->value &&
        test_log_read_word(reader->name, reader->value, ways, &way))
        return test_log_flag_judge(reader, -1);
    settings->lines = true;
    settings->line_order = reader->value != NULL;
    return true;
}

static bool read_from(struct test_log_reader *reader)
{
    struct stat_range *range = test_log_flag_field(reader);

    range->starts = true;
    return test_log_flag_judge(
        reader, runners_read_time(reader->name, reader->value, &range->from));
}

static bool read_to(struct test_log_reader *reader)
{
    struct stat_range *range = test_log_flag_field(reader);

    range->ends = true;
    return test_log_flag_judge(
        reader, runners_read_time(reader->name, reader->value, &range->to));
}

static bool read_csv(struct test_log_reader *reader)
{
    *(enum runners_form *)test_log_flag_field(reader) = RUNNERS_AS_CSV;
    return true;
}

static bool read_json(struct test_log_reader *reader)
{
    *(enum runners_form *)test_log_flag_field(reader) = RUNNERS_AS_JSON;
    return true;
}

/* Returns whether it has refused flags that exclude each other. */
static bool refuse_together(const struct settings *settings)
{
    const struct stat_range *range = &settings->range;

    if (settings->tree && settings->by)
        test_log_notice("stat: --tree shows spans only; leave out --by");
    else if ((settings->critical || settings->lines) &&
             (settings->tree || settings->by))
        test_log_notice("stat: %s prints its own table; leave out %s",
                        settings->critical ? "--critical" : "--lines",
                        settings->by ? "--by" : "--tree");
    else if (settings->critical && settings->lines)
        test_log_notice("stat: --critical prints its own table; leave out "
                        "--lines");
    else if (settings->critical && (range->starts || range->ends))
        test_log_notice("stat: --critical follows the whole test; leave out "
                        "--from and --to");
    else if (settings->findings && (range->starts || range->ends))
        test_log_notice("stat: --by=finding looks at the whole test; leave out "
                        "--from and --to");
    else if (range->starts && range->ends && range->to <= range->from)
        test_log_notice("stat: --to must be later than --from");
    else
        return false;
    return true;
}

/* Returns the exit code. */
static int show_all(const struct recordings *found, const char *where,
                    const struct settings *settings)
{
    int status;

    if (settings->line_order && found->count > 1) {
        test_log_notice("stat: --lines=order shows one test, and there are "
                        "%zu; name one",
                        found->count);
        return TEST_LOG_EXIT_USAGE;
    }
    if (settings->lines)
        status = show_lines(found, where, settings);
    else if (settings->findings)
        status = show_findings(found, where, settings);
    else if (settings->counters)
        status = show_counters(found, where, settings);
    else if (settings->functions || settings->sampled_lines)
        status = show_samples(found, where, settings);
    else if (settings->critical)
        status = show_paths(found, where, settings);
    else
        status = show(found, where, settings);
    return status ? TEST_LOG_EXIT_FAILED : TEST_LOG_EXIT_PASSED;
}

#define AT(member) .at = offsetof(struct settings, member)

#define WORD(name, word) word "|"

static const struct test_log_flag flags[] = {
    {"--by", NULL, STAT_BY(WORD) "function|line|finding|counter|",
     "what to sum up: spans, GPU kernels, lines by target, tests, samples by "
     "function or by line of the source, reasons why the host waited for a "
     "GPU, or hardware counters of GPUs",
     .read = read_by},
    {"--tree", NULL, NULL, "print spans below those that enclose them",
     test_log_read_on, AT(tree)},
    {"--lines", NULL, "[order|",
     "print how often recorded lines ran, beside their source, or each time "
     "that one test ran them, in order",
     .read = read_lines},
    {"--critical", NULL, NULL,
     "print the critical path of a test: the work that delayed its end",
     test_log_read_on, AT(critical)},
    {"--from", NULL, "TIME",
     "sum up what happened from then on, such as 1.2ms from the test's "
     "beginning; slices are clipped, the setup is before 0",
     read_from, AT(range)},
    {"--to", NULL, "TIME", "sum up what happened before then", read_to,
     AT(range)},
    {"--csv", NULL, NULL, "print CSV, with times in ns", read_csv, AT(form)},
    {"--json", NULL, NULL, "print one JSON object, with times in ns", read_json,
     AT(form)},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct settings settings = {.table = STAT_SPAN};
    struct recordings found = {.with_damaged = true};
    const char *where;
    int code;

    if (!test_log_flags_read(&runners_stat, &settings, &argv, NULL, &code))
        return code;
    if (refuse_together(&settings))
        return TEST_LOG_EXIT_USAGE;
    if (settings.tree)
        settings.table = STAT_TREE;
    where = runners_run_of(&argv);
    if (!where)
        return TEST_LOG_EXIT_USAGE;
    if (runners_recordings_find(&found, where, argv) || !found.count)
        return runners_recordings_refuse("stat", where, argv);
    code = show_all(&found, where, &settings);
    runners_recordings_free(&found);
    return runners_written("stat", code);
}

const struct test_log_command runners_stat = {
    .name = "stat",
    .help = "sum up spans, kernels, lines and tests",
    .synopsis = "[RUN] [TEST...] [FLAG...]",
    .text = "Prints how often the spans of a run were entered and how long "
            "they took, those with the largest total first. TEST is "
            "suite/test, a part of it, or a pattern. RUN is the folder of a "
            "run or of a test, or a recording, or a name in testlog list; the "
            "default is the latest run.",
    TEST_LOG_FLAGS(flags),
    .operand = "TEST",
    .run = run,
};
