/* read_samples.c: samples in a recording, and the functions of their stacks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "samples.h"
#include "trace/read/reader_parts.h"

bool trace_reader_has_samples(const struct trace_reader *reader)
{
    return reader->sample_count > 0;
}

bool trace_reader_sample(const struct trace_reader *reader,
                         struct trace_sample_cursor *cursor,
                         struct trace_sample *sample)
{
    const struct trace_sample_entry *entry;
    const struct trace_thread *ids;
    uint32_t thread;

    while (cursor->block < reader->sample_count &&
           cursor->at >= reader->samples[cursor->block].count) {
        cursor->block++;
        cursor->at = 0;
    }
    if (cursor->block >= reader->sample_count)
        return false;

    const struct trace_sample_block *block = &reader->samples[cursor->block];

    entry = (const struct trace_sample_entry *)(trace_slot_at(reader,
                                                              block->place) +
                                                1) +
            cursor->at++;
    thread = block->thread;
    ids = &reader->threads[thread];
    if (ids->earlier)
        trace_reader_find_thread(reader, ids->pid, ids->tid, entry->time,
                                 &thread);
    *sample = (struct trace_sample){trace_reader_time(reader, entry->time),
                                    entry->weight, &reader->threads[thread],
                                    entry->stack};
    return true;
}

/* ---- Stacks ---- */

size_t trace_reader_stack(const struct trace_reader *reader, uint32_t stack,
                          const struct trace_stack_frame **frames)
{
    const struct trace_record *record = trace_reader_record(reader, stack);
    uint64_t most;

    if (!record || record->kind != TRACE_KIND_STACK)
        return 0;
    *frames = (const struct trace_stack_frame *)(record + 1);
    most = (uint64_t)(record->slots - 1) * TRACE_SLOT_SIZE /
           sizeof(struct trace_stack_frame);
    return record->span < most ? record->span : (size_t)most;
}

bool trace_reader_image(const struct trace_reader *reader, uint32_t image,
                        struct trace_module_file *file)
{
    const struct trace_record *record = trace_reader_record(reader, image);
    struct trace_values values;
    struct trace_value path, id;

    if (!record || record->kind != TRACE_KIND_IMAGE)
        return false;
    values = trace_values_in(record);
    if (!trace_values_next(&values, &path) || path.type != TRACE_TYPE_STRING ||
        !trace_values_next(&values, &id) || id.type != TRACE_TYPE_BYTES)
        return false;
    *file = (struct trace_module_file){path.as.text, id.as.bytes, id.size};
    return true;
}

void trace_name_frame(struct trace_text *text,
                      const struct trace_reader *reader,
                      const struct trace_stack_frame *frame,
                      struct trace_function_name *function)
{
    struct trace_module_file file;

    *function = (struct trace_function_name){0};
    if (!trace_reader_image(reader, frame->image, &file)) {
        trace_text_string(text, "code without a file");
        return;
    }
    trace_resolve_place(&file, frame->place, function);
    if (function->name)
        trace_text_string(text, function->name);
    else
        trace_text_printf(text, "%s+0x%" PRIx32, trace_base_name(file.path),
                          frame->place);
}
