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

/* Returns the number of a path, NONE without memory. A frame that is too deep
 * is counted in the path around it. */
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

static int status_of(const struct runners_folded *folded)
{
    if (!folded->failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* ---- Spans and activities ---- */

static void add_time(void *context, const struct trace_slice *slice)
{
    struct runners_folded *folded = context;

    folded->folds[slice->number].time += slice->own;
}

/* The frames of an entry's thread, or of its device and stream. */
static uint32_t find_thread(struct runners_folded *folded,
                            const struct trace_reader *reader, uint32_t around,
                            const struct trace_entry *entry)
{
    struct trace_text name = {0};

    if (trace_is_on_thread(entry)) {
        trace_name_thread(&name, reader, entry->thread);
    } else {
        trace_name_device(&name, reader, entry->at.device);
        around = find_fold(folded, around, name.data ? name.data : "GPU");
        trace_text_clear(&name);
        trace_name_stream(&name, reader, &entry->at);
    }
    around = find_fold(folded, around, name.data ? name.data : "?");
    trace_text_free(&name);
    return around;
}

int runners_folded_add(struct runners_folded *folded,
                       struct trace_reader *reader, const char *name)
{
    struct trace_slices slices = {.ended = add_time, .context = folded};
    uint64_t end = trace_reader_summary(reader).end; /* of open slices */
    uint32_t *threads = NULL, root; /* first frames, by track */
    size_t count = 0, capacity = 0;
    struct trace_entry entry;

    if (trace_reader_rewind(reader))
        return -1;
    root = name ? find_fold(folded, NONE, name) : NONE;
    while (!folded->failed && trace_reader_next(reader, &entry)) {
        const struct trace_site *site = trace_slice_site(reader, &entry);
        struct trace_slice slice = {.begin = entry.time,
                                    .end = trace_slice_end(&entry, end)};
        const struct trace_slice *around;
        size_t track;

        if (!site)
            continue;
        track = trace_slices_track(&slices, trace_track_key(&entry));
        if (track == count && TRACE_ARRAY_RESERVE(threads, capacity, count + 1))
            threads[count++] = find_thread(folded, reader, root, &entry);
        if (track >= count) {
            folded->failed = true;
            break;
        }
        around = trace_slices_around(&slices, track, slice.begin);
        slice.number = find_fold(
            folded, around ? (uint32_t)around->number : threads[track],
            site->name);
        folded->failed |=
            slice.number == NONE || !trace_slices_begin(&slices, track, slice);
    }
    trace_slices_free(&slices);
    free(threads);
    return status_of(folded);
}

/* ---- Samples ---- */

int runners_folded_add_samples(struct runners_folded *folded,
                               struct trace_reader *reader, const char *name)
{
    uint32_t root = name ? find_fold(folded, NONE, name) : NONE;
    struct trace_table by_stack = {0}; /* paths of the last thread's stacks */
    const struct trace_thread *last = NULL;
    struct trace_sample_cursor cursor = {0};
    struct trace_sample sample;
    struct trace_text text = {0};
    uint32_t thread = NONE;

    while (!folded->failed && trace_reader_sample(reader, &cursor, &sample)) {
        const struct trace_stack_frame *frames;
        struct trace_function_name unused;
        uintptr_t fold;

        if (sample.thread != last) {
            trace_text_clear(&text);
            trace_name_thread(&text, reader, sample.thread);
            thread = find_fold(folded, root, text.size ? text.data : "?");
            trace_table_free(&by_stack);
            last = sample.thread;
        }
        if (!trace_table_find(&by_stack, sample.stack, &fold)) {
            size_t count = trace_reader_stack(reader, sample.stack, &frames);

            for (fold = thread; count-- && fold != NONE;) {
                trace_text_clear(&text);
                trace_name_frame(&text, reader, &frames[count], &unused);
                fold = find_fold(folded, (uint32_t)fold,
                                 text.size ? text.data : "?");
            }
            trace_table_set(&by_stack, sample.stack, fold);
        }
        if (fold != NONE)
            folded->folds[fold].time += sample.weight;
    }
    trace_table_free(&by_stack);
    trace_text_free(&text);
    return status_of(folded);
}

/* ---- Writing ---- */

int runners_folded_put(const struct runners_folded *folded, FILE *stream)
{
    uint32_t *path = NULL; /* the last frame first */
    size_t capacity = 0;

    for (size_t i = 0; i < folded->count; i++) {
        size_t count = 0;

        if (!folded->folds[i].time)
            continue;
        for (uint32_t at = (uint32_t)i; at != NONE;
             at = folded->folds[at].around) {
            if (!TRACE_ARRAY_RESERVE(path, capacity, count + 1)) {
                free(path);
                return -1;
            }
            path[count++] = at;
        }
        while (count--)
            fprintf(stream, "%s%s", folded->folds[path[count]].frame,
                    count ? ";" : "");
        fprintf(stream, " %llu\n", (unsigned long long)folded->folds[i].time);
    }
    free(path);
    return 0;
}

void runners_folded_free(struct runners_folded *folded)
{
    for (size_t i = 0; i < folded->count; i++)
        free(folded->folds[i].frame);
    free(folded->folds);
    trace_table_free(&folded->by_path);
    *folded = (struct runners_folded){0};
}
