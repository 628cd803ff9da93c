/* zone_match.c: makes zones of their beginnings and ends, and finds the
 * launches in which they lie. */
#include <stdlib.h>

#include <testlog/zone.h>

#include "zones.h"

static uint32_t track_of(const struct trace_zone_mark *mark)
{
    const uint32_t units = TRACE_ZONE_GROUPS - TRACE_ZONE_UNITS;

    return mark->unit == TRACE_ZONE_NO_UNIT
               ? TRACE_ZONE_GROUPS + mark->group % TRACE_ZONE_GROUP_TRACKS
               : TRACE_ZONE_UNITS + mark->unit % units;
}

/* Finds the launch in which a zone lies, NULL if there are several. */
static const struct trace_zone_launch *find_launch(
    const struct trace_zone_reading *reading, uint64_t begin, uint64_t end)
{
    const struct trace_zone_launch *best = NULL;
    uint64_t most = 0;
    bool several = false;

    end += end == begin;
    for (size_t i = 0; i < reading->launch_count; i++) {
        const struct trace_zone_launch *one = &reading->launches[i];
        uint64_t from = one->begin > begin ? one->begin : begin;
        uint64_t to = one->end < end ? one->end : end;

        if (to <= from || to - from < most)
            continue;
        several = to - from == most;
        most = to - from;
        best = one;
    }
    return several ? NULL : best;
}

static struct trace_value name_or_none(const struct trace_zone_launch *launch)
{
    struct trace_value value =
        launch ? trace_text_(launch->name) : trace_empty();

    if (launch)
        value.type = TRACE_TYPE_DISPLAY;
    return value;
}

static struct trace_value number_or_none(uint32_t number)
{
    return number == TRACE_ZONE_NO_UNIT ? trace_empty() : trace_u64_(number);
}

/* Records a zone. Without an end, it ends with its launch. */
static void put_zone(struct trace_zone_reading *reading,
                     const struct trace_zone_mark *begin,
                     const struct trace_zone_mark *end)
{
    static const char *const fields[] = {"kernel", "unit", "group", "item",
                                         "unfinished"};
    uint64_t to = end ? end->ticks : begin->ticks;
    const struct trace_zone_launch *launch =
        find_launch(reading, begin->ticks, to);
    const struct trace_value values[] = {
        name_or_none(launch), number_or_none(begin->unit),
        trace_u64_(begin->group), trace_u64_(begin->item),
        end ? trace_empty() : trace_bool(true)};

    if (!end && launch && launch->end > to)
        to = launch->end;
    trace_device_put(&(struct trace_activity){
        .at = {.begin = begin->ticks,
               .device = launch ? launch->device : reading->device,
               .stream = track_of(begin),
               .kind = TRACE_ACTIVITY_ZONE,
               .on_device = 1},
        .end = to > begin->ticks ? to : begin->ticks,
        .span = launch ? launch->span : reading->span,
        .name = reading->names[begin->zone],
        .fields = fields,
        .field_count = sizeof(fields) / sizeof(*fields),
        .values = values,
    });
    reading->recorded++;
    reading->unfinished += !end;
}

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* Orders marks by the work item that made them, then by their tickets. */
static int in_order(const void *a, const void *b)
{
    const struct trace_zone_mark *x = a, *y = b;
    int order = compare(x->unit, y->unit);

    if (!order)
        order = compare(x->group, y->group);
    if (!order)
        order = compare(x->item, y->item);
    return order ? order : (int32_t)(x->ticket - y->ticket) < 0 ? -1 : 1;
}

static bool is_same_item(const struct trace_zone_mark *a,
                         const struct trace_zone_mark *b)
{
    return a->unit == b->unit && a->group == b->group && a->item == b->item;
}

/* Ends the innermost open zone of that number; those within it, whose ends were
 * dropped, do not end. The open zones are marks at the front of `open`. */
static size_t end_zone(struct trace_zone_reading *reading,
                       struct trace_zone_mark *open, size_t depth,
                       const struct trace_zone_mark *end)
{
    size_t at = depth;

    while (at && open[at - 1].zone != end->zone)
        at--;
    if (!at) {
        reading->stray_ends++;
        return depth;
    }
    for (; depth > at; depth--)
        put_zone(reading, &open[depth - 1], NULL);
    put_zone(reading, &open[at - 1], end);
    return at - 1;
}

/* Records the zones of one work item, whose marks become the stack of open
 * zones: it never outgrows the marks before the current one. */
static void put_item(struct trace_zone_reading *reading,
                     struct trace_zone_mark *marks, size_t count)
{
    size_t depth = 0;

    for (size_t i = 0; i < count; i++) {
        struct trace_zone_mark mark = marks[i];

        if (mark.end)
            depth = end_zone(reading, marks, depth, &mark);
        else
            marks[depth++] = mark;
    }
    while (depth)
        put_zone(reading, &marks[--depth], NULL);
}

void trace_zones_put(struct trace_zone_reading *reading)
{
    size_t end;

    if (reading->count)
        qsort(reading->marks, reading->count, sizeof(*reading->marks),
              in_order);
    for (size_t i = 0; i < reading->count; i = end) {
        for (end = i + 1;
             end < reading->count &&
             is_same_item(&reading->marks[i], &reading->marks[end]);
             end++)
            ;
        put_item(reading, reading->marks + i, end - i);
    }
}
