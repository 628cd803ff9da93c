/* speedscope.c: streams recordings as profiles of speedscope.
 *
 * A profile opens and closes frames in order of time, and closes the innermost
 * one first. So a slice that would outlast the one in which it begins ends with
 * that. JSON has no order of members: frames are written last, once all of them
 * are known.
 */
#include "speedscope.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"
#include "trace/read/reader_parts.h"
#include "trace/read/slices.h"
#include "trace/samples/samples.h"

#include <errno.h>
#include <stdlib.h>

/* The profile of a thread or stream, which begins with its first frame. */
struct profile {
    struct runners_speedscope *speedscope;
    const struct trace_reader *reader;
    const struct trace_track *track;
    const struct trace_thread *thread; /* NULL: the track is a stream */
    const char *name;                  /* of the recording, or NULL */
    uint64_t begin, end;               /* ns: of the recording */
    uint64_t last;                     /* ns: of the last event */
    bool begun;
    struct trace_slices slices; /* numbered by their frames */
    struct trace_text text;
    bool failed; /* memory was exhausted */
};

/* ---- Frames ---- */

/* Returns the number of a frame: a span's, or a function's. Without a file, it
 * has no place; line 0 is unknown. */
static size_t number_of(struct profile *profile, const char *name,
                        const char *file, uint32_t line)
{
    struct runners_speedscope *speedscope = profile->speedscope;
    struct trace_text *frames = &speedscope->frames;
    uint64_t key = trace_hash_string(TRACE_HASH, name);
    uintptr_t number = speedscope->numbers.count;

    if (file)
        key = trace_hash_string(trace_hash(key, &line, sizeof(line)), file);
    if (trace_table_find(&speedscope->numbers, key, &number))
        return number;
    if (frames->size)
        trace_text_literal(frames, ",");
    trace_text_literal(frames, "\n{\"name\":");
    trace_json_string(frames, name, strlen(name));
    if (file) {
        trace_text_literal(frames, ",\"file\":");
        trace_json_string(frames, file, strlen(file));
    }
    if (file && line) {
        trace_text_literal(frames, ",\"line\":");
        trace_json_number(frames, line);
    }
    trace_text_literal(frames, "}");
    if (frames->failed || !trace_table_set(&speedscope->numbers, key, number))
        profile->failed = true;
    return number;
}

/* ---- Profiles ---- */

static void write_text(struct profile *profile)
{
    struct trace_text *text = &profile->text;

    profile->failed |= text->failed;
    if (!text->failed)
        fwrite(text->data, 1, text->size, profile->speedscope->stream);
    trace_text_clear(text);
}

static void begin_profile(struct profile *profile, const char *type)
{
    const struct trace_track *track = profile->track;
    struct trace_text *text = &profile->text, name = {0};

    profile->begun = true;
    if (profile->name)
        trace_text_printf(&name, "%s: ", profile->name);
    if (profile->thread) {
        trace_name_thread(&name, profile->reader, profile->thread);
    } else {
        trace_name_device(&name, profile->reader, track->at.device);
        trace_text_literal(&name, ", ");
        trace_name_stream(&name, profile->reader, &track->at);
    }
    if (profile->speedscope->profiles++)
        trace_text_literal(text, ",");
    trace_text_printf(text, "\n{\"type\":\"%s\",\"name\":", type);
    trace_json_string(text, name.data ? name.data : "?", name.size);
    trace_text_free(&name);
    trace_text_literal(text, ",\"unit\":\"nanoseconds\",\"startValue\":");
    trace_json_number(text, profile->begin);
}

static void put_event(struct profile *profile, char type, size_t frame,
                      uint64_t time)
{
    struct trace_text *text = &profile->text;
    bool first = !profile->begun;

    if (first)
        begin_profile(profile, "evented");
    trace_text_string(text, first ? ",\"events\":[\n" : ",\n");
    trace_text_literal(text, "{\"type\":\"");
    trace_text_char(text, type);
    trace_text_literal(text, "\",\"frame\":");
    trace_json_number(text, frame);
    trace_text_literal(text, ",\"at\":");
    trace_json_number(text, time);
    trace_text_literal(text, "}");
    write_text(profile);
    profile->last = time;
}

static void close_frame(void *context, const struct trace_slice *slice)
{
    put_event(context, 'C', slice->number, slice->end);
}

/* ---- Slices ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The name of an activity has no place. */
static void add_track(struct profile *profile)
{
    struct trace_merge *merge =
        trace_merge_part(profile->reader, &profile->track->part);
    struct trace_text *text = &profile->text;
    struct trace_entry entry;

    profile->slices = (struct trace_slices){.outlasting = TRACE_OUTLASTING_ENDS,
                                            .ended = close_frame,
                                            .context = profile};
    profile->failed = !merge || trace_slices_track(&profile->slices, 0);
    profile->last = profile->begin;
    profile->begun = false;
    while (!profile->failed && trace_merge_next(merge, &entry)) {
        const struct trace_site *site =
            trace_slice_site(profile->reader, &entry);
        bool placed = entry.kind != TRACE_ENTRY_DEVICE;
        struct trace_slice slice = {
            .begin = later(entry.time, profile->begin),
            .end =
                later(trace_slice_end(&entry, profile->end), profile->begin)};

        if (!site)
            continue;
        slice.number = number_of(profile, site->name,
                                 placed ? site->file : NULL, site->line);
        trace_slices_around(&profile->slices, 0, slice.begin);
        put_event(profile, 'O', slice.number, slice.begin);
        profile->failed |= !trace_slices_begin(&profile->slices, 0, slice);
    }
    trace_slices_free(&profile->slices);
    trace_merge_free(merge);
    if (!profile->begun)
        return;
    trace_text_literal(text, "],\"endValue\":");
    trace_json_number(text, later(profile->last, profile->end));
    trace_text_literal(text, "}");
    write_text(profile);
}

