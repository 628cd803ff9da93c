/* proto.h: writes messages in the encoding of Protocol Buffers. Private.
 *
 * "Encoding", protobuf.dev/programming-guides/encoding: a field is a varint of
 * its number and wire type, and its value.
 */
#ifndef RUNNERS_PROTO_H
#define RUNNERS_PROTO_H

#include <testlog/trace.h>

void runners_proto_number(struct trace_text *, unsigned field, uint64_t);
void runners_proto_fixed64(struct trace_text *, unsigned field, uint64_t);
void runners_proto_double(struct trace_text *, unsigned field, double);
void runners_proto_bytes(struct trace_text *, unsigned field, const void *,
                         size_t size);
void runners_proto_string(struct trace_text *, unsigned field, const char *);

/* runners_proto_begin begins a nested message, of less than 256 MiB, and
 * returns its place for runners_proto_end. */
size_t runners_proto_begin(struct trace_text *, unsigned field);
void runners_proto_end(struct trace_text *, size_t place);

#endif
