/* spans.c: the chain of spans that an event happened in. */
#include <stdlib.h>
#include <string.h>

#include "log/filter/filter.h"
#include "replay.h"
#include "trace/read/reader.h"

/* Makes room for one more span. */
static bool grow(struct log_chain *chain)
{
    if (chain->count < sizeof(chain->few) / sizeof(*chain->few))
        return true;
    if (!TRACE_ARRAY_RESERVE(chain->many, chain->capacity, chain->count + 1))
        return false;
    if (chain->spans == chain->few)
        memcpy(chain->many, chain->few, sizeof(chain->few));
    chain->spans = chain->many;
    return true;
}

static void climb(struct log_chain *chain, struct log_replay *replay, bool all,
                  const struct trace_reader *reader, uint32_t place)
{
    struct trace_entry span;

    for (; place && trace_reader_span(reader, place, &span);
         place = span.span) {
        if (!log_replay_names(replay, &span, all))
            continue;
        if (!grow(chain))
            return;
        chain->spans[chain->count++] = span;
    }
}

void log_chain_of(struct log_chain *chain, struct log_replay *replay, bool all,
                  const struct trace_reader *reader, uint32_t place)
{
    chain->spans = chain->few;
    chain->many = NULL;
    chain->count = chain->capacity = 0;
    climb(chain, replay, all, reader, place);
}

void log_chain_around(struct log_chain *chain, struct log_replay *replay,
                      bool all, const struct trace_reader *reader,
                      const struct trace_entry *entry)
{
    chain->spans = chain->few;
    chain->many = NULL;
    chain->capacity = 0;
    chain->count = log_launch_of(entry, &chain->few[0]);
    climb(chain, replay, all, reader, entry->span);
}

void log_chain_free(struct log_chain *chain)
{
    free(chain->many);
}
