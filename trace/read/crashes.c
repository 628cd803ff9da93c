/* crashes.c: reads the crashes that a recording has. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "crashes.h"
#include "reader.h"
#include "reader_parts.h"
#include "trace/base/file.h"
#include "trace/base/values.h"
#include "trace/record/fatal_signal.h"

size_t trace_reader_crashes(const struct trace_reader *reader)
{
    return reader->header.crashes;
}

/* Processes that are alive may write to the recording. */
static bool read_crash(const struct trace_reader *reader, uint32_t place,
                       struct trace_crash *crash, const unsigned char **stack)
{
    struct trace_values values = trace_values_in(trace_slot_at(reader, place));
    struct trace_value value;

    if (!trace_values_next(&values, &value) || value.type != TRACE_TYPE_BYTES ||
        value.size < sizeof(*crash))
        return false;
    memcpy(crash, value.as.bytes, sizeof(*crash));
    crash->name[sizeof(crash->name) - 1] = '\0';
    *stack = (const unsigned char *)value.as.bytes + sizeof(*crash);
    return (uint64_t)crash->stack_size + crash->mappings_size ==
           value.size - sizeof(*crash);
}

bool trace_reader_crash(const struct trace_reader *reader, size_t *cursor,
                        struct trace_crash *crash, const unsigned char **stack)
{
    while (*cursor < reader->crash_count)
        if (read_crash(reader, reader->crashes[(*cursor)++], crash, stack))
            return true;
    return false;
}

static int erase(int fd, off_t at, size_t size)
{
    static const unsigned char zeros[4096];
    ssize_t wrote = 0;

    for (; size; size -= (size_t)wrote, at += wrote) {
        wrote =
            pwrite(fd, zeros, size < sizeof(zeros) ? size : sizeof(zeros), at);
        if (wrote <= 0)
            return -1;
    }
    return 0;
}

int trace_erase_stacks_beneath(int folder, const char *name)
{
    struct trace_reader *reader = trace_reader_beneath(folder, name);
    int fd = reader ? trace_beneath(folder, name, O_RDWR) : -1, status = 0;
    struct trace_crash crash;
    const unsigned char *stack;
    size_t cursor = 0;

    while (fd >= 0 && trace_reader_crash(reader, &cursor, &crash, &stack))
        if (erase(fd, stack - reader->base, crash.stack_size))
            status = -1;
    if (fd >= 0)
        close(fd);
    trace_reader_close(reader);
    return fd < 0 ? -1 : status;
}
