/* fuzz_zones.c: feeds any bytes as rings of zones, read several times. */
#include <stdlib.h>
#include <string.h>

#include <testlog/zone.h>

#include "trace/record/zones.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS = 16, READINGS = 4 };

static struct {
    trace_zone_ring ring;
    trace_zone_record records[RECORDS];
} fuzz_memory;

/* Some records get the ticket that their slot must have. */
static void fuzz_repair(uint32_t read, uint32_t which)
{
    for (uint32_t i = 0; i < RECORDS; i++)
        if (which >> i & 1)
            fuzz_memory.records[(read + i) % RECORDS].ticket =
                fuzz_memory.records[(read + i) % RECORDS].ticket_again =
                    read + i + 1;
}

/* The first bytes of a reading say which records are repaired, and how many
 * were taken. */
static void fuzz_reading(struct trace_zones *zones, const uint8_t *data,
                         size_t size)
{
    uint32_t read = fuzz_memory.ring.read, head[2] = {0, 0};
    size_t zones_read;

    memcpy(head, data, size < sizeof(head) ? size : sizeof(head));
    if (size > sizeof(head) + sizeof(fuzz_memory))
        size = sizeof(head) + sizeof(fuzz_memory);
    if (size > sizeof(head))
        memcpy(&fuzz_memory, data + sizeof(head), size - sizeof(head));
    fuzz_memory.ring.taken = head[0] % 2 ? head[1] : read + head[1] % 32;
    fuzz_repair(read, head[0] >> 1);
    zones_read = trace_zones_read(zones, &fuzz_memory);
    if (zones_read > RECORDS)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"a", "b", "c"};
    struct trace_zones *zones =
        trace_zones_open(&fuzz_memory, sizeof(fuzz_memory), names, 3);
    size_t part = size / READINGS;

    if (!zones)
        abort();
    for (size_t i = 0; i < READINGS; i++)
        fuzz_reading(zones, data + i * part, part);
    trace_zones_close(zones);
    return 0;
}
