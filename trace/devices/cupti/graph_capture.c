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

#include "cupti.h"
#include "trace/base/containers.h"

/* Results of a call that ended a capture: CUresult and cudaError_t agree.
 * After any other error the stream still captures, or never did. */
enum { ENDED = 0, INVALIDATED = 901, UNJOINED = 904 };

enum { MOST = 1 << 16 };

/* A begin or an end. */
static struct edge {
    uint64_t time;
    uint32_t open; /* captures from here on, once sorted */
    bool begins;
} * edges;
static size_t count, room;
static bool sorted; /* by time; records of threads arrive in any order */

static void add(const struct edge *edge)
{
    if (!edge->time || count == MOST ||
        !TRACE_ARRAY_RESERVE(edges, room, count + 1))
        return;
    edges[count++] = *edge;
    sorted = false;
}

/* At the same time, a begin comes before an end. */
static int compare(const void *a, const void *b)
{
    const struct edge *left = a, *right = b;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return right->begins - left->begins;
}

static void sort(void)
{
    uint32_t open = 0;

    qsort(edges, count, sizeof(*edges), compare);
    for (size_t i = 0; i < count; i++) {
        open = edges[i].begins ? open + 1 : open - (open > 0);
        edges[i].open = open;
    }
    sorted = true;
}

void cupti_capture_begin(const struct cupti_record *call)
{
    if (!cupti_get32(call, CUPTI_CALL_RESULT))
        add(&(struct edge){.time = cupti_get(call, CUPTI_CALL_START),
                           .begins = true});
}

void cupti_capture_end(const struct cupti_record *call)
{
    uint32_t result = cupti_get32(call, CUPTI_CALL_RESULT);

    if (result == ENDED || result == INVALIDATED || result == UNJOINED)
        add(&(struct edge){.time = cupti_get(call, CUPTI_CALL_END)});
}

bool cupti_capture_covers(uint64_t time)
{
    size_t low = 0, high = count;

    if (count && !sorted)
        sort();
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (edges[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low && edges[low - 1].open;
}

void cupti_capture_forget(void)
{
    free(edges);
    edges = NULL;
    count = room = 0;
}
