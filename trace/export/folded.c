/* folded.c: sums up where the time of recordings went, as folded stacks.
 *
 * A slice is nested in the innermost slice of its thread or stream that has not
 * ended when it begins. The times of all paths of a thread add up to the time
 * during which any span was entered.
 */
#include "folded.h"
#include "trace/read/reader.h"

#include <errno.h>
#include <stdlib.h>

/* A path of frames: another path, and one frame more. */
struct trace_fold {
    uint32_t around; /* the other path's number, or NONE */
    char *frame;
    uint64_t time; /* ns, without the slices in it */
};

enum { NONE = UINT32_MAX };

/* A slice that may have others in it. */
struct slice {
    uint32_t fold;
    uint64_t end;
};

/* The slices of a thread or stream that have not ended. */
struct stack {
    uint32_t fold; /* of the thread itself */
    struct slice *slices;
    size_t depth, capacity;
};

/* The recording that is added. */
struct adding {
    struct trace_folded *folded;
    struct trace_reader *reader;
    uint32_t fold; /* the first frame of all its paths, or NONE */
    uint64_t end;  /* ns: slices that are open end here */
    struct stack *stacks;
    size_t count, capacity;
    struct trace_table by_thread;
};

/* ---- Paths ---- */

/* Returns a frame without what separates frames and lines, to be freed. */
static char *frame_of(const char *name)
{
    char *frame = strdup(name[0] ? name : "?");

    for (char *at = frame; at && *at; at++) {
        if (*at == ';')
            *at = ':';
        else if ((unsigned char)*at < ' ')
            *at = ' ';
    }
    return frame;
}

/* Returns the number of a path, NONE without memory. */
static uint32_t find_fold(struct trace_folded *folded, uint32_t around,
                          const char *name)
{
    uint64_t key = trace_hash_string(
        trace_hash(TRACE_HASH, &around, sizeof(around)), name);
    size_t count = folded->count;
    uintptr_t number;
    char *frame;

    if (trace_table_find(&folded->by_path, key, &number))
        return (uint32_t)number;
    frame = frame_of(name);
    if (count >= NONE || !frame ||
        !TRACE_ARRAY_RESERVE(folded->folds, folded->capacity, count + 1) ||
        !trace_table_set(&folded->by_path, key, count)) {
        free(frame);
        folded->failed = true;
        return NONE;
    }
    folded->folds[folded->count++] = (struct trace_fold){around, frame, 0};
    return (uint32_t)count;
}

/* ---- Threads and streams ---- */

/* The frames of an entry's thread, or of its device and stream. */
static uint32_t find_thread(struct adding *adding,
                            const struct trace_entry *entry)
{
    struct trace_folded *folded = adding->folded;
    struct trace_text name = {0};
    uint32_t fold = adding->fold;

    if (trace_is_on_thread(entry)) {
        trace_name_thread(&name, adding->reader, entry->thread);
    } else {
        trace_name_device(&name, adding->reader, entry->at.device);
        fold = find_fold(folded, fold, name.data ? name.data : "GPU");
        trace_text_clear(&name);
        trace_name_stream(&name, adding->reader, &entry->at);
    }
    fold = find_fold(folded, fold, name.data ? name.data : "?");
    trace_text_free(&name);
    return fold;
}

/* Returns NULL without memory. */
static struct stack *stack_of(struct adding *adding,
                              const struct trace_entry *entry)
{
    uint64_t key = trace_track_key(entry);
    size_t count = adding->count;
    uintptr_t number;

    if (trace_table_find(&adding->by_thread, key, &number))
        return &adding->stacks[number];
    if (!TRACE_ARRAY_RESERVE(adding->stacks, adding->capacity, count + 1) ||
        !trace_table_set(&adding->by_thread, key, count)) {
        adding->folded->failed = true;
        return NULL;
    }
    adding->count++;
    adding->stacks[count] = (struct stack){.fold = find_thread(adding, entry)};
    return &adding->stacks[count];
}

/* ---- Slices ---- */

static void add_slice(struct adding *adding, const struct trace_entry *entry,
                      const char *name)
{
    struct trace_folded *folded = adding->folded;
    struct stack *stack = stack_of(adding, entry);
    uint64_t begin = entry->time;
    uint64_t end = entry->end == UINT64_MAX ? adding->end : entry->end;
    const struct slice *around = NULL;
    uint32_t fold;

    if (!stack)
        return;
    end = end > begin ? end : begin;
    while (stack->depth && stack->slices[stack->depth - 1].end <= begin)
        stack->depth--;
    if (stack->depth)
        around = &stack->slices[stack->depth - 1];
    fold = find_fold(folded, around ? around->fold : stack->fold, name);
    if (fold == NONE || !TRACE_ARRAY_RESERVE(stack->slices, stack->capacity,
                                             stack->depth + 1)) {
        folded->failed = true;
        return;
    }
    if (stack->depth) {
        around = &stack->slices[stack->depth - 1];
        folded->folds[around->fold].time -=
            (end < around->end ? end : around->end) - begin;
    }
    folded->folds[fold].time += end - begin;
    stack->slices[stack->depth++] = (struct slice){fold, end};
}

static void add_entry(struct adding *adding, const struct trace_entry *entry)
{
    const struct trace_site *site = trace_slice_site(adding->reader, entry);

    if (site)
        add_slice(adding, entry, site->name);
}

/* ---- Recordings ---- */

int trace_folded_add(struct trace_folded *folded, struct trace_reader *reader,
                     const char *name)
{
    struct adding adding = {.folded = folded,
                            .reader = reader,
                            .fold = NONE,
                            .end = trace_reader_summary(reader).end};
    struct trace_entry entry;

    if (trace_reader_rewind(reader))
        return -1;
    if (name)
        adding.fold = find_fold(folded, NONE, name);
    while (!folded->failed && trace_reader_next(reader, &entry))
        add_entry(&adding, &entry);
    for (size_t i = 0; i < adding.count; i++)
        free(adding.stacks[i].slices);
    free(adding.stacks);
    trace_table_free(&adding.by_thread);
    if (!folded->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* ---- Writing ---- */

/* The paths that a path begins with, itself first. */
struct path {
    uint32_t *folds;
    size_t count, capacity;
};

static bool find_path(const struct trace_folded *folded, uint32_t number,
                      struct path *path)
{
    for (path->count = 0; number != NONE;
         number = folded->folds[number].around) {
        if (!TRACE_ARRAY_RESERVE(path->folds, path->capacity, path->count + 1))
            return false;
        path->folds[path->count++] = number;
    }
    return true;
}

int trace_folded_put(const struct trace_folded *folded, FILE *stream)
{
    struct path path = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < folded->count; i++) {
        if (!folded->folds[i].time)
            continue;
        ok = find_path(folded, i, &path);
        for (size_t left = ok ? path.count : 0; left; left--)
            fprintf(stream, "%s%s", folded->folds[path.folds[left - 1]].frame,
                    left > 1 ? ";" : "");
        if (ok)
            fprintf(stream, " %llu\n",
                    (unsigned long long)folded->folds[i].time);
    }
    free(path.folds);
    return ok ? 0 : -1;
}

void trace_folded_free(struct trace_folded *folded)
{
    for (size_t i = 0; i < folded->count; i++)
        free(folded->folds[i].frame);
    free(folded->folds);
    trace_table_free(&folded->by_path);
    *folded = (struct trace_folded){0};
}
