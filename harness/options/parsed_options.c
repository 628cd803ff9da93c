/* parsed_options.c: what options say about a run and its tests, once they are
 * parsed.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/session.h"
#include "options.h"

void test_log_options_free(struct test_log_options *options)
{
    for (int i = 0; i < options->criterion_count; i++)
        free(options->criterion[i]);
    for (size_t i = 0; i < options->pattern_count; i++)
        free(options->patterns[i]);
    for (char **name = options->only; name && *name; name++)
        free(*name);
    test_log_settings_free(&options->settings);
    test_log_durations_free(&options->durations);
    trace_text_free(&options->test_filters);
    free(options->overrides);
    free(options->given);
    free(options->known.all);
    free(options->only);
    free(options->criterion);
    free(options->patterns);
    free(options->words);
    free(options->output.reports);
    *options = (struct test_log_options){.jobs = 0};
}

bool test_log_options_select(const struct test_log_options *options)
{
    return options->pattern_count || options->word_count;
}

bool test_log_options_take_all(const struct test_log_options *options)
{
    return !test_log_options_select(options) && !options->shard.total;
}

const char *test_log_flavour_given(const struct test_log_options *options)
{
    static char slower[64]; /* with a tool of valgrind */
    const char *tool = options->callgrind ? "callgrind" : options->races;

    if (options->flavour || !tool)
        return options->flavour ? options->flavour : test_log_flavour();
    snprintf(slower, sizeof(slower), "%s-%s", test_log_flavour(), tool);
    return slower;
}

void test_log_copy_settings(struct test_log_run *run,
                            const struct test_log_options *options)
{
    run->show = strdup(options->show.value);
    run->show_origin = strdup(options->show.origin);
    run->record = strdup(options->record.value);
    run->record_origin = strdup(options->record.origin);
    run->shard = options->shard;
    run->rank = options->rank;
    run->whole = test_log_options_take_all(options) && !options->failed &&
                 options->repeat < 2;
    run->retries = test_log_most_retries(options);
    run->repeat = options->repeat;
    run->render_all = options->render_all || options->output.show_output;
}

size_t test_log_most_retries(const struct test_log_options *options)
{
    size_t most = options->retries;

    for (size_t i = 0; i < options->override_count; i++)
        if (options->overrides[i].retries > most)
            most = options->overrides[i].retries;
    return most;
}

bool test_log_any_serial(const struct test_log_options *options)
{
    bool any = options->serial;

    for (size_t i = 0; i < options->override_count; i++)
        any |= options->overrides[i].serial;
    return any;
}

struct test_log_override test_log_override_of(
    const struct test_log_options *options, const char *suite, const char *test)
{
    struct test_log_override found = {
        .timeout = 0, .retries = options->retries, .serial = options->serial};

    for (size_t i = 0; i < options->override_count; i++) {
        const struct test_log_override *one = &options->overrides[i];

        if (!test_log_pattern_matches(one->pattern, suite, test))
            continue;
        if (one->at == offsetof(struct test_log_options, timeout))
            found.timeout = one->timeout;
        else if (one->at == offsetof(struct test_log_options, retries))
            found.retries = one->retries;
        else
            found.serial = one->serial;
    }
    return found;
}
