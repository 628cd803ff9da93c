/* meters.h: what a thread uses within its spans. Private.
 *
 * A writer's stack has what each meter showed when the thread entered a span;
 * when it leaves, the differences become late fields of the span.
 */
#ifndef TRACE_METERS_H
#define TRACE_METERS_H

#include "recorder.h"

/* trace_meters_enter notes what the meters show for the top of the stack.
 * trace_meters_leave records the differences for an enter that is about to end;
 * the first enter of a span only. */
void trace_meters_enter(struct trace_writer *);
void trace_meters_leave(struct trace_writer *, const struct trace_entered *);

/* trace_meters_end closes what the calling thread, or its parent, has opened.
 */
void trace_meters_end(struct trace_writer *);

#endif
