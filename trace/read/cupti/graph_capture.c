/* graph_capture.c: remembers when streams were capturing.
 *
 * A launch into a capturing stream runs nothing: it adds a node to a graph. The
 * records of calls have no arguments, so they don't say which stream a launch
 * or a capture uses. They don't say which threads may launch into it either:
 * any thread may, whatever the mode of the capture. So a launch without a
 * device record counts as captured if any stream was capturing then. A record
 * that CUPTI loses at such a time is not reported as lost.
 *
 * A capture through the runtime also captures through the driver, which nests.
 */
#include <stdlib.h>

#include "decoder.h"

/* Results of a call that ended a capture: CUresult and cudaError_t agree.
 * After any other error the stream still captures, or never did. */
enum { ENDED = 0, INVALIDATED = 901, UNJOINED = 904 };

enum { MOST = 1 << 16 };

/* A begin or an end. */
struct cupti_capture_edge {
    uint64_t time;
    uint32_t open; /* captures from here on, once sorted */
    bool begins;
};

static void add(struct cupti_captures *captures,
                const struct cupti_capture_edge *edge)
{
    if (!edge->time || captures->count == MOST ||
        !TRACE_ARRAY_RESERVE(captures->edges, captures->room,
                             captures->count + 1))
        return;
    captures->edges[captures->count++] = *edge;
    captures->sorted = false;
}

/* At the same time, a begin comes before an end. */
static int compare(const void *a, const void *b)
{
    const struct cupti_capture_edge *left = a, *right = b;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return right->begins - left->begins;
}

static void sort(struct cupti_captures *captures)
{
    struct cupti_capture_edge *edges = captures->edges;
    uint32_t open = 0;

    qsort(edges, captures->count, sizeof(*edges), compare);
    for (size_t i = 0; i < captures->count; i++) {
        open = edges[i].begins ? open + 1 : open - (open > 0);
        edges[i].open = open;
    }
    captures->sorted = true;
}

void cupti_capture_begin(struct cupti_captures *captures,
                         const struct cupti_record *call)
{
    if (!cupti_get32(call, CUPTI_CALL_RESULT))
        add(captures,
            &(struct cupti_capture_edge){
                .time = cupti_get(call, CUPTI_CALL_START), .begins = true});
}

void cupti_capture_end(struct cupti_captures *captures,
                       const struct cupti_record *call)
{
    uint32_t result = cupti_get32(call, CUPTI_CALL_RESULT);

    if (result == ENDED || result == INVALIDATED || result == UNJOINED)
        add(captures, &(struct cupti_capture_edge){
                          .time = cupti_get(call, CUPTI_CALL_END)});
}

bool cupti_capture_covers(struct cupti_captures *captures, uint64_t time)
{
    const struct cupti_capture_edge *edges;
    size_t low = 0, high = captures->count;

    if (captures->count && !captures->sorted)
        sort(captures);
    edges = captures->edges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (edges[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low && edges[low - 1].open;
}

void cupti_capture_forget(struct cupti_captures *captures)
{
    free(captures->edges);
    *captures = (struct cupti_captures){.count = 0};
}
