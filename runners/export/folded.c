/* folded.c: sums up where the time of recordings went, as folded stacks. */
#include "folded.h"
#include "trace/base/strings.h"
#include "trace/read/slices.h"
#include "trace/samples/samples.h"

#include <errno.h>
#include <stdlib.h>

/* A path of frames: another path, and one frame more. */
struct runners_fold {
    uint32_t around; /* the other path's number, or NONE */
    char *frame;
    uint64_t time;  /* ns, without the slices in it */
    uint32_t depth; /* frames around */
};

enum { NONE = UINT32_MAX };

/* The recording that is added. */
struct adding {
    struct runners_folded *folded;
    struct trace_reader *reader;
    uint32_t fold;              /* the first frame of all its paths, or NONE */
    uint64_t end;               /* ns: slices that are open end here */
    struct trace_slices slices; /* numbered by their folds */
    uint32_t *folds;            /* of the tracks themselves */
    size_t count, capacity;
};

/* ---- Paths ---- */

/* Returns a frame without what separates frames and lines, to be freed. The
 * kernel cuts names of threads in the midst of a character. */
static char *frame_of(const char *name)
{
    struct trace_text frame = {0};
    size_t left = strlen(name), size;
    uint32_t unused;

    for (; left; name += size, left -= size) {
        size = trace_utf8_decode(name, left, &unused);
        if (!size)
            trace_text_string(&frame, "\xef\xbf\xbd");
        else if (*name == ';')
            trace_text_char(&frame, ':');
        else if ((unsigned char)*name < ' ')
            trace_text_char(&frame, ' ');
        else
            trace_text_add(&frame, name, size);
        size = size ? size : 1;
    }
    if (!frame.size)
        trace_text_char(&frame, '?');
    if (frame.failed)
        trace_text_free(&frame);
    return frame.data;
}

/* Returns the number of a path, NONE without memory. What is too deep is in the
 * path around it. */
static uint32_t find_fold(struct runners_folded *folded, uint32_t around,
                          const char *name)
{
    uint64_t key = trace_hash_string(
        trace_hash(TRACE_HASH, &around, sizeof(around)), name);
    size_t count = folded->count;
    uint32_t depth = around == NONE ? 0 : folded->folds[around].depth + 1;
    uintptr_t number;
    char *frame;

    if (depth == RUNNERS_FOLDED_DEPTH) {
        folded->cut = true;
        return around;
    }
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
    folded->folds[folded->count++] =
        (struct runners_fold){around, frame, 0, depth};
    return (uint32_t)count;
}

/* ---- Threads and streams ---- */

/* The frames of an entry's thread, or of its device and stream. */
static uint32_t find_thread(struct adding *adding,
                            const struct trace_entry *entry)
{
    struct runners_folded *folded = adding->folded;
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

/* Returns the number of an entry's track, SIZE_MAX without memory. */
static size_t find_track(struct adding *adding, const struct trace_entry *entry)
{
    size_t track = trace_slices_track(&adding->slices, trace_track_key(entry));

    if (track == SIZE_MAX || track < adding->count)
        return track;
    if (!TRACE_ARRAY_RESERVE(adding->folds, adding->capacity, track + 1))
        return SIZE_MAX;
    adding->folds[adding->count++] = find_thread(adding, entry);
    return track;
}

/* ---- Slices ---- */

static void add_time(void *context, const struct trace_slice *slice)
{
    struct runners_folded *folded = context;

    folded->folds[slice->number].time += slice->own;
}

static bool add_slice(struct adding *adding, const struct trace_entry *entry,
                      const char *name)
{
    struct trace_slice slice = {.begin = entry->time,
                                .end = trace_slice_end(entry, adding->end)};
    size_t track = find_track(adding, entry);
    const struct trace_slice *around;

    if (track == SIZE_MAX)
        return false;
    around = trace_slices_around(&adding->slices, track, slice.begin);
    slice.number = find_fold(
        adding->folded,
        around ? (uint32_t)around->number : adding->folds[track], name);
    return slice.number != NONE &&
           trace_slices_begin(&adding->slices, track, slice);
}

/* ---- Recordings ---- */

int runners_folded_add(struct runners_folded *folded,
                       struct trace_reader *reader, const char *name)
{
    struct adding adding = {.folded = folded,
                            .reader = reader,
                            .fold = NONE,
                            .end = trace_reader_summary(reader).end,
                            .slices = {.ended = add_time, .context = folded}};
    const struct trace_site *site;
    struct trace_entry entry;

    if (trace_reader_rewind(reader))
        return -1;
    if (name)
        adding.fold = find_fold(folded, NONE, name);
    while (!folded->failed && trace_reader_next(reader, &entry))
        if ((site = trace_slice_site(reader, &entry)))
            folded->failed |= !add_slice(&adding, &entry, site->name);
    trace_slices_free(&adding.slices);
    free(adding.folds);
    if (!folded->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* ---- Samples ---- */

/* The last thread and its first frame, and the paths of its stacks. */
struct sampled {
    const struct trace_thread *thread;
    uint32_t fold;
    struct trace_table by_stack;
};

static void enter_thread(struct runners_folded *folded,
                         const struct trace_reader *reader, uint32_t around,
                         const struct trace_thread *thread,
                         struct sampled *sampled)
{
    struct trace_text name = {0};

    if (sampled->thread == thread)
        return;
    trace_name_thread(&name, reader, thread);
    sampled->thread = thread;
    sampled->fold = find_fold(folded, around, name.data ? name.data : "?");
    trace_table_free(&sampled->by_stack);
    trace_text_free(&name);
}

/* Returns the number of the path of a stack. */
static uint32_t fold_stack(struct runners_folded *folded,
                           const struct trace_reader *reader,
                           struct sampled *sampled, uint32_t stack)
{
    uint32_t fold = sampled->fold;
    const struct trace_stack_frame *frames;
    size_t count = trace_reader_stack(reader, stack, &frames);
    struct trace_function_name unused;
    struct trace_text name = {0};
    uintptr_t known;

    if (trace_table_find(&sampled->by_stack, stack, &known))
        return (uint32_t)known;
    while (count-- && fold != NONE) {
        trace_text_clear(&name);
        trace_name_frame(&name, reader, &frames[count], &unused);
        fold = find_fold(folded, fold, name.data ? name.data : "?");
    }
    trace_text_free(&name);
    trace_table_set(&sampled->by_stack, stack, fold);
    return fold;
}

int runners_folded_add_samples(struct runners_folded *folded,
                               struct trace_reader *reader, const char *name)
{
    struct trace_sample_cursor cursor = {0};
    struct trace_sample sample;
    struct sampled sampled = {.fold = NONE};
    uint32_t fold, around = name ? find_fold(folded, NONE, name) : NONE;

    while (!folded->failed && trace_reader_sample(reader, &cursor, &sample)) {
        enter_thread(folded, reader, around, sample.thread, &sampled);
        fold = fold_stack(folded, reader, &sampled, sample.stack);
        if (fold != NONE)
            folded->folds[fold].time += sample.weight;
    }
    trace_table_free(&sampled.by_stack);
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

static bool find_path(const struct runners_folded *folded, uint32_t number,
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

int runners_folded_put(const struct runners_folded *folded, FILE *stream)
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

void runners_folded_free(struct runners_folded *folded)
{
    for (size_t i = 0; i < folded->count; i++)
        free(folded->folds[i].frame);
    free(folded->folds);
    trace_table_free(&folded->by_path);
    *folded = (struct runners_folded){0};
}
