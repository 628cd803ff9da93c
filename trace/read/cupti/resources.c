/* resources.c: notes devices, contexts and streams as metadata. */
#include <stdio.h>

#include "notes.h"

const struct cupti_device *cupti_device(const struct cupti_decoder *decoder,
                                        uint32_t id)
{
    return id < CUPTI_DEVICES && decoder->devices[id].known
               ? &decoder->devices[id].limits
               : NULL;
}

static void keep_limits(struct cupti_decoder *decoder,
                        const struct cupti_record *record)
{
    uint32_t id = cupti_get32(record, CUPTI_DEVICE_ID);

    if (id >= CUPTI_DEVICES)
        return;
    decoder->devices[id].known = true;
    decoder->devices[id].limits = (struct cupti_device){
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

static void note_of_device(const struct cupti_decoder *decoder, uint32_t id,
                           const char *word, const char *value)
{
    char pair[64];

    snprintf(pair, sizeof(pair), "gpu.device.%u.%s", id, word);
    decoder->sink->note(decoder->context, pair, value);
}

static void note_number(const struct cupti_decoder *decoder,
                        const struct cupti_record *record, uint32_t id,
                        const char *word, enum cupti_field field)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu",
             (unsigned long long)cupti_get(record, field));
    note_of_device(decoder, id, word, text);
}

static void note_identity(const struct cupti_decoder *decoder,
                          const struct cupti_record *record, uint32_t id)
{
    char uuid[CUPTI_UUID_ROOM], address[CUPTI_PCI_ROOM];

    if (!cupti_uuid(uuid, "GPU", record, CUPTI_DEVICE_UUID))
        return;
    note_of_device(decoder, id, "uuid", uuid);
    if (decoder->source->pci(decoder->context, uuid, address))
        note_of_device(decoder, id, "pci", address);
    if (!cupti_get(record, CUPTI_DEVICE_MIG) ||
        !cupti_uuid(uuid, "MIG", record, CUPTI_DEVICE_MIG_UUID))
        return;
    note_of_device(decoder, id, "mig", uuid);
    note_number(decoder, record, id, "mig.gpu_instance",
                CUPTI_DEVICE_GPU_INSTANCE);
    note_number(decoder, record, id, "mig.compute_instance",
                CUPTI_DEVICE_COMPUTE_INSTANCE);
}

static void note_device(const struct cupti_decoder *decoder,
                        const struct cupti_record *record)
{
    uint32_t id = cupti_get32(record, CUPTI_DEVICE_ID);
    char text[64];

    snprintf(text, sizeof(text), "gpu.device.%u", id);
    decoder->sink->note(decoder->context, text,
                        cupti_string(decoder, record, CUPTI_DEVICE_NAME));
    snprintf(text, sizeof(text), "%u.%u",
             cupti_get32(record, CUPTI_DEVICE_MAJOR),
             cupti_get32(record, CUPTI_DEVICE_MINOR));
    note_of_device(decoder, id, "compute_capability", text);
    note_number(decoder, record, id, "memory", CUPTI_DEVICE_MEMORY);
    note_number(decoder, record, id, "l2", CUPTI_DEVICE_L2);
    note_number(decoder, record, id, "clock_khz", CUPTI_DEVICE_CLOCK);
    note_number(decoder, record, id, "multiprocessors",
                CUPTI_DEVICE_PROCESSORS);
    note_identity(decoder, record, id);
}

/* Programs name objects with NVTX. CUPTI sees the names only if
 * NVTX_INJECTION64_PATH is its path. */
static void note_name(const struct cupti_decoder *decoder,
                      const struct cupti_record *record)
{
    uint32_t context = cupti_get32(record, CUPTI_NAME_CONTEXT);
    char pair[64];

    switch (cupti_get32(record, CUPTI_NAME_OBJECT)) {
    case CUPTI_OBJECT_CONTEXT:
        snprintf(pair, sizeof(pair), "gpu.context.%u.name", context);
        break;
    case CUPTI_OBJECT_STREAM:
        snprintf(pair, sizeof(pair), "gpu.stream.%u.%u.name", context,
                 cupti_get32(record, CUPTI_NAME_STREAM));
        break;
    default:
        return;
    }
    decoder->sink->note(decoder->context, pair,
                        cupti_string(decoder, record, CUPTI_NAME_TEXT));
}

static void note_clock_of_events(struct cupti_decoder *decoder,
                                 const struct cupti_record *event)
{
    if (decoder->clock_of_events_noted || !cupti_get(event, CUPTI_EVENT_TIME))
        return;
    decoder->clock_of_events_noted = true;
    decoder->sink->note(decoder->context, "gpu.event_clock", "foreign");
}

void cupti_note_resource(struct cupti_decoder *decoder,
                         const struct cupti_record *record)
{
    char pair[64], text[32];

    switch (record->kind) {
    case CUPTI_KIND_DEVICE:
        note_device(decoder, record);
        keep_limits(decoder, record);
        break;
    case CUPTI_KIND_CONTEXT:
        snprintf(pair, sizeof(pair), "gpu.context.%u",
                 cupti_get32(record, CUPTI_CONTEXT_ID));
        snprintf(text, sizeof(text), "device %u",
                 cupti_get32(record, CUPTI_CONTEXT_DEVICE));
        decoder->sink->note(decoder->context, pair, text);
        break;
    case CUPTI_KIND_CUDA_EVENT: /* it is no activity */
        note_clock_of_events(decoder, record);
        break;
    case CUPTI_KIND_NAME:
        note_name(decoder, record);
        break;
    case CUPTI_KIND_STREAM:
        snprintf(pair, sizeof(pair), "gpu.stream.%u.%u",
                 cupti_get32(record, CUPTI_STREAM_CONTEXT),
                 cupti_get32(record, CUPTI_STREAM_ID));
        snprintf(text, sizeof(text), "priority %d",
                 (int)cupti_get32(record, CUPTI_STREAM_PRIORITY));
        decoder->sink->note(decoder->context, pair, text);
        break;
    }
}
