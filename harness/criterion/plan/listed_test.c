/* listed_test.c: what --list=json has of a test of any framework. */
#include <string.h>

#include "harness/criterion/plan/plan.h"
#include "harness/run/past/durations.h"
#include "harness/run/past/history.h"

/* A test that has not run here has neither member. */
void test_log_list_past(struct trace_text *text,
                        const struct test_log_history *history,
                        const char *program, const char *name)
{
    const struct test_log_past *past =
        test_log_history_of(history, program, name);
    uint64_t median = past ? test_log_history_median(past) : 0;

    if (past && past->outcome != TEST_LOG_OUTCOME_SKIPPED)
        trace_json_member(text, "outcome",
                          test_log_outcome_word(past->outcome));
    if (median)
        trace_text_printf(text, ",\"median_ns\":%llu",
                          (unsigned long long)median);
}

/* Adds words, which commas and blanks separate. */
static void put_words(struct trace_text *text, const char *words, bool *some)
{
    static const char separators[] = ", \t";

    while (*(words += strspn(words, separators))) {
        size_t size = strcspn(words, separators);

        trace_text_string(text, *some ? "," : "");
        trace_json_string(text, words, size);
        words += size;
        *some = true;
    }
}

void test_log_list_tags(struct trace_text *text,
                        const struct test_log_options *options,
                        const char *suite, const char *test)
{
    const struct test_log_settings *settings = &options->settings;
    bool some = false;

    trace_text_string(text, ",\"tags\":[");
    for (size_t i = 0; i < settings->count; i++) {
        const struct test_log_settings_line *line = &settings->lines[i];

        if (line->pattern && !strcmp(line->key, TEST_LOG_TAGS) &&
            test_log_pattern_matches(line->pattern, suite, test))
            put_words(text, line->value, &some);
    }
    trace_text_char(text, ']');
}
