/* mentions.c: finds things in records that only their process knows. */
#include <stdio.h>

#include "notes.h"

bool cupti_is_resource(uint32_t kind)
{
    return kind == CUPTI_KIND_DEVICE || kind == CUPTI_KIND_CONTEXT ||
           kind == CUPTI_KIND_STREAM || kind == CUPTI_KIND_NAME;
}

/* Adds the number in a field, if it is not 0. */
static size_t add(struct cupti_mention *mention, enum cupti_note what,
                  const struct cupti_record *record, enum cupti_field field)
{
    *mention = (struct cupti_mention){what, cupti_get(record, field)};
    return mention->key != 0;
}

static size_t add_call(struct cupti_mention *mention,
                       const struct cupti_record *record,
                       enum cupti_domain domain)
{
    uint32_t result = cupti_get32(record, CUPTI_CALL_RESULT);

    mention[0] = (struct cupti_mention){
        CUPTI_NOTE_CALL,
        cupti_noted_call(domain, cupti_get32(record, CUPTI_CALL_ID))};
    if (!result)
        return 1;
    mention[1] = (struct cupti_mention){CUPTI_NOTE_ERROR,
                                        cupti_noted_call(domain, result)};
    return 2;
}

size_t cupti_mentions(const struct cupti_record *record,
                      struct cupti_mention mentions[CUPTI_MENTIONS_MOST])
{
    size_t count = 0;

    switch (record->kind) {
    case CUPTI_KIND_CONCURRENT_KERNEL:
        count = add(mentions, CUPTI_NOTE_TEXT, record, CUPTI_KERNEL_NAME);
        return count + add(mentions + count, CUPTI_NOTE_NODE, record,
                           CUPTI_KERNEL_NODE);
    case CUPTI_KIND_RUNTIME:
        return add_call(mentions, record, CUPTI_DOMAIN_RUNTIME);
    case CUPTI_KIND_DRIVER:
        return add_call(mentions, record, CUPTI_DOMAIN_DRIVER);
    case CUPTI_KIND_MEMCPY:
        return add(mentions, CUPTI_NOTE_NODE, record, CUPTI_MEMCPY_NODE);
    case CUPTI_KIND_MEMSET:
        return add(mentions, CUPTI_NOTE_NODE, record, CUPTI_MEMSET_NODE);
    case CUPTI_KIND_NAME:
        return add(mentions, CUPTI_NOTE_TEXT, record, CUPTI_NAME_TEXT);
    case CUPTI_KIND_DEVICE:
        count = add(mentions, CUPTI_NOTE_TEXT, record, CUPTI_DEVICE_NAME);
        mentions[count++] = (struct cupti_mention){CUPTI_NOTE_PCI, 0};
        return count;
    default:
        return 0;
    }
}

bool cupti_uuid(char text[CUPTI_UUID_ROOM], const char *prefix,
                const struct cupti_record *record, enum cupti_field field)
{
    enum { UUID = 16 };
    const uint8_t *bytes = cupti_bytes(record, field);
    int size = snprintf(text, CUPTI_UUID_ROOM, "%s", prefix);
    uint8_t any = 0;

    for (int i = 0; bytes && i < UUID; i++) {
        bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;

        size += snprintf(text + size, CUPTI_UUID_ROOM - (size_t)size, "%s%02x",
                         dash ? "-" : "", bytes[i]);
        any |= bytes[i];
    }
    return any;
}
