/* unwind.c: finds the callers of a sampled function in a copy of its stack. */
#include <string.h>

#include "sampled.h"
#include "trace/read/reader.h"

/* Where the walk is. */
struct walk {
    const struct trace_perf_event *event;
    uint64_t at, stack, frame, link;
};

/* Reads a word of the stack; false if the copy does not have it. */
static bool read_word(const struct walk *walk, uint64_t address, uint64_t *word)
{
    const struct trace_perf_event *event = walk->event;
    uint64_t place = address - event->stack_pointer;

    if (place >= event->stack_size || event->stack_size - place < sizeof(*word))
        return false;
    memcpy(word, event->stack + place, sizeof(*word));
    return true;
}

/* Finds what a register of the caller has. */
static bool restore(const struct walk *walk, uint64_t cfa,
                    const struct trace_saved *saved, uint64_t *value)
{
    switch (saved->how) {
    case TRACE_SAVED_SAME:
        return true;
    case TRACE_SAVED_ON_STACK:
        return read_word(walk, cfa + (uint64_t)saved->offset, value);
    default:
        return false;
    }
}

/* Steps to the caller; false if it is not found. Stacks grow down, so that each
 * frame is above the last one; a function whose return address is in a register
 * may have none. */
static bool step(struct walk *walk, const struct trace_frame_rules *rules)
{
    uint64_t cfa =
        (rules->by_frame ? walk->frame : walk->stack) + (uint64_t)rules->offset;

    if (rules->indirect && !read_word(walk, cfa, &cfa))
        return false;
    walk->at = walk->link;
    if (cfa < walk->stack ||
        (cfa == walk->stack && rules->back.how != TRACE_SAVED_SAME) ||
        !restore(walk, cfa, &rules->back, &walk->at) || !walk->at)
        return false;
    if (!restore(walk, cfa, &rules->frame, &walk->frame))
        walk->frame = 0;
    walk->link = 0;
    walk->stack = cfa;
    return true;
}

/* A leaf function may have no frame at all: its return address is in a
 * register.
 */
size_t trace_sampled_unwind(const struct trace_sampler *sampler,
                            const struct trace_sampled_process *process,
                            const struct trace_perf_event *event,
                            struct trace_stack_frame *frames, size_t most)
{
    struct walk walk = {event, event->at, event->stack_pointer,
                        event->frame_pointer, event->link};
    const struct trace_frame_rules *rules;
    size_t count = 0;

    while (count < most &&
           trace_sampled_frame(process, walk.at - !!count, &frames[count])) {
        const struct trace_sampled_image *image =
            &sampler->images[frames[count].image - 1];
        const struct trace_module_file file = {image->path, image->build_id,
                                               image->build_id_size};

        rules = trace_resolve_rules(&file, frames[count++].place);
        if (!rules || !step(&walk, rules))
            break;
    }
    return count;
}
