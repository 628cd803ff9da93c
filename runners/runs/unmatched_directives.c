/* unmatched_directives.c: warns about directives that match no call site of
 * recordings. */
#include "find.h"
#include "harness/machine/notice.h"
#include "harness/run/terminal/terminal.h"
#include "runners/runners.h"

enum { SHOWN_MAX = 10 };

static void suggest(struct log_suggestion *suggestion,
                    const struct recording *recording)
{
    struct trace_reader *reader =
        recording->unreadable ? NULL : runners_open(recording->path);

    for (uint32_t id = 1; reader && trace_reader_site(reader, id); id++)
        log_suggest_site(suggestion, trace_reader_site(reader, id));
    trace_reader_close(reader);
}

static void print_one(const char *directive, const char *origin,
                      const struct recordings *found)
{
    struct log_suggestion suggestion = {.directive = directive};
    struct trace_text text = {0};
    bool suggested;

    for (size_t i = 0; i < found->count; i++)
        suggest(&suggestion, &found->all[i]);
    suggested = log_suggest_end(&suggestion);
    trace_text_printf(&text, "%s: %s", origin, directive);
    test_log_print_unmatched_one(text.data ? text.data : directive,
                                 "recorded call site",
                                 suggested ? suggestion.text.data : NULL);
    trace_text_free(&text);
    trace_text_free(&suggestion.text);
}

void runners_print_unmatched(const struct log_filter *filter,
                             const char *origin, const struct recordings *found)
{
    const char *directive;
    size_t from = 0, count = 0;

    while ((directive = log_filter_unmatched(filter, &from)))
        if (count++ < SHOWN_MAX)
            print_one(directive, origin, found);
    if (count > SHOWN_MAX)
        test_log_notice("%zu more directives matched no recorded call site",
                        count - SHOWN_MAX);
}
