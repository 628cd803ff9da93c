/* lost_calls.c: the calls of functions that had no space, by function. */
#include "call_index.h"
#include "reader_parts.h"

enum { NAMED = 3 }; /* functions */

/* Steps to the next function whose calls were only counted; NULL at the end. */
static const struct trace_call_count *next_count(
    const struct trace_reader *reader, size_t *cursor)
{
    uint64_t place = reader->header.calls_counts;
    const struct trace_record *table =
        reader->header.version > 3 && place < trace_place_limit(reader)
            ? trace_reader_record(reader, (uint32_t)place)
            : NULL;
    const struct trace_call_count *counts;
    size_t size;

    if (!table || table->kind != TRACE_KIND_CALL_COUNTS)
        return NULL;
    counts = (const struct trace_call_count *)(table + 1);
    size = ((size_t)table->slots - 1) * 2;
    while (*cursor < size)
        if (counts[(*cursor)++].function)
            return &counts[*cursor - 1];
    return NULL;
}

bool trace_lost_calls_add(struct trace_reader *reader)
{
    const struct trace_call_count *count;
    size_t cursor = 0;
    bool ok = true;

    while (ok && (count = next_count(reader, &cursor)))
        ok = trace_functions_add(
            &reader->calls, count->function & TRACE_CALL_ADDRESS, UINT64_MAX);
    return ok;
}

uint64_t trace_reader_calls_lost(const struct trace_reader *reader)
{
    return reader->header.version > 3 ? reader->header.calls_lost : 0;
}

bool trace_reader_call_counts(const struct trace_reader *reader, size_t *cursor,
                              const struct trace_site **site, uint64_t *count)
{
    const struct trace_call_count *next = next_count(reader, cursor);

    if (!next)
        return false;
    *site = trace_functions_site(reader, next->function & TRACE_CALL_ADDRESS,
                                 UINT64_MAX);
    *count = next->count;
    return *site != NULL;
}

/* ---- Text ---- */

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
