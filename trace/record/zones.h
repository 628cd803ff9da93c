/* zones.h: what the files for zones of kernels share, and what back ends call
 * through struct trace_device_host. Private. */
#ifndef TRACE_ZONES_H
#define TRACE_ZONES_H

#include "trace/device.h"

/* ---- zones.c ---- */

/* trace_zones_next visits the rings that back ends read: start with a cursor of
 * 0. trace_zones_take records the zones of such a ring, of which `bytes` is a
 * copy, and sets its field `read`; `device` is the number of its device.
 * trace_zones_forget stops following a ring whose buffer is gone. */
bool trace_zones_next(uint32_t *cursor, struct trace_zone_buffer *);
void trace_zones_take(uint32_t number, void *bytes, size_t size,
                      uint32_t device);
void trace_zones_forget(uint32_t number);

/* Counts of the recording. */
#define TRACE_ZONE_COUNTS(X)                                                   \
    X(recorded)                                                                \
    X(dropped)    /* records that found no room */                             \
    X(stray_ends) /* without a beginning */                                    \
    X(unfinished) /* zones without an end */                                   \
    X(invalid)    /* records of zones without a name */                        \
    X(unread)     /* rings that are followed, and that nobody read */

/* trace_zones_exist returns whether there is any ring. */
bool trace_zones_exist(void);

/* trace_zones_launched remembers a kernel, in which zones may lie; `name` stays
 * valid. trace_zones_end notes the counts when the recording ends, and warns of
 * losses. trace_zones_resume resets them. */
void trace_zones_launched(const char *name, const struct trace_activity *);
void trace_zones_end(void);
void trace_zones_resume(void);

/* ---- zone_match.c ---- */

/* The beginning or end of a zone. */
struct trace_zone_mark {
    uint64_t clock, ticks;
    uint32_t unit, group, item, zone, ticket;
    bool end, nanoseconds;
};

/* A kernel that has run. */
struct trace_zone_launch {
    uint64_t begin, end; /* ticks */
    uint32_t device, span;
    const char *name;
};

/* The contents of a ring. The zero value is nothing. */
struct trace_zone_reading {
    const char *const *names;
    size_t name_count;
    struct trace_zone_mark *marks;
    size_t count;
    uint64_t since;  /* ticks: when the ring was read before */
    uint32_t device; /* of zones that lie in no launch */
    uint32_t span;   /* of the thread that reads, for these */
    struct trace_zone_launch *launches;
    size_t launch_count;
    uint64_t recorded, stray_ends, unfinished;
};

/* trace_zones_put records the zones of all marks, whose order it changes. */
void trace_zones_put(struct trace_zone_reading *);

/* ---- zone_clock.c ---- */

/* Records of a ring that were read at once. */
struct trace_zone_times {
    uint64_t first, last;      /* of the device's clock */
    uint64_t earliest, latest; /* ticks between which the kernels ran */
    uint64_t since, now;       /* ticks between which the ring was read */
};

/* A device's clock. The zero value is an unknown one. */
struct trace_zone_clock {
    bool known, same; /* as the recording's */
    double rate;      /* ticks for each count */
    uint64_t clock, ticks;
    uint64_t first_clock, first_ticks; /* the first such pair */
    double low, high;                  /* by how many ticks `ticks` is wrong */
    double error;                      /* ticks */
};

/* trace_zone_clock_fit learns from times. `ticks_per_ns` is the rate of a clock
 * that counts nanoseconds, 0 if it counts something else. */
void trace_zone_clock_fit(struct trace_zone_clock *,
                          const struct trace_zone_times *, double ticks_per_ns);

/* trace_zone_clock_ticks converts a device's time. */
uint64_t trace_zone_clock_ticks(const struct trace_zone_clock *, uint64_t at);

#endif
