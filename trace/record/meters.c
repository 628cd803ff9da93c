/* meters.c: reads what a thread uses: its processor time, and its instructions
 * where the kernel or callgrind counts them.
 *
 * A writer's stack has what each meter showed when the thread entered a span;
 * when it leaves, the differences become late fields of the span.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/callgrind.h"
#include "write.h"

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

/* A writer keeps its counter's descriptor + 1; -1: it has none. */
static uint64_t instructions(struct trace_writer *writer)
{
    uint64_t count = 0;

    if (trace_callgrind_counts())
        return trace_callgrind_count();
    if (!writer->counter) {
        int fd = trace_count_instructions(false);

        writer->counter = fd < 0 ? -1 : fd + 1;
    }
    if (writer->counter > 0 &&
        read(writer->counter - 1, &count, sizeof(count)) != sizeof(count))
        count = 0;
    return count;
}

static uint64_t read_meter(struct trace_writer *writer, enum trace_meter meter)
{
    return meter == TRACE_METER_CPU ? processor_time() : instructions(writer);
}

void trace_meters_end(struct trace_writer *writer)
{
    if (writer->counter > 0)
        close(writer->counter - 1);
    writer->counter = 0;
}

/* ---- Spans ---- */

void trace_meters_enter(struct trace_writer *writer)
{
    struct trace_entered *top = &writer->stack[writer->depth - 1];
    int error = errno;

    for (int i = 0; i < TRACE_METER_COUNT; i++)
        top->meters[i] = trace_recording.meters & 1u << i
                             ? read_meter(writer, (enum trace_meter)i)
                             : 0;
    errno = error;
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

void trace_meters_leave(struct trace_writer *writer,
                        const struct trace_entered *entered)
{
    struct trace_value values[TRACE_METER_COUNT];
    struct trace_record *record;
    unsigned found = 0;
    size_t count = 0;
    int error = errno;

    if (entered->record != entered->span || trace_recording.generation == 0)
        return;
    for (int i = 0; i < TRACE_METER_COUNT; i++) {
        uint64_t now =
            entered->meters[i] ? read_meter(writer, (enum trace_meter)i) : 0;

        if (now <= entered->meters[i])
            continue;
        values[count++] = trace_u64_(now - entered->meters[i]);
        found |= 1u << i;
    }
    errno = error;
    if (!count)
        return;
    record =
        trace_put_of(writer, TRACE_KIND_FIELDS, site_of(found), entered->span,
                     count, values, trace_values_size(count, values));
    if (record)
        trace_publish(writer, record);
}
