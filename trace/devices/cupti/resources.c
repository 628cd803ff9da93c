/* resources.c: notes devices, contexts and streams as metadata. */
#include "cupti.h"

enum { DEVICES = 64 };

static struct {
    bool known;
    struct cupti_device limits;
} devices[DEVICES];

const struct cupti_device *cupti_device(uint32_t id)
{
    return id < DEVICES && devices[id].known ? &devices[id].limits : NULL;
}

static void keep_limits(const struct cupti_record *record)
{
    uint32_t id = cupti_get32(record, CUPTI_DEVICE_ID);

    if (id >= DEVICES)
        return;
    devices[id].known = true;
    devices[id].limits = (struct cupti_device){
        .major = cupti_get32(record, CUPTI_DEVICE_MAJOR),
        .minor = cupti_get32(record, CUPTI_DEVICE_MINOR),
        .processors = cupti_get32(record, CUPTI_DEVICE_PROCESSORS),
        .warp = cupti_get32(record, CUPTI_DEVICE_WARP),
        .warps = cupti_get32(record, CUPTI_DEVICE_WARPS),
        .blocks = cupti_get32(record, CUPTI_DEVICE_BLOCKS),
        .registers = cupti_get32(record, CUPTI_DEVICE_REGISTERS),
        .shared = cupti_get32(record, CUPTI_DEVICE_SHARED),
    };
}

static void note_device(const struct cupti_record *record)
{
    uint32_t id = cupti_get32(record, CUPTI_DEVICE_ID);
    const struct {
        const char *word;
        enum cupti_field field;
    } rows[] = {
        {"memory", CUPTI_DEVICE_MEMORY},
        {"l2", CUPTI_DEVICE_L2},
        {"clock_khz", CUPTI_DEVICE_CLOCK},
        {"multiprocessors", CUPTI_DEVICE_PROCESSORS},
    };
    char pair[64];

    snprintf(pair, sizeof(pair), "gpu.device.%u", id);
    cupti_note(pair, "%s", cupti_string(record, CUPTI_DEVICE_NAME));
    snprintf(pair, sizeof(pair), "gpu.device.%u.compute_capability", id);
    cupti_note(pair, "%u.%u", cupti_get32(record, CUPTI_DEVICE_MAJOR),
               cupti_get32(record, CUPTI_DEVICE_MINOR));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        snprintf(pair, sizeof(pair), "gpu.device.%u.%s", id, rows[i].word);
        cupti_note(pair, "%llu",
                   (unsigned long long)cupti_get(record, rows[i].field));
    }
}

void cupti_note_resource(const struct cupti_record *record)
{
    char pair[64];

    switch (record->kind) {
    case CUPTI_KIND_DEVICE:
        note_device(record);
        keep_limits(record);
        break;
    case CUPTI_KIND_CONTEXT:
        snprintf(pair, sizeof(pair), "gpu.context.%u",
                 cupti_get32(record, CUPTI_CONTEXT_ID));
        cupti_note(pair, "device %u",
                   cupti_get32(record, CUPTI_CONTEXT_DEVICE));
        break;
    case CUPTI_KIND_STREAM:
        snprintf(pair, sizeof(pair), "gpu.stream.%u.%u",
                 cupti_get32(record, CUPTI_STREAM_CONTEXT),
                 cupti_get32(record, CUPTI_STREAM_ID));
        cupti_note(pair, "priority %d",
                   (int)cupti_get32(record, CUPTI_STREAM_PRIORITY));
        break;
    }
}
