/* losses.c: describes what a recording lacks. */
#include <string.h>

#include "reader.h"

enum { NAMED = 3 }; /* functions */

bool trace_reader_losses(struct trace_text *out,
                         const struct trace_reader *reader)
{
    static const char *const texts[] = {
#define TRACE_X(name, word, text) text,
        TRACE_LOSSES(TRACE_X)
#undef TRACE_X
    };
    struct trace_summary summary = trace_reader_summary(reader);
    bool some = false;

    if (summary.refused)
        trace_text_printf(out, "nothing was recorded: %s",
                          strerror(summary.error));
    for (int i = 0; i < TRACE_LOSS_COUNT; i++) {
        if (!summary.lost[i])
            continue;
        trace_text_printf(out, some ? ", %llu %s" : "%llu records were lost %s",
                          (unsigned long long)summary.lost[i], texts[i]);
        if (i == TRACE_LOSS_DISK && summary.error)
            trace_text_printf(out, " (%s)", strerror(summary.error));
        some = true;
    }
    if (summary.lost[TRACE_LOSS_LIMIT])
        trace_text_string(out, "; raise --trace-limit");
    return some || summary.refused;
}

struct counted {
    const struct trace_site *site;
    uint64_t count;
};

/* Keeps the functions with the most calls, in order. */
static void keep_most(struct counted most[NAMED], struct counted new)
{
    for (int i = 0; i < NAMED; i++)
        if (new.count > most[i].count) {
            struct counted last = most[i];

            most[i] = new;
            new = last;
        }
}

static bool put_lost_calls(struct trace_text *out,
                           const struct trace_reader *reader)
{
    uint64_t lost = trace_reader_calls_lost(reader);
    struct counted most[NAMED] = {{0}}, next;
    size_t cursor = 0;

    if (!lost)
        return false;
    while (trace_reader_call_counts(reader, &cursor, &next.site, &next.count))
        keep_most(most, next);
    trace_text_printf(out,
                      "%llu calls of functions were only counted after "
                      "functions_limit was reached",
                      (unsigned long long)lost);
    for (int i = 0; i < NAMED && most[i].count; i++)
        trace_text_printf(out, "%s %s %llu", i ? "," : ":", most[i].site->name,
                          (unsigned long long)most[i].count);
    return true;
}

bool trace_reader_all_losses(struct trace_text *out,
                             const struct trace_reader *reader)
{
    struct trace_text calls = {0};
    bool some = trace_reader_losses(out, reader);

    if (put_lost_calls(&calls, reader)) {
        trace_text_printf(out, "%s%s", some ? "; " : "",
                          calls.data ? calls.data : "");
        some = true;
    }
    trace_text_free(&calls);
    return some;
}
