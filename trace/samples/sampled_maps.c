/* sampled_maps.c: which files' code a process has, and where. */
#include <string.h>

#include "sampled.h"

/* Returns how many maps end at or before an address. */
static size_t maps_before(const struct trace_sampled_process *process,
                          uint64_t address)
{
    size_t low = 0, high = process->map_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (process->maps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the part of a map that begins at an address. */
static struct trace_sampled_map part_from(const struct trace_sampled_map *map,
                                          uint64_t low)
{
    return (struct trace_sampled_map){
        low, map->end, map->place + (low - map->low), map->image};
}

void trace_sampled_map(struct trace_sampled_process *process,
                       struct trace_sampled_map map)
{
    struct trace_sampled_map kept[3];
    size_t from, to, count = 0;

    if (!TRACE_ARRAY_RESERVE(process->maps, process->map_capacity,
                             process->map_count + 2))
        return;
    from = to = maps_before(process, map.low);
    while (to < process->map_count && process->maps[to].low < map.end)
        to++;
    if (from < to && process->maps[from].low < map.low) {
        kept[count] = process->maps[from];
        kept[count++].end = map.low;
    }
    kept[count++] = map;
    if (from < to && process->maps[to - 1].end > map.end)
        kept[count++] = part_from(&process->maps[to - 1], map.end);
    memmove(process->maps + from + count, process->maps + to,
            (process->map_count - to) * sizeof(*kept));
    memcpy(process->maps + from, kept, count * sizeof(*kept));
    process->map_count += from + count - to;
}

bool trace_sampled_frame(const struct trace_sampled_process *process,
                         uint64_t address, struct trace_stack_frame *frame)
{
    size_t at = maps_before(process, address);
    const struct trace_sampled_map *map = &process->maps[at];
    uint64_t place;

    if (at == process->map_count || address < map->low)
        return false;
    place = address - map->low + map->place;
    *frame = (struct trace_stack_frame){map->image, (uint32_t)place};
    return place <= UINT32_MAX;
}
