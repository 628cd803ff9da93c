/* noted.c: gives a decoder the notes of the process. */
#include <string.h>

#include "notes.h"
#include "trace/base/strings.h"

bool cupti_noted_take(struct cupti_noted *noted, enum cupti_note what,
                      uint64_t key, const void *bytes, size_t size)
{
    size_t least = what == CUPTI_NOTE_NODE ? sizeof(uint64_t) + 1 : 1;

    switch (what) {
    case CUPTI_NOTE_TEXT:
    case CUPTI_NOTE_CALL:
    case CUPTI_NOTE_ERROR:
    case CUPTI_NOTE_NODE:
    case CUPTI_NOTE_PCI:
        return size < least || ((const char *)bytes)[size - 1] ||
               trace_table_set(&noted->known[what], key, (uintptr_t)bytes);
    default:
        return true;
    }
}

void cupti_noted_free(struct cupti_noted *noted)
{
    for (size_t i = 0; i < CUPTI_NOTE_COUNT; i++)
        trace_table_free(&noted->known[i]);
}

static const char *find(const void *context, enum cupti_note what, uint64_t key)
{
    const struct cupti_noted *noted = context;
    uintptr_t bytes;

    return trace_table_find(&noted->known[what], key, &bytes)
               ? (const char *)bytes
               : NULL;
}

static const char *call_name(void *context, enum cupti_domain domain,
                             uint32_t id)
{
    return find(context, CUPTI_NOTE_CALL, cupti_noted_call(domain, id));
}

static const char *error_name(void *context, enum cupti_domain domain,
                              int result)
{
    return find(context, CUPTI_NOTE_ERROR,
                cupti_noted_call(domain, (uint32_t)result));
}

/* A process that was killed may not have noted it. */
static const char *text_at(void *context, uint64_t address)
{
    const char *text = find(context, CUPTI_NOTE_TEXT, address);

    return text ? text : "?";
}

static bool find_node(void *context, uint64_t id, struct cupti_node *node)
{
    const char *bytes = find(context, CUPTI_NOTE_NODE, id);

    if (!bytes)
        return false;
    memcpy(&node->id, bytes, sizeof(node->id));
    node->span = bytes + sizeof(node->id);
    return true;
}

static bool find_pci(void *context, const char *uuid,
                     char address[CUPTI_PCI_ROOM])
{
    const char *text =
        find(context, CUPTI_NOTE_PCI, trace_hash_string(TRACE_HASH, uuid));

    if (!text || strlen(text) >= CUPTI_PCI_ROOM)
        return false;
    strcpy(address, text);
    return true;
}

const struct cupti_source cupti_noted_source = {
    .call = call_name,
    .error = error_name,
    .text = text_at,
    .node = find_node,
    .pci = find_pci,
};
