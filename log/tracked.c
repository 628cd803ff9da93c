/* tracked.c: what is known of spans, by their place in the recording. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static struct log_place **bucket(const struct log_tracked *tracked,
                                 uint32_t place)
{
    uint32_t hash = place * UINT32_C(2654435769); /* Fibonacci's */

    /* Of such a hash the upper bits are the good ones. */
    return &tracked->buckets[(uint64_t)hash * tracked->size >> 32];
}

static bool grow(struct log_tracked *tracked)
{
    struct log_tracked larger = {.size = tracked->size ? 2 * tracked->size : 64,
                                 .count = tracked->count};

    larger.buckets = calloc(larger.size, sizeof(*larger.buckets));
    if (!larger.buckets)
        return false;
    for (size_t i = 0; i < tracked->size; i++)
        for (struct log_place *span = tracked->buckets[i], *next; span;
             span = next) {
            struct log_place **to = bucket(&larger, span->place);

            next = span->next;
            span->next = *to;
            *to = span;
        }
    free(tracked->buckets);
    *tracked = larger;
    return true;
}

void *log_tracked_put(struct log_tracked *tracked, uint32_t place, size_t size)
{
    struct log_place *span;

    log_tracked_remove(tracked, place);
    if (tracked->count == tracked->size && !grow(tracked))
        return NULL;
    span = calloc(1, size);
    if (!span)
        return NULL;
    span->place = place;
    span->next = *bucket(tracked, place);
    *bucket(tracked, place) = span;
    tracked->count++;
    return span;
}

struct log_span *log_tracked_add(struct log_tracked *tracked, uint32_t place,
                                 const struct log_verdict *verdict)
{
    struct log_span *span =
        log_tracked_put(tracked, place, sizeof(*span) + verdict->patterns);

    if (span)
        span->verdict = verdict;
    return span;
}

void *log_tracked_find(const struct log_tracked *tracked, uint32_t place)
{
    struct log_place *span = tracked->size ? *bucket(tracked, place) : NULL;

    while (span && span->place != place)
        span = span->next;
    return span;
}

void log_tracked_remove(struct log_tracked *tracked, uint32_t place)
{
    struct log_place *span = log_tracked_find(tracked, place), **at;

    if (!span)
        return;
    at = bucket(tracked, place);
    while (*at != span)
        at = &(*at)->next;
    *at = span->next;
    tracked->count--;
    free(span);
}

void log_tracked_free(struct log_tracked *tracked)
{
    for (size_t i = 0; i < tracked->size; i++)
        while (tracked->buckets[i]) {
            struct log_place *next = tracked->buckets[i]->next;

            free(tracked->buckets[i]);
            tracked->buckets[i] = next;
        }
    free(tracked->buckets);
    *tracked = (struct log_tracked){0};
}
