/* perfetto_samples.c: the samples of a recording as Perfetto's PerfSample.
 *
 * Names, files, frames and stacks are interned, each with numbers of its own.
 * The messages are in protos/perfetto/trace/: profiling/profile_packet.proto,
 * profiling/profile_common.proto and interned_data/interned_data.proto.
 */
#include <stdlib.h>

#include "perfetto_packet.h"
#include "proto.h"
#include "trace/samples/samples.h"

enum {
    PACKET_SAMPLE = 66,

    SAMPLE_PID = 2,
    SAMPLE_TID = 3,
    SAMPLE_STACK = 4,
    SAMPLE_MODE = 5,

    TRACK_THREAD = 4,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,

    INTERNED_FUNCTION = 5,
    INTERNED_FRAME = 6,
    INTERNED_STACK = 7,
    INTERNED_PATH = 17,
    INTERNED_SOURCE = 18,
    INTERNED_MAPPING = 19,

    ITEM_IID = 1,
    ITEM_TEXT = 2,
    FRAME_FUNCTION = 2,
    FRAME_MAPPING = 3,
    FRAME_PLACE = 4,
    FRAME_SOURCE = 5,
    FRAME_LINE = 6,
    STACK_FRAME = 2,
    MAPPING_PATH = 7,
};

enum { MODE_USER = 2 };

/* The packet, and the interned data: hashes to numbers. */
struct sampling {
    const struct runners_perfetto *perfetto;
    const struct trace_reader *reader;
    struct trace_text packet, interned;
    struct trace_table texts, frames, stacks, mappings;
};

/* Returns the number of a key in a table; *fresh tells whether it is new. 0
 * without memory. */
static uint64_t number_of(struct sampling *sampling, struct trace_table *table,
                          uint64_t key, bool *fresh)
{
    uintptr_t number = table->count + 1;

    *fresh = !trace_table_find(table, key, &number);
    if (*fresh && !trace_table_set(table, key, number)) {
        sampling->packet.failed = true;
        return 0;
    }
    return number;
}

static uint64_t intern_text(struct sampling *sampling, unsigned kind,
                            const char *text)
{
    uint64_t key =
        trace_hash_string(trace_hash(TRACE_HASH, &kind, sizeof(kind)), text);
    bool fresh;
    uint64_t number = number_of(sampling, &sampling->texts, key, &fresh);

    if (fresh) {
        size_t place = runners_proto_begin(&sampling->interned, kind);

        runners_proto_number(&sampling->interned, ITEM_IID, number);
        runners_proto_string(&sampling->interned, ITEM_TEXT, text);
        runners_proto_end(&sampling->interned, place);
    }
    return number;
}

/* A frame must have a mapping in older versions. */
static uint64_t intern_mapping(struct sampling *sampling, uint32_t image)
{
    struct trace_text *interned = &sampling->interned;
    struct trace_module_file file = {.path = "[memory]"};
    bool fresh;
    uint64_t number = number_of(sampling, &sampling->mappings, image, &fresh),
             path;
    size_t place;

    if (!fresh)
        return number;
    trace_reader_image(sampling->reader, image, &file);
    path = intern_text(sampling, INTERNED_PATH, file.path);
    place = runners_proto_begin(interned, INTERNED_MAPPING);
    runners_proto_number(interned, ITEM_IID, number);
    runners_proto_number(interned, MAPPING_PATH, path);
    runners_proto_end(interned, place);
    return number;
}

static uint64_t intern_frame(struct sampling *sampling,
                             const struct trace_stack_frame *frame)
{
    struct trace_text *interned = &sampling->interned, name = {0};
    struct trace_function_name function;
    uint64_t key = (uint64_t)frame->image << 32 | frame->place;
    bool fresh;
    uint64_t number = number_of(sampling, &sampling->frames, key, &fresh);
    uint64_t mapping, text, source = 0;
    size_t place;

    if (!fresh)
        return number;
    trace_name_frame(&name, sampling->reader, frame, &function);
    mapping = intern_mapping(sampling, frame->image);
    text = intern_text(sampling, INTERNED_FUNCTION, name.data ? name.data : "");
    if (function.file)
        source = intern_text(sampling, INTERNED_SOURCE, function.file);
    place = runners_proto_begin(interned, INTERNED_FRAME);
    runners_proto_number(interned, ITEM_IID, number);
    runners_proto_number(interned, FRAME_FUNCTION, text);
    runners_proto_number(interned, FRAME_MAPPING, mapping);
    runners_proto_number(interned, FRAME_PLACE, frame->place);
    if (source)
        runners_proto_number(interned, FRAME_SOURCE, source);
    if (function.line)
        runners_proto_number(interned, FRAME_LINE, function.line);
    runners_proto_end(interned, place);
    trace_text_free(&name);
    return number;
}

