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

#include <errno.h>
#include <stdlib.h>

/* The profile of a thread or stream, which begins with its first frame. */
struct profile {
    struct trace_speedscope *speedscope;
    const struct trace_reader *reader;
    const struct trace_track *track;
    const char *name;    /* of the recording, or NULL */
    uint64_t begin, end; /* ns: of the recording */
    uint64_t last;       /* ns: of the last event */
    bool begun;
    struct trace_slices slices; /* numbered by their frames */
    struct trace_text text;
    bool failed; /* memory was exhausted */
};

/* ---- Frames ---- */

static void put_frame(struct trace_text *frames, const struct trace_site *site,
                      bool has_place)
{
    if (frames->size)
        trace_text_literal(frames, ",");
    trace_text_literal(frames, "\n{\"name\":");
    trace_json_string(frames, site->name, strlen(site->name));
    if (has_place) {
        trace_text_literal(frames, ",\"file\":");
        trace_json_string(frames, site->file, strlen(site->file));
        trace_text_literal(frames, ",\"line\":");
        trace_json_number(frames, site->line);
    }
    trace_text_literal(frames, "}");
}

/* Returns the number of a frame. The name of an activity has no place. */
static size_t number_of(struct profile *profile, const struct trace_site *site,
                        bool has_place)
{
    struct trace_speedscope *speedscope = profile->speedscope;
    uint64_t key = trace_hash_string(TRACE_HASH, site->name);
    uintptr_t number = speedscope->numbers.count;

    if (has_place)
        key = trace_hash_string(
            trace_hash(key, &site->line, sizeof(site->line)), site->file);
    if (trace_table_find(&speedscope->numbers, key, &number))
        return number;
    put_frame(&speedscope->frames, site, has_place);
    if (speedscope->frames.failed ||
        !trace_table_set(&speedscope->numbers, key, number))
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

static void name_profile(struct profile *profile, struct trace_text *name)
{
    const struct trace_track *track = profile->track;

    if (profile->name)
        trace_text_printf(name, "%s: ", profile->name);
    if (track->thread) {
        trace_name_thread(name, profile->reader, track->thread);
    } else {
        trace_name_device(name, profile->reader, track->at.device);
        trace_text_literal(name, ", ");
        trace_name_stream(name, profile->reader, &track->at);
    }
}

static void begin_profile(struct profile *profile)
{
    struct trace_text *text = &profile->text, name = {0};

    profile->begun = true;
    if (profile->speedscope->profiles++)
        trace_text_literal(text, ",");
    trace_text_literal(text, "\n{\"type\":\"evented\",\"name\":");
    name_profile(profile, &name);
    trace_json_string(text, name.data ? name.data : "?", name.size);
    trace_text_free(&name);
    trace_text_literal(text, ",\"unit\":\"nanoseconds\",\"startValue\":");
    trace_json_number(text, profile->begin);
    trace_text_literal(text, ",\"events\":[");
}

static void put_event(struct profile *profile, char type, size_t frame,
                      uint64_t time)
{
    struct trace_text *text = &profile->text;
    bool first = !profile->begun;

    if (first)
        begin_profile(profile);
    trace_text_string(text, first ? "\n" : ",\n");
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

static void end_profile(struct profile *profile)
{
    struct trace_text *text = &profile->text;

    trace_slices_free(&profile->slices);
    if (!profile->begun)
        return;
    trace_text_literal(text, "],\"endValue\":");
    trace_json_number(text, profile->last > profile->end ? profile->last
                                                         : profile->end);
    trace_text_literal(text, "}");
    write_text(profile);
}

/* ---- Slices ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void open_frame(struct profile *profile, const struct trace_entry *entry,
                       const struct trace_site *site)
{
    struct trace_slice slice = {
        .begin = later(entry->time, profile->begin),
        .end = later(trace_slice_end(entry, profile->end), profile->begin),
        .number = number_of(profile, site, entry->kind != TRACE_ENTRY_DEVICE)};

    trace_slices_around(&profile->slices, 0, slice.begin);
    put_event(profile, 'O', slice.number, slice.begin);
    profile->failed |= !trace_slices_begin(&profile->slices, 0, slice);
}

static void add_track(struct profile *profile)
{
    struct trace_merge *merge =
        trace_merge_part(profile->reader, &profile->track->part);
    const struct trace_site *site;
    struct trace_entry entry;

    profile->slices = (struct trace_slices){.outlasting = TRACE_OUTLASTING_ENDS,
                                            .ended = close_frame,
                                            .context = profile};
    profile->failed = !merge || trace_slices_track(&profile->slices, 0);
    profile->last = profile->begin;
    profile->begun = false;
    while (!profile->failed && trace_merge_next(merge, &entry))
        if ((site = trace_slice_site(profile->reader, &entry)))
            open_frame(profile, &entry, site);
    end_profile(profile);
    trace_merge_free(merge);
}

/* ---- Files ---- */

void trace_speedscope_begin(struct trace_speedscope *speedscope, FILE *stream,
                            const char *name)
{
    struct trace_text text = {0};

    *speedscope = (struct trace_speedscope){.stream = stream};
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

int trace_speedscope_add(struct trace_speedscope *speedscope,
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
        add_track(&profile);
    }
    trace_tracks_free(&tracks);
    trace_text_free(&profile.text);
    if (!profile.failed)
        return 0;
    errno = ENOMEM;
    return -1;
}

int trace_speedscope_end(struct trace_speedscope *speedscope)
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
