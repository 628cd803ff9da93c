/* filters.c: checks the filters before a run, and afterwards compares them with
 * the call sites of the run. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "filters.h"
#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "options.h"
#include "trace/base/containers.h"

/* ---- Before the run ---- */

/* Makefiles and scripts also use LOG for the name of a file: "build.log",
 * "/tmp/out". A filter with a slash or such an ending also has a sign such as
 * '='. */
static bool names_file(const char *value)
{
    static const char *const endings[] = {".log", ".txt", ".out", ".err"};
    size_t size = strlen(value);
    bool is_name = !strpbrk(value, "=[{,!^~");

    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++)
        if (is_name && size > 4 && !strcmp(value + size - 4, endings[i]))
            return true;
    return is_name && strchr(value, '/') &&
           (value[0] != '/' || value[size - 1] != '/'); /* a regex */
}

/* If a variable is probably for other programs, the default applies. */
static void ignore_foreign(struct test_log_setting *setting,
                           struct trace_text *complaints)
{
    if (!strcmp(setting->origin, "LOG") && names_file(setting->value)) {
        trace_text_string(complaints, "LOG=");
        log_filter_brief(complaints, setting->value);
        trace_text_string(complaints,
                          " names a file, so the default applies; unset it "
                          "with LOG=, or write a filter, as in LOG=debug\n");
        *setting = (struct test_log_setting){"info", "default"};
    } else if (!strcmp(setting->origin, "default") &&
               test_log_variable("RUST_LOG")) {
        trace_text_string(complaints,
                          "RUST_LOG is not read; set LOG instead\n");
    }
}

/* If a filter cannot be parsed, the default applies. */
static struct log_filter *check(struct test_log_setting *setting,
                                const char *fallback,
                                struct trace_text *complaints)
{
    struct log_filter *filter =
        log_filter_parse(setting->value, NULL, setting->origin, complaints);

    if (filter)
        log_filter_advise(filter, setting->origin, complaints);
    if (!filter || !log_filter_is_empty(filter))
        return filter;
    *setting = (struct test_log_setting){fallback, "default"};
    log_filter_free(filter);
    return log_filter_parse(fallback, NULL, "default", NULL);
}

void test_log_filters_check(struct test_log_filters *filters,
                            struct test_log_options *options, bool print)
{
    struct trace_text complaints = {0};

    ignore_foreign(&options->show, &complaints);
    filters->show = check(&options->show, "info", &complaints);
    filters->record = check(&options->record, "trace", &complaints);
    if (print)
        test_log_complain(&complaints);
    trace_text_free(&complaints);
}

/* Adds the filter that applies, combined with the default that it changes. */
static void add_setting(struct trace_text *out,
                        const struct test_log_setting *setting,
                        const char *fallback)
{
    char *combined =
        test_log_filter_of(setting->value, setting->origin, fallback);
    bool is_plain = !combined || !strcmp(setting->origin, "default");

    log_filter_brief(out, is_plain ? setting->value : combined);
    trace_text_printf(out, " (%s)", setting->origin);
    free(combined);
}

void test_log_filters_print(const struct test_log_options *options)
{
    struct trace_text text = {0};

    if (options->output.quiet || options->output.report_on_stdout)
        return;
    trace_text_string(&text, "lines shown: ");
    add_setting(&text, &options->show, "info");
    trace_text_string(&text, "; recorded: ");
    add_setting(&text, &options->record, "trace");
    if (options->shard.origin)
        trace_text_string(&text, "; ");
    test_log_shard_text(&text, &options->shard);
    test_log_notice("%s", text.data ? text.data : "out of memory");
    trace_text_free(&text);
}

static bool warn_compiled_out(const struct log_filter *filter,
                              const char *origin, unsigned max)
{
    unsigned wanted = filter ? log_filter_most(filter) : TRACE_LEVEL_OFF;

    if (wanted <= max || !strcmp(origin, "default"))
        return false;
    if (max == TRACE_LEVEL_OFF)
        test_log_notice("%s asks for %s, but no line was compiled in; build "
                        "with -DTRACING and without LOG_STATIC_MAX=off",
                        origin, trace_level_word(wanted));
    else
        test_log_notice("%s asks for %s, but this was built with "
                        "LOG_STATIC_MAX=%s",
                        origin, trace_level_word(wanted),
                        trace_level_word(max));
    return true;
}

void test_log_filters_print_compiled_out(const struct test_log_filters *filters,
                                         const struct test_log_run *run)
{
    if (run->annotated &&
        !warn_compiled_out(filters->show, run->show_origin, run->static_max))
        warn_compiled_out(filters->record, run->record_origin, run->static_max);
}

void test_log_filters_free(struct test_log_filters *filters)
{
    log_filter_free(filters->show);
    log_filter_free(filters->record);
}

bool test_log_filters_ask(const struct test_log_filters *filters)
{
    return (filters->show && log_filter_of_device(filters->show)) ||
           (filters->record && log_filter_of_device(filters->record));
}

static void see(struct trace_site *site, void *filter)
{
    log_filter_seen(filter, site);
}

/* Recordings have sites that this process does not have: those of shared
 * objects that a test loaded. */
static void see_recorded(const struct test_log_run *run,
                         struct log_filter *filter)
{
    for (size_t i = 0; i < run->count; i++) {
        struct trace_reader *reader = test_log_recording(run, &run->results[i]);

        for (uint32_t id = 1; reader && trace_reader_site(reader, id); id++)
            log_filter_seen(filter, trace_reader_site(reader, id));
        trace_reader_close(reader);
    }
}

static void suggest_site(struct trace_site *site, void *suggestion)
{
    log_suggest_site(suggestion, site);
}

/* Returns what a directive probably meant, to be freed; NULL if there is no
 * guess. */
static char *find_suggestion(const char *directive)
{
    struct log_suggestion suggestion = {.directive = directive};
    char *text = NULL;

    trace_site_each(suggest_site, &suggestion);
    if (log_suggest_end(&suggestion))
        text = strdup(suggestion.text.data);
    trace_text_free(&suggestion.text);
    return text;
}

static void note_unmatched(struct test_log_run *run, const char *origin,
                           const char *directive, char *meant)
{
    size_t count = run->unmatched_count + 1;

    if (!TRACE_ARRAY_RESERVE(run->unmatched, run->unmatched_capacity, count) ||
        !TRACE_ARRAY_RESERVE(run->meant, run->meant_capacity, count) ||
        asprintf(&run->unmatched[count - 1], "%s: %s", origin, directive) < 0)
        return free(meant);
    run->meant[count - 1] = meant;
    run->unmatched_count = count;
}

/* Finds the directives that matched no site. */
static void find_unmatched(struct test_log_run *run, struct log_filter *filter,
                           const char *origin)
{
    const char *directive;
    size_t from = 0;

    if (!filter)
        return;
    trace_site_each(see, filter);
    if (!log_filter_unmatched(filter, &from))
        return;
    test_log_unused_sites_find();
    trace_site_each(see, filter);
    see_recorded(run, filter);
    from = 0;
    while ((directive = log_filter_unmatched(filter, &from)))
        note_unmatched(run, origin, directive, find_suggestion(directive));
}

void test_log_filters_find_unmatched(struct test_log_filters *filters,
                                     struct test_log_run *run)
{
    find_unmatched(run, filters->show, run->show_origin);
    find_unmatched(run, filters->record, run->record_origin);
}

void test_log_filters_add_unmatched(struct test_log_run *run,
                                    const char *origin, const char *glob)
{
    note_unmatched(run, origin, glob, NULL);
}