/* The outermost frame comes first. */
static uint64_t intern_stack(struct sampling *sampling, uint32_t stack)
{
    struct trace_text *interned = &sampling->interned, frames = {0};
    const struct trace_stack_frame *found;
    bool fresh;
    uint64_t number = number_of(sampling, &sampling->stacks, stack, &fresh);
    size_t count, place;

    if (!fresh)
        return number;
    count = trace_reader_stack(sampling->reader, stack, &found);
    while (count--)
        runners_proto_number(&frames, STACK_FRAME,
                             intern_frame(sampling, &found[count]));
    place = runners_proto_begin(interned, INTERNED_STACK);
    runners_proto_number(interned, ITEM_IID, number);
    trace_text_add(interned, frames.data, frames.size);
    runners_proto_end(interned, place);
    interned->failed |= frames.failed;
    trace_text_free(&frames);
    return number;
}

/* ---- Packets ---- */

static void end_packet(struct sampling *sampling, size_t in_packet)
{
    struct trace_text *packet = &sampling->packet;
    const struct trace_text *interned = &sampling->interned;

    runners_proto_number(packet, PACKET_SEQUENCE,
                         sampling->perfetto->recordings);
    runners_proto_number(packet, PACKET_FLAGS, NEEDS_STATE);
    if (interned->size)
        runners_proto_bytes(packet, PACKET_INTERNED, interned->data,
                            interned->size);
    runners_proto_end(packet, in_packet);
    packet->failed |= interned->failed;
    if (!packet->failed)
        fwrite(packet->data, 1, packet->size, sampling->perfetto->stream);
    trace_text_clear(packet);
    trace_text_clear(&sampling->interned);
}

/* Names a thread: samples only have its number. */
static void put_thread(struct sampling *sampling,
                       const struct trace_thread *thread)
{
    const uint64_t parts[] = {sampling->perfetto->recordings, thread->pid,
                              thread->tid};
    struct trace_text *packet = &sampling->packet;
    size_t in_packet = runners_proto_begin(packet, PACKET);
    size_t track = runners_proto_begin(packet, PACKET_TRACK), place;

    runners_proto_number(packet, TRACK_UUID,
                         trace_hash(TRACE_HASH, parts, sizeof(parts)));
    place = runners_proto_begin(packet, TRACK_THREAD);
    runners_proto_number(packet, THREAD_PID, thread->pid);
    runners_proto_number(packet, THREAD_TID, thread->tid);
    runners_proto_string(packet, THREAD_NAME, thread->name);
    runners_proto_end(packet, place);
    runners_proto_end(packet, track);
    end_packet(sampling, in_packet);
}

static void put_sample(struct sampling *sampling, uint64_t origin,
                       const struct trace_sample *sample)
{
    uint64_t stack = intern_stack(sampling, sample->stack);
    struct trace_text *packet = &sampling->packet;
    size_t in_packet = runners_proto_begin(packet, PACKET), place;

    runners_proto_number(packet, PACKET_TIMESTAMP, origin + sample->time);
    place = runners_proto_begin(packet, PACKET_SAMPLE);
    runners_proto_number(packet, SAMPLE_PID, sample->thread->pid);
    runners_proto_number(packet, SAMPLE_TID, sample->thread->tid);
    runners_proto_number(packet, SAMPLE_STACK, stack);
    runners_proto_number(packet, SAMPLE_MODE, MODE_USER);
    runners_proto_end(packet, place);
    end_packet(sampling, in_packet);
}

bool runners_perfetto_put_samples(const struct runners_perfetto *perfetto,
                                  const struct trace_reader *reader)
{
    struct sampling sampling = {.perfetto = perfetto, .reader = reader};
    uint64_t origin = trace_reader_origin(reader).monotonic;
    struct trace_sample_cursor cursor = {0};
    const struct trace_thread *thread = NULL;
    struct trace_sample sample;
    bool ok;

    while (!sampling.packet.failed &&
           trace_reader_sample(reader, &cursor, &sample)) {
        if (sample.thread != thread && sample.thread->name[0])
            put_thread(&sampling, sample.thread);
        thread = sample.thread;
        put_sample(&sampling, origin, &sample);
    }
    ok = !sampling.packet.failed;
    trace_text_free(&sampling.packet);
    trace_text_free(&sampling.interned);
    trace_table_free(&sampling.texts);
    trace_table_free(&sampling.frames);
    trace_table_free(&sampling.stacks);
    trace_table_free(&sampling.mappings);
    return ok;
}
