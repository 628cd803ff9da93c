/* meters.c: reads what a thread uses: its processor time, and its instructions
 * where the kernel or callgrind counts them.
 *
 * A list beside a writer's stack, which is there only if meters are read, has
 * what each showed when the thread entered a span. When it leaves, the
 * differences become late fields of the span.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stack.h"
#include "trace/base/callgrind.h"
#include "trace/base/containers.h"

const char *const trace_meter_fields[TRACE_METER_COUNT] = {
#define TRACE_X(name, key, field) field,
    TRACE_METERS(TRACE_X)
#undef TRACE_X
};

/* ---- Meters ---- */

static uint64_t processor_time(void)
{
    struct timespec time = {.tv_sec = 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

int trace_count_instructions(bool inherit)
{
    struct perf_event_attr counted = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(counted),
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .inherit = inherit,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };

    return (int)syscall(SYS_perf_event_open, &counted, 0, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

static uint64_t instructions(struct trace_writer *writer)
{
    uint64_t count = 0;

    if (trace_callgrind_counts())
        return trace_callgrind_count();
    if (!writer->counter.fd && !writer->uncounted) {
        writer->counter = trace_descriptor_of(trace_count_instructions(false));
        writer->uncounted = !writer->counter.fd;
    }
    if (writer->uncounted || !trace_descriptor_is_ours(&writer->counter) ||
        read(writer->counter.fd, &count, sizeof(count)) != sizeof(count))
        return 0;
    return count;
}

static uint64_t read_meter(struct trace_writer *writer, enum trace_meter meter)
{
    return meter == TRACE_METER_CPU ? processor_time() : instructions(writer);
}

/* ---- Spans ---- */

/* A jump leaves spans that nobody has left here. */
static void forget_ended(struct trace_writer *writer)
{
    size_t kept = 0;

    for (size_t i = 0; i < writer->metered_count; i++)
        if (!__atomic_load_n(
                &trace_record_at(writer, writer->metered[i].record)->end,
                __ATOMIC_RELAXED))
            writer->metered[kept++] = writer->metered[i];
    writer->metered_count = kept;
}

/* Makes room for one more; false without memory. */
static bool reserve(struct trace_writer *writer)
{
    struct trace_hold hold;
    uintptr_t busy;
    bool ready;

    if (writer->metered_count < writer->metered_capacity)
        return true;
    forget_ended(writer);
    trace_hold(&hold);
    busy = trace_ours_begin(writer);
    ready = TRACE_ARRAY_RESERVE(writer->metered, writer->metered_capacity,
                                writer->metered_count + 1);
    trace_ours_end(writer, busy);
    trace_release(&hold);
    return ready;
}

/* A span that is entered again, or is not recorded, has none. */
void trace_meters_enter(struct trace_writer *writer)
{
    const struct trace_entered *top = &writer->stack[writer->depth - 1];
    struct trace_metered *metered;
    int error = errno;

    if (top->record == top->span && !trace_unrecorded(top->record) &&
        reserve(writer)) {
        metered = &writer->metered[writer->metered_count++];
        *metered = (struct trace_metered){.record = top->record};
        for (int i = 0; i < TRACE_METER_COUNT; i++)
            if (trace_recording.meters & 1u << i)
                metered->meters[i] = read_meter(writer, (enum trace_meter)i);
    }
    errno = error;
}

/* Takes what the meters showed from the list; false if it is not there. */
static bool take(struct trace_writer *writer, uint32_t record,
                 struct trace_metered *metered)
{
    size_t i = writer->metered_count;

    while (i && writer->metered[i - 1].record != record)
        i--;
    if (!i)
        return false;
    *metered = writer->metered[i - 1];
    memmove(&writer->metered[i - 1], &writer->metered[i],
            (writer->metered_count - i) * sizeof(*metered));
    writer->metered_count--;
    return true;
}

/* Returns the call site of the meters that have a value. */
static struct trace_site *site_of(unsigned meters)
{
    /* The first field, the second, both. */
#define SITE(first, size)                                                      \
    {                                                                          \
        .name = "", .target = TRACE_METER_TARGET, .file = "", .function = "",  \
        .fields = trace_meter_fields + (first), .field_count = (size),         \
        .level = TRACE_LEVEL_TRACE, .kind = TRACE_SITE_FIELDS,                 \
        .interest = TRACE_UNREGISTERED                                         \
    }
    static struct trace_site sites[] = {SITE(0, 1), SITE(1, 1), SITE(0, 2)};
#undef SITE

    return &sites[meters - 1];
}

_Static_assert(TRACE_METER_COUNT == 2, "as the sites above");

void trace_meters_leave(struct trace_writer *writer, uint32_t place)
{
    struct trace_value values[TRACE_METER_COUNT];
    struct trace_metered before;
    struct trace_record *record;
    unsigned found = 0;
    size_t count = 0;
    int error = errno;

    if (!take(writer, place, &before))
        return;
    for (int i = 0; i < TRACE_METER_COUNT; i++) {
        uint64_t now =
            before.meters[i] ? read_meter(writer, (enum trace_meter)i) : 0;

        if (now <= before.meters[i])
            continue;
        values[count++] = trace_u64_(now - before.meters[i]);
        found |= 1u << i;
    }
    errno = error;
    if (!count)
        return;
    record = trace_put_of(writer, TRACE_KIND_FIELDS, site_of(found), place,
                          count, values, trace_values_size(count, values));
    if (record)
        trace_publish(writer, record);
}
