/* option_rules.c: applies the rules between flags, variables and settings once
 * all are read, and passes arguments on to Criterion.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/option_rows.h"
#include "harness/run/files/writers.h"
#include "harness/session.h"
#include "options.h"
#include "trace/base/containers.h"

/* ---- Arguments for Criterion ---- */

static bool add_criterion(struct test_log_reader *reader, char *argument)
{
    struct test_log_options *options = reader->options;
    size_t count = (size_t)options->criterion_count;

    if (!argument ||
        !TRACE_ARRAY_RESERVE(options->criterion, options->criterion_capacity,
                             count + 2)) {
        free(argument);
        return test_log_flag_refuse(reader, "out of memory");
    }
    options->criterion[options->criterion_count++] = argument;
    options->criterion[options->criterion_count] = NULL;
    return true;
}

bool test_log_option_pass(struct test_log_reader *reader, const char *flag,
                          const char *value)
{
    char *text = NULL;

    if (asprintf(&text, "%s%s%s", flag, value ? "=" : "", value ? value : "") <
        0)
        text = NULL;
    return add_criterion(reader, text);
}

/* ---- Rules ---- */

/* The host's level replaces the filters. GPU activity and its warnings are
 * recorded anyway. */
static bool apply_host_level(struct test_log_reader *reader)
{
    static const char origin[] = "host_tracer_level";
    static const char *const filters[] = {"off,gpu=trace", "info", "debug",
                                          "trace"};
    struct test_log_options *options = reader->options;
    uint64_t level = options->profiler.host_tracer_level;

    if (level == TRACE_HOST_LEVEL_UNSET)
        return true;
    if (strcmp(options->record.origin, "default"))
        return test_log_flag_refuse(
            reader, "%s and %s both decide what is recorded; leave one out",
            origin, options->record.origin);
    options->record = (struct test_log_setting){filters[level], origin};
    /* The lines that LOG shows are recorded. */
    if (!level && !strcmp(options->show.origin, "default"))
        options->show = (struct test_log_setting){"off,gpu=info", origin};
    return true;
}

/* All ranks of MPI run the same test at the same time. */
static bool take_rank(struct test_log_reader *reader)
{
    struct test_log_options *options = reader->options;

    test_log_rank_find(&options->rank, &options->shard);
    if (!options->rank.total)
        return true;
    if (test_log_most_retries(options) || options->repeat > 1)
        return test_log_flag_refuse(reader,
                                    "a rank of MPI runs a test once; leave out "
                                    "--retries and --repeat");
    options->jobs = 1;
    return test_log_option_pass(reader, "--jobs", "1");
}

bool test_log_option_check(struct test_log_reader *reader)
{
    struct test_log_options *options = reader->options;

    if (test_log_most_retries(options) && options->reports)
        return test_log_flag_refuse(
            reader, "--retries: Criterion's reports contain only the last "
                    "try; remove them and use the run's junit.xml");
    for (size_t i = 0; i < options->output.report_count; i++) {
        const struct test_log_report *report = &options->output.reports[i];

        if (!test_log_report_is_stdout(report->file))
            continue;
        if (options->output.report_on_stdout)
            return test_log_flag_refuse(
                reader,
                "%s: stdout is for one report only; write the "
                "others to files",
                report->origin);
        options->output.report_on_stdout = true;
    }
    return apply_host_level(reader) &&
           test_log_flag_judge(
               reader,
               test_log_shard_find(&options->shard, &options->shard_asked)) &&
           take_rank(reader);
}

/* A program that runs beside others gets fewer jobs, and takes colours from
 * `testlog run`. */
static bool take_share(struct test_log_reader *reader)
{
    struct test_log_share share;
    char number[32];

    if (!test_log_share_take(&share))
        return true;
    reader->options->jobs = share.jobs;
    reader->options->color = share.color ? "always" : "never";
    reader->options->output.links = share.links;
    snprintf(number, sizeof(number), "%zu", share.jobs);
    return test_log_option_pass(reader, "--jobs", number);
}

/* With a debugger, tests run one at a time and are not retried. */
static bool take_debugger(struct test_log_reader *reader)
{
    struct test_log_options *options = reader->options;

    if (options->races && options->callgrind)
        return test_log_flag_refuse(
            reader, "--races and --callgrind are two tools of valgrind; leave "
                    "out one");
    if (!options->debugger)
        return true;
    if (options->races || options->callgrind)
        return test_log_flag_refuse(
            reader,
            "--debug-failed cannot debug a program under valgrind; "
            "leave out %s",
            options->races ? "--races" : "--callgrind");
    options->jobs = 1;
    options->retries = 0;
    return test_log_option_pass(reader, "--jobs", "1");
}

/* Criterion does not support NO_COLOR, so it gets a flag. It can list all
 * tests, but not those of filters and shards. */
static bool pass_rest(struct test_log_reader *reader)
{
    struct test_log_options *options = reader->options;
    bool color = test_log_color(reader->options->color, stderr);
    bool list = options->list && !options->list_form && !options->shard.total &&
                !test_log_options_select(options) && !test_log_session()->test;

    options->output.style.color = color;
    options->output.links |= test_log_links(color, stderr);
    options->list = options->list && !list;
    return (!list || test_log_option_pass(reader, "--list", NULL)) &&
           test_log_option_pass(reader, "--color", color ? "always" : "never");
}

bool test_log_option_finish(struct test_log_reader *reader)
{
    return take_share(reader) && take_debugger(reader) && pass_rest(reader);
}
