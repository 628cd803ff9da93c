/* perfetto_packet.h: fields of packets, for the files of the exporter to
 * Perfetto's format. Private. */
#ifndef RUNNERS_PERFETTO_PACKET_H
#define RUNNERS_PERFETTO_PACKET_H

#include "perfetto.h"

/* The fields of packets, from protos/perfetto/trace/trace_packet.proto. */
enum {
    PACKET = 1,
    PACKET_CLOCKS = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,

    TRACK_UUID = 1,
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };

/* runners_perfetto_put_samples writes the samples of a recording in its packet
 * sequence, which has begun; false without memory. */
bool runners_perfetto_put_samples(const struct runners_perfetto *,
                                  const struct trace_reader *);

#endif