/* ---- Samples ---- */

/* The line of a frame is not the function's, but that of a place in it. */
static void put_stack(struct profile *profile, uint32_t stack)
{
    const struct trace_stack_frame *frames;
    size_t count = trace_reader_stack(profile->reader, stack, &frames);
    struct trace_function_name function;
    struct trace_text name = {0};

    trace_text_literal(&profile->text, "\n[");
    while (count--) {
        trace_text_clear(&name);
        trace_name_frame(&name, profile->reader, &frames[count], &function);
        trace_json_number(
            &profile->text,
            number_of(profile, name.data ? name.data : "?", function.file, 0));
        if (count)
            trace_text_literal(&profile->text, ",");
    }
    trace_text_literal(&profile->text, "]");
    trace_text_free(&name);
}

/* Puts one of the two lists of a thread's samples, and returns the end of their
 * weights. */
static uint64_t put_list(struct profile *profile,
                         struct trace_sample_cursor *cursor, bool weights)
{
    struct trace_sample_cursor next = *cursor;
    struct trace_sample sample;
    uint64_t end = profile->begin;

    trace_text_printf(&profile->text, ",\"%s\":[",
                      weights ? "weights" : "samples");
    for (bool first = true;
         trace_reader_sample(profile->reader, &next, &sample) &&
         sample.thread == profile->thread;
         first = false, *cursor = next) {
        if (!first)
            trace_text_literal(&profile->text, ",");
        if (weights)
            trace_json_number(&profile->text, sample.weight);
        else
            put_stack(profile, sample.stack);
        end += sample.weight;
        write_text(profile);
    }
    trace_text_literal(&profile->text, "]");
    return end;
}

int runners_speedscope_add_samples(struct runners_speedscope *speedscope,
                                   struct trace_reader *reader,
                                   const char *name)
{
    struct profile profile = {
        .speedscope = speedscope, .reader = reader, .name = name};
    struct trace_sample_cursor cursor = {0}, next = {0};
    struct trace_sample sample;

    while (!profile.failed && trace_reader_sample(reader, &next, &sample)) {
        uint64_t end;

        profile.thread = sample.thread;
        begin_profile(&profile, "sampled");
        next = cursor;
        put_list(&profile, &next, false);
        end = put_list(&profile, &cursor, true);
        trace_text_literal(&profile.text, ",\"endValue\":");
        trace_json_number(&profile.text, end);
        trace_text_literal(&profile.text, "}");
        write_text(&profile);
        next = cursor;
    }
    trace_text_free(&profile.text);
    if (!profile.failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* ---- Files ---- */

void runners_speedscope_begin(struct runners_speedscope *speedscope,
                              FILE *stream, const char *name)
{
    struct trace_text text = {0};

    *speedscope = (struct runners_speedscope){.stream = stream};
    trace_text_literal(&text,
                       "{\"$schema\":"
                       "\"https://www.speedscope.app/file-format-schema.json\","
                       "\"exporter\":\"testlog\",\"activeProfileIndex\":0,"
                       "\"name\":");
    trace_json_string(&text, name, strlen(name));
    trace_text_literal(&text, ",\"profiles\":[");
    if (!text.failed)
        fwrite(text.data, 1, text.size, stream);
    trace_text_free(&text);
}

int runners_speedscope_add(struct runners_speedscope *speedscope,
                           struct trace_reader *reader, const char *name)
{
    struct trace_summary summary = trace_reader_summary(reader);
    struct profile profile = {.speedscope = speedscope,
                              .reader = reader,
                              .name = name,
                              .begin = summary.begin,
                              .end = later(summary.begin, summary.end)};
    struct trace_tracks tracks;

    profile.failed = trace_tracks_find(&tracks, reader) != 0;
    for (size_t i = 0; !profile.failed && i < tracks.count; i++) {
        profile.track = &tracks.all[i];
        profile.thread = profile.track->thread;
        add_track(&profile);
    }
    trace_tracks_free(&tracks);
    trace_text_free(&profile.text);
    if (!profile.failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

int runners_speedscope_end(struct runners_speedscope *speedscope)
{
    struct trace_text *frames = &speedscope->frames;
    int result = frames->failed ? -1 : 0;

    fputs("\n],\"shared\":{\"frames\":[", speedscope->stream);
    if (!result && frames->size)
        fwrite(frames->data, 1, frames->size, speedscope->stream);
    fputs("\n]}}\n", speedscope->stream);
    trace_text_free(frames);
    trace_table_free(&speedscope->numbers);
    if (result)
        errno = ENOMEM;
    return result;
}
