/* phase.c: notes in the recording when the phases of a test begin. */
#include "write.h"

/* A note without space is no lost record of the test. */
void trace_phase_begin(enum trace_phase phase)
{
    struct trace_writer *writer = trace_recording.open ? trace_enter() : NULL;
    struct trace_record *record;

    if (!writer)
        return;
    record = trace_put_meta(writer, 0, NULL);
    if (record) {
        record->end = phase;
        trace_commit(writer, record);
    } else {
        trace_undrop(writer);
    }
    trace_leave(writer);
}
